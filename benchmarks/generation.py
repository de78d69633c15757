"""A step of text generation with a cache, of converted decoders.

A step reads one token of each row and returns its logits and the new cache. The peers are a program
of JAX written by hand with the same weights, and ``torch.compile`` of the source with its
``StaticCache``. Caches are carried from step to step, as in a loop; JAX donates them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from benchmarks.timing import Table, compare, has_compiler, ratio, readable
from nestarray.testing import assert_close

#: Rows, room of the cache, tokens read before.
ROWS, LENGTH, READ = 1, 256, 100

_ORDER = "sums of six layers in another order"


def tables() -> list[Table]:
    """One table: a step on JAX and on PyTorch."""
    table = Table(
        "Generation: one token with a cache",
        ["model", "backend", "peer", "peer's step", "nestarray", "ratio"],
        f"{ROWS} row, a cache of {LENGTH} tokens. By hand: jax.jit with donated caches.",
    )
    for name, make in MODELS.items():
        model = make()
        tokens, cache = _filled(model)
        graph = na.trace_graph(model, input_ids=tokens, cache=cache)
        nest = na.Container.from_torch_cache(cache).map(lambda x: x.clone())
        functions = {
            "peer": BY_HAND[name](model, tokens, nest),
            "ours": _on_jax(graph, tokens, nest),
        }
        assert_close(functions["ours"](), functions["peer"](), rtol=1e-3, atol=1e-3, reason=_ORDER)
        times = compare(functions, at_least=0.2)
        _add(table, name, "JAX", "by hand", times)
        if has_compiler():
            functions = {"peer": _torch_compiled(model, tokens, cache)}
            functions["ours"] = _on_torch(graph, tokens, nest)
            _add(table, name, "PyTorch", "torch.compile", compare(functions, at_least=0.2))
    return [table]


def _add(table: Table, name: str, backend: str, peer: str, times: dict[str, float]) -> None:
    ours, theirs = times["ours"], times["peer"]
    table.add(name, backend, peer, readable(theirs), readable(ours), ratio(ours, theirs))


# -- models --------------------------------------------------------------------------------


def gpt2() -> Any:
    """A decoder like GPT-2: 6 layers of 384 channels."""
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"n_embd": 384, "n_layer": 6, "n_head": 6, "n_positions": LENGTH}
    config = GPT2Config(vocab_size=8000, bos_token_id=None, eos_token_id=None, **sizes)
    return GPT2LMHeadModel(config).eval()


def llama() -> Any:
    """A decoder like Llama: 6 layers of 384 channels, 2 heads of keys."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=8000,
        hidden_size=384,
        intermediate_size=1024,
        num_hidden_layers=6,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=LENGTH,
    )
    return LlamaForCausalLM(config).eval()


MODELS: dict[str, Callable[[], Any]] = {"GPT-2": gpt2, "Llama": llama}


def _filled(model: Any) -> tuple[Any, Any]:
    """A token, and a cache of `READ` tokens."""
    import torch
    from transformers import StaticCache

    torch.manual_seed(0)
    cache = StaticCache(config=model.config, max_cache_len=LENGTH)
    with torch.no_grad():
        model(torch.randint(0, 8000, (ROWS, READ)), cache=cache)
    return torch.randint(0, 8000, (ROWS, 1)), cache


# -- steps ---------------------------------------------------------------------------------


def _on_jax(graph: na.Graph, tokens: Any, nest: Any) -> Callable[[], Any]:
    import jax

    graph = graph.to_backend("jax").lower()
    token, cache = na.to_backend(tokens, "jax"), nest.to_backend("jax")

    def step(v: Any, token: Any, cache: Any) -> Any:
        out = graph(input_ids=token, cache=cache, v=v)
        return out["logits"], out["cache"]

    return _carrying(jax.jit(step, donate_argnums=2), graph.v, token, cache)


def _carrying(step: Callable[..., Any], weights: Any, token: Any, cache: Any) -> Callable[[], Any]:
    """Calls of a step of JAX, each with the cache of the one before, which it donates."""
    import jax

    cache = jax.tree.map(lambda x: x.copy(), cache)

    def call() -> Any:
        nonlocal cache
        logits, cache = step(weights, token, cache)
        return logits.block_until_ready()

    return call


def _on_torch(graph: na.Graph, tokens: Any, nest: Any) -> Callable[[], Any]:
    import torch

    graph, cache = graph.lower(), nest.map(torch.clone)

    def step(v: Any, token: Any, cache: Any) -> Any:
        out = graph(input_ids=token, cache=cache, v=v)
        return out["logits"], out["cache"]

    compiled = na.jit(step, donate_argnums=2)

    def call() -> Any:
        nonlocal cache
        for length in cache.select("**/cumulative_length").leaves():
            length.fill_(READ)  # writes at the same place again, as the peer
        with torch.no_grad():
            logits, cache = compiled(graph.v, tokens, cache)
        return logits

    return call


def _torch_compiled(model: Any, tokens: Any, cache: Any) -> Callable[[], Any]:
    import torch

    compiled = torch.compile(model)

    def call() -> Any:
        for layer in cache.layers:  # writes at the same place again
            layer.cumulative_length.fill_(READ)
        with torch.no_grad():
            return compiled(input_ids=tokens, cache=cache)

    return call


# -- by hand -------------------------------------------------------------------------------


def _gpt2_by_hand(model: Any, tokens: Any, nest: Any) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    v = na.Container.from_torch_module(model.transformer).to_backend("jax").to_dict()
    heads = model.config.n_head

    def norm(p: Any, x: Any) -> Any:
        x = x - x.mean(-1, keepdims=True)
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["weight"] + p["bias"]

    def dense(p: Any, x: Any) -> Any:
        return x @ p["weight"] + p["bias"]

    def step(v: Any, token: Any, state: Any) -> Any:
        place, layers = state
        x = v["wte"]["weight"][token] + v["wpe"]["weight"][place]
        new = []
        for i, (keys, values) in enumerate(layers):
            p = v["h"][str(i)]
            parts = jnp.split(dense(p["attn"]["c_attn"], norm(p["ln_1"], x)), 3, axis=-1)
            q, k, value = (y.reshape(ROWS, 1, heads, -1).swapaxes(1, 2) for y in parts)
            keys = jax.lax.dynamic_update_slice(keys, k, (0, 0, place, 0))
            values = jax.lax.dynamic_update_slice(values, value, (0, 0, place, 0))
            new.append((keys, values))
            x = x + dense(p["attn"]["c_proj"], _attention(q, keys, values, place))
            hidden = jax.nn.gelu(dense(p["mlp"]["c_fc"], norm(p["ln_2"], x)), approximate=True)
            x = x + dense(p["mlp"]["c_proj"], hidden)
        return norm(v["ln_f"], x) @ v["wte"]["weight"].T, (place, new)

    return _started(step, v, tokens, nest)


def _llama_by_hand(model: Any, tokens: Any, nest: Any) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    v = na.Container.from_torch_module(model).to_backend("jax").to_dict()
    groups = model.config.num_key_value_heads
    frequencies = na.to_backend(model.model.rotary_emb.inv_freq, "jax")

    def norm(p: Any, x: Any) -> Any:
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * p["weight"]

    def dense(p: Any, x: Any) -> Any:
        return x @ p["weight"].T

    def rotated(x: Any, place: Any) -> Any:
        angles = jnp.concatenate([place * frequencies] * 2)
        first, second = jnp.split(x, 2, axis=-1)
        return x * jnp.cos(angles) + jnp.concatenate([-second, first], -1) * jnp.sin(angles)

    def step(v: Any, token: Any, state: Any) -> Any:
        place, layers = state
        x = v["model"]["embed_tokens"]["weight"][token]
        new = []
        for i, (keys, values) in enumerate(layers):
            p = v["model"]["layers"][str(i)]
            hidden, parts = norm(p["input_layernorm"], x), p["self_attn"]
            q = rotated(dense(parts["q_proj"], hidden).reshape(ROWS, groups, -1, 64), place)
            k = rotated(dense(parts["k_proj"], hidden).reshape(ROWS, groups, 1, 64), place)
            value = dense(parts["v_proj"], hidden).reshape(ROWS, groups, 1, 64)
            keys = jax.lax.dynamic_update_slice(keys, k, (0, 0, place, 0))
            values = jax.lax.dynamic_update_slice(values, value, (0, 0, place, 0))
            new.append((keys, values))
            x = x + dense(parts["o_proj"], _attention(q, keys, values, place))
            hidden, parts = norm(p["post_attention_layernorm"], x), p["mlp"]
            gated = jax.nn.silu(dense(parts["gate_proj"], hidden)) * dense(parts["up_proj"], hidden)
            x = x + dense(parts["down_proj"], gated)
        return dense(v["lm_head"], norm(v["model"]["norm"], x)), (place, new)

    return _started(step, v, tokens, nest)


def _attention(q: Any, keys: Any, values: Any, place: Any) -> Any:
    """Attention of `(rows, heads, n, channels)` queries to keys up to a place; heads are joined."""
    import jax
    import jax.numpy as jnp

    scores = q @ keys.swapaxes(-1, -2) / q.shape[-1] ** 0.5
    weights = jax.nn.softmax(jnp.where(jnp.arange(LENGTH) <= place, scores, -jnp.inf))
    return (weights @ values).reshape(ROWS, 1, -1)


def _started(step: Any, v: Any, tokens: Any, nest: Any) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp

    cache = nest.to_backend("jax").to_dict()["layers"]
    state = jnp.asarray(READ), [(layer["keys"], layer["values"]) for layer in cache]
    token = na.to_backend(tokens, "jax")
    return _carrying(jax.jit(step, donate_argnums=2), v, token, state)


BY_HAND: dict[str, Callable[..., Callable[[], Any]]] = {
    "GPT-2": _gpt2_by_hand,
    "Llama": _llama_by_hand,
}

"""Layers of Flax, Haiku and Equinox become single ops when a graph is lowered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import flax.linen as nn
import haiku as hk
import jax
import jax.numpy as jnp
import optax
import pytest
from flax import nnx

import nestarray as na

KEY = jax.random.PRNGKey(0)
X = jax.random.normal(KEY, (2, 4, 8))
IMAGES = jax.random.normal(KEY, (2, 6, 6, 8))


def linen(module: nn.Module, x: Any = X, **settings: Any) -> na.Graph:
    return na.trace_graph(module, x, variables=module.init(KEY, x), **settings)


def haiku(function: Callable[[Any], Any], x: Any = X) -> na.Graph:
    transformed = hk.transform(function)
    return na.trace_graph(transformed, x, params=transformed.init(KEY, x))


class LinenBlock(nn.Module):
    @nn.compact
    def __call__(self, x: Any) -> Any:
        mask = nn.make_causal_mask(x[..., 0])
        x = x + nn.MultiHeadDotProductAttention(2)(nn.LayerNorm()(x), mask=mask)
        return x + nn.Dense(8)(nn.gelu(nn.Dense(16)(nn.RMSNorm()(x))))


class NnxBlock(nnx.Module):
    def __init__(self) -> None:
        rngs = nnx.Rngs(1)
        self.norm, self.rms = nnx.LayerNorm(8, rngs=rngs), nnx.RMSNorm(8, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(2, 8, decode=False, rngs=rngs)
        self.up, self.down = nnx.Linear(8, 16, rngs=rngs), nnx.Linear(16, 8, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = x + self.attention(self.norm(x), mask=nnx.make_causal_mask(x[..., 0]))
        return x + self.down(nnx.gelu(self.up(self.rms(x))))


def haiku_block(x: Any) -> Any:
    norm = hk.LayerNorm(-1, create_scale=True, create_offset=True)
    mask = jnp.tril(jnp.ones((1, 1, 4, 4)))
    h = norm(x)
    attention = hk.MultiHeadAttention(2, 4, w_init=hk.initializers.VarianceScaling(1.0))
    x = x + attention(h, h, h, mask=mask)
    return x + hk.Linear(8)(jax.nn.gelu(hk.Linear(16)(hk.RMSNorm(-1)(x))))


class EquinoxBlock(eqx.Module):
    norm: eqx.nn.LayerNorm
    rms: eqx.nn.RMSNorm
    attention: eqx.nn.MultiheadAttention
    up: eqx.nn.Linear
    down: eqx.nn.Linear

    def __init__(self) -> None:
        self.norm, self.rms = eqx.nn.LayerNorm(8), eqx.nn.RMSNorm(8)
        self.attention = eqx.nn.MultiheadAttention(2, 8, key=KEY)
        self.up, self.down = eqx.nn.Linear(8, 16, key=KEY), eqx.nn.Linear(16, 8, key=KEY)

    def __call__(self, x: Any) -> Any:
        h = jax.vmap(self.norm)(x)
        x = x + self.attention(h, h, h, mask=jnp.tril(jnp.ones((4, 4), bool)))
        return x + jax.vmap(self.down)(jax.nn.gelu(jax.vmap(self.up)(jax.vmap(self.rms)(x))))


BLOCKS: dict[str, Callable[[], na.Graph]] = {
    "linen": lambda: linen(LinenBlock()),
    "nnx": lambda: na.trace_graph(NnxBlock(), X),
    "haiku": lambda: haiku(haiku_block),
    "equinox": lambda: na.trace_graph(EquinoxBlock(), X[0]),
    "equinox batched": lambda: na.trace_graph(jax.vmap(EquinoxBlock()), X),
}


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", BLOCKS)
def test_transformer_block(name: str) -> None:
    graph = BLOCKS[name]().lower()
    calls = graph.report().calls
    for op in ("layer_norm", "rms_norm", "gelu", "scaled_dot_product_attention"):
        assert calls.get(f"na.{op}") == 1, str(graph)
    report = graph.to_backend("torch").verify()
    assert report.ok, str(report)
    assert report.gradients


class Rolled(nn.Module):
    """Three blocks in one loop."""

    @nn.compact
    def __call__(self, x: Any) -> Any:
        def step(block: LinenBlock, x: Any, _: None) -> tuple[Any, None]:
            return block(x), None

        axes = {"variable_axes": {"params": 0}, "split_rngs": {"params": True}, "length": 3}
        return nn.scan(nn.remat(step), **axes)(LinenBlock(), x, None)[0]


def test_rolled_blocks() -> None:
    graph = linen(Rolled()).lower()
    assert [node.target_name for node in graph.calls] == ["na.scan", "getitem", "getitem"]
    ops = ("layer_norm", "rms_norm", "gelu", "scaled_dot_product_attention")
    assert graph.report().idioms == dict.fromkeys(ops, 1)
    report = graph.to_backend("torch").verify()
    assert report.ok, str(report)
    assert report.gradients


def _norm(x: Any) -> Any:
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


def _softmax(x: Any) -> Any:
    powers = jnp.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@jax.custom_vjp
def _with_rule(x: Any) -> Any:
    return _norm(x)


_with_rule.defvjp(lambda x: (_norm(x), x), lambda x, g: (_norm(x) * g,))

#: (function, the idioms of its bodies).
BODIES: dict[str, tuple[Callable[[Any], Any], dict[str, int]]] = {
    "scan": (
        lambda x: jax.lax.scan(lambda c, row: (_norm(row) + c, _softmax(c)), X[0, 0], x[0])[1],
        {"layer_norm": 1, "softmax": 1},
    ),
    "fori_loop": (
        lambda x: jax.lax.fori_loop(0, 2, lambda i, x: _norm(x) + i * x, x), {"layer_norm": 1}
    ),
    "cond": (
        lambda x: jax.lax.cond(x[0, 0, 0] > 0, _norm, _softmax, x),
        {"layer_norm": 1, "softmax": 1},
    ),
    "custom_vjp": (_with_rule, {"layer_norm": 3}),
    "nested": (
        lambda x: jax.lax.map(lambda row: jax.lax.cond(row.sum() > 0, _norm, _softmax, row), x),
        {"layer_norm": 1, "softmax": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_body(name: str) -> None:
    function, idioms = BODIES[name]
    graph = na.trace_graph(function, X).lower()
    assert graph.report().idioms == idioms, str(graph)
    report = graph.to_backend("torch").verify()
    assert report.ok, str(report)
    assert report.input_gradients


def test_values_from_outside_of_a_loop_are_not_computed_in_it() -> None:
    def function(x: Any) -> Any:
        mean = x.mean(-1, keepdims=True)
        scale = jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
        return jax.lax.fori_loop(0, 2, lambda i, y: y + (x - mean) * scale, x)

    assert na.trace_graph(function, X).lower().report().idioms == {"mean": 1, "var": 1}


#: (graph, op) of one layer.
LAYERS: dict[str, tuple[Callable[[], na.Graph], str]] = {
    "linen group norm": (lambda: linen(nn.GroupNorm(2), IMAGES), "group_norm"),
    "linen instance norm": (lambda: linen(nn.InstanceNorm(), IMAGES), "group_norm"),
    "linen batch norm": (
        lambda: linen(nn.BatchNorm(use_running_average=True), IMAGES), "batch_norm",
    ),
    "nnx group norm": (
        lambda: na.trace_graph(nnx.GroupNorm(8, 2, rngs=nnx.Rngs(0)), IMAGES), "group_norm",
    ),
    "nnx batch norm": (
        lambda: na.trace_graph(nnx.BatchNorm(8, rngs=nnx.Rngs(0)), IMAGES), "batch_norm",
    ),
    "nnx batch norm, training": (
        lambda: na.trace_graph(nnx.BatchNorm(8, rngs=nnx.Rngs(0)), IMAGES, train=True),
        "batch_norm_training",
    ),
    "haiku group norm": (lambda: haiku(lambda x: hk.GroupNorm(2)(x), IMAGES), "group_norm"),
    "equinox group norm": (
        lambda: na.trace_graph(eqx.nn.GroupNorm(2, 8), IMAGES[0].transpose(2, 0, 1)), "group_norm",
    ),
    "slow variance": (lambda: linen(nn.LayerNorm(use_fast_variance=False)), "layer_norm"),
    "no parameters": (
        lambda: linen(nn.LayerNorm(use_bias=False, use_scale=False)), "layer_norm",
    ),
    "exact gelu": (lambda: na.trace_graph(lambda x: nn.gelu(x, approximate=False), X), "gelu"),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layer(name: str) -> None:
    make, op = LAYERS[name]
    graph = make().lower()
    assert f"na.{op}" in graph.report().calls, str(graph)
    report = graph.to_backend("torch").verify()
    assert report.ok, str(report)


HEADS = jax.random.normal(KEY, (2, 4, 4, 8))
FEW_HEADS = HEADS[:, :, :2]
MASK = jnp.tril(jnp.ones((1, 1, 4, 4), bool))
BIAS = jax.random.normal(KEY, (2, 1, 4, 4))
LENGTHS = jnp.asarray([2, 3])
attend = jax.nn.dot_product_attention
#: (function, its arrays after query, key and value, whether heads of keys are shared).
ATTENTIONS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], bool]] = {
    "plain": (lambda q, k, v: attend(q, k, v), (), False),
    "causal": (lambda q, k, v: attend(q, k, v, is_causal=True), (), False),
    "causal, shared": (lambda q, k, v: attend(q, k, v, is_causal=True), (), True),
    "window, shared": (
        lambda q, k, v: attend(q, k, v, is_causal=True, local_window_size=(1, 0)), (), True
    ),
    "bias, mask": (lambda q, k, v, b, m: attend(q, k, v, b, m), (BIAS, MASK), False),
    "bias, mask, shared": (lambda q, k, v, b, m: attend(q, k, v, b, m), (BIAS, MASK), True),
    "lengths, shared": (
        lambda q, k, v, n: attend(q, k, v, key_value_seq_lengths=n), (LENGTHS,), True
    ),
}  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention(name: str, dtype: str) -> None:
    function, others, is_shared = ATTENTIONS[name]
    keys = FEW_HEADS if is_shared else HEADS
    arrays = [
        x.astype(dtype) if x.dtype == jnp.float32 else x for x in (HEADS, keys, keys, *others)
    ]
    graph = na.trace_graph(function, *arrays).lower()
    assert graph.report().idioms == {"scaled_dot_product_attention": 1}, str(graph)
    (call,) = [n for n in graph.calls if n.target_name == "na.scaled_dot_product_attention"]
    assert call.kwargs.get("is_causal", False) == name.startswith("causal")
    assert call.kwargs.get("enable_gqa", False) == (is_shared and "lengths" not in name)
    report = graph.to_backend("torch").verify()
    assert report.ok, str(report)


@pytest.mark.parametrize("is_shared", [False, True])
def test_dropout_of_attention_weights(is_shared: bool) -> None:
    """The op draws a number for each weight; Flax's default drops the same ones in all heads."""
    module = nn.MultiHeadDotProductAttention(
        2, dropout_rate=0.3, broadcast_dropout=is_shared, deterministic=False
    )

    def apply(variables: Any, x: Any, key: Any) -> Any:
        return module.apply(variables, x, mask=MASK, rngs={"dropout": key})

    variables = module.init({"params": KEY, "dropout": KEY}, X)
    graph = na.trace_graph(apply, variables, X, KEY, v="variables").lower()
    op = "random_uniform" if is_shared else "scaled_dot_product_attention"
    assert graph.report().idioms == {op: 1}, str(graph)
    report = graph.to_backend("torch").verify()
    assert report.ok, str(report)
    assert report.gradients


def test_softmax_in_float32() -> None:
    """Flax casts scores and values, and the result back; the norms do so around x."""
    module = nn.Sequential(
        [nn.LayerNorm(dtype=jnp.bfloat16),
         nn.MultiHeadDotProductAttention(2, dtype=jnp.bfloat16, force_fp32_for_softmax=True)]
    )  # fmt: skip
    graph = linen(module, X.astype(jnp.bfloat16)).lower()
    assert graph.report().idioms == {"layer_norm": 1, "scaled_dot_product_attention": 1}
    report = graph.to_backend("torch").verify()
    assert report.ok, str(report)


LOGITS = jax.random.normal(KEY, (2, 5, 7))
LABELS = jnp.asarray([[0, 6, -1, 3, 2], [1, 1, 5, 4, 0]])
of_classes = optax.softmax_cross_entropy_with_integer_labels
log_softmax = jax.nn.log_softmax
LOSSES: dict[str, Callable[[Any, Any], Any]] = {
    "optax": lambda x, y: of_classes(x, y).mean(),
    "optax, axis": lambda x, y: of_classes(x.swapaxes(1, 2), y, axis=1),
    "optax, one-hot": lambda x, y: optax.softmax_cross_entropy(x, jax.nn.one_hot(y, 7)),
    "take_along_axis": lambda x, y: -jnp.take_along_axis(log_softmax(x), y[..., None], -1),
    "mean first": lambda x, y: -jnp.take_along_axis(log_softmax(x), y[..., None], -1).mean(),
    "index": lambda x, y: -log_softmax(x)[jnp.arange(2)[:, None], jnp.arange(5), y],
    "index of logits": lambda x, y: (
        jax.nn.logsumexp(x, -1) - x[jnp.arange(2)[:, None], jnp.arange(5), y]
    ).sum(),
    "vmap": lambda x, y: jax.vmap(lambda row, label: -log_softmax(row)[label])(x[0], y[0]),
    "one-hot, mean first": lambda x, y: -(jax.nn.one_hot(y, 7) * log_softmax(x)).sum(-1).mean(),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_loss(name: str) -> None:
    graph = na.trace_graph(LOSSES[name], LOGITS, LABELS).lower()
    means = {"mean": 1} if name in ("optax", "mean first", "one-hot, mean first") else {}
    assert graph.report().idioms == {"cross_entropy": 1, **means}, str(graph)
    report = graph.to_backend("torch").verify()
    assert report.ok, str(report)
    assert report.input_gradients


def test_labels_out_of_range() -> None:
    labels = LABELS.at[0, 0].set(7).at[1, 0].set(-100)
    graph = na.trace_graph(of_classes, LOGITS, labels).lower().to_backend("torch")
    found = na.to_backend(graph(*[na.to_backend(x, "torch") for x in (LOGITS, labels)]), "jax")
    assert jnp.isnan(found).tolist() == jnp.isnan(of_classes(LOGITS, labels)).tolist()
    assert jnp.isnan(found).sum() == 2


#: (function of a key, number of calls after lowering).
RANDOM: dict[str, tuple[Callable[[Any], Any], int]] = {
    "uniform": (lambda key: jax.random.uniform(key, (3, 4)), 1),
    "bernoulli": (lambda key: jax.random.bernoulli(key, 0.3, (2, 5)), 2),
    "haiku dropout": (lambda key: hk.dropout(key, 0.3, X) == 0.0, 6),
}


@pytest.mark.parametrize("backend", ["torch", "numpy"])
@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers(name: str, backend: str) -> None:
    function, count = RANDOM[name]
    graph = na.trace_graph(function, KEY).lower()
    assert graph.report().idioms == {"random_uniform": 1}, str(graph)
    assert len(graph.calls) == count
    found = graph.to_backend(backend)(na.to_backend(KEY, backend))
    assert jnp.array_equal(na.to_backend(found, "jax"), function(KEY))

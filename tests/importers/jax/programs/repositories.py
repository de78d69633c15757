"""Longer programs in the style of public repositories: loops of training and of generation."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import einops
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import struct
from jax import lax

from tests.arrays import normal as array

KEY = jax.random.PRNGKey(0)


def mlp(p, x):
    for i, layer in enumerate(p):
        x = x @ layer["w"] + layer["b"]
        if i < len(p) - 1:
            x = jax.nn.swish(x)
    return x


def layers(*s):
    return [
        {"w": array(a, b, seed=i, scale=a**-0.5), "b": array(b, scale=0.0)}
        for i, (a, b) in enumerate(pairwise(s))
    ]


class Config(NamedTuple):
    vocab: int = 11
    dim: int = 16
    heads: int = 4
    layers: int = 2
    length: int = 12


CFG = Config()


def gpt_init(cfg):
    L, D = cfg.layers, cfg.dim
    n = lambda i, *s: array(*s, seed=i, scale=0.2)  # noqa: E731
    return {
        "wte": n(0, cfg.vocab, D),
        "blocks": {
            "ln1": {"g": jnp.ones((L, D)), "b": jnp.zeros((L, D))},
            "qkv": n(1, L, D, 3 * D),
            "proj": n(2, L, D, D),
            "ln2": {"g": jnp.ones((L, D)), "b": jnp.zeros((L, D))},
            "fc": n(3, L, D, 4 * D),
            "out": n(4, L, 4 * D, D),
        },
        "lnf": {"g": jnp.ones(D), "b": jnp.zeros(D)},
    }


def layer_norm(p, x, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return p["g"] * (x - mean) * lax.rsqrt(var + eps) + p["b"]


def rope(x, positions):
    d = x.shape[-1]
    freqs = 1.0 / (10000 ** (jnp.arange(0, d, 2) / d))
    angles = positions[:, None].astype(jnp.float32) * freqs
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    x1, x2 = x[..., ::2], x[..., 1::2]
    return jnp.stack([x1 * cos - x2 * sin, x1 * sin + x2 * cos], -1).reshape(x.shape)


def attention(cfg, p, x, cache, pos):
    t = x.shape[0]
    qkv = einops.rearrange(x @ p["qkv"], "t (k h d) -> k t h d", k=3, h=cfg.heads)
    q, k, v = qkv
    where = pos + jnp.arange(t)
    q, k = rope(q, where), rope(k, where)
    ck, cv = cache
    ck = lax.dynamic_update_slice(ck, k, (pos, 0, 0))
    cv = lax.dynamic_update_slice(cv, v, (pos, 0, 0))
    scores = jnp.einsum("qhd,khd->hqk", q, ck) / np.sqrt(q.shape[-1])
    mask = jnp.arange(cfg.length)[None, :] <= where[:, None]
    scores = jnp.where(mask[None], scores, -1e10)
    out = jnp.einsum("hqk,khd->qhd", jax.nn.softmax(scores, -1), cv)
    return einops.rearrange(out, "t h d -> t (h d)") @ p["proj"], (ck, cv)


def gpt_forward(cfg, params, tokens, cache, pos):
    x = params["wte"][tokens]

    def block(x, layer):
        p, c = layer
        y, c = attention(cfg, p, layer_norm(p["ln1"], x), c, pos)
        x = x + y
        h = jax.nn.gelu(layer_norm(p["ln2"], x) @ p["fc"])
        return x + h @ p["out"], c

    x, cache = lax.scan(block, x, (params["blocks"], cache))
    return layer_norm(params["lnf"], x) @ params["wte"].T, cache


def empty_cache(cfg):
    shape = (cfg.layers, cfg.length, cfg.heads, cfg.dim // cfg.heads)
    return jnp.zeros(shape), jnp.zeros(shape)


def gpt_loss(params, tokens):
    def one(t):
        logits, _ = gpt_forward(CFG, params, t[:-1], empty_cache(CFG), 0)
        logp = jax.nn.log_softmax(logits)
        return -jnp.take_along_axis(logp, t[1:, None], 1).mean()

    return jax.vmap(one)(tokens).mean()


def top_k_filter(logits, k):
    kth = lax.top_k(logits, k)[0][..., -1:]
    return jnp.where(logits < kth, -jnp.inf, logits)


@partial(jax.jit, static_argnames=("steps",))
def gpt_generate(params, prompt, key, temperature=0.8, steps=5):
    cfg = CFG
    logits, cache = gpt_forward(cfg, params, prompt, empty_cache(cfg), 0)
    n = prompt.shape[0]
    out = jnp.zeros(n + steps, prompt.dtype).at[:n].set(prompt)

    def step(i, state):
        out, cache, logits, key = state
        key, sub = jax.random.split(key)
        token = jax.random.categorical(sub, top_k_filter(logits / temperature, 5))
        out = lax.dynamic_update_index_in_dim(out, token.astype(out.dtype), n + i, 0)
        logits, cache = gpt_forward(cfg, params, token[None], cache, n + i)
        return out, cache, logits[-1], key

    out, cache, _, _ = lax.fori_loop(0, steps, step, (out, cache, logits[-1], key))
    return out, cache[0].sum()


def _chunks(x, n):
    return x.reshape(n, -1, x.shape[-1])


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def flash(q, k, v, chunk):
    return _flash_forward(q, k, v, chunk)[0]


def _flash_forward(q, k, v, chunk):
    n = k.shape[0] // chunk
    scale = q.shape[-1] ** -0.5

    def step(carry, kv):
        acc, m, total = carry
        kc, vc = kv
        s = q @ kc.T * scale
        new_m = jnp.maximum(m, s.max(-1))
        p = jnp.exp(s - new_m[:, None])
        alpha = jnp.exp(m - new_m)
        total = total * alpha + p.sum(-1)
        acc = acc * alpha[:, None] + p @ vc
        return (acc, new_m, total), None

    init = (
        jnp.zeros((q.shape[0], v.shape[-1])),
        jnp.full(q.shape[0], -jnp.inf),
        jnp.zeros(q.shape[0]),
    )
    (acc, m, total), _ = lax.scan(step, init, (_chunks(k, n), _chunks(v, n)))
    out = acc / total[:, None]
    return out, (q, k, v, out, m + jnp.log(total))


def _flash_backward(chunk, saved, g):
    q, k, v, out, lse = saved
    scale = q.shape[-1] ** -0.5
    n = k.shape[0] // chunk
    delta = (g * out).sum(-1)

    def step(dq, kv):
        kc, vc = kv
        p = jnp.exp(q @ kc.T * scale - lse[:, None])
        dv = p.T @ g
        ds = p * (g @ vc.T - delta[:, None]) * scale
        return dq + ds @ kc, (ds.T @ q, dv)

    dq, (dk, dv) = lax.scan(step, jnp.zeros_like(q), (_chunks(k, n), _chunks(v, n)))
    return dq, dk.reshape(k.shape), dv.reshape(v.shape)


flash.defvjp(_flash_forward, _flash_backward)


def flash_model(params, x):
    q, k, v = (x @ params[n] for n in ("q", "k", "v"))
    heads = lambda a: einops.rearrange(a, "b t (h d) -> (b h) t d", h=2)  # noqa: E731
    out = jax.vmap(lambda q, k, v: flash(q, k, v, 4))(heads(q), heads(k), heads(v))
    return einops.rearrange(out, "(b h) t d -> b t (h d)", h=2) @ params["o"]


def moe_sorted(params, x):
    e = params["router"].shape[1]
    logits = x @ params["router"]
    gates, experts = lax.top_k(jax.nn.softmax(logits), 2)
    flat = experts.reshape(-1)
    order = jnp.argsort(flat, stable=True)
    token = order // 2
    sizes = jnp.bincount(flat, length=e)
    inputs = x[token]
    h = lax.ragged_dot(inputs, params["up"], sizes)
    g = lax.ragged_dot(inputs, params["gate"], sizes)
    y = lax.ragged_dot(jax.nn.silu(g) * h, params["down"], sizes)
    y = y * gates.reshape(-1)[order][:, None]
    out = jnp.zeros_like(x).at[token].add(y)
    z_loss = jnp.mean(jax.nn.logsumexp(logits, -1) ** 2)
    density = jnp.zeros(e).at[flat].add(1.0) / flat.size
    return out, z_loss + e * jnp.sum(density * jax.nn.softmax(logits).mean(0))


class GraphsTuple(NamedTuple):
    nodes: Any
    edges: Any
    senders: Any
    receivers: Any
    globals: Any
    n_node: Any
    n_edge: Any


def graph_network(params, graph):
    n_graph = graph.n_node.shape[0]
    sum_n = graph.nodes.shape[0]
    gidx = jnp.repeat(jnp.arange(n_graph), graph.n_node, total_repeat_length=sum_n)
    eidx = jnp.repeat(jnp.arange(n_graph), graph.n_edge, total_repeat_length=graph.senders.shape[0])
    nodes, edges, glob = graph.nodes, graph.edges, graph.globals
    for p in params:
        sent, received = nodes[graph.senders], nodes[graph.receivers]
        e = mlp(p["edge"], jnp.concatenate([edges, sent, received, glob[eidx]], -1))
        logits = jnp.squeeze(e @ p["att"], -1)
        mx = jax.ops.segment_max(logits, graph.receivers, sum_n)
        w = jnp.exp(logits - jnp.where(jnp.isfinite(mx), mx, 0)[graph.receivers])
        w = w / jax.ops.segment_sum(w, graph.receivers, sum_n)[graph.receivers]
        agg = jax.ops.segment_sum(e * w[:, None], graph.receivers, sum_n)
        n = mlp(p["node"], jnp.concatenate([nodes, agg, glob[gidx]], -1))
        count = jax.ops.segment_sum(jnp.ones(sum_n), gidx, n_graph)
        pooled = (
            jax.ops.segment_sum(n, gidx, n_graph, indices_are_sorted=True)
            / jnp.maximum(count, 1)[:, None]
        )
        mins = jax.ops.segment_min(n, gidx, n_graph)
        g = mlp(p["global"], jnp.concatenate([pooled, mins, glob], -1))
        edges, nodes, glob = edges + e, nodes + n, glob + g
    mask = jnp.arange(sum_n) < graph.n_node[:-1].sum()
    return graph._replace(nodes=jnp.where(mask[:, None], nodes, 0), edges=edges, globals=glob)


def graph_row():
    p = [
        {
            "edge": layers(11, 8, 3),
            "att": array(3, 1),
            "node": layers(8, 8, 3),
            "global": layers(8, 8, 2),
        }
        for _ in range(2)
    ]
    g = GraphsTuple(
        array(7, 3),
        array(9, 3, seed=1),
        jnp.asarray([0, 1, 2, 0, 3, 4, 4, 5, 6]),
        jnp.asarray([1, 2, 0, 2, 4, 3, 5, 4, 6]),
        array(3, 2, seed=2),
        jnp.asarray([3, 3, 1]),
        jnp.asarray([4, 4, 1]),
    )
    return graph_network, p, g


@struct.dataclass
class EnvState:
    x: jax.Array
    xd: jax.Array
    th: jax.Array
    thd: jax.Array
    t: int


class Transition(NamedTuple):
    done: Any
    action: Any
    value: Any
    reward: Any
    logp: Any
    obs: Any


def env_reset(key):
    s = jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)
    st = EnvState(s[0], s[1], s[2], s[3], 0)
    return env_obs(st), st


def env_obs(s):
    return jnp.array([s.x, s.xd, s.th, s.thd])


def env_step(key, s, a):
    force = 10.0 * a - 10.0 * (1 - a)
    c, sn = jnp.cos(s.th), jnp.sin(s.th)
    temp = (force + 0.05 * s.thd**2 * sn) / 1.1
    ta = (9.8 * sn - c * temp) / (0.5 * (4 / 3 - 0.1 * c**2 / 1.1))
    xa = temp - 0.05 * ta * c / 1.1
    new = EnvState(
        s.x + 0.02 * s.xd, s.xd + 0.02 * xa, s.th + 0.02 * s.thd, s.thd + 0.02 * ta, s.t + 1
    )
    done = (jnp.abs(new.x) > 2.4) | (jnp.abs(new.th) > 0.05) | (new.t >= 4)
    obs0, st0 = env_reset(key)
    state = jax.tree.map(
        lambda a, b: jax.lax.select(done, a, b),
        st0,
        jax.tree.map(lambda x, y: jnp.asarray(x, jnp.asarray(y).dtype), new, st0),
    )
    return jax.lax.select(done, obs0, env_obs(new)), state, 1.0, done


def ppo_train(params, key):
    N, STEPS, EPOCHS, MB = 4, 6, 2, 3
    tx = optax.chain(
        optax.clip_by_global_norm(0.5), optax.adam(optax.linear_schedule(1e-3, 0, 10), eps=1e-5)
    )

    def net(p, obs):
        h = obs
        for layer in p["body"]:
            h = jnp.tanh(h @ layer["w"] + layer["b"])
        return h @ p["pi"], (h @ p["v"])[..., 0]

    key, k = jax.random.split(key)
    obs, env = jax.vmap(env_reset)(jax.random.split(k, N))

    def update(runner, _):
        def step(runner, _):
            params, opt, env, obs, key = runner
            key, ka, ks = jax.random.split(key, 3)
            logits, value = net(params, obs)
            a = jax.random.categorical(ka, logits)
            logp = jnp.take_along_axis(jax.nn.log_softmax(logits), a[:, None], -1)[:, 0]
            nobs, env, r, done = jax.vmap(env_step)(jax.random.split(ks, N), env, a)
            return (params, opt, env, nobs, key), Transition(
                done, a, value, jnp.broadcast_to(r, (N,)), logp, obs
            )

        runner, traj = lax.scan(step, runner, None, STEPS)
        params, opt, env, obs, key = runner
        _, last = net(params, obs)

        def gae(c, tr):
            adv, nv = c
            delta = tr.reward + 0.99 * nv * (1 - tr.done) - tr.value
            adv = delta + 0.99 * 0.95 * (1 - tr.done) * adv
            return (adv, tr.value), adv

        _, adv = lax.scan(gae, (jnp.zeros_like(last), last), traj, reverse=True, unroll=2)
        targets = adv + traj.value

        def epoch(c, _):
            params, opt, key = c
            key, k = jax.random.split(key)
            perm = jax.random.permutation(k, N * STEPS)
            batch = jax.tree.map(lambda x: x.reshape(N * STEPS, *x.shape[2:]), (traj, adv, targets))
            mbs = jax.tree.map(
                lambda x: jnp.take(x, perm, axis=0).reshape(MB, -1, *x.shape[1:]), batch
            )

            def minibatch(c, mb):
                params, opt = c
                tr, adv, tg = mb

                def loss(params):
                    logits, v = net(params, tr.obs)
                    lp = jax.nn.log_softmax(logits)
                    logp = jnp.take_along_axis(lp, tr.action[:, None], -1)[:, 0]
                    vc = tr.value + (v - tr.value).clip(-0.2, 0.2)
                    vl = 0.5 * jnp.maximum((v - tg) ** 2, (vc - tg) ** 2).mean()
                    ratio = jnp.exp(logp - tr.logp)
                    g = (adv - adv.mean()) / (adv.std() + 1e-8)
                    al = -jnp.minimum(ratio * g, jnp.clip(ratio, 0.8, 1.2) * g).mean()
                    ent = -(jnp.exp(lp) * lp).sum(-1).mean()
                    return al + 0.5 * vl - 0.01 * ent, (vl, al)

                (total, aux), grads = jax.value_and_grad(loss, has_aux=True)(params)
                up, opt = tx.update(grads, opt, params)
                return (optax.apply_updates(params, up), opt), (total, aux)

            (params, opt), losses = lax.scan(minibatch, (params, opt), mbs)
            return (params, opt, key), losses

        (params, opt, key), losses = lax.scan(epoch, (params, opt, key), None, EPOCHS)
        return (params, opt, env, obs, key), (losses, traj.reward.sum())

    runner = (params, tx.init(params), env, obs, key)
    runner, metrics = lax.scan(update, runner, None, 2)
    return runner[0], metrics


def ppo_row():
    return (
        ppo_train,
        {"body": layers(4, 8, 8), "pi": array(8, 2, scale=0.1), "v": array(8, 1, scale=0.3)},
        KEY,
    )


PROGRAMS: dict[str, Any] = {
    "gpt-loss": (gpt_loss, gpt_init(CFG), jax.random.randint(KEY, (2, 9), 0, 11)),
    "gpt-generation": (gpt_generate, gpt_init(CFG), jnp.asarray([1, 2, 3]), KEY),
    "flash-attention": (
        flash_model,
        {name: array(8, 8, seed=i) for i, name in enumerate("qkvo")},
        array(2, 12, 8),
    ),
    "sorted-experts": (
        moe_sorted,
        {
            "router": array(4, 3),
            "up": array(3, 4, 6),
            "gate": array(3, 4, 6, seed=1),
            "down": array(3, 6, 4),
        },
        array(7, 4),
    ),
    "graph-network": graph_row(),
    "ppo-training": ppo_row(),
}

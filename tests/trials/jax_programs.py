"""Functions in the style of JAX packages: loops with state, indexed updates, derivatives, batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

RNG = np.random.default_rng(5)


def _normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype("float32")


def momentum_sgd(x: Any, y: Any) -> Any:
    """Ten steps of gradient descent on a line, inside of one program."""

    def loss(w: Any) -> Any:
        return jnp.mean((x @ w - y) ** 2)

    def step(carry: Any, _: Any) -> Any:
        w, velocity = carry
        velocity = 0.9 * velocity - 0.1 * jax.grad(loss)(w)
        return (w + velocity, velocity), loss(w)

    (w, _), losses = lax.scan(step, (jnp.zeros(3), jnp.zeros(3)), None, length=10)
    return w, losses


def sinkhorn(cost: Any) -> Any:
    """Optimal transport in log space, until the change is small."""
    n, m = cost.shape

    def body(state: Any) -> Any:
        i, f, g, _ = state
        new = -jax.nn.logsumexp(g[None] - cost, axis=1) - jnp.log(n)
        g = -jax.nn.logsumexp(new[:, None] - cost, axis=0) - jnp.log(m)
        return i + 1, new, g, jnp.abs(new - f).max()

    def going(state: Any) -> Any:
        return (state[0] < 30) & (state[3] > 1e-6)

    start = (0, jnp.zeros(n), jnp.zeros(m), jnp.inf)
    _, f, g, _ = lax.while_loop(going, body, start)
    return jnp.exp(f[:, None] + g[None] - lax.stop_gradient(cost))


def masked_updates(x: Any, index: Any) -> Any:
    """`at` in several modes, at repeated positions too."""
    y = x.at[index].add(1.0).at[index].multiply(2.0)
    y = y.at[:, ::2].set(jnp.tanh(x[:, ::2])).at[-1, 0].min(-1.0)
    return y.at[index, 1].max(0.25).sum(0) + y.at[0].get(mode="fill", fill_value=0)


def natural_gradient(w: Any, x: Any) -> Any:
    """The Fisher product of a vector by jvp and vjp, and a solve by conjugate gradients."""

    def logits(w: Any) -> Any:
        return jnp.tanh(x @ w)

    def product(v: Any) -> Any:
        _, tangent = jax.jvp(logits, (w,), (v,))
        return jax.vjp(logits, w)[1](tangent)[0] + 0.1 * v

    gradient = jax.grad(lambda w: logits(w).sum())(w)
    return jax.scipy.sparse.linalg.cg(product, gradient, maxiter=5)[0]


def per_example_norms(w: Any, x: Any, y: Any) -> Any:
    """Gradients of each example, clipped, as in private training."""

    def loss(w: Any, x: Any, y: Any) -> Any:
        return -jax.nn.log_softmax(x @ w)[y]

    gradients = jax.vmap(jax.grad(loss), (None, 0, 0))(w, x, y)
    norms = jnp.sqrt((gradients**2).sum((1, 2)))
    return (gradients * jnp.minimum(1.0, 0.5 / norms)[:, None, None]).mean(0)


def selective_scan(x: Any, a: Any) -> Any:
    """A linear recurrence by an associative scan."""

    def combine(left: Any, right: Any) -> Any:
        return left[0] * right[0], right[0] * left[1] + right[1]

    return lax.associative_scan(combine, (jax.nn.sigmoid(a), x), axis=0)[1]


def beam_step(scores: Any, tokens: Any) -> Any:
    """One step of a beam search: the best of all continuations."""
    beams, words = scores.shape
    best, flat = lax.top_k((jax.nn.log_softmax(scores) + scores[:, :1]).reshape(-1), beams)
    rows = jnp.take_along_axis(tokens, (flat // words)[:, None], axis=0)
    return best, jnp.concatenate([rows, (flat % words)[:, None]], axis=1)


def power_iteration(a: Any) -> Any:
    """fori_loop with a matrix, and switch by its result."""
    v = lax.fori_loop(0, 20, lambda i, v: (a @ v) / jnp.linalg.norm(a @ v), jnp.ones(a.shape[0]))
    value = v @ a @ v
    branches = [lambda x: x, lambda x: -x, lambda x: x**2]
    return lax.switch((jnp.sign(value) + 1).astype(int), branches, value), v


def rotary(q: Any, k: Any) -> Any:
    """Rotary positions and grouped heads."""
    _, length, _, size = q.shape
    angles = jnp.arange(length)[:, None] / 100.0 ** (jnp.arange(0, size, 2) / size)

    def rotated(x: Any) -> Any:
        a, b = x[..., ::2], x[..., 1::2]
        cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
        return jnp.stack([a * cos - b * sin, a * sin + b * cos], -1).reshape(x.shape)

    k = jnp.repeat(rotated(k), q.shape[2] // k.shape[2], axis=2)
    return jnp.einsum("bqhd,bkhd->bhqk", rotated(q), k) / jnp.sqrt(size)


@partial(jax.jit, static_argnames="order")
def finite_stencil(u: Any, order: int = 2) -> Any:
    """A Laplacian by convolution and by rolls, at a setting that is static."""
    kernel = jnp.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], u.dtype)
    by_kernel = jax.scipy.signal.convolve2d(u, kernel, mode="same")
    by_rolls = sum(jnp.roll(u, s, axis) for axis in (0, 1) for s in (-1, 1)) - 4 * u
    return by_kernel + order * by_rolls


@jax.custom_vjp
def _straight_through(x: Any) -> Any:
    return jnp.round(x)


_straight_through.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))


def quantized(x: Any, w: Any) -> Any:
    """Fake quantization with a rule of its own, under checkpoint."""

    @jax.checkpoint
    def layer(x: Any) -> Any:
        return jax.nn.gelu(x @ (_straight_through(w * 8) / 8))

    return layer(layer(x))


def running_extremes(x: Any) -> Any:
    """Running extrema and sums of logarithms."""
    return lax.cummax(x), lax.cummin(x, reverse=True), lax.cumlogsumexp(x, axis=1)


_A = _normal(4, 4)
TRIALS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = {
    "momentum_sgd": (momentum_sgd, (_normal(6, 3), _normal(6))),
    "sinkhorn": (sinkhorn, (abs(_normal(4, 5)),)),
    "masked_updates": (masked_updates, (_normal(4, 4), np.array([0, 2, 2], "int32"))),
    "natural_gradient": (natural_gradient, (_normal(3), _normal(5, 3))),
    "per_example_norms": (
        per_example_norms,
        (_normal(3, 4), _normal(5, 3), np.array([0, 3, 1, 1, 2], "int32")),
    ),
    "selective_scan": (selective_scan, (_normal(7, 3), _normal(7, 3))),
    "beam_step": (beam_step, (_normal(3, 6), np.arange(6, dtype="int32").reshape(3, 2))),
    "power_iteration": (power_iteration, (_A @ _A.T,)),
    "rotary": (rotary, (_normal(2, 3, 4, 6), _normal(2, 3, 2, 6))),
    "finite_stencil": (finite_stencil, (_normal(6, 7),)),
    "quantized": (quantized, (_normal(3, 4), _normal(4, 4))),
    "running_extremes": (running_extremes, (_normal(5, 3),)),
}

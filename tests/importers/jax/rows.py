"""Functions of JAX by the feature that they use: a table for test_functions.py.

Each takes an array of shape (4, 3), float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental.ode import odeint

PLACES = jnp.asarray([2, 0, -1])
KEY = jax.random.PRNGKey(7)


class Pair(NamedTuple):
    """A pair of values."""

    first: Any
    second: Any


@partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["n"])
@dataclass
class Weights:
    """An array and a setting."""

    w: Any
    n: int


def recurrence(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        carry = 0.9 * carry + jnp.sin(row)
        return carry, (carry, row * 2)

    return lax.scan(step, jnp.zeros(3, x.dtype), x)


def reversed_recurrence(x: Any) -> Any:
    return lax.scan(lambda c, r: (c * r + 1, c), jnp.ones(3, x.dtype), x, reverse=True)


def counted(x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, c: c * 0.5 + x[i], x[0])


def nested_loops(x: Any) -> Any:
    def outer(carry: Any, row: Any) -> Any:
        inner, _ = lax.scan(lambda c, e: (c + e * row, None), carry, row)
        return lax.cond(inner.sum() > 0, lambda a: a * 2, lambda a: a - row, inner), inner

    return lax.scan(outer, jnp.zeros(3, x.dtype), x)


def convolved(x: Any) -> Any:
    images = jnp.arange(2 * 6 * 6 * 3.0).reshape(2, 6, 6, 3) * 0.01 * x.sum()
    kernels = jnp.cos(jnp.arange(3 * 3 * 3 * 4.0)).reshape(3, 3, 3, 4) * x[0, 0]
    numbers = ("NHWC", "HWIO", "NHWC")
    y = lax.conv_general_dilated(images, kernels, (2, 1), "SAME", dimension_numbers=numbers)
    z = lax.conv_transpose(images, kernels, (2, 2), "SAME", dimension_numbers=numbers)
    return y, z


def grouped(x: Any) -> Any:
    images = jnp.sin(jnp.arange(2 * 4 * 5 * 5.0)).reshape(2, 4, 5, 5) * x[0, 0]
    kernels = jnp.cos(jnp.arange(8 * 2 * 3 * 3.0)).reshape(8, 2, 3, 3) * x[1, 1]
    return lax.conv_general_dilated(
        images, kernels, (1, 1), [(1, 2), (0, 1)], rhs_dilation=(2, 1), feature_group_count=2
    )


def pooled(x: Any) -> Any:
    images = jnp.sin(jnp.arange(2 * 6 * 6 * 3.0) * x.sum()).reshape(2, 6, 6, 3)
    window, strides = (1, 2, 3, 1), (1, 2, 2, 1)
    largest = lax.reduce_window(images, -jnp.inf, lax.max, window, strides, "SAME")
    return largest, lax.reduce_window(images, 0.0, lax.add, window, strides, "VALID")


@jax.custom_jvp
def smooth(x: Any) -> Any:
    return jnp.log1p(jnp.exp(x))


@smooth.defjvp
def _(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return smooth(x), t * jax.nn.sigmoid(x)


@jax.custom_vjp
def clipped(x: Any) -> Any:
    return x


clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1, 1),))


@jax.custom_jvp
def planted(c: Any, n: Any) -> Any:
    return {"a": jnp.sin(c["x"]) * c["y"], "b": 2 * c["x"], "n": n + 1}


@planted.defjvp
def _(primals: Any, tangents: Any) -> Any:
    (c, _), (t, still) = primals, tangents
    found = planted(*primals)
    return found, {"a": 3 * t["x"] * found["a"] + t["y"], "b": t["x"] * c["y"], "n": still}


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def applied(function: Any, x: Any, n: Any) -> Any:
    return function(x) + n


def _applied_backward(function: Any, saved: Any, g: Any) -> Any:
    x, n = saved
    return 7 * g * function(x) * n, None


applied.defvjp(lambda f, x, n: (applied(f, x, n), (x, n)), _applied_backward)


def custom_inside(x: Any) -> Any:
    """Custom derivatives in a loop, a choice, a mapped function and a derivative."""

    def step(carry: Any, row: Any) -> Any:
        return clipped(carry * row) + applied(jnp.sin, row, 2), planted(
            {"x": carry, "y": row}, jnp.asarray(1)
        )

    carry, rows = lax.scan(step, x[0], x)
    chosen = lax.cond(x.sum() > 0, clipped, lambda y: applied(jnp.cos, y, 1), 3 * x)
    mapped = jax.vmap(lambda r: applied(jnp.exp, 5 * clipped(r), 1))(x)
    return carry, rows, chosen, mapped, jax.grad(lambda y: (5 * clipped(y * y)).sum())(x)


@jax.jit
def relu(x: Any) -> Any:
    """Not upstream's function of this name."""
    return jnp.maximum(x, 0.25) * 3


FUNCTIONS: dict[str, Any] = {
    "elementwise": lambda x: jnp.sin(x) * jnp.exp(-x) + jnp.tanh(x) / (1 + x**2) - jnp.sqrt(x**2 + 1),
    "powers": lambda x: (x**3, jnp.abs(x) ** 0.5, x**-2, jnp.square(x), jnp.cbrt(x)),
    "integers": lambda x: (jnp.floor(x * 5).astype(int) // 3, jnp.floor(x * 5).astype(int) % 3),
    "rounding": lambda x: (jnp.round(x * 2.5), lax.round(x * 3), jnp.trunc(x * 3), jnp.sign(x)),
    "special": lambda x: (jax.scipy.special.erf(x), jax.lax.lgamma(x + 3), jax.lax.digamma(x + 3)),
    "activations": lambda x: (jax.nn.relu(x), jax.nn.gelu(x), jax.nn.silu(x), jax.nn.softplus(x)),
    "activations_at_0": lambda x: jax.nn.relu(x - x) + jax.nn.relu6(x - x) * x,
    "own_relu": lambda x: relu(x),
    "softmax": lambda x: (jax.nn.softmax(x), jax.nn.log_softmax(x, 0), jax.nn.logsumexp(x)),
    "where": lambda x: jnp.where(x > 0, jnp.log1p(jnp.abs(x)), -x * 2),
    "clip": lambda x: (jnp.clip(x, -0.5, 0.5), jnp.maximum(x, 0.1), jnp.minimum(x, x[0])),
    "logic": lambda x: (x > 0) & (x < 1) | ~(x > -1),
    "bits": lambda x: (jnp.arange(4) << 2) ^ (jnp.arange(4) >> 1) | 5,
    "reductions": lambda x: (x.sum(0), x.max(1), x.prod(), x.mean(), x.var(0), jnp.any(x > 0, 1)),
    "cumulative": lambda x: (jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 1, reverse=True)),
    "means_of_examples": lambda x: jax.vmap(lambda r: lax.pmean((r, r**2), "i"), axis_name="i")(x),
    "argmax": lambda x: (jnp.argmax(x, 0), jnp.argmin(x), x[jnp.arange(4), jnp.argmax(x, 1)]),
    "sort": lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1), jnp.median(x, 0)),
    "sort_pairs": lambda x: lax.sort((x, x * 2), dimension=0, num_keys=1),
    "top_k": lambda x: lax.top_k(x, 2),
    "shapes": lambda x: (x.reshape(2, 6).T, x[None, :, None], jnp.squeeze(x[:1], 0), jnp.ravel(x)),
    "joined": lambda x: (jnp.concatenate([x, x * 2], 1), jnp.stack([x, -x]), jnp.tile(x, (2, 1))),
    "padded": lambda x: (jnp.pad(x, ((1, 0), (0, 2))), lax.pad(x, 0.5, ((1, -1, 1), (0, 1, 2)))),
    "flipped": lambda x: (x[::-1], jnp.flip(x, 1), jnp.roll(x, 1, 0)),
    "slices": lambda x: (x[1:3, ::2], x[-1], x[:, 1], x[2, None]),
    "gather": lambda x: (x[PLACES], x[PLACES, PLACES], jnp.take(x, PLACES, 1), x[:, PLACES]),
    "gather_outside": lambda x: (jnp.take(x, jnp.asarray([1, 9]), 0, mode="clip"), x[7]),
    "along_axis": lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
    "set": lambda x: (x.at[0].set(1.0), x.at[1:3].set(x[:2] * 2), x.at[PLACES].set(0.0)),
    "add": lambda x: (x.at[jnp.asarray([0, 0, 3])].add(x[:3]), x.at[:, 0].add(1.0)),
    "multiply_min_max": lambda x: (x.at[PLACES].multiply(x[:3], unique_indices=True), x.at[0].min(0.0), x.at[1].max(0.3)),
    "set_outside": lambda x: x.at[jnp.asarray([1, 9])].set(5.0),
    "dynamic": lambda x: (
        lax.dynamic_slice(x, (3, 1), (2, 2)),
        lax.dynamic_update_slice(x, x[:2, :2], (1, 2)),
        lax.dynamic_index_in_dim(x, 1, 0),
    ),
    "segments": lambda x: jax.ops.segment_sum(x, jnp.asarray([0, 1, 0, 2]), 3),
    "one_hot": lambda x: jax.nn.one_hot(jnp.argmax(x, 1), 3, dtype=x.dtype) @ x.T,
    "products": lambda x: (x @ x.T, jnp.dot(x[0], x[1]), jnp.outer(x[0], x[1]), jnp.vdot(x, x)),
    "einsum": lambda x: jnp.einsum("bi,bj,ij->b", x, x * 2, x[:3]),
    "ragged_dot": lambda x: lax.ragged_dot(x, jnp.stack([x[:3], x[1:]]), jnp.asarray([1, 2])),
    "batched": lambda x: jnp.matmul(x.reshape(2, 2, 3), x.reshape(2, 3, 2)),
    "convolution": convolved,
    "grouped_convolution": grouped,
    "pooling": pooled,
    "vmap": lambda x: jax.vmap(lambda a, b: jnp.dot(a, b) * a)(x, x[::-1]),
    "grad_inside": lambda x: jax.grad(lambda y: jnp.sum(jnp.sin(y) * y))(x),
    "hessian_inside": lambda x: jax.hessian(lambda y: jnp.sum(y**3))(x[0]),
    "jit_inside": lambda x: jax.jit(lambda a: jax.jit(jnp.cos)(a) * a)(x),
    "checkpoint": lambda x: jax.checkpoint(lambda a: jnp.sin(jnp.cos(a)))(x),
    "custom_jvp": lambda x: smooth(x),
    "custom_jvp_of_nests": lambda x: planted({"x": x, "y": x + 1}, jnp.asarray(3)),
    "custom_vjp": lambda x: 5 * clipped(x * 2),
    "custom_vjp_with_settings": lambda x: applied(jnp.tanh, x, 3),
    "custom_derivatives_inside": custom_inside,
    "stop_gradient": lambda x: lax.stop_gradient(x) * x,
    "cond": lambda x: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x),
    "switch": lambda x: lax.switch(2, [jnp.sin, jnp.cos, jnp.tanh], x),
    "fori_loop": counted,
    "scan": recurrence,
    "scan_reversed": reversed_recurrence,
    "scan_without_rows": lambda x: lax.scan(lambda c, _: (c * 0.5, c), x, None, length=3),
    "nested_loops": nested_loops,
    "associative_scan": lambda x: lax.associative_scan(jnp.add, x),
    "map": lambda x: lax.map(lambda r: r * r.sum(), x),
    "cholesky": lambda x: jnp.linalg.cholesky(x.T @ x + jnp.eye(3)),
    "solve_triangular": lambda x: jax.scipy.linalg.solve_triangular(x[:3] + 3 * jnp.eye(3), x.T),
    "norms": lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1)),
    "creation": lambda x: (jnp.arange(3.0) * x, jnp.eye(4) @ x, jnp.full((2,), 3), jnp.linspace(0, 1, 5)),
    "dtypes": lambda x: (x.astype("float32"), (x > 0).astype(int), x.astype("complex128")),
    "complex": lambda x: (jnp.abs(x + 2j * x), jnp.real(jnp.exp(1j * x)), jnp.angle(1 + 1j * x)),
    "random": lambda x: (
        x * jax.random.bernoulli(KEY, 0.5, x.shape),
        jax.random.normal(jax.random.fold_in(KEY, 3), (2,)),
        jax.random.randint(jax.random.split(KEY)[1], (4,), 0, 10),
        jax.random.uniform(jax.random.key(5), (3,)),
    ),
    "nests": lambda x: {"a": x, "b": [x * 2, (x[0], None)]},
    "pytrees": lambda x: Pair(jnp.sin(x), Weights(x[0], 3)),
    "diagonal": lambda x: (jnp.diagonal(x), jnp.trace(x), jnp.corrcoef(x)),
    "slogdet": lambda x: jnp.linalg.slogdet(x.T @ x + jnp.eye(3)),
    "total_order": lambda x: (
        jnp.searchsorted(jnp.sort(x[:, 0]), x), jnp.interp(x, jnp.arange(-2.0, 3), jnp.arange(5.0) ** 2),
        lax.sort((jnp.round(x), x), num_keys=2), jnp.unique(jnp.round(x), size=4),
    ),
    "ode": lambda x: odeint(lambda y, t: -y + jnp.sin(t), x, jnp.asarray([0.0, 0.5, 1.0])),
    "unsigned_division": lambda x: jnp.arange(5, dtype="uint32") // 2,
    "least_squares": lambda x: (jnp.linalg.lstsq(x, x[:, 0])[0], jnp.linalg.pinv(x)),
}  # fmt: skip

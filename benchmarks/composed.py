"""Functions that nestarray composes on JAX, compiled, against JAX's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable
from nestarray import backends

GOAL = 1.1


def tables() -> list[Table]:
    """Pairs of compiled functions on arrays of a layer's size, and of their gradients."""
    return [_functions(), _gradients()]


def _gradients() -> Table:
    """Functions whose derivatives at kinks and ties differ from JAX's, with their gradients."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(1024, 1024)), "float32")
    image = jnp.asarray(rng.normal(size=(8, 16, 64, 64)), "float32")
    window = (1, 1, 2, 2)

    def weighted(y: Any) -> Any:
        return jnp.sum(y * jnp.arange(y.size, dtype=y.dtype).reshape(y.shape))

    pairs: dict[str, tuple[Callable[..., Any], Callable[..., Any], Any]] = {
        "relu": (na.relu, jax.nn.relu, x),
        "leaky_relu": (na.leaky_relu, jax.nn.leaky_relu, x),
        "elu": (na.elu, jax.nn.elu, x),
        "celu": (na.celu, jax.nn.celu, x),
        "selu": (na.selu, jax.nn.selu, x),
        "softsign": (na.softsign, jax.nn.soft_sign, x),
        "abs": (na.abs, jnp.abs, x),
        "std": (lambda x: na.std(x, axis=1), lambda x: jnp.std(x, axis=1), x),
        "vector_norm": (
            lambda x: na.vector_norm(x, axis=1),
            lambda x: jnp.linalg.vector_norm(x, axis=1),
            x,
        ),
        "max_pool2d": (
            lambda x: na.max_pool2d(x, kernel_size=2),
            lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, window, "VALID"),
            image,
        ),
    }
    table = Table(
        "Compiled functions with their gradients on JAX",
        ["function", "JAX", "nestarray", "ratio"],
        "The goal is 1.02 of JAX's own function, whose derivatives at kinks differ.",
    )
    for name, (ours, theirs, argument) in pairs.items():
        functions = {
            key: jax.jit(jax.value_and_grad(lambda x, f=f: weighted(f(x))))
            for key, f in (("jax", theirs), ("na", ours))
        }
        calls = {
            key: lambda fn=fn, argument=argument: jax.block_until_ready(fn(argument))
            for key, fn in functions.items()
        }
        time = compare(calls, rounds=25)
        table.add(name, readable(time["jax"]), readable(time["na"]), ratio(time["na"], time["jax"]))
    return table


def _functions() -> Table:
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(256, 1024)), "float32")
    image = jnp.asarray(rng.normal(size=(8, 16, 64, 64)), "float32")
    heads = jnp.asarray(rng.normal(size=(4, 8, 128, 64)), "float32")
    vectors = jnp.asarray(rng.normal(size=(4096, 3)), "float32")
    square = jnp.asarray(rng.normal(size=(96, 96)), "float32")
    by_head = lambda q: jnp.swapaxes(q, 1, 2)  # JAX's attention has the heads behind the length  # noqa: E731

    pairs: dict[str, tuple[Callable[..., Any], Callable[..., Any], Any]] = {
        "relu6": (na.relu6, jax.nn.relu6, x),
        "glu": (na.glu, jax.nn.glu, x),
        "hard_sigmoid": (na.hard_sigmoid, jax.nn.hard_sigmoid, x),
        "hard_swish": (na.hard_swish, jax.nn.hard_swish, x),
        "hard_tanh": (na.hard_tanh, jax.nn.hard_tanh, x),
        "median": (lambda x: na.median(x, axis=1), lambda x: jnp.median(x, axis=1), x),
        "nanmean": (lambda x: na.nanmean(x, axis=1), lambda x: jnp.nanmean(x, axis=1), x),
        "corrcoef": (na.corrcoef, jnp.corrcoef, x),
        "diff": (na.diff, jnp.diff, x),
        "cross": (lambda x: na.cross(x, x[::-1]), lambda x: jnp.cross(x, x[::-1]), vectors),
        "kron": (lambda x: na.kron(x[:16], x), lambda x: jnp.kron(x[:16], x), square),
        "vector_norm": (
            lambda x: na.vector_norm(x, axis=1),
            lambda x: jnp.linalg.vector_norm(x, axis=1),
            x,
        ),
        "interpolate": (
            lambda x: na.interpolate(x, size=(128, 128), mode="bilinear"),
            lambda x: jax.image.resize(x, (8, 16, 128, 128), "bilinear"),
            image,
        ),
        "attention": (
            lambda q: na.scaled_dot_product_attention(q, q, q),
            lambda q: by_head(jax.nn.dot_product_attention(by_head(q), by_head(q), by_head(q))),
            heads,
        ),
    }
    table = Table(
        "Compiled functions on JAX",
        ["function", "JAX", "nestarray", "ratio", "nestarray's is"],
        f"The goal is {GOAL} of JAX's own function.",
    )
    for name, (ours, theirs, argument) in pairs.items():
        functions = {"jax": jax.jit(theirs), "na": jax.jit(ours)}
        calls = {
            key: lambda fn=fn, argument=argument: jax.block_until_ready(fn(argument))
            for key, fn in functions.items()
        }
        time = compare(calls, rounds=15)
        op = {"attention": "scaled_dot_product_attention"}.get(name, name)
        native = hasattr(backends.chapter("jax", na.dispatch.OPS[op].chapter), op)
        table.add(
            name, readable(time["jax"]), readable(time["na"]), ratio(time["na"], time["jax"]),
            "adapted" if native else "composed",
        )  # fmt: skip
    return table

"""Expressions that JAX and the JAX frontend both evaluate, and the comparison of their results."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import jax
import jax.scipy.stats
import numpy as np

import nestarray as na
from nestarray import backends
from tests.arrays import on
from tests.frontends.expressions import (
    TOLERANCE_OF_GRADIENTS,
    assert_same,
    base_arrays,
    evaluate,
    first_of_each_function,  # noqa: F401 - used by the tests of the JAX frontend
    is_inexact,
    leaves,
    names_in,
    projection,
    weights,
)
from tools.releases.jax import functions


def inputs() -> dict[str, np.ndarray]:
    """The arrays of expressions, by name."""
    rng = np.random.default_rng(0)
    arrays = base_arrays(rng) | {
        "d": rng.normal(size=(2, 4, 2, 3)),
        "g": rng.normal(size=(2, 5, 1, 3)),
        "r": rng.normal(size=(2, 2, 4, 4)),
    }
    floats = {name: value.astype("float32") for name, value in arrays.items()}
    integers = {
        "i": np.asarray([[3, -1, 2], [0, 5, -4]], "int32"),
        "j": np.asarray([[2, 3, 1], [4, 2, 3]], "int32"),
        "k": np.asarray([2, 0, 1, 2, 5], "int32"),
        "l": np.asarray([3, 2], "int32"),
        "s": np.asarray([3, 100, -7], "int8"),
        "u": np.asarray([7, 200, 0, 33], "uint8"),
    }
    others = {
        "b": np.asarray([[True, False, True], [False, False, True]]),
        "b2": np.asarray([[True, True, False], [False, True, True]]),
        "c": (arrays["x"] + 1j * arrays["y"]).astype("complex64"),
        "cv": (arrays["v"] + 1j * arrays["w"]).astype("complex64"),
        "cm": (arrays["m"] + 1j * arrays["m"].T).astype("complex64"),
        "cz": (0.3 * arrays["z"]).astype("complex64"),
        "h": rng.normal(size=3).astype("float16"),
        "n": np.asarray([[1.0, np.nan, -2.0], [np.nan, np.nan, np.nan]], "float32"),
        "e": np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0], "float32"),
    }
    return floats | integers | others


INPUTS = inputs()
#: The arrays by which gradients are taken.
DIFFERENTIATED = ("x", "y", "tall", "v", "w", "p", "q", "m", "a", "t", "z", "ties", "d", "g", "r")


def used(expression: str) -> list[str]:
    """The names of the arrays in an expression."""
    names = names_in(expression)
    return [name for name in INPUTS if name in names]


@cache
def expected(expression: str, space: Any) -> list[np.ndarray | Any]:
    """JAX's results."""
    arrays = {name: jax.numpy.asarray(INPUTS[name]) for name in used(expression)}
    found = leaves(evaluate(expression, space, arrays))
    return [np.asarray(x) if isinstance(x, jax.Array) else x for x in found]


@cache
def expected_gradients(expression: str, space: Any) -> list[np.ndarray]:
    """JAX's derivatives of the weighted sum of all floating results."""
    names = used(expression)
    floats = [name for name in names if name in DIFFERENTIATED]
    rest = {name: jax.numpy.asarray(INPUTS[name]) for name in names if name not in floats}

    def loss(*values: Any) -> Any:
        arrays = rest | dict(zip(floats, values, strict=True))
        results = leaves(evaluate(expression, space, arrays))
        parts = [jax.numpy.sum(x.real * weights(x.shape)) for x in results if is_inexact(x)]
        return sum(parts)

    values = [jax.numpy.asarray(INPUTS[name]) for name in floats]
    return [np.asarray(g) for g in jax.grad(loss, tuple(range(len(floats))))(*values)]


def is_differentiable(expression: str, space: Any) -> bool:
    """Whether an expression has floating arrays and floating results."""
    has_inputs = any(name in DIFFERENTIATED for name in used(expression))
    return has_inputs and any(map(is_inexact, expected(expression, space)))


def assert_equal(expression: str, theirs: Any, ours: Any, backend: str) -> None:
    """Backend, dtypes, shapes and values of all results are JAX's."""
    with na.use_backend(backend):
        arrays = {name: on(backend, INPUTS[name]) for name in used(expression)}
        found = leaves(evaluate(expression, ours, arrays))
    wanted = expected(expression, theirs)
    assert len(found) == len(wanted), f"got {len(found)} results, expected {len(wanted)}"
    for one, other in zip(found, wanted):
        assert_same(one, other, backend)


def assert_gradients(expression: str, theirs: Any, ours: Any, backend: str) -> None:
    """The derivatives are JAX's."""
    names = used(expression)
    floats = [name for name in names if name in DIFFERENTIATED]
    rest = {name: on(backend, INPUTS[name]) for name in names if name not in floats}

    def loss(*values: Any) -> Any:
        arrays = rest | dict(zip(floats, values, strict=True))
        return projection(evaluate(expression, ours, arrays), backend)

    values = [on(backend, INPUTS[name]) for name in floats]
    with na.use_backend(backend):
        found = na.grad(loss, argnums=tuple(range(len(floats))))(*values)
    rtol, atol = TOLERANCE_OF_GRADIENTS
    for name, one, other in zip(floats, found, expected_gradients(expression, theirs)):
        one = backends.core(backend).to_numpy(one)
        np.testing.assert_allclose(one, other, rtol, atol, err_msg=f"by {name}")


def assert_every_function_is_used(space: str, expressions: Iterable[str]) -> None:
    """One of the expressions has the name of each function; dotted names, of distributions, too."""
    rows = list(expressions)
    tested = {name for row in rows for name in names_in(row)}
    unused = [
        name
        for name in functions(space)
        if name not in tested and not any(f"{name}(" in row for row in rows)
    ]
    assert unused == []

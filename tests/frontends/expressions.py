"""Expressions that a framework and its frontend both evaluate, and comparisons of their results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import CodeType, ModuleType
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends, dtypes
from tests.arrays import on

#: (rtol, atol): chains of a few roundings, in another order of the sums.
TOLERANCE = {"float32": (2e-5, 2e-5), "complex64": (2e-5, 2e-5), "float16": (4e-3, 4e-3)}
#: Derivatives have more of them.
TOLERANCE_OF_GRADIENTS = (1e-4, 1e-4)


def base_arrays(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Arrays of float64 for expressions, by name; frontends add their own."""
    square = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    return {
        "x": rng.normal(size=(2, 3)),
        "y": rng.normal(size=(2, 3)),
        "tall": rng.normal(size=(3, 2)),
        "v": rng.normal(size=4),
        "w": rng.normal(size=4),
        "p": rng.uniform(0.1, 0.9, size=(2, 3)),
        "q": rng.uniform(0.1, 0.9, size=4),
        "m": square,
        "a": square @ square.T,
        "t": rng.normal(size=(2, 3, 4)),
        "z": np.asarray([0.5, -1.5, 2.0]),
        "ties": np.asarray([1.0, 3.0, 1.0, 3.0, 2.0]),
    }


def names_in(expression: str) -> set[str]:
    """The names in an expression and in its lambdas."""
    found, codes = set[str](), [compile(expression, "<expression>", "eval")]
    while codes:
        code = codes.pop()
        found |= {*code.co_names}
        codes += [c for c in code.co_consts if isinstance(c, CodeType)]
    return found


def evaluate(expression: str, space: Any, arrays: Mapping[str, Any]) -> Any:
    """The value of an expression of arrays and names of a namespace."""
    functions = {
        name: getattr(space, name) for name in names_in(expression) if hasattr(space, name)
    }
    modules = {name: f for name, f in functions.items() if isinstance(f, ModuleType)}
    with np.errstate(all="ignore"):  # NumPy warns of NaN and ∞, JAX does not
        return eval(expression, functions | dict(arrays) | modules)


def first_of_each_function(expressions: Iterable[str]) -> list[str]:
    """The first expression of each outermost function."""
    return list({row.partition("(")[0]: row for row in reversed(list(expressions))}.values())[::-1]


def leaves(value: Any) -> list[Any]:
    """The results in nested sequences, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def weights(shape: tuple[int, ...]) -> np.ndarray:
    """The weights of a sum of a result's elements, all different."""
    size = int(np.prod(shape))
    return np.linspace(0.5, 1.5, size, dtype="float32").reshape(shape)


def is_inexact(x: Any) -> bool:
    """Whether a result is a floating or complex array."""
    return hasattr(x, "dtype") and dtypes.dtype_of(x).is_inexact


def assert_same(actual: Any, wanted: Any, backend: str) -> None:
    """Backend, dtype, shape and values of a result equal a NumPy array's; or the value is equal."""
    if not isinstance(wanted, np.ndarray):
        if isinstance(actual, dtypes.DType):
            assert na.as_dtype(actual) is na.as_dtype(wanted), f"got {actual}, expected {wanted}"
        else:
            assert actual == wanted, f"got {actual!r}, expected {wanted!r}"
        return
    assert na.backend_of(actual) == backend
    dtype = na.dtype_of(actual)
    assert dtype is na.as_dtype(wanted.dtype), f"got {dtype}, expected {wanted.dtype}"
    values = backends.core(backend).to_numpy(actual)
    assert values.shape == wanted.shape, f"got the shape {values.shape}, expected {wanted.shape}"
    rtol, atol = TOLERANCE.get(dtype.name, (0, 0))
    np.testing.assert_allclose(values, wanted, rtol=rtol, atol=atol)


def projection(value: Any, backend: str) -> Any:
    """The weighted sum of the real parts of all floating results."""
    parts = []
    for x in filter(is_inexact, leaves(value)):
        real = na.real(x)
        parts.append(
            na.sum(na.multiply(real, on(backend, weights(na.shape(x)), str(na.dtype_of(real)))))
        )
    return sum(parts[1:], parts[0])

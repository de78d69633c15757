"""Expressions that JAX and the JAX frontend both evaluate, and the comparison of their results."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from types import CodeType, ModuleType
from typing import Any

import jax
import jax.scipy.stats
import numpy as np
from jax.extend.core import Primitive

import nestarray as na
from nestarray import backends, dtypes
from tests.arrays import on

FRONTEND = "nestarray.frontends.jax"
#: (rtol, atol): chains of a few roundings, in another order of the sums.
TOLERANCE = {"float32": (2e-5, 2e-5), "complex64": (2e-5, 2e-5), "float16": (4e-3, 4e-3)}
#: Derivatives have more of them.
TOLERANCE_OF_GRADIENTS = (1e-4, 1e-4)


def inputs() -> dict[str, np.ndarray]:
    """The arrays of expressions, by name."""
    rng = np.random.default_rng(0)
    square = rng.normal(size=(3, 3)) + 3 * np.eye(3)
    arrays = {
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
        "d": rng.normal(size=(2, 4, 2, 3)),
        "g": rng.normal(size=(2, 5, 1, 3)),
        "r": rng.normal(size=(2, 2, 4, 4)),
        "ties": np.asarray([1.0, 3.0, 1.0, 3.0, 2.0]),
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
        "cm": (square + 1j * square.T).astype("complex64"),
        "h": rng.normal(size=3).astype("float16"),
        "n": np.asarray([[1.0, np.nan, -2.0], [np.nan, np.nan, np.nan]], "float32"),
        "e": np.asarray([0.0, -0.0, np.inf, -np.inf, np.nan, 2.0], "float32"),
    }
    return floats | integers | others


INPUTS = inputs()
#: The arrays by which gradients are taken.
DIFFERENTIATED = ("x", "y", "tall", "v", "w", "p", "q", "m", "a", "t", "z", "ties", "d", "g", "r")


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


def used(expression: str) -> list[str]:
    """The names of the arrays in an expression."""
    names = names_in(expression)
    return [name for name in INPUTS if name in names]


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
        parts = [jax.numpy.sum(x.real * weights(x.shape)) for x in results if _is_inexact(x)]
        return sum(parts)

    values = [jax.numpy.asarray(INPUTS[name]) for name in floats]
    return [np.asarray(g) for g in jax.grad(loss, tuple(range(len(floats))))(*values)]


def _is_inexact(x: Any) -> bool:
    return hasattr(x, "dtype") and dtypes.dtype_of(x).is_inexact


def is_differentiable(expression: str, space: Any) -> bool:
    """Whether an expression has floating arrays and floating results."""
    has_inputs = any(name in DIFFERENTIATED for name in used(expression))
    return has_inputs and any(map(_is_inexact, expected(expression, space)))


def assert_equal(expression: str, theirs: Any, ours: Any, backend: str) -> None:
    """Backend, dtypes, shapes and values of all results are JAX's."""
    with na.use_backend(backend):
        arrays = {name: on(backend, INPUTS[name]) for name in used(expression)}
        found = leaves(evaluate(expression, ours, arrays))
    wanted = expected(expression, theirs)
    assert len(found) == len(wanted), f"got {len(found)} results, expected {len(wanted)}"
    for one, other in zip(found, wanted):
        _assert_same(one, other, backend)


def _assert_same(actual: Any, wanted: Any, backend: str) -> None:
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


def assert_gradients(expression: str, theirs: Any, ours: Any, backend: str) -> None:
    """The derivatives are JAX's."""
    names = used(expression)
    floats = [name for name in names if name in DIFFERENTIATED]
    rest = {name: on(backend, INPUTS[name]) for name in names if name not in floats}

    def loss(*values: Any) -> Any:
        arrays = rest | dict(zip(floats, values, strict=True))
        results = leaves(evaluate(expression, ours, arrays))
        parts = [
            na.sum(
                na.multiply(
                    na.real(x), on(backend, weights(na.shape(x)), str(na.dtype_of(na.real(x))))
                )
            )
            for x in results
            if _is_inexact(x)
        ]
        return sum(parts[1:], parts[0])

    values = [on(backend, INPUTS[name]) for name in floats]
    with na.use_backend(backend):
        found = na.grad(loss, argnums=tuple(range(len(floats))))(*values)
    rtol, atol = TOLERANCE_OF_GRADIENTS
    for name, one, other in zip(floats, found, expected_gradients(expression, theirs)):
        one = backends.core(backend).to_numpy(one)
        np.testing.assert_allclose(one, other, rtol, atol, err_msg=f"by {name}")


def public_names(root: str, space: str) -> dict[str, Any]:
    """The public names of a namespace and their values; functions of distributions are dotted."""
    module = importlib.import_module(f"{root}.{space}" if space else root)
    found = {}
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        if name[0] == "_" or isinstance(value, Primitive):
            continue
        if not isinstance(value, ModuleType):
            found[name] = value
        elif space == "scipy.stats" and hasattr(jax.scipy.stats, name):
            functions = {n: f for n, f in vars(value).items() if callable(f) and n[0] != "_"}
            listed = getattr(value, "__all__", functions)
            found |= {f"{name}.{n}": functions[n] for n in listed}
    return found


def _functions(space: str) -> dict[str, Any]:
    """Our functions that have a name of upstream."""
    theirs, found = public_names("jax", space), public_names(FRONTEND, space)
    return {name: f for name, f in found.items() if inspect.isfunction(f) and name in theirs}


def assert_names(space: str, missing: Iterable[str], additional: Iterable[str] = ()) -> None:
    """The public names of a namespace are upstream's, but for missing and additional ones."""
    theirs, ours = public_names("jax", space), public_names(FRONTEND, space)
    assert {*theirs} - {*ours} == {*missing}
    assert {*ours} - {*theirs} == {*additional}


def assert_parameters(space: str, omitted: set[str]) -> None:
    """The parameters of every function are upstream's, in order, but for omitted ones."""
    theirs = public_names("jax", space)
    wrong = {
        name: (_parameters(theirs[name]), _parameters(value))
        for name, value in _functions(space).items()
        if not _agree(theirs[name], value, omitted)
    }
    assert wrong == {}


def assert_every_function_is_used(space: str, expressions: Iterable[str]) -> None:
    """One of the expressions has the name of each function; dotted names, of distributions, too."""
    rows = list(expressions)
    tested = {name for row in rows for name in names_in(row)}
    unused = [
        name
        for name in _functions(space)
        if name not in tested and not any(f"{name}(" in row for row in rows)
    ]
    assert unused == []


def _parameters(function: Any) -> list[str] | None:
    """The names of parameters; None for functions of any."""
    try:
        found = inspect.signature(function).parameters.values()
    except ValueError:
        return None
    return None if any(p.kind is p.VAR_POSITIONAL for p in found) else [p.name for p in found]


def _agree(theirs: Any, ours: Any, omitted: set[str]) -> bool:
    """Whether the parameters of a function are upstream's, in order, but for omitted ones."""
    wanted, found = _parameters(theirs), _parameters(ours)
    if wanted is None or found is None:
        return True
    if all(p.kind is p.POSITIONAL_ONLY for p in inspect.signature(theirs).parameters.values()):
        return len(found) == len(wanted)
    return found == [name for name in wanted if name not in omitted or name in found]

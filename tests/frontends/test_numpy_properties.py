"""Every function of the NumPy frontend against NumPy for random calls: values, dtypes and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import nestarray as na
from nestarray import backends, errors
from nestarray.frontends import numpy as frontend
from tests.arrays import host, on
from tests.frontends import (
    expressions,
    numpy_array_calls,
    numpy_calls,
    numpy_random_calls,
    numpy_ufunc_calls,
)
from tools.releases.numpy import public_names

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of NaN, infinities and zeros
    pytest.mark.filterwarnings("ignore:.*degrees of freedom:UserWarning"),  # PyTorch's for them
]

CALLS = numpy_calls.CALLS | numpy_ufunc_calls.ufunc_calls() | numpy_array_calls.array_calls()

#: Errors of NumPy for arguments. Which of them it raises is often an accident of its code.
ERRORS = (TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError)


def _on(backend: str, x: Any) -> Any:
    """Arguments with arrays of a backend."""
    if isinstance(x, (list, tuple)):
        return type(x)([_on(backend, item) for item in x])
    if isinstance(x, dict):
        return {k: _on(backend, v) for k, v in x.items()}
    return on(backend, x.copy()) if isinstance(x, np.ndarray) else x


def _copied(x: Any) -> Any:
    return _on("numpy", x)


def _hosted(x: Any) -> Any:
    """Results with NumPy arrays."""
    x = getattr(x, "native", x)
    if isinstance(x, (list, tuple)):
        return tuple([_hosted(item) for item in x])
    return host(x) if backends.is_array(x) else x


def _function(space: Any, name: str) -> Callable[..., Any]:
    owner, _, attribute = name.partition(".")
    if owner == "ndarray":
        return lambda x, *args, **kwargs: _called(getattr(x, attribute), *args, **kwargs)
    for part in name.split("."):
        space = getattr(space, part)
    return space


def _called(attribute: Any, *args: Any, **kwargs: Any) -> Any:
    is_array = hasattr(attribute, "dtype") or isinstance(attribute, np.dtype)
    return attribute(*args, **kwargs) if callable(attribute) and not is_array else attribute


#: Functions that take more arguments than NumPy's, and which.
LENIENT = {
    "argsort": "the axis 0 of numbers",
    "ediff1d": "ends of a dtype that NumPy does not cast",
    "median": "several axes of an array without elements",
    "unravel_index": "negative positions, counted from the end",
}

#: Invariants of results that are not unique: functions of (result, arguments, settings).
UNIQUE: dict[str, Callable[..., Any]] = {
    "empty": lambda found, *_: found.shape,
    "empty_like": lambda found, *_: found.shape,
    "unique_values": lambda found, *_: np.sort(found),
    # products of complex infinities depend on their order
    "cumprod": lambda found, *_: _finite(found),
    "nancumprod": lambda found, *_: _finite(found),
    "nanprod": lambda found, *_: _finite(found),
    "prod": lambda found, *_: _finite(found),
    # NumPy's are real if all imaginary parts are 0, which no framework knows before it computes
    "poly": lambda found, *_: _complex(found),
    "roots": lambda found, *_: np.sort(_complex(found)),
    "linalg.eigvals": lambda found, *_: np.sort(_complex(found)),
    "linalg.eig": lambda found, call: _eigen(found, call[0][0]),
    "linalg.eigh": lambda found, *_: (found[0], *_projectors(found[1])),
    "linalg.svd": lambda found, *_: _singular(found),
    "linalg.qr": lambda found, call: found if call[1].get("mode") == "raw" else _triangular(found),
    "linalg.lstsq": lambda found, *_: (*found[:2], int(found[2]), found[3]),
    "partition": lambda found, call: _parts(found, call),
    "argpartition": lambda found, call: _parts(
        np.take_along_axis(call[0][0], found, call[1].get("axis", -1)), call
    ),
}


def _projectors(vectors: np.ndarray) -> list[np.ndarray]:
    """v vᴴ of each vector, which does not depend on its sign or phase."""
    return [v[..., :, None] * np.conj(v[..., None, :]) for v in np.moveaxis(vectors, -1, 0)]


def _finite(found: np.ndarray) -> np.ndarray:
    """Complex numbers, NaN for those that are not finite."""
    is_complex = np.iscomplexobj(found)
    return np.where(np.isfinite(found), found, np.nan).astype(found.dtype) if is_complex else found


def _complex(found: np.ndarray) -> np.ndarray:
    return found.astype(np.result_type(found, np.complex64))


def _eigen(found: Any, a: np.ndarray) -> Any:
    values, vectors = map(_complex, found)
    order = np.argsort(values, axis=-1)
    vectors = np.take_along_axis(vectors, order[..., None, :], -1)
    return np.take_along_axis(values, order, -1), *_projectors(vectors)


def _singular(found: Any) -> Any:
    if not isinstance(found, tuple):
        return found
    u, s, vh = found
    count = s.shape[-1]
    return u.shape, vh.shape, s, (u[..., :count] * s[..., None, :]) @ vh[..., :count, :]


def _triangular(found: Any) -> Any:
    if not isinstance(found, tuple):
        return np.conj(np.swapaxes(found, -1, -2)) @ found
    return [x.shape for x in found], found[0] @ found[1]


def _parts(found: np.ndarray, call: Any) -> Any:
    """The kth elements, and the sorted elements before and after them."""
    axis, kth = call[1].get("axis", -1), np.atleast_1d(call[0][1])[0]
    first, rest = np.split(found, [kth % max(found.shape[axis], 1)], axis)
    return (
        np.sort(first, axis),
        np.take(rest, [0], axis) if rest.size else rest,
        np.sort(rest, axis),
    )


def assert_equal(found: Any, expected: Any, eps: float = 0.0) -> None:
    """The structure, dtypes, shapes and values of results of NumPy.

    Args:
        eps: of the dtype in which NumPy computes, if it is wider than that of the results.
    """
    found, expected = expressions.leaves(found), expressions.leaves(expected)
    assert len(found) == len(expected), f"got {len(found)} results, expected {len(expected)}"
    for got, want in zip(found, expected, strict=True):
        if not isinstance(want, (np.ndarray, np.generic)):
            np.testing.assert_equal(np.asarray(got), np.asarray(want))
            continue
        got = np.asarray(got)
        assert got.dtype == want.dtype, f"got {got.dtype}, expected {want.dtype}"
        assert got.shape == want.shape, f"got shape {got.shape}, expected {want.shape}"
        if want.dtype.kind in "fc":
            eps = max(eps, float(np.finfo(want.dtype).eps))
            with np.errstate(all="ignore"):
                largest = np.abs(want[np.isfinite(want)]).max(initial=1.0)
            # a chain of a few dozen roundings, of terms as large as the largest result
            np.testing.assert_allclose(got, want, rtol=64 * eps, atol=64 * eps * float(largest))
        else:
            np.testing.assert_array_equal(got, want)


def check_call(name: str, call: Any, backend: str) -> None:
    """The same call on NumPy and on the frontend: equal results and writes, or two errors."""
    theirs, ours = _copied(call), _on(backend, call)
    owner, _, attribute = name.partition(".")
    if owner == "ndarray":
        ours = ((frontend.ndarray(ours[0][0]), *ours[0][1:]), ours[1])
    key = attribute if owner == "ndarray" else name
    error = None
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = _function(np, name)(*theirs[0], **theirs[1])
        except ERRORS as raised:
            error = raised
    function = _function(frontend, name)
    if error is not None:
        try:
            found = function(*ours[0], **ours[1])
        except (*ERRORS, errors.NestarrayError):
            return
        if key in LENIENT:
            return
        raise AssertionError(f"got {found!r}, expected {error!r}")
    try:
        found = function(*ours[0], **ours[1])
    except errors.UnsupportedError:
        if backend in ("jax", "tensorflow") and _is_write(name, call):
            return
        raise
    unique = UNIQUE.get(key)
    found, arguments = _hosted(found), _hosted(ours)
    if unique:
        found, expected = unique(found, call), unique(expected, call)
    eps = max(map(_eps, expressions.leaves(theirs)), default=0.0) if "out" in call[1] else 0.0
    assert_equal(found, expected, eps)
    assert_equal([*arguments[0], *arguments[1].values()], [*theirs[0], *theirs[1].values()], eps)


def _eps(x: Any) -> float:
    dtype = getattr(x, "dtype", np.dtype(bool))
    return float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0


#: Functions that write into their first argument, as `at` of universal functions.
WRITES = ("copyto", "put", "place", "putmask", "put_along_axis", "fill_diagonal")


def _is_write(name: str, call: Any) -> bool:
    return "out" in call[1] or name in WRITES or name.endswith(".at")


#: Examples of a call, by backend: compilers take longer for each new shape than for its elements.
EXAMPLES = {"numpy": 20, "torch": 10, "tensorflow": 5, "jax": 3}


def _checked(name: str, backend: str, examples: int) -> None:
    @settings(max_examples=examples)
    @given(CALLS[name])
    def check(call: Any) -> None:
        check_call(name, call, backend)

    check()


@pytest.mark.parametrize("name", CALLS)
def test_few_calls(name: str) -> None:
    _checked(name, "numpy", 2)


@pytest.mark.full
@pytest.mark.parametrize("backend", EXAMPLES)
@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, backend: str) -> None:
    _checked(name, backend, EXAMPLES[backend] * settings.default.max_examples // 50)


def _drawn(space: Any, name: str, call: Any) -> Any:
    return getattr(space.random.default_rng(0), name)(*call[0], **call[1])


@pytest.mark.parametrize("name", numpy_random_calls.RANDOM_CALLS)
def test_random_numbers(name: str) -> None:
    """Shapes and dtypes are NumPy's."""

    @settings(max_examples=max(2, settings.default.max_examples // 10))
    @given(numpy_random_calls.RANDOM_CALLS[name])
    def check(call: Any) -> None:
        try:
            expected = _drawn(np, name, call)
        except ERRORS:
            with pytest.raises(ERRORS):
                _drawn(frontend, name, call)
            return
        with na.use_backend("numpy"):
            found = _drawn(frontend, name, call)
            assert np.shape(found) == np.shape(expected)
            assert np.asarray(found).dtype == np.asarray(expected).dtype

    check()


DRAWS = 2000


@pytest.mark.full
@pytest.mark.parametrize("name", numpy_random_calls.RANDOM_CALLS)
def test_distributions(name: str) -> None:
    """The distance of two empirical distributions is one of 99.999 % of such pairs."""

    @settings(max_examples=10)
    @given(numpy_random_calls.RANDOM_CALLS[name])
    def check(call: Any) -> None:
        args, kwargs = call
        is_vector = name.startswith("multi") or name == "dirichlet"
        own = () if is_vector or name == "choice" else np.broadcast_shapes(*map(np.shape, args))
        call = args, {**kwargs, "size": (DRAWS, *own)}
        with na.use_backend("numpy"):
            found = np.asarray(_drawn(frontend, name, call))
        expected = _drawn(np, name, call)
        columns = [np.moveaxis(x, 0, -1).reshape(-1, DRAWS) for x in (found, expected)]
        for ours, theirs in zip(*columns, strict=True):
            places = np.concatenate([ours, theirs])
            shares = [np.searchsorted(np.sort(x), places, "right") / DRAWS for x in (ours, theirs)]
            assert np.abs(shares[0] - shares[1]).max() < 2.5 * np.sqrt(2 / DRAWS)

    check()


#: Names without calls in the table, and why.
WITHOUT_CALLS = {
    **dict.fromkeys(
        ["dtype", "errstate", "finfo", "geterr", "iinfo", "isdtype", "issubdtype", "mintypecode", "ndarray",
         "ndenumerate", "ndindex", "promote_types", "seterr", "typename", "ufunc"],
        "NumPy's own objects, or a class",
    ),
    **dict.fromkeys(["frompyfunc", "vectorize"], "return functions; test_numpy_arrays, test_numpy"),
    **dict.fromkeys(["from_dlpack", "isfortran"], "about memory; test_numpy"),
    **dict.fromkeys(
        ["ndarray.device", "ndarray.to_device"], "the names of devices are the framework's"
    ),
    "linalg.LinAlgError": "a class",
    "ndarray.partition": "the order of the other elements is not unique; covered by partition",
}  # fmt: skip


def _covered() -> set[str]:
    """The names that docs/numpy_coverage.md lists as available."""
    spaces = {
        "": (np, frontend),
        "linalg.": (np.linalg, frontend.linalg),
        "fft.": (np.fft, frontend.fft),
    }
    found = {
        prefix + name
        for prefix, (upstream, ours) in spaces.items()
        for name in public_names(upstream)
        if hasattr(ours, name)
    }
    methods = {n for n in dir(np.ndarray) if n[0] != "_" and hasattr(frontend.ndarray, n)}
    return found | {f"ndarray.{n}" for n in methods}


def test_every_function_has_calls() -> None:
    assert _covered() - {*CALLS} - {*WITHOUT_CALLS} == set()
    assert {*CALLS} & {*WITHOUT_CALLS} == set()
    methods = {n for n in dir(np.random.Generator) if n[0] != "_"}
    assert methods == {*numpy_random_calls.RANDOM_CALLS, *numpy_random_calls.OTHERS}

"""Positions and order of equal elements, NaN, infinities and signed zeros, on every backend."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from tests.arrays import host, on

_RNG = np.random.default_rng(0)
_DRAWN = _RNG.integers(-1, 2, (4, 7))
_SIGNS = np.where(_RNG.integers(0, 2, (4, 7)) > 0, 1.0, -1.0)
_SPECIAL = _RNG.choice([-1.0, 0.0, 1.0, math.nan, math.inf, -math.inf], (4, 7))
_SPECIAL[3] = math.nan

#: Rows of equal elements.
INPUTS: dict[str, np.ndarray] = {
    **{name: _DRAWN.astype(name) for name in ("int8", "int32", "int64", "float32", "float64")},
    "uint8": (_DRAWN + 1).astype("uint8"),
    "bool": _DRAWN > 0,
    "signed zeros": np.where(_DRAWN == 0, _SIGNS * 0.0, _DRAWN).astype("float32"),
    **{f"nan and inf, {name}": _SPECIAL.astype(name) for name in ("float16", "float32", "float64")},
}


def _descending(x: np.ndarray, axis: int = -1) -> np.ndarray:
    order = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(order, axis)


def _smallest(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    places = np.argsort(x, axis=-1, kind="stable")[:, :4]
    return np.take_along_axis(x, places, -1), places


def _largest(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    places = _descending(x)[:, :4]
    return np.take_along_axis(x, places, -1), places


def _mode(x: np.ndarray) -> tuple[list[Any], list[int]]:
    """The smallest of the most frequent; each NaN is another element, and larger than numbers."""
    found = []
    for row in x:
        counts = Counter(v for v in row.tolist() if v == v)
        most = max(counts.values(), default=1)
        found.append((min((v for v, n in counts.items() if n == most), default=math.nan), most))
    values, counts = zip(*found)
    return list(values), list(counts)


def _unique(x: np.ndarray) -> tuple[np.ndarray, ...]:
    values, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    return values, first, inverse.reshape(x.shape), counts


def _pooled(x: np.ndarray) -> tuple[list[Any], list[Any]]:
    """Windows of three with a margin of one: the last NaN, else the first maximum."""
    places = []
    for row in x.tolist():
        windows = [range(max(i - 1, 0), min(i + 2, len(row))) for i in range(len(row))]
        places.append(
            [
                max(w, key=lambda i: (row[i] != row[i], i if row[i] != row[i] else row[i]))
                for w in windows
            ]
        )
    return np.take_along_axis(x, np.asarray(places), -1).tolist(), places


def _sorted(x: Any) -> Any:
    return na.sort(na.reshape(x, (-1,)))


#: Name → the call, and its value by NumPy.
CALLS: dict[str, tuple[Callable[[Any], Any], Callable[[np.ndarray], Any]]] = {
    "argmax": (lambda x: na.argmax(x, axis=-1), lambda x: np.argmax(x, axis=-1)),
    "argmin": (lambda x: na.argmin(x, axis=-1), lambda x: np.argmin(x, axis=-1)),
    "argmax of all": (na.argmax, np.argmax),
    "argmin of all": (na.argmin, np.argmin),
    "sort": (na.sort, np.sort),
    "sort, descending": (lambda x: na.sort(x, descending=True), lambda x: np.sort(x)[:, ::-1]),
    "argsort": (na.argsort, lambda x: np.argsort(x, kind="stable")),
    "argsort, axis 0": (lambda x: na.argsort(x, axis=0), lambda x: np.argsort(x, 0, "stable")),
    "argsort, descending": (lambda x: na.argsort(x, descending=True), _descending),
    "lexsort": (lambda x: na.lexsort([x, na.flip(x)]), lambda x: np.lexsort([x, np.flip(x)])),
    "top_k": (lambda x: na.top_k(x, 4), _largest),
    "top_k, smallest": (lambda x: na.top_k(x, 4, largest=False), _smallest),
    "median": (lambda x: na.median(x, axis=-1), lambda x: np.median(x, axis=-1)),
    "nanmedian": (lambda x: na.nanmedian(x, axis=-1), lambda x: np.nanmedian(x, axis=-1)),
    "mode": (lambda x: na.mode(x, axis=-1), _mode),
    "cummax": (lambda x: na.cummax(x, axis=-1), lambda x: np.maximum.accumulate(x, -1)),
    "cummin": (lambda x: na.cummin(x, axis=-1), lambda x: np.minimum.accumulate(x, -1)),
    "searchsorted": (
        lambda x: na.searchsorted(_sorted(x), x),
        lambda x: np.searchsorted(np.sort(x.ravel()), x),
    ),
    "searchsorted, right": (
        lambda x: na.searchsorted(_sorted(x), x, side="right"),
        lambda x: np.searchsorted(np.sort(x.ravel()), x, side="right"),
    ),
    "max_pool_with_indices": (
        lambda x: [
            part[0]
            for part in na.max_pool_with_indices(x[None], kernel_size=3, stride=1, padding=1)
        ],
        _pooled,
    ),
    "unique_all": (na.unique_all, _unique),
}
#: Their lengths depend on values, or they have no kernels for bool on some frameworks.
NOT_COMPILED = ("unique_all",)
WITHOUT_BOOL = ("median", "nanmedian", "cummax", "cummin", "max_pool_with_indices")

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, of rows of NaN alone
]
#: The fast tests take one dtype of each kind.
FAST = ("int32", "bool", "signed zeros", "nan and inf, float32")
ROWS = [
    pytest.param(call, x, id=f"{call}-{x}", marks=[] if x in FAST else [pytest.mark.full])
    for call in CALLS
    for x in INPUTS
    if x != "bool" or call not in WITHOUT_BOOL
]


def _check(found: Any, expected: Any) -> None:
    if not isinstance(expected, tuple):
        found, expected = (found,), (expected,)
    for ours, value in zip(found, expected, strict=True):
        value = np.asarray(value)
        ours = host(ours)
        assert ours.shape == value.shape
        np.testing.assert_array_equal(ours.astype("float64"), value.astype("float64"))


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("call", "name"), ROWS)
def test_values(call: str, name: str, backend: str) -> None:
    function, reference = CALLS[call]
    _check(function(on(backend, INPUTS[name])), reference(INPUTS[name]))


@pytest.mark.one_in(8)
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
@pytest.mark.parametrize("name", ["int32", "signed zeros", "nan and inf, float32"])
@pytest.mark.parametrize("call", [call for call in CALLS if call not in NOT_COMPILED])
def test_compiled(call: str, name: str, backend: str) -> None:
    function, reference = CALLS[call]
    _check(na.jit(function)(on(backend, INPUTS[name])), reference(INPUTS[name]))


@pytest.mark.parametrize("name", ["int32", "signed zeros", "nan and inf, float32"])
@pytest.mark.parametrize("call", ["argsort", "top_k", "searchsorted", "searchsorted, right"])
def test_vectorized(call: str, name: str, backend: str) -> None:
    function, reference = CALLS[call]
    x = INPUTS[name]
    found = na.vmap(function)(on(backend, np.stack([x, np.flip(x)])))
    for i, single in enumerate((x, np.flip(x))):
        parts = tuple(part[i] for part in found) if isinstance(found, tuple) else found[i]
        _check(parts, reference(single))

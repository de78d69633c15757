"""What an op gives for a variant on every backend, and where that differs from NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.errors import NestarrayError
from tests.arrays import host
from tests.cases import Case, on_backend
from tests.edges.variants import arguments


def differences(case: Case, variant: str) -> dict[str, str]:
    """Backend → how its result differs from NumPy's."""
    drawn = arguments(case, variant)
    if drawn is None or "numpy" not in case.backends:
        return {}
    expected = _result(case, "numpy", drawn)
    found = {}
    for backend in case.backends:
        if backend != "numpy":
            difference = _difference(_result(case, backend, drawn), expected, case)
            if difference:
                found[backend] = difference
    return found


def _result(case: Case, backend: str, drawn: Any) -> list[np.ndarray] | str:
    """The arrays of a result, or the type of nestarray's error."""
    args, kwargs = on_backend(drawn, backend)
    try:
        result = case.record.function(*args, **kwargs)
    except NestarrayError as error:
        return f"{type(error).__name__}: {error}"
    results = result if isinstance(result, (list, tuple)) else [result]
    return [host(x) if hasattr(x, "dtype") else np.asarray(x) for x in results]


def _difference(found: Any, expected: Any, case: Case) -> str:
    if isinstance(found, str) or isinstance(expected, str):
        if isinstance(found, str) and isinstance(expected, str):
            return ""
        return f"{_text(found)} instead of {_text(expected)}"
    if len(found) != len(expected):
        return f"{len(found)} results instead of {len(expected)}"
    for x, y in zip(found, expected, strict=True):
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"{x.dtype.name} {x.shape} instead of {y.dtype.name} {y.shape}"
        far = np.argwhere(~np.asarray(close(x, y, case.tolerance or 1e-9)))
        if len(far):
            i = tuple(far[0])
            return f"{x[i]} instead of {y[i]}"
    return ""


def close(x: np.ndarray, y: np.ndarray, tolerance: float, least: float = 0.0) -> np.ndarray:
    """Where two arrays of equal shape agree, relative to the largest number of the second.

    Args:
        x: the result.
        y: the reference.
        tolerance: the accepted difference, relative to the largest finite number of `y`.
        least: a difference that is always accepted.
    """
    if x.dtype.kind not in "fc":
        return x == y
    if x.dtype.kind == "c":
        return close(x.real, y.real, tolerance, least) & close(x.imag, y.imag, tolerance, least)
    x, y = x.astype("float64"), y.astype("float64")
    scale = np.abs(y[np.isfinite(y)]).max(initial=0.0)
    with np.errstate(all="ignore"):
        near = np.abs(x - y) <= tolerance * scale + least
    return np.where(np.isfinite(x) & np.isfinite(y), near, (x == y) | (np.isnan(x) & np.isnan(y)))


def _text(result: Any) -> str:
    return result.split(":")[0] if isinstance(result, str) else "a value"

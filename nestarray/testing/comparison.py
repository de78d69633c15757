"""`assert_close`: one comparison for tests of structure, framework, dtype, shape and values.

The tolerance follows from the dtype. A looser tolerance requires a written reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from nestarray import backends, dtypes
from nestarray.container import Container
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError
from nestarray.typing import NUMBERS

#: (rtol, atol) of results computed in a dtype; integers and booleans must be equal.
TOLERANCES: dict[DType, tuple[float, float]] = {
    dtypes.float16: (2e-3, 2e-3),
    dtypes.bfloat16: (2e-2, 2e-2),
    dtypes.float32: (1e-5, 1e-5),
    dtypes.float64: (1e-10, 1e-12),
    dtypes.complex64: (1e-5, 1e-5),
    dtypes.complex128: (1e-10, 1e-12),
}


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    reason: str = "",
    backend: str | None = None,
    check_dtype: bool = True,
) -> None:
    """Assert |actual − expected| ≤ atol + rtol · |expected|, leaf by leaf.

    NaN equals NaN. Containers are compared by key; dicts, lists and tuples node by node.

    Args:
        actual: array, number, Container or nest.
        expected: a value of the same kind. If it is an array of JAX, PyTorch or TensorFlow, `actual`
            must be of that framework; a NumPy array or a number does not constrain it.
        rtol: relative tolerance; None takes the dtype's, see `TOLERANCES`.
        atol: absolute tolerance; None takes the dtype's.
        reason: the reason for a tolerance looser than the dtype's; required then.
        backend: the required framework of arrays in `actual`.
        check_dtype: False compares values of different dtypes.

    Raises:
        AssertionError: they differ; the message names the path and the difference.
        ArgumentError: a looser tolerance without a reason.

    Example:
        >>> import numpy as np
        >>> from nestarray.testing import assert_close
        >>> assert_close(np.float32(1) + np.zeros(2, "float32"), np.ones(2, "float32"))
        >>> assert_close({"a": 1.0}, {"a": 2.0})
        Traceback (most recent call last):
            ...
        AssertionError: at 'a': 1 of 1 elements differ, most by 1 (relative 0.5) at index (): got 1.0, expected 2.0
    """
    for path, left, right in _pairs(actual, expected, ()):
        message = _difference(left, right, rtol, atol, reason, backend, check_dtype)
        if message is not None:
            place = f"at {'/'.join(map(str, path))!r}: " if path else ""
            raise AssertionError(place + message)


def _pairs(actual: Any, expected: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(expected, Mapping):
        if isinstance(expected, Container) != isinstance(actual, Container):
            raise AssertionError(_kinds(actual, expected, path))
        if isinstance(expected, Container) and expected.spec.kind == "leaf":
            yield path, actual._leaves[0], expected._leaves[0]
            return
        if not isinstance(actual, Mapping) or set(actual) != set(expected):
            raise AssertionError(_kinds(actual, expected, path))
        for key in expected:
            yield from _pairs(actual[key], expected[key], (*path, key))
    elif isinstance(expected, (list, tuple)):
        if not isinstance(actual, (list, tuple)) or len(actual) != len(expected):
            raise AssertionError(_kinds(actual, expected, path))
        for index, item in enumerate(expected):
            yield from _pairs(actual[index], item, (*path, index))
    else:
        yield path, actual, expected


def _kinds(actual: Any, expected: Any, path: tuple[Any, ...]) -> str:
    def describe(x: Any) -> str:
        if isinstance(x, Mapping):
            return f"{type(x).__name__} with the keys {list(x)}"
        if isinstance(x, (list, tuple)):
            return f"{type(x).__name__} of {len(x)}"
        return type(x).__name__

    place = f"at {'/'.join(map(str, path))!r}: " if path else ""
    return f"{place}got a {describe(actual)}, expected a {describe(expected)}"


def _difference(
    actual: Any,
    expected: Any,
    rtol: float | None,
    atol: float | None,
    reason: str,
    backend: str | None,
    check_dtype: bool,
) -> str | None:
    """The difference of one leaf from the expectation, or None."""
    native = backends.backend_of_type(type(expected))
    found = backends.backend_of_type(type(actual))
    if native is None and not _is_number(expected):
        return None if actual == expected else f"got {actual!r}, expected {expected!r}"
    if found is None and not _is_number(actual):
        return f"got {actual!r}, expected {expected!r}"
    wanted = backend or (native if native != "numpy" else None)
    if wanted is not None and found != wanted:
        return f"got {type(actual).__name__} of {found}, expected an array of {wanted}"
    left, right = _host(actual), _host(expected)
    if (
        native is not None
        and check_dtype
        and dtypes.dtype_of(actual) is not dtypes.dtype_of(expected)
    ):
        return f"got the dtype {dtypes.dtype_of(actual)}, expected {dtypes.dtype_of(expected)}"
    if left.shape != right.shape:
        return f"got the shape {left.shape}, expected {right.shape}"
    dtype = dtypes.dtype_of(actual) if found is not None else dtypes.float64
    base_rtol, base_atol = TOLERANCES.get(dtype, (0.0, 0.0))
    looser = (rtol or 0.0) > base_rtol or (atol or 0.0) > base_atol
    if looser and not reason:
        raise ArgumentError(
            f"assert_close: rtol={rtol}, atol={atol} is looser than ({base_rtol}, {base_atol}), the "
            f"tolerance of {dtype}; say why with reason=…"
        )
    return _values(
        left, right, base_rtol if rtol is None else rtol, base_atol if atol is None else atol
    )


def _is_number(x: Any) -> bool:
    return isinstance(x, NUMBERS)


def _host(x: Any) -> np.ndarray:
    name = backends.backend_of_type(type(x))
    host = np.asarray(x) if name is None else backends.core(name).to_numpy(x)
    return (
        host.astype(np.float64) if host.dtype.kind == "V" or host.dtype.name == "bfloat16" else host
    )


def _values(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> str | None:
    exact = actual.dtype.kind in "biu" and expected.dtype.kind in "biu"
    if exact:
        differ = actual != expected
    else:
        differ = ~np.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    if not differ.any():
        return None
    wide = np.complex128 if "c" in (actual.dtype.kind, expected.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        error = np.where(differ, np.abs(actual.astype(wide) - expected.astype(wide)), -1.0)
        index = np.unravel_index(int(np.argmax(np.nan_to_num(error, nan=np.inf))), error.shape)
        relative = error[index] / np.abs(expected.astype(wide)[index])
    place = tuple(int(i) for i in index)
    return (
        f"{int(differ.sum())} of {differ.size} elements differ, most by {error[index]:.3g} "
        f"(relative {relative:.3g}) at index {place}: got {actual[index]}, expected {expected[index]}"
    )

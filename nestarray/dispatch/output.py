"""The keyword ``out`` of every op: the result is written into arrays that exist.

NumPy arrays, tensors of PyTorch and variables of TensorFlow can be written; arrays of JAX and
tensors of TensorFlow are constant. The result is computed first, so `out` may be an argument. All
arrays are checked before the first is written. A Container takes a Container of the same keys, a
tuple of results a tuple.

Example:
    >>> import numpy as np, nestarray as na
    >>> x = np.asarray([1.0, 2.0])
    >>> na.multiply(x, 3.0, out=x) is x
    True
    >>> x
    array([3., 6.])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nestarray import backends
from nestarray.container import Container
from nestarray.container.access import align_leaves
from nestarray.container.leaf import NOT_ARRAYS
from nestarray.container.spec import explain_mismatch
from nestarray.dtypes import dtype_of
from nestarray.errors import (
    ArgumentError,
    DtypeError,
    MixedBackendError,
    ShapeError,
    UnsupportedError,
)


def written(name: str, interpreted: tuple[type, ...], out: Any, result: Any) -> Any:
    """`out`, into which the result of the op `name` is written.

    Args:
        name: of the op.
        interpreted: types of values that are recorded, differentiated or batched.
        out: the arrays.
        result: of the call.

    Raises:
        ArgumentError, StructureError: `out` is not of the kind of the result.
        ShapeError, DtypeError: an array does not have the shape or the dtype of its result.
        UnsupportedError: an array cannot be changed.
    """
    pairs = list(_pairs(f"{name}: out", out, result))
    for pair in pairs:
        _check(*pair, interpreted)
    for _, target, value in pairs:
        backends.core(backends.backend_of(target)).write(target, value)
    return out


def _pairs(label: str, out: Any, result: Any) -> Iterator[tuple[str, Any, Any]]:
    """(label for errors, array, its result)."""
    if isinstance(result, (tuple, list)):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise ArgumentError(
                f"{label}: got {_kind(out)}, expected {len(result)} arrays in a tuple"
            )
        for i, (target, value) in enumerate(zip(out, result)):
            yield from _pairs(f"{label}[{i}]", target, value)
    elif isinstance(result, Container):
        if not isinstance(out, Container):
            raise ArgumentError(
                f"{label}: got {_kind(out)}, expected a Container of {list(result)}"
            )
        spec = result._spec
        if out._spec.permutation_to(spec) is None:
            raise explain_mismatch(spec, out._spec, label)
        for path, target, value in zip(
            spec.path_names, align_leaves(spec, out, label), result._leaves
        ):
            if type(value) not in NOT_ARRAYS:
                yield f"{label}: {path!r}", target, value
    else:
        yield label, out, result


def _check(label: str, out: Any, value: Any, interpreted: tuple[type, ...]) -> None:
    """Raise the error for an array that cannot take its result."""
    if isinstance(out, interpreted) or isinstance(value, interpreted):
        raise UnsupportedError(
            f"{label}: got a call that is recorded, differentiated or batched, in which arrays are "
            "constant; use the result of the call"
        )
    target, source = map(backends.backend_of_type, map(type, (out, value)))
    if source is None:
        raise UnsupportedError(f"{label}: the result is no array: {type(value).__name__}")
    if target is None:
        raise ArgumentError(f"{label}: got {_kind(out)}, expected an array of {source}")
    if target != source:
        raise MixedBackendError(backends.mixed_message(label, [target, source]))
    reason = backends.core(target).why_constant(out)
    if reason is not None:
        raise UnsupportedError(f"{label}: got {reason}; use the result of the call")
    shape, expected = tuple(out.shape), tuple(value.shape)
    if shape != expected:
        raise ShapeError(f"{label}: got an array of shape {shape}, expected {expected}")
    if dtype_of(out) is not dtype_of(value):
        raise DtypeError(
            f"{label}: got an array of {dtype_of(out)}, expected {dtype_of(value)}; cast the "
            "arguments with na.astype"
        )


def _kind(x: Any) -> str:
    name = backends.backend_of_type(type(x))
    return type(x).__name__ if name is None else f"an array of {name}"

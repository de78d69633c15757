"""Dtype, device and framework of an array."""

from __future__ import annotations

import math
from typing import Any

from nestarray import backends, dtypes, ops
from nestarray.backends.transfer import move
from nestarray.config import check_backend_name
from nestarray.dispatch import Trait, op, primitive
from nestarray.errors import ArgumentError, DtypeError
from nestarray.typing import Array, DTypeLike

__all__ = ["astype", "bitcast", "saturate_cast", "stop_gradient", "to_backend", "to_device"]
TRAITS = Trait.ELEMENTWISE | Trait.HALF_SAFE


@primitive(traits=TRAITS | Trait.NONNEGATIVE)
def astype(x: Array, dtype: DTypeLike, *, copy: bool = True, device: Any = None) -> Array:
    """Cast `x` to `dtype`.

    A cast from complex to real discards the imaginary part; prefer ``na.real``. A cast of floats to
    integers rounds towards zero, a cast between integers is modulo 2ⁿ. A float outside of the range of
    an integer dtype, or NaN, has no defined value, as in C: JAX gives the nearest integer of the dtype
    and 0 for NaN, the others the processor's result, often modulo 2ⁿ. `na.clip` first gives the same
    numbers everywhere.

    Args:
        x: array of any shape.
        dtype: anything that `na.as_dtype` reads.
        copy: False returns `x` itself if it has the dtype.
        device: the device of the result; None means the device of `x`.

    Returns:
        array of the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.astype(np.asarray([1, 2]), na.float32)
        array([1., 2.], dtype=float32)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.astype.html
    """


@primitive(traits=Trait.CONSTANT)
def bitcast(x: Array, dtype: DTypeLike, /) -> Array:
    """The bits of `x` as elements of `dtype`; the derivative is 0.

    The last axis is in memory order: little-endian, the real part before the imaginary part.

    Args:
        x: `(*batch, n)`, numeric; of any shape if `dtype` has the same number of bits.
        dtype: numeric.

    Returns:
        `dtype`, `(*batch, n · bits of x / bits of dtype)`.

    Raises:
        DtypeError: a dtype is bool, or has 64 bits on JAX without x64.
        ShapeError: the last axis is not a whole number of elements of `dtype`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.bitcast(np.asarray([1.0, -2.0], "float32"), "uint32").tolist()
        [1065353216, 3221225472]
        >>> na.bitcast(np.asarray([1.0], "float32"), "uint8").tolist()
        [0, 0, 128, 63]

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.ndarray.view.html
        https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
    """


@op
def saturate_cast(x: Array, dtype: DTypeLike, /) -> Array:
    """Cast `x` to `dtype`; values outside its range are clipped to it.

    Args:
        x: real.
        dtype: real.

    Returns:
        array of the shape of `x`; NaN is cast as by `astype`.

    Raises:
        DtypeError: a dtype is complex.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.saturate_cast(np.asarray([-3.0, 2.5, 300.0]), "uint8")
        array([  0,   2, 255], dtype=uint8)

    References:
        https://www.tensorflow.org/api_docs/python/tf/saturate_cast
    """
    target = dtypes.as_dtype(dtype)
    for found in (dtypes.dtype_of(x), target):
        if found.kind == "complex":
            raise DtypeError(f"saturate_cast: got {found}, expected real dtypes; see na.real")
    if target.kind == "bool" or dtypes.dtype_of(x).kind == "bool":
        return ops.astype(x, target)
    least, most = _range(target)
    lowest, highest = _range(dtypes.dtype_of(x))
    result = x
    # out-of-range elements are set after the cast: float32 cannot represent 2³¹ − 1
    below = ops.less_equal(x, least) if lowest < least else None
    above = ops.greater_equal(x, most) if highest > most else None
    for outside in (below, above):
        if outside is not None:
            result = ops.where(outside, ops.zeros_like(x), result)
    result = ops.astype(result, target)
    for outside, end in ((below, least), (above, most)):
        if outside is not None:
            result = ops.where(outside, ops.full_like(result, end), result)
    return result


def _range(dtype: dtypes.DType) -> tuple[int | float, int | float]:
    """The smallest and the largest number of a real dtype; floating ones have infinities."""
    if dtype.is_floating:
        return -math.inf, math.inf
    limits = dtypes.iinfo(dtype)
    return limits.min, limits.max


@op
def to_device(x: Array, device: Any, *, stream: Any = None) -> Array:
    """Move `x` to another device of the same framework.

    Args:
        x: array.
        device: ``"cpu"``, ``"gpu"``, ``"cuda:1"``, or the framework's device object.
        stream: None; the framework orders the copy with its other work.

    Returns:
        an equal array on `device`; `x` itself if it is on that device.

    Raises:
        ArgumentError: the framework has no such device, or `stream` is given.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.to_device(np.ones(2), "cpu")
        array([1., 1.])
    """
    if stream is not None:
        raise ArgumentError(
            f"to_device: stream: got {stream!r}, expected None; set the stream in the framework"
        )
    backend = backends.backend_of_type(type(x))
    return x if backend is None else backends.core(backend).to_device(x, device)


@op
def to_backend(x: Array, backend: str, *, device: Any = None, copy: bool | None = None) -> Array:
    """Convert `x` to an array of another framework, which shares memory where possible.

    It uses DLPack between frameworks, the buffer protocol to and from NumPy, and bit views for
    bfloat16.

    Args:
        x: array.
        backend: ``"numpy"``, ``"jax"``, ``"torch"`` or ``"tensorflow"``.
        device: the device of the result. None: the accelerator of `x`, if the backend has it; for
            an array of the host, the device on which the backend creates arrays (JAX: the GPU, if
            there is one).
        copy: True always copies, False raises if a copy is needed, None copies if needed.

    Returns:
        array of the same shape, dtype and values.

    Raises:
        DtypeError: `backend` has no such dtype (float64 on JAX without x64).
        ArgumentError: ``copy=False`` and a copy is needed.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.to_backend(np.ones(2), "numpy")
        array([1., 1.])
    """
    check_backend_name(backend)
    return move(x, backend, device=device, copy=copy)


@primitive(traits=TRAITS | Trait.LINEAR | Trait.CONSTANT)
def stop_gradient(x: Array, /) -> Array:
    """`x`, treated as a constant by differentiation.

    Args:
        x: any array.

    Returns:
        array of the same values; on NumPy `x` itself.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.stop_gradient(np.asarray([1.0]))
        array([1.])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.stop_gradient.html
    """

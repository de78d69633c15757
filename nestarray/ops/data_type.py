"""Where and as what an array lives: dtype, device, framework."""

from __future__ import annotations

from typing import Any

from nestarray import backends
from nestarray.config import check_backend_name
from nestarray.dispatch import op, primitive
from nestarray.errors import ArgumentError
from nestarray.typing import Array, DTypeLike

__all__ = ["astype", "stop_gradient", "to_backend", "to_device"]


@primitive
def astype(x: Array, dtype: DTypeLike, *, copy: bool = True, device: Any = None) -> Array:
    """Cast `x` to `dtype`.

    Complex to real takes no silent real part: use ``na.real`` first.

    Args:
        x: array of any shape.
        dtype: anything that `na.as_dtype` reads.
        copy: False returns `x` itself where the dtype is right already.
        device: where the result shall be; None means where `x` is.

    Returns:
        array of the shape of `x`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.astype(np.asarray([1, 2]), na.float32)
        array([1., 2.], dtype=float32)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.astype.html
    """


@op
def to_device(x: Array, device: Any, *, stream: Any = None) -> Array:
    """Move `x` to a device of its own framework.

    Args:
        x: array.
        device: ``"cpu"``, ``"gpu"``, ``"cuda:1"``, or the framework's device object.
        stream: None; the framework orders the copy with its other work.

    Returns:
        an equal array there, without a copy if it is there already.

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
    """Hand `x` to another framework, sharing memory where that is legal.

    DLPack between frameworks that both speak it, the buffer protocol to and from NumPy,
    bit views for bfloat16.

    Args:
        x: array.
        backend: ``"numpy"``, ``"jax"``, ``"torch"`` or ``"tensorflow"``.
        device: where to put it; None keeps it where it is, if the backend has that device.
        copy: True always copies, False raises rather than copying, None copies if it must.

    Returns:
        array of the same shape, dtype and values.

    Raises:
        DtypeError: `backend` has no such dtype (float64 on JAX without x64).
        ArgumentError: ``copy=False`` and it would copy.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.to_backend(np.ones(2), "numpy")
        array([1., 1.])
    """
    from nestarray.interop import move

    check_backend_name(backend)
    return move(x, backend, device=device, copy=copy)


@primitive
def stop_gradient(x: Array, /) -> Array:
    """`x` itself, taken as a constant by differentiation.

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

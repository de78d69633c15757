"""Complex numbers from real ones."""

# pyright: reportReturnType=false
# a primitive has no body: the backends return
from __future__ import annotations

from nestarray import ops
from nestarray.backends.base import parts_dtype
from nestarray.dispatch import Trait, op, primitive
from nestarray.dtypes import dtype_of
from nestarray.errors import DtypeError, ShapeError
from nestarray.typing import Array

__all__ = ["complex", "polar", "view_as_complex", "view_as_real"]


@primitive(traits=Trait.ELEMENTWISE)
def complex(real: Array, imag: Array, /) -> Array:
    """real + i · imag, element by element; signs of zeros, ∞ and NaN are preserved.

    Args:
        real: real array or number.
        imag: real array or number; it and `real` broadcast, and the dtypes promote.

    Returns:
        complex array: complex128 if the dtypes promote to float64, else complex64.

    Raises:
        DtypeError: an argument is complex itself.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.complex(np.asarray([1.0, 2.0]), np.asarray([0.5, -1.0]))
        array([1.+0.5j, 2.-1.j ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.complex.html
    """


@op(traits=Trait.ELEMENTWISE)
def polar(abs: Array, angle: Array, /) -> Array:
    """abs · exp(i · angle): complex numbers from absolute values and angles in radians.

    Args:
        abs: real array or number.
        angle: real array or number; it and `abs` broadcast, and the dtypes promote.

    Returns:
        complex array: complex128 if the dtypes promote to float64, else complex64.

    Raises:
        DtypeError: an argument is complex itself.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.polar(np.asarray([2.0]), np.asarray([0.0]))
        array([2.+0.j])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.polar.html
    """
    dtype = parts_dtype("polar", abs=abs, angle=angle)
    abs, angle = (ops.astype(x, dtype) if hasattr(x, "dtype") else x for x in (abs, angle))
    return ops.complex(ops.multiply(abs, ops.cos(angle)), ops.multiply(abs, ops.sin(angle)))


@op
def view_as_complex(x: Array, /) -> Array:
    """Complex numbers from pairs of real ones along the last axis.

    Args:
        x: `(*shape, 2)`, real: real and imaginary parts.

    Returns:
        `(*shape,)`, complex128 of float64, else complex64.

    Raises:
        ShapeError: the size of the last axis is not 2.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.view_as_complex(np.asarray([[1.0, 0.5], [2.0, -1.0]]))
        array([1.+0.5j, 2.-1.j ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.view_as_complex.html
    """
    if len(x.shape) == 0 or x.shape[-1] != 2:
        raise ShapeError(
            f"view_as_complex: x: got the shape {tuple(x.shape)}, expected (*shape, 2)"
        )
    return ops.complex(ops.getitem(x, (..., 0)), ops.getitem(x, (..., 1)))


@op
def view_as_real(x: Array, /) -> Array:
    """The real and the imaginary parts of complex numbers along a new last axis.

    Args:
        x: complex, any shape.

    Returns:
        `(*shape, 2)`, float64 of complex128, else float32.

    Raises:
        DtypeError: `x` is real.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.view_as_real(np.asarray([1.0 + 0.5j]))
        array([[1. , 0.5]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.view_as_real.html
    """
    dtype = dtype_of(x)
    if dtype.kind != "complex":
        raise DtypeError(
            f"view_as_real: x: got {dtype}, expected complex numbers; na.complex makes them of real ones"
        )
    return ops.stack([ops.real(x), ops.imag(x)], axis=-1)

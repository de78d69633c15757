"""Complex numbers from real ones."""

# pyright: reportReturnType=false
# a primitive has no body: the backends return
from __future__ import annotations

from nestarray.backends.base import parts_dtype
from nestarray.dispatch import op, primitive
from nestarray.typing import Array

__all__ = ["complex", "polar"]


@primitive
def complex(real: Array, imag: Array, /) -> Array:
    """real + i · imag, element by element; signs of zeros, ∞ and NaN stay what they are.

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


@op
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
    from nestarray import ops

    dtype = parts_dtype("polar", abs=abs, angle=angle)
    abs, angle = (ops.astype(x, dtype) if hasattr(x, "dtype") else x for x in (abs, angle))
    return ops.complex(ops.multiply(abs, ops.cos(angle)), ops.multiply(abs, ops.sin(angle)))

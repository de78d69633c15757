"""Gated linear units: one half of an array, through an activation, multiplies the other half.

`glu` itself is in the chapter of activations.
"""

from __future__ import annotations

from nestarray import ops
from nestarray.dispatch import Trait, floating_op
from nestarray.errors import ShapeError
from nestarray.typing import Array

__all__ = ["geglu", "reglu", "swiglu"]
TRAITS = Trait.HALF_SAFE


@floating_op
def geglu(x: Array, /, *, axis: int = -1, approximate: bool = False) -> Array:
    """The linear unit with a GELU gate: a · gelu(b), a and b the halves of x along `axis`.

    Args:
        x: any shape with an even size along `axis`, floating.
        axis: the axis to halve.
        approximate: the approximation of `gelu` by tanh.

    Returns:
        The shape of x with half the size along `axis`.

    Raises:
        ShapeError: the size along `axis` is odd.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.geglu(np.asarray([2.0, 1.0])).round(4)
        array([1.6827])

    References:
        https://arxiv.org/abs/2002.05202
    """
    value, gate = _halves("geglu", x, axis)
    return value * ops.gelu(gate, approximate=approximate)


@floating_op
def swiglu(x: Array, /, *, axis: int = -1) -> Array:
    """The linear unit with a SiLU gate: a · silu(b), a and b the halves of x along `axis`.

    Args:
        x: any shape with an even size along `axis`, floating.
        axis: the axis to halve.

    Returns:
        The shape of x with half the size along `axis`.

    Raises:
        ShapeError: the size along `axis` is odd.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.swiglu(np.asarray([2.0, 1.0])).round(4)
        array([1.4621])

    References:
        https://arxiv.org/abs/2002.05202
    """
    value, gate = _halves("swiglu", x, axis)
    return value * ops.silu(gate)


@floating_op
def reglu(x: Array, /, *, axis: int = -1) -> Array:
    """The linear unit with a ReLU gate: a · relu(b), a and b the halves of x along `axis`.

    Args:
        x: any shape with an even size along `axis`, floating.
        axis: the axis to halve.

    Returns:
        The shape of x with half the size along `axis`.

    Raises:
        ShapeError: the size along `axis` is odd.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.reglu(np.asarray([2.0, 1.5]))
        array([3.])

    References:
        https://arxiv.org/abs/2002.05202
    """
    value, gate = _halves("reglu", x, axis)
    return value * ops.relu(gate)


def _halves(name: str, x: Array, axis: int) -> tuple[Array, Array]:
    size = x.shape[axis]
    if size % 2:
        raise ShapeError(
            f"{name}: axis {axis} of x {tuple(x.shape)} has {size} elements, expected an even "
            "number, to split it in halves"
        )
    at = (slice(None),) * (axis % len(x.shape))
    return x[(*at, slice(None, size // 2))], x[(*at, slice(size // 2, None))]

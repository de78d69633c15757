"""Values with another derivative, for functions whose derivative upstream is not the formula's."""

from __future__ import annotations

import nestarray as na
from nestarray.typing import Array


def with_derivative_of(x: Array, value: Array) -> Array:
    """Return `value` with the derivative of `x`, an array of the same shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> from nestarray.frontends.derivatives import with_derivative_of
        >>> x = np.asarray([2.0, 3.0])
        >>> na.grad(lambda x: na.sum(with_derivative_of(3 * x, na.round(x))))(x)
        array([3., 3.])
    """
    nothing = na.subtract(x, na.stop_gradient(x))
    # ∞ − ∞ is NaN
    return na.add(value, na.where(na.isfinite(na.stop_gradient(x)), nothing, na.zeros_like(x)))

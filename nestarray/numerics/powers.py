"""Powers that frameworks reject, miscompute or define differently."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def integer_power(xp: Any, native: Callable[..., Any], x1: Any, x2: Any) -> Any:
    """x1^x2 of signed integers, rounded towards 0; 0 where x1 is 0 and x2 negative.

    Args:
        xp: a framework's namespace with NumPy's names.
        native: the framework's function, correct for exponents from 0.
        x1: the bases.
        x2: the exponents, of the dtype of `x1`.
    """
    is_negative = x2 < 0
    power = native(x1, xp.where(is_negative, x2 % 2, x2))  # of ±1 the parity decides
    is_fraction = is_negative & (xp.abs(x1) != 1)
    return xp.where(is_fraction, xp.zeros_like(power), power)


def complex_power(xp: Any, native: Callable[..., Any], x1: Any, x2: Any) -> Any:
    """x1^x2 of complex numbers; 0⁰ is 1, and other powers of 0 are 0 if Re x2 > 0, else NaN.

    Args:
        xp: a namespace with the names of the ops.
        native: the framework's function, correct for bases other than 0.
        x1: the bases.
        x2: the exponents, of the dtype of `x1`.
    """
    is_zero = xp.equal(x1, 0)
    part = xp.where(xp.greater(xp.real(x2), 0), 0.0, math.nan)
    limit = xp.complex(part, part)  # torch.fx prints the number (nan+nanj), which is not Python
    limit = xp.where(xp.equal(x2, 0), 1.0, limit)
    limit = xp.where(xp.equal(x2, 1), x1, limit)  # with the derivative of the base
    return xp.where(is_zero, limit, native(xp.where(is_zero, xp.ones_like(x1), x1), x2))

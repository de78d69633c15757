"""Floor division of floating numbers by the standard's table of special values.

Frameworks return NaN or −1 for infinite operands and lose the sign of a zero. `xp` is a
framework's namespace with NumPy's names.

https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.floor_divide.html
https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.remainder.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def floor_divided(xp: Any, native: Function, x1: Any, x2: Any) -> Any:
    """⌊x1 / x2⌋ of floating numbers; for x1 = 0 and infinities, the floor of the quotient."""
    exact = ~(xp.isinf(x1) | xp.isinf(x2) | (x1 == 0))
    return xp.where(exact, native(x1, x2), xp.floor(x1 / x2))


def with_sign_of_divisor(xp: Any, remainder: Any, x2: Any) -> Any:
    """A remainder whose zeros have the sign of x2, with the derivative of `remainder`."""
    sign = xp.where(x2 == 0, xp.ones_like(x2), xp.sign(x2))
    return sign * (sign * remainder + 0.0)  # −0 + 0 is 0

"""Operations on the bits of integers.

Upstream: https://www.tensorflow.org/api_docs/python/tf/bitwise
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow.conversion import of_kind, tensors
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = ["bitwise_and", "bitwise_or", "bitwise_xor", "invert", "left_shift", "right_shift"]


def _integers(name: str, x: Any, y: Any) -> tuple[Array, ...]:
    found = tensors(name, x, y)
    of_kind(name, found[0], "int", "uint")
    return found


def bitwise_and(x: Any, y: Any, name: str | None = None) -> Array:
    """The bits of both."""
    return na.bitwise_and(*_integers("bitwise_and", x, y))


def bitwise_or(x: Any, y: Any, name: str | None = None) -> Array:
    """The bits of either."""
    return na.bitwise_or(*_integers("bitwise_or", x, y))


def bitwise_xor(x: Any, y: Any, name: str | None = None) -> Array:
    """The bits in which both differ."""
    return na.bitwise_xor(*_integers("bitwise_xor", x, y))


def invert(x: Any, name: str | None = None) -> Array:
    """The other bits."""
    return na.bitwise_invert(of_kind("invert", x, "int", "uint"))


def left_shift(x: Any, y: Any, name: str | None = None) -> Array:
    """x · 2ʸ, without overflowing bits; y is clipped to the width."""
    return _shifted(na.bitwise_left_shift, "left_shift", x, y)


def right_shift(x: Any, y: Any, name: str | None = None) -> Array:
    """⌊x / 2ʸ⌋; y is clipped to the width."""
    return _shifted(na.bitwise_right_shift, "right_shift", x, y)


def _shifted(shift: Callable[..., Array], name: str, x: Any, y: Any) -> Array:
    x, y = _integers(name, x, y)
    return shift(x, na.clip(y, 0, dtypes.dtype_of(x).bits - 1))


_public_namespace(__name__)

"""NumPy: `nestarray.ops.normal_quantile`, bit for bit as XLA.

XLA rounds x y + z once. In float64 the product of two float32 numbers is exact, so a step is a
product, a sum and a rounding. Blocks fit in the cache and share preallocated memory: new arrays of
this size would cost as much as the computation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nestarray.backends.base import supports
from nestarray.backends.numpy.memory import blocks, longest_block, rows
from nestarray.numerics import logarithms, threefry

_BLOCK = 1 << 14  # 4 arrays of float64 and 5 of float32 are 832 KiB
_ROOT_HALF = np.array(logarithms.ROOT_HALF, np.float32).view(np.int32)
_MANTISSA_BITS = np.int32(23)


class _Memory:
    """Preallocated arrays: four of float64 and five of float32."""

    def __init__(self, size: int) -> None:
        self._wide = rows(4, size, np.float64)
        self._narrow = rows(5, size, np.float32)

    def of(self, size: int) -> tuple[Any, Any]:
        """(float64 arrays, float32 arrays) of length `size`."""
        return self._wide[:, :size], self._narrow[:, :size]


@supports(lambda u: u.dtype in (np.float32, np.float64))
def normal_quantile(u: Any) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.copyto.html

    Each formula is evaluated for its elements only.
    """
    x, found = u.reshape(-1), np.empty(u.size, u.dtype)
    if u.dtype == np.float64:
        for block in blocks(u.size, _BLOCK):
            _wide_quantiles(x[block], found[block])
        return found.reshape(u.shape)
    memory = _Memory(longest_block(u.size, _BLOCK))
    for block in blocks(u.size, _BLOCK):
        _quantiles(x[block], found[block], memory)
    return found.reshape(u.shape)


def _quantiles(x: Any, found: Any, memory: _Memory) -> None:
    """Write the normal numbers of a block of uniform numbers."""
    np.multiply(x, x, out=found)
    np.negative(found, out=found)
    _log1p(found, memory)
    np.negative(found, out=found)
    tail = np.flatnonzero(found >= 5.0)
    far, ends = np.sqrt(found[tail]) - np.float32(3.0), x[tail]
    np.subtract(found, np.float32(2.5), out=found)
    wide, _ = memory.of(len(x))
    _polynomial(threefry.GILES_CENTRAL, found, wide)
    if len(tail):
        _polynomial(threefry.GILES_TAIL, far, np.empty((2, len(tail))))
        found[tail] = np.where(np.abs(ends) == 1.0, np.float32(np.inf), far)
    np.multiply(found, x, out=found)
    np.multiply(found, np.float32(2.0**0.5), out=found)


def _wide_quantiles(x: Any, found: Any) -> None:
    """`_quantiles` of float64, where every step is rounded."""
    w = np.negative(_wide_log1p(np.negative(x * x)))
    tail = np.flatnonzero(~(w < 6.25))
    central, middle, far = threefry.GILES_WIDE
    np.copyto(found, _wide_polynomial(central, w - 3.125))
    if len(tail):
        w, root = w[tail], np.sqrt(w[tail])
        near = _wide_polynomial(middle, root - 3.25)
        found[tail] = np.where(w < 16.0, near, _wide_polynomial(far, root - 5.0))
        found[tail[np.abs(x[tail]) == 1.0]] = np.inf
    np.multiply(found, x, out=found)
    np.multiply(found, 2.0**0.5, out=found)


def _wide_log1p(x: Any) -> Any:
    """`logarithms.log1p` of numbers up to 0; NaN below −1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(x + 1.0)
    near = np.flatnonzero(x > -logarithms.BOUND)
    x = x[near]
    square = x * x
    above, below = (_wide_polynomial(c, x) for c in (logarithms.P_WIDE, logarithms.Q_WIDE))
    found[near] = x + (x * square * (above / below) - square * 0.5)
    return found


def _wide_polynomial(coefficients: Sequence[float], x: Any) -> Any:
    first, *others = coefficients
    found = np.full_like(x, first)
    for c in others:
        np.multiply(found, x, out=found)
        np.add(found, c, out=found)
    return found


def _log1p(x: Any, memory: _Memory) -> None:
    """Replace numbers up to 0 by `logarithms.log1p`; NaN below −1."""
    is_near = x > -logarithms.BOUND
    near, far = np.flatnonzero(is_near), np.flatnonzero(np.logical_not(is_near, out=is_near))
    ones = x.take(far)
    x[near] = _log1p_near(x.take(near), memory)
    np.add(ones, np.float32(1.0), out=ones)
    ends = np.flatnonzero(ones <= 0.0)
    limits = np.where(ones[ends] < 0.0, np.float32(np.nan), np.float32(-np.inf))
    ones[ends] = 1.0
    _log(ones, memory)
    ones[ends] = limits
    x[far] = ones


def _log1p_near(x: Any, memory: _Memory) -> Any:
    """Replace x by x − x²/2 + x³ P(x) / Q(x)."""
    wide, (square, above, below, *_) = memory.of(len(x))
    np.copyto(above, x)
    _polynomial(logarithms.P, above, wide)
    np.copyto(below, x)
    _polynomial(logarithms.Q, below, wide)
    np.divide(above, below, out=above)
    np.multiply(x, x, out=square)
    np.multiply(x, square, out=below)
    np.multiply(above, below, out=above)
    np.multiply(square, np.float32(0.5), out=square)
    np.subtract(above, square, out=above)
    return np.add(x, above, out=x)


def _log(x: Any, memory: _Memory) -> None:
    """Replace positive normal numbers by `logarithms.log`."""
    (power, cube, y, wide), (square, exponent, part, whole, _) = memory.of(len(x))
    # x = 2ᵉ m with m in [√½, √2): e is the exponent field of x minus the exponent field of √½
    bits, e = x.view(np.int32), whole.view(np.int32)
    np.subtract(bits, _ROOT_HALF, out=e)
    np.right_shift(e, _MANTISSA_BITS, out=e)
    np.copyto(exponent, e, casting="same_kind")
    np.left_shift(e, _MANTISSA_BITS, out=e)
    np.subtract(bits, e, out=bits)
    m = np.subtract(x, np.float32(1.0), out=x)
    np.multiply(m, m, out=square)
    np.multiply(square, m, out=part)
    np.copyto(cube, part)
    first, *others = logarithms.R
    np.copyto(part, m)
    _polynomial(first, part, (power, y))
    for coefficients in others:
        np.copyto(part, m)
        _polynomial(coefficients, part, (power, wide))
        _step(y, cube, wide, part)
    np.multiply(exponent, np.float32(logarithms.LN2_SMALL), out=whole)
    _step(y, cube, whole, part)
    np.multiply(square, np.float32(0.5), out=square)
    np.subtract(m, square, out=m)
    np.add(m, part, out=m)
    np.multiply(exponent, np.float32(logarithms.LN2_LARGE), out=exponent)
    np.add(m, exponent, out=m)


def _polynomial(coefficients: Sequence[float], x: Any, wide: Sequence[Any]) -> None:
    """Replace `x` by the polynomial at `x`; also write it in float64 to ``wide[1]``."""
    power, y = wide[0], wide[1]
    np.copyto(power, x)
    first, *others = coefficients
    y.fill(first)
    for c in others:
        _step(y, power, c, x)


def _step(y: Any, factor: Any, summand: Any, rounded: Any) -> None:
    """Replace y by y · factor + summand, rounded once to float32; also write it to `rounded`."""
    np.multiply(y, factor, out=y)
    np.add(y, summand, out=y)
    np.copyto(rounded, y, casting="same_kind")
    np.copyto(y, rounded)

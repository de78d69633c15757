"""torch.signal.windows, https://docs.pytorch.org/docs/stable/signal.html#windows.

Each function returns `M` weights; with ``sym=False`` a periodic window, for spectral analysis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array, DTypeLike

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
    "general_hamming", "hamming", "hann", "kaiser", "nuttall",
]  # fmt: skip


def _places(name: str, M: int, sym: bool, dtype: DTypeLike | None) -> Array:
    """The numbers 0 … M − 1, divided by the last one or, of a period, by M."""
    if M < 0:
        raise ArgumentError(f"{name}: M: got {M}, expected a number that is not negative")
    wanted = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
    if not wanted.is_floating:
        raise ArgumentError(f"{name}: dtype: got {wanted}, expected a floating one")
    length = M - 1 if sym else M
    return na.divide(na.arange(M, dtype=wanted), float(max(length, 1)))


def _last(M: int, sym: bool) -> int:
    return max(M - 1 if sym else M, 1)


def general_cosine(
    M: int, *, a: Iterable[float], sym: bool = True, dtype: DTypeLike | None = None
) -> Array:
    """Σᵢ (−1)ⁱ aᵢ cos(2πi n / N)."""
    x = _places("general_cosine", M, sym, dtype)
    weights = list(a)
    if not weights:
        raise ArgumentError("general_cosine: a: got no coefficients, expected at least one")
    total = na.full_like(x, weights[0])
    for i, weight in enumerate(weights[1:], start=1):
        wave = na.cos(na.multiply(x, 2 * math.pi * i))
        total = na.add(total, na.multiply(wave, (-1) ** i * weight))
    return na.ones_like(x) if M == 1 else total


def general_hamming(
    M: int, *, alpha: float = 0.54, sym: bool = True, dtype: DTypeLike | None = None
) -> Array:
    """α − (1 − α) cos(2π n / N)."""
    return general_cosine(M, a=(alpha, 1.0 - alpha), sym=sym, dtype=dtype)


def hamming(M: int, *, sym: bool = True, dtype: DTypeLike | None = None) -> Array:
    """0.54 − 0.46 cos(2π n / N)."""
    return general_hamming(M, sym=sym, dtype=dtype)


def hann(M: int, *, sym: bool = True, dtype: DTypeLike | None = None) -> Array:
    """½ − ½ cos(2π n / N)."""
    return general_hamming(M, alpha=0.5, sym=sym, dtype=dtype)


def blackman(M: int, *, sym: bool = True, dtype: DTypeLike | None = None) -> Array:
    """0.42 − 0.5 cos(2π n / N) + 0.08 cos(4π n / N)."""
    return general_cosine(M, a=(0.42, 0.5, 0.08), sym=sym, dtype=dtype)


def nuttall(M: int, *, sym: bool = True, dtype: DTypeLike | None = None) -> Array:
    """Four cosines, after Nuttall."""
    return general_cosine(M, a=(0.3635819, 0.4891775, 0.1365995, 0.0106411), sym=sym, dtype=dtype)


def bartlett(M: int, *, sym: bool = True, dtype: DTypeLike | None = None) -> Array:
    """1 − |2 n / N − 1|."""
    x = _places("bartlett", M, sym, dtype)
    if M == 1:
        return na.ones_like(x)
    return na.subtract(1.0, na.abs(na.subtract(na.multiply(x, 2.0), 1.0)))


def cosine(M: int, *, sym: bool = True, dtype: DTypeLike | None = None) -> Array:
    """sin(π (n + ½) / (N + 1))."""
    x = _places("cosine", M, sym, dtype)
    if M == 1:
        return na.ones_like(x)
    last = _last(M, sym)
    length = M if sym else M + 1
    return na.sin(na.multiply(na.add(na.multiply(x, float(last)), 0.5), math.pi / max(length, 1)))


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: DTypeLike | None = None,
) -> Array:
    """e^(−|n − center| / τ)."""
    if tau <= 0:
        raise ArgumentError(f"exponential: tau: got {tau}, expected a positive number")
    if sym and center is not None:
        raise ArgumentError("exponential: center: got a number for sym=True, expected None")
    return _decaying("exponential", M, center, sym, dtype, lambda x: na.abs(na.divide(x, tau)))


def gaussian(
    M: int, *, std: float = 1.0, sym: bool = True, dtype: DTypeLike | None = None
) -> Array:
    """e^(−(n − center)² / 2 std²)."""
    if std <= 0:
        raise ArgumentError(f"gaussian: std: got {std}, expected a positive number")
    scale = std * math.sqrt(2.0)
    return _decaying("gaussian", M, None, sym, dtype, lambda x: na.square(na.divide(x, scale)))


def _decaying(name, M, center, sym, dtype, exponent):  # type: ignore[no-untyped-def]
    x = na.multiply(_places(name, M, sym, dtype), float(_last(M, sym)))
    middle = (M - 1 if sym else M) / 2 if center is None else center
    if M == 1:
        return na.ones_like(x)
    return na.exp(na.negative(exponent(na.subtract(x, float(middle)))))


def kaiser(
    M: int, *, beta: float = 12.0, sym: bool = True, dtype: DTypeLike | None = None
) -> Array:
    """I₀(β √(1 − (2 n / N − 1)²)) / I₀(β)."""
    if beta < 0:
        raise ArgumentError(f"kaiser: beta: got {beta}, expected a number that is not negative")
    x = na.subtract(na.multiply(_places("kaiser", M, sym, dtype), 2.0), 1.0)
    if M == 1:
        return na.ones_like(x)
    root = na.sqrt(na.maximum(na.subtract(1.0, na.square(x)), 0.0))
    # both scaled by e^(−β), so that neither overflows
    scaled = na.multiply(na.i0e(na.multiply(root, beta)), na.exp(na.multiply(root, beta)))
    return na.divide(scaled, na.i0(na.full_like(x, beta)))


_public_namespace(__name__)

"""Window functions, convolution and correlation of sequences.

NumPy computes the windows in double precision for all backends.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.dispatch import op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.typing import Array, DTypeLike

__all__ = ["bartlett", "blackman", "convolve", "correlate", "hamming", "hanning", "kaiser"]

_MODES = ("full", "same", "valid")


@op
def bartlett(
    n: int,
    /,
    *,
    periodic: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """A triangular window with zeros at its ends, wₖ = 1 − |2k / (n − 1) − 1|.

    Args:
        n: the number of points.
        periodic: a periodic window for spectral analysis: n − 1 becomes n. False means symmetric.
        dtype: floating; None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(n,)`.

    Raises:
        ArgumentError: `n` is negative.

    Example:
        >>> import nestarray as na
        >>> na.bartlett(5)
        array([0. , 0.5, 1. , 0.5, 0. ], dtype=float32)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.bartlett.html
    """
    return _window("bartlett", np.bartlett, n, periodic, dtype, device, like)


@op
def blackman(
    n: int,
    /,
    *,
    periodic: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """The window wₖ = 0.42 − 0.5 cos(2πk / (n − 1)) + 0.08 cos(4πk / (n − 1)).

    Args:
        n: the number of points.
        periodic: a periodic window for spectral analysis: n − 1 becomes n. False means symmetric.
        dtype: floating; None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(n,)`.

    Raises:
        ArgumentError: `n` is negative.

    Example:
        >>> import nestarray as na
        >>> na.blackman(3).round(6) + 0.0
        array([0., 1., 0.], dtype=float32)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.blackman.html
    """
    return _window("blackman", np.blackman, n, periodic, dtype, device, like)


@op
def hamming(
    n: int,
    /,
    *,
    periodic: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """The window wₖ = 0.54 − 0.46 cos(2πk / (n − 1)).

    Args:
        n: the number of points.
        periodic: a periodic window for spectral analysis: n − 1 becomes n. False means symmetric.
        dtype: floating; None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(n,)`.

    Raises:
        ArgumentError: `n` is negative.

    Example:
        >>> import nestarray as na
        >>> na.hamming(3)
        array([0.08, 1.  , 0.08], dtype=float32)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.hamming.html
    """
    return _window("hamming", np.hamming, n, periodic, dtype, device, like)


@op
def hanning(
    n: int,
    /,
    *,
    periodic: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """The Hann window, wₖ = 0.5 − 0.5 cos(2πk / (n − 1)).

    Args:
        n: the number of points.
        periodic: a periodic window, as for `stft`: n − 1 becomes n. False means symmetric.
        dtype: floating; None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(n,)`.

    Raises:
        ArgumentError: `n` is negative.

    Example:
        >>> import nestarray as na
        >>> na.hanning(4, periodic=True)
        array([0. , 0.5, 1. , 0.5], dtype=float32)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.hanning.html
    """
    return _window("hanning", np.hanning, n, periodic, dtype, device, like)


@op
def kaiser(
    n: int,
    /,
    *,
    beta: float,
    periodic: bool = False,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """The window wₖ = I₀(β √(1 − (2k / (n − 1) − 1)²)) / I₀(β).

    Args:
        n: the number of points.
        beta: the shape: 0 is a rectangle, 6 is like `hanning`, 8.6 like `blackman`.
        periodic: a periodic window for spectral analysis: n − 1 becomes n. False means symmetric.
        dtype: floating; None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(n,)`.

    Raises:
        ArgumentError: `n` is negative.

    Example:
        >>> import nestarray as na
        >>> na.kaiser(3, beta=0.0)
        array([1., 1., 1.], dtype=float32)

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.kaiser.html
    """
    return _window("kaiser", lambda m: np.kaiser(m, beta), n, periodic, dtype, device, like)


def _window(
    name: str,
    symmetric: Callable[[int], np.ndarray],
    n: int,
    periodic: bool,
    dtype: DTypeLike | None,
    device: Any,
    like: Array | None,
) -> Array:
    count = index(n)
    if count < 0:
        raise ArgumentError(f"{name}: n: got {n}, expected at least 0")
    found = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
    if not found.is_floating:
        raise ArgumentError(f"{name}: dtype: got {found}, expected a floating dtype")
    values = symmetric(count + 1)[:-1] if periodic and count > 1 else symmetric(count)
    return ops.asarray(values, dtype=found, device=device, like=like)


@op(promoted=("x1", "x2"))
def convolve(x1: Array, x2: Array, /, *, mode: str = "full") -> Array:
    """The convolution of two sequences, yₖ = Σⱼ x1ⱼ x2ₖ₋ⱼ.

    Args:
        x1: `(n,)`, any number.
        x2: `(m,)`, any number; the dtypes promote.
        mode: `"full"`: all n + m − 1 overlaps; `"same"`: the central max(n, m) of them;
            `"valid"`: the max(n, m) − min(n, m) + 1 complete overlaps.

    Returns:
        a vector of the promoted dtype.

    Raises:
        ArgumentError: `mode` is unknown.
        ShapeError: an argument is not a vector, or is empty.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.convolve(np.asarray([1.0, 2.0, 3.0]), np.asarray([1.0, 1.0]))
        array([1., 3., 5., 3.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.convolve.html
    """
    if len(x1.shape) == len(x2.shape) == 1 and x1.shape[0] < x2.shape[0]:
        x1, x2 = x2, x1
    return _slid("convolve", x1, ops.flip(x2), mode)


@op(promoted=("x1", "x2"))
def correlate(x1: Array, x2: Array, /, *, mode: str = "valid") -> Array:
    """The correlation of two sequences, yₖ = Σⱼ x1ⱼ₊ₖ x2ⱼ*.

    Args:
        x1: `(n,)`, any number.
        x2: `(m,)`, any number; the dtypes promote.
        mode: the range of k, as in `convolve`.

    Returns:
        a vector of the promoted dtype.

    Raises:
        ArgumentError: `mode` is unknown.
        ShapeError: an argument is not a vector, or is empty.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.correlate(np.asarray([1.0, 2.0, 3.0]), np.asarray([0.0, 1.0]))
        array([2., 3.])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.correlate.html
    """
    if len(x1.shape) == len(x2.shape) == 1 and x1.shape[0] < x2.shape[0]:
        return ops.flip(_slid("correlate", ops.conj(x2), x1, mode))
    return _slid("correlate", x1, ops.conj(x2), mode)


def _slid(name: str, long: Array, short: Array, mode: str) -> Array:
    """Σⱼ longⱼ₊ₖ shortⱼ for the k of `mode`."""
    if mode not in _MODES:
        raise ArgumentError(f"{name}: mode: got {mode!r}, expected one of {', '.join(_MODES)}")
    for x in (long, short):
        if len(x.shape) != 1 or x.shape[0] == 0:
            raise ShapeError(
                f"{name}: got the shape {tuple(x.shape)}, expected one axis with an element at least"
            )
    m = short.shape[0]
    left = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    right = {"full": m - 1, "same": m - 1 - m // 2, "valid": 0}[mode]
    if dtypes.dtype_of(long).is_floating:
        return ops.conv1d(long[None, None], short[None, None], padding=[(left, right)])[0, 0]
    windows = ops.sliding_window_view(ops.pad(long, [(left, right)]), m)
    return ops.matmul(windows, short)

"""Signals and their spectra: cosine transforms and short-time Fourier transforms.

They are compositions of Fourier transforms, with factors that NumPy computes once in double
precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import ops
from nestarray.dispatch import op
from nestarray.dtypes import complex64, complex128, dtype_of, float32, float64
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import check_pad_mode
from nestarray.numerics.fourier import check_real, one_length
from nestarray.typing import Array

__all__ = ["dct", "idct", "istft", "stft"]


@op
def dct(
    x: Array,
    /,
    *,
    kind: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
) -> Array:
    """The discrete cosine transform along an axis, Xₖ = 2 Σⱼ xⱼ cos(π k (2j + 1) / 2n) of kind 2.

    Kind 1: Xₖ = x₀ + (−1)ᵏ xₙ₋₁ + 2 Σ xⱼ cos(π jk / (n − 1)), the sum without both ends. Kind 3:
    Xₖ = x₀ + 2 Σ xⱼ cos(π j (2k + 1) / 2n), the sum from j = 1. Kind 4:
    Xₖ = 2 Σ xⱼ cos(π (2j + 1) (2k + 1) / 4n).

    Args:
        x: real.
        kind: 1 to 4, which SciPy calls ``type``.
        n: the length of the transform: a longer axis is cropped, a shorter one zero-padded.
            None keeps the length.
        axis: the axis to transform.
        norm: ``"backward"`` scales only the inverse, by 1/2n, for kind 1 by 1/2(n − 1);
            ``"forward"`` scales only this transform; ``"ortho"`` makes it orthogonal.

    Returns:
        real array, float64 for double precision and float32 else.

    Raises:
        ArgumentError: `kind` or `norm` is unknown.
        DtypeError: `x` is complex.
        ShapeError: the axis is out of range, or `n` is below 1 (below 2 for kind 1).

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.dct(np.asarray([1.0, 0.0, 0.0]), kind=3)
        array([1., 1., 1.])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.fft.dct.html
    """
    return _cosine_transform("dct", x, kind, kind, n, axis, norm)


@op
def idct(
    x: Array,
    /,
    *,
    kind: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
) -> Array:
    """The inverse of `dct` with the same kind and norm.

    Args:
        x: real.
        kind: 1 to 4, the kind of the `dct` to invert.
        n: the length of the transform, as for `dct`.
        axis: the axis to transform.
        norm: the norm of the `dct` to invert.

    Returns:
        real array, float64 for double precision and float32 else.

    Raises:
        ArgumentError: `kind` or `norm` is unknown.
        DtypeError: `x` is complex.
        ShapeError: the axis is out of range, or `n` is below 1 (below 2 for kind 1).

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.idct(np.asarray([8.0, 0.0, 0.0, 0.0]))
        array([1., 1., 1., 1.])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.fft.idct.html
    """
    inverse = {2: 3, 3: 2}.get(kind, kind)
    return _cosine_transform("idct", x, kind, inverse, n, axis, norm)


def _cosine_transform(
    name: str, x: Array, given: int, kind: int, n: int | None, axis: int, norm: str
) -> Array:
    """The transform of `kind`, scaled as `name` scales it."""
    if given not in (1, 2, 3, 4):
        raise ArgumentError(f"{name}: kind: got {given!r}, expected 1, 2, 3 or 4")
    length, place = one_length(name, x.shape, n, axis, norm)
    check_real(name, x, "fft")
    if kind == 1 and length < 2:
        raise ShapeError(f"{name}: n: got the length {length}, expected at least 2 for kind 1")
    period = 2 * (length - 1) if kind == 1 else 2 * length
    x = ops.astype(x, float64 if dtype_of(x) is float64 else float32, copy=False)
    x = _of_length(ops.moveaxis(x, place, -1), length)
    # Kinds 1 to 3 are orthogonal only if the first and, for kind 1, the last elements are scaled: by
    # √2 in the input where the sum contains xⱼ once, and by 1/√2 in the output.
    before, after = np.ones(length), np.ones(length)
    if norm == "ortho":
        ends = [0, -1] if kind == 1 else [0]
        if kind in (1, 3):
            before[ends] = 2**0.5
        if kind in (1, 2):
            after[ends] = 2**-0.5
        after *= period**-0.5
    elif (norm == "forward") == (name == "dct"):
        after /= period
    result = _unscaled_cosine(x, kind, length, before)
    if norm == "ortho" or (norm == "forward") == (name == "dct"):
        result = ops.multiply(result, _constant(after, x))
    return ops.moveaxis(result, -1, place)


def _unscaled_cosine(x: Array, kind: int, n: int, weight: np.ndarray) -> Array:
    """The sums of `dct` over the last axis of `x` times `weight`."""
    is_weighed = bool((weight != 1).any())
    if kind in (1, 2) and is_weighed:
        x = ops.multiply(x, _constant(weight, x))
    if kind == 1:
        inner = ops.getitem(x, (..., slice(1, n - 1)))
        return ops.real(ops.rfft(ops.concat([x, ops.flip(inner, axis=-1)], axis=-1)))
    # cos t is the real part of exp(it), which is a factor of a Fourier transform of 2n elements
    # times a factor that depends on j or k only.
    turn = np.arange(n) * np.pi / (2 * n)
    if kind == 2:
        spectrum = ops.getitem(ops.rfft(x, n=2 * n), (..., slice(0, n)))
        return ops.real(ops.multiply(spectrum, _constant(2 * np.exp(-1j * turn), x)))
    if kind == 3:
        half = ops.multiply(x, _constant(2 * n * weight * np.exp(1j * turn), x))
        return ops.getitem(ops.irfft(half, n=2 * n), (..., slice(0, n)))
    spectrum = ops.fft(ops.multiply(x, _constant(np.exp(-1j * turn), x)), n=2 * n)
    spectrum = ops.getitem(spectrum, (..., slice(0, n)))
    turn = turn + np.pi / (4 * n)
    return ops.real(ops.multiply(spectrum, _constant(2 * np.exp(-1j * turn), x)))


def _constant(values: np.ndarray, x: Array) -> Array:
    """`values` as an array on the backend and in the precision of `x`."""
    wide = dtype_of(x) in (float64, complex128)
    if values.dtype.kind == "c":
        return ops.asarray(values, dtype=complex128 if wide else complex64, like=x)
    return ops.asarray(values, dtype=float64 if wide else float32, like=x)


def _of_length(x: Array, length: int) -> Array:
    """`x` with its last axis cut, or filled with zeros."""
    missing = length - ops.shape(x)[-1]
    if missing < 0:
        return ops.getitem(x, (..., slice(0, length)))
    if missing == 0:
        return x
    return ops.pad(x, [(0, 0)] * (len(x.shape) - 1) + [(0, missing)])


@op
def stft(
    x: Array,
    window: Array | None = None,
    /,
    *,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
) -> Array:
    """The short-time Fourier transform, Xₖₜ = Σⱼ wⱼ x[j + t hop] exp(−2πi jk / n_fft).

    Args:
        x: `(*batch, time)`, any number.
        window: `(win_length,)`, the weights w, zero-padded on both sides to `n_fft`; None means
            ones.
        n_fft: the length of each transform.
        hop_length: the distance between the starts of adjacent frames; None means a quarter of
            `n_fft`.
        win_length: the length of the window; None means the length of `window`, or `n_fft`.
        center: pad `x` by half of `n_fft`, so that frame t is centred at time t · hop.
        pad_mode: the mode of this padding, as in `pad`.
        normalized: divide by √n_fft.
        onesided: return the non-negative frequencies only; None means True if `x` and `window` are
            real.

    Returns:
        `(*batch, frequency, frame)`, complex: n_fft/2 + 1 frequencies, rounded down, or n_fft.

    Raises:
        ArgumentError: a length is not a positive integer, or `onesided` is True for complex input.
        ShapeError: `x` is shorter than a frame or a scalar, or the window has the wrong length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.stft(np.ones(8), n_fft=4, hop_length=4, center=False).real
        array([[4., 4.],
               [0., 0.],
               [0., 0.]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.stft.html
    """
    check_pad_mode(pad_mode, "stft", "pad_mode")
    hop_length, win_length = _frame_settings("stft", window, n_fft, hop_length, win_length)
    if len(x.shape) == 0:  # an empty TensorShape is truthy
        raise ShapeError("stft: x: got an array without dimensions, expected (*batch, time)")
    is_complex = any(a is not None and dtype_of(a).kind == "complex" for a in (x, window))
    if onesided is None:
        onesided = not is_complex
    elif onesided and is_complex:
        raise ArgumentError("stft: onesided: got True for complex numbers, expected False or None")
    x = ops.astype(x, float32, copy=False) if not dtype_of(x).is_inexact else x
    if center:
        half = n_fft // 2
        x = ops.pad(x, [(0, 0)] * (len(x.shape) - 1) + [(half, half)], mode=pad_mode)
    if isinstance(x.shape[-1], int) and x.shape[-1] < n_fft:
        raise ShapeError(
            f"stft: x: got {x.shape[-1]} elements along the time"
            f"{' with the padding' if center else ''}, expected at least n_fft, {n_fft}"
        )
    frames = ops.sliding_window_view(x, n_fft, axis=-1, step=hop_length)
    weights = _centred_window(window, win_length, n_fft, x)
    if weights is not None:
        frames = ops.multiply(frames, weights)
    norm = "ortho" if normalized else "backward"
    spectrum = ops.rfft(frames, norm=norm) if onesided else ops.fft(frames, norm=norm)
    return ops.swapaxes(spectrum, -2, -1)


@op
def istft(
    x: Array,
    window: Array | None = None,
    /,
    *,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Array:
    """The inverse of `stft`: the smallest-squares signal with the short-time spectrum `x`.

    Overlapping frames are added and divided by the sum of the squared windows. Times without a
    window are 0.

    Args:
        x: `(*batch, frequency, frame)`, complex.
        window: `(win_length,)`, as for `stft`.
        n_fft: the length of each transform.
        hop_length: as for `stft`.
        win_length: as for `stft`.
        center: whether `stft` centred the frames: crop half of `n_fft` at both ends.
        normalized: whether `stft` divided by √n_fft.
        onesided: whether `x` has the non-negative frequencies only; None means True for n_fft/2 + 1
            frequencies.
        length: the length of the signal, which is cropped or zero-padded at the end; None means all.
        return_complex: return a complex signal; requires ``onesided=False``.

    Returns:
        `(*batch, time)`, real unless `return_complex`.

    Raises:
        ArgumentError: a length is not a positive integer, or `onesided` and `return_complex` are
            both True.
        ShapeError: the number of frequencies does not match `n_fft`, `x` has too few axes, or the
            window has the wrong length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> signal = np.arange(8.0)
        >>> na.istft(na.stft(signal, n_fft=4), n_fft=4).round(6)
        array([0., 1., 2., 3., 4., 5., 6., 7.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.istft.html
    """
    hop_length, win_length = _frame_settings("istft", window, n_fft, hop_length, win_length)
    if length is not None:
        _check_positive("istft", "length", length)
    if len(x.shape) < 2:
        raise ShapeError(
            f"istft: x: got the shape {tuple(x.shape)}, expected (*batch, frequency, frame)"
        )
    found, count = ops.shape(x)[-2:]
    if onesided is None:
        onesided = found == n_fft // 2 + 1 and not return_complex
    if onesided and return_complex:
        raise ArgumentError("istft: onesided: got True with return_complex, expected False")
    expected = n_fft // 2 + 1 if onesided else n_fft
    if found != expected:
        raise ShapeError(
            f"istft: x: got {found} frequencies for n_fft={n_fft}, expected {expected}"
        )
    norm = "ortho" if normalized else "backward"
    spectrum = ops.swapaxes(x, -2, -1)
    if onesided:
        frames = ops.irfft(spectrum, n=n_fft, norm=norm)
    else:
        frames = ops.ifft(spectrum, norm=norm)
        frames = frames if return_complex else ops.real(frames)
    weights = _centred_window(window, win_length, n_fft, x)
    if weights is None:
        weights = _constant(np.ones(n_fft), x)
    frames = ops.multiply(frames, weights)
    squares = ops.broadcast_to(ops.multiply(weights, weights), (count, n_fft))
    start = n_fft // 2 if center else 0
    stop = n_fft + hop_length * (count - 1) - start
    stop = stop if length is None else min(start + length, stop + start)
    part = slice(start, stop)
    total = ops.getitem(_overlapped(frames, hop_length), (..., part))
    scale = ops.getitem(_overlapped(squares, hop_length), part)
    if dtype_of(scale).kind == "complex":
        reached = ops.greater(ops.abs(scale), 1e-11)
    else:
        reached = ops.greater(scale, 1e-11)
    signal = ops.where(reached, ops.divide(total, ops.where(reached, scale, 1.0)), 0.0)
    return signal if length is None else _of_length(signal, length)


def _overlapped(frames: Array, hop: int) -> Array:
    """`(*batch, frame, n)`, each `hop` after the one before, added up to `(*batch, time)`."""
    *batch, count, n = ops.shape(frames)
    # Split frames into r pieces of one hop: piece i of frame t overlaps hop t + i.
    pieces = -(-n // hop)
    cut = ops.reshape(_of_length(frames, pieces * hop), (*batch, count, pieces, hop))
    total = None
    for i in range(pieces):
        piece = ops.getitem(cut, (..., i, slice(None)))
        shift = [(0, 0)] * len(batch) + [(i, pieces - 1 - i), (0, 0)]
        placed = ops.pad(piece, shift)
        total = placed if total is None else ops.add(total, placed)
    time = ops.reshape(total, (*batch, (count + pieces - 1) * hop))
    whole = [slice(None)] * len(batch)  # TFLite takes no ... for no axis
    return ops.getitem(time, (*whole, slice(0, n + hop * (count - 1))))


def _centred_window(window: Array | None, win_length: int, n_fft: int, x: Array) -> Array | None:
    """The window with zeros on both sides; None where it is ones."""
    if window is None:
        if win_length == n_fft:
            return None
        window = _constant(np.ones(win_length), x)
    left = (n_fft - win_length) // 2
    missing = n_fft - win_length
    return ops.pad(window, [(left, missing - left)]) if missing else window


def _frame_settings(
    name: str,
    window: Array | None,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
) -> tuple[int, int]:
    """`hop_length` and `win_length` with their defaults."""
    _check_positive(name, "n_fft", n_fft)
    if hop_length is None:
        hop_length = max(n_fft // 4, 1)
    _check_positive(name, "hop_length", hop_length)
    shape = None if window is None else tuple(window.shape)
    default = shape[0] if shape is not None and len(shape) == 1 else n_fft
    width = default if win_length is None else win_length
    _check_positive(name, "win_length", width)
    if width > n_fft:
        raise ShapeError(f"{name}: win_length: got {width}, expected at most n_fft, {n_fft}")
    if shape is not None and shape != (width,):
        raise ShapeError(f"{name}: window: got the shape {shape}, expected ({width},)")
    return hop_length, width


def _check_positive(name: str, argument: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ArgumentError(f"{name}: {argument}: got {value!r}, expected an int of at least 1")

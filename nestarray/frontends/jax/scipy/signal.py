"""Convolutions and spectra.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.signal
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.frontends.jax import lax, promotion
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax.promotion import promote_inexact
from nestarray.typing import Array

__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "csd", "detrend", "fftconvolve", "istft",
    "stft", "welch",
]  # fmt: skip

_MODES = ("full", "same", "valid")


# -- convolutions ----------------------------------------------------------------------------


def fftconvolve(
    in1: Array, in2: Array, mode: str = "full", axes: Sequence[int] | None = None
) -> Array:
    """The convolution along axes, all by default, by Fourier transforms."""
    in1, in2 = promote_inexact(in1, in2)
    rank = _equal_ranks("fftconvolve", in1, in2)
    chosen = sorted(
        {promotion.normal_axis(a, rank) for a in (range(rank) if axes is None else axes)}
    )
    first, second = na.shape(in1), na.shape(in2)
    if _is_swapped("fftconvolve", mode, [first[a] for a in chosen], [second[a] for a in chosen]):
        in1, in2, first, second = in2, in1, second, first
    full = [first[a] + second[a] - 1 for a in chosen]
    is_complex = dtypes.dtype_of(in1).kind == "complex"
    forward, backward = (na.fftn, na.ifftn) if is_complex else (na.rfftn, na.irfftn)
    product = forward(in1, s=full, axes=chosen) * forward(in2, s=full, axes=chosen)
    found = backward(product, s=full, axes=chosen)
    sizes = {a: _size(mode, first[a], second[a]) for a in chosen}
    index = [slice(None)] * rank
    for axis, length in zip(chosen, full, strict=True):
        start = (length - sizes[axis]) // 2
        index[axis] = slice(start, start + sizes[axis])
    return na.getitem(found, tuple(index))


def _size(mode: str, first: int, second: int) -> int:
    return {"full": first + second - 1, "same": first, "valid": first - second + 1}[mode]


def _equal_ranks(function: str, in1: Array, in2: Array) -> int:
    first, second = len(na.shape(in1)), len(na.shape(in2))
    if first != second:
        raise ArgumentError(
            f"{function}: in1, in2: got {first} and {second} axes, expected as many"
        )
    return first


def _is_swapped(function: str, mode: str, first: Sequence[int], second: Sequence[int]) -> bool:
    """Whether `second` contains `first`, for mode "valid"."""
    if mode not in _MODES:
        raise ArgumentError(f"{function}: mode: got {mode!r}, expected 'full', 'same' or 'valid'")
    if mode != "valid" or all(m >= n for m, n in zip(first, second, strict=True)):
        return False
    if all(m <= n for m, n in zip(first, second, strict=True)):
        return True
    raise ArgumentError(
        f"{function}: in1, in2: got the shapes {tuple(first)} and {tuple(second)} with mode='valid', "
        "expected one to be as large as the other along every axis"
    )


def _convolved(function: str, in1: Array, in2: Array, mode: str) -> Array:
    """Σ in1[i − j] in2[j]."""
    in1, in2 = promote_inexact(in1, in2)
    rank = _equal_ranks(function, in1, in2)
    if _is_swapped(function, mode, na.shape(in1), na.shape(in2)):
        in1, in2 = in2, in1
    if not rank:
        return in1 * in2
    pads = {
        "full": [(n - 1, n - 1) for n in na.shape(in2)],
        "same": [(n // 2, (n - 1) // 2) for n in na.shape(in2)],
        "valid": [(0, 0)] * rank,
    }[mode]
    images, kernels = [na.reshape(x, (1, 1, *na.shape(x))) for x in (in1, na.flip(in2))]
    found = lax.conv_general_dilated(images, kernels, (1,) * rank, pads)
    return na.reshape(found, na.shape(found)[2:])


def _reflected(x: Array) -> Array:
    """The conjugate of `x`, reversed along all axes."""
    x = na.flip(x)
    return na.conj(x) if _is_complex(x) else x


def _is_complex(x: Array) -> bool:
    return dtypes.dtype_of(x).kind == "complex"


def convolve(
    in1: Array, in2: Array, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """The convolution; `method` "direct" or "fft", "auto" for direct."""
    if _uses_fft("convolve", method):
        return fftconvolve(in1, in2, mode)
    return _convolved("convolve", in1, in2, mode)


def correlate(
    in1: Array, in2: Array, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """The correlation; `method` "direct" or "fft", "auto" for direct."""
    _uses_fft("correlate", method)
    return convolve(in1, _reflected(in2), mode, method)


def _uses_fft(function: str, method: str) -> bool:
    if method not in ("auto", "direct", "fft"):
        raise ArgumentError(
            f"{function}: method: got {method!r}, expected 'auto', 'direct' or 'fft'"
        )
    return method == "fft"


def convolve2d(
    in1: Array,
    in2: Array,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The convolution of matrices, with zeros around them."""
    _expect_matrices("convolve2d", in1, in2, boundary, fillvalue)
    return _convolved("convolve2d", in1, in2, mode)


def correlate2d(
    in1: Array,
    in2: Array,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The correlation of matrices, with zeros around them."""
    _expect_matrices("correlate2d", in1, in2, boundary, fillvalue)
    if mode != "same":
        return _convolved("correlate2d", in1, _reflected(in2), mode)
    # the other middle of an even number
    found = _convolved("correlate2d", na.flip(in1), na.conj(in2) if _is_complex(in2) else in2, mode)
    return na.flip(found)


def _expect_matrices(function: str, in1: Array, in2: Array, boundary: str, fillvalue: Any) -> None:
    if boundary != "fill" or fillvalue != 0:
        raise UnsupportedError(
            f"{function}: boundary, fillvalue: got {boundary!r} and {fillvalue}, expected 'fill' and 0"
        )
    if len(na.shape(in1)) != 2 or len(na.shape(in2)) != 2:
        raise ArgumentError(f"{function}: in1, in2: expected matrices")


# -- trends ----------------------------------------------------------------------------------


def detrend(
    data: Array,
    axis: int = -1,
    type: str = "linear",
    bp: int | Sequence[int] = 0,
    overwrite_data: None = None,
) -> Array:
    """`data` minus its mean ("constant"), or minus lines between the positions `bp` ("linear")."""
    if overwrite_data is not None:
        raise UnsupportedError("detrend: overwrite_data: got a value, expected None")
    data = promotion.inexact(data)
    if type not in ("linear", "constant"):
        raise ArgumentError(f"detrend: type: got {type!r}, expected 'linear' or 'constant'")
    if type == "constant":
        return data - na.mean(data, axis=axis, keepdims=True)
    size = na.shape(data)[axis]
    rows = na.moveaxis(data, axis, 0)
    ends = sorted({0, size, *(bp if isinstance(bp, Sequence) else np.atleast_1d(bp).tolist())})
    if ends[0] < 0 or ends[-1] > size:
        raise ArgumentError(f"detrend: bp: got {bp!r}, expected positions from 0 to {size}")
    parts = [_without_line(na.getitem(rows, slice(a, b))) for a, b in itertools.pairwise(ends)]
    return na.moveaxis(na.concat(parts), 0, axis)


def _without_line(rows: Array) -> Array:
    """Rows minus the line of least squares along the first axis."""
    size, *rest = na.shape(rows)
    columns = [np.ones(size), np.arange(1, size + 1) / size]
    basis = np.linalg.qr(np.stack(columns, axis=1))[0][:, : min(size, 2)]
    basis = na.asarray(basis, dtype=dtypes.dtype_of(rows), like=rows)
    flat = na.reshape(rows, (size, -1))
    line = na.matmul(basis, na.matmul(na.matrix_transpose(basis), flat))
    return na.reshape(flat - line, (size, *rest))


# -- spectra ---------------------------------------------------------------------------------


def _window(window: Any, nperseg: int, like: Array) -> Array:
    """The periodic window of a name of SciPy, or an array."""
    if hasattr(window, "shape"):
        return window
    name, *settings = (window,) if isinstance(window, str) else window
    steps = 2 * np.pi * np.arange(nperseg) / nperseg
    cosines = {
        "hann": (0.5, 0.5), "hamming": (0.54, 0.46), "blackman": (0.42, 0.5, 0.08),
        "boxcar": (1.0,), "rectangular": (1.0,), "ones": (1.0,),
    }  # fmt: skip
    if settings or name not in cosines:
        raise UnsupportedError(
            f"window: got {window!r}, expected an array or one of {', '.join(cosines)}"
        )
    values = sum((-1) ** k * a * np.cos(k * steps) for k, a in enumerate(cosines[name]))
    values = np.broadcast_to(values, (nperseg,)) if nperseg > 1 else np.ones(1)
    return na.asarray(
        np.ascontiguousarray(values), dtype=promotion.real_dtype(dtypes.dtype_of(like)), like=like
    )


def _spectra(
    function: str,
    x: Array,
    y: Array | None,
    fs: Array,
    window: Any,
    nperseg: int | None,
    noverlap: int | None,
    nfft: int | None,
    detrend_type: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    mode: str = "psd",
    boundary: str | None = None,
    padded: bool = False,
) -> tuple[Array, Array, Array]:
    """(frequencies, times, spectra of segments `(…, frequencies, times)`)."""
    (x,) = promote_inexact(x)
    if y is not None:
        x, y = promote_inexact(x, y)
    signals = [na.moveaxis(s, axis, -1) for s in ([x] if y is None else [x, y])]
    if y is not None:
        batch = na.broadcast_shapes(*[na.shape(s)[:-1] for s in signals])
        size = max(na.shape(s)[-1] for s in signals)
        signals = [_extended(s, size) for s in signals]
        signals = [na.broadcast_to(s, (*batch, size)) for s in signals]
    size = na.shape(signals[0])[-1]
    if nperseg is None:
        nperseg = int(window.shape[0]) if hasattr(window, "shape") else 256
    nperseg = min(int(nperseg), size)
    if nperseg < 1:
        raise ArgumentError(f"{function}: nperseg: got {nperseg}, expected at least 1")
    nfft = nperseg if nfft is None else int(nfft)
    if nfft < nperseg:
        raise ArgumentError(f"{function}: nfft: got {nfft}, expected at least nperseg, {nperseg}")
    noverlap = nperseg // 2 if noverlap is None else int(noverlap)
    if noverlap >= nperseg:
        raise ArgumentError(f"{function}: noverlap: got {noverlap}, expected less than {nperseg}")
    step = nperseg - noverlap
    if boundary is not None:
        signals = [_bounded(s, nperseg // 2, boundary) for s in signals]
    if padded:
        size = na.shape(signals[0])[-1]
        rest = (-(size - nperseg) % step) % nperseg
        signals = [_extended(s, size + rest) for s in signals]
    win = _window(window, nperseg, signals[0])
    total = na.sum(win * win) if scaling == "density" else na.square(na.sum(win))
    scale = 1 / (fs * total) if scaling == "density" else 1 / total
    if scaling not in ("density", "spectrum"):
        raise ArgumentError(
            f"{function}: scaling: got {scaling!r}, expected 'density' or 'spectrum'"
        )
    scale = na.sqrt(scale) if mode == "stft" else scale
    is_real = not any(map(_is_complex, signals))
    onesided = onesided and is_real
    size = na.shape(signals[0])[-1]
    found = [_of_segments(s, win, nperseg, step, nfft, detrend_type, onesided) for s in signals]
    if mode == "stft":
        result = na.multiply(found[0], scale)
    else:
        product = na.conj(found[0]) * found[-1]
        result = na.multiply(product, scale)
        result = na.real(result) if y is None else result
        if onesided:  # the other half of the frequencies
            inner = np.full(nfft // 2 + 1, 2.0)
            inner[0] = 1.0
            if nfft % 2 == 0:
                inner[-1] = 1.0
            real = promotion.real_dtype(dtypes.dtype_of(result))
            result = na.multiply(result, na.asarray(inner, dtype=real, like=win))
    times = np.arange(nperseg / 2, size - nperseg / 2 + 1, step)
    times = times - nperseg / 2 if boundary is not None else times
    dtype = dtypes.dtype_of(win)
    frequencies = np.fft.rfftfreq(nfft) if onesided else np.fft.fftfreq(nfft)
    made = [na.asarray(v, dtype=dtype, like=win) for v in (frequencies, times)]
    return made[0] * fs, made[1] / fs, na.moveaxis(result, -1, -2)


def _extended(x: Array, size: int) -> Array:
    """`x` with zeros after it."""
    missing = size - na.shape(x)[-1]
    return na.pad(x, [(0, 0)] * (len(na.shape(x)) - 1) + [(0, missing)]) if missing else x


def _bounded(x: Array, count: int, boundary: str) -> Array:
    """`x` with `count` elements before and after it."""
    pads = [(0, 0)] * (len(na.shape(x)) - 1) + [(count, count)]
    if boundary == "zeros":
        return na.pad(x, pads)
    if boundary in ("even", "constant"):
        return na.pad(x, pads, mode={"even": "reflect", "constant": "edge"}[boundary])
    if boundary == "odd":
        ends = na.getitem(x, (..., slice(1))), na.getitem(x, (..., slice(-1, None)))
        first = 2 * ends[0] - na.flip(na.getitem(x, (..., slice(1, count + 1))), axis=-1)
        last = 2 * ends[1] - na.flip(na.getitem(x, (..., slice(-count - 1, -1))), axis=-1)
        return na.concat([first, x, last], axis=-1)
    raise ArgumentError(
        f"boundary: got {boundary!r}, expected 'even', 'odd', 'constant', 'zeros' or None"
    )


def _of_segments(
    x: Array, window: Array, nperseg: int, step: int, nfft: int, detrend_type: Any, onesided: bool
) -> Array:
    """The transforms of segments, `(…, segments, frequencies)`."""
    size = na.shape(x)[-1]
    starts = np.arange(0, size - nperseg + 1, step)
    index = na.asarray(starts[:, None] + np.arange(nperseg), dtype=dtypes.int64, like=x)
    parts = na.getitem(x, (..., index))
    if callable(detrend_type):
        parts = detrend_type(parts)
    elif detrend_type:
        parts = detrend(parts, type=detrend_type)
    parts = na.multiply(parts, window)
    return na.rfft(parts, n=nfft) if onesided else na.fft(parts, n=nfft)


def stft(
    x: Array,
    fs: Array = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """(frequencies, times, Fourier transforms of windows)."""
    frequencies, times, found = _spectra(
        "stft", x, None, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, "spectrum",
        axis, "stft", boundary, padded,
    )  # fmt: skip
    return frequencies, times, na.moveaxis(found, -2, axis % len(na.shape(x)))


def csd(
    x: Array,
    y: Array | None,
    fs: Array = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """(frequencies, cross spectral density) of two signals, the mean of windows."""
    if average not in ("mean", "median"):
        raise ArgumentError(f"csd: average: got {average!r}, expected 'mean' or 'median'")
    frequencies, _, found = _spectra(
        "csd", x, y, fs, window, nperseg, noverlap, nfft, detrend, return_onesided, scaling, axis
    )
    found = na.moveaxis(found, -2, -1)  # (…, windows, frequencies)
    count = na.shape(found)[-2]
    if average == "median":
        bias = 1 + sum(1 / (2 * i + 1) - 1 / (2 * i) for i in range(1, (count - 1) // 2 + 1))
        if _is_complex(found):
            found = (
                na.complex(jnp.median(na.real(found), -2), jnp.median(na.imag(found), -2)) / bias
            )
        else:
            found = jnp.median(found, -2) / bias
    else:
        found = na.mean(found, axis=-2)
    return frequencies, na.moveaxis(found, -1, axis)


def welch(
    x: Array,
    fs: Array = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """(frequencies, power spectral density), the mean of windows."""
    frequencies, found = csd(
        x,
        None,
        fs,
        window,
        nperseg,
        noverlap,
        nfft,
        detrend,
        return_onesided,
        scaling,
        axis,
        average,
    )
    return frequencies, na.real(found)


def istft(
    Zxx: Array,
    fs: Array = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """(times, the signal) of transforms of `stft`."""
    spectra = na.moveaxis(Zxx, (freq_axis, time_axis), (-1, -2))  # (…, windows, frequencies)
    *batch, count, frequencies = spectra.shape
    default = 2 * (frequencies - 1) if input_onesided else frequencies
    nperseg = int(default if nperseg is None else nperseg)
    if nfft is None:
        nfft = nperseg if input_onesided and nperseg == default + 1 else default
    noverlap = nperseg // 2 if noverlap is None else int(noverlap)
    if noverlap >= nperseg:
        raise ArgumentError(f"istft: noverlap: got {noverlap}, expected less than {nperseg}")
    step = nperseg - noverlap
    win = _window(window, nperseg, spectra)
    parts = na.irfft(spectra, n=nfft) if input_onesided else na.ifft(spectra)
    parts = na.multiply(na.getitem(parts, (..., slice(nperseg))), na.sum(win) * win)
    size = nperseg + (count - 1) * step
    total, weight = _overlapped(parts, size, step), _overlapped(win * win + na.zeros_like(na.getitem(na.real(parts), (0,) * len(batch))), size, step)  # fmt: skip
    if boundary:
        kept = slice(nperseg // 2, size - nperseg // 2)
        total, weight = na.getitem(total, (..., kept)), na.getitem(weight, (..., kept))
    found = na.divide(total, na.where(na.greater(weight, 1e-10), weight, na.ones_like(weight)))
    rank, place = len(na.shape(Zxx)), time_axis % len(na.shape(Zxx))
    found = na.moveaxis(found, -1, place - (freq_axis % rank < place))
    # upstream counts along the first axis
    times = na.arange(na.shape(found)[0], dtype=dtypes.dtype_of(win), like=win) / fs
    return times, found


def _overlapped(parts: Array, size: int, step: int) -> Array:
    """The sum of parts `(…, count, length)` at steps."""
    *batch, count, length = na.shape(parts)
    index = np.arange(count)[:, None] * step + np.arange(length)
    index = na.asarray(index, dtype=dtypes.int64, like=parts)
    zeros = na.zeros((*batch, size), dtype=dtypes.dtype_of(parts), like=parts)
    return na.setitem(zeros, (..., index), parts, mode="add")

"""Discrete Fourier transforms.

Transforms of complex arrays also accept real ones. Results have single precision (complex64 or
float32), or double precision for arguments of double precision, on every backend.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from nestarray import ops
from nestarray.dispatch import op, primitive
from nestarray.dtypes import as_dtype, dtype_of
from nestarray.errors import ArgumentError, DtypeError
from nestarray.numerics.axes import many_axes
from nestarray.numerics.fourier import (
    SWAPPED,
    check_real,
    check_some_axis,
    checked,
    full_length,
    full_lengths,
    one_length,
)
from nestarray.typing import Array, Axis, DTypeLike, check_not_zero

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]


@op
def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The discrete Fourier transform along an axis, Xₖ = Σ xⱼ exp(−2πi jk / n).

    Args:
        x: any number; real numbers are converted to complex.
        n: the length of the transform: a longer axis is cropped, a shorter one zero-padded.
            None keeps the length.
        axis: the axis to transform.
        norm: ``"backward"`` scales only the inverse, by 1/n; ``"ortho"`` scales both by 1/√n;
            ``"forward"`` scales only this transform.

    Returns:
        complex array, complex128 for double precision and complex64 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: the axis is out of range, or `n` is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.fft(np.asarray([1.0, 0.0, 0.0, 0.0]))
        array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.fft.html
    """
    length, place = one_length("fft", ops.shape(x), n, axis, norm)
    return ops.fftn(x, s=None if n is None else (length,), axes=(place,), norm=norm)


@op
def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of `fft`, xⱼ = Σ Xₖ exp(2πi jk / n) / n.

    Args:
        x: any number; real numbers are converted to complex.
        n: the length of the transform: a longer axis is cropped, a shorter one zero-padded.
            None keeps the length.
        axis: the axis to transform.
        norm: as for `fft`; use the same value to invert an `fft`.

    Returns:
        complex array, complex128 for double precision and complex64 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: the axis is out of range, or `n` is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ifft(np.asarray([4.0, 0.0, 0.0, 0.0]))
        array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.ifft.html
    """
    length, place = one_length("ifft", ops.shape(x), n, axis, norm)
    return ops.ifftn(x, s=None if n is None else (length,), axes=(place,), norm=norm)


@primitive
def fftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Array:
    """The discrete Fourier transform over several axes, Xₖ = Σ xⱼ exp(−2πi jk / n) in each.

    Args:
        x: any number; real numbers are converted to complex.
        s: the length of each transformed axis: longer axes are cropped, shorter ones zero-padded;
            −1 keeps a length. None keeps all.
        axes: the axes to transform, each once; None means all, or the last ``len(s)``.
        norm: ``"backward"`` scales only the inverse, by 1/n; ``"ortho"`` scales both by 1/√n;
            ``"forward"`` scales only this transform.

    Returns:
        complex array, complex128 for double precision and complex64 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: `s` and `axes` have different lengths, an axis is out of range or repeated, or
            a length is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.fftn(np.asarray([1.0, 0.0, 0.0, 0.0]))
        array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.fftn.html
    """


@primitive
def ifftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Array:
    """The inverse of `fftn`, xⱼ = Σ Xₖ exp(2πi jk / n) / n in each axis.

    Args:
        x: any number; real numbers are converted to complex.
        s: the length of each transformed axis, as for `fftn`.
        axes: the axes to transform, each once; None means all, or the last ``len(s)``.
        norm: as for `fftn`; use the same value to invert an `fftn`.

    Returns:
        complex array, complex128 for double precision and complex64 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: `s` and `axes` have different lengths, an axis is out of range or repeated, or
            a length is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ifftn(np.asarray([4.0, 0.0, 0.0, 0.0]))
        array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.ifftn.html
    """


@primitive
def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The `fft` of real numbers: the non-negative frequencies; the others are their conjugates.

    Args:
        x: real.
        n: the length of the transform: a longer axis is cropped, a shorter one zero-padded.
            None keeps the length.
        axis: the axis to transform.
        norm: ``"backward"`` scales only the inverse, by 1/n; ``"ortho"`` scales both by 1/√n;
            ``"forward"`` scales only this transform.

    Returns:
        complex array of n/2 + 1 elements along `axis`, rounded down; complex128 for double
        precision and complex64 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: the axis is out of range, or `n` is below 1.
        DtypeError: `x` is complex.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rfft(np.asarray([1.0, 0.0, 0.0, 0.0]))
        array([1.+0.j, 1.+0.j, 1.+0.j])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.rfft.html
    """


@primitive
def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of `rfft`: the real numbers whose spectrum begins with `x`.

    The imaginary part of the first element, and for even n of the middle one, counts as 0.

    Args:
        x: the first half of a spectrum, any number.
        n: the length of the result; None means 2 (m − 1) for m elements, the even of the two
            possible lengths. A longer axis is cropped, a shorter one zero-padded.
        axis: the axis to transform.
        norm: as for `rfft`; use the same value to invert an `rfft`.

    Returns:
        real array, float64 for double precision and float32 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: the axis is out of range, or `n` is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.irfft(np.asarray([4.0, 0.0, 0.0]))
        array([1., 1., 1., 1.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.irfft.html
    """


@op
def rfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Array:
    """The `fftn` of real numbers: non-negative frequencies along the last axis, as in `rfft`.

    Args:
        x: real.
        s: the length of each transformed axis: longer axes are cropped, shorter ones zero-padded;
            −1 keeps a length. None keeps all.
        axes: the axes to transform, each once; None means all, or the last ``len(s)``.
        norm: ``"backward"`` scales only the inverse, by 1/n; ``"ortho"`` scales both by 1/√n;
            ``"forward"`` scales only this transform.

    Returns:
        complex array of n/2 + 1 elements, rounded down, along the last of `axes`; complex128 for
        double precision and complex64 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: `s` and `axes` have different lengths, an axis is out of range or repeated, or
            a length is below 1.
        DtypeError: `x` is complex.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rfftn(np.ones((2, 4)))
        array([[8.+0.j, 0.+0.j, 0.+0.j],
               [0.+0.j, 0.+0.j, 0.+0.j]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.rfftn.html
    """
    lengths, places = checked("rfftn", ops.shape(x), s, axes, norm)
    check_real("rfftn", x, "fftn")
    check_some_axis("rfftn", places)
    given = None if s is None else lengths
    x = ops.rfft(x, n=given[-1] if given else None, axis=places[-1], norm=norm)
    return ops.fftn(x, s=given and given[:-1], axes=places[:-1], norm=norm)


@op
def irfftn(
    x: Array,
    /,
    *,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
) -> Array:
    """The inverse of `rfftn`: the real numbers whose half spectrum is `x`.

    Args:
        x: half of a spectrum along the last of `axes`, any number.
        s: the lengths of the result along `axes`; None means the lengths of `x`, and 2 (m − 1) for
            the m elements of the last.
        axes: the axes to transform, each once; None means all, or the last ``len(s)``.
        norm: as for `rfftn`; use the same value to invert an `rfftn`.

    Returns:
        real array, float64 for double precision and float32 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: `s` and `axes` have different lengths, an axis is out of range or repeated, or
            a length is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.irfftn(np.asarray([[8.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
        array([[1., 1., 1., 1.],
               [1., 1., 1., 1.]])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.irfftn.html
    """
    lengths, places = full_lengths("irfftn", ops.shape(x), s, axes, norm)
    given = None if s is None else lengths
    x = ops.ifftn(x, s=given and given[:-1], axes=places[:-1], norm=norm)
    return ops.irfft(x, n=given[-1] if given else None, axis=places[-1], norm=norm)


@op
def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The real spectrum of a hermitian signal with the first half `x`.

    Args:
        x: the elements at times 0, 1, …; elements at −1, −2, … are their conjugates. Any number.
        n: the length of the result; None means 2 (m − 1) for m elements, the even of the two
            possible lengths. A longer axis is cropped, a shorter one zero-padded.
        axis: the axis to transform.
        norm: ``"backward"`` scales only the inverse, by 1/n; ``"ortho"`` scales both by 1/√n;
            ``"forward"`` scales only this transform.

    Returns:
        real array, float64 for double precision and float32 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: the axis is out of range, or `n` is below 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hfft(np.asarray([1.0, 0.0, 0.0]))
        array([1., 1., 1., 1.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.hfft.html
    """
    length = full_length("hfft", ops.shape(x), n, axis, norm)
    x = ops.conj(x) if dtype_of(x).kind == "complex" else x
    return ops.irfft(x, n=length, axis=axis, norm=SWAPPED[norm])


@op
def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Array:
    """The inverse of `hfft`: the first half of the signal with the real spectrum `x`.

    Args:
        x: a real spectrum.
        n: the length of the transform: a longer axis is cropped, a shorter one zero-padded.
            None keeps the length.
        axis: the axis to transform.
        norm: as for `hfft`; use the same value to invert an `hfft`.

    Returns:
        complex array of n/2 + 1 elements along `axis`, rounded down; complex128 for double
        precision and complex64 else.

    Raises:
        ArgumentError: `norm` is unknown.
        ShapeError: the axis is out of range, or `n` is below 1.
        DtypeError: `x` is complex.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ihfft(np.asarray([4.0, 4.0, 4.0, 4.0])).real
        array([4., 0., 0.])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.ihfft.html
    """
    length, place = one_length("ihfft", ops.shape(x), n, axis, norm)
    check_real("ihfft", x, "ifft")
    return ops.conj(ops.rfft(x, n=length, axis=place, norm=SWAPPED[norm]))


@op
def fftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """The frequencies of the elements of `fft`, [0, 1, …, −2, −1] / (n d).

    Args:
        n: the length of the transform.
        d: the sample spacing.
        dtype: a real floating dtype; None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(n,)`, the negative frequencies in the second half.

    Raises:
        ArgumentError: `n` is below 1.
        DtypeError: `dtype` is not real and floating.

    Example:
        >>> import nestarray as na
        >>> na.fftfreq(4)
        array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.fftfreq.html
    """
    return _frequencies("fftfreq", np.fft.fftfreq, n, d, dtype, device, like)


@op
def rfftfreq(
    n: int,
    /,
    *,
    d: float = 1.0,
    dtype: DTypeLike | None = None,
    device: Any = None,
    like: Array | None = None,
) -> Array:
    """The frequencies of the elements of `rfft`, [0, 1, …, n/2] / (n d).

    Args:
        n: the length of the transform.
        d: the sample spacing.
        dtype: a real floating dtype; None means float32.
        device: the device; None means the device of `like`, or the framework's default.
        like: an array whose framework and device to use.

    Returns:
        `(n/2 + 1,)`, rounded down.

    Raises:
        ArgumentError: `n` is below 1.
        DtypeError: `dtype` is not real and floating.

    Example:
        >>> import nestarray as na
        >>> na.rfftfreq(4)
        array([0.  , 0.25, 0.5 ], dtype=float32)

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.rfftfreq.html
    """
    return _frequencies("rfftfreq", np.fft.rfftfreq, n, d, dtype, device, like)


def _frequencies(
    name: str, native: Any, n: Any, d: float, dtype: Any, device: Any, like: Any
) -> Array:
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ArgumentError(f"{name}: n: got {n!r}, expected an int of at least 1")
    check_not_zero(name, "d", d)
    wanted = as_dtype("float32" if dtype is None else dtype)
    if not wanted.is_floating:
        raise DtypeError(f"{name}: dtype: got {wanted.name}, expected a real floating dtype")
    return ops.asarray(native(n, d), dtype=wanted, device=device, like=like)


@op
def fftshift(x: Array, /, *, axes: Axis = None) -> Array:
    """Shift the zero frequency to the middle: roll by half the length.

    Args:
        x: any dtype.
        axes: the axis to shift, or several; None means all.

    Returns:
        array of the shape and dtype of `x`.

    Raises:
        ShapeError: an axis is out of range or repeated.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.fftshift(np.asarray([0, 1, 2, -2, -1]))
        array([-2, -1,  0,  1,  2])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.fftshift.html
    """
    places = many_axes(axes, len(x.shape), "fftshift", "axes")
    return ops.roll(x, [ops.shape(x)[a] // 2 for a in places], axis=places) if places else x


@op
def ifftshift(x: Array, /, *, axes: Axis = None) -> Array:
    """The inverse of `fftshift`: shift the zero frequency from the middle to the front.

    Args:
        x: any dtype.
        axes: the axis to shift, or several; None means all.

    Returns:
        array of the shape and dtype of `x`.

    Raises:
        ShapeError: an axis is out of range or repeated.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ifftshift(np.asarray([-2, -1, 0, 1, 2]))
        array([ 0,  1,  2, -2, -1])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.ifftshift.html
    """
    places = many_axes(axes, len(x.shape), "ifftshift", "axes")
    return ops.roll(x, [-(ops.shape(x)[a] // 2) for a in places], axis=places) if places else x

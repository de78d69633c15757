"""Discrete Fourier transforms."""

from __future__ import annotations

from collections.abc import Sequence

from nestarray.dispatch import primitive
from nestarray.typing import Array

__all__ = ["fftn", "ifftn"]


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
        x: any number; reals are read as complex numbers.
        s: the length of each transformed axis: longer ones are cut, shorter ones filled with
            zeros. None keeps the lengths.
        axes: the axes to transform; None means all, or the last ``len(s)``.
        norm: ``"backward"`` scales only the inverse, by 1/n; ``"ortho"`` scales both by 1/√n;
            ``"forward"`` scales only this transform.

    Returns:
        complex array, complex128 for double precision and complex64 else.

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
        x: any number; reals are read as complex numbers.
        s: the length of each transformed axis, as for `fftn`.
        axes: the axes to transform; None means all, or the last ``len(s)``.
        norm: as for `fftn`; each value undoes the `fftn` of that value.

    Returns:
        complex array, complex128 for double precision and complex64 else.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.ifftn(np.asarray([4.0, 0.0, 0.0, 0.0]))
        array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])

    References:
        https://data-apis.org/array-api/2025.12/extensions/generated/array_api.fft.ifftn.html
    """

"""Filters of images, and their structural similarity; the last two axes are height and width.

Windows are separable: one weighted sum of shifted images for each axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nestarray import dtypes, ops
from nestarray.dispatch import floating_op, op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import check_pad_mode
from nestarray.typing import Array, check_kind, check_range

__all__ = ["gaussian_blur", "median_filter", "sobel", "ssim"]


@floating_op
def gaussian_blur(
    x: Array,
    /,
    *,
    sigma: float | Sequence[float] = 1.0,
    kernel_size: int | Sequence[int] | None = None,
    mode: str = "reflect",
) -> Array:
    """The mean of the neighbours with the weights exp(−d² / 2σ²) / Σ, d the distance in elements.

    Args:
        x: `(*batch, height, width)`, floating.
        sigma: σ > 0, or one for each of height and width.
        kernel_size: the odd number of neighbours, or one for each axis; None: all up to a distance
            of 4σ, rounded.
        mode: the padding, as in `pad`; SciPy's ``"reflect"`` is ``"symmetric"`` here.

    Returns:
        array of the shape of `x`.

    Raises:
        ArgumentError: `sigma` is not positive, or `kernel_size` not odd.
        ShapeError: `x` has fewer than two axes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.gaussian_blur(np.eye(3), sigma=0.5, kernel_size=3).round(3)
        array([[0.665, 0.251, 0.045],
               [0.251, 0.642, 0.251],
               [0.045, 0.251, 0.665]])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.gaussian_filter.html
        https://docs.pytorch.org/vision/stable/generated/torchvision.transforms.functional.gaussian_blur.html
    """
    check_pad_mode(mode, "gaussian_blur")
    _check_image("gaussian_blur", x)
    sigmas = _pair("gaussian_blur", "sigma", "float", sigma)
    sizes = (None, None)
    if kernel_size is not None:
        sizes = _pair("gaussian_blur", "kernel_size", "int", kernel_size)
    kernels = [_gaussian("gaussian_blur", s, n) for s, n in zip(sigmas, sizes)]
    return _separable(x, kernels, mode)


@floating_op
def sobel(x: Array, /, *, axis: int = -1, mode: str = "reflect") -> Array:
    """The derivative along one axis of an image, smoothed along the other; 8 times the slope.

    The kernel is −1, 0, 1 along `axis` and 1, 2, 1 along the other. The magnitude of an edge is
    ``na.hypot(na.sobel(x, axis=-2), na.sobel(x, axis=-1))``.

    Args:
        x: `(*batch, height, width)`, floating.
        axis: −1: along the width; −2: along the height.
        mode: the padding, as in `pad`; SciPy's ``"reflect"`` is ``"symmetric"`` here.

    Returns:
        array of the shape of `x`.

    Raises:
        ArgumentError: `axis` is neither −1 nor −2.
        ShapeError: `x` has fewer than two axes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sobel(np.asarray([[0.0, 1.0, 2.0]] * 3))
        array([[0., 8., 0.],
               [0., 8., 0.],
               [0., 8., 0.]])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.sobel.html
        https://www.tensorflow.org/api_docs/python/tf/image/sobel_edges
    """
    check_pad_mode(mode, "sobel")
    _check_image("sobel", x)
    if axis not in (-1, -2):
        raise ArgumentError(f"sobel: axis: got {axis!r}, expected -1 (width) or -2 (height)")
    slope, smooth = [-1.0, 0.0, 1.0], [1.0, 2.0, 1.0]
    return _separable(x, [smooth, slope] if axis == -1 else [slope, smooth], mode)


@op
def median_filter(x: Array, /, *, size: int | Sequence[int] = 3, mode: str = "reflect") -> Array:
    """The median of the neighbours of each element.

    Args:
        x: `(*batch, height, width)`, real.
        size: the odd number of neighbours along each axis, or one for each of height and width.
        mode: the padding, as in `pad`; SciPy's ``"reflect"`` is ``"symmetric"`` here.

    Returns:
        array of the shape and dtype of `x`.

    Raises:
        ArgumentError: `size` is not odd.
        ShapeError: `x` has fewer than two axes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.median_filter(np.asarray([[1, 1, 9, 1, 1]] * 3))
        array([[1, 1, 1, 1, 1],
               [1, 1, 1, 1, 1],
               [1, 1, 1, 1, 1]])

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.median_filter.html
    """
    check_pad_mode(mode, "median_filter")
    _check_image("median_filter", x)
    height, width = _pair("median_filter", "size", "int", size)
    for n in (height, width):
        _check_odd("median_filter", "size", n)
    padded = _padded(x, height // 2, width // 2, mode)
    rows = [_shifted(padded, i, height, -2) for i in range(height)]
    neighbours = [_shifted(row, i, width, -1) for row in rows for i in range(width)]
    return ops.sort(ops.stack(neighbours), axis=0)[len(neighbours) // 2]


@floating_op
def ssim(
    x1: Array,
    x2: Array,
    /,
    *,
    max_value: float = 1.0,
    kernel_size: int = 11,
    sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Array:
    """The structural similarity of two images; 1 for equal images.

    The mean over windows and channels of

    (2 μ₁ μ₂ + c₁) (2 σ₁₂ + c₂) / ((μ₁² + μ₂² + c₁) (σ₁² + σ₂² + c₂)), cᵢ = (kᵢ · max_value)²,

    with the means, variances and covariance of a window of normal weights. Windows lie inside the
    image.

    Args:
        x1, x2: `(*batch, channels, height, width)`, floating.
        max_value: the difference between the largest and the smallest possible element.
        kernel_size: the odd size of the windows.
        sigma: the standard deviation of their weights, in elements.
        k1, k2: the constants.

    Returns:
        array of shape `(*batch,)`.

    Raises:
        ArgumentError: `kernel_size` is not odd, or `sigma` or `max_value` not positive.
        ShapeError: the images have fewer than three axes, differ in shape, or are smaller than a
            window.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.random.default_rng(0).random((3, 16, 16))
        >>> round(float(na.ssim(x, x)), 4), float(na.ssim(x, 1 - x)) < 0
        (1.0, True)

    References:
        Wang, Bovik, Sheikh and Simoncelli, Image quality assessment: from error visibility to
        structural similarity. IEEE Transactions on Image Processing, 2004.
        https://www.tensorflow.org/api_docs/python/tf/image/ssim
    """
    check_range("ssim", "max_value", max_value, 0, above=True)
    check_kind("ssim", "kernel_size", "int", kernel_size)
    if len(x1.shape) < 3 or tuple(x1.shape) != tuple(x2.shape):
        raise ShapeError(
            f"ssim: got shapes {tuple(x1.shape)} and {tuple(x2.shape)}, expected two equal ones "
            "(*batch, channels, height, width)"
        )
    if any(n is not None and n < kernel_size for n in x1.shape[-2:]):
        raise ShapeError(
            f"ssim: x1 has shape {tuple(x1.shape)}, which is smaller than a window of {kernel_size}"
        )
    kernels = [_gaussian("ssim", sigma, kernel_size)] * 2
    x1, x2, narrow = _wide(x1), _wide(x2), dtypes.dtype_of(x1)
    c1, c2 = (k1 * max_value) ** 2, (k2 * max_value) ** 2
    mean1, mean2 = _weighted(x1, kernels), _weighted(x2, kernels)
    product, squares = mean1 * mean2, mean1 * mean1 + mean2 * mean2
    covariance = _weighted(x1 * x2, kernels) - product
    variances = _weighted(x1 * x1 + x2 * x2, kernels) - squares
    alike = (2 * product + c1) * (2 * covariance + c2)
    found = alike / ((squares + c1) * (variances + c2))
    return ops.astype(ops.mean(found, axis=(-3, -2, -1)), narrow, copy=False)


def _separable(x: Array, kernels: Sequence[Sequence[float]], mode: str) -> Array:
    """The image filtered by one kernel along its height and one along its width."""
    height, width = [len(kernel) // 2 for kernel in kernels]
    found = _weighted(_wide(_padded(x, height, width, mode)), kernels)
    return ops.astype(found, dtypes.dtype_of(x), copy=False)


def _wide(x: Array) -> Array:
    """Half precision as float32, so that a sum is rounded once."""
    return ops.astype(x, dtypes.float32) if dtypes.dtype_of(x).bits == 16 else x


def _weighted(x: Array, kernels: Sequence[Sequence[float]]) -> Array:
    """The weighted sums of windows inside the image."""
    for axis, kernel in zip((-2, -1), kernels):
        parts = [
            _shifted(x, i, len(kernel), axis) * weight for i, weight in enumerate(kernel) if weight
        ]
        x = sum(parts[1:], parts[0])
    return x


def _shifted(x: Array, start: int, size: int, axis: int) -> Array:
    """The element number `start` of each window of `size` elements along an axis."""
    chosen = slice(start, start - size + 1 or None)
    return x[(..., chosen, slice(None)) if axis == -2 else (..., chosen)]


def _padded(x: Array, height: int, width: int, mode: str) -> Array:
    sides = [(0, 0)] * (len(x.shape) - 2) + [(height, height), (width, width)]
    return ops.pad(x, sides, mode=mode)


def _gaussian(name: str, sigma: float, size: int | None) -> list[float]:
    """The weights exp(−d² / 2σ²), normalized."""
    check_range(name, "sigma", sigma, 0, above=True)
    if size is None:
        size = 2 * int(4 * sigma + 0.5) + 1
    _check_odd(name, "kernel_size", size)
    weights = [math.exp(-0.5 * ((i - size // 2) / sigma) ** 2) for i in range(size)]
    return [weight / sum(weights) for weight in weights]


def _pair(name: str, parameter: str, kind: str, value: Any) -> tuple[Any, Any]:
    """A setting for height and width."""
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    for each in pair:
        check_kind(name, parameter, kind, each)
    if len(pair) != 2:
        raise ArgumentError(f"{name}: {parameter}: got {value!r}, expected one or two numbers")
    return pair


def _check_odd(name: str, parameter: str, size: int) -> None:
    if size < 1 or size % 2 == 0:
        raise ArgumentError(f"{name}: {parameter}: got {size}, expected an odd positive number")


def _check_image(name: str, x: Array) -> None:
    if len(x.shape) < 2:
        raise ShapeError(f"{name}: x has shape {tuple(x.shape)}, expected (*batch, height, width)")

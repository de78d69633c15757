"""Distances of images, and edges.

Upstream: https://www.tensorflow.org/api_docs/python/tf/image/ssim
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.tensorflow.conversion import floating, integers, tensor
from nestarray.frontends.tensorflow.data_type import cast
from nestarray.frontends.tensorflow.image.colors import convert_image_dtype
from nestarray.typing import Array

__all__ = ["psnr", "sobel_edges", "ssim", "ssim_multiscale"]

_POWER_FACTORS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _pair(name: str, a: Any, b: Any, max_val: Any) -> tuple[Array, Array, Array]:
    """Two images and the range of their values, in float32."""
    a = tensor(a)
    b, dtype = tensor(b, like=a), dtypes.dtype_of(a)
    if na.shape(a)[-3:] != na.shape(b)[-3:] or len(na.shape(a)) < 3:
        raise ShapeError(
            f"{name}: got images of the shapes {tuple(na.shape(a))} and {tuple(na.shape(b))}, "
            "expected (*batch, height, width, channels) twice"
        )
    limit = cast(tensor(max_val, like=a), dtype)
    first, second, limit = [convert_image_dtype(x, dtypes.float32) for x in (a, b, limit)]
    return first, second, limit


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Array:
    """The ratio of peak signal to noise in decibels: 20 log₁₀(max_val) − 10 log₁₀(mean square)."""
    a, b, limit = _pair("psnr", a, b, max_val)
    error = na.mean(na.square(na.subtract(a, b)), axis=(-3, -2, -1))
    peak = na.multiply(na.log(limit), 20 / math.log(10))
    return na.subtract(peak, na.multiply(na.log(error), 10 / math.log(10)))


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Array:
    """The structural similarity of images, `(*batch,)`, or of each neighbourhood.

    Args:
        img1, img2: `(*batch, height, width, channels)`.
        max_val: the range of values.
        filter_size, filter_sigma: of the Gaussian window.
        k1, k2: constants against division by 0.
        return_index_map: return the similarity of each neighbourhood.
    """
    first, second, limit = _pair("ssim", img1, img2, max_val)
    luminance, contrast = _terms(first, second, limit, filter_size, filter_sigma, k1, k2)
    found = na.mean(na.multiply(luminance, contrast), axis=-1)
    return found if return_index_map else na.mean(found, axis=(-2, -1))


def _terms(
    x: Array, y: Array, limit: Array, size: Any, sigma: Any, k1: float, k2: float
) -> tuple[Array, Array]:
    """The luminance, and contrast times structure, of each neighbourhood."""
    size = integers(size)
    if min(na.shape(x)[-3:-1]) < size:
        raise ShapeError(
            f"ssim: filter_size: got {size} for images of the size {tuple(na.shape(x)[-3:-1])}, "
            "expected at most the size"
        )
    coordinates = na.subtract(na.arange(size, dtype=dtypes.float32, like=x), (size - 1) / 2)
    bell = na.softmax(na.multiply(na.square(coordinates), -0.5 / float(sigma) ** 2))
    kernel = na.outer(bell, bell)
    c1, c2 = [na.square(na.multiply(limit, k)) for k in (k1, k2)]
    mean_x, mean_y = _filtered(x, kernel), _filtered(y, kernel)
    product = na.multiply(na.multiply(mean_x, mean_y), 2)
    squares = na.add(na.square(mean_x), na.square(mean_y))
    luminance = na.divide(na.add(product, c1), na.add(squares, c1))
    covariance = na.multiply(_filtered(na.multiply(x, y), kernel), 2)
    variance = _filtered(na.add(na.square(x), na.square(y)), kernel)
    contrast = na.divide(
        na.add(na.subtract(covariance, product), c2), na.add(na.subtract(variance, squares), c2)
    )
    return luminance, contrast


def _filtered(x: Array, *kernels: Array) -> Array:
    """The correlation of each channel with kernels `(rows, columns)`; several are a last axis."""
    *batch, height, width, channels = na.shape(x)
    planes = na.reshape(na.moveaxis(x, -1, -3), (-1, 1, height, width))
    found = na.conv2d(planes, na.expand_dims(na.stack(list(kernels)), 1))
    count, (rows, columns) = len(kernels), na.shape(found)[-2:]
    found = na.reshape(found, (*batch, channels, count, rows, columns))
    found = na.moveaxis(found, (-2, -1), (-4, -3))
    return found if count > 1 else na.squeeze(found, axis=-1)


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Sequence[float] = _POWER_FACTORS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Array:
    """The structural similarity on scales that halve, a product of powers.

    References:
        Wang, Simoncelli and Bovik, Multiscale structural similarity for image quality assessment.
        2003. https://doi.org/10.1109/ACSSC.2003.1292216
    """
    first, second, limit = _pair("ssim_multiscale", img1, img2, max_val)
    terms = []
    for i, power in enumerate(power_factors):
        if i:
            first, second = _halved(first), _halved(second)
        luminance, contrast = _terms(first, second, limit, filter_size, filter_sigma, k1, k2)
        is_last = i == len(power_factors) - 1
        term = na.multiply(luminance, contrast) if is_last else contrast
        terms.append(na.pow(na.relu(na.mean(term, axis=(-3, -2))), power))
    return na.mean(na.prod(na.stack(terms, axis=-1), axis=-1), axis=-1)


def _halved(x: Array) -> Array:
    """The means of blocks of 2 × 2; an odd last row or column is repeated."""
    *batch, height, width, channels = na.shape(x)
    widths = [(0, 0)] * len(batch) + [(0, height % 2), (0, width % 2), (0, 0)]
    x = na.pad(x, widths, mode="symmetric")
    rows, columns = (height + 1) // 2, (width + 1) // 2
    return na.mean(na.reshape(x, (*batch, rows, 2, columns, 2, channels)), axis=(-4, -2))


def sobel_edges(image: Any) -> Array:
    """The derivatives by row and by column, a new last axis: `(batch, height, width, channels, 2)`."""
    x = floating("sobel_edges", image)
    by_row = [[-1.0, -2.0, -1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 1.0]]
    kernel = na.asarray(by_row, dtype=dtypes.dtype_of(x), like=x)
    x = na.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)], mode="reflect")
    return _filtered(x, kernel, na.matrix_transpose(kernel))

"""Cases of `nestarray.ops.image_filters`; the oracles are SciPy and TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.ndimage

from tests.cases import Case

Rng = np.random.Generator
Draw = Callable[[Rng], tuple[Any, ...]]

#: Mode of ours → of SciPy.
MODES = {
    "reflect": "mirror",
    "symmetric": "reflect",
    "edge": "nearest",
    "wrap": "wrap",
    "constant": "constant",
}


def draw(*shape: int) -> Draw:
    return lambda rng: (rng.normal(size=shape),)


def images(*shape: int) -> Draw:
    """An image, and the same with noise."""

    def drawn(rng: Rng) -> tuple[Any, ...]:
        x = rng.random(shape)
        return x, np.clip(x + 0.2 * rng.normal(size=shape), 0, 1)

    return drawn


def blurred(x: Any, *, sigma: Any = 1.0, kernel_size: Any = None, mode: str = "reflect") -> Any:
    pair = np.broadcast_to(sigma, 2)
    radius = None if kernel_size is None else [int(n) // 2 for n in np.broadcast_to(kernel_size, 2)]
    return scipy.ndimage.gaussian_filter(x, pair, axes=(-2, -1), mode=MODES[mode], radius=radius)


def edges(x: Any, *, axis: int = -1, mode: str = "reflect") -> Any:
    apart = x.reshape(-1, *x.shape[-2:])
    found = [scipy.ndimage.sobel(each, axis=axis, mode=MODES[mode]) for each in apart]
    return np.stack(found).reshape(x.shape)


def tensorflow_edges(x: Any, *, axis: int) -> Any:
    import tensorflow as tf  # here, since it takes seconds

    found = tf.image.sobel_edges(tf.constant(np.moveaxis(x, 1, -1))).numpy()
    return np.moveaxis(found[..., axis], -1, 1)


def medians(x: Any, *, size: Any = 3, mode: str = "reflect") -> Any:
    return scipy.ndimage.median_filter(x, size, axes=(-2, -1), mode=MODES[mode])


def similarity(
    x1: Any, x2: Any, *, max_value: float = 1.0, kernel_size: int = 11, sigma: float = 1.5
) -> Any:
    """By the formula, with SciPy's windows."""
    radius = kernel_size // 2
    inside = (..., slice(radius, -radius), slice(radius, -radius))

    def mean(x: Any) -> Any:
        return scipy.ndimage.gaussian_filter(x, sigma, axes=(-2, -1), radius=radius)[inside]

    c1, c2 = (0.01 * max_value) ** 2, (0.03 * max_value) ** 2
    mean1, mean2 = mean(x1), mean(x2)
    var1, var2 = mean(x1 * x1) - mean1**2, mean(x2 * x2) - mean2**2
    covariance = mean(x1 * x2) - mean1 * mean2
    luminance = (2 * mean1 * mean2 + c1) / (mean1**2 + mean2**2 + c1)
    contrast = (2 * covariance + c2) / (var1 + var2 + c2)
    return (luminance * contrast).mean(axis=(-3, -2, -1))


def tensorflow_similarity(x1: Any, x2: Any) -> Any:
    import tensorflow as tf

    return tf.image.ssim(*[tf.constant(np.moveaxis(x, -3, -1)) for x in (x1, x2)], 1.0).numpy()


CASES = [
    Case("gaussian_blur", draw(2, 3, 7, 6), reference=blurred),
    Case("gaussian_blur", draw(5, 6), {"sigma": (0.7, 1.6)}, blurred, id="pair"),
    Case("gaussian_blur", draw(2, 5, 6), {"kernel_size": (3, 5), "sigma": 2.0}, blurred, id="size"),
    *(
        Case("gaussian_blur", draw(3, 4), {"mode": mode}, blurred, id=mode)
        for mode in ("constant", "edge", "symmetric", "wrap")
    ),
    Case("sobel", draw(2, 5, 4), reference=edges),
    Case("sobel", draw(5, 4), {"axis": -2, "mode": "symmetric"}, edges, id="vertical"),
    *(
        Case("sobel", draw(2, 3, 5, 4), {"axis": axis}, tensorflow_edges, id=f"tf-{-axis}")
        for axis in (-1, -2)
    ),
    Case("median_filter", draw(2, 5, 6), reference=medians),
    Case("median_filter", draw(5, 6), {"size": (5, 1), "mode": "edge"}, medians, id="pair"),
    Case(
        "median_filter",
        lambda rng: (rng.integers(0, 255, (2, 6, 5), dtype="uint8"),),
        reference=medians,
        differentiable=False,
        id="uint8",
    ),
    Case("ssim", images(2, 3, 13, 12), reference=similarity),
    # TensorFlow computes in float32
    Case("ssim", images(2, 3, 13, 12), reference=tensorflow_similarity, dtypes=("float32",), id="tf"),
    Case("ssim", images(2, 2, 1, 6, 7), {"kernel_size": 5, "max_value": 2.0}, similarity, id="small"),
    Case("ssim", images(1, 8, 8), {"kernel_size": 7, "sigma": 0.8}, similarity, id="one"),
]  # fmt: skip

"""Cases of `nestarray.ops.colors`; the oracles are matplotlib and TensorFlow."""

from __future__ import annotations

from typing import Any

import matplotlib.colors
import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def colors(rng: Rng) -> tuple[Any, ...]:
    """Each colour has its channels well apart, so that a small step does not change their order."""
    base = np.asarray([0.1, 0.45, 0.85])
    return (np.stack([rng.permutation(base) for _ in range(8)], axis=-1).reshape(3, 2, 4),)


def degenerate(rng: Rng) -> tuple[Any, ...]:
    return (np.asarray([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0]]),)


def hues(rng: Rng) -> tuple[Any, ...]:
    """None at a multiple of 1/6, where the derivative jumps."""
    hue = (rng.permutation(6) + rng.uniform(0.2, 0.8, 6)) / 6
    return (np.stack([hue, rng.uniform(0.2, 0.9, 6), rng.uniform(0.2, 0.9, 6)]).reshape(3, 2, 3),)


def by_matplotlib(function: Any) -> Any:
    def reference(x: Any, *, axis: int = -3) -> Any:
        return np.moveaxis(function(np.moveaxis(x, axis, -1)), -1, axis)

    return reference


def grayscale(x: Any, *, axis: int = -3) -> Any:
    import tensorflow as tf  # here, since it takes seconds

    gray = tf.image.rgb_to_grayscale(np.moveaxis(x, axis, -1)).numpy()
    return np.moveaxis(gray, -1, axis)


TO_HSV = by_matplotlib(matplotlib.colors.rgb_to_hsv)
TO_RGB = by_matplotlib(matplotlib.colors.hsv_to_rgb)

#: TensorFlow computes in float32.
SINGLE: dict[str, Any] = {"dtypes": ("float32",)}

CASES = [
    Case("rgb_to_grayscale", colors, reference=grayscale, **SINGLE),
    Case("rgb_to_grayscale", degenerate, {"axis": -1}, grayscale, **SINGLE, id="axis"),
    Case("rgb_to_hsv", colors, reference=TO_HSV),
    Case("rgb_to_hsv", degenerate, {"axis": -1}, TO_HSV, differentiable=False, id="degenerate"),
    Case("hsv_to_rgb", hues, reference=TO_RGB),
    Case("hsv_to_rgb", lambda rng: (hues(rng)[0].T,), {"axis": -1}, TO_RGB, id="axis"),
]

"""Images under projective maps.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/ImageProjectiveTransformV3
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray.frontends.tensorflow.projective import project
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = ["ImageProjectiveTransformV2", "ImageProjectiveTransformV3"]


def ImageProjectiveTransformV2(
    images: Array,
    transforms: Array,
    output_shape: Ints,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Array:
    """`ImageProjectiveTransformV3` with zeros outside of the images."""
    return ImageProjectiveTransformV3(
        images, transforms, output_shape, 0.0, interpolation, fill_mode
    )


def ImageProjectiveTransformV3(
    images: Array,
    transforms: Array,
    output_shape: Ints,
    fill_value: Any,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Array:
    """The images at ((a x + b y + c) / k, (d x + e y + f) / k), with k = g x + h y + 1."""
    height, width = (int(n) for n in (output_shape[0], output_shape[1]))  # type: ignore[index]
    fill = (
        na.astype(fill_value, na.dtype_of(images)) if hasattr(fill_value, "dtype") else fill_value
    )
    return project(images, transforms, (height, width), fill, interpolation, fill_mode)

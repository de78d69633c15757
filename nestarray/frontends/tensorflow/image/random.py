"""Random changes of images: of a seed with upstream's bits, and of a key.

Upstream: https://www.tensorflow.org/api_docs/python/tf/image/stateless_random_flip_left_right
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.conversion import integers, tensor
from nestarray.frontends.tensorflow.image import colors
from nestarray.frontends.tensorflow.image.geometry import image_tensor
from nestarray.frontends.tensorflow.random import stateless_uniform, uniform
from nestarray.frontends.tensorflow.random.streams import beside
from nestarray.typing import Array

__all__ = [
    "random_brightness", "random_contrast", "random_crop", "random_flip_left_right",
    "random_flip_up_down", "random_hue", "random_saturation", "stateless_random_brightness",
    "stateless_random_contrast", "stateless_random_crop", "stateless_random_flip_left_right",
    "stateless_random_flip_up_down", "stateless_random_hue", "stateless_random_saturation",
]  # fmt: skip

#: (shape, minval, maxval, dtype) → random numbers.
_Draw = Callable[..., Array]


def _of_seed(seed: Any, image: Any) -> _Draw:
    seed = beside(seed, image)
    return lambda shape, low, high, dtype=dtypes.float32: stateless_uniform(
        shape, seed, low, high, dtype
    )


def _of_key(key: Array | None) -> _Draw:
    return lambda shape, low, high, dtype=dtypes.float32: uniform(shape, low, high, dtype, key=key)


def _check_delta(name: str, delta: float, largest: float) -> None:
    if not 0 <= delta <= largest:
        raise ArgumentError(f"{name}: max_delta: got {delta}, expected 0 to {largest}")


def _check_range(name: str, lower: float, upper: float) -> None:
    if not 0 <= lower < upper:
        raise ArgumentError(
            f"{name}: lower, upper: got {lower} and {upper}, expected 0 ≤ lower < upper"
        )


# -- flips and crops -------------------------------------------------------------------------------


def _flipped(name: str, image: Any, axis: int, draw: _Draw) -> Array:
    """Each image flipped or not: one where the number is below ½, of a batch where it is above."""
    image = image_tensor(name, image)
    mirrored = na.flip(image, axis=axis)
    if len(na.shape(image)) == 3:
        return na.where(na.less(draw((), 0, 1.0), 0.5), mirrored, image)
    drawn = draw((na.shape(image)[0],), 0, 1.0)
    return na.where(na.reshape(na.greater(drawn, 0.5), (-1, 1, 1, 1)), mirrored, image)


def stateless_random_flip_left_right(image: Any, seed: Any) -> Array:
    """The columns of each image in reverse order with probability ½."""
    return _flipped("stateless_random_flip_left_right", image, -2, _of_seed(seed, image))


def random_flip_left_right(image: Any, seed: Any = None, *, key: Array | None = None) -> Array:
    """The columns of each image in reverse order with probability ½."""
    return _flipped("random_flip_left_right", image, -2, _of_key(key))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Array:
    """The rows of each image in reverse order with probability ½."""
    return _flipped("stateless_random_flip_up_down", image, -3, _of_seed(seed, image))


def random_flip_up_down(image: Any, seed: Any = None, *, key: Array | None = None) -> Array:
    """The rows of each image in reverse order with probability ½."""
    return _flipped("random_flip_up_down", image, -3, _of_key(key))


def _cropped(value: Any, size: Any, draw: _Draw) -> Array:
    value, sizes = tensor(value), integers(size)
    shape = na.shape(value)
    if len(sizes) != len(shape) or any(n > old for n, old in zip(sizes, shape, strict=False)):
        raise ArgumentError(f"random_crop: size: got {sizes}, expected at most {tuple(shape)}")
    drawn = draw((len(sizes),), 0, dtypes.iinfo(dtypes.int32).max, dtypes.int32)
    for axis, (n, old) in enumerate(zip(sizes, shape, strict=True)):
        start = na.remainder(na.take(drawn, axis, axis=0), old - n + 1)
        places = na.arange(n, dtype=dtypes.int32, like=drawn)
        value = na.take(value, na.asarray(na.add(places, start), like=value), axis=axis)
    return value


def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Array:
    """A part of `value` of a size, at a random place."""
    return _cropped(value, size, _of_seed(seed, value))


def random_crop(
    value: Any,
    size: Any,
    seed: Any = None,
    name: str | None = None,
    *,
    key: Array | None = None,
) -> Array:
    """A part of `value` of a size, at a random place."""
    return _cropped(value, size, _of_key(key))


# -- colours ---------------------------------------------------------------------------------------


def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Array:
    """`adjust_brightness` by a number from −max_delta to max_delta."""
    _check_delta("stateless_random_brightness", max_delta, float("inf"))
    return colors.adjust_brightness(image, _of_seed(seed, image)((), -max_delta, max_delta))


def random_brightness(
    image: Any, max_delta: float, seed: Any = None, *, key: Array | None = None
) -> Array:
    """`adjust_brightness` by a number from −max_delta to max_delta."""
    _check_delta("random_brightness", max_delta, float("inf"))
    return colors.adjust_brightness(image, _of_key(key)((), -max_delta, max_delta))


def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Array:
    """`adjust_contrast` by a factor from lower to upper."""
    _check_range("stateless_random_contrast", lower, upper)
    return colors.adjust_contrast(image, _of_seed(seed, image)((), lower, upper))


def random_contrast(
    image: Any, lower: float, upper: float, seed: Any = None, *, key: Array | None = None
) -> Array:
    """`adjust_contrast` by a factor from lower to upper."""
    _check_range("random_contrast", lower, upper)
    return colors.adjust_contrast(image, _of_key(key)((), lower, upper))


def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Array:
    """`adjust_hue` by a number from −max_delta to max_delta."""
    _check_delta("stateless_random_hue", max_delta, 0.5)
    return colors.adjust_hue(image, _of_seed(seed, image)((), -max_delta, max_delta))


def random_hue(
    image: Any, max_delta: float, seed: Any = None, *, key: Array | None = None
) -> Array:
    """`adjust_hue` by a number from −max_delta to max_delta."""
    _check_delta("random_hue", max_delta, 0.5)
    return colors.adjust_hue(image, _of_key(key)((), -max_delta, max_delta))


def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Array:
    """`adjust_saturation` by a factor from lower to upper."""
    _check_range("stateless_random_saturation", lower, upper)
    return colors.adjust_saturation(image, _of_seed(seed, image)((), lower, upper))


def random_saturation(
    image: Any, lower: float, upper: float, seed: Any = None, *, key: Array | None = None
) -> Array:
    """`adjust_saturation` by a factor from lower to upper."""
    _check_range("random_saturation", lower, upper)
    return colors.adjust_saturation(image, _of_key(key)((), lower, upper))

"""Dropout, https://docs.pytorch.org/docs/stable/nn.functional.html#dropout-functions.

Random numbers come from `key`, the one parameter that upstream does not have.
"""

from __future__ import annotations

from collections.abc import Sequence

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of
from nestarray.frontends.torch.sampling import required_key
from nestarray.typing import Array

__all__ = [
    "alpha_dropout", "dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout",
    "feature_dropout",
]  # fmt: skip


def dropout(
    input: Array,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Array | None = None,
) -> Array:
    """In training, elements are 0 with probability p, the others scaled by 1 / (1 − p)."""
    return _dropped("dropout", input, p, training, na.shape(input), key)


def dropout1d(
    input: Array,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Array | None = None,
) -> Array:
    """`dropout` of whole channels of `(n, c, l)` or `(c, l)`."""
    return _dropped("dropout1d", input, p, training, _channels(input, 1), key)


def dropout2d(
    input: Array,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Array | None = None,
) -> Array:
    """`dropout` of whole channels of `(n, c, h, w)`; dimension 1 is the channels."""
    return _dropped("dropout2d", input, p, training, _feature_shape(input), key)


def dropout3d(
    input: Array,
    p: float = 0.5,
    training: bool = True,
    inplace: bool = False,
    *,
    key: Array | None = None,
) -> Array:
    """`dropout` of whole channels of `(n, c, d, h, w)`; dimension 1 is the channels."""
    return _dropped("dropout3d", input, p, training, _feature_shape(input), key)


def feature_dropout(input: Array, p: float, train: bool, *, key: Array | None = None) -> Array:
    """torch.feature_dropout: `dropout` of whole channels, dimension 1."""
    return _dropped("feature_dropout", input, p, train, _feature_shape(input), key)


def alpha_dropout(
    input: Array,
    p: float = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    key: Array | None = None,
) -> Array:
    """Dropout that preserves mean and variance after `selu`."""
    return _saturated("alpha_dropout", input, p, training, na.shape(input), key)


def _drops(name: str, p: float, training: bool) -> bool:
    """Whether anything is dropped."""
    if not 0 <= p <= 1:
        raise ArgumentError(f"{name}: p: got {p}, expected a probability")
    return training and p != 0


def _saturated(
    name: str, x: Array, p: float, training: bool, shape: Sequence[int], key: Array | None
) -> Array:
    """Set dropped elements to the limit of selu at −∞."""
    if not _drops(name, p, training):
        return x
    keep = keep_mask(name, key, p, shape)
    saturated = -1.7580993408473766
    scale = (1 - p + (1 - p) * p * saturated**2) ** -0.5 if p < 1 else 0.0
    low = na.full_like(x, saturated)
    return na.add(na.multiply(na.where(keep, x, low), scale), -scale * p * saturated)


def feature_alpha_dropout(
    input: Array,
    p: float = 0.5,
    training: bool = False,
    inplace: bool = False,
    *,
    key: Array | None = None,
) -> Array:
    """`alpha_dropout` of whole channels; dimension 1 is the channels."""
    return _saturated("feature_alpha_dropout", input, p, training, _feature_shape(input), key)


def keep_mask(name: str, key: Array | None, p: float, shape: Sequence[int]) -> Array:
    """The mask of kept elements: true with probability 1 − p."""
    return na.random.bernoulli(required_key(name, key), 1.0 - p, tuple(shape))


def _dropped(
    name: str,
    x: Array,
    p: float,
    training: bool,
    shape: Sequence[int],
    key: Array | None,
) -> Array:
    if not _drops(name, p, training):
        return x
    if p == 1:
        return na.zeros_like(x)
    keep = na.astype(keep_mask(name, key, p, shape), dtypes.dtype_of(x))
    return na.multiply(x, na.multiply(keep, 1.0 / (1.0 - p)))


def _channels(x: Array, spatial: int) -> tuple[int, ...]:
    kept = ndim_of(x) - spatial
    return na.shape(x)[:kept] + (1,) * spatial


def _feature_shape(x: Array) -> tuple[int, ...]:
    return na.shape(x)[:2] + (1,) * (ndim_of(x) - 2)

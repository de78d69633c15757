"""Cosine transforms.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.fft
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.promotion import axes_of, inexact
from nestarray.typing import Array

__all__ = ["dct", "dctn", "idct", "idctn"]


def dct(
    x: Array, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The cosine transform of type 2."""
    return _transformed(na.dct, x, type, n, axis, norm)


def idct(
    x: Array, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of `dct`."""
    return _transformed(na.idct, x, type, n, axis, norm)


def dctn(
    x: Array,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The cosine transform along axes."""
    return _along(dct, x, type, s, axes, norm)


def idctn(
    x: Array,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of `dctn`."""
    return _along(idct, x, type, s, axes, norm)


def _transformed(
    function: Callable[..., Array], x: Any, kind: int, n: int | None, axis: int, norm: str | None
) -> Array:
    if kind != 2:
        raise ArgumentError(f"dct, idct: type: got {kind}, expected 2, as upstream")
    return function(inexact(x), kind=2, n=n, axis=axis, norm=norm or "backward")


def _along(
    function: Callable[..., Array],
    x: Any,
    kind: int,
    s: Sequence[int] | None,
    axes: Sequence[int] | None,
    norm: str | None,
) -> Array:
    places = axes_of(axes, len(na.shape(x)))
    sizes: Sequence[int | None] = [None] * len(places) if s is None else s
    for axis, size in zip(places, sizes, strict=True):
        x = function(x, kind, size, axis, norm)
    return x

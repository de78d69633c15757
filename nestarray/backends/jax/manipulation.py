"""JAX: `nestarray.ops.manipulation`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from nestarray.backends.base import lengths, supports
from nestarray.backends.jax.compiled import compiled
from nestarray.backends.jax.promotion import promoted
from nestarray.numerics.axes import check_repeats, moved_axes, one_axis, pad_widths, part_sizes
from nestarray.numerics.fills import check_fill

broadcast_to = jnp.broadcast_to
expand_dims = jnp.expand_dims
roll = jnp.roll
swapaxes = jnp.swapaxes
tile = jnp.tile


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.moveaxis.html, which accepts repeated
    axes."""
    return jnp.transpose(x, moved_axes(source, destination, x.ndim, "moveaxis"))


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.flip.html"""
    return jnp.flip(x, axis=axis)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.permute_dims.html"""
    return jnp.transpose(x, (*axes,))  # None would reverse the axes


@supports(
    lambda x, *_, total_repeat_length=None, **_settings: total_repeat_length is None or x.size
)  # JAX does not check this
def repeat(
    x: Any, repeats: Any, /, *, axis: Any = None, total_repeat_length: int | None = None
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.repeat.html"""
    if axis is not None:
        one_axis(axis, x.ndim, "repeat")  # JAX accepts axis 0 of a 0-d array
    check_repeats(repeats)
    return jnp.repeat(x, repeats, axis, total_repeat_length=total_repeat_length)


def squeeze(x: Any, /, axis: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.squeeze.html"""
    return jnp.squeeze(x, tuple(axis) if isinstance(axis, list) else axis)


def reshape(x: Any, /, shape: Any, *, order: Any = "C", copy: bool | None = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.reshape.html"""
    return jnp.reshape(x, lengths(shape), order=order)


def concat(arrays: Any, /, *, axis: Any = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.concatenate.html"""
    return jnp.concatenate(promoted(arrays), axis=axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.stack.html"""
    return jnp.stack(promoted(arrays), axis=axis)


@compiled
def unstack(x: Any, /, *, axis: int = 0) -> tuple[Any, ...]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.unstack.html"""
    return tuple(jnp.moveaxis(x, axis, 0))


def split(x: Any, /, sizes: Any, *, axis: int = 0) -> tuple[Any, ...]:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.split.html"""
    cuts, end = [], 0
    for size in part_sizes(sizes, x.shape[axis], "split")[:-1]:
        cuts.append(end := end + size)
    return tuple(jnp.split(x, cuts, axis=axis))


def pad(x: Any, /, pad_width: Any, *, mode: str = "constant", constant_values: complex = 0) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.pad.html"""
    check_fill("pad", "constant_values", constant_values, x.dtype)
    settings = {"constant_values": constant_values} if mode == "constant" else {}
    return jnp.pad(x, pad_widths(pad_width, x.ndim, "pad"), mode, **settings)


@compiled
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.numpy.diff.html"""
    return jnp.diff(x, n=n, axis=axis, prepend=prepend, append=append)

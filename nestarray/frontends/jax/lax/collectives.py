"""Collectives over the axis of a `vmap` with a name.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html#parallel-operators. An axis of a mesh of
devices has no counterpart here. ``axis_index_groups`` is None, as upstream requires of `vmap`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import tree
from nestarray.errors import ArgumentError, UnsupportedError
from nestarray.typing import Array, Nest

__all__ = [
    "all_gather", "all_to_all", "axis_index", "axis_size", "pbroadcast", "pcast", "pmax", "pmean",
    "pmin", "ppermute", "pshuffle", "psum", "psum_scatter", "pswapaxes",
]  # fmt: skip

Groups = Sequence[Sequence[int]] | None


def psum(x: Nest, axis_name: str, *, axis_index_groups: Groups = None) -> Nest:
    """The sum over a mapped axis."""
    _refuse("psum", axis_index_groups)
    return na.psum(x, axis_name)


def pmean(x: Nest, axis_name: str, *, axis_index_groups: Groups = None) -> Nest:
    """The mean over a mapped axis."""
    _refuse("pmean", axis_index_groups)
    return na.pmean(x, axis_name)


def pmax(x: Nest, axis_name: str, *, axis_index_groups: Groups = None) -> Nest:
    """The maximum over a mapped axis."""
    _refuse("pmax", axis_index_groups)
    return na.pmax(x, axis_name)


def pmin(x: Nest, axis_name: str, *, axis_index_groups: Groups = None) -> Nest:
    """The minimum over a mapped axis."""
    _refuse("pmin", axis_index_groups)
    return na.pmin(x, axis_name)


def all_gather(
    x: Nest,
    axis_name: str,
    *,
    axis_index_groups: Groups = None,
    axis: int = 0,
    tiled: bool = False,
    to: str = "varying",
) -> Nest:
    """The values of all members of a mapped axis."""
    _refuse("all_gather", axis_index_groups)
    return na.all_gather(x, axis_name, axis=axis, tiled=tiled)


def axis_index(axis_name: str) -> Array:
    """The position along a mapped axis."""
    return na.axis_index(axis_name)


def axis_size(axis_name: str) -> int:
    """The length of a mapped axis."""
    return na.axis_size(axis_name)


def ppermute(x: Nest, axis_name: str, perm: Sequence[tuple[int, int]]) -> Nest:
    """The value of the member i for each member j of pairs (i, j), and zeros for the others."""
    sources = [-1] * na.axis_size(axis_name)
    for source, target in perm:
        sources[target] = source
    place = na.axis_index(axis_name)

    def received(whole: Array) -> Array:
        source = na.take(na.asarray(sources, like=whole), place, axis=0)
        value = na.take(whole, na.maximum(source, 0), axis=0)
        return na.where(na.less(source, 0), na.zeros_like(value), value)

    return tree.map(received, na.all_gather(x, axis_name))


def pshuffle(x: Nest, axis_name: str, perm: Sequence[int]) -> Nest:
    """The value of the member ``perm[i]`` for each member i."""
    if sorted(perm) != list(range(na.axis_size(axis_name))):
        raise ArgumentError(
            f"pshuffle: perm: got {list(perm)}, expected each of the {na.axis_size(axis_name)} "
            "members once"
        )
    return ppermute(x, axis_name, list(zip(perm, range(len(perm)), strict=True)))


def pbroadcast(x: Nest, axis_name: str, source: int) -> Nest:
    """The value of the member `source` for all members."""
    return tree.map(lambda whole: na.getitem(whole, source), na.all_gather(x, axis_name))


def pcast(x: Nest, axis_name: str, *, to: str) -> Nest:
    """`x`: arrays here have no type that says along which axes they vary."""
    return x


def all_to_all(
    x: Nest,
    axis_name: str,
    split_axis: int,
    concat_axis: int,
    *,
    axis_index_groups: Groups = None,
    tiled: bool = False,
) -> Nest:
    """Split `split_axis` among the members, and join the parts of all along `concat_axis`."""
    _refuse("all_to_all", axis_index_groups)
    size, place = na.axis_size(axis_name), na.axis_index(axis_name)

    def received(whole: Array) -> Array:
        axis = split_axis + 1  # behind the axis of the members
        if not tiled:
            _expect_length("all_to_all", "split_axis", na.shape(whole)[axis], size)
            return na.moveaxis(na.take(whole, place, axis=axis), 0, concat_axis)
        parts = _own_part(whole, axis, size, place)
        return na.concat(na.unstack(parts), axis=concat_axis)

    return _of_all(received, x, axis_name)


def pswapaxes(x: Nest, axis_name: str, axis: int, *, axis_index_groups: Groups = None) -> Nest:
    """Exchange the mapped axis and `axis`."""
    return all_to_all(x, axis_name, axis, axis, axis_index_groups=axis_index_groups)


def psum_scatter(
    x: Nest,
    axis_name: str,
    *,
    scatter_dimension: int = 0,
    axis_index_groups: Groups = None,
    tiled: bool = False,
) -> Nest:
    """The sum over a mapped axis, of which each member gets its part of `scatter_dimension`."""
    _refuse("psum_scatter", axis_index_groups)
    size, place = na.axis_size(axis_name), na.axis_index(axis_name)

    def received(total: Array) -> Array:
        if tiled:
            return _own_part(total, scatter_dimension, size, place)
        length = na.shape(total)[scatter_dimension]
        _expect_length("psum_scatter", "scatter_dimension", length, size)
        return na.take(total, place, axis=scatter_dimension)

    return tree.map(received, na.psum(x, axis_name))


def _of_all(function: Callable[[Array], Array], x: Nest, axis_name: Any) -> Nest:
    return tree.map(function, na.all_gather(x, axis_name))


def _own_part(x: Array, axis: int, size: int, place: Array) -> Array:
    """The part of one member along an axis, which is divided equally."""
    length = na.shape(x)[axis]
    if length % size:
        raise ArgumentError(
            f"tiled: got an axis of length {length}, expected a multiple of the {size} members"
        )
    start = na.multiply(place, length // size)
    steps = na.arange(length // size, dtype=na.dtype_of(start), like=x)
    return na.take(x, na.add(start, steps), axis=axis)


def _expect_length(function: str, argument: str, length: int, size: int) -> None:
    if length != size:
        raise ArgumentError(
            f"{function}: {argument}: got an axis of length {length}, expected {size}, the number "
            "of members; for another multiple say tiled=True"
        )


def _refuse(function: str, groups: Groups) -> None:
    if groups is not None:
        raise UnsupportedError(
            f"{function}: axis_index_groups: got {groups!r}, expected None under vmap"
        )

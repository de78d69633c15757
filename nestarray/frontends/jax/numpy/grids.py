"""Objects that are indexed: ``jnp.mgrid[0:3, 0:2]``, ``jnp.r_[1:4, 0]``.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.numpy.mgrid.html
"""

from __future__ import annotations

from typing import Any

import nestarray as na
from nestarray.errors import ShapeError
from nestarray.frontends.jax.numpy.creation import arange, array, linspace, meshgrid
from nestarray.frontends.jax.promotion import promote
from nestarray.typing import Array

__all__ = ["c_", "index_exp", "ix_", "mgrid", "ogrid", "r_", "s_"]


def _range(index: slice) -> Array:
    """The numbers of a slice; an imaginary step is their count."""
    start = 0 if index.start is None else index.start
    if isinstance(index.step, complex):
        return linspace(start, index.stop, int(abs(index.step)))
    return arange(start, index.stop, 1 if index.step is None else index.step)


class _Grid:
    def __init__(self, *, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return _range(index)
        axes = promote(*[_range(i) for i in index])
        found = meshgrid(*axes, indexing="ij", sparse=self.sparse)
        return found if self.sparse else na.stack(found)


class _Concatenation:
    def __init__(self, axis: int, rank: int, start: int) -> None:
        self.axis, self.rank, self.start = axis, rank, start

    def __getitem__(self, index: Any) -> Array:
        items = list(index) if isinstance(index, tuple) else [index]
        axis, rank, start = self.axis, self.rank, self.start
        if isinstance(items[0], str):
            numbers = [int(x) for x in items.pop(0).split(",")]
            axis, rank, start = [*numbers, *(axis, rank, start)[len(numbers) :]]
        return na.concat(promote(*[_spread(x, rank, start) for x in items]), axis=axis)


def _spread(item: Any, rank: int, start: int) -> Array:
    """An array of at least `rank` axes, its own from the axis `start`."""
    x = _range(item) if isinstance(item, slice) else array(item)
    shape = na.shape(x)
    if not shape:
        return na.reshape(x, (1,) * rank)
    missing = rank - len(shape)
    if missing <= 0:
        return x
    before = missing if start == -1 else start
    return na.reshape(x, (1,) * before + shape + (1,) * (missing - before))


class _Index:
    def __init__(self, *, is_tuple: bool) -> None:
        self.is_tuple = is_tuple

    def __getitem__(self, index: Any) -> Any:
        return (index,) if self.is_tuple and not isinstance(index, tuple) else index


mgrid, ogrid = _Grid(sparse=False), _Grid(sparse=True)
r_, c_ = _Concatenation(0, 1, -1), _Concatenation(-1, 2, 0)
index_exp, s_ = _Index(is_tuple=True), _Index(is_tuple=False)


def ix_(*args: Array) -> tuple[Array, ...]:
    """Vectors that index the product of their positions."""
    found = []
    for axis, x in enumerate(args):
        if len(na.shape(x)) != 1:
            raise ShapeError(f"ix_: got shape {na.shape(x)}, expected vectors")
        x = na.nonzero(x)[0] if na.dtype_of(x) is na.bool else x
        shape = [1] * len(args)
        shape[axis] = -1
        found.append(na.reshape(x, shape))
    return tuple(found)

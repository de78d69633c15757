"""Indexing by numbers along open sizes, as slices.

Of ``x[1:]`` and ``x[::2]`` with an open size JAX makes a gather of computed positions, of ``x[-1]``
a dynamic slice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from nestarray import dtypes
from nestarray.importers.jax.dimensions import size_of
from nestarray.sizes import IntOrSize, Relations

_UNCHANGED = frozenset(["convert_element_type", "broadcast_in_dim"])


class Positions(NamedTuple):
    """The indices start, start + step, … along one axis."""

    start: IntOrSize
    step: IntOrSize = 0
    size: IntOrSize = 1


def positions_of(eqn: Any, known: Sequence[tuple[Positions, ...]]) -> tuple[Positions, ...]:
    """The indices that an equation computes, one item for each axis; empty for other equations."""
    if len(eqn.outvars) != 1:
        return ()
    name, shape = eqn.primitive.name, [*map(size_of, eqn.outvars[0].aval.shape)]
    if name == "dim_as_value":
        return (Positions(size_of(eqn.params["dim"])),)
    if name == "iota" and len(shape) == 1:
        return (Positions(0, 1, shape[0]),)
    if not known or not all(known):
        return ()
    if name == "concatenate":
        return tuple(each for columns in known for each in columns)
    if name == "select_n" and len(known[0]) == 1:
        return known[1 + known[0][0].start] if type(known[0][0].start) is int else ()
    if any(len(columns) != 1 for columns in known):
        return ()
    (x, *others) = [columns[0] for columns in known]
    if name in _UNCHANGED and math.prod(shape) == x.size:
        return (x,)
    if name == "rev":
        return (Positions(x.start + x.step * (x.size - 1), -x.step, x.size),)
    if name in ("add", "sub", "mul"):
        return _computed(name, x, *others)
    return ()


def _computed(name: str, a: Positions, b: Positions) -> tuple[Positions, ...]:
    if name == "sub":
        a, b = a, Positions(-b.start, -b.step, b.size)
    if b.size != 1:
        a, b = b, a
    if b.size != 1:
        return ()
    if name == "mul":
        return (Positions(a.start * b.start, a.step * b.start, a.size),)
    return (Positions(a.start + b.start, a.step, a.size),)


def constant_positions(value: Any) -> tuple[Positions, ...]:
    """The indices in an array of integers or booleans without or with one axis."""
    if dtypes.is_key(value) or np.ndim(value) > 1 or np.size(value) > 8:
        return ()
    array = np.ravel(value)
    return tuple(Positions(int(i)) for i in array) if array.dtype.kind in "iub" else ()


def slice_of(eqn: Any, known: Sequence[tuple[Positions, ...]], relations: Relations) -> Any:
    """The equation of a slice with the same result; None for equations that have none."""
    name = eqn.primitive.name
    if name not in ("gather", "dynamic_slice") or not all(known):
        return None
    x = eqn.invars[0].aval
    columns = [each for columns in known for each in columns]
    axes = range(x.ndim) if name == "dynamic_slice" else _axes(eqn)
    if len(axes) != len(columns):
        return None
    promised = jax.lax.GatherScatterMode.PROMISE_IN_BOUNDS  # other accesses move to be within
    is_within = eqn.params.get("mode") == promised
    shape = [*map(size_of, x.shape)]
    starts, limits, strides = [0] * x.ndim, [*shape], [1] * x.ndim
    for axis, at in zip(axes, columns, strict=True):
        size, step = (at.size, at.step) if at.step else (eqn.params["slice_sizes"][axis], 1)
        if type(step) is not int or step < 1:
            return None
        # of ``x[::2]`` the limit is the size of the axis, of ``x[:-1:2]`` one less
        ends = [shape[axis] - i for i in range(step)]
        ends = [end for end in ends if (end - at.start + step - 1) // step == size_of(size)]
        starts[axis], strides[axis] = at.start, step
        limits[axis] = ends[0] if ends else at.start + step * (size_of(size) - 1) + 1
        is_known = relations.decide(at.start, ">=", 0)
        if not is_within and not (is_known and relations.decide(limits[axis], "<=", shape[axis])):
            return None
    is_whole = starts == [0] * x.ndim and limits == shape and {*strides} <= {1}
    params = {
        "start_indices": tuple(starts),
        "limit_indices": tuple(limits),
        "strides": tuple(strides) if any(step > 1 for step in strides) else None,
    }
    return eqn.replace(
        primitive=jax.lax.copy_p if is_whole else jax.lax.slice_p,
        params={} if is_whole else params,
        invars=eqn.invars[:1],
    )


def _axes(eqn: Any) -> Sequence[int]:
    """The axes that a gather indexes, if its result has the axes of its operand in order."""
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    axes, rank, indices = numbers.start_index_map, eqn.invars[0].aval.ndim, eqn.invars[1].aval.ndim
    kept = tuple(i for i in range(rank) if i not in numbers.collapsed_slice_dims)
    is_one = len(axes) == 1 and axes == numbers.collapsed_slice_dims and sizes[axes[0]] == 1
    is_range, is_window = is_one and indices == 2, not numbers.collapsed_slice_dims and indices == 1
    is_in_order = numbers.offset_dims == kept and not numbers.operand_batching_dims
    return axes if is_in_order and (is_range or is_window) else ()

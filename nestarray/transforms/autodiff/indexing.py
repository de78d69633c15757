"""Rules of indexing, indexed updates, selection and sorting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.numerics.axes import one_axis
from nestarray.numerics.index import is_plain
from nestarray.transforms.autodiff.rules import (
    Call,
    Composed,
    Jacobian,
    Linear,
    Place,
    Pullback,
    Pushed,
    Rule,
    Tangents,
    fit,
    like,
    spread,
)


def _put(shape: tuple[int, ...], index: Any, ct: Any) -> Any:
    """Zeros with `ct` added at an index."""
    # A plain index names no element twice, and writing is faster than adding.
    mode = "replace" if is_plain(index) else "add"
    if not isinstance(ct, (np.ndarray, np.generic)):
        zeros = ops.zeros(shape, dtype=dtypes.dtype_of(ct), like=ct)
        return ops.setitem(zeros, index, ct, mode=mode)
    found = np.zeros(shape, ct.dtype)  # nobody else sees it yet, so nothing need be copied
    if mode == "replace":
        found[index] = ct
    else:
        np.add.at(found, index, ct)
    return found


def _getitem(ct: Any, x: Any, index: Any) -> Any:
    return _put(x.shape, index, ct)


def _take(ct: Any, x: Any, indices: Any, *, axis: int | None = None) -> Any:
    if axis is None:
        return ops.reshape(_put((math.prod(x.shape),), indices, ct), x.shape)
    axis = one_axis(axis, len(x.shape), "take")
    if axis == 0 and isinstance(ct, np.ndarray) and isinstance(indices, np.ndarray) and ct.size:
        return _rows_added(x.shape, indices.reshape(-1), ct.reshape(indices.size, -1))
    return _put(x.shape, (*(slice(None),) * axis, indices), ct)


def _rows_added(shape: tuple[int, ...], indices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Sum rows with equal numbers in order; much faster than `np.add.at`."""
    places = np.where(indices < 0, indices + shape[0], indices)
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    found = np.zeros((shape[0], rows.shape[1]), rows.dtype)
    found[ordered[starts]] = np.add.reduceat(rows[order], starts, axis=0)
    return found.reshape(shape)


def _diagonal(ct: Any, x: Any, *, offset: int = 0) -> Any:
    count = ct.shape[-1]
    start = (max(-offset, 0), max(offset, 0))
    rows, columns = (slice(s, s + count) for s in start)
    unit = ops.eye(count, dtype=dtypes.dtype_of(ct), like=ct)
    block = ops.multiply(ops.expand_dims(ct, -1), unit)
    return _put(x.shape, (..., rows, columns), block)


def _push_where(call: Call, tangents: Tangents) -> Any:
    condition = call.args[0]
    return spread(call.function(condition, tangents.get(1, 0), tangents.get(2, 0)), call.y)


def _pull_where(call: Call, places: list[Place]) -> Pullback:
    condition, *_ = call.args
    shapes = {i: like(call.args[i]) for i in places}  # type: ignore[index]

    def back(ct: Any) -> list[Any]:
        zero = ops.zeros((), dtype=dtypes.dtype_of(ct), like=ct)
        parts = {1: (ct, zero), 2: (zero, ct)}
        return [fit(ops.where(condition, *parts[i]), x) for i, x in shapes.items()]  # type: ignore[index]

    return back


def _push_setitem(call: Call, tangents: Tangents) -> Any:
    x, index, value = call.args
    mode = call.kwargs.get("mode", "replace")
    base = tangents[0] if 0 in tangents else ops.zeros_like(x)
    if mode in ("replace", "add"):
        base = ops.setitem(base, index, 0) if mode == "replace" else base
        return ops.setitem(base, index, tangents.get(2, 0), mode="add")
    # Element by element, as a position may be named several times.
    places = np.arange(math.prod(x.shape)).reshape(x.shape)[index]
    step = tangents[2] if 2 in tangents else ops.zeros_like(ops.asarray(value, like=x))
    flat = [ops.reshape(part, (-1,)) for part in (x, base)]
    written = [
        ops.reshape(ops.broadcast_to(ops.astype(part, x.dtype), places.shape), (-1,))
        for part in (ops.asarray(value, like=x), step)
    ]
    push = _push_products if mode == "mul" else _push_extrema
    at, (new, moved), y = places.reshape(-1), written, ops.reshape(call.y, (-1,))
    return ops.reshape(push(flat[0], flat[1], at, new, moved, y), x.shape)


def _push_products(x: Any, moved: Any, places: Any, value: Any, step: Any, y: Any) -> Any:
    """The product rule, in rounds without repeated positions."""
    for members in _rounds(places):
        at, factor, change = places[members], value[members], step[members]
        old = x[at]
        change = ops.add(ops.multiply(moved[at], factor), ops.multiply(old, change))
        x, moved = ops.setitem(x, at, ops.multiply(old, factor)), ops.setitem(moved, at, change)
    return moved


def _rounds(places: np.ndarray) -> list[np.ndarray]:
    """Split positions into rounds: round k has the k-th occurrence of each position."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(order) else order
    earlier = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return [order[earlier == i] for i in range(int(earlier.max(initial=-1)) + 1)]


def _push_extrema(x: Any, moved: Any, places: Any, value: Any, step: Any, y: Any) -> Any:
    """Equal extrema share the gradient evenly, as in `max`."""
    own = ops.astype(ops.equal(x, y), x.dtype)
    written = ops.astype(ops.equal(value, y[places]), x.dtype)
    total = ops.setitem(ops.multiply(own, moved), places, ops.multiply(written, step), mode="add")
    return ops.divide(total, ops.setitem(own, places, written, mode="add"))


def _pull_setitem(call: Call, places: list[Place]) -> Pullback:
    _, index, value = call.args
    mode = call.kwargs.get("mode", "replace")
    if mode not in ("replace", "add"):
        return Pushed(_push_setitem).pull(call, places)

    def back(ct: Any) -> list[Any]:
        found = {}
        if 0 in places:
            found[0] = ops.setitem(ct, index, 0) if mode == "replace" else ct
        if 2 in places:
            found[2] = fit(ops.getitem(ct, index), value)
        return [found[i] for i in places]  # type: ignore[index]

    return back


def _sort(x: Any, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    order = ops.argsort(x, axis=axis, descending=descending, stable=stable)
    return ops.take_along_axis(x, order, axis=axis)


RULES: dict[str, Rule] = {
    "getitem": Linear(_getitem),
    "take": Linear(_take),
    "diagonal": Linear(_diagonal),
    "where": Jacobian(_push_where, _pull_where),
    "setitem": Jacobian(_push_setitem, _pull_setitem),
    "sort": Composed(_sort),
}

"""Transposes of reshaping, concatenation, slicing and repetition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.transforms.autodiff.rules import (
    Call,
    Jacobian,
    Linear,
    Place,
    Pullback,
    Rule,
    Tangents,
    fit,
    like,
)


def _reshape(ct: Any, x: Any, shape: Any, *, order: str = "C", copy: bool | None = None) -> Any:
    return ops.reshape(ct, x.shape, order=order)


def _roll(ct: Any, x: Any, shift: Any, *, axis: Any = None) -> Any:
    back = -shift if isinstance(shift, int) else tuple([-s for s in shift])
    return ops.roll(ct, back, axis=axis)


def _tile(ct: Any, x: Any, repetitions: Any) -> Any:
    count = len(ct.shape)
    sizes = (1,) * (count - len(x.shape)) + tuple(x.shape)
    times = (1,) * (count - len(repetitions)) + tuple(repetitions)
    apart = [n for pair in zip(times, sizes, strict=True) for n in pair]
    copies = ops.reshape(ct, tuple(apart))
    return ops.reshape(ops.sum(copies, axis=tuple(range(0, 2 * count, 2))), x.shape)


def _repeat(
    ct: Any,
    x: Any,
    repeats: Any,
    *,
    axis: int | None = None,
    total_repeat_length: int | None = None,
) -> Any:
    length = math.prod(x.shape) if axis is None else x.shape[axis]
    places = ops.repeat(np.arange(length), repeats, total_repeat_length=total_repeat_length)
    along = 0 if axis is None else one_axis(axis, len(x.shape), "repeat")
    shape = (length,) if axis is None else x.shape
    zeros = ops.zeros(shape, dtype=dtypes.dtype_of(ct), like=ct)
    index = (*(slice(None),) * along, places)
    return ops.reshape(ops.setitem(zeros, index, ct, mode="add"), x.shape)


def _moveaxis(ct: Any, x: Any, source: Any, destination: Any) -> Any:
    return ops.moveaxis(ct, destination, source)


def _permute_dims(ct: Any, x: Any, axes: Any) -> Any:
    axes = many_axes(axes, len(x.shape), "permute_dims")
    return ops.permute_dims(ct, tuple(sorted(range(len(axes)), key=axes.__getitem__)))


def _push_joined(call: Call, tangents: Tangents) -> Any:
    parts = [
        ops.astype(tangents[0, j], call.y.dtype) if (0, j) in tangents
        else ops.zeros_like(x, dtype=call.y.dtype)
        for j, x in enumerate(call.args[0])
    ]  # fmt: skip
    return call.function(parts, **call.kwargs)


def _pull_concat(call: Call, places: list[Place]) -> Pullback:
    arrays, axis = [like(x) for x in call.args[0]], call.kwargs.get("axis", 0)
    if axis is None:
        axis, sizes = 0, [math.prod(x.shape) for x in arrays]
    else:
        axis = one_axis(axis, len(arrays[0].shape), "concat")
        sizes = [x.shape[axis] for x in arrays]
    ends = np.cumsum(sizes).tolist()

    def back(ct: Any) -> list[Any]:
        found = []
        for place in places:
            j = place[1]  # type: ignore[index]
            part = (*(slice(None),) * axis, slice(ends[j] - sizes[j], ends[j]))
            x = arrays[j]
            found.append(fit(ops.reshape(ops.getitem(ct, part), x.shape), x))
        return found

    return back


def _pull_stack(call: Call, places: list[Place]) -> Pullback:
    axis, shapes = call.kwargs.get("axis", 0), [(j, like(call.at((i, j)))) for i, j in places]  # type: ignore[misc]

    def back(ct: Any) -> list[Any]:
        parts = ops.unstack(ct, axis=axis)
        return [fit(parts[j], x) for j, x in shapes]

    return back


def _unstack(ct: list[Any], x: Any, *, axis: int = 0) -> Any:
    return ops.stack(ct, axis=axis) if ct else np.zeros(x.shape, x.dtype)


def _split(ct: list[Any], x: Any, sizes: Any, *, axis: int = 0) -> Any:
    return ops.concat(ct, axis=axis)


def _sliding_window_view(
    ct: Any, x: Any, window_shape: Any, *, axis: Any = None, step: Any = 1
) -> Any:
    """Add the cotangents of each window position in one strided slice."""
    count = len(ct.shape) - len(x.shape)
    axes = many_axes(axis, len(x.shape), "sliding_window_view")
    steps = (step,) * count if isinstance(step, int) else tuple(step)
    found = ops.zeros(x.shape, dtype=dtypes.dtype_of(ct), like=ct)
    for place in np.ndindex(*ct.shape[len(x.shape) :]):
        index = [slice(None)] * len(x.shape)
        for a, start, stride in zip(axes, place, steps, strict=True):
            index[a] = slice(start, start + stride * (ct.shape[a] - 1) + 1, stride)
        found = ops.setitem(found, tuple(index), ct[(..., *place)], mode="add")
    return found


RULES: dict[str, Rule] = {
    "reshape": Linear(_reshape),
    "permute_dims": Linear(_permute_dims),
    "matrix_transpose": Linear(lambda ct, x: ops.matrix_transpose(ct)),
    "moveaxis": Linear(_moveaxis),
    "swapaxes": Linear(lambda ct, x, axis1, axis2: ops.swapaxes(ct, axis1, axis2)),
    "expand_dims": Linear(lambda ct, x, axis: ops.reshape(ct, x.shape)),
    "squeeze": Linear(lambda ct, x, axis=None: ops.reshape(ct, x.shape)),
    "broadcast_to": Linear(lambda ct, x, shape: ct),
    "flip": Linear(lambda ct, x, axis=None: ops.flip(ct, axis=axis)),
    "roll": Linear(_roll),
    "tile": Linear(_tile),
    "repeat": Linear(_repeat),
    "tril": Linear(lambda ct, x, k=0: ops.tril(ct, k=k)),
    "triu": Linear(lambda ct, x, k=0: ops.triu(ct, k=k)),
    "astype": Linear(lambda ct, x, dtype, copy=True, device=None: ct),
    "concat": Jacobian(_push_joined, _pull_concat),
    "stack": Jacobian(_push_joined, _pull_stack),
    "unstack": Linear(_unstack),
    "split": Linear(_split),
    "sliding_window_view": Linear(_sliding_window_view),
}

"""Checks of indices, masks, classes and segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends.checks.arguments import (
    Arguments,
    arrays_in,
    is_any_traced,
    on_the_host,
    shape_of,
    size_of,
)
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from nestarray.numerics.axes import (
    many_axes,
    one_axis,
)
from nestarray.numerics.index import (
    axes_taken,
    check_numbers,
    expanded,
    is_mask,
    outside,
    without_ones,
)


def check_masks(name: str, arguments: Arguments) -> None:
    """Masks in an index have the shape of their axes; axes of length 0 fit any."""
    shape, axis = tuple(arguments["x"].shape), 0
    for item in expanded(arguments["index"], len(shape)):
        taken = axes_taken(item)
        if taken and is_mask(item):
            own, other = shape[axis : axis + taken], tuple(item.shape)
            if any(None not in (a, b) and b not in (0, a) for a, b in zip(own, other)):
                raise IndexingError(
                    f"{name}: index: got a mask of shape {other} for axes of shape {tuple(own)}, "
                    "expected the same"
                )
        axis += taken


def check_index_numbers(name: str, arguments: Arguments) -> None:
    """Positions in an index are within their axes."""
    if is_any_traced(arguments):
        return
    index = arguments["index"]
    items = tuple(map(on_the_host, index)) if isinstance(index, tuple) else on_the_host(index)
    check_numbers(name, items, tuple(arguments["x"].shape))


def check_value(name: str, arguments: Arguments) -> None:
    """`value` broadcasts to the indexed shape."""
    if is_any_traced(arguments):
        return
    index, x = arguments["index"], arguments["x"]
    items = tuple(map(on_the_host, index)) if isinstance(index, tuple) else on_the_host(index)
    part = np.broadcast_to(np.False_, shape_of(x))[items].shape
    own = tuple(getattr(arguments["value"], "shape", ()))
    fitted = without_ones(own, len(part))
    padded = (1,) * (len(part) - len(fitted)) + fitted
    if len(fitted) > len(part) or any(n not in (1, m) for n, m in zip(padded, part)):
        raise ShapeError(
            f"{name}: value: got shape {own}, expected {part}, the shape of the indexed part, "
            "or a shape that broadcasts to it"
        )


def check_bounds(name: str, arguments: Arguments) -> None:
    """`indices` are within their axis; JAX clips or drops others."""
    indices, x = arguments["indices"], arguments["weight" if name == "embedding" else "x"]
    if is_any_traced({"x": x, "indices": indices}):
        return
    axis, shape = arguments.get("axis", _FIRST_AXIS.get(name)), shape_of(x)
    if len(shape) != {"embedding": 2, "gather": len(indices.shape)}.get(name, len(shape)):
        return  # the op checks the axis
    length = size_of(shape) if axis is None else shape[many_axes(axis, len(shape), name)[0]]
    least = 0 if name == "embedding" else -length
    what = "x" if axis is None else f"axis {axis}"
    _check_inside(name, "indices", on_the_host(indices), least, length, f"the length of {what}")


def _check_inside(name: str, argument: str, host: Any, least: int, length: int, what: str) -> None:
    wrong = outside(host, least, length)
    if wrong is not None:
        raise IndexingError(
            f"{name}: {argument}: got {wrong}, expected {least} <= index < {length}, which is {what}"
        )


def check_segments(name: str, arguments: Arguments) -> None:
    """`segment_ids` are below the number of segments."""
    ids, count = arguments["segment_ids"], arguments.get("num_segments")
    if count is None or is_any_traced({"segment_ids": ids}):
        return
    _check_inside(name, "segment_ids", on_the_host(ids), -count, count, "num_segments")


def check_classes(name: str, arguments: Arguments) -> None:
    """Integers in `target` are classes, or equal to the ignored index."""
    target, (_, scores) = arguments["target"], arrays_in(arguments)[0]
    if not dtypes.dtype_of(target).is_integer or is_any_traced({"target": target}):
        return
    count = shape_of(scores)[arguments.get("axis", -1)]
    host = on_the_host(target)
    counted = host[host != arguments.get("ignore_index", -100)]
    _check_inside(name, "target", counted, 0, count, "the number of classes")


def check_lengths(name: str, arguments: Arguments) -> None:
    """`input_lengths` and `target_lengths` are within their axes."""
    for argument, counted, axis in (
        ("input_lengths", "log_probs", 0),
        ("target_lengths", "targets", -1),
    ):
        lengths, most = arguments[argument], shape_of(arguments[counted])[axis]
        if is_any_traced({argument: lengths}):
            continue
        wrong = outside(on_the_host(lengths), 0, most + 1)
        if wrong is not None:
            raise ArgumentError(
                f"{name}: {argument}: got {wrong}, expected 0 to {most}, the length of {counted}"
            )


def check_images(name: str, arguments: Arguments) -> None:
    """`box_indices` are below the number of images."""
    indices, x = arguments["box_indices"], arguments["x"]
    if not is_any_traced({"box_indices": indices}):
        length = shape_of(x)[0]
        _check_inside(name, "box_indices", on_the_host(indices), 0, length, "the length of x")


#: The default axis of indices.
_FIRST_AXIS = {"embedding": 0, "index_add": 0, "take_along_axis": -1}


def check_part(name: str, arguments: Arguments) -> None:
    """`indices` have as many axes as x, none longer except the indexed one."""
    own, whole = tuple(arguments["indices"].shape), tuple(arguments["x"].shape)
    axis = one_axis(arguments["axis"], len(whole), name)
    fits = len(own) == len(whole) and not any(
        n is not None and m is not None and n > m
        for i, (n, m) in enumerate(zip(own, whole))
        if i != axis
    )
    if not fits:
        raise ShapeError(
            f"{name}: indices: got shape {own} for x of shape {whole}, expected equally many axes, "
            f"none longer except axis {axis}"
        )


def check_along(name: str, arguments: Arguments) -> None:
    """`indices` have as many axes as x and broadcast with it, except along the indexed one."""
    of_x, of_indices = shape_of(arguments["x"]), shape_of(arguments["indices"])
    axis = one_axis(arguments.get("axis", -1), len(of_x), name)
    others = [shape[:axis] + shape[axis + 1 :] for shape in (of_x, of_indices)]
    if len(of_x) != len(of_indices) or any(a != b and 1 not in (a, b) for a, b in zip(*others)):
        raise ShapeError(
            f"{name}: indices: got shape {of_indices} for x of shape {of_x}, expected equally many "
            f"axes, which broadcast with x except along axis {axis}"
        )


def check_positions(name: str, arguments: Arguments) -> None:
    """Rows of `indices` are positions on the first axes of x, and updates fit the selection."""
    of_x, of_indices = shape_of(arguments["x"]), shape_of(arguments["indices"])
    if not of_indices or of_indices[-1] > len(of_x):
        raise ShapeError(
            f"{name}: indices: got shape {of_indices} for x of shape {of_x}, expected (*batch, k) "
            f"with k of at most {len(of_x)}"
        )
    if "updates" in arguments:
        _check_fit(name, arguments, of_indices[:-1] + of_x[of_indices[-1] :])
    if is_any_traced({"indices": arguments["indices"]}):
        return
    host, first = on_the_host(arguments["indices"]), arguments.get("batch_dims", 0)
    for axis, length in enumerate(of_x[first : first + of_indices[-1]], first):
        what = f"the length of axis {axis}"
        _check_inside(name, "indices", host[..., axis - first], -length, length, what)


def check_updates(name: str, arguments: Arguments) -> None:
    """`updates` fit x with `indices` replacing an axis."""
    of_x, of_indices = shape_of(arguments["x"]), shape_of(arguments["indices"])
    axis = one_axis(arguments.get("axis", 0), len(of_x), name)
    _check_fit(name, arguments, of_x[:axis] + of_indices + of_x[axis + 1 :])


def _check_fit(name: str, arguments: Arguments, wanted: tuple[int, ...]) -> None:
    """`updates` broadcast to a shape."""
    own = tuple(getattr(arguments["updates"], "shape", ()))
    padded = (1,) * (len(wanted) - len(own)) + own
    if len(own) > len(wanted) or any(n not in (1, m) for n, m in zip(padded, wanted)):
        raise ShapeError(
            f"{name}: updates: got shape {own}, expected {wanted} or a shape that broadcasts to it, for x "
            f"of shape {shape_of(arguments['x'])} and indices of shape {shape_of(arguments['indices'])}"
        )


def check_indices(name: str, arguments: Arguments) -> None:
    """`indices` are integers."""
    indices = arguments["indices"]
    dtype = dtypes.dtype_of(indices)
    if not dtype.is_integer:
        raise DtypeError(
            f"{name}: indices: got {dtype.name}, expected integers; cast with na.astype"
        )


def check_sorter(name: str, arguments: Arguments) -> None:
    """`sorter` has a position for each element of x1."""
    sorter = arguments["sorter"]
    if sorter is None:
        return
    dtype, expected = dtypes.dtype_of(sorter), tuple(arguments["x1"].shape)
    if not dtype.is_integer or tuple(sorter.shape) != expected:
        raise ShapeError(
            f"{name}: sorter: got {dtype.name} of shape {tuple(sorter.shape)}, expected integers of "
            f"shape {expected}, such as na.argsort(x1)"
        )


def check_condition(name: str, arguments: Arguments) -> None:
    """`condition`, or `mask`, is bool."""
    argument = "condition" if "condition" in arguments else "mask"
    dtype = dtypes.dtype_of(arguments[argument])
    if dtype is not dtypes.bool:
        raise DtypeError(
            f"{name}: {argument}: got {dtype.name}, expected bool; convert it with na.not_equal(x, 0)"
        )

"""Refused calls of functions that make, cut, join and move arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from tests.errors.checks import Row, check_refused, refused

na: Any = nestarray  # whose signatures forbid these calls

ROWS: list[Row] = [
    (
        lambda x: na.expand_dims(x, 7),
        IndexingError,
        "expand_dims: axis: got 7 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    (
        lambda x: na.permute_dims(x, (0, 0)),
        ShapeError,
        "permute_dims: axes: got (0, 0), with a repeated axis",
    ),
    (
        lambda x: na.permute_dims(x, (0,)),
        ShapeError,
        "permute_dims: axes: got (0,), expected each of the 2 axes once",
    ),
    (
        lambda x: na.squeeze(x, 1),
        ShapeError,
        "squeeze: axis 1 of shape (2, 3) has length 3, expected 1",
    ),
    (
        lambda x, t: na.concat([x, t]),
        ShapeError,
        "concat: arrays[1]: got shape (3, 2), expected (2, 3), like the first, except along axis 0",
    ),
    (
        lambda x, t: na.stack([x, t]),
        ShapeError,
        "stack: arrays[1]: got shape (3, 2), expected (2, 3), like the first",
    ),
    (
        lambda x: na.reshape(x, (4, 2)),
        ShapeError,
        "reshape: shape: got (4, 2) for an array of shape (2, 3) with 6 elements",
    ),
    (
        lambda x: na.reshape(x, (4, -1)),
        ShapeError,
        "reshape: shape: got (4, -1) for an array of shape (2, 3) with 6 elements",
    ),
    (
        lambda x: na.broadcast_to(x, (4, 4)),
        ShapeError,
        "broadcast_to: shape: got (4, 4), to which an array of shape (2, 3) does not broadcast",
    ),
    (
        lambda x: na.split(x, [1, 4], axis=1),
        ShapeError,
        "split: sizes: got [1, 4], which add up to 5, expected the length of the axis, 3",
    ),
    (lambda x: na.split(x, 0), ShapeError, "split: sizes: got 0, expected at least 1"),
    (
        lambda x: na.array_split(x, [2, 1], axis=1),
        ShapeError,
        "array_split: indices_or_sections: got [2, 1], expected indices in ascending order",
    ),
    (
        lambda x: na.array_split(x, 0),
        ShapeError,
        "array_split: indices_or_sections: got 0, expected at least 1",
    ),
    (
        lambda x: na.pad(x, ((1, 1), (1, 1), (0, 0))),
        ShapeError,
        "pad: pad_width: got ((1, 1), (1, 1), (0, 0)) for an array of 2 dimensions, expected a number, a pair (before, after), or such a pair for each axis",
    ),
    (
        lambda x: na.pad(x, -1),
        ShapeError,
        "pad: pad_width: got -1, expected numbers that are not negative; cut off with slices instead",
    ),
    (
        lambda x: na.pad(x[:0], 1, mode="edge"),
        ShapeError,
        "pad: x: got shape (0, 3), whose axis 0 has no element for mode 'edge'; pad it with mode='constant'",
    ),
    (
        lambda x: na.flatten(x, start_axis=1, end_axis=0),
        ShapeError,
        "flatten: start_axis 1 comes after end_axis 0 in an array of 2 dimensions",
    ),
    (
        lambda x: na.flatten(x, start_axis=2),
        IndexingError,
        "flatten: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.sliding_window_view(x, 4, axis=1),
        ShapeError,
        "sliding_window_view: window_shape: got 4 for axis 1 of shape (2, 3), expected 1 to 3",
    ),
    (
        lambda x: na.pad.op.body(x, 1, mode="mirror"),
        ArgumentError,
        "pad: mode: got 'mirror', expected one of constant, edge, reflect, symmetric, wrap",
    ),
    (
        lambda x: na.reshape(x[0, :1], (True,)),
        ArgumentError,
        "reshape: shape: got True, expected an int",
    ),
    (
        lambda x: na.expand_dims(x[0, 0], axis=None),
        ArgumentError,
        "expand_dims: axis: got None, expected an int",
    ),
    (
        lambda x: na.roll(x, (1, 2, 3), axis=(0, 1)),
        ShapeError,
        "roll: shift: got (1, 2, 3) for 2 axes, expected a number, or one for each",
    ),
    (
        lambda x: na.repeat(x, x[:, 0], axis=0),
        DtypeError,
        "repeat: repeats: got float32, expected integers; cast with na.astype",
    ),
    (
        lambda x: na.repeat(x, na.astype(x, "int32"), axis=0),
        ShapeError,
        "repeat: repeats: got shape (2, 3), expected a number, or one for each element along the axis",
    ),
    (
        lambda x: na.moveaxis(x, (0, 1), (0, 0)),
        ShapeError,
        "moveaxis: destination: got (0, 0), with a repeated axis",
    ),
    (
        lambda x: na.pad(x[0, 0], (1, 2)),
        ShapeError,
        "pad: x: got an array without dimensions, expected at least one",
    ),
    *(
        (
            lambda x, device=device: na.astype(x, "float16", device=device),
            ArgumentError,
            f"astype: device: got {device!r}, expected one of cpu",
        )
        for device in ("nowhere", 1.5)
    ),
    (
        lambda x: na.linspace(x, 1.0, 3, axis=3),
        IndexingError,
        "linspace: axis: got 3 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    (
        lambda x: na.logspace(x, 1.0, 3, axis=-4),
        IndexingError,
        "logspace: axis: got -4 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    (
        lambda x: na.geomspace(1.0, 2.0, 3, axis=1, like=x),
        IndexingError,
        "geomspace: axis: got 1 for an array of 1 dimensions, expected -1 <= axis < 1",
    ),
    (lambda x: na.chunk(x, 0), ShapeError, "chunk: chunks: got 0, expected at least 1"),
    (
        lambda x: na.chunk(x, 2, axis=2),
        IndexingError,
        "chunk: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.hsplit(x, 2),
        ShapeError,
        "hsplit: indices_or_sections: got 2 for an axis of length 3, expected a divisor; array_split makes parts that differ",
    ),
    (
        lambda x: na.vsplit(na.getitem(x, 0), 1),
        ShapeError,
        "vsplit: x: got the shape (3,), expected at least 2 dimensions",
    ),
    (
        lambda x: na.dsplit(x, 1),
        ShapeError,
        "dsplit: x: got the shape (2, 3), expected at least 3 dimensions",
    ),
    (
        lambda x: na.rot90(x, axes=(0, 2)),
        IndexingError,
        "rot90: axes: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.rot90(x, axes=(0, -2)),
        ShapeError,
        "rot90: axes: got (0, -2), with a repeated axis",
    ),
    (lambda x: na.rot90(x, axes=(0,)), ShapeError, "rot90: axes: got (0,), expected two axes"),
    (
        lambda x: na.trim_zeros(x, trim="front"),
        ArgumentError,
        "trim_zeros: trim: got 'front', expected 'f', 'b' or 'fb'",
    ),
    (
        lambda x: na.geomspace(-1.0, 1.0, 3, like=x),
        ArgumentError,
        "geomspace: got -1.0 to 1.0, expected nonzero ends of one sign",
    ),
    (
        lambda x: na.concat(x),
        ArgumentError,
        "concat: got an array, expected a list or a tuple of arrays",
    ),
    (
        lambda x: na.expand_dims(x, range(1)),
        ArgumentError,
        "expand_dims: axis: got range(0, 1), expected an int",
    ),
    (
        lambda x: na.moveaxis(x, {0}, -1),
        ArgumentError,
        "moveaxis: source: got {0}, expected an int",
    ),
    (
        lambda x: na.roll(x, {1}, axis=0),
        ArgumentError,
        "roll: shift: got {1}, expected an int or a sequence of ints",
    ),
    (
        lambda x: na.repeat(x, 1.5, axis=1),
        ArgumentError,
        "repeat: cannot be computed for x float32 (2, 3), repeats 1.5, axis 1; see help(na.repeat)",
    ),
    (
        lambda x: na.arange(0.0, 1.0, 0.0, like=x),
        ArgumentError,
        "arange: step: got 0.0, expected a nonzero number",
    ),
    (
        lambda x: na.arange(0, 4, 0, like=x),
        ArgumentError,
        "arange: step: got 0, expected a nonzero number",
    ),
    (
        lambda x: na.permute_dims(x, {0, 1}),
        ArgumentError,
        "permute_dims: axes: got {0, 1}, expected a sequence of ints",
    ),
    (
        lambda x: na.zeros(True, like=x),
        ArgumentError,
        "zeros: shape: got True, expected an int or a sequence of ints",
    ),
    (
        lambda x: na.full((True,), 1.0, like=x),
        ArgumentError,
        "full: shape: got True, expected an int",
    ),
    (lambda x: na.eye(True, like=x), ArgumentError, "eye: n_rows: got True, expected an int"),
    (
        lambda ones: na.flip(ones(3, 4), axis=True),
        ArgumentError,
        "flip: axis: got True, expected an int",
    ),
    (
        lambda ones: na.expand_dims(ones(3, 4), axis=True),
        ArgumentError,
        "expand_dims: axis: got True, expected an int",
    ),
    (
        lambda ones: na.permute_dims(ones(3, 4), None),
        ArgumentError,
        "permute_dims: axes: got None, expected a sequence of ints",
    ),
    (
        lambda ones: na.swapaxes(ones(3, 4)[0, 0], 0, 0),
        IndexingError,
        "swapaxes: axis1: got 0 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        lambda ones: na.astype(ones(3, 4), "float32", copy=2),
        ArgumentError,
        "astype: copy: got 2, expected True or False",
    ),
    (
        lambda ones: na.tril(ones(3, 4)[0]),
        ShapeError,
        "tril: x: got shape (4,), expected matrices (*batch, m, n)",
    ),
    (lambda ones: na.tril(ones(3, 4), k=True), ArgumentError, "tril: k: got True, expected an int"),
    (
        lambda ones: na.rot90(ones(3, 4), k=True),
        ArgumentError,
        "rot90: k: got True, expected an int",
    ),
    (
        lambda ones: na.sliding_window_view(ones(3, 4), 2, axis=0, step=True),
        ArgumentError,
        "sliding_window_view: step: got True, expected an int or a sequence of ints",
    ),
    (
        lambda ones: na.roll(ones(3, 4), (1.5,)),
        ArgumentError,
        "roll: shift: got (1.5,), expected an int or a sequence of ints",
    ),
    (
        lambda ones: na.reshape(ones(3, 4), (-1,), copy=2),
        ArgumentError,
        "reshape: copy: got 2, expected True or False",
    ),
    (
        lambda ones: na.flip(ones(3, 19), axis=(True,)),
        ArgumentError,
        "flip: axis: got True, expected an int",
    ),
    (
        lambda ones: na.roll(ones(3, 19), (1,), axis=(True,)),
        ArgumentError,
        "roll: axis: got True, expected an int",
    ),
    (
        lambda ones: na.squeeze(ones(3, 19)[:, :1], axis=(True,)),
        ArgumentError,
        "squeeze: axis: got True, expected an int",
    ),
    (
        lambda ones: na.expand_dims(ones(3, 19), axis=(True,)),
        ArgumentError,
        "expand_dims: axis: got True, expected an int",
    ),
    (
        lambda ones: na.moveaxis(ones(3, 19), (True,), (0,)),
        ArgumentError,
        "moveaxis: source: got True, expected an int",
    ),
    (
        lambda ones: na.permute_dims(ones(3, 19), (True, 0)),
        ArgumentError,
        "permute_dims: axes: got True, expected an int",
    ),
    *(
        (
            call,
            ArgumentError,
            f"{name}: got {value!r} for elements of uint8, expected a number from 0 to 255; cast to a wider dtype first",
        )
        for value in (300, -1, float("nan"))
        for name, call in (
            (
                "full: fill_value",
                lambda array, v=value: na.full(
                    (2,), v, dtype="uint8", like=array(np.ones(3, "uint8"))
                ),
            ),
            (
                "full_like: fill_value",
                lambda array, v=value: na.full_like(array(np.ones(3, "uint8")), v),
            ),
            ("setitem: value", lambda array, v=value: na.setitem(array(np.ones(3, "uint8")), 0, v)),
            (
                "masked_fill: value",
                lambda array, v=value: na.masked_fill(
                    array(np.ones(3, "uint8")), na.greater(array(np.ones(3, "uint8")), 0), v
                ),
            ),
            (
                "pad: constant_values",
                lambda array, v=value: na.pad(array(np.ones(3, "uint8")), 1, constant_values=v),
            ),
        )
    ),
    (
        lambda ones: na.full_like(ones(3), 1j),
        ArgumentError,
        "full_like: fill_value: got 1j for elements of float32, expected a real number; cast to a complex dtype first",
    ),
    (
        lambda ones: na.reshape(ones(2, 3, 4), (4, -3)),
        ShapeError,
        "reshape: shape: got (4, -3) for an array of shape (2, 3, 4) with 24 elements",
    ),
    (
        lambda ones: na.reshape(ones(2, 3, 4), None),
        ArgumentError,
        "reshape: shape: got None, expected a sequence of ints",
    ),
    (
        lambda ones: na.tile(ones(2, 3), (-1, 2)),
        ArgumentError,
        "tile: cannot be computed for x float32 (2, 3), repetitions (-1, 2); see help(na.tile)",
    ),
    (
        lambda ones: na.concat([ones(2, 3), ones(0)]),
        ShapeError,
        "concat: arrays[1]: got shape (0,), expected (2, 3), like the first, except along axis 0",
    ),
    (
        lambda ones: na.eye(2, batch_shape=(True,), like=ones(1)),
        ArgumentError,
        "eye: batch_shape: got True, expected an int",
    ),
    (
        lambda ones: na.eye(2, batch_shape=None, like=ones(1)),
        ArgumentError,
        "eye: batch_shape: got None, expected a sequence of ints",
    ),
    (
        lambda ones: na.repeat(ones(0), 2, total_repeat_length=3),
        ShapeError,
        "repeat: total_repeat_length: got 3 for an axis of length 0, which has no element to fill up with",
    ),
]


@refused(ROWS)
def test_refused(row: Row, backend: str) -> None:
    check_refused(row, backend)


def test_block_diag_of_nothing() -> None:
    with pytest.raises(ShapeError, match="block_diag: arrays: got none, expected at least one"):
        na.block_diag([])


def test_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(ShapeError) as error:
        na.broadcast_shapes((2,), (3,))
    assert str(error.value) == (
        "broadcast_shapes: got (2,), (3,), which cannot be broadcast; expected equal lengths, or 1, "
        "at each place counted from the end"
    )


def test_reshape_that_would_copy() -> None:
    with pytest.raises(ShapeError, match="reshape: copy=False, but"):
        na.reshape(np.transpose(np.ones((2, 3))), (6,), copy=False)

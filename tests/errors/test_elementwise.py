"""Refused calls of functions that work on elements, and activations."""

from __future__ import annotations

from typing import Any

import nestarray
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from tests.errors.checks import Row, check_refused, refused

na: Any = nestarray  # whose signatures forbid these calls

NAN = float("nan")

ROWS: list[Row] = [
    (
        lambda x: na.softmax(x, axis=2),
        IndexingError,
        "softmax: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x, t: na.add(x, t),
        ShapeError,
        "add: got arrays of shapes (2, 3) and (3, 2), which do not broadcast",
    ),
    (
        lambda ones: na.polygamma(-1, ones(2)),
        ArgumentError,
        "polygamma: n: got -1, expected an integer of at least 0",
    ),
    (
        lambda ones: na.polygamma(1.5, ones(2)),
        ArgumentError,
        "polygamma: n: got 1.5, expected an int",
    ),
    (
        lambda ones: na.bitwise_count(ones(2)),
        DtypeError,
        "bitwise_count: x: got float32, expected an integer dtype; see astype",
    ),
    (
        lambda ints: na.ldexp(ints(1, 2), ints(1, 2)),
        DtypeError,
        "ldexp: x1: got int32, expected a floating dtype; see astype",
    ),
    (
        lambda ones: na.ldexp(ones(2), ones(2)),
        DtypeError,
        "ldexp: x2: got float32, expected an integer dtype; see astype",
    ),
    (
        lambda ints: na.frexp(ints(1, 2)),
        DtypeError,
        "frexp: x: got int32, expected a floating dtype; see astype",
    ),
    (
        lambda: na.softmax(1.5),
        IndexingError,
        "softmax: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (lambda x: na.softmax(x, axis={0}), ArgumentError, "softmax: axis: got {0}, expected an int"),
    (lambda x: na.celu(x, alpha=0), ArgumentError, "celu: alpha: got 0, expected a nonzero number"),
    (
        lambda ones: na.glu(ones(3, 4), axis=True),
        ArgumentError,
        "glu: axis: got True, expected an int",
    ),
    (
        lambda ones: na.isclose(ones(3, 4), ones(3, 4), rtol=1j),
        ArgumentError,
        "isclose: rtol: got 1j, expected a real number",
    ),
    (
        lambda ones: na.nan_to_num(ones(3, 4), nan=(1.0,)),
        ArgumentError,
        "nan_to_num: nan: got (1.0,), expected a real number",
    ),
    (
        lambda ones: na.hard_tanh(ones(3, 4), max_value=NAN),
        ArgumentError,
        "hard_tanh: min_value: got -1.0, expected a number from -inf to nan",
    ),
    (
        lambda ones: na.threshold(na.astype(ones(3, 4), na.uint8), threshold=1.0, value=-3.0),
        ArgumentError,
        "threshold: value: got -3.0, expected a number from 0 to 255",
    ),
    (
        lambda ones: na.leaky_relu(ones(3), negative_slope=(1.0,)),
        ArgumentError,
        "leaky_relu: negative_slope: got (1.0,), expected a real number",
    ),
    (
        lambda ones: na.hard_shrink(ones(3), threshold=1j),
        ArgumentError,
        "hard_shrink: threshold: got 1j, expected a real number",
    ),
    (
        lambda ones: na.hard_tanh(ones(3), min_value=2.5),
        ArgumentError,
        "hard_tanh: min_value: got 2.5, expected a number from -inf to 1.0",
    ),
    (
        lambda ones: na.softmax(ones()),
        IndexingError,
        "softmax: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        lambda zeros: na.glu(zeros(2, 3)),
        ShapeError,
        "glu: axis -1 of x (2, 3) has 3 elements, expected an even number, to split it in halves",
    ),
    (
        lambda zeros: na.prelu(zeros(2, 3), zeros(2)),
        ShapeError,
        "prelu: weight has shape (2,), x (2, 3); expected one slope, or one for each channel (axis 1 of x)",
    ),
    (
        lambda zeros: na.geglu(zeros(2, 3)),
        ShapeError,
        "geglu: axis -1 of x (2, 3) has 3 elements, expected an even number, to split it in halves",
    ),
    (
        lambda zeros: na.swiglu(zeros(5, 2), axis=0),
        ShapeError,
        "swiglu: axis 0 of x (5, 2) has 5 elements, expected an even number, to split it in halves",
    ),
    (
        lambda zeros: na.rrelu(zeros(2), lower=0.5, upper=0.25),
        ArgumentError,
        "rrelu: lower: got 0.5, expected at most upper, which is 0.25",
    ),
]


@refused(ROWS)
def test_refused(row: Row, backend: str) -> None:
    check_refused(row, backend)

"""What activations, recurrences, attention, losses and images say of arguments that do not fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, ShapeError

Zeros = Callable[..., Any]
Row = tuple[str, Callable[[Zeros], Any], type[Exception], str]

ACTIVATIONS: list[Row] = [
    (
        "geglu",
        lambda zeros: na.geglu(zeros(2, 3)),
        ShapeError,
        "geglu: axis -1 of x (2, 3) has 3 elements, expected an even number: it is cut in two "
        "halves",
    ),
    (
        "swiglu",
        lambda zeros: na.swiglu(zeros(5, 2), axis=0),
        ShapeError,
        "swiglu: axis 0 of x (5, 2) has 5 elements, expected an even number: it is cut in two "
        "halves",
    ),
    (
        "rrelu",
        lambda zeros: na.rrelu(zeros(2), lower=0.5, upper=0.25),
        ArgumentError,
        "rrelu: lower: got 0.5, expected at most upper, which is 0.25",
    ),
    (
        "gumbel",
        lambda zeros: na.gumbel_softmax(zeros(2), na.random.key(0, like=zeros(1)), tau=0.0),
        ArgumentError,
        "gumbel_softmax: tau: got 0.0, expected a positive number",
    ),
]

ROWS = [*ACTIVATIONS]


@pytest.mark.parametrize(
    ("call", "error", "message"), [pytest.param(*row[1:], id=row[0]) for row in ROWS]
)
def test_the_words_are_the_same_everywhere(
    backend: str, call: Callable[[Zeros], Any], error: type[Exception], message: str
) -> None:
    def zeros(*shape: int, dtype: str = "float32") -> Any:
        return backends.core(backend).from_numpy(np.zeros(shape, dtype))

    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        call(zeros)

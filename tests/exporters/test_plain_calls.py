"""Calls without the broadcasts that operators do themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.exporters.source.lowering.plain_calls import with_plain_calls

ROW, COLUMN = np.arange(4.0, dtype="float32")[None], np.ones((3, 1), "float32")


def _products(x: Any) -> Any:
    return na.expand_dims(x, 1) * na.expand_dims(x, 0)


def _sum_with_a_row(x: Any) -> Any:
    return na.broadcast_to(x[:1], x.shape) + x


def _sum_of_repeated(x: Any) -> Any:
    return na.broadcast_to(x, (3, 4)) + na.broadcast_to(x, (3, 4))


def _selected(x: Any) -> Any:
    rows = na.expand_dims(x, 0)
    return na.where(rows > 1.0, rows, na.expand_dims(x, 1))


@pytest.mark.parametrize(
    ("program", "x", "calls"),
    [
        (_products, ROW, ["expand_dims", "multiply"]),
        (_products, COLUMN, ["expand_dims", "expand_dims", "multiply"]),
        (_sum_with_a_row, np.tile(ROW, (3, 1)), ["getitem", "add"]),
        (_sum_of_repeated, ROW, ["broadcast_to", "add"]),
        (_selected, ROW, None),
    ],
)
def test_an_operand_keeps_the_shape_of_the_result(
    program: Callable[[Any], Any], x: Any, calls: list[str] | None
) -> None:
    plain = with_plain_calls(na.trace_graph(program, x).lower())
    np.testing.assert_array_equal(plain(x), program(x))
    assert plain.output.aval.shape == program(x).shape
    names = [call.target_name.removeprefix("na.") for call in plain.optimize(()).calls]
    assert calls is None or sorted(names) == sorted(calls)

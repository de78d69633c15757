"""Calls without the broadcasts that operators do themselves, and short chains of views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.exporters.source.lowering.plain_calls import with_plain_calls
from nestarray.exporters.source.lowering.rearrangements import with_rearrangements

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


CUBE = np.arange(48.0, dtype="float32").reshape(2, 4, 6)


def _names(graph: na.Graph) -> list[str]:
    return [call.target_name.removeprefix("na.") for call in graph.calls]


@pytest.mark.parametrize(
    ("program", "calls"),
    [
        (lambda x: na.squeeze(x[1:2, 0:4], 0), ["getitem"]),
        (lambda x: x[:, 1:][..., :2], ["getitem"]),
        (lambda x: x[:, 1:][:, :2], ["getitem"]),
        (lambda x: na.reshape(na.expand_dims(x, 0), (8, 6)), ["reshape"]),
        (lambda x: na.permute_dims(na.matrix_transpose(x), (0, 2, 1)) + 1.0, ["add"]),
        (lambda x: na.squeeze(na.swapaxes(na.expand_dims(x, 1), 1, 3), 3), ["permute_dims"]),
        (lambda x: na.broadcast_to(na.broadcast_to(x[:1], (3, 4, 6)), (2, 3, 4, 6)), ["getitem", "broadcast_to"]),
        (lambda x: na.flip(na.flip(x, axis=1), axis=1) * 2.0, ["multiply"]),
        (lambda x: na.swapaxes(na.swapaxes(x, 1, 2) * 2.0, 1, 2), ["multiply"]),
        (lambda x: na.reshape(na.permute_dims(x, (1, 0, 2)), (4, 12)), ["permute_dims", "reshape"]),
    ],
)  # fmt: skip
def test_views_of_views_are_one_call(program: Callable[[Any], Any], calls: list[str]) -> None:
    plain = with_plain_calls(na.trace_graph(program, CUBE))
    np.testing.assert_array_equal(plain(CUBE), program(CUBE))
    assert _names(plain) == calls


def _heads(x: Any) -> Any:
    """Heads merged with the examples and back, as PyTorch's attention does it."""
    y = na.reshape(na.swapaxes(na.reshape(na.swapaxes(x, 0, 1), (4, 4, 3)), 0, 1), (2, 2, 4, 3))
    return na.reshape(na.swapaxes(na.reshape(na.swapaxes(y, 1, 2), (2, 4, 6)), 0, 1), (8, 6))


def _of_rows(x: Any) -> Any:
    """The product with a matrix, of rows that are transposed and transposed back."""
    y = na.matmul(na.swapaxes(x, 0, 1), np.ones((6, 5), "float32"))
    return na.swapaxes(y, 0, 1) + 1.0


def _parts(x: Any) -> Any:
    """Query, key and value as parts of one product."""
    y = na.permute_dims(na.reshape(x, (2, 4, 3, 1, 2)), (2, 0, 3, 1, 4))
    return [na.reshape(na.swapaxes(y[i], 1, 2), (2, 4, 2)) for i in range(3)]


@pytest.mark.parametrize(("program", "most"), [(_heads, 4), (_of_rows, 2), (_parts, 4)])
def test_chains_of_views_are_short(program: Callable[[Any], Any], most: int) -> None:
    short = with_rearrangements(na.trace_graph(program, CUBE))
    for got, want in zip(na.tree.leaves(short(CUBE)), na.tree.leaves(program(CUBE)), strict=True):
        np.testing.assert_array_equal(got, want)
    assert len(short.calls) <= most, str(short)


def test_views_of_open_sizes_read_none() -> None:
    def program(x: Any) -> Any:
        n, m = x.shape[:2]
        return na.reshape(x, (n, 1, m, 6)), na.reshape(na.reshape(x, (n * m, 6)), (n, m, 6))[1:]

    graph = na.trace_graph(program, CUBE, dynamic={"x": {0: "n", 1: "m"}}).lower()
    plain = with_plain_calls(graph)
    assert _names(plain) == ["expand_dims", "getitem"]
    for x in (CUBE, np.ones((5, 3, 6), "float32")):
        for got, want in zip(plain(x), program(x), strict=True):
            np.testing.assert_array_equal(got, want)

"""`rearrange`, `reduce` and `repeat_axes`: settings by any name, errors, and life without einops."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, MissingFrameworkError, ShapeError

X = np.arange(6, dtype="float32").reshape(2, 3)

BAD: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda x: na.rearrange(x, "a b c -> c b a"),
        ShapeError,
        "rearrange: pattern: got 'a b c -> c b a' for x of shape (2, 3): ",
    ),
    (
        lambda x: na.rearrange(x, "(a c) b -> a b c", c=4),
        ShapeError,
        "rearrange: pattern: got '(a c) b -> a b c' for x of shape (2, 3) and sizes {'c': 4}: "
        "Shape mismatch, can't divide axis of length 2 in chunks of 4",
    ),
    (
        lambda x: na.repeat_axes(x, "a b -> a b c"),
        ShapeError,
        "repeat_axes: pattern: got 'a b -> a b c' for x of shape (2, 3): "
        "Specify sizes for new axes in repeat",
    ),
    (
        lambda x: na.rearrange(x, ("b", "a")),
        ArgumentError,
        "rearrange: pattern: got tuple, expected a string such as 'b (h w) c -> b h w c'",
    ),
    (
        lambda x: na.rearrange(x, "a (b c) -> a b c", c="3"),
        ArgumentError,
        "rearrange: c: got '3', expected the length of an axis",
    ),
    (
        lambda x: na.reduce(x, "a b -> a", "median"),
        ArgumentError,
        "reduce: reduction: got 'median', expected one of sum, mean, prod, max, min, any, all",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_error_on_every_backend(
    backend: str, call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        call(backends.core(backend).from_numpy(X))
    assert str(caught.value).startswith(message)


def test_an_axis_may_be_named_as_a_parameter() -> None:
    """`x` is positional only, so that an axis may be called x; on arrays, trees and in graphs."""
    pattern = "(x op) b -> x (b op)"
    expected = na.rearrange(X, "(p q) b -> p (b q)", q=2)
    np.testing.assert_array_equal(na.rearrange(X, pattern, x=1, op=2), expected)
    tree = na.rearrange(na.Container(a=X), pattern, x=1, op=2)
    np.testing.assert_array_equal(tree["a"], expected)
    graph = na.trace_graph(lambda x: na.rearrange(x, pattern, x=1, op=2), X)
    np.testing.assert_array_equal(graph(X), expected)
    assert "op=2" in str(graph)


def test_without_einops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "einops", None)
    with pytest.raises(MissingFrameworkError, match=r"^rearrange needs the package 'einops', .*"):
        na.rearrange(X, "a b -> b a")
    with pytest.raises(
        MissingFrameworkError, match=r"Install it with: pip install 'nestarray\[einops\]'$"
    ):
        na.reduce(X, "a b -> a", "sum")

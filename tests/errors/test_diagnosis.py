"""Our error in place of the framework's: its cause, its path in a tree, its op."""

from __future__ import annotations

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError
from tests.arrays import on


def test_the_frameworks_error_is_the_cause() -> None:
    with pytest.raises(ShapeError) as info:
        na.add(np.ones((2, 3)), np.ones((3, 2)))
    assert "could not be broadcast" in str(info.value.__cause__)


def test_an_error_in_a_tree_names_the_path() -> None:
    with pytest.raises(ShapeError) as info:
        na.sum(na.Container(a=np.ones(2), b={"c": np.ones((2, 2))}), axis=1)
    assert "at the Container path 'a'" in info.value.__notes__


def test_an_error_of_an_inner_op_has_both_names(backend: str) -> None:
    query, value = (
        on(backend, np.ones((2, 6, 5), "float32")),
        on(backend, np.ones((2, 5, 5), "float32")),
    )
    with pytest.raises(ShapeError, match=r"^scaled_dot_product_attention: matmul: got shapes"):
        na.scaled_dot_product_attention(query, query, value)


def test_an_argument_of_an_inner_op_has_the_outer_name(backend: str) -> None:
    x = on(backend, np.ones((2, 3, 9), "float32"))
    with pytest.raises(ArgumentError, match=r"^avg_pool1d: kernel_size: got 0"):
        na.avg_pool1d(x, kernel_size=0)


def test_other_calls_are_listed(backend: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        na.tile(on(backend, np.ones((2, 3), "float32")), (-1, 2))
    assert str(caught.value) == (
        "tile: cannot be computed for x float32 (2, 3), repetitions (-1, 2); see help(na.tile)"
    )

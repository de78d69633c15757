"""Positions out of range: an error, or on JAX a value that cannot be mistaken for an element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.torch as frontend
from nestarray.errors import IndexingError
from tests.arrays import host, on

#: (x of two rows, position of one row) → that row.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "getitem": lambda x, at: na.getitem(x, at)[0],
    "getitem-of-a-tuple": lambda x, at: na.getitem(x, (at, slice(None)))[0],
    "take": lambda x, at: na.take(x, at, axis=0)[0],
    "take_along_axis": lambda x, at: na.take_along_axis(x, at[:, None], axis=0)[0],
    "gather": lambda x, at: na.gather(x, at[:, None], axis=0)[0],
    "gather_nd": lambda x, at: na.gather_nd(x, at[:, None])[0],
    "embedding": lambda x, at: na.embedding(at, x)[0],
    "torch.index_select": lambda x, at: frontend.index_select(x, 0, at)[0],
    "torch.gather": lambda x, at: frontend.gather(x, 0, at[:, None])[0],
    "torch.embedding": lambda x, at: frontend.nn.functional.embedding(at, x)[0],
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("position", [2, -3])
def test_positions_out_of_range(name: str, position: int, backend: str) -> None:
    x = on(backend, np.asarray([[1.0], [2.0]], "float32"))
    at = on(backend, np.asarray([position], "int32"))
    if backend != "jax":
        with pytest.raises(IndexingError, match=f"got {position}"):
            CALLS[name](x, at)
        return
    assert np.isnan(host(CALLS[name](x, at))).all()
    assert np.isnan(host(na.jit(lambda x, at: CALLS[name](x, at))(x, at))).all()
    integers = on(backend, np.asarray([[1], [2]], "int32"))
    assert host(CALLS[name](integers, at)) == np.iinfo("int32").min
    slope = na.grad(lambda x: na.sum(CALLS[name](x, at)))(x)
    np.testing.assert_array_equal(host(slope), 0.0)


def test_negative_rows_of_an_embedding_are_out_of_range(backend: str) -> None:
    table = on(backend, np.ones((3, 2), "float32"))
    at = on(backend, np.asarray([0, -1], "int32"))
    if backend != "jax":
        with pytest.raises(IndexingError, match="got -1"):
            na.embedding(at, table)
        return
    np.testing.assert_array_equal(host(na.embedding(at, table)), [[1, 1], [np.nan, np.nan]])

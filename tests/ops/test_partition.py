"""`partition` and `argpartition` put one place in order, whatever they do with the rest."""

from __future__ import annotations

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ShapeError
from tests.cases import on_backend

X = np.random.default_rng(0).permutation(60).reshape(3, 20).astype("float32")


@pytest.mark.parametrize("kth", [0, 7, -3])
def test_one_place_is_in_order(backend: str, kth: int) -> None:
    x = on_backend(X, backend)
    to_numpy = backends.core(backend).to_numpy
    values = to_numpy(na.partition(x, kth))
    places = to_numpy(na.argpartition(x, kth))
    at = kth % 20
    for found in (values, np.take_along_axis(X, places, axis=-1)):
        np.testing.assert_array_equal(np.sort(found), np.sort(X))
        np.testing.assert_array_equal(found[:, at], np.sort(X)[:, at])
        assert (found[:, :at] < found[:, at, None]).all()
        assert (found[:, at + 1 :] > found[:, at, None]).all()


def test_kth_out_of_range(backend: str) -> None:
    x = on_backend(X, backend)
    message = "kth: got 20 for an axis of length 20, expected -20 <= kth < 20"
    for op in ("partition", "argpartition"):
        with pytest.raises(ShapeError, match=f"{op}: {message}"):
            getattr(na, op)(x, 20)
        with pytest.raises(ShapeError, match=f"{op}: axis: got 2 for an array of 2 dimensions"):
            getattr(na, op)(x, 0, axis=2)

"""Array objects where Python and NumPy treat them as sequences."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import nestarray as na
from nestarray.config import BACKENDS
from nestarray.errors import MixedBackendError


@pytest.mark.parametrize("backend", BACKENDS)
def test_length_and_membership(backend: str) -> None:
    x = na.array_namespace(backend).asarray([[0, 1], [2, 3]])
    assert len(x) == len(list(x)) == 2
    assert 3 in x
    assert 4 not in x
    assert x[1, 1] in x
    assert "a" not in x
    assert x.get(1, "no key") == "no key"
    with pytest.raises(TypeError):
        len(x[0, 0])
    assert not np.iterable(x[0, 0])


def test_iteration_takes_one_part_at_a_time() -> None:
    x = na.array_namespace("numpy").asarray([1, 2, 3])
    parts = iter(x)
    x[2] = 5
    assert [int(part) for part in parts] == [1, 2, 5]
    assert [int(part) for part in reversed(x)] == [5, 2, 1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_write_into_parts_of_one_array(backend: str) -> None:
    x = na.array_namespace(backend).zeros((40, 8))

    def write(row: int) -> None:
        x[row, :] = float(row)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(40)))
    np.testing.assert_array_equal(np.asarray(x), np.repeat(np.arange(40.0), 8).reshape(40, 8))


def test_functions_of_numpy_take_its_arrays_and_array_objects() -> None:
    x, weights = np.asarray([1.0, 4.0], "float32"), na.array_namespace("torch").asarray([2.0, 1.0])
    mean = np.average(x, weights=weights)
    assert isinstance(mean, np.floating)
    assert mean == 2.0
    assert isinstance(np.average(weights), na.Container)
    with pytest.raises(MixedBackendError):  # a tree is not an array
        np.average(na.Container(a=x), weights=na.Container(a=weights))
    with pytest.raises(MixedBackendError):
        np.average(na.array_namespace("jax").asarray(x), weights=weights)

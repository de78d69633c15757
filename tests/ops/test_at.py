"""`at`, `mgrid`, `ogrid` and `from_numpy`: functions without an array of the backend as argument."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close
from tests.cases import on_backend

X = np.arange(12.0).reshape(3, 4)
INDICES = {
    "slice": (slice(1, None), slice(None, None, 2)),
    "places": ([0, 2, 0], [1, 1, 1]),
    "mask": X > 5,
    "axis": None,
}
METHODS = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
}


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
@pytest.mark.parametrize("method", METHODS)
def test_at_is_the_ufunc_at_of_numpy(backend: str, method: str, index: Any) -> None:
    expected = X.copy()
    METHODS[method].at(expected, index, 5.5)
    x = on_backend(X, backend)
    assert_close(
        getattr(na.at(x)[on_backend(index, backend)], method)(5.5), on_backend(expected, backend)
    )
    assert_close(x, on_backend(X, backend))  # which is unchanged


@pytest.mark.usefixtures("x64")
def test_at_sets(backend: str) -> None:
    expected = X.copy()
    expected[1, 2:] = [7.0, 8.0]
    value = on_backend(np.asarray([7.0, 8.0]), backend)
    found = na.at(on_backend(X, backend))[1, 2:].set(value)
    assert_close(found, on_backend(expected, backend))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_at_changes_each_element_once(backend: str, index: Any) -> None:
    x, where = on_backend(X, backend), on_backend(index, backend)
    for method, value, function in [
        ("divide", 4.0, lambda part: part / 4.0),
        ("power", 2.0, np.square),
        ("apply", na.negative, np.negative),
    ]:
        expected = X.copy()
        expected[index] = function(X[index])
        assert_close(getattr(na.at(x)[where], method)(value), on_backend(expected, backend))
    assert_close(na.at(x)[where].get(), on_backend(X[index], backend))


def test_at_of_a_container_and_in_a_graph() -> None:
    tree = na.Container(a=X, b={"c": X + 1})
    expected = {"a": [9.0, 1.0], "b": {"c": [9.0, 2.0]}}
    changed = na.at(tree)[0, 0].set(9.0)
    assert changed.map(lambda x: x[0, :2].tolist()).to_dict() == expected
    graph = na.trace_graph(lambda x: na.at(x)[:, 1].multiply(2.0), X)
    assert_close(graph(X), X * [1, 2, 1, 1])


def test_at_without_an_index() -> None:
    with pytest.raises(ArgumentError, match=r"^at: name a part first: na.at\(x\)\[index\]"):
        na.at(X).set(1.0)


def test_grids_are_those_of_numpy(backend: str) -> None:
    core = backends.core(backend)
    with na.use_backend(backend), jax.enable_x64(True):
        whole, mixed = na.mgrid[0:3, 1:6:2], na.mgrid[-1:1:5j, 0:2]
        rows, columns = na.ogrid[0:3, 0.5:2]
        (line,) = [na.ogrid[2:5]]
    assert_close(core.to_numpy(whole), np.mgrid[0:3, 1:6:2])
    assert_close(core.to_numpy(mixed), np.mgrid[-1:1:5j, 0:2].astype("float32"))
    for found, expected in zip((rows, columns), np.ogrid[0:3, 0.5:2], strict=True):
        assert_close(core.to_numpy(found), expected.astype("float32"))
    assert_close(core.to_numpy(line), np.arange(2, 5))
    assert repr(na.mgrid) == "na.mgrid"


def test_grids_take_slices() -> None:
    with pytest.raises(ArgumentError, match=r"^ogrid: got 3, expected slices with ends"):
        na.ogrid[3]


def test_from_numpy(backend: str) -> None:
    host = np.asarray([[1.0, 2.0]], "float32")
    like = on_backend(host, backend)
    for found in (na.from_numpy(host, like=like), na.from_numpy(np.float32(2), like=like)):
        assert na.backend_of(found) == backend
        assert na.dtype_of(found) is na.float32
    with na.use_backend(backend):
        assert na.backend_of(na.from_numpy(na.Container(a=host))["a"]) == backend
    with pytest.raises(ArgumentError, match="from_numpy: x: got list, expected a NumPy array"):
        na.from_numpy([1.0], like=like)


def test_from_numpy_shares_memory() -> None:
    host = np.zeros(2, "float32")
    with na.use_backend("torch"):
        shared = na.from_numpy(host)
    host[0] = 5.0
    assert shared[0].item() == 5.0
    with pytest.raises(ArgumentError, match="from_numpy: x: got Tensor, expected a NumPy array"):
        na.from_numpy(shared)

"""The standard's namespace and array object: what generic code asks of them, on every backend."""

from __future__ import annotations

import pickle
from typing import Any

import einops
import numpy as np
import pytest

import nestarray as na
from nestarray import errors
from nestarray.config import BACKENDS


@pytest.fixture(params=BACKENDS)
def xp(request: pytest.FixtureRequest) -> Any:
    return na.array_namespace(request.param)


def values(x: Any) -> np.ndarray:
    return np.asarray(x.to_backend("numpy").leaves()[0])


def softmax(x: Any) -> Any:
    """As a library of the standard would write it."""
    xp = x.__array_namespace__(api_version="2024.12")
    powers = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return powers / xp.sum(powers, axis=-1, keepdims=True)


def test_generic_code_runs_on_every_backend(xp: Any) -> None:
    x = xp.asarray([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
    expected = np.exp(values(x)) / np.exp(values(x)).sum(-1, keepdims=True)
    np.testing.assert_allclose(values(softmax(x)), expected, rtol=1e-6)


def test_an_array_object_has_the_standards_attributes(xp: Any) -> None:
    x = xp.reshape(xp.arange(6, dtype=xp.float32), (2, 3))
    assert isinstance(x, na.Container)
    assert (x.shape, x.ndim, x.size, x.dtype, x.device) == ((2, 3), 2, 6, na.float32, "cpu")
    assert x.T.shape == (3, 2)
    assert xp.ones((4, 2, 3)).mT.shape == (4, 3, 2)
    assert x.to_device("cpu").shape == (2, 3)
    assert [part.shape for part in x] == [(3,), (3,)]


def test_numbers_out_of_arrays(xp: Any) -> None:
    x = xp.asarray([1, 2, 3])
    assert (int(x[2]), float(x[1]), complex(x[0]), bool(x[0])) == (3, 2.0, 1 + 0j, True)
    assert [10, 20, 30][xp.asarray(1)] == 20
    with pytest.raises(errors.ArgumentError, match=r"__int__: got an array of shape \(3,\)"):
        int(x)
    with pytest.raises(errors.ArgumentError, match="__index__: got an array of float32"):
        range(xp.asarray(1.0))


def test_indexing_with_array_objects(xp: Any) -> None:
    x = xp.reshape(xp.arange(6), (2, 3))
    i = xp.asarray([1, 0])
    np.testing.assert_array_equal(values(x[i]), values(x)[[1, 0]])
    np.testing.assert_array_equal(values(x[0, i]), values(x)[0, [1, 0]])
    np.testing.assert_array_equal(values(x[x > 2]), [3, 4, 5])
    np.testing.assert_array_equal(values(x[::-1, -1]), [5, 2])
    np.testing.assert_array_equal(values(na.getitem(x, (0, i))), values(x)[0, [1, 0]])


def test_assignment_takes_a_new_array(xp: Any) -> None:
    x = xp.zeros((2, 3))
    native, same, copy = x.leaves()[0], xp.asarray(x), xp.asarray(x, copy=True)
    x[0, :] = 7.0
    x[1, xp.asarray([0, 2])] = xp.asarray([1.0, 2.0])
    np.testing.assert_array_equal(values(x), [[7, 7, 7], [1, 0, 2]])
    assert same is x
    assert float(na.max(na.abs(native))) == 0.0  # no memory was written
    assert float(xp.max(xp.abs(copy))) == 0.0
    x += 1
    assert float(x[1, 1]) == 1.0


def test_trees_are_not_assigned_to() -> None:
    with pytest.raises(errors.ImmutableError, match=r"use c = c\.set\('a', …\)"):
        na.Container(a=np.ones(2))["a"] = 0.0


def test_metadata_of_a_tree_is_a_tree() -> None:
    c = na.Container(a=np.ones((2, 3)), b=[np.ones(4, "int32")])
    assert c.shape["a"] == (2, 3)
    assert c.dtype["b/0"] is na.int32
    assert c.ndim.to_dict() == {"a": 2, "b": [1]}
    with pytest.raises(errors.StructureError, match="__float__: this Container is a tree"):
        float(c)


def test_namespaces_are_one_object_a_backend(xp: Any) -> None:
    x = xp.ones(2)
    assert x.__array_namespace__() is xp
    assert na.array_namespace(x, x.leaves()[0]) is xp
    assert pickle.loads(pickle.dumps(xp)) is xp
    assert xp.__array_api_version__ == "2025.12"
    info = xp.__array_namespace_info__()
    assert isinstance(info.devices(), tuple)
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] is na.float32
    assert "float32" in info.dtypes(kind="real floating")
    assert "int8" not in info.dtypes(kind=("bool", "real floating"))


def test_native_arrays_stay_native(xp: Any) -> None:
    native = xp.asarray([1.0, 4.0]).leaves()[0]
    assert type(xp.sqrt(native)) is type(native)


@pytest.mark.parametrize("backend", BACKENDS)
def test_numpy_takes_array_objects(backend: str) -> None:
    xp = na.array_namespace(backend)
    x = xp.asarray([[1.0, 2.0, 3.0]])
    taken = np.asarray(x)
    assert taken.dtype == np.float32
    assert taken.tolist() == [[1.0, 2.0, 3.0]]
    assert np.asarray(xp.asarray(2.5)).shape == ()
    assert np.asarray(x, dtype="float64").dtype == np.float64
    copied = np.array(x, copy=True)
    copied[:] = 0.0
    assert float(x[0, 0]) == 1.0
    if backend == "numpy":
        assert np.shares_memory(np.asarray(x, copy=False), np.from_dlpack(x))


def test_numpy_takes_no_tree_for_an_array() -> None:
    with pytest.raises(errors.StructureError) as caught:
        np.asarray(na.Container(a=np.ones(2)))
    assert str(caught.value) == (
        "__array__: this Container is a tree of arrays; only one of a single bare array is an array "
        "object. Take a leaf, c[path], or use the function of na, which takes trees"
    )


def test_dlpack_hands_over_and_copies() -> None:
    x = na.array_namespace("torch").asarray([1.0, 2.0])
    np.testing.assert_array_equal(np.from_dlpack(x), [1.0, 2.0])
    assert x.__dlpack_device__() == (1, 0)
    for backend in BACKENDS:
        other = na.array_namespace(backend).from_dlpack(x)
        assert na.backend_of(other) == backend
        assert na.array_namespace(backend).ones(2).__dlpack__(copy=True) is not None


def test_objects_without_a_namespace() -> None:
    with pytest.raises(errors.ArgumentError, match="expected one of numpy, jax, torch, tensorflow"):
        na.array_namespace("cupy")
    with pytest.raises(errors.ArgumentError, match="backend_of: got list, expected an array"):
        na.array_namespace(3)
    with pytest.raises(errors.MixedBackendError):
        na.array_namespace(np.ones(2), na.array_namespace("torch").ones(2))
    with pytest.raises(errors.ArgumentError, match=r"api_version: got '2020\.01'"):
        na.Container(np.ones(2)).__array_namespace__(api_version="2020.01")
    with pytest.raises(errors.ArgumentError, match="to_device: stream: got 1, expected None"):
        na.to_device(np.ones(2), "cpu", stream=1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_array_objects_print_as_arrays(backend: str) -> None:
    xp = na.array_namespace(backend)
    for x in (xp.sum(xp.ones((2, 3))), xp.ones((2, 3))):
        native = x.leaves()[0]
        assert repr(x) == repr(native)
        assert (str(x), f"{x}") == (str(native), f"{native}")
    assert f"{xp.sum(xp.ones(3)):.2f}" == "3.00"
    assert str(na.Container(a=1)) == repr(na.Container(a=1)) == f"{na.Container(a=1)}"
    with pytest.raises(TypeError, match="format string"):
        f"{na.Container(a=1):.2f}"
    assert repr(na.Container("text")) == "Container('text')"


EINOPS = {
    "rearrange": lambda x: einops.rearrange(x, "a (b c) -> c a b", c=2),
    "list": lambda x: einops.rearrange([x, x + 1], "n a b -> a (n b)"),
    "sum": lambda x: einops.reduce(x, "a b -> a", "sum"),
    "mean": lambda x: einops.reduce(x, "a (b c) -> a b", "mean", c=2),
    "max": lambda x: einops.reduce(x, "a b -> ", "max"),
    "repeat": lambda x: einops.repeat(x, "a b -> (a 2) b c", c=3),
    "einsum": lambda x: einops.einsum(x, x + 1, "a b, c b -> a c"),
    "pack": lambda x: einops.pack([x, x], "* b")[0],
    "unpack": lambda x: einops.unpack(x, [(2,), (1,)], "* b")[1],
    "numpy": einops.asnumpy,
}


@pytest.mark.parametrize("function", EINOPS.values(), ids=EINOPS)
def test_einops_takes_array_objects(xp: Any, function: Any) -> None:
    x = np.arange(12.0, dtype="float32").reshape(3, 4)
    result = function(xp.asarray(x))
    assert isinstance(result, np.ndarray if function is einops.asnumpy else na.Container)
    np.testing.assert_array_equal(np.asarray(result), function(x))


def test_einops_takes_no_trees() -> None:
    with pytest.raises(errors.StructureError, match=r"einops: got a tree .* na.rearrange"):
        einops.rearrange(na.Container(a=np.ones((2, 3))), "a b -> b a")

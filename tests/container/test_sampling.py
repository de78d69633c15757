"""Trees of random numbers: the same on every backend, each leaf for itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, DtypeError
from tests.arrays import on

TREE = {
    "a": {"w": np.zeros((3, 2), "float32"), "b": np.zeros(0, "float32")},
    "l": [np.zeros((), "float32"), None],
    "name": "net",
}


def test_bits_are_the_same_on_every_backend(backend: str) -> None:
    key = na.random.key(3)  # of NumPy: it is moved to where the leaves are
    c = on(backend, TREE)
    found = c.random_like(key, distribution=na.random.uniform)
    assert found.spec is c.spec
    for path, leaf in (
        na.Container(TREE).random_like(key, distribution=na.random.uniform).flat_items()
    ):
        if hasattr(leaf, "dtype"):
            assert na.backend_of(found[path]) == backend
            assert na.dtype_of(found[path]) is na.float32
            np.testing.assert_array_equal(np.asarray(found[path]), leaf)
        else:
            assert found[path] is leaf


def test_other_leaves_do_not_matter() -> None:
    key = na.random.key(0)
    c = na.Container(TREE)
    more = na.Container(first=np.zeros(5)).update(c).set("a/new", np.zeros(3))
    one, other = c.random_like(key), more.random_like(key)
    for path in ("a/w", "l/0"):
        np.testing.assert_array_equal(one[path], other[path])
    assert not np.array_equal(one["a/w"], c.random_like(na.random.key(1))["a/w"])
    np.testing.assert_array_equal(
        one["a/w"], na.random.normal(na.random.fold_in(key, "a/w"), (3, 2))
    )


def test_every_leaf_has_numbers_of_its_own() -> None:
    x = np.zeros(4)
    c = na.Container({"a": {"b/c": x, "b": {"d": x}}, "a/c": {"c": x}, "0": x, "l": [x, x]})
    drawn = c.random_like(na.random.key(0))
    assert len({leaf.tobytes() for leaf in drawn.leaves()}) == 6


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_distributions_and_dtypes(backend: str) -> None:
    c = on(backend, TREE).select("a/w").set("n", na.to_backend(np.zeros(1000, "int32"), backend))

    def dice(key: Any, shape: Any, dtype: Any) -> Any:
        return na.random.randint(key, shape, 1, 7, dtype)

    thrown = c.random_like(na.random.key(0, backend=backend), distribution=dice, dtype="int32")
    assert set(np.asarray(thrown.n).tolist()) == set(range(1, 7))
    small = c.random_like(na.random.key(0), dtype="bfloat16")
    assert {na.dtype_of(x) for x in small.leaves()} == {na.bfloat16}
    normal = np.asarray(c.random_like(na.random.key(0), dtype="float32").n)
    assert abs(normal.mean()) < 0.1
    assert abs(normal.std() - 1) < 0.1


@pytest.mark.parametrize(
    "backend", ["jax", pytest.param("torch", marks=pytest.mark.full), "tensorflow"]
)
def test_compiled(backend: str) -> None:
    c = on(backend, TREE).select("a/w")
    key = na.random.key(5, backend=backend)
    options = {"backend": "aot_eager"} if backend == "torch" else {}

    def draw(c: na.Container, key: Any) -> na.Container:
        return c.random_like(key, distribution=na.random.bits, dtype="uint8")

    found = na.jit(draw, **options)(c, key)
    np.testing.assert_array_equal(np.asarray(found["a/w"]), np.asarray(draw(c, key)["a/w"]))


def test_messages() -> None:
    c = na.Container(a={"n": np.zeros(2, "int32")})
    with pytest.raises(ArgumentError) as info:
        c.random_like(0)
    assert str(info.value) == (
        "Container.random_like: key: got int, expected a key such as na.random.key(0)"
    )
    with pytest.raises(DtypeError) as error:
        c.random_like(na.random.key(0))
    assert error.value.__notes__ == ["at the Container path 'a/n'"]

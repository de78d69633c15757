"""Trees as vectors and back, against jax.flatten_util, with gradients and compiled."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, DtypeError, MixedBackendError, ShapeError
from tests.arrays import on
from tests.trees import nests

ARRAYS = st.sampled_from(
    [
        np.asarray(3, "int8"), np.zeros((0, 2), "float32"), np.arange(4, dtype="int32"),
        np.asarray([[1.5, -2.0]], "float32"), np.asarray([True, False]), np.float64(0.25),
        np.asarray([1 + 2j, 3j]), np.asarray([7.0], "float16"), None, "relu", 3,
    ]
)  # fmt: skip

TREE = {
    "w": np.arange(6, dtype="float32").reshape(2, 3),
    "rest": [np.asarray(7, "int32"), {"b": np.asarray([8.0], "float32"), "none": None}],
    "empty": np.zeros((0, 3), "float32"),
    "name": "net",
    "rate": 0.5,
}


@given(nests(ARRAYS))
def test_back_is_exact(tree: Any) -> None:
    c = na.Container(a=tree)
    vector, unravel = c.tree_ravel()
    assert vector.shape == (c.size,)
    back = unravel(vector)
    assert back.spec is c.spec
    for x, y in zip(back.leaves(), c.leaves(), strict=True):
        if isinstance(y, (np.ndarray, np.generic)):
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)
        else:
            assert x is y


def test_every_backend(backend: str) -> None:
    c = on(backend, TREE)
    vector, unravel = na.tree_ravel(c)
    assert na.backend_of(vector) == backend
    assert na.dtype_of(vector) is na.float32
    np.testing.assert_array_equal(np.asarray(vector), [0, 1, 2, 3, 4, 5, 7, 8])
    back = unravel(vector * 2)
    assert back.spec is c.spec
    for name, leaf in back.flat_items():
        if na.Container(TREE).select(name).size:
            assert na.dtype_of(leaf) is na.dtype_of(c[name])
            np.testing.assert_array_equal(np.asarray(leaf), np.asarray(c[name]) * 2)
    assert (back["name"], back["rate"], back["rest/1/none"]) == ("net", 0.5, None)


def test_a_part(backend: str) -> None:
    c = on(backend, TREE)
    vector, unravel = c.tree_ravel("**/b", "w")
    np.testing.assert_array_equal(np.asarray(vector), [0, 1, 2, 3, 4, 5, 8])
    back = unravel(vector + 1)
    np.testing.assert_array_equal(np.asarray(back["w"]), TREE["w"] + 1)
    np.testing.assert_array_equal(np.asarray(back["rest/1/b"]), [9.0])
    assert back["rest/0"] is c["rest/0"]


def test_a_batch_of_vectors(backend: str) -> None:
    c = on(backend, TREE)
    vector, unravel = c.tree_ravel()
    back = unravel(na.stack([vector, vector + 1, vector + 2]))
    assert tuple(back["w"].shape) == (3, 2, 3)
    assert tuple(back["rest/0"].shape) == (3,)
    np.testing.assert_array_equal(np.asarray(back["w"][2]), TREE["w"] + 2)


def test_bfloat16(backend: str) -> None:
    c = na.Container(a=np.float32([1, 2]), b=np.float32([3])).to_backend(backend)
    c = c.set("a", na.astype(c.a, "bfloat16"))
    vector, unravel = c.tree_ravel()
    assert na.dtype_of(vector) is na.float32
    assert na.dtype_of(unravel(vector).a) is na.bfloat16
    assert na.dtype_of(c.select("a").tree_ravel()[0]) is na.bfloat16


def test_the_vector_is_that_of_jax() -> None:
    from jax.flatten_util import ravel_pytree

    tree = {k: v for k, v in TREE.items() if k not in ("name", "rate")}
    c = na.Container(tree).to_backend("jax")
    expected, _ = ravel_pytree(c)
    vector, _ = na.tree_ravel(c)
    assert vector.dtype == expected.dtype
    np.testing.assert_array_equal(vector, expected)


def test_any_nest() -> None:
    nest = (na.Container(a=np.ones(2)), [np.zeros(1), {"x": np.full(2, 3.0)}])
    vector, unravel = na.tree_ravel(nest)
    np.testing.assert_array_equal(vector, [1, 1, 0, 3, 3])
    first, (second, third) = unravel(vector)
    assert isinstance(first, na.Container)
    np.testing.assert_array_equal(second, [0])
    np.testing.assert_array_equal(third["x"], [3, 3])


def test_trees_without_arrays() -> None:
    for c in (na.Container(), na.Container(a=None, b="x")):
        vector, unravel = c.tree_ravel()
        assert vector.shape == (0,)
        assert unravel(vector).to_dict() == c.to_dict()


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_gradients_and_compilation(backend: str) -> None:
    c = on(backend, TREE).select("w", "**/b")

    def energy(c: na.Container) -> Any:
        vector, _ = na.tree_ravel(c)
        return na.sum(vector * vector)

    def through(vector: Any) -> Any:
        back = unravel(vector)
        return na.sum(back["w"] ** 3) + na.sum(back["rest/1/b"])

    vector, unravel = na.tree_ravel(c)
    options = {"backend": "aot_eager"} if backend == "torch" else {}  # no time for Inductor
    for compiled in (lambda fn: fn, partial(na.jit, **options)):
        _, grads = compiled(na.value_and_grad(energy))(c)
        assert grads.spec is c.spec
        for name, leaf in grads.flat_items():
            np.testing.assert_allclose(np.asarray(leaf), 2 * np.asarray(c[name]), rtol=1e-6)
        _, grad = compiled(na.value_and_grad(through))(vector)
        expected = np.append(3 * TREE["w"].ravel() ** 2, 1.0)
        np.testing.assert_allclose(np.asarray(grad), expected, rtol=1e-6)


def test_errors() -> None:
    c = na.Container(a=np.ones((2, 3)), b=np.zeros(1))
    _, unravel = c.tree_ravel()
    for wrong, shape in ((np.ones(6), "(6,)"), (np.ones((7, 1)), "(7, 1)"), (np.float64(1), "()")):
        with pytest.raises(ShapeError) as info:
            unravel(wrong)
        assert str(info.value) == (
            f"tree_ravel: unravel: vector: got the shape {shape}, expected (7,), or axes of a batch "
            "before that"
        )
    with pytest.raises(DtypeError) as error:
        unravel(np.ones(7, "complex64"))
    assert str(error.value) == (
        "tree_ravel: unravel: vector: got complex64, expected real numbers, since the tree has no "
        "complex array; take na.real(vector)"
    )
    with pytest.raises(ArgumentError) as argument:
        na.tree_ravel({"a": np.ones(2)}, "a")
    assert str(argument.value) == (
        "tree_ravel: patterns: got ('a',) for a dict, expected a Container, whose leaves have "
        "paths; use na.Container(tree)"
    )
    with pytest.raises(MixedBackendError):
        c.set("b", na.to_backend(c.b, "torch")).tree_ravel()

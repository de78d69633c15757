"""Reductions over all leaves, on every backend, against NumPy on the concatenated leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError, StructureError
from tests.arrays import on

TREE = {
    "a": np.asarray([[1.0, -2.0], [3.0, 0.5]], "float32"),
    "b": [np.asarray(4.0, "float32"), {"c": np.asarray([-6.0], "float32")}],
}
VECTOR = np.asarray([1.0, -2.0, 3.0, 0.5, 4.0, -6.0], "float32")

EXPECTED = {
    "tree_sum": VECTOR.sum(),
    "tree_max": VECTOR.max(),
    "tree_min": VECTOR.min(),
    "tree_norm": np.linalg.norm(VECTOR),
    "tree_mean": VECTOR.mean(),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_against_numpy(name: str, backend: str) -> None:
    c = on(backend, TREE)
    for result in (getattr(na, name)(c), getattr(c, name)(), getattr(na, name)({"in": [c]})):
        assert na.backend_of(result) == backend
        np.testing.assert_allclose(float(result), EXPECTED[name], rtol=1e-6)


@pytest.mark.parametrize("ord", [0.5, 1, 1.5, 2, 3, np.inf])
def test_norms(ord: float, backend: str) -> None:
    result = na.tree_norm(on(backend, TREE), ord=ord)
    np.testing.assert_allclose(float(result), np.linalg.norm(VECTOR, ord), rtol=1e-6)


def test_dot(backend: str) -> None:
    c = on(backend, TREE)
    np.testing.assert_allclose(float(na.tree_dot(c, c * 2)), 2 * VECTOR @ VECTOR, rtol=1e-6)
    other_order = na.Container(b=c["b"], a=c["a"])
    np.testing.assert_allclose(float(c.tree_dot(other_order)), VECTOR @ VECTOR, rtol=1e-6)


def test_complex() -> None:
    z = np.asarray([3 + 4j, 1j])
    c = na.Container(z=z)
    assert na.tree_dot(c, c) == np.vdot(z, z)
    np.testing.assert_allclose(na.tree_norm(c), np.linalg.norm(z))
    assert na.tree_norm(c, ord=1) == 6.0
    assert na.tree_norm(c, ord=np.inf) == 5.0
    np.testing.assert_allclose(na.tree_norm(c, ord=3), np.linalg.norm(z, 3))
    assert na.tree_mean(c) == z.mean()


def test_small_floating_types_do_not_overflow(backend: str) -> None:
    for dtype in ("float16", "bfloat16"):
        c = on(backend, {"a": np.full(4000, 3000.0, "float32")}).astype(dtype)
        eps = float(na.finfo(dtype).eps)  # the elements are rounded to the dtype
        assert na.dtype_of(c.tree_norm()) is na.float32
        np.testing.assert_allclose(float(c.tree_norm()), 3000 * 4000**0.5, rtol=eps)
        assert na.dtype_of(c.tree_mean()) is na.as_dtype(dtype)
        np.testing.assert_allclose(float(na.astype(c.tree_mean(), "float32")), 3000, rtol=eps)


def test_integers_and_numbers_of_python(backend: str) -> None:
    c = on(backend, {"a": np.asarray([100, 100], "int8")}).set("b", 50.0)
    np.testing.assert_allclose(float(c.tree_norm()), 150.0)
    np.testing.assert_allclose(
        float(c.tree_norm(ord=3)), (2 * 100**3 + 50**3) ** (1 / 3), rtol=1e-6
    )
    np.testing.assert_allclose(float(c.tree_mean()), 250 / 3, rtol=1e-6)
    assert na.backend_of(c.tree_norm()) == na.backend_of(c.tree_mean()) == backend


def test_empty_arrays_have_no_part_in_it(backend: str) -> None:
    c = on(backend, TREE).set("empty", on(backend, {"x": np.zeros((0, 3), "float32")}))
    for name, expected in EXPECTED.items():
        np.testing.assert_allclose(float(getattr(c, name)()), expected, rtol=1e-6)
    assert float(c.tree_norm(ord=np.inf)) == 6.0


def test_truth(backend: str) -> None:
    c = on(backend, TREE)
    assert bool(na.tree_all(c == c))
    assert not bool(na.tree_all(c == on(backend, TREE).set("a", on(backend, TREE)["a"] * 2)))
    assert bool(na.tree_any(c < -5))
    assert not bool(na.tree_any(c < -7))


def test_what_is_no_number_is_left_out() -> None:
    c = na.Container(a=np.ones(3), b=None, c="relu", d=2.0)
    assert na.tree_sum(c) == 5.0
    assert na.tree_max(c) == 2.0
    np.testing.assert_allclose(na.tree_norm(c), np.sqrt(7.0))


def test_trees_without_numbers() -> None:
    empty = na.Container(a=None)
    assert na.tree_sum(empty) == na.tree_norm(empty) == na.tree_dot(empty, empty) == 0.0
    assert na.tree_all(na.Container())
    assert not na.tree_any(na.Container())
    with pytest.raises(ArgumentError) as info:
        na.tree_max(empty)
    assert str(info.value) == "tree_max: got a tree without numbers, which has no extreme element"


def test_messages() -> None:
    c = na.Container(a=np.ones(3))
    for ord in (0, -1, float("nan"), "fro", True):
        with pytest.raises(ArgumentError) as info:
            na.tree_norm(c, ord=ord)  # type: ignore[arg-type]
        expected = f"tree_norm: ord: got {ord!r}, expected a positive number or infinity"
        assert str(info.value) == expected
    with pytest.raises(ArgumentError) as info:
        na.tree_mean(na.Container(a=np.zeros(0)))
    assert str(info.value) == "tree_mean: got a tree without numbers, which has no mean"
    with pytest.raises(StructureError, match=r"^tree_dot: Containers do not match: 'a' is in"):
        na.tree_dot(c, na.Container(b=np.ones(3)))
    with pytest.raises(StructureError) as info:
        na.tree_dot([np.ones(1)], [np.ones(1), np.ones(1)])
    assert str(info.value) == "tree_dot: the trees have 1 and 2 leaves, expected one structure"


@given(st.lists(st.lists(st.integers(-9, 9), min_size=1, max_size=4), min_size=1, max_size=5))
def test_the_shape_of_the_tree_does_not_matter(rows: list[list[int]]) -> None:
    vector = np.concatenate([np.asarray(r, "float64") for r in rows])
    c = na.Container([np.asarray(r, "float64") for r in rows])
    assert na.tree_sum(c) == vector.sum()
    assert na.tree_max(c) == vector.max()
    assert na.tree_dot(c, c) == vector @ vector


def test_gradients_and_compilation() -> None:
    import jax
    import torch

    c = on("jax", TREE)
    grads = jax.jit(jax.grad(na.tree_norm))(c)
    expected = c / np.linalg.norm(VECTOR)
    for path, leaf in grads.flat_items():
        np.testing.assert_allclose(leaf, expected[path], rtol=1e-6)
    grads = torch.func.grad(na.tree_norm)(on("torch", TREE))
    for path, leaf in grads.flat_items():
        np.testing.assert_allclose(leaf, np.asarray(expected[path]), rtol=1e-6)


def test_the_mean_of_a_batch_of_open_size() -> None:
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec([None, 2])], autograph=False)
    def mean(x: Any) -> Any:
        return na.Container(a=x, b=x[0] * 4).tree_mean()

    assert float(mean(tf.ones((3, 2)))) == 14 / 8


def test_what_stands_for_an_array_is_not_passed_by() -> None:
    import jax

    c = na.Container(w=np.ones(2), label="x", n=None)
    assert float(c.tree_sum()) == 2.0
    described = c.set("b", {"v": jax.ShapeDtypeStruct((2,), "float32")})
    for name in ("sum", "mean", "norm", "max", "min", "all", "any"):
        with pytest.raises(ArgumentError) as info:
            getattr(na, f"tree_{name}")(described)
        assert str(info.value) == (
            f"tree_{name}: 'b/v' is a ShapeDtypeStruct, expected an array of numpy, jax, torch or "
            "tensorflow, or a number; read or convert it with c.map(fn), or leave it out with "
            "c.exclude(type)"
        )


def test_the_inner_product_broadcasts_nothing() -> None:
    c = na.Container(a={"w": np.ones((2, 3))}, b=np.ones(2))
    for tree, place in ((c, "'a/w'"), ([c["a/w"], c["b"]], "leaf 0")):
        other = c.set("a/w", np.ones(3)) if tree is c else [np.ones(3), c["b"]]
        with pytest.raises(ShapeError) as info:
            na.tree_dot(tree, other)
        assert str(info.value) == (
            f"tree_dot: {place}: got the shapes (2, 3) and (3,), expected one shape"
        )

"""The axes in front of all arrays: computed, indexed, changed, reshaped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError


def batch(backend: str = "numpy", shape: tuple[int, ...] = (4, 3)) -> na.Container:
    """Arrays of several ranks and dtypes behind one batch, and leaves that are not arrays."""

    def ramp(*rest: int, dtype: str = "float32") -> Any:
        return na.to_backend(
            np.arange(np.prod((*shape, *rest))).reshape(*shape, *rest).astype(dtype), backend
        )

    return na.Container(
        obs={"image": ramp(2, 5), "x": ramp()}, more=[ramp(1, dtype="int32"), (None, "s")], n=3
    )


def check(found: na.Container, c: na.Container, expected: Any) -> None:
    """`found` is `expected`, a function of NumPy arrays, of each array of `c`."""
    assert found.spec is c.spec
    for x, y in zip(found.leaves(), c.leaves(), strict=True):
        if not hasattr(y, "dtype"):
            assert x is y
            continue
        assert na.backend_of(x) == na.backend_of(y)
        assert na.dtype_of(x) is na.dtype_of(y)
        np.testing.assert_array_equal(np.asarray(x), expected(np.asarray(y)))


def test_batch_shape(backend: str) -> None:
    assert batch(backend).batch_shape == (4, 3)
    assert batch(backend)["obs"].batch_shape == (4, 3)
    assert na.Container().batch_shape == na.Container(a=None, b=1.0).batch_shape == ()
    assert na.Container(a=np.ones((2, 3)), b=np.ones(())).batch_shape == ()
    assert na.Container(a=np.ones((2, 3)), b=np.ones((3, 3))).batch_shape == ()
    assert na.Container(a=np.ones((2, 3, 4)), b=np.ones((2, 5, 4))).batch_shape == (2,)
    assert na.Container(np.ones((2, 3))).batch_shape == (2, 3)


@given(st.lists(st.lists(st.integers(1, 3), max_size=4), min_size=1, max_size=4))
def test_it_is_the_longest_common_beginning(shapes: list[list[int]]) -> None:
    found = na.Container([np.zeros(shape) for shape in shapes]).batch_shape
    assert all(tuple(shape[: len(found)]) == found for shape in shapes)
    longer = {tuple(shape[: len(found) + 1]) for shape in shapes}
    assert len(longer) > 1 or any(len(shape) == len(found) for shape in shapes)


@pytest.mark.parametrize(
    "place", [2, -1, slice(1, 3), (slice(None), slice(1, 3)), (1, 2), (..., None), (None, 1)]
)
def test_indices_go_through_the_batch(place: Any, backend: str) -> None:
    c = batch(backend).exclude("n")  # a number is an array without axes, to ops
    whole = c["obs"] if isinstance(place, tuple) and place == (1, 2) else c
    check(whole[place], whole, lambda x: x[place])


@pytest.mark.parametrize("place", [2, slice(1, 3), (slice(None), 1)])
def test_at_changes_the_same_part_of_every_array(place: Any, backend: str) -> None:
    c = batch(backend).exclude("n")

    def expected(operation: Any) -> Any:
        def change(x: np.ndarray) -> np.ndarray:
            x = x.copy()
            x[place] = operation(x[place])
            return x

        return change

    check(c.at[place].set(7), c, expected(lambda part: 7))
    check(c.at[place].add(2), c, expected(lambda part: part + 2))
    check(c.at[place].multiply(3), c, expected(lambda part: part * 3))
    arrays = c.exclude("more/1")
    part = arrays[place] * 5
    reordered = na.Container(
        more=part["more"], obs={"x": part["obs/x"], "image": part["obs/image"]}
    )
    check(arrays.at[place].set(reordered), arrays, expected(lambda part: part * 5))


def test_integer_keys_come_before_indices() -> None:
    c = na.Container([np.ones(2), np.zeros(2)])
    np.testing.assert_array_equal(c.at[0].set(5.0)[0], [5, 5])
    np.testing.assert_array_equal(c.at[:1].set(5.0)[0], [5, 1])


def test_reshape(backend: str) -> None:
    c = batch(backend)
    for shape, full in (((12,), (12,)), (12, (12,)), ((2, -1), (2, 6)), ((1, 4, 3), (1, 4, 3))):
        check(c.reshape_batch(shape), c, lambda x, full=full: x.reshape(*full, *x.shape[2:]))
    check(c.reshape_batch((2, 2), ndim=1), c, lambda x: x.reshape(2, 2, *x.shape[1:]))
    check(c.reshape_batch((1, 1), ndim=0), c, lambda x: x[None, None])
    check(c.reshape_batch(-1).reshape_batch((4, 3)), c, lambda x: x)


def test_permute(backend: str) -> None:
    c = batch(backend)
    check(c.permute_batch((1, 0)), c, lambda x: np.swapaxes(x, 0, 1))
    check(c.permute_batch((0,)), c, lambda x: x)
    check(c.permute_batch(()), c, lambda x: x)


def test_expand(backend: str) -> None:
    c = batch(backend)
    check(c.expand_batch((2, 4, 3)), c, lambda x: np.broadcast_to(x, (2, *x.shape)))
    check(c.expand_batch(2, ndim=0), c, lambda x: np.broadcast_to(x, (2, *x.shape)))
    one = batch(backend, (1, 3))
    check(one.expand_batch((6, 3)), one, lambda x: np.broadcast_to(x, (6, *x.shape[1:])))
    check(one.expand_batch(6, ndim=1), one, lambda x: np.broadcast_to(x, (6, *x.shape[1:])))


def test_trees_without_arrays() -> None:
    c = na.Container(a=None, b="x")
    for changed in (c.reshape_batch((1,)), c.expand_batch(3), c.permute_batch((1, 0))):
        assert changed.to_dict() == c.to_dict()


def test_bfloat16_and_empty_axes(backend: str) -> None:
    c = na.Container(a=np.zeros((0, 2), "float32"), b=np.zeros(0, "float32")).to_backend(backend)
    c = c.astype("bfloat16")
    assert c.batch_shape == (0,)
    wide = c.reshape_batch((0, 5))
    assert wide.batch_shape == (0, 5)
    assert {na.dtype_of(x) for x in wide.leaves()} == {na.bfloat16}


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_gradients_and_compilation(backend: str) -> None:
    c = batch(backend).select(dtype="real floating")
    weights = batch(backend).select(dtype="real floating").expand_batch((2, 4, 3))

    def loss(c: na.Container) -> Any:
        wide = c.permute_batch((1, 0)).reshape_batch(12).reshape_batch((3, 4)).permute_batch((1, 0))
        return na.tree_dot(wide.expand_batch((2, 4, 3)), weights) + na.tree_sum(c.at[0].set(0.0))

    def expected(x: np.ndarray) -> np.ndarray:
        return 2 * x + (np.arange(4) > 0).reshape(4, *(1,) * (x.ndim - 1))

    options = {"backend": "aot_eager"} if backend == "torch" else {}
    for gradient in (na.grad(loss), na.jit(na.grad(loss), **options)):
        check(gradient(c), c, expected)


def test_batches_of_open_size() -> None:
    import tensorflow as tf

    @tf.function(
        input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([None, 3, 2])], autograph=False
    )
    def turned(x: Any, y: Any) -> Any:
        c = na.Container(x=x, y=y)
        assert c.batch_shape == (None, 3)
        turned = c.permute_batch((1, 0)).expand_batch(2, ndim=0)
        return turned.x, turned.y, c.reshape_batch(-1).y

    x, y, flat = turned(tf.ones((4, 3)), tf.ones((4, 3, 2)))
    assert (x.shape, y.shape, flat.shape) == ((2, 3, 4), (2, 3, 4, 2), (12, 2))


def test_errors() -> None:
    c = batch()
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: c.reshape_batch((5, -1)), ShapeError,
         "reshape_batch: shape: got (5, -1) for the batch (4, 3), expected 12 elements; give ndim if "
         "the batch has not 2 axes"),
        (lambda: c.reshape_batch((3,), ndim=1), ShapeError,
         "reshape_batch: shape: got (3,) for the batch (4,), expected 4 elements"),
        (lambda: c.reshape_batch((-1, -1)), ShapeError,
         "reshape_batch: shape: got (-1, -1) for the batch (4, 3), expected 12 elements; give ndim if "
         "the batch has not 2 axes"),
        (lambda: c.reshape_batch("ab"), ArgumentError,
         "reshape_batch: shape: got 'ab', expected an integer or several"),
        (lambda: c.reshape_batch(2, ndim=-1), ArgumentError,
         "reshape_batch: ndim: got -1, expected an integer that is not negative"),
        (lambda: c.reshape_batch(2, ndim=3), ShapeError,
         "reshape_batch: expected 3 axes in front that all arrays have in common, got the batch "
         "(4, 3)"),
        (lambda: c.permute_batch((0, 2)), ArgumentError,
         "permute_batch: axes: got (0, 2), expected the numbers 0 to 1 in some order"),
        (lambda: c.permute_batch((0, 2, 1)), ShapeError,
         "permute_batch: expected 3 axes in front that all arrays have in common, got the batch "
         "(4, 3)"),
        (lambda: c.expand_batch(5), ShapeError,
         "expand_batch: shape: got (5,) for the batch (4, 3), expected one to which that broadcasts; "
         "give ndim if the batch has not 2 axes"),
    ]  # fmt: skip
    for call, error, message in cases:
        with pytest.raises(error) as info:
            call()
        assert str(info.value) == f"Container.{message}"
    with pytest.raises(IndexError) as error:
        c.exclude("n", "more/1")[9]
    assert error.value.__notes__ == ["at the Container path 'obs/image'"]

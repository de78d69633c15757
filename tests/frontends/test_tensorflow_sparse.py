"""Sparse tensors, and sets, against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.arrays import host, on
from tests.frontends import tensorflow_expressions as expressions

A, B = "SparseTensor(at, v, [3, 3])", "SparseTensor(at2, w, [3, 3])"
CUBE = "SparseTensor([[0, 1, 0], [1, 0, 3], [1, 2, 2], [1, 2, 3]], v, [2, 3, 4])"
IDS = "SparseTensor(at, k[:4], [3, 3])"
EXPRESSIONS = [
    f"to_dense({A})", f"to_dense({CUBE})", f"to_dense({A}, 0.5)", f"to_dense({A}, q[0])",
    "to_dense(from_dense(holes))", "from_dense(holes)", "from_dense(i)", f"add({A}, {B})", f"add({A}, {B}, 1.5)",
    f"add({A}, m)", f"add(m, {A})", f"to_dense({A} * z)", f"to_dense({A} / m)", f"{A} * m",
    f"concat(0, [{A}, {B}])", f"concat(-1, [{A}, {B}])",
    f"concat(1, [{A}, SparseTensor(at2, w, [4, 3])], expand_nonconcat_dims=True)",
    f"expand_dims({A})", f"expand_dims({A}, 0)", f"expand_dims({A}, -2)", "eye(3)", "eye(2, 4, 'int32')",
    "fill_empty_rows(SparseTensor(at, v, [5, 3]), 7.0)", f"fill_empty_rows({A}, q[0])",
    f"map_values(tuple_sum, {A}, SparseTensor(at, w, [3, 3]))", "mask(IndexedSlices(tall, k[:3]), [0, 4])",
    f"maximum({A}, {B})", f"minimum({A}, {B})",
    *[
        f"{name}({x}, {rest})"
        for name in ("reduce_sum", "reduce_max")
        for x, rest in (
            (A, "None"), (A, "0"), (A, "[1], True"), (CUBE, "[0, 2]"), (CUBE, "[-2], True"), (CUBE, "[]"),
            (A, "0, output_is_sparse=True"), (CUBE, "[1], True, True"), ("SparseTensor(at, v, [5, 4])", "1"),
        )
    ],
    "reorder(SparseTensor([[1, 0], [0, 2], [0, 1], [1, 2]], v, [2, 3]))", f"reset_shape({A})",
    f"reset_shape({A}, [5, 4])", f"reshape({A}, [9])", f"reshape({CUBE}, [6, -1])",
    f"retain({A}, [True, False, True, True])", f"retain({A}, v > 0)", f"slice({A}, [0, 1], [2, 2])",
    f"slice({CUBE}, [1, 0, 2], [1, 9, 9])", f"softmax({A})", f"softmax({CUBE})",
    f"split({A}, 2, 1)", f"split({CUBE}, 3, -1)", f"transpose({A})", f"transpose({CUBE}, [2, 0, 1])",
    f"sparse_dense_matmul({A}, tall)", f"sparse_dense_matmul({A}, x, adjoint_b=True)",
    f"sparse_dense_matmul({A}, tall, adjoint_a=True)", f"sparse_dense_matmul(x, {A})",
    f"sparse_dense_matmul(x, {A}, adjoint_b=True)", f"sparse_dense_matmul(tall, {A}, True)",
    "sampled_addmm(at, v, [3, 3], m, a, beta=0.5, alpha=2.0)",
    "sampled_addmm([[[0, 1], [1, 0]], [[2, 3], [0, 0]]], x[:, :2], [3, 4], t[:, :, :3], t)",
    *[
        f"{name}(tall, [0, 2, 1, 2], {rest})"
        for name in ("segment_sum", "segment_mean", "segment_sqrt_n")
        for rest in ("[0, 0, 1, 3]", "[0, 0, 1, 3], 6")
    ],
    f"to_indicator({IDS}, 7)", "bincount(k)", "bincount(at)", "bincount(j, axis=-1)", "bincount(j, axis=0, minlength=9)",
    "bincount(j, axis=-1, maxlength=3)", "bincount(j, weights=x, axis=-1)", "bincount(k, binary_output=True)",
    f"bincount({IDS})", f"bincount({IDS}, axis=-1)",
    f"bincount({IDS}, weights=SparseTensor(at, v, [3, 3]), axis=-1, maxlength=6)",
]  # fmt: skip
SETS = [
    "intersection(i, j)", "union(i, j)", "union(i, j * 0 - 2)", "difference(i, j)", "difference(i, j, False)",
    "intersection(j % 3, SparseTensor(at[:3], k[:3], [2, 3]))", f"size({IDS})", "size(SparseTensor(at, u, [5, 4]))",
    f"union({IDS}, SparseTensor(at2, k[1:], [3, 3]))", "difference(j[:, None] + 1, j[:, None] * 2)",
]  # fmt: skip


def _space(root: Any) -> Any:
    """The namespace, and names of the top level in the expressions."""
    names = {"IndexedSlices": root.IndexedSlices, "tuple_sum": lambda x, y: x + 2.0 * y}
    return type(
        "space",
        (),
        {**vars(root.sparse), **vars(root.sets), **{n: staticmethod(f) for n, f in names.items()}},
    )


THEIRS, OURS = _space(tf), _space(frontend)


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", [*EXPRESSIONS, *SETS])
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, THEIRS, OURS, backend)


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients(expression: str, backend: str) -> None:
    if not expressions.is_differentiable(expression, THEIRS):
        return
    try:
        expressions.expected_gradients(expression, THEIRS)
    except (LookupError, TypeError):  # upstream has none
        return
    expressions.assert_gradients(expression, THEIRS, OURS, backend)


def test_products_and_quotients_are_no_tuples(backend: str) -> None:
    x = frontend.SparseTensor([[0, 1], [1, 0]], on(backend, [1.0, 2.0], "float32"), [2, 2])
    assert (x.shape, x.dtype) == ((2, 2), na.float32)
    np.testing.assert_array_equal(host((x * 3.0).values), [3, 6])
    np.testing.assert_array_equal(host((x / 2.0).values), [0.5, 1])
    with pytest.raises(na.errors.ArgumentError, match=r"use tf.sparse.add\(x, y\)"):
        x + x
    with pytest.raises(na.errors.ArgumentError, match=r"use x \* y"):
        2 * x


def test_a_sparse_tensor_is_a_nest_of_arrays(backend: str) -> None:
    places = on(backend, np.asarray([[0, 1], [1, 0]]))
    b = on(backend, [[1.0, 2.0], [3.0, 4.0]], "float32")

    def loss(values: Any) -> Any:
        x = frontend.SparseTensor(places, values["x"], [2, 2])
        return na.sum(frontend.sparse.sparse_dense_matmul(x, b))

    found = na.grad(loss)({"x": on(backend, [1.0, 2.0], "float32")})
    np.testing.assert_allclose(host(found["x"]), [7, 3])
    mapped = na.Container(frontend.SparseTensor(places, b, places)).map(lambda leaf: leaf * 2)
    assert [*mapped] == ["indices", "values", "dense_shape"]


@pytest.mark.parametrize("backend", ["jax", pytest.param("torch", marks=pytest.mark.full)])
def test_functions_of_a_known_shape_are_compiled(backend: str) -> None:
    def call(values: Any, b: Any) -> Any:
        x = frontend.SparseTensor([[0, 1], [1, 0], [2, 2]], values, [3, 3])
        x = frontend.sparse.transpose(frontend.sparse.softmax(x))
        wide = frontend.sparse.expand_dims(frontend.sparse.reshape(x, [9]), 0)
        total = frontend.sparse.reduce_max(frontend.sparse.concat(0, [x, x]), 1)
        dense = frontend.sparse.to_dense(wide)
        return frontend.sparse.sparse_dense_matmul(x, b), dense, total

    arrays = [on(backend, np.ones(3), "float32"), on(backend, np.eye(3), "float32")]
    for one, other in zip(na.jit(call)(*arrays), call(*arrays), strict=True):
        np.testing.assert_allclose(host(one), host(other), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, x: s.add(x.values, x.values), "add: a, b: got two dense tensors, expected"),
        (lambda s, x: s.concat(0, [x, s.eye(3)]), r"concat: sp_inputs: got the shapes \[\(2, 2\), \(3, 3\)\]"),
        (lambda s, x: s.reshape(x, [3]), r"reshape: shape: got \(3,\), expected the size of \(2, 2\)"),
        (lambda s, x: s.reset_shape(x, [1, 2]), r"reset_shape: new_shape: got \(1, 2\), expected a shape"),
        (lambda s, x: s.split(x, 2), "split: got None, expected sp_input, num_split and axis"),
        (lambda s, x: s.bincount(x, axis=1), "bincount: axis: got 1, expected 0 or -1"),
        (lambda s, x: s.map_values(abs, x.values), r"map_values: args: got sparse tensors of \[\] elements"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises((na.errors.ArgumentError, na.errors.ShapeError), match=message):
        call(frontend.sparse, frontend.sparse.eye(2))

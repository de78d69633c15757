"""The functions of the top level of TensorFlow against TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.arrays import host, on
from tests.frontends import tensorflow_expressions as expressions

ROWS = """
constant(2.5); constant([1, 2]); constant([[1.5, 2]], 'float16'); constant(3, shape=(2, 2)); constant([1, 2, 3, 4], shape=[2, 2]); constant(x); convert_to_tensor([1.0, 2.0]); convert_to_tensor(x); convert_to_tensor([x[0], x[1]])
zeros((2, 3)); zeros([2], 'int32'); ones((2,)); ones(3, 'bool'); fill([2, 2], 1.5); fill([2], z[0]); zeros_like(x); zeros_like(i, 'float32'); ones_like(x); eye(3); eye(2, 3, [2], 'int32'); range(5); range(2, 8, 3); range(0.0, 1.0, 0.3); range(3, 0, -1, 'float32'); range(l[0])
linspace(0.0, 1.0, 5); linspace(x, y, 3, axis=1); linspace(z, 2.0, 2); one_hot(k, 3); one_hot(k, 3, axis=0); one_hot(i, 2, 5.0, -1.0); one_hot(k, 3, 2); one_hot(k, 3, on_value=z[0], off_value=z[1]); one_hot(1, 3); sequence_mask(l); sequence_mask(i, 4, 'float32'); meshgrid(z, v); meshgrid(z, v, w, indexing='ij')
shape(x); shape(t, 'int64'); shape_n([x, t]); rank(t); size(x); reshape(x, [3, -1]); reshape(x, (6,)); ensure_shape(x, [2, None]); expand_dims(x, 1); expand_dims(x, -1); squeeze(x[:, :1]); squeeze(x[:1, :1], [0]); broadcast_to(z, [2, 3]); broadcast_dynamic_shape([2, 1], [1, 3]); unravel_index([5, 2], [2, 3])
concat([x, y], 0); concat([x, y], -1); concat(x, 0); stack([x, y]); stack([x, y], axis=-1); stack([1.0, z[0]]); unstack(x); unstack(t, axis=1); unstack(t, 4, -1); split(t, 2, 2); split(t, [1, -1], 1); split(x, 3, axis=-1); transpose(t); transpose(t, [0, 2, 1]); transpose(c, conjugate=True)
tile(x, [2, 1]); repeat(x, 2); repeat(x, [1, 2], axis=0); repeat(x, [2], axis=1); repeat(z, [1, 0, 2]); pad(x, [[1, 0], [2, 1]]); pad(x, [[1, 1], [0, 2]], 'REFLECT'); pad(x, [[1, 1], [2, 2]], 'symmetric'); pad(x, [[0, 1], [0, 0]], constant_values=2.5); pad(x, [[0, 1], [0, 0]], constant_values=z[0]); reverse(x, [1]); reverse(x, []); reverse(t, [0, -1])
reverse_sequence(t, [2, 3], 1, 0); reverse_sequence(x, [1, 2, 2], 0, 1); roll(x, 1, 1); roll(x, [1, -1], [0, 1]); extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], 'VALID'); extract_volume_patches(volume, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], 'SAME'); identity(x); identity_n([x, i]); guarantee_const(x); is_tensor(x); is_tensor(2)
space_to_batch(image, [2, 5], [[1, 1], [0, 0]]); space_to_batch_nd(signal, [2], [[0, 1]]); batch_to_space(signal[:1] * w[:, None, None], [2], [[1, 0]]); batch_to_space(image[:1] * w[:, None, None, None], [2, 2], [[1, 0], [0, 2]]); required_space_to_batch_paddings([5, 7], [2, 3]); required_space_to_batch_paddings([5, 7], [2, 3], [[1, 0], [0, 1]])
gather(x, [1, 0]); gather(x, [[2, 0], [1, 1]], axis=1); gather(t, l - 2, axis=-1); gather(x, 1); gather(t, abs(i) % 3, batch_dims=1); gather(t, [[1, 0], [2, 2]], axis=2, batch_dims=1); gather(t, [[[1, 0], [2, 2], [0, 3]], [[1, 1], [2, 0], [3, 3]]], batch_dims=2); gather(t, [1, 0], axis=2, batch_dims=1); gather(image, [[1, 0], [2, 2]], axis=3, batch_dims=1)
gather_nd(t, [[0, 1], [1, 2]]); gather_nd(x, [[[0, 0]], [[1, 2]]]); gather_nd(t, [[0], [2]], batch_dims=1); scatter_nd([[1], [3], [1]], z, [5]); scatter_nd([[0, 1], [1, 1]], x, [2, 2, 3]); tensor_scatter_nd_update(x, [[0, 1], [1, 2]], [5.0, 6.0]); tensor_scatter_nd_update(x, [[1]], y[:1]); tensor_scatter_nd_add(x, [[1], [1]], y); tensor_scatter_nd_sub(x, [[0, 0], [0, 0]], z[:2])
tensor_scatter_nd_max(x, [[0], [1]], y); tensor_scatter_nd_min(x, [[0], [0]], y); slice(t, [0, 1, 2], [1, 2, -1]); slice(x, l - 2, [-1, 2]); strided_slice(t, [0, 0, 0], [2, 3, 4], [1, 2, 3]); strided_slice(x, [1], [2]); strided_slice(x, [-1, 0], [0, 0], [-1, 1], end_mask=3); strided_slice(t, [0, 1], [0, 2], ellipsis_mask=1, shrink_axis_mask=2); strided_slice(x, [0, 0], [0, 2], new_axis_mask=1)
boolean_mask(x, b); boolean_mask(t, b); boolean_mask(x, [True, False, True], axis=1); where(b, x, y); where(b, x, 0.0); where(b, 1.0, z); where(b, 1, 2); where(b); where(i > 0); where(holes); where(x > 0, x, p); dynamic_partition(x, [1, 0], 2); dynamic_partition(x, [[0, 1, 1], [1, 0, 1]], 3); dynamic_stitch([[0, 2], [1]], [x, y[:1]]); dynamic_stitch([0, [2, 0]], [z, x])
sort(x); sort(t, 1, 'DESCENDING'); sort(i, 0); argsort(x); argsort(ties, stable=True); argsort(t, 1, 'DESCENDING'); searchsorted(z * z, v); searchsorted(sort(x), y, 'right'); searchsorted([1, 3, 3], [3, 0, 4], side='right', out_type='int64'); unique(k); unique(ties); unique_with_counts(k); unique_with_counts(ties, 'int64'); histogram_fixed_width(x, [-1.0, 1.0], 4); histogram_fixed_width_bins(x, [-1.0, 1.0], 4); histogram_fixed_width(k, [0, 3], 3)
einsum('ij,kj->ik', x, y); einsum('bij,bkj->bik', t, t); einsum('ij->j', x); einsum('...i,i->...', t, v); einsum('ii', m); matmul(x, tall); matmul(x, y, transpose_b=True); matmul(x, y, True); matmul(cm, cm, adjoint_a=True); matmul(t, t, transpose_b=True); matmul(i, j, transpose_b=True); tensordot(x, tall, 1); tensordot(t, t, [[1, 2], [1, 2]]); tensordot(x, y, [1, 1]); tensordot(z, z, 0)
clip_by_value(x, -0.5, 0.5); clip_by_value(holes, 0.0, 0.5); clip_by_value(i, -1, 3); clip_by_value(x, y, p + y); clip_by_norm(x, 1.0); clip_by_norm(x, 1.5, 1); clip_by_norm(x, 100.0, [0]); clip_by_norm(holes, 0.5, 0); clip_by_global_norm([x, y], 1.0); clip_by_global_norm([x, y], 50.0); clip_by_global_norm([x, z], 1.0, z[0]); clip_by_global_norm([x * 1e30, z], 1.0)
cast(x, 'int32'); cast(i, 'float32'); cast(c, 'float32'); cast(x, 'bool'); cast(x, 'complex64'); saturate_cast(x * 1000, 'int8'); saturate_cast(i, 'uint8'); bitcast(x, 'int32'); bitcast(x, 'uint8'); bitcast(bitcast(x, 'uint8'), 'float32'); complex(x, y); realdiv(x, y); truncatediv(i, j); truncatediv(x * 4, y); truncatemod(i, j); truncatemod(x * 4, y)
cond(True, lambda: x * 2, lambda: x); cond(x[0, 0] > 5.0, lambda: x * 2, lambda: x + 1); case([(x[0, 0] > 5.0, lambda: x), (x[0, 0] < 5.0, lambda: y)], default=lambda: x * 3); case([(x[0, 0] > 9.0, lambda: x), (x[0, 0] < 9.0, lambda: y)]); switch_case(constant(1), [lambda: x, lambda: y]); switch_case(constant(7), {0: lambda: x, 1: lambda: y}); switch_case(l[0], [lambda: x, lambda: y], lambda: x * 2)
while_loop(lambda n, a: n < 3, lambda n, a: (n + 1, a * 0.5), (0, x)); while_loop(lambda n, a: n < 9, lambda n, a: [n + 1, a * 0.5], [0, x], maximum_iterations=2); while_loop(lambda a: a[0, 0] < 9.0, lambda a: (a * a + 1.0,), (x,)); while_loop(lambda n, a: n < 3, lambda n, a: (n + 1, a * a), (0, x), back_prop=False)
map_fn(lambda r: r * r[0], x); map_fn(lambda r: r[0] * r[1], (x, y), fn_output_signature='float32'); vectorized_map(lambda r: r * r[0], t); vectorized_map(lambda r: r[0] + r[1], (x, y)); scan(lambda a, r: a * r, x); scan(lambda a, r: a + r[0], x, 1.0); scan(lambda a, r: a * r, t, x[0, 0] + t[0], reverse=True); scan(lambda a, r: a + r, x, reverse=True); foldl(lambda a, r: a * r + 1.0, x); foldl(lambda a, r: a + r, x, z); foldr(lambda a, r: a * 2.0 + r, x); foldr(lambda a, r: a * r, x, z)
stop_gradient(x) * x; custom_gradient(lambda q: (q * q, lambda g: g * 3.0))(x); custom_gradient(lambda q, r: (q * r, lambda g: (g * 3.0, g + r)))(x, y); recompute_grad(lambda q: sin(q) * q)(x); grad_pass_through(lambda q: round(q * 3.0))(x); abs(x); add(x, y); reduce_sum(t, 1); round(x * 3)
acos(p); acosh(p + 1); add_n([x, y]); argmax(x); argmin(x); asin(p); asinh(x); atan(x); atan2(x, y); atanh(p); cos(x); cosh(x); cumsum(x); divide(x, y); equal(x, y); exp(x); floor(x); greater(x, y); greater_equal(x, y); less(x, y); less_equal(x, y); logical_and(b, b2); logical_not(b); logical_or(b, b2); maximum(x, y); minimum(x, y); multiply(x, y); negative(x); not_equal(x, y); pow(p, y)
reduce_all(b); reduce_any(b); reduce_logsumexp(x); reduce_max(x); reduce_mean(x); reduce_min(x); reduce_prod(x); scalar_mul(2.0, x); sigmoid(x); sign(x); sin(x); sinh(x); sqrt(p); square(x); subtract(x, y); tan(x); tanh(x); truediv(x, y)
edit_distance(SparseTensor([[0, 0], [0, 1], [1, 1]], k[:3], [2, 3]), SparseTensor([[0, 1], [1, 0], [1, 1], [2, 1]], k[1:], [3, 2])); edit_distance(SparseTensor([[0, 1], [1, 0], [1, 1], [2, 1]], k[1:], [3, 2]), SparseTensor([[0, 0], [0, 1], [1, 1]], k[:3], [2, 3]), False); norm(x); norm(t, 1, 1); matrix_square_root(a); reduce_sum(eigvals(m)); reduce_sum(eig(m)[0])
"""

EXPRESSIONS = [row.strip() for row in ROWS.strip().replace("\n", ";").split(";")]
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    **dict.fromkeys(["guarantee_const", "truncatemod", "unique"], "upstream has no derivative"),
    "dynamic_stitch([0, [2": "upstream's derivative by a slice that another one replaces is not 0",
}


def _functions(module: ModuleType) -> ModuleType:
    """A namespace without its modules, whose names are those of arrays here."""
    found = ModuleType(module.__name__)
    names = [name for name in dir(module) if not isinstance(getattr(module, name), ModuleType)]
    vars(found).update({name: getattr(module, name) for name in names if name[0] != "_"})
    return found


THEIRS, OURS = _functions(tf), _functions(frontend)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, THEIRS, OURS, backend)


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients(expression: str, backend: str) -> None:
    is_compared = not expression.startswith(tuple(NOT_DIFFERENTIATED))
    if is_compared and expressions.is_differentiable(expression, THEIRS):
        expressions.assert_gradients(expression, THEIRS, OURS, backend)


def test_shapes_dtypes_and_stacks_without_a_kernel(backend: str) -> None:
    x = on(backend, expressions.INPUTS["x"])
    assert frontend.broadcast_static_shape([2, 1], (1, 3)) == (2, 3)
    assert frontend.as_dtype("float32") is frontend.float32
    np.testing.assert_array_equal(host(frontend.parallel_stack([x, x])), host(na.stack([x, x])))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: frontend.split(x, 2, 1), "split: num_or_size_splits: got 2, expected a divisor of 3"),
        (lambda x: frontend.ensure_shape(x, [3, None]), r"got the shape \(2, 3\), expected \(3, None\)"),
        (lambda x: frontend.unstack(x, 3), "unstack: num: got 3, expected 2, the size of axis 0"),
        (lambda x: frontend.matmul(x[0], x), r"matmul: a: got the shape \(3,\), expected at least two"),
        (lambda x: frontend.pad(x, [[1, 1], [0, 0]], "EDGE"), "pad: mode: got 'EDGE', expected"),
        (lambda x: frontend.sort(x, direction="UP"), "sort: direction: got 'UP', expected 'ASCENDING'"),
        (lambda x: frontend.where(x > 0, x), "where: got one of x and y, expected both or none"),
        (lambda x: frontend.reduce_sum(x, 2), "axis: got 2, expected -2 to 1"),
        (lambda x: frontend.switch_case(0, {1: abs}), r"branch_fns: got the indices \[1\], expected 0 to 0"),
        (lambda x: frontend.constant([1, "a"]), "convert_to_tensor: got str, expected an array, a number"),
    ],
)  # fmt: skip
def test_errors(call: Callable[[np.ndarray], object], message: str) -> None:
    with pytest.raises(na.errors.NestarrayError, match=message):
        call(expressions.INPUTS["x"])


def test_checks_of_values(backend: str) -> None:
    x = on(backend, expressions.INPUTS["z"])
    frontend.assert_equal(x, x)
    frontend.assert_less(x, 9.0)
    frontend.assert_greater(x, -9.0)
    frontend.assert_rank(x, 1)
    frontend.Assert(na.all(x < 9), ["data"])
    for call, message in (
        (lambda: frontend.assert_equal(x, 1.0), "assert_equal: x: got .*, expected elements = 1"),
        (lambda: frontend.assert_less(x, 1.0, "m"), "m: x: got .*, expected elements < 1"),
        (
            lambda: frontend.assert_greater(x, 1.0),
            "assert_greater: x: got .*, expected elements > 1",
        ),
        (
            lambda: frontend.assert_rank(x, 2),
            r"assert_rank: x: got the shape \(3,\), expected 2 axes",
        ),
        (lambda: frontend.Assert(na.all(x < 1), ["data"]), "Assert: condition: got False, .*data"),
    ):
        with pytest.raises(na.errors.NestarrayError, match=message):
            call()


def test_values_of_compiled_functions_are_not_checked() -> None:
    x = on("jax", expressions.INPUTS["z"])

    def checked(x: object) -> object:
        frontend.assert_equal(x, 1.0)
        return x

    np.testing.assert_array_equal(host(na.jit(checked)(x)), host(x))

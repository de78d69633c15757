"""The functions of `jax.lax` and `jax.lax.linalg` against JAX."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.random import threefry2x32_p

import nestarray as na
import nestarray.frontends.jax as frontend
from tests.arrays import host, on
from tests.frontends import jax_expressions as expressions

UNARY = """abs acos(p) acosh(p+1) asin(p) asinh atan atanh(p) bessel_i0e bessel_i1e cbrt ceil cos cosh digamma(p) erf
erf_inv(p) erfc exp exp2 expm1 floor is_finite lgamma(p) log(p) log1p(p) logistic neg reciprocal rsqrt(p) sign
sin sinh sqrt(p) square stop_gradient tan tanh real(c) imag(c) conj(c) abs(c) exp(c) sign(c) bitwise_not(i) bitwise_not(b)
population_count(i) population_count(u) clz(i) clz(u) round neg(i) abs(i) sign(i) dtype stage optimization_barrier"""

ROWS = """
div(i, i * 0); rem(i, j - j); div(u, u - 7); rem(i, i - i - 1); div(i, i - i - 1); div(i * 600000000, j); div(i, -1); digamma(e); convert_element_type(x * 1000, 'uint8')
scan(lambda c, r: (c + 1, c), 0, x); while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 0.5), (0, x)); fori_loop(0, 3, lambda i, c: c + 1.5, 0.5)
add(x, y); add(i, j); add(x, 1.0); add(c, c); sub(x, y); mul(x, y); mul(i, 3); mul(x, y, out_dtype='float32'); div(x, y); div(i, j); rem(x, y); rem(i, j); pow(p, y); pow(p, 2); integer_pow(x, 3); integer_pow(p, -2)
max(x, y); min(x, y); max(b, b2); max(c, rev(c, (0,))); min(c, rev(c, (0,))); atan2(x, y); nextafter(x, y); complex(x, y); igamma(p, p * 2); igammac(p, p * 2); igamma_grad_a(p, p * 2); random_gamma_grad(p, p * 2); betainc(p, p + 1, p)
log2(p); one_minus_square(x); polynomial(x, [1.0, -2.0, 0.5]); polynomial(x, (y, z)); polygamma(x - x + 2, p); zeta(p + 2, p); mulhi(i, j * 100000000); eq(x, y); ne(i, j); lt(x, y); le(x, y); gt(x, y); ge(x, y); bitwise_and(i, j); bitwise_and(b, b2); bitwise_or(i, j); bitwise_xor(i, j); bitwise_xor(b, b2)
shift_left(i, j); shift_left(u, u); shift_right_arithmetic(i, j); shift_right_logical(i, j); shift_right_logical(i, j * 20); clamp(-0.5, x, 0.5); clamp(x * 0, x, p); select(b, x, y); select_n(b, x, y); select_n(abs(i) % 3, x, y, p)
round(x * 2, RoundingMethod.TO_NEAREST_EVEN); round(x, RoundingMethod.AWAY_FROM_ZERO); reduce_precision(x, 5, 10); reduce_precision(x, 8, 7); convert_element_type(x, 'int32'); convert_element_type(i, 'bool')
bitcast_convert_type(x, 'int32'); bitcast_convert_type(s, 'uint8'); bitcast_convert_type(x, 'uint8'); exp(x, accuracy=AccuracyMode.DEFAULT); tanh(x, accuracy=Tolerance(1e-3, 0.0, 0))
full((2, 3), 1.5); full((2,), 3, 'int8'); full_like(x, 3); full_like(x, 2, 'int32', (2,)); iota('int32', 4); broadcasted_iota('float32', (2, 3), 1); empty((2, 2), 'float32'); shape_as_value((2, 3)); dtype(x)
broadcast(x, (2, 1)); broadcast_in_dim(v, (2, 4, 3), (1,)); broadcast_like(z, x); broadcast_shapes((3, 1), (1, 2)); broadcast_to_rank(x, 4); collapse(t, 1, -1); collapse(t, 0); concatenate([x, y], 1); stack([x, y], 1); expand_dims(x, (0, 3))
pad(x, 0.5, [(1, 2, 0), (0, 1, 2)]); pad(x, 0.0, [(-1, 0, 0), (1, -1, 1)]); reshape(x, (3, 2)); reshape(x, (3, 2), (1, 0)); rev(x, (0, 1)); slice(x, (0, 1), (2, 3)); slice(t, (0, 0, 1), (2, 3, 4), (1, 2, 2)); slice_in_dim(x, 1, None, 2, axis=-1)
split(x, (1, 2), 1); squeeze(x[:, :1], (1,)); tile(x, (2, 1)); transpose(t, (2, 0, 1)); unstack(x, 1)
index_in_dim(x, -1, 1, keepdims=False); index_in_dim(x, 1); index_take(x, (k[1:3],), (0,)); dynamic_slice(x, (-2, 5), (2, 2)); dynamic_slice(x, (k[0], k[1]), (1, 2), allow_negative_indices=False); dynamic_slice_in_dim(x, k[1], 2, 1)
dynamic_index_in_dim(x, k[2], -1, False); dynamic_index_in_dim(x, -1, 1); dynamic_update_slice(x, y[:1, :2], (1, 2)); dynamic_update_slice_in_dim(x, y[:1], 1, 0); dynamic_update_index_in_dim(x, z, 1, 0)
gather(x, k[:, None], GatherDimensionNumbers((1,), (0,), (0,)), (1, 3)); gather(x, k[:, None], GatherDimensionNumbers((1,), (0,), (0,)), (1, 3), mode=GatherScatterMode.CLIP); gather(t, i[:, :2], GatherDimensionNumbers((1,), (0, 1), (0, 1)), (1, 1, 3), mode='fill', fill_value=2.5)
gather(x, k[:3, None] // 5, GatherDimensionNumbers((1,), (0,), (0,)), (1, 2), mode='promise_in_bounds', indices_are_sorted=False); gather(i, k[:, None], GatherDimensionNumbers((1,), (0,), (0,)), (1, 2))
scatter(x, k[:2, None], y, ScatterDimensionNumbers((1,), (0,), (0,))); scatter_add(x, k[1:4, None], t[0][:, :3], ScatterDimensionNumbers((1,), (0,), (0,))); scatter_add(x, k[1:3, None], y, ScatterDimensionNumbers((1,), (0,), (0,)), mode='clip')
scatter_sub(x, k[1:3, None], y, ScatterDimensionNumbers((1,), (0,), (0,)), unique_indices=True); scatter_mul(x, k[1:3, None], y, ScatterDimensionNumbers((1,), (0,), (0,)), unique_indices=True); scatter_min(x, k[1:3, None], y, ScatterDimensionNumbers((1,), (0,), (0,)))
scatter_max(x, k[1:3, None], y, ScatterDimensionNumbers((1,), (0,), (0,)), mode=GatherScatterMode.FILL_OR_DROP); scatter_apply(x, k[1:4, None] // 2, lambda q: sin(q), ScatterDimensionNumbers((1,), (0,), (0,)), update_shape=(3, 3))
reduce_sum(t, (0, 2)); reduce_prod(x, (1,)); reduce_max(t, (1,)); reduce_min(t, (0,)); reduce_and(b, (0,)); reduce_or(b, (1,)); reduce_xor(b, (1,)); reduce_max(c, (0,)); reduce_min(c, (1,)); argmax(t, 1, 'int32'); argmin(t, 2, 'int8')
cumsum(t, 1); cumsum(i, 0, reverse=True); cumprod(x, 1); cummax(x, 1); cummax(c, 1); cummin(x, 0, reverse=True); cummin(c, 0); cumlogsumexp(x, 1); sort(x); sort(c, 0); sort((k, ties), num_keys=1); sort((ties, k, ties * 2), num_keys=2); sort_key_val(ties, k)
top_k(x, 2); top_k(i, 1, axis=0); approx_max_k(x, 2); approx_min_k(x, 2, 1); reduce(x, 2.0, mul, (0,)); reduce(x, -1.0, lambda p, q: max(p, q), (1,)); reduce(i, 0, lambda p, q: add(p, q), (0, 1))
reduce_window(x, 2.0, lambda p, q: mul(p, q), (2, 2), (1, 2), 'SAME'); reduce_window(t, 0.0, add, (1, 2, 2)); reduce_window(t, -9.0, max, (1, 2, 2), (1, 1, 2), ((0, 0), (1, 1), (0, 1)), base_dilation=(1, 2, 1), window_dilation=(1, 1, 2)); reduce_window_shape_tuple((2, 3, 4), (1, 2, 2), (1, 1, 2), ((0, 0), (1, 1), (0, 1)), (1, 2, 1), (1, 1, 2))
dot(x[0], z); dot(x, z); dot(x, transpose(y, (1, 0))); dot(t, t, dimension_numbers=(((1,), (1,)), ((0,), (0,)))); dot_general(t, t, (((2,), (2,)), ((0,), (0,)))); dot_general(x, y, (((1,), (1,)), ((), ())), Precision.HIGHEST, 'float32'); dot(i, transpose(j, (1, 0)), preferred_element_type='float32')
batch_matmul(t, transpose(t, (0, 2, 1))); batch_matmul(t, transpose(t, (0, 2, 1)), Precision.HIGH); ragged_dot(tall @ x, t[:, :, :2], l); ragged_dot(m, t, l - 1); ragged_dot_general(m, m, l, RaggedDotDimensionNumbers((((0,), (0,)), ((), ())), (0,), ())); ragged_dot_general(transpose(t, (1, 0, 2)), transpose(t, (1, 0, 2)), l - 1, RaggedDotDimensionNumbers((((2,), (2,)), ((0,), (0,))), (0,), ()))
ragged_dot_general(t, transpose(t, (0, 2, 1))[None, :, :, :2], i[:, :1] * 0 + 2, RaggedDotDimensionNumbers((((2,), (2,)), ((0,), (1,))), (1,), (0,)))
conv(r, r[:, :, :2, :3], (1, 2), 'SAME'); conv(r, r[:, :, :2, :3], (1, 1), 'VALID', Precision.HIGHEST); conv_with_general_padding(r, r[:, :, :2, :3], (1, 1), [(1, 2), (0, 1)], (1, 2), (2, 1)); conv_general_dilated(d, r[:2, :2, :3, :], (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
conv_general_dilated(r, r[:, :1, :2, :2], (2, 1), [(1, 0), (0, 2)], feature_group_count=2); conv_general_dilated(r, r[:, :, :2, :2], (1, 1), 'SAME_LOWER', batch_group_count=2); conv_transpose(d, r[:2, :2, :3, :], (2, 3), 'SAME'); conv_transpose(d, r[:2, :2, :, :3], (2, 1), 'VALID', (1, 2), ('NHWC', 'HWIO', 'NHWC'), transpose_kernel=True)
conv_transpose(d, r[:2, :2, :3, :], (2, 2), ((1, 0), (0, 1)), use_consistent_padding=True); conv_general_dilated_patches(r, (2, 3), (1, 2), 'SAME'); conv_general_dilated_patches(d, (2, 1), (1, 1), 'VALID', dimension_numbers=('NHWC', 'HWIO', 'NHWC'), rhs_dilation=(2, 1))
conv_general_dilated_local(r, reshape(r, (2, 8, 2, 2)), (2, 2), 'VALID', (2, 2)); conv_general_dilated_local(t, reshape(t, (2, 6, 2)), (2,), 'VALID', (2,), dimension_numbers=('NCW', 'OIW', 'NWC'))
conv_dimension_numbers((2, 7, 6, 3), (3, 2, 3, 4), ('NHWC', 'HWIO', 'NHWC')).out_spec; conv_general_permutations(('NHWC', 'HWIO', 'NHWC')); conv_shape_tuple((2, 3, 7, 6), (4, 3, 3, 2), (2, 1), 'SAME'); conv_general_shape_tuple((2, 7, 6, 3), (3, 2, 3, 4), (2, 1), 'VALID', ('NHWC', 'HWIO', 'NHWC'))
conv_transpose_shape_tuple((2, 7, 6, 3), (3, 2, 3, 4), (2, 1), 'SAME', ('NHWC', 'HWIO', 'NHWC')); padtype_to_pads((5, 8), (3, 2), (2, 3), 'SAME'); padtype_to_pads((5, 8), (3, 2), (2, 3), 'SAME_LOWER'); padtype_to_pads((5, 8), (3, 2), (2, 3), 'VALID')
fft(v, 'FFT', (4,)); fft(cv, FftType.IFFT, (4,)); fft(t, 'RFFT', (3, 4)); fft(c, 'IRFFT', (4,)); associative_scan(mul, x); associative_scan(add, x, reverse=True, axis=1); scan(lambda c, r: (add(c, r), sin(c)), x[0], x, reverse=True); scan(lambda c, _: (c * 0.5, c), x, None, 3, unroll=3)
while_loop(lambda c: c[0, 0] < 90, lambda c: c * 2 + 1, abs(x)); fori_loop(0, 3, lambda i, c: c * 0.5, x); fori_loop(0, 3, lambda i, c: c * 2, x, unroll=True); cond(True, sin, cos, x); cond(v[0] > 0, sin, cos, operand=x); switch(5, [sin, cos], x); switch(k[2], [sin, cos], x)
map(lambda r: r * r[0], x); map(lambda r: r * r[0], ties[:, None], batch_size=2); composite(lambda x: x * 2, 'double')(x); platform_dependent(x, default=sin, cpu=cos); platform_dependent(x, default=sin); dce_sink(3)
custom_root(lambda s: s * s - p, p, lambda f, s: sqrt(p), lambda g, y: y / g(y * 0 + 1)); custom_linear_solve(lambda s: s * p, x, lambda f, b: b / f(b * 0 + 1), symmetric=True); custom_linear_solve(lambda s: s * p, x, lambda f, b: (b / f(b * 0 + 1), 1.0), lambda f, b: (b / f(b * 0 + 1), 1.0), has_aux=True)
"""
LINALG = """
cholesky(a); cholesky(a + z, symmetrize_input=False); cholesky_update(a, z); eig(m[:1, :1]); eig(m[1:2, :1], compute_left_eigenvectors=False); eigh(a)[1]; eigh(m)[1]; eigh(m, lower=False, symmetrize_input=False)[1]
eigh(a, implementation=EighImplementation.QR)[1]; abs(eigh(a)[0]); hessenberg(m); hessenberg(cm); householder_product(m, z * 0.3); householder_product(tall, z[:2]); lu(m); lu(x); lu(cm); lu_pivots_to_permutation(k[:2], 3); lu_pivots_to_permutation(i[:, :2] % 3, 4)
ormqr(m, z * 0.3, a); ormqr(tall, z[:2], m, left=False, transpose=True); ormqr(cm, cz, cm, transpose=True); qdwh(m)[0]; qdwh(m)[1]; qdwh(tall)[0]; qr(m)[1] ** 2; qr(tall, full_matrices=False)[1] ** 2; qr(m, pivoting=True)[2]; abs(qr(m, pivoting=True)[1]); abs(qr(cm, pivoting=True, full_matrices=False)[1])
svd(x)[1]; svd(x, compute_uv=False); abs(svd(x, full_matrices=False)[2]); svd(m, compute_uv=False, algorithm=SvdAlgorithm.QR); symmetric_product(m, a, alpha=2.0, beta=0.5, symmetrize_output=True); triangular_solve(m, a, left_side=True, lower=True); triangular_solve(m, x)
triangular_solve(cm, cm, transpose_a=True, conjugate_a=True, unit_diagonal=True); schur(m); schur(cm); schur(t[:, :, :3], compute_schur_vectors=False); tridiagonal(a); tridiagonal(a, lower=False); tridiagonal_solve(z, z * z + 9, z, m)
"""
SPACES = {"lax": (jax.lax, frontend.lax), "lax.linalg": (jax.lax.linalg, frontend.lax.linalg)}
EXPRESSIONS = [("lax", row if "(" in row else f"{row}(x)") for row in UNARY.split()]
EXPRESSIONS += [
    (space, row.strip())
    for space, rows in (("lax", ROWS), ("lax.linalg", LINALG))
    for row in rows.strip().replace("\n", ";").split(";")
]
FIRST = [
    (space, row)
    for space in SPACES
    for row in expressions.first_of_each_function([row for s, row in EXPRESSIONS if s == space])
]
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    **dict.fromkeys(
        ["nextafter", "igamma_grad_a", "random_gamma_grad", "betainc", "polygamma", "zeta", "scatter_apply",
         "reduce_window(x", "reduce_window(t, -9.0", "ragged_dot_general(m", "ragged_dot_general(t", "while_loop",
         "composite", "custom_root", "custom_linear_solve(lambda s: s * p, x, lambda f, b: (", "cholesky_update", "eig(",
         "hessenberg", "householder_product", "ormqr", "qdwh", "schur", "svd(x)", "symmetric_product", "tridiagonal("],
        "upstream has no derivative",
    ),
    "gather(x, k[:, None], GatherDimensionNumbers((1,), (0,), (0,)), (1, 3))": "positions out of range are undefined by default",
    "reduce(x, 2.0, mul": "upstream's derivative leaves out the initial value",
    "cholesky(a + z": "upstream's derivative by the triangle that is not read is not zero",
    "eigh(m, lower": "upstream's derivative by the triangle that is not read is not zero",
}  # fmt: skip


@pytest.mark.one_in(16)
@pytest.mark.parametrize(("space", "expression"), EXPRESSIONS)
def test_values(space: str, expression: str) -> None:
    expressions.assert_equal(expression, *SPACES[space], "numpy")


@pytest.mark.one_in(32)
@pytest.mark.parametrize(("space", "expression"), FIRST)
@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_a_call_of_each_function_on_other_backends(
    space: str, expression: str, backend: str
) -> None:
    expressions.assert_equal(expression, *SPACES[space], backend)


@pytest.mark.full
@pytest.mark.parametrize(("space", "expression"), EXPRESSIONS)
@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_values_on_other_backends(space: str, expression: str, backend: str) -> None:
    expressions.assert_equal(expression, *SPACES[space], backend)


@pytest.mark.full
@pytest.mark.parametrize(("space", "expression"), EXPRESSIONS)
def test_gradients(space: str, expression: str, backend: str) -> None:
    is_compared = not expression.startswith(tuple(NOT_DIFFERENTIATED))
    if is_compared and expressions.is_differentiable(expression, SPACES[space][0]):
        expressions.assert_gradients(expression, *SPACES[space], backend)


#: Calls that other tests compare: products of blocks, and bits.
APART = ["scaled_dot(x, y)", "rng_bit_generator(key, shape)"]


@pytest.mark.parametrize("space", SPACES)
def test_every_function_has_an_expression(space: str) -> None:
    rows = [row for s, row in EXPRESSIONS if s == space]
    expressions.assert_every_function_is_used(space, [*rows, *COLLECTIVES, *APART])


#: Calls under a `vmap` with the axis ``"n"``, of x `(2, 3)` and m `(3, 3)` of each member.
COLLECTIVES = [
    "psum(x, 'n')", "pmean(x, 'n')", "pmax(x, 'n')", "pmin(x, 'n')", "all_gather(x, 'n')",
    "all_gather(x, 'n', axis=1, tiled=True)", "axis_index('n')", "axis_size('n') * x",
    "ppermute(x, 'n', [(0, 1), (1, 2), (2, 0)])", "pshuffle(x, 'n', [2, 0, 1])", "all_to_all(m, 'n', 0, 1)",
    "all_to_all(x, 'n', 1, 0, tiled=True)", "pswapaxes(m, 'n', 1)", "psum_scatter(m, 'n')",
    "psum_scatter(m, 'n', scatter_dimension=1, tiled=True)", "pcast(x, 'n', to='varying')",
    "pbroadcast(x, 'n', 1)", "with_sharding_constraint(x, None)",
]  # fmt: skip


@pytest.mark.parametrize("call", COLLECTIVES)
def test_collectives(call: str, backend: str) -> None:
    arrays = {
        "x": np.random.default_rng(0).standard_normal((3, 2, 3)).astype("float32"),
        "m": np.random.default_rng(1).standard_normal((3, 3, 3)).astype("float32"),
    }
    names = list(arrays)

    def of(lax: Any) -> Any:
        return lambda *values: eval(call, vars(lax) | dict(zip(names, values, strict=True)))

    if call.startswith(("pcast", "pbroadcast", "with_sharding")):  # upstream needs a mesh
        want = arrays["x"][[1, 1, 1]] if call.startswith("pbroadcast") else arrays["x"]
    else:
        want = jax.vmap(of(jax.lax), axis_name="n")(*map(jax.numpy.asarray, arrays.values()))
    values = [on(backend, x) for x in arrays.values()]
    found = frontend.vmap(of(frontend.lax), axis_name="n")(*values)
    np.testing.assert_allclose(host(found), np.asarray(want), rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("x64")
def test_64_bits() -> None:
    integers = np.asarray([0, 1, -7, 2**31 - 1, -(2**31)]) * 2**31
    for name, arrays in {"mulhi": (integers, integers + 5), "clz": (integers,)}.items():
        want = getattr(jax.lax, name)(*map(jax.numpy.asarray, arrays))
        found = getattr(frontend.lax, name)(*arrays)
        assert found.dtype == want.dtype
        np.testing.assert_array_equal(found, np.asarray(want))


def test_settings_of_upstream_are_accepted() -> None:
    x, rows = np.arange(6.0, dtype="float32").reshape(3, 2), np.asarray([[5]])
    numbers = jax.lax.GatherDimensionNumbers((1,), (0,), (0,))
    found = frontend.lax.gather(x, rows, numbers, (1, 2), mode=jax.lax.GatherScatterMode.CLIP)
    assert found.tolist() == [[4.0, 5.0]]
    assert frontend.lax.fft(x, jax.lax.FftType.FFT, (2,)).dtype == "complex64"
    numbers = jax.lax.conv_dimension_numbers((1, 2, 3), (1, 1, 2), ("NWC", "WIO", "NWC"))
    assert frontend.lax.conv_general_dilated(
        x[None], x[None, :2], (1,), "VALID", dimension_numbers=numbers,
        precision=jax.lax.Precision.HIGHEST,
    ).shape == (1, 3, 2)  # fmt: skip


def test_scaled_products() -> None:
    x = np.random.default_rng(0).standard_normal((2, 4, 8)).astype("float32")
    scale = np.random.default_rng(1).uniform(1, 2, (2, 4, 2)).astype("float32")
    want = (x * scale.repeat(4, -1)) @ x.swapaxes(1, 2)
    settings = {"lhs_scale": scale, "preferred_element_type": "float32"}
    found = frontend.lax.scaled_dot(x, x.swapaxes(1, 2), **settings)
    np.testing.assert_allclose(found, want, rtol=1e-5)
    assert na.dtype_of(frontend.lax.scaled_dot(x[0], x[0].T)) is na.bfloat16


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda lax, x: lax.gather(x, x, None, (1, 1), mode="wrap"), "mode: got 'wrap', expected"),
        (lambda lax, x: lax.cond(True, lax.sin, lax.cos, x, operand=x), "operand: got ndarray next"),
        (lambda lax, x: lax.psum(x, "n", axis_index_groups=[[0]]), "axis_index_groups: got"),
        (lambda lax, x: lax.psum(x, "n"), "axis_name: got 'n', but no axis of this name"),
        (lambda lax, x: lax.platform_dependent(x, tpu=lax.sin), "got functions for tpu, expected"),
        (lambda lax, x: lax.linalg.qdwh(x[:1]), "qdwh: x: got the shape"),
        (lambda lax, x: lax.linalg.qdwh(x, dynamic_shape=(1, 1)), "dynamic_shape: got"),
        (lambda lax, x: lax.scaled_dot(x[0], x[0]), "lhs: got 1 axes, expected at least 2"),
        (lambda lax, x: lax.ragged_dot(x, x[None], x[:1, 0], group_offset=x), "group_offset: got"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises((na.errors.ArgumentError, na.errors.UnsupportedError), match=message):
        call(frontend.lax, np.eye(2, dtype="float32"))


def test_members_of_a_collective_are_as_many_as_parts() -> None:
    x = np.ones((3, 2), "float32")
    for call, message in (
        (lambda y: frontend.lax.psum_scatter(y, "n"), "axis of length 2, expected 3"),
        (lambda y: frontend.lax.psum_scatter(y, "n", tiled=True), "expected a multiple of the 3"),
        (lambda y: frontend.lax.pshuffle(y, "n", [0, 0, 1]), "expected each of the 3 members once"),
    ):
        with pytest.raises(na.errors.ArgumentError, match=message):
            frontend.vmap(call, axis_name="n")(x)


def test_a_linear_solve_has_a_derivative_by_its_matrix(backend: str) -> None:
    def loss(j: Any, matrix: Any, b: Any) -> Any:
        solve = lambda _, b: j.numpy.linalg.solve(matrix, b)  # noqa: E731
        transposed = lambda _, b: j.numpy.linalg.solve(j.numpy.transpose(matrix), b)  # noqa: E731
        x = j.lax.custom_linear_solve(lambda x: j.numpy.matmul(matrix, x), b, solve, transposed)
        return j.numpy.sum(x * x)

    arrays = expressions.INPUTS["m"], expressions.INPUTS["z"]
    want = jax.grad(lambda *xs: loss(jax, *xs), (0, 1))(*map(jax.numpy.asarray, arrays))
    found = frontend.grad(lambda *xs: loss(frontend, *xs), (0, 1))(
        *[on(backend, x) for x in arrays]
    )
    for x, y in zip(found, want, strict=True):
        np.testing.assert_allclose(host(x), np.asarray(y), rtol=1e-4, atol=1e-5)


def test_eigenvectors(backend: str) -> None:
    matrix = expressions.INPUTS["m"]
    values, left, right = map(host, frontend.lax.linalg.eig(on(backend, matrix)))
    np.testing.assert_allclose(matrix @ right, right * values, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(left.conj().T @ matrix, values[:, None] * left.conj().T, rtol=1e-4, atol=1e-4)  # fmt: skip
    np.testing.assert_allclose(np.linalg.norm(left, axis=0), 1, rtol=1e-5)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("algorithm", jax.lax.RandomAlgorithm.__members__.values())
def test_bits_of_the_compilers_generators(algorithm: Any, backend: str) -> None:
    for words in ([1, 2, 3, 4], [2**32 - 1, 7, 2**32 - 6, 2**32 - 1]):
        key = np.asarray(words, "uint32")
        for shape, dtype in [
            ((), "uint8"),
            ((5, 7), "uint32"),
            ((4, 3), "uint16"),
            ((3,), "uint64"),
        ]:
            want = jax.lax.rng_bit_generator(key, shape, dtype, algorithm)
            got = frontend.lax.rng_bit_generator(
                na.to_backend(key, backend), shape, dtype, algorithm
            )
            for x, y in zip(want, got, strict=True):
                np.testing.assert_array_equal(host(y), x)


@pytest.mark.parametrize("shape", [(), (3,)])
def test_hashes_of_counters(shape: tuple[int, ...], backend: str) -> None:
    keys = [np.full(shape, word, "uint32") for word in (7, 2**32 - 1)]
    words = np.arange(6, dtype="uint32").reshape(2, 3)
    want = threefry2x32_p.bind(*[jnp.broadcast_to(k, (2, 3)) for k in keys], words, words + 1)
    got = frontend.lax.threefry2x32(*[on(backend, x) for x in (*keys, words, words + 1)])
    for x, y in zip(want, got, strict=True):
        np.testing.assert_array_equal(host(y), x)

"""The functions of `tf.math` against TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.arrays import host, on
from tests.frontends import tensorflow_expressions as expressions

UNARY = """abs abs(c) abs(i) acos(p) acosh(p+1) angle(c) angle(e) asin(p) asinh atan atanh(p) atanh(c) bessel_i0 bessel_i0e
bessel_i1 bessel_i1e ceil conj(c) conj cos cosh digamma(p) erf erfc erfcinv(p) erfinv(p) exp exp(c) expm1 floor imag(c)
is_finite(e) is_inf(e) is_nan(e) is_non_decreasing(ties) is_non_decreasing(k) is_strictly_increasing(z) lbeta(p) lgamma(p)
log(p) log1p(p) log_sigmoid logical_not(b) ndtri(p) negative negative(i) real(c) real reciprocal(p)
reciprocal_no_nan(holes) reciprocal_no_nan(c) rint(x*3) round(x*3) round(i) rsqrt(p) sigmoid sigmoid(c) sign sign(i) sign(c) sin sinh
softplus softsign sqrt(p) sqrt(c) square square(i) tan tanh tanh(c) abs(holes) sign(holes)"""

ROWS = """
add(x, y); add(i, j); add(x, 1); add(2.5, x); add(c, c); add(x, z); add(u, 1); subtract(x, y); subtract(1.0, x); multiply(x, y); multiply(i, 2); divide(x, y); divide(i, j); divide(x, 2)
divide(1, 2); truediv(i, j); truediv(s, 2); truediv(x, y); floordiv(i, j); floordiv(x, p); floordiv(i, -2); floormod(i, j); floormod(x, p); floormod(i, -2); mod(i, j); pow(p, y); pow(p, 2.0); pow(i, 2)
pow(holes, 2.0); maximum(x, y); maximum(i, j); maximum(x, 0.0); maximum(holes, 0.0); minimum(x, y); minimum(holes, holes); squared_difference(x, y); squared_difference(i, j); divide_no_nan(x, holes); divide_no_nan(x, 0.0)
multiply_no_nan(x, holes); multiply_no_nan(n, holes); xdivy(holes, p); xdivy(holes, p - p); xlogy(holes, p); xlogy(holes, p - p); xlog1py(holes, p); xlog1py(holes, p - p - 1); atan2(x, y); nextafter(x, y)
igamma(p, p * 2); igammac(p, p * 2); zeta(p + 2, p); polygamma(p - p + 2, p); polygamma(p - p, p); polygamma(p - p + 0.5, p); betainc(p, p + 1, p); add_n([x, y, x]); accumulate_n([x, y]); accumulate_n([i, j])
scalar_mul(2.0, x); scalar_mul(2, i); polyval([x, y, p], z); polyval([1.0, 2.0], x); polyval([x], x)
equal(i, j); equal(x, 0.5); not_equal(i, j); less(x, y); less_equal(i, j); greater(x, y); greater_equal(x, 0.0); logical_and(b, b2); logical_or(b, b2); logical_xor(b, b2); equal(b, b2)
argmax(x); argmax(t, 1); argmax(ties); argmax(x, -1, 'int32'); argmin(x); argmin(t, axis=2); count_nonzero(i); count_nonzero(holes, 1); count_nonzero(b, [0, 1], True, 'int32'); zero_fraction(holes); zero_fraction(i)
reduce_sum(x); reduce_sum(x, 1); reduce_sum(t, [0, -1], True); reduce_sum(i, 0); reduce_sum(c, 1); reduce_sum(u); reduce_sum(x, []); reduce_prod(x); reduce_prod(holes, 1); reduce_prod(i, 0); reduce_mean(x); reduce_mean(t, (1, 2)); reduce_mean(i)
reduce_mean(i, 1); reduce_mean(c, 0); reduce_max(x, 1); reduce_max(ties); reduce_max(i); reduce_max(holes, 0, True); reduce_min(x, 0); reduce_min(ties); reduce_all(b, 1); reduce_any(b, 0); reduce_any(b, keepdims=True)
reduce_variance(x, 1); reduce_variance(x); reduce_variance(c); reduce_std(x, 0, True); reduce_std(c, 1); reduce_euclidean_norm(x, 1); reduce_euclidean_norm(x); reduce_logsumexp(x); reduce_logsumexp(x, 1, True)
reduce_logsumexp(e[2:4]); reduce_sum([[1, 2], [3, 4]], 1); reduce_max([1.5, 2.5])
cumsum(x); cumsum(t, 1, exclusive=True); cumsum(i, 1, reverse=True); cumsum(t, -1, True, True); cumprod(x, 1); cumprod(holes, 1); cumprod(t, 2, True); cumprod(i, 0, reverse=True); cumprod(x, 1, True, True); cumulative_logsumexp(x, 1)
cumulative_logsumexp(x, 1, True); cumulative_logsumexp(t, 1, reverse=True)
softmax(x); softmax(t, 1); log_softmax(x); log_softmax(t, 0); l2_normalize(x); l2_normalize(t, [1, 2]); l2_normalize(x, dim=1); l2_normalize(c, 0); l2_normalize(holes * 0, 1)
segment_sum(ties, [0, 0, 1, 3, 3]); segment_sum(tall, [0, 0, 2]); segment_prod(ties, [0, 0, 1, 3, 3]); segment_max(ties, [0, 0, 2, 2, 2]); segment_max(tall, [0, 0, 2]); segment_min(ties, [0, 0, 2, 2, 2]); segment_mean(tall, [0, 0, 2])
unsorted_segment_sum(ties, k, 4); unsorted_segment_sum(x, j, 5); unsorted_segment_sum(t, [1, -1], 2); unsorted_segment_prod(ties, k, 4); unsorted_segment_max(ties, k, 4); unsorted_segment_max(i, [0, 2], 3); unsorted_segment_min(ties, k, 4); unsorted_segment_mean(t, [1, 1], 3); unsorted_segment_sqrt_n(t, [1, 1], 3)
bincount(k); bincount(k, minlength=5); bincount(k, maxlength=2); bincount(k, ties); bincount(j, axis=-1); bincount(k, binary_output=True); bincount(j, x, axis=-1); bincount(k, dtype='int64')
confusion_matrix([1, 2, 4], [2, 2, 4]); confusion_matrix(k, k // 2, 4); confusion_matrix(k, k // 2, weights=ties, dtype='float32'); approx_max_k(x, 2); top_k(x, 2); top_k(ties, 3); top_k(i, 1, index_type='int64')
in_top_k([1, 0], x, 2); in_top_k([0, 2, 1], [[1.0, 1.0, 0.0], [3.0, 2.0, 2.0], [1.0, 2.0, 3.0]], 1); invert_permutation([2, 0, 1, 3]); sobol_sample(3, 5); sobol_sample(7, 4, 3, 'float64')
"""

EXPRESSIONS = [row if "(" in row else f"{row}(x)" for row in UNARY.split()]
EXPRESSIONS += [row.strip() for row in ROWS.strip().replace("\n", ";").split(";")]
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    "bincount": "upstream has no derivative",
    "multiply_no_nan(n": "by y: NaN here, 0 upstream, where x is NaN",
}
SPECIAL = [
    "bessel_i0(x)",
    "bessel_i0e(x)",
    "bessel_i1(x)",
    "bessel_i1e(x)",
    "bessel_j0(x*3)",
    "bessel_j1(x*3)",
    "bessel_k0(p)",
    "bessel_k0e(p)",
    "bessel_k1(p)",
    "bessel_k1e(p)",
    "bessel_y0(p*5)",
    "bessel_y1(p*5)",
    "dawsn(x)",
    "expint(p*3)",
    "fresnel_cos(x)",
    "fresnel_sin(x)",
    "spence(p*3)",
]


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, tf.math, frontend.math, backend)


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients(expression: str, backend: str) -> None:
    is_compared = not expression.startswith(tuple(NOT_DIFFERENTIATED))
    if is_compared and expressions.is_differentiable(expression, tf.math):
        expressions.assert_gradients(expression, tf.math, frontend.math, backend)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", SPECIAL)
def test_special_functions(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, tf.math.special, frontend.math.special, backend)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", SPECIAL)
def test_gradients_of_special_functions(expression: str, backend: str) -> None:
    expressions.assert_gradients(expression, tf.math.special, frontend.math.special, backend)


def test_the_smallest_elements(backend: str) -> None:
    # upstream has no kernel for CPUs
    values, indices = frontend.math.approx_min_k(on(backend, expressions.INPUTS["t"]), 2, 1)
    assert na.dtype_of(indices) is na.int32
    want = np.sort(expressions.INPUTS["t"], 1)[:, :2]
    np.testing.assert_array_equal(host(values), want)
    np.testing.assert_array_equal(
        host(indices), np.argsort(expressions.INPUTS["t"], 1, stable=True)[:, :2]
    )


def test_tensors_of_two_dtypes_are_refused(backend: str) -> None:
    x, y = (na.asarray(np.zeros(2, dtype)) for dtype in ("float32", "float16"))
    with pytest.raises(na.errors.DtypeError) as caught:
        frontend.add(x, y)
    assert str(caught.value) == (
        "add: got a tensor of float16, expected float32: TensorFlow does not promote dtypes; use "
        "tf.cast(x, tf.float32)"
    )


def test_a_number_that_the_dtype_does_not_hold_is_refused() -> None:
    with pytest.raises(na.errors.DtypeError, match="add: got float32 numbers, expected int32"):
        frontend.math.add(np.zeros(2, "int32"), 1.5)


def test_a_missing_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"tf.math.relu: .* no such name; use tf.nn.relu\(x"):
        frontend.math.relu  # noqa: B018

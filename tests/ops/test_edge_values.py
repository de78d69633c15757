"""Values at the edges of ops, where frameworks differ from each other or from the standard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import errors
from nestarray.frontends import jax as fjax
from nestarray.frontends import keras as fkeras
from nestarray.frontends import numpy as fnp
from nestarray.frontends import torch as ftorch
from tests.arrays import host, on

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore:var"),
]

INF, NAN = np.inf, np.nan


def test_ties_go_to_even_order_statistics(backend: str) -> None:
    x, q = np.arange(1.0, 9.0), np.arange(1, 16, 2) / 16
    found = na.quantile(on(backend, x), on(backend, q), method="closest_observation")
    np.testing.assert_array_equal(host(found), np.quantile(x, q, method="closest_observation"))


def test_knots_beside_infinite_values(backend: str) -> None:
    knots, values = np.asarray([0.0, 1.0, 2.0, 3.0]), np.asarray([INF, 1.0, -INF, 2.0])
    x = np.asarray([0.0, 1.0, 1.5, 2.0, 3.0])
    found = na.interp(*[on(backend, a) for a in (x, knots, values)])
    np.testing.assert_array_equal(host(found), np.interp(x, knots, values))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_remainders_of_the_smallest_integer(dtype: str, backend: str) -> None:
    least = np.iinfo(dtype).min
    x1, x2 = np.asarray([least] * 3 + [7, -7], dtype), np.asarray([-1, 3, -3, -3, 3], dtype)
    found = na.fmod(on(backend, x1), on(backend, x2))
    np.testing.assert_array_equal(host(found), np.fmod(x1, x2))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_of_half_precision_are_rounded_once(dtype: str, backend: str) -> None:
    ones = on(backend, np.ones(4096), dtype)
    nowhere = on(backend, np.zeros(4096), "int32")
    assert float(na.einsum("i,i->", ones, ones)) == 4096
    total = na.setitem(on(backend, np.zeros(1), dtype), nowhere, ones, mode="add")
    assert float(total[0]) == 4096
    assert na.dtype_of(total).name == dtype


def test_determinants_that_underflow(backend: str) -> None:
    for size in (2, 3, 5):
        sign, logarithm = na.slogdet(on(backend, np.eye(size) * 1e-200))
        assert float(sign) == 1.0
        assert float(logarithm) == pytest.approx(size * np.log(1e-200))


#: Only one triangle belongs to the matrix that is meant.
TRIANGLES = np.asarray([[10.0, 3.0], [1.0, 3.0]])


def test_one_triangle_is_read(backend: str) -> None:
    x = on(backend, TRIANGLES)
    np.testing.assert_allclose(host(na.cholesky(x)), np.linalg.cholesky(TRIANGLES))
    expected = np.linalg.cholesky(TRIANGLES, upper=True)
    np.testing.assert_allclose(host(na.cholesky(x, upper=True)), expected)
    np.testing.assert_allclose(host(na.eigvalsh(x)), np.linalg.eigvalsh(TRIANGLES))
    np.testing.assert_allclose(host(na.eigh(x)[0]), np.linalg.eigvalsh(TRIANGLES))


def test_the_other_triangle_may_hold_anything(backend: str) -> None:
    x = np.asarray([[10.0, NAN], [1.0, 3.0]])
    for function, reference in (
        (na.cholesky, np.linalg.cholesky),
        (na.eigvalsh, np.linalg.eigvalsh),
    ):
        np.testing.assert_allclose(host(function(on(backend, x))), reference(x))


def test_a_variance_without_freedom(backend: str) -> None:
    x = np.asarray([1.0, 2.0])
    for correction in (2, 3):
        assert np.isnan(float(na.var(on(backend, x), correction=correction)))
        assert np.isnan(float(na.std(on(backend, x), correction=correction)))
        assert np.isnan(float(fjax.numpy.var(on(backend, x), ddof=correction)))
        assert float(fnp.var(on(backend, x), ddof=correction)) == np.var(x, ddof=correction) == INF
        assert float(ftorch.var(on(backend, x), correction=correction)) == INF
    assert np.isnan(float(fnp.std(on(backend, x[:1] * 0), ddof=1)))


COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_with_integers_out_of_range_are_exact(name: str, backend: str) -> None:
    for dtype, numbers in (("uint8", (-1, 256, 2**70)), ("int32", (2**40, -(2**40)))):
        x = np.asarray([0, 1, 100], dtype)
        for number in numbers:
            expected = getattr(np, name)(x.astype(object), number)
            found = getattr(na, name)(on(backend, x), number)
            np.testing.assert_array_equal(host(found), expected)
            expected = getattr(np, name)(number, x.astype(object))
            found = getattr(na, name)(number, on(backend, x))
            np.testing.assert_array_equal(host(found), expected)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "add": lambda x: na.add(x, 300),
    "subtract": lambda x: na.subtract(300, x),
    "multiply": lambda x: na.multiply(x, -1),
    "maximum": lambda x: na.maximum(x, -1),
    "bitwise_and": lambda x: na.bitwise_and(x, 2**9),
    "where": lambda x: na.where(na.equal(x, 1), x, 300),
    "clip": lambda x: na.clip(x, -1, 300),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_integers_out_of_range_are_refused(name: str, backend: str) -> None:
    x = on(backend, np.asarray([1, 2]), "uint8")
    with pytest.raises(errors.ArgumentError, match=rf"^{name}: .*(-1|300|512).*uint8.*0 to 255"):
        REFUSED[name](x)
    with pytest.raises(errors.ArgumentError, match="uint8"):
        na.jit(REFUSED[name], **({"backend": "eager"} if backend == "torch" else {}))(x)


def test_quotients_of_integers_are_exact_for_any_number(backend: str) -> None:
    x = on(backend, np.asarray([1, 2]), "uint8")
    found = na.divide(x, -1)
    np.testing.assert_array_equal(host(found), [-1.0, -2.0])
    assert na.dtype_of(found).name == "float32"


def test_nothing_has_a_norm(backend: str) -> None:
    for order in (0, 1, 2, 3, INF, -INF):
        assert float(na.vector_norm(on(backend, np.zeros(0)), ord=order)) == 0.0
        rows = na.vector_norm(on(backend, np.zeros((2, 0))), axis=1, ord=order)
        np.testing.assert_array_equal(host(rows), [0.0, 0.0])


def test_a_convolution_of_no_channels(backend: str) -> None:
    x, weight = on(backend, np.zeros((1, 0, 4, 4))), on(backend, np.zeros((2, 0, 3, 3)))
    np.testing.assert_array_equal(host(na.conv2d(x, weight)), np.zeros((1, 2, 2, 2)))


def test_maxima_of_negative_infinity(backend: str) -> None:
    x = on(backend, np.full((1, 1, 3, 3), -INF))
    for padding in (0, 1):
        found = na.max_pool2d(x, kernel_size=2, stride=1, padding=padding)
        assert np.isneginf(host(found)).all()


@pytest.mark.parametrize("decimals", [400, -400])
def test_any_number_of_decimals(decimals: int, backend: str) -> None:
    found = na.round(on(backend, [1.5, -2.0]), decimals=decimals)
    np.testing.assert_array_equal(host(found), [1.5, -2.0] if decimals > 0 else [0.0, 0.0])


def test_negative_numbers_are_not_counted(backend: str) -> None:
    with pytest.raises(errors.ArgumentError, match="bincount: x: got -1"):
        na.bincount(on(backend, np.asarray([-1, 0, 1])))


@pytest.mark.parametrize("right", [False, True])
def test_bins_in_descending_order(right: bool, backend: str) -> None:
    x, bins = np.asarray([0.0, 1.0, 2.5, 3.0, 4.0]), np.asarray([3.0, 2.0, 1.0])
    expected = np.digitize(x, bins, right=right)
    for space in (fnp, fjax.numpy):
        found = space.digitize(on(backend, x), on(backend, bins), right=right)
        np.testing.assert_array_equal(host(found), expected)


def test_negative_segments_are_dropped(backend: str) -> None:
    x, ids = on(backend, [1.0, 2.0, 3.0]), on(backend, np.asarray([-1, 0, 1]))
    np.testing.assert_array_equal(host(fkeras.ops.segment_sum(x, ids, 2)), [2.0, 3.0])
    np.testing.assert_array_equal(host(fkeras.ops.segment_max(x, ids, 2)), [2.0, 3.0])

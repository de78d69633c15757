"""Infinities, NaN and signed zeros: the standard's tables, on every backend."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.special

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.numerics.nonfinite import TABLES
from tests.arrays import host, on

pytestmark = pytest.mark.one_in(4)

PARTS = (-math.inf, -1.5, -0.0, 0.0, 0.5, math.inf, math.nan)
GRID = np.asarray([complex(a, b) for a, b in itertools.product(PARTS, PARTS)], "complex128")
#: NumPy's own functions, which follow C99; it leaves the standard for expm1 only.
ORACLES = {name: getattr(np, name) for name in TABLES if name != "expm1"}


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", sorted(ORACLES))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_complex_functions_at_nonfinite_values(name: str, backend: str) -> None:
    with np.errstate(all="ignore"):
        expected = ORACLES[name](GRID)
        found = host(getattr(na, name)(on(backend, GRID)))
    special = ~np.isfinite(GRID)
    for part in ("real", "imag"):
        # of infinities and zeros C99 leaves some signs open
        want, got = np.abs(getattr(expected, part)), np.abs(getattr(found, part))
        np.testing.assert_allclose(got[special], want[special], rtol=1e-12, err_msg=f"{part}")


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("z", "value"),
    [
        (complex(math.inf, 0.0), complex(math.inf, 0.0)),
        (complex(-math.inf, math.inf), complex(-1.0, 0.0)),
        (complex(-math.inf, math.nan), complex(-1.0, 0.0)),
        (complex(math.inf, math.inf), complex(math.inf, math.nan)),
        (complex(math.nan, 0.0), complex(math.nan, 0.0)),
        (complex(1.0, math.inf), complex(math.nan, math.nan)),
    ],
)
def test_expm1_at_nonfinite_values(backend: str, z: complex, value: complex) -> None:
    with np.errstate(all="ignore"):
        found = host(na.expm1(on(backend, np.asarray([z]))))[0]
    np.testing.assert_array_equal([found.real, found.imag], [value.real, value.imag])


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
@pytest.mark.parametrize("name", sorted(TABLES))
def test_the_derivative_of_finite_numbers_sees_no_others(name: str, backend: str) -> None:
    z = np.asarray([0.3 + 0.4j, complex(math.inf, math.nan)], "complex64")
    alone = z[:1]

    def loss(x: Any) -> Any:
        return na.sum(na.real(getattr(na, name)(x))[:1])

    found, expected = (host(na.grad(loss)(on(backend, x)))[0] for x in (z, alone))
    assert np.isfinite(found)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


REALS = (-math.inf, -2.5, -0.0, 0.0, 2.5, math.inf)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("x1", "x2"), [*itertools.product(REALS, REALS)])
def test_floor_divide_and_remainder(backend: str, x1: float, x2: float) -> None:
    a, b = (on(backend, np.asarray([x], "float32")) for x in (x1, x2))
    with np.errstate(all="ignore"):
        quotient, rest = float(host(na.floor_divide(a, b))[0]), float(host(na.remainder(a, b))[0])
        expected = float(np.floor(np.divide(np.float32(x1), np.float32(x2))))
    np.testing.assert_equal(quotient, expected)  # zeros with their signs
    if x2 == 0 or math.isinf(x1):
        assert math.isnan(rest)
    elif rest == 0:
        assert math.copysign(1, rest) == math.copysign(1, x2)


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_the_derivative_of_remainder_at_whole_quotients(backend: str) -> None:
    a, b = on(backend, np.asarray([4.0, -4.0], "float32")), on(backend, np.float32([2.0, -2.0]))
    by_a, by_b = na.grad(lambda a, b: na.sum(na.remainder(a, b)), (0, 1))(a, b)
    np.testing.assert_array_equal(host(by_a), [1.0, 1.0])
    np.testing.assert_array_equal(host(by_b), [-2.0, -2.0])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_quotients_of_the_whole_range(backend: str, dtype: str) -> None:
    largest = np.iinfo(dtype).max
    numbers = np.asarray([0, 1, 2, 7, largest // 2, largest // 2 + 1, largest - 1, largest], dtype)
    x1, x2 = (x.ravel() for x in np.meshgrid(numbers, numbers[1:]))
    found = host(na.floor_divide(on(backend, x1), on(backend, x2)))
    np.testing.assert_array_equal(found, x1 // x2)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_nan_to_num_knows_the_limits_of_the_dtype(dtype: str, backend: str) -> None:
    x = na.astype(on(backend, np.asarray([math.nan, math.inf, -math.inf], "float32")), dtype)
    limit = float(na.finfo(dtype).max)
    found = na.astype(na.nan_to_num(x, nan=1.0), "float32")
    assert host(found).tolist() == [1.0, limit, -limit]


@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
def test_the_pole_of_digamma_at_zero_has_its_sign(library: str) -> None:
    x = np.asarray([0.0, -0.0], np.float32)
    result = na.digamma(backends.core(library).from_numpy(x))
    np.testing.assert_array_equal(backends.core(library).to_numpy(result), scipy.special.digamma(x))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floor_divide_rounds_the_exact_quotient_down(backend: str, dtype: str) -> None:
    x1, x2 = (host(on("numpy", x, dtype)) for x in ([1.0, 6.0, -1.0, 1.0], [0.1, 0.1, 0.1, 0.001]))
    exact = [math.floor(Fraction(float(a)) / Fraction(float(b))) for a, b in zip(x1, x2)]
    for divisor in (on(backend, x2), on(backend, x2 + x2 * 0)):
        found = host(na.floor_divide(on(backend, x1), divisor)).astype("float64")
        np.testing.assert_array_equal(found, exact)


@pytest.mark.parametrize("backend", BACKENDS)
def test_angles_of_real_zeros(backend: str) -> None:
    x = on(backend, np.asarray([-0.0, 0.0, -1.0, 2.0, math.nan], "float32"))
    np.testing.assert_array_equal(host(na.angle(x)), np.float32([0, 0, math.pi, 0, math.nan]))


@pytest.mark.parametrize("backend", BACKENDS)
def test_lgamma_is_infinite_at_both_infinities(backend: str) -> None:
    x = on(backend, np.asarray([-math.inf, math.inf, 0.0, -1.0], "float32"))
    np.testing.assert_array_equal(host(na.lgamma(x)), math.inf)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["log", "log2", "log10"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_logarithms_of_complex_zeros(backend: str, name: str) -> None:
    z = np.asarray([0j, complex(-0.0, 0.0)], "complex64")
    found = host(getattr(na, name)(on(backend, z)))
    np.testing.assert_array_equal(found.real, -math.inf)
    base = {"log": math.e, "log2": 2.0, "log10": 10.0}[name]
    np.testing.assert_allclose(found.imag, [0, math.pi / math.log(base)], rtol=1e-6)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_divisors_and_multiples_at_the_limits_of_the_dtype(backend: str, dtype: str) -> None:
    """They are computed modulo 2ⁿ, like sums and products."""
    limits = np.iinfo(dtype)
    numbers = [limits.min, limits.min + 1, limits.max, limits.max - 1, 0, 6, 100, 99]
    x1, x2 = (x.ravel().tolist() for x in np.meshgrid(numbers, numbers))
    for op, exact in ((na.gcd, math.gcd), (na.lcm, math.lcm)):
        wrapped = [(exact(a, b) - limits.min) % 2**limits.bits + limits.min for a, b in zip(x1, x2)]
        found = op(on(backend, np.asarray(x1, dtype)), on(backend, np.asarray(x2, dtype)))
        np.testing.assert_array_equal(host(found), np.asarray(wrapped, dtype))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_squareplus_of_large_numbers(backend: str, dtype: str) -> None:
    values = np.asarray([-1e4, -300.0, -math.inf, 300.0, 1e4, math.inf], "float32")
    x = on(backend, values, dtype)
    given = host(x).astype("float64")
    root = np.sqrt(given**2 + 4)
    expected = np.where(given > 0, np.abs(given) + root, 4 / (root + np.abs(given))) / 2
    found = host(na.squareplus(x)).astype("float64")
    np.testing.assert_allclose(found, expected, rtol=4 * na.finfo(dtype).eps)
    slopes = host(na.grad(lambda x: na.sum(na.squareplus(x)))(x)).astype("float64")
    np.testing.assert_allclose(slopes, given > 0, atol=1e-4)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_exponentials_in_half_precision(backend: str, dtype: str) -> None:
    small = np.asarray([-1e-3, -0.01, -0.1, -3.0], "float32")
    powers = np.asarray([100.0 if dtype == "bfloat16" else 15.0, -14.5, 1.5], "float32")
    for op, x, function in (
        (na.elu, small, np.expm1),
        (na.selu, small, lambda x: 1.0507009873554805 * 1.6732632423543772 * np.expm1(x)),
        (na.exp2, powers, np.exp2),
    ):
        given = on(backend, x, dtype)
        exact = function(host(given).astype("float64"))
        found = host(op(given)).astype("float64")
        np.testing.assert_allclose(found, exact, rtol=2 * na.finfo(dtype).eps)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["gammainc", "gammaincc"])
def test_incomplete_gamma_functions_of_nan(backend: str, name: str) -> None:
    a, x = (
        np.float32([math.nan] * 4 + [1.0, math.inf]),
        np.float32([0, 1, math.inf] + [math.nan] * 3),
    )
    assert np.isnan(host(getattr(na, name)(on(backend, a), on(backend, x)))).all()


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
def test_complex_logaddexp_is_logsumexp(backend: str) -> None:
    rng = np.random.default_rng(0)
    x1, x2 = rng.normal(size=(2, 40), scale=5) + 1j * rng.uniform(-9, 9, (2, 40))
    a, b = on(backend, x1), on(backend, x2)
    found = host(na.logaddexp(a, b))
    np.testing.assert_array_equal(found, host(na.logsumexp(na.stack([a, b]), axis=0)))
    np.testing.assert_allclose(found, np.log(np.exp(x1) + np.exp(x2)), rtol=1e-9)
    nothing = on(backend, np.full(1, -math.inf, "complex128"))
    with np.errstate(divide="ignore"):
        assert host(na.logaddexp(nothing, nothing)).real == -math.inf


ROWS = [[math.inf, 0, 1], [math.nan, 0, 1], [-math.inf, 0, 0], [-math.inf] * 3]
SOFTMAX = [[math.nan] * 3, [math.nan] * 3, [0, 0.5, 0.5], [math.nan] * 3]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_softmax_of_infinities(backend: str, dtype: str) -> None:
    found = host(na.softmax(on(backend, ROWS, dtype))).astype("float32")
    np.testing.assert_array_equal(found, np.float32(SOFTMAX))


@pytest.mark.full
def test_softmax_of_infinities_by_onednn() -> None:
    """TensorFlow's default kernels on x86, which the tests turn off elsewhere."""
    program = (
        "import numpy as np, tensorflow as tf, nestarray as na\n"
        "from numpy import inf, nan\n"
        f"rows = tf.constant({ROWS!r}, tf.float32)\n"
        f"expected = np.float32({SOFTMAX!r})\n"
        "np.testing.assert_array_equal(na.softmax(rows), expected)\n"
        "np.testing.assert_array_equal(na.jit(na.softmax)(rows), expected)\n"
    )
    environment = {**os.environ, "TF_ENABLE_ONEDNN_OPTS": "1"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


@pytest.mark.parametrize(
    ("name", "point"),
    [
        ("gammainc", (3.53125, 4.53125)), ("gammaincc", (3.53125, 4.53125)),  # x = a + 1
        ("gammainc", (10.0, 5.0)), ("gammaincc", (10.0, 14.0)),  # Stirling's series begins
        ("betainc", (10.0, 3.0, 0.6)), ("betainc", (12.0, 10.0, 0.5)),
    ],
)  # fmt: skip
def test_derivatives_by_parameters_where_formulas_meet(
    backend: str, name: str, point: tuple[float, ...]
) -> None:
    a, *others = point
    function, step = getattr(scipy.special, name), 1e-5
    wanted = (function(a + step, *others) - function(a - step, *others)) / (2 * step)
    arrays = [on(backend, np.asarray(x, "float32")) for x in point]
    found = na.grad(lambda a: getattr(na, name)(a, *arrays[1:]))(arrays[0])
    np.testing.assert_allclose(float(found), wanted, rtol=2e-4)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", ["gammainc", "gammaincc", "betainc", "zeta"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_derivatives_are_nan_where_a_function_is(name: str, backend: str) -> None:
    function = getattr(na, name)
    first, second = (
        on(backend, np.asarray(x), "float64") for x in ([math.nan, 1.5, 1.5], [1.0, math.nan, 0.5])
    )
    rest = [on(backend, np.full(3, 0.25), "float64")] if name == "betainc" else []
    loss = lambda *args: na.sum(function(*args, *rest))  # noqa: E731
    for gradient in na.grad(loss, argnums=(0, 1))(first, second):
        assert np.isnan(host(gradient)).tolist() == [True, True, False]

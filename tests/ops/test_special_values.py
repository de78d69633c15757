"""Infinities, NaN and signed zeros: the standard's tables, on every backend."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.special

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.numerics.nonfinite import TABLES
from tests.arrays import host, on

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

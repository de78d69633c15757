"""Powers of integers and of 0, and their derivatives; where PyTorch is finite, as in PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
import nestarray.frontends.torch as frontend
from tests.arrays import host, on

BASES = np.asarray([2, 1, -1, -1, 0, -3, -128, 5], "int8")
EXPONENTS = np.asarray([-1, -1, -1, -2, -3, -128, -1, 2], "int8")


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_negative_powers_of_integers_round_towards_zero(dtype: str, backend: str) -> None:
    x1, x2 = BASES.astype(dtype), EXPONENTS.astype(dtype)
    expected = torch.pow(torch.as_tensor(x1), torch.as_tensor(x2)).numpy()
    for pow in (na.pow, frontend.pow):
        found = host(pow(on(backend, x1), on(backend, x2)))
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(host(na.pow(on(backend, x1), -1)), [0, 1, -1, -1, 0, 0, 0, 0])
    np.testing.assert_array_equal(host(na.pow(-1, on(backend, x2))), np.where(x2 % 2, -1, 1))


@pytest.mark.usefixtures("x64")
def test_powers_of_a_complex_zero(backend: str) -> None:
    exponents = np.asarray([0, 1, 2 + 1j, 0.5 - 3j, -1, 1j])
    with np.errstate(invalid="ignore"):
        found = host(na.pow(on(backend, np.zeros(6, "complex128")), on(backend, exponents)))
    np.testing.assert_array_equal(found[:4], [1, 0, 0, 0])
    assert np.isnan(found[4:]).all()
    numbers = [host(na.pow(on(backend, np.zeros(1, "complex64")), n))[0] for n in (0, 1, 2.0, 0.0)]
    assert numbers == [1, 0, 0, 1]


def _powers(x1: Any, x2: Any) -> Any:
    return na.sum(na.pow(x1, x2))


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of 1 / 0
def test_derivatives_of_powers_where_base_or_exponent_is_zero(backend: str) -> None:
    x1 = np.asarray([0.0, 0.0, 0.0, 2.0, 0.0])
    x2 = np.asarray([0.0, 1.0, 2.0, 0.0, -1.0])
    given = [torch.tensor(x, requires_grad=True) for x in (x1, x2)]
    expected = torch.autograd.grad(torch.pow(*given).sum(), given)
    found = na.grad(_powers, (0, 1))(on(backend, x1), on(backend, x2))
    for g, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(host(g), e.numpy(), rtol=1e-12)


@pytest.mark.parametrize("number", [0, 0.0, 1, 1.0, 2.0])
def test_derivatives_of_constant_powers_at_zero(number: float, backend: str) -> None:
    x = on(backend, np.asarray([0.0, -1.0, 2.0], "float32"))

    def slope(x: Any) -> Any:
        return na.grad(lambda x: _powers(x, number))(x)

    values = host(x)
    first = {0: 0 * values, 1: 0 * values + 1, 2: 2 * values}[int(number)]
    np.testing.assert_allclose(host(slope(x)), first)
    np.testing.assert_allclose(host(na.jit(slope)(x)), first)
    np.testing.assert_allclose(host(na.vmap(slope)(x)), first)
    pushed = na.jvp(lambda x: na.pow(x, number), (x,), (na.ones_like(x),))[1]
    np.testing.assert_allclose(host(pushed), first)
    second = na.grad(lambda x: na.sum(slope(x)))(x)
    np.testing.assert_array_equal(host(second), np.full(3, 2.0 if number == 2 else 0.0))
    through_torch = na.grad(lambda x: na.sum(frontend.pow(x, number)))(x)
    np.testing.assert_allclose(host(through_torch), first)


def test_powers_broadcast_in_derivatives(backend: str) -> None:
    x1, x2 = np.asarray([[0.0], [3.0]], "float32"), np.asarray([0.0, 1.0, 2.0], "float32")
    by_base, by_exponent = na.grad(_powers, (0, 1))(on(backend, x1), on(backend, x2))
    np.testing.assert_allclose(host(by_base), [[1.0], [7.0]], rtol=1e-6)
    np.testing.assert_allclose(host(by_exponent), np.log(3) * 3.0**x2, rtol=1e-6)

"""Derivatives of samples by their parameters are those of the quantile function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import nestarray as na
from tests.arrays import on

pytestmark = pytest.mark.usefixtures("x64")

#: Central differences of order 8: offset → weight.
_FIRST = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
_SECOND = {1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560}


def _differences(function: Callable[[float], float], x: float) -> tuple[float, float]:
    """The first and the second derivative of a function."""
    step = 0.02 * x
    ends = {i: (function(x + i * step), function(x - i * step)) for i in _FIRST}
    middle = function(x)
    first = sum(_FIRST[i] * (a - b) for i, (a, b) in ends.items())
    second = sum(_SECOND[i] * (a - 2 * middle + b) for i, (a, b) in ends.items())
    return first / step, second / step**2


@pytest.mark.one_in(36)
@pytest.mark.parametrize("a", [0.3, 1.0, 7.0, 80.0])
def test_gamma(a: float, backend: str) -> None:
    key = na.random.key(3, like=on(backend, 0.0))
    draw = lambda a: na.random.gamma(key, a, dtype="float64")  # noqa: E731
    x = on(backend, a)
    level = scipy.special.gammainc(a, float(draw(x)))
    first, second = _differences(lambda a: scipy.special.gammaincinv(a, level), a)
    assert float(na.grad(draw)(x)) == pytest.approx(first, rel=1e-8)
    assert float(na.jacfwd(draw)(x)) == pytest.approx(first, rel=1e-8)
    assert float(na.hessian(draw)(x)) == pytest.approx(second, rel=1e-5)


@pytest.mark.full
def test_logarithms_of_tiny_numbers(backend: str) -> None:
    """Below e⁻³⁶, F(x; a) = xᵃ / Γ(a + 1), so log x = (log u + log Γ(a + 1)) / a."""
    key = na.random.key(3, like=on(backend, 0.0))
    draw = lambda a: na.random.loggamma(key, a, dtype="float64")  # noqa: E731
    a = 0.002
    y = float(draw(on(backend, a)))
    assert y < -40
    log_level = a * y - scipy.special.gammaln(a + 1)
    first, second = _differences(lambda a: (log_level + scipy.special.gammaln(a + 1)) / a, a)
    assert float(na.grad(draw)(on(backend, a))) == pytest.approx(first, rel=1e-8)
    assert float(na.hessian(draw)(on(backend, a))) == pytest.approx(second, rel=1e-5)


#: name → (function of key and x, parameter); each has a derivative by way of `gamma`.
RELATIVES: dict[str, tuple[Callable[..., Any], float]] = {
    "beta": (lambda key, x: na.random.beta(key, x, 2.0, dtype="float64"), 1.5),
    "chisquare": (lambda key, x: na.random.chisquare(key, x, dtype="float64"), 3.0),
    "student_t": (lambda key, x: na.random.student_t(key, x, dtype="float64"), 4.0),
    "f": (lambda key, x: na.random.f(key, x, 6.0, dtype="float64"), 4.0),
    "dirichlet": (
        lambda key, x: na.random.dirichlet(key, na.stack([x, x * 2.0]), dtype="float64")[0],
        1.2,
    ),
}


@pytest.mark.one_in(36)
@pytest.mark.parametrize("name", RELATIVES)
def test_relatives_agree_on_all_backends(name: str, backend: str) -> None:
    draw, parameter = RELATIVES[name]
    found = []
    for where in ("numpy", backend):
        key = na.random.key(5, like=on(where, 0.0))
        function = lambda x, key=key: na.sum(draw(key, x))  # noqa: E731
        x = on(where, parameter)
        found.append([float(f(x)) for f in (function, na.grad(function), na.hessian(function))])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    assert found[0][1] != 0.0

"""Inside of jit and vmap the numbers equal a plain call's, and gamma numbers have slopes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
import scipy.special

import nestarray as na

SHAPES = np.asarray([0.3, 1.0, 2.5, 40.0], np.float32)

DRAWS: dict[str, Callable[[Any, Any], Any]] = {
    "gamma": lambda key, x: na.random.gamma(key, x, (3, 4)),
    "poisson": lambda key, x: na.random.poisson(key, x * 10.0),
    "dirichlet": lambda key, x: na.random.dirichlet(key, x),
    "ball": lambda key, x: na.random.ball(key, 3, shape=(2,)),
    "truncated_normal": lambda key, x: na.random.truncated_normal(key, -x, x),
    "randint": lambda key, x: na.random.randint(key, (4,), na.astype(x, "int32"), 99),
    "permutation": lambda key, x: na.random.permutation(key, x),
    "choice": lambda key, x: na.random.choice(key, 4, (2,), replace=False, p=x),
    "orthogonal": lambda key, x: na.random.orthogonal(key, 3),
    "fold_in": lambda key, x: na.random.normal(na.random.fold_in(key, "a/b"), (2,)),
}
QUICK = {"gamma", "poisson"}
FRAMEWORKS = ("numpy", "jax", "torch", "tensorflow")


def pairs(*slow: tuple[str, str]) -> list[Any]:
    """Draws and backends; but for a few they are left to the full run, for what they compile."""
    found = [(name, backend) for name in DRAWS for backend in FRAMEWORKS]
    return [
        p if p[0] in QUICK and p not in slow else pytest.param(*p, marks=pytest.mark.full)
        for p in found
    ]


def at(backend: str) -> tuple[Any, Any, dict[str, Any]]:
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    return na.random.key(6, backend=backend), na.to_backend(SHAPES, backend), options


def same(found: Any, expected: Any) -> None:
    found, expected = (np.asarray(na.to_backend(x, "numpy")) for x in (found, expected))
    assert found.dtype == expected.dtype
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=3e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("backend", [pytest.param("torch", marks=pytest.mark.full), "tensorflow"])
def test_normal_numbers_have_the_same_bits_everywhere(backend: str) -> None:
    """In compiled code too, whose optimizers may not add in another order."""
    u = np.random.default_rng(0).uniform(-1.0, 1.0, 40_000).astype(np.float32)
    given, (_, _, options) = na.to_backend(u, backend), at(backend)
    expected = na.normal_quantile(u)
    slope = na.grad(lambda u: na.sum(na.normal_quantile(u)))(u[:9])
    for fn in (na.normal_quantile, na.jit(na.normal_quantile, **options)):
        np.testing.assert_array_equal(np.asarray(fn(given)), expected)
    found = na.grad(lambda u: na.sum(na.normal_quantile(u)))(given[:9])
    np.testing.assert_allclose(np.asarray(found), slope, rtol=1e-5)
    moved = na.jvp(na.normal_quantile, [given[:9]], [given[:9] * 0 + 1])[1]
    np.testing.assert_allclose(np.asarray(moved), slope, rtol=1e-5)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("name", "backend"), pairs())
def test_compiled(name: str, backend: str) -> None:
    key, x, options = at(backend)
    same(na.jit(DRAWS[name], **options)(key, x), DRAWS[name](key, x))


@pytest.mark.parametrize(
    ("name", "backend"), pairs(("gamma", "tensorflow"), ("poisson", "tensorflow"))
)
def test_mapped(name: str, backend: str) -> None:
    key, x, _ = at(backend)
    keys = na.random.split(key, 3)
    draw = DRAWS[name]
    expected = na.stack([draw(keys[i], x) for i in range(3)])
    same(na.vmap(draw, in_axes=(0, None))(keys, x), expected)


@pytest.mark.full
@pytest.mark.parametrize("name", ["gamma", "poisson"])
def test_mapped_parameters_and_compiled(name: str, backend: str) -> None:
    key, x, options = at(backend)
    keys, rows = na.random.split(key, 2), na.stack([x, x + 1.0])
    draw = DRAWS[name]
    expected = na.stack([draw(keys[i], rows[i]) for i in range(2)])
    same(na.jit(na.vmap(draw), **options)(keys, rows), expected)
    same(na.vmap(draw, in_axes=(None, 0))(key, rows)[1], draw(key, rows[1]))


@pytest.mark.parametrize("is_transformed", [False, pytest.param(True, marks=pytest.mark.full)])
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_slopes_of_gamma_numbers(backend: str, is_transformed: bool) -> None:
    """By the quantile: x(a) with P(a, x) fixed has the slope −∂P/∂a / ∂P/∂x."""
    key, a, options = at(backend)

    def total(a: Any) -> Any:
        return na.sum(na.random.gamma(key, a))

    x = np.asarray(na.to_backend(na.random.gamma(key, a), "numpy"), "f8")
    wide, step = SHAPES.astype("f8"), 1e-4
    along = scipy.special.gammainc(wide + step, x) - scipy.special.gammainc(wide - step, x)
    density = np.exp((wide - 1) * np.log(x) - x - scipy.special.gammaln(wide))
    expected = -along / (2 * step) / density
    slope = np.asarray(na.to_backend(na.grad(total)(a), "numpy"))
    np.testing.assert_allclose(slope, expected, rtol=2e-3)
    if not is_transformed:
        return
    compiled = np.asarray(na.to_backend(na.jit(na.grad(total), **options)(a), "numpy"))
    np.testing.assert_allclose(compiled, expected, rtol=2e-3)
    rows = na.stack([a, a])
    mapped = np.asarray(na.to_backend(na.vmap(na.grad(total))(rows), "numpy"))
    np.testing.assert_allclose(mapped[1], expected, rtol=2e-3)
    logs = na.grad(lambda a: na.sum(na.random.loggamma(key, a)))(a)
    np.testing.assert_allclose(np.asarray(na.to_backend(logs, "numpy")), expected / x, rtol=2e-3)


def test_limits_of_gamma_numbers(backend: str) -> None:
    a = na.to_backend(np.asarray([0.0, -1.0, np.nan, np.inf, 2.0], np.float32), backend)
    key = na.random.key(0, backend=backend)
    x = np.asarray(na.to_backend(na.random.gamma(key, a), "numpy"))
    assert x[0] == 0
    assert np.isnan(x[2])
    assert np.isfinite(x[4])
    log_x = np.asarray(na.to_backend(na.random.loggamma(key, a), "numpy"))
    assert log_x[0] == -np.inf
    if backend != "jax":  # jax.random gives numbers without a meaning for negative ones
        assert np.isnan(x[1])
        assert x[3] == np.inf


def test_limits_of_poisson_numbers(backend: str) -> None:
    lam = na.to_backend(np.asarray([0.0, -1.0, np.nan, np.inf, 2.0], np.float32), backend)
    x = np.asarray(
        na.to_backend(na.random.poisson(na.random.key(0, backend=backend), lam), "numpy")
    )
    np.testing.assert_array_equal(x[:4], [0, -1, -1, -1])
    assert x[4] >= 0


def test_empty_draws(backend: str) -> None:
    key = na.random.key(0, backend=backend)
    assert tuple(na.random.gamma(key, 1.0, (0, 2)).shape) == (0, 2)
    assert tuple(na.random.poisson(key, 1.0, (2, 0)).shape) == (2, 0)
    assert tuple(na.random.split(key, 0).shape) == (0, 2)
    assert tuple(na.random.permutation(key, 0).shape) == (0,)
    assert tuple(na.random.choice(key, 3, (0,)).shape) == (0,)


def test_few_degrees_of_freedom_raise_no_warnings() -> None:
    drawn = na.random.student_t(na.random.key(0), 0.01, (1000,))
    assert np.isinf(drawn).any()
    assert na.random.choice(na.random.key(0), 2, (1,), False, np.asarray([0.0, 1.0])).tolist() == [
        1
    ]


def test_jax_without_partitionable_threefry_draws_the_same() -> None:
    key = na.random.key(4, backend="jax")
    expected = na.random.gamma(key, 2.0, (5,)), na.random.poisson(key, 2.0, (5,))
    with jax.threefry_partitionable(False):
        same(na.random.gamma(key, 2.0, (5,)), expected[0])
        same(na.random.poisson(key, 2.0, (5,)), expected[1])

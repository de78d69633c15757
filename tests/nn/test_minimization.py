"""`na.minimize`: the minima that SciPy finds with the same derivatives, on every backend."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.optimize

import nestarray as na
from nestarray import errors
from nestarray.config import BACKENDS
from nestarray.nn.minimization import _METHODS

#: Where the Hessian is positive definite, which "dogleg" needs.
START = [1.2, 1.3, 1.6]
MINIMUM = [1.0, 1.0, 1.0]


def rosenbrock(v: Any) -> Any:
    """Its minimum is 0, at ones."""
    x, y = v.x, v.n.y
    return (1 - x[0]) ** 2 + 2 * (x[1] - x[0] ** 2) ** 2 + 2 * (y - x[1] ** 2) ** 2


def bowl(v: Any) -> Any:
    """Its minimum is 0, at ones."""
    return na.sum((v.x - 1.0) ** 2) + 2.0 * (v.n.y - 1.0) ** 2


def start(backend: str, dtype: str = "float64") -> na.Container:
    v = na.Container(x=np.asarray(START[:2], dtype), n={"y": np.asarray(START[2], dtype)})
    return v.to_backend(backend)


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_each_method_finds_the_minimum(method: str, backend: str) -> None:
    # the linear models of COBYLA stall in a curved valley
    loss = bowl if method == "COBYLA" else rosenbrock
    best = na.minimize(loss, start(backend), method=method, tol=1e-7)
    assert na.backend_of(best.x.x) == backend
    np.testing.assert_allclose(na.tree_ravel(best.x)[0], MINIMUM, atol=2e-3)
    assert best.fun < 1e-5


@pytest.mark.parametrize("backend", BACKENDS)
def test_steps_are_those_of_scipy(backend: str) -> None:
    def function(x: np.ndarray) -> Any:
        return (1 - x[0]) ** 2 + 2 * (x[1] - x[0] ** 2) ** 2 + 2 * (x[2] - x[1] ** 2) ** 2

    def gradient(x: np.ndarray) -> np.ndarray:
        a, b, c = x[1] - x[0] ** 2, x[2] - x[1] ** 2, 1 - x[0]
        return np.asarray([-2 * c - 8 * x[0] * a, 4 * a - 8 * x[1] * b, 4 * b])

    visited: list[Any] = []
    dtype = "float32" if backend == "jax" else "float64"
    best = na.minimize(
        rosenbrock, start(backend, dtype), method="BFGS", callback=visited.append,
        options={"maxiter": 5},
    )  # fmt: skip
    expected = scipy.optimize.minimize(
        function, START, jac=gradient, method="BFGS", options={"maxiter": 5}
    )
    rtol = 1e-3 if dtype == "float32" else 1e-9
    np.testing.assert_allclose(na.tree_ravel(best.x)[0], expected.x, rtol=rtol)
    assert len(visited) == best.nit == 5
    assert set(visited[0]) == {"x", "n"}
    assert str(na.dtype_of(best.jac.n.y)) == dtype


def test_bounds_are_numbers_or_trees() -> None:
    v = start("torch")
    best = na.minimize(rosenbrock, v, bounds=(na.Container(x=-3.0, n=2.0), np.inf))
    assert float(best.x.n.y) == 2.0
    lower = na.Container(x=np.asarray([-3.0, 1.5]), n=-9.0)
    best = na.minimize(rosenbrock, v, bounds=(lower, 9.0))
    assert float(best.x.x[1]) == 1.5


def test_any_nest_and_a_compiled_loss() -> None:
    import jax.numpy as jnp

    compiled = na.minimize(
        lambda v: na.sum((v["a"] - 3) ** 2), {"a": jnp.zeros(4)}, compile=True, method="CG"
    )
    np.testing.assert_allclose(compiled.x["a"], np.full(4, 3.0), atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "lbfgs"}, "minimize: method: got 'lbfgs', expected 'Nelder-Mead', "),
        ({"bounds": 3}, "minimize: bounds: got 3, expected a pair (lower, upper)"),
        ({"bounds": (np.ones(3), 9)}, "minimize: bounds: got the shape (3,), expected a number or"),
        ({"bounds": (na.Container(x=1), 9)}, "minimize: bounds: Containers do not match: 'n/y'"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(errors.NestarrayError, match="^" + re.escape(message)):
        na.minimize(rosenbrock, start("numpy"), **settings)


def test_integers_cannot_move() -> None:
    with pytest.raises(errors.DtypeError, match=r"minimize: v: n: got i64\[\], expected a float"):
        na.minimize(lambda v: v.x, na.Container(x=np.zeros(()), n=np.asarray(3)))

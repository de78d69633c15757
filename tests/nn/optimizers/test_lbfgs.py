"""L-BFGS: Wolfe's conditions, and the minima that SciPy finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize

import nestarray as na
from nestarray import errors, nn
from nestarray.testing import assert_close
from tests.nn.optimizers.row import float64

BACKENDS = ("numpy", "jax", "torch", "tensorflow")


def rosenbrock(v: Any) -> Any:
    """In six dimensions, of two leaves."""
    x = na.concat([v["a"], na.reshape(v["b/c"], (-1,))])
    return na.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def start(backend: str, dtype: str = "float64") -> na.Container:
    v = na.Container(a=np.asarray([-1.2, 1.0]), b={"c": np.asarray([[-1.0, 2.0], [0.5, 1.5]])})
    return v.map(lambda x: np.asarray(x, dtype)).to_backend(backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_each_step_satisfies_wolfes_conditions(backend: str) -> None:
    with float64(backend):
        optimizer, v = nn.LBFGS(c1=1e-4, c2=0.9), start(backend)
        state = optimizer.init(v)
        gradient = na.value_and_grad(rosenbrock)
        value, grads = gradient(v)
        steps = 0
        while value > 1e-10:
            new, state = optimizer.step(v, grads, state, loss=rosenbrock, value=value)
            new_value, new_grads = gradient(new)
            change = new - v
            slope = float(na.tree_dot(grads, change))
            assert slope < 0
            assert float(new_value) <= float(value) + 1e-4 * slope + 1e-12
            assert float(na.tree_dot(new_grads, change)) >= 0.9 * slope - 1e-12
            v, value, grads, steps = new, new_value, new_grads, steps + 1
        assert 30 < steps < 70


def test_less_than_twice_the_steps_of_scipy() -> None:
    """The number of steps to a loss below 10⁻⁶."""
    optimizer, v, values = nn.LBFGS(), start("numpy"), []
    state, gradient = optimizer.init(v), na.value_and_grad(rosenbrock)
    while not values or values[-1] > 1e-6:
        value, grads = gradient(v)
        v, state = optimizer.step(v, grads, state, loss=rosenbrock, value=value)
        values.append(float(value))
    x, visited = na.tree_ravel(start("numpy"))[0], []
    scipy.optimize.minimize(
        scipy.optimize.rosen, x, jac=scipy.optimize.rosen_der, method="L-BFGS-B",
        callback=lambda x: visited.append(scipy.optimize.rosen(x)),
    )  # fmt: skip
    steps = next(i for i, value in enumerate(visited) if value <= 1e-6)
    assert len(values) < 2 * steps


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
@pytest.mark.one_in(3)
def test_a_search_compiles(backend: str) -> None:
    with float64(backend):
        optimizer, v = nn.LBFGS(), start(backend)
        options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}

        def step(v: Any, state: Any) -> Any:
            value, grads = na.value_and_grad(rosenbrock)(v)
            return optimizer.step(v, grads, state, loss=rosenbrock, value=value)

        compiled = na.jit(step, **options)
        plain, plain_state = v, optimizer.init(v)
        state = plain_state
        for _ in range(4):
            plain, plain_state = step(plain, plain_state)
            v, state = compiled(v, state)
        assert_close(v, plain)


def test_a_loss_that_never_falls_changes_nothing() -> None:
    """A gradient of another function."""
    optimizer, v = nn.LBFGS(search_steps=4), start("numpy")
    new, _ = optimizer.step(v, -v, optimizer.init(v), loss=lambda v: na.tree_dot(v, v))
    assert_close(new, v)


def test_float32_and_leaves_that_are_not_floating() -> None:
    optimizer, v = nn.LBFGS(), start("numpy", "float32").set("n", np.arange(3))
    state = optimizer.init(v)
    loss = lambda v: rosenbrock(v.exclude("n"))  # noqa: E731
    before = float(loss(v))
    for _ in range(30):
        grads = na.grad(rosenbrock)(v.exclude("n")).set("n", v["n"])
        v, state = optimizer.step(v, grads, state, loss=loss)
    assert float(loss(v)) < 1e-3 * before
    assert v["a"].dtype == np.float32
    assert v["n"] is not None


def test_a_value_in_the_place_of_a_loss() -> None:
    optimizer, v = nn.LBFGS(), start("numpy")
    with pytest.raises(errors.ArgumentError) as info:
        optimizer.step(v, v, optimizer.init(v), loss=3.0)  # pyright: ignore[reportArgumentType]
    assert str(info.value) == (
        "LBFGS.step: loss: got float, expected the loss as a function of v; its value at v is value="
    )

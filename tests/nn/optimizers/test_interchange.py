"""Runs that continue in optax, PyTorch and Keras, and come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import optax
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, StructureError
from nestarray.testing import assert_close
from tests.nn.optimizers.row import float64

RATE = 0.125  # a number of float32 too, which Keras stores
_RNG = np.random.default_rng(1)
_SHAPES = {"first": {"weight": (4, 3), "bias": (4,)}, "second": {"weight": (2, 4), "bias": (2,)}}


def _drawn() -> na.Container:
    return na.Container(
        {
            name: {k: _RNG.normal(size=n) for k, n in shapes.items()}
            for name, shapes in _SHAPES.items()
        }
    )


START, MINIMUM, CURVATURE = _drawn(), _drawn(), _drawn() ** 2 + 0.1

Run = Callable[[na.Container], na.Container]


def gradient(v: na.Container) -> na.Container:
    """Of Σ c (v − m)² / 2."""
    return (v - MINIMUM) * CURVATURE


def losses(optimizer: nn.Optimizer, v: Any, state: Any, steps: int) -> tuple[list[float], Any, Any]:
    """The losses before each step here, the last variables and state; in NumPy."""
    values = []
    for _ in range(steps):
        values.append(loss(v))
        v, state = optimizer.step(v, gradient(v), state)
    return values, v, state


def loss(v: na.Container) -> float:
    return float(na.tree_dot(gradient(v), v - MINIMUM)) / 2


def check(
    optimizer: nn.Optimizer, there: Callable[..., list[float]], back: Callable[..., Any]
) -> None:
    """Ten steps here and ten there, and the other way round, have the losses of twenty here."""
    expected, _, _ = losses(optimizer, START, optimizer.init(START), 20)
    first, v, state = losses(optimizer, START, optimizer.init(START), 10)
    assert_close(
        np.asarray(first + there(v, state, 10)),
        np.asarray(expected),
        rtol=1e-9,
        atol=1e-9,
        reason="20 steps",
    )
    first, (optimizer, v, state) = back(10)
    second, _, _ = losses(optimizer, v, state.to_backend("numpy"), 10)
    assert_close(
        np.asarray(first + second), np.asarray(expected), rtol=1e-9, atol=1e-9, reason="20 steps"
    )


OPTAX = [
    nn.SGD(RATE), nn.SGD(RATE, momentum=0.9, nesterov=True), nn.Adam(RATE),
    nn.Adam(nn.schedules.piecewise(RATE, {12: 0.5}), nesterov=True),
    nn.AdamW(RATE, decay="**/weight", weight_decay=0.5), nn.Adamax(RATE), nn.RAdam(RATE, b2=0.9),
    nn.AdaBelief(RATE), nn.Yogi(RATE), nn.Adan(RATE), nn.Adagrad(RATE), nn.Adadelta(RATE),
    nn.RMSprop(RATE, momentum=0.9), nn.RMSprop(RATE, centered=True, eps_in_sqrt=False),
    nn.Lion(RATE), nn.LAMB(RATE, weight_decay=0.1, decay="**/bias"),
    nn.LARS(RATE, momentum=0.0, weight_decay=0.1, decay="**/bias"), nn.NovoGrad(RATE),
    nn.LARS(RATE, trust_coefficient=0.1),
]  # fmt: skip


@pytest.mark.parametrize("optimizer", OPTAX, ids=lambda optimizer: type(optimizer).__name__)
def test_a_run_continues_in_optax(optimizer: nn.Optimizer) -> None:
    def steps(transformation: Any, params: Any, opt_state: Any, count: int) -> Any:
        values = []
        for _ in range(count):
            v = na.Container(jax.tree.map(np.asarray, params))
            values.append(loss(v))
            updates, opt_state = transformation.update(gradient(v).to_dict(), opt_state, params)
            params = optax.apply_updates(params, updates)
        return values, params, opt_state

    def native(v: na.Container) -> Any:
        return jax.tree.map(jax.numpy.asarray, v.to_dict())

    def there(v: na.Container, state: na.Container, count: int) -> list[float]:
        return steps(*_paired(nn.to_optax(optimizer, state, native(v)), native(v)), count)[0]

    def back(count: int) -> Any:
        transformation, _ = nn.to_optax(optimizer, optimizer.init(START), native(START))
        params = native(START)
        values, params, opt_state = steps(
            transformation, params, transformation.init(params), count
        )
        v = na.Container(jax.tree.map(np.asarray, params))
        return values, (optimizer, v, nn.from_optax(optimizer, opt_state))

    with float64("jax"):
        check(optimizer, there, back)


def _paired(pair: tuple[Any, Any], params: Any) -> tuple[Any, Any, Any]:
    return pair[0], params, pair[1]


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)


def torch_model(v: na.Container) -> Net:
    return na.load_into_torch_module(v.to_backend("torch"), Net().double())


TORCH = [
    nn.SGD(RATE), nn.SGD(RATE, momentum=0.9, nesterov=True, weight_decay=0.1),
    nn.SGD(RATE, momentum=0.9, dampening=0.5), nn.Adam(RATE, eps=1e-3), nn.Adam(RATE, amsgrad=True),
    nn.Adam({"first/**": RATE, "**": 0.25}), nn.AdamW(RATE, decay="**/weight", weight_decay=0.5),
    nn.Adamax(RATE), nn.NAdam(RATE), nn.Adagrad(RATE, eps_in_sqrt=False), nn.Adadelta(RATE),
    nn.RMSprop(RATE, eps_in_sqrt=False, momentum=0.9, centered=True), nn.Rprop(RATE),
]  # fmt: skip


@pytest.mark.parametrize("optimizer", TORCH, ids=lambda optimizer: type(optimizer).__name__)
def test_a_run_continues_in_torch(optimizer: nn.Optimizer) -> None:
    def steps(native: Any, model: Net, count: int) -> list[float]:
        values = []
        for _ in range(count):
            v = na.Container.from_torch_module(model).to_backend("numpy")
            values.append(loss(v))
            for path, slope in gradient(v).flat_items():
                model.get_parameter(path.replace("/", ".")).grad = torch.from_numpy(slope)
            native.step()
        return values

    def there(v: na.Container, state: na.Container, count: int) -> list[float]:
        model = torch_model(v)
        return steps(nn.to_torch_optimizer(optimizer, state, model), model, count)

    def back(count: int) -> Any:
        model = torch_model(START)
        native = nn.to_torch_optimizer(optimizer, optimizer.init(START), model)
        values = steps(native, model, count)
        v = na.Container.from_torch_module(model).to_backend("numpy")
        return values, _with_variables(nn.from_torch_optimizer(native, model), v)

    torch.set_default_dtype(torch.float64)  # of the numbers of NAdam
    try:
        check(optimizer, there, back)
    finally:
        torch.set_default_dtype(torch.float32)


def _with_variables(pair: tuple[Any, Any], v: na.Container) -> tuple[Any, Any, Any]:
    return pair[0], v, pair[1]


#: Keras rounds some settings to float32.
_EXACT = {"b1": 0.875, "b2": 1 - 2.0**-6, "eps": 2.0**-10, "eps_hat": True}
KERAS = [
    nn.SGD(RATE), nn.SGD(RATE, momentum=0.875, nesterov=True), nn.Adam(RATE, **_EXACT),
    nn.Adam(RATE, amsgrad=True, **_EXACT), nn.AdamW(RATE, weight_decay=0.5, **_EXACT),
    nn.RMSprop(RATE, momentum=0.875), nn.RMSprop(RATE, centered=True), nn.Adagrad(RATE),
    nn.Lion(RATE, b1=0.875, weight_decay=0.125),
]  # fmt: skip


@pytest.mark.parametrize("optimizer", KERAS, ids=lambda optimizer: type(optimizer).__name__)
def test_a_run_continues_in_keras(optimizer: nn.Optimizer) -> None:
    import keras

    class Leaves(keras.Layer):
        def build(self, shape: Any = None) -> None:
            for path, x in START.flat_items():
                weight = self.add_weight(name=path.replace("/", "_"), shape=x.shape)
                weight.assign(x)

    def model() -> Any:
        layer = Leaves(dtype="float64", name="net")
        layer.build()
        layer.built = True
        return layer

    names = {path: f"net/{path.replace('/', '_')}" for path in START.paths()}

    def there_of(c: na.Container) -> na.Container:
        return na.Container.from_flat_dict({names[path]: x for path, x in c.flat_items()})

    def here_of(c: na.Container) -> na.Container:
        return START.map(lambda path, _: c[names[path]], with_path=True)

    def values_of(layer: Any) -> na.Container:
        return here_of(na.Container.from_keras(layer).to_backend("numpy"))

    def moved(state: na.Container, move: Any) -> na.Container:
        return na.Container(
            {name: move(x) if isinstance(x, na.Container) else x for name, x in state.items()}
        )

    def steps(native: Any, layer: Any, count: int) -> list[float]:
        values = []
        for _ in range(count):
            v = values_of(layer)
            values.append(loss(v))
            grads = there_of(gradient(v))
            native.apply(
                [keras.ops.convert_to_tensor(grads[x.path]) for x in layer.trainable_variables],
                layer.trainable_variables,
            )
        return values

    def there(v: na.Container, state: na.Container, count: int) -> list[float]:
        layer = na.load_into_keras(there_of(v), model())
        native = nn.to_keras_optimizer(optimizer, moved(state, there_of), layer)
        return steps(native, layer, count)

    def back(count: int) -> Any:
        layer = model()
        state = moved(optimizer.init(START), there_of)
        native = nn.to_keras_optimizer(optimizer, state, layer)
        values = steps(native, layer, count)
        again, state = nn.from_keras_optimizer(native, layer)
        return values, (again, values_of(layer), moved(state, here_of))

    check(optimizer, there, back)


def test_settings_that_differ_are_refused() -> None:
    import keras

    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    v = na.Container.from_keras(model, trainable=True)
    net = Net()
    adam, amsgrad = nn.Adam(RATE), nn.Adam(RATE, amsgrad=True)
    scheduled, shampoo = nn.Adam(nn.schedules.linear(0.1, 0.0, 5)), nn.Shampoo(0.1)
    parameters = na.Container.from_torch_module(net)
    for call, message in (
        (lambda: nn.to_keras_optimizer(adam, adam.init(v), model),
         "to_keras_optimizer: eps_hat: got False, expected True: Keras computes Adam with that alone"),
        (lambda: nn.to_optax(amsgrad, amsgrad.init(parameters), {}),
         "to_optax: amsgrad: got True, expected False: optax computes adam with that alone"),
        (lambda: nn.to_torch_optimizer(shampoo, shampoo.init(parameters), net),
         "to_torch_optimizer: PyTorch has no optimizer with the formulas of Shampoo, expected "),
        (lambda: nn.to_torch_optimizer(scheduled, scheduled.init(parameters), net),
         "to_torch_optimizer: learning_rate: got functools.partial"),
        (lambda: nn.from_torch_optimizer(torch.optim.RAdam(net.parameters()), net),
         "from_torch_optimizer: got RAdam, expected an optimizer of PyTorch with an equal"),
        (lambda: nn.from_torch_optimizer(torch.optim.Adam(net.parameters(), weight_decay=0.1), net),
         "from_torch_optimizer: weight_decay: got 0.1, expected 0: nn.Adam has no equivalent"),
        (lambda: nn.from_keras_optimizer(keras.optimizers.Adam(clipnorm=1.0), model),
         "from_keras_optimizer: clipnorm: got 1.0, expected None: nn.Adam has no equivalent"),
        (lambda: nn.from_optax(adam, optax.sgd(0.1).init({"w": np.ones(2)})),
         "from_optax: opt_state: got no 'mu', expected the state of optax.adam"),
    ):  # fmt: skip
        with pytest.raises(ArgumentError) as info:
            call()
        assert str(info.value).startswith(message)


def test_modules_that_differ_are_refused() -> None:
    import keras

    net, adam = Net(), nn.Adam(RATE)
    with pytest.raises(StructureError, match="a parameter of the optimizer is not in the Linear"):
        nn.from_torch_optimizer(torch.optim.Adam(net.parameters()), net.first)
    state = adam.init(na.Container.from_torch_module(net))
    with pytest.raises(StructureError, match="state: 'first/weight' is not a parameter of the mod"):
        nn.to_torch_optimizer(adam, state, net.first)
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    exact = nn.Adam(RATE, eps_hat=True)
    with pytest.raises(StructureError, match="state: no 'mu' of 'sequential"):
        nn.to_keras_optimizer(exact, state, model)


def test_parts_of_a_module_and_fresh_optimizers() -> None:
    net = Net()
    native = torch.optim.AdamW(net.second.parameters(), 0.1)
    optimizer, state = nn.from_torch_optimizer(native, net)
    assert state.paths()[:3] == ("count", "mu/second/weight", "mu/second/bias")
    assert int(state["count"]) == 0
    again = nn.to_torch_optimizer(optimizer, state, net)
    assert {id(p) for g in again.param_groups for p in g["params"]} == {
        id(p) for p in net.second.parameters()
    }
    assert again.param_groups[0]["weight_decay"] == 0.01

"""Optimizers of Keras with the formulas and states of the optimizers here.

Keras computes Adam with ε before the correction of the second moment; `Adam` does so with
``eps_hat=True``. Weight decay is decoupled in all optimizers of Keras.

References:
    https://keras.io/api/optimizers/
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes, lazy_imports, ops
from nestarray.container import Container
from nestarray.errors import ArgumentError, StructureError
from nestarray.nn.optimizers.adagrad import Adagrad, RMSprop
from nestarray.nn.optimizers.adam import Adam, AdamW
from nestarray.nn.optimizers.interchange.twins import Twin, class_of, rates_of, twin_of
from nestarray.nn.optimizers.optimizer import Optimizer
from nestarray.nn.optimizers.sgd import SGD
from nestarray.nn.optimizers.signs import Lion

_BETAS = {"b1": "beta_1", "b2": "beta_2"}
_MEANS = {"mu": "_momentums", "nu": "_velocities", "nu_max": "_velocity_hats"}
_OPTIONS = {
    "clipnorm": None, "clipvalue": None, "global_clipnorm": None, "use_ema": False,
    "loss_scale_factor": None, "gradient_accumulation_steps": None,
}  # fmt: skip
_PLAIN = {**_OPTIONS, "weight_decay": None}
_TWINS = (
    # the rate is inside of the momentum, with a sign
    Twin(SGD, "SGD", {"momentum": "momentum", "nesterov": "nesterov"}, {"trace": "momentums"},
         {"dampening": 0.0, "weight_decay": 0.0}, _PLAIN, {"trace": (-1, 1)}),
    Twin(Adam, "Adam", {**_BETAS, "eps": "epsilon", "amsgrad": "amsgrad"}, _MEANS,
         {"eps_hat": True, "nesterov": False}, _PLAIN),
    Twin(AdamW, "AdamW",
         {**_BETAS, "eps": "epsilon", "amsgrad": "amsgrad", "weight_decay": "weight_decay"},
         _MEANS, {"eps_hat": True, "nesterov": False, "decay": "**"}, _OPTIONS),
    Twin(RMSprop, "RMSprop",
         {"decay_rate": "rho", "eps": "epsilon", "centered": "centered", "momentum": "momentum"},
         {"nu": "_velocities", "mu": "_average_gradients", "trace": "_momentums"},
         {"eps_in_sqrt": True}, _PLAIN),
    Twin(Adagrad, "Adagrad",
         {"initial_accumulator_value": "initial_accumulator_value", "eps": "epsilon"},
         {"sum_of_squares": "_accumulators"}, {"eps_in_sqrt": True}, _PLAIN),
    Twin(Lion, "Lion", {**_BETAS, "weight_decay": "weight_decay"}, {"mu": "_momentums"},
         {"decay": "**"}, _OPTIONS),
)  # fmt: skip


def to_keras_optimizer(optimizer: Optimizer, state: Container, model: Any) -> Any:
    """The optimizer of Keras with the same formulas for the trainable variables of a model.

    A run continues there with the losses that it would have here.

    Args:
        optimizer: an optimizer that Keras has with the same formulas; `Adam` and `AdamW` with
            ``eps_hat=True``. Its rate is one number.
        state: of the optimizer, on any backend, with the paths of the trainable variables.
        model: a built ``keras.Model`` or ``keras.Layer``.

    Returns:
        a built ``keras.optimizers.Optimizer``.

    Raises:
        ArgumentError: Keras does not have the optimizer, or not with these settings.
        StructureError: a trainable variable has no moment in `state`.

    Example:
        >>> import keras, nestarray as na
        >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        >>> optimizer = na.nn.Adam(0.1, eps=1e-7, eps_hat=True)
        >>> state = optimizer.init(na.Container.from_keras(model, trainable=True))
        >>> float(na.nn.to_keras_optimizer(optimizer, state, model).epsilon)
        1e-07
    """
    function = "to_keras_optimizer"
    keras = lazy_imports.optional("keras", f"{function} needs", extra="keras")
    twin = twin_of(optimizer, _TWINS, function, "Keras")
    settings = twin.settings_there(optimizer, function, "Keras")
    variables = _variables(model, function)
    rates = set(rates_of(optimizer, Container.from_flat_dict(variables), function).values())
    if len(rates) > 1:
        raise ArgumentError(f"{function}: learning_rate: got several rates, expected one number")
    rate = rates.pop()
    native = getattr(keras.optimizers, twin.name)(rate, **settings)
    native.build(list(variables.values()))
    native.iterations.assign(int(state["count"]))
    for name in optimizer.moments:
        for path, slot in zip(variables, getattr(native, twin.moments[name]), strict=True):
            if path not in state[name]:
                raise StructureError(
                    f"{function}: state: no {name!r} of {path!r}, expected the state of variables from "
                    "Container.from_keras(model, trainable=True)"
                )
            moment = ops.to_backend(state[name][path], "numpy")
            slot.assign(twin.moment_there(name, moment, rate))
    return native


def from_keras_optimizer(optimizer: Any, model: Any) -> tuple[Optimizer, Container]:
    """The optimizer with the formulas of one of Keras, and its state.

    Args:
        optimizer: a ``keras.optimizers.Optimizer`` whose rate is a number.
        model: the model that it trains, whose variables give the paths.

    Returns:
        (optimizer, state). The state is on NumPy, with copies of the moments.

    Raises:
        ArgumentError: no optimizer here has these formulas, or the rate is a schedule.

    Example:
        >>> import keras, nestarray as na
        >>> model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, name="fc")], name="net")
        >>> optimizer, state = na.nn.from_keras_optimizer(keras.optimizers.Adam(0.5), model)
        >>> optimizer.eps_hat, state.paths()[:2]
        (True, ('count', 'mu/net/fc/kernel'))
    """
    function = "from_keras_optimizer"
    twin = class_of(type(optimizer).__name__, _TWINS, function, "Keras")
    if not hasattr(optimizer._learning_rate, "assign"):
        raise ArgumentError(
            f"{function}: learning_rate: got a schedule, expected a number; use a schedule of "
            "nn.schedules in the optimizer here"
        )
    rate = float(optimizer.learning_rate)
    options = {name: getattr(optimizer, name, None) for name in _PLAIN}
    settings = twin.settings_here(options | vars(optimizer), function, "Keras")
    if settings.get("weight_decay", 0.0) is None:
        settings["weight_decay"] = 0.0
    here = twin.cls(rate, **settings)
    variables = _variables(model, function)
    v = Container.from_flat_dict({path: _array(x) for path, x in variables.items()})
    if not optimizer.built:
        return here, here.init(v)
    moments = {}
    for name in here.moments:
        slots = dict(zip(variables, getattr(optimizer, twin.moments[name]), strict=True))
        moments[name] = v.map(
            lambda path, _, name=name, slots=slots: twin.moment_here(
                name, _array(slots[path]), rate
            ),
            with_path=True,
        )
    count = np.asarray(int(optimizer.iterations), np.int32)
    return here, Container(count=ops.astype(count, dtypes.int32), **moments)


def _array(variable: Any) -> np.ndarray:
    """A copy of the value of a variable, in NumPy."""
    return np.array(ops.to_backend(variable.value, "numpy"))


def _variables(model: Any, function: str) -> dict[str, Any]:
    """Path → trainable variable, in the order of the model."""
    if not hasattr(model, "trainable_variables"):
        raise ArgumentError(
            f"{function}: model: got {type(model).__name__}, expected a keras.Model or keras.Layer"
        )
    return {variable.path: variable for variable in model.trainable_variables}

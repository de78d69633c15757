"""Optimizers of PyTorch with the formulas and states of the optimizers here.

References:
    https://docs.pytorch.org/docs/stable/optim.html
"""

from __future__ import annotations

import re
from typing import Any

from nestarray import backends, dtypes, ops
from nestarray.container import Container
from nestarray.errors import ArgumentError, StructureError
from nestarray.nn.optimizers.adagrad import Adadelta, Adagrad, RMSprop
from nestarray.nn.optimizers.adam import Adam, Adamax, AdamW
from nestarray.nn.optimizers.adam_momentum import NAdam
from nestarray.nn.optimizers.interchange.twins import Twin, class_of, rates_of, twin_of
from nestarray.nn.optimizers.optimizer import Optimizer
from nestarray.nn.optimizers.sgd import SGD
from nestarray.nn.optimizers.signs import Rprop

_BETAS = {"b1": "betas.0", "b2": "betas.1", "eps": "eps"}
_MEANS = {"mu": "exp_avg", "nu": "exp_avg_sq"}
_SCHEDULED = {"weight_decay": 0, "maximize": False}
_PLAIN = {"nesterov": False, "eps_hat": False}
_TWINS = (
    Twin(SGD, "SGD",
         {n: n for n in ("momentum", "dampening", "nesterov", "weight_decay")},
         {"trace": "momentum_buffer"}, twin_needs={"maximize": False}),
    Twin(Adam, "Adam", {**_BETAS, "amsgrad": "amsgrad"}, {**_MEANS, "nu_max": "max_exp_avg_sq"},
         _PLAIN, {**_SCHEDULED, "decoupled_weight_decay": False}),
    Twin(AdamW, "AdamW", {**_BETAS, "amsgrad": "amsgrad", "weight_decay": "weight_decay"},
         {**_MEANS, "nu_max": "max_exp_avg_sq"}, _PLAIN, {"maximize": False}),
    Twin(Adamax, "Adamax", _BETAS, {"mu": "exp_avg", "nu": "exp_inf"}, twin_needs=_SCHEDULED),
    Twin(NAdam, "NAdam", {**_BETAS, "momentum_decay": "momentum_decay"},
         {**_MEANS, "mu_product": "mu_product"}, twin_needs=_SCHEDULED),
    Twin(Adagrad, "Adagrad",
         {"eps": "eps", "initial_accumulator_value": "initial_accumulator_value"},
         {"sum_of_squares": "sum"}, {"eps_in_sqrt": False}, {**_SCHEDULED, "lr_decay": 0}),
    Twin(Adadelta, "Adadelta", {"rho": "rho", "eps": "eps"},
         {"e_g": "square_avg", "e_x": "acc_delta"}, twin_needs=_SCHEDULED),
    # the rate is outside of the momentum
    Twin(RMSprop, "RMSprop",
         {"decay_rate": "alpha", **{n: n for n in ("eps", "centered", "momentum")}},
         {"nu": "square_avg", "mu": "grad_avg", "trace": "momentum_buffer"},
         {"eps_in_sqrt": False}, _SCHEDULED, {"trace": (1, -1)}),
    Twin(Rprop, "Rprop",
         {"eta_minus": "etas.0", "eta_plus": "etas.1",
          "min_step_size": "step_sizes.0", "max_step_size": "step_sizes.1"},
         {"step_sizes": "step_size", "previous": "prev"}, twin_needs={"maximize": False}),
)  # fmt: skip


def to_torch_optimizer(optimizer: Optimizer, state: Container, module: Any) -> Any:
    """The optimizer of PyTorch with the same formulas for the parameters of a module.

    A run continues there with the losses that it would have here. Rates and weight decay by path
    become parameter groups.

    Args:
        optimizer: an optimizer that PyTorch has with the same formulas. Its rates are numbers.
        state: of the optimizer, on any backend, with the paths of the parameters. Parameters
            without a moment are not trained.
        module: a ``torch.nn.Module``.

    Returns:
        a ``torch.optim.Optimizer``.

    Raises:
        ArgumentError: PyTorch does not have the optimizer, or not with these settings.
        StructureError: a path of `state` is not a parameter of `module`.

    Example:
        >>> import torch, nestarray as na
        >>> module = torch.nn.Linear(3, 2)
        >>> optimizer = na.nn.Adam(0.1)
        >>> state = optimizer.init(na.Container.from_torch_module(module))
        >>> na.nn.to_torch_optimizer(optimizer, state, module).param_groups[0]["lr"]
        0.1
    """
    function = "to_torch_optimizer"
    twin = twin_of(optimizer, _TWINS, function, "PyTorch")
    settings = twin.settings_there(optimizer, function, "PyTorch")
    parameters = _parameters(module, function)
    trained = _trained(optimizer, state, parameters, function)
    rates = rates_of(optimizer, trained, function)
    decays = dict(trained.mask(optimizer.decay).flat_items())
    groups: dict[Any, list[Any]] = {}
    for path in trained.paths():
        groups.setdefault((rates[path], decays[path]), []).append(parameters[path])
    native = getattr(backends.core("torch").torch.optim, twin.name)(
        [
            {"params": tensors, "lr": rate, **({} if has_decay else {"weight_decay": 0.0})}
            for (rate, has_decay), tensors in groups.items()
        ],
        **settings,
    )
    if int(state["count"]):
        for path, tensor in trained.flat_items():
            native.state[tensor] = _state_of(twin, optimizer, state, path, tensor, rates[path])
    return native


def _state_of(
    twin: Twin, optimizer: Optimizer, state: Container, path: str, tensor: Any, rate: float
) -> dict[str, Any]:
    torch = backends.core("torch").torch
    values: dict[str, Any] = {}
    if twin.cls is not SGD:
        values["step"] = torch.tensor(float(state["count"]))
    for name in optimizer.moments:
        moment = state[name][path] if isinstance(state[name], Container) else state[name]
        moment = ops.to_backend(moment, "torch").detach().to(tensor.device)
        values[twin.moments[name]] = twin.moment_there(name, moment, rate).clone()
    return values


def from_torch_optimizer(optimizer: Any, module: Any) -> tuple[Optimizer, Container]:
    """The optimizer with the formulas of one of PyTorch, and its state.

    Args:
        optimizer: a ``torch.optim.Optimizer`` of parameters of `module`. Groups may differ in their
            rate, and in whether they decay.
        module: the ``torch.nn.Module``, whose names give the paths.

    Returns:
        (optimizer, state). The state is on PyTorch, with copies of the moments. SGD of PyTorch counts
        no steps; the count is 1 if there is a momentum.

    Raises:
        ArgumentError: no optimizer here has these formulas.
        StructureError: a parameter of `optimizer` is not in `module`.

    Example:
        >>> import torch, nestarray as na
        >>> module = torch.nn.Linear(3, 2)
        >>> optimizer, state = na.nn.from_torch_optimizer(torch.optim.Adam(module.parameters()), module)
        >>> optimizer.learning_rate, state.paths()[:3]
        (0.001, ('count', 'mu/weight', 'mu/bias'))
    """
    function = "from_torch_optimizer"
    twin = class_of(type(optimizer).__name__, _TWINS, function, "PyTorch")
    parameters = _parameters(module, function)
    paths = {id(tensor): path for path, tensor in parameters.items()}
    groups = {paths.get(id(t), ""): g for g in optimizer.param_groups for t in g["params"]}
    if "" in groups:
        raise StructureError(
            f"{function}: a parameter of the optimizer is not in the {type(module).__name__}, expected "
            "the module that it trains"
        )
    v = Container.from_flat_dict(
        {path: parameters[path].detach() for path in parameters if path in groups}
    )
    settings, rates = _settings_of(twin, groups, function)
    same = len(set(rates.values())) == 1
    here = twin.cls(next(iter(rates.values())) if same else rates, **settings)
    state = here.init(v)
    if not optimizer.state:
        return here, state

    def moment(name: str) -> Any:
        if not isinstance(state[name], Container):
            return next(iter(optimizer.state.values()))[twin.moments[name]].clone()
        return v.map(
            lambda path, _: twin.moment_here(
                name, optimizer.state[parameters[path]][twin.moments[name]], rates[path]
            ).clone(),
            with_path=True,
        )

    first = next(iter(optimizer.state.values()))
    count = ops.full((), int(first.get("step", 1)), dtype=dtypes.int32, like=v.leaves()[0])
    return here, Container(count=count, **{name: moment(name) for name in here.moments})


def _settings_of(
    twin: Twin, groups: dict[str, dict[str, Any]], function: str
) -> tuple[dict[str, Any], dict[str, float]]:
    """The settings of all groups, and the rate of each path."""
    rates = {path: float(group["lr"]) for path, group in groups.items()}
    decays = {path: group.get("weight_decay", 0) for path, group in groups.items()}
    has_decay = "weight_decay" in twin.settings
    all_settings = [
        twin.settings_here(group, function, "PyTorch")
        | ({"weight_decay": 0.0} if has_decay else {})
        for group in groups.values()
    ]
    if (
        any(settings != all_settings[0] for settings in all_settings)
        or len({*decays.values(), 0}) > 2
    ):
        raise ArgumentError(
            f"{function}: groups: got different settings, expected groups that differ in lr, or in "
            "weight_decay between 0 and one number"
        )
    settings = all_settings[0]
    if has_decay:
        settings["weight_decay"] = max(decays.values())
        if len(set(decays.values())) > 1:
            names = "|".join(re.escape(path) for path, decay in decays.items() if decay)
            settings["decay"] = re.compile(f"^({names})$")
    return settings, rates


def _parameters(module: Any, function: str) -> dict[str, Any]:
    """Path → parameter; of tied parameters the first path."""
    if not hasattr(module, "named_parameters"):
        raise ArgumentError(
            f"{function}: module: got {type(module).__name__}, expected a torch.nn.Module"
        )
    return {name.replace(".", "/"): tensor for name, tensor in module.named_parameters()}


def _trained(
    optimizer: Optimizer, state: Container, parameters: dict[str, Any], function: str
) -> Container:
    """The parameters with a moment; all if the optimizer has none."""
    nodes = [state[name] for name in optimizer.moments if isinstance(state[name], Container)]
    if not nodes:
        return Container.from_flat_dict(parameters)
    for path in nodes[0].paths():
        if path not in parameters:
            raise StructureError(
                f"{function}: state: {path!r} is not a parameter of the module, expected the state of "
                "variables from Container.from_torch_module"
            )
    return nodes[0].map(lambda path, _: parameters[path], with_path=True)

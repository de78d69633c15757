"""Layers of ``torch.nn`` for modules that call the function of a layer with their own variables."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nestarray.dtypes import as_dtype
from nestarray.exporters.source.printing.torch_language import LANGUAGE, RECURRENT, one_number
from nestarray.exporters.source.recording.records import Call, Name, Value, values_in
from nestarray.exporters.source.styles.layer_programs import has_candidates, known_layer
from nestarray.exporters.source.tree.module_tree import constant_name, unused
from nestarray.exporters.source.tree.modules import Layer, Module, Use, arguments


def give_layers(root: Module, constants: Mapping[Value, np.ndarray], *, train: bool) -> None:
    """Make layers of the modules below the root that are one, and give their calls its arguments.

    Args:
        root: a tree of modules.
        constants: the arrays of constants.
        train: whether it is of the training mode.
    """
    zeros = {value for value, array in constants.items() if not array.any()}
    for module in root.walk():
        for name, child in module.children.items():
            uses = [use for use in module.uses if use.name == name]
            before = child.inputs
            values = [dict(zip(before, use.inputs, strict=True)) for use in uses]
            starts = {value for value in before if all(row[value] in zeros for row in values)}
            child.layer = layer_of(child) or recurrent_layer(child, starts)
            if child.layer is None and has_candidates(child):
                child.layer = known_layer(child, _give_layers[train], train=train)
            if child.layer is not None:
                dtypes = {x.dtype for part in child.walk() for x in part.variables.values()}
                if len(dtypes) == 1 and dtypes != {"float32"}:
                    child.layer.kwargs["dtype"] = as_dtype(*dtypes)
                _give_form(child.layer, values_in(child.output), uses)
                for value in child.inputs:
                    if value not in before:
                        values = [row | {value: _held(module, value, constants)} for row in values]
                for use, row in zip(uses, values, strict=True):
                    use.inputs = [row[value] for value in child.inputs]
                child.inputs = [*map(dataclasses.replace, child.inputs)]  # one value for each place
        used = {value for step in module.steps for value in arguments(step)}
        used.update(values_in(module.output))
        row = module.variables.items()
        module.variables = {k: v for k, v in row if v.source != "constants" or v in used}


def _held(module: Module, value: Value, constants: Mapping[Value, np.ndarray]) -> Value:
    """The variable of a module for a constant; constants that are equal have one."""
    for held in module.variables.values():
        if held in constants and np.array_equal(constants[held], constants[value]):
            return held
    module.variables[unused(constant_name(value), module.variables)] = value
    return value


#: Training mode or not → finds the layers of the program of a layer.
_give_layers = {
    train: functools.partial(give_layers, constants={}, train=train) for train in (False, True)
}


def _give_form(layer: Layer, outputs: Sequence[Value], uses: Sequence[Use]) -> None:
    """Write the place of the outputs in the result of a layer into its form, or into its uses."""
    places = {id(value): f"{{{i}}}" for i, value in enumerate(outputs)}

    def targets(nest: Any) -> str:
        if isinstance(nest, tuple):
            items = [*map(targets, nest)]
            return f"({', '.join(items)})" if any(item != "_" for item in items) else "_"
        return places.get(id(nest), "_")

    result = layer.result
    if len(outputs) == 1:
        while isinstance(result, tuple):
            (i,) = (i for i, item in enumerate(result) if targets(item) != "_")
            layer.form += f"[{i}]"
            result = result[i]
    else:
        for use in uses:
            use.targets = targets(result)[1:-1]


def layer_of(module: Module) -> Layer | None:
    """The layer whose function is the one step of a module."""
    if len(module.steps) != 1 or not isinstance(module.steps[0], Call):
        return None
    call = module.steps[0]
    make = _LAYERS.get(call.target)
    if make is None or len(module.inputs) != 1:
        return None
    operands = dict(zip(LANGUAGE.parameters(call.target), call.args, strict=False)) | call.kwargs
    data, *_ = operands.values()
    if data is not module.inputs[0]:
        return None
    variables = {name: x for name, x in operands.items() if x in module.variables.values()}
    if module.variables != variables:
        return None
    settings = {
        name: x for name, x in operands.items() if x is not data and not isinstance(x, Value)
    }
    layer = make(variables, settings, len(data.shape))
    return Layer(layer[0], (), layer[1], call.result) if layer else None


_Found = tuple[str, dict[str, Any]] | None


def _batch_norm(variables: dict[str, Value], settings: dict[str, Any], rank: int) -> _Found:
    names = {"running_mean", "running_var"}
    training = settings.pop("training")
    is_layer = not training or isinstance(training, Name)
    if {*variables} not in (names, names | {"weight", "bias"}) or not is_layer:
        return None
    sizes = {"num_features": variables["running_mean"].shape[0], "affine": "weight" in variables}
    options = {"eps": settings["eps"]} | ({"momentum": settings["momentum"]} if training else {})
    return f"torch.nn.BatchNorm{max(rank - 2, 1)}d", sizes | options


def _linear(variables: dict[str, Value], settings: dict[str, Any], rank: int) -> _Found:
    outputs, inputs = variables["weight"].shape
    options = {"in_features": inputs, "out_features": outputs, "bias": "bias" in variables}
    return "torch.nn.Linear", options


def _embedding(variables: dict[str, Value], settings: dict[str, Any], rank: int) -> _Found:
    rows, width = variables["weight"].shape
    options = {
        "num_embeddings": rows,
        "embedding_dim": width,
        "padding_idx": settings["padding_idx"],
    }
    return "torch.nn.Embedding", options


def _convolution(
    variables: dict[str, Value], settings: dict[str, Any], rank: int, *, is_transposed: bool = False
) -> _Found:
    """A weight has the groups along its second axis."""
    first, second, *kernel = variables["weight"].shape
    inputs, outputs = second * settings["groups"], first
    options = {
        "in_channels": outputs if is_transposed else inputs,
        "out_channels": inputs if is_transposed else outputs,
        "kernel_size": one_number("kernel_size", tuple(kernel)),
        **{k: x for k, x in settings.items() if k != "bias"},
        "bias": "bias" in variables,
    }
    return f"torch.nn.Conv{'Transpose' if is_transposed else ''}{len(kernel)}d", options


def _norm(name: str, variables: dict[str, Value], settings: dict[str, Any], rank: int) -> _Found:
    """A normalization of the last axes."""
    shape = settings["normalized_shape"]
    options = {"normalized_shape": shape[0] if len(shape) == 1 else shape, "eps": settings["eps"]}
    if name == "RMSNorm" or "weight" not in variables:
        return f"torch.nn.{name}", {**options, "elementwise_affine": "weight" in variables}
    return f"torch.nn.{name}", {**options, "bias": "bias" in variables}


def _group_norm(variables: dict[str, Value], settings: dict[str, Any], rank: int) -> _Found:
    if {*variables} != {"weight", "bias"}:
        return None
    channels = variables["weight"].shape[0]
    options = {
        "num_groups": settings["num_groups"],
        "num_channels": channels,
        "eps": settings["eps"],
    }
    return "torch.nn.GroupNorm", options


def recurrent_layer(module: Module, zeros: set[Value]) -> Layer | None:
    """The layer that a recurrent network is; it takes no states that are zeros.

    Args:
        module: a module.
        zeros: constants that are zero.
    """
    *before, call = module.steps
    known = all(isinstance(s, Call) and s.target in _OF_ZEROS for s in before)
    if not known or not isinstance(call, Call) or call.target not in RECURRENT:
        return None
    x, states, weights, has_biases, num_layers, dropout, train, bidirectional, first = call.args
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")[: 4 if has_biases else 2]
    names = [
        f"{kind}_l{layer}{end}"
        for layer in range(num_layers)
        for end in ("", "_reverse")[: 1 + bidirectional]
        for kind in kinds
    ]
    matrices = [module.variables[name] for name in names if name in module.variables]
    if matrices != weights or len(module.variables) != len(matrices):
        return None
    starts = zeros | {s.result for s in before if isinstance(s, Call) and s.target == "torch.zeros"}
    initial = [] if {*values_in(states)} <= starts else values_in(states)
    if not {x, *initial} <= {*module.inputs} or not {*values_in(module.output)} <= {*call.result}:
        return None
    module.inputs = [x, *initial]
    is_lstm = call.target == "torch.lstm"
    settings = {
        "input_size": matrices[0].shape[1], "hidden_size": matrices[1].shape[1], "num_layers": num_layers,
        "bias": has_biases, "batch_first": first, "dropout": dropout if train else 0.0,
        "bidirectional": bidirectional,
    }  # fmt: skip
    y, *ends = call.result
    form = "({})" if not initial else "({}, ({}, {}))" if is_lstm else "({}, {})"
    recurrent = Layer(
        RECURRENT[call.target], (), settings, (y, tuple(ends) if is_lstm else ends[0])
    )
    return dataclasses.replace(recurrent, form=form)


#: The calls that make the zeros at which a recurrent network starts.
_OF_ZEROS = ("size", "device", "torch.zeros")


def _activation(name: str) -> Any:
    def made(variables: dict[str, Value], settings: dict[str, Any], rank: int) -> _Found:
        options = {k: x for k, x in settings.items() if k not in ("inplace", "training")}
        return f"torch.nn.{name}", options

    return made


#: Function → the name and the settings of the layer that calls it with its own variables.
_LAYERS: dict[str, Any] = {
    "torch.nn.functional.linear": _linear,
    "torch.nn.functional.embedding": _embedding,
    "torch.nn.functional.layer_norm": functools.partial(_norm, "LayerNorm"),
    "torch.nn.functional.rms_norm": functools.partial(_norm, "RMSNorm"),
    "torch.nn.functional.group_norm": _group_norm,
    "torch.nn.functional.batch_norm": _batch_norm,
    **{f"torch.nn.functional.conv{n}d": _convolution for n in (1, 2, 3)},
    **{
        f"torch.nn.functional.conv_transpose{n}d": functools.partial(_convolution, is_transposed=True)
        for n in (1, 2, 3)
    },
    **{
        f"torch.nn.functional.{function}{n}d": _activation(f"{layer}{n}d")
        for n in (1, 2, 3)
        for function, layer in (
            ("max_pool", "MaxPool"), ("avg_pool", "AvgPool"), ("adaptive_avg_pool", "AdaptiveAvgPool")
        )
    },
    **{
        f"torch.nn.functional.{function}": _activation(layer)
        for function, layer in (
            ("relu", "ReLU"), ("gelu", "GELU"), ("silu", "SiLU"), ("elu", "ELU"), ("mish", "Mish"),
            ("leaky_relu", "LeakyReLU"), ("hardswish", "Hardswish"), ("softplus", "Softplus"),
            ("dropout", "Dropout"), ("dropout1d", "Dropout1d"), ("dropout2d", "Dropout2d"),
            ("dropout3d", "Dropout3d"),
        )
    },
    "torch.sigmoid": _activation("Sigmoid"),
    "torch.tanh": _activation("Tanh"),
}  # fmt: skip

"""Classes of ``flax.nnx.Module``, with layers of Flax.

Layers hold the mode, batch statistics and random numbers: ``model.train()`` and ``model.eval()`` switch
dropout and batch normalization, whose calls have no other arguments than the data.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.exporters.source.functions import jax_functions, nnx_layers
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.records import Call, Recording, Value, values_in
from nestarray.exporters.source.styles.class_style import ClassStyle, part_of
from nestarray.exporters.source.styles.jax_style import array, fix_random_numbers
from nestarray.exporters.source.tree.modules import (
    Layer,
    Module,
    Path,
    Step,
    Use,
    arguments,
    numbered,
    parts,
    results,
    with_calls,
)
from nestarray.graph.node import map_leaves

LANGUAGE = Language(
    "jax",
    {"jax.numpy": "jnp", "jax.lax": "lax", "jax": "jax", "flax.nnx": "nnx"},
    jax_functions,
    nnx_layers,
)

_WINDOWS = "jax.lax.reduce_window"


class Style(ClassStyle):
    language = LANGUAGE
    library = "flax"
    has_channels_last = True
    has_mode = True
    base = "nnx.Module"
    passed_on = "rngs"
    load = '''def load(path=WEIGHTS):
    """The model with its weights, in evaluation mode."""
    model = {name}({rngs})
    for name, x in load_file(path).items():
        part_of(model, name)[...] = x
    model.eval()
    return model
'''
    form = "in Flax NNX"
    usage = """
from flax import nnx
from model import load

model = load()
output = nnx.jit(model)({inputs})
"""
    training = """, differentiate by its `nnx.Param` variables:

```python
model.train()
gradients = nnx.grad(lambda model: loss(model({inputs})))(model)
```
"""

    def __init__(self, program: Program, name: str) -> None:
        for module in program.root.walk():
            module.layer = None if module is program.root else _layer(module)
            if module.layer is None:
                _separate_layers(module)
        super().__init__(program, name)

    @classmethod
    def with_state(cls, recording: Recording) -> Recording:
        """The recording with dropout and batch normalization as layers, which hold modes, keys and state."""
        stands_for: dict[Value, Value] = {}

        def of(nest: Any) -> Any:
            return map_leaves(lambda x: stands_for.get(x, x) if isinstance(x, Value) else x, nest)

        calls: list[Call] = []
        makers: dict[Any, Call] = {}  # result → call
        for call in recording.calls:
            args, kwargs = of([*call.args]), of(call.kwargs)
            call = _pooling(dataclasses.replace(call, args=tuple(args), kwargs=kwargs), makers)
            if call.target == ".dropout":
                x, key, _ = args
                y, stands_for[call.result[1]] = call.result[0], key
                call = dataclasses.replace(call, args=(x,), result=y)
            elif call.target == ".running_batch_norm":
                x, mean, variance, _, *affine = args
                y, *new = call.result
                stands_for |= zip(new, (mean, variance), strict=True)
                args = x, mean, variance, *affine
                call = dataclasses.replace(call, target=".batch_norm", args=args, result=y)
            elif call.target == "state:set" and args[0] is args[1]:
                continue
            calls.append(call)
            makers |= {call.result: call} if isinstance(call.result, Value) else {}
        output = of(recording.output)
        used = {*values_in(output), *(value for call in calls for value in arguments(call))}
        calls = [c for c in calls if c.target != _WINDOWS or c.result in used]  # sums of means
        inputs = [v for v in recording.inputs if v.source not in ("mode", "key") or v in used]
        return dataclasses.replace(recording, inputs=inputs, calls=calls, output=output)

    def words(self) -> dict[str, str]:
        has_layers = any(module.layer is not None for module in self.root.walk())
        return {**super().words(), "rngs": "nnx.Rngs(0)" if has_layers else ""}

    def variable(self, name: str, value: Value, shape: str) -> str:
        dtype = "" if value.dtype == "float32" else f", jnp.{value.dtype}"
        kind = "Param" if value.source == "v" else "BatchStat"
        return f"self.{name} = nnx.{kind}(jnp.empty({shape}{dtype}))"

    def read(self, text: str, value: Value) -> str:
        return f"{text}[...]"

    def list_of(self, items: str) -> str:
        return f"nnx.List([{items}])"

    generated = list_of

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        fix_random_numbers(namespace)
        model = namespace["load"]()
        is_evaluation = not self.program.train
        model.set_attributes(use_running_average=is_evaluation, raise_if_not_found=False)
        output = model(*map(array, inputs))
        return output, {name: part_of(model, name)[...] for name in self.writes}


def _pooling(call: Call, before: Mapping[Any, Call]) -> Call:
    """A maximum or a mean of windows as Flax names it.

    Args:
        call: any call.
        before: result → call, of the calls before.
    """
    is_mean = call.target == "operator.truediv" and call.args[0] in before
    windows = before[call.args[0]] if is_mean else call
    if windows.target != _WINDOWS:
        return call
    x, _, function, (first, *window, last), *others = windows.args
    options = dict(zip(("window_strides", "padding"), others, strict=False)) | windows.kwargs
    steps, padding = options.get("window_strides"), options.get("padding", "VALID")
    is_plain = first == last == 1 and not options.keys() - {"window_strides", "padding"}
    name = "jax.lax.add" if is_mean else "jax.lax.max"
    if not is_plain or function != name or (is_mean and call.args[1] != math.prod(window)):
        return call
    settings = {} if steps is None else {"strides": tuple(steps[1:-1])}
    settings |= {"padding": padding if isinstance(padding, str) else tuple(padding[1:-1])}
    target = "flax.nnx.avg_pool" if is_mean else "flax.nnx.max_pool"
    return dataclasses.replace(call, target=target, args=(x, tuple(window)), kwargs=settings)


def _separate_layers(module: Module) -> None:
    """Make modules of the calls of layers among the steps of a module, and in functions."""
    variables = dict(module.variables)
    known: dict[Any, Path] = {}

    def separated(calls: Sequence[Step], result: Any) -> list[Step]:
        separate = [
            with_calls(step, lambda function: separated(function.calls, function.output))
            if isinstance(step, Call)
            else step
            for step in calls
        ]
        for call in [step for step in separate if isinstance(step, Call)]:
            place = parts(call.place.module)[len(module.path) :]
            if call.target not in _LAYERS or not (place or _has_mode(call)):
                continue
            name = place or (call.target[1:],)
            steps: list[Step] = [call, *_bias_of(call, separate, result, variables)]
            used = {value for step in steps for value in arguments(step)}
            parameters = {key: value for key, value in variables.items() if value in used}
            inputs = [value for value in arguments(call) if value not in parameters.values()]
            (output,) = results(steps[-1])
            like = name, tuple(parameters.values()), tuple(call.kwargs.items())
            if like not in known:
                child = Module((), "", steps, inputs, output, {}, parameters)
                child.layer = _layer(child)
                if child.layer is None:
                    continue
                names = ((*name[:-1], last) for last in numbered(name[-1]))
                known[like] = next(name for name in names if name not in module.children)
                module.children[known[like]] = child
                module.variables = {
                    k: v for k, v in module.variables.items() if k not in parameters
                }
            use = Use(known[like], module.children[known[like]], inputs, [output])
            separate[separate.index(steps[-1])] = use
            separate = [step for step in separate if step not in steps]
        return separate

    module.steps = separated(module.steps, module.output)


def _bias_of(
    call: Call, steps: Sequence[Step], output: Any, variables: Mapping[str, Value]
) -> list[Call]:
    """The call that adds a bias to the result of a call, if nothing else reads the result."""
    readers = [step for step in steps if call.result in arguments(step)]
    is_read = len(readers) != 1 or call.result in values_in(output)
    if is_read or "kernel" not in _LAYERS[call.target][1].values():
        return []
    return [
        x for x in readers if isinstance(x, Call) and _added([x], call.result) in variables.values()
    ]


# -- layers -----------------------------------------------------------------------------------

_Made = tuple[str, dict[str, Any]] | None


def _layer(module: Module) -> Layer | None:
    """The constructor of the layer of Flax that a module is; its variables get the layer's names."""
    call, *sums = module.steps
    if not isinstance(call, Call) or call.target not in _LAYERS or len(module.inputs) != 1:
        return None
    make, names = _LAYERS[call.target]
    parameters = [*LANGUAGE.parameters(call.target)] or ["a", "b"]  # of operators
    operands = dict(zip(parameters, call.args, strict=False)) | call.kwargs
    variables = {names[key]: x for key, x in operands.items() if key in names and x is not None}
    data = [x for key, x in operands.items() if isinstance(x, Value) and key not in names]
    if sums and "kernel" in variables:
        variables["bias"] = _added(sums, call.result)
    elif sums:
        return None
    is_own = {*variables.values()} == {*module.variables.values()}
    if not is_own or data != module.inputs or any(v.dtype != "float32" for v in variables.values()):
        return None
    layer = make(variables, operands, len(data[0].shape))
    if layer is None:
        return None
    module.variables = variables
    target, settings = layer
    return Layer(target, (), settings, module.output)


def _added(steps: list[Any], x: Value) -> Any:
    """The array that the one step adds to the result of the step before."""
    step = steps[0]
    is_sum = len(steps) == 1 and isinstance(step, Call) and step.target == "operator.add"
    return step.args[1] if is_sum and step.args[0] is x else None


def _linear(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> _Made:
    kernel = variables.get("kernel")
    if kernel is None or len(kernel.shape) != 2:
        return None
    inputs, outputs = kernel.shape
    sizes = {"in_features": inputs, "out_features": outputs}
    return "flax.nnx.Linear", sizes | _affine(variables, "bias")


def _embed(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> _Made:
    shape = variables["embedding"].shape
    if len(shape) != 2:
        return None
    return "flax.nnx.Embed", {"num_embeddings": shape[0], "features": shape[1]}


def _conv(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> _Made:
    axes = "DHW"[-(rank - 2) :]
    layout = f"N{axes}C", f"{axes}IO", f"N{axes}C"
    if "kernel" not in variables or settings.get("dimension_numbers") != layout:
        return None
    *kernel, inner, outer = variables["kernel"].shape
    groups = settings.get("feature_group_count", 1)
    sizes = {"in_features": inner * groups, "out_features": outer, "kernel_size": tuple(kernel)}
    options = (
        sizes | _windows(settings, settings["window_strides"]) | {"feature_group_count": groups}
    )
    return "flax.nnx.Conv", options | _affine(variables, "bias")


def _conv_transpose(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> _Made:
    if "kernel" not in variables or not settings.get("transpose_kernel"):
        return None
    *kernel, outer, inner = variables["kernel"].shape
    sizes = {"in_features": inner, "out_features": outer, "kernel_size": tuple(kernel)}
    options = sizes | _windows(settings, settings["strides"]) | {"transpose_kernel": True}
    return "flax.nnx.ConvTranspose", options | _affine(variables, "bias")


def _windows(windows: Mapping[str, Any], strides: Any) -> dict[str, Any]:
    """The settings of windows, as one number where all axes have the same."""
    dilation = windows.get("rhs_dilation") or 1
    settings = {"strides": strides, "padding": windows["padding"], "kernel_dilation": dilation}
    return {key: _one_for_all(x) for key, x in settings.items()}


def _one_for_all(value: Any) -> Any:
    """One number for the equal numbers of all axes."""
    if not isinstance(value, (tuple, list)):
        return value
    items = [_one_for_all(x) for x in value]
    is_one = isinstance(items[0], int) and len(set(items)) == 1
    return items[0] if is_one else tuple(value)


def _affine(variables: Mapping[str, Value], *names: str) -> dict[str, Any]:
    return {f"use_{name}": name in variables for name in names}


def _norm(
    name: str, variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> _Made:
    """A normalization of the last axis."""
    sizes = [v.shape for v in variables.values()]
    axis = settings.get("axis", -1)
    if not sizes or len(sizes[0]) != 1 or axis not in (-1, rank - 1):
        return None
    options = {"num_features": sizes[0][0]}
    options |= {"num_groups": settings["num_groups"]} if "num_groups" in settings else {}
    names = ("scale",) if name == "RMSNorm" else ("bias", "scale")
    eps = {"epsilon": settings["eps"]} if "eps" in settings else {}
    return f"flax.nnx.{name}", options | eps | _affine(variables, *names)


def _batch_norm(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> _Made:
    options = {"num_features": variables["mean"].shape[0]} | _affine(variables, "bias", "scale")
    options |= {"epsilon": settings["eps"]} if "eps" in settings else {}
    axis = settings.get("axis", 1)
    options |= {} if axis in (-1, rank - 1) else {"axis": axis}
    options |= {"momentum": round(1 - settings["momentum"], 6)} if "momentum" in settings else {}
    return ".BatchNorm" if settings.get("is_unbiased") else "flax.nnx.BatchNorm", options


def _dropout(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> _Made:
    shared = {"broadcast_dims": settings["shared"]} if settings.get("shared") else {}
    return "flax.nnx.Dropout", {"rate": settings["rate"]} | shared


def _has_mode(call: Call) -> bool:
    """Whether the mode of training changes a call."""
    return call.target == ".dropout" or (call.target == ".batch_norm" and "momentum" in call.kwargs)


_SCALE = {"weight": "scale", "bias": "bias"}
#: Function → (what makes its layer, parameter of the function → variable of the layer).
_LAYERS: dict[str, tuple[Callable[..., _Made], Mapping[str, str]]] = {
    "operator.matmul": (_linear, {"b": "kernel"}),
    "operator.getitem": (_embed, {"a": "embedding"}),
    "jax.lax.conv_general_dilated": (_conv, {"rhs": "kernel"}),
    "jax.lax.conv_transpose": (_conv_transpose, {"rhs": "kernel"}),
    ".layer_norm": (functools.partial(_norm, "LayerNorm"), _SCALE),
    ".rms_norm": (functools.partial(_norm, "RMSNorm"), _SCALE),
    ".group_norm": (functools.partial(_norm, "GroupNorm"), _SCALE),
    ".batch_norm": (_batch_norm, {**_SCALE, "mean": "mean", "variance": "var"}),
    ".dropout": (_dropout, {}),
}

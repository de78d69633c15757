"""Classes of ``mlx.nn.Module``, with layers of MLX.

The calls of JAX with the channels last are recorded, and those that are no layers are translated
(`mlx_rows`). MLX has the output channels of a weight first.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np

from nestarray.dtypes import as_dtype
from nestarray.exporters.source.printing.expressions import Expression
from nestarray.exporters.source.printing.mlx_language import LANGUAGE
from nestarray.exporters.source.printing.mlx_rows import ROWS
from nestarray.exporters.source.printing.translation import translated
from nestarray.exporters.source.recording.fixed_numbers import Replaced, mlx_random
from nestarray.exporters.source.recording.records import Call, Recording, Value
from nestarray.exporters.source.styles.class_style import part_of
from nestarray.exporters.source.styles.layer_style import (
    Constructor,
    LayerStyle,
    Row,
    one_for_all,
)
from nestarray.exporters.source.tree.modules import (
    Module,
    Step,
    arguments,
    with_calls,
    with_values,
)
from nestarray.graph.builder import NOWHERE
from nestarray.graph.node import map_leaves

# -- layers -----------------------------------------------------------------------------------


def _linear(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
    kernel = variables.get("weight")
    if kernel is None or len(kernel.shape) != 2:
        return None
    inputs, outputs = kernel.shape
    return "mlx.nn.Linear", {"input_dims": inputs, "output_dims": outputs} | _bias(variables)


def _linear_of_rows(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    """A product with a weight that has the outputs first."""
    outputs, inputs = variables["weight"].shape
    return "mlx.nn.Linear", {"input_dims": inputs, "output_dims": outputs} | _bias(variables)


def _bias(variables: Mapping[str, Value]) -> dict[str, Any]:
    return {"bias": "bias" in variables}


def _embedding(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    shape = variables["weight"].shape
    if len(shape) != 2:
        return None
    return "mlx.nn.Embedding", {"num_embeddings": shape[0], "dims": shape[1]}


def _conv(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
    *kernel, inner, outer = variables["weight"].shape
    groups = settings.get("groups", 1)
    if any(low != high for low, high in settings["padding"]) or len(kernel) > 3:
        return None
    if groups != 1 and len(kernel) == 3:
        return None
    sizes = {"in_channels": inner * groups, "out_channels": outer, "kernel_size": tuple(kernel)}
    options = _windows(sizes, settings, settings["padding"]) | {"groups": groups}
    options |= _bias(variables)
    return f"mlx.nn.Conv{len(kernel)}d", options


def _windows(sizes: Mapping[str, Any], settings: Mapping[str, Any], padding: Any) -> dict[str, Any]:
    """The settings of windows, as one number where all axes have the same."""
    options = {"stride": settings["stride"], "padding": tuple(low for low, _ in padding)}
    options |= {"dilation": settings["dilation"]} if "dilation" in settings else {"dilation": 1}
    return {key: one_for_all(x) for key, x in ({**sizes} | options).items()}


def _conv_transpose(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    """The padding of the dilated input as one that is cut from the result."""
    *kernel, outer, inner = variables["weight"].shape
    dilation = settings.get("dilation", (1,) * len(kernel))
    ends = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
    cut = [(e - low, e - high) for e, (low, high) in zip(ends, settings["padding"], strict=True)]
    if any(low < 0 or low < high for low, high in cut):
        return None
    sizes = {"in_channels": inner, "out_channels": outer, "kernel_size": tuple(kernel)}
    options = _windows(sizes, settings, cut)
    options["output_padding"] = one_for_all(tuple(low - high for low, high in cut))
    return f"mlx.nn.ConvTranspose{len(kernel)}d", options | _bias(variables)


def _pool(
    name: str, variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    window = settings["kernel_size"]
    if any(low != high for low, high in settings["padding"]):
        return None
    options = _windows({"kernel_size": window}, settings, settings["padding"])
    del options["dilation"]
    if options["stride"] == options["kernel_size"]:
        del options["stride"]
    return f"mlx.nn.{name}{len(window)}d", options


def _norm(
    name: str, variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    """A normalization of the last axis."""
    sizes = [v.shape for v in variables.values()]
    if "weight" not in variables or len(sizes[0]) != 1:
        return None
    options: dict[str, Any] = {"dims": sizes[0][0], "eps": settings["eps"]}
    if name == "LayerNorm":
        options |= _bias(variables)
    return f"mlx.nn.{name}", options


def _group_norm(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    if {*variables} != {"weight", "bias"} or settings.get("axis", 1) not in (-1, rank - 1):
        return None
    sizes = {"num_groups": settings["num_groups"], "dims": variables["weight"].shape[0]}
    options = {"eps": settings.get("eps", 1e-5), "pytorch_compatible": True}
    return "mlx.nn.GroupNorm", sizes | options


def _batch_norm(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    names = {"running_mean", "running_var"}
    is_last = settings.get("axis", 1) in (-1, rank - 1)
    if {*variables} not in (names, names | {"weight", "bias"}) or not is_last:
        return None
    options = {"num_features": variables["running_mean"].shape[0]}
    options |= {"eps": settings.get("eps", 1e-5)}
    options |= {"momentum": settings["momentum"]} if "momentum" in settings else {}
    options |= {"affine": "weight" in variables}
    if "momentum" in settings and not settings.get("is_unbiased", True):
        return ".BatchNorm", options
    return "mlx.nn.BatchNorm" if 2 <= rank <= 4 else ".BatchNormOfAnyRank", options


def _dropout(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
    options = {"p": settings["rate"]}
    shared = settings.get("shared")
    if not shared:
        return "mlx.nn.Dropout", options
    if rank in (4, 5) and shared == tuple(range(1, rank - 1)):
        return f"mlx.nn.Dropout{rank - 2}d", options
    return ".SharedDropout", options | {"axes": shared}


_AFFINE = {"weight": "weight", "bias": "bias"}
_LAYERS = {
    "operator.matmul": Row(_linear, {"b": "weight"}, "weight"),
    ".linear": Row(_linear_of_rows, _AFFINE),
    "operator.getitem": Row(_embedding, {"a": "weight"}),
    ".conv": Row(_conv, {"kernel": "weight"}, "weight"),
    ".conv_transpose": Row(_conv_transpose, {"kernel": "weight"}, "weight"),
    ".max_pool": Row(functools.partial(_pool, "MaxPool"), {}),
    ".avg_pool": Row(functools.partial(_pool, "AvgPool"), {}),
    "mlx.core.fast.layer_norm": Row(functools.partial(_norm, "LayerNorm"), _AFFINE),
    "mlx.core.fast.rms_norm": Row(functools.partial(_norm, "RMSNorm"), _AFFINE),
    ".group_norm": Row(_group_norm, _AFFINE),
    ".batch_norm": Row(_batch_norm, {**_AFFINE, "mean": "running_mean", "variance": "running_var"}),
    ".dropout": Row(_dropout, {}),
}
#: Function → the axis of the outputs in its weight, which is the first one in a layer of MLX.
_OUTPUTS = {"operator.matmul": -1, ".conv": -1, ".conv_transpose": -2}


class Style(LayerStyle):
    language = LANGUAGE
    library = "mlx"
    records = "jax"
    has_heads_last = False
    layers = _LAYERS
    pooling = "."
    base = "nn.Module"
    begin = ("super().__init__()",)
    load = '''def load(path=WEIGHTS):
    """The model with its weights, in evaluation mode."""
    model = {name}()
    model.load_weights(str(path))
    model.eval()
    return model
'''
    form = "in MLX"
    usage = """
from model import load

model = load()
output = model({inputs})
"""
    training = """, differentiate by its trainable parameters:

```python
import mlx.nn as nn

model.train()
value, gradients = nn.value_and_grad(model, lambda: loss(model({inputs})))()
```
"""

    def prepare(self) -> None:
        #: Weight of a layer → the axis of its outputs in the calls of JAX.
        self.outputs = {
            module.variables["weight"]: _OUTPUTS[module.steps[0].target]
            for module in self.root.walk()
            if module.layer
            and isinstance(module.steps[0], Call)
            and module.steps[0].target in _OUTPUTS
        }
        for module in self.root.walk():
            if module.layer is None:
                module.steps = self._with_layouts(module.steps)
            _rename(module)

    def _with_layouts(self, steps: Sequence[Step]) -> list[Step]:
        """The steps, with the weights of layers in the layout that they have in the calls of JAX."""
        new: list[Step] = []
        for step in steps:
            if isinstance(step, Call):
                step = with_calls(step, lambda function: self._with_layouts(function.calls))
            layouts: dict[Value, Value] = {}
            for weight in arguments(step):
                if weight in self.outputs and (not isinstance(step, Call) or weight in step.args):
                    layouts[weight] = Value(weight.shape, weight.dtype)
                    args = (weight, 0, self.outputs[weight])
                    place = step.place if isinstance(step, Call) else NOWHERE
                    moved = Call("mlx.core.moveaxis", args, {}, layouts[weight], place)
                    if len(weight.shape) == 2:
                        moved = dataclasses.replace(moved, target="attribute:T", args=(weight,))
                    new.append(moved)
            new.append(with_values(step, layouts))
        return new

    @classmethod
    def with_state(cls, recording: Recording) -> Recording:
        """The recording with the calls of MLX, and random numbers of its generator."""
        new = translated(super().with_state(recording), ROWS, "MLX")
        used = {value for call in new.calls for value in arguments(call)}
        inputs = [v for v in new.inputs if v.source not in ("mode", "key") or v in used]
        return dataclasses.replace(new, inputs=inputs)

    def is_layer(self, call: Call) -> bool:
        return super().is_layer(call) or call.target in (".max_pool", ".avg_pool")

    def variable(self, name: str, value: Value, shape: str) -> str:
        dtype = "" if value.dtype == "float32" else f", {LANGUAGE.dtype(as_dtype(value.dtype))}"
        return f"self.{name} = mx.zeros({shape}{dtype})"

    def last_lines(self, module: Module) -> list[str]:
        variables = module.variables.items()
        names = [k for k, x in variables if x.source != "v" and x not in self.constants]
        return [
            f"self.freeze(keys={LANGUAGE.value(names, Expression).text}, recurse=False)"
        ] * bool(names)

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Name in the file of weights → array, with the outputs of products first."""
        weights = super().weights
        for name, value in self.variables.items():
            if value in self.outputs:
                weights[name] = np.moveaxis(weights[name], self.outputs[value], 0)
        return weights

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        namespace["mx"] = Replaced(mx, mlx_random())
        model = namespace["load"]().train(self.program.train)
        for module in model.modules():
            if "Dropout" in type(module).__name__:
                module.eval()
        output = model(*map(mx.array, inputs))
        state = {name: part_of(model, name) for name in self.writes}
        return map_leaves(np.asarray, (output, state))


def _rename(module: Module) -> None:
    """Give children and variables that MLX would take for others new names.

    Names of methods are taken, and names that begin with an underscore are no parameters.
    """
    new = {name: (_free_name(name[0]), *name[1:]) for name in module.children}
    for use in module.uses:
        use.name = new[use.name]
    module.children = {new[name]: child for name, child in module.children.items()}
    module.variables = {_free_name(name): x for name, x in module.variables.items()}


def _free_name(name: str) -> str:
    return f"{name}_layer".lstrip("_") if name[0] == "_" or hasattr(nn.Module, name) else name

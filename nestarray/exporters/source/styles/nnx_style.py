"""Classes of ``flax.nnx.Module``, with layers of Flax.

Layers hold the mode, batch statistics and random numbers: ``model.train()`` and ``model.eval()`` switch
dropout and batch normalization, whose calls have no other arguments than the data.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from nestarray.exporters.source.functions import jax_functions, nnx_layers
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.class_style import part_of
from nestarray.exporters.source.styles.jax_style import array, fix_random_numbers
from nestarray.exporters.source.styles.layer_style import (
    Constructor,
    LayerStyle,
    Row,
    one_for_all,
)

LANGUAGE = Language(
    "jax",
    {"jax.numpy": "jnp", "jax.lax": "lax", "jax": "jax", "flax.nnx": "nnx"},
    jax_functions,
    nnx_layers,
)


def _linear(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
    kernel = variables.get("kernel")
    if kernel is None or len(kernel.shape) != 2:
        return None
    inputs, outputs = kernel.shape
    sizes = {"in_features": inputs, "out_features": outputs}
    return "flax.nnx.Linear", sizes | _affine(variables, "bias")


def _embed(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
    shape = variables["embedding"].shape
    if len(shape) != 2:
        return None
    return "flax.nnx.Embed", {"num_embeddings": shape[0], "features": shape[1]}


def _conv(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
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
) -> Constructor:
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
    return {key: one_for_all(x) for key, x in settings.items()}


def _affine(variables: Mapping[str, Value], *names: str) -> dict[str, Any]:
    return {f"use_{name}": name in variables for name in names}


def _norm(
    name: str, variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
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


def _batch_norm(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    options = {"num_features": variables["mean"].shape[0]} | _affine(variables, "bias", "scale")
    options |= {"epsilon": settings["eps"]} if "eps" in settings else {}
    axis = settings.get("axis", 1)
    options |= {} if axis in (-1, rank - 1) else {"axis": axis}
    options |= {"momentum": round(1 - settings["momentum"], 6)} if "momentum" in settings else {}
    return ".BatchNorm" if settings.get("is_unbiased") else "flax.nnx.BatchNorm", options


def _dropout(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
    shared = {"broadcast_dims": settings["shared"]} if settings.get("shared") else {}
    return "flax.nnx.Dropout", {"rate": settings["rate"]} | shared


_SCALE = {"weight": "scale", "bias": "bias"}
_LAYERS = {
    "operator.matmul": Row(_linear, {"b": "kernel"}, "kernel"),
    "operator.getitem": Row(_embed, {"a": "embedding"}),
    "jax.lax.conv_general_dilated": Row(_conv, {"rhs": "kernel"}, "kernel"),
    "jax.lax.conv_transpose": Row(_conv_transpose, {"rhs": "kernel"}, "kernel"),
    ".layer_norm": Row(functools.partial(_norm, "LayerNorm"), _SCALE),
    ".rms_norm": Row(functools.partial(_norm, "RMSNorm"), _SCALE),
    ".group_norm": Row(functools.partial(_norm, "GroupNorm"), _SCALE),
    ".batch_norm": Row(_batch_norm, {**_SCALE, "mean": "mean", "variance": "var"}),
    ".dropout": Row(_dropout, {}),
}


class Style(LayerStyle):
    language = LANGUAGE
    library = "flax"
    layers = _LAYERS
    pooling = "flax.nnx."
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

"""Classes of ``keras.Model`` and ``keras.layers.Layer``, which run on each backend of Keras.

Layers hold statistics and random numbers; ``training`` is an argument of modules with dropout or
batch normalization, as `fit` on JAX hands it to the model only. ``build`` makes the weights by a
call of the shapes that were recorded, so that ``keras.models.load_model`` needs no other.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import keras

from nestarray import ops
from nestarray.exporters.source.printing.keras_language import JAX, LANGUAGE
from nestarray.exporters.source.printing.keras_rows import ROWS
from nestarray.exporters.source.printing.translation import translated
from nestarray.exporters.source.recording.fixed_numbers import Replaced, keras_random
from nestarray.exporters.source.recording.records import Recording, Value
from nestarray.exporters.source.styles.class_style import part_of
from nestarray.exporters.source.styles.layer_style import (
    Constructor,
    LayerStyle,
    Row,
    one_for_all,
)
from nestarray.exporters.source.tree.classes import Class
from nestarray.exporters.source.tree.modules import Module, Path, Use, arguments, is_item, numbered
from nestarray.exporters.source.tree.variable_names import input_names, snake

#: Attributes that Keras has itself.
_RESERVED = frozenset(dir(keras.Model()))


def _with_mode(root: Module) -> set[Module]:
    """The modules that the mode of training changes, and those that are in a list with one."""
    modules: set[Module] = set()
    for module in root.walk():  # children first
        items = {name for name, child in module.children.items() if child in modules}
        lists = {name[:-1] for name in items if is_item(name)}
        modules |= {x for n, x in module.children.items() if is_item(n) and n[:-1] in lists}
        if items or (module.layer and module.layer.target.endswith(_MODES)):
            modules.add(module)
    return modules


def _spec(value: Value) -> str:
    """The text of the shape and the dtype of an input."""
    dtype = "" if value.dtype == "float32" else f', "{value.dtype}"'
    return f"keras.KerasTensor({value.shape}{dtype})"


def _rename(module: Module) -> None:
    """Give children and variables names that Keras does not have itself."""
    names = {name[0] for name in module.children} | {*module.variables}

    def free(name: Path) -> Path:
        is_single = len(name) == 1 + is_item(name)
        if not is_single or name[0] not in _RESERVED:
            return name
        others = numbered("blocks" if name[0] == "layers" else f"{name[0]}_")
        return (next(other for other in others if other not in names), *name[1:])

    new = {name: free(name) for name in module.children}
    module.children = {new[name]: child for name, child in module.children.items()}
    for use in module.uses:
        use.name = new[use.name]
    if module.layer is None:
        variables = module.variables.items()
        module.variables = {free((name,))[0]: value for name, value in variables}


# -- layers -----------------------------------------------------------------------------------


def _dense(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
    kernel = variables.get("kernel")
    if kernel is None or len(kernel.shape) != 2 or rank < 2:
        return None
    return "keras.layers.Dense", {"units": kernel.shape[1]} | _biased(variables)


def _embedding(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    shape = variables["embeddings"].shape
    if len(shape) != 2 or settings.get("axis") != 0:
        return None
    return "keras.layers.Embedding", {"input_dim": shape[0], "output_dim": shape[1]}


def _padded_embedding(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    layer = _embedding(variables, {"axis": 0}, rank)
    return layer and (".PaddedEmbedding", layer[1] | {"padding_idx": settings["padding_idx"]})


def _conv(
    name: str, variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    if "kernel" not in variables or not 3 <= rank <= 5:
        return None
    *kernel, inner, outer = variables["kernel"].shape
    is_transposed = name == "Transpose"
    sizes = {"filters": inner if is_transposed else outer, "kernel_size": one_for_all(kernel)}
    windows = {key: one_for_all(settings[key]) for key in ("strides", "padding", "dilation_rate")}
    groups = {} if is_transposed else {"groups": settings["inputs"].shape[-1] // inner}
    options = sizes | windows | groups | _biased(variables)
    defaults = {"strides": 1, "padding": "valid", "dilation_rate": 1, "groups": 1}
    options = {key: x for key, x in options.items() if (key, x) not in defaults.items()}
    return f"keras.layers.Conv{rank - 2}D{name}", options


def _biased(variables: Mapping[str, Value]) -> dict[str, bool]:
    return {"use_bias": "bias" in variables}


def _norm(
    name: str, variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    """A normalization of the last axis."""
    sizes = [v.shape for v in variables.values()]
    axis = settings.get("axis", -1)
    if not sizes or len(sizes[0]) != 1 or axis not in (-1, rank - 1):
        return None
    options = {"groups": settings["num_groups"]} if "num_groups" in settings else {}
    options |= {"epsilon": settings["eps"]} if "eps" in settings else {}
    if name == "RMSNormalization":
        return f"keras.layers.{name}", options
    return f"keras.layers.{name}", options | _affine(variables)


def _batch_norm(
    variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> Constructor:
    axis = settings.get("axis", 1)
    options = {} if axis in (-1, rank - 1) else {"axis": axis}
    options |= {"epsilon": settings["eps"]} if "eps" in settings else {}
    options |= {"momentum": round(1 - settings["momentum"], 6)} if "momentum" in settings else {}
    name = (
        ".BatchNormalization" if settings.get("is_unbiased") else "keras.layers.BatchNormalization"
    )
    return name, options | _affine(variables)


def _affine(variables: Mapping[str, Value]) -> dict[str, bool]:
    return {"center": "beta" in variables, "scale": "gamma" in variables}


def _dropout(variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int) -> Constructor:
    shared = settings.get("shared")
    shape = tuple([1 if i in shared else None for i in range(rank)]) if shared else None
    return "keras.layers.Dropout", {"rate": settings["rate"]} | (
        {"noise_shape": shape} if shape else {}
    )


#: Layers that the mode of training changes.
_MODES = (".BatchNormalization", ".Dropout")
_SCALE = {"weight": "gamma", "bias": "beta"}
_LAYERS = {
    "operator.matmul": Row(_dense, {"b": "kernel"}, "kernel"),
    "keras.ops.take": Row(_embedding, {"x": "embeddings"}),
    ".embedding": Row(_padded_embedding, {"weight": "embeddings"}),
    "keras.ops.conv": Row(functools.partial(_conv, ""), {"kernel": "kernel"}, "kernel"),
    "keras.ops.conv_transpose": Row(
        functools.partial(_conv, "Transpose"), {"kernel": "kernel"}, "kernel"
    ),
    ".layer_norm": Row(functools.partial(_norm, "LayerNormalization"), _SCALE),
    ".rms_norm": Row(functools.partial(_norm, "RMSNormalization"), {"weight": "scale"}),
    ".group_norm": Row(functools.partial(_norm, "GroupNormalization"), _SCALE),
    ".batch_norm": Row(
        _batch_norm,
        {**_SCALE, "mean": "moving_mean", "variance": "moving_variance"},
    ),
    ".dropout": Row(_dropout, {}),
}


class Style(LayerStyle):
    language = LANGUAGE
    signatures = JAX
    layers = _LAYERS
    pooling = "flax.nnx."
    library = "keras"
    records = "jax"
    has_mode = False
    base = "layers.Layer"
    method = "call"
    begin = ("super().__init__(**kwargs)",)
    load = '''def load(path=WEIGHTS):
    """The model with its weights."""
    model = {name}()
    model.build()
    for name, x in load_file(path).items():
        part_of(model, name).assign(x)
    return model
'''
    form = "in Keras 3"
    usage = """
from model import load

model = load()
output = model({inputs})
model.save("model.keras")
"""
    training = """, compile it:

```python
model.compile(optimizer="adam", loss=loss)
model.fit(x, y)
```
"""

    def prepare(self) -> None:
        for module in self.root.walk():
            _rename(module)
        self.with_mode = _with_mode(self.root)

    @classmethod
    def with_state(cls, recording: Recording) -> Recording:
        recording = translated(super().with_state(recording), ROWS, "Keras")
        calls = [call for call in recording.calls if call.target != "jax.random.split"]
        used = {value for call in calls for value in arguments(call)}
        inputs = [v for v in recording.inputs if v.source not in ("mode", "key") or v in used]
        return dataclasses.replace(recording, inputs=inputs, calls=calls)

    def variable(self, name: str, value: Value, shape: str) -> str:
        dtype = "" if value.dtype == "float32" else f', dtype="{value.dtype}"'
        fixed = "" if value.source == "v" else ", trainable=False"
        return f'self.{name} = self.add_weight({shape}{dtype}{fixed}, name="{name}")'

    def head(self, cls: Class) -> list[str]:
        base = "keras.Model" if self.root in cls.members else self.base
        package = snake(self.name)
        return [
            f'@keras.saving.register_keras_serializable("{package}")',
            f"class {cls.name}({base}):",
        ]

    def methods(self, cls: Class) -> list[str]:
        if self.root not in cls.members:
            return []
        specs = [_spec(value) for value in self.root.inputs if value.source == "x"]
        return [
            "def build(self, input_shape=None):",
            '    """Make the weights."""',
            f"    self.compute_output_spec({', '.join(specs)})",
            "",
        ]

    def _namespaces(self, module: Module) -> list[str]:
        """The line that makes the source of random numbers."""
        is_random = any(call.target.startswith("keras.random.") for call in module.calls)
        return ["self.seed_generator = keras.random.SeedGenerator(0)"] if is_random else []

    def _signature(self, cls: Class) -> str:
        return f"{super()._signature(cls)}, **kwargs"

    def options(self, cls: Class) -> list[str]:
        modules = [cls.module, *cls.members]
        return ["training=None"] if not self.with_mode.isdisjoint(modules) else []

    def _use(self, use: Use, inputs: list[str]) -> str:
        """A call of a child with its mode; Keras takes sizes by name, and at least one argument."""
        names = [*input_names(self.classes[use.module].module.inputs).values()]
        texts = [
            f"{name}={text}" if value is not None and value.dtype == "size" else text
            for name, value, text in zip(names, use.inputs, inputs, strict=False)
        ]
        texts += ["training=training"] if use.module in self.with_mode else []
        target = super()._use(use, []).removesuffix("()")
        return f"{target}({', '.join(texts)})" if texts else f"{target}.call()"

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        namespace["keras"] = Replaced(keras, keras_random())
        model = namespace["load"]()
        registered = keras.saving.get_custom_objects()
        for name in [name for name, x in registered.items() if x in namespace.values()]:
            del registered[name]
        for layer in model._flatten_layers():
            if isinstance(layer, keras.layers.Dropout):
                layer.rate = 0.0
        backend = keras.backend.backend()
        arrays = [ops.to_backend(x, backend) for x in inputs]
        output = model(*arrays, training=self.program.train)
        return output, {name: part_of(model, name).value for name in self.writes}

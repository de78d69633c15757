"""Classes of ``flax.nnx.Module``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray import lazy_imports
from nestarray.exporters.source import jax_classes
from nestarray.exporters.source.class_style import ClassStyle
from nestarray.exporters.source.functions import jax_functions
from nestarray.exporters.source.jax_classes import name_of as name_of
from nestarray.exporters.source.jax_classes import run as run
from nestarray.exporters.source.modules import Module, attribute
from nestarray.exporters.source.namespace_language import NamespaceLanguage
from nestarray.exporters.source.records import Call, Value

LANGUAGE = NamespaceLanguage(
    "jax",
    {"jax.numpy": "jnp", "jax.lax": "lax", "jax": "jax", "flax.nnx": "nnx"},
    jax_functions,
)

#: Whether modules of one call are written as this call.
IS_FUNCTIONAL = False

_LOAD = '''from flax import nnx
def load(path=Path(__file__).with_name("weights.safetensors")):
    """The model with its weights."""
    model = {name}({rngs})
    for name, x in load_file(path).items():
        *owners, last = name.split(".")
        find = lambda owner, key: owner[int(key)] if key.isdigit() else getattr(owner, key)
        getattr(functools.reduce(find, owners, model), last)[...] = x
    return model
'''

_README = """# {name}

`model.py` defines the model in Flax NNX; `weights.safetensors` holds its weights. Both need `flax` and
`safetensors` only.

```python
from flax import nnx
from model import load

model = load()
output = nnx.jit(model)({inputs})
```

To train it, differentiate by its `nnx.Param` variables:

```python
gradients = nnx.grad(lambda model: loss(model({inputs})))(model)
```
"""


class _Style(ClassStyle):
    language = LANGUAGE
    base = "nnx.Module"
    passed_on = "rngs"

    def variable(self, name: str, value: Value, shape: str) -> str:
        dtype = "" if value.dtype == "float32" else f", jnp.{value.dtype}"
        kind = "Param" if value.source == "v" else "BatchStat"
        return f"self.{name} = nnx.{kind}(jnp.empty({shape}{dtype}))"

    def read(self, text: str, value: Value) -> str:
        return f"{text}[...]"

    def list_of(self, items: str) -> str:
        return f"nnx.List([{items}])"

    generated = list_of


def write(
    root: Module, name: str, constants: Mapping[Value, np.ndarray]
) -> tuple[str, dict[str, Value]]:
    """The text of a program, and its variables by their names in the file of weights."""
    lazy_imports.optional("flax.nnx", "eject needs", extra="flax")
    for module in root.walk():
        module.layer = None if module is root else _layer(module)
    has_layers = any(module.layer is not None for module in root.walk())
    load = _LOAD.replace("{rngs}", "nnx.Rngs(0)" if has_layers else "")
    return jax_classes.text_of(root, name, _Style(), constants, load)


def with_missing(weights: dict[str, np.ndarray], root: Module) -> dict[str, np.ndarray]:
    """The weights, with kernels of ``nnx.Linear`` in its layout."""
    layers = [m for m in root.walk() if m.layer and m.layer.target == "flax.nnx.Linear"]
    kernels = {module.variables["kernel"] for module in layers}
    for keys, name, value in root.variables_below():
        if value in kernels:
            path = ".".join([*map(attribute, keys), name])
            weights[path] = np.ascontiguousarray(weights[path].T)
    return weights


# -- layers -----------------------------------------------------------------------------------

#: Function → parameter of the function → variable of its layer in Flax.
_NAMES = {
    ".linear": {"weight": "kernel", "bias": "bias"},
    ".layer_norm": {"weight": "scale", "bias": "bias"},
    ".batch_norm": {"weight": "scale", "bias": "bias", "mean": "mean", "variance": "var"},
    "operator.getitem": {"table": "embedding"},
}


def _layer(module: Module) -> Call | None:
    """The constructor of the layer of Flax that a module is; its variables get the layer's names."""
    if len(module.steps) != 1 or len(module.inputs) != 1 or not isinstance(module.steps[0], Call):
        return None
    (call,), (x,) = module.steps, module.inputs
    assert isinstance(call, Call)
    if call.target not in _NAMES:
        return None
    is_item = call.target == "operator.getitem"
    parameters = ("table", "x") if is_item else tuple(LANGUAGE.parameters(call.target))
    given = dict(zip(parameters, call.args, strict=False)) | call.kwargs
    names = _NAMES[call.target]
    variables = {names[key]: given[key] for key in names if isinstance(given.get(key), Value)}
    is_own = {*variables.values()} == {*module.variables.values()}
    if given["x"] is not x or not is_own or any(v.dtype != "float32" for v in variables.values()):
        return None
    settings = {key: value for key, value in given.items() if not isinstance(value, Value)}
    made = _constructor(call.target, variables, settings, len(x.shape))
    if made is None:
        return None
    module.variables = variables
    return Call(f"flax.nnx.{made[0]}", (), made[1], call.result, call.place)


def _constructor(
    target: str, variables: Mapping[str, Value], settings: Mapping[str, Any], rank: int
) -> tuple[str, dict[str, Any]] | None:
    """The name of a layer and its settings that are no defaults."""
    first = next(iter(variables.values()), Value((), ""))
    affine = {
        f"use_{name}": False
        for name in (("bias",) if target == ".linear" else ("bias", "scale"))
        if name not in variables
    }
    if target == "operator.getitem":
        if len(first.shape) != 2:
            return None
        return "Embed", {"num_embeddings": first.shape[0], "features": first.shape[1]}
    if target == ".linear":
        outputs, inputs = first.shape
        return "Linear", {"in_features": inputs, "out_features": outputs, **affine}
    if len(first.shape) != 1:
        return None
    made = {"num_features": first.shape[0], **affine}
    axis, eps = (
        settings.get("axis", -1 if target == ".layer_norm" else 1),
        settings.get("eps", 1e-5),
    )
    is_last = axis in (-1, rank - 1)
    if target == ".layer_norm":
        own = {} if eps == 1e-6 else {"epsilon": eps}
        return ("LayerNorm", made | own) if is_last else None
    made |= {"use_running_average": True} | ({} if is_last else {"axis": axis})
    return "BatchNorm", made | ({} if eps == 1e-5 else {"epsilon": eps})


def readme(source: Any, inputs: list[str]) -> str:
    """How to use the source."""
    return _README.format(name=source.name, inputs=", ".join(inputs))

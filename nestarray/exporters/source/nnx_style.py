"""Classes of ``flax.nnx.Module``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.exporters.source import jax_classes
from nestarray.exporters.source.class_style import ClassStyle
from nestarray.exporters.source.jax_classes import name_of as name_of
from nestarray.exporters.source.jax_classes import run as run
from nestarray.exporters.source.jax_classes import with_missing as with_missing
from nestarray.exporters.source.jax_style import LANGUAGE
from nestarray.exporters.source.modules import Module
from nestarray.exporters.source.records import Value

#: Whether modules of one call are written as this call.
IS_FUNCTIONAL = False

_LOAD = '''from flax import nnx
def load(path=Path(__file__).with_name("weights.safetensors")):
    """The model with its weights."""
    model = {name}()
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
    return jax_classes.text_of(root, name, _Style(), constants, _LOAD)


def readme(source: Any, inputs: list[str]) -> str:
    """How to use the source."""
    return _README.format(name=source.name, inputs=", ".join(inputs))

"""Classes of ``equinox.Module``."""

from __future__ import annotations

from collections.abc import Mapping

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

_LOAD = '''import equinox as eqx
def load(path=Path(__file__).with_name("weights.safetensors")):
    """The model with its weights."""
    weights = load_file(path)
    find = lambda owner, key: owner[int(key)] if key.isdigit() else getattr(owner, key)
    where = lambda model: [functools.reduce(find, name.split("."), model) for name in weights]
    return eqx.tree_at(where, {name}(), list(weights.values()))
'''

_README = """# {name}

`model.py` defines the model in Equinox; `weights.safetensors` holds its weights. Both need `equinox`
and `safetensors` only.

```python
import equinox as eqx
from model import load

model = load()
output = eqx.filter_jit(model)({inputs})
```

To train it:

```python
gradients = eqx.filter_grad(lambda model: loss(model({inputs})))(model)
```

Dropout was not active in the model that this source was made of, so the source has none.
"""


class _Style(ClassStyle):
    language = LANGUAGE
    base = "eqx.Module"

    def variable(self, name: str, value: Value, shape: str) -> str:
        dtype = "" if value.dtype == "float32" else f", jnp.{value.dtype}"
        return f"self.{name} = jnp.empty({shape}{dtype})"

    def read(self, text: str, value: Value) -> str:
        is_trained = value.source == "v" or not value.dtype.startswith("float")
        return text if is_trained else f"lax.stop_gradient({text})"

    def fields(self, names: Mapping[str, str]) -> list[str]:
        types = {"array": "jax.Array", "setting": "Any = eqx.field(static=True)"}
        return [f"{name}: {types.get(kind, kind)}" for name, kind in names.items()] + [""]


def write(
    root: Module, name: str, constants: Mapping[Value, np.ndarray]
) -> tuple[str, dict[str, Value]]:
    """The text of a program, and its variables by their names in the file of weights."""
    return jax_classes.text_of(root, name, _Style(), constants, _LOAD)


def readme(name: str, inputs: list[str], weights: Mapping[str, np.ndarray]) -> str:
    """How to use the source."""
    return _README.format(name=name, inputs=", ".join(inputs))

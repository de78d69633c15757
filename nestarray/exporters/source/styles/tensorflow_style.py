"""Classes of ``tf.Module``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.exporters.source.functions import tensorflow_functions
from nestarray.exporters.source.printing.namespace_language import NamespaceLanguage
from nestarray.exporters.source.recording.fixed_numbers import Replaced, tensorflow_random
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.class_style import ClassStyle, ClassWriter, attribute_of
from nestarray.exporters.source.styles.jax_classes import name_of as name_of
from nestarray.exporters.source.styles.jax_classes import with_missing as with_missing
from nestarray.exporters.source.tree.modules import Module

LANGUAGE = NamespaceLanguage("tensorflow", {"tensorflow": "tf"}, tensorflow_functions)
#: Whether modules of one call are written as this call.
IS_FUNCTIONAL = False
#: Whether images and kernels have the channels last.
HAS_CHANNELS_LAST = True

_LOAD = '''def load(path=Path(__file__).with_name("weights.safetensors")):
    """The model with its weights."""
    model = {name}()
    for name, x in load_file(path).items():
        *owners, last = name.split(".")
        find = lambda owner, key: owner[int(key)] if key.isdigit() else getattr(owner, key)
        getattr(functools.reduce(find, owners, model), last).assign(x)
    return model
'''

_README = """# {name}

`model.py` defines the model as a `tf.Module`; `weights.safetensors` holds its weights. Both need
`tensorflow` and `safetensors` only.

```python
import tensorflow as tf
from model import load

model = load()
output = tf.function(model)({inputs})
```

To train it, differentiate by `model.trainable_variables`:

```python
with tf.GradientTape() as tape:
    value = loss(model({inputs}))
gradients = tape.gradient(value, model.trainable_variables)
```
"""


class _Style(ClassStyle):
    language = LANGUAGE
    base = "tf.Module"
    begin = ("super().__init__()",)

    def variable(self, name: str, value: Value, shape: str, otherwise: str) -> str:
        dtype = "" if value.dtype == "float32" else f", tf.{value.dtype}"
        fixed = "" if value.source == "v" else ", trainable=False"
        return f"self.{name} = tf.Variable(tf.zeros({shape}{dtype}){fixed}){otherwise}"


def write(
    root: Module, name: str, constants: Mapping[Value, np.ndarray]
) -> tuple[str, dict[str, Value]]:
    """The text of a program, and its variables by their names in the file of weights."""
    writer = ClassWriter(root, name, _Style(), {})
    body = writer.text() + "\n\n\n" + _LOAD.format(name=name)
    head = ["import functools"]
    head += ["import math"] if re.search(r"(?<!tf\.)\bmath\.", body) else []
    head += ["from pathlib import Path"]
    head += ["from typing import Any"] if re.search(r": Any\b", body) else []
    head += ["", "import tensorflow as tf"]
    head += ["from safetensors.tensorflow import load_file"]
    return "\n".join(head) + "\n\n\n" + body, writer.variables()


def run(namespace: dict[str, Any], source: Any, inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
    """The output of the source, and the new values of its state."""
    import tensorflow as tf

    if "dropout" in namespace:
        namespace["dropout"] = lambda x, training, **_: x
    namespace["tf"] = Replaced(tf, tensorflow_random())
    model = namespace["load"]()
    given = [x if isinstance(x, bool) else tf.convert_to_tensor(x) for x in inputs]
    output = model(*given)
    return output, {name: attribute_of(model, name) for name in source.writes}


def readme(source: Any, inputs: list[str]) -> str:
    """How to use the source."""
    return _README.format(name=source.name, inputs=", ".join(inputs))

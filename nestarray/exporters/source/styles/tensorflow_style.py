"""Classes of ``tf.Module``."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.exporters.source.functions import tensorflow_functions
from nestarray.exporters.source.printing.tensorflow_language import TensorflowLanguage
from nestarray.exporters.source.recording.fixed_numbers import Replaced, tensorflow_random
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.class_style import ClassStyle, part_of


class Style(ClassStyle):
    language = TensorflowLanguage("tensorflow", {"tensorflow": "tf"}, tensorflow_functions)
    library = "tensorflow"
    has_channels_last = True
    base = "tf.Module"
    begin = ("super().__init__()",)
    load = '''def load(path=WEIGHTS):
    """The model with its weights."""
    model = {name}()
    for name, x in load_file(path).items():
        part_of(model, name).assign(x)
    return model
'''
    form = "as a `tf.Module`"
    usage = """
import tensorflow as tf
from model import load

model = load()
output = tf.function(model)({inputs})
"""
    training = """, differentiate by `model.trainable_variables`:

```python
with tf.GradientTape() as tape:
    value = loss(model({inputs}))
gradients = tape.gradient(value, model.trainable_variables)
```
"""

    def variable(self, name: str, value: Value, shape: str) -> str:
        dtype = "" if value.dtype == "float32" else f", tf.{value.dtype}"
        fixed = "" if value.source == "v" else ", trainable=False"
        return f"self.{name} = tf.Variable(tf.zeros({shape}{dtype}){fixed})"

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        if "dropout" in namespace:
            namespace["dropout"] = lambda x, training, **_: x
        namespace["tf"] = Replaced(tf, tensorflow_random())
        model = namespace["load"]()
        arguments = [x if isinstance(x, bool) else tf.convert_to_tensor(x) for x in inputs]
        output = model(*arguments)
        return output, {name: part_of(model, name) for name in self.writes}

"""Functions of nested parameters in JAX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.exporters.source.function_style import FunctionWriter
from nestarray.exporters.source.function_style import name_of as name_of
from nestarray.exporters.source.functions import jax_functions
from nestarray.exporters.source.modules import Module
from nestarray.exporters.source.namespace_language import NamespaceLanguage
from nestarray.exporters.source.records import Value

LANGUAGE = NamespaceLanguage(
    "jax", {"jax.numpy": "jnp", "jax.lax": "lax", "jax": "jax"}, jax_functions
)
#: Whether modules of one call are written as this call.
IS_FUNCTIONAL = True

_README = """# {name}

`model.py` defines the model in JAX as a pure function of its parameters; `weights.safetensors` holds
them. Both need `jax` and `safetensors` only.

```python
import jax
from model import {name}, load

{variables} = load()
output = jax.jit({name})({variables}, {inputs})
```

To train it, differentiate a loss by `params`, nested dicts and lists as optax takes them:

```python
gradients = jax.grad(lambda params: loss({name}({variables}, {inputs})))(params)
```

Dropout was not active in the model that this source was made of, so the source has none.
"""


def write(
    root: Module, name: str, constants: Mapping[Value, np.ndarray]
) -> tuple[str, dict[str, Value]]:
    """The text of a program, and its variables by their names in the file of weights."""
    texts = {value: LANGUAGE.constant(array) for value, array in constants.items()}
    writer = FunctionWriter(root, name, LANGUAGE, {v: text for v, text in texts.items() if text})
    body = writer.file()
    return head_of(body) + "\n\n\n" + body, writer.variables()


def head_of(body: str) -> str:
    """The imports that a text needs."""
    lines = ["import functools"]
    lines += ["from typing import Any"] if re.search(r": Any\b", body) else []
    lines += ["import math"] if re.search(r"\bmath\.", body) else []
    lines += ["from pathlib import Path", ""]
    lines += ["import jax"] if re.search(r"\bjax\.", body) else []
    lines += ["import jax.numpy as jnp"] if re.search(r"\bjnp\.", body) else []
    lines += ["from jax import lax"] if re.search(r"\blax\.", body) else []
    return "\n".join([*lines, "from safetensors.flax import load_file"])


def run(namespace: dict[str, Any], name: str, inputs: list[np.ndarray]) -> Any:
    """The output of the source."""
    import jax.numpy as jnp

    loaded = namespace["load"]()
    variables = loaded if isinstance(loaded, tuple) else (loaded,)
    return namespace[name](*variables, *map(jnp.asarray, inputs))


def with_missing(weights: dict[str, np.ndarray], root: Module) -> dict[str, np.ndarray]:
    """The weights."""
    return weights


def readme(name: str, inputs: list[str], weights: Mapping[str, np.ndarray]) -> str:
    """How to use the source."""
    has_state = any(key.startswith("state.") for key in weights)
    variables = "params, state" if has_state else "params"
    return _README.format(name=name, inputs=", ".join(inputs), variables=variables)

"""Functions of nested parameters in JAX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.exporters.source.functions import jax_functions
from nestarray.exporters.source.printing.namespace_language import NamespaceLanguage
from nestarray.exporters.source.recording.fixed_numbers import Replaced, jax_random
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.function_style import (
    FunctionWriter,
    called,
    function_name,
    holders_of,
)
from nestarray.exporters.source.tree.modules import Module

LANGUAGE = NamespaceLanguage(
    "jax", {"jax.numpy": "jnp", "jax.lax": "lax", "jax": "jax"}, jax_functions
)
#: Whether modules of one call are written as this call.
IS_FUNCTIONAL = True
#: Whether images and kernels have the channels last.
HAS_CHANNELS_LAST = False

_README = """# {name}

`model.py` defines the model in JAX as a pure function of its parameters; `weights.safetensors` holds
them. Both need `jax` and `safetensors` only.

```python
import jax
from model import {name}, load

{variables} = load()
{result} = jax.jit({jitted})({variables}, {inputs})
```
"""

_README_TRAINING = """
To train it, differentiate a loss by `params`, nested dicts and lists as optax takes them:

```python
gradients = jax.grad(lambda params: loss({name}({variables}, {inputs})))(params)
```
"""

_README_WITH_STATE = """
To train it, differentiate a loss by `params`, nested dicts and lists as optax takes them:

```python
def objective(params, state):
    output, state = {name}({variables}, {inputs})
    return loss(output), state

gradients, state = jax.grad(objective, has_aux=True)(params, state)
```
"""


def name_of(name: str) -> str:
    """The name of the function of a model."""
    return function_name(name, LANGUAGE)


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


def array(x: Any) -> Any:
    """An input, on JAX."""
    import jax.numpy as jnp

    return jnp.asarray(x) if isinstance(x, np.ndarray) else x


def run(namespace: dict[str, Any], source: Any, inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
    """The output of the source, and the new values of its state."""
    fix_random_numbers(namespace)
    return called(namespace, source, [array(x) for x in inputs])


def fix_random_numbers(namespace: dict[str, Any]) -> None:
    """Replace the random numbers of a source by numbers that depend on their shape only."""
    if "jax" in namespace:
        namespace["jax"] = Replaced(namespace["jax"], jax_random())


def with_missing(
    weights: dict[str, np.ndarray], variables: Mapping[str, Value], root: Module
) -> dict[str, np.ndarray]:
    """The weights."""
    return weights


def readme(source: Any, inputs: list[str]) -> str:
    """How to use the source."""
    settings = {
        "name": source.name,
        "inputs": ", ".join(inputs),
        "variables": holders_of(source),
        "result": "output, state" if source.writes else "output",
    }
    jitted = f'{source.name}, static_argnames="train"' if "train" in source.modes else source.name
    training = _README_WITH_STATE if source.writes else _README_TRAINING
    return (_README + training).format(**settings, jitted=jitted)

"""Functions of nested parameters in JAX."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from nestarray.exporters.source.functions import jax_functions
from nestarray.exporters.source.printing.language import Language
from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.fixed_numbers import Replaced, jax_random
from nestarray.exporters.source.styles.function_style import FunctionStyle

LANGUAGE = Language("jax", {"jax.numpy": "jnp", "jax.lax": "lax", "jax": "jax"}, jax_functions)

_TRAINING = """, differentiate a loss by `params`, nested dicts and lists as optax takes them:

```python
gradients = jax.grad(lambda params: loss({name}({variables}, {inputs})))(params)
```
"""
_TRAINING_WITH_STATE = """, differentiate a loss by `params`, nested dicts and lists as optax takes them:

```python
def objective(params, state):
    output, state = {name}({variables}, {inputs})
    return loss(output), state

gradients, state = jax.grad(objective, has_aux=True)(params, state)
```
"""


class Style(FunctionStyle):
    language = LANGUAGE
    library = "jax"
    copied = "jax.tree.map(lambda x: x, state)"
    form = "in JAX as a pure function of its parameters"
    usage = """
import jax
from model import {name}, load

{variables} = load()
{result} = jax.jit({jitted})({variables}, {inputs})
"""

    def __init__(self, program: Program, name: str) -> None:
        super().__init__(program, name)
        self.training = _TRAINING_WITH_STATE if self.writes else _TRAINING

    def words(self) -> dict[str, str]:
        static = ', static_argnames="train"' if "train" in self.modes else ""
        return {**super().words(), "jitted": self.name + static}

    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        fix_random_numbers(namespace)
        return super().run(namespace, [array(x) for x in inputs])


def array(x: Any) -> Any:
    """An input, on JAX."""
    return jnp.asarray(x) if isinstance(x, np.ndarray) else x


def fix_random_numbers(namespace: dict[str, Any]) -> None:
    """Replace the random numbers of a source by numbers that depend on their shape only."""
    if "jax" in namespace:
        namespace["jax"] = Replaced(namespace["jax"], jax_random())

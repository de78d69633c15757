"""Functions of nested parameters in NumPy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from nestarray.exporters.source.functions import numpy_functions
from nestarray.exporters.source.printing.namespace_language import NamespaceLanguage
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.styles.function_style import (
    FunctionWriter,
    called,
    function_name,
    holders_of,
)
from nestarray.exporters.source.tree.modules import Module

LANGUAGE = NamespaceLanguage("numpy", {"numpy": "np"}, numpy_functions)
#: Whether modules of one call are written as this call.
IS_FUNCTIONAL = True
#: Whether images and kernels have the channels last.
HAS_CHANNELS_LAST = False

_README = """# {name}

`model.py` defines the model in NumPy as a pure function of its parameters; `weights.safetensors` holds
them. Both need `numpy` and `safetensors` only.

```python
from model import {name}, load

{variables} = load()
{result} = {name}({variables}, {inputs})
```
"""

#: Text that needs an import → the import.
_IMPORTS = {
    r"math\.": "import math",
    r"product\(": "from itertools import product",
    r"Path\(": "from pathlib import Path\n",
    r"np\.": "import numpy as np",
    r"scipy\.special\.": "import scipy.special",
    r"sliding_window_view\(": "from numpy.lib.stride_tricks import sliding_window_view",
}


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
    head = ["import copy"] if "copy.deepcopy(" in body else []
    head += ["import functools"]
    head += [line for text, line in _IMPORTS.items() if re.search(rf"\b{text}", body)]
    head += ["from safetensors.numpy import load_file"]
    return "\n".join(head) + "\n\n\n" + body, writer.variables()


def run(namespace: dict[str, Any], source: Any, inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
    """The output of the source, and the new values of its state."""
    namespace["dropout"] = lambda x, *_, **__: x
    return called(namespace, source, inputs)


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
    return _README.format(**settings)

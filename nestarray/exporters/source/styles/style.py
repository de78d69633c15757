"""A form of stand-alone source: how a program is written, run and described."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
import sys
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from nestarray.exporters.source.programs import Program
from nestarray.exporters.source.recording.records import Recording, Value

#: Text that needs a module of Python → its import.
_STANDARD = {
    r"copy\.": "import copy",
    r"functools\.": "import functools",
    r"math\.": "import math",
    r"product\(": "from itertools import product",
    r"Path\(": "from pathlib import Path",
    r"Any\b": "from typing import Any",
}
#: Text that needs a package → its import.
_PACKAGES = {
    r"eqx\.": "import equinox as eqx",
    r"F\.": "import torch.nn.functional as F",
    r"jax\.": "import jax",
    r"jnp\.": "import jax.numpy as jnp",
    r"keras\.": "import keras",
    r"layers\.[A-Z]": "from keras import layers",
    r"ops\.": "from keras import ops",
    r"lax\.": "from jax import lax",
    r"mx\.": "import mlx.core as mx",
    r"nnx\.": "from flax import nnx",
    r"np\.": "import numpy as np",
    r"scipy\.linalg\.": "import scipy.linalg",
    r"scipy\.special\.": "import scipy.special",
    r"sliding_window_view\(": "from numpy.lib.stride_tricks import sliding_window_view",
    r"tf\.": "import tensorflow as tf",
    r"torch\.": "import torch",
}
_WEIGHTS = 'WEIGHTS = Path(__file__).with_name("weights.safetensors")'
#: Framework → the module of safetensors that loads its arrays, if it has another name.
_LOADERS = {"jax": "flax", "keras": "numpy"}


class Style(ABC):
    """A program in the form of a library.

    Args:
        program: the program.
        name: of its source.

    Attributes:
        language: of the framework.
        library: that the source needs.
        records: the framework whose calls are recorded and translated, for a library that is no
            backend (`translation`); by default the target.
        is_functional: whether modules of one call are written as this call.
        has_channels_last: whether images and kernels have the channels last.
        has_heads_last: whether a library that JAX is recorded for has attention of (batch, length,
            heads, features).
        has_mode: whether ``train()`` and ``eval()`` of the model switch its mode.
        returns_state: whether a call returns a new state and keeps the old one.
        form: of the model, for the README: ``"in PyTorch"``.
        usage: Python code that runs the model; a template of `words`.
        training: a sentence and Python code that train it; a template too.
        variables: name in the file of weights → variable.
    """

    language: Any
    library: str
    records = ""
    is_functional = False
    has_channels_last = False
    has_heads_last = True
    has_mode = False
    returns_state = False
    form: str
    usage: str
    training = ""

    def __init__(self, program: Program, name: str) -> None:
        self.program, self.root = program, program.root
        self.name = self.name_of(name)
        texts = {value: self.language.constant(x) for value, x in program.constants.items()}
        #: Variable → the text that computes it.
        self.constants = {value: text for value, text in texts.items() if text}
        self.variables: dict[str, Value] = {}

    @classmethod
    @abstractmethod
    def name_of(cls, name: str) -> str:
        """The name of a model in the source."""

    @classmethod
    def with_state(cls, recording: Recording) -> Recording:
        """The recording with modes, random numbers and state as the library has them."""
        return recording

    @abstractmethod
    def body(self) -> str:
        """The source without imports."""

    @abstractmethod
    def run(self, namespace: dict[str, Any], inputs: list[Any]) -> tuple[Any, dict[str, Any]]:
        """The output of the source, and the new values of its state by their names in the file.

        Args:
            namespace: of the module.
            inputs: the arguments, modes included.
        """

    @functools.cached_property
    def text(self) -> str:
        """The text of the Python file."""
        body, framework = f"{_WEIGHTS}\n\n\n{self.body()}", self.language.name
        loader = f"from safetensors.{_LOADERS.get(framework, framework)} import load_file"
        head = []
        network = f"from {framework} import nn"
        for table in (_STANDARD, {**_PACKAGES, r"nn\.": network, r"load_file\(": loader}):
            lines = [line for key, line in table.items() if re.search(rf"(?<![\w.]){key}", body)]
            lines = sorted(lines, key=lambda line: (line.startswith("from"), line))
            text = "\n".join(lines).replace("layers\nfrom keras import ops", "layers, ops")
            head.append(text)
        return formatted("\n\n".join([*head, body]))

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Name in the file of weights → array."""
        return {name: self.program.arrays[value] for name, value in self.variables.items()}

    @property
    def modes(self) -> list[str]:
        """The names of the additional arguments of the source: ``"train"``, ``"key"``."""
        return [value.path for value in self.root.inputs if value.source in ("mode", "key")]

    @property
    def writes(self) -> list[str]:
        """The names of the variables that a call changes."""
        updated = self.program.updated
        return [n for n, x in self.variables.items() if x.source == "s" and x.path in updated]

    def words(self) -> dict[str, str]:
        """The words of the templates: the name and the results of a call."""
        return {"name": self.name, "result": "output, state" if self.writes else "output"}


def formatted(text: str) -> str:
    """The text as ruff formats it, if it is installed."""
    if importlib.util.find_spec("ruff") is None:
        return text
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length=100", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout

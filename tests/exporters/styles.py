"""The styles of stand-alone source."""

from __future__ import annotations

import subprocess
import sys

#: Style → the framework.
TARGETS = {
    "module": "tensorflow",
    "torch": "torch",
    "functional": "jax",
    "nnx": "jax",
    "equinox": "jax",
    "keras": "keras",
}


def lint(text: str) -> str:
    """The complaints of ruff about a source, by its default rules."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True).stdout

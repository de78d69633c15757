"""The styles of stand-alone source."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

#: Style → the framework.
TARGETS = {
    "module": "tensorflow",
    "torch": "torch",
    "functional": "jax",
    "nnx": "jax",
    "equinox": "jax",
    "mlx": "mlx",
    "keras": "keras",
}

HAS_MLX = importlib.util.find_spec("mlx") is not None
needs_mlx = pytest.mark.skipif(not HAS_MLX, reason="MLX has no wheel for this platform")
#: All styles, as parameters of a test.
STYLES = [pytest.param(x, marks=[needs_mlx] if x == "mlx" else []) for x in TARGETS]


def lint(text: str) -> str:
    """The complaints of ruff about a source, by its default rules."""
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True).stdout

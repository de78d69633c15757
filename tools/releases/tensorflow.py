"""The gaps of `nestarray.frontends.tensorflow`.

An operation of `tf.raw_ops` is numeric if its arguments and results are arrays of numbers, and one call
computes it. Others are no gaps; `excluded_because` says why.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import tensorflow as tf

from nestarray.importers.tensorflow.operations import function_of
from tools.releases.gaps import Gap, argument_gaps, name_gaps
from tools.releases.tensorflow_operations import excluded_because

FRONTEND = "nestarray.frontends.tensorflow"
#: The namespaces whose names and arguments are compared.
SPACES = (
    "", "math", "math.special", "nn", "linalg", "signal", "image", "random", "random.experimental",
    "bitwise", "quantization", "sets", "sparse",
)  # fmt: skip


def gaps() -> Iterator[Gap]:
    """All gaps in the installed TensorFlow."""
    for space in SPACES:
        prefix = f"tf.{space}." if space else "tf."
        theirs, ours = public_names("tensorflow", space), public_names(FRONTEND, space)
        yield from name_gaps("tensorflow", prefix, theirs, ours)
        yield from argument_gaps("tensorflow", prefix, theirs, ours)
    numeric = {name: function_of(name) for name in numeric_operations()}
    ours = {n: f for n, f in public_names(FRONTEND, "raw_ops").items() if n[0].isupper()}
    for name in sorted({*numeric} - {*ours}):
        yield Gap("tensorflow operations", name)
    for name in sorted({*ours} - {*dir(tf.raw_ops)}):
        yield Gap("tensorflow operations without upstream", name)
    yield from argument_gaps("tensorflow", "tf.raw_ops.", {n: function_of(n) for n in ours}, ours)


def public_names(root: str, space: str) -> dict[str, Any]:
    """The public functions of a namespace; a namespace that the frontend lacks has none."""
    module = importlib.import_module(root)
    for part in filter(None, space.split(".")):
        module = getattr(module, part)
    return {
        name: getattr(module, name)
        for name in dir(module)
        if name[0] != "_" and not isinstance(getattr(module, name), ModuleType)
    }


def functions(space: str) -> dict[str, Any]:
    """Our functions that have a name of upstream."""
    theirs, names = public_names("tensorflow", space), public_names(FRONTEND, space)
    return {name: f for name, f in names.items() if inspect.isfunction(f) and name in theirs}


def numeric_operations() -> list[str]:
    """The names of the numeric operations."""
    names = public_names("tensorflow", "raw_ops")
    return [name for name in names if excluded_because(name) is None]

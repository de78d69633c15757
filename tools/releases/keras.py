"""The gaps of `nestarray.frontends.keras.ops`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import keras

from nestarray.frontends import keras as frontend
from tools.releases.gaps import Gap, argument_gaps, name_gaps

#: The chapters of `keras.ops` that are namespaces.
SPACES = ("", "image", "linalg", "nn", "numpy")


def gaps() -> Iterator[Gap]:
    """All gaps in the installed Keras."""
    for space in SPACES:
        prefix = f"keras.ops.{space}." if space else "keras.ops."
        theirs, ours = (public_functions(ops, space) for ops in (keras.ops, frontend.ops))
        yield from name_gaps("keras", prefix, theirs, ours)
        yield from argument_gaps("keras", prefix, theirs, ours)


def public_functions(ops: Any, space: str) -> dict[str, Any]:
    """The public functions of a chapter."""
    module = getattr(ops, space) if space else ops
    return {n: f for n, f in inspect.getmembers(module, callable) if n[0] != "_"}

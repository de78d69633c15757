"""The gaps of `nestarray.frontends.numpy`."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import Any

import numpy as np

import nestarray.frontends.numpy as frontend
from tools.releases.gaps import Gap, argument_gaps, name_gaps

#: The namespaces whose names and arguments are compared; the last two are classes.
SPACES = ("", "linalg", "fft", "random", "random.Generator", "ndarray")


def gaps() -> Iterator[Gap]:
    """All gaps in the installed NumPy; of arrays also special methods, such as ``__buffer__``."""
    for space in SPACES:
        prefix = f"numpy.{space}." if space else "numpy."
        theirs, ours = values(np, space), values(frontend, space)
        yield from name_gaps("numpy", prefix, theirs, ours)
        yield from argument_gaps("numpy", prefix, theirs, ours)
    for name in sorted({*dir(np.ndarray)} - {*dir(frontend.ndarray)}):
        if name.startswith("__"):
            yield Gap("numpy names", f"numpy.ndarray.{name}")


def values(root: Any, space: str) -> dict[str, Any]:
    """The public names of a namespace and their values."""
    namespace = attrgetter(space)(root) if space else root
    return {name: getattr(namespace, name) for name in public_names(namespace)}


def public_names(space: Any) -> list[str]:
    """The functions and classes of a namespace without scalar types; the attributes of a class."""
    if isinstance(space, type):
        return [name for name in dir(space) if name[0] != "_"]
    listed = getattr(space, "__all__", dir(space))
    return sorted(n for n in listed if n[0] != "_" and _is_function(getattr(space, n)))


def _is_function(value: Any) -> bool:
    is_scalar_type = isinstance(value, type) and issubclass(value, np.generic)
    return callable(value) and not is_scalar_type

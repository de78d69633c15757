"""The gaps of `nestarray.frontends.jax`, and of the importer of jaxprs."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import jax
import jax.scipy.stats
from jax.extend.core import Primitive

from nestarray.importers.jax import importer
from tools.releases.gaps import Gap, argument_gaps, name_gaps

FRONTEND = "nestarray.frontends.jax"
#: The namespaces whose names and arguments are compared.
SPACES = (
    "", "tree", "tree_util", "numpy", "numpy.fft", "numpy.linalg", "lax", "lax.linalg", "nn",
    "nn.initializers", "image", "scipy.stats", "scipy.special", "scipy.linalg",
    "scipy.sparse.linalg", "scipy.signal", "scipy.integrate", "scipy.interpolate",
    "scipy.cluster.vq", "scipy.optimize", "scipy.fft", "scipy.ndimage", "ops", "random",
    "scipy.spatial.transform",
)  # fmt: skip


def gaps() -> Iterator[Gap]:
    """All gaps in the installed JAX."""
    for space in SPACES:
        prefix = f"jax.{space}." if space else "jax."
        theirs, ours = public_names("jax", space), public_names(FRONTEND, space)
        yield from name_gaps("jax", prefix, theirs, ours)
        yield from argument_gaps("jax", prefix, theirs, ours)
    for name in sorted(primitives()):
        if not importer.reads(name):
            yield Gap("jax primitives", name)


def public_names(root: str, space: str) -> dict[str, Any]:
    """The public names of a namespace and their values; functions of distributions are dotted.

    A namespace that the frontend lacks has none.
    """
    try:
        module = importlib.import_module(f"{root}.{space}" if space else root)
    except ModuleNotFoundError:
        if root == "jax":
            raise
        return {}
    found = {}
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        if name[0] == "_" or isinstance(value, Primitive):
            continue
        if not isinstance(value, ModuleType):
            found[name] = value
        elif space == "scipy.stats" and hasattr(jax.scipy.stats, name):
            functions = {n: f for n, f in vars(value).items() if callable(f) and n[0] != "_"}
            listed = getattr(value, "__all__", functions)
            found |= {f"{name}.{n}": functions[n] for n in listed}
    return found


def primitives() -> set[str]:
    """The names of the primitives in the modules of JAX that are loaded.

    `jax.extend.core.primitives` lists some; the others are found where they are defined.
    """
    for space in ("jax.extend.core.primitives", "jax.random", "jax.nn", "jax.image"):
        importlib.import_module(space)
    modules = [m for n, m in sys.modules.items() if n.partition(".")[0] == "jax" and m is not None]
    values = [value for module in modules for value in vars(module).values()]
    return {value.name for value in values if isinstance(value, Primitive)}


def functions(space: str) -> dict[str, Any]:
    """Our functions of a namespace that have a name of upstream."""
    theirs, found = public_names("jax", space), public_names(FRONTEND, space)
    return {name: f for name, f in found.items() if inspect.isfunction(f) and name in theirs}

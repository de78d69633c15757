"""The gaps of `nestarray.frontends.jax`, and of the importer of jaxprs."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import jax
import jax.scipy.stats
from jax.extend.core import Primitive

from nestarray.importers.jax.translation import reads
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
    for name in primitives():
        if not reads(name):
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
    functions_by_name = {}
    for name in getattr(module, "__all__", dir(module)):
        value = getattr(module, name)
        if name[0] == "_" or isinstance(value, Primitive):
            continue
        if not isinstance(value, ModuleType):
            functions_by_name[name] = value
        elif space == "scipy.stats" and hasattr(jax.scipy.stats, name):
            functions = {n: f for n, f in vars(value).items() if callable(f) and n[0] != "_"}
            listed = getattr(value, "__all__", functions)
            functions_by_name |= {f"{name}.{n}": functions[n] for n in listed}
    return functions_by_name


def primitives() -> list[str]:
    """The names of JAX's primitives, without those of its experiments.

    `jax.extend.core.primitives` lists some; the others are found in the modules that define them. A
    new process finds the same ones always: a program may have loaded more modules.
    """
    command = [
        sys.executable,
        "-c",
        _PRINT_PRIMITIVES,
        *(f"jax.{space}" for space in SPACES if space),
    ]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


_PRINT_PRIMITIVES = """
import importlib, sys
from jax.extend.core import Primitive, primitives
for name in (*sys.argv[1:], "jax.export"):
    importlib.import_module(name)
modules = [module for name, module in sys.modules.items() if name.partition(".")[0] == "jax"]
values = [value for module in modules for value in vars(module).values()]
print(*sorted({value.name for value in values if isinstance(value, Primitive)}))
"""


def functions(space: str) -> dict[str, Any]:
    """Our functions of a namespace that have a name of upstream."""
    theirs, names = public_names("jax", space), public_names(FRONTEND, space)
    return {name: f for name, f in names.items() if inspect.isfunction(f) and name in theirs}

"""Whether a function uses JAX, decided without running it."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import backends, tree
from nestarray.importers import keras
from nestarray.importers.protocol import Importer, Request
from nestarray.importers.selection import Search, methods_of, packages_of

#: The packages whose functions and objects make a program one of JAX.
_PACKAGES = frozenset(["jax", "jaxlib", "flax", "haiku", "equinox", "objax", "optax"])


#: Arguments of models that select the training behaviour, and their values in training.
MODES = {
    "train": True,
    "training": True,
    "is_training": True,
    "deterministic": False,
    "use_running_average": False,
}
#: Kind of model → the package and the names of its classes.
_CLASSES = {
    "nnx": ("flax.nnx", ("Module",)),
    "linen": ("flax.linen", ("Module",)),
    "equinox": ("equinox", ("Module",)),
    "haiku": ("haiku", ("Transformed", "TransformedWithState")),
    "objax": ("objax", ("Module",)),
}
#: Kind of model → the arguments of `trace_graph` that the signature of the source need not have.
KEYWORDS = {
    "nnx": frozenset(MODES),
    "linen": frozenset([*MODES, "variables", "rngs", "mutable", "method"]),
    "equinox": frozenset(),
    "haiku": frozenset([*MODES, "params", "state", "rng"]),
    "objax": frozenset(MODES),
    "keras": frozenset(),
    "": frozenset(["v"]),
}


class JaxImporter(Importer):
    """Reads functions of JAX, and models of Flax, Haiku, Equinox and Objax."""

    framework = "jax"

    def accepts(self, request: Request) -> bool:
        """Whether the source is a model of a JAX library, or a function that uses JAX."""
        if kind_of(request.source):
            return True
        if not callable(request.source) or isinstance(request.source, type):
            return False
        if not request.frameworks <= {"jax", "numpy"}:  # JAX takes arrays of NumPy
            return False
        if request.framework:
            return True
        example = (request.args, request.kwargs)
        return request.frameworks != {"numpy"} and uses_jax(request.source, example)

    def keywords(self, source: Any) -> frozenset[str]:
        """The arguments with the variables of a model."""
        return KEYWORDS.get(kind_of(source), frozenset())


def kind_of(source: Any) -> str:
    """``"nnx"``, ``"linen"``, ``"equinox"``, ``"haiku"``, ``"objax"``, ``"keras"``; else empty."""
    if keras.keras_backend(source) == "jax":
        return "keras"
    for cls in type(source).__mro__:
        for kind, (package, names) in _CLASSES.items():
            if cls.__module__.startswith(package) and cls.__name__ in names:
                return kind
    return ""


def uses_jax(function: Any, example: Any) -> bool:
    """Whether a function is of JAX, names functions or objects of it, or takes its arguments.

    Its arguments are methods of JAX's arrays, functions of JAX, and nodes of classes that are
    registered with JAX. A function of JAX arrays that itself names NumPy's arrays or functions, and
    nothing of nestarray, is of JAX too: JAX's operators take NumPy arrays, ops of `na` do not.
    """
    import jax

    if any(x is not None and not jax.tree_util.all_leaves([x]) for x in tree.leaves(example)):
        return True
    search = Search(_is_of_jax, methods_of(jax.Array), _PACKAGES)
    given = tree.leaves(example)
    if search.finds(function, example) or search.visit(list(filter(callable, given))):
        return True
    is_on_jax = any(backends.backend_of_value(x) == "jax" for x in given)
    if not is_on_jax or Search(lambda x: "nestarray" in packages_of(x)).finds(function, example):
        return False
    owner = getattr(function, "__self__", function)
    held = getattr(owner, "__dict__", {}).values()
    search = Search(_is_of_numpy, is_deep=False)
    return search.finds(function, example) or any(map(_is_of_numpy, held))


def _is_of_numpy(value: Any) -> bool:
    if isinstance(value, type):  # a check of types, as in isinstance
        return False
    return isinstance(value, (np.ndarray, np.generic)) or "numpy" in packages_of(value)


def _is_of_jax(value: Any) -> bool:
    from jax.core import Tracer

    if isinstance(value, Tracer):  # a leaked one, which the trace reports
        return True
    return not backends.is_array(value) and not _PACKAGES.isdisjoint(packages_of(value))

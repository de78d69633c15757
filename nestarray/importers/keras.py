"""Models and layers of Keras, which each backend of Keras has its importer for.

Keras is not imported here: a model exists only if it has been.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

from nestarray import backends
from nestarray.errors import ArgumentError
from nestarray.graph.builder import Place, line_name


def keras_backend(source: Any) -> str:
    """The backend of Keras, if the source is a model or a layer of it; else empty."""
    is_layer = any(
        cls.__module__.startswith("keras.") and cls.__name__ == "Layer"
        for cls in type(source).__mro__
    )
    return sys.modules["keras"].backend.backend() if is_layer else ""


def check_built(layer: Any) -> None:
    """Raise an error for a layer without variables.

    Raises:
        ArgumentError: the layer is not built.
    """
    if not layer.built:
        raise ArgumentError(
            f"trace_graph: source: got a {type(layer).__name__} that is not built "
            f"({definition_of(layer)}), so that it has no variables yet; call it on an input, or its "
            "build(input_shape), first"
        )


def definition_of(layer: Any) -> Place:
    """The path of a layer, and the line of its method ``call``."""
    code = inspect.unwrap(type(layer).call).__code__
    return Place(layer.path or layer.name, line_name(code.co_filename, code.co_firstlineno))


def mode(layer: Any, *, train: bool) -> dict[str, bool]:
    """The keyword that selects the behaviour of a layer, if it takes one."""
    return {"training": train} if getattr(layer, "_call_has_training_arg", False) else {}


def declared_shapes(layer: Any, leaves: list[Any]) -> list[Any]:
    """The shapes of the inputs that a layer declares, for the leaves of an example.

    The first axis of every array is the batch.
    """
    shapes = [x.shape for x in getattr(layer, "inputs", None) or ()]
    return shapes or [(None, *x.shape[1:]) if backends.is_array(x) else () for x in leaves]

"""Whether a source is of TensorFlow, decided without running it."""

from __future__ import annotations

import inspect
from typing import Any

from nestarray import backends, tree
from nestarray.importers.keras import keras_backend
from nestarray.importers.protocol import Importer, Request
from nestarray.importers.selection import Search, methods_of, packages_of

#: The packages whose functions and objects make a program one of TensorFlow.
_PACKAGES = frozenset(["keras", "tensorflow", "sonnet"])


class TensorFlowImporter(Importer):
    """Reads Keras models, functions and modules of TensorFlow, and SavedModels."""

    framework = "tensorflow"

    def accepts(self, request: Request) -> bool:
        """Whether the source, or the owner of a method, is of TensorFlow, or a function uses it."""
        if kind_of(request.source) or kind_of(getattr(request.source, "__self__", None)):
            return True
        if not callable(request.source) or isinstance(request.source, type):
            return False
        if not request.frameworks or not request.frameworks <= {"tensorflow", "numpy"}:
            return False
        if request.framework:
            return True
        example = (request.args, request.kwargs)
        return request.frameworks != {"numpy"} and uses_tensorflow(request.source, example)

    def keywords(self, source: Any) -> frozenset[str]:
        """The arguments that choose a part of the source, or its behaviour."""
        return frozenset(["signature"] * (kind_of(source) == "saved")) | {*modes(source)}


def modes(function: Any) -> list[str]:
    """The arguments by which a function selects the training behaviour."""
    try:
        known = inspect.signature(getattr(function, "python_function", function)).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in ("training", "is_training") if name in known]


def kind_of(source: Any) -> str:
    """``"keras"``, ``"module"``, ``"function"``, ``"concrete"``, ``"saved"``; empty for others.

    Models of Keras are of TensorFlow only on the TensorFlow backend of Keras.
    """
    if keras_backend(source):
        return "keras" if keras_backend(source) == "tensorflow" else ""
    names = {(cls.__module__.partition(".")[0], cls.__name__) for cls in type(source).__mro__}
    if ("tensorflow", "Module") in names:
        return "module"
    if ("tensorflow", "ConcreteFunction") in names:
        return "concrete"
    if type(source).__module__.startswith("tensorflow.") and hasattr(
        source, "get_concrete_function"
    ):
        return "function"
    if ("tensorflow", "AutoTrackable") in names and hasattr(source, "signatures"):
        return "saved"
    return ""


def uses_tensorflow(function: Any, example: Any) -> bool:
    """Whether a function names functions or objects of TensorFlow, or takes methods of tensors."""
    import tensorflow as tf

    search = Search(_is_of_tensorflow, methods_of(tf.Tensor), _PACKAGES)
    given = [x for x in tree.leaves(example) if callable(x)]
    return search.finds(function, example) or search.visit(given)


def _is_of_tensorflow(value: Any) -> bool:
    if backends.is_array(value):
        return backends.backend_of_value(value) == "tensorflow" and hasattr(value, "assign")
    return not _PACKAGES.isdisjoint(packages_of(value))

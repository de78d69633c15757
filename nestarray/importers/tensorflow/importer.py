"""Keras models, functions and modules of TensorFlow, and SavedModels as Graphs."""

from __future__ import annotations

from typing import Any

from nestarray.importers.protocol import Imported, Request
from nestarray.importers.tensorflow.models import KEYWORDS, modes, program_of
from nestarray.importers.tensorflow.selection import kind_of, uses_tensorflow
from nestarray.importers.tensorflow.translation import Translation


class TensorFlowImporter:
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
        return KEYWORDS.get(kind_of(source), frozenset()) | {*modes(source)}

    def read(self, request: Request) -> Imported:
        """Trace the source; see `Importer.read`."""
        program = program_of(request)
        outputs = [x for op in program.concrete.graph.get_operations() for x in op.outputs]
        names = [x.dtype.name for x in outputs]
        arrays = [(name, "") for name in names if name not in ("resource", "variant")]
        return Translation(program, request).imported(arrays)

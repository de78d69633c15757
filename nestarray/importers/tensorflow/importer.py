"""Keras models, functions and modules of TensorFlow, and SavedModels as Graphs."""

from __future__ import annotations

from nestarray.importers.protocol import Imported, Request
from nestarray.importers.tensorflow.models import program_of
from nestarray.importers.tensorflow.translation import Translation


def read(request: Request) -> Imported:
    """Trace the source; see `Importer.read`."""
    program = program_of(request)
    outputs = [x for op in program.concrete.graph.get_operations() for x in op.outputs]
    names = [x.dtype.name for x in outputs]
    arrays = [(name, "") for name in names if name not in ("resource", "variant")]
    return Translation(program, request).imported(arrays)

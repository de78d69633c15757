"""A ``torch.nn.Module`` as a Graph, through ``torch.export``.

The exporter returns a functional graph of ATen calls. The vocabulary of
`nestarray.frontends.torch` maps each call to a call of a public function; mostly the two have
the same name.
"""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from nestarray import backends, tree
from nestarray.graph.binding import argument_names
from nestarray.importers.keras import keras_backend
from nestarray.importers.patching import one_trace
from nestarray.importers.protocol import Imported, Request, training_of_function
from nestarray.importers.torch.caches import with_nests
from nestarray.importers.torch.dynamic import Dynamic
from nestarray.importers.torch.exporting import export, in_mode, quiet
from nestarray.importers.torch.first_calls import with_state
from nestarray.importers.torch.keras import keras_module
from nestarray.importers.torch.places import origin
from nestarray.importers.torch.selection import is_module
from nestarray.importers.torch.tied_tensors import distinct
from nestarray.importers.torch.translation import Translation
from nestarray.importers.torch.unwrapping import as_module, refuse_foreign_modules


def read(request: Request) -> Imported:
    """Export the module; see `Importer.read`."""
    source, args, kwargs = request.source, request.args, request.kwargs
    if keras_backend(source):
        source = keras_module(source)
        args, kwargs = tree.map(_tensor, (args, kwargs))
    if request.train and not is_module(source):
        raise training_of_function()
    module, args, kwargs = with_nests(as_module(source), args, kwargs)
    args, kwargs = distinct(module, (args, kwargs))
    asked = Dynamic(
        request.sizes,
        dict(zip(argument_names(module.forward, len(args)), args, strict=True)) | kwargs,
    )
    with (
        one_trace,
        warn_external_random(type(source).__name__),
        in_mode(module, request.train),
        quiet(),
    ):
        export = partial(_export, len(args))
        traced = with_state(module, args, kwargs, export, asked)
        translation = Translation(traced, args, kwargs, request)
        imported = translation.imported(list(_dtypes(translation.program)))
    if imported.graph is not None:
        translation.names.check(imported.graph.sizes)
    return imported


def _export(count: int, module: Any, dynamic: Dynamic) -> tuple[Any, list[str]]:
    """Export a module for arguments of which the first `count` are positional."""
    args = tuple([*dynamic.arguments.values()][:count])
    kwargs = dict([*dynamic.arguments.items()][count:])
    with dynamic.exporting(), refuse_foreign_modules(module):
        return export(module, args, kwargs, dynamic)


def _tensor(x: Any) -> Any:
    """An array of NumPy, which models of Keras take too, as a tensor."""
    return backends.core("torch").from_numpy(x) if isinstance(x, np.ndarray) else x


def _dtypes(program: Any) -> Iterator[tuple[Any, str]]:
    """(dtype, place) of each array of an exported program."""
    for exported in program.graph.nodes:
        value = exported.meta.get("val")
        if exported.op == "placeholder" and not exported.users:
            continue
        for x in value if isinstance(value, (list, tuple)) else [value]:
            if hasattr(x, "dtype"):
                yield x.dtype, str(origin(exported))


# -- random numbers of NumPy and Python ---------------------------------------------------------


@contextlib.contextmanager
def warn_external_random(name: str) -> Iterator[None]:
    """Warn if a global random generator outside torch advances during a trace."""
    before = _states()
    yield
    moved = [library for library, state in _states().items() if state != before[library]]
    if moved:
        warnings.warn(
            f"trace_graph: {name} draws random numbers by {' and '.join(moved)} while it is "
            "traced; they are constants of the graph, the same in every call. Pass what is drawn "
            "as an argument (a speech model's mask_time_indices), draw it with torch, or switch it "
            "off (config.apply_spec_augment = False)",
            stacklevel=6,
        )


def _states() -> dict[str, Any]:
    kind, keys, *others = np.random.get_state()
    return {
        "NumPy": (kind, np.asarray(keys).tobytes(), *others),
        "Python's random": random.getstate(),
    }

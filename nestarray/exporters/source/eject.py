"""`Graph.eject`: the source of a model in the public functions of a framework.

The lowered graph runs once on the framework, and a recorder notes the public calls. `modules` makes
a tree of modules of them, `classes` finds the modules of equal structure, and a style prints
them. The source is then loaded from its file, run, and compared with the graph.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from nestarray import lazy_imports, ops
from nestarray.container import Container
from nestarray.errors import ArgumentError, ConversionError, StorageError
from nestarray.errors.foreign import foreign
from nestarray.exporters.export import Example, accepted_error, difference, named_outputs
from nestarray.exporters.source.lowering.random_draws import unseeded
from nestarray.exporters.source.lowering.training import with_training_layers
from nestarray.exporters.source.programs import STYLES, program_of, style_of
from nestarray.exporters.source.recording.fixed_numbers import FixedGenerator
from nestarray.exporters.source.styles.readme import readme
from nestarray.exporters.source.styles.style import Style
from nestarray.exporters.source.tree.sizes import VALUES, examples
from nestarray.graph.execution import result_of, steps, where_of
from nestarray.graph.graph import Graph
from nestarray.graph.passes.rewriting import rewrite
from nestarray.storage.atomic import replacing

#: Style → the module that its source imports besides the framework, and the extra.
_LIBRARIES = {
    "nnx": ("flax.nnx", "flax"),
    "equinox": ("equinox", "equinox"),
    "mlx": ("jax", "mlx"),  # whose calls are recorded
}


class Ejected(NamedTuple):
    """A folder that was written.

    Attributes:
        path: of the folder.
        target: the framework.
        style: the form of the source.
        error: the largest difference between an output of the source and of the graph, relative to
            the largest number of the output.
    """

    path: Path
    target: str
    style: str
    error: float


def eject(
    graph: Graph,
    folder: str | os.PathLike[str],
    target: str,
    *,
    style: str | None = None,
    overwrite: bool = False,
) -> Ejected:
    """Write the model as source code that needs the framework and safetensors only.

    The folder gets ``model.py``, ``weights.safetensors`` and ``README.md``. The source has one class
    for each class of the source model, calls the framework's public functions, and loads its
    weights with ``load()``. It is run and compared with the graph before the folder is written.

    Args:
        folder: the directory to write; its parent exists.
        target: the framework, ``"torch"``, ``"jax"``, ``"tensorflow"``, ``"numpy"``, ``"mlx"`` or
            ``"keras"``, whose source runs on each backend of Keras 3.
        style: the form of the source: for JAX ``"functional"`` (functions of nested parameters,
            the default), ``"nnx"`` or ``"equinox"``; the others have one.
        overwrite: replace a folder that was written before.

    Returns:
        an `Ejected`: path, framework, style and error.

    Raises:
        ArgumentError: the target or the style is unknown.
        StorageError: the folder exists.
        MissingFileError: its parent does not exist.
        ConversionError: the program has a part that source code cannot express yet, or the source
            computes other numbers.

    Example:
        >>> import tempfile, torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ejected = graph.eject(f"{folder}/net", "torch")
        ...     sorted(path.name for path in ejected.path.iterdir())
        ['README.md', 'model.py', 'weights.safetensors']
    """
    path = Path(folder)
    style = _check(graph, target, style)
    is_empty = path.is_dir() and not any(path.iterdir())
    if path.exists() and not is_empty and not overwrite:
        raise StorageError(
            f"eject: {str(path)!r} exists; choose another draft, or pass overwrite=True"
        )
    source = source_of(graph, target, style)
    with replacing(path, "eject") as draft:
        draft.mkdir()
        (draft / "model.py").write_text(source.text, encoding="utf-8")
        # copies: the format writes an array that several names share once
        weights = Container(source.weights).map(lambda x: ops.asarray(x, copy=True))
        weights.save(draft / "weights.safetensors")
        recorded = examples(graph)
        expected = functools.partial(_wanted, source)
        accepted = accepted_error(graph, recorded[0], expected)
        compared = functools.partial(_compared, graph, draft / "model.py", source, accepted)
        error = max(map(compared, recorded))
        if graph.sized_by_values is not None:
            _check_other_values(graph, compared, recorded[0])
        inputs = [*(n.name for n in graph.inputs), *source.modes]
        (draft / "README.md").write_text(readme(source, inputs, error), encoding="utf-8")
    return Ejected(path, target, style, error)


def _check(graph: Graph, target: str, style: str | None) -> str:
    """The style to write."""
    if target not in STYLES:
        expected = ", ".join(map(repr, STYLES))
        raise ArgumentError(f"eject: target: got {target!r}, expected {expected}")
    if style is not None and style not in STYLES[target]:
        expected = ", ".join(map(repr, STYLES[target]))
        raise ArgumentError(f"eject: style: got {style!r} for {target}, expected {expected}")
    if graph.abstract:
        raise ConversionError(
            f"eject: {graph.name}: its variables have shapes only; set them first: "
            "graph.replace(v=v, s=s)"
        )
    lazy_imports.optional(target, "eject needs", extra=target)
    if style in _LIBRARIES:
        library, extra = _LIBRARIES[style]
        lazy_imports.optional(library, f"eject: the style {style!r} needs", extra=extra)
    return style or next(iter(STYLES[target]))


def _compared(graph: Graph, path: Path, source: Style, accepted: float, example: Example) -> float:
    """Run the source, and return its largest difference from the graph.

    In the training mode, nothing is dropped.
    """
    module = ModuleType(f"ejected_{path.parent.name}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    arguments = [*example.flat.values(), *(_MODES[mode] for mode in source.modes)]
    raised = f"eject: {graph.name}: the source raised"
    try:
        with foreign(lambda error: f"{raised} {type(error).__name__}: {error}"):
            text = path.read_text(encoding="utf-8")
            exec(compile(text, str(path), "exec"), vars(module))  # our own text
            output, state = source.run(vars(module), arguments)
    finally:
        del sys.modules[module.__name__]
    outputs = named_outputs(output) | {f"state {name}": x for name, x in state.items()}
    arrays = {name: np.asarray(ops.to_backend(x, "numpy")) for name, x in outputs.items()}
    expected = _wanted(source, graph, example)
    return difference("eject", graph.name, "source", accepted, expected, arrays)


def _check_other_values(
    graph: Graph, compared: Callable[[Example], float], example: Example
) -> None:
    """Raise an error for a source with sizes that the recorded values decided."""
    for seed in range(VALUES, VALUES + 3):
        try:
            compared(example.redrawn(seed))
        except ConversionError as error:
            place = graph.sized_by_values
            assert place is not None
            raise ConversionError(
                f"eject: {graph.name}: values decide the size of {where_of(place)}, and the source "
                "has the sizes of one example; pass the size as an argument (size=, length=), or "
                "reduce the elements with where="
            ) from error


def _wanted(source: Style, graph: Graph, example: Example) -> dict[str, Any]:
    """The outputs of a graph, and the new values of its state by their names in the source."""
    program = rewrite(graph, unseeded).lower()
    inputs = program.bind(*example.on(graph.backend))
    program = with_training_layers(program, inputs, source.records or source.language.name)
    output, updates = result_of(steps(program, inputs, None))
    names = {value.path: name for name, value in source.variables.items() if value.source == "s"}
    return named_outputs(output) | {
        f"state {names[source.program.moved[path]]}": x for path, x in updates.items()
    }


#: The arguments of the training mode in which nothing is dropped.
_MODES = {"state": None, "train": True, "training": True, "key": None, "rng": FixedGenerator()}


def _standalone_source(graph: Graph, target: str, style: str | None = None) -> str:
    """The text of `eject`, for `Graph.to_source`."""
    return source_of(graph, target, _check(graph, target, style)).text


def source_of(graph: Graph, target: str, style: str) -> Style:
    """The source of a graph.

    Args:
        graph: the graph.
        target: the framework.
        style: a style of the framework.
    """
    return style_of(target, style)(program_of(graph, target, style), graph.name)

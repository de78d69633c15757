"""`Graph.eject`: the source of a model in the public functions of a framework.

The lowered graph runs once on the framework, and a recorder notes the public calls. `modules` makes
a tree of modules of them, `classes` finds the modules of equal structure, and a style prints
them. The source is then loaded from its file, run, and compared with the graph.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from nestarray import lazy_imports, ops
from nestarray.container import Container
from nestarray.errors import ArgumentError, ConversionError, StorageError
from nestarray.exporters.export import Example, difference, example_of, named_outputs
from nestarray.exporters.source.lowering.random_draws import unseeded
from nestarray.exporters.source.lowering.training import with_training_layers
from nestarray.exporters.source.programs import STYLES, file_of, program_of
from nestarray.exporters.source.recording.fixed_numbers import FixedGenerator
from nestarray.exporters.source.recording.records import Value
from nestarray.exporters.source.tree.sizes import examples
from nestarray.graph.execution import result_of, steps, where_of
from nestarray.graph.graph import Graph, method
from nestarray.graph.passes.rewriting import rewrite
from nestarray.storage.atomic import replacing

#: Style → the module that its source imports besides the framework, and the extra.
_LIBRARIES = {"nnx": ("flax.nnx", "flax"), "equinox": ("equinox", "equinox")}


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


@method
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
        target: the framework, ``"torch"``, ``"jax"``, ``"tensorflow"`` or ``"numpy"``.
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
    if path.exists() and not overwrite:
        raise StorageError(
            f"eject: {str(path)!r} exists; choose another folder, or pass overwrite=True"
        )
    source = source_of(graph, target, style)
    written = file_of(target, style)
    with replacing(path, "eject") as made:
        made.mkdir()
        (made / "model.py").write_text(source.text, encoding="utf-8")
        # copies: the format writes an array that several names share once
        weights = Container(source.weights).map(lambda x: ops.asarray(x, copy=True))
        weights.save(made / "weights.safetensors")
        at_sizes = [example_of(graph, given) for given in examples(graph.sizes)]
        compared = functools.partial(_compared, graph, made / "model.py", written, source)
        error = max(map(compared, at_sizes))
        if graph.sized_by_values is not None:
            _check_other_values(graph, compared, at_sizes[0])
        inputs = [*(n.name for n in graph.inputs), *source.modes]
        text = written.readme(source, inputs) + _modes(source, style) + _comparison(error)
        (made / "README.md").write_text(text, encoding="utf-8")
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


def _compared(graph: Graph, path: Path, style: Any, source: Source, example: Example) -> float:
    """Run the source, and return its largest difference from the graph.

    In the training mode, nothing is dropped.
    """
    module = ModuleType(f"ejected_{path.parent.name}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    given = [*example.flat.values(), *(_MODES[mode] for mode in source.modes)]
    try:
        text = path.read_text(encoding="utf-8")
        exec(compile(text, str(path), "exec"), vars(module))  # our own text
        output, state = style.run(vars(module), source, given)
    except Exception as error:
        raise ConversionError(
            f"eject: {graph.name}: the source raised {type(error).__name__}: {error}"
        ) from error
    finally:
        del sys.modules[module.__name__]
    outputs = named_outputs(output) | {f"state {name}": x for name, x in state.items()}
    arrays = {name: np.asarray(ops.to_backend(x, "numpy")) for name, x in outputs.items()}
    return difference(
        "eject", graph.name, _wanted(graph, source, example, style.LANGUAGE.name), arrays, "source"
    )


def _check_other_values(
    graph: Graph, compared: Callable[[Example], float], example: Example
) -> None:
    """Raise an error for a source with sizes that values of the recorded example decided."""
    for seed in range(3):
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


def _wanted(graph: Graph, source: Source, example: Example, target: str) -> dict[str, Any]:
    """The outputs of a graph, and the new values of its state by their names in the source."""
    program = rewrite(graph, unseeded).lower()
    inputs = program.bind(*example.on(graph.backend))
    output, updates = result_of(steps(with_training_layers(program, inputs, target), inputs, None))
    names = {value.path: name for name, value in source.variables.items() if value.source == "s"}
    return named_outputs(output) | {
        f"state {names[source.moved[path]]}": x for path, x in updates.items()
    }


#: The arguments of the training mode in which nothing is dropped.
_MODES = {"state": None, "train": True, "training": True, "key": None, "rng": FixedGenerator()}


def _modes(source: Source, style: str) -> str:
    """The README's section about the modes."""
    if not source.train:
        return (
            "\nThe model that this source was made of was in its evaluation mode: the source has no "
            "dropout, and batch normalization uses its running statistics.\n"
        )
    lines = ["The source has the training mode of the model."]
    if style in ("torch", "nnx"):
        lines.append("`model.train()` and `model.eval()` switch dropout and batch normalization.")
    lines += [_MODE_TEXTS[mode] for mode in source.modes]
    if source.writes and style in ("functional", "equinox"):
        lines.append(
            "A call returns the output and the new state, and leaves its arguments as they are."
        )
    return "\n" + "\n".join(lines) + "\n"


_SWITCH = "`{}` is true for training; false switches off dropout, and batch normalization uses its statistics."
_MODE_TEXTS = {
    "state": "`state` is an `eqx.nn.State`, of which a call returns a new one.",
    "train": _SWITCH.format("train"),
    "training": _SWITCH.format("training"),
    "key": "`key` is a key of `jax.random`; dropout without one (None) drops nothing.",
    "rng": "`rng` is a `numpy.random.Generator`; dropout without one (None) drops nothing.",
}


def _comparison(error: float) -> str:
    return f"""
## Comparison

`model.py` was run on random inputs. Its outputs differ from those of the model that it was made of by
at most {error:.1e}, relative to the largest number of each output.
"""


@method
def _standalone_source(graph: Graph, target: str, style: str | None = None) -> str:
    """The text of `eject`, for `Graph.to_source`."""
    return source_of(graph, target, _check(graph, target, style)).text


class Source(NamedTuple):
    """The source of a model.

    Attributes:
        name: of the class or the function of the model.
        text: of the Python file.
        weights: name in the file of weights → array of NumPy.
        variables: name in the file of weights → variable of the graph.
        train: whether it is of the training mode.
        modes: names of the additional arguments of the source: ``"train"``, ``"key"``.
        writes: names of the variables that a call changes.
        moved: path in the state of the graph → its path in the source, of those that change.
    """

    name: str
    text: str
    weights: dict[str, np.ndarray]
    variables: dict[str, Value]
    train: bool
    modes: list[str]
    writes: list[str]
    moved: Mapping[str, str]


def source_of(graph: Graph, target: str, style: str) -> Source:
    """The source of a graph.

    Args:
        graph: the graph.
        target: the framework.
        style: a style of the framework.
    """
    written = file_of(target, style)
    program = program_of(graph, target, style)
    root, arrays = program.root, program.arrays
    name = written.name_of(graph.name)
    own: dict[str, Any] = {}
    if target == "torch":
        own = {"stands_for": program.stands_for, "names": program.names, "train": graph.train}
    if target == graph.source_names.framework == "torch":
        unused = _unused(graph, arrays)
        arrays |= dict(unused.values())
        own["unused"] = {name: value for name, (value, _) in unused.items()}
    text, variables = written.write(root, name, program.constants, **own)
    weights = {key: arrays[x] for key, x in variables.items()}
    weights = written.with_missing(weights, variables, root)
    modes = [value.path for value in root.inputs if value.source in ("mode", "key")]
    writes = [key for key, x in variables.items() if x.source == "s" and x.path in program.updated]
    return Source(
        name, formatted(text), weights, variables, graph.train, modes, writes, program.moved
    )


def _unused(graph: Graph, used: Collection[Value]) -> dict[str, tuple[Value, np.ndarray]]:
    """Name in a checkpoint of PyTorch → variable and its array, of those that no call uses."""
    known = {(value.source, value.path) for value in used}
    arrays = {(s, path): x for s in ("v", "s") for path, x in getattr(graph, s).flat_items()}
    found: dict[str, tuple[Value, np.ndarray]] = {}
    for name, place in graph.source_names.names.items():
        if place in arrays.keys() - known:
            known.add(place)
            array = np.asarray(ops.to_backend(arrays[place], "numpy"))
            found[name] = Value(array.shape, array.dtype.name, *place), array
    return found


def formatted(text: str) -> str:
    """The text as ruff formats it, if it is installed."""
    if importlib.util.find_spec("ruff") is None:
        return text
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length=100", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    return done.stdout

"""`Graph.eject`: the source of a model in the public functions of a framework.

The lowered graph runs once on the framework, and a recorder notes the public calls. `modules` makes
a tree of modules of them, `classes` finds the modules of equal structure, and a style prints
them. The source is then loaded from its file, run, and compared with the graph.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from nestarray import lazy_imports, ops
from nestarray.container import Container
from nestarray.errors import ArgumentError, ConversionError, StorageError
from nestarray.exporters.export import Example, difference, example_of, named_outputs
from nestarray.exporters.source.constants import known_result, shortest, unchanged, with_numbers
from nestarray.exporters.source.fixed_numbers import FixedGenerator
from nestarray.exporters.source.layer_calls import lowered
from nestarray.exporters.source.module_tree import module_tree, with_writes
from nestarray.exporters.source.recorder import record
from nestarray.exporters.source.records import Call, Function, Recording, Value, needed, values_in
from nestarray.exporters.source.sizes import examples, with_open_sizes
from nestarray.exporters.source.ties import names_by_path, with_own_names
from nestarray.exporters.source.training import with_training_layers
from nestarray.graph.execution import result_of, steps, where_of
from nestarray.graph.graph import Graph, method
from nestarray.graph.node import map_leaves
from nestarray.storage.atomic import replacing

#: Framework → style → its file; the first style is the default.
STYLES = {
    "torch": {"torch": "torch_style"},
    "jax": {
        "functional": "jax_style",
        "nnx": "nnx_style",
        "equinox": "equinox_style",
    },
    "tensorflow": {"module": "tensorflow_style"},
    "numpy": {"functional": "numpy_style"},
}


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
    written = _file_of(target, style)
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


def _file_of(target: str, style: str) -> Any:
    """The file of a style."""
    return importlib.import_module(f"nestarray.exporters.source.{STYLES[target][style]}")


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
    program = graph.lower()
    inputs = program.bind(*example.on(graph.backend))
    output, updates = result_of(steps(with_training_layers(program, inputs, target), inputs, None))
    names = {value.path: name for name, value in source.variables.items() if value.source == "s"}
    return named_outputs(output) | {f"state {names[path]}": x for path, x in updates.items()}


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
    """

    name: str
    text: str
    weights: dict[str, np.ndarray]
    variables: dict[str, Value]
    train: bool
    modes: list[str]
    writes: list[str]


def source_of(graph: Graph, target: str, style: str) -> Source:
    """The source of a graph.

    Args:
        graph: the graph.
        target: the framework.
        style: a style of the framework.
    """
    written = _file_of(target, style)
    graph = lowered(graph, target, has_channels_last=written.HAS_CHANNELS_LAST)
    recordings = []
    updated: set[str] = set()
    for given in examples(graph.sizes):
        args, kwargs = example_of(graph, given).on(target)
        inputs = graph.bind(args, kwargs)
        program = with_training_layers(graph, inputs, target)
        updated |= {*program.state_updates}
        recordings.append(record(program, inputs))
    recording = with_open_sizes(recordings, graph.name)
    constants = {
        v: x
        for v, x in _arrays(graph, recording).items()
        if v.source == "constants" or (v.source == "s" and _is_unsaved(graph, v.path, updated))
    }
    program = with_writes(normalized(recording, written.LANGUAGE, constants))
    program = written.with_state(program) if hasattr(written, "with_state") else program
    arrays = _arrays(graph, dataclasses.replace(program, constants=recording.constants))
    names = names_by_path(graph.source_names.names) if target == "torch" else {}
    program, stands_for = with_own_names(program, names)
    kinds = graph.source_names.modules
    root = module_tree(
        program,
        kinds,
        is_functional=written.IS_FUNCTIONAL,
        has_sequences=target == "torch",
        separator="." if target == "torch" else "_",
    )
    name = written.name_of(graph.name)
    own = {"stands_for": stands_for, "names": names} if names else {}
    if target == graph.source_names.framework == "torch":
        unused = _unused(graph, arrays)
        arrays |= dict(unused.values())
        own["unused"] = {name: value for name, (value, _) in unused.items()}
    text, variables = written.write(root, name, constants, **own)
    weights = {key: arrays[x] for key, x in variables.items()}
    weights = written.with_missing(weights, variables, root)
    modes = [value.path for value in root.inputs if value.source in ("mode", "key")]
    writes = [key for key, x in variables.items() if x.source == "s" and x.path in updated]
    return Source(name, formatted(text), weights, variables, graph.train, modes, writes)


def _is_unsaved(graph: Graph, path: str, updated: Collection[str]) -> bool:
    """Whether a buffer of PyTorch is not in checkpoints, so that it is a constant of the module."""
    saved = graph.source_names.names.values()
    return bool(saved) and path not in updated and ("s", path) not in saved


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


def _arrays(graph: Graph, recording: Recording) -> dict[Value, np.ndarray]:
    """Variable of a recording → its array."""
    known = {(s, p): x for s in ("v", "s", "constants") for p, x in getattr(graph, s).flat_items()}
    known |= {("constants", path): x for path, x in recording.constants.items()}
    found: dict[Value, np.ndarray] = {}
    used = [[list(call.args), call.kwargs] for call in recording.calls]
    for value in values_in([used, recording.output, dict(recording.updates)]):
        if value.source in ("v", "s", "constants"):
            found[value] = np.asarray(ops.to_backend(known[value.source, value.path], "numpy"))
    return found


def normalized(
    recording: Recording, language: Any, constants: Mapping[Value, np.ndarray]
) -> Recording:
    """The recording as a user writes it, without calls that compute nothing new."""
    stands_for: dict[Value, Any] = {}
    known = dict(constants)

    def of(nest: Any) -> Any:
        return map_leaves(of_leaf, nest)

    def of_leaf(leaf: Any) -> Any:
        if isinstance(leaf, Function):
            calls, output = run(leaf.calls), of(leaf.output)
            return dataclasses.replace(leaf, calls=needed(calls, output), output=output)
        return stands_for.get(leaf, leaf) if isinstance(leaf, Value) else leaf

    def run(given: Sequence[Call]) -> list[Call]:
        calls: list[Call] = []
        changed = {call.args[0] for call in given if call.writes_in_place}
        for call in given:
            args, kwargs = map_leaves(shortest, (of(call.args), of(call.kwargs)))
            call = dataclasses.replace(call, args=args, kwargs=kwargs)
            found = language.normal(call, known)
            if isinstance(call.result, Value) and call.result in changed:
                found = call  # a copy, so that the original keeps its values
            elif isinstance(found, Call):
                found = unchanged(found) or found
            if isinstance(found, Call):
                calls.append(with_numbers(found, known))
                if (value := known_result(call, known)) is not None:
                    known[call.result] = value
            else:
                stands_for[call.result] = found
        return calls

    calls = run(recording.calls)
    output, updates = of(recording.output), of(dict(recording.updates))
    calls = needed(calls, [output, updates])
    return dataclasses.replace(recording, calls=calls, output=output, updates=updates)

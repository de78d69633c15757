"""The program of a graph as a tree of modules, with the calls that a style writes."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nestarray import ops
from nestarray.dtypes import dtype_of
from nestarray.exporters.source.lowering.layer_calls import lowered
from nestarray.exporters.source.lowering.training import with_training_layers
from nestarray.exporters.source.printing.constants import (
    known_result,
    shortest,
    unchanged,
    with_numbers,
)
from nestarray.exporters.source.recording.recorder import record
from nestarray.exporters.source.recording.records import (
    Call,
    Function,
    Recording,
    Value,
    needed,
    values_in,
)
from nestarray.exporters.source.tree.module_tree import module_tree, with_writes
from nestarray.exporters.source.tree.modules import Module
from nestarray.exporters.source.tree.sizes import examples, with_open_sizes
from nestarray.exporters.source.tree.ties import names_by_path, with_own_names
from nestarray.graph.graph import Graph
from nestarray.graph.node import map_leaves

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
    "mlx": {"mlx": "mlx_style"},
    "keras": {"keras": "keras_style"},
}


def style_of(target: str, style: str) -> Any:
    """The class of a style."""
    file = f"nestarray.exporters.source.styles.{STYLES[target][style]}"
    return importlib.import_module(file).Style


class Program(NamedTuple):
    """The program of a graph.

    Attributes:
        train: whether it is of the training mode.
        root: the tree of modules.
        constants: variable that the source computes, or holds outside of its parameters → array.
        arrays: variable → array.
        updated: paths of the variables that a call changes.
        moved: path in the state of the graph → its path in the program, of those that change.
        names: path of a parameter of PyTorch with several names → its names.
        stands_for: parameter with a name of its own → the parameter of the graph.
        unused: name in a checkpoint of PyTorch → variable that no call uses.
    """

    train: bool
    root: Module
    constants: dict[Value, np.ndarray]
    arrays: dict[Value, np.ndarray]
    updated: Collection[str]
    moved: Mapping[str, str]
    names: Mapping[str, Sequence[str]]
    stands_for: Mapping[Value, Value]
    unused: Mapping[str, Value]


def program_of(graph: Graph, target: str, style: str) -> Program:
    """The program of a graph.

    Args:
        graph: the graph.
        target: the framework.
        style: a style of the framework.
    """
    written = style_of(target, style)
    framework = written.records or target
    paths = [*graph.state_updates]
    layouts = {
        "has_channels_last": written.has_channels_last,
        "has_heads_last": written.has_heads_last,
    }
    graph = lowered(graph, framework, **layouts)
    moved = dict(zip(paths, graph.state_updates, strict=True))
    recordings = []
    updated: set[str] = set()
    for example in examples(graph):
        args, kwargs = example.on(framework)
        inputs = graph.bind(args, kwargs)
        program = with_training_layers(graph, inputs, framework)
        updated |= {*program.state_updates}
        recordings.append(record(program, inputs, has_statements=written.language.has_statements))
    recording = with_open_sizes(recordings, graph.name)
    constants = {
        v: x
        for v, x in _arrays(graph, recording).items()
        if v.source == "constants" or (v.source == "s" and _is_unsaved(graph, v.path, updated))
    }
    program = with_writes(normalized(recording, written.language, constants))
    program = written.with_state(program)
    arrays = _arrays(graph, dataclasses.replace(program, constants=recording.constants))
    names = names_by_path(graph.source_names.names) if target == "torch" else {}
    program, stands_for = with_own_names(program, names)
    kinds = graph.source_names.modules
    root = module_tree(
        program,
        kinds,
        is_functional=written.is_functional,
        has_sequences=target == "torch",
        separator="." if target == "torch" else "_",
    )
    unused: dict[str, Value] = {}
    if target == graph.source_names.framework == "torch":
        unused = _unused(graph, arrays)
        arrays |= {x: _array(getattr(graph, x.source)[x.path]) for x in unused.values()}
    return Program(graph.train, root, constants, arrays, updated, moved, names, stands_for, unused)


def _unused(graph: Graph, used: Collection[Value]) -> dict[str, Value]:
    """Name in a checkpoint of PyTorch → variable that no call uses."""
    known = {(value.source, value.path) for value in used}
    values: dict[str, Value] = {}
    for name, (source, path) in graph.source_names.names.items():
        if source in ("v", "s") and path in getattr(graph, source) and (source, path) not in known:
            known.add((source, path))
            x = getattr(graph, source)[path]
            values[name] = Value(tuple(x.shape), dtype_of(x).name, source, path)
    return values


def _array(x: Any) -> np.ndarray:
    return np.asarray(ops.to_backend(x, "numpy"))


def _arrays(graph: Graph, recording: Recording) -> dict[Value, np.ndarray]:
    """Variable of a recording → its array."""
    known = {(s, p): x for s in ("v", "s", "constants") for p, x in getattr(graph, s).flat_items()}
    known |= {("constants", path): x for path, x in recording.constants.items()}
    arrays: dict[Value, np.ndarray] = {}
    used = [[list(call.args), call.kwargs] for call in recording.calls]
    for value in values_in([used, recording.output, dict(recording.updates)]):
        if value.source in ("v", "s", "constants"):
            arrays[value] = _array(known[value.source, value.path])
    return arrays


def _is_unsaved(graph: Graph, path: str, updated: Collection[str]) -> bool:
    """Whether a buffer of PyTorch is not in checkpoints, so that it is a constant of the module."""
    saved = graph.source_names.names.values()
    return bool(saved) and path not in updated and ("s", path) not in saved


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

    def run(program: Sequence[Call]) -> list[Call]:
        calls: list[Call] = []
        changed = {call.args[0] for call in program if call.writes_in_place}
        for call in program:
            args, kwargs = map_leaves(shortest, (of(call.args), of(call.kwargs)))
            call = dataclasses.replace(call, args=args, kwargs=kwargs)
            normal = language.normal(call, known)
            if isinstance(call.result, Value) and call.result in changed:
                normal = call  # a copy, so that the original keeps its values
            elif isinstance(normal, Call):
                normal = with_numbers(normal, known)
                normal = unchanged(normal) or normal
            if isinstance(normal, Call):
                calls.append(normal)
                if (value := known_result(call, known)) is not None:
                    known[call.result] = value
            else:
                stands_for[call.result] = normal
        return calls

    calls = run(recording.calls)
    output, updates = of(recording.output), of(dict(recording.updates))
    calls = needed(calls, [output, updates])
    return dataclasses.replace(recording, calls=calls, output=output, updates=updates)

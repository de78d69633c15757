"""Records the public calls of a framework that a graph makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from nestarray.exporters.source import backend_copy as backend_copy  # registers its handler
from nestarray.exporters.source.observation import Recorder
from nestarray.exporters.source.records import Call, Recording, Value
from nestarray.graph.builder import Place
from nestarray.graph.execution import compute, given_values
from nestarray.graph.graph import Graph
from nestarray.graph.node import map_nodes


def record(graph: Graph, inputs: Sequence[Any]) -> Recording:
    """The calls of a graph.

    Args:
        graph: a lowered graph.
        inputs: its flat inputs, as arrays of its backend.
    """
    given = given_values(graph, list(inputs), None)
    nodes = list(given)
    recorder = Recorder(graph.backend)
    found: list[Recording] = []

    def run(arrays: Sequence[Any]) -> None:
        values: dict[Any, Any] = {
            node: recorder.given(x, node.source, node.path)
            for node, x in zip(nodes, arrays, strict=True)
        }
        key = recorder.key
        with recorder:
            for node in graph.calls:
                recorder.place = Place(node.module, node.line)
                values[node] = compute(graph, node, values.__getitem__, None)
        output = map_nodes(values.__getitem__, graph.output)
        updates = {path: values[node] for path, node in graph.state_updates.items()}
        updates = {path: x for path, x in updates.items() if x is not None}  # of in-place calls
        output, updates = recorder.noted(output), recorder.noted(updates)
        own = [values[node]._noted for node in graph.inputs]
        calls = _live(recorder.calls, [output, updates])
        used = {x for call in calls for x in _values([call.args, call.kwargs])}
        own += [x._noted for x in (recorder.mode, key) if x is not None and x._noted in used]
        found.append(Recording(graph.backend, own, calls, output, updates, recorder.constants))

    _evaluator(graph.backend)(run, list(given.values()))
    return found[0]


def _live(calls: Sequence[Call], output: Any) -> list[Call]:
    """The calls that `output` needs; code of a backend also computes what it does not use."""
    used = set(_values(output))
    kept = []
    for call in reversed(calls):
        if not used.isdisjoint(_values(call.result)):
            used.update(_values([call.args, call.kwargs]))
            kept.append(call)
    return kept[::-1]


def _values(nest: Any) -> Iterator[Value]:
    if isinstance(nest, Value):
        yield nest
    elif isinstance(nest, slice):
        yield from _values((nest.start, nest.stop, nest.step))
    elif isinstance(nest, (list, tuple, Mapping)):
        for item in nest.values() if isinstance(nest, Mapping) else nest:
            yield from _values(item)


def _evaluator(backend: str) -> Callable[..., Any]:
    """Calls a function of arrays, without computing where the framework can."""
    if backend == "jax":
        import jax

        return jax.eval_shape
    return lambda run, arrays: run(arrays)

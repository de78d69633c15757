"""Records the public calls of a framework that a graph makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.errors import ConversionError
from nestarray.exporters.source.recording import backend_copy, control_flow
from nestarray.exporters.source.recording.observation import Number, Recorder
from nestarray.exporters.source.recording.records import Recording, needed, values_in
from nestarray.graph.builder import Place
from nestarray.graph.execution import compute, given_values
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Input, Node, map_nodes
from nestarray.transforms.recording import recording


def record(graph: Graph, inputs: Sequence[Any], *, has_statements: bool) -> Recording:
    """The calls of a graph.

    Args:
        graph: a lowered graph.
        inputs: its flat inputs, as arrays of its backend.
        has_statements: whether branches and loops of the source are statements of Python.
    """
    arguments = given_values(graph, list(inputs), None)
    nodes = list(arguments)
    recorder = Recorder(graph.backend, has_statements=has_statements)
    recordings: list[Recording] = []

    def run(arrays: Sequence[Any]) -> None:
        values: dict[Any, Any] = {
            node: recorder.given(x, node.source, node.path)
            for node, x in zip(nodes, arrays, strict=True)
            if isinstance(node, Input)
        }
        key = recorder.key
        with recorder, recording(control_flow), backend_copy.creations_observed():
            for node in graph.calls:
                recorder.place = Place(node.module, node.line)
                result = compute(graph, node, values.__getitem__, None)
                values[node] = _noted(recorder, node, values, result)
        output = map_nodes(values.__getitem__, graph.output)
        updates = {path: values[node] for path, node in graph.state_updates.items()}
        updates = {path: x for path, x in updates.items() if x is not None}  # of in-place calls
        output, updates = recorder.noted(output), recorder.noted(updates)
        parameters = [values[node]._noted for node in graph.inputs]
        calls = needed(recorder.calls, [output, updates, *recorder.numbers])
        used = {x for call in calls for x in values_in([list(call.args), call.kwargs])}
        parameters += [x._noted for x in (recorder.mode, key) if x is not None and x._noted in used]
        read = recorder.constants, recorder.numbers, recorder.sizes
        recordings.append(Recording(graph.backend, parameters, calls, output, updates, *read))

    _evaluator(graph)(run, list(arguments.values()))
    return recordings[0]


def _noted(recorder: Recorder, node: Call, values: Mapping[Node, Any], result: Any) -> Any:
    """The result of a call of the graph; a `Number` if it is one of values."""
    if not isinstance(result, int) or isinstance(result, bool):
        return result
    if node.target_name.endswith(".item"):
        return Number(result, recorder.calls[-1].result)
    target = _ARITHMETIC.get(node.target_name)
    if target is None:
        return int(result)
    args = map_nodes(values.__getitem__, node.args)
    if any(isinstance(x, Number) for x in args):
        return recorder.number(target, args, int(result))
    recorder.sizes.append((target, args, int(result)))
    return int(result)


#: Function of sizes → the function that the source calls.
_ARITHMETIC = {
    **{
        f"operator.{name}": f"operator.{name}"
        for name in ("add", "floordiv", "mod", "mul", "neg", "pow", "sub")
    },
    "torch.sym_max": "operator.max",
    "torch.sym_min": "operator.min",
}


def _evaluator(graph: Graph) -> Callable[..., Any]:
    """Calls a function of arrays, without computing where the framework can."""
    if graph.backend == "jax" and graph.sized_by_values is None:
        import jax

        reads = (jax.errors.ConcretizationTypeError, jax.errors.TracerIntegerConversionError)

        def abstract(run: Callable[..., Any], arrays: Sequence[Any]) -> None:
            try:
                jax.eval_shape(run, arrays)
            except reads as error:
                raise ConversionError(
                    f"eject: {graph.name}: values decide a size or a step of the program, which JAX "
                    "cannot compile; eject it for torch, tensorflow or numpy"
                ) from error

        return abstract
    return lambda run, arrays: run(arrays)

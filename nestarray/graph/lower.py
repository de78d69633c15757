"""`lower`: a graph of a framework's functions as a graph of ops of `na`.

The graph is run once, node by node, on the recorder's stand-ins, so the functions of the
frontend write down the ops that they are made of. What no input and no variable has a part
in (positions, masks, fill values) is computed on the way and becomes a constant. The op that
computes the value of a node has that node's name, module and line, which is how `verify`
finds the values to compare, before and after.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import backends, ops, random
from nestarray.config import use_backend
from nestarray.container import Container
from nestarray.dispatch import Op
from nestarray.errors import ConversionError
from nestarray.graph.codegen import last_uses
from nestarray.graph.derived import derived_reference
from nestarray.graph.execution import compute, given_values
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node, live_nodes, map_nodes
from nestarray.graph.record import Recorder, Traced
from nestarray.graph.record_control_flow import ControlFlow
from nestarray.transforms.control_flow import recording


def is_lowered(graph: Graph) -> bool:
    """Whether all calls are of `na`."""
    return all(not node.target_name.startswith("torch.") for node in graph.calls)


def lower(graph: Graph) -> Graph:
    """The graph as calls of ops of `na`; see `Graph.lower`."""
    if is_lowered(graph):
        return graph
    # JAX may hold 64-bit integers in 32 bits, which are not to become part of the program
    backend = "numpy" if graph.backend == "jax" else graph.backend
    here = graph.to_backend(backend)
    recorder = Recorder(graph.name)
    recorder.taken.update(node.name for node in graph.nodes)
    recorder.constants.update(here.constants.flat_items())
    with use_backend(backend), np.errstate(all="ignore"), recording(ControlFlow(recorder)):
        values = _run(here, recorder)
    recorder.is_open = False
    output = map_nodes(lambda node: _stand_in(recorder, values[node]), graph.output)
    updates = {path: values[node]._node for path, node in graph.state_updates.items()}
    nodes = live_nodes(recorder.nodes, output, updates)
    used = {n.path: recorder.constants[n.path] for n in nodes if n.source == "constants"}
    lowered = here.replace(
        nodes=nodes, output=output, state_updates=updates, constants=Container.from_flat_dict(used)
    )
    moved = lowered.to_backend(graph.backend).constants
    return lowered.replace(
        backend=graph.backend,
        v=graph.v,
        s=graph.s,
        constants=moved,
        reference=derived_reference(graph),
    )


def _run(graph: Graph, recorder: Recorder) -> dict[Node, Any]:
    """The values of what the graph returns; others are let go after their last use."""
    key = random.key(0, backend=graph.backend)
    given = given_values(graph, [_example(graph, node) for node in graph.inputs], key)
    recorder.nodes.extend(given)
    values: dict[Node, Any] = {n: Traced(value, n, recorder) for n, value in given.items()}
    key_nodes = [values[node] for node in given if node.source == "key"]
    if graph.needs_key:
        key = key_nodes[0] if key_nodes else recorder.input(key, "key")
    dead = last_uses(graph)
    for node in graph.calls:
        recorder.of, before = node, len(recorder.nodes)
        value = values[node] = compute(graph, node, values.__getitem__, key)
        if isinstance(value, Traced) and value._node in recorder.nodes[before:]:
            value._node.name = node.name
        for unused in dead.get(node, ()):
            del values[unused]
    recorder.of = None
    return values


def _example(graph: Graph, node: Node) -> Any:
    """Zeros as the input: its values cannot become part of what is recorded."""
    aval = node.aval
    shape = [] if aval is None else [size for size in aval.shape if isinstance(size, int)]
    if aval is None or len(shape) < len(aval.shape):
        raise ConversionError(
            f"lower: {graph.name}: the sizes of the input {node.name!r} are not known; trace the "
            "source again without dynamic= to lower it"
        )
    return ops.zeros(shape, dtype=aval.dtype)


def _stand_in(recorder: Recorder, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_stand_in(recorder, item) for item in value])
    return recorder.node_of(value, "lower: output")


def is_op(node: Node, *names: str) -> bool:
    """Whether a call is of an op of one of these names."""
    record: Op | None = getattr(node.target, "op", None)
    return record is not None and record.name in names


def is_array(value: Any) -> bool:
    """Whether `value` is an array of a framework."""
    return backends.backend_of_type(type(value)) is not None

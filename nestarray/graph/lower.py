"""`lower`: a graph of frontend functions as a graph of ops of `na`.

The graph runs once, call by call, on traced arrays without elements, so frontend functions record
the ops in their bodies. Values that depend on no input and no variable (positions, masks, fill
values) are computed and become constants. Groups of ops that one op computes become this op
(`passes/idioms`), also in the bodies of loops and choices. The op that computes a call's value keeps
its name, module and line, by which `verify` matches values.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

from nestarray import random
from nestarray.errors import ConversionError
from nestarray.graph.codegen import frontends_of, last_uses
from nestarray.graph.derived import derived_source
from nestarray.graph.execution import compute, given_values, key_of
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node, is_input, iter_nodes, map_nodes
from nestarray.graph.passes import LOWERING
from nestarray.graph.record.abstract_recorder import creations_recorded
from nestarray.graph.record.control_flow import ControlFlow
from nestarray.graph.record.lowering_recorder import LoweringRecorder
from nestarray.graph.record.recorder import Traced
from nestarray.graph.value_sizes import integer_arguments, size_names
from nestarray.transforms.recording import recording
from nestarray.typing import Array, Nest


def lower(graph: Graph) -> Graph:
    """The graph as calls of ops of `na`, which the passes work on.

    Functions of a frontend are replaced by the ops in their bodies; values that depend on no
    input are computed and become constants. Calls that compute a layer norm, softmax, gelu or
    attention become one call, which `report` lists. `verify` still compares with the
    source. Open sizes (``dynamic=``) stay open: a function whose code depends on one, such as a
    variance that divides by max(n - 1, 0), remains a call of that function, and so does a
    function that reads a number from an array, or of an array whose size values decide, such as
    ``x[x > 0]``.

    Returns:
        a graph of the same inputs, variables and outputs; the graph itself if all its
        calls are of `na` already.

    Raises:
        ConversionError: nestarray does not compute in the dtype of an input.

    Example:
        >>> import torch, nestarray as na
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.GELU())
        >>> print(na.trace_graph(net, torch.ones(4, 2)).lower())
        import nestarray as na
        <BLANKLINE>
        <BLANKLINE>
        def graph(input, *, v, s, constants, key=None):  # float32[4, 2]
            linear = na.linear(input, v['0/weight'], v['0/bias'])  # float32[4, 3] · 0
            gelu = na.gelu(linear)  # float32[4, 3] · 1
            return gelu
        <BLANKLINE>
    """
    if not frontends_of(graph):
        return graph
    # JAX may hold 64-bit integers in 32 bits, which are not to become part of the program
    backend = "numpy" if graph.backend == "jax" else graph.backend
    here = graph.to_backend(backend, copy=None)
    recorder = LoweringRecorder(graph.name, graph.sizes.scope(), graph.backend, backend)
    recorder.builder.taken.update(node.name for node in graph.nodes)
    recorder.builder.values["constants"].update(here.constants.flat_items())
    with contextlib.ExitStack() as stack:
        stack.enter_context(here.running())
        stack.enter_context(recording(ControlFlow(recorder)))
        stack.enter_context(creations_recorded())
        values = _run(here, recorder)
    recorder.is_open = False
    output = map_nodes(lambda node: _stand_in(recorder, values[node]), graph.output)
    updates = {path: values[node]._node for path, node in graph.state_updates.items()}
    assumptions = map_nodes(lambda node: _stand_in(recorder, values[node]), graph.assumptions)
    lowered = here.replace(**recorder.builder.program(output, updates, assumptions))
    lowered = lowered.replace(
        backend=graph.backend,
        v=graph.v,
        s=graph.s,
        constants=lowered.to_backend(graph.backend, copy=None).constants,
        reference=derived_source(graph),
    )
    for each in LOWERING:
        lowered = each(lowered)
    return lowered


def _run(graph: Graph, recorder: LoweringRecorder) -> dict[Node, Nest]:
    """The values of the results; other values are released after their last use."""
    key = random.key(0, backend=graph.backend)
    values = _inputs(graph, recorder, key)
    recorder.nodes.extend(values)
    key_nodes = [values[node] for node in values if is_input(node, "key")]
    if graph.needs_key:
        key = key_nodes[0] if key_nodes else recorder.key(key)
    dead = last_uses(graph)
    names = frozenset(n for each in graph.inputs for n in size_names(each))
    for node in graph.calls:
        recorder.of = node
        value_of = recorder.beside_sizes(node, values.__getitem__)
        run = partial(compute, graph, node, value_of, key)
        draw = partial(key_of, graph, node, key)
        arrays = map(value_of, iter_nodes((node.args, node.kwargs)))
        read = map(value_of, integer_arguments(node))
        if any(map(_is_undecided, arrays)) or any(isinstance(x, Traced) for x in read):
            values[node] = _copied(recorder, node, values.__getitem__, draw, names)
        else:
            value = recorder.lowered(node, run, values.__getitem__, draw)
            is_undecided = isinstance(value, Traced) and not _has_size(node, names)
            values[node] = Traced(None, value._node, recorder) if is_undecided else value
        for unused in dead.get(node, ()):
            del values[unused]
    recorder.of = None
    return values


def _inputs(graph: Graph, recorder: LoweringRecorder, key: Array) -> dict[Node, Nest]:
    """The traced inputs: shapes, so that no value of an example enters the program."""
    for node in graph.inputs:
        if node.aval is None:
            raise ConversionError(
                f"lower: {graph.name}: the input {node.name!r} is of a dtype that nestarray does not "
                "compute in, so its functions cannot be recorded; run the graph as it is"
            )
    values: dict[Node, Nest] = {
        node: value if value is None else Traced(value, node, recorder)
        for node, value in given_values(graph, [None] * len(graph.inputs), key).items()
    }
    return values | {node: recorder.given(node) for node in graph.inputs}


def _copied(
    recorder: LoweringRecorder,
    old: Call,
    value_of: Callable[[Node], Nest],
    draw: Callable[[], Nest],
    names: frozenset[str],
) -> Traced:
    """Copy a call that reads values, or an array of a size that values decide.

    Code must not see them: the call is not computed.
    """
    node = recorder.kept(old, value_of, draw).write(old.name, aval=old.aval)
    node.name = old.name
    return recorder.given(node) if _has_size(node, names) else Traced(None, node, recorder)


def _has_size(node: Node, names: frozenset[str]) -> bool:
    """Whether the inputs determine the shape of an array."""
    return node.aval is not None and size_names(node) <= names


def _is_undecided(value: object) -> bool:
    """Whether a value is an array of a size that values decide, which has no zeros."""
    return isinstance(value, Traced) and value._value is None


def _stand_in(recorder: LoweringRecorder, value: Nest) -> Nest:
    if isinstance(value, (list, tuple)):
        return type(value)([_stand_in(recorder, item) for item in value])
    return recorder.node_of(value, "lower: output")

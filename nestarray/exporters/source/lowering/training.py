"""Batch normalization in a lowered graph of the training mode, as one call.

Lowering leaves its formula, and means that enter the state. Source code calls the library's own
layers instead, which have both modes. So it does for dropout and random numbers (`random_draws`).
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nestarray import ops
from nestarray.backends import backend_of
from nestarray.errors import ConversionError
from nestarray.exporters.source.lowering.random_draws import (
    drawn,
    dropout,
    scaled,
    shaped,
)
from nestarray.exporters.source.recording.forms import modes
from nestarray.graph.execution import steps, where_of
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Call,
    Node,
    all_calls,
    is_input,
    iter_nodes,
    live_nodes,
    substituted,
)
from nestarray.graph.passes.rewriting import arguments_of, is_op, op_name, rewrite


def with_training_layers(graph: Graph, inputs: Sequence[Any], target: str) -> Graph:
    """A lowered graph in which dropout, batch normalization and random numbers are calls of `forms`.

    Counters of steps, which nothing reads, are left out. Run call by call, the graph drops nothing,
    and draws the numbers of `fixed_numbers`.

    Args:
        graph: a lowered graph.
        inputs: its flat inputs; batch normalizations are recognized by the means of a run.
        target: the framework of the source.

    Raises:
        ConversionError: the graph uses a random key in another way.
    """
    graph = rewrite(rewrite(graph, dropout), drawn(target))
    graph = _rewritten(graph, shaped(graph), graph.state_updates)
    layers, updates = _batch_norms(graph, inputs)
    graph = _rewritten(graph, layers, updates)
    keys = {node for node in graph.nodes if is_input(node, "key")}
    for call in all_calls(graph.calls):
        # keys that are arguments; NumPy has a generator
        takes_key = target == "numpy" and op_name(call) in ("threefry2x32", "random_split")
        if takes_key or not keys.isdisjoint(iter_nodes((call.args, call.kwargs))):
            raise ConversionError(
                f"eject: {graph.name}: {where_of(call)} uses a random key, and source code can draw "
                "uniform and normal numbers, integers and dropout only; use a native module "
                "(graph.to_torch_module()), or make the random numbers an argument of the model"
            )
    return graph


def _rewritten(graph: Graph, layers: Mapping[Node, Node], updates: Mapping[str, Node]) -> Graph:
    """The graph with other nodes for some, without the calls that nothing uses then."""
    stands_for: dict[Node, Any] = {}
    nodes: list[Node] = []
    for node in dict.fromkeys((*graph.nodes, *updates.values())):
        new = layers.get(node, node)
        if isinstance(new, Call):
            args, kwargs = substituted((new.args, new.kwargs), stands_for)
            new = stands_for[node] = dataclasses.replace(new, args=args, kwargs=kwargs)
        nodes.append(new)
    output, updates = substituted((graph.output, updates), stands_for)
    nodes = live_nodes(nodes, (output, updates))
    used = set(iter_nodes([(n.args, n.kwargs) for n in nodes if isinstance(n, Call)]))
    updates = {p: n for p, n in updates.items() if not _counts(n, p, used, nodes)}
    return graph.replace(
        nodes=live_nodes(nodes, (output, updates)), output=output, state_updates=updates
    )


def _counts(node: Any, path: str, used: set[Node], nodes: Sequence[Node]) -> bool:
    """Whether an update only counts the calls, and nothing else reads the counter."""
    if node in used or (is_input(node, "s") and node.path == path):
        return False
    while not (is_input(node, "s") and node.path == path):
        if not is_op(node, "add") or node.aval is None or not node.aval.dtype.is_integer:
            return False
        node, step = node.args
        is_constant = isinstance(step, int) or is_input(step, "constants")
        readers = [
            n for n in nodes if isinstance(n, Call) and node in iter_nodes((n.args, n.kwargs))
        ]
        if not is_constant or not isinstance(node, Node) or len(readers) != 1:
            return False
    return True


# -- batch normalization ----------------------------------------------------------------------


def _batch_norms(graph: Graph, inputs: Sequence[Any]) -> tuple[dict[Node, Node], dict[str, Node]]:
    """(node → its replacement, updates of the state) for the batch normalizations of a graph."""
    layers: dict[Node, Node] = {}
    updates = dict(graph.state_updates)
    norms = [node for node in graph.calls if op_name(node) == "batch_norm_training"]
    if not norms or not updates:
        return layers, updates
    generator = np.random.default_rng(0)
    inputs = [_varied(x, generator) for x in inputs]
    values = [*zip(graph.inputs, inputs, strict=True), *steps(graph, inputs, None)]
    arrays = {node: ops.to_backend(x, "numpy") for node, x in values if node.aval is not None}
    state = {node.path: node for node in graph.nodes if is_input(node, "s")}
    for norm in norms:
        statistics = _statistics(graph, norm, arrays, updates)
        if statistics is None:
            continue
        mean, variance, momentum, is_unbiased = statistics
        settings = arguments_of(norm)
        axis = settings["axis"] % len(settings["x"].aval.shape)
        args = settings["x"], state[mean], state[variance], settings["weight"], settings["bias"]
        new = dataclasses.replace(
            norm, target=modes.batch_norm, target_name="batch_norm", args=args,
            kwargs={"momentum": momentum, "eps": settings["eps"], "axis": axis, "is_unbiased": is_unbiased},
        )  # fmt: skip
        layers[norm] = new
        for path, i in ((mean, 1), (variance, 2)):
            old = updates[path]
            updates[path] = dataclasses.replace(
                old,
                target=operator.getitem,
                target_name="operator.getitem",
                args=(norm, i),
                kwargs={},
            )
    return layers, updates


def _varied(x: Any, generator: np.random.Generator) -> Any:
    """An input with other numbers, because the variance of an example may be zero."""
    array = ops.to_backend(x, "numpy")
    if array.dtype.kind != "f":
        return x
    varied = (array * generator.uniform(0.5, 1.5, array.shape)).astype(array.dtype)
    return ops.to_backend(varied, backend_of(x))


def _statistics(
    graph: Graph, norm: Call, arrays: Mapping[Node, Any], updates: Mapping[str, Node]
) -> tuple[str, str, float, bool] | None:
    """(path of the mean, of the variance, momentum, whether the variance is the unbiased one)."""
    settings = arguments_of(norm)
    x = arrays[settings["x"]]
    axes = tuple(i for i in range(x.ndim) if i != settings["axis"] % x.ndim)
    count = x.size // x.shape[settings["axis"]]
    mean, variance = x.mean(axes, dtype=np.float64), x.var(axes, dtype=np.float64)
    unbiased = variance * count / max(count - 1, 1)
    averages: dict[str, tuple[str, float]] = {}
    for path, node in updates.items():
        old = np.asarray(ops.to_backend(graph.s[path], "numpy"), np.float64)
        share = _share(node, path, graph)
        if not 0 < share < 1 or node not in arrays or old.shape != mean.shape:
            continue
        new = (np.asarray(arrays[node], np.float64) - share * old) / (1 - share)
        for name, value in (("unbiased", unbiased), ("variance", variance), ("mean", mean)):
            if np.allclose(new, value, rtol=1e-3, atol=1e-4 * (1 + np.abs(value).max())):
                averages[name] = path, round(1 - share, 6)
    varied = "variance" if "variance" in averages and count < 2 else "unbiased"
    varied = varied if varied in averages else "variance"
    if (
        "mean" not in averages
        or varied not in averages
        or averages["mean"][1] != averages[varied][1]
    ):
        return None
    return averages["mean"][0], averages[varied][0], averages["mean"][1], varied == "unbiased"


def _share(x: Any, path: str, graph: Graph) -> float:
    """The factor of a variable of the state in a sum."""
    if not isinstance(x, Node):
        return 0.0
    if is_input(x, "s") and x.path == path:
        return 1.0
    if is_op(x, "astype", "stop_gradient"):
        return _share(x.args[0], path, graph)
    if is_op(x, "add"):
        return _share(x.args[0], path, graph) + _share(x.args[1], path, graph)
    if is_op(x, "subtract"):
        return _share(x.args[0], path, graph) - _share(x.args[1], path, graph)
    factor, inner = scaled(x, graph)
    return factor * _share(inner, path, graph) if inner is not x else 0.0

"""Results in the memory of donated arguments; see donate_argnums of `jit`.

A training step that returns new parameters allocates memory, which the system clears page by page:
half of the time of a small network's step. With donation the step updates in place, as PyTorch's
optimizers do. The graph ends with copies to the arguments, which Inductor fuses with the kernels
before them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

_COPY = torch.ops.aten.copy_.default


def writing_over(
    graph: GraphModule,
    arrays: list[Any],
    donated: Sequence[int],
    plain: Callable[..., Any],
    compiled: Callable[[GraphModule], Callable[..., Any]],
) -> Callable[..., tuple[Any, ...]]:
    """The function of `graph` that writes as many results as possible to donated arguments.

    Args:
        graph: of flat tensors, without effects.
        arrays: the arguments of the trace.
        donated: the numbers of the arguments that may be overwritten.
        plain: the compiled function of `graph`, for tensors that share memory.
        compiled: a compiler of graphs.
    """
    graph = copy.deepcopy(graph)
    *inputs, output = [n for n in graph.graph.nodes if n.op in ("placeholder", "output")]
    results = list(output.args[0])
    places = _places(results, inputs, donated)
    if not places:
        return plain
    with graph.graph.inserting_before(output):
        for i, place in places.items():
            node = graph.graph.call_function(_COPY, (inputs[place], results[i]))
            node.meta["val"] = inputs[place].meta["val"]
    output.args = (tuple([y for i, y in enumerate(results) if i not in places]),)
    graph.recompile()
    run = compiled(graph)
    order = [places.get(i) for i in range(len(results))]

    def call(*given: Any) -> tuple[Any, ...]:
        if len({x.untyped_storage().data_ptr() for x in given}) < len(given):
            return plain(*given)
        rest = iter(run(*given))
        return tuple([next(rest) if place is None else given[place] for place in order])

    return call


def _places(
    results: Sequence[Any], inputs: Sequence[Node], donated: Sequence[int]
) -> dict[int, int]:
    """Result → an unused donated argument of its shape, strides, dtype and device.

    Arguments that are results, or that have views among the results, are not overwritten.
    """
    nodes = [y for y in results if isinstance(y, Node)]
    kept = {*map(_storage, inputs)} & {*map(_storage, nodes)}
    free: dict[Any, list[int]] = {}
    for number in reversed(donated):
        if _storage(inputs[number]) not in kept:
            free.setdefault(_kind(inputs[number]), []).append(number)
    found = {}
    for i, y in enumerate(results):
        if isinstance(y, Node) and _storage(y) not in kept and free.get(_kind(y)):
            found[i] = free[_kind(y)].pop()
    return found


def _kind(node: Node) -> Any:
    x = node.meta["val"]
    return x.shape, x.stride(), x.dtype, x.device


def _storage(node: Node) -> int:
    return node.meta["val"].untyped_storage()._cdata

"""Chains of views as the fewest calls of the same effect.

PyTorch's attention makes eight calls to split and merge heads, of which four remain. Products with a
matrix compute each row alone, so that a view of rows may follow them and join another one.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any

from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Call, Node, all_calls
from nestarray.graph.passes.rewriting import Writer, count_uses, is_op, place_of, rewrite
from nestarray.graph.passes.view_calls import chains, emit, reshaped
from nestarray.graph.passes.views import View
from nestarray.sizes import IntOrSize


def with_rearrangements(graph: Graph) -> Graph:
    """The graph with short chains of views; those around products of rows become one chain."""
    uses = count_uses(graph)
    #: (place of a value, module) → the number of views of the module that read it.
    readers: Counter[Any] = Counter()
    moved: set[Any] = set()
    for node in reversed([*all_calls(graph.calls)]):
        place = place_of(node)
        if is_of_rows(node) and readers[place, node.module] == uses[place]:
            moved.add(place)
        if place in moved or View.of(node) is not None:
            readers[place_of(node.args[0]), node.module] += 1
    shared: dict[Any, Node] = {}

    def rule(writer: Writer, node: Call) -> Node | None:
        if place_of(node) in moved:
            return _before_views(writer, node, shared)
        if is_op(node, "scaled_dot_product_attention"):
            return _with_heads(writer, node, shared)
        x, view, count = next(chains(node, node.module))
        return emit(writer, x, view, node, node.name, most=count - 1, shared=shared)

    return rewrite(graph, rule, in_bodies=True)


def is_of_rows(node: Call) -> bool:
    """Whether a call computes each row of its first operand alone: a product, or a bias."""
    if not is_op(node, "matmul", "linear", "add"):
        return False
    avals = [x.aval if isinstance(x, Node) else None for x in (node, *node.args[:2])]
    if None in avals:
        return False
    y, x, other = [len(aval.shape) for aval in avals if aval is not None]
    return y == x > 0 and other == (1 if is_op(node, "add") else 2)


def _before_views(writer: Writer, node: Call, shared: dict[Any, Node]) -> Node | None:
    """A call of the rows of a view, as a view of the rows that it computes."""
    x, view, count = next(chains(node.args[0], node.module))
    *batch, row = view.axes
    assert node.aval is not None
    along = [[f for axis in batch for f in axis if f.axis == i] for i in range(len(view.base))]
    axes = [tuple(fs) for fs, n in zip(along, view.base, strict=True) if fs or n == 1]
    before = dataclasses.replace(view, axes=(*axes, row))
    is_simple = view.is_bijective and not any(axis[1:] for axis in axes)
    if not count or not row or before == view or not is_simple:
        return None
    rows = emit(writer, x, before, node.args[0], most=count, shared=shared)
    if rows is None:
        return None
    aval = Aval((*before.shape[:-1], node.aval.shape[-1]), node.aval.dtype)
    name, args = writer.name(node.name), (rows, *node.args[1:])
    new = dataclasses.replace(node, args=args, aval=aval, name=name)
    writer.calls.append(new)
    whole = View.whole(aval.shape)
    places = {factor: i for i, axis in enumerate(axes) for factor in axis}
    moved = [tuple([f for x in axis for f in whole.axes[places[x]]]) for axis in batch]
    after = dataclasses.replace(whole, axes=(*moved, whole.axes[-1]))
    return emit(writer, new, after, node, node.name, most=count, shared=shared)


def _with_heads(writer: Writer, node: Call, shared: dict[Any, Node]) -> Node | None:
    """Attention of heads that are merged with the examples, as attention of an axis of heads."""
    query, *others = node.args
    if len(others) > 2 or node.kwargs.get("mask") is not None or node.aval is None:
        return None
    arrays: list[Node | None] = []
    lead: list[IntOrSize] = []
    for array in (query, *others):
        x, view, count = next(chains(array, node.module))
        merged, *axes = view.axes
        sizes = [factor.size for factor in merged]
        lead = lead or sizes
        if len(axes) != 2 or len(merged) != 2 or sizes != lead:
            return None
        view = dataclasses.replace(view, axes=(*((factor,) for factor in merged), *axes))
        arrays.append(emit(writer, x, view, array, most=count, shared=shared))
    if None in arrays:
        return None
    aval = Aval((*lead, *node.aval.shape[1:]), node.aval.dtype)
    new = dataclasses.replace(node, args=tuple(arrays), aval=aval, name=writer.name(node.name))
    writer.calls.append(new)
    return reshaped(writer, new, node.aval.shape, node, node.name, query)

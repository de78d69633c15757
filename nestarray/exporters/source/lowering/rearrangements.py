"""Chains of reshapes, transposes and accesses as the shortest calls of the same effect.

A chain rearranges the elements of one array, its base. An axis of the base is a product of factors,
and an axis of the result too; some factors have a fixed index. At most four calls do this: split the
axes, access, transpose, merge. PyTorch's attention makes eight. Products with a matrix compute each row
alone, so that a rearrangement of rows may follow them and join another one.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node, all_calls
from nestarray.graph.passes.rewriting import Writer, count_uses, has, is_op, place_of, rewrite
from nestarray.graph.passes.transposes import order_of, reshaped
from nestarray.graph.sizes import generic_size
from nestarray.sizes import IntOrSize, Size
from nestarray.traits import Trait


@dataclasses.dataclass(eq=False)
class _Factor:
    """A factor of an axis."""

    size: IntOrSize


def with_rearrangements(graph: Graph) -> Graph:
    """The graph with short chains of layout calls; those around products of rows become one chain."""
    uses = count_uses(graph)
    #: (place of a value, module) → the number of layout calls of the module that read it.
    readers: Counter[Any] = Counter()
    moved: set[Any] = set()
    for node in reversed([*all_calls(graph.calls)]):
        place = place_of(node)
        if is_of_rows(node) and readers[place, node.module] == uses[place]:
            moved.add(place)
        if (place in moved or _is_layout(node)) and isinstance(node.args[0], Node):
            readers[place_of(node.args[0]), node.module] += 1

    split: dict[Any, Node] = {}

    def rule(writer: Writer, node: Node) -> Node | None:
        if place_of(node) in moved:
            return _before_layout(writer, node, split)
        if is_op(node, "scaled_dot_product_attention"):
            return _with_heads(writer, node, split)
        found, count = _chain(node, node.module) if _is_layout(node) else (None, 0)
        return found.written(writer, node, count, split) if found and count > 1 else None

    return rewrite(graph, rule, in_bodies=True)


def is_of_rows(node: Node) -> bool:
    """Whether a call computes each row of its first operand alone: a product, or a bias."""
    if not is_op(node, "matmul", "linear", "add"):
        return False
    avals = [x.aval if isinstance(x, Node) else None for x in (node, *node.args[:2])]
    if None in avals:
        return False
    y, x, other = [len(aval.shape) for aval in avals if aval is not None]
    return y == x > 0 and other == (1 if is_op(node, "add") else 2)


def _before_layout(writer: Writer, node: Node, split: dict[Any, Node]) -> Node | None:
    """A call of the rows of a rearrangement, as a rearrangement of the rows that it computes."""
    found, count = _chain(node.args[0], node.module)
    *batch, row = found.result
    rest = [[x for x in axis if x not in row] for axis in found.axes]
    axes = [left for axis, left in zip(found.axes, rest, strict=True) if left or not axis]
    is_whole = all(len(axis) < 2 for axis in axes) and found.index == {}
    if not count or not is_whole or not row or [*axes, row] == found.result:
        return None
    assert node.aval is not None
    sizes = tuple(axis[0].size if axis else 1 for axis in axes)
    before = _Rearrangement(found.base, found.axes, [*axes, row], {})
    like = node.args[0]
    aval = Aval((*sizes, like.aval.shape[-1]), like.aval.dtype)
    x = before.written(writer, dataclasses.replace(like, aval=aval, name=""), count + 1, split)
    if x is None:
        return None
    aval = Aval((*sizes, node.aval.shape[-1]), node.aval.dtype)
    args = (x, *node.args[1:])
    made = dataclasses.replace(node, args=args, aval=aval, name=writer.name(node.name))
    after = _Rearrangement(made, [*axes, (last := [_Factor(aval.shape[-1])])], [*batch, last], {})
    writer.calls.append(made)
    return after.written(writer, node, count + 1, split)


def _with_heads(writer: Writer, node: Node, split: dict[Any, Node]) -> Node | None:
    """Attention of heads that are merged with the examples, as attention of an axis of heads."""
    query, *others = node.args
    if len(others) > 2 or node.kwargs.get("mask") is not None:
        return None
    arrays: list[Node | None] = []
    lead: list[IntOrSize] = []
    for x in (query, *others):
        found, count = _chain(x, node.module)
        merged, *axes = found.result
        sizes = [factor.size for factor in merged]
        lead = lead or sizes
        if len(axes) != 2 or len(merged) != 2 or sizes != lead:
            return None
        found = found._replace(result=[*([factor] for factor in merged), *axes])
        like = dataclasses.replace(x, aval=Aval((*sizes, *x.aval.shape[1:]), x.aval.dtype), name="")
        arrays.append(found.written(writer, like, count + 1, split))
    if None in arrays or node.aval is None:
        return None
    aval = Aval((*lead, *node.aval.shape[1:]), node.aval.dtype)
    name = writer.name(node.name)
    made = dataclasses.replace(node, args=tuple(arrays), aval=aval, name=name)
    writer.calls.append(made)
    found = _unmoved(made)
    first, second, *axes = found.axes
    found = found._replace(result=[first + second, *axes])
    return found.written(writer, node, 2, split, query)


class _Rearrangement(NamedTuple):
    """An array with its elements in other places.

    Attributes:
        base: an array.
        axes: the factors of its axes; one of one element has none.
        result: the factors of the axes of the rearranged array.
        index: factor → its only index.
    """

    base: Node
    axes: list[list[_Factor]]
    result: list[list[_Factor]]
    index: dict[_Factor, int]

    def after(self, call: Node) -> _Rearrangement | None:
        """The rearrangement and a layout call; None if they have no common factors."""
        order = order_of(call)
        if order is not None:
            return self._replace(result=[self.result[i] for i in order])
        assert call.aval is not None
        if has(call, Trait.RESHAPE):
            return self._reshaped(call.aval.shape)
        items = call.args[1] if isinstance(call.args[1], tuple) else (call.args[1],)
        is_plain = len(items) <= len(self.result)
        index, result = dict(self.index), self.result[len(items) :]
        for axis, item in reversed([*zip(self.result, items, strict=False)]):
            if item == slice(None):
                result.insert(0, axis)
            elif type(item) is int and len(axis) == 1 and isinstance(axis[0].size, int):
                index[axis[0]] = item % axis[0].size
            else:
                is_plain = False
        return self._replace(result=result, index=index) if is_plain else None

    def _reshaped(self, shape: Sequence[IntOrSize]) -> _Rearrangement | None:
        """The factors in axes of other sizes; factors may be split."""
        left = [x for axis in self.result for x in axis]
        names = _names([*(x.size for x in left), *shape])
        parts: dict[_Factor, list[_Factor]] = {}
        result: list[list[_Factor]] = []
        for size in shape:
            result.append([])
            rest = generic_size(size)
            while rest != 1:
                factor = left.pop(0) if left else _Factor(0)
                n = generic_size(factor.size)
                if not n or not rest or (rest % n and n % rest):
                    return None
                if rest % n:
                    first, second = (_Factor(names.get(k, k)) for k in (rest, n // rest))
                    parts[factor] = [first, second]
                    left.insert(0, second)
                    factor, n = first, rest
                result[-1].append(factor)
                rest //= n

        def split(factor: _Factor) -> list[_Factor]:
            return [y for x in parts[factor] for y in split(x)] if factor in parts else [factor]

        axes = [[y for x in axis for y in split(x)] for axis in self.axes]
        return None if left else self._replace(axes=axes, result=result)

    def written(
        self,
        writer: Writer,
        like: Node,
        limit: int,
        split: dict[Any, Node],
        batch: Node | None = None,
    ) -> Node | None:
        """Write the rearrangement in less calls than a limit; None if there are as many.

        Args:
            writer: of the calls.
            like: the node with the shape, the name and the place in the source of the result.
            limit: a number of calls.
            split: (array, shape) → the array with its axes split, which other chains begin with.
            batch: an array that has the open sizes; by default the one that is reshaped.
        """
        assert like.aval is not None
        plans = [self._plan(like.aval.shape, is_merged) for is_merged in (False, True)]
        steps = min((plan for plan in plans if plan is not None), key=len, default=None)
        if steps is None or len(steps) >= limit:
            return None
        x: Node | None = self.base
        for i, (op, argument, shape) in enumerate(steps):
            name = like.name if i == len(steps) - 1 else ""
            key = (*writer.scopes, place_of(self.base), shape) if i == 0 and not name else None
            if key in split:
                x = split[key]
            elif x is not None and op == "reshape":
                x = reshaped(writer, x, shape, like, name, batch)
                split |= {key: x} if key and x else {}
            elif x is not None:
                aval = Aval(shape, like.aval.dtype)
                x = writer.call(op, x, argument, like=like, aval=aval, name=name)
        return x

    def _plan(
        self, shape: tuple[IntOrSize, ...], is_merged: bool
    ) -> list[tuple[str, Any, tuple[IntOrSize, ...]]] | None:
        """(op, argument, shape of the result) of the calls; None if an open size has no name.

        Args:
            shape: of the result.
            is_merged: whether axes become one before the transpose, not after it.
        """
        pairs = {pair for axis in self.result for pair in itertools.pairwise(axis)}
        blocks: list[list[_Factor]] = []
        for axis in self.axes:
            for i, factor in enumerate(axis):
                is_next = bool(blocks) and (blocks[-1][-1], factor) in pairs
                if is_next and (i or is_merged):
                    blocks[-1].append(factor)
                else:
                    blocks.append([factor])
        assert self.base.aval is not None
        before = self.base.aval.shape
        names = _names([*before, *shape])
        sizes = {block[0]: _size(block, names) for block in blocks}
        if None in sizes.values():
            return None
        kept = [factor for factor in sizes if factor not in self.index]
        last = [x for axis in self.result for x in axis if x in sizes]
        order = tuple([kept.index(factor) for factor in last])
        if last == [*sizes]:
            return [] if before == shape else [("reshape", None, shape)]
        steps: list[tuple[str, Any, Any]] = []
        if (split := tuple(sizes.values())) != before:
            steps.append(("reshape", None, split))
        if self.index:
            items = [self.index.get(factor, slice(None)) for factor in sizes]
            while items[-1] == slice(None):
                items.pop()
            steps.append(("getitem", tuple(items), tuple([sizes[x] for x in kept])))
        if last != kept:
            steps.append(("permute_dims", order, tuple([sizes[x] for x in last])))
        if tuple([sizes[x] for x in last]) != shape:
            steps.append(("reshape", None, shape))
        return steps


def _chain(node: Node, module: str) -> tuple[_Rearrangement, int]:
    """The layout calls of a module that end with a node, and their number."""
    x, calls = node, []
    while _is_layout(x) and x.module == module and isinstance(x.args[0], Node) and x.args[0].aval:
        calls.append(x)
        x = x.args[0]
    found, count = _unmoved(x), 0
    for call in reversed(calls):
        after = found.after(call)
        found, count = (after, count + 1) if after else (_unmoved(call), 0)
    return found, count


def _unmoved(x: Node) -> _Rearrangement:
    """An array with its elements in their places."""
    assert x.aval is not None
    axes = [[] if n == 1 else [_Factor(n)] for n in x.aval.shape]
    return _Rearrangement(x, axes, axes, {})


def _is_layout(node: Node) -> bool:
    return node.aval is not None and (
        order_of(node) is not None or has(node, Trait.RESHAPE) or is_op(node, "getitem")
    )


def _names(sizes: Iterable[IntOrSize]) -> dict[int, IntOrSize]:
    """Generic number → size."""
    return {generic_size(n): n for n in sizes}


def _size(factors: Sequence[_Factor], names: dict[int, IntOrSize]) -> IntOrSize | None:
    """The product of factors; None for a product of open sizes that has no name."""
    if len(factors) == 1:
        return factors[0].size
    number = math.prod(generic_size(x.size) for x in factors)
    is_open = any(isinstance(x.size, Size) for x in factors)
    return names.get(number) if is_open else number

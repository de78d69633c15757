"""The fewest calls of a `View`: split axes, access, flip, transpose, merge axes, broadcast."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from nestarray.graph.node import Argument, Aval, Call, Node, Operand
from nestarray.graph.passes.rewriting import Writer, place_of
from nestarray.graph.passes.views import WHOLE, Factors, Shape, View, size_of
from nestarray.sizes import IntOrSize, Size


class Step(NamedTuple):
    """A call: the op, its argument after the array, and the shape of the result."""

    op: str
    argument: Argument
    shape: Shape


class _Part(NamedTuple):
    """An axis before an access: its size, the item of the access, the factors that it has."""

    size: IntOrSize
    item: Operand
    factors: Factors

    @property
    def is_reversed(self) -> bool:
        return any(x.is_reversed for x in self.factors)


def steps(view: View) -> list[Step] | None:
    """The fewest calls that compute a view; None if one of them has an open position."""
    if view == View.whole(view.base):
        return []
    plans = [_plan(view, *choice) for choice in itertools.product((True, False), repeat=2)]
    return min((plan for plan in plans if plan is not None), key=len, default=None)


def _plan(view: View, is_split: bool, is_late: bool) -> list[Step] | None:
    """The calls of one kind.

    Args:
        view: of an array.
        is_split: split axes before the access, not after it.
        is_late: merge axes after the transpose, not before it where that can be.
    """
    axes = [_parts(view, axis, is_split) for axis in range(len(view.base))]
    if None in axes:
        return None
    parts = [part for axis in axes for part in axis or ()]
    parts = _with_units(view, parts if is_late or not is_split else _merged(view, parts))
    items = [part.item for part in parts]
    bounds = [n for x in items for n in ((x.start, x.stop) if isinstance(x, slice) else (x,))]
    if any(isinstance(n, Size) for n in bounds):
        return None
    whole = tuple([part.size for part in parts])
    while items and items[-1] == WHOLE:
        items.pop()
    parts = [part for part in parts if isinstance(part.item, slice)]
    runs = [part.factors for part in parts]
    selected = tuple(map(size_of, runs))
    calls = [
        Step("reshape", whole, whole),
        Step("getitem", items[0] if len(items) == 1 else tuple(items), selected),
        Step("flip", tuple([i for i, part in enumerate(parts) if part.is_reversed]), selected),
    ]

    target = [*view.axes]
    if any(len({x.axis < 0 for x in axis}) > 1 for axis in target):  # repeated in part
        target = [(x,) for axis in target for x in axis]
    goal = [axis if all(x.axis >= 0 for x in axis) else () for axis in target]
    lead = len([*itertools.takewhile(lambda axis: axis and axis[0].axis < 0, target)])
    goals = [goal[i:] for i in range(lead + 1)]  # new axes in front need no call
    goal = next((each for each in goals if each.count(()) == runs.count(())), goals[-1])

    factors = [_Part(x.size, WHOLE, (x,)) for run in runs for x in run]
    blocks = [part.factors for part in (factors if is_late else _merged(view, factors))]
    ordered = [x for axis in goal for x in axis]
    moved = sorted(blocks, key=lambda block: ordered.index(block[0]))
    if moved != blocks:
        is_plain = [axis for axis in goal if axis] == moved
        if [run for run in runs if run] != blocks:
            runs = [*[()] * (is_plain * goal.count(())), *blocks]
        is_plain &= runs.count(()) == goal.count(())
        places = {run: iter([i for i, x in enumerate(runs) if x == run]) for run in runs}
        new = goal if is_plain else [*[()] * runs.count(()), *moved]
        order = tuple([next(places[run]) for run in new])
        calls.append(Step("reshape", shape := tuple([size_of(run) for run in runs]), shape))
        calls.append(Step("permute_dims", order, tuple([shape[i] for i in order])))
    for op, axes in (("reshape", goal), ("broadcast_to", target), ("reshape", view.axes)):
        calls.append(Step(op, shape := tuple([size_of(axis) for axis in axes]), shape))
    pairs = zip([Step("", (), view.base), *calls], calls, strict=False)
    is_shaped = ("reshape", "broadcast_to")
    return [y for x, y in pairs if (x.shape != y.shape if y.op in is_shaped else y.argument != ())]


def _parts(view: View, axis: int, is_split: bool) -> list[_Part] | None:
    """An axis of the array as axes before the access; None if that cannot be."""
    size, low, factors = view.base[axis], view.start[axis], view.along(axis)
    for x in factors:
        low += x.step * (x.size - 1) if x.is_reversed else 0
    if factors and not is_split:
        if any(a.step != b.size * b.step for a, b in itertools.pairwise(factors)):
            return None
        return [_Part(size, _slice(low, size_of(factors), factors[-1].stride, size), factors)]
    parts: list[_Part] = []
    for x in factors:
        if size % x.stride != 0:
            return None
        count, at = size // x.stride, low // x.stride
        size, low = x.stride, low - at * x.stride
        if count != x.size and count % x.size == 0 and at % x.size == 0:
            parts.append(_Part(count // x.size, at // x.size, ()))
            count, at = x.size, 0
        parts.append(_Part(count, _slice(at, x.size, 1, count), (x,)))
    return [*parts, _Part(size, low, ())] if size != 1 or not factors else parts


def _merged(view: View, parts: list[_Part]) -> list[_Part]:
    """Axes, with those merged that are neighbours in an axis of the result."""
    following = {a: b for axis in view.axes for a, b in itertools.pairwise(axis)}
    new: list[_Part] = []
    for y in parts:
        x = new[-1] if new else _Part(1, None, ())
        is_next = x.factors and y.factors and following.get(x.factors[-1]) == y.factors[0]
        if is_next and x.item == y.item == WHOLE and x.is_reversed == y.is_reversed:
            new[-1] = _Part(x.size * y.size, WHOLE, x.factors + y.factors)
        else:
            new.append(y)
    return new


def _with_units(view: View, parts: list[_Part]) -> list[_Part]:
    """The axes before an access, with slices in place of positions that remain as an axis.

    Without an access, axes of one element do; else those that the result has at the same place.
    """
    is_whole = all(part.item == WHOLE or part.size == 1 for part in parts)
    new, place = [], 0
    for part in parts:
        if part.factors:
            place = 1 + [part.factors[-1] in axis for axis in view.axes].index(True)
        elif is_whole:
            part = part._replace(item=WHOLE)
        elif view.axes[place : place + 1] == ((),) and not isinstance(part.item, Node):
            part, place = part._replace(item=_slice(part.item, 1, 1, part.size)), place + 1
        new.append(part)
    return new


def _slice(low: IntOrSize, count: IntOrSize, step: IntOrSize, size: IntOrSize) -> slice:
    """The slice of `count` elements of an axis; its bounds are numbers where that can be."""
    bounds = [low, low + (count - 1) * step + 1]
    for i, n in enumerate(bounds):  # from the end of an open axis
        bounds[i] = n - size if isinstance(n, Size) and isinstance(n - size, int) else n
    is_last = (size - low + step - 1) // step == count
    return slice(bounds[0] or None, None if is_last else bounds[1], None if step == 1 else step)


def chains(node: Node, module: str | None = None) -> Iterator[tuple[Node, View, int]]:
    """The chains of views, of a module, that end with a node, the longest first.

    Yields:
        the array, the view of it that the chain is, and the number of calls; at last the node itself.
    """
    calls: list[Call] = []
    x = node
    while isinstance(x, Call) and View.of(x) is not None and module in (None, x.module):
        calls.insert(0, x)
        x = x.args[0]
    for i, call in enumerate(calls):
        view = View.of(call)
        for after in calls[i + 1 :]:
            view = view and view.then(after)
        if view is not None:
            yield call.args[0], view, len(calls) - i
    yield node, View.whole(node.aval.shape if node.aval else ()), 0


def emit(
    writer: Writer,
    x: Node,
    view: View,
    like: Call,
    name: str = "",
    *,
    most: int | None = None,
    shared: dict[Hashable, Node] | None = None,
) -> Node | None:
    """Write the fewest calls of a view of an array, at the place of `like` in the source.

    The result has the name `name`. It is None if there are more calls than `most`, or if an open size
    of a shape is of no axis, or to repeat. `shared`: (array, shape) → the array in a shape in which views begin.
    """
    calls = steps(view)
    if calls is None or (most is not None and len(calls) > most):
        return None
    value: Node | None = x
    shared = {} if shared is None else shared
    for i, (op, argument, shape) in enumerate(calls):
        label = name if i == len(calls) - 1 else ""
        is_first = i == 0 and op == "reshape" and not label
        key = (*writer.scopes, place_of(x), shape) if is_first else None
        if value is None or value.aval is None:
            return None
        if key in shared:
            value = shared[key]
        elif op == "reshape":
            value = reshaped(writer, value, shape, like, label)
            shared |= {key: value} if key and value else {}
        elif op == "broadcast_to" and any(isinstance(n, Size) for n in shape):
            return None
        else:
            args, settings = ((), {"axis": argument}) if op == "flip" else ((argument,), {})
            aval = Aval(shape, value.aval.dtype)
            value = writer.call(op, value, *args, like=like, aval=aval, name=label, **settings)
    return value


def permuted(writer: Writer, x: Node, order: Sequence[int], like: Call, name: str = "") -> Node:
    """The array with its axes in another order; itself in its own order."""
    assert x.aval is not None
    if [*order] == sorted(order):
        return x
    aval = Aval(tuple(x.aval.shape[i] for i in order), x.aval.dtype)
    return writer.call("permute_dims", x, tuple(order), like=like, aval=aval, name=name)


def reshaped(
    writer: Writer,
    x: Node,
    shape: Shape,
    like: Call,
    name: str = "",
    batch: Node | None = None,
) -> Node | None:
    """The array with another shape, whose open sizes are of `batch`, by default of the array.

    None if an open size is of no axis, and the shape has several.
    """
    batch = batch or x
    assert x.aval is not None
    assert batch.aval is not None
    before, shape = x.aval.shape, tuple(shape)
    if before == shape and not name:
        return x
    is_open = [i for i, n in enumerate(shape) if isinstance(n, Size)]
    old, new = ([i for i, n in enumerate(sizes) if n == 1] for sizes in (before, shape))
    if len(is_open) > 1 and [n for n in before if n != 1] == [n for n in shape if n != 1]:
        call = partial(writer.call, like=like, aval=Aval(shape, x.aval.dtype), name=name)
        if not old or not new:
            op, axes = ("squeeze", old) if old else ("expand_dims", new)
            axis = axes[0] if len(axes) == 1 else tuple(axes)
            return call(op, x, axis=axis)
        if len(old) == len(new):
            places = [iter(old), iter([i for i, n in enumerate(before) if n != 1])]
            order = [next(places[n != 1]) for n in shape]
            return call("permute_dims", x, tuple(order))
        inner = reshaped(writer, x, tuple([n for n in before if n != 1]), like)
        return inner and reshaped(writer, inner, shape, like, name)
    sizes: list[Argument] = [-1 if i in is_open else n for i, n in enumerate(shape)]
    if len(is_open) > 1:
        if not {shape[i] for i in is_open} <= {*batch.aval.shape}:
            return None
        shape_of_batch = writer.call("shape", batch, like=like, aval=None)
        for i in is_open:
            sizes[i] = writer.item(
                shape_of_batch, batch.aval.shape.index(shape[i]), like=like, aval=None
            )
    aval = Aval(shape, x.aval.dtype)
    return writer.call("reshape", x, tuple(sizes), like=like, aval=aval, name=name)

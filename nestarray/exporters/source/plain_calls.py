"""Calls without the transposes, reshapes, broadcasts and slices that the tracers of JAX and TensorFlow write."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from nestarray.exporters.source.layer_paths import RESHAPES
from nestarray.graph.node import Aval, Node
from nestarray.graph.passes.rewriting import Writer, arguments_of, is_op
from nestarray.graph.passes.transposes import order_of

_ELEMENTWISE = ("add", "subtract", "multiply", "divide", "maximum", "minimum")


def plain(writer: Writer, node: Node) -> Node | None:
    """A call without transposes, reshapes and broadcasts that cancel; a mean for a sum."""
    found = _layout(writer, node) or _index(writer, node)
    if found is not None or node.aval is None:
        return found
    if is_op(node, *_ELEMENTWISE) and len(node.args) == 2 and not node.kwargs:
        args = tuple(map(_without_broadcast, node.args, node.args[::-1], [node.aval] * 2))
        node = _replaced(writer, node, args)
        return _mean(writer, node) or (node if node in writer.calls else None)
    if is_op(node, "einsum") and node.args[0] == "ab,b->a":  # of Equinox
        return writer.call("matmul", *node.args[1:], like=node, aval=node.aval, name=node.name)
    return None


def _replaced(writer: Writer, node: Node, args: tuple[Any, ...]) -> Node:
    """The call with other arguments, written if it differs."""
    if args == node.args:
        return node
    new = dataclasses.replace(node, args=args)
    writer.calls.append(new)
    return new


def _layout(writer: Writer, node: Node) -> Node | None:
    """A transpose of a transpose, or a reshape of a reshape, as one; none for the identity."""
    if node.aval is None or not node.args or not isinstance(node.args[0], Node):
        return None
    x = node.args[0]
    order = order_of(node)
    if order is not None:
        inner = order_of(x)
        if inner is not None:
            x, order = x.args[0], tuple(inner[i] for i in order)
        if order == tuple(range(len(order))):
            return x
        if inner is None:
            return _without_units(writer, node, x, order)
        aval, name = node.aval, node.name
        return writer.call("permute_dims", x, order, like=node, aval=aval, name=name)
    if not is_op(node, *RESHAPES):
        return None
    while is_op(x, *RESHAPES) and isinstance(x.args[0], Node):
        x = x.args[0]
    assert x.aval is not None
    if x.aval.shape == node.aval.shape:
        return x
    if x is node.args[0] or not all(isinstance(n, int) for n in node.aval.shape):
        return None
    return writer.call("reshape", x, node.aval.shape, like=node, aval=node.aval, name=node.name)


def _without_units(writer: Writer, node: Node, x: Node, order: tuple[int, ...]) -> Node | None:
    """A transpose of an array with new axes of one element, as a transpose before a reshape."""
    inner = x.args[0] if is_op(x, *RESHAPES) else None
    if not isinstance(inner, Node) or inner.aval is None or x.aval is None or node.aval is None:
        return None
    kept = [axis for axis, size in enumerate(x.aval.shape) if size != 1]
    shape = tuple(x.aval.shape[axis] for axis in kept)
    if inner.aval.shape != shape or not all(isinstance(n, int) for n in node.aval.shape):
        return None
    order = tuple(kept.index(axis) for axis in order if axis in kept)
    aval = Aval(tuple(shape[axis] for axis in order), node.aval.dtype)
    moved = writer.call("permute_dims", inner, order, like=node, aval=aval)
    return writer.call("reshape", moved, node.aval.shape, like=node, aval=node.aval, name=node.name)


def _index(writer: Writer, node: Node) -> Node | None:
    """``x[2:3, 0:n].squeeze(0)`` of n columns as ``x[2]``."""
    is_squeezed = is_op(node, "squeeze")
    access = node.args[0] if is_squeezed else node
    if not isinstance(access, Node) or not is_op(access, "getitem") or node.aval is None:
        return None
    x, index = access.args
    is_sliced = isinstance(index, tuple) and all(isinstance(item, slice) for item in index)
    if not is_sliced or not isinstance(x, Node) or x.aval is None:
        return None
    axes: Any = arguments_of(node)["axis"] if is_squeezed else ()
    axes = [axis % len(x.aval.shape) for axis in ((axes,) if isinstance(axes, int) else axes)]
    items: list[Any] = []
    for axis, (item, size) in enumerate(zip(index, x.aval.shape, strict=False)):
        is_whole = item in (slice(0, size, 1), slice(0, size), slice(None, size))
        items.append(item.start if axis in axes else slice(None) if is_whole else item)
    if not all(axis < len(items) and isinstance(items[axis], int) for axis in axes):
        return None
    while items and items[-1] == slice(None):
        items.pop()
    if not items:
        return x
    if not is_squeezed and tuple(items) == index:
        return None
    found = items[0] if len(items) == 1 else tuple(items)
    return writer.call("getitem", x, found, like=node, aval=node.aval, name=node.name)


def _without_broadcast(x: Any, other: Any, result: Aval) -> Any:
    """The operand before axes were added in front, or repeated, as the operator does itself."""
    if not isinstance(other, Node) or other.aval is None or other.aval.shape != result.shape:
        return x
    while isinstance(x, Node) and is_op(x, "reshape", "broadcast_to", "expand_dims"):
        inner = x.args[0]
        if not isinstance(inner, Node) or inner.aval is None or x.aval is None:
            return x
        shape, before = x.aval.shape, inner.aval.shape
        is_repeated = is_op(x, "broadcast_to")
        lead = len(shape) - len(before)
        is_led = lead > 0 and shape == (*(1,) * lead, *before)
        if not is_repeated and not is_led:
            return x
        x = inner
    return x


def _mean(writer: Writer, node: Node) -> Node | None:
    """``sum(x, axis) / n`` as a mean."""
    total, count = node.args
    if not (is_op(node, "divide") and isinstance(total, Node) and is_op(total, "sum")):
        return None
    given = arguments_of(total)
    x, axis = given["x"], given["axis"]
    if not isinstance(x, Node) or x.aval is None or total.aval is None:
        return None
    axes = range(len(x.aval.shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    sizes = [x.aval.shape[a] for a in axes]
    is_mean = all(isinstance(n, int) for n in sizes) and math.prod(sizes) == count
    if not is_mean or x.aval.dtype != total.aval.dtype or node.aval is None:
        return None
    settings = {"keepdims": True} if given["keepdims"] else {}
    return writer.call("mean", x, axis=axis, **settings, like=node, aval=node.aval, name=node.name)

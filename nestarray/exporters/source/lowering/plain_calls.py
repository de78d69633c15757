"""Calls without the transposes, reshapes, broadcasts and slices that the tracers of JAX and TensorFlow write."""

from __future__ import annotations

import dataclasses
from typing import Any

from nestarray import ops
from nestarray.exporters.source.lowering.layer_paths import is_variable
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Call, Node, is_input
from nestarray.graph.passes.rewriting import (
    Writer,
    arguments_of,
    has,
    is_arithmetic,
    is_op,
    rewrite,
)
from nestarray.graph.passes.transposes import cancel_transposes
from nestarray.graph.passes.view_calls import chains, emit, permuted, reshaped
from nestarray.sizes import Size, value_at
from nestarray.traits import Trait

#: Activation of JAX that has another derivative at 0, or takes arrays for its setting → op, setting.
_ACTIVATIONS = {
    "jax.nn.celu": ("celu", "alpha"), "jax.nn.elu": ("elu", "alpha"),
    "jax.nn.leaky_relu": ("leaky_relu", "negative_slope"),
}  # fmt: skip


def with_plain_calls(graph: Graph) -> Graph:
    """The graph without layout calls that cancel; eager PyTorch pays for each call."""
    new = rewrite(graph, plain, in_bodies=True)
    while new.calls != graph.calls:  # a call that changes may cancel with the next one
        graph, new = new, rewrite(new, plain, in_bodies=True)
    moved = cancel_transposes(new)
    return moved if len(moved.calls) < len(new.calls) else new


def plain(writer: Writer, node: Call) -> Node | None:
    """A call without views and broadcasts that cancel."""
    short = _short(writer, node)
    if short is not None or node.aval is None:
        return short
    if is_op(node, "reshape") and any(isinstance(n, Size) for n in node.aval.shape):
        x = node.args[0]
        axes = tuple([i for i, n in enumerate(node.aval.shape) if n == 1])
        if getattr(x, "aval", None) is None:
            return None
        if x.aval.shape != tuple([n for n in node.aval.shape if n != 1]):
            return None
        settings: dict[str, Any] = {"like": node, "aval": node.aval, "name": node.name}
        return writer.call("expand_dims", x, axes[0] if len(axes) == 1 else axes, **settings)
    if is_arithmetic(node) and len(node.args) == 2:
        first = _without_broadcast(*node.args, node.aval)
        second = _without_broadcast(node.args[1], first, node.aval)
        return _replaced(writer, node, (first, second), {})
    if is_op(node, "where") and len(node.args) == 3:
        return _replaced(writer, node, _unbroadcast(node.args, node.aval), {})
    if is_op(node, "astype", "conj", "real") and isinstance(node.args[0], Node):
        return node.args[0] if node.args[0].aval == node.aval else None
    if is_op(node, "sum", "prod") and "dtype" in node.kwargs:
        settings = {k: x for k, x in node.kwargs.items() if k != "dtype"}
        is_own = node.args[0].aval.dtype == node.aval.dtype and node.aval.dtype.is_floating
        return _replaced(writer, node, node.args, settings if is_own else node.kwargs)
    if is_op(node, "full") and node.args[0] != () and {*node.kwargs} <= {"dtype"}:
        op = {0: "zeros", 1: "ones"}.get(node.args[1])
        settings = {"dtype": node.aval.dtype, "like": node, "aval": node.aval, "name": node.name}
        return writer.call(op, node.args[0], **settings) if op else None
    return _product(writer, node) if is_op(node, "einsum") and len(node.args) == 3 else None


def plain_activation(writer: Writer, node: Call) -> Node | None:
    """A call of an activation of JAX as one of the op, whose derivative may differ at 0."""
    if node.target_name not in _ACTIVATIONS or node.aval is None:
        return None
    op, setting = _ACTIVATIONS[node.target_name]
    x, *options = (*node.args, *node.kwargs.values())
    is_own = isinstance(x, Node) and x.aval == node.aval
    if not is_own or not all(isinstance(n, (int, float)) for n in options):
        return None
    settings = dict.fromkeys([setting], *options) if options else {}
    return writer.call(op, x, **settings, like=node, aval=node.aval, name=node.name)


def plain_access(writer: Writer, node: Call) -> Node | None:
    """An access of an access as one; a write into the one row of an array as this row."""
    if node.aval is None or not is_op(node, "getitem", "setitem"):
        return None
    x, index, *values = node.args
    if not values:
        return _short(writer, node) if is_op(x, "getitem") else None
    row = Aval(node.aval.shape[1:], node.aval.dtype)
    is_single = node.aval.shape[:1] == (1,) and getattr(values[0], "aval", None) == row
    if not is_single or [*map(type, index if isinstance(index, tuple) else (index,))] != [int]:
        return None
    return writer.call("expand_dims", *values, 0, like=node, aval=node.aval, name=node.name)


def plain_mask(writer: Writer, node: Call) -> Node | None:
    """A call of attention, whose mask has no first axes of one element."""
    mask = arguments_of(node)["mask"] if is_op(node, "scaled_dot_product_attention") else None
    if not isinstance(mask, Node) or mask.aval is None:
        return None
    shape = mask.aval.shape
    while len(shape) > 2 and shape[0] == 1:
        shape = shape[1:]
    inner = mask
    while has(inner, Trait.RESHAPE) and isinstance(inner.args[0], Node):
        inner = inner.args[0]
    if inner.aval is not None and inner.aval.shape == shape:
        plain = inner
    elif is_input(mask, "constants") and shape != mask.aval.shape:
        value = ops.reshape(writer.value_of(mask), tuple([value_at(n, {}) for n in shape]))
        plain = writer.variable("constants", mask.path, value)
    else:
        return None
    args = tuple(plain if x is mask else x for x in node.args)
    settings = {name: plain if x is mask else x for name, x in node.kwargs.items()}
    return _replaced(writer, node, args, settings)


def _replaced(
    writer: Writer, node: Call, args: tuple[Any, ...], settings: dict[str, Any]
) -> Node | None:
    """The call with other arguments, written if it differs."""
    if args == node.args and settings == node.kwargs:
        return None
    new = dataclasses.replace(node, args=args, kwargs=settings)
    writer.calls.append(new)
    return new


def _short(writer: Writer, node: Call) -> Node | None:
    """Views of views as one call; none for the array itself."""
    x: Any = node
    while has(x, Trait.RESHAPE) and isinstance(x.args[0], Node) and x.args[0].aval:
        x = x.args[0]
    is_reshape = has(node, Trait.RESHAPE) and x is not node.args[0]
    if is_reshape and node.aval and x.aval and x.aval.shape != node.aval.shape:
        if is_op(node, "reshape"):  # of sizes that may have no common factors
            return _replaced(writer, node, (x, *node.args[1:]), node.kwargs)
        return reshaped(writer, x, node.aval.shape, node, node.name)
    for x, view, count in chains(node):
        new = emit(writer, x, view, node, node.name, most=min(1, count - 1))
        if new is not None:
            return new
    return None


def _product(writer: Writer, node: Call) -> Node | None:
    """An einsum of the last axes of an array with axes of a kernel, as a product.

    Equinox has the kernel first: ``"ab,cb->ac"`` of `(W, x)` is the transpose of ``x @ W.T``.
    """
    operands, _, out = node.args[0].partition("->")
    (x_axes, x), (axes, kernel) = zip(operands.split(","), node.args[1:], strict=True)
    if is_variable(x) and len(axes) > 1:
        x_axes, x, axes, kernel = axes, kernel, x_axes, x
    count = len({*x_axes} & {*axes})
    contracted = x_axes[-count:] if count else ""
    free = "".join(axis for axis in axes if axis not in contracted)
    result = x_axes[:-count] + free
    is_product = count and {*contracted} <= {*axes} and sorted(result) == sorted(out)
    if not is_product or len({*result}) < len(result) or node.aval is None:
        return None
    kernel = permuted(writer, kernel, [axes.index(axis) for axis in contracted + free], node)
    order = [result.index(axis) for axis in out]
    shape = tuple(node.aval.shape[out.index(axis)] for axis in result)
    is_matrix = count == 1 and len(axes) < 3
    op, settings = ("matmul", {}) if is_matrix else ("tensordot", {"axes": count})
    name = node.name if order == sorted(order) else ""
    aval = Aval(shape, node.aval.dtype)
    product = writer.call(op, x, kernel, **settings, like=node, aval=aval, name=name)
    return permuted(writer, product, order, node, node.name)


def _without_broadcast(x: Any, other: Any, result: Aval) -> Any:
    """The operand before axes were added in front, or repeated, as the operator does itself; sizes as numbers."""
    if not isinstance(other, Node) or other.aval is None or other.aval.shape != result.shape:
        return x
    if other.aval.dtype == result.dtype and result.dtype.is_floating:
        array = x.args[0] if is_op(x, "astype") else x
        if is_op(array, "full") and array.args[0] == () and isinstance(array.args[1], Node):
            return array.args[1]  # an open size
    while isinstance(x, Call) and (_is_repeated(x) or is_op(x, "reshape", "expand_dims")):
        inner = x.args[0]
        if not isinstance(inner, Node) or inner.aval is None or x.aval is None:
            return x
        shape, before = x.aval.shape, inner.aval.shape
        lead = len(shape) - len(before)
        is_led = lead > 0 and shape == (*(1,) * lead, *before)
        if not _is_repeated(x) and not is_led:
            return x
        x = inner
    return x


def _is_repeated(node: Call) -> bool:
    """Whether a call broadcasts an array as an operator does."""
    if node.target_name != "jax.lax.broadcast_in_dim" or node.aval is None:  # of open sizes
        return is_op(node, "broadcast_to")
    rank, axes = len(node.aval.shape), node.args[2]
    return (*axes,) == (*range(rank - len(axes), rank),)


def _unbroadcast(args: tuple[Any, ...], result: Aval) -> tuple[Any, ...]:
    """The arguments of `where` before a broadcast; numbers for arrays of one number."""
    arrays = list(args)
    for i, x in enumerate(args):
        others = [*arrays[:i], *arrays[i + 1 :]]
        if (
            i > 0
            and is_op(x, "full", "full_like")
            and isinstance(x.args[1], (bool, int, float))
            and any(isinstance(y, Node) and y.aval == result for y in others)
        ):
            arrays[i] = x.args[1]
            continue
        for y in others:
            arrays[i] = _without_broadcast(arrays[i], y, result)
    return tuple(arrays)

"""Give a convolution or a product the bias that a call adds to its result."""

from __future__ import annotations

from typing import Any

from nestarray.graph.graph import Graph
from nestarray.graph.node import Node
from nestarray.graph.passes.rewriting import (
    Writer,
    any_layout,
    arguments_of,
    count_uses,
    is_op,
    op_name,
    place_of,
    rewrite,
)
from nestarray.graph.passes.view_calls import chains, permuted
from nestarray.graph.passes.views import View, order_of
from nestarray.sizes import IntOrSize


def fuse_biases(graph: Graph) -> Graph:
    """Replace ``add(conv(x, weight), bias)`` by ``conv(x, weight, bias)``.

    The bias may be a vector behind calls that give it axes of size 1.
    """
    uses = count_uses(graph)

    def rule(writer: Writer, node: Node) -> Node | None:
        if not is_op(node, "add"):
            return None
        for layer, other in (node.args, node.args[::-1]):
            if any_layout(op_name(layer)) != "conv":
                continue
            given = arguments_of(layer)
            bias = _vector(other, layer, is_last=given.get("data_format") == "channels_last")
            if bias is None or given["bias"] is not None or uses[place_of(layer)] != 1:
                continue
            if layer.aval != node.aval or node.aval is None:
                continue
            settings = {k: x for k, x in layer.kwargs.items() if k not in ("x", "weight", "bias")}
            return writer.call(
                layer.target_name.removeprefix("na."),
                given["x"],
                given["weight"],
                bias,
                like=layer,
                aval=node.aval,
                name=node.name,
                **settings,
            )
        return None

    return rewrite(graph, rule)


def fuse_products(graph: Graph) -> Graph:
    """Replace ``add(matmul(x, kernel), bias)`` by ``linear(x, kernelᵀ, bias)``, one call of PyTorch.

    The bias may be a vector behind calls that give it axes of size 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> from nestarray.graph import passes
        >>> arrays = np.ones((5, 3)), np.ones((3, 2)), np.ones(2)
        >>> graph = na.trace_graph(lambda x, w, b: na.matmul(x, w) + b, *arrays)
        >>> print(passes.fuse_products(graph).to_source(comments=False))
        import nestarray as na
        <BLANKLINE>
        <BLANKLINE>
        def graph(x, w, b, *, v, s, constants, key=None):
            permute_dims = na.permute_dims(w, (1, 0))
            add = na.linear(x, permute_dims, b)
            return add
        <BLANKLINE>
    """
    uses = count_uses(graph)

    def rule(writer: Writer, node: Node) -> Node | None:
        if not is_op(node, "add") or node.aval is None or not node.aval.dtype.is_floating:
            return None
        for product, other in (node.args, node.args[::-1]):
            if not is_op(product, "matmul") or uses[place_of(product)] != 1:
                continue
            x, kernel = product.args
            bias = _vector(other, product, is_last=True)
            if bias is None or product.aval != node.aval or not _is_matrix(kernel, node):
                continue
            weight = kernel.args[0] if order_of(kernel) else permuted(writer, kernel, (1, 0), node)
            return writer.call("linear", x, weight, bias, like=node, aval=node.aval, name=node.name)
        return None

    return rewrite(graph, rule, in_bodies=True)


def _is_matrix(x: Any, like: Node) -> bool:
    """Whether `x` is a matrix of the dtype of another array."""
    if not isinstance(x, Node) or x.aval is None or like.aval is None:
        return False
    return len(x.aval.shape) == 2 and x.aval.dtype is like.aval.dtype


def _vector(x: Any, layer: Node, *, is_last: bool) -> Node | None:
    """The vector along the channels of a layer's result that `x` is, behind views of it."""
    if not isinstance(x, Node) or x.aval is None or layer.aval is None:
        return None
    axis = len(layer.aval.shape) - 1 if is_last else 1
    wanted: list[IntOrSize] = [1] * len(layer.aval.shape)
    wanted[axis] = layer.aval.shape[axis]
    shape = [1] * (len(wanted) - len(x.aval.shape)) + [*x.aval.shape]
    if shape != wanted or x.aval.dtype is not layer.aval.dtype:
        return None
    for vector, view, _ in chains(x):
        if view.base == (wanted[axis],) and view == View.whole(view.base).reshaped(x.aval.shape):
            return vector
    return None

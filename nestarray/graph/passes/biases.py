"""Give a convolution or a product the bias that a call adds to its result."""

from __future__ import annotations

from nestarray.graph.graph import Graph
from nestarray.graph.node import Argument, Call, Node, Operand
from nestarray.graph.passes.rewriting import (
    Rule,
    Writer,
    any_layout,
    arguments_of,
    is_op,
    op_name,
    rewrite,
)
from nestarray.graph.passes.view_calls import chains, permuted
from nestarray.graph.passes.views import View, order_of
from nestarray.sizes import IntOrSize


def fuse_biases(graph: Graph) -> Graph:
    """Replace ``add(conv(x, weight), bias)`` by ``conv(x, weight, bias)``.

    The bias may be a vector behind calls that give it axes of size 1.
    """
    return rewrite(graph, *CONVOLUTIONS)


def fuse_products(graph: Graph) -> Graph:
    """Replace ``add(matmul(x, kernel), bias)`` by ``linear(x, kernelᵀ, bias)``, one call of PyTorch.

    The bias may be a vector behind calls that give it axes of size 1.
    """
    return rewrite(graph, *PRODUCTS, in_bodies=True)


def _biased_convolution(writer: Writer, node: Call) -> tuple[Node, Node] | None:
    """A convolution without a bias, and the vector along its channels that is added."""
    for layer, other in _terms(node):
        if any_layout(op_name(layer)) == "conv" and _is_only_term(writer, layer, node):
            operands = arguments_of(layer)
            bias = _vector(other, layer, is_last=operands.get("data_format") == "channels_last")
            if bias is not None and operands["bias"] is None:
                return layer, bias
    return None


def _with_bias(writer: Writer, node: Call, layer: Call, bias: Node) -> Node:
    """The convolution with the bias.

    Before::

        def graph(x, w, b):  # float32[1, 3, 8, 8], float32[4, 3, 1, 1], float32[4]
            conv = na.conv2d(x, w, stride=2)
            column = na.reshape(b, (4, 1, 1))
            y = na.add(column, conv)
            return y

    After::

        def graph(x, w, b):  # float32[1, 3, 8, 8], float32[4, 3, 1, 1], float32[4]
            y = na.conv2d(x, w, b, stride=2)
            return y
    """
    operands = arguments_of(layer)
    arrays = operands["x"], operands["weight"], bias
    settings = {k: x for k, x in layer.kwargs.items() if k not in ("x", "weight", "bias")}
    op = op_name(layer)
    return writer.call(op, *arrays, like=layer, aval=node.aval, name=node.name, **settings)


def _biased_product(writer: Writer, node: Call) -> tuple[Node, Node] | None:
    """A product with a matrix, and the vector that is added to its rows."""
    for product, other in _terms(node):
        if is_op(product, "matmul") and _is_only_term(writer, product, node):
            bias = _vector(other, product, is_last=True)
            if bias is not None and _is_matrix(product.args[1], node):
                return product, bias
    return None


def _linear(writer: Writer, node: Call, product: Call, bias: Node) -> Node:
    """A call of `linear`, which takes the kernel transposed.

    Before::

        def graph(x, kernel, b):  # float32[5, 3], float32[3, 2], float32[2]
            product = na.matmul(x, kernel)
            y = na.add(product, b)
            return y

    After::

        def graph(x, kernel, b):  # float32[5, 3], float32[3, 2], float32[2]
            permute_dims = na.permute_dims(kernel, (1, 0))
            y = na.linear(x, permute_dims, b)
            return y
    """
    x, kernel = product.args
    weight = kernel.args[0] if order_of(kernel) else permuted(writer, kernel, (1, 0), node)
    return writer.call("linear", x, weight, bias, like=node, aval=node.aval, name=node.name)


def _terms(node: Call) -> tuple[tuple[Operand, ...], ...]:
    """The terms of a sum of two, in both orders."""
    return (node.args, node.args[::-1]) if is_op(node, "add") and node.aval is not None else ()


def _is_only_term(writer: Writer, term: Node, total: Node) -> bool:
    """Whether a value, of the sum's shape and dtype, has no other reader."""
    return term.aval == total.aval and writer.is_read_once(term)


def _is_matrix(x: Argument, like: Call) -> bool:
    """Whether `x` is a matrix of floating numbers, of the dtype of another array."""
    if not isinstance(x, Node) or x.aval is None or like.aval is None:
        return False
    dtype = x.aval.dtype
    return len(x.aval.shape) == 2 and dtype.is_floating and dtype is like.aval.dtype


def _vector(x: Argument, layer: Node, *, is_last: bool) -> Node | None:
    """The vector along the channels of a layer's result that `x` is, behind views of it."""
    if not isinstance(x, Node) or x.aval is None or layer.aval is None:
        return None
    rank = len(layer.aval.shape)
    axis = rank - 1 if is_last else 1
    channels = layer.aval.shape[axis]
    column: list[IntOrSize] = [channels if i == axis else 1 for i in range(rank)]
    shape = [1] * (rank - len(x.aval.shape)) + [*x.aval.shape]
    if shape != column or x.aval.dtype is not layer.aval.dtype:
        return None
    for vector, view, _ in chains(x):
        if view.base == (channels,) and view == View.whole(view.base).reshaped(x.aval.shape):
            return vector
    return None


CONVOLUTIONS = (Rule(_biased_convolution, _with_bias),)
PRODUCTS = (Rule(_biased_product, _linear),)

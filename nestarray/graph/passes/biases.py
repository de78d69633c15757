"""Give a convolution the bias that a call adds to its result."""

from __future__ import annotations

from typing import Any

from nestarray.graph.graph import Graph
from nestarray.graph.node import Node
from nestarray.graph.passes.rewriting import (
    Writer,
    arguments_of,
    count_uses,
    is_op,
    place_of,
    rewrite,
)

_CONVOLUTIONS = ("conv", "conv1d", "conv2d", "conv3d")
_VIEWS = ("reshape", "squeeze", "expand_dims")


def fuse_biases(graph: Graph) -> Graph:
    """Replace ``add(conv(x, weight), bias)`` by ``conv(x, weight, bias)``.

    The bias may be a vector behind calls that give it axes of size 1.
    """
    uses = count_uses(graph)

    def rule(writer: Writer, node: Node) -> Node | None:
        if not is_op(node, "add"):
            return None
        for layer, other in (node.args, node.args[::-1]):
            if not (isinstance(layer, Node) and is_op(layer, *_CONVOLUTIONS)):
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


def _vector(x: Any, layer: Node, *, is_last: bool) -> Node | None:
    """The vector along the channels of a layer's result that `x` is, behind views of it."""
    if not isinstance(x, Node) or x.aval is None or layer.aval is None:
        return None
    axis = len(layer.aval.shape) - 1 if is_last else 1
    wanted: list[int | str] = [1] * len(layer.aval.shape)
    wanted[axis] = layer.aval.shape[axis]
    shape = [1] * (len(wanted) - len(x.aval.shape)) + [*x.aval.shape]
    if shape != wanted or x.aval.dtype is not layer.aval.dtype:
        return None
    found: Any = x
    while is_op(found, *_VIEWS) and isinstance(found.args[0], Node):
        found = found.args[0]
    return next((node for node in (found, x) if _is_vector(node, wanted[axis])), None)


def _is_vector(node: Node, size: int | str) -> bool:
    return node.aval is not None and node.aval.shape == (size,)

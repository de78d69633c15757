"""Fold batch normalization into the layer before it; freeze it in training."""

from __future__ import annotations

import operator
from collections.abc import Collection

import numpy as np

from nestarray import dtypes, ops
from nestarray.graph.graph import Graph
from nestarray.graph.node import Argument, Call, Input, Node, is_variable, iter_nodes
from nestarray.graph.passes.parameters import check_evaluation
from nestarray.graph.passes.rewriting import (
    Rule,
    Writer,
    any_layout,
    arguments_of,
    is_op,
    op_name,
    place_of,
    rewrite,
)
from nestarray.typing import Array

_LAST = "channels_last"


def fold_batch_norms(graph: Graph) -> Graph:
    """Fold each `batch_norm` into the convolution or the linear layer before it.

    With the scale a = w / √(σ² + ε) of a channel, the layer's weight becomes a · weight and
    its bias a · (bias − μ) + b, computed in float64 and stored under the layer's paths. Variables
    that only the normalization has read are dropped.

    Raises:
        ConversionError: the graph was traced with ``train=True``.
    """
    check_evaluation("fold_batch_norms", graph)
    return rewrite(graph, *RULES, drop_unused=True)


def _after_layer(writer: Writer, node: Call) -> tuple[Call, int] | None:
    """The layer before a normalization, and the axis of its weight that is normalized."""
    if not is_op(node, "batch_norm"):
        return None
    norm = arguments_of(node)
    layer = norm["x"]
    channel = _channel_axis(layer, node, norm["axis"])
    if channel is None or not writer.is_read_once(layer):
        return None
    is_held = (x is None or is_variable(x) for x in _read(layer, node))
    return (layer, channel) if all(is_held) else None


def _read(layer: Call, node: Call) -> list[Input | None]:
    """The variables of a layer and of its normalization."""
    before, norm = arguments_of(layer), arguments_of(node)
    affine = before["weight"], before.get("bias")
    return [*affine, *(norm[name] for name in ("mean", "variance", "weight", "bias"))]


def _folded(writer: Writer, node: Call, layer: Call, channel: int) -> Node:
    """The layer with other variables.

    Before::

        def graph(x):  # float32[2, 3, 8]
            # v['conv/weight']: float32[4, 3, 1]
            # v['norm/weight']: float32[4]
            # s['mean']: float32[4]
            # s['variance']: float32[4]
            conv = na.conv1d(x, v['conv/weight'], stride=2)
            y = na.batch_norm(conv, s['mean'], s['variance'], v['norm/weight'])
            return y

    After::

        def graph(x):  # float32[2, 3, 8]
            # v['conv/weight']: float32[4, 3, 1]
            # v['conv/bias']: float32[4]
            y = na.conv1d(x, v['conv/weight'], v['conv/bias'], stride=2)
            return y
    """
    read = _read(layer, node)
    weight, bias = read[:2]
    assert weight is not None
    w, b, mean, variance, scale, shift = (_host(writer, x) for x in read)
    factor = (1.0 if scale is None else scale) / np.sqrt(variance + arguments_of(node)["eps"])
    along = [1] * w.ndim
    along[channel] = -1
    new_bias = ((0.0 if b is None else b) - mean) * factor + (0.0 if shift is None else shift)
    new_weight = _stored(writer, weight, weight, w * factor.reshape(along))
    beside = weight.path.rpartition("/")[0]
    path = f"{beside}/bias" if beside else "bias"
    new_bias = (
        _stored(writer, bias, weight, new_bias)
        if bias is not None
        else writer.variable("v", path, _like(writer, weight, new_bias))
    )
    arrays = arguments_of(layer)["x"], new_weight, new_bias
    settings = {k: x for k, x in layer.kwargs.items() if k != "bias"}
    op = op_name(layer)
    return writer.call(op, *arrays, like=layer, aval=node.aval, name=node.name, **settings)


RULES = (Rule(_after_layer, _folded),)


def freeze_batch_norms(graph: Graph, evaluation: Graph, frozen: Collection[str]) -> Graph:
    """Normalize by moving statistics where variables are frozen, and keep the state among these.

    Args:
        graph: the training behaviour, lowered.
        evaluation: the evaluation behaviour, lowered, which reads the moving statistics.
        frozen: paths of parameters and state.
    """
    moving: dict[str, list[Call]] = {}
    for node in evaluation.calls:
        if is_op(node, "batch_norm"):
            moving.setdefault(node.module, []).append(node)
    inputs = {place_of(node): node for node in graph.nodes if isinstance(node, Input)}
    statistics: dict[str, list[Node]] = {}
    for node in graph.calls:
        if is_op(node, "batch_norm_training") and moving.get(node.module):
            read = list(iter_nodes(moving[node.module].pop(0).args[1:]))
            is_held = all(place_of(x) in inputs for x in read[:2])
            if is_held and any(is_variable(x) and x.path in frozen for x in read):
                statistics[node.name] = [inputs[place_of(x)] for x in read[:2]]

    def rule(writer: Writer, node: Call) -> Node | None:
        if node.target is not operator.getitem or node.args[1] != 0:
            return None
        norm = node.args[0]
        if not isinstance(norm, Call) or norm.name not in statistics:
            return None
        x, *scale = norm.args
        assert node.aval is not None
        return writer.call(
            "batch_norm",
            x,
            *statistics[norm.name],
            *scale,
            like=node,
            aval=node.aval,
            name=node.name,
            **norm.kwargs,
        )

    updates = {path: x for path, x in graph.state_updates.items() if path not in frozen}
    return rewrite(graph.replace(state_updates=updates), rule)


def _channel_axis(layer: Argument, norm: Node, axis: int) -> int | None:
    """The axis of the layer's weight that is the normalized one; None if there is none."""
    if not isinstance(layer, Call) or norm.aval is None:
        return None
    rank = len(norm.aval.shape)
    form = any_layout(op_name(layer))
    settings = arguments_of(layer) if form else {}
    if form == "conv_transpose" and not is_op(layer, form):
        return 1 if axis % rank == 1 and settings["groups"] == 1 else None
    if form == "conv":
        of_result = rank - 1 if settings.get("data_format") == _LAST else 1
        of_weight = rank - 1 if settings.get("weight_format") == _LAST else 0
        return of_weight if axis % rank == of_result else None
    if is_op(layer, "linear"):
        return 0 if axis % rank == rank - 1 else None
    return None


def _host(writer: Writer, node: Input | None) -> Array:
    if node is None:
        return None
    x = ops.to_backend(writer.value_of(node), "numpy")
    return np.asarray(x).astype(np.float64)


def _stored(writer: Writer, node: Input, like: Input, value: np.ndarray) -> Node:
    """The new value as a variable, under the path of `node` if that has no other reader."""
    array = _like(writer, like, value)
    if writer.is_read_once(node):
        del writer.values[node.source][node.path]
    return writer.variable(node.source, node.path, array)


def _like(writer: Writer, node: Input, value: np.ndarray) -> Array:
    """`value` on the graph's backend, of the dtype of a variable of the graph."""
    dtype = dtypes.dtype_of(getattr(writer.graph, node.source)[node.path])
    host = value if dtype is dtypes.float64 else value.astype(np.float32)
    return ops.astype(ops.to_backend(host, writer.graph.backend), dtype, copy=False)

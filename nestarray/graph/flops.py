"""Additions and multiplications of the calls of a graph.

A multiply-add counts as two. Only products count, as in ``torch.utils.flop_counter``:

=================================================  ==================================================
calls                                              FLOPs
=================================================  ==================================================
`linear`, `matmul`, `tensordot`, `vecdot`          2 · elements of the result · contracted length
`dot_general` of JAX                               the same
`einsum` of n > 1 arrays                           2 · (n − 1) · the product of all lengths
convolutions, also depthwise and separable         2 · elements of the result · weights of each
transposed convolutions                            2 · elements of x · weights of each
`conv_general_dilated` of JAX                      as one of both, by the dilation of x
`scaled_dot_product_attention`                     2 · queries · keys · (head size of Q and K + of V)
`multi_head_attention`                             the same, and its four projections
`rnn`, `lstm`, `gru`                               2 · steps · batch · elements of all matrices
loops                                              steps · FLOPs of a step
choices                                            the largest branch
all others                                         0
=================================================  ==================================================

References:
    https://github.com/pytorch/pytorch/blob/main/torch/utils/flop_counter.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

from nestarray.graph.node import Call, Operand, bodies
from nestarray.sizes import Size
from nestarray.typing import Nest

#: The shape of an argument; a list of the shapes of its members; None for a constant.
Shape: TypeAlias = Nest


def flops_of(calls: Iterable[Call]) -> int | None:
    """The FLOPs of calls; None if sizes are open, or values decide how often a loop runs."""
    total = 0
    for node in calls:
        inner = [flops_of(body.nodes) for body in bodies(node.args)]
        if inner:
            count = steps_of(node)
            if count is None or None in inner:
                return None
            total += count * max(n for n in inner if n is not None)
        rule = RULES.get(name_of(node))
        if rule is None:
            continue
        shapes = [_shape(x) for x in node.args]
        if not _are_known((_shape(node), shapes)):
            return None
        total += rule(node, _shape(node), shapes)
    return total


def steps_of(node: Call) -> int | None:
    """How often a call runs its bodies; None if it is not known."""
    name = name_of(node)
    if name in ("scan", "map"):
        rows = [_shape(x) for x in node.args[-1]]
        count = rows[0][0] if rows and rows[0] else node.kwargs.get("length")
    elif name == "fori_loop":
        lower, upper, *_ = node.args
        count = upper - lower if isinstance(upper, int) and isinstance(lower, int) else None
    else:
        count = None if name == "while_loop" else 1
    return count if isinstance(count, int) else None


def name_of(node: Call) -> str:
    """The name of a call's function without its module."""
    return node.target_name.rpartition(".")[2]


def _shape(x: Operand) -> Shape:
    """The shape of a node; a list of the shapes of its members; None of anything else."""
    if isinstance(x, (list, tuple)):
        return [_shape(item) for item in x]
    aval = getattr(x, "aval", None)
    return None if aval is None else aval.shape


def _are_known(shapes: Shape) -> bool:
    """Whether all sizes in a nest of shapes are numbers."""
    if isinstance(shapes, (list, tuple)):
        return all(map(_are_known, shapes))
    return not isinstance(shapes, Size)


def _product(node: Call, out: Shape, shapes: list[Shape]) -> int:
    return 2 * math.prod(out) * shapes[0][-1]


def _product_and_sum(node: Call, out: Shape, shapes: list[Shape]) -> int:
    return 2 * math.prod(out) * shapes[1][-1]


def _tensordot(node: Call, out: Shape, shapes: list[Shape]) -> int:
    sizes = math.prod(shapes[0]) * math.prod(shapes[1])  # free · contracted, of both
    return 2 * math.isqrt(sizes * math.prod(out)) if math.prod(out) else 0


def _vecdot(node: Call, out: Shape, shapes: list[Shape]) -> int:
    axis = node.kwargs.get("axis", node.args[2] if len(node.args) > 2 else -1)
    return 2 * math.prod(out) * shapes[0][axis]


def _dot_general(node: Call, out: Shape, shapes: list[Shape]) -> int:
    (contracted, _), _ = node.args[2]
    return 2 * math.prod(out) * math.prod(shapes[0][axis] for axis in contracted)


def _conv_general_dilated(node: Call, out: Shape, shapes: list[Shape]) -> int:
    axes = node.kwargs["dimension_numbers"]
    batch, features = (out[axis] for axis in axes[2][:2])
    places, taps, results = (
        math.prod(shape[axis] for axis in spec[2:]) for shape, spec in zip((*shapes[:2], out), axes)
    )
    products = results * taps
    if max(node.kwargs["lhs_dilation"], default=1) > 1:  # without the zeros between elements of x
        products = places * min(results, taps)
    return 2 * batch * features * shapes[1][axes[1][1]] * products


def _einsum(node: Call, out: Shape, shapes: list[Shape]) -> int:
    subscripts = str(node.args[0]).replace(" ", "").partition("->")[0].split(",")
    operands = [shape for shape in shapes[1:] if shape is not None]
    operands = operands[0] if operands and isinstance(operands[0], list) else operands
    sizes: dict[str, int] = {}
    for letters, shape in zip(subscripts, operands, strict=True):
        before, dots, after = letters.partition("...")
        free = len(shape) - len(before) - len(after) if dots else 0
        names = [*before, *(("...", i - free) for i in range(free)), *after]
        for name, size in zip(names, shape, strict=True):
            sizes[name] = max(size, sizes.get(name, 1))  # axes of ... broadcast
    return 2 * (len(operands) - 1) * math.prod(sizes.values())


def _convolution(node: Call, out: Shape, shapes: list[Shape]) -> int:
    channels = -1 if node.kwargs.get("weight_format") == "channels_last" else 0
    weight = shapes[1]
    return 2 * math.prod(out) * math.prod(weight) // max(weight[channels], 1)


def _transposed(node: Call, out: Shape, shapes: list[Shape]) -> int:
    channels = -1 if node.kwargs.get("weight_format") == "channels_last" else 0
    weight = shapes[1]
    return 2 * math.prod(shapes[0]) * math.prod(weight) // max(weight[channels], 1)


def _separable(node: Call, out: Shape, shapes: list[Shape]) -> int:
    _, depthwise, pointwise, *_ = shapes
    positions = math.prod(out) // max(pointwise[0], 1)
    return 2 * positions * (math.prod(depthwise) + math.prod(pointwise))


def _locally_connected(node: Call, out: Shape, shapes: list[Shape]) -> int:
    return 2 * out[0] * math.prod(shapes[1])


def _attention(node: Call, out: Shape, shapes: list[Shape]) -> int:
    query, key, value = shapes[:3]
    return 2 * math.prod(query[:-1]) * key[-2] * (query[-1] + value[-1])


def _multi_head_attention(node: Call, out: Shape, shapes: list[Shape]) -> int:
    query, key, value, weights = shapes[:4]
    rows = [math.prod(query[:-1]), math.prod(key[:-1]), math.prod(value[:-1])]
    rows.append(rows[0])
    projections = sum(n * math.prod(weight) for n, weight in zip(rows, weights, strict=True))
    return 2 * projections + 2 * rows[0] * key[-2] * (weights[1][0] + weights[2][0])


def _recurrent(node: Call, out: Shape, shapes: list[Shape]) -> int:
    lists = [shape for shape in shapes if isinstance(shape, list)]
    matrices = [shape for shape in lists[-1] if shape is not None and len(shape) == 2]
    return 2 * math.prod(shapes[0][:-1]) * sum(map(math.prod, matrices))


RULES: dict[str, Callable[[Call, Shape, list[Shape]], int]] = {
    **dict.fromkeys(("linear", "matmul", "mm", "bmm", "mv", "dot"), _product),
    **dict.fromkeys(("addmm", "baddbmm"), _product_and_sum),
    **dict.fromkeys(("conv", "conv1d", "conv2d", "conv3d", "depthwise_conv"), _convolution),
    **dict.fromkeys(
        ("conv_transpose", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _transposed
    ),
    **dict.fromkeys(("rnn", "lstm", "gru"), _recurrent),
    "tensordot": _tensordot,
    "vecdot": _vecdot,
    "dot_general": _dot_general,
    "conv_general_dilated": _conv_general_dilated,
    "einsum": _einsum,
    "separable_conv": _separable,
    "locally_connected": _locally_connected,
    "scaled_dot_product_attention": _attention,
    "multi_head_attention": _multi_head_attention,
}

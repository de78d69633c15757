"""The lowered graph as its target's layers compute it.

Sources of JAX, TensorFlow and Keras spell layers out: a product with a kernel, a bias that is
reshaped, a window that is reduced. Here these become calls of layers. For PyTorch the weights get the
layout and the names of its layers, so that they print as ``nn.Linear`` and ``nn.Conv2d``; on other
targets variables keep the source's names and layouts. A graph of a PyTorch source does not change.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from nestarray.exporters.source.lowering.layer_paths import (
    is_variable,
    with_called_layers,
    with_layer_names,
    with_module_paths,
    with_single_layers,
)
from nestarray.exporters.source.lowering.plain_calls import (
    plain,
    plain_access,
    plain_activation,
    plain_mask,
)
from nestarray.exporters.source.lowering.random_draws import unseeded
from nestarray.exporters.source.lowering.rearrangements import with_rearrangements
from nestarray.exporters.source.lowering.table_rows import plain_take, with_rows
from nestarray.exporters.source.recording.forms.layers import (
    attention_of_heads,
    padded_as_same,
)
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Call, Node
from nestarray.graph.passes.channels_last import channels_last
from nestarray.graph.passes.constants import known_value
from nestarray.graph.passes.dead_code import remove_dead_code
from nestarray.graph.passes.rewriting import (
    Writer,
    any_layout,
    arguments_of,
    count_uses,
    has,
    is_op,
    op_name,
    place_of,
    rewrite,
)
from nestarray.graph.passes.transposes import cancel_transposes
from nestarray.graph.passes.view_calls import chains, emit, permuted, reshaped
from nestarray.graph.passes.views import View, order_of
from nestarray.numerics import windows
from nestarray.traits import Trait


def lowered(
    graph: Graph, target: str, *, has_channels_last: bool, has_heads_last: bool = True
) -> Graph:
    """The graph as ops on the target, with the calls, variables and paths of layers.

    Args:
        graph: of any source.
        target: the framework.
        has_channels_last: give images and kernels the layout of Flax and Keras.
        has_heads_last: whether the library has attention of (batch, length, heads, features).
    """
    graph = rewrite(rewrite(graph.to_backend(target), unseeded), plain_take)
    graph = rewrite(graph, plain_activation, in_bodies=True)
    graph = rewrite(graph.lower(), plain_access, in_bodies=True)
    graph = remove_dead_code(rewrite(graph, plain_mask, in_bodies=True))
    graph = with_rows(graph)
    is_final = graph.source_names.framework == "torch"
    if is_final:
        graph = with_called_layers(with_rearrangements(graph))
    else:
        graph = rewrite(with_module_paths(with_called_layers(graph)), plain, in_bodies=True)
        graph = with_rearrangements(graph)
        if target in ("tensorflow", "numpy"):
            graph = rewrite(graph, _of_all_examples, in_bodies=True)
    if has_channels_last:
        graph = channels_last(rewrite(graph, _reader(graph, _product, "linear")))
        graph = with_rearrangements(graph)
        graph = with_single_layers(rewrite(graph, _stored(graph, "kernel"), drop_unused=True))
    if target == "jax" and has_heads_last:
        graph = rewrite(graph, _attention_of_heads, in_bodies=True)
    if is_final:
        return graph
    if target != "jax":
        graph = rewrite(graph, _pool)
    if target == "numpy":
        graph = rewrite(graph, _with_open_border)
    if target != "torch":
        graph = rewrite(graph, plain, in_bodies=True)
    else:
        graph = rewrite(graph, _reader(graph, _torch_layer), in_bodies=True)
        graph = cancel_transposes(rewrite(graph, plain, in_bodies=True))
        graph = rewrite(graph, _reader(graph, _with_bias), in_bodies=True)
        rule = _stored(graph, "weight", reshapes=True)
        graph = rewrite(graph, rule, drop_unused=True, in_bodies=True)
        graph = with_layer_names(graph)
    return with_single_layers(graph)


def _reader(
    graph: Graph, rule: Callable[[Writer, Call, Callable[[Node], bool]], Any], *ops: str
) -> Callable[[Writer, Call], Any]:
    """A rule that may ask whether a value has one reader, or is the weight of calls of `ops` only."""
    uses = count_uses(graph)
    weights = Counter(place_of(n.args[1]) for n in graph.calls if is_op(n, *ops))

    def read(writer: Writer, node: Call) -> Any:
        return rule(writer, node, lambda x: uses[place_of(x)] == max(1, weights[place_of(x)]))

    return read


# -- calls of all targets -----------------------------------------------------------------------


def _product(writer: Writer, node: Call, is_single: Callable[[Node], bool]) -> Node | None:
    """A linear layer as a product with a kernel `(in, out)`."""
    if not is_op(node, "linear") or node.aval is None or not _is_kernel(node.args[1], is_single):
        return None
    x, weight, bias = arguments_of(node).values()
    kernel = permuted(writer, weight, (1, 0), node)
    name, aval = node.name if bias is None else "", node.aval
    y = writer.call("matmul", x, kernel, like=node, aval=aval, name=name)
    if bias is None:
        return y
    return writer.call("add", y, bias, like=node, aval=aval, name=node.name)


def _of_all_examples(writer: Writer, node: Call) -> Node | None:
    """A product with a matrix as one for which the framework merges the axes of the examples."""
    if not is_op(node, "matmul") or _rank(node.args[0]) < 3 or _rank(node.args[1]) != 2:
        return None
    aval = node.aval
    assert aval is not None
    return writer.call("tensordot", *node.args, axes=1, like=node, aval=aval, name=node.name)


def _attention_of_heads(writer: Writer, node: Call) -> Node | None:
    """Attention between transposes, as JAX has it: of (batch, length, heads, features).

    JAX gives rows of a mask that admit nothing other values, so that there is no mask.
    """
    order = (0, 2, 1, 3)
    if order_of(node) != order or not is_op(node.args[0], "scaled_dot_product_attention"):
        return None
    operands = arguments_of(node.args[0])
    arrays = [operands.pop(name) for name in ("query", "key", "value")]
    settings = {name: operands.pop(name) for name in ("is_causal", "scale")}
    if any(operands.values()) or any(order_of(x) != order for x in arrays):
        return None
    if arrays[0].aval.dtype.name != "float32" or len({x.aval.shape[-1] for x in arrays}) > 1:
        return None
    args = tuple(x.args[0] for x in arrays)
    new = dataclasses.replace(
        node, target=attention_of_heads, target_name="attention", args=args, kwargs=settings
    )
    writer.calls.append(new)
    return new


# -- layers of PyTorch --------------------------------------------------------------------------


def _torch_layer(writer: Writer, node: Call, is_single: Callable[[Node], bool]) -> Node | None:
    """The call of a layer that PyTorch has, with transposes of weights and images."""
    if node.aval is None:
        return None
    if is_op(node, "matmul", "tensordot") and _is_kernel(node.args[1], is_single):
        x, kernel = node.args
        count = arguments_of(node).get("axes", 1)
        is_product = isinstance(count, int) and (is_op(node, "tensordot") or _rank(kernel) == 2)
        return _linear(writer, node, x, kernel, count) if is_product else None
    if is_op(node, "matmul") and _is_kernel(node.args[0], is_single):  # of a vector
        weight, x = node.args
        if _rank(x) == 1 and _rank(weight) == 2:
            return writer.call("linear", x, weight, like=node, aval=node.aval, name=node.name)
    if is_op(node, "conv", "max_pool", "avg_pool"):
        return _windows(writer, node, arguments_of(node))
    return None


def _is_kernel(x: Any, is_single: Callable[[Node], bool]) -> bool:
    """Whether an operand is a variable of several axes that nothing else reads, perhaps in another layout."""
    while isinstance(x, Call) and (view := View.of(x)) and view.is_bijective and is_single(x):
        x = x.args[0]
    return is_variable(x) and is_single(x) and _rank(x) > 1


def _rank(x: Any) -> int:
    """The number of axes of an operand; 0 for numbers."""
    return len(x.aval.shape) if isinstance(x, Node) and x.aval is not None else 0


def _linear(writer: Writer, node: Call, x: Any, kernel: Node, count: int) -> Node | None:
    """A product of the last `count` axes of `x` with the first of a kernel."""
    assert kernel.aval is not None
    assert node.aval is not None
    if not isinstance(x, Node) or x.aval is None:
        return None
    shape, batch = kernel.aval.shape, x.aval.shape[: len(x.aval.shape) - count]
    inner = tuple(n for n in shape[count:] if isinstance(n, int))
    width, out = math.prod(n for n in shape[:count] if isinstance(n, int)), math.prod(inner)
    matrix = reshaped(writer, kernel, (width, out), node)
    flat = reshaped(writer, x, (*batch, width), node)
    if matrix is None or flat is None:
        return None
    weight = permuted(writer, matrix, (1, 0), node)
    aval = Aval((*batch, out), node.aval.dtype)
    name = node.name if len(inner) == 1 else ""
    product = writer.call("linear", flat, weight, like=node, aval=aval, name=name)
    return product if name else reshaped(writer, product, node.aval.shape, node, node.name, x)


def _windows(writer: Writer, node: Call, given: dict[str, Any]) -> Node | None:
    """A convolution or a pooling with the channels first."""
    assert node.aval is not None
    x, rank = given["x"], len(node.aval.shape)
    if not isinstance(x, Node) or x.aval is None:
        return None
    count = rank - 2
    is_last = given["data_format"] == "channels_last"
    place = slice(1, -1) if is_last else slice(2, None)
    name = op_name(node)
    if name == "conv":
        weight = given["weight"]
        is_own = given["weight_format"] == "channels_last"
        kernel = weight.aval.shape[:-2] if is_own else weight.aval.shape[2:]
    else:
        kernel = given["kernel_size"]
    sizes: Any = [n if isinstance(n, int) else None for n in x.aval.shape[place]]
    is_open = _has_open_border(node)
    at = windows.settings(
        name, sizes, kernel, stride=given["stride"] or kernel, dilation=given.get("dilation", 1),
        padding="valid" if is_open else given["padding"],
    )  # fmt: skip
    padding: Any = at.padding
    if name == "avg_pool" and (any(map(any, padding)) or given["divisor_override"] is not None):
        return None
    if name == "avg_pool" and is_open and not given["count_include_pad"]:
        part, given = dataclasses.replace(node, name=""), given | {"count_include_pad": True}
        ones = writer.call("ones_like", x, like=node, aval=x.aval)
        means = [_windows(writer, part, given | {"x": array}) for array in (x, ones)]
        return writer.call("divide", *means, like=node, aval=node.aval, name=node.name)
    first, last = (0, rank - 1, *range(1, rank - 1)), (0, *range(2, rank), 1)
    is_pool = name == "max_pool"
    data = permuted(writer, x, first, node) if is_last else x
    if is_open:
        border = {"value": -math.inf} if is_pool else {}
        data = dataclasses.replace(
            node, target=padded_as_same, target_name="pad", args=(data,), aval=data.aval,
            kwargs={"window": at.extent, "stride": at.stride, **border}, name=writer.name("pad"),
        )  # fmt: skip
        writer.calls.append(data)
    elif any(
        low != high or (is_pool and low > k // 2)
        for (low, high), k in zip(padding, at.kernel, strict=True)
    ):
        if is_pool and not node.aval.dtype.is_floating:
            return None
        border = {"constant_values": -math.inf} if is_pool else {}
        data = _padded(writer, data, padding, node, **border)
        padding = [(0, 0)] * count
    settings: dict[str, Any] = {"stride": at.stride, "padding": tuple(low for low, _ in padding)}
    arrays: list[Any] = [data]
    if name == "conv":
        order = (rank - 1, rank - 2, *range(count))
        arrays += [permuted(writer, weight, order, node) if is_own else weight]
        arrays += [] if given["bias"] is None else [given["bias"]]
        settings |= {"dilation": at.dilation, "groups": given["groups"]}
    else:
        settings["kernel_size"] = at.kernel
    shape = node.aval.shape
    shape = (shape[0], shape[-1], *shape[1:-1]) if is_last else shape
    made = writer.call(
        f"{name}{count}d", *arrays, **settings, like=node, aval=Aval(shape, node.aval.dtype),
        name="" if is_last else node.name,
    )  # fmt: skip
    return permuted(writer, made, last, node, node.name) if is_last else made


def _with_open_border(writer: Writer, node: Call) -> Node | None:
    """A window whose border depends on open sizes, after a call that makes the border."""
    return _windows(writer, node, arguments_of(node)) if _has_open_border(node) else None


def _has_open_border(node: Node) -> bool:
    """Whether a border depends on open sizes: ``"same"`` with strides."""
    if not is_op(node, "conv", "max_pool", "avg_pool") or node.aval is None:
        return False
    operands = arguments_of(node)
    stride = operands["stride"] or operands["kernel_size"]
    is_strided = stride > 1 if isinstance(stride, int) else max(stride) > 1
    shape = operands["x"].aval.shape[1:]
    return (
        operands["padding"] == "same" and is_strided and not all(isinstance(n, int) for n in shape)
    )


def _padded(
    writer: Writer, x: Node, padding: Sequence[tuple[int, int]], like: Call, **border: Any
) -> Node:
    """Zeros or another number around the last axes."""
    assert x.aval is not None
    widths = [(0, 0), (0, 0), *padding]
    shape = [
        n + sum(w) if isinstance(n, int) else n for n, w in zip(x.aval.shape, widths, strict=True)
    ]
    aval = Aval(tuple(shape), x.aval.dtype)
    return writer.call("pad", x, tuple(widths), **border, like=like, aval=aval)


def _pool(writer: Writer, node: Call) -> Node | None:
    """A maximum of windows, or a sum of windows by their number of elements, as pooling."""
    is_mean = is_op(node, "divide") and isinstance(node.args[0], Node)
    reduced = node.args[0] if is_mean else node
    if not is_op(reduced, "reduce_window") or node.aval is None:
        return None
    operands = arguments_of(reduced)
    window, rank = tuple(operands["window"]), len(node.aval.shape)
    if operands["computation"] != ("add" if is_mean else "max") or rank < 3 or window[0] != 1:
        return None
    if is_mean and node.args[1] != math.prod(window):
        return None
    if any({*(operands[name] or (1,))} != {1} for name in ("base_dilation", "window_dilation")):
        return None
    is_last, padding = window[-1] == 1, operands["padding"]
    if window[1] != 1 and not is_last:
        return None
    place = slice(1, -1) if is_last else slice(2, None)
    if not isinstance(padding, str):
        padding = [tuple(pair) for pair in padding][place]
    return writer.call(
        "avg_pool" if is_mean else "max_pool", operands["x"], kernel_size=window[place],
        padding=padding, stride=tuple(operands["strides"] or (1,) * rank)[place],
        data_format="channels_last" if is_last else "channels_first",
        like=node, aval=node.aval, name=node.name,
    )  # fmt: skip


def _with_bias(writer: Writer, node: Call, is_single: Callable[[Node], bool]) -> Node | None:
    """The sum of a layer's result, perhaps a view of it, and a variable as the layer with a bias."""
    if not is_op(node, "add") or node.aval is None or not all(map(_rank, node.args)):
        return None
    for value, bias in (node.args, node.args[::-1]):
        layer, view, count = next(chains(value))
        is_conv = any_layout(op_name(layer)) == "conv" and not is_op(layer, "conv")
        if not isinstance(layer, Call) or not (is_conv or is_op(layer, "linear")):
            continue
        if arguments_of(layer)["bias"] is not None:
            continue
        channel = 1 if is_conv else len(view.base) - 1
        axes = zip(reversed(view.axes), reversed(bias.aval.shape), strict=False)
        along = [x for axis, n in axes if n != 1 for x in reversed(axis)][::-1]
        is_single_view = is_single(layer)
        while is_single_view and value is not layer:
            is_single_view, value = is_single(value), value.args[0]
        is_vector = is_variable(bias.args[0] if has(bias, Trait.RESHAPE) else bias)
        is_along = view.has_whole(channel) and tuple(along) == view.along(channel)
        if is_single_view and is_vector and is_along and node.aval.shape == view.shape:
            vector = reshaped(writer, bias, (view.base[channel],), node)
            name = writer.name(layer.name) if count else node.name
            new = dataclasses.replace(layer, args=(*layer.args[:2], vector), name=name)
            writer.calls.append(new)
            return emit(writer, new, view, node, node.name, most=count)
    return None


def _stored(
    graph: Graph, weight: str, *, reshapes: bool = False
) -> Callable[[Writer, Call], Node | None]:
    """Variables that all calls transpose, or reshape, are stored in this layout.

    Args:
        graph: the graph.
        weight: the name of a weight in this layout.
        reshapes: whether reshaped ones are too.
    """
    uses = count_uses(graph)
    moves = Counter((place_of(n.args[0]), View.of(n)) for n in graph.calls if View.of(n))
    stored: dict[Node, Node] = {}

    def rule(writer: Writer, node: Call) -> Node | None:
        view = View.of(node)
        variable: Any = next(iter(node.args), None)
        if view is None or not view.is_bijective or not is_variable(variable):
            return None
        if not reshapes and not view.is_transpose:
            return None
        if variable in stored:
            return stored[variable]
        place = place_of(variable)
        value = known_value(writer, node, ("v", "s"))
        is_written = variable.path in graph.state_updates
        if value is None or is_written or uses[place] != max(1, moves[place, view]):
            return None
        del writer.values[variable.source][variable.path]
        path = re.sub(r"\bweight$", weight, variable.path)
        new = writer.variable(variable.source, path, value)
        uses[place_of(new)] = uses[place_of(node)]
        stored[variable] = new
        return new

    return rule

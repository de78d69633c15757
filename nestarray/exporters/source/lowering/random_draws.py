"""Random numbers in a lowered graph: each draw, and each dropout, as one call.

Lowering leaves the formulas of distributions, and the arithmetic of keys. Source code draws from
the framework's own generator instead. Keys that are arguments of the model stay in JAX, where they
give the same numbers.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, TypeGuard

import numpy as np

from nestarray import ops
from nestarray.exporters.source.recording.forms import modes, random_numbers
from nestarray.frontends.tensorflow.random import stateful, stateless
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, Node, is_input, iter_nodes
from nestarray.graph.passes.rewriting import Rewrite, Writer, arguments_of, is_op, op_name

#: Rounding of a probability in float32.
_CLOSE = 1e-5


def number_of(x: Any, graph: Graph) -> float | None:
    """The number that an argument is, or that all its elements are."""
    if isinstance(x, (int, float)):
        return float(x)
    if not isinstance(x, Node):
        return None
    if is_op(x, "full", "full_like"):
        return number_of(arguments_of(x)["fill_value"], graph)
    if is_op(x, "asarray"):
        return number_of(x.args[0], graph)
    if is_op(x, "subtract"):
        first, second = (number_of(operand, graph) for operand in x.args)
        return None if first is None or second is None else first - second
    if not is_input(x, "constants"):
        return None
    values = np.asarray(ops.to_backend(graph.constants[x.path], "numpy"))
    is_number = values.size > 0 and values.dtype.kind in "iuf" and (values == values.flat[0]).all()
    return float(values.flat[0]) if is_number else None


def scaled(x: Any, graph: Graph) -> tuple[float, Any]:
    """(factor, array) of an array that is multiplied or divided by numbers."""
    factor = 1.0
    while op_name(x) in ("multiply", "divide"):
        a, b = x.args
        number = number_of(b, graph)
        if number is not None and number != 0:
            factor, x = (factor * number if op_name(x) == "multiply" else factor / number), a
            continue
        number = number_of(a, graph)
        if number is None or op_name(x) == "divide":
            break
        factor, x = factor * number, b
    return factor, x


def is_given(key: Any) -> bool:
    """Whether a key depends on an argument of the model."""
    waiting, seen = [key], set()
    while waiting:
        node = waiting.pop()
        if is_input(node, "x"):
            return True
        if isinstance(node, Call) and node not in seen:
            seen.add(node)
            waiting += iter_nodes((node.args, node.kwargs))
    return False


# -- seeds --------------------------------------------------------------------------------------


def unseeded(writer: Writer, node: Call) -> Node | None:
    """``tf.random.uniform`` for ``tf.random.stateless_uniform`` of a seed that is no argument.

    Keras counts such seeds in its state.
    """
    function = _OF_SEEDS.get(node.target)
    if function is None or is_given(node.args[1]):
        return None
    operands = arguments_of(node)
    settings = {name: x for name, x in operands.items() if name not in ("shape", "seed", "alg")}
    name = node.target_name.replace("stateless_", "")
    new = dataclasses.replace(
        node, target=function, target_name=name, args=(operands["shape"],), kwargs=settings,
        is_random=True,
    )  # fmt: skip
    writer.calls.append(new)
    return new


#: Function of a seed → the function that draws from the generator.
_OF_SEEDS: dict[Any, Any] = {
    stateless.stateless_normal: stateful.normal,
    stateless.stateless_truncated_normal: stateful.truncated_normal,
    stateless.stateless_uniform: stateful.uniform,
}


# -- dropout ----------------------------------------------------------------------------------


def dropout(writer: Writer, node: Call) -> Node | None:
    """The last call of a dropout as a call of `modes.dropout`."""
    graph, parts = writer.graph, None
    if op_name(node) == "multiply":
        parts = _multiplied(node, graph)
    elif op_name(node) == "where" and number_of(node.args[2], graph) == 0:
        parts = _selected(node, graph)
    if parts is None or not isinstance(parts[0], Node) or parts[0].aval is None:
        return None
    x, mask, keep = parts
    assert mask.aval is not None
    sizes = list(zip(x.aval.shape, mask.aval.shape, strict=False))
    is_alike = len(x.aval.shape) == len(mask.aval.shape)
    if not is_alike or any(n != m and m != 1 for n, m in sizes):
        return None
    shared = tuple(i for i, (n, m) in enumerate(sizes) if n != m)
    settings = {"rate": round(1.0 - keep, 6)} | ({"shared": shared} if shared else {})
    new = dataclasses.replace(
        node, target=modes.dropout, target_name="dropout", args=(x,), kwargs=settings
    )
    writer.calls.append(new)
    return new


def _in_layout(x: Any) -> Any:
    """A value before its axes changed places."""
    while op_name(x) in ("permute_dims", "reshape"):
        x = x.args[0]
    return x


def _kept(x: Any, graph: Graph) -> float | None:
    """The probability with which a random mask keeps elements."""
    if op_name(x) not in ("less", "greater_equal"):
        return None
    (factor, shift, uniform), keep = _line(x.args[0], graph), number_of(x.args[1], graph)
    is_drawn = op_name(uniform) == "random_uniform" and not is_given(uniform.args[0])
    is_drawn = is_drawn and (factor, shift) == (1.0, 0.0)
    if op_name(x) == "greater_equal" and keep is not None:
        keep = 1.0 - keep
    return keep if is_drawn and keep is not None and 0 < keep < 1 else None


def _multiplied(node: Call, graph: Graph) -> tuple[Any, Node, float] | None:
    """(x, mask, probability) of ``x * (mask / probability)``."""
    for mask, x in (node.args, node.args[::-1]):
        factor, leaf = scaled(_in_layout(mask), graph)
        keep = _kept(leaf.args[0], graph) if op_name(leaf) == "astype" else None
        if keep is None:
            continue
        if math.isclose(factor * keep, 1.0, rel_tol=_CLOSE):
            return x, mask, keep
        more, inner = scaled(x, graph)
        if math.isclose(factor * more * keep, 1.0, rel_tol=_CLOSE):
            return inner, mask, keep
    return None


def _selected(node: Call, graph: Graph) -> tuple[Any, Node, float] | None:
    """(x, mask, probability) of ``where(mask, x / probability, 0)``."""
    mask = node.args[0]
    keep = _kept(_in_layout(mask), graph)
    if keep is None:
        return None
    factor, x = scaled(node.args[1], graph)
    return (x, mask, keep) if math.isclose(factor * keep, 1.0, rel_tol=_CLOSE) else None


# -- other random numbers -----------------------------------------------------------------------


def drawn(target: str) -> Rewrite:
    """A rule for calls of `random_numbers` that draw the numbers of calls, or compute their keys.

    Args:
        target: the framework of the source; JAX keeps keys that are arguments.
    """

    def rule(writer: Writer, node: Call) -> Node | None:
        key = node.kwargs.get("key")
        if node.target_name in _KEPT and isinstance(key, Node) and not is_given(key):
            own = random_numbers.SourceKey(writer.graph.backend)
            new = dataclasses.replace(node, kwargs=node.kwargs | {"key": own})
            writer.calls.append(new)
            return new
        new = _draw(node, writer.graph, target)
        if new is None and target == "jax":
            key = _key(node, writer.graph)
            new = key if key is not None and is_given(key) else None
        if new is not None and new.name == node.name:  # a new call
            writer.calls.append(new)
        return new

    return rule


#: Functions that a graph keeps for sizes that values decide.
_KEPT = frozenset(
    f"torch.{name}"
    for name in ("bernoulli", "normal", "rand", "rand_like", "randint", "randn", "randn_like")
)


def shaped(graph: Graph) -> dict[Node, Node]:
    """Draw → the draw in the shape of an array before it in its module, if there is one."""
    modules: dict[Node, set[str]] = {}  # in which a value is known
    for node in graph.calls:
        for value in (node, *iter_nodes((node.args, node.kwargs))):
            modules.setdefault(value, set()).add(node.module)
    new: dict[Node, Node] = {}
    before: list[Node] = []
    for node in graph.nodes:
        if isinstance(node, Call) and node.target is random_numbers.draw:
            known = (x for x in reversed(before) if node.module in modules.get(x, ()))
            like = next((x for x in known if x.aval == node.aval), None)
            new[node] = dataclasses.replace(node, args=(like, node.args[1]))
        if node.aval is not None and (isinstance(node, Call) or node.source == "x"):
            before.append(node)
    return new


def _draw(node: Call, graph: Graph, target: str) -> Call | None:
    """The draw of the numbers of a call: of an op, or of a formula of a draw."""
    name = op_name(node)
    if name in ("random_uniform", "random_integers"):
        operands = arguments_of(node)
        limits = (0.0, 1.0) if name == "random_uniform" else (operands["low"], operands["high"])
        if name == "random_integers" and not all(isinstance(n, int) for n in limits):
            return None
        key = operands["key"] if target == "jax" and is_given(operands["key"]) else None
        settings = {name: operands[name] for name in ("shape", "dtype")}
        settings |= {
            "kind": name.removeprefix("random_"),
            "limits": limits,
            "backend": graph.backend,
        }
        return dataclasses.replace(
            node, target=random_numbers.draw, target_name="draw", args=(None, key), kwargs=settings
        )
    base, settings = None, {}
    if name == "random_between":
        base, settings = node.args[0], {"limits": tuple(number_of(x, graph) for x in node.args[1:])}
    elif name == "maximum":
        for least, x in (node.args, node.args[::-1]):
            low, (span, shift, inner) = number_of(least, graph), _line(x, graph)
            if low is not None and _is_uniform(inner) and math.isclose(low, shift, rel_tol=_CLOSE):
                base, settings = inner, {"limits": (low, low + span)}
                break
    elif name in ("normal_quantile", "multiply"):
        factor, inner = scaled(node, graph)
        if name == "normal_quantile":
            base = node.args[0]
        elif op_name(inner) == "erfinv" and math.isclose(factor, math.sqrt(2), rel_tol=_CLOSE):
            base = inner.args[0]
        ends = base.kwargs["limits"] if _is_uniform(base) else (0, 0)
        if abs(ends[0] + 1) > _CLOSE or abs(ends[1] - 1) > _CLOSE:
            return None
        settings = {"kind": "normal", "limits": ()}
    if not _is_uniform(base) or None in settings["limits"]:
        return None
    return dataclasses.replace(
        node, target=base.target, target_name="draw", args=base.args, kwargs=base.kwargs | settings
    )


def _is_uniform(x: Any) -> TypeGuard[Call]:
    is_draw = isinstance(x, Call) and x.target is random_numbers.draw
    return is_draw and x.kwargs["kind"] == "uniform"


def _line(x: Any, graph: Graph) -> tuple[float, float, Any]:
    """(factor, shift, array) of ``array · factor + shift``."""
    factor, shift = 1.0, 0.0
    while True:
        more, inner = scaled(x, graph)
        factor, x, before = factor * more, inner, x
        for a, b in (x.args, x.args[::-1]) if op_name(x) == "add" else ():
            number = number_of(b, graph)
            if number is not None:
                x, shift = a, shift + factor * number
                break
        if x is before:
            return factor, shift, x


def _key(node: Call, graph: Graph) -> Call | None:
    """The key that a call computes of another: a number folded in, or an item of a split."""
    name = op_name(node)
    if name == "concat" and len(node.args[0]) == 2:
        words = [x.args[0] for x in node.args[0] if isinstance(x, Call) and x.args]
        if len(words) < 2 or words[0] is not words[1] or op_name(words[0]) != "threefry2x32":
            return None
        key, _, data = words[0].args
        number = number_of(data, graph)
        data = data if number is None else int(number)
        target = random_numbers.fold_in
        return dataclasses.replace(node, target=target, target_name="fold_in", args=(key, data))
    x: Any = node
    while op_name(x) in ("squeeze", "reshape", "permute_dims"):
        x = x.args[0]
    if x is node or op_name(x) != "getitem" or op_name(x.args[0]) != "random_split":
        return None
    first = x.args[1][0] if isinstance(x.args[1], tuple) else x.args[1]
    if isinstance(first, int):  # another layout of the item
        return x
    if not isinstance(first, slice) or first.stop != first.start + 1:
        return None
    return dataclasses.replace(x, args=(x.args[0], first.start), aval=node.aval, name=node.name)

"""Writes into aliases in an exported program, before it is made functional.

The exporter makes writes functional by inverting the views through which they go. Two inverses are
wrong: for ``detach`` it stops the gradient of the whole tensor, for ``unfold`` it clears the
elements outside of the windows. It ignores ``detach_``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from nestarray.errors import Refused
from nestarray.importers.torch.places import origin


def writes(graph: Any) -> Iterator[tuple[Any, list[Any]]]:
    """(call that writes, aliases that it writes through: from its operand to the base)."""
    views: dict[Any, Any] = {}  # node → the node of which it is an alias
    for node in graph.nodes:
        for value, is_write in _aliased_arguments(node):
            views.setdefault(node, value)
            if is_write:
                chain = [value]
                while chain[-1] in views:
                    chain.append(views[chain[-1]])
                yield node, chain


def alias_of(node: Any) -> Any:
    """The node of which the result of a call is an alias; None for a new array."""
    return next((value for value, _ in _aliased_arguments(node)), None)


def _aliased_arguments(node: Any) -> Iterator[tuple[Any, bool]]:
    """(argument, whether it is written) of those that share memory with the results."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return
    for argument, value in zip(node.target._schema.arguments, node.args):
        if argument.alias_info is not None and isinstance(value, torch.fx.Node):
            yield value, argument.alias_info.is_write


def detach_in_place(program: Any) -> None:
    """Replace ``h.detach_()`` by ``h.detach()`` for all later uses of h."""
    graph = program.graph
    for node in [n for n in graph.nodes if n.target is torch.ops.aten.detach_.default]:
        before = node.args[0]
        if not has_gradient(before, program):
            continue  # of torch.tensor(...)
        node.target = torch.ops.aten.detach.default
        before.replace_all_uses_with(node, delete_user_cb=lambda user, node=node: user > node)


def refuse_lost_writes(program: Any) -> None:
    """Raise an error for writes that the exporter would translate into another program.

    Raises:
        Refused: a write into a detached alias of a value with a gradient, or into the
            result of ``unfold``.
    """
    aten = torch.ops.aten
    for node, chain in writes(program.graph):
        for view in chain:
            if view.target is aten.unfold.default:
                raise Refused(
                    f"writes into the windows of unfold ({line(node)}), which torch.export does not "
                    "translate",
                    remedy="write into the tensor, by an index or a slice",
                )
            if view.target is aten.detach.default and has_gradient(view.args[0], program):
                raise Refused(
                    f"writes into a value that has a gradient, through .data or .detach() ({line(node)})",
                    remedy="write into a copy: x = x.detach().clone()",
                )


def has_gradient(node: Any, program: Any) -> bool:
    """Whether a computed value depends on a parameter or on an argument, differentiably."""
    signature = program.graph_signature
    sources = {*signature.inputs_to_parameters, *signature.user_inputs}
    seen: set[Any] = set()
    waiting = [node] if node.op != "placeholder" else []
    while waiting:
        one = waiting.pop()
        value = one.meta.get("val")
        if one in seen or (isinstance(value, torch.Tensor) and not is_inexact(value)):
            continue
        if one.op == "placeholder" and one.name in sources:
            return True
        seen.add(one)
        if str(one.target) != "aten.detach.default" and not is_region(one):
            waiting += one.all_input_nodes
    return False


def is_region(node: Any) -> bool:
    """Whether a node is a region under ``torch.no_grad()``."""
    return str(node.target) == "wrap_with_set_grad_enabled" and node.args[0] is False


def is_inexact(x: Any) -> bool:
    """Whether `x` is a tensor that may have a gradient."""
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


def line(node: Any) -> str:
    """The line and the operation of a node."""
    return ", ".join(part for part in (origin(node)[1], str(node.target)) if part)

"""Regions without gradients: ``torch.no_grad()``.

``torch.export`` keeps a region under ``no_grad`` as one call of a sub-graph. Its results are
detached, and a region that writes nothing becomes calls of the program around it.
"""

from __future__ import annotations

from typing import Any

import torch

from nestarray.errors import Refused
from nestarray.importers.torch.aliases import has_gradient, is_inexact, is_region, line, writes


def detach_regions(program: Any) -> None:
    """Detach the results of regions without gradients in an exported program, in place.

    Raises:
        Refused: a region writes into a value that has a gradient. torch passes the
            gradient through the write, which a functional program cannot express.
    """
    for owner in _graph_modules(program.graph_module):
        for node in list(owner.graph.nodes):
            if not is_region(node):
                continue
            region = getattr(owner, node.args[1].target)
            for operand, write in written_operands(owner, node).items():
                if has_gradient(operand, program):
                    raise Refused(
                        "writes into a value that has a gradient, under torch.no_grad() "
                        f"({line(write)})",
                        remedy="write into a copy: x = x.clone() before the block, or "
                        "x.detach().clone() in it",
                    )
            _detach_outputs(region)
            if not any(writes(region.graph)):
                _inline(owner, node, region)
        owner.recompile()


def _inline(owner: Any, call: Any, region: Any) -> None:
    """Put the calls of a region in place of its call."""
    nodes = dict(zip(_placeholders(region), call.args[2:], strict=True))
    with owner.graph.inserting_before(call):
        results = owner.graph.graph_copy(region.graph, nodes)
    for item in list(call.users):  # each takes one of the results
        item.replace_all_uses_with(results[item.args[1]])
        owner.graph.erase_node(item)
    owner.graph.erase_node(call)


def written_operands(owner: Any, node: Any) -> dict[Any, Any]:
    """Operand of a region that the region writes into → the first call that writes."""
    region = getattr(owner, node.args[1].target)
    operands = dict(zip(_placeholders(region), node.args[2:], strict=True))
    first: dict[Any, Any] = {}
    for write, chain in writes(region.graph):
        if chain[-1] in operands:
            first.setdefault(operands[chain[-1]], write)
    return first


def results_of_writes(owner: Any, node: Any, operand: Any) -> list[int]:
    """The results of a region that are an operand, such as the result of ``operand.mul_(2)``."""
    region = getattr(owner, node.args[1].target)
    same = {x for x, y in zip(_placeholders(region), node.args[2:], strict=True) if y is operand}
    for write, chain in writes(region.graph):
        if chain[0] in same:
            same.add(write)
    (output,) = next(n for n in region.graph.nodes if n.op == "output").args
    return [i for i, x in enumerate(output) if x in same]


def _graph_modules(module: Any) -> list[Any]:
    return [m for m in module.modules() if isinstance(m, torch.fx.GraphModule)]


def _placeholders(module: Any) -> list[Any]:
    return [n for n in module.graph.nodes if n.op == "placeholder"]


def _detach_outputs(region: Any) -> None:
    def detached(node: Any) -> Any:
        value = node.meta.get("val")
        if not is_inexact(value):
            return node
        new = region.graph.call_function(torch.ops.aten.detach.default, (node,))
        new.meta = dict(node.meta)
        return new

    output = next(n for n in region.graph.nodes if n.op == "output")
    with region.graph.inserting_before(output):
        output.args = (torch.fx.map_arg(output.args[0], detached),)
    region.recompile()

"""Regions without gradients: ``torch.no_grad()`` and ``torch.inference_mode()``.

``torch.export`` keeps a region under ``no_grad`` as one call of a sub-graph and drops it in the
decomposition; it does not support inference mode. During the export inference mode is
``no_grad``, and the results of each region are detached before the decomposition.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from nestarray.errors import ConversionError
from nestarray.importers.torch.autograd_functions import is_inexact
from nestarray.importers.torch.patching import patched
from nestarray.importers.torch.places import origin


@contextlib.contextmanager
def patched_gradient_modes() -> Iterator[None]:
    """Enable gradients during an export, with ``torch.inference_mode`` as ``no_grad``."""
    import torch

    def entered(self: Any) -> None:
        self.no_grad = torch.no_grad() if self.mode else torch.enable_grad()
        self.no_grad.__enter__()

    def left(self: Any, *error: Any) -> None:
        self.no_grad.__exit__(*error)

    places = (torch.inference_mode, "__enter__", entered), (torch.inference_mode, "__exit__", left)
    with torch.inference_mode(False), torch.enable_grad(), patched(*places):
        yield


def detach_regions(program: Any, name: str) -> None:
    """Detach the results of regions without gradients in an exported program, in place.

    Args:
        program: the result of ``torch.export.export``, not decomposed.
        name: the source, for the error.

    Raises:
        ConversionError: a region writes into a value that has a gradient. torch passes the
            gradient through the write, which a functional program cannot express.
    """
    for owner in _graph_modules(program.graph_module):
        for node in list(owner.graph.nodes):
            if not _is_region(node):
                continue
            region = getattr(owner, node.args[1].target)
            written = _written(region)
            for operand, parameter in zip(node.args[2:], _placeholders(region), strict=True):
                if parameter in written and _has_gradient(operand, program):
                    raise ConversionError(
                        f"trace_graph: {name} writes into a value that has a gradient, under "
                        f"torch.no_grad() ({_line(written[parameter])}); write into a copy: "
                        "x = x.clone() before the block, or x.detach().clone() in it"
                    )
            _detach_outputs(region)


def _graph_modules(module: Any) -> list[Any]:
    import torch

    return [m for m in module.modules() if isinstance(m, torch.fx.GraphModule)]


def _is_region(node: Any) -> bool:
    return str(node.target) == "wrap_with_set_grad_enabled" and node.args[0] is False


def _placeholders(module: Any) -> list[Any]:
    return [n for n in module.graph.nodes if n.op == "placeholder"]


def _detach_outputs(region: Any) -> None:
    import torch

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


def _written(region: Any) -> dict[Any, Any]:
    """Parameter of a region → the node that writes into the parameter or a view."""
    import torch

    bases: dict[Any, Any] = {p: p for p in _placeholders(region)}
    found: dict[Any, Any] = {}
    for node in region.graph.nodes:
        schema = getattr(node.target, "_schema", None)
        if schema is None or not isinstance(node.target, torch._ops.OpOverload):
            continue
        for argument, value in zip(schema.arguments, node.args):
            if argument.alias_info is None or value not in bases:
                continue
            bases[node] = bases[value]  # a view, or the result of an operation in place
            if argument.alias_info.is_write:
                found.setdefault(bases[value], node)
    return found


def _has_gradient(node: Any, program: Any) -> bool:
    """Whether a computed value depends on a parameter or on an argument, differentiably."""
    import torch

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
        if str(one.target) != "aten.detach.default" and not _is_region(one):
            waiting += one.all_input_nodes
    return False


def _line(node: Any) -> str:
    return ", ".join(part for part in (origin(node)[1], str(node.target)) if part)

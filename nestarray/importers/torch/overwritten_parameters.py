"""Trained parameters that forward overwrites: under ``torch.no_grad()``, or through ``.data``.

PyTorch's autograd ignores such a write. A later read has the new value p' and the gradient of the
parameter: ``p'.detach() + (p - p.detach())``. The exporter would instead take the gradient through
the write, so reads are replaced before it makes writes functional. The new value that the program
returns is such a read, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from nestarray.errors import Refused
from nestarray.importers.torch.aliases import alias_of, is_region, line, writes
from nestarray.importers.torch.gradient_modes import results_of_writes, written_operands
from nestarray.importers.torch.places import own_name


def keep_gradients(program: Any) -> None:
    """Give reads of overwritten parameters the new value and the parameter's gradient, in place.

    Raises:
        Refused: a view of a parameter that was made before a write is read after it.
    """
    parameters = program.graph_signature.inputs_to_parameters
    for p in [node for node in program.graph.nodes if node.name in parameters]:
        if program.state_dict[parameters[p.name]].requires_grad:
            _merge_names(program, p)
            _replace_reads(program, p, set(_writes_into(program, p)))
    program.graph_module.recompile()


def return_new_values(program: Any) -> None:
    """Give the new values that a decomposed program returns the parameter's gradient, in place."""
    graph = program.graph
    placeholders = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    of_target = {
        t: placeholders[n] for n, t in program.graph_signature.inputs_to_parameters.items()
    }
    output = next(node for node in graph.nodes if node.op == "output")
    returned = list(output.args[0])
    for i, spec in enumerate(program.graph_signature.output_specs):
        if spec.kind.name != "PARAMETER_MUTATION":
            continue
        p = of_target[spec.target]
        if program.state_dict[spec.target].requires_grad:
            zero = _difference(graph, output.prev, p)
            returned[i] = _with_gradient(graph, output.prev, returned[i], zero)
            spec.arg.name = returned[i].name
    output.args = (tuple(returned),)
    program.graph_module.recompile()


def _merge_names(program: Any, p: Any) -> None:
    """Use `p` in place of results that are `p`, such as the result of ``p.mul_(2)``."""
    for region in program.graph.nodes:
        if p not in region.all_input_nodes or not is_region(region):
            continue
        for index in results_of_writes(program.graph_module, region, p):
            for item in [n for n in region.users if n.args[1] == index]:
                item.replace_all_uses_with(p)
                _rename_output(program, item, p)


def _writes_into(program: Any, p: Any) -> Iterator[Any]:
    """The calls and the regions that write into `p`."""
    yield from (node for node, chain in writes(program.graph) if chain[-1] is p)
    for node in p.users:
        if is_region(node) and p in written_operands(program.graph_module, node):
            yield node


def _replace_reads(program: Any, p: Any, overwriting: set[Any]) -> None:
    if not overwriting:
        return
    graph = program.graph
    last = [node for node in graph.nodes if node.op == "placeholder"][-1]
    nodes = list(graph.nodes)
    zero = _difference(graph, last, p)
    aliases, outdated, new = {p}, set(), None
    for node in nodes:
        if node in overwriting:
            outdated = aliases - {p}
            new = _with_gradient(graph, node, p, zero)
            aliases.add(new)
        elif new is not None and not _ignores_gradients(node):
            if not outdated.isdisjoint(node.all_input_nodes):
                target = own_name(program.graph_signature.inputs_to_parameters[p.name])
                raise Refused(
                    f"overwrites its parameter {target!r} and then reads a view that was made before "
                    f"({line(node)})",
                    remedy="make the view after the write",
                )
            node.replace_input_with(p, new)
            if node.op == "output":
                _rename_output(program, p, new)
        if alias_of(node) in aliases and not _ignores_gradients(node):
            aliases.add(node)


def _difference(graph: Any, after: Any, p: Any) -> Any:
    """p − p.detach(), which is zero and has the gradient of p."""
    return _call(graph, after, "sub.Tensor", p, _call(graph, after, "detach.default", p))


def _with_gradient(graph: Any, after: Any, value: Any, zero: Any) -> Any:
    """The value, with the gradient of a zero."""
    detached = _call(graph, after, "detach.default", value)
    return _call(graph, after, "add.Tensor", detached, zero)


def _call(graph: Any, after: Any, name: str, *args: Any) -> Any:
    """A new call behind a node and the arguments."""
    packet, overload = name.split(".")
    while after.next in args:
        after = after.next
    with graph.inserting_after(after):
        target = getattr(getattr(torch.ops.aten, packet), overload)
        node = graph.call_function(target, args)
    node.meta = {k: v for k, v in after.meta.items() if k in ("stack_trace", "nn_module_stack")}
    node.meta["val"] = args[0].meta["val"]
    return node


def _ignores_gradients(node: Any) -> bool:
    """Whether a node takes the value only."""
    return is_region(node) or str(node.target) == "aten.detach.default"


def _rename_output(program: Any, old: Any, new: Any) -> None:
    for spec in program.graph_signature.output_specs:
        if getattr(spec.arg, "name", None) == old.name:
            spec.arg.name = new.name

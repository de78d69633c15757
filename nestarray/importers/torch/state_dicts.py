"""Graphs of torch modules as state dicts of these modules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray.container import Container
from nestarray.errors import ConversionError
from nestarray.errors.text import listed
from nestarray.graph.binding import bind_variables
from nestarray.graph.graph import Graph, SourceNames
from nestarray.interchange import torch as interchange


def to_torch_state_dict(
    graph: Graph, v: Container | None = None, s: Container | None = None
) -> dict[str, Any]:
    """The variables as the state dict of the torch module that was traced.

    ``net.load_state_dict(graph.to_torch_state_dict(v, s))`` finds every key and no other:
    tied weights have all their names, buffers that torch does not store are omitted, and
    extra states and the buffers of `Graph.report` that are no state of the graph have their values
    at the trace.

    Args:
        v: parameters, on any backend; the graph's own by default.
        s: state; the graph's own by default.

    Returns:
        torch tensors by torch's names, in torch's order.

    Raises:
        ConversionError: the graph was not made from a torch module, or `Graph.optimize` folded
            parameters of the module.
        StructureError: `v` or `s` has other keys than the graph's.

    Example:
        >>> import torch, nestarray as na
        >>> net = torch.nn.Linear(2, 3)
        >>> graph = na.trace_graph(net, torch.ones(1, 2)).to_backend("numpy")
        >>> net.load_state_dict(graph.to_torch_state_dict(graph.v * 0.0))
        <All keys matched successfully>
    """
    known = graph.source_names
    if known.framework != "torch" and (graph.v.paths() or graph.s.paths()):
        raise ConversionError(
            f"to_torch_state_dict: {graph.name} was not traced from a torch module; "
            "na.to_torch_state_dict(v) names leaves by their paths"
        )
    given = dict(zip("vs", bind_variables(graph, v, s), strict=True))
    stored = [(letter, path) for letter, path in known.names.values() if letter in given]
    folded = [path for letter, path in stored if path not in given[letter].spec.path_names]
    if folded:
        raise ConversionError(
            f"to_torch_state_dict: {graph.name}: lacks {listed(map(repr, folded))}, which optimize() "
            "folded into other parameters; take the state dict of the graph before optimize()"
        )
    tensors = {letter: interchange.to_torch_state_dict(c) for letter, c in given.items()}

    def value(letter: str, path: str) -> Any:
        if letter in tensors:
            return tensors[letter][path.replace("/", ".")]
        extra = known.extra[path]
        return interchange.tensor_of_text(extra) if letter == "kept" else extra

    return {name: value(*place) for name, place in known.names.items()}


def source_names(
    module: Any, canonical: Mapping[str, str], values: Mapping[str, Mapping[str, Any]]
) -> SourceNames:
    """Name in the module's state dict → path in the graph, and the values that it lacks.

    Args:
        module: the module.
        canonical: name → first name of the same tensor.
        values: ``"v"`` or ``"s"`` → path → array.
    """
    names: dict[str, tuple[str, str]] = {}
    extra: dict[str, Any] = {}
    for name, value in module.state_dict(keep_vars=True).items():
        path = canonical.get(name, name).replace(".", "/")
        letter = next((k for k in ("v", "s") if path in values[k]), None)
        if letter is not None:
            names[name] = letter, path
        elif _is_extra(name):
            names[name], extra[name] = ("extra", name), value
        elif not value.is_meta:
            names[name], extra[name] = ("kept", name), interchange.tensor_text(value)
    modules = {name: type(part).__name__ for name, part in module.named_modules()}
    return SourceNames("torch", names, extra, modules)


def _is_extra(name: str) -> bool:
    return name.rpartition(".")[2] == "_extra_state"

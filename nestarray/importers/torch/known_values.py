"""Values that a module reads from tensors that do not depend on inputs.

``int(positions.max())`` for an ``arange`` and ``x[mask]`` for a constant mask are known when the
module is traced. As calls they would fail under a compiler, which has no values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch.fx.node import map_arg


def known_value(exported: Any, constants: Mapping[Any, Any]) -> Any:
    """The number or tensor that an exported call gives; None if it may depend on an input.

    `constants` are the tensors of the program that are neither parameters nor buffers, by node.
    """
    calls = _calls_behind(exported, constants)
    if calls is None:
        return None
    values: dict[Any, Any] = dict(constants)
    with torch.no_grad():
        for call in calls:
            args, kwargs = map_arg((call.args, call.kwargs), values.__getitem__)
            values[call] = call.target(*args, **kwargs)
    return values[exported]


def depends_on_values(exported: Any) -> bool:
    """Whether the values of an operation's arguments decide its size, or it reads a number."""
    by_values = (torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output)
    return any(tag in by_values for tag in getattr(exported.target, "tags", ()))


def known_places(mask: Any, constants: Mapping[Any, Any]) -> tuple[Any, ...]:
    """The indices of the elements that a constant mask selects, by dimension; else ()."""
    if not is_mask(mask):
        return ()
    value = constants[mask] if mask in constants else known_value(mask, constants)
    return () if value is None else value.nonzero(as_tuple=True)


def is_mask(index: Any) -> bool:
    """Whether an exported index selects elements by booleans."""
    value = getattr(index, "meta", {}).get("val")
    return getattr(value, "dtype", None) in (torch.bool, torch.uint8)


def _calls_behind(exported: Any, constants: Mapping[Any, Any]) -> list[Any] | None:
    """The call and its dependencies, in order; None if these include inputs or random numbers."""
    behind, waiting = {exported}, [exported]
    while waiting:
        for used in waiting.pop().all_input_nodes:
            if used not in behind and used not in constants:
                behind.add(used)
                waiting.append(used)
    for node in behind:
        tags = getattr(node.target, "tags", ())
        if node.op != "call_function" or torch.Tag.nondeterministic_seeded in tags:
            return None
    return [node for node in exported.graph.nodes if node in behind]

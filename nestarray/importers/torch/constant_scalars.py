"""Scalars that a module reads from tensors that do not depend on inputs.

``int(positions.max())`` for an ``arange`` is known when the module is traced. As a call it would
fail under a compiler, which has no values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def constant_scalar(exported: Any, constants: Mapping[Any, Any]) -> Any:
    """The number that an exported call reads from a tensor; None if it may depend on an input.

    Args:
        exported: the call.
        constants: the tensors of the program that are neither parameters nor buffers, by node.
    """
    import torch
    from torch.fx.node import map_arg

    aten = torch.ops.aten

    if exported.target not in (aten.item.default, aten._local_scalar_dense.default):
        return None
    calls = _calls_behind(exported, constants)
    if calls is None:
        return None
    values: dict[Any, Any] = dict(constants)
    with torch.no_grad():
        for call in calls:
            args, kwargs = map_arg((call.args, call.kwargs), values.__getitem__)
            values[call] = call.target(*args, **kwargs)
    return values[exported]


def _calls_behind(exported: Any, constants: Mapping[Any, Any]) -> list[Any] | None:
    """The call and its dependencies, in order; None if these include inputs or random numbers."""
    import torch

    wanted, waiting = {exported}, [exported]
    while waiting:
        for used in waiting.pop().all_input_nodes:
            if used not in wanted and used not in constants:
                wanted.add(used)
                waiting.append(used)
    for node in wanted:
        tags = getattr(node.target, "tags", ())
        if node.op != "call_function" or torch.Tag.nondeterministic_seeded in tags:
            return None
    return [node for node in exported.graph.nodes if node in wanted]

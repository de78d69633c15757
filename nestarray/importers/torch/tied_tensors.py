"""Tensors with several names: arguments, parameters and buffers that are one tensor.

The exporter knows tensors by identity. Of the names of one tensor, the program uses the last;
``run_decompositions`` fails if it writes into a variable that shares its memory with another.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from nestarray.errors import Refused
from nestarray.importers.torch.aliases import line, writes
from nestarray.importers.torch.places import own_name


def distinct(module: Any, example: Any) -> Any:
    """The example with a separate tensor for each argument.

    Two arguments with one tensor would be one input, and an argument that is a parameter would be
    the parameter.
    """
    seen = {id(x) for x in (*module.parameters(), *module.buffers())}

    def own(x: Any) -> Any:
        if id(x) in seen:
            return x.detach().clone().requires_grad_(x.requires_grad)
        seen.add(id(x))
        return x

    return tree_map_only(torch.Tensor, own, example)


def separate_tied(program: Any) -> None:
    """Give the names that a program does not use separate tensors.

    Raises:
        Refused: the program writes into a part of another variable.
    """
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    specs = dict(zip(placeholders, program.graph_signature.input_specs, strict=True))
    homes = {name: home for home in (program.constants, program.state_dict) for name in home}
    tensors = {name: home[name] for name, home in homes.items()}
    count = Counter(map(id, tensors.values()))
    for node, spec in specs.items():
        tensor: Any = tensors.get(spec.target)
        if count[id(tensor)] > 1 and not node.users:
            copy = torch.empty_like(tensor)
            if isinstance(tensor, torch.nn.Parameter):
                copy = torch.nn.Parameter(copy, tensor.requires_grad)
            tensors[spec.target] = homes[spec.target][spec.target] = copy
    for node, chain in writes(program.graph):
        written: Any = specs[chain[-1]].target if chain[-1] in specs else None
        shared = [n for n, x in tensors.items() if n != written and _share(x, tensors.get(written))]
        if shared:
            raise Refused(
                f"writes into {own_name(written)!r} ({line(node)}), which shares its memory with "
                f"{own_name(shared[0])!r}",
                remedy="make one of them a copy, or compute it in forward",
            )


def _share(x: Any, y: Any) -> bool:
    if not (isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor)):
        return False
    return x.untyped_storage()._cdata == y.untyped_storage()._cdata

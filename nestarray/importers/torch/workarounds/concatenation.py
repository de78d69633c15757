"""Concatenation in forward mode (``torch.func.jvp``) with open sizes.

For arrays without tangents torch creates zeros whose sizes become constants. Here these arrays
receive zero tangents before the concatenation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.autograd.forward_ad import make_dual, unpack_dual

from nestarray.importers.torch.transformations import in_functorch
from nestarray.importers.torch.workarounds import reproducers
from nestarray.importers.workarounds import Workaround

_NAMES = (
    *("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"),
    *("column_stack", "row_stack"),
)


def _completing(trace: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, which gives all arrays tangents if one has a tangent."""

    def call(tensors: Sequence[Any], *args: Any, **settings: Any) -> Any:
        return function(_completed(tensors), *args, **settings)

    return call


def _completed(tensors: Sequence[Any]) -> Sequence[Any]:
    if not in_functorch():
        return tensors
    bare = [unpack_dual(x).tangent is None for x in tensors]
    if all(bare) or not any(bare):
        return tensors
    return [
        make_dual(x, torch.zeros_like(x)) if is_bare and x.is_floating_point() else x
        for x, is_bare in zip(tensors, bare, strict=True)
    ]


CONCATENATION = Workaround(
    "concatenation in torch.func.jvp",
    "arrays without tangents get zeros whose sizes are constants",
    (reproducers.tangent_of_cat_of_open_size,),
    functions={f"torch.{name}": _completing for name in _NAMES},
)

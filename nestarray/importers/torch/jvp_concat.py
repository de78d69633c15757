"""Concatenation in forward mode (``torch.func.jvp``) with open sizes.

For arrays without tangents torch creates zeros whose sizes become constants. Here these arrays
receive zero tangents before the concatenation.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any

from nestarray.importers.patching import patched

_NAMES = (
    *("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack"),
    *("column_stack", "row_stack"),
)


@contextlib.contextmanager
def patched_concat() -> Iterator[None]:
    """Give all arrays tangents if one has a tangent, in torch's functions that concatenate."""
    import torch

    with patched(*[(torch, name, _completing(getattr(torch, name))) for name in _NAMES]):
        yield


def _completing(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(tensors: Sequence[Any], *args: Any, **settings: Any) -> Any:
        return function(_completed(tensors), *args, **settings)

    return call


def _completed(tensors: Sequence[Any]) -> Sequence[Any]:
    import torch
    from torch._C._functorch import peek_interpreter_stack
    from torch.autograd.forward_ad import make_dual, unpack_dual

    if peek_interpreter_stack() is None:  # outside torch.func, as in torch's own decompositions
        return tensors
    bare = [unpack_dual(x).tangent is None for x in tensors]
    if all(bare) or not any(bare):
        return tensors
    return [
        make_dual(x, torch.zeros_like(x)) if is_bare and x.is_floating_point() else x
        for x, is_bare in zip(tensors, bare, strict=True)
    ]

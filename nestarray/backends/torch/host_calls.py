"""PyTorch: calls of Python functions in compiled programs, as one custom operator.

The operator takes the number of a function. A program holds it for the life of the process.
https://docs.pytorch.org/docs/stable/library.html#torch.library.custom_op
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from nestarray.backends.torch.core import native_dtype

#: (function, shape and dtype of each result).
_FUNCTIONS: list[tuple[Callable[..., Any], list[tuple[Any, Any]]]] = []


@torch.library.custom_op("nestarray::host_call", mutates_args=())
def _call(number: int, arrays: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    function, results = _FUNCTIONS[number]
    found = function(*arrays)
    return [
        torch.tensor(y, dtype=dtype) for y, (_, dtype) in zip(found, results, strict=True)
    ]  # copies


@_call.register_fake
def _shapes(number: int, arrays: Sequence[Any]) -> list[Any]:
    return [torch.empty(shape, dtype=dtype) for shape, dtype in _FUNCTIONS[number][1]]


@_call.register_vmap
def _mapped(info: Any, dims: Any, number: int, arrays: Sequence[Any]) -> tuple[Any, Any]:
    """One call for each row."""
    rows = [
        [x if dim is None else x.select(dim, i) for x, dim in zip(arrays, dims[1], strict=True)]
        for i in range(info.batch_size)
    ]
    found = [torch.stack(row) for row in zip(*[_call(number, row) for row in rows], strict=True)]
    return found, [0] * len(found)


def host_call(
    fn: Callable[..., Any], arrays: Sequence[Any], results: Sequence[tuple[Any, Any]]
) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/library.html#torch.library.custom_op"""
    _FUNCTIONS.append((fn, [(tuple(shape), native_dtype(dtype)) for shape, dtype in results]))
    return tuple(_call(len(_FUNCTIONS) - 1, list(arrays)))

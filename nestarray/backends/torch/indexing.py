"""PyTorch: `nestarray.ops.indexing`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from nestarray.backends.checks.positions import check_along, check_condition, check_part
from nestarray.backends.torch.core import INEXACT
from nestarray.backends.torch.derivatives import is_batched, order
from nestarray.backends.torch.integers import LACKING, by_bits, by_order
from nestarray.numerics.axes import one_axis
from nestarray.numerics.fills import check_fill
from nestarray.numerics.index import (
    check_mode,
    expanded,
    flipped,
    is_array,
    is_mask,
    is_plain,
    without_ones,
)

_REDUCE = {"mul": "prod", "min": "amin", "max": "amax"}


#: Integer dtypes that torch does not index by; it reads uint8 as a mask.
_NO_INDICES = LACKING | {torch.uint8, torch.int8, torch.int16}


def getitem(x: Any, index: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/tensor_view.html"""
    return x[index] if is_plain(index) else _parts(x, index)


@by_bits
def _parts(x: Any, index: Any) -> Any:
    x, items = _native(x, index)
    return x[items]


def _native(x: Any, index: Any) -> tuple[Any, tuple[Any, ...]]:
    """A tensor and an index for torch, equivalent to NumPy's ``x[index]``.

    torch lacks negative steps. It does not treat an integer next to arrays as an array, which
    changes the position of the indexed axes. It reads the value of an integer tensor of shape
    ``()``, which fails under tracing.
    """
    items = expanded(index, x.ndim)
    arrays = [i for i in items if is_array(i)]
    axis = 0
    for place, item in enumerate(items):
        if isinstance(item, slice) and item.step is not None and item.step < 0:
            x = x.flip(axis)
            items[place] = flipped(item)
        elif isinstance(item, (np.ndarray, np.generic)):
            items[place] = torch.as_tensor(np.asarray(item), device=x.device)
        elif getattr(item, "dtype", None) in _NO_INDICES:
            items[place] = item.long()
        elif _is_integer_tensor(item):
            if arrays:
                items[place] = item.reshape(1)
            else:
                x = torch.index_select(x, axis, _wrapped(item.reshape(1), x.shape[axis]))
                items[place] = 0
        elif getattr(item, "dtype", None) is torch.int32:
            items[place] = item.long()  # as torch does inside, and ONNX Runtime does not
        elif arrays and isinstance(item, int) and not isinstance(item, bool):
            items[place] = torch.tensor([item], device=x.device)
        if item is not None and not isinstance(item, bool):
            taken = len(item.shape) if is_mask(item) else 1
            if is_mask(item) and 0 in item.shape:
                items[place] = _without_elements(items[place], x.shape[axis : axis + taken])
            axis += taken
    return x, tuple(items)


def _without_elements(mask: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """An empty mask expanded to `shape`, which torch requires and the standard does not."""
    if all(own in (0, length) for own, length in zip(mask.shape, shape)):
        return mask.new_zeros(shape)
    return mask  # an error for another axis


def setitem(x: Any, index: Any, value: Any, /, *, mode: str = "replace") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.scatter_reduce.html"""
    check_mode(mode, "setitem")
    value = _as_elements("setitem", value, x)
    return _kept(mode)(lambda x, value: _replaced(x, value, index, mode))(x, value)


def _as_elements(name: str, value: Any, x: Any) -> Any:
    """The new value of elements of `x`, as a tensor of its dtype."""
    check_fill(name, "value", value, x.dtype)
    if value.__class__ is float and x.dtype is torch.uint64:
        value = math.trunc(value)  # torch accepts no float for integers
    return torch.as_tensor(value, dtype=x.dtype, device=x.device)


def _kept(mode: str) -> Callable[..., Any]:
    """Decorator for unsigned integers without kernels: compute by bits or by order."""
    return partial(by_order, selects=True) if mode in ("min", "max") else by_bits


def _replaced(x: Any, value: Any, index: Any, mode: str) -> Any:
    # under torch.func.vmap, index_put permutes values if arrays after a slice are batched, and
    # fails if only `value` is
    batched = torch._C._functorch.peek_interpreter_stack() is not None
    if mode == "replace" and not batched and not any(map(_is_special, _items(index))):
        result = x.clone()
        result[_native(x, index)[1]] = value
        return result
    places = getitem(torch.arange(x.numel(), device=x.device).reshape(x.shape), index)
    updates = value.reshape(without_ones(value.shape, places.ndim)).broadcast_to(places.shape)
    updates = updates.reshape(-1)
    return _combined(x.reshape(-1), 0, places.reshape(-1), updates, mode).reshape(x.shape)


def _items(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _is_special(item: Any) -> bool:
    """Whether `_native` also changes the tensor for this entry of an index."""
    return (isinstance(item, slice) and (item.step or 1) < 0) or _is_integer_tensor(item)


def _is_integer_tensor(item: Any) -> bool:
    return isinstance(item, torch.Tensor) and not item.ndim and item.dtype != torch.bool


def _combined(x: Any, axis: int, indices: Any, updates: Any, mode: str) -> Any:
    if mode == "replace":
        return x.scatter(axis, indices, updates)
    if mode == "add":
        return x.scatter_add(axis, indices, updates)
    # vmap cannot map the derivative of torch's product
    if mode == "mul" and (order() > 1 or (order() and (is_batched(x) or is_batched(updates)))):
        return _products(x, axis, indices, updates)
    return x.scatter_reduce(axis, indices, updates, _REDUCE[mode])


def _products(x: Any, axis: int, indices: Any, updates: Any) -> Any:
    """``x.scatter_reduce(…, "prod")`` in multiplications, for its higher derivatives.

    Sorted by place, the factors of an element are neighbours; each step doubles the number of
    factors that the last of them contains.
    """
    places = torch.arange(x.shape[axis], device=x.device)
    places = places.view(-1, *[1] * (x.ndim - 1 - axis % x.ndim)).expand_as(x)
    factors = torch.cat([x, updates], axis).movedim(axis, -1)
    at, by = (
        torch.cat([places, indices], axis).movedim(axis, -1).contiguous().sort(dim=-1, stable=True)
    )
    factors, reach = factors.gather(-1, by), 1
    while reach < factors.shape[-1]:
        is_one = at[..., reach:] == at[..., :-reach]
        before = torch.where(is_one, factors[..., :-reach], 1)
        factors = torch.cat([factors[..., :reach], factors[..., reach:] * before], -1)
        reach *= 2
    last = torch.searchsorted(at, places.movedim(axis, -1).contiguous(), right=True) - 1
    return factors.gather(-1, last).movedim(-1, axis)


def _as_int64(indices: Any) -> Any:
    if indices.dtype in INEXACT or indices.dtype is torch.bool:
        raise TypeError("indices are integers")
    return indices.long()


def _wrapped(indices: Any, length: int) -> Any:
    """`indices` as nonnegative int64; torch supports no negative indices here."""
    indices = _as_int64(indices)
    return torch.where(indices < 0, indices + length, indices)


_index_select = by_bits(torch.index_select)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.index_select.html"""
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = one_axis(axis, x.ndim, "take")
    if not indices.ndim:  # torch would read its value
        at = _wrapped(indices.reshape(1), x.shape[axis])
        return _index_select(x, axis, at).squeeze(axis)
    return x[(slice(None),) * axis + (_as_int64(indices),)]


_gather = by_bits(torch.gather)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.gather.html"""
    indices = _wrapped(indices, x.shape[axis])
    if x.ndim != indices.ndim:  # torch does not check empty indices
        check_along("take_along_axis", {"x": x, "indices": indices, "axis": axis})
    if x.shape != indices.shape:
        of_x, of_indices = list(x.shape), list(indices.shape)
        of_x[axis] = of_indices[axis] = 1
        shape = list(torch.broadcast_shapes(of_x, of_indices))
        shape[axis] = -1
        x, indices = x.expand(shape), indices.expand(shape)
    return _gather(x, axis, indices)


def gather(x: Any, indices: Any, /, *, axis: int) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.gather.html"""
    if x.ndim != indices.ndim:  # torch does not check empty indices
        check_part("gather", {"x": x, "indices": indices, "axis": axis})
    return _gather(x, axis, _wrapped(indices, x.shape[axis]))


def scatter(x: Any, indices: Any, updates: Any, /, *, axis: int, mode: str = "replace") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.scatter_reduce.html"""
    check_mode(mode, "scatter")
    if x.ndim != indices.ndim:  # torch does not check empty indices
        check_part("scatter", {"x": x, "indices": indices, "axis": axis})
    if not isinstance(updates, torch.Tensor):
        updates = torch.full_like(indices, updates, dtype=x.dtype)
    elif updates.shape != indices.shape:  # the derivative does not support it
        updates = updates[tuple(slice(length) for length in indices.shape)]
    at = _wrapped(indices, x.shape[axis])
    combined = _kept(mode)(lambda x, updates: _combined(x, axis, at, updates, mode))
    return combined(x, updates.to(x.dtype))


def masked_fill(x: Any, mask: Any, value: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.Tensor.masked_fill.html"""
    if mask.__class__ is bool:
        mask = torch.tensor(mask, device=x.device)
    if mask.dtype is not torch.bool:  # torch accepts uint8 too
        check_condition("masked_fill", {"mask": mask})
    if isinstance(value, torch.Tensor):
        return _filled(x, mask, value.to(x.dtype))
    if x.dtype in LACKING:
        return _filled(x, mask, _as_elements("masked_fill", value, x))
    check_fill("masked_fill", "value", value, x.dtype)
    return torch.masked_fill(x, mask, value)


@by_bits
def _filled(x: Any, mask: Any, value: Any) -> Any:
    return torch.where(mask, value, x)


def embedding(indices: Any, weight: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html"""
    if indices.dtype not in (torch.int32, torch.int64):
        indices = _as_int64(indices)
    return F.embedding(indices, weight)

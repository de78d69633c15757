"""PyTorch: `nestarray.exporters.source.recording.forms`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import supports
from nestarray.dtypes import dtype_of

abs = torch.abs
square = torch.square
relu = torch.nn.functional.relu


def _has_numbers_as_bounds(x: Any, min: Any = None, max: Any = None) -> bool:
    bounds = [bound for bound in (min, max) if bound is not None]
    return bool(bounds) and not any(hasattr(bound, "shape") for bound in bounds)


@supports(_has_numbers_as_bounds)
def clip(x: Any, min: Any = None, max: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.clamp.html"""
    return torch.clamp(x, min, max)


@supports(lambda x, index: all(map(_is_index, index if isinstance(index, tuple) else (index,))))
def getitem(x: Any, index: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/tensor_view.html"""
    return x[index]


def _is_index(item: Any) -> bool:
    """Whether PyTorch reads it as NumPy does: uint8 would be a mask, negative steps fail."""
    if isinstance(item, slice):
        return item.step is None or item.step > 0
    if hasattr(item, "dtype"):
        return dtype_of(item).name in ("int32", "int64", "bool")
    return item is None or item is Ellipsis or type(item) is int


@supports(lambda x, indices, *, axis=None: axis is not None and _is_index(indices))
def take(x: Any, indices: Any, *, axis: int) -> Any:
    """https://docs.pytorch.org/docs/stable/tensor_view.html"""
    return x[(slice(None),) * (axis % x.ndim) + (indices,)] if axis else x[indices]


@supports(lambda x, indices, *, axis: dtype_of(indices).name == "int64")
def gather(x: Any, indices: Any, *, axis: int) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.gather.html"""
    return torch.gather(x, axis, indices)


def _arrays_of_a_cell(
    weights: Any, *, num_layers: int = 1, bidirectional: bool = False, **_: Any
) -> int:
    """4 with biases, 2 without."""
    return len(weights) // (num_layers * (2 if bidirectional else 1))


def _is_network(
    x: Any, weights: Any, states: tuple[Any, ...], lengths: Any, **settings: Any
) -> bool:
    """Whether x has a batch, its rows are equally long, states are given, and none is projected."""
    is_plain = len(x.shape) == 3 and _arrays_of_a_cell(weights, **settings) in (2, 4)
    return is_plain and lengths is None and all(state is not None for state in states)


def _settings(
    weights: Any, *, num_layers: int = 1, bidirectional: bool = False, batch_first: bool = False
) -> tuple[Any, ...]:
    count = _arrays_of_a_cell(weights, num_layers=num_layers, bidirectional=bidirectional)
    return count == 4, num_layers, 0.0, False, bidirectional, batch_first


@supports(lambda x, w, h=None, lengths=None, **kwargs: _is_network(x, w, (h,), lengths, **kwargs))
def gru(x: Any, weights: Any, h0: Any, lengths: Any = None, **settings: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.GRU.html"""
    return torch.gru(x, h0, list(weights), *_settings(weights, **settings))


@supports(
    lambda x, w, h=None, c=None, lengths=None, **kwargs: _is_network(
        x, w, (h, c), lengths, **kwargs
    )
)
def lstm(x: Any, weights: Any, h0: Any, c0: Any, lengths: Any = None, **settings: Any) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.LSTM.html"""
    return torch.lstm(x, (h0, c0), list(weights), *_settings(weights, **settings))

"""Embedding bags, decomposed for modules that differentiate or map them.

torch's operations have no rules for ``vmap``, and their backward reads saved values. The
decompositions consist of operations with derivatives and ``vmap`` rules.
"""

from __future__ import annotations

from typing import Any

import torch

_MEAN, _MAX = 1, 2


def bags(
    weight: Any,
    indices: Any,
    offsets: Any,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = -1,
) -> tuple[Any, ...]:
    """aten._embedding_bag: (result, bag of each index, sizes of bags, indices of maxima)."""
    starts = offsets[:-1] if include_last_offset else offsets
    places = torch.arange(indices.shape[0], device=indices.device)
    bag = (places[:, None] >= starts).sum(1) - 1
    counted = indices != (-1 if padding_idx is None else padding_idx)
    sizes = torch.zeros_like(starts).index_add(0, bag, counted.to(starts.dtype))
    rows = torch.nn.functional.embedding(indices, weight, scale_grad_by_freq=scale_grad_by_freq)
    if mode == _MAX:
        is_inside = (bag == torch.arange(starts.shape[0], device=bag.device)[:, None]) & counted
        candidates = torch.where(is_inside[..., None], rows, -torch.inf)
        sums, places_of_maxima = candidates.max(1)
        sums = torch.where(sizes[:, None] > 0, sums, 0.0)
        return sums, bag, sizes, indices[places_of_maxima]
    scale = counted.to(weight.dtype)
    if per_sample_weights is not None:
        scale = scale * per_sample_weights
    sums = weight.new_zeros(starts.shape[0], weight.shape[1])
    sums = sums.index_add(0, bag, rows * scale[:, None])
    if mode == _MEAN:
        sums = sums / sizes.clamp(min=1)[:, None]
    return sums, bag, sizes, starts


def bags_backward(
    grad: Any,
    indices: Any,
    offsets: Any,
    offset2bag: Any,
    bag_size: Any,
    maximum_indices: Any,
    num_weights: Any,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Any,
    padding_idx: int = -1,
) -> Any:
    """aten._embedding_bag_backward: the gradient of the table."""
    table = grad.new_zeros(num_weights, grad.shape[1])
    if mode == _MAX:
        return table.scatter_add(0, maximum_indices, torch.where(bag_size[:, None] > 0, grad, 0.0))
    if mode == _MEAN:
        grad = grad / bag_size.clamp(min=1)[:, None]
    scale = (indices != padding_idx).to(grad.dtype)
    if per_sample_weights is not None:
        scale = scale * per_sample_weights
    if scale_grad_by_freq:
        counts = torch.zeros_like(table[:, 0]).index_add(0, indices, torch.ones_like(scale))
        scale = scale / counts.index_select(0, indices)
    rows = grad.index_select(0, offset2bag)
    return table.index_add(0, indices, rows * scale[:, None])


def weights_backward(
    grad: Any,
    weight: Any,
    indices: Any,
    offsets: Any,
    offset2bag: Any,
    mode: int,
    padding_idx: int = -1,
) -> Any:
    """aten._embedding_bag_per_sample_weights_backward: the gradient of the weights of sums."""
    slopes = (grad.index_select(0, offset2bag) * weight.index_select(0, indices)).sum(1)
    return slopes * (indices != padding_idx)

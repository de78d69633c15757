"""Embeddings in a traced module.

Embeddings with ``max_norm`` renormalize rows of their table in place, and torch.export reads a detached
table behind the write, so gradients are lost. In training the table is overwritten under
``torch.no_grad()``. In evaluation the graph renormalizes rows when it reads them, with equal results; as
upstream, the gradient ignores it.

torch's embedding bags have no rules for ``vmap``, and their backward reads saved values. The
decompositions consist of operations with derivatives and ``vmap`` rules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from nestarray.importers.workarounds import Workaround

# -- max_norm ----------------------------------------------------------------------------------


def _shortening(trace: Any, function: Any) -> Callable[..., Any]:
    signature = inspect.signature(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        most, weight = values["max_norm"], values["weight"]
        if most is None:
            return function(*args, **kwargs)
        if trace.module.training:
            with torch.no_grad():
                _shorten_rows(weight, values["input"], most, values["norm_type"])
        else:
            weight = _shortened(weight, most, values["norm_type"])
        values |= {"max_norm": None, "weight": weight}
        return function(*bound.args, **bound.kwargs)

    return call


def _shorten_rows(weight: Any, rows: Any, most: float, norm_type: float) -> None:
    """Write the rows that are read."""
    is_read = torch.zeros(len(weight), dtype=torch.bool)
    is_read = is_read.index_put((rows.flatten(),), torch.tensor(True))
    short = _shortened(weight, most, norm_type)
    weight.copy_(torch.where(is_read[:, None], short, weight))


def _shortened(weight: Any, most: float, norm_type: float) -> Any:
    lengths = torch.linalg.vector_norm(weight.detach(), norm_type, 1, keepdim=True)
    factors = torch.where(lengths > most, most / (lengths + 1e-7), 1.0)
    return weight + (weight * factors - weight).detach()


MAX_NORM = Workaround(
    "embedding with max_norm",
    "the exported program reads a detached table, so gradients are lost",
    functions={
        "torch.nn.functional.embedding": _shortening,
        "torch.nn.functional.embedding_bag": _shortening,
    },
)


# -- bags --------------------------------------------------------------------------------------

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

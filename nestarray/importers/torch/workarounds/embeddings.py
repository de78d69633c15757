"""Embeddings in a traced module.

Embeddings with ``max_norm`` renormalize rows of their table in place, and torch.export reads a detached
table behind the write, so gradients are lost. In training the table is overwritten under
``torch.no_grad()``. In evaluation the graph renormalizes rows when it reads them, with equal results; as
upstream, the gradient ignores it.

torch's embedding bags have no rules for ``vmap``, and their backward reads saved values. In modules that
differentiate or map them, they consist of operations with derivatives and ``vmap`` rules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from nestarray.importers.torch.workarounds.transformations import in_transformation
from nestarray.importers.workarounds import Workaround

# -- max_norm ----------------------------------------------------------------------------------


def _shortening(trace: Any, function: Any) -> Callable[..., Any]:
    signature = inspect.signature(function)

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        most, weight = values["max_norm"], values["weight"]
        is_mapped = trace.is_below_autograd or in_transformation()
        run = _bags_in_parts if is_mapped and "offsets" in values else function
        if most is None:
            return run(*args, **kwargs)
        if trace.module.training:
            with torch.no_grad():
                _shorten_rows(weight, values["input"], most, values["norm_type"])
        else:
            weight = _shortened(weight, most, values["norm_type"])
        values |= {"max_norm": None, "weight": weight}
        return run(*bound.args, **bound.kwargs)

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


def _bags_in_parts(
    input: Any,
    weight: Any,
    offsets: Any = None,
    max_norm: Any = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Any = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Any:
    """`torch.nn.functional.embedding_bag` in operations with derivatives and rules for ``vmap``."""
    if input.dim() == 2:
        offsets = torch.arange(input.shape[0], device=input.device) * input.shape[1]
        weights = per_sample_weights
        input, per_sample_weights = input.flatten(), None if weights is None else weights.flatten()
    number = ("sum", "mean", "max").index(mode)
    padding = -1 if padding_idx is None else padding_idx % weight.shape[0]
    settings = scale_grad_by_freq, number, sparse, per_sample_weights, include_last_offset, padding
    return bags(weight, input, offsets, *settings)[0]


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

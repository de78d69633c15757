"""Embeddings with ``max_norm``, which renormalize rows of their table in place.

torch.export reads a detached table behind the write, so gradients are lost. In training the table is overwritten under
``torch.no_grad()``. In evaluation the graph renormalizes rows when it reads them, with equal
results; as upstream, the gradient ignores it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from nestarray.importers.torch.workarounds import reproducers
from nestarray.importers.workarounds import Workaround


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
    (
        reproducers.embedding_with_max_norm,
        reproducers.embedding_bag_with_max_norm,
    ),
    functions={
        "torch.nn.functional.embedding": _shortening,
        "torch.nn.functional.embedding_bag": _shortening,
    },
)

"""Embeddings with ``max_norm``, which renormalize rows of their table in place.

torch's operation for it cannot be exported. In training the table is overwritten under
``torch.no_grad()``. In evaluation the graph renormalizes rows when it reads them, with equal
results; as upstream, the gradient ignores it.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def patched_max_norm(train: bool) -> Iterator[None]:
    """Renormalize rows during an export; `train` writes them into the table."""
    import torch
    import torch.nn.functional as F
    from torch.overrides import TorchFunctionMode

    signatures = {f: inspect.signature(f) for f in (F.embedding, F.embedding_bag)}

    class Shortened(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            if function not in signatures:
                return function(*args, **kwargs)
            call = signatures[function].bind(*args, **kwargs)
            call.apply_defaults()
            given = call.arguments
            most, weight = given["max_norm"], given["weight"]
            if most is None:
                return function(*args, **kwargs)
            if train:
                with torch.no_grad():
                    _shorten_rows(weight, given["input"], most, given["norm_type"])
            else:
                weight = _shortened(weight, most, given["norm_type"])
            given |= {"max_norm": None, "weight": weight}
            return function(*call.args, **call.kwargs)

    with Shortened():
        yield


def _shorten_rows(weight: Any, rows: Any, most: float, norm_type: float) -> None:
    """Write the rows that are read."""
    import torch

    is_read = torch.zeros(len(weight), dtype=torch.bool)
    is_read = is_read.index_put((rows.flatten(),), torch.tensor(True))
    short = _shortened(weight, most, norm_type)
    weight.copy_(torch.where(is_read[:, None], short, weight))


def _shortened(weight: Any, most: float, norm_type: float) -> Any:
    import torch

    lengths = torch.linalg.vector_norm(weight.detach(), norm_type, 1, keepdim=True)
    factors = torch.where(lengths > most, most / (lengths + 1e-7), 1.0)
    return weight + (weight * factors - weight).detach()

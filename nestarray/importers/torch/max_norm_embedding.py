"""Embeddings with ``max_norm``, which renormalize rows of their table in place.

In evaluation the graph renormalizes rows when it reads them, with equal results; as upstream, the
gradient ignores it. In training an optimizer continues from the overwritten table, which a graph
cannot return, since it returns no parameters.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from nestarray.errors import ConversionError


@contextlib.contextmanager
def patched_max_norm(train: bool) -> Iterator[None]:
    """Renormalize rows without writing them, during an export.

    Raises:
        ConversionError: `train` and the table is trained."""
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
            if train and weight.requires_grad:
                name = function.__name__
                raise ConversionError(
                    f"trace_graph: {name}: max_norm: got {most}, expected None in training, where "
                    f"{name} overwrites rows of its parameter: leave it out, and shorten the rows "
                    "between the steps: torch.renorm(weight, 2, 0, max_norm)"
                )
            given |= {"max_norm": None, "weight": _shortened(weight, most, given["norm_type"])}
            return function(*call.args, **call.kwargs)

    with Shortened():
        yield


def _shortened(weight: Any, most: float, norm_type: float) -> Any:
    import torch

    lengths = torch.linalg.vector_norm(weight.detach(), norm_type, 1, keepdim=True)
    factors = torch.where(lengths > most, most / (lengths + 1e-7), 1.0)
    return weight + (weight * factors - weight).detach()

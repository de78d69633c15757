"""Attention whose ``is_causal`` is a comparison of sizes.

``length > 1 and mask is None`` is the comparison itself, a ``torch.SymBool``, where it is false.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.importers.torch.workarounds import reproducers
from nestarray.importers.workarounds import Workaround


def _deciding(trace: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with a number for a comparison of sizes."""

    def call(*args: Any, **kwargs: Any) -> Any:
        decided = [bool(x) if isinstance(x, torch.SymBool) else x for x in args]
        named = {k: bool(x) if isinstance(x, torch.SymBool) else x for k, x in kwargs.items()}
        return function(*decided, **named)

    return call


ATTENTION = Workaround(
    "attention that a comparison of sizes makes causal",
    "scaled_dot_product_attention takes no torch.SymBool for is_causal",
    (reproducers.attention_that_a_size_makes_causal,),
    issue="transformers#46196",
    attributes={"torch.nn.functional.scaled_dot_product_attention": _deciding},
)

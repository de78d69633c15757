"""Attention in a traced module.

On CPU torch runs ``flex_attention`` without gradients only, and exports an operation over functions of
single numbers. These functions are elementwise, so during the trace they receive all scores and all
positions at once, as arrays that broadcast.

``is_causal = length > 1 and mask is None`` is a comparison of sizes, a ``torch.SymBool``, where it is false.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from nestarray.importers.workarounds import Workaround, always

# -- is_causal ---------------------------------------------------------------------------------


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
    issue="transformers#46196",
    attributes={"torch.nn.functional.scaled_dot_product_attention": _deciding},
)


# -- flex_attention ----------------------------------------------------------------------------

_MODULE = "torch.nn.attention.flex_attention"


def _attention(
    query: Any, key: Any, value: Any, score_mod: Any, block_mask: Any, scale: float, _: Any
) -> tuple[Any, Any, Any]:
    """The result, and log-sum-exp and maximum of each row of scores, to base 2."""
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = (x.repeat_interleave(groups, dim=1) for x in (key, value))
    dtype = query.dtype if query.dtype is torch.float64 else torch.float32
    scores = (query @ key.transpose(-2, -1)).to(dtype) * scale
    places = [
        torch.arange(n, device=query.device, dtype=torch.int32).view([-1] + [1] * (3 - axis))
        for axis, n in enumerate(scores.shape)
    ]
    scores = score_mod(scores, *places)
    mask_mod = block_mask[-1]
    scores = torch.where(mask_mod(*places), scores, -math.inf)
    is_masked = (scores == -math.inf).all(-1, keepdim=True)
    seen = scores.masked_fill(is_masked, 0.0)
    weights = torch.softmax(seen, -1).masked_fill(is_masked, 0.0)
    total = torch.logsumexp(seen, -1).masked_fill(is_masked.squeeze(-1), -math.inf)
    return weights.to(query.dtype) @ value, total / math.log(2), scores.amax(-1) / math.log(2)


FLEX_ATTENTION = Workaround(
    "flex_attention",
    "on CPU flex_attention has no gradient, and exports functions of single numbers",
    issue="pytorch#148752",
    operation="flex_attention",
    attributes={
        f"{_MODULE}.flex_attention_hop": always(_attention),
        f"{_MODULE}._validate_device": always(lambda *_: None),  # that inputs have no gradients
        f"{_MODULE}._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG": always(True),  # it is traced here
    },
)

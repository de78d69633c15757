"""PyTorch: `nestarray.ops.attention`."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.derivatives import is_batched, order


# torch uses its own generator for dropout, accepts either a mask or causality, no mask of another
# dtype or with fewer than two axes, and reads out of bounds if there are fewer values than keys
@supports(
    lambda query, key, value, mask=None, *_, dropout_p=0.0, is_causal=False, enable_gqa=False, attn_logits_soft_cap=None, **_settings: (
        query.is_floating_point()
        and not any(
            map(is_batched, (query, key, value))
        )  # the kernel for CPUs has no rule for vmap
        and (order() < 2 or not query.is_cpu)  # the kernel for CPUs has a first derivative only
        and dropout_p == 0
        and attn_logits_soft_cap is None
        and query.shape[-1]
        and key.shape[:-1] == value.shape[:-1]
        and (
            mask is None
            or (not is_causal and mask.ndim > 1 and mask.dtype in (torch.bool, query.dtype))
        )
        and not (enable_gqa and query.shape[-3] % key.shape[-3])
    )
)
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    dropout_key: Any = None,
    *,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    attn_logits_soft_cap: float | None = None,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html"""
    if torch.compiler.is_exporting() and {x.ndim for x in (query, key, value)} == {3}:
        if mask is not None and mask.ndim == 3:
            mask = mask[None]
        settings = {"is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa}
        # `torch.onnx` takes four axes
        return F.scaled_dot_product_attention(
            query[None], key[None], value[None], mask, **settings
        )[0]
    if mask is None and scale is None and not (is_causal or enable_gqa):
        return F.scaled_dot_product_attention(query, key, value)
    return F.scaled_dot_product_attention(
        query, key, value, mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
    )

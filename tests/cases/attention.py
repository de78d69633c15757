"""Cases of `nestarray.ops.attention`; the oracle is torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator
Draw = Callable[[Rng], tuple[Any, ...]]


def draw(query: tuple[int, ...], key: tuple[int, ...], value: tuple[int, ...]) -> Draw:
    return lambda rng: tuple(rng.normal(size=shape) for shape in (query, key, value))


FOUR = draw((2, 3, 4, 5), (2, 3, 6, 5), (2, 3, 6, 2))
SHARED = draw((2, 4, 3, 5), (2, 2, 6, 5), (2, 2, 6, 5))


def choices(rng: Rng) -> np.ndarray:
    """A bool mask that leaves the second query nothing."""
    mask = rng.random((4, 6)) < 0.6
    mask[0, 0], mask[1] = True, False
    return mask


def masked(rng: Rng) -> tuple[Any, ...]:
    return (*FOUR(rng), choices(rng))


def added(rng: Rng) -> tuple[Any, ...]:
    return (*FOUR(rng), rng.normal(size=(2, 1, 4, 6)))


def added_infinite(rng: Rng) -> tuple[Any, ...]:
    return (*FOUR(rng), np.where(choices(rng), 0.0, -np.inf))


def shared_masked(rng: Rng) -> tuple[Any, ...]:
    return (*SHARED(rng), rng.normal(size=(2, 4, 3, 6)))


def attention(
    query: Any, key: Any, value: Any, mask: Any = None, *, is_causal: bool = False, **settings: Any
) -> Any:
    tensors = [torch.as_tensor(a) for a in (query, key, value)]
    if mask is not None and is_causal:  # torch takes one of the two
        mask, is_causal = mask & np.tri(*mask.shape[-2:], dtype=bool), False
    mask = None if mask is None else torch.as_tensor(mask)
    return F.scaled_dot_product_attention(*tensors, attn_mask=mask, is_causal=is_causal, **settings)


def case(args: Draw, id: str = "", differentiable: Any = True, **kwargs: Any) -> Case:
    op = "scaled_dot_product_attention"
    return Case(op, args, kwargs, attention, differentiable=differentiable, id=id)


CASES = [
    case(FOUR),
    case(draw((3, 4, 5), (3, 6, 5), (3, 6, 2)), "three-axes"),
    case(FOUR, "scale", scale=0.3),
    case(FOUR, "causal", is_causal=True),
    case(masked, "mask"),
    case(masked, "mask-causal", is_causal=True),
    case(added, "bias"),
    # differences cannot be taken at −∞
    case(added_infinite, "bias-infinite", differentiable=(0, 1, 2)),
    case(SHARED, "shared", enable_gqa=True),
    case(shared_masked, "shared-bias", enable_gqa=True),
    case(SHARED, "shared-causal", enable_gqa=True, is_causal=True),
]

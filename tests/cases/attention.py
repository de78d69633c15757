"""Cases of `nestarray.ops.attention`; the oracles are torch.nn.functional and jax.random."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.attention.flex_attention import flex_attention

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
    if "attn_logits_soft_cap" in settings:
        return capped(query, key, value, mask, is_causal=is_causal, **settings)
    tensors = [torch.as_tensor(a) for a in (query, key, value)]
    if mask is not None and is_causal:  # torch takes one of the two
        mask, is_causal = mask & np.tri(*mask.shape[-2:], dtype=bool), False
    mask = None if mask is None else torch.as_tensor(mask)
    return F.scaled_dot_product_attention(*tensors, attn_mask=mask, is_causal=is_causal, **settings)


def capped(
    query: Any, key: Any, value: Any, mask: Any, *, is_causal: bool, attn_logits_soft_cap: float
) -> Any:
    """torch's own flex_attention, which takes a function of the scores."""
    query, key, value = map(torch.as_tensor, (query, key, value))
    mask = torch.zeros(1) if mask is None else torch.as_tensor(mask)
    bias = torch.where(mask, 0.0, -torch.inf) if mask.dtype is torch.bool else mask
    bias = bias.expand(*query.shape[:-1], key.shape[-2])

    def score(s: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
        s = attn_logits_soft_cap * torch.tanh(s / attn_logits_soft_cap) + bias[b, h, i, j]
        return torch.where(i >= j, s, -torch.inf) if is_causal else s

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it is slow without torch.compile
        return flex_attention(query, key, value, score_mod=score)


def with_key(args: Draw, mask: bool = False) -> Draw:
    """The arguments, no mask if they have none, and a key."""

    def draw(rng: Rng) -> tuple[Any, ...]:
        rest = () if mask else (None,)
        return (*args(rng), *rest, rng.integers(0, 2**32, 2, dtype=np.uint32))

    return draw


def dropped(
    query: Any,
    key: Any,
    value: Any,
    mask: Any,
    dropout_key: Any,
    *,
    dropout_p: float,
    **settings: Any,
) -> Any:
    """torch's weights, its results for unit vectors, without the ones that JAX drops."""
    units = np.broadcast_to(np.eye(key.shape[-2]), (*key.shape[:-1], key.shape[-2])).copy()
    weights = attention(query, key, units, mask, **settings).numpy()
    share = np.float32(1 - dropout_p)  # in float32 with and without x64
    keep = jax.random.bernoulli(jnp.asarray(dropout_key), share, weights.shape)
    value = np.repeat(value, query.shape[-3] // value.shape[-3], axis=-3)
    return np.where(np.asarray(keep), weights / (1 - dropout_p), 0) @ value


def case(args: Draw, id: str = "", differentiable: Any = True, **kwargs: Any) -> Case:
    op = "scaled_dot_product_attention"
    return Case(op, args, kwargs, attention, differentiable=differentiable, id=id)


def projected(biases: bool = True, mask: bool = False) -> Draw:
    """Two heads, with keys and values of other sizes than the queries."""

    def draw(rng: Rng) -> tuple[Any, ...]:
        shapes = ((2, 3, 6), (2, 4, 5), (2, 4, 3), (6, 6), (6, 5), (6, 3), (6, 6))
        *inputs, q, k, v, out = (rng.normal(size=shape) for shape in shapes)
        found = [*inputs, [q, k, v, out]]
        found.append([rng.normal(size=6) for _ in range(4)] if biases else [])
        if mask:
            found.append(np.asarray([[True, False, True, True]] * 2 + [[False] * 3 + [True]]))
        return tuple(found)

    return draw


def multi_head(
    query: Any, key: Any, value: Any, weights: Any, biases: Any = (), mask: Any = None, /,
    *, num_heads: int, is_causal: bool = False, need_weights: bool = False,
) -> Any:  # fmt: skip
    layer = torch.nn.MultiheadAttention(
        6, num_heads, kdim=5, vdim=3, bias=bool(biases), batch_first=True, dtype=torch.float64
    )
    own = (layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight, layer.out_proj.weight)
    for parameter, given in zip(own, weights, strict=True):
        parameter.data = torch.as_tensor(given)
    if biases:
        layer.in_proj_bias.data = torch.as_tensor(np.concatenate(biases[:3]))
        layer.out_proj.bias.data = torch.as_tensor(biases[3])
    barred = ~np.tri(3, 4, dtype=bool) if is_causal else None
    barred = ~mask if mask is not None else barred  # torch bars where its mask is True
    with torch.no_grad():
        out, shares = layer(
            *map(torch.as_tensor, (query, key, value)),
            attn_mask=None if barred is None else torch.as_tensor(barred),
            average_attn_weights=False,
        )
    return (out, shares) if need_weights else out


def multi_head_dropped(
    query: Any, key: Any, value: Any, weights: Any, biases: Any, mask: Any, dropout_key: Any, /,
    *, num_heads: int, dropout_p: float, need_weights: bool = False,
) -> Any:  # fmt: skip
    """The values in the shares that torch gives them, less those that JAX drops."""
    inputs = (query, key, value, weights, biases, mask)
    shares = multi_head(*inputs, num_heads=num_heads, need_weights=True)[1].numpy()
    share = np.float32(1 - dropout_p)  # in float32 with and without x64
    keep = jax.random.bernoulli(jnp.asarray(dropout_key), share, shares.shape)
    shares = np.where(np.asarray(keep), shares / (1 - dropout_p), 0)
    values = np.stack(np.split(value @ weights[2].T + biases[2], num_heads, axis=-1), axis=1)
    out = np.concatenate(list(np.moveaxis(shares @ values, 1, 0)), axis=-1)
    out = out @ weights[3].T + biases[3]
    return (out, shares) if need_weights else out


CASES = [
    Case("multi_head_attention", projected(), {"num_heads": 2}, multi_head),
    Case(
        "multi_head_attention",
        with_key(projected()),
        {"num_heads": 2, "dropout_p": 0.4},
        multi_head_dropped,
        differentiable=(0, 1, 2),
        id="dropout",
    ),
    Case(
        "multi_head_attention",
        with_key(projected(mask=True), mask=True),
        {"num_heads": 3, "dropout_p": 0.5, "need_weights": True},
        multi_head_dropped,
        differentiable=(0, 1, 2),
        id="dropout-weights",
    ),
    Case(
        "multi_head_attention",
        projected(biases=False),
        {"num_heads": 3, "is_causal": True, "need_weights": True},
        multi_head,
        id="causal-weights",
    ),
    Case(
        "multi_head_attention",
        projected(mask=True),
        {"num_heads": 2, "need_weights": True},
        multi_head,
        id="mask",
    ),
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
    Case(
        "scaled_dot_product_attention",
        with_key(FOUR),
        {"dropout_p": 0.3, "is_causal": True},
        dropped,
        differentiable=(0, 1, 2),
        id="dropout",
    ),
    Case(
        "scaled_dot_product_attention",
        with_key(masked, mask=True),
        {"dropout_p": 0.5},
        dropped,
        differentiable=(0, 1, 2),
        id="dropout-mask",
    ),
    Case(
        "scaled_dot_product_attention",
        with_key(shared_masked, mask=True),
        {"dropout_p": 0.4, "enable_gqa": True},
        dropped,
        differentiable=(0, 1, 2, 3),
        id="dropout-shared",
    ),
    case(FOUR, "capped", attn_logits_soft_cap=0.7),
    case(FOUR, "capped-causal", attn_logits_soft_cap=1.5, is_causal=True),
    case(added, "capped-mask", attn_logits_soft_cap=0.7),
]

"""Cases of `nestarray.ops.positions`; the oracles are complex numbers and `transformers`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from tests.cases import Case

Rng = np.random.Generator


def turned(rng: Rng) -> tuple[Any, ...]:
    angles = rng.uniform(-3, 3, (3, 2))
    return rng.normal(size=(2, 3, 6)), np.cos(angles), np.sin(angles)


def rotary(x: Any, cos: Any, sin: Any, *, interleaved: bool = False) -> Any:
    """The pairs as complex numbers, times e^(iθ)."""
    half = cos.shape[-1]
    pairs = x[..., : 2 * half].reshape(*x.shape[:-1], *((half, 2) if interleaved else (2, half)))
    pairs = pairs if interleaved else np.swapaxes(pairs, -1, -2)
    product = (pairs[..., 0] + 1j * pairs[..., 1]) * (cos + 1j * sin)
    out = np.stack([product.real, product.imag], -1 if interleaved else -2)
    return np.concatenate([out.reshape(*x.shape[:-1], 2 * half), x[..., 2 * half :]], axis=-1)


def whole(rng: Rng) -> tuple[Any, ...]:
    x, cos, sin = turned(rng)
    return x[..., :4], cos, sin


def alibi(num_heads: int, length: int, source: int | None = None, **_: Any) -> Any:
    """Bloom's bias, which uses the position of the key in place of the distance."""
    source = length if source is None else source
    along = build_alibi_tensor(torch.ones(1, source), num_heads, torch.float64).numpy()
    queries = along[:, :, source - length :]
    return -np.abs(np.swapaxes(queries, 1, 2) - along)


CASES = [
    Case("rotary_embedding", turned, reference=rotary),
    Case("rotary_embedding", turned, {"interleaved": True}, rotary, id="interleaved"),
    Case("rotary_embedding", whole, reference=rotary, id="whole"),
    Case("rotary_embedding", whole, {"interleaved": True}, rotary, id="whole-interleaved"),
    Case("alibi_bias", lambda rng: (4, 3), reference=alibi, differentiable=False),
    Case(
        "alibi_bias",
        lambda rng: (6, 2, 5),
        {"dtype": "float64"},
        alibi,
        differentiable=False,
        dtype="float64",
        id="six",
    ),
]

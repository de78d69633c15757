"""Cases of `nestarray.ops.patterns`; the oracle is the reshape, transpose and reduction of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case


def block(rng: np.random.Generator, pattern: str, *settings: Any) -> tuple[Any, ...]:
    return (rng.standard_normal((2, 4, 3)), pattern, *settings)


def by_pairs(x: np.ndarray, reduce: Any) -> Any:
    return reduce(x.reshape(2, 2, 2, 3), axis=(2, 3))


CASES = [
    Case(
        "rearrange",
        lambda rng: block(rng, "b (h w) c -> (b w) c h"),
        {"h": 2},
        reference=lambda x, *_, **__: x.reshape(2, 2, 2, 3).transpose(0, 2, 3, 1).reshape(4, 3, 2),
    ),
    Case(
        "rearrange",
        lambda rng: block(rng, "... c -> c ... 1"),
        reference=lambda x, *_: np.moveaxis(x, -1, 0)[..., None],
        id="dots",
    ),
    Case(
        "reduce",
        lambda rng: block(rng, "b (n k) c -> b n", "mean"),
        {"k": 2},
        reference=lambda x, *_, **__: by_pairs(x, np.mean),
    ),
    Case(
        "reduce",
        lambda rng: block(rng, "b (n k) c -> b n", "max"),
        {"k": 2},
        reference=lambda x, *_, **__: by_pairs(x, np.max),
        id="max",
    ),
    Case(
        "reduce",
        lambda rng: block(rng, "b n c -> 1 c", "prod"),
        reference=lambda x, *_: np.prod(x, axis=(0, 1))[None],
        id="prod",
    ),
    Case(
        "reduce",
        lambda rng: (rng.integers(0, 9, (2, 3), dtype="int8"), "a b -> b", "mean"),
        reference=lambda x, *_: x.mean(axis=0, dtype="float32"),
        differentiable=False,
        id="int8",
    ),
    Case(
        "reduce",
        lambda rng: (rng.random((2, 3)) < 0.5, "a b ->", "any"),
        reference=lambda x, *_: np.any(x),
        differentiable=False,
        id="any",
    ),
    Case(
        "repeat_axes",
        lambda rng: block(rng, "b h c -> k b (h w) c"),
        {"w": 2, "k": 3},
        reference=lambda x, *_, **__: np.broadcast_to(np.repeat(x, 2, axis=1), (3, 2, 8, 3)),
    ),
]

"""Rows of `nestarray.nn.embeddings`."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from nestarray import nn
from tests.nn.rows.row import Row

T = torch.nn


class Patches(torch.nn.Module):
    """A convolution by patches, as in ViT."""

    def __init__(self) -> None:
        super().__init__()
        self.projection = torch.nn.Conv2d(3, 5, (2, 3), (2, 3))

    def forward(self, x: Any) -> Any:
        return self.projection(x).flatten(2).mT


def bag(name: str, inputs: Any, **settings: Any) -> Row:
    """Ours and torch's bag."""
    return Row(
        f"EmbeddingBag {name}",
        lambda: nn.EmbeddingBag(5, 3, **settings),
        lambda: T.EmbeddingBag(5, 3, **settings),
        inputs=inputs,
        has_kinks=settings["mode"] == "max" or "max_norm" in settings,
    )


def indices(rng: Any) -> tuple[Any, ...]:
    return (rng.integers(0, 5, (2, 4)),)


def with_offsets(rng: Any) -> tuple[Any, ...]:
    """Bags of 3, 0 and 4 indices."""
    return rng.integers(0, 5, 7), np.asarray([0, 3, 3])


def weighted(rng: Any) -> tuple[Any, ...]:
    return *with_offsets(rng), rng.normal(size=7).astype("float32")


ROWS = [
    Row("Embedding", lambda: nn.Embedding(5, 3), lambda: T.Embedding(5, 3), inputs=indices),
    Row(
        "Embedding padded",
        lambda: nn.Embedding(5, 3, -2),
        lambda: T.Embedding(5, 3, -2),
        inputs=indices,
    ),
    Row(
        "Embedding max_norm",
        lambda: nn.Embedding(5, 3, max_norm=1.0, norm_type=3.0),
        lambda: T.Embedding(5, 3, max_norm=1.0, norm_type=3.0),
        inputs=indices,
        has_kinks=True,
    ),
    bag("mean", indices, mode="mean"),
    bag("padded", indices, mode="mean", padding_idx=3),
    bag("sum", weighted, mode="sum"),
    bag("max_norm", weighted, mode="sum", max_norm=1.5),
    bag("max max_norm", with_offsets, mode="max", max_norm=1.0, norm_type=1.0),
    bag("max", with_offsets, mode="max"),
    bag("mean padded", with_offsets, mode="mean", padding_idx=1),
    Row("PatchEmbedding", lambda: nn.PatchEmbedding(3, 5, (2, 3)), Patches, ((2, 3, 4, 6),)),
]

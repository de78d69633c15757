"""Cases of `nestarray.ops.margin_losses`; the oracles are torch.nn.functional and scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn.metrics
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator
Draw = Callable[[Rng], tuple[Any, ...]]


def signs(rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(3, 4)), np.where(rng.random((3, 4)) < 0.5, 1.0, -1.0)


def ranked(rng: Rng) -> tuple[Any, ...]:
    x, target = signs(rng)
    return x, rng.normal(size=(3, 4)), target


def triplets(rng: Rng) -> tuple[Any, ...]:
    return tuple(rng.normal(size=(5, 3)) for _ in range(3))


def classified(rng: Rng) -> tuple[Any, ...]:
    """Scores whose differences are well away from whole numbers, where derivatives jump."""
    return rng.permutation(np.linspace(-2.9, 2.9, 12)).reshape(3, 4), rng.integers(0, 4, 3)


def weighted(rng: Rng) -> tuple[Any, ...]:
    return *classified(rng), rng.uniform(0.5, 2.0, 4)


def labelled(rng: Rng) -> tuple[Any, ...]:
    labels = np.asarray([[2, 0, -1, 1], [-1, 3, 0, 1], [3, 2, 1, 0]])
    return classified(rng)[0], labels


def multilabel(rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(3, 4)), rng.uniform(size=(3, 4)), rng.uniform(0.5, 2.0, 4)


def embedded(rng: Rng) -> tuple[Any, ...]:
    x1 = rng.normal(size=(4, 3))
    return x1, x1 + rng.normal(size=(4, 3)), np.asarray([1.0, -1.0, 1.0, -1.0])


def by_torch(op: str) -> Callable[..., Any]:
    """torch's function of the op's name, which has the op's settings."""

    def reference(*arrays: Any, **settings: Any) -> Any:
        return getattr(F, op)(*map(torch.as_tensor, arrays), **settings)

    return reference


def with_weight(op: str) -> Callable[..., Any]:
    def reference(x: Any, target: Any, weight: Any, **settings: Any) -> Any:
        x, target, weight = map(torch.as_tensor, (x, target, weight))
        return getattr(F, op)(x, target, weight=weight, **settings)

    return reference


def hinge(x: Any, target: Any) -> Any:
    return np.asarray(sklearn.metrics.hinge_loss(target.ravel(), x.ravel()))


def loss(id: str, args: Draw, reference: Any = None, differentiable: Any = True, **kwargs: Any):
    op, _, rest = id.partition("-")
    reference = reference or by_torch(op)
    return Case(op, args, kwargs, reference, differentiable=differentiable, id=rest)


CASES = [
    loss("hinge_loss", signs, hinge),
    loss("hinge_embedding_loss", signs, differentiable=(0,)),
    loss("hinge_embedding_loss-margin", signs, margin=0.3, reduction="none", differentiable=(0,)),
    loss("margin_ranking_loss", ranked),
    loss("margin_ranking_loss-margin", ranked, margin=0.3, reduction="none"),
    loss("soft_margin_loss", signs),
    loss("triplet_margin_loss", triplets),
    loss("triplet_margin_loss-settings", triplets, margin=0.5, p=3.0, swap=True,
         reduction="none"),
    loss("multi_margin_loss", classified),
    loss("multi_margin_loss-squares", weighted, with_weight("multi_margin_loss"), p=2, margin=0.7,
         reduction="none"),
    loss("multilabel_margin_loss", labelled),
    loss("multilabel_margin_loss-none", labelled, reduction="none"),
    loss("multilabel_soft_margin_loss", multilabel, with_weight("multilabel_soft_margin_loss")),
    loss("cosine_embedding_loss", embedded, differentiable=(0, 1)),
    loss("cosine_embedding_loss-margin", embedded, margin=0.2, reduction="none",
         differentiable=(0, 1)),
]  # fmt: skip

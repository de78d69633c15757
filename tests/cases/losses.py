"""Cases of `nestarray.ops.losses`; the oracle is torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator
Draw = Callable[[Rng], tuple[Any, ...]]


def pair(rng: Rng) -> tuple[Any, ...]:
    """Their differences are well away from 0, ±0.5 and ±1, where derivatives jump."""
    target = rng.normal(size=(3, 4))
    return target + rng.permutation(np.linspace(-3.9, 3.9, 12)).reshape(3, 4), target


def probabilities(rng: Rng) -> tuple[Any, ...]:
    return rng.uniform(0.05, 0.95, (3, 4)), rng.uniform(0.05, 0.95, (3, 4))


def log_probabilities(rng: Rng) -> tuple[Any, ...]:
    x, target = rng.normal(size=(3, 4)), rng.uniform(0.2, 1.0, (3, 4))
    x = x - np.logaddexp.reduce(x, axis=-1, keepdims=True)
    return x, target / target.sum(axis=-1, keepdims=True)


def weighted_logits(rng: Rng) -> tuple[Any, ...]:
    return (
        rng.normal(size=(3, 4)),
        rng.uniform(0.0, 1.0, (3, 4)),
        rng.uniform(0.5, 2.0, (3, 4)),
        rng.uniform(0.5, 2.0, (4,)),
    )


def classes(*shape: int, axis: int = -1, ignored: bool = False, weight: bool = False) -> Draw:
    """Logits of `shape` and class indices for them, some of them −100 or a weight if asked for."""

    def args(rng: Rng) -> tuple[Any, ...]:
        rest = [n for i, n in enumerate(shape) if i != axis % len(shape)]
        target = rng.integers(0, shape[axis], rest)
        if ignored:
            target.flat[0] = -100
        drawn = rng.normal(size=shape), target
        return (*drawn, rng.uniform(0.5, 2.0, shape[axis])) if weight else drawn

    return args


def distributions(*shape: int, axis: int = -1, weight: bool = False) -> Draw:
    """Logits of `shape` and probabilities of the classes."""

    def args(rng: Rng) -> tuple[Any, ...]:
        target = rng.uniform(size=shape)
        drawn = rng.normal(size=shape), target / target.sum(axis=axis, keepdims=True)
        return (*drawn, rng.uniform(0.5, 2.0, shape[axis])) if weight else drawn

    return args


def by_torch(op: str) -> Callable[..., Any]:
    """torch's function of the op's name, which has the op's settings."""

    def reference(*arrays: Any, **settings: Any) -> Any:
        return getattr(F, op)(*map(torch.as_tensor, arrays), **settings)

    return reference


def with_logits(x: Any, target: Any, weight: Any, pos_weight: Any, **settings: Any) -> Any:
    arrays = map(torch.as_tensor, (x, target, weight))
    return F.binary_cross_entropy_with_logits(
        *arrays, pos_weight=torch.as_tensor(pos_weight), **settings
    )


def weighted_focal(rng: Rng) -> tuple[Any, ...]:
    return rng.normal(size=(3, 4)), rng.uniform(size=(3, 4))


def of_mean(terms: Any, reduction: str) -> Any:
    terms = np.asarray(terms)
    return terms if reduction == "none" else getattr(terms, reduction)()


def focal(logits: Any, target: Any, *, reduction: str = "mean", **settings: Any) -> Any:
    settings = {"alpha": 0.25, **settings}
    with jax.enable_x64(True):
        terms = optax.losses.sigmoid_focal_loss(*map(jnp.asarray, (logits, target)), **settings)
    return of_mean(terms, reduction)


def dice(x: Any, target: Any, *, axis: Any = None, reduction: str = "mean") -> Any:
    import keras  # here, since it takes seconds

    loss = keras.losses.dice(*map(np.asarray, (target, x)), axis=axis)
    return of_mean(loss, reduction)


def kl_div(x: Any, target: Any, *, reduction: str = "mean", log_target: bool = False) -> Any:
    # torch warns of its "mean"
    x, target = torch.as_tensor(x), torch.as_tensor(target)
    terms = F.kl_div(x, target, reduction="none", log_target=log_target)
    if reduction == "batchmean":
        return terms.sum() / len(x)
    return terms if reduction == "none" else getattr(terms, reduction)()


def class_loss(op: str) -> Callable[..., Any]:
    """torch's function, with the classes moved to axis 1 first."""

    def reference(x: Any, target: Any, weight: Any = None, *, axis: int = -1, **settings: Any):
        x, target = torch.as_tensor(x), torch.as_tensor(target)
        if target.ndim == x.ndim:
            target = target.movedim(axis, 1)
        weight = None if weight is None else torch.as_tensor(weight)
        return getattr(F, op)(x.movedim(axis, 1), target, weight, **settings)

    return reference


def loss(id: str, args: Draw, reference: Any = None, differentiable: Any = True, **kwargs: Any):
    op, _, rest = id.partition("-")
    reference = reference or by_torch(op)
    return Case(op, args, kwargs, reference, differentiable=differentiable, id=rest)


def each_reduction(op: str, args: Draw, **settings: Any) -> list[Case]:
    return [
        loss(op, args, **settings),
        loss(f"{op}-sum", args, reduction="sum", **settings),
        loss(f"{op}-none", args, reduction="none", **settings),
    ]


CE, NLL = class_loss("cross_entropy"), class_loss("nll_loss")

CASES = [
    *each_reduction("cross_entropy", classes(5, 4), reference=CE),
    loss("cross_entropy-language", classes(2, 3, 4, ignored=True), CE),
    loss("cross_entropy-image", classes(2, 4, 3, 2, axis=1), CE, axis=1),
    loss("cross_entropy-weight", classes(5, 4, ignored=True, weight=True), CE),
    loss("cross_entropy-weight-none", classes(5, 4, weight=True), CE, reduction="none"),
    loss("cross_entropy-smoothing", classes(5, 4, ignored=True), CE, label_smoothing=0.2),
    loss("cross_entropy-smoothing-weight", classes(5, 4, ignored=True, weight=True), CE,
         label_smoothing=0.2),
    loss("cross_entropy-ignore", classes(5, 4), CE, ignore_index=1),
    *(
        loss(f"cross_entropy-distributions-{r}", distributions(2, 3, 4), CE, reduction=r)
        for r in ("mean", "sum", "none")
    ),
    loss("cross_entropy-distributions-axis", distributions(2, 4, 3, axis=1), CE, axis=1),
    loss("cross_entropy-distributions-weight", distributions(5, 4, weight=True), CE,
         label_smoothing=0.2),
    *each_reduction("nll_loss", classes(5, 4), reference=NLL),
    loss("nll_loss-image", classes(2, 4, 3, 2, axis=1, ignored=True, weight=True), NLL, axis=1),
    *each_reduction("binary_cross_entropy", probabilities),
    loss("binary_cross_entropy-weight",
         lambda rng: (*probabilities(rng), rng.uniform(0.5, 2.0, (3, 4)))),
    loss("binary_cross_entropy-certain",
         lambda rng: (np.asarray([0.0, 1.0, 0.0, 1.0]), np.asarray([0.0, 1.0, 1.0, 0.0])),
         differentiable=False),
    *each_reduction("binary_cross_entropy_with_logits", probabilities),
    loss("binary_cross_entropy_with_logits-weights", weighted_logits, with_logits),
    *each_reduction("kl_div", log_probabilities, reference=kl_div),
    loss("kl_div-batchmean", log_probabilities, kl_div, reduction="batchmean"),
    loss("kl_div-logs", pair, kl_div, log_target=True),
    loss("kl_div-zeros", lambda rng: (rng.normal(size=4), np.asarray([0.0, 0.5, 0.5, 0.0])), kl_div, differentiable=(0,)),
    loss("focal_loss", weighted_focal, focal),
    loss("focal_loss-settings", weighted_focal, focal, alpha=None, gamma=0.5, reduction="none"),
    loss("dice_loss", probabilities, dice),
    loss("dice_loss-axis", probabilities, dice, axis=(1,), reduction="none"),
    loss("cosine_similarity", lambda rng: (rng.normal(size=(3, 4)), rng.normal(size=4)),
         lambda x1, x2: F.cosine_similarity(torch.as_tensor(x1), torch.as_tensor(x2), dim=-1)),
    loss("cosine_similarity-axis", pair,
         lambda x1, x2, **_: F.cosine_similarity(*map(torch.as_tensor, (x1, x2)), dim=0, eps=3.0),
         axis=0, eps=3.0),
]  # fmt: skip

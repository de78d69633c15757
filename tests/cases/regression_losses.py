"""Cases of `nestarray.ops.regression_losses`; the oracles are torch.nn.functional and optax."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax
import torch
import torch.nn.functional as F

from tests.cases.losses import Rng, each_reduction, loss, of_mean, pair


def counted(rng: Rng) -> tuple[Any, ...]:
    return rng.uniform(0.2, 1.5, (3, 4)), rng.integers(0, 5, (3, 4)).astype(float)


def normal(rng: Rng) -> tuple[Any, ...]:
    return *pair(rng), rng.uniform(0.5, 2.0, (3, 1))


def log_cosh(x: Any, target: Any, *, reduction: str = "mean") -> Any:
    with jax.enable_x64(True):
        return of_mean(optax.losses.log_cosh(*map(jnp.asarray, (x, target))), reduction)


CASES = [
    *each_reduction("mse_loss", pair),
    *each_reduction("l1_loss", pair),
    *each_reduction("huber_loss", pair),
    loss("huber_loss-delta", pair, delta=0.5),
    *each_reduction("smooth_l1_loss", pair),
    loss("smooth_l1_loss-beta", pair, beta=0.5),
    loss("smooth_l1_loss-zero", pair, beta=0.0),
    loss("poisson_nll_loss", counted, differentiable=(0,)),
    loss("poisson_nll_loss-rates", counted, log_input=False, full=True, differentiable=(0,)),
    loss("gaussian_nll_loss", normal, lambda x, t, v: F.gaussian_nll_loss(
        *map(torch.as_tensor, (x, t, v)))),
    loss("gaussian_nll_loss-full", normal, lambda x, t, v, **s: F.gaussian_nll_loss(
        *map(torch.as_tensor, (x, t, v)), **s), full=True, reduction="none"),
    loss("log_cosh", pair, log_cosh),
    loss("log_cosh-sum", pair, log_cosh, reduction="sum"),
]  # fmt: skip

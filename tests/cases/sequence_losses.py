"""Cases of `nestarray.ops.sequence_losses`; the oracle is torch.nn.functional."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator


def log_probs(rng: Rng, *shape: int) -> np.ndarray:
    return scipy.special.log_softmax(rng.normal(size=shape), axis=-1)


def aligned(rng: Rng) -> tuple[Any, ...]:
    """One target has a repeated class, one is short and padded with an invalid class."""
    targets = np.asarray([[1, 1], [2, -1], [3, 2]])
    return log_probs(rng, 5, 3, 4), targets, np.asarray([5, 4, 3]), np.asarray([2, 1, 2])


def impossible(rng: Rng) -> tuple[Any, ...]:
    """The second input is too short for its targets, and the third has none of both."""
    targets = np.asarray([[0, 1, 2], [0, 0, 1], [1, 1, 1]])
    return log_probs(rng, 4, 3, 4), targets, np.asarray([4, 3, 4]), np.asarray([3, 3, 0])


def single(rng: Rng) -> tuple[Any, ...]:
    return log_probs(rng, 4, 3), np.asarray([1, 2]), np.asarray(4), np.asarray(2)


def ctc(x: Any, *rest: Any, **settings: Any) -> Any:
    targets, *lengths = map(torch.as_tensor, rest)
    return F.ctc_loss(torch.as_tensor(x), targets.clamp(0), *lengths, **settings)


CASES = [
    Case("ctc_loss", aligned, reference=ctc, differentiable=(0,)),
    Case("ctc_loss", single, {"reduction": "none"}, ctc, differentiable=(0,), id="single"),
    Case(
        "ctc_loss",
        impossible,
        {"blank": 3, "zero_infinity": True, "reduction": "none"},
        ctc,
        differentiable=(0,),
        id="zero-infinity",
    ),
    Case(
        "ctc_loss",
        impossible,
        {"blank": 3, "reduction": "none"},
        ctc,
        differentiable=False,  # an infinite loss has no differences
        id="infinite",
    ),
]

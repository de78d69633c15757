"""Deliberately estimated gradients: the parts treated as constants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.testing import assert_close
from tests.cases import on_backend
from tests.cases.normalization import spectral_norm
from tests.derivatives import AUTODIFF, GRADIENTS, SUM

WEIGHTS = np.random.default_rng(0).normal(size=(3, 4))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("framework", AUTODIFF)
def test_hard_gumbel_softmax_has_the_gradient_of_the_soft_one(framework: str) -> None:
    logits = on_backend(np.random.default_rng(1).normal(size=(3, 4)), framework)
    key = on_backend(np.asarray([1, 2], np.uint32), framework)
    weights = on_backend(WEIGHTS, framework)

    def loss(hard: bool) -> Any:
        return lambda x: SUM[framework](na.gumbel_softmax(x, key, hard=hard) * weights)

    hard, soft = (GRADIENTS[framework](loss(hard), [logits]) for hard in (True, False))
    assert np.abs(soft[0]).max() > 1e-3
    assert_close(hard, soft)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("framework", AUTODIFF)
def test_the_vectors_of_spectral_norm_are_constants(framework: str) -> None:
    weight, u = np.random.default_rng(2).normal(size=(3, 4)), np.asarray([1.0, -2.0, 0.5])
    _, new = spectral_norm(weight, u)
    v = weight.T @ u
    matrix = torch.tensor(weight, requires_grad=True)
    sigma = new @ matrix @ torch.as_tensor(v / np.linalg.norm(v))
    (expected,) = torch.autograd.grad((matrix / sigma * torch.as_tensor(WEIGHTS)).sum(), matrix)
    start, weights = on_backend(u, framework), on_backend(WEIGHTS, framework)

    def loss(x: Any) -> Any:
        return SUM[framework](na.spectral_norm(x, start)[0] * weights)

    found = GRADIENTS[framework](loss, [on_backend(weight, framework)])
    assert_close(found, [expected.numpy()])

"""Samples of ``torch.distributions`` in a traced module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributions

import nestarray as na

#: Name → a distribution with parameters p, of the shape (20000, 3).
MADE: dict[str, Callable[[Any], Any]] = {
    "gamma": lambda p: distributions.Gamma(p, p + 1),
    "chi2": lambda p: distributions.Chi2(p),
    "student": lambda p: distributions.StudentT(p + 5, p),
    "beta": lambda p: distributions.Beta(p, p + 1),
    "dirichlet": lambda p: distributions.Dirichlet(p),
    "binomial": lambda p: distributions.Binomial(10, p / 3),
}
ROWS = torch.tensor([0.5, 1.0, 2.0]).expand(20000, 3)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("name", MADE)
def test_samples_have_the_moments_of_the_distribution(name, backend):
    make = MADE[name]
    graph = na.trace_graph(lambda p: make(p).sample(), ROWS).to_backend(backend)
    p, key = na.to_backend(ROWS, backend), na.random.key(0, backend=backend)
    found = np.asarray(graph(p, key=key))
    expected = make(ROWS[0])
    _assert_mean(found, expected.mean)
    _assert_mean(np.square(found - found.mean(0)), expected.variance)


def _assert_mean(samples: np.ndarray, expected: torch.Tensor) -> None:
    """Assert that the mean of samples is within five standard errors of its expectation."""
    error = samples.std(0) / np.sqrt(len(samples))
    assert np.all(np.abs(samples.mean(0) - expected.detach().numpy()) < 5 * error)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
@pytest.mark.parametrize("name", MADE)
def test_samples_and_their_gradients_agree(name, backend):
    make, p = MADE[name], ROWS[:4].clone()
    is_discrete = name == "binomial"
    draw = (lambda p: make(p).sample()) if is_discrete else lambda p: make(p).rsample()
    graph = na.trace_graph(draw, p).to_backend(backend)
    # `na.random.gamma` has no derivative on NumPy
    report = graph.verify(gradients=backend != "numpy")
    assert report.ok, str(report)


@pytest.mark.parametrize("name", ["gamma", "chi2"])
def test_gradients_reach_the_parameters(name):
    make = MADE[name]
    graph = na.trace_graph(lambda p: make(p).rsample(), ROWS).to_backend("jax")
    key = na.random.key(0, backend="jax")
    grads = na.grad(lambda p: na.mean(graph(p, key=key), axis=0).sum())(na.to_backend(ROWS, "jax"))
    row = ROWS[0].clone().requires_grad_()
    (expected,) = torch.autograd.grad(make(row).mean.sum(), row)
    _assert_mean(np.asarray(grads) * len(ROWS), expected)

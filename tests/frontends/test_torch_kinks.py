"""Values and derivatives at ties, kinks and infinities equal PyTorch's, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
import nestarray.frontends.torch as frontend
from tests.arrays import host, on

CLAMPS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "clamp": lambda torch, x, low, high: torch.clamp(x, low, high),
    "clamp_min": lambda torch, x, low, high: torch.clamp_min(x, low),
    "clamp_max": lambda torch, x, low, high: torch.clamp_max(x, high),
    "clip": lambda torch, x, low, high: torch.clip(x, max=high),
}
# x, the lower and the upper bound: inside, outside, at one bound, at both, crossed bounds
CLAMPED = [
    np.asarray(column)
    for column in zip(*[
        (0.5, 0.0, 1.0), (-1.0, 0.0, 1.0), (2.0, 0.0, 1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 1.0),
        (1.0, 1.0, 1.0), (0.5, 1.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0),
        (0.0, 1.0, 1.0), (2.0, 1.0, 1.0),
    ])
]  # fmt: skip


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", CLAMPS)
def test_clamp_by_tensors(name: str, backend: str) -> None:
    function = CLAMPS[name]
    given = [torch.tensor(x, requires_grad=True) for x in CLAMPED]
    value = function(torch, *given)
    slopes = torch.autograd.grad(value.sum(), given, allow_unused=True)
    arrays = [on(backend, x) for x in CLAMPED]
    np.testing.assert_array_equal(host(function(frontend, *arrays)), value.detach().numpy())
    found = na.grad(lambda *xs: na.sum(function(frontend, *xs)), (0, 1, 2))(*arrays)
    for g, e in zip(found, slopes, strict=True):
        np.testing.assert_array_equal(
            host(g), np.zeros(len(CLAMPED[0])) if e is None else e.numpy()
        )


REALS = (-np.inf, -2.5, -0.0, 0.0, 2.0, np.inf, np.nan)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_floor_division_of_infinities(dtype: str, backend: str) -> None:
    x1, x2 = (np.ravel(x).astype(dtype) for x in np.meshgrid(REALS, REALS))
    expected = torch.floor_divide(torch.tensor(x1), torch.tensor(x2)).numpy()
    found = frontend.floor_divide(on(backend, x1), on(backend, x2))
    np.testing.assert_array_equal(host(found), expected)
    found = frontend.div(on(backend, x1), on(backend, x2), rounding_mode="floor")
    np.testing.assert_array_equal(host(found), expected)
    for number in (-np.inf, -2.5, 2.0, np.inf, np.nan):  # TensorFlow caches one of ±0
        expected = torch.floor_divide(torch.tensor(x1), number).numpy()
        found = frontend.floor_divide(on(backend, x1), number)
        np.testing.assert_array_equal(host(found), expected)


def test_rank_of_a_module_on_every_backend(backend: str) -> None:
    x = torch.diag(torch.tensor([1.0, 0.3, 1e-9]))
    for function, rank in {
        torch.linalg.matrix_rank: 2,
        (lambda x: torch.linalg.matrix_rank(x, tol=torch.tensor(0.5))): 1,
        (lambda x: torch.linalg.matrix_rank(x, rtol=torch.tensor(0.2), hermitian=True)): 2,
    }.items():
        graph = na.trace_graph(lambda x, f=function: f(x), x).to_backend(backend)
        assert int(host(graph(on(backend, x.numpy())))) == rank
        assert graph.verify().ok


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cross_entropy_of_saturated_probabilities(backend: str) -> None:
    p, y = np.asarray([0.0, 1.0, 0.0, 1.0, 0.5, 1e-13]), np.asarray([0.0, 1.0, 1.0, 0.0, 1.0, 0.5])
    given = [torch.tensor(x, requires_grad=True) for x in (p, y)]
    loss = torch.nn.functional.binary_cross_entropy(*given)
    expected = torch.autograd.grad(loss, given)
    function = frontend.nn.functional.binary_cross_entropy
    arrays = [on(backend, x) for x in (p, y)]
    np.testing.assert_allclose(host(function(*arrays)), loss.item(), rtol=1e-12)
    for g, e in zip(na.grad(function, (0, 1))(*arrays), expected, strict=True):
        is_finite = np.isfinite(e.numpy())  # by the target, upstream does not limit the logarithms
        np.testing.assert_allclose(host(g)[is_finite], e.numpy()[is_finite], rtol=1e-12)

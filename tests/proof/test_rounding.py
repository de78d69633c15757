"""Differences of rounding pass in a proof, and errors do not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray.proof.rounding import moved
from nestarray.transforms.autodiff.elementwise import Elementwise
from nestarray.transforms.autodiff.interpreter import RULES
from nestarray.transforms.autodiff.rules import Multilinear


class Orthogonal(nn.Module):
    """The logarithm of a determinant that is one."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(16, 16))

    def forward(self, x):
        return torch.linalg.slogdet(torch.linalg.qr(self.weight + x)[0]).logabsdet


class Centred(nn.Module):
    """Biases before normalizations, whose gradients are sums that are zero but for rounding."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Tanh(), nn.Conv2d(4, 4, 3), nn.BatchNorm2d(4)
        )

    def forward(self, x):
        return self.layers(x)


class Chaotic(nn.Module):
    """A recurrence in which differences grow tenfold in each step."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.weight = nn.Parameter(torch.randn(32, 32))

    def forward(self, x):
        for _ in range(5):
            x = torch.sin(2 * (x @ self.weight))
        return x


def traced(name):
    """A graph on NumPy of one of the three."""
    if name == "orthogonal":
        return na.trace_graph(Orthogonal(), torch.randn(16, 16)).to_backend("numpy")
    if name == "centred":
        return na.trace_graph(Centred(), torch.randn(4, 3, 24, 24) + 3, train=True).to_backend(
            "numpy"
        )
    return na.trace_graph(Chaotic(), torch.randn(4, 32)).to_backend("numpy")


#: The largest difference that rounding may explain, in float32: 16 changes (`ALLOWED`) of one unit
#: in the last place for each number that is added up. Results of "chaotic" have no such bound.
BOUNDS = {"orthogonal": 16 * 16**2 * 2.0**-23, "centred": 16 * 4 * 22**2 * 2.0**-23}

#: The calls whose results are rounded differently, so that rounding decides on every machine.
ROUNDED = {"orthogonal": "qr", "chaotic": "mul"}


def other_rounding(graph, name):
    """`graph` on NumPy, with the result of the first call `name` moved by units in the last place."""
    node = next(node for node in graph.calls if name in node.name)
    fn = node.target
    node.target = lambda *args, **kwargs: moved(fn(*args, **kwargs), seed=9)
    return graph


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        pytest.param(name, backend, marks=[] if backend == "numpy" else [pytest.mark.full])
        for name in ("orthogonal", "centred", "chaotic")
        for backend in ("numpy", "jax", "tensorflow")
    ],
)
def test_what_rounding_decides_passes_and_is_shown(name, backend):
    graph = traced(name).to_backend(backend)
    if backend == "numpy" and name in ROUNDED:
        graph = other_rounding(graph, ROUNDED[name])
    report = graph.verify()
    assert report.ok, str(report)
    assert report.first_divergence is None
    assert report.wrong_call_gradient is None
    over = [c for c in (*report.outputs, *report.gradients) if c.relative > c.tolerance]
    for row in [c for c in over if c.along is None]:
        assert row.rounding < max(BOUNDS.get(name, 0.0), row.scale)
        assert f"; rounding alone makes {row.rounding:.1e} absolute" in str(report)
        assert row.to_dict()["rounding"] == row.rounding
    if name != "centred":  # of which a run may be within the tolerance
        assert over
    strict = graph.verify(rtol=1e-4, gradient_rtol=1e-3)
    assert strict.ok == (not over)


@pytest.mark.parametrize("backend", ["numpy", "jax", "tensorflow"])
@pytest.mark.parametrize("seed", range(3))
def test_normalization_of_equal_rows(seed, backend):
    # whole inputs do not change: only the weights of the loss show the rounding of gradients
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
    report = na.trace_graph(net, torch.ones(4, 3), train=True).to_backend(backend).verify()
    assert report.ok, str(report)


def test_optimized_graphs_too():
    report = other_rounding(traced("orthogonal").optimize(), "qr").verify()
    assert report.ok, str(report)
    assert report.outputs[0].relative > 1e-4


@pytest.mark.parametrize("by", [1e-4, 1e-2])
def test_a_wrong_call_is_found_where_rounding_decides_much(by):
    graph = traced("chaotic")
    node = graph.calls[len(graph.calls) // 2]
    fn = node.target
    node.target = lambda *args, **kwargs: fn(*args, **kwargs) * np.float32(1 + 2 * by)
    report = graph.verify()
    assert not report.ok
    assert report.first_divergence.name == node.name
    assert report.first_divergence.is_at_fault


def test_a_wrong_value_near_zero_is_found():
    graph = traced("orthogonal")
    fn = graph.calls[-1].target
    graph.calls[-1].target = lambda *args, **kwargs: fn(*args, **kwargs) + np.float32(1e-3)
    report = graph.verify(gradients=False)
    assert not report.ok
    assert report.first_divergence.is_at_fault
    assert report.outputs[0].rounding == 0.0  # not asked


class Deviations(nn.Module):
    """A bias before a mean that is taken away, written out."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x):
        y = x + self.bias
        return (y - torch.full((200, 200), 1 / 200) @ y).square()


def test_a_wrong_gradient_near_zero_is_found(monkeypatch):
    graph = na.trace_graph(Deviations(), torch.randn(200, 4)).to_backend("numpy")
    assert graph.verify().ok
    halved = [lambda *args, by=by: 0.5 * by(*args) for by in RULES["matmul"].transposes]
    monkeypatch.setitem(RULES, "matmul", Multilinear(*halved))
    report = graph.verify()
    assert all(c.ok for c in report.outputs)
    assert not report.gradients[0].ok
    assert report.wrong_call_gradient.name.startswith("∂matmul/∂")


def test_a_wrong_derivative_is_found_where_rounding_decides_much(monkeypatch):
    assert traced("chaotic").verify().ok
    monkeypatch.setitem(RULES, "sin", Elementwise(lambda y, x: 1.01 * na.cos(x)))
    report = traced("chaotic").verify()
    assert all(c.ok for c in report.outputs)
    assert not report.ok
    assert report.wrong_call_gradient.name.startswith("∂sin/∂")


def test_numbers_move_by_a_unit_in_the_last_place_and_whole_ones_do_not():
    for dtype, unit in (("float32", 2.0**-23), ("float64", 2.0**-52), ("complex64", 2.0**-23)):
        x = np.asarray([0.1, 0.25, -3.7], dtype)
        ups = np.stack([moved(x, seed) / x - 1 for seed in range(1, 9)])
        assert ups.dtype == x.dtype
        assert np.all(np.abs(ups) <= 2 * unit)
        assert np.all(ups.max(0).real > 0)
        assert np.all(ups.min(0).real < 0)
        assert moved(x, 0) is x
    half = moved(torch.tensor([0.3, 5.5]).bfloat16(), 1)
    assert half.dtype is torch.bfloat16
    assert (half != torch.tensor([0.3, 5.5]).bfloat16()).all()
    exact = np.asarray([0.0, -1.0, 7.0, np.inf, -np.inf, np.nan], "float32")
    np.testing.assert_array_equal(moved(exact, 1), exact)
    nest = {"ids": np.arange(3), "count": 4, "x": np.asarray([0.3])}
    found = moved(nest, 1)
    assert found["ids"] is nest["ids"]
    assert found["count"] == 4
    assert found["x"][0] != 0.3

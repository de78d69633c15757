"""Calls of other libraries on graphs and modules: the error names the call to use."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.errors import ArgumentError

NET, X = torch.nn.Linear(2, 3), torch.ones(4, 2)


@pytest.fixture(scope="module")
def graph() -> na.Graph:
    return na.trace_graph(NET, X)


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("apply", "graph(*inputs, v=v)"),
        ("params", "graph.v"),
        ("state_dict", "graph.to_torch_state_dict()"),
        ("to", "graph.to_backend(name), or graph.replace(v=graph.v.to_device(device))"),
    ],
)
def test_names_of_a_graph(graph: na.Graph, name: str, remedy: str) -> None:
    with pytest.raises(AttributeError) as caught:
        getattr(graph, name)
    assert str(caught.value) == f"Graph has no attribute {name!r}; use {remedy}"
    module = na.to_module(NET, X)
    with pytest.raises(AttributeError, match=f"GraphModule has no attribute {name!r}; use module"):
        getattr(module, name)


def test_other_names_and_copies_of_a_graph(graph: na.Graph) -> None:
    with pytest.raises(AttributeError, match="'to_backen'; did you mean to_backend"):
        _ = graph.to_backen
    assert not hasattr(graph, "__jax_array__")
    for other in (copy.copy(graph), pickle.loads(pickle.dumps(graph))):
        np.testing.assert_array_equal(other(X).detach(), NET(X).detach())


def test_settings_of_verify(graph: na.Graph) -> None:
    for args in ((), (X,)):
        with pytest.raises(ArgumentError) as caught:
            graph.verify(*args, atol=1e-3)
        assert str(caught.value) == (
            "verify: got an unexpected argument 'atol', use rtol; the inputs of Linear are input"
        )
    assert graph.verify(input=X).ok
    with pytest.raises(ArgumentError, match="unexpected argument 'inputs'; it was traced with inp"):
        graph(inputs=X)
    with pytest.raises(ArgumentError, match="got the argument 'input' twice"):
        graph(X, input=X)


@pytest.mark.parametrize(
    ("v", "remedy"),
    [
        ({"weight": 1}, "na.Container(v)"),
        ({"0.weight": 1}, "na.Container.from_torch_state_dict(v)"),
    ],
)
def test_variables_in_a_dict(graph: na.Graph, v: Any, remedy: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        graph(X, v=v)
    assert str(caught.value) == f"Linear: v: got dict, expected a Container; use {remedy}"


def test_tuples_of_scipy() -> None:
    with pytest.raises(ArgumentError, match=r"use na.cho_solve\(L, y\), with upper=True for a fac"):
        na.cho_solve((np.eye(2), True), np.ones(2))  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"use na.lu_solve\(LU, pivots, y\)"):
        na.lu_solve((np.eye(2), np.arange(2)), np.ones(2), np.ones(2))  # type: ignore[arg-type]


def test_names_of_numpy_fft() -> None:
    x = np.arange(4.0)
    np.testing.assert_allclose(na.fft.rfft(x), np.fft.rfft(x))
    assert na.fft.fft is na.fft
    assert na.fft.irfft is na.irfft

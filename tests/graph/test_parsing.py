"""`Graph.parse` reads the text that ``print(graph)`` writes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.errors import AssumptionError, ConversionError
from nestarray.testing import assert_close

X = np.arange(6.0).reshape(2, 3) / 7


def _scanned(x: Any) -> Any:
    return na.scan(lambda c, row: (na.tanh(c + row), c), na.zeros((3,), dtype=x.dtype), x)


def _repeated(x: Any) -> Any:
    return na.while_loop(lambda c: na.sum(c[0]) < 9.0, lambda c: (c[0] + 1.0, c[1] + 1), (x, 0))


def _counted(x: Any) -> Any:
    return na.fori_loop(0, 3, lambda i, c: c * 1.5 + i, x)


def _chosen(x: Any) -> Any:
    return na.cond(na.sum(x) > 1.0, lambda y: y + 1.0, lambda y: -y, x)


def _nested(x: Any) -> Any:
    return na.map(lambda row: na.fori_loop(0, 2, lambda i, c: na.sin(c), row), x)


def _constants(x: Any) -> Any:
    return na.where(x > 0.1, x, float("-inf")), {"a": [x[..., ::2], x[1, None]], "b": (x[0, 0],)}


def _cast(x: Any) -> Any:
    return na.astype(na.clip(x, -0.5, 1.0), na.float32), na.astype(x, na.bool)


PROGRAMS: tuple[Callable[[Any], Any], ...] = (
    _scanned, _repeated, _counted, _chosen, _nested, _constants, _cast,
)  # fmt: skip


def parsed(graph: na.Graph) -> na.Graph:
    """The graph of a graph's text, which it prints."""
    text = str(graph)
    values = {name: getattr(graph, name) for name in ("v", "s", "constants", "backend")}
    again = na.Graph.parse(text, **values)
    assert str(again) == text
    return again


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_with_loops_branches_and_constants(program: Any) -> None:
    graph = na.trace_graph(program, X)
    assert_close(parsed(graph)(X), graph(X))


class _Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4)

    def forward(self, x: Any, scale: Any) -> Any:
        return torch.nn.functional.dropout(self.norm(self.conv(x)) * scale, 0.5, self.training)


@pytest.mark.parametrize("train", [False, True])
def test_variables_state_and_random_numbers(train: bool) -> None:
    inputs = torch.ones(2, 1, 8, 8), torch.full((4, 1, 1), 2.0)
    graph = na.trace_graph(_Net().train(train), *inputs, train=train)
    for each in (graph, graph.lower()):
        key = na.random.key(0, backend="torch") if train else None
        assert_close(parsed(each)(*inputs, key=key), each(*inputs, key=key))


def test_open_sizes_are_open_again() -> None:
    net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3, 2), torch.nn.Softmax(-1))
    graph = na.trace_graph(net, torch.ones(4, 3), dynamic={"input": {0: "batch"}}).lower()
    x = torch.rand(7, 3)
    assert_close(parsed(graph)(x), graph(x))


def test_an_assumption_is_checked_again() -> None:
    graph = na.trace_graph(lambda x: x * 2 if x[0, 0] < 1 else x, X)
    with pytest.raises(AssumptionError):
        parsed(graph)(X + 5)


def test_sizes_are_computed_by_operators() -> None:
    graph = na.trace_graph(
        torch.nn.Unflatten(0, (-1, 2)), torch.ones(4, 3), dynamic={"input": {0: "n"}}
    )
    x = torch.rand(8, 3)
    assert_close(parsed(graph)(x), graph(x))


TEXT = """
def graph(x, *, v, s, constants, key=None):  # float32[4, 3]
    # v['weight']: float32[2, 3]
    linear = na.linear(x, v['weight'])  # float32[4, 2] · layers.0
    return linear
"""


def test_variables_of_a_shape_are_ones() -> None:
    graph = na.Graph.parse(TEXT)
    assert graph.v["weight"].tolist() == [[1.0] * 3] * 2
    assert graph.calls[0].module == "layers.0"
    assert str(graph.calls[0].aval) == "float32[4, 2]"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("na.linear(x", "na.linear(y", "line 4: expected a name or a constant, got 'y'"),
        ("na.linear", "os.system", "line 4: there is no function 'os.system'"),
        ("    # v", "    # w", r"line 4: v['weight'] has no shape: pass v="),
        ("linear = na", "na = na", "line 4: the name 'na' is taken"),
        ("na.linear(x, v['weight'])", "[na.ones(3) for _ in x]", "line 4: expected a call, got "),
        ("(x, v['weight'])", "(na.abs(x), v['weight'])", "line 4: expected a name or a constant"),
        ("    return linear", "", "line 4: expected a return"),
        ("def graph(", "def graph", "line 2: "),
        (TEXT, "", "line 1: expected a function"),
    ],
)
def test_errors_name_the_line(old: str, new: str, message: str) -> None:
    with pytest.raises(ConversionError) as error:
        na.Graph.parse(TEXT.replace(old, new))
    assert f"Graph.parse: {message}" in str(error.value)

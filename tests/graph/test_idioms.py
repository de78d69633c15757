"""Each idiom: pattern and replacement have the same values and gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.graph.passes.idioms import RULES, recognize_idioms
from nestarray.graph.passes.idioms.idiom import Idiom
from nestarray.nn import Module
from nestarray.nn.module import Variable

NUMBERS = {"eps": 1e-3, "scale": 0.3, "fill": -1e30}
SIZES = {"b": 2, "t": 3, "s": 4, "d": 5, "e": 6, "n": 3, "c": 4, "g": 1}
#: Sizes of normalization → the op with weights.
NORMS = {
    "layer_norm": {"n": 3, "g": 1, "s": 1, "c": 4},
    "batch_norm_training": {"n": 1, "g": 3, "s": 4, "c": 1},
    "group_norm": {"n": 2, "g": 3, "s": 4, "c": 1},
}
IDIOMS = [rule for group in RULES for rule in group]


def rows() -> Iterator[Any]:
    """(rule, sizes, op)."""
    for i, rule in enumerate(IDIOMS):
        if rule.axes.get("x") != "n g s c":
            yield pytest.param(rule, SIZES, rule.name, id=f"{i}-{rule.name}")
            continue
        for op, sizes in NORMS.items():
            want = op if {"weight", "bias"} & {*rule.axes} else "layer_norm"
            yield pytest.param(rule, sizes, want, id=f"{i}-{op}")


def drawn(rule: Idiom, sizes: Any, seed: int = 0) -> dict[str, Any]:
    """Random arrays for the parameters that are not numbers."""
    rng = np.random.default_rng(seed)
    arrays: dict[str, Any] = {}
    for name, axes in rule.axes.items():
        shape = tuple(sizes[letter] for letter in axes.split())
        if name == "mask":
            arrays[name] = rng.random(shape) < 0.6
            arrays[name][0, 1] = rule.name_of_mask == "dropped"  # a row without any position
        elif name == "indices":
            arrays[name] = np.asarray([2, -1, 0][: shape[0]])
        elif axes:
            arrays[name] = rng.standard_normal(shape) + (3.0 if name == "variance" else 0.5)
    return arrays


class Pattern(Module):
    """The pattern of a rule; operands other than x are variables."""

    def __init__(self, rule: Idiom, arrays: dict[str, Any]) -> None:
        self.rule, self.held = rule, {}
        self.given = [*arrays]
        if "x" in arrays:
            self.given, self.held = ["x"], {n: x for n, x in arrays.items() if n != "x"}

    def variables(self) -> dict[str, Variable]:
        return {
            name: Variable(x.shape, lambda key, shape, dtype, x=x: x, dtype="float64")
            for name, x in self.held.items()
        }

    def forward(self, *arrays: Any) -> Any:
        values = {**NUMBERS, **dict(zip(self.given, arrays, strict=True))}
        values |= {name: getattr(self, name) for name in self.held}
        return self.rule.pattern(*[values[name] for name in self.rule.axes])


def traced(rule: Idiom, arrays: dict[str, Any]) -> na.Graph:
    """The pattern as a program."""
    module = Pattern(rule, arrays).init(na.random.key(0))
    return na.trace_graph(module, *[arrays[name] for name in module.given])


def run(graph: na.Graph, arrays: dict[str, Any]) -> list[torch.Tensor]:
    """The value in torch, and the gradients of its product with fixed numbers."""
    graph = graph.to_backend("torch")
    given = [torch.tensor(x, requires_grad=x.dtype == float) for x in arrays.values()]
    given = given[:1] if graph.v.paths() else given
    v = graph.v.map(lambda x: x.requires_grad_())
    out = graph(*given, v=v)
    weights = torch.cos(torch.arange(out.numel(), dtype=out.dtype)).reshape(out.shape)
    leaves = [x for x in (*given, *v.leaves()) if x.requires_grad]
    return [out.detach(), *torch.autograd.grad((out * weights).sum(), leaves)]


def assert_equal(graph: na.Graph, other: na.Graph, arrays: dict[str, Any]) -> None:
    for want, got in zip(run(graph, arrays), run(other, arrays), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("rule", "sizes", "op"), [*rows()])
def test_replacement_equals_pattern(rule: Idiom, sizes: Any, op: str) -> None:
    arrays = drawn(rule, sizes)
    graph = traced(rule, arrays)
    new = recognize_idioms(graph)
    assert new.report().idioms == {op: 1}
    assert_equal(graph, new, arrays)


@pytest.mark.parametrize(("rule", "sizes", "op"), [*rows()])
def test_constant_rows(rule: Idiom, sizes: Any, op: str) -> None:
    arrays = drawn(rule, sizes)
    first = next(iter(arrays))
    arrays[first] = np.full_like(arrays[first], 2)
    graph = traced(rule, arrays)
    assert_equal(graph, recognize_idioms(graph), arrays)

"""Each idiom: pattern and replacement have the same values and gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.graph.passes.idioms import RULES, recognize_idioms
from nestarray.graph.passes.idioms.idiom import Idiom
from nestarray.graph.passes.idioms.losses import _filled_difference
from nestarray.nn import Module
from nestarray.nn.module import Variable

NUMBERS = {"eps": 1e-3, "scale": 0.3, "fill": -1e30, "keep": 0.75, "gain": 1 / 0.75}
SIZES = {"b": 2, "t": 3, "s": 4, "d": 5, "e": 6, "n": 3, "c": 4, "g": 1}
#: Sizes of normalization → the op with weights.
NORMS = {
    "layer_norm": {"n": 3, "g": 1, "s": 1, "c": 4},
    "batch_norm_training": {"n": 1, "g": 3, "s": 4, "c": 1},
    "group_norm": {"n": 2, "g": 3, "s": 4, "c": 1},
}
#: Random numbers have no derivatives; tests/importers/jax/test_idioms.py compares their bits.
IDIOMS = [rule for group in RULES for rule in group if rule.name != "random_uniform"]


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
            if rule.name != "cross_entropy":
                arrays[name][0, 1] = rule.name_of_mask == "dropped"  # a row without any position
            elif rule.pattern is _filled_difference:
                arrays[name][:] = True  # where it is False the derivatives differ
        elif name == "uniform":  # of this key
            arrays[name] = np.asarray([1, 2], "uint32")
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
            name: Variable(x.shape, lambda key, shape, dtype, x=x: x, dtype=x.dtype.name)
            for name, x in self.held.items()
        }

    def forward(self, *arrays: Any) -> Any:
        values = {**NUMBERS, **dict(zip(self.given, arrays, strict=True))}
        values |= {name: getattr(self, name) for name in self.held}
        if "uniform" in values:
            shape = tuple([SIZES[letter] for letter in "bts"])
            values["uniform"] = na.random_uniform(values["uniform"], shape=shape)
        if self.rule.name == "cross_entropy" and "indices" in values:
            values["indices"] = na.clip(values["indices"], 0, SIZES["c"] - 1)
            values["fill"] = math.nan if self.rule.pattern is _filled_difference else 2.0
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
    v = graph.v.map(lambda x: x.requires_grad_() if x.is_floating_point() else x)
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


def attended(q: Any, k: Any, v: Any, *, scores: str, result: str, bias: Any = None) -> Any:
    """Attention of half precision, with scores and result in other dtypes."""
    product = na.einsum("btd,bsd->bts", na.astype(q, scores), na.astype(k, scores)) * 0.3
    product = product if bias is None else product + bias
    weights = na.astype(na.softmax(product, axis=-1), result)
    return na.einsum("bts,bse->bte", weights, na.astype(v, result))


@pytest.mark.parametrize("result", ["float16", "float32"])
@pytest.mark.parametrize("scores", ["float16", "float32"])
def test_half_precision_is_as_exact(scores: str, result: str) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((2, 30, 8)).astype("float16") for _ in range(3)]
    program = partial(attended, scores=scores, result=result)
    graph = na.trace_graph(program, *arrays)
    new = recognize_idioms(graph)
    assert new.report().idioms == {"scaled_dot_product_attention": 1}
    exact = attended(*arrays, scores="float64", result="float64")
    errors = [np.abs(each(*arrays) - exact).max() for each in (graph, new)]
    assert errors[1] <= 2 * errors[0]  # rounding varies with the order of sums
    tensors = [torch.tensor(x) for x in arrays]
    moved = new.to_backend("torch")(*tensors).double().numpy()
    assert np.abs(moved - exact).max() <= 2 * errors[0]


@pytest.mark.parametrize(
    ("scores", "bias"), [("float64", None), ("float32", np.ones((2, 3, 3), "float32"))]
)
def test_precision_that_the_op_would_lose(scores: str, bias: Any) -> None:
    arrays = [np.ones((2, 3, 4), "float16")] * 3
    program = partial(attended, scores=scores, result="float16", bias=bias)
    assert recognize_idioms(na.trace_graph(program, *arrays)).report().idioms == {}


def test_indices_from_the_end_are_not_classes_of_a_loss() -> None:
    def program(x: Any, y: Any) -> Any:
        picked = na.take_along_axis(na.log_softmax(x), na.expand_dims(y, 1), axis=1)
        return na.negative(picked)

    graph = na.trace_graph(program, np.ones((3, 4)), np.asarray([0, -1, 2]))
    assert recognize_idioms(graph).report().idioms == {}

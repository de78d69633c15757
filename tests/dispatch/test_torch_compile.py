"""torch.compile of Containers: one graph, in the first call of a process and in later ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter

import nestarray as na
from nestarray.errors import ArgumentError

Function = Callable[[na.Container, torch.Tensor], Any]


def tree() -> na.Container:
    return na.Container(a=torch.arange(1.0, 10.0).reshape(3, 3), b={"w": torch.ones(3, 3), "n": []})


ROW = torch.tensor([1.0, 2.0, 3.0])

WITH_TENSORS: dict[str, Function] = {
    "c + x": lambda c, x: c + x,
    "x + c": lambda c, x: x + c,
    "c - x": lambda c, x: c - x,
    "x - c": lambda c, x: x - c,
    "c * x": lambda c, x: c * x,
    "c / x": lambda c, x: c / x,
    "x / c": lambda c, x: x / c,
    "c // x": lambda c, x: c // x,
    "x // c": lambda c, x: x // c,
    "c % x": lambda c, x: c % x,
    "x % c": lambda c, x: x % c,
    "c ** x": lambda c, x: c**x,
    "x ** c": lambda c, x: x**c,
    "c < x": lambda c, x: c < x,
    "x < c": lambda c, x: x < c,
    "c == x": lambda c, x: c == x,
    "x >= c": lambda c, x: x >= c,
    "bits": lambda c, x: (x > 1) & (c > x) | (c < 0),
    "shifts": lambda c, x: x.int() << c.astype("int32"),
}
OF_ARRAYS: dict[str, Function] = {
    "of trees": lambda c, x: na.exp(-abs(c - 2 * c)) ** 2.0,
    "prefix": lambda c, x: c * na.Container(a=2.0, b=3.0),
    "settings": lambda c, x: na.softmax(c, axis=-1).mean(axis=0),
    "several results": lambda c, x: na.top_k(c, 2),
    "sequences": lambda c, x: na.concat([c, c], axis=0),
    "conditions": lambda c, x: na.where(c > 1, c, 0.0),
    "dtypes": lambda c, x: c.astype("float16") + c,
    "indices": lambda c, x: (c[0], c[:, 1:]),
    "plain arrays": lambda c, x: na.linear(x, c["b/w"]),
    "across leaves": lambda c, x: (c.tree_sum(), c.tree_norm(), c.tree_dot(c), c.size),
    "training": lambda c, x: (c.global_clip(1.0), c.ema(c, 0.9), c.lerp(c * 2, 0.5)),
    "fused": lambda c, x: c.fuse() * 2.0 + 1.0,
    "gradients": lambda c, x: torch.func.grad(lambda v: (v * v).tree_sum())(c),
    "own gradients": lambda c, x: na.value_and_grad(lambda v: na.sum(na.exp(v.a) * v.b.w))(c),
}
OF_STRUCTURE: dict[str, Function] = {
    "look-up": lambda c, x: (c["b/w"], c.b.w, c["b"]["w"], len(c), "a" in c, list(c)),
    "build": lambda c, x: na.Container(x=x, y=[x, (c["a"],)]),
    "set": lambda c, x: (c.set("b/w", x), c.set("new/w", x)),
    "update, delete": lambda c, x: c.update(b={"w": x}, z=x).delete("a"),
    "rename": lambda c, x: c.rename({"a": "q"}).move("q", "b/q"),
    "select": lambda c, x: (c.select("**/w"), c.exclude("a"), c.mask("a")),
    "partition": lambda c, x: c.partition("a")[0].combine(c.partition("a")[1]),
    "map": lambda c, x: c.map(torch.relu).map(lambda p, a, b: (p, a + b), c, with_path=True),
    "at": lambda c, x: c.at["b/w"].add(x),
    "plain": lambda c, x: (c.to_dict(), c.to_flat_dict("."), dict(c.items()), c.leaves()),
    "state dict": lambda c, x: c.to_torch_state_dict(),
    "stack": lambda c, x: na.stack([c, c]),
}  # fmt: skip
GROUPS = {"tensors": WITH_TENSORS, "arrays": OF_ARRAYS, "structure": OF_STRUCTURE}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, na.Container):
        return type(a) is type(b) and a.spec is b.spec and same(a.leaves(), b.leaves())
    if isinstance(a, torch.Tensor):
        return a.dtype == b.dtype and torch.equal(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    return a == b


def check(group: dict[str, Function]) -> None:
    """One graph of the functions of a group, for all tensors."""

    def together(c: na.Container, x: torch.Tensor) -> dict[str, Any]:
        return {name: function(c, x) for name, function in group.items()}

    torch._dynamo.reset()
    counter = CompileCounter()
    compiled = torch.compile(together, backend=counter, fullgraph=True)
    results = [compiled(tree(), ROW), compiled(tree(), ROW)]
    expected = together(tree(), ROW)
    results.append(compiled(tree(), ROW))  # what eager calls note changes nothing
    # what the first eager calls load and note is read anew, once each; tensors never are
    graphs = counter.frame_count
    for _ in range(3):
        compiled(tree(), ROW)
    assert counter.frame_count == graphs <= 3
    for name in group:
        for found in results:
            assert same(found[name], expected[name]), name


BRIEF = [
    "c + x", "x - c", "x < c", "of trees", "prefix", "settings", "across leaves", "look-up", "set",
    "select", "map", "state dict", "dtypes",
]  # fmt: skip


def test_one_graph() -> None:
    everything = {name: function for group in GROUPS.values() for name, function in group.items()}
    check({name: everything[name] for name in BRIEF})


# each function, in the first calls of a process
COLD = """
from tests.dispatch.test_torch_compile import GROUPS, check
import jax, tensorflow  # whose dtypes Dynamo cannot hash
for group in GROUPS.values():
    check(group)
"""


@pytest.mark.full
def test_the_first_calls_of_a_process() -> None:
    run = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_another_structure_is_another_graph() -> None:
    compiled = torch.compile(lambda c: c + 1.0, backend="eager", fullgraph=True)
    for c in (tree(), tree().rename({"a": "q"}), na.Container([ROW])):
        assert same(compiled(c), c + 1.0)


def test_tied_leaves_and_leaves_without_arrays() -> None:
    c = na.Container(a=ROW, b=[ROW, None], name="x", d=torch.ones(3))

    def functions(c: na.Container) -> tuple[na.Container, ...]:
        doubled = c * 2
        return c.astype("float16"), doubled, doubled.astype("float16")

    half, doubled, both = torch.compile(functions, backend="eager", fullgraph=True)(c)
    for found, expected in zip((half, doubled, both), functions(c), strict=True):
        assert same(found, expected)
    assert half["a"] is half["b/0"]
    assert half["a"] is not half["d"]
    assert both["a"] is not both["b/0"]  # as in a plain call: products are different arrays


def test_the_sides_of_matmul() -> None:
    c, x = tree().delete("b"), torch.arange(9.0).reshape(3, 3)

    def functions(c: na.Container, x: torch.Tensor) -> tuple[na.Container, ...]:
        return c @ x, x @ c, torch.matmul(x, c), torch.matmul(c, x), na.matmul(c, x)  # type: ignore[arg-type]

    compiled = torch.compile(functions, backend="eager", fullgraph=True)
    right, left = na.matmul(c, x), na.matmul(x, c)
    assert not same(right, left)
    for found in (functions(c, x), compiled(c, x)):
        for one, expected in zip(found, (right, left, left, right, right), strict=True):
            assert same(one, expected)


def test_matmul_of_two_containers() -> None:
    c = tree().delete("b")

    def functions(c: na.Container) -> tuple[na.Container, ...]:
        return c @ c.mT, c @ c.mT @ c

    compiled = torch.compile(functions, backend="eager", fullgraph=True)
    square = na.matmul(c, na.matrix_transpose(c))
    for found in (functions(c), compiled(c)):
        for one, expected in zip(found, (square, na.matmul(square, c)), strict=True):
            assert same(one, expected)


def test_predicates_of_a_leaf_or_of_its_path_too() -> None:
    def functions(c: na.Container) -> tuple[na.Container, ...]:
        return (
            c.select(lambda leaf: leaf.ndim == 1),
            c.select(lambda path, leaf: path == "a"),
            c.select(("a",)),
            c.at["a"][0].set(2.0),
        )

    c = tree()
    compiled = torch.compile(functions, backend="eager", fullgraph=True)
    for found, expected in zip(compiled(c), functions(c), strict=True):
        assert same(found, expected)


def test_functions_of_torch_lead_to_ours() -> None:
    c = tree()
    with pytest.raises(ArgumentError) as info:
        torch.relu(c)  # type: ignore[arg-type]
    assert str(info.value) == (
        "torch: relu: got a Container, expected tensors; use na.relu(…) or c.map(fn) with a "
        "function of one leaf"
    )
    with pytest.raises(ArgumentError) as info:
        torch.cat([c, c])  # type: ignore[arg-type]
    assert str(info.value) == (
        "torch: cat: got a Container, expected tensors; use na.concat(…) or c.map(fn) with a "
        "function of one leaf"
    )
    with pytest.raises(ArgumentError) as info:
        ROW.index_add_(0, ROW, c)  # type: ignore[arg-type]
    assert str(info.value) == (
        "torch: index_add_: got a Container, expected tensors; use c.map(fn) with a function of "
        "one leaf"
    )
    x = ROW.clone()
    x += c  # not in place: a tree does not fit into a tensor
    assert same(x, ROW + c)

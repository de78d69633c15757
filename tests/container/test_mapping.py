"""Maps over sub-containers and in threads, running reductions, numbers of leaves."""

from __future__ import annotations

import re
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import nestarray as na
from nestarray.container import ListContainer
from nestarray.container.mapping import places
from nestarray.errors import ArgumentError, StructureError
from tests.trees import roots, sample


@given(roots())
def test_places_are_all_nodes_and_leaves(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    found = list(places(c))
    assert len({path for path, _ in found}) == len(found)
    leaves = [value for _, value in found if not isinstance(value, na.Container)]
    assert all(x is y for x, y in zip(leaves, c.leaves(), strict=True))
    for path, value in found[1:]:
        there = c.to_dict()
        for key in path:
            there = there[key]
        if isinstance(value, na.Container):
            assert value.to_dict() == there
        else:
            assert value is there


def test_count() -> None:
    c = na.Container(sample())
    assert c.count() == 6
    assert c.count("heads", "**/bias") == 4
    assert c.count(shape=(2,)) == 2
    assert c.count(shape=(2,), dtype="integral") == 0
    assert na.Container().count() == 0


@given(roots())
def test_accumulated_leaves_are_the_reductions_of_the_leaves_before(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    so_far = c.accumulate(lambda seen, leaf: (*seen, leaf), ())  # tuples made by `fn` are leaves
    assert so_far.spec is c.spec
    for i, leaf in enumerate(so_far.leaves()):
        assert leaf == c.leaves()[: i + 1]
    if c.count():
        assert so_far.leaves()[-1] == c.reduce(lambda seen, leaf: (*seen, leaf), ())


def test_accumulate_without_initial_value(backend: str) -> None:
    c = na.Container(a=np.float32([1.0, 2.0]), b=[np.float32([3.0, 4.0])]).to_backend(backend)
    total = c.accumulate(na.add)
    assert na.backend_of(total["b/0"]) == backend
    np.testing.assert_array_equal(np.asarray(total["b/0"]), [4.0, 6.0])
    np.testing.assert_array_equal(np.asarray(total["a"]), [1.0, 2.0])
    with pytest.raises(ZeroDivisionError) as info:
        na.Container(a=1, b={"c": 0}).accumulate(lambda x, y: x / y)
    assert info.value.__notes__ == ["at the Container path 'b/c'"]


# -- sub-containers ---------------------------------------------------------------------------


NET = na.Container(
    {"blocks": [{"w": 1, "b": 2}, {"w": 3, "b": 4}], "head": {"w": 5, "x": {"w": 6}}, "step": 7}
)


def test_nodes_by_depth() -> None:
    assert NET.map_nodes(len).to_dict() == {"blocks": 2, "head": 2, "step": 7}
    assert NET.map_nodes(len, depth=0).to_dict() == 3
    assert NET.map_nodes(lambda n: n["w"], depth=2).to_dict() == {
        "blocks": [1, 3],
        "head": {"w": 5, "x": 6},
        "step": 7,
    }
    assert NET.map_nodes(len, depth=9).spec is NET.spec


@pytest.mark.parametrize(
    "patterns",
    [
        ("blocks/*",),
        ("*/[0-9]",),
        (re.compile(r"^blocks/\d$"),),
        (lambda path, node: list(node.keys()) == ["w", "b"],),
        ("blocks/0", "blocks/1"),
        ("**/1", "blocks/0"),
    ],
)
def test_nodes_by_pattern(patterns: tuple[Any, ...]) -> None:
    result = NET.map_nodes(lambda path, node: {path: node["w"]}, *patterns, with_path=True)
    expected = {"blocks": [{"blocks/0": 1}, {"blocks/1": 3}], "head": NET.head.to_dict(), "step": 7}
    assert result.to_dict() == expected


def test_the_outermost_node_is_taken() -> None:
    seen = []
    NET.map_nodes(lambda path, node: seen.append(path), "head", "head/x", "**/1", with_path=True)
    assert seen == ["blocks/1", "head"]
    assert NET.map_nodes(len, ListContainer).to_dict()["blocks"] == 2
    assert NET.map_nodes(len, "**", depth=1).to_dict() == {"blocks": 2, "head": 2, "step": 7}
    assert NET.map_nodes(len, "**/x", depth=1).spec is NET.spec


@given(roots())
def test_nodes_mapped_to_themselves_change_nothing(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    for depth in range(3):
        same = c.map_nodes(lambda node: node, depth=depth)
        assert same.spec is c.spec
        assert all(x is y for x, y in zip(same.leaves(), c.leaves(), strict=True))


def test_errors_of_map_nodes() -> None:
    with pytest.raises(ArgumentError) as info:
        NET.map_nodes(len, depth=-1)
    assert str(info.value) == (
        "Container.map_nodes: depth: got -1, expected an integer of at least 0"
    )
    with pytest.raises(KeyError) as error:
        NET.map_nodes(lambda node: node["w"], "**/x", "blocks")
    assert error.value.__notes__ == ["at the Container path 'blocks'"]


# -- threads ----------------------------------------------------------------------------------


@given(roots())
def test_threads_give_what_map_gives(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    result = c.parallel_map(lambda path, x, y: (path, x, y), c, max_workers=3, with_path=True)
    assert result.spec is c.spec
    assert result.leaves() == c.map(lambda path, x, y: (path, x, y), c, with_path=True).leaves()


def test_leaves_are_worked_on_at_the_same_time() -> None:
    together = threading.Barrier(3, timeout=20)  # passed only if three calls wait in it at once
    c = na.Container(a=1, b=[2, 3])
    assert c.parallel_map(lambda x: (together.wait(), x)[1], max_workers=3).to_dict() == c.to_dict()


def test_threads_see_the_backend_of_the_caller() -> None:
    with na.use_backend("torch"):
        made = na.Container(a=2, b=3).parallel_map(lambda n: na.zeros((n,)), max_workers=2)
    assert {na.backend_of(x) for x in made.leaves()} == {"torch"}


def test_the_error_of_the_first_leaf_is_raised() -> None:
    second_failed = threading.Event()

    def work(x: int) -> int:
        if x == 1:
            second_failed.wait(20)
        if x == 2:
            second_failed.set()
        raise ValueError(x)

    with pytest.raises(ValueError, match=r"^1\b") as info:
        na.Container(a=1, b={"c": 2}).parallel_map(work, max_workers=2)
    assert info.value.__notes__ == ["at the Container path 'a'"]


def test_errors_of_parallel_map() -> None:
    c = na.Container(a=1)
    for wrong in (0, 1.5):
        with pytest.raises(ArgumentError) as info:
            c.parallel_map(abs, max_workers=wrong)  # type: ignore[arg-type]
        assert str(info.value) == (
            f"Container.parallel_map: max_workers: got {wrong!r}, expected a positive integer or None"
        )
    with pytest.raises(StructureError, match=r"^Container.parallel_map: Containers do not match"):
        c.parallel_map(max, na.Container(b=1))
    assert na.Container().parallel_map(abs).count() == 0


def test_trees_that_a_function_gives_become_part_of_the_tree() -> None:
    c = na.Container(a=1, b=[2, 3])

    def grown(n: int) -> Any:
        return na.Container(x=n, y=(n, -n)) if n != 2 else n

    expected = {"a": {"x": 1, "y": (1, -1)}, "b": [2, {"x": 3, "y": (3, -3)}]}
    assert c.map(grown).to_dict() == expected
    assert c.parallel_map(grown).to_dict() == expected
    joined = c.map(lambda x, y: na.Container([x, y]), na.Container(a=5), join="inner")
    assert joined.to_dict() == {"a": [1, 5]}
    fused = na.Container(v=np.ones(2, "float32")).fuse()
    assert c.map(lambda _: fused).paths() == ("a/v", "b/0/v", "b/1/v")
    assert c.map(lambda n: na.Container(n)).to_dict() == c.to_dict()
    assert c.map(lambda n: (n, [n])).leaves() == ((1, [1]), (2, [2]), (3, [3]))

"""Containers of different keys: each join, and missing entries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, StructureError
from tests.trees import plain_trees

A = na.Container(x=1, n={"u": 2, "v": 3}, l=[4, 5])
B = na.Container(l=[40, 50, 60], n={"w": 30, "v": 20}, y=10)


def total(*leaves: int) -> int:
    return sum(leaves)


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        ("inner", {"n": {"v": 23}, "l": {0: 44, 1: 55}}),
        ("left", {"x": 1, "n": {"u": 2, "v": 23}, "l": [44, 55]}),
        ("outer", {"x": 1, "n": {"u": 2, "v": 23, "w": 30}, "l": [44, 55, 60], "y": 10}),
    ],
)
def test_each_join(join: str, expected: dict[str, Any]) -> None:
    mapped = A.map(total, B, join=join, fill=0)
    wanted = na.Container(expected)
    assert dict(mapped.flat_items()) == dict(wanted.flat_items())
    assert mapped.paths() == wanted.paths()


def test_lists_that_end_together_stay_lists() -> None:
    a, b = na.Container(l=[1, 2]), na.Container(l=[1, 2], m=0)
    for join in ("inner", "left", "outer"):
        assert a.map(total, b, join=join, fill=0)["l"].to_dict() == [2, 4]


def leaf_dict(tree: dict[str, Any]) -> dict[str, Any]:
    return dict(na.Container(tree).flat_items())


@given(plain_trees(st.integers(-5, 5)), plain_trees(st.integers(-5, 5)))
def test_joins_of_random_trees(a: dict[str, Any], b: dict[str, Any]) -> None:
    left, right = leaf_dict(a), leaf_dict(b)
    inner = na.Container(a).map(total, na.Container(b), join="inner")
    assert dict(inner.flat_items()) == {p: left[p] + right[p] for p in left if p in right}
    kept = na.Container(a).map(total, na.Container(b), join="left", fill=0)
    assert dict(kept.flat_items()) == {p: left[p] + right.get(p, 0) for p in left}
    clash = any(p.startswith(q + "/") or q.startswith(p + "/") for p in left for q in right)
    if clash:
        with pytest.raises(StructureError, match="a leaf of one Container and a node of another"):
            na.Container(a).map(total, na.Container(b), join="outer", fill=0)
    else:
        outer = na.Container(a).map(total, na.Container(b), join="outer", fill=0)
        paths = dict.fromkeys((*left, *right))
        assert dict(outer.flat_items()) == {p: left.get(p, 0) + right.get(p, 0) for p in paths}


def test_aligned_containers_combine(backend: str) -> None:
    make = backends.core(backend).from_numpy
    a = na.Container(x=np.ones(2, "float32"), y=np.full((1, 2), 3, "int32")).map(make)
    b = na.Container(z=np.full(3, 7, "float32"), x=np.full(2, 5, "float32")).map(make)
    left, right, again = a.align(b, a, join="outer", fill=0)
    assert left.spec is right.spec is again.spec
    assert left.paths() == ("x", "y", "z")
    summed = left + right
    host = {p: np.asarray(backends.core(backend).to_numpy(x)) for p, x in summed.flat_items()}
    np.testing.assert_array_equal(host["x"], np.full(2, 6, "float32"))
    np.testing.assert_array_equal(host["y"], np.full((1, 2), 3, "int32"))
    np.testing.assert_array_equal(host["z"], np.full(3, 7, "float32"))
    assert host["y"].dtype == np.int32
    inner = a.align(b)
    assert [c.paths() for c in inner] == [("x",), ("x",)]
    assert inner[0]["x"] is a["x"]


def test_three_containers_with_a_path() -> None:
    mapped = A.map(lambda path, *x: (path, *x), B, 7, A, join="inner", with_path=True)
    assert mapped["n/v"] == ("n/v", 3, 20, 7, 3)


def test_names_with_other_numbers_are_aligned_by_order() -> None:
    def model(*names: str, size: int = 2) -> na.Container:
        return na.Container(
            {names[0]: {n: {"kernel": np.full(size, i)} for i, n in enumerate(names[1:])}}
        )

    a, b = model("sequential", "dense", "dense_1"), model("sequential_1", "dense_2", "dense_3")
    for join in ("inner", "left"):
        left, right = a.align(b, join=join)
        assert left.spec is a.spec
        assert right.spec is a.spec
        assert right["sequential/dense_1/kernel"] is b["sequential_1/dense_3/kernel"]
    both = a.align(b, join="outer", fill=0)
    assert len(both[0].paths()) == 4
    for other in (
        model("sequential_1", "dense_3", "dense_2"),  # order and numbers disagree
        model("sequential_1", "dense_2", "dense_3", size=5),
        model("sequential_1", "dense_2"),
        model("sequential_1", "dense_2", "conv"),
        model("sequential", "dense_1", "dense_2"),  # a common path: by name
    ):
        common = set(a.paths()) & set(other.paths())
        assert set(a.align(other)[1].paths()) == common


def test_errors() -> None:
    with pytest.raises(ArgumentError) as info:
        A.align(B, join="outer")
    assert str(info.value) == (
        "Container.align: 'x' is not in all Containers; give fill, a number for what is missing, "
        "or join='inner'; a.match(b) maps trees with other names"
    )
    with pytest.raises(ArgumentError) as info:
        A.map(total, B, join="right")
    assert str(info.value) == "Container.map: join: got 'right', expected one of inner, outer, left"
    with pytest.raises(ArgumentError, match=r"^Container.align: got dict, expected a Container$"):
        A.align({"x": 1})
    with pytest.raises(StructureError) as info:
        na.Container(a=1).align(na.Container(a={"b": 1}), join="outer", fill=0)
    assert str(info.value) == (
        "Container.align: 'a' is a leaf of one Container and a node of another, which no outer "
        "join can hold; rename or delete one of them"
    )
    with pytest.raises(StructureError, match=r"a.align\(b, join='inner'\) takes the common part"):
        A + B

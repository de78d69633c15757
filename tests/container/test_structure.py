"""Entries replaced, inserted, moved, ordered, cut and found; keys joined and split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, PathError, StructureError
from tests.trees import plain_trees, roots

C = na.Container(a={"w": 1, "b": 2}, l=[10, {"x": 20}], t=(5,), e={}, z=9)


def test_replace_takes_existing_paths_only() -> None:
    assert C.replace({"a/w": 7, "l/0": 8}, z=3).leaves() == (7, 2, 8, 20, 5, 3)
    assert C.replace(a={"q": 1})["a"].to_dict() == {"q": 1}
    with pytest.raises(PathError) as info:
        C.replace({"a/v": 7})
    assert (
        str(info.value)
        == "Container.replace: no 'a/v': no key 'v' under 'a'; the keys are 'w', 'b'"
    )


def test_insert_in_dicts() -> None:
    assert list(C.insert("y", 0, before="a")) == ["y", "a", "l", "t", "e", "z"]
    assert list(C.insert("y", {"u": [1]}, after="l")) == ["a", "l", "y", "t", "e", "z"]
    inserted = C.insert("a/v", {"u": [1, 2]}, after="w")
    assert inserted.leaves() == (1, 1, 2, 2, 10, 20, 5, 9)
    assert inserted["a"].to_dict() == {"w": 1, "v": {"u": [1, 2]}, "b": 2}
    assert list(C.insert("y", 0)) == ["a", "l", "t", "e", "z", "y"]


def test_insert_in_lists() -> None:
    assert C.insert("l/0", 5)["l"].to_dict() == [5, 10, {"x": 20}]
    assert C.insert("l/2", {"n": 5})["l"].to_dict() == [10, {"x": 20}, {"n": 5}]
    assert C.insert(("t", 1), 6)["t"].to_dict() == (5, 6)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "text"),
    [
        (("a/w", 1), {}, StructureError,
         "Container.insert: there is a 'a/w' already; use c.set or c.replace to change it"),
        (("y", 1), {"before": "u"}, PathError,
         "Container.insert: 'y': no key 'u' to stand beside; the keys are 'a', 'l', 't', 'e', 'z'"),
        (("y", 1), {"before": "a", "after": "l"}, ArgumentError,
         "Container.insert: 'y': give before or after, not both"),
        (("l/0", 1), {"before": 1}, ArgumentError,
         "Container.insert: 'l/0' is in a list, where the number is the place; "
         "leave before and after out"),
        (("l/3", 1), {}, StructureError,
         "Container.insert: 'l/3': got the position '3' in a list of 2, expected 0 to 2"),
        (("z/y", 1), {}, StructureError, "Container.insert: 'z/y' would lie below a leaf"),
        (("q/y", 1), {}, PathError, "Container.insert: no 'q': no key 'q' at the top; "
         "the keys are 'a', 'l', 't', 'e', 'z'"),
    ],
)  # fmt: skip
def test_insert_errors(args: Any, kwargs: Any, error: type, text: str) -> None:
    with pytest.raises(error) as info:
        C.insert(*args, **kwargs)
    assert str(info.value) == text


def test_move() -> None:
    assert C.move("a/w", "w").to_dict() == {
        "a": {"b": 2}, "l": [10, {"x": 20}], "t": (5,), "e": {}, "z": 9, "w": 1,
    }  # fmt: skip
    assert C.move("l", "a/l")["a"].to_dict() == {"w": 1, "b": 2, "l": [10, {"x": 20}]}
    assert C.move("l/0", "first")["l"].to_dict() == [{"x": 20}]
    with pytest.raises(StructureError, match=r"^Container.move: there is a 'z' already"):
        C.move("a", "z")
    with pytest.raises(StructureError, match=r"^Container.move: 'a/c' lies inside 'a'$"):
        C.move("a", "a/c")
    with pytest.raises(PathError):
        C.move("nothing", "y")


@given(plain_trees(), st.data())
def test_moving_there_and_back(tree: dict[str, Any], data: st.DataObject) -> None:
    c = na.Container(tree)
    path = data.draw(st.sampled_from(c.paths()))
    back = c.move(path, "elsewhere/deep").move("elsewhere/deep", path)
    assert back.prune().to_dict() == tree


def test_restructure() -> None:
    moved = C.restructure({"z": "new/z", "a": "new/a", "l/1/x": "x"})
    assert moved.to_dict() == {"new": {"z": 9, "a": {"w": 1, "b": 2}}, "x": 20}
    rest = C.restructure({"a/w": "weights/w"}, rest=True)
    assert rest.to_dict() == {
        "a": {"b": 2}, "l": [10, {"x": 20}], "t": (5,), "z": 9, "weights": {"w": 1},
    }  # fmt: skip
    for mapping, text in (
        (
            {"a/w": "q", "a/b": "q"},
            "Container.restructure: two parts have the path 'q'; give one of them another name",
        ),
        ({"a/w": "q", "a/b": "q/r"}, "Container.restructure: 'q/r' goes below another part"),
    ):
        with pytest.raises(StructureError) as info:
            C.restructure(mapping)
        assert str(info.value) == text
    with pytest.raises(ArgumentError, match=r"rest goes with a mapping"):
        C.restructure(lambda path: path, rest=True)


@given(plain_trees())
def test_restructure_by_a_function_and_back(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    under = c.restructure(lambda path: f"model/{path}")
    assert under["model"].to_dict() == tree
    assert under.restructure(lambda path: path.removeprefix("model/")).spec is c.spec
    assert c.restructure(lambda path: None).leaves() == ()


@given(roots())
def test_sorted_keys_hold_the_same_leaves(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    ordered = c.sort_keys()
    assert list(ordered) == sorted(tree)
    assert dict(ordered.flat_items()) == dict(c.flat_items())
    assert ordered.sort_keys().spec is ordered.spec
    assert ordered.spec.permutation_to(c.spec) is not None


def test_sort_keys_by_a_function() -> None:
    c = na.Container({"b": 1, 10: 2, 9: 3, "a": [3, 1]})
    assert list(c.sort_keys()) == [9, 10, "a", "b"]
    assert list(c.sort_keys(key=lambda k: (isinstance(k, int), str(k)))) == ["a", "b", 10, 9]
    assert c.sort_keys()["a"].to_dict() == [3, 1]


def test_prune() -> None:
    c = na.Container(a={"b": {}, "c": []}, l=[{"w": 1}, {}, {"w": 2}], n=None)
    assert c.prune().to_dict() == {"l": {0: {"w": 1}, 2: {"w": 2}}, "n": None}
    assert na.Container(a={}).prune().to_dict() == {}
    assert na.Container(a=[1]).prune()["a"].to_dict() == [1]


@given(plain_trees(), st.sampled_from(["/", ".", "::"]))
def test_keys_joined_and_split_again(tree: dict[str, Any], sep: str) -> None:
    c = na.Container(tree)
    flat = c.flatten_keys(sep)
    assert flat.to_dict() == c.to_flat_dict(sep)
    assert flat.unflatten_keys(sep).to_dict() == tree


@given(plain_trees(), st.integers(1, 4))
def test_keys_joined_to_a_depth_and_split_again(tree: dict[str, Any], depth: int) -> None:
    c = na.Container(tree)
    flat = c.flatten_keys(".", depth=depth)
    assert all(key.count(".") < depth for key in flat)
    assert flat.unflatten_keys(".", depth=depth).to_dict() == tree


def test_keys_of_lists() -> None:
    flat = C.flatten_keys(".")
    assert list(flat) == ["a.w", "a.b", "l.0", "l.1.x", "t.0", "e", "z"]
    assert flat.unflatten_keys(".", lists=True)["l"].to_dict() == [10, {"x": 20}]
    assert flat.unflatten_keys(".")["l"].to_dict() == {"0": 10, "1": {"x": 20}}
    with pytest.raises(StructureError, match=r"^Container.flatten_keys: two parts have the path"):
        na.Container({"a.b": 1, "a": {"b": 2}}).flatten_keys(".")
    with pytest.raises(StructureError, match=r"^Container.unflatten_keys: 'a/b' goes below"):
        na.Container({"a": 1, "a/b": 2}).unflatten_keys()
    with pytest.raises(ArgumentError, match=r"depth: got 0, expected an integer of at least 1"):
        C.flatten_keys(depth=0)
    with pytest.raises(ArgumentError, match=r"sep: got '', expected a string such as '/' or '.'"):
        C.unflatten_keys("")


def test_cut() -> None:
    c = na.Container(a=1, b={"c": 2, "d": {"e": {"f": 3}}}, g={"h": 4})
    assert c.cut(depth=0).to_dict() == {}
    assert c.cut(depth=1).to_dict() == {"a": 1}
    assert c.cut(depth=2).to_dict() == {"a": 1, "b": {"c": 2}, "g": {"h": 4}}
    assert c.cut(depth=4).spec is c.spec
    assert c.cut(height=1).spec is c.spec
    assert c.cut(height=2).paths() == ("a", "b/c")
    assert c.cut(height=4).paths() == ("a",)
    assert c.cut(height=5).paths() == ()
    for settings in ({}, {"depth": 1, "height": 1}):
        with pytest.raises(ArgumentError, match=r"^Container.cut: give depth, or height$"):
            c.cut(**settings)
    with pytest.raises(ArgumentError, match=r"^Container.cut: height: got -1"):
        c.cut(height=-1)


def test_nodes_are_all_sub_containers() -> None:
    found = dict(C.nodes())
    assert list(found) == ["", "a", "l", "l/1", "t", "e"]
    assert found[""].spec is C.spec
    assert all(node.to_dict() == C[path].to_dict() for path, node in found.items() if path)


def test_find() -> None:
    x = np.ones(3)
    c = na.Container(a={"w": x, "b": 0}, l=[{"b": 0, "w": x}, {"w": x}], y=x)
    assert c.find({"w": 0, "b": 0}) == ("a", "l/0")
    assert c.find(na.Container(w=0)) == ("l/1",)
    assert c.find({"w": 0}, partial=True) == ("a", "l/0", "l/1")
    assert c.find(x) == ("a/w", "l/0/w", "l/1/w", "y")
    assert c.find([{"b": 0, "w": 0}, {"w": 0}]) == ("l",)
    assert c.find({"q": 0}) == ()
    assert c.find(np.ones(3)) == ()


def test_find_takes_no_patterns() -> None:
    with pytest.raises(ArgumentError) as info:
        na.Container(a=1).find("**/a")
    assert str(info.value) == (
        "Container.find: what: got '**/a', expected a tree or an array; c.select(pattern).paths() "
        "finds leaves by their paths"
    )

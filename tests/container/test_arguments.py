"""Wrong arguments of Container's methods: the value received, the value expected; bare arrays."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import ArgumentError, NestarrayError, PathError, StructureError

C = na.Container({"a": {"w": np.ones((2, 3)), "b": np.zeros(3)}, "l": [1, 2, 3], "s": "relu"})
X = np.arange(3.0)

WRONG: list[tuple[Callable[[], Any], type[NestarrayError], str]] = [
    (lambda: C.update([1]), ArgumentError,
     "Container.update: other: got list, expected a mapping of keys to arrays or trees"),
    (lambda: C.update(3), ArgumentError,
     "Container.update: other: got 3, expected a mapping of keys to arrays or trees"),
    (lambda: C.update(na.Container(X)), StructureError,
     "Container.update: a bare array has no entries; put it into a tree first, or set it at a path"),
    (lambda: na.Container(X).update(a=1), StructureError,
     "Container.update: a bare array has no entries; put it into a tree first, or set it at a path"),
    (lambda: C.delete("a/q"), PathError,
     "Container.delete: no 'a/q': no key 'q' under 'a'; the keys are 'w', 'b'"),
    (lambda: C.delete(None), PathError,
     "Container.delete: got None as a path, expected a string, an integer or a tuple of these"),
    (lambda: C.set("", 1), PathError,
     "Container.set: got an empty path, expected a key such as 'a' or 'a/b'"),
    (lambda: C.set("a/w/x", 1), PathError,
     "Container.set: cannot put anything at 'a/w/x': 'a/w' is a leaf, it has no keys; set a tree in "
     "its place, or delete it first"),
    (lambda: na.Container(X).set("x", 1), PathError,
     "Container.set: cannot put anything at 'x': this is a bare array, it has no keys; set a tree in "
     "its place, or delete it first"),
    (lambda: na.Container(X).delete("x"), PathError,
     "Container.delete: no 'x': this is a bare array, it has no keys"),
    (lambda: C.rename("a"), ArgumentError,
     "Container.rename: names: got 'a', expected a mapping of paths to new keys, or a function of a "
     "key"),
    (lambda: C.rename({("a", "w"): None}), ArgumentError,
     "Container.rename: names['a/w']: got None, expected the new key, a string or an integer"),
    (lambda: C.rename({"wight": "w"}), PathError,
     "Container.rename: no 'wight': no key 'wight' at the top; the keys are 'a', 'l', 's'"),
    (lambda: C.replace(4), ArgumentError,
     "Container.replace: other: got 4, expected a mapping of paths to values"),
    (lambda: C.move("q", "z"), PathError,
     "Container.move: no 'q': no key 'q' at the top; the keys are 'a', 'l', 's'"),
    (lambda: C.move("s", "a/w/x"), PathError,
     "Container.move: cannot put anything at 'a/w/x': 'a/w' is a leaf, it has no keys; set a tree in "
     "its place, or delete it first"),
    (lambda: C.restructure(["a"]), ArgumentError,
     "Container.restructure: paths: got list, expected a mapping of old paths to new ones, or a "
     "function"),
    (lambda: C.restructure({"q": "z"}), PathError,
     "Container.restructure: no 'q': no key 'q' at the top; the keys are 'a', 'l', 's'"),
    (lambda: na.Container(X).restructure(str), StructureError,
     "Container.restructure: a bare array has no path to give a function"),
    (lambda: C.unstack_keys("q"), PathError,
     "Container.unstack_keys: no 'q': no key 'q' at the top; the keys are 'a', 'l', 's'"),
    (lambda: C.at["q"].add(1), PathError,
     "Container.at: no 'q': no key 'q' at the top; the keys are 'a', 'l', 's'"),
    (lambda: C.select(shape=3), ArgumentError,
     "Container.select: shape: got 3, expected sizes of axes such as (None, 3)"),
    (lambda: C.select(shape="ab"), ArgumentError,
     "Container.select: shape: got 'ab', expected sizes of axes such as (None, 3)"),
    (lambda: C.combine({"z": 1}), ArgumentError,
     "Container.combine: others[0]: got dict, expected a Container; make it one with "
     "na.Container(others[0])"),
    (lambda: C.map(3), ArgumentError,
     "Container.map: fn: got 3, expected a function, called as fn(leaf)"),
    (lambda: C.reduce([], 0), ArgumentError,
     "Container.reduce: fn: got list, expected a function, called as fn(reduction, leaf)"),
    (lambda: C.accumulate(None), ArgumentError,
     "Container.accumulate: fn: got None, expected a function, called as fn(reduction, leaf)"),
    (lambda: C.parallel_map("f"), ArgumentError,
     "Container.parallel_map: fn: got 'f', expected a function, called as fn(leaf)"),
    (lambda: C.map_nodes(0), ArgumentError,
     "Container.map_nodes: fn: got 0, expected a function, called as fn(node)"),
    (lambda: C.sort_keys(key=3), ArgumentError,
     "Container.sort_keys: key: got 3, expected a function, called as key(k)"),
    (lambda: C.to_flat_dict(""), ArgumentError,
     "Container.to_flat_dict: sep: got '', expected a string such as '/' or '.'"),
    (lambda: C.flatten_keys(3), ArgumentError,
     "Container.flatten_keys: sep: got 3, expected a string such as '/' or '.'"),
    (lambda: C.flatten_keys(depth="2"), ArgumentError,
     "Container.flatten_keys: depth: got '2', expected an integer of at least 1"),
    (lambda: C.cut(depth=1.5), ArgumentError,
     "Container.cut: depth: got 1.5, expected an integer of at least 0"),
    (lambda: C.cut(height=True), ArgumentError,
     "Container.cut: height: got True, expected an integer of at least 0"),
    (lambda: C.exclude("s").global_clip("x"), ArgumentError,
     "Container.global_clip: max_norm: got 'x', expected a positive number"),
    (lambda: C.save(3), ArgumentError,
     "Container.save: path: got 3, expected the name of a file, text or a Path"),
    (lambda: na.Container.load(None), ArgumentError,
     "Container.load: path: got None, expected the name of a file, text or a Path"),
    (lambda: na.Container(iter([1, 2])), ArgumentError,
     "Container: tree: got 1, expected (key, value) pairs of an iterator"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "text"), WRONG, ids=[text for *_, text in WRONG])
def test_wrong_calls(call: Callable[[], Any], error: type, text: str) -> None:
    with pytest.raises(error) as info:
        call()
    assert str(info.value) == text


def test_a_predicate_that_fails_says_where() -> None:
    with pytest.raises(ZeroDivisionError) as info:
        C.select(lambda path, leaf: path == "a/w" or 1 / 0)
    assert info.value.__notes__ == ["at the Container path 'a/b'"]


def test_what_contains_itself() -> None:
    tree: dict[str, Any] = {"a": [1]}
    tree["a"].append(tree)
    with pytest.raises(
        StructureError, match=re.escape("Container: the dict contains itself, or is")
    ):
        na.Container(tree)


def test_paths_of_one_call_are_of_the_tree_that_is_there() -> None:
    c = na.Container(l=[10, 20, 30, {"x": 1, "y": 2}], a=1, b=2)
    assert c.delete("l/0", "l/2").to_dict()["l"] == [20, {"x": 1, "y": 2}]
    assert c.delete("l/3/x", "l/3", "a").to_dict() == {"l": [10, 20, 30], "b": 2}
    assert c.rename({"a": "b", "b": "a", "l/3/x": "y", "l/3/y": "x"}).to_dict() == {
        "l": [10, 20, 30, {"y": 1, "x": 2}],
        "b": 1,
        "a": 2,
    }
    moved = c.restructure({"l/0": "first", "l/1": "second"}, rest=True)
    assert moved.to_dict() == {
        "l": [30, {"x": 1, "y": 2}], "a": 1, "b": 2, "first": 10, "second": 20,
    }  # fmt: skip


def test_changes_of_a_bare_array() -> None:
    c = na.Container(X)
    for same in (
        c.flatten_keys("."), c.unflatten_keys("."), c.prune(), c.sort_keys(), c.cut(depth=0),
        c.update(), c.update({}), c.select("**"), c.map(lambda x: x), c.rename({}), c.delete(),
    ):  # fmt: skip
        assert same.spec is c.spec
        assert same.leaves()[0] is X
    for patterns in (("**",), ("nothing",)):
        one, other = c.partition(*patterns)
        assert one.combine(other).leaves()[0] is X

"""`na.tree`: nests of Containers, Python's own nodes and those that only dm-tree knows."""

from __future__ import annotations

import gc
import weakref
from collections import OrderedDict, namedtuple
from typing import Any

import attrs
import numpy as np
import pytest
import tree as dm_tree

import nestarray as na
from nestarray import tree
from nestarray.errors import StructureError

Point = namedtuple("Point", "b a")


@attrs.define
class Pair:
    """A node that dm-tree opens."""

    x: Any
    y: Any


NESTS: dict[str, Any] = {
    "dict": {"z": 1, "a": [na.Container(x=2, y={"u": 3}), None, "s"], "empty": {}},
    "tuples": ((1, (), [2]), Point(na.Container(q=3), {"k": (4,)})),
    "attrs": [Pair(na.Container(r=[1, 2]), 3), 4],
    "ordered": (OrderedDict([("q", 1), ("b", na.Container(u=2))]), 3),
    "numbers": {3: 1, 1: (2,)},
}


@pytest.mark.parametrize("name", NESTS)
def test_there_and_back(name: str) -> None:
    nest = NESTS[name]
    leaves, structure = tree.flatten(nest)
    back = tree.unflatten(structure, leaves)
    assert repr(back) == repr(nest)  # which shows types, keys in their order, and leaves
    assert tree.flatten(back)[0] == leaves
    assert tree.flatten(back)[1].is_like(structure)


@pytest.mark.parametrize("name", NESTS)
def test_leaves_come_as_dm_tree_has_them(name: str) -> None:
    def plain(node: Any) -> Any:
        return node.to_dict() if isinstance(node, na.Container) else None

    expected = dm_tree.flatten(dm_tree.traverse(plain, NESTS[name]))
    assert list(tree.flatten(NESTS[name])[0]) == expected
    assert list(tree.leaves(NESTS[name])) == expected


def test_leaves_of_a_fused_container_are_its_buffers() -> None:
    c = na.Container(a=np.ones(2), b=np.zeros(3))
    (buffer,) = tree.leaves([c.fuse()])
    assert buffer.tolist() == [1, 1, 0, 0, 0]
    assert tree.leaves(c) == c.leaves()
    assert tree.leaves(7) == (7,)


def test_keys_tell_structures_apart() -> None:
    keys = [tree.flatten(nest)[1].key for nest in NESTS.values()]
    keys += [tree.flatten(x)[1].key for x in (((1,),), ([1],), [(1,)], {"a": 1}, {"b": 1}, 1)]
    keys += [tree.flatten((na.Container(a=1),))[1].key, tree.flatten((na.Container(b=1),))[1].key]
    assert len(set(keys)) == len(keys)
    one, two = tree.flatten({"a": 1, "b": 2})[1], tree.flatten({"b": 2, "a": 1})[1]
    assert one.key == two.key


class _Weak(np.ndarray):
    """An array that can be told to be gone."""


@pytest.mark.parametrize("wrap", [lambda c: (c, {"k": c}), lambda c: Point(c, c), lambda c: [c]])
def test_nothing_keeps_leaves_alive(wrap: Any) -> None:
    """Arrays of a training step must go when the step is over, not when garbage is collected."""
    gc.disable()
    try:
        leaf = np.ones(3).view(_Weak)
        gone = weakref.ref(leaf)
        leaves, structure = tree.flatten(wrap(na.Container(a=leaf)))
        del leaf, leaves
        assert gone() is None
        assert structure.key is not None
    finally:
        gc.enable()


def test_a_prefix_gives_its_values_to_what_is_below_it() -> None:
    c = na.Container(a={"w": 1, "b": 2}, l=[3, (4, 5)])
    prefix = na.Container(l=["p", "q"], a="r")  # keys in another order
    assert tree.broadcast(prefix, c).to_dict() == {
        "a": {"w": "r", "b": "r"},
        "l": ["p", ("q", "q")],
    }
    assert tree.broadcast({"a": "r", "l": ["p", "q"]}, c).leaves() == ("r", "r", "p", "q", "q")
    assert tree.broadcast("x", c).leaves() == ("x",) * 5
    assert tree.broadcast(None, {"z": c, "a": 1})["a"] is None
    found = tree.broadcast(Point(7, prefix), Point({"k": 0, "j": [1]}, c))
    assert found.b == {"k": 7, "j": [7]}
    assert found.a.leaves() == ("r", "r", "p", "q", "q")
    ordered = tree.broadcast({"u": 1, "b": 2}, OrderedDict([("u", c), ("b", 0)]))
    assert list(ordered) == ["u", "b"]
    assert ordered["b"] == 2
    assert tree.broadcast(c, c).leaves() == c.leaves()


def test_a_fused_container_has_a_value_for_each_buffer() -> None:
    c = na.Container(a=np.ones(2), b=np.ones(3), n=np.arange(2)).fuse()
    found = tree.broadcast({"a": "x", "b": "x", "n": "y"}, c)
    assert found.buffers() == ("x", "y")
    with pytest.raises(StructureError) as caught:
        tree.broadcast({"a": "x", "b": "z", "n": "y"}, c)
    assert str(caught.value) == (
        "tree.broadcast: 'a' and 'b' lie in one buffer of a fused Container and got 'x' and 'z'; "
        "take c.unfuse()"
    )


@pytest.mark.parametrize(
    ("prefix", "nest", "message"),
    [
        ({"q": 1}, [2], "tree.broadcast: got {'q': 1} for a list, expected a value for all of it, or a nest that is a prefix of it"),
        ((1, 2), (3,), "tree.broadcast: got (1, 2) for a tuple, expected a value for all of it, or a nest that is a prefix of it"),
        ({"a": {"b": 1}}, {"a": 2}, "tree.broadcast: got {'b': 1} for a int, expected a value for all of it, or a nest that is a prefix of it"),
    ],
)  # fmt: skip
def test_what_is_no_prefix(prefix: Any, nest: Any, message: str) -> None:
    with pytest.raises(StructureError) as caught:
        tree.broadcast(prefix, nest)
    assert str(caught.value) == message


def test_a_prefix_of_other_keys_names_the_path() -> None:
    c = na.Container(a={"w": 1, "b": 2}, d=3)
    with pytest.raises(
        StructureError, match=r"^tree\.broadcast: Containers do not match: 'd' is in"
    ):
        tree.broadcast(na.Container(a=1, e=2), c)


def test_map_of_several_nests() -> None:
    first = {"v": na.Container(a=1, b={"c": 2, "d": 3}), "step": 4}
    second = {"step": 40, "v": na.Container(b={"d": 30, "c": 20}, a=10)}  # other orders of keys
    added = tree.map(lambda x, y: x + y, first, second)
    assert added["step"] == 44
    assert added["v"].to_dict() == {"a": 11, "b": {"c": 22, "d": 33}}
    assert added["v"].spec is first["v"].spec
    prefix = {"v": na.Container(a="x", b="y"), "step": None}
    told = tree.map(lambda x, y, name: (x, y, name), first, second, prefix)
    assert told["v"].leaves() == ((1, 10, "x"), (2, 20, "y"), (3, 30, "y"))
    assert tree.map(max, 1, 2, 3) == 3
    with pytest.raises(StructureError, match=r"^tree\.map: Containers do not match: 'a'"):
        tree.map(lambda x, y: x, first["v"], na.Container(q=1))


def test_map_of_several_fused_trees() -> None:
    c = na.Container(a=np.ones(2), b=np.zeros(3))
    shapes: list[Any] = []

    def add(x: Any, y: Any) -> Any:
        shapes.append((np.shape(x), np.shape(y)))
        return x + y

    both = tree.map(add, c.fuse(), c.fuse())
    assert (type(both), shapes) == (na.Container.fuse(c).__class__, [((5,), (5,))])
    assert tree.map(add, c.fuse(), c).tree_sum() == tree.map(add, c, c.fuse()).tree_sum() == 4.0
    assert shapes[1:] == [((2,), (2,)), ((3,), (3,))] * 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tree_leaves", "use c.leaves()"),
        ("map_with_path", "use c.map(fn, with_path=True)"),
        ("norm", "use na.tree_norm"),
        ("map_structure", "use na.tree.map"),
        ("flaten", "did you mean flatten?"),
    ],
)
def test_names_that_tree_libraries_have(name: str, words: str) -> None:
    with pytest.raises(AttributeError) as info:
        getattr(tree, name)
    assert str(info.value) == f"module 'nestarray.tree' has no attribute {name!r}; {words}"

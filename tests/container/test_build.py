"""Conversion of nests into Containers, and back."""

from __future__ import annotations

import copy
import enum
import pickle
from collections import OrderedDict
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given

import nestarray as na
from nestarray.container import ListContainer, TupleContainer
from nestarray.container.spec import LEAF, make_spec
from nestarray.errors import ArgumentError, StructureError
from tests.trees import plain_trees, roots, sample


class Pair(NamedTuple):
    first: Any
    second: Any


@given(roots())
def test_nested_dicts_lists_and_tuples_come_back(tree: dict[str, Any]) -> None:
    assert na.Container(tree).to_dict() == tree
    assert list(na.Container(tree)) == list(tree)


@given(roots())
def test_leaves_lie_depth_first(tree: dict[str, Any]) -> None:
    def walk(node: Any) -> list[Any]:
        if isinstance(node, (dict, list, tuple)):
            children = node.values() if isinstance(node, dict) else node
            return [leaf for child in children for leaf in walk(child)]
        return [node]

    assert list(na.Container(tree).leaves()) == walk(tree)


@given(roots())
def test_structures_are_interned(tree: dict[str, Any]) -> None:
    a, b = na.Container(tree), na.Container(tree)
    assert a.spec is b.spec
    assert na.Container(a).spec is a.spec
    assert pickle.loads(pickle.dumps(a)).spec is a.spec
    assert copy.deepcopy(a).spec is a.spec


@given(plain_trees())
def test_flat_dict_round_trip(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    assert na.Container.from_flat_dict(c.to_flat_dict()).spec is c.spec
    assert na.Container.from_flat_dict(c.to_flat_dict("."), sep=".").to_dict() == tree


def test_named_tuples_keep_their_names() -> None:
    c = na.Container(a=Pair(np.ones(2), [Pair(1, 2)]))
    assert c.paths() == ("a/first", "a/second/0/first", "a/second/0/second")
    assert na.Container(Pair(1, 2)).spec is na.Container.from_object(Pair(1, 2)).spec
    assert na.Container(Pair(1, 2)).to_object(Pair) == Pair(1, 2)


def test_a_mapping_that_iterates_over_something_else() -> None:
    from tensordict import TensorDict
    from torch import arange

    rows = TensorDict({"x": arange(6).reshape(2, 3), "more": {"y": arange(2)}}, batch_size=[2])
    c = na.Container(rows)
    assert c.paths() == ("x", "more/y")
    assert c["x"].shape == (2, 3)


def test_leaves_are_the_objects_given() -> None:
    x = np.ones(3)
    assert na.Container(a={"b": x})["a"]["b"] is x


@pytest.mark.parametrize(
    "tree",
    [
        {"a": 1, "b": {"c": 2}},
        OrderedDict(a=1, b=OrderedDict(c=2)),
        MappingProxyType({"a": 1, "b": MappingProxyType({"c": 2})}),
        iter([("a", 1), ("b", {"c": 2})]),
        {"a": 1, "b": {"c": 2}}.items(),
        na.Container(a=1, b={"c": 2}).items(),
        na.Container(a=1, b={"c": 2}),
        {"a": 1, "b": na.Container(c=2)},
    ],
    ids=[
        "dict",
        "OrderedDict",
        "mappingproxy",
        "pairs",
        "items",
        "items of a Container",
        "Container",
        "Container inside",
    ],
)
def test_mappings(tree: Any) -> None:
    assert na.Container(tree).to_dict() == {"a": 1, "b": {"c": 2}}


def test_keyword_entries_follow_and_replace() -> None:
    c = na.Container({"a": 1, "b": {"c": 2}, "d": 3}, b=20, e=[5])
    assert c.to_dict() == {"a": 1, "d": 3, "b": 20, "e": [5]}


def test_integer_keys_stay_integers() -> None:
    c = na.Container({0: "a", "b": "c"})
    assert c[0] == c["0"] == "a"
    assert c.spec.keys == (0, "b")
    assert list(c) == [0, "b"]


def test_integer_keys_sort_before_strings() -> None:
    c = na.Container({"b": 1, 10: 2, "a": 3, 9: 4})
    assert sorted(c) == [9, 10, "a", "b"]
    assert sorted(c, reverse=True) == ["b", "a", 10, 9]


def test_kinds_of_nodes() -> None:
    c = na.Container(l=[1, 2], t=(3,), d={}, e=[], f=(), n=Pair(6, 7))
    assert type(c["l"]) is ListContainer
    assert type(c["t"]) is type(c["f"]) is TupleContainer
    assert c.to_dict() == {
        "l": [1, 2], "t": (3,), "d": {}, "e": [], "f": (), "n": {"first": 6, "second": 7},
    }  # fmt: skip
    assert c.set("d", ())["d"].to_dict() == c.insert("z", ())["z"].to_dict() == ()
    assert na.Container(()).to_dict() == ()
    assert na.Container().to_dict() == {}
    assert na.Container([1, (2,)]).to_dict() == [1, (2,)]


def test_empty() -> None:
    for empty in (na.Container(), na.Container({}), na.Container(iter(()))):
        assert len(empty) == 0
        assert empty.leaves() == ()
        assert empty.spec is make_spec("dict")


def test_a_bare_array_is_a_tree_too() -> None:
    c = na.Container(np.arange(3.0))
    assert c.spec is LEAF
    assert c.to_dict() is c.leaves()[0]
    np.testing.assert_array_equal((c * 2 + 1).leaves()[0], [1.0, 3.0, 5.0])
    np.testing.assert_array_equal(c[1:].leaves()[0], [1.0, 2.0])
    assert bool(na.Container(np.asarray(True)))


@pytest.mark.parametrize("key", [1.5, None, ("a",), True, False, b"a"], ids=repr)
def test_keys_are_strings_or_integers(key: Any) -> None:
    with pytest.raises(StructureError) as info:
        na.Container({key: 1})
    assert str(info.value) == f"Container: got the key {key!r}, expected a string or an integer"


def test_a_bare_array_takes_no_entries() -> None:
    with pytest.raises(StructureError) as info:
        na.Container(np.ones(2), a=1)
    assert str(info.value) == "Container: a bare array cannot have keyword entries too"


@pytest.mark.parametrize("view", ["keys", "values", "items"])
def test_a_bare_array_has_no_keys(view: str) -> None:
    c = na.Container(np.ones((2, 3)))
    with pytest.raises(ArgumentError) as info:
        getattr(c, view)()
    assert str(info.value) == "Container: a bare array has no keys; its array is c.leaves()[0]"
    assert [part.shape for part in c] == [(3,), (3,)]


def test_flat_names_that_meet() -> None:
    with pytest.raises(StructureError) as info:
        na.Container({"a.b": 1, "a": {"b": 2}}).to_flat_dict(".")
    assert str(info.value) == (
        "Container.to_flat_dict: two leaves are named 'a.b'; rename one of them with c.rename(...), or "
        "take c.spec.paths and c.leaves()"
    )
    with pytest.raises(StructureError) as info:
        na.Container.from_flat_dict({"a": 1, "a/b": 2})
    assert str(info.value) == "Container.from_flat_dict: 'a/b' goes below 'a', which is a leaf"
    with pytest.raises(StructureError) as info:
        na.Container.from_flat_dict({"a/b": 1, "a": 2})
    assert str(info.value) == "Container.from_flat_dict: 'a' is a leaf and also a node"


def test_a_leaf_of_a_flat_dict_may_be_a_dict() -> None:
    leaf = {"not": "a node"}
    assert na.Container.from_flat_dict({"a/b": leaf})["a/b"] is leaf


def test_size_and_bytes() -> None:
    c = na.Container(a=np.ones((2, 3), "float32"), b=[np.ones(4, "int8")], c=None, d="text", e=2.0)
    assert c.size == 10
    assert c.nbytes == 28
    assert na.Container().size == 0


def test_copies() -> None:
    c = na.Container(sample())
    assert copy.copy(c) is c
    deep = copy.deepcopy(c)
    assert deep["encoder/weight"] is not c["encoder/weight"]
    np.testing.assert_array_equal(deep["encoder/weight"], c["encoder/weight"])
    x = np.ones(2)
    tied = copy.deepcopy(na.Container(a=x, b=[x]))
    assert tied["a"] is tied["b/0"]
    assert tied["a"] is not x


def test_pickle_keeps_kinds() -> None:
    c = na.Container(sample())
    back = pickle.loads(pickle.dumps(c["heads"]))
    assert type(back) is ListContainer
    assert type(back[1]) is TupleContainer


def test_threads_that_build_one_structure_share_its_spec() -> None:
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    barrier = Barrier(8)

    def build(number: int) -> list[Any]:
        barrier.wait()
        return [na.Container({f"thread-key-{i}": {"a": number}}).spec for i in range(200)]

    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(build, range(8)))
    for specs in zip(*rows):
        assert len(set(map(id, specs))) == 1


def test_trees_as_deep_as_python_goes() -> None:
    tree: Any = np.ones(2)
    for _ in range(500):
        tree = {"k": tree}
    c = na.Container(tree)
    assert (c + c).tree_sum() == 4.0
    assert c.spec.paths == (("k",) * 500,)
    assert pickle.loads(pickle.dumps(c)).spec is c.spec
    for same in (na.Container.from_flat_dict(c.to_flat_dict()), c.select("**"), c.prune()):
        assert same.spec is c.spec
    assert na.Container(c.to_dict()).sort_keys().spec is c.spec


def test_a_pickle_has_each_different_node_once() -> None:
    c = na.Container([{"w": 1, "b": (2, {})}] * 1000)
    assert len(c.spec._rows()) == 5
    assert len(pickle.dumps(c.spec)) < 10_000
    assert pickle.loads(pickle.dumps(c)).to_dict() == c.to_dict()


class Name(str, enum.Enum):  # noqa: UP042  # whose str() is "Name.A"
    A = "a"


def test_keys_are_pythons_own_strings_and_integers() -> None:
    c = na.Container({Name.A: 1, np.str_("b"): {np.int64(3): 2, np.uint8(4): 5}})
    assert c.spec is na.Container({"a": 1, "b": {3: 2, 4: 5}}).spec
    assert c.paths() == ("a", "b/3", "b/4")
    assert c.set(("b", np.int64(3)), 7)["b"][np.int16(3)] == c[Name.A] + 6 == 7
    for key in (np.bool_(True), np.float64(1.0), b"a", None):
        with pytest.raises(StructureError) as info:
            na.Container({key: 1})
        assert str(info.value) == (
            f"Container: got the key {key!r}, expected a string or an integer"
        )

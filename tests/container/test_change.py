"""Changed Containers: set, update, delete, rename, at; the original never changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import nestarray as na
from nestarray.container import ListContainer
from nestarray.errors import ArgumentError, ImmutableError, PathError, StructureError
from tests.trees import plain_trees, roots, sample


@given(roots())
def test_setting_a_leaf_to_itself_changes_nothing(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    for path, leaf in zip(c.spec.paths, c.leaves(), strict=True):
        same = c.set(path, leaf)
        assert same.spec is c.spec
        assert same.leaves() == c.leaves()


@given(plain_trees())
def test_delete_then_set_gives_the_leaves_back(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    for path, leaf in c.flat_items():
        without = c.delete(path)
        assert path not in without
        assert without.set(path, leaf).to_dict() == tree


@given(plain_trees(), plain_trees())
def test_update_is_the_union(a: dict[str, Any], b: dict[str, Any]) -> None:
    def union(x: Any, y: Any) -> Any:
        if not (isinstance(x, dict) and isinstance(y, dict)):
            return y
        return {
            k: union(x[k], y[k]) if k in x and k in y else (y if k in y else x)[k] for k in x | y
        }

    assert na.Container(a).update(b).to_dict() == union(a, b)


def test_set_replaces_and_creates() -> None:
    c = na.Container(a=1, b={"c": 2})
    assert c.set("b/c", 3).to_dict() == {"a": 1, "b": {"c": 3}}
    assert c.set("b/d/e", 3).to_dict() == {"a": 1, "b": {"c": 2, "d": {"e": 3}}}
    assert c.set("a", {"x": [1]}).to_dict() == {"a": {"x": [1]}, "b": {"c": 2}}
    assert c.set("b", 5).to_dict() == {"a": 1, "b": 5}
    assert c.set(("b", "x/y"), 5)["b"].to_dict() == {"c": 2, "x/y": 5}
    assert c.to_dict() == {"a": 1, "b": {"c": 2}}


def test_set_takes_a_mapping_of_paths() -> None:
    c = na.Container(a={"b": 1}, l=[1])
    changed = c.set({"a/b": 10, ("a", "x/y"): 2, "l/1": 3, "new/leaf": {"w": 4}})
    assert changed.to_dict() == {
        "a": {"b": 10, "x/y": 2}, "l": [1, 3], "new": {"leaf": {"w": 4}},
    }  # fmt: skip
    assert c.set(na.Container({"a/b": 5}))["a/b"] == 5
    assert c.set({}) is c
    assert c.set("m", {}).to_dict()["m"] == {}
    with pytest.raises(ArgumentError) as info:
        c.set("a/b")
    assert str(info.value) == (
        "Container.set: 'a/b' has no value; write c.set(path, x) or c.set({path: x})"
    )
    with pytest.raises(PathError, match="'a/b' is a leaf"):
        c.set({"a/b/c": 1})
    with pytest.raises(PathError, match="as a path, expected a string"):
        c.set({"a": 1}, 2)


def test_set_in_lists() -> None:
    c = na.Container(l=[1, 2])
    assert c.set("l/1", 5).to_dict() == {"l": [1, 5]}
    assert c.set("l/2", 3).to_dict() == {"l": [1, 2, 3]}
    with pytest.raises(PathError) as info:
        c.set("l/5", 3)
    assert str(info.value) == "Container.set: 'l/5': a list of 2 takes the next key 2, got '5'"


def test_set_below_a_leaf() -> None:
    with pytest.raises(PathError) as info:
        na.Container(a=1).set("a/b", 2)
    assert (
        str(info.value)
        == "Container.set: cannot put anything at 'a/b': 'a' is a leaf, it has no keys; set a tree in its place, or delete it first"
    )


def test_update_with_entries_and_containers() -> None:
    c = na.Container(a=1, b={"c": 2, "d": 3})
    assert c.update({"b": {"c": 20}}, e=5).to_dict() == {"a": 1, "b": {"c": 20, "d": 3}, "e": 5}
    assert c.update(na.Container(b={"d": 30})).spec is c.spec
    assert c.update(b=7).to_dict() == {"a": 1, "b": 7}


def test_update_of_lists() -> None:
    c = na.Container(l=[1, 2])
    assert c.update({"l": {1: 20}}).to_dict() == {"l": [1, 20]}
    assert c.update({"l": [10, 20, 30]}).to_dict() == {"l": [10, 20, 30]}
    assert c.update({"l": {"x": 3}}).to_dict() == {"l": {0: 1, 1: 2, "x": 3}}


def test_delete() -> None:
    c = na.Container(a=1, b={"c": 2, "d": [3, 4, 5]})
    assert c.delete("a", "b/c").to_dict() == {"b": {"d": [3, 4, 5]}}
    assert c.delete("b/d/0").to_dict() == {"a": 1, "b": {"c": 2, "d": [4, 5]}}
    with pytest.raises(PathError) as info:
        c.delete("b/x")
    assert (
        str(info.value) == "Container.delete: no 'b/x': no key 'x' under 'b'; the keys are 'c', 'd'"
    )


def test_rename() -> None:
    c = na.Container(a=1, b={"c": 2, "d": 3})
    renamed = c.rename({"b/c": "x", "a": "y"})
    assert renamed.to_dict() == {"y": 1, "b": {"x": 2, "d": 3}}
    assert list(renamed) == ["y", "b"]
    with pytest.raises(StructureError) as info:
        c.rename({"b/c": "d"})
    assert str(info.value) == "Container.rename: there already is a key 'd' beside 'c'"


def test_rename_by_a_function_of_keys() -> None:
    c = na.Container({"Dense_0": {"Kernel": 1}, "Layers": [{"W": 2}, {"W": 3}], 7: 4})
    lower = c.rename(lambda key: key.lower() if isinstance(key, str) else str(key))
    assert lower.to_dict() == {
        "dense_0": {"kernel": 1}, "layers": [{"w": 2}, {"w": 3}], "7": 4,
    }  # fmt: skip
    assert c.exclude("Layers/0").rename(str).paths() == ("Dense_0/Kernel", "Layers/1/W", "7")
    with pytest.raises(StructureError) as info:
        na.Container(a=1, b=2).rename(lambda key: "x")
    assert str(info.value) == "Container.rename: there already is a key 'x' beside 'a'"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"a/b": "a/kernel"}, {"a": {"kernel": 1, "c": 2}, "d": {"w": 3}}),
        ({"a/b": "d/b"}, {"a": {"c": 2}, "d": {"w": 3, "b": 1}}),
        ({"a/b": "/b"}, {"a": {"c": 2}, "d": {"w": 3}, "b": 1}),
        ({"a": "x/y"}, {"d": {"w": 3}, "x": {"y": {"b": 1, "c": 2}}}),
        ({"a": "a/inner"}, {"d": {"w": 3}, "a": {"inner": {"b": 1, "c": 2}}}),
        ({"a/b": "d/w", "d/w": "a/b"}, {"a": {"c": 2, "b": 3}, "d": {"w": 1}}),
        ({"a/b": "a/c", "a/c": "a/b"}, {"a": {"c": 1, "b": 2}, "d": {"w": 3}}),
        ({"a": "x", "a/b": "x/z"}, {"x": {"c": 2, "z": 1}, "d": {"w": 3}}),
        ({"a/b": ("a", "x/y")}, {"a": {"x/y": 1, "c": 2}, "d": {"w": 3}}),
        ({"a/b": ("new", "x/y")}, {"a": {"c": 2}, "d": {"w": 3}, "new": {"x/y": 1}}),
    ],
)
def test_rename_to_a_path(names: dict[str, Any], expected: dict[str, Any]) -> None:
    renamed = na.Container(a={"b": 1, "c": 2}, d={"w": 3}).rename(names)
    assert renamed.to_dict() == expected
    assert renamed.paths() == na.Container(expected).paths()


def test_rename_keeps_keys_with_slashes() -> None:
    haiku = na.Container({"mlp/~/linear_0": {"w": 1}, "mlp/~/linear_1": {"w": 2}})
    first = haiku.rename({"mlp/~/linear_0": "mlp/~/first", "mlp/~/linear_1/w": "mlp/~/linear_1/k"})
    assert first.to_dict() == {"mlp/~/first": {"w": 1}, "mlp/~/linear_1": {"k": 2}}
    short = haiku.rename(lambda key: key.replace("~/", ""))
    assert short.to_dict() == {"mlp/linear_0": {"w": 1}, "mlp/linear_1": {"w": 2}}


def test_rename_to_an_occupied_path() -> None:
    c = na.Container(a={"b": 1, "c": 2}, l=[3])
    for names, message in (
        ({"a/b": "l/0"}, "Container.rename: there already is a 'l/0'"),
        ({"a/b": "x/y", "a/c": "x/y"}, "Container.rename: there already is a 'x/y'"),
        ({"a/b": "a/c"}, "Container.rename: there already is a key 'c' beside 'b'"),
        (
            {"a": "x/y", "a/b": "z/w"},
            "Container.rename: 'a/b' lies inside 'a', which moves too; rename them in two calls",
        ),
    ):
        with pytest.raises(StructureError) as info:
            c.rename(names)
        assert str(info.value) == message
    with pytest.raises(PathError, match="'l/0' is a leaf"):
        c.rename({"a/b": "l/0/w"})


SLASHED = na.Container({"a/b": 2})


@pytest.mark.parametrize(
    "call",
    {
        "constructor": lambda c: na.Container({**c, "a/b": 2}),
        "keyword": lambda c: na.Container({"a/b": 2}, **c),
        "pairs": lambda c: na.Container(iter([*c.items(), ("a/b", 2)])),
        "flat names": lambda c: na.Container.from_flat_dict({"a.b": 1, "a/b": 2}, sep="."),
        "set": lambda c: c.set(("a/b",), 2),
        "update with a mapping": lambda c: c.update({"a/b": 2}),
        "update with a Container": lambda c: c.update(SLASHED),
        "update of a slashed key": lambda c: SLASHED.update(c),
        "combine": lambda c: c.combine(SLASHED),
        "rename": lambda c: c.set("x", 2).rename({"x": ("a/b",)}),
        "restructure": lambda c: c.set("x", 2).restructure({"a": "a", "x": ("a/b",)}),
        "outer join": lambda c: c.map(lambda *leaves: leaves, SLASHED, join="outer"),
    }.items(),
    ids=lambda item: item[0],
)
def test_no_call_gives_two_paths_one_name(call: tuple[str, Any]) -> None:
    with pytest.raises(StructureError, match=r"names two paths, \('a"):
        call[1](na.Container(a={"b": 1}))


@pytest.mark.parametrize("path", [("a/b", 0), ("a/b", "a/c"), ("n", "x/y", "z")])
def test_a_path_is_no_key_of_a_new_place(path: tuple[Any, ...]) -> None:
    c = na.Container(a={"b": np.ones(2), "c": 1}, n={"x": {"y": 1}})
    key = next(k for k in path if "/" in str(k))
    for change in (c.set, lambda path, x: c.at[path].set(x)):
        with pytest.raises(StructureError, match=f"{key!r} names two paths"):
            change(path, 3)
    assert c.set(("new/key", "b"), 3)["new/key", "b"] == 3


def test_at() -> None:
    c = na.Container(a=np.ones(2), b={"c": np.ones(3)})
    np.testing.assert_array_equal(c.at["b/c"].add(2)["b/c"], np.full(3, 3.0))
    np.testing.assert_array_equal(c.at["a"].multiply(5)["a"], np.full(2, 5.0))
    assert c.at["a"].apply(lambda x: x.shape)["a/0"] == 2
    np.testing.assert_array_equal(c.at["b"].add(1)["b/c"], np.full(3, 2.0))
    with pytest.raises(ArgumentError) as info:
        c.at.set(1)
    assert str(info.value) == "Container.at: name a place first: c.at['a/b'].set(x)"


def test_nothing_can_be_assigned() -> None:
    c = na.Container(a=1)
    with pytest.raises(ImmutableError) as info:
        c["a"] = 2
    assert str(info.value) == "Container is immutable: instead of c['a'] = …, use c = c.set('a', …)"
    for index in (0, slice(2), [0, 1], (slice(None), 0)):
        with pytest.raises(ImmutableError) as info:
            c[index] = 2
        assert str(info.value) == (
            "Container is immutable: instead of c[index] = …, use c = c.at[index].set(…), with an array "
            "or a number for all leaves, or a tree of parts"
        )
    with pytest.raises(ImmutableError) as info:
        c.a = 2
    assert str(info.value) == "Container is immutable: instead of c.a = …, use c = c.set('a', …)"
    with pytest.raises(ImmutableError) as info:
        del c["a"]
    assert str(info.value) == "Container is immutable: instead of del c['a'], use c = c.delete('a')"
    with pytest.raises(ImmutableError) as info:
        del c.a
    assert str(info.value) == "Container is immutable: instead of del c.a, use c = c.delete('a')"
    with pytest.raises(ImmutableError):
        c._leaves = ()
    with pytest.raises(TypeError):
        hash(c)


def test_methods_leave_the_original_as_it_is() -> None:
    c = na.Container(sample())
    spec, leaves = c.spec, c.leaves()
    c.set("new", 1), c.delete("scale"), c.update(scale=1), c.rename({"scale": "x"})
    c.select("**/bias"), c * 2, c.map(lambda x: x), c["heads"].set(0, 5)
    assert c.spec is spec
    assert all(a is b for a, b in zip(c.leaves(), leaves, strict=True))


def test_changing_the_source_does_not_change_the_container() -> None:
    source = {"a": {"b": 1}}
    c = na.Container(source)
    source["a"]["b"] = 2
    source["c"] = {}
    assert c.to_dict() == {"a": {"b": 1}}


def test_list_in_place_operators_make_new_containers() -> None:
    c = d = na.Container([np.ones(2)])
    c += 1
    assert type(c) is ListContainer
    np.testing.assert_array_equal(d[0], np.ones(2))
    np.testing.assert_array_equal(c[0], np.full(2, 2.0))


def test_update_takes_no_paths() -> None:
    c = na.Container({"a": {"b": 1}, "x/y": 2})
    with pytest.raises(StructureError, match="'a/b' names two paths"):
        c.update({"a/b": 3})
    assert c.update({"x/y": 3, "a/new": 4}).to_dict() == {"a": {"b": 1}, "x/y": 3, "a/new": 4}

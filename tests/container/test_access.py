"""Reading parts: keys, paths, attributes, indices, and the errors for missing ones."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nestarray as na
from nestarray.container import ListContainer
from nestarray.errors import PathError, StructureError
from nestarray.errors.suggestions import SUGGESTIONS
from tests.trees import roots, sample


@given(roots())
def test_every_leaf_is_found_by_its_path(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    for path, leaf in zip(c.spec.paths, c.leaves(), strict=True):
        assert c[path] is leaf
        assert path in c
        node: Any = c
        for key in path:
            node = node[key]
        assert node is leaf


@given(roots())
def test_sub_containers_are_slices(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    for key, value in tree.items():
        part = c[(key,)]
        assert (part.to_dict() if isinstance(part, na.Container) else part) == value


def test_ways_to_one_leaf() -> None:
    c = na.Container(sample())
    x = c["encoder"]["weight"]
    for found in (c["encoder/weight"], c["encoder", "weight"], c.encoder.weight):
        assert found is x
    assert c["heads/1/0"] is c["heads"][1][0]
    assert c["heads", 1, 0] is c["heads", "1", "0"]
    assert c.get("nowhere", 3) == 3
    assert c.get("encoder/bias") is c.encoder.bias


@pytest.mark.parametrize("key", [0, -1, (0,), ("encoder", 0), ..., None, 1.5, slice(1), ("b", slice(1)), np.ones(3, bool)])  # fmt: skip
def test_get_takes_no_index(key: Any) -> None:
    c = na.Container(encoder={"w": np.ones(3)}, b=np.zeros(3))
    assert c.get(key, "nothing") == "nothing"
    assert key not in c
    assert c.delete("b").delete("encoder/w").get(("encoder", "w")) is None


AMBIGUOUS = [
    ({"a/b": 1, "a": {"b": 2}}, "'a/b' names two paths, ('a/b',) and ('a', 'b')"),
    ({"a": {"b": 1}, "a/b": {"c": 2}}, "'a/b' names two paths, ('a', 'b') and ('a/b',)"),
    (
        {"a/b": {"c": 1}, "a": {"b/c": 2}},
        "'a/b/c' names two paths, ('a/b', 'c') and ('a', 'b/c')",
    ),
    ({"a/": 1, "a": {"": 2}}, "'a/' names two paths, ('a/',) and ('a', '')"),
    ({"n": {1: 2, "1": 3}}, "'1' names two paths, (1,) and ('1',)"),
]


@pytest.mark.parametrize(("tree", "message"), AMBIGUOUS, ids=str)
def test_no_two_paths_have_one_name(tree: dict[str, Any], message: str) -> None:
    with pytest.raises(StructureError) as info:
        na.Container(tree)
    assert str(info.value) == (
        f"Container: {message}; rename a key; c.set(name, x) changes what is there"
    )


@pytest.mark.parametrize(
    "tree",
    [
        {"": 1},
        {"a": {"": 1, "b": {"": 2}}},
        {"": {"": 1, "a": 2}},
        {"/": 1, "a//b": 2, "/a": 3, "a/": 4, "a": {"b": 5}},
        {"n": {1: {"x": 1}, "01/x": 2}},
        {"n": {"01": 1, 1: {"x": 2}}},
        {"n": {"l": [1, 2], "l/-1": 3}},
        {"l": {-1: 3, "x": [1, 2]}},
        {"a": {"x": 1}, "a/b": {"c": 2}, "a/b/d/": {"e": 3}},
    ],
    ids=str,
)
def test_every_name_finds_its_leaf(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    assert [c[name] for name in c.paths()] == list(c.leaves())
    assert [c[path] for path in c.spec.paths] == list(c.leaves())
    assert all(c.set(name, 7)[name] == 7 for name in c.paths())
    assert all(c.set(name, 7).spec is c.spec for name in c.paths())
    for i, name in enumerate(c.paths()):
        assert c.delete(name).leaves() == (*c.leaves()[:i], *c.leaves()[i + 1 :])
    assert all(c[name].spec is node.spec for name, node in c.nodes() if name)


ANY_KEY = st.text("a/1", max_size=3) | st.integers(-1, 2)
ANY_TREE = st.dictionaries(
    ANY_KEY, st.recursive(st.integers(), lambda inner: st.dictionaries(ANY_KEY, inner, max_size=3))
)


@given(ANY_TREE)
def test_any_accepted_tree_has_names_that_are_found(tree: dict[Any, Any]) -> None:
    try:
        c = na.Container(tree)
    except StructureError:
        assume(False)
    places = [(name, node.leaves()) for name, node in c.nodes()][1:]
    assert all(c[name].leaves() == leaves for name, leaves in places)
    assert [c[name] for name in c.paths()] == list(c.leaves())
    assert len({*c.paths(), *dict(places)}) == c.count() + len(places)


def test_a_key_may_be_the_front_of_another() -> None:
    """As Haiku names the parameters of a module and of its submodules."""
    c = na.Container({"mlp": {"scale": 1, "w": {"x": 2}}, "mlp/~/linear": {"w": 3}, "mlp/b": 4})
    for path, leaf in zip(c.paths(), c.leaves(), strict=True):
        assert c[path] == leaf
        assert c.set(path, 7).paths() == c.paths()
        assert c.set(path, 7)[path] == 7
        assert path not in c.delete(path).paths()
    assert c.set("mlp/~/linear/b", 5)["mlp/~/linear"].to_dict() == {"w": 3, "b": 5}
    assert c.set("mlp/bias", 5).mlp.to_dict() == {"scale": 1, "w": {"x": 2}, "bias": 5}
    nested = na.Container(a={"a": 1, "a/b": 2})
    assert nested["a/a/b"] == 2
    with pytest.raises(PathError) as info:
        c["mlp/~/x"]
    assert str(info.value) == (
        "Container: no 'mlp/~/x': no key '~' under 'mlp'; the keys are 'scale', 'w'"
    )


@pytest.mark.parametrize("key", ["²", "--1", "-", "-²", "a/²", "a/--1"])
def test_what_is_no_number(key: str) -> None:
    c = na.Container(a=[1, 2])
    assert key not in c
    with pytest.raises(PathError, match=re.escape(f"no {key!r}: no key")):
        c[key]


def test_keys_from_the_last_to_the_first() -> None:
    c = na.Container(a=1, l=[2, 3])
    for view in (c, c.keys(), c.values(), c.items(), c.l, c.l.values()):
        assert [str(x) for x in reversed(view)] == [str(x) for x in view][::-1]
    assert list(reversed(c)) == ["l", "a"]
    assert [int(x) for x in reversed(na.Container(np.arange(2)))] == [1, 0]


def test_slashes_inside_keys() -> None:
    c = na.Container({"mlp/~/linear_0": {"w": 1, "b/x": 2}})
    assert c["mlp/~/linear_0/w"] == 1
    assert c["mlp/~/linear_0/b/x"] == 2
    assert "mlp/~/linear_0" in c
    assert "mlp/~" not in c


def test_a_key_hidden_by_a_method_is_reached_by_brackets() -> None:
    c = na.Container(map=1, size=2, keys=3, mean=4)
    assert [c["map"], c["size"], c["keys"], c["mean"]] == [1, 2, 3, 4]
    assert callable(c.map)
    assert c.size == 0


def test_indices_go_to_every_leaf() -> None:
    c = na.Container(a=np.arange(6).reshape(3, 2), b={"c": np.arange(3)})
    np.testing.assert_array_equal(c[1]["a"], [2, 3])
    np.testing.assert_array_equal(c[1:]["b/c"], [1, 2])
    np.testing.assert_array_equal(c[..., -1]["a"], [1, 3, 5])
    np.testing.assert_array_equal(c[np.asarray([2, 0])]["b/c"], [2, 0])
    assert c[-1]["b/c"] == 2


def test_integers_that_are_keys_are_keys() -> None:
    assert na.Container([np.ones(2), np.zeros(3)])[1].shape == (3,)
    assert na.Container({5: 1})[5] == 1
    assert na.Container([1, [2, (3, 4)]])[1, 1, 0] == 3
    assert na.Container({"5": 1})[5] == 1


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (
            "encoder/weigth",
            "Container: no 'encoder/weigth': no key 'weigth' under 'encoder'; did you mean 'weight'?",
        ),
        (
            "xyz",
            "Container: no 'xyz': no key 'xyz' at the top; the keys are 'encoder', 'heads', 'scale'",
        ),
        ("scale/a", "Container: no 'scale/a': 'scale' is a leaf, it has no keys"),
        (("heads", 7), "Container: no 'heads/7': no key 7 under 'heads'; the keys are 0, 1"),
        ("", "Container: got an empty path, expected a key such as 'a' or 'a/b'"),
    ],
    ids=["near", "top", "below a leaf", "list", "empty"],
)
def test_messages_of_missing_paths(path: Any, message: str) -> None:
    c = na.Container(sample())
    with pytest.raises(PathError) as info:
        c[path]
    assert str(info.value) == message
    assert path not in c


def test_numbers_of_numpy_are_keys_where_keys_are_numbers() -> None:
    c = na.Container(b=[{"w": np.full(2, i)} for i in range(3)])
    for i in np.arange(3):
        assert c.b[i].w is c["b", i, "w"] is c["b", int(i), "w"]
    assert c.b[np.int8(-1)].w is c.b[2].w
    assert c[np.int64(0)]["b/1/w"] == 1  # an index elsewhere


def test_dots_in_place_of_slashes() -> None:
    c = na.Container(encoder={"w": 1, "v.x": {"b": 2}})
    for path, hint in (
        ("encoder.w", "did you mean 'encoder/w'?"),
        ("encoder.v", "did you mean 'encoder'?"),
    ):
        with pytest.raises(PathError) as info:
            c[path]
        assert str(info.value) == f"Container: no {path!r}: no key {path!r} at the top; {hint}"
    assert c["encoder/v.x/b"] == 2


def test_a_pattern_is_no_path() -> None:
    c = na.Container(sample())
    for call, name in ((c.__getitem__, "Container"), (c.delete, "Container.delete")):
        with pytest.raises(PathError) as info:
            call("**/weight")
        assert str(info.value) == (
            f"{name}: no '**/weight': no key '**' at the top; c.select and c.exclude take patterns"
        )


def test_a_number_beyond_a_list() -> None:
    with pytest.raises(PathError) as info:
        na.Container([1, 2])[5]
    assert str(info.value) == "Container: no 5: no key 5 at the top; the keys are 0, 1"


def test_many_keys_are_not_all_listed() -> None:
    with pytest.raises(PathError) as info:
        na.Container({f"k{i}": i for i in range(20)})["zzz"]
    assert str(info.value) == (
        "Container: no 'zzz': no key 'zzz' at the top; the keys are "
        "'k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', …"
    )


def test_paths_of_the_wrong_type_are_not_there() -> None:
    c = na.Container(a=1)
    for path in (1.5, (), ("a", None)):
        assert path not in c


def test_message_of_a_missing_attribute() -> None:
    c = na.Container(sample())
    with pytest.raises(AttributeError) as info:
        _ = c.encoder.weigth
    assert str(info.value) == ("Container has no key or method 'weigth'; did you mean 'weight'?")
    with pytest.raises(AttributeError) as info:
        _ = c.encoder.Flat_Itmes
    assert (
        str(info.value) == "Container has no key or method 'Flat_Itmes'; did you mean c.flat_items?"
    )
    assert not hasattr(c, "__array_interface__")


REMEDIES = {
    name: remedy for remedy, names in SUGGESTIONS["Container"].items() for name in names.split()
}


@pytest.mark.parametrize("name", REMEDIES)
def test_names_of_other_libraries(name: str) -> None:
    c = na.Container(a=1)
    assert not hasattr(na.Container, name)
    with pytest.raises(AttributeError) as info:
        getattr(c, name)
    advice = REMEDIES[name]
    again = "c = " if name[-1] == "_" else ""
    assert str(info.value) == f"Container has no key or method {name!r}; use {again}{advice}"
    assert na.Container({name: 2})[name] == getattr(na.Container({name: 2}), name) == 2


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("from_dict", "; use na.Container(tree)"),
        ("from_dataclass", "; use na.Container.from_object(x)"),
        ("stack", "; use na.stack(trees)"),
        ("from_flat_dct", "; did you mean 'from_flat_dict'?"),
        ("_private", ""),
    ],
)
def test_constructors_of_other_libraries(name: str, advice: str) -> None:
    for cls in (na.Container, ListContainer):
        with pytest.raises(AttributeError) as info:
            getattr(cls, name)
        assert str(info.value) == (
            f"type object {cls.__name__!r} has no attribute {name!r}{advice}"
        )


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("cont_map", "c.map(…)"),
        ("cont_cutoff_at_depth", "c.cut(depth=depth)"),
        ("cont_all_true", ""),
        ("rename_keys_", "c = c.rename({old: new})"),
        ("tree_zeros_like", "na.zeros_like(c)"),
    ],
)
def test_names_with_a_front_or_an_end(name: str, advice: str) -> None:
    with pytest.raises(AttributeError) as info:
        getattr(na.Container(a=1), name)
    said = f"; use {advice}" if advice else "; the keys are 'a'"
    assert str(info.value) == f"Container has no key or method {name!r}{said}"


def test_names_that_other_libraries_give_to_ops() -> None:
    c = na.Container(a=1)
    for name, call in {
        "clamp": "c.clip(…)", "clamp_": "c = c.clip(…)", "mul_": "c = c.multiply(…)",
        "exp_": "c = c.exp(…)", "cumsum": "c.cumulative_sum(…)",
    }.items():  # fmt: skip
        with pytest.raises(AttributeError) as info:
            getattr(c, name)
        assert str(info.value) == f"Container has no key or method {name!r}; use {call}"


def test_missing_keys_are_key_errors() -> None:
    with pytest.raises(KeyError):
        na.Container(a=1)["b"]


def test_truth_value() -> None:
    with pytest.raises(StructureError) as info:
        bool(na.Container(a=1))
    assert str(info.value) == (
        "Container: the truth value of a tree of arrays is ambiguous; use len(c) for its size, "
        "or c.tree_all() for all elements"
    )


def test_mapping_protocol() -> None:
    c = na.Container(a=1, b={"c": 2})
    assert list(c.keys()) == ["a", "b"]
    assert repr(c.keys()) == "Keys(['a', 'b'])"
    assert [type(v) for v in c.values()] == [int, na.Container]
    assert dict(c.items())["a"] == 1
    assert {**c}["a"] == 1
    match c:
        case {"a": value}:
            assert value == 1


def test_completion_offers_keys_and_methods_of_trees() -> None:
    c = na.Container({"a": 1, "b": {"c": [2]}, "not a name": 3})
    names = {name for name in dir(c) if name[0] != "_"}
    assert {"a", "b", "set", "update", "tree_norm", "to_flax", "to_backend", "match"} <= names
    assert names.isdisjoint({"exp", "matmul", "cholesky", "conv2d", "not a name"})
    assert len(names) < 130
    assert na.Container(a=0.0).exp()["a"] == 1.0  # functions remain methods
    assert c._ipython_key_completions_() == ["a", "b", "not a name", "b/c/0"]


def test_leaves_by_path() -> None:
    c = na.Container(a=1, b={"c": 2, "d": [3]})
    assert c.paths() == ("a", "b/c", "b/d/0")
    assert list(c.flat_items()) == [("a", 1), ("b/c", 2), ("b/d/0", 3)]
    assert c.reduce(lambda total, leaf: total + leaf, 10) == 16


def test_members_of_lists_from_the_end() -> None:
    c = na.Container(l=[1, 2, {"w": 3}], d={-1: 4, 0: 5}, m={"-1": 6})
    assert c["l"][-1].to_dict() == {"w": 3}
    assert (c["l", -2], c["l/-1/w"], c["l"][-3]) == (2, 3, 1)
    assert (c["d"][-1], c["m"][-1], c["m/-1"]) == (4, 6, 6)
    assert c.set("l/-2", 0)["l/1"] == 0
    assert c.delete("l/-1").to_dict()["l"] == [1, 2]
    assert "l/-3" in c
    assert "l/-4" not in c
    with pytest.raises(PathError, match="no key -4"):
        c["l"][-4]
    with pytest.raises(PathError, match="no key -1"):
        c["l"].exclude("1")[-1]  # part of a list, whose members keep their numbers

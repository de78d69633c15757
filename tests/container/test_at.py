"""``c.at[place]`` with paths, patterns and indices; the original never changes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, PathError, ShapeError, StructureError


def tree(backend: str) -> na.Container:
    core = backends.core(backend)
    plain = {
        "a": {"w": np.asarray([1.0, 2.0]), "b": np.asarray([3.0, 4.0])},
        "l": [{"b": np.asarray([5.0, 6.0])}],
        "b": np.asarray([7.0, 8.0]),
    }
    return na.Container(plain).map(lambda x: core.from_numpy(x.astype("float32")))


def values(c: Any) -> Any:
    host = lambda x: np.asarray(backends.core(na.backend_of(x)).to_numpy(x)).tolist()  # noqa: E731
    return {path: host(leaf) for path, leaf in c.flat_items()}


OLD = {"a/w": [1.0, 2.0], "a/b": [3.0, 4.0], "l/0/b": [5.0, 6.0], "b": [7.0, 8.0]}


def test_paths(backend: str) -> None:
    c = tree(backend)
    assert values(c.at["a/w"].add(1.0)) == {**OLD, "a/w": [2.0, 3.0]}
    assert values(c.at["a"].multiply(2)) == {**OLD, "a/w": [2.0, 4.0], "a/b": [6.0, 8.0]}
    assert values(c.at["a"].subtract(c["a"])) == {**OLD, "a/w": [0.0, 0.0], "a/b": [0.0, 0.0]}
    assert values(c.at["b"].divide(2)) == {**OLD, "b": [3.5, 4.0]}
    assert values(c.at["a/w"].power(2)) == {**OLD, "a/w": [1.0, 4.0]}
    assert values(c.at["b"].min(7.5)) == {**OLD, "b": [7.0, 7.5]}
    assert values(c.at["b"].max(7.5)) == {**OLD, "b": [7.5, 8.0]}
    assert values(c.at["b"].apply(na.negative)) == {**OLD, "b": [-7.0, -8.0]}
    assert values(c.at["new/x"].set(c["b"])) == {**OLD, "new/x": [7.0, 8.0]}
    assert c.at["a/w"].get() is c["a/w"]
    assert values(c) == OLD


def test_set_fills_the_leaves(backend: str) -> None:
    c = tree(backend).set("n", backends.core(backend).from_numpy(np.asarray([1, 2], "int32")))
    for place, paths in {
        "a/w": ["a/w"], "a": ["a/w", "a/b"], "**/b": ["a/b", "l/0/b", "b"], "l": ["l/0/b"],
    }.items():  # fmt: skip
        changed = c.at[place].set(5)
        assert changed.spec is c.spec
        assert changed.map(na.dtype_of).to_dict() == c.map(na.dtype_of).to_dict()
        assert values(changed) == {**OLD, "n": [1, 2], **{path: [5.0, 5.0] for path in paths}}
    assert values(c.at["a"].set({"b": 0.0, "w": c["b"]})["a"]) == {"w": [7.0, 8.0], "b": [0.0, 0.0]}
    assert values(c.at["a/w"].set(c["b"][0]))["a/w"] == [7.0, 7.0]


def test_set_keeps_the_shape_and_the_structure() -> None:
    c = tree("numpy")
    with pytest.raises(ShapeError, match=r"got shape \(3,\), expected \(2,\)") as info:
        c.at["a"].set(np.ones(3))
    assert info.value.__notes__ == [
        "at the Container path 'w'",
        "in what is at the Container path 'a'",
        "c.set(path, x) puts an array of another shape in its place",
    ]
    with pytest.raises(StructureError, match="do not match"):
        c.at["a"].set({"x": 1.0})


def test_set_replaces_leaves_that_are_no_arrays() -> None:
    labels = tree("numpy").map(lambda _: "train")
    assert labels.at["a"].set("freeze").leaves() == ("freeze", "freeze", "train", "train")
    assert na.Container(a=1, b=None).at["*"].set(0.5).to_dict() == {"a": 0.5, "b": 0.5}


def test_set_has_derivatives(backend: str) -> None:
    c = tree(backend)

    def loss(v: na.Container) -> Any:
        return na.tree_sum(v.at["a/w"].set(v["b"][0]).at["l"].set(0.0) * 2.0)

    assert values(na.grad(loss)(c)) == {
        "a/w": [0.0, 0.0], "a/b": [2.0, 2.0], "l/0/b": [0.0, 0.0], "b": [6.0, 2.0],
    }  # fmt: skip


PATTERNS = {
    "glob": "**/b",
    "regex": re.compile("b$"),
    "predicate": lambda path, leaf: path.endswith("b"),
}


@pytest.mark.parametrize("pattern", PATTERNS.values(), ids=PATTERNS)
def test_patterns_change_every_leaf_they_take(backend: str, pattern: Any) -> None:
    c = tree(backend)
    added = {"a/w": [1.0, 2.0], "a/b": [4.0, 5.0], "l/0/b": [6.0, 7.0], "b": [8.0, 9.0]}
    assert values(c.at[pattern].add(1)) == added
    assert values(c.at[pattern].add(c.select(pattern) * 0 + 1)) == added
    assert values(c.at[pattern].apply(lambda x: x + 1)) == added
    assert values(c.at[pattern].set(c["b"]))["l/0/b"] == [7.0, 8.0]
    assert c.at[pattern].set(c["b"]).spec is c.spec
    assert c.at[pattern].get().paths() == ("a/b", "l/0/b", "b")
    assert values(c) == OLD


def test_indices_change_the_same_part_of_every_leaf(backend: str) -> None:
    c = tree(backend)
    assert values(c.at[0].set(0.0)) == {p: [0.0, x[1]] for p, x in OLD.items()}
    assert values(c.at[0].subtract(1.0)) == {p: [x[0] - 1, x[1]] for p, x in OLD.items()}
    assert values(c.at[0].divide(2.0)) == {p: [x[0] / 2, x[1]] for p, x in OLD.items()}
    assert values(c.at[1].power(2.0)) == {p: [x[0], x[1] ** 2] for p, x in OLD.items()}
    assert values(c.at[0].apply(na.negative)) == {p: [-x[0], x[1]] for p, x in OLD.items()}
    assert c.at[1].get().leaves() == tuple(x[1] for x in OLD.values())
    assert values(c.at[1:].add(1.0)) == {p: [x[0], x[1] + 1] for p, x in OLD.items()}
    row = c[1]
    assert values(c.at[0].set(row)) == {p: [x[1], x[1]] for p, x in OLD.items()}


def test_a_place_inside_of_a_place(backend: str) -> None:
    c = tree(backend)
    assert values(c.at["a"]["w"].add(1.0)) == values(c.at["a/w"].add(1.0))
    assert values(c.at["a"]["new"].set(c["b"])) == values(c.set("a/new", c["b"]))
    assert values(c.at["a/w"][1].set(9.0)) == {**OLD, "a/w": [1.0, 9.0]}
    assert values(c.at["a/w"][[0, 0]].add(1.0)) == {**OLD, "a/w": [3.0, 2.0]}  # once for each
    assert values(c.at["a/w"][1:][0].multiply(5.0)) == {**OLD, "a/w": [1.0, 10.0]}
    assert values(c.at["a"]["*"][0].apply(na.negative)) == {
        **OLD, "a/w": [-1.0, 2.0], "a/b": [-3.0, 4.0],
    }  # fmt: skip
    rows = c.select("**/b")[0]
    for value in (1.0, rows * 0 + 1):
        assert values(c.at["**/b"][0].subtract(value)) == {
            "a/w": [1.0, 2.0], "a/b": [2.0, 4.0], "l/0/b": [4.0, 6.0], "b": [6.0, 8.0],
        }  # fmt: skip
    assert values(c.at["**/b"][0].get()) == values(rows)
    assert values(c) == OLD


def test_a_second_index_is_refused() -> None:
    for place in (na.at(np.zeros((2, 2)))[0], tree("numpy").at[0]):
        with pytest.raises(ArgumentError) as info:
            place["w"]
        assert str(info.value) == (
            "at: got ['w'] after [0], expected one index; write [i, j], and of a Container the path "
            "first: c.at[path][index]"
        )


def test_an_exact_key_is_no_pattern() -> None:
    c = na.Container({"a*": 1, "ab": 2})
    assert c.at["a*"].set(5).to_dict() == {"a*": 5, "ab": 2}


def test_errors() -> None:
    c = tree("numpy")
    with pytest.raises(PathError) as info:
        c.at["**/v"].add(1)
    assert str(info.value) == (
        "Container.at: no leaf matches '**/v'; the leaves are 'a/w', 'a/b', 'l/0/b', 'b'"
    )
    with pytest.raises(PathError, match="no leaf matches"):
        c.at["**/v"].set(1)
    with pytest.raises(PathError, match="no key 'v' under 'a'"):
        c.at["a/v"].add(1)
    with pytest.raises(ArgumentError, match="name a place first"):
        c.at.get()
    with pytest.raises(AttributeError) as unknown:
        c.at["a/w"].mul(2.0)  # pyright: ignore[reportAttributeAccessIssue]
    assert str(unknown.value) == "Container.at has no method 'mul'; use multiply"
    with pytest.raises(
        AttributeError, match=r"no method 'qq'; it has add, apply, divide, get, max"
    ):
        c.at["a/w"].qq(2.0)  # pyright: ignore[reportAttributeAccessIssue]


def test_errors_name_the_path_from_the_top() -> None:
    c = na.Container(a={"w": np.ones(2), "name": object()})
    for place, notes in (
        ("a/name", ["at the Container path 'a/name'"]),
        ("a", ["at the Container path 'name'", "in what is at the Container path 'a'"]),
    ):
        with pytest.raises(ArgumentError) as info:
            c.at[place].add(1)
        assert info.value.__notes__ == notes

"""Three-way merges: one side's changes, both sides' changes, conflicts and what resolves them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, MergeConflict, StructureError
from tests.comparison.test_differences import ARRAYS
from tests.trees import assert_identical, plain_trees, roots

BASE = na.Container(w=np.zeros(2), b=np.zeros(1), layers=[{"k": 1}, {"k": 2}], name="relu")


@given(roots(ARRAYS), roots(ARRAYS))
def test_a_side_that_changed_nothing_gives_way(x: dict[str, Any], y: dict[str, Any]) -> None:
    base, changed = na.Container(x), na.Container(y)
    assert_identical(base.merge(changed, base), changed)
    assert_identical(base.merge(base, changed), changed)
    assert_identical(base.merge(changed, changed), changed)


@given(plain_trees(ARRAYS), plain_trees(ARRAYS), plain_trees(ARRAYS))
def test_the_sides_can_be_swapped(x: dict[str, Any], y: dict[str, Any], z: dict[str, Any]) -> None:
    base, ours, theirs = na.Container(x), na.Container(y), na.Container(z)
    try:
        merged = base.merge(ours, theirs)
    except MergeConflict as error:
        with pytest.raises(MergeConflict) as info:
            base.merge(theirs, ours)
        paths = {c.path for c in error.conflicts}  # type: ignore[attr-defined]
        assert {c.path for c in info.value.conflicts} == paths  # type: ignore[attr-defined]
    else:
        assert set(merged.paths()) == set(base.merge(theirs, ours).paths())
    resolved = base.merge(ours, theirs, resolve="ours")
    for path in ours.paths():  # theirs has no say where ours changed something
        if path not in base:
            assert path in resolved


def test_changes_in_different_places() -> None:
    ours = BASE.set("w", np.ones(2)).set("layers/0/k", 10).delete("name")
    theirs = BASE.set("b", np.ones(1)).set("layers/1/k", 20).set("new", 3)
    merged = BASE.merge(ours, theirs)
    assert merged["w"] is ours["w"]
    assert merged["b"] is theirs["b"]
    assert merged.select("layers", "new").to_dict() == {"layers": [{"k": 10}, {"k": 20}], "new": 3}
    assert "name" not in merged


def test_equal_changes_are_taken_once(backend: str) -> None:
    core = backends.core(backend)
    base, new = (na.Container(a=core.from_numpy(np.full(2, v, "float32"))) for v in (0, 1))
    again = na.Container(a=core.from_numpy(np.ones(2, "float32")))
    assert base.merge(new, again)["a"] is new["a"]


def test_conflicts_are_all_named() -> None:
    ours = BASE.set("w", np.ones(2)).delete("b").set("layers/0/k", {"deep": 1})
    theirs = BASE.set("w", np.full(2, 2.0)).set("b", np.ones(3)).set("layers/0/k", 7).set("z", 1)
    with pytest.raises(MergeConflict) as info:
        BASE.merge(ours.set("z", "1"), theirs)
    assert str(info.value) == (
        "merge: ours and theirs changed 4 places differently; say what to take with "
        'resolve="ours", "theirs", "sum" or a function of (path, base, ours, theirs)\n'
        "  'w': changed in both, f64[2] of different values\n"
        "  'b': deleted in ours, changed in theirs to f64[3]\n"
        "  'layers/0/k': changed in both, a dict of 1 leaf in ours, 7 in theirs\n"
        "  'z': added in both, '1' in ours, 1 in theirs"
    )
    first, second, third, fourth = info.value.conflicts
    assert first.path == ("w",)
    assert first.ours is ours["w"]
    assert second.ours is na.MISSING
    assert third.ours.to_dict() == {"deep": 1}
    assert fourth.base is na.MISSING
    copied = pickle.loads(pickle.dumps(info.value))
    assert str(copied) == str(info.value)
    assert copied.conflicts[1].ours is na.MISSING


def test_many_conflicts_are_cut() -> None:
    base = na.Container({f"k{i}": 0 for i in range(30)})
    with pytest.raises(MergeConflict) as info:
        base.merge(base + 1, base + 2)
    assert str(info.value).endswith("\n  … and 20 more, see the attribute `conflicts`")
    assert len(info.value.conflicts) == 30


@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_one_side_wins(side: str) -> None:
    ours = BASE.set("w", "o").delete("b").set("only_ours", 1)
    theirs = BASE.set("w", "t").set("b", "t").set("only_theirs", 1)
    merged = BASE.merge(ours, theirs, resolve=side)
    assert merged["w"] == side[0]
    assert ("b" in merged) == (side == "theirs")
    assert "only_ours" in merged
    assert "only_theirs" in merged


def test_a_function_resolves() -> None:
    ours, theirs = BASE + 1, BASE.map(lambda x: x * 2 + 1 if isinstance(x, np.ndarray) else x)
    seen = []

    def resolve(path: str, base: Any, mine: Any, other: Any) -> Any:
        seen.append(path)
        return na.MISSING if path == "b" else [mine, other]

    merged = BASE.merge(ours.set("b", "x"), theirs, resolve=resolve)
    assert seen == ["b"]
    assert "b" not in merged
    merged = BASE.merge(ours, BASE - 1, resolve=resolve)
    assert seen[1:] == ["w", "b", "layers/0/k", "layers/1/k"]
    assert merged["layers"].to_dict() == [{"k": [2, 0]}, {"k": [3, 1]}]
    with pytest.raises(MergeConflict, match="changed 4 places"):
        BASE.merge(ours, BASE - 1, resolve=lambda *_: NotImplemented)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_sum_of_both_changes(backend: str, dtype: str) -> None:
    like = backends.core(backend).from_numpy(np.zeros(1, "float32"))
    base = na.Container(w=na.asarray([1, 2, 3], dtype=dtype, like=like), n=5)
    ours = base.map(lambda x: x + 1)
    theirs = base.map(lambda x: x + 10)
    merged = base.merge(ours, theirs, resolve="sum")
    assert na.backend_of(merged["w"]) == backend
    assert na.dtype_of(merged["w"]).name == dtype
    np.testing.assert_array_equal(
        np.asarray(backends.core(backend).to_numpy(merged["w"]), "float32"), [12, 13, 14]
    )
    assert merged["n"] == 16


def test_what_has_no_sum_stays_a_conflict() -> None:
    base = na.Container(s="a", m=np.asarray([True]), n=np.zeros(2), o=None, gone=1)
    ours = na.Container(s="b", m=np.asarray([False]), n=np.zeros(3), o=1)
    theirs = na.Container(s="c", m=np.zeros(1), n=np.ones(2), o=2, gone=2)
    with pytest.raises(MergeConflict) as info:
        base.merge(ours, theirs, resolve="sum")
    assert [c.path for c in info.value.conflicts] == [("s",), ("m",), ("n",), ("o",), ("gone",)]


def test_lists() -> None:
    base = na.Container(l=[1, 2])
    assert base.merge(na.Container(l=[1, 2, 3]), na.Container(l=[0, 2])).to_dict() == {
        "l": [0, 2, 3]
    }
    assert base.merge(na.Container(l=(1, 2)), na.Container(l=[1, 5])).to_dict() == {"l": (1, 5)}
    with pytest.raises(MergeConflict) as info:
        base.merge(na.Container(l=[1]), na.Container(l=[1, 2, 3]))
    assert str(info.value).endswith("'l': the members of the two sides do not make one list")
    merged = base.merge(na.Container(l=[1]), na.Container(l=[1, 2, 3]), resolve="theirs")
    assert merged.to_dict() == {"l": [1, 2, 3]}
    with pytest.raises(MergeConflict, match="do not make one tuple or dict"):
        base.merge(na.Container(l=(1, 2)), na.Container(l={0: 1, 1: 2}))


def test_order_of_keys() -> None:
    base = na.Container(a=1, b=2, c=3)
    assert list(base.merge(na.Container(c=3, b=2, a=1), base.set("d", 4))) == ["c", "d", "b", "a"]
    assert list(base.merge(base.set("d", 4), na.Container(c=3, b=2, a=1))) == ["c", "d", "b", "a"]
    between = na.Container(a=1, x=0, y=0, b=2, c=3)
    assert list(base.merge(base.set("d", 4), between)) == ["a", "x", "y", "b", "c", "d"]


def test_deleted_nodes() -> None:
    base = na.Container(n={"x": 1, "y": 2}, k=1)
    assert base.merge(base.delete("n"), base.set("k", 2)).to_dict() == {"k": 2}
    with pytest.raises(MergeConflict) as info:
        base.merge(base.delete("n"), base.set("n/y", 5))
    assert [c.path for c in info.value.conflicts] == [("n", "y")]
    kept = base.merge(base.delete("n"), base.set("n/y", 5), resolve="theirs")
    assert kept.to_dict() == {"n": {"y": 5}, "k": 1}


X = np.arange(4, dtype="float32")
NAMES = na.Container(a=X, n={"k": np.ones(3, "float32")})


def test_a_change_goes_along_with_a_rename(backend: str) -> None:
    base = NAMES.map(backends.core(backend).from_numpy)
    renamed, changed = base.rename({"a": "b", "n": "m"}), base.update({"a": base["a"] + 1})
    for merged in (base.merge(renamed, changed), base.merge(changed, renamed)):
        assert merged.paths() == ("b", "m/k")
        assert merged["b"] is changed["a"]
        assert merged["m/k"] is base["n/k"]
    assert base.merge(renamed, renamed).paths() == ("b", "m/k")
    copied = renamed.set("b", backends.core(backend).from_numpy(X.copy()))
    assert base.merge(copied, changed)["b"] is changed["a"]  # equal values, another object
    new = changed.set("n/new", 1)  # which stays where it was put
    assert set(base.merge(renamed, new).paths()) == {"b", "m/k", "n/new"}


def test_a_leaf_with_two_new_names_is_a_conflict() -> None:
    ours, theirs = NAMES.rename({"a": "b", "n": "m"}), NAMES.rename({"a": "c", "n": "o"})
    with pytest.raises(MergeConflict) as info:
        NAMES.merge(ours, theirs)
    assert sorted(map(str, info.value.conflicts)) == [
        "'b': moved from 'a' to here in ours, to 'c' in theirs",
        "'c': moved from 'a' to here in theirs, to 'b' in ours",
        "'m/k': moved from 'n/k' to here in ours, to 'o/k' in theirs",
        "'o/k': moved from 'n/k' to here in theirs, to 'm/k' in ours",
    ]
    places = {conflict.path: conflict for conflict in info.value.conflicts}
    assert places["b",].base is places["b",].ours is X
    assert places["b",].theirs is na.MISSING
    assert_identical(NAMES.merge(ours, theirs, resolve="ours"), ours)
    assert_identical(NAMES.merge(ours, theirs, resolve="theirs"), theirs)
    both = NAMES.merge(ours, theirs, resolve=lambda path, base, mine, other: base)
    assert sorted(both.paths()) == ["b", "c", "m/k", "o/k"]


def test_a_leaf_renamed_and_deleted_is_a_conflict() -> None:
    ours, theirs = NAMES.rename({"a": "b"}), NAMES.delete("a")
    with pytest.raises(MergeConflict) as info:
        NAMES.merge(theirs, ours)
    assert str(info.value).endswith("'b': moved from 'a' to here in theirs, deleted in ours")
    assert_identical(NAMES.merge(ours, theirs, resolve="ours"), ours)
    assert_identical(NAMES.merge(ours, theirs, resolve="theirs"), theirs)
    with pytest.raises(MergeConflict) as info:
        NAMES.merge(ours, NAMES.set("a", {"deep": 1}))
    assert [c.path for c in info.value.conflicts] == [("a",)]


def test_equal_constants_under_other_names_are_not_one_leaf() -> None:
    base, theirs = na.Container(a=np.zeros(2)), na.Container(a=np.ones(2))
    with pytest.raises(MergeConflict, match="'a': deleted in ours, changed in theirs"):
        base.merge(na.Container(b=np.zeros(2)), theirs)
    merged = base.merge(na.Container(b=np.zeros(2)), na.Container(c=np.zeros(2)))
    assert set(merged.paths()) == {"b", "c"}


def test_bad_arguments() -> None:
    with pytest.raises(ArgumentError) as info:
        BASE.merge(BASE, BASE, resolve="mine")
    assert str(info.value) == (
        "merge: resolve: got 'mine', expected 'ours', 'theirs', 'sum', a function of "
        "(path, base, ours, theirs), or None"
    )
    with pytest.raises(ArgumentError) as info:
        BASE.merge(BASE, {"a": 1})
    assert str(info.value) == (
        "merge: theirs: got dict, expected a Container; make it one with na.Container(theirs)"
    )


def test_trees_that_are_too_deep() -> None:
    def deep(value: float) -> na.Container:
        tree: Any = np.full(1, value)
        for _ in range(900):
            tree = {"k": tree}
        return na.Container(tree)

    base, new = deep(0.0), deep(1.0)
    with pytest.raises(StructureError, match="nested deeper than"):
        base.merge(new, base)
    with pytest.raises(StructureError, match="nested deeper than"):
        base.patch(base.diff(new))

"""diff and patch: what changed between two trees, applied exactly and undone exactly."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given

import nestarray as na
from nestarray import backends
from nestarray.comparison import change, equality
from nestarray.comparison.equality import identical, statistics
from nestarray.errors import ArgumentError, StructureError
from nestarray.errors.text import counted
from tests.arrays import on
from tests.trees import LEAVES, assert_identical, roots, sample


def only(diff: na.Diff) -> Any:
    (entry,) = diff
    return entry


ARRAYS = LEAVES.map(lambda x: np.asarray([x, 1.0]) if isinstance(x, float) else x)


@given(roots(ARRAYS), roots(ARRAYS))
def test_patch_makes_the_other_tree_and_its_inverse_the_first(
    x: dict[str, Any], y: dict[str, Any]
) -> None:
    a, b = na.Container(x), na.Container(y)
    d = a.diff(b)
    assert_identical(a.patch(d), b)
    assert_identical(b.patch(d.invert()), a)
    assert_identical(a.patch(d.invert().invert()), b)
    assert bool(d) == bool(b.diff(a)) == bool(d.invert())
    assert bool(d) == (a.spec is not b.spec or not all(map(identical, a.leaves(), b.leaves())))


def test_masks_are_compared_and_what_they_hide_is_not() -> None:
    def masked(data: list[float], mask: list[bool]) -> na.Container:
        return na.Container(a=np.ma.masked_array(data, mask))

    a = masked([1.0, 2.0, 3.0], [False, False, True])
    assert not a.diff(masked([1.0, 2.0, 9.0], [False, False, True]))
    assert a.diff(masked([1.0, 2.0, 3.0], [False, True, True]))
    assert a.diff(masked([1.0, 5.0, 3.0], [False, False, True]))
    assert a.diff(masked([1.0, 2.0], [False, False]))
    assert a.diff(na.Container(a=np.asarray([1.0, 2.0, 3.0])))
    assert a.diff(a.map(lambda x: x.astype("float32")))


@given(roots(ARRAYS))
def test_no_difference_from_itself(x: dict[str, Any]) -> None:
    a = na.Container(x)
    d = a.diff(na.Container(x))
    assert not d
    assert not list(d)
    assert str(d) == f"no differences in {counted(len(a.leaves()), 'leaf', 'leaves')}"
    assert_identical(a.patch(d), a)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "bool", "complex64"])
def test_values_on_every_backend(backend: str, dtype: str) -> None:
    a = na.Container(
        w=na.asarray(
            [[0, 1], [1, 0]],
            dtype=dtype,
            like=backends.core(backend).from_numpy(np.ones(1, "float32")),
        )
    )
    b = a.map(lambda x: na.astype(na.asarray([[0, 1], [1, 1]], like=x), dtype))
    d = a.diff(b)
    entry = only(d)
    assert (entry.status, entry.path, entry.aspects) == ("changed", ("w",), ("values",))
    found = entry.statistics
    assert (found.changed, found.size, found.fraction) == (1, 4, 0.25)
    assert (found.max_abs, found.max_rel, found.mean_abs) == (1.0, 1.0, 0.25)
    assert found.where == (1, 1)
    assert na.backend_of(a.patch(d)["w"]) == backend
    assert_identical(a.patch(d), b)
    assert_identical(b.patch(d.invert()), a)
    assert not a.diff(a.map(lambda x: na.add(x, na.zeros_like(x)) if dtype != "bool" else x))


def test_patched_leaves_are_the_arrays_themselves() -> None:
    a, b = na.Container(sample()), na.Container(sample()).set("scale", np.ones(3))
    patched = a.patch(a.diff(b))
    assert patched["scale"] is b["scale"]
    assert patched["encoder/weight"] is a["encoder/weight"]


def test_what_counts_as_a_change() -> None:
    nan = np.asarray([np.nan, 1.0])
    assert not na.Container(a=nan, b=float("nan")).diff(na.Container(a=nan.copy(), b=float("nan")))
    assert na.Container(a=np.asarray(0.0)).diff(na.Container(a=np.asarray(-0.0)))
    assert na.Container(a=0.0).diff(na.Container(a=-0.0))
    tiny = np.asarray([1e-45], "float32")
    assert na.Container(a=tiny).diff(na.Container(a=tiny * 0))
    for old, new in ((1, True), (1, 1.0), ("1", 1), (None, 0), (np.float64(1), 1.0)):
        entry = only(na.Container(a=old).diff(na.Container(a=new)))
        assert entry.aspects == ("type",)


def test_denormal_numbers_differ_from_zero(backend: str) -> None:
    a = on(backend, {"x": np.asarray([1e-45, 1.0], "float32")})
    b = on(backend, {"x": np.asarray([0.0, 1.0], "float32")})
    assert only(a.diff(b)).statistics.changed == 1
    assert_identical(a.patch(a.diff(b)), b)


def test_statistics_are_computed_when_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    a = on("torch", sample())
    b = a.map(lambda x: x + 1)
    calls = []
    monkeypatch.setattr(equality, "statistics", lambda **arguments: calls.append(arguments))
    d = a.diff(b)
    assert len(d) == len(d.invert()) == a.count()
    assert_identical(a.patch(d), b)
    assert calls == []
    assert all(entry.statistics is None for entry in d)
    assert [arguments["y"] for arguments in calls] == list(b.leaves())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "bfloat16"])
def test_all_nans_are_the_same(dtype: str) -> None:
    negative = na.copysign(np.asarray([np.nan, 1.0]), np.asarray([-1.0, 1.0]))
    a = na.Container(x=na.astype(np.asarray([np.nan, 1.0]), dtype))
    b = na.Container(x=na.astype(negative, dtype))
    assert not a.diff(b)
    assert only(a.diff(b.map(lambda x: x + 1))).statistics.changed == 1
    assert only(a.diff(b.map(lambda x: x[::-1]))).statistics.changed == 2
    assert only(b.diff(b.map(np.ones_like))).statistics.changed == 1


def test_aspects() -> None:
    a = na.Container(w=np.zeros((2, 3), "float32"))
    assert only(a.diff(a.map(lambda x: x.reshape(3, 2)))).aspects == ("shape",)
    assert only(a.diff(a.map(lambda x: x.astype("float16")))).aspects == ("dtype",)
    assert only(a.diff(a.map(lambda x: x.astype("int8") + 1))).aspects == ("dtype", "values")
    entry = only(a.diff(a.map(lambda x: np.ones(2))))
    assert entry.aspects == ("dtype", "shape")
    assert entry.statistics is None
    assert (entry.old, entry.new) == ("f32[2, 3]", "f64[2]")


def test_other_frameworks_and_dtypes_can_be_let_pass(backend: str) -> None:
    a = na.Container(sample()).map(lambda x: np.asarray(x, "float32"))
    b = on(backend, a)
    d = a.diff(b)
    assert bool(d) == (backend != "numpy")
    assert all(entry.aspects == ("backend",) for entry in d)
    if d:
        assert next(iter(d)).new == f"{backend} f32[2, 3]"
    assert_identical(a.patch(d), b)
    assert not a.diff(b, check_backend=False)
    changed = b.map(lambda x: na.astype(x, "float16") + 1)
    entry = next(iter(a.diff(changed, check_backend=False, check_dtype=False)))
    assert entry.aspects == ("values",)
    assert entry.statistics.max_abs == 1.0


def test_tolerances() -> None:
    a = na.Container(x=np.asarray([100.0, 1.0, np.inf]), n=10)
    b = na.Container(x=np.asarray([100.5, 1.5, np.inf]), n=11)
    assert not a.diff(b, atol=1.0)
    d = a.diff(b, rtol=0.01)
    assert [e.statistics.changed for e in d] == [1, 1]
    assert next(iter(d)).statistics.where == (1,)
    assert a.diff(a.set("x", np.asarray([100.0, 1.0, 5.0])), rtol=10.0, atol=1e9)
    for name in ("rtol", "atol"):
        with pytest.raises(ArgumentError) as info:
            a.diff(b, **{name: -1.0})
        assert str(info.value) == f"diff: {name}: got -1.0, expected a number of at least 0"


def test_statistics_at_the_limits() -> None:
    s = statistics(np.asarray([1, np.nan, np.inf, 3.0]), np.asarray([1, 2, -np.inf, np.nan]))
    assert s is not None
    assert (s.changed, s.nans, s.max_abs, s.max_rel, s.where) == (3, 2, np.inf, np.inf, (2,))
    bounds = np.iinfo(np.int64)
    s = statistics(np.asarray([bounds.min]), np.asarray([bounds.max]))
    assert s is not None
    assert s.max_abs == float(2**64)
    s = statistics(np.asarray([2**53]), np.asarray([2**53 + 1]))
    assert s is not None
    assert (s.changed, s.max_abs) == (1, 1.0)
    s = statistics(np.int8([-128]), np.int8([127]))
    assert s is not None
    assert s.max_abs == 255.0
    s = statistics(np.asarray([1, 2], "uint64"), np.asarray([1, -2], "int64"))
    assert s is not None
    assert (s.changed, s.max_abs) == (1, 4.0)
    s = statistics(np.asarray([3 + 4j]), np.asarray([0j]))
    assert s is not None
    assert s.max_abs == 5.0
    s = statistics(np.asarray(["a", "b"]), np.asarray(["a", "c"]))
    assert s is not None
    assert (s.changed, s.where) == (1, (1,))
    assert statistics(np.zeros((0, 3)), np.zeros((0, 3))) is None


def test_arrays_on_another_device_go_the_way_of_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    # No such device is here; said to be on one, arrays take the path that leaves them there.
    import torch

    monkeypatch.setattr(backends.core("torch"), "device_of", lambda x: "cuda:0")
    x = torch.tensor([1.0, float("nan"), 0.0, 2.0])
    y = torch.tensor([1.0, float("nan"), -0.0, 5.0])
    assert identical(x, x.clone())
    assert not identical(x, y)
    found = statistics(x, y)
    assert found is not None
    assert (found.changed, found.max_abs, found.where, found.nans) == (2, 3.0, (3,), 0)


def test_jax_keys_and_eight_bit_floats() -> None:
    import jax

    a = na.Container(key=jax.random.key(0), x=jax.numpy.ones(3, "float8_e4m3fn"))
    assert not a.diff(na.Container(key=jax.random.key(0), x=a["x"] + 0))
    d = a.diff(na.Container(key=jax.random.key(1), x=a["x"] * 2))
    assert [e.path for e in d] == [("key",), ("x",)]
    assert list(d)[1].statistics.max_abs == 1.0


def test_moves() -> None:
    w, b = np.arange(6.0), np.zeros(2)
    a = na.Container(enc={"0": {"w": w, "b": b}, "1": {"w": w + 1, "b": b.copy()}})
    c = na.Container(enc={"x": {"b": b.copy(), "w": w.copy()}, "y": a["enc/1"].to_dict()})
    d = a.diff(c)
    moves = {(e.old_path, e.path) for e in d if e.status == "moved"}
    for old, new in (("0", "x"), ("1", "y")):
        assert (("enc", old, "w"), ("enc", new, "w")) in moves
    assert {e.status for e in d} == {"moved"}
    assert not d.changes.leaves()
    assert_identical(a.patch(d), c)
    # a tied array that gets a second name is added, its first name stays
    tied = a.set("head", w)
    assert [(e.status, e.path) for e in a.diff(tied)] == [("added", ("head",))]


def test_small_equal_values_did_not_move() -> None:
    d = na.Container(a=0, b=1).diff(na.Container(c=0, d=1))
    assert sorted(e.status for e in d) == ["added", "added", "removed", "removed"]
    zeros = na.Container({k: np.zeros(3) for k in "ab"})
    assert {e.status for e in zeros.diff(zeros.rename({"a": "x", "b": "y"}))} == {"moved"}
    copies = na.Container({k: np.zeros(3) for k in "xy"})
    assert {e.status for e in zeros.diff(copies)} == {"added", "removed"}


def test_moved_leaves_are_moved_as_they_are_in_the_tree_at_hand() -> None:
    a = na.Container(a=np.arange(3.0), b=1)
    d = a.diff(a.rename({"a": "z"}))
    other = a.set("a", np.full(2, 7.0))
    np.testing.assert_array_equal(other.patch(d)["z"], [7.0, 7.0])
    with pytest.raises(StructureError, match=r"that it was made from: 'a'\. Nothing"):
        a.delete("a").patch(d)


def test_nodes() -> None:
    a = na.Container(l=[1, 2], e={}, d={"x": 1, "y": 2})
    b = na.Container(l=(1, 2), d={"y": 2, "x": 1}, f=[])
    entries = {(e.status, e.path): (e.old, e.new) for e in a.diff(b)}
    assert entries == {
        ("kind", ("l",)): ("list", "tuple"),
        ("order", ("d",)): ("x, y", "y, x"),
        ("removed", ("e",)): ("empty dict", None),
        ("added", ("f",)): (None, "empty list"),
    }
    assert na.Container(a={}).diff(na.Container(a=[]))
    assert [(e.status, e.path) for e in na.Container(a=1).diff(na.Container(a={}))] == [
        ("added", ("a",)),
        ("removed", ("a",)),
    ]
    keys = na.Container({1: "x"}).diff(na.Container({"1": "x"}))
    assert len(keys) == 2


def test_bare_arrays() -> None:
    a, b = na.Container(np.zeros(2)), na.Container(np.ones(2))
    d = a.diff(b)
    assert only(d).path == ()
    assert_identical(a.patch(d), b)
    assert_identical(b.patch(d.invert()), a)
    np.testing.assert_array_equal(d.changes["old"], np.zeros(2))
    tree = na.Container(x=np.zeros(2))
    assert_identical(a.patch(a.diff(tree)), tree)


def test_patch_keeps_what_the_diff_does_not_touch() -> None:
    base = na.Container(w=np.zeros(2), b=np.zeros(1), h={"x": 1})
    tuned = base.set("w", np.ones(2)).set("new", 5).delete("h")
    mine = base.set("b", np.full(1, 9.0)).set("extra/y", 3)
    patched = mine.patch(base.diff(tuned))
    assert list(patched) == ["w", "b", "new", "extra"]
    np.testing.assert_array_equal(patched["w"], [1.0, 1.0])
    np.testing.assert_array_equal(patched["b"], [9.0])
    with pytest.raises(StructureError) as info:
        mine.set("w", np.full(2, 2.0)).set("h/x", 2).patch(base.diff(tuned))
    assert str(info.value) == (
        "patch: diff does not apply: not as it was in the tree that it was made from: 'w', 'h/x'. "
        "Nothing was changed; make a new diff, or use base.merge(ours, theirs), which can resolve "
        "conflicts"
    )


def test_changes_are_a_container() -> None:
    a = na.Container(l=[np.zeros(2), np.ones(2)], s="x")
    b = a.set("l/1", np.full(2, 5.0)).set("new/k", np.ones(1))
    changes = a.diff(b).changes
    assert changes.paths() == ("old/l/1", "new/l/1", "new/new/k")
    assert changes["new/l/1"] is b["l/1"]


def test_pickle_and_json(backend: str) -> None:
    a = on(backend, {"w": np.zeros(3, "float32"), "gone": np.ones(2, "float32")})
    b = a.set("w", a["w"] + 1).delete("gone")
    d = pickle.loads(pickle.dumps(a.diff(b)))
    assert_identical(a.patch(d), b)
    plain = json.loads(json.dumps(d.to_dict(), allow_nan=False))
    assert plain["counts"] == {"changed": 1, "removed": 1}
    assert plain["entries"][0]["statistics"] == {
        "changed": 3, "size": 3, "max_abs": 1.0, "max_rel": 1.0, "mean_abs": 1.0,
        "where": [0], "nans": 0,
    }  # fmt: skip
    infinite = na.Container(x=np.inf).diff(na.Container(x=1.0)).to_dict()
    assert infinite["entries"][0]["statistics"]["max_abs"] == "inf"


def test_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    a = na.Container(
        w=np.zeros((2, 3), "float32"), b=np.zeros(2), name="relu", old={"x": np.arange(3), "y": 1}
    )
    b = na.Container(
        w=np.full((2, 3), 0.5, "float32"), b=np.zeros(3), name="gelu",
        new={"x": np.arange(3), "y": 1}, l=[1.5],
    )  # fmt: skip
    assert str(a.diff(b)) == (
        "3 changed, 1 added, 2 moved; 5 leaves → 6\n"
        "~ w            f32[2, 3]        all 6 changed, |Δ| ≤ 0.5 at [0, 0], mean 0.5\n"
        "~ b            f64[2] → f64[3]\n"
        "~ name         'relu'           → 'gelu'\n"
        "> old/ → new/  2 leaves\n"
        "+ l/0          1.5"
    )


def test_text_of_many_changes_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("LINES", "24")
    a = na.Container(layers=[{"w": np.zeros(4), "b": np.zeros(2)} for _ in range(50)])
    assert str(a.diff(a + 1)).splitlines() == [
        "100 changed; 100 leaves → 100",
        "~ layers/{0…49}/w  50 × f64[4]  all 200 changed, |Δ| ≤ 1, mean 1",
        "~ layers/{0…49}/b  50 × f64[2]  all 100 changed, |Δ| ≤ 1, mean 1",
    ]
    names = ["".join(chr(97 + (i // 26**j) % 26) for j in range(3)) for i in range(3000)]
    wide = na.Container({n[:1]: {m: np.zeros(2) for m in names if m[0] == n[0]} for n in names})
    text = str(wide.diff(wide.map(lambda x: x + 1))).splitlines()
    assert len(text) <= 24
    assert max(map(len, text)) <= 80
    flat = na.Container({n: np.zeros(1) for n in names})
    text = str(flat.diff(na.Container())).splitlines()
    assert len(text) <= 24
    assert text[1].startswith("- ./")
    assert "3,000 leaves" in text[1]
    nested = na.Container(
        {f"a{i}": {f"b{j}": np.zeros((i, j)) for j in range(9)} for i in range(9)}
    )
    text = str(nested.diff(nested.map(lambda x: x + 1))).splitlines()
    assert text[1] == "~ a{1…8}/  64 leaves  all 1,296 changed, |Δ| ≤ 1, mean 1"


def test_the_statistics_of_a_line_are_those_of_its_changes() -> None:
    rng = np.random.default_rng(0)
    sizes = [1, 3, 20_000, *range(2, 600)]  # alone, and together with others of its dtype
    a = na.Container({f"w{i}": rng.normal(size=n) for i, n in enumerate(sizes)}, i=np.arange(3))
    b = a.map(lambda x: (x + rng.normal(size=x.shape)).astype(x.dtype) + 1)
    b = b.set("w7", np.where(np.arange(b.w7.size) == 2, np.nan, b.w7)).set("w8", torch.ones(7))
    changes = [x for x in a.diff(b) if x.path[0] not in ("i", "w8")]
    expected = [x.statistics for x in changes]
    total = change.total(changes)
    assert total.changed == sum(s.changed for s in expected)
    assert total.size == sum(s.size for s in expected) == sum(sizes) - 7
    assert total.max_abs == max(s.max_abs for s in expected)
    assert total.nans == 1
    mean = sum(s.mean_abs * s.size for s in expected) / total.size
    assert total.mean_abs == pytest.approx(mean, rel=1e-12)
    both = [x for x in a.diff(b) if x.path[0] in ("i", "w8")]
    assert change.total(both).size == 3 + 7


def test_numbers_in_names_keep_their_zeros() -> None:
    a = na.Container({f"block_0{i}": {f"w{j:03}": np.zeros(2) for j in range(20)} for i in (1, 2)})
    assert str(a.diff(a.at["block_01"].add(1))).splitlines() == [
        "20 changed; 40 leaves → 40",
        "~ block_01/w{000…019}  20 × f64[2]  all 40 changed, |Δ| ≤ 1, mean 1",
    ]
    assert str(a.select("*1/w000").diff(na.Container())).startswith("1 removed; 1 leaf → 0")


def test_html_is_escaped() -> None:
    page = na.Container({"<script>": "<b>"}).diff(na.Container({"<script>": "</b>"}))._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    many = na.Container({chr(97 + i % 26) * (i // 26 + 1): i for i in range(3000)})
    assert len(many.diff(na.Container())._repr_html_()) < 20_000


def test_bad_arguments() -> None:
    c = na.Container(a=1)
    with pytest.raises(ArgumentError) as info:
        c.diff({"a": 1})
    assert str(info.value) == (
        "diff: other: got dict, expected a Container; make it one with na.Container(other)"
    )
    with pytest.raises(ArgumentError) as info:
        c.patch({"a": 1})
    assert str(info.value) == "patch: diff: got dict, expected what a.diff(b) returns"


def test_traced_arrays_have_no_values() -> None:
    import jax

    c = na.Container(a={"w": jax.numpy.ones(2)})
    with pytest.raises(ArgumentError) as info:
        jax.jit(lambda x: len(c.diff(x)))(c)
    assert str(info.value) == (
        "diff: 'a/w' is an array that jax is tracing, which has no values yet; call diff outside "
        "of the traced function"
    )


def test_the_op_of_the_same_name_stays_a_function() -> None:
    c = na.Container(x=np.asarray([1, 4, 9]))
    np.testing.assert_array_equal(na.diff(c)["x"], [3, 5])


@given(roots(ARRAYS))
def test_the_order_of_keys_can_be_ignored(tree: dict[str, Any]) -> None:
    def reversed_keys(x: Any) -> Any:
        if isinstance(x, dict):
            return {k: reversed_keys(x[k]) for k in reversed(x)}
        return type(x)(map(reversed_keys, x)) if isinstance(x, (list, tuple)) else x

    a, b = na.Container(tree), na.Container(reversed_keys(tree))
    ignored = a.diff(b, check_order=False)
    assert not ignored
    assert_identical(b.patch(b.diff(a)), a)
    changed = b.set("new key", 1).diff(a, check_order=False)
    assert [(e.status, e.path) for e in changed] == [("removed", ("new key",))]
    assert_identical(b.set("new key", 1).patch(changed), b)


def test_heading_of_other_orders() -> None:
    a, b = na.Container(a=1, b={"c": 1, "d": 2}), na.Container(b={"d": 2, "c": 1}, a=1)
    assert str(a.diff(b)).splitlines()[0] == "2 nodes in another order; 3 leaves → 3"
    assert "1 node of another kind" in str(na.Container(a=[1]).diff(na.Container(a={0: 1})))
    added = a.diff(b.set("b/e", 3), check_order=False)
    assert str(added).splitlines()[0] == "1 added; 3 leaves → 4"


def test_the_largest_change_is_first_and_numbers_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [f"encoder/layers/{i}/self_attention/out_projection/kernel" for i in range(5)]
    sizes = [0.5, 20.0, 3e-05, 300.0, 4.0]
    a = na.Container.from_flat_dict({path: np.zeros((64, 64)) for path in paths})
    b = a.update(extra=np.zeros(2))
    for path, size in zip(paths, sizes, strict=True):
        b = b.at[path][63, 41].set(size)
    b = b.set("nans", np.full(2, np.nan)).sort_keys()
    for columns in (50, 80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        text = str(na.Container(nans=np.zeros(2)).update(a).diff(b))
        assert max(map(len, text.splitlines())) <= columns
        assert ("…" in text) is (columns == 50)  # only names are shortened
        joined = " ".join(text.split())
        notes = [f"1 of 4,096 changed (<1%), |Δ| ≤ {s:.3g} at [63, 41], mean" for s in sizes]
        places = [joined.index("~ nans"), *(joined.index(notes[i]) for i in (3, 1, 4, 0, 2))]
        assert places == sorted(places)
        assert joined.index("+ extra") > places[-1]
        assert joined.index("! .") > joined.index("+ extra")

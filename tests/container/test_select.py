"""Choosing leaves: globs, regular expressions, types, predicates; partition and combine."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, StructureError
from tests.trees import plain_trees, roots

NET = na.Container(
    layers=[{"weight": 1, "bias": 2}, {"weight": 3, "bias": 4}],
    head={"weight": 5, "lora_a": 6},
    bias=7,
)


@pytest.mark.parametrize(
    ("pattern", "leaves"),
    [
        ("**/bias", (2, 4, 7)),
        ("*/weight", (5,)),
        ("layers/*/weight", (1, 3)),
        ("layers/0", (1, 2)),
        ("layers", (1, 2, 3, 4)),
        ("head/lora_*", (6,)),
        ("**/lora_?", (6,)),
        ("**", (1, 2, 3, 4, 5, 6, 7)),
        ("*", (1, 2, 3, 4, 5, 6, 7)),
        ("layers/[1]/*", (3, 4)),
        ("nothing", ()),
        (re.compile("weight$"), (1, 3, 5)),
        (re.compile("^head"), (5, 6)),
        (int, (1, 2, 3, 4, 5, 6, 7)),
        (str, ()),
        (lambda path, leaf: leaf > 4, (5, 6, 7)),
        (lambda leaf: leaf > 4, (5, 6, 7)),
        ((4).__lt__, (5, 6, 7)),
        (("head", "weight"), (5,)),
        (("layers", 0), (1, 2)),
        (("lay",), ()),
        ((), (1, 2, 3, 4, 5, 6, 7)),
    ],
    ids=lambda value: (
        "predicate" if callable(value) and not isinstance(value, type) else str(value)
    ),
)
def test_patterns(pattern: Any, leaves: tuple[int, ...]) -> None:
    assert NET.select(pattern).leaves() == leaves
    assert set(NET.exclude(pattern).leaves()) == set(NET.leaves()) - set(leaves)
    assert [
        leaf for leaf, hit in zip(NET.leaves(), NET.mask(pattern).leaves(), strict=True) if hit
    ] == list(leaves)


def test_several_patterns_are_alternatives() -> None:
    assert NET.select("head/weight", "**/bias").leaves() == (2, 4, 5, 7)
    assert NET.exclude("head", "layers").leaves() == (7,)


def test_keys_are_taken_literally_in_globs() -> None:
    c = na.Container({"a.b": 1, "axb": 2, "a+": 3})
    assert c.select("a.b").leaves() == (1,)
    assert c.select("a+").leaves() == (3,)


def test_what_is_selected_keeps_its_structure() -> None:
    assert NET.select("layers/*/bias").to_dict() == {"layers": [{"bias": 2}, {"bias": 4}]}
    assert NET.select("layers/1").to_dict() == {"layers": {1: {"weight": 3, "bias": 4}}}
    assert NET.select("layers/1")["layers/1/bias"] == 4


@given(roots(), st.randoms(use_true_random=False))
def test_partition_and_combine(tree: dict[str, Any], random: Any) -> None:
    c = na.Container(tree)
    chosen = {path for path in c.spec.paths if random.random() < 0.5}
    names = {"/".join(map(str, path)) for path in chosen}
    part, rest = c.partition(lambda path, leaf: path in names)
    assert len(part.leaves()) + len(rest.leaves()) == len(c.leaves())
    both = part.combine(rest)
    assert {p: both[p] for p in both.spec.paths} == {p: c[p] for p in c.spec.paths}


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("[ab]", "ab"),
        ("[!ab]", "c^![]"),
        ("[^]", "^"),
        ("[!^a]", "bc![]"),
        ("[!]", "!"),
        ("[a-b]", "ab"),
        ("n[!/x]w", ""),
        ("[]", ""),
    ],
)
def test_sets_of_characters(pattern: str, paths: str) -> None:
    c = na.Container({**dict.fromkeys("abc^![]", 1), "n": {"w": 2}})
    assert c.exclude("n").select(pattern).paths() == tuple(paths)
    assert na.Container({"[]": 1}).select("[]").count() == 1
    assert c.select("n[!b]w").count() == 0  # no sign of one key is the slash between two


def test_combine_takes_many() -> None:
    c = na.Container(l=[10, 11, 12], a={"b": 1, "c": 2})
    parts = [c.select(path) for path in c.paths()]
    whole = parts[0].combine(*parts[1:])
    assert whole.spec is c.spec
    assert whole.to_dict() == c.to_dict()
    assert na.Container.combine(c).to_dict() == c.to_dict()


def test_lists_are_lists_again_when_combined() -> None:
    c = na.Container(l=[10, 11, 12], t=(20, [21, 22]))
    part, rest = c.partition(lambda path, leaf: leaf % 2 == 0)
    assert part.to_dict() == {"l": {0: 10, 2: 12}, "t": (20, {1: 22})}
    assert part.combine(rest).spec is c.spec
    assert part.combine(rest).to_dict() == c.to_dict()
    assert rest.combine(part).to_dict() == c.to_dict()
    assert part["l"].rename({0: "zero"}).to_dict() == {"zero": 10, 2: 12}


def test_parts_of_lists_are_trees_like_others() -> None:
    part = na.Container(l=[np.ones(2), np.zeros(2), np.ones(3)]).exclude("l/1")
    np.testing.assert_array_equal((part + 1)["l", 2], np.full(3, 2.0))
    assert (part + 1).spec is part.spec
    assert "part of list" in repr(part)
    assert part.set("l/2", 5).to_dict()["l"][2] == 5


@given(plain_trees())
def test_mask_has_the_same_structure(tree: dict[str, Any]) -> None:
    c = na.Container(tree)
    assert c.mask("**").spec is c.spec
    assert all(c.mask("**").leaves())


def test_combine_refuses_a_common_leaf() -> None:
    with pytest.raises(StructureError) as info:
        na.Container(a=1, b=2).combine(na.Container(b=3))
    assert str(info.value) == "Container.combine: 'b' is in both Containers"
    with pytest.raises(StructureError) as info:
        na.Container(a=1, b=2).combine(na.Container(b={"c": 3}))
    assert (
        str(info.value)
        == "Container.combine: 'b' is a leaf of one Container and a node of the other"
    )


def test_message_of_a_wrong_pattern() -> None:
    with pytest.raises(ArgumentError) as info:
        NET.select(3)
    assert str(info.value) == (
        "Container: got 3 as a pattern, expected a glob such as '**/bias', a tuple of keys, a "
        "compiled regular expression, a type, or a function of (path, leaf) or of the leaf; several "
        "are arguments of their own"
    )


def test_dtypes_of_eight_bits() -> None:
    """No op computes on them, but files have them, so trees do."""
    small = np.ones(3, ml_dtypes.float8_e4m3fn)
    c = na.Container(a=small, b=np.ones(2, "float32"), t=torch.ones(2, dtype=torch.float8_e5m2))
    assert c.select(dtype="float32").paths() == ("b",)
    assert c.select(dtype="float8_e4m3fn").paths() == ("a",)
    assert c.select(dtype=(torch.float8_e5m2, na.float32)).paths() == ("b", "t")
    assert c.select(dtype="real floating").paths() == ("a", "b", "t")
    assert c.exclude(dtype=ml_dtypes.float8_e4m3fn).paths() == ("b", "t")


def test_dtype_and_shape(backend: str) -> None:
    core = backends.core(backend)
    c = na.Container(
        a={"w": np.ones((2, 3), "float32"), "b": np.ones(3, "float32")}, n=np.arange(3, dtype="i4")
    ).map(core.from_numpy)
    c = c.set("s", "text").set("number", 1.0)
    assert c.select(dtype=na.float32).paths() == ("a/w", "a/b")
    assert c.select(dtype="integral").paths() == ("n",)
    assert c.select(shape=(3,)).paths() == ("a/b", "n")
    assert c.select(shape=(None, 3), dtype="real floating").paths() == ("a/w",)
    assert c.select("a/*", "s", shape=[None]).paths() == ("a/b",)
    assert c.exclude("a", dtype="float32").paths() == ("n", "s", "number")
    assert c.mask(shape=()).leaves() == (False,) * 5
    taken, rest = c.partition(dtype="float32")
    assert taken.combine(rest).paths() == c.paths()

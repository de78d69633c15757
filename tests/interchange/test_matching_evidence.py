"""match: which evidence decides, which pairs stay open, and the caller's settings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, PathError, ShapeError
from tests.interchange.test_matching import named
from tests.trees import assert_identical


def test_nothing_is_guessed() -> None:
    a, b = na.Container(a=np.zeros(3), b=np.zeros(3)), na.Container(x=np.zeros(3), y=np.zeros(3))
    keymap = a.match(b)
    assert keymap.pairs == ()
    assert keymap.ambiguous == {"a": (("x", 0.45), ("y", 0.45)), "b": (("x", 0.45), ("y", 0.45))}
    assert named(a.match(b, known={"a": "y"})) == {"a": "y", "b": "x"}
    assert str(keymap) == (
        "KeyMap: 0 of 2 leaves → 0 of 2\n? a → x (0.45) or y (0.45)\n? b → x (0.45) or y (0.45)"
    )


def test_anonymous_layers_are_ambiguous_only_within_their_block() -> None:
    names = ("query", "key", "value")
    a = na.Container(
        {f"layer{i}": {n: np.zeros((4, 4)) for n in names} | {"up": np.zeros((4, 9))} for i in "01"}
    )
    b = na.Container(
        {
            f"Block_{i}": {f"Dense_{k}": np.zeros((4, 9 if k == 3 else 4)) for k in range(4)}
            for i in "01"
        }
    )
    keymap = a.match(b)
    assert named(keymap) == {"layer0/up": "Block_0/Dense_3", "layer1/up": "Block_1/Dense_3"}
    for source, choices in keymap.ambiguous.items():
        assert {target[:7] for target, _ in choices} == {f"Block_{source[5]}"}
        assert len(choices) == 3
    inverse = keymap.invert()
    assert dict(inverse.ambiguous["Block_1/Dense_0"]).keys() == {f"layer1/{n}" for n in names}


def test_squares_are_transposed_as_the_others_are() -> None:
    square, wide = np.zeros((4, 4)), np.zeros((4, 6))
    a = na.Container(p={"x": square}, q={"x": wide})
    assert [
        len(p.steps) for p in a.match(na.Container(p={"y": square}, q={"y": wide.T})).pairs
    ] == [1, 1]
    assert [len(p.steps) for p in a.match(na.Container(p={"y": square}, q={"y": wide})).pairs] == [
        0,
        0,
    ]
    alone = na.Container(x=square)
    keymap = alone.match(na.Container(y=square))
    assert not keymap.pairs
    assert [str(p.steps) for p in keymap.candidates] == ["()", "(Transpose(axes=(1, 0)),)"]
    assert "transpose [1, 0]" in str(keymap)
    pair = {"q": square, "fc": wide}
    other = {"query": square, "dense": wide.T}
    both = na.Container(pair).match(na.Container(other))
    assert {p.source[0]: len(p.steps) for p in both.pairs} == {"q": 1, "fc": 1}
    mixed = na.Container({**pair, "table": np.zeros((7, 3))})
    both = mixed.match(na.Container({**other, "lookup": np.zeros((7, 3))}))
    assert {p.source[0]: len(p.steps) for p in both.pairs} == {"table": 0, "fc": 1}
    assert list(both.ambiguous) == ["q"]
    by_name = na.Container(weight=square).match(na.Container(kernel=square))
    assert [p.steps[0].axes for p in by_name.pairs] == [(1, 0)]  # type: ignore[union-attr]
    same_name = na.Container(weight=square).match(na.Container(deep={"weight": square}))
    assert [p.steps for p in same_name.pairs] == [()]


def test_min_confidence() -> None:
    a, b = na.Container(x=np.zeros(3), y=np.zeros(3)), na.Container(bias=np.zeros(3), y=np.zeros(3))
    assert [p.confidence for p in a.match(b).pairs] == [0.8, 1.0]
    keymap = a.match(b, min_confidence=0.9)
    assert named(keymap) == {"y": "y"}
    assert keymap.ambiguous == {"x": (("bias", 0.8),)}
    for wrong in (2, "high"):
        with pytest.raises(ArgumentError) as info:
            a.match(b, min_confidence=wrong)  # type: ignore[arg-type]
        assert str(info.value) == (
            f"match: min_confidence: got {wrong!r}, expected a number from 0 to 1"
        )


def test_blocks_that_are_not_quite_alike() -> None:
    block = {"up": np.zeros((4, 9)), "down": np.zeros((9, 4)), "norm": np.zeros(4)}
    a = na.Container({f"h{i}": dict(block) for i in range(4)}).set("h2/more", np.zeros(4))
    b = na.Container({f"layer_{i + 1}": {k.upper(): v for k, v in block.items()} for i in range(4)})
    names = named(a.match(b.set("layer_1/extra", np.zeros(9))))
    for i in (0, 1, 3):
        assert names[f"h{i}/up"] == f"layer_{i + 1}/UP"
        assert names[f"h{i}/norm"] == f"layer_{i + 1}/NORM"
    assert names["h2/down"] == "layer_3/DOWN"


def test_other_leaves_than_arrays() -> None:
    a = na.Container(name="a", n=None, step=3, w=np.zeros(2), key=np.zeros(2, "uint32"))
    b = na.Container(
        k=np.zeros(2, "uint32"), v=np.zeros(2), count=np.asarray(3), title="b", no=None
    )
    assert named(a.match(b)) == {
        "name": "title", "n": "no", "step": "count", "w": "v", "key": "k",
    }  # fmt: skip
    empty = na.Container().match(na.Container())
    assert empty.apply(na.Container()).to_dict() == {}
    assert named(na.Container(np.zeros(2)).match(na.Container(x=np.zeros(2)))) == {"": "x"}


def test_dtypes_are_looked_at() -> None:
    a = na.Container(x=np.zeros(2, "float32"), i=np.zeros(2, "int32"))
    b = na.Container(j=np.zeros(2, "int64"), y=np.zeros(2, "float16"))
    keymap = a.match(b)
    assert named(keymap) == {"x": "y", "i": "j"}
    assert keymap.apply(a)["y"].dtype == "float32"


def test_known_paths() -> None:
    a = na.Container(e=[np.zeros((2, 3)), np.zeros((2, 3))], d={"w": np.zeros((2, 3))})
    b = na.Container(x={"p": np.zeros((3, 2)), "q": np.zeros((3, 2))}, y=np.zeros((3, 2)))
    keymap = a.match(b, known={"e": "x", "e/0": "x/q"})
    assert {p.source: p.target for p in keymap.pairs} == {
        ("e", 0): ("x", "q"), ("e", 1): ("x", "p"), ("d", "w"): ("y",),
    }  # fmt: skip
    with pytest.raises(PathError, match="no 'x/r': no key 'r' under 'x'"):
        a.match(b, known={"e/0": "x/r"})
    with pytest.raises(ArgumentError) as info:
        a.match(b, known={"e/0": "x"})
    assert str(info.value) == "match: known: 'e/0' → 'x': 'e/0' is a leaf and 'x' is a node"
    with pytest.raises(ArgumentError) as info:
        a.match(b, known={"e/0": "y", "e/1": "y"})
    assert str(info.value) == (
        "match: known: 'e/1' → 'y': one of them has another partner in `known`"
    )
    with pytest.raises(ShapeError) as info:
        a.match(b.set("y", np.zeros(5)), known={"e/0": "y"})
    assert str(info.value) == (
        "match: known: 'e/0' has the shape (2, 3), 'y' (5,); one is not the other transposed or "
        "reshaped"
    )
    with pytest.raises(ArgumentError, match=r"^match: known: got list, expected a dict of paths"):
        a.match(b, known=[("e/0", "y")])  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"^match: other: got dict, expected a Container"):
        a.match({})  # type: ignore[arg-type]


WORDS = ["alpha", "gate", "conv", "norm", "query", "value", "out", "mlp"]


@given(
    st.recursive(
        st.lists(st.integers(1, 5), max_size=3).map(tuple),
        lambda inner: st.dictionaries(st.sampled_from(WORDS), inner, min_size=1, max_size=4),
        max_leaves=12,
    ),
    st.integers(1, 3),
    st.randoms(use_true_random=False),
)
def test_equal_names_in_another_order(tree: Any, blocks: int, random: Any) -> None:
    def shuffled(node: Any) -> Any:
        if not isinstance(node, dict):
            return np.zeros(node)
        keys = list(node)
        random.shuffle(keys)
        return {key: shuffled(node[key]) for key in keys}

    whole = {f"block{i}": tree for i in range(blocks)}
    a, b = na.Container(shuffled(whole)), na.Container(shuffled(whole))
    keymap = a.match(b)
    assert {p.source: p.target for p in keymap.pairs} == {path: path for path in a.spec.paths}
    assert all(p.steps == () for p in keymap.pairs)
    assert_identical(keymap.apply(a), keymap.apply(a).map(lambda x: x))
    assert keymap.apply(a).spec is b.spec


@given(
    st.lists(st.sampled_from([(2,), (3,), (2, 3)]), min_size=1, max_size=8),
    st.randoms(use_true_random=False),
)
def test_names_that_say_nothing_leave_equal_shapes_open(shapes: Any, random: Any) -> None:
    old = ["mu", "zed", "pix", "jot", "rim", "fad", "lux", "nib"][: len(shapes)]
    new = ["yaw", "hob", "tiv", "gax", "cud", "sel", "wug", "bok"][: len(shapes)]
    order = list(range(len(shapes)))
    random.shuffle(order)
    a = na.Container({old[i]: np.zeros(shape) for i, shape in enumerate(shapes)})
    b = na.Container({new[i]: np.zeros(shapes[i]) for i in order})
    for pair in a.match(b).pairs:
        shape = a[pair.source[0]].shape
        assert b[pair.target[0]].shape == shape
        assert shapes.count(shape) == 1 or pair.confidence <= 0.7


@pytest.mark.full
def test_ten_thousand_leaves() -> None:
    block = {n: {"weight": np.zeros((4, 6)), "bias": np.zeros(4)} for n in ("q", "k", "v", "o")}
    other = {
        n: {"kernel": np.zeros((6, 4)), "bias": np.zeros(4)}
        for n in ("key", "out", "query", "value")
    }
    a = na.Container(layers=[block] * 1250)
    b = na.Container({f"h_{i}": other for i in range(1250)})
    keymap = a.match(b)
    assert len(keymap.pairs) == 10_000
    assert len(str(keymap).splitlines()) == 9
    assert all(int(str(p.target[0])[2:]) == p.source[1] for p in keymap.pairs)

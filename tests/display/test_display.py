"""How Containers print."""

from __future__ import annotations

import time
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nestarray as na
from nestarray.config import BACKENDS, use_backend
from nestarray.display.text import HEIGHT, WIDTH, cells, render
from tests.abstract import on_abstract_arrays, on_unknown_shapes
from tests.trees import nests, roots, sample


def text(c: na.Container, width: int = WIDTH, height: int = HEIGHT) -> str:
    return render(c.spec, c.leaves(), width, height)


def test_a_tree() -> None:
    assert text(na.Container(sample())) == (
        "Container(6 leaves, 15 elements, numpy)\n"
        "  encoder\n"
        "    weight  f64[2, 3]\n"
        "    bias    f64[2]\n"
        "  heads [list]\n"
        "    0  f64[2]\n"
        "    1 [tuple]\n"
        "      0  f64[3]\n"
        "      1  f64[1]\n"
        "  scale  f64[]"
    )


def test_dtypes_frameworks_and_other_leaves() -> None:
    import jax.numpy as jnp
    import tensorflow as tf
    import torch

    c = na.Container(
        a=torch.zeros(2, dtype=torch.bfloat16),
        b=jnp.zeros((1, 2), "int32"),
        c=tf.constant([True]),
        d=np.zeros(3, "complex64"),
        e=np.zeros(0, "uint8"),
        f="relu",
        g=None,
        h="x" * 100,
    )
    assert text(c) == (
        "Container(8 leaves, 8 elements, jax, numpy, tensorflow, torch)\n"
        "  a  bf16[2]\n"
        "  b  i32[1, 2]\n"
        "  c  bool[1]\n"
        "  d  c64[3]\n"
        "  e  u8[0]\n"
        "  f  'relu'\n"
        "  g  None\n"
        "  h  '" + "x" * 56 + "..."
    )


def test_a_framework_is_named_once() -> None:
    c = na.Container(key=jax.random.key(0), w=jax.numpy.ones(2))
    assert repr(c).splitlines()[0] == "Container(2 leaves, 3 elements, jax)"


def test_small_ones() -> None:
    assert repr(na.Container()) == "Container(empty)"
    assert repr(na.Container(a=1)) == "Container(1 leaf)\n  a  1"
    assert repr(na.Container(np.asarray([1.0]))) == "array([1.])"
    assert repr(na.Container(a={}, b=[])) == "Container(empty)\n  a  {}\n  b [list]  {}"


def block(width: int = 4) -> dict[str, Any]:
    return {"attention": {"q": np.zeros((width, width)), "k": np.zeros((width, width))}}


def test_numbered_siblings_that_are_alike_are_one_line() -> None:
    c = na.Container(layers=[block() for _ in range(12)], scales=[np.ones(2)] * 3, x=[1, 1, 1])
    assert text(c) == (
        "Container(30 leaves, 390 elements, numpy)\n"
        "  layers [list]\n"
        "    0 … 11  12 ×\n"
        "      attention\n"
        "        q  f64[4, 4]\n"
        "        k  f64[4, 4]\n"
        "  scales [list]\n"
        "    0 … 2  3 × f64[2]\n"
        "  x [list]\n"
        "    0 … 2  3 × 1"
    )


def test_what_differs_or_is_not_numbered_is_not_folded() -> None:
    c = na.Container({"q": np.ones(2), "k": np.ones(2), "v": np.ones(2)})
    assert text(c).splitlines()[1:] == ["  q  f64[2]", "  k  f64[2]", "  v  f64[2]"]
    layers = {f"layer_{i}": block(8 if i == 3 else 4) for i in range(7)}
    lines = [line for line in text(na.Container(layers)).splitlines() if "layer" in line]
    assert lines == ["  layer_0 … layer_2  3 ×", "  layer_3", "  layer_4 … layer_6  3 ×"]
    gaps = na.Container({0: np.ones(2), 1: np.ones(2), 3: np.ones(2), 4: np.ones(2)})
    assert len(text(gaps).splitlines()) == 5
    strings_and_numbers = na.Container({0: 1, "1": 1, 2: 1})
    assert len(text(strings_and_numbers).splitlines()) == 4
    numbers = na.Container([1, 2, 3])
    assert [line.split()[-1] for line in text(numbers).splitlines()[1:]] == ["1", "2", "3"]


def test_many_children_keep_the_first_and_the_last() -> None:
    c = na.Container({f"layer{i}": np.zeros(i) for i in range(100)})
    lines = text(c).splitlines()
    assert len(lines) == HEIGHT
    assert lines[0] == "Container(100 leaves, 4,950 elements, numpy)"
    assert lines[1] == "  layer0   f64[0]"
    assert "  … 62 more …" in lines
    assert lines[-1] == "  layer99  f64[99]"


def test_room_is_shared_between_the_nodes_of_a_level() -> None:
    big = {f"w{i}": np.zeros(i) for i in range(50)}
    c = na.Container(big=big, small={"w": np.zeros(1), "b": np.zeros(2)}, other={"x": 1})
    assert text(c, height=12) == (
        "Container(53 leaves, 1,228 elements, numpy)\n"
        "  big\n"
        "    w0   f64[0]\n"
        "    w1   f64[1]\n"
        "    … 46 more …\n"
        "    w48  f64[48]\n"
        "    w49  f64[49]\n"
        "  small\n"
        "    w  f64[1]\n"
        "    b  f64[2]\n"
        "  other\n"
        "    x  1"
    )
    assert text(c, height=4) == (
        "Container(53 leaves, 1,228 elements, numpy)\n"
        "  big  {50 leaves, 1,225 elements}\n"
        "  small  {2 leaves, 3 elements}\n"
        "  other  {1 leaf}"
    )


def test_the_terminal_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    c = na.Container({"k" * 60: {"name" * 30: np.zeros((1,) * 30)}, "w": [1, "two", None] * 9})
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("LINES", "12")
    lines = repr(c).splitlines()
    assert len(lines) == 10
    assert max(map(len, lines)) == 50
    assert lines[1] == "  kkkkkkkkkkkk…kkkkkkkkkkkk"
    assert lines[2].startswith("    namenamename…namenamename  f64[1, 1, ")
    assert lines[2].endswith("…")


@settings(max_examples=40)
@given(roots(nests(st.one_of(st.integers(), st.text(), st.none()))), st.integers(24, 90))
def test_it_fits(tree: dict[str, Any], width: int) -> None:
    c = na.Container(tree)
    for height in (4, 7, 30):
        lines = text(c, width, height).splitlines()
        assert len(lines) <= height
        assert max(map(cells, lines)) <= width


def test_wide_characters_take_two_columns() -> None:
    c = na.Container({"深層学習" * 10: 1, "é" * 3: 2, "e\u0301": 3})
    assert max(map(cells, text(c, 30).splitlines())) <= 30
    assert cells("深") == 2
    assert cells("e\u0301") == 1


def test_keys_and_values_cannot_break_the_lines() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError("no repr")

    class Tall:
        def __repr__(self) -> str:
            return "Tall(\n  1,\n  2)"

    c = na.Container({"a\nb": 1, "\x1b[31m": Tall(), "x/y": Broken(), 7: {1, 2}, "n": 10**5000})
    assert text(c).splitlines()[1:] == [
        "  a\\nb      1",
        "  \\x1b[31m  Tall( 1, 2)",
        "  x/y       <Broken>",
        "  7         {1, 2}",
        "  n         <int>",
    ]


def test_deep_trees() -> None:
    tree: dict[str, Any] = {"x": 1}
    for _ in range(150):
        tree = {"inner": tree, "b": 0}
    lines = text(na.Container(tree), 60, 200).splitlines()
    assert max(map(len, lines)) <= 60
    assert "inner  {136 leaves}" in "\n".join(lines)


def test_ten_thousand_leaves_take_no_time() -> None:
    leaves = [np.zeros(i % 7) for i in range(10_000)]
    trees = [
        na.Container({f"k{2 * i}": leaf for i, leaf in enumerate(leaves)}),
        na.Container({f"k{i}": {"w": leaves[0]} for i in range(10_000)}),
        na.Container({f"a{i}": {f"b{j}": leaves[j] for j in range(100)} for i in range(100)}),
    ]
    for c in trees:
        start = time.process_time()  # of this process alone: others may be at work
        lines = repr(c).splitlines()
        assert time.process_time() - start < 1.0  # tens of milliseconds
        assert len(lines) <= HEIGHT


@pytest.mark.parametrize("backend", BACKENDS)
def test_alike_on_every_backend(backend: str) -> None:
    with use_backend(backend):
        c = na.Container(w=na.ones((2, 3)), h=na.ones((2,), dtype="bfloat16"), s=na.asarray(1.0))
        layers = na.Container([{"w": na.ones((i // 5 + 1, 3))} for i in range(10)])
    name = f"Container(3 leaves, 9 elements, {backend})"
    assert text(c) == f"{name}\n  w  f32[2, 3]\n  h  bf16[2]\n  s  f32[]"
    assert text(layers).splitlines()[1:] == [
        "  0 … 4  5 ×",
        "    w  f32[1, 3]",
        "  5 … 9  5 ×",
        "    w  f32[2, 3]",
    ]


def test_arrays_without_values() -> None:
    assert on_abstract_arrays(lambda c: text(c).splitlines()[1]) == ["  a  f32[2, 3]"] * 7
    assert list(on_unknown_shapes(lambda c: text(c).splitlines()[1])) == [
        "  a  f32[?, 3]",
        "  a  f32[...]",
    ]


def test_arrays_of_unusual_kinds() -> None:
    import jax
    import torch

    gone = jax.numpy.ones(3)
    gone.delete()
    with pytest.warns(UserWarning, match="prototype"):
        ragged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    c = na.Container(gone=gone, ragged=ragged, sparse=torch.eye(3).to_sparse())
    lines = text(c, 200).splitlines()
    assert lines[1] == "  gone    f32[3]"
    assert lines[2].startswith("  ragged  nested_tensor(")
    assert lines[3] == "  sparse  f32[3, 3]"


def test_a_container_in_the_place_of_a_leaf() -> None:
    """As JAX makes it, which puts one tree into another."""
    c = jax.hessian(lambda v: (v["w"] ** 3).sum())(na.Container(w=jax.numpy.ones(2)))
    assert text(c).splitlines() == [
        "Container(1 leaf)",
        "  w  Container(1 leaf, 4 elements, jax) w f32[2, 2]",
    ]


def test_the_kind_of_the_root_is_shown() -> None:
    c = na.Container([1, 2, 3])
    assert repr(c).splitlines()[0] == "Container(3 leaves) [list]"
    assert repr(c.exclude("1")).splitlines()[0] == "Container(2 leaves) [part of list]"
    assert repr(na.Container((np.ones(2),))).splitlines()[0] == (
        "Container(1 leaf, 2 elements, numpy) [tuple]"
    )
    assert repr(na.Container([])) == "Container(empty) [list]"
    assert "Container(3 leaves) [list]" in c._repr_html_()
    assert repr(na.Container(np.ones(1))) == "array([1.])"

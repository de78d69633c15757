"""How Containers print."""

from __future__ import annotations

import numpy as np

import nestarray as na
from nestarray.container.display import MAX_LINES
from tests.container.trees import sample


def test_a_tree() -> None:
    assert repr(na.Container(sample())) == (
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
    assert repr(c) == (
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


def test_small_ones() -> None:
    assert repr(na.Container()) == "Container(empty)"
    assert repr(na.Container(a=1)) == "Container(1 leaf)\n  a  1"
    assert repr(na.Container(np.asarray([1.0]))) == "Container(array([1.]))"


def test_long_trees_are_cut_in_the_middle() -> None:
    lines = repr(na.Container({f"layer{i}": np.zeros(2) for i in range(100)})).splitlines()
    assert len(lines) == MAX_LINES + 2
    assert lines[0] == "Container(100 leaves, 200 elements, numpy)"
    assert f"  … {100 - MAX_LINES} more lines …" in lines
    assert lines[-1] == "  layer99  f64[2]"


def test_inside_compiled_functions() -> None:
    import jax
    import tensorflow as tf

    seen: list[str] = []

    def look(c: na.Container) -> na.Container:
        seen.append(repr(c).splitlines()[1])
        return c

    jax.jit(look)(na.Container(a=np.ones(2, "float32")))
    tf.function(look)(na.Container(a=tf.ones(2)))
    free = tf.TensorSpec((None, 3), tf.float32)
    tf.function(lambda x: look(na.Container(a=x))).get_concrete_function(free)
    assert seen == ["  a  f32[2]", "  a  f32[2]", "  a  f32[?, 3]"]

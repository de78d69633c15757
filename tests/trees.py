"""Trees for tests: random nested dicts, lists and tuples, and comparisons of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import nestarray as na
from nestarray.comparison.equality import identical

#: Names as parameters have them, with the awkward ones: dots, slashes, digits, spaces, ours.
KEYS = st.one_of(
    st.sampled_from(["w", "b", "weight", "layer 1", "a.b", "x/y", "~", "map", "é", "10"]),
    st.text(alphabet="abc_", min_size=1, max_size=3),
)
LEAVES = st.one_of(st.integers(-5, 5), st.floats(-5, 5), st.none(), st.sampled_from(["relu", ""]))


def nests(leaves: st.SearchStrategy[Any] = LEAVES) -> st.SearchStrategy[Any]:
    """Nested dicts, lists and tuples."""

    def inside(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        lists = st.lists(children, max_size=3)
        return st.one_of(st.dictionaries(KEYS, children, max_size=4), lists, lists.map(tuple))

    return st.recursive(leaves, inside, max_leaves=12)


def roots(leaves: st.SearchStrategy[Any] = LEAVES) -> st.SearchStrategy[dict[str, Any]]:
    """Dicts of nests."""
    return st.dictionaries(KEYS, nests(leaves), max_size=4)


def plain_trees(leaves: st.SearchStrategy[Any] = LEAVES) -> st.SearchStrategy[dict[str, Any]]:
    """Nested dicts with simple keys and at least one leaf in every node."""
    keys = st.text(alphabet="abcd", min_size=1, max_size=2)
    inner = st.recursive(
        leaves, lambda c: st.dictionaries(keys, c, min_size=1, max_size=3), max_leaves=10
    )
    return st.dictionaries(keys, inner, min_size=1, max_size=3)


def sample() -> dict[str, Any]:
    """One tree with every kind of node, of NumPy arrays."""
    return {
        "encoder": {"weight": np.arange(6.0).reshape(2, 3), "bias": np.zeros(2)},
        "heads": [np.ones(2), (np.full(3, 2.0), np.full(1, 3.0))],
        "scale": np.float64(4.0),
    }


def assert_same(a: na.Container, b: na.Container) -> None:
    """Assert one structure, equal arrays of one backend and dtype, and otherwise the same objects."""
    assert a.spec is b.spec
    for x, y in zip(a.leaves(), b.leaves(), strict=True):
        if hasattr(y, "dtype"):
            assert na.backend_of(x) == na.backend_of(y)
            assert na.dtype_of(x) is na.dtype_of(y)
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
        else:
            assert x is y


def assert_identical(a: na.Container, b: na.Container) -> None:
    """Assert the same structure, order of keys and leaves, bit for bit."""
    assert a.spec is b.spec
    for path, x, y in zip(a.paths(), a.leaves(), b.leaves(), strict=True):
        assert identical(x, y), path


def is_same_pytree(a: Any, b: Any) -> bool:
    """Whether JAX sees one structure with the same objects as leaves."""
    import jax

    leaves, structure = jax.tree.flatten(a)
    others, other = jax.tree.flatten(b)
    return structure == other and all(x is y for x, y in zip(leaves, others, strict=True))

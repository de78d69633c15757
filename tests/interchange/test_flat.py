"""Flat dicts in and out: separators, numbers in names, lists, names that meet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.container import ListContainer
from nestarray.errors import ArgumentError, StructureError

NAMES = st.text("abc", min_size=1, max_size=2)


def trees() -> st.SearchStrategy[Any]:
    """Dicts and lists without empty nodes."""
    inner = st.recursive(
        st.integers(),
        lambda c: st.one_of(
            st.dictionaries(NAMES, c, min_size=1, max_size=3), st.lists(c, min_size=1, max_size=3)
        ),
        max_leaves=12,
    )
    return st.dictionaries(NAMES, inner, min_size=1, max_size=3)


@given(trees(), st.sampled_from(["/", ".", "::", " "]))
def test_lists_come_back_on_request(tree: dict[str, Any], sep: str) -> None:
    c = na.Container(tree)
    flat = c.to_flat_dict(sep)
    back = na.Container.from_flat_dict(flat, sep, lists=True)
    assert back.spec is c.spec
    assert back.leaves() == c.leaves()
    strings = na.Container.from_flat_dict(flat, sep)
    assert strings.to_flat_dict(sep) == flat
    assert list(strings.to_flat_dict(sep)) == list(flat)
    assert all(isinstance(key, str) for path in strings.spec.paths for key in path)


def test_numbers_stay_strings() -> None:
    c = na.Container.from_flat_dict({"layers.0.weight": 1, "layers.1.weight": 2}, ".")
    assert c.to_dict() == {"layers": {"0": {"weight": 1}, "1": {"weight": 2}}}


def test_only_full_ranges_are_lists() -> None:
    flat = {"a.0": 1, "a.2": 2, "b.1": 4, "b.0": 3, "c.0": 5, "c.x": 6, "d.00": 7}
    c = na.Container.from_flat_dict(flat, ".", lists=True)
    assert c.to_dict() == {
        "a": {"0": 1, "2": 2},
        "b": [3, 4],
        "c": {"0": 5, "x": 6},
        "d": {"00": 7},
    }
    assert c.to_flat_dict(".") == flat


def test_a_list_at_the_top_has_numeric_order() -> None:
    flat = {str(i): i for i in reversed(range(11))}
    c = na.Container.from_flat_dict(flat, lists=True)
    assert type(c) is ListContainer
    assert c.to_dict() == list(range(11))


def test_leaves_are_the_same_objects() -> None:
    x = np.ones(2)
    c = na.Container.from_flat_dict({"a.w": x, "b.w": x}, ".")
    assert c["a/w"] is c["b/w"] is x
    assert na.Container.from_flat_dict({}).leaves() == ()
    assert na.Container.from_flat_dict(na.Container({"a/b": 1})).to_dict() == {"a": {"b": 1}}


@pytest.mark.parametrize(
    ("flat", "message"),
    [
        ({"a": 1, "a.b": 2}, "Container.from_flat_dict: 'a.b' goes below 'a', which is a leaf"),
        ({"a.b": 1, "a": 2}, "Container.from_flat_dict: 'a' is a leaf and also a node"),
        ({"a.b.c": 1, "a.b": 2}, "Container.from_flat_dict: 'a.b' is a leaf and also a node"),
    ],
)
def test_messages_of_names_that_meet(flat: dict[str, int], message: str) -> None:
    with pytest.raises(StructureError) as info:
        na.Container.from_flat_dict(flat, ".")
    assert str(info.value) == message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], "/"), "flat: got list, expected a mapping of names to leaves"),
        (({"a": 1}, ""), "sep: got '', expected a string such as '/' or '.'"),
        (({"a": 1}, None), "sep: got None, expected a string such as '/' or '.'"),
        (({"a": 1, 3: 2}, "/"), "flat: got the name 3, expected a string"),
    ],
)
def test_messages_of_wrong_arguments(arguments: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as info:
        na.Container.from_flat_dict(*arguments)
    assert str(info.value) == f"Container.from_flat_dict: {message}"

"""Lists of Containers and Containers of lists; what `na.stack` and its like do with Containers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, StructureError
from tests.trees import roots, sample

SCALARS = st.one_of(st.integers(-5, 5), st.none(), st.sampled_from(["relu", ""]))


def transposed(members: Any) -> Any:
    return na.Container(members).transpose()


def test_zip_is_that_of_python() -> None:
    a, b = na.Container(x=1, y={"z": 2}), na.Container(y={"z": 20}, x=10)
    assert a.zip(b).to_dict() == {"x": (1, 10), "y": {"z": (2, 20)}}
    assert a.zip().to_dict() == {"x": (1,), "y": {"z": (2,)}}
    assert a.zip(b, "s", na.Container(x=5, y=6)).to_dict() == {
        "x": (1, 10, "s", 5),
        "y": {"z": (2, 20, "s", 6)},
    }
    with pytest.raises(StructureError, match=r"^Container.zip: Containers do not match: 'y/z' is"):
        a.zip(na.Container(x=1))


@given(roots(SCALARS), st.sampled_from([list, tuple]), st.integers(1, 3))
def test_twice_gives_the_list_back(tree: dict[str, Any], kind: type, n: int) -> None:
    c = na.Container(tree)
    assume(c.count())
    members = kind(c.map(lambda leaf, i=i: (i, leaf)) for i in range(n))
    joined = transposed(members)
    assert joined.count() == n * c.count()
    back = joined.transpose()
    assert type(back) is kind
    assert [m.spec for m in back] == [c.spec] * n
    assert [m.leaves() for m in back] == [m.leaves() for m in members]


def test_members_are_matched_by_key() -> None:
    a, b = na.Container(x=1, y={"z": 2, "w": 3}), na.Container(y={"w": 30, "z": 20}, x=10)
    assert transposed([a, b]).to_dict() == {
        "x": [1, 10],
        "y": {"z": [2, 20], "w": [3, 30]},
    }
    assert transposed((b, a)).to_dict() == {
        "y": {"w": (30, 3), "z": (20, 2)},
        "x": (10, 1),
    }


def test_subtrees_in_lists() -> None:
    c = na.Container(a=[{"x": 1, "y": 2}, {"x": 3}], b={"c": [5, None]}, none={})
    first, second = c.transpose()
    assert first.to_dict() == {"a": {"x": 1, "y": 2}, "b": {"c": 5}, "none": {}}
    assert second.to_dict() == {"a": {"x": 3}, "b": {"c": None}, "none": {}}


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            {"a": [1, 2], "b": {"c": 3}},
            "'b/c' is in no list or tuple, expected lists or tuples of one length above all leaves; "
            "leave it out with c.exclude(...)",
        ),
        (
            {"a": [1, 2], "b": {"c": [3]}},
            "'a' is a list of 2, 'b/c' a list of 1, expected one kind and length",
        ),
        (
            {"a": [1, 2], "b": (3, 4)},
            "'a' is a list of 2, 'b' a tuple of 2, expected one kind and length",
        ),
        (
            {"a": [[1, 2], 3]},
            "the list 'a/0' is inside of 'a', which has leaves of its own; expected lists at one level",
        ),
        (
            {"a": [3, [1, 2]]},
            "the list 'a/1' is inside of 'a', which has leaves of its own; expected lists at one level",
        ),
        ({}, "got a Container without leaves, expected lists"),
        ([], "got an empty list, which does not say what keys it has none of"),
    ],
)
def test_what_cannot_be_transposed(tree: Any, message: str) -> None:
    with pytest.raises(StructureError) as info:
        na.Container(tree).transpose()
    assert str(info.value) == f"Container.transpose: {message}"


def test_bad_members() -> None:
    with pytest.raises(ArgumentError) as info:
        na.Container.transpose([na.Container(a=1)])  # type: ignore[arg-type]
    assert str(info.value) == (
        "Container.transpose: c: got list, expected a Container; make it one with na.Container(c)"
    )
    with pytest.raises(ArgumentError) as info:
        transposed([na.Container(a=1), 5])
    assert str(info.value) == (
        "Container.transpose: member 1: got int, expected a Container; arrays in a list have "
        "nothing to swap places with"
    )
    members = [na.Container(a=1), na.Container(a=2), na.Container(a=1, b=2)]
    with pytest.raises(
        StructureError,
        match=r"^Container.transpose: members 0 and 2: Containers do not match: 'b' is in the right",
    ):
        transposed(members)
    with pytest.raises(StructureError, match="members 0 and 1"):  # a prefix is not a member
        transposed([na.Container(a={"b": 1}), na.Container(a=1)])


# -- with an axis in the place of the list: ops on Containers ----------------------------------


def tree(backend: str, shift: float = 0.0) -> na.Container:
    c = na.Container(sample()).exclude("scale").map(lambda x: np.float32(x + shift))
    return c.to_backend(backend)


def reordered(c: na.Container) -> na.Container:
    return na.Container(heads=c["heads"], encoder=c["encoder"])


def same(a: na.Container, b: na.Container) -> None:
    for name, leaf in a.flat_items():
        np.testing.assert_array_equal(np.asarray(leaf), np.asarray(b[name]))
    assert set(a.paths()) == set(b.paths())


def test_stack_and_unstack(backend: str) -> None:
    members = [tree(backend), reordered(tree(backend, 1.0)), tree(backend, 2.0)]
    stacked = na.stack(members)
    assert stacked.spec is members[0].spec
    assert tuple(stacked["encoder/weight"].shape) == (3, 2, 3)
    assert na.backend_of(stacked["encoder/weight"]) == backend
    for found, member in zip(stacked.unstack(), members, strict=True):
        same(found, member)
    for i, member in enumerate(members):
        same(stacked[i], member)
    same(na.stack(members, axis=-1)[..., 1], members[1])


def test_concat_split_and_chunk(backend: str) -> None:
    members = [tree(backend), reordered(tree(backend, 1.0))]
    joined = na.concat([members[0]["heads"], members[1]["heads"], members[0]["heads"]])
    assert tuple(joined["1/0"].shape) == (9,)
    c = na.stack([*members, tree(backend, 2.0)])
    for parts in (c.split((2, 1)), c.split(2), c.chunk(2)):
        assert [p["encoder/bias"].shape[0] for p in parts] == [2, 1]
        same(na.concat(list(parts)), c)


def test_other_keys_never_pair_up(backend: str) -> None:
    c = tree(backend)
    other = c.rename({"encoder/bias": "offset"})
    for joining in (na.stack, na.concat):
        with pytest.raises(StructureError, match=r"'encoder/bias' is in the left one \(5 leaves\)"):
            joining([c, other])


def test_what_is_no_array_stays() -> None:
    c = na.Container(a=np.ones(2), b=None, c="relu")
    assert na.stack([c, c]).exclude("a").to_dict() == {"b": None, "c": "relu"}
    assert [m["b"] for m in na.stack([c, c]).unstack()] == [None, None]


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_gradients_and_compilation(backend: str) -> None:
    members = [c.select("encoder") for c in (tree(backend), reordered(tree(backend, 1.0)))]

    def loss(members: list[na.Container]) -> Any:
        stacked = na.stack(members)
        joined = transposed(list(stacked.unstack()))
        return na.tree_sum(stacked**2) + na.tree_sum(joined * 3)

    options = {"backend": "aot_eager"} if backend == "torch" else {}
    for gradient in (na.grad(loss), na.jit(na.grad(loss), **options)):
        for found, member in zip(gradient(members), members, strict=True):
            assert found.spec is member.spec
            same(found, member * 2 + 3)


@pytest.mark.parametrize("first", [None, "relu"])
def test_results_of_which_there_are_several_all_have_what_was_left_alone(first: Any) -> None:
    c = na.Container(a=first, b=np.diag([1.0, 2.0]), c=None)
    values, vectors = na.eigh(c)
    assert values.a == vectors.a == first
    assert values.c is vectors.c is None
    np.testing.assert_array_equal(values.b, [1.0, 2.0])
    parts = c.unstack()
    assert [p.a for p in parts] == [first, first]
    np.testing.assert_array_equal(parts[1].b, [0.0, 2.0])

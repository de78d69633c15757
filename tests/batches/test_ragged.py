"""Lazy stacks: members of different shapes, ops through them, stacked and padded."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.errors import ArgumentError, ImmutableError, ShapeError, StructureError
from tests.trees import assert_same

LENGTHS = (2, 4, 0)


def member(backend: str, n: int, shift: float = 0.0) -> na.Container:
    def ramp(*shape: int, dtype: str = "float32") -> Any:
        return na.to_backend(
            np.arange(np.prod(shape)).reshape(shape).astype(dtype) + np.asarray(shift, dtype),
            backend,
        )

    return na.Container(
        x=ramp(n, 3), more=[ramp(n, dtype="int32"), {"fixed": ramp(2)}], name="s", none=None
    )


def members(backend: str = "numpy") -> list[na.Container]:
    return [member(backend, n, i) for i, n in enumerate(LENGTHS)]


def test_members_and_parts(backend: str) -> None:
    given = members(backend)
    s = na.LazyStack(given)
    assert len(s) == 3
    for i, m in enumerate(s):
        assert_same(m, given[i])
        assert_same(s[i], given[i])
    assert_same(s[-1], given[-1])
    assert [m.x.shape[0] for m in s[::-1]] == [0, 4, 2]
    arrays = na.LazyStack([m.select("x", "more") for m in given])
    assert_same(arrays[1, 2:], arrays[1][2:])
    for found, m in zip(arrays[:2, 1], arrays, strict=False):
        assert_same(found, m[1])
    assert isinstance(s["more"], na.LazyStack)
    assert_same(s["more"][1], given[1]["more"])
    assert [tuple(x.shape) for x in s["more/0"]] == [(2,), (4,), (0,)]
    assert s["more", 1, "fixed"][2] is given[2]["more/1/fixed"]


def test_members_are_matched_by_key() -> None:
    a, b = na.Container(x=np.ones(1), y=np.zeros(1)), na.Container(y=np.zeros(2), x=np.ones(2))
    s = na.LazyStack([a, b])
    assert s[1].spec is a.spec
    np.testing.assert_array_equal(s.pad(5.0)[0].x, [[1, 5], [1, 1]])
    with pytest.raises(
        StructureError, match=r"^LazyStack: members 0 and 1: Containers do not match"
    ):
        na.LazyStack([a, na.Container(x=np.ones(1))])


def test_ops_go_member_by_member(backend: str) -> None:
    given = members(backend)
    s, one = na.LazyStack(given), na.Container(x=2, more=[3, {"fixed": 4}], name="s", none=None)
    number = na.to_backend(np.float32(2.0), backend)
    for found, expected in [
        (s + 1, [m + 1 for m in given]),
        (2 - s, [2 - m for m in given]),
        (s * one, [m * one for m in given]),
        (one * s, [one * m for m in given]),
        (na.multiply(s, number), [na.multiply(m, number) for m in given]),
        (na.concat([s, na.LazyStack(given[::-1])]), [na.concat([m, n]) for m, n in zip(given, given[::-1], strict=True)]),
        (na.where(s > 1, s, 0), [na.where(m > 1, m, 0) for m in given]),
    ]:  # fmt: skip
        assert isinstance(found, na.LazyStack)
        for x, y in zip(found, expected, strict=True):
            assert_same(x, y)
    assert_same((s["more/1"] ** 2)[1], given[1]["more/1"] ** 2)


def test_ops_with_several_results() -> None:
    s = na.LazyStack([na.Container(a=np.diag([1.0, 2.0])), na.Container(a=np.diag([3.0]))])
    result = na.eigh(s)
    np.testing.assert_array_equal(result.eigenvalues[0].a, [1, 2])
    np.testing.assert_array_equal(result.eigenvectors[1].a, [[1]])
    first, rest = na.split(na.LazyStack([na.Container(a=np.arange(3))] * 2), (1, 2))
    np.testing.assert_array_equal(first[1].a, [0])
    np.testing.assert_array_equal(rest[0].a, [1, 2])


def test_stack(backend: str) -> None:
    given = [member(backend, 2, i) for i in range(3)]
    assert_same(na.LazyStack(given).stack(), na.stack(given))
    with pytest.raises(ShapeError) as info:
        na.LazyStack(members(backend)).stack()
    assert str(info.value) == (
        "LazyStack.stack: 'x' has the shape (2, 3) in member 0, (4, 3) in member 1, expected one "
        "shape; pad() fills them up"
    )


def test_pad(backend: str) -> None:
    given = members(backend)
    padded, mask = na.LazyStack(given).pad(-1)
    assert padded.spec is mask.spec is given[0].spec
    assert padded.name == mask.name == "s"
    assert padded.none is mask.none is None
    for path, leaf in padded.exclude("name", "none").flat_items():
        real = mask[path]
        assert na.backend_of(leaf) == na.backend_of(real) == backend
        assert na.dtype_of(leaf) is na.dtype_of(given[0][path])
        assert na.dtype_of(real) is na.bool
        for i, m in enumerate(given):
            x, row, where = np.asarray(m[path]), np.asarray(leaf)[i], np.asarray(real)[i]
            np.testing.assert_array_equal(row[where], x.ravel())
            np.testing.assert_array_equal(row[tuple(slice(n) for n in x.shape)], x)
            assert (row[~where] == -1).all()
    assert tuple(padded.x.shape) == (3, 4, 3)
    assert tuple(padded["more/1/fixed"].shape) == (3, 2)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4))
def test_the_mask_says_what_is_real(shapes: list[tuple[int, int]]) -> None:
    rng = np.random.default_rng(0)
    given = [na.Container(a=rng.normal(size=shape)) for shape in shapes]
    padded, mask = na.LazyStack(given).pad(np.nan)
    np.testing.assert_array_equal(np.isnan(padded.a), ~mask.a)
    for i, (m, shape) in enumerate(zip(given, shapes, strict=True)):
        np.testing.assert_array_equal(padded.a[i][: shape[0], : shape[1]], m.a)
        assert mask.a[i].sum() == m.size


def test_bfloat16(backend: str) -> None:
    given = [m.exclude("name", "none").astype("bfloat16") for m in members(backend)]
    padded, _ = na.LazyStack(given).pad(1.0)
    assert {na.dtype_of(x) for x in padded.leaves()} == {na.bfloat16}
    assert float(na.astype(padded.x[0, 3, 0], "float32")) == 1.0


def test_numbers_become_arrays() -> None:
    s = na.LazyStack([na.Container(n=3, k="a"), na.Container(n=5, k="a")])
    padded, mask = s.pad()
    np.testing.assert_array_equal(padded.n, [3, 5])
    np.testing.assert_array_equal(mask.n, [True, True])
    np.testing.assert_array_equal(s.stack().n, [3, 5])


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_gradients_and_compilation(backend: str) -> None:
    given = [m.select("x") for m in members(backend)]

    def loss(given: list[na.Container]) -> Any:
        padded, mask = (na.LazyStack(given) * 3).pad(7.0)
        return na.tree_sum(na.where(mask, padded**2, 0.0))

    options = {"backend": "aot_eager"} if backend == "torch" else {}
    for gradient in (na.grad(loss), na.jit(na.grad(loss), **options)):
        for found, m in zip(gradient(given), given, strict=True):
            assert_same(found, m * 18)


def test_values() -> None:
    s = na.LazyStack(members())
    for again in (pickle.loads(pickle.dumps(s)), copy.deepcopy(s)):
        for x, y in zip(again, s, strict=True):
            assert x.paths() == y.paths()
            np.testing.assert_array_equal(x.x, y.x)
    with pytest.raises(ImmutableError) as info:
        s._members = ()
    assert str(info.value) == "LazyStack is immutable: make another one, na.LazyStack([...])"
    with pytest.raises(TypeError):
        hash(s)


def test_how_it_prints() -> None:
    assert repr(na.LazyStack(members())).splitlines() == [
        "LazyStack(3 members)",
        "  x     f32[?, 3]",
        "  more [list]",
        "    0  i32[?]",
        "    1",
        "      fixed  f32[2]",
        "  name  's'",
        "  none  None",
    ]
    assert repr(na.LazyStack([])) == "LazyStack(0 members)"
    odd = na.LazyStack([na.Container(a=np.ones(1), n=1), na.Container(a=np.ones((1, 1)), n=2)])
    assert repr(odd).splitlines() == [
        "LazyStack(2 members)",
        "  a  arrays of several ranks or dtypes",
        "  n  1, 2",
    ]


def test_errors() -> None:
    s = na.LazyStack([na.Container(a=np.ones(1), b="x"), na.Container(a=np.ones((1, 1)), b="y")])
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: na.LazyStack([na.Container(), 5]), ArgumentError,
         "LazyStack: member 1: got int, expected a Container"),
        (lambda: s.pad(), ShapeError,
         "LazyStack.pad: 'a' has the shape (1,) in member 0, (1, 1) in member 1, expected one number "
         "of axes"),
        (lambda: na.LazyStack(m.select("b") for m in s).stack(), StructureError,
         "LazyStack.stack: 'b' is 'x' in member 0, 'y' in member 1, expected arrays or numbers, or "
         "one value in all"),
        (lambda: na.LazyStack([]).pad(), StructureError,
         "LazyStack.pad: there is no member, whose keys it would have"),
        (lambda: na.LazyStack([na.Container(a=None), na.Container(a=np.ones(1))]).stack(), StructureError,
         "LazyStack.stack: 'a' is None in member 0, a ndarray in member 1, expected arrays or "
         "numbers, or one value in all"),
        (lambda: s[2], IndexError, "LazyStack: got the index 2, expected one of 2 members"),
        (lambda: s[1.5], IndexError,
         "LazyStack: got 1.5 as an index, expected an integer, a slice, a list of integers, or a mask "
         "of 2 members"),
        (lambda: s["a"] and s["b"] and s + s[:1], ShapeError,
         "add: LazyStacks of 1 and 2 members, expected one number"),
    ]  # fmt: skip
    for call, error, message in cases:
        with pytest.raises(error) as info:
            call()
        assert str(info.value) == message
    with pytest.raises(ShapeError) as shape:
        na.LazyStack([na.Container(a=np.ones(2)), na.Container(a=np.ones(3))]) + np.ones(2)
    assert "at member 1 of the LazyStack" in shape.value.__notes__


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("x", "; what the members have there is s['x']"),
        ("exp", "; write na.exp(s)"),
        ("map", "; write [c.map(…) for c in s], or take s.stack() or s.pad() first"),
        ("nothing", ""),
    ],
)
def test_names_that_a_stack_does_not_have(name: str, advice: str) -> None:
    s = na.LazyStack([na.Container(x=np.ones(2)), na.Container(x=np.zeros(3))])
    with pytest.raises(AttributeError) as info:
        getattr(s, name)
    assert str(info.value) == f"LazyStack has no attribute {name!r}{advice}"

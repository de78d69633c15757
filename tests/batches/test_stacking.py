"""Lists of layers as one tree of stacked arrays and back, and a scan over it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray.container import ListContainer, TupleContainer
from nestarray.errors import ArgumentError, DtypeError, PathError, ShapeError, StructureError
from tests.arrays import on
from tests.trees import assert_same, plain_trees


def block(i: int) -> dict[str, Any]:
    return {
        "w": np.full((2, 3), i, "float32"),
        "norm": {"scale": np.float32([i]), "n": np.asarray(i, "int32")},
        "act": "relu",
        "bias": None,
        "rate": 0.5,
    }


BLOCKS = [block(i) for i in range(3)]
NET = {"embed": np.ones(2, "float32"), "blocks": BLOCKS, "head": {"w": np.zeros(2, "float32")}}


def test_there_and_back(backend: str) -> None:
    c = on(backend, NET)
    stacked = c.stack_keys("blocks/*")
    assert list(stacked.keys()) == ["embed", "blocks", "head"]
    assert list(stacked["blocks"].keys()) == list(BLOCKS[0])
    assert tuple(stacked["blocks/w"].shape) == (3, 2, 3)
    assert tuple(stacked["blocks/norm/n"].shape) == (3,)
    assert stacked["blocks"].select("act", "bias", "rate").to_dict() == {
        "act": "relu",
        "bias": None,
        "rate": 0.5,
    }
    assert stacked["embed"] is c["embed"]
    assert_same(stacked.unstack_keys("blocks"), c)


@pytest.mark.parametrize("kind", ["list", "tuple", "dict"])
def test_kinds_of_nodes(kind: str) -> None:
    keys = ["first", "second", "x/y"]
    nodes: dict[str, Any] = {
        "list": BLOCKS,
        "tuple": tuple(BLOCKS),
        "dict": dict(zip(keys, BLOCKS, strict=True)),
    }
    c = na.Container({"net": {"blocks": nodes[kind]}})
    stacked = c.stack_keys("**/blocks/*")
    back = {
        "list": lambda: stacked.unstack_keys("net/blocks"),
        "tuple": lambda: stacked.unstack_keys("net/blocks", kind="tuple"),
        "dict": lambda: stacked.unstack_keys("net/blocks", keys=c["net/blocks"].keys()),
    }[kind]()
    assert_same(back, c)


@given(plain_trees(st.sampled_from([np.ones(2), np.asarray(3), None, "x", 2])), st.integers(1, 4))
def test_any_members(tree: dict[str, Any], n: int) -> None:
    c = na.Container(a=[tree] * n, b=1)
    has_array = any(hasattr(leaf, "dtype") for leaf in c.leaves())
    keys = None if has_array else range(n)
    back = c.stack_keys("a/*").unstack_keys("a", keys=keys)
    assert back.paths() == c.paths()
    for x, y in zip(back.leaves(), c.leaves(), strict=True):
        np.testing.assert_array_equal(x, y)


def test_arrays_themselves_can_be_members() -> None:
    c = na.Container(ws=[np.ones(2), np.zeros(2)], n=1)
    stacked = c.stack_keys("ws/*")
    np.testing.assert_array_equal(stacked["ws"], [[1, 1], [0, 0]])
    assert_same(stacked.unstack_keys("ws"), c)


def test_the_whole_tree() -> None:
    c = na.Container(BLOCKS)
    stacked = c.stack_keys("*")
    assert list(stacked.keys()) == list(BLOCKS[0])
    assert_same(stacked.unstack_keys(), c)
    assert_same(
        na.Container(tuple(BLOCKS)).stack_keys("*").unstack_keys(kind="tuple"),
        na.Container(tuple(BLOCKS)),
    )
    assert isinstance(na.Container(w=np.zeros((0, 2))).unstack_keys(kind="tuple"), TupleContainer)
    assert isinstance(na.Container(w=np.zeros((0, 2))).unstack_keys(), ListContainer)


def test_several_groups() -> None:
    c = na.Container(encoder={"layers": BLOCKS}, decoder={"layers": [block(7), block(8)]})
    stacked = c.stack_keys("**/layers/*")
    assert stacked["encoder/layers/w"].shape == (3, 2, 3)
    assert stacked["decoder/layers/w"].shape == (2, 2, 3)
    assert_same(stacked.unstack_keys("encoder/layers").unstack_keys("decoder/layers"), c)


def test_beside_siblings() -> None:
    c = na.Container(net={"embed": 1, "h_0": BLOCKS[0], "h_1": BLOCKS[1], "head": np.ones(1)})
    stacked = c.stack_keys("net/h_*", into="h")
    assert list(stacked["net"].keys()) == ["embed", "h", "head"]
    assert stacked["net/h/w"].shape == (2, 2, 3)
    assert_same(stacked.unstack_keys("net/h", keys=["h_0", "h_1"], spread=True), c)
    top = c["net"]
    stacked = top.stack_keys("h_*", into="h_0")  # the place of a member is free
    assert_same(stacked.unstack_keys("h_0", keys=["h_0", "h_1"], spread=True), top)
    everything = na.Container(h_0=BLOCKS[0], h_1=BLOCKS[1])
    assert list(everything.stack_keys("*", into="h").keys()) == ["h"]


def test_members_are_taken_in_the_order_of_their_numbers() -> None:
    keys = ["mlp/~/h_10/b2", "mlp/~/h_2/b2", "mlp/~/h_1/b2"]
    c = na.Container({key: np.asarray(int(key.split("_")[1].split("/")[0])) for key in keys})
    np.testing.assert_array_equal(c.stack_keys("*").leaves()[0], [1, 2, 10])
    c = na.Container({"b": np.asarray(1), "a": np.asarray(2)})
    np.testing.assert_array_equal(c.stack_keys("*").leaves()[0], [1, 2])
    c = na.Container({"x2": np.asarray(1), "y1": np.asarray(2)})
    np.testing.assert_array_equal(c.stack_keys("*").leaves()[0], [1, 2])


def test_members_are_matched_by_key() -> None:
    c = na.Container([{"a": np.ones(1), "b": np.zeros(1)}, {"b": np.zeros(1), "a": np.ones(1)}])
    stacked = c.stack_keys("*")
    np.testing.assert_array_equal(stacked.a, [[1], [1]])
    np.testing.assert_array_equal(stacked.b, [[0], [0]])


def test_a_scan_over_the_stacked_layers() -> None:
    import jax

    rng = np.random.default_rng(0)
    layers = [
        {"w": rng.normal(size=(4, 4)).astype("float32"), "b": rng.normal(size=4).astype("float32")}
        for _ in range(5)
    ]
    c = on("jax", {"layers": layers, "scale": np.float32(2.0)})
    x = jax.numpy.ones(4)

    def layer(x: Any, v: na.Container) -> Any:
        return na.tanh(x @ v.w + v.b)

    def by_loop(c: na.Container) -> Any:
        out = x
        for v in c["layers"].values():
            out = layer(out, v)
        return na.sum(out * c.scale)

    def by_scan(c: na.Container) -> Any:
        stacked = c.stack_keys("layers/*")
        out, _ = jax.lax.scan(lambda x, v: (layer(x, v), None), x, stacked["layers"])
        return na.sum(out * c.scale)

    np.testing.assert_allclose(by_scan(c), by_loop(c), rtol=1e-6)
    for gradient in (jax.grad(by_scan), jax.jit(jax.grad(by_scan))):
        found, expected = gradient(c), jax.grad(by_loop)(c)
        assert found.spec is expected.spec
        for path, leaf in found.flat_items():
            np.testing.assert_allclose(leaf, expected[path], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_gradients_and_compilation(backend: str) -> None:
    c = on(backend, NET).select("**/w", "embed")

    def loss(c: na.Container) -> Any:
        stacked = c.stack_keys("blocks/*")
        return na.tree_sum(stacked**2) + na.tree_sum(stacked.unstack_keys("blocks") * 3)

    options = {"backend": "aot_eager"} if backend == "torch" else {}
    for gradient in (na.grad(loss), na.jit(na.grad(loss), **options)):
        assert_same(gradient(c), c * 2 + 3)


MISMATCHES: list[tuple[Any, Any, type[Exception], str]] = [
    (
        {"w": np.ones(2)}, {"w": np.ones(3)}, ShapeError,
        "'b/0/w' has the shape (2,), 'b/1/w' (3,), expected one shape; na.LazyStack(members).pad() "
        "stacks arrays of several",
    ),
    (
        {"w": np.ones(2)}, {"w": np.ones(2, "int32")}, DtypeError,
        "'b/0/w' is float64 of numpy, 'b/1/w' int32 of numpy, expected one dtype and backend; use "
        "astype or to_backend",
    ),
    (
        {"w": None}, {"w": np.ones(2)}, StructureError,
        "'b/0/w' is a NoneType, 'b/1/w' a ndarray, expected arrays in all, or in none",
    ),
    (
        {"w": 1.0}, {"w": 2.0}, StructureError,
        "'b/0/w' is 1.0, 'b/1/w' 2.0, expected one value, since what is no array is kept once; make "
        "arrays of numbers by na.asarray",
    ),
    (
        1, True, StructureError,
        "'b/0' is 1, 'b/1' True, expected one value, since what is no array is kept once; make "
        "arrays of numbers by na.asarray",
    ),
    (
        {"w": 1}, {"v": 1}, StructureError,
        "'b/0' and 'b/1': Containers do not match: 'w' is in the left one (1 leaf), not in the "
        "right one (1 leaf).",
    ),
    (
        {"w": 1}, 5, StructureError,
        "'b/0' and 'b/1': one is a leaf, expected members of one structure",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second", "error", "message"), MISMATCHES)
def test_members_that_differ(first: Any, second: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as info:
        na.Container(b=[first, second]).stack_keys("b/*")
    assert str(info.value).startswith(f"Container.stack_keys: {message}")


def test_errors_of_stack_keys() -> None:
    c = na.Container(blocks=[{"w": 1}, {"w": 1}], a=[1, 2], n={"x_0": 1, "x_1": 1, "x": 1})
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (
            "block/*", {}, PathError,
            "nothing matches 'block/*', expected a pattern of sub-containers such as 'blocks/*'; the "
            "places are 'blocks', 'blocks/0', 'blocks/0/w', 'blocks/1', 'blocks/1/w', …",
        ),
        (
            "n/x_*", {}, StructureError,
            "'n/x' does not match, so that the stacked members of 'n' stand beside it; name them by "
            "into=..., or let the pattern take it too",
        ),
        (
            "n/x_*", {"into": "x"}, StructureError,
            "into: 'n/x' is there already; choose another key",
        ),
        (
            "blocks/*", {"into": "all"}, StructureError,
            "into: got 'all', but 'blocks' is a list, which has no names; stack all of it, without into",
        ),
    ]  # fmt: skip
    for pattern, settings, error, message in cases:
        with pytest.raises(error) as info:
            c.stack_keys(pattern, **settings)
        assert str(info.value) == f"Container.stack_keys: {message}"


def test_errors_of_unstack_keys() -> None:
    c = na.Container(
        n={"s": {"w": np.ones((2, 3))}, "x": 1}, l=[{"w": np.ones(2)}], a=np.ones(()), none={"x": None},
        u={"v": np.ones(2), "w": np.ones(3)},
    )  # fmt: skip
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ("n/s", {"keys": ["a"]}, ShapeError,
         "keys: got ['a'], expected 2 different ones, for the first axis of 'n/s/w'"),
        ("n/s", {"keys": ["a", "a"]}, ShapeError,
         "keys: got ['a', 'a'], expected 2 different ones, for the first axis of 'n/s/w'"),
        ("n/s", {"keys": ["a", "x"], "spread": True}, StructureError,
         "keys: 'n/x' is there already; choose another key"),
        ("l/0", {"keys": ["a", "b"], "spread": True}, StructureError,
         "spread: 'l' is a list, which has no names; leave spread=False"),
        ("n/s", {"spread": True}, ArgumentError,
         "spread: got True, expected keys for the members and a path beside whose siblings they go"),
        ("n/s", {"kind": "dict"}, ArgumentError, "kind: got 'dict', expected 'list' or 'tuple'"),
        ("n/s", {"kind": "tuple", "keys": ["a", "b"]}, ArgumentError,
         "kind: got 'tuple', expected 'list' or 'tuple' without keys"),
        ("u", {}, ShapeError,
         "the first axis of 'u/v' has the length 2, that of 'u/w' 3, expected one length"),
        ("a", {}, ShapeError, "'a' has the shape (), expected a first axis to take apart"),
        ("none", {}, StructureError,
         "'none' has no array whose first axis says how many members there are; give their keys"),
    ]  # fmt: skip
    for path, settings, error, message in cases:
        with pytest.raises(error) as info:
            c.unstack_keys(path, **settings)
        assert str(info.value) == f"Container.unstack_keys: {message}"
    with pytest.raises(PathError, match="no key 'm' at the top"):
        c.unstack_keys("m")
    assert c.unstack_keys("none", keys=["a"])["none"].to_dict() == {"a": {"x": None}}

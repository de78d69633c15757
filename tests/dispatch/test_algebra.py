"""Ops on Containers: each rule of `nestarray.dispatch.containers`, on every backend."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import nestarray as na
from nestarray import backends
from nestarray.container import ListContainer
from nestarray.errors import ArgumentError, MixedBackendError, StructureError
from tests.arrays import host, on
from tests.trees import plain_trees, sample

ARRAYS = st.lists(st.integers(-4, 4), min_size=1, max_size=3).map(
    lambda x: np.asarray(x, "float64")
)


def tree(backend: str, values: Any) -> na.Container:
    return na.Container(values).map(lambda x: array(backend, x))


def array(backend: str, x: np.ndarray) -> Any:
    is_float = x.dtype.kind == "f"  # JAX has no float64 by default
    return on(backend, x, "float32" if is_float else None)


def assert_trees_equal(c: na.Container, expected: Any) -> None:
    expected = na.Container(expected)
    assert set(c.paths()) == set(expected.paths())
    for path, leaf in c.flat_items():
        np.testing.assert_array_equal(host(leaf), expected[path], err_msg=path)


# -- one structure ------------------------------------------------------------------------


BINARY = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv,
    operator.mod, operator.pow, operator.eq, operator.ne, operator.lt, operator.le,
    operator.gt, operator.ge,
]  # fmt: skip


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_operators_act_leaf_by_leaf(function: Callable[..., Any], backend: str) -> None:
    a = {"x": np.asarray([1.0, 2.0, 3.0]), "y": [np.asarray([4.0, 5.0])]}
    b = {"x": np.asarray([4.0, 2.0, 2.0]), "y": [np.asarray([2.0, 2.0])]}
    expected = {"x": function(a["x"], b["x"]), "y": [function(a["y"][0], b["y"][0])]}
    result = function(tree(backend, a), tree(backend, b))
    assert_trees_equal(result, expected)
    assert result.spec is na.Container(a).spec


@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_operators_with_numbers(function: Callable[..., Any], backend: str) -> None:
    a = {"x": np.asarray([1.0, 2.0, 3.0], "float32"), "y": (np.asarray([4.0], "float32"),)}
    c = tree(backend, a)
    for left, right in ((c, 2), (c, 2.0), (2.0, c), (3, c)):
        result = function(left, right)
        expected = [
            function(left if left is not c else x, right if right is not c else x)
            for x in (a["x"], a["y"][0])
        ]
        assert_trees_equal(result, {"x": expected[0], "y": (expected[1],)})


@pytest.mark.parametrize("function", [operator.and_, operator.or_, operator.xor, operator.lshift])
def test_integer_operators(function: Callable[..., Any], backend: str) -> None:
    a = {"x": np.asarray([1, 2, 3])}
    assert_trees_equal(function(tree(backend, a), 1), {"x": function(a["x"], 1)})
    assert_trees_equal(function(1, tree(backend, a)), {"x": function(1, a["x"])})


def test_unary_operators(backend: str) -> None:
    c = tree(backend, {"x": np.asarray([1.0, -2.0])})
    assert_trees_equal(-c, {"x": np.asarray([-1.0, 2.0])})
    assert_trees_equal(+c, {"x": np.asarray([1.0, -2.0])})
    assert_trees_equal(abs(c), {"x": np.asarray([1.0, 2.0])})
    assert_trees_equal(~tree(backend, {"x": np.asarray([True])}), {"x": np.asarray([False])})


def test_matmul(backend: str) -> None:
    a = {"x": np.arange(6.0).reshape(2, 3), "y": np.ones((1, 3))}
    b = np.arange(3.0)
    expected = {"x": a["x"] @ b, "y": a["y"] @ b}
    assert_trees_equal(tree(backend, a) @ array(backend, b), expected)


@given(plain_trees(ARRAYS), st.randoms(use_true_random=False))
def test_leaves_are_matched_by_key(tree: dict[str, Any], random: Any) -> None:
    def shuffled(node: Any) -> Any:
        if not isinstance(node, dict):
            return node * 10
        keys = list(node)
        random.shuffle(keys)
        return {k: shuffled(node[k]) for k in keys}

    c, other = na.Container(tree), na.Container(shuffled(tree))
    for result in (c + other, other + c, c.map(np.add, other)):
        assert set(result.paths()) == set(c.paths())
        for path, leaf in result.flat_items():
            np.testing.assert_array_equal(leaf, c[path] * 11)
    assert (c + other).spec is c.spec


def test_mixed_dtypes_and_types_of_leaves() -> None:
    c = na.Container(a=np.ones(2, "float32"), b=np.ones(2, "int64"), c=np.float64(1.0), d=1.0)
    result = c + c
    assert [str(na.dtype_of(x)) for x in result.leaves()] == [
        "float32",
        "int64",
        "float64",
        "float32",
    ]
    wide = c.delete("d") + na.Container(a=np.ones(2, "float64"), b=np.ones(2), c=np.float64(1))
    assert [str(x.dtype) for x in wide.leaves()] == ["float64", "float64", "float64"]


# -- prefixes, arrays, numbers ---------------------------------------------------------------


@pytest.mark.parametrize("scalar", [2.0, np.float64(2.0)])
def test_trees_of_arrays_and_of_scalars(scalar: float) -> None:
    """NumPy's float64 scalars are Python floats, and have a dtype."""
    arrays, scalars = na.Container(a=np.ones(2)), na.Container(a=scalar)
    for _ in range(3):
        assert (arrays + scalars).a.tolist() == [3.0, 3.0]
        assert na.equal(scalars, arrays).a.tolist() == [False, False]


def test_a_prefix_goes_to_its_subtree() -> None:
    c = na.Container(a={"x": np.ones(2), "y": [np.ones(3)]}, b=np.ones(1))
    rates = na.Container(b=100.0, a=10.0)
    assert_trees_equal(
        c * rates, {"a": {"x": np.full(2, 10.0), "y": [np.full(3, 10.0)]}, "b": np.full(1, 100.0)}
    )
    assert (c * rates).spec is c.spec
    whole = na.Container(np.asarray(5.0))
    assert_trees_equal(c * whole, c * 5.0)


def test_an_array_goes_to_every_leaf(backend: str) -> None:
    a = {"x": np.ones((2, 3)), "y": np.zeros(3)}
    row = array(backend, np.arange(3.0))
    expected = {"x": a["x"] - np.arange(3.0), "y": a["y"] - np.arange(3.0)}
    assert_trees_equal(tree(backend, a) - row, expected)
    assert_trees_equal(
        na.subtract(row, tree(backend, a)), (na.Container(expected) * -1.0).to_dict()
    )


def test_numpy_leaves_the_operator_to_the_container() -> None:
    c = na.Container(a=np.ones(3))
    for result in (np.arange(3.0) + c, np.float64(2.0) * c, np.arange(3.0) @ c):
        assert type(result) is na.Container


def test_kinds_of_nodes_stay() -> None:
    assert type(na.Container([np.ones(1)]) + 1) is ListContainer
    assert (na.Container(sample()) * 1).spec is na.Container(sample()).spec


def test_empty_trees() -> None:
    assert (na.Container() + na.Container()).leaves() == ()
    assert (na.Container() * 2).leaves() == ()
    assert na.exp(na.Container(a={}, b=[])).to_dict() == {"a": {}, "b": []}


def test_none_and_strings_are_left_alone() -> None:
    c = na.Container(a=np.ones(2), b=None, c="relu", d=b"raw")
    result = na.exp(c * 0)
    assert (result["b"], result["c"], result["d"]) == (None, "relu", b"raw")
    np.testing.assert_array_equal(result["a"], np.ones(2))
    assert na.exp(na.Container(a=None)).to_dict() == {"a": None}
    assert (na.Container(a=None) + na.Container(a=None)).to_dict() == {"a": None}


# -- methods, settings, several results -------------------------------------------------------


def test_ops_are_methods_by_being_the_same_function() -> None:
    assert na.Container.exp is na.exp
    assert na.Container.__add__ is na.add
    np.testing.assert_array_equal(na.Container(a=np.zeros(2)).exp().a, np.ones(2))


def test_settings_go_to_every_leaf(backend: str) -> None:
    a = {"x": np.arange(6.0).reshape(2, 3), "y": [np.arange(4.0).reshape(2, 2)]}
    c = tree(backend, a)
    assert_trees_equal(na.reshape(c, (-1,)), {"x": np.arange(6.0), "y": [np.arange(4.0)]})
    assert_trees_equal(na.flip(c, axis=0), {"x": a["x"][::-1], "y": [a["y"][0][::-1]]})


def test_sequences_of_containers(backend: str) -> None:
    a = {"x": np.arange(2.0), "y": [np.ones((1, 2))]}
    c = tree(backend, a)
    assert_trees_equal(
        na.stack([c, c * 2]),
        {"x": np.stack([a["x"], a["x"] * 2]), "y": [np.stack([a["y"][0], 2 * a["y"][0]])]},
    )
    assert_trees_equal(
        na.concat((c, c), axis=-1), {"x": np.tile(a["x"], 2), "y": [np.ones((1, 4))]}
    )


def test_stack_and_unstack_are_inverse(backend: str) -> None:
    trees = [
        tree(backend, {"x": np.full(2, float(i)), "y": [np.full((1, 3), -float(i))]})
        for i in range(3)
    ]
    back = na.unstack(na.stack(trees))
    assert isinstance(back, tuple)
    assert len(back) == 3
    for one, other in zip(trees, back, strict=True):
        assert other.spec is one.spec
        assert_trees_equal(other, one.map(backends.core(backend).to_numpy))


def test_leaves_with_different_numbers_of_results() -> None:
    with pytest.raises(StructureError) as info:
        na.unstack(na.Container(a=np.ones(2), b={"c": np.ones(3)}))
    assert str(info.value) == (
        "unstack: the leaves give different numbers of results: 2 at 'a', 3 at 'b/c'"
    )


# -- errors -----------------------------------------------------------------------------------


def test_message_of_different_structures() -> None:
    a = na.Container(encoder={"weight": 1.0, "bias": 2.0})
    b = na.Container(encoder={"weigth": 1.0, "bias": 2.0})
    with pytest.raises(StructureError) as info:
        a + b
    assert str(info.value) == (
        "add: Containers do not match: 'encoder/weight' is in the left one (2 leaves), not in the "
        "right one (2 leaves); the nearest there is 'encoder/weigth'. a.align(b, join='inner') "
        "takes the common part, join='outer' with fill=… adds what is missing"
    )


def test_a_list_is_no_dict_with_numbers_as_keys() -> None:
    c = na.Container(blocks=[{"w": np.ones(2)}])
    flat = c.to_flat_dict()
    assert na.tree_all(na.equal(na.Container.from_flat_dict(flat, lists=True), c))
    with pytest.raises(
        StructureError, match=r"one has a list there, .*\(…, lists=True\) makes lists"
    ):
        c + na.Container.from_flat_dict(flat)


def test_message_of_missing_leaves() -> None:
    with pytest.raises(StructureError) as info:
        na.Container(a=1.0) * na.Container(a=1.0, b=2.0, c=3.0)
    assert str(info.value) == (
        "multiply: Containers do not match: 'b' is in the right one (3 leaves), not in the left "
        "one (1 leaf) (and 1 more). a.align(b, join='inner') takes the common part, "
        "join='outer' with fill=… adds what is missing"
    )


def test_map_checks_structures() -> None:
    with pytest.raises(
        StructureError, match=r"^Container\.map: Containers do not match: 'a' is in"
    ):
        na.Container(a=1).map(max, na.Container(b=1))


def test_errors_carry_the_path(backend: str) -> None:
    c = tree(backend, {"a": np.ones(2), "b": {"c": np.ones(3)}})
    d = tree(backend, {"a": np.ones(2), "b": {"c": np.ones(4)}})
    with pytest.raises(Exception) as info:  # noqa: PT011  # the error's type depends on the framework
        c + d
    assert info.value.__notes__[-1] == "at the Container path 'b/c'"  # JAX has a note too


def test_errors_of_map_carry_the_path() -> None:
    def fail(leaf: Any) -> Any:
        if leaf == 2:
            raise ValueError("two")
        return leaf

    calls: list[int] = []
    with pytest.raises(ValueError, match=r"^two\n") as info:
        na.Container(a=1, b=[2, 3]).map(lambda x: (calls.append(x), fail(x)))
    assert info.value.__notes__ == ["at the Container path 'b/0'"]
    assert calls == [1, 2]

    def stop(leaf: Any) -> Any:
        raise StopIteration

    with pytest.raises(RuntimeError) as stopped:
        na.Container(a=1, b=2).map(stop)
    assert str(stopped.value) == "a function raised StopIteration at the Container path 'a'"


def test_two_frameworks_in_one_tree() -> None:
    a = na.Container(x=np.ones(2), y=np.ones(2))
    with pytest.raises(MixedBackendError) as info:
        a + na.Container(x=np.ones(2), y=backends.core("torch").from_numpy(np.ones(2)))
    assert info.value.__notes__ == ["at the Container path 'y'"]
    both = a.set("y", backends.core("torch").from_numpy(np.ones(2)))
    assert na.exp(both).map(lambda x: type(x).__module__).to_dict() == {"x": "numpy", "y": "torch"}


def test_leaves_that_no_op_takes() -> None:
    with pytest.raises(ArgumentError) as info:
        na.exp(na.Container(a=np.ones(2), b={"c": object()}))
    assert info.value.__notes__ == ["at the Container path 'b/c'"]


# -- fast paths equal the plain path -------------------------------------------------------------


FOREACH = [
    (name, dtype)
    for name in ("add", "subtract", "multiply", "divide")
    for dtype in ("float32", "float64", "bfloat16", "int32", "bool")
    if (name, dtype) != ("subtract", "bool")  # which torch does not have
]


@pytest.mark.parametrize(("name", "dtype"), FOREACH)
def test_torch_foreach_equals_leaf_by_leaf(name: str, dtype: str) -> None:
    function = getattr(na, name)
    rng = np.random.default_rng(0)
    core = backends.core("torch")
    values = [rng.integers(1, 5, shape) for shape in ((3,), (2, 2), (), (0, 3))]
    x = [core.from_numpy(v.astype("float64")).to(core.native_dtype(dtype)) for v in values]
    y = [a + a for a in x]
    for right in (y, 3.0, 0.1, 2, x[2]):
        second = na.Container(right) if isinstance(right, list) else right
        function(na.Container(x), second)  # by which further calls go
        result = function(na.Container(x), second).leaves()
        for i, leaf in enumerate(result):
            expected = function(x[i], right[i] if isinstance(right, list) else right)
            assert leaf.dtype is expected.dtype
            assert leaf.equal(expected)
        if not isinstance(right, list):
            for leaf, source in zip(function(right, na.Container(x)).leaves(), x, strict=True):
                assert leaf.dtype is function(right, source).dtype
                assert leaf.equal(function(right, source))


@pytest.mark.parametrize("name", ["abs", "exp", "negative", "sqrt"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int64"])
def test_torch_foreach_of_one_argument(name: str, dtype: str) -> None:
    core = backends.core("torch")
    function = getattr(na, name)
    x = [core.from_numpy(np.arange(1.0, n)).to(core.native_dtype(dtype)) for n in (2, 5)]
    for leaf, source in zip(function(na.Container(x)).leaves(), x, strict=True):
        assert leaf.dtype is function(source).dtype
        assert leaf.equal(function(source))


def test_torch_foreach_keeps_gradients() -> None:
    import torch

    x = [torch.ones(2, requires_grad=True), torch.full((3,), 2.0, requires_grad=True)]
    c = na.Container(x)
    total = sum(leaf.sum() for leaf in (c * c + c * 3.0).leaves())
    grads = torch.autograd.grad(total, x)
    assert [g.tolist() for g in grads] == [[5.0, 5.0], [7.0, 7.0, 7.0]]


def test_tied_leaves_stay_one_array_where_they_are_held_otherwise(backend: str) -> None:
    weight = np.ones((2, 3), "float32")
    tied = na.Container(embedding=weight, head={"weight": weight, "bias": np.zeros(2, "float32")})
    for moved in (tied.to_backend(backend), na.astype(tied, "float16"), tied.set("name", "x")):
        assert moved["embedding"] is moved["head/weight"]
        assert moved["embedding"] is not moved["head/bias"]
    named = tied.set("name", "x").to_backend(backend)
    assert named["embedding"] is named["head/weight"]
    assert named["name"] == "x"


def test_python_s_divmod_and_round(backend: str) -> None:
    values = np.asarray([7.26, -3.5, 2.25], "float32")
    c = na.Container(a=backends.core(backend).from_numpy(values))
    to_numpy = backends.core(backend).to_numpy
    for found, expected in (
        (divmod(c, 2), divmod(values, 2)),
        (divmod(7, c), divmod(7, values)),
        ((round(c), round(c, 1)), (np.round(values), np.round(values, 1))),
    ):
        for x, y in zip(found, expected, strict=True):
            np.testing.assert_allclose(to_numpy(x.a), y, rtol=1e-6)


def test_messages_of_dicts_in_arithmetic() -> None:
    expected = "an array of numpy, jax, torch or tensorflow, a Container or a number"
    c = na.Container(a=1)
    with pytest.raises(ArgumentError) as info:
        c + {"a": 2}
    assert str(info.value) == (
        f"add: array argument (x1, x2): got dict, expected {expected}; make it a tree with "
        "na.Container(...)"
    )
    with pytest.raises(ArgumentError) as info:
        c | {"a": 2}
    assert str(info.value) == (
        f"bitwise_or: array argument (x1, x2): got dict, expected {expected}; make it a tree with "
        "na.Container(...), or merge it in with c.update(...)"
    )


@pytest.mark.parametrize("op", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])  # fmt: skip
def test_comparisons_of_a_tensor_of_tensorflow_with_a_tree(op: Callable[..., Any]) -> None:
    import tensorflow as tf

    x, c = tf.constant([1.0, 2.0]), na.Container(a=tf.constant([2.0, 2.0]), b=[tf.constant(1.0)])
    expected = c.map(lambda leaf: op(x.numpy(), leaf.numpy()).tolist())
    for compare in (op, tf.function(op, autograph=False)):
        assert compare(x, c).map(lambda leaf: leaf.numpy().tolist()).to_dict() == expected.to_dict()
    with pytest.raises(TypeError, match="'a'"):
        operator.lt(x, "a")

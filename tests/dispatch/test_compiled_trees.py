"""Ops on large Containers as one compiled call: the values, and when they are not compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.backends import foreach
from nestarray.dispatch import OPS, Op
from nestarray.traits import Trait

COMPILING = ("jax", "tensorflow")
COUNT = 9
CHAPTERS = sorted({op.chapter for op in OPS.values() if Trait.ELEMENTWISE in op.traits})


@pytest.fixture(autouse=True)
def compile_early(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Compile in the second call; what ops found out about types before does not count."""
    monkeypatch.setattr(foreach, "CALLS", 2)
    kept = [(r.table, r.resolved, r.cached_calls) for r in OPS.values()]
    found = [[dict(table) for table in tables] for tables in kept]
    for tables in kept:
        for table in tables:
            table.clear()
    yield
    for tables, contents in zip(kept, found, strict=True):
        for table, content in zip(tables, contents, strict=True):
            table.clear()
            table.update(content)


@contextlib.contextmanager
def leaf_by_leaf() -> Iterator[None]:
    """Compile no tree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreach, "LEAST", 10**9)
        yield


def leaves_of(backend: str, dtype: str = "float32", count: int = COUNT) -> na.Container:
    """A tree of leaves of many shapes: 0-d, empty, one of them with all the special values."""
    special = [0.0, -0.0, 0.5, -0.5, 1.0, -3.0, 40.0, np.inf, -np.inf, np.nan]
    core = backends.core(backend)
    values = [np.asarray(special), np.asarray(0.25), np.zeros((0, 3))]
    values += [np.linspace(-2.0, 2.0, 2 * i + 2).reshape(2, -1) for i in range(count - 3)]
    with np.errstate(invalid="ignore"):
        narrow = [v.astype(core_dtype(dtype)) for v in values]
    return na.Container({f"layer/{i}": core.from_numpy(v) for i, v in enumerate(narrow)})


def core_dtype(dtype: str) -> Any:
    return backends.core("numpy").native_dtype(dtype)


def assert_same(one: na.Container, other: na.Container) -> None:
    assert one.spec is other.spec
    for path, x in one.flat_items():
        core = backends.core(backends.backend_of(x))
        y = other[path]
        assert na.dtype_of(x) is na.dtype_of(y), path
        a, b = (np.asarray(core.to_numpy(v)) for v in (x, y))
        if a.dtype.kind == "V":  # bfloat16, of which NumPy does not know NaN
            a, b = a.astype("float32"), b.astype("float32")
        np.testing.assert_array_equal(a, b, err_msg=path)
        if na.dtype_of(x).kind == "float":
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b), err_msg=path)


def plan_of(name: str, count: int = COUNT) -> foreach.Plan:
    """The state of an op on trees of this size; all calls had arguments of one kind."""
    (many,) = [many for _, many in OPS[name].resolved.values() if many is not None]
    return many.plans.get(count, foreach.Plan())  # type: ignore[attr-defined]


def compiled_calls(name: str) -> bool:
    return plan_of(name).run is not None


def ops_of(chapter: str, arrays: int) -> list[Op]:
    return [
        record
        for record in OPS.values()
        if record.chapter == chapter
        and Trait.ELEMENTWISE in record.traits
        and len(record.array_parameters) == arrays == len(record.parameters)
        and not record.sequence_parameters
    ]


@pytest.mark.parametrize("dtype", ["float32", pytest.param("bfloat16", marks=pytest.mark.full)])
@pytest.mark.parametrize("name", ["add", "divide", "remainder", "less", "maximum"])
@pytest.mark.parametrize("backend", COMPILING)
def test_pairs_equal_leaf_by_leaf_results(backend: str, name: str, dtype: str) -> None:
    function = getattr(na, name)
    c = leaves_of(backend, dtype)
    d = na.Container(reversed(list(na.subtract(1.0, c).items())))  # in another order of keys
    with leaf_by_leaf():
        expected = function(c, d)
    for _ in range(3):
        assert_same(function(c, d), expected)
    assert compiled_calls(name)


@pytest.mark.parametrize("name", ["exp", "negative", "sigmoid", "isnan", "abs", "tanh"])
@pytest.mark.parametrize("backend", COMPILING)
def test_ops_of_one_argument(backend: str, name: str) -> None:
    function = getattr(na, name)
    c = leaves_of(backend)
    with leaf_by_leaf():
        expected = function(c)
    for _ in range(3):
        assert_same(function(c), expected)
    assert compiled_calls(name)


@pytest.mark.full
@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.parametrize("backend", COMPILING)
def test_every_op_equals_leaf_by_leaf_results(backend: str, chapter: str) -> None:
    c = leaves_of(backend).map(lambda x: x if len(x.shape) else x[None])
    for arrays in (1, 2):
        for record in ops_of(chapter, arrays):
            arguments = (c, na.subtract(1.0, c))[:arrays]
            try:
                with leaf_by_leaf():
                    expected = record.function(*arguments)
            except Exception:  # an op of integers, of complex numbers, of even sizes
                continue
            for _ in range(3):
                found = record.function(*arguments)
                if isinstance(found, na.Container):
                    assert_same(found, expected)


@pytest.mark.parametrize("backend", COMPILING)
def test_numbers_and_arrays_for_all_leaves(backend: str) -> None:
    c = leaves_of(backend)
    row = backends.core(backend).from_numpy(np.asarray([2.0], "float32"))
    pairs: list[tuple[Callable[[], Any], str]] = [
        (lambda: c * 0.5, "multiply"),
        (lambda: 2 - c, "subtract"),
        (lambda: na.add(row, c), "add"),
        (lambda: c > 1, "greater"),
    ]
    for call, name in pairs:
        with leaf_by_leaf():
            expected = call()
        for _ in range(3):
            assert_same(call(), expected)
        assert compiled_calls(name)


@pytest.mark.parametrize("backend", COMPILING)
def test_another_number_is_no_stale_one(backend: str) -> None:
    c = leaves_of(backend)
    for factor in (2.0, 2.0, 3.0, 3.0, 2, True, -0.0, 0.0):
        with leaf_by_leaf():
            expected = c * factor
        assert_same(c * factor, expected)


@pytest.mark.parametrize("backend", COMPILING)
def test_changed_shapes_and_dtypes_are_right_and_bounded(backend: str) -> None:
    core = backends.core(backend)
    for step in range(12):
        dtype = ("float32", "int32")[step % 2]
        leaf = core.from_numpy(np.ones(step + 1, dtype))
        c = na.Container([leaf] * COUNT)
        result = c + c
        assert {na.dtype_of(x).name for x in result.leaves()} == {dtype}
        assert {tuple(x.shape) for x in result.leaves()} == {(step + 1,)}
    assert plan_of("add").changes == foreach.CHANGES + 1  # and no more: it was given up
    assert not compiled_calls("add")


@pytest.mark.parametrize("backend", COMPILING)
def test_small_trees_are_not_compiled(backend: str) -> None:
    c = leaves_of(backend)
    few = c.select(*c.paths()[: foreach.LEAST - 1])
    for _ in range(4):
        few + few
    assert not compiled_calls("add")
    for _ in range(2):
        c + c
    assert compiled_calls("add")


@pytest.mark.parametrize("backend", COMPILING)
def test_errors_are_those_of_the_leaf(backend: str) -> None:
    core = backends.core(backend)
    c = na.Container({f"w{i}": core.from_numpy(np.ones(2, "float32")) for i in range(COUNT)})
    d = c.set("w5", core.from_numpy(np.ones(3, "float32")))
    for _ in range(3):
        with pytest.raises(Exception) as info:  # noqa: PT011  # the error's type depends on the framework
            c + d
        assert "at the Container path 'w5'" in info.value.__notes__


def test_gradients_on_jax_bypass_compiled_trees() -> None:
    import jax
    import jax.numpy as jnp

    c = na.Container([jnp.full(2, float(i)) for i in range(COUNT)])

    def total(c: na.Container) -> Any:
        return sum(jnp.sum(x) for x in (c * c + c * 3.0).leaves())

    for _ in range(3):
        total(c)
    for gradient in (jax.grad(total)(c), jax.jit(jax.grad(total))(c)):
        for i, leaf in enumerate(gradient.leaves()):
            np.testing.assert_array_equal(leaf, np.full(2, 2.0 * i + 3.0))


def test_constants_inside_of_a_trace_on_jax() -> None:
    import jax
    import jax.numpy as jnp

    c = na.Container([jnp.full(2, float(i)) for i in range(COUNT)])
    for _ in range(3):
        c + c
    found = jax.jit(lambda x: (c + c) * x)(2.0)
    for i, leaf in enumerate(found.leaves()):
        np.testing.assert_array_equal(leaf, np.full(2, 4.0 * i))


def test_gradients_on_tensorflow_bypass_compiled_trees() -> None:
    import tensorflow as tf

    leaves = [tf.fill([2], float(i)) for i in range(COUNT)]
    c = na.Container(leaves)
    for _ in range(3):
        c * c
    with tf.GradientTape() as tape:
        tape.watch(leaves)
        total = tf.add_n([tf.reduce_sum(x) for x in (c * c).leaves()])
    for i, slope in enumerate(tape.gradient(total, leaves)):
        np.testing.assert_array_equal(slope, np.full(2, 2.0 * i))
    with tf.autodiff.ForwardAccumulator(leaves, [tf.ones(2)] * COUNT) as accumulator:
        squares = (c * c).leaves()
    for i, square in enumerate(squares):
        np.testing.assert_array_equal(accumulator.jvp(square), np.full(2, 2.0 * i))


def test_inside_of_a_tf_function() -> None:
    import tensorflow as tf

    c = na.Container([tf.fill([2], float(i)) for i in range(COUNT)])
    for _ in range(3):
        c + c
    for i, leaf in enumerate(tf.function(lambda: c + c)().leaves()):
        np.testing.assert_array_equal(leaf, np.full(2, 2.0 * i))


def test_a_tree_of_many_parts() -> None:
    import jax.numpy as jnp

    count = 2 * foreach.PART + 3
    c = na.Container([jnp.full(1, float(i)) for i in range(count)])
    for _ in range(3):
        result = c + c
    assert plan_of("add", count).run is not None
    assert [float(x[0]) for x in result.leaves()] == [2.0 * i for i in range(count)]

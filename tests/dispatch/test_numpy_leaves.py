"""NumPy leaves without promotion: cached facts about them, and numbers in graphs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import nestarray as na

DTYPES = [
    "float32",
    "float64",
    "float16",
    "bfloat16",
    "int32",
    "int64",
    "uint8",
    "bool",
    "complex64",
]
BINARY = ["add", "subtract", "multiply", "divide", "less", "maximum", "atan2", "pow"]
UNARY = ["exp", "sqrt", "negative", "reciprocal", "abs"]


def leaf(dtype: str, shape: tuple[int, ...] = (3,)) -> np.ndarray:
    native = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    return np.ones(shape).astype(native)


def outcome(call: Callable[[], Any]) -> Any:
    """The dtype and values of a result; or that there is none."""
    try:
        result = call()
    except Exception:  # no such op for the dtype, neither leaf by leaf nor on trees
        return None
    return str(result.dtype), np.asarray(result).tolist()


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_dtypes_promote_as_arrays_do(name: str) -> None:
    function = getattr(na, name)
    for left in DTYPES:
        for right in DTYPES:
            x, y = leaf(left), leaf(right)
            a, b = na.Container(a=x, b=x), na.Container(a=y, b=y)
            expected = outcome(lambda x=x, y=y: function(x, y))
            for _ in range(2):  # looked at, and noted
                assert outcome(lambda a=a, b=b: function(a, b).a) == expected, (left, right)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("number", [True, 2, 0.5, 1j])
def test_numbers_promote_as_beside_arrays(name: str, number: Any) -> None:
    function = getattr(na, name)
    for dtype in DTYPES:
        x = leaf(dtype)
        c = na.Container(a=x, b=[x])
        for _ in range(2):
            assert outcome(lambda c=c: function(c, number).a) == outcome(
                lambda x=x: function(x, number)
            )
            assert outcome(lambda c=c: function(number, c).a) == outcome(
                lambda x=x: function(number, x)
            )


@pytest.mark.parametrize("name", UNARY)
def test_ops_of_one_argument_promote_as_on_arrays(name: str) -> None:
    function = getattr(na, name)
    for dtype in DTYPES:
        x = leaf(dtype)
        c = na.Container(a=x, b=[x])
        for _ in range(2):
            assert outcome(lambda c=c: function(c).a) == outcome(lambda x=x: function(x)), dtype


def test_leaves_of_several_dtypes() -> None:
    c = na.Container({d: leaf(d) for d in DTYPES if d != "bool"})
    for _ in range(2):
        doubled = c + c
        assert [str(x.dtype) for x in doubled.leaves()] == [str(x.dtype) for x in c.leaves()]
    reversed_dtypes = na.Container({k: leaf("float64") for k in c})
    assert na.dtype_of((c + reversed_dtypes)["int32"]) is na.float64


def test_a_bare_array_that_was_replaced() -> None:
    c = na.Container(np.ones(2, "float32"))
    assert (c + c).leaves()[0].dtype == np.float32
    wide = na.Container(np.ones(2, "float64"))
    c[...] = wide
    assert (c + wide).leaves()[0].dtype == np.result_type(c.leaves()[0].dtype, np.float64)


def test_nothing_noted_is_pickled_or_copied() -> None:
    import copy
    import pickle

    c = na.Container(a=np.ones(2), b=np.ones(3))
    c + c
    for other in (pickle.loads(pickle.dumps(c)), copy.deepcopy(c), c.set("a", leaf("int32"))):
        assert (other + other).b.dtype == np.float64
    assert (c.set("a", leaf("int32")) + c.set("a", leaf("int32"))).a.dtype == np.int32


@pytest.mark.parametrize(
    "function",
    [operator.add, operator.sub, operator.mul, operator.floordiv, operator.pow],
    ids=lambda f: f.__name__,
)
def test_numbers_in_front_inside_of_a_tf_function(function: Callable[..., Any]) -> None:
    import tensorflow as tf

    for dtype, number in ((tf.float32, 2), (tf.float64, 0.5), (tf.bfloat16, 0.5), (tf.int64, 3)):
        c = na.Container(a=tf.cast(tf.fill([2], 2), dtype))
        eager = function(number, c).a
        traced = tf.function(lambda c, number=number: function(number, c))(c).a
        assert traced.dtype == eager.dtype == dtype
        np.testing.assert_array_equal(traced.numpy(), eager.numpy())

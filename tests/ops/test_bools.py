"""Arithmetic of truth values by one rule on every backend; see `nestarray.backends.truth`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.dispatch import OPS
from nestarray.errors import DtypeError
from tests.arrays import host, on

pytestmark = pytest.mark.one_in(4)

X = np.asarray([[True, False, True], [False, True, True]])
Y = np.asarray([[True, True, False], [False, False, True]])

ITSELF = ("abs", "positive", "sign", "square", "ceil", "floor", "trunc", "round", "real", "conj")

#: Of each pair of truth values, NumPy's own answer, which is a bool.
PAIRS = {
    "add": np.add, "maximum": np.maximum, "fmax": np.fmax, "multiply": np.multiply,
    "minimum": np.minimum, "fmin": np.fmin, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "heaviside": np.logical_or,
}  # fmt: skip

#: Their results would have to be numbers.
REFUSED = (
    "subtract", "floor_divide", "remainder", "fmod", "pow", "nextafter", "bitwise_left_shift",
    "bitwise_right_shift",
)  # fmt: skip

#: Sums of products, and selections.
PRODUCTS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "matmul": (lambda x, y: na.matmul(x, na.matrix_transpose(y)), lambda x, y: x @ y.T),
    "vecdot": (na.vecdot, np.vecdot),
    "tensordot": (lambda x, y: na.tensordot(x, y, axes=2), lambda x, y: np.tensordot(x, y, 2)),
    "einsum": (
        lambda x, y: na.einsum("ij,kj->ik", x, y),
        lambda x, y: np.einsum("ij,kj->ik", x, y),
    ),
    "linear": (na.linear, lambda x, y: x @ y.T),
    "outer": (lambda x, y: na.outer(x[0], y[0]), lambda x, y: np.outer(x[0], y[0])),
    "kron": (na.kron, np.kron),
    "conv1d": (
        lambda x, y: na.conv1d(x[:, None], y[:1, None, :2]),
        lambda x, y: np.asarray([np.correlate(r, y[0, :2]) > 0 for r in x.astype(int)])[:, None],
    ),
    "max_pool1d": (
        lambda x, y: na.max_pool1d(x[None], kernel_size=2, stride=1),
        lambda x, y: (x[:, :-1] | x[:, 1:])[None],
    ),
    "cummax": (lambda x, y: na.cummax(x, axis=1), lambda x, y: np.maximum.accumulate(x, 1)),
    "cummin": (lambda x, y: na.cummin(x, axis=1), lambda x, y: np.minimum.accumulate(x, 1)),
    "partition": (lambda x, y: na.partition(x, 1, axis=1), lambda x, y: np.sort(x, 1)),
    "top_k": (lambda x, y: na.top_k(x, 2).values, lambda x, y: np.sort(x, 1)[:, :0:-1]),
}


def check(found: Any, expected: Any, backend: str) -> None:
    assert na.backend_of(found) == backend
    values = host(found)
    assert values.dtype == np.asarray(expected).dtype == np.bool_
    np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("name", ITSELF)
def test_a_bool_is_its_own_whole_part(name: str, backend: str) -> None:
    function = getattr(na, name)
    check(function(on(backend, X)), X, backend)
    check(function(na.Container(a=on(backend, X)))["a"], X, backend)


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_or_and_and_orders(name: str, backend: str) -> None:
    function, expected = getattr(na, name), PAIRS[name](X, Y)
    x, y = on(backend, X), on(backend, Y)
    check(function(x, y), expected, backend)
    trees = na.Container(a=x, b=x), na.Container(a=y, b=y)
    for _ in range(2):  # the second call finds what served the first
        check(function(*trees)["b"], expected, backend)


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_or_of_ands(name: str, backend: str) -> None:
    function, reference = PRODUCTS[name]
    check(function(on(backend, X), on(backend, Y)), reference(X, Y), backend)


def test_places_stay_integers(backend: str) -> None:
    x, places = on(backend, X[0]), on(backend, [1, 1, 0])
    check(na.index_add(x, places, on(backend, Y[0])), [True, True, True], backend)
    check(na.segment_sum(x, places, num_segments=3), [True, True, False], backend)
    rank = na.searchsorted(on(backend, [False, True]), x)
    np.testing.assert_array_equal(backends.core(backend).to_numpy(rank), [1, 0, 1])


@pytest.mark.parametrize("name", REFUSED)
def test_arithmetic_on_bools_is_refused(name: str, backend: str) -> None:
    function, x = getattr(na, name), on(backend, X)
    text = f"^{name}: {backend} cannot compute it for bool; cast to a dtype that it takes with na"
    for args in ((x, x), (x, True), (True, x)):
        with pytest.raises(DtypeError, match=text):
            function(*args)
    tree = na.Container(a=x, b=x)
    for other in (tree, True):
        for _ in range(2):
            with pytest.raises(DtypeError, match=f"{name}: {backend} cannot compute it for bool"):
                function(tree, other)


def test_the_negative_of_a_bool_is_refused(backend: str) -> None:
    with pytest.raises(DtypeError, match=f"^negative: {backend} cannot compute it for bool"):
        na.negative(on(backend, X))


@pytest.mark.parametrize("name", ["add", "multiply", "floor_divide", "remainder", "pow"])
def test_beside_an_int_a_bool_counts(name: str, backend: str) -> None:
    found = getattr(na, name)(on(backend, X), 2)
    kind = na.dtype_of(on(backend, [1]))
    assert na.dtype_of(found) is kind
    reference = getattr(np, {"pow": "power"}.get(name, name))(X.astype(int), 2)
    np.testing.assert_array_equal(backends.core(backend).to_numpy(found), reference)


@pytest.mark.parametrize("name", ["relu", "relu6", "sum", "prod"])
def test_counts_have_the_default_integer_dtype(name: str, backend: str) -> None:
    found = getattr(na, name)(on(backend, X))
    assert na.dtype_of(found) is na.dtype_of(on(backend, [1]))
    expected = {"sum": 4, "prod": 0}.get(name, X.astype(int))
    np.testing.assert_array_equal(backends.core(backend).to_numpy(found), expected)


def test_no_bool_is_below_zero(backend: str) -> None:
    check(na.signbit(on(backend, X)), np.signbit(X), backend)


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_the_rule_holds_while_a_function_is_compiled(backend: str) -> None:
    def f(x: Any, y: Any) -> Any:
        return na.less(na.square(x), na.maximum(na.conj(x), na.matmul(x, na.matrix_transpose(y))))

    x, y = X[:, :2], Y[:, :2]
    found = na.jit(f)(on(backend, x), on(backend, y))
    check(found, x < (x | (x @ y.T)), backend)


@pytest.mark.parametrize("mode", ["add", "mul", "min", "max", "replace"])
@pytest.mark.parametrize("updates", [[True, False], [-1.0, 0.0], 2.5])
def test_bools_are_updated_as_truth_values(updates: Any, mode: str, backend: str) -> None:
    old, new = np.asarray([True, False, True]), np.broadcast_to(np.asarray(updates, bool), 2)
    combine = {"add": np.logical_or, "mul": np.logical_and, "min": np.minimum, "max": np.maximum}
    expected = [*(new if mode == "replace" else combine[mode](old[:2], new)), True]
    x, places = on(backend, old), on(backend, [0, 1])
    given = updates
    if isinstance(updates, list):
        given = on(backend, updates, "bool" if True in updates else "float32")
    for found in (
        na.setitem(x, places, given, mode=mode),
        na.scatter(x, places, given, axis=0, mode=mode),
    ):
        assert na.to_backend(found, "numpy").tolist() == expected
    if mode == "add" and isinstance(updates, list):
        assert na.to_backend(na.index_add(x, places, given), "numpy").tolist() == expected


def test_every_op_documented_for_bools_is_tested() -> None:
    said = {name for name, op in OPS.items() if hasattr(op.body, "of_bools")}
    here = {*ITSELF, *PAIRS, *PRODUCTS, "relu", "relu6", "signbit"}
    here |= {"setitem", "segment_sum", "searchsorted"}
    # made of the same, or of those
    like = {
        "argpartition", "conv", "conv2d", "conv3d", "conv_transpose", "conv_transpose1d",
        "conv_transpose2d", "conv_transpose3d", "depthwise_conv", "fold", "locally_connected",
        "max_pool", "max_pool2d", "max_pool3d", "reduce_window", "segment_prod", "separable_conv",
    }  # fmt: skip
    assert said - here == like

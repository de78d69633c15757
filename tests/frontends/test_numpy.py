"""The functions of the NumPy frontend against NumPy, on arrays of all frameworks."""

from __future__ import annotations

import inspect
import itertools
import pickle
import types
import warnings
from typing import Any

import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.numpy as frontend
from nestarray import backends
from tests.arrays import host, on
from tests.frontends import expressions, test_jax_numpy
from tests.frontends.jax_expressions import INPUTS

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of NaN and ∞
]

#: (rtol, atol): chains of a few roundings, in another order of the sums.
TOLERANCE = {"float32": (2e-5, 2e-5), "complex64": (2e-5, 2e-5), "float16": (4e-3, 4e-3),
             "float64": (1e-5, 1e-6), "complex128": (1e-5, 1e-6)}  # fmt: skip

#: Expressions of the tests of `jax.numpy` that give something else in NumPy, and why.
OTHERS = {
    **dict.fromkeys(["empty((2,))", "empty_like(i)", "pad(v, 1, 'empty')"], "not initialized"),
    **dict.fromkeys(
        ["polyfit(v, w, 1, full=True)", "linalg.lstsq(transpose(x), z)",
         "linalg.lstsq(transpose(x), m)"], "NumPy's rank is an int32"
    ),
    "roots([1, -3, 2])": "NumPy's dtype is real if all roots are",
    **dict.fromkeys(
        [row for row in test_jax_numpy.EXPRESSIONS if row.startswith("frompyfunc")],
        "NumPy's results are objects"
    ),
}  # fmt: skip


def _upstream(expression: str) -> Any:
    """The value in NumPy; None if NumPy does not have the arguments."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NaN and ∞, of old functions
            return expressions.evaluate(expression, np, INPUTS)
    except (TypeError, ValueError, IndexError, OverflowError, NameError):
        return None


OWN = """add(x, 2); add(s, 100); multiply(u, u); power(i, 2); power(2.0, j); divide(i, j); add([1, 2], [0.5, 1]); maximum(c, c[::-1])
    add(x, i, dtype='float64'); subtract.outer(v, z); add.reduce(s); add.reduce(x, axis=1, keepdims=True); multiply.reduce(i, axis=None); logical_or.reduce(b, axis=1)
    maximum.reduce(x, axis=(0, 1)); minimum.reduce(x, 1, initial=-0.5); add.reduce(x, where=b); hypot.reduce(x); add.accumulate(s); multiply.accumulate(x, 1); maximum.accumulate(ties)
    add.reduceat(v, [0, 2]); divmod(k, 3); frexp(x); modf(x); clip(s, -1000, 50); clip(u, 10, 2.5); less(u, 300); equal(s, -1000); float_power(i, 2); arctan2(i, j); left_shift(j, 2)
    concatenate([[1, 2], v]); where(b, i, 2.5); where(b, s[:, None][:2] * 1, 1); mean(s); mean(h); std(i); var(u); median(k); average(k, weights=[1, 2, 3, 4, 5]); sum(s); sum(u); prod(s); cumsum(s)
    linspace(0, 1, 5); arange(5); arange(2.0); arange(3, dtype='float32'); full((2,), 3); full((2,), 1.5); zeros(3); ones((2, 2), int); eye(3); array([1, 2]); array([[1.0], [2.0]]); array([True])
    dot([1, 2], [3, 4]); interp(2.5, [1, 2, 3], [3, 2, 0]); percentile(k, [10, 50]); histogram(k, bins=3); unique([3, 1, 3], return_counts=True); argsort([3, 1, 2]); sort(e, descending=True); sort(k, descending=True); argsort(e, descending=True, stable=True); argsort(k, descending=True, stable=True); searchsorted([1, 3, 5], 3)
    asarray(x, dtype=int); array(i, dtype=float, ndmin=4); einsum('i,i', v, w, dtype='float64'); tensordot(i, j, axes=([0], [0])); fix(x * 3); real_if_close(c * 1.0); setdiff1d(k, [2, 5]); astype(x, int)
    lexsort((k, -k)); broadcast_arrays(s, x[0]); meshgrid(s, v); result_type(i, 2.5); result_type(s, u); can_cast('int8', 'int16'); promote_types('int32', 'float32'); min_scalar_type(300); iscomplexobj(c)
    nanargmax(x); nanargmin(x, 1); common_type(x, v); common_type(k, z); asanyarray(k); asfortranarray(x, dtype=int); ascontiguousarray(2.5); isrealobj(x); isfortran(x); add.reduce(i, dtype='int8')
    linalg.norm(i); linalg.inv(m); linalg.det(i[:2, :2] * 1.0); fft.fft(i[0]); fft.rfft(x); trapezoid(k); gradient(k); diff(b); convolve(k, [1, 2]); polyval([1, 0, 2], i); poly([1, 2]); roots([1, -3, 2])
    lib.stride_tricks.sliding_window_view(x, (2, 2)); lib.stride_tricks.sliding_window_view(v, 2, axis=0)"""
EXPRESSIONS = [
    row
    for row in [*test_jax_numpy.EXPRESSIONS, *map(str.strip, OWN.replace("\n", ";").split(";"))]
    if row not in OTHERS and _upstream(row) is not None
]


def _assert_same(actual: Any, wanted: Any, backend: str) -> None:
    for got, expected in itertools.zip_longest(
        expressions.leaves(actual), expressions.leaves(wanted)
    ):
        if not isinstance(expected, (np.ndarray, np.generic)):
            got = getattr(got, "native", got)
            assert np.all((host(got) if backends.is_array(got) else got) == expected)
            continue
        got = getattr(got, "native", got)
        got = backends.core(na.backend_of(got)).to_numpy(got)
        assert got.dtype == expected.dtype
        assert got.shape == expected.shape
        rtol, atol = TOLERANCE.get(str(got.dtype), (0, 0))
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=atol)


def _compare(expression: str, backend: str) -> None:
    arrays = {name: on(backend, value, str(value.dtype)) for name, value in INPUTS.items()}
    with na.use_backend(backend):
        found = expressions.evaluate(expression, frontend, arrays)
    _assert_same(found, _upstream(expression), backend)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_on_numpy(expression: str) -> None:
    _compare(expression, "numpy")


@pytest.mark.one_in(24)
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "jax"])
@pytest.mark.parametrize("expression", expressions.first_of_each_function(EXPRESSIONS))
def test_values(expression: str, backend: str) -> None:
    _compare(expression, backend)


@pytest.mark.full
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "jax"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_all_values(expression: str, backend: str) -> None:
    _compare(expression, backend)


DTYPES = ["bool", "int8", "uint8", "int32", "int64", "uint64", "float16", "float32", "float64",
          "complex64", "complex128"]  # fmt: skip
UFUNCS = [n for n in frontend.ufuncs.__all__ if n != "ufunc"]
_OF_SMALL_INTEGERS = ("left_shift", "right_shift", "power", "float_power", "ldexp")


def _operand(dtype: str) -> np.ndarray:
    x = np.asarray([-2.5, 1.25, 3.0, 0.0])
    x = np.abs(x) if dtype.startswith("u") else x
    return (x + 1j * x[::-1]).astype(dtype) if dtype.startswith("c") else x.astype(dtype)


def _pairs(name: str) -> list[tuple[str, ...]]:
    """All pairs of dtypes, but each dtype once with itself for functions that count bits."""
    return list(itertools.product(DTYPES, repeat=getattr(np, name).nin))


@pytest.mark.one_in(8)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("name", UFUNCS)
def test_loops_of_ufuncs(name: str, backend: str) -> None:
    upstream, function = getattr(np, name), getattr(frontend, name)
    for dtypes in _pairs(name):
        operands = [_operand(dtype) for dtype in dtypes]
        if upstream.__name__ in _OF_SMALL_INTEGERS:
            operands[1] = np.abs(operands[1])
        inputs = [on(backend, x, str(x.dtype)) for x in operands]
        try:
            expected = upstream(*operands)
        except TypeError:
            with pytest.raises(TypeError):
                function(*inputs)
            continue
        if (name, dtypes) == ("spacing", ("float16",)):
            continue  # NumPy's is positive for negative numbers of this dtype only
        _assert_same(function(*inputs), expected, backend)


def test_ufuncs_print_and_pickle() -> None:
    assert repr(frontend.add) == "<ufunc 'add'>"
    assert pickle.loads(pickle.dumps(frontend.add)) is frontend.add
    assert frontend.add.identity == 0
    assert frontend.add.nin == 2


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_results_are_written_into_out(backend: str) -> None:
    x, out = on(backend, [1.0, 2.0, 3.0], "float64"), on(backend, np.zeros(3), "float64")
    assert frontend.add(x, 1, out=out) is out
    assert frontend.multiply(x, 2, out, where=on(backend, [True, False, True])) is out
    np.testing.assert_array_equal(host(out), [2, 3, 6])
    total = on(backend, np.zeros(()), "float64")
    assert frontend.sum(x, out=total) is total
    assert float(total) == 6.0
    frontend.add.at(x, [0, 0, 2], 10)
    np.testing.assert_array_equal(host(x), [21, 2, 13])
    frontend.maximum.at(x, [1], 5)
    frontend.copyto(x, 7, where=on(backend, [True, False, False]))
    np.testing.assert_array_equal(host(x), [7, 5, 13])
    frontend.put(x, [0, -1], [1, 2])
    frontend.putmask(x, x > 4, [0, 50, 0])
    np.testing.assert_array_equal(host(x), [1, 50, 2])
    m = on(backend, np.zeros((2, 2)))
    frontend.fill_diagonal(m, 3)
    frontend.place(m, m == 0, [1, 2])
    np.testing.assert_array_equal(host(m), [[3, 1], [2, 3]])


def test_a_variable_of_tensorflow_is_written() -> None:
    import tensorflow as tf

    out = tf.Variable([0.0, 0.0])
    frontend.add(tf.constant([1.0, 2.0]), 1, out=out)
    np.testing.assert_array_equal(out.numpy(), [2, 3])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda f, x: f.add(x, 1, out=f.zeros(2)), na.errors.ShapeError, r"out: got shape \(2,\)"),
        (lambda f, x: f.add(x, 1.5, out=f.zeros(3, int)), na.errors.DtypeError, "add: Cannot cast .* output"),
        (lambda f, x: f.add(x), TypeError, "add: got 1 arguments, expected 2"),
        (lambda f, x: f.sum(x, axes=0), TypeError, "sum: got an unexpected keyword argument 'axes'"),
        (lambda f, x: f.add(np.zeros(2, "int8"), 300), OverflowError, "300 out of bounds for int8"),
        (lambda f, x: f.asarray_chkfinite([1.0, np.nan]), ValueError, "infs or NaNs"),
    ],
)  # fmt: skip
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(frontend, np.zeros(3))


def test_arrays_of_jax_cannot_be_written() -> None:
    import jax.numpy as jnp

    with pytest.raises(na.errors.UnsupportedError, match="an array of JAX, which is constant"):
        frontend.add(jnp.zeros(2), 1, out=jnp.zeros(2))


def test_constants_of_numpy_move_to_the_framework_of_the_arrays() -> None:
    import torch

    found = frontend.dot(np.eye(2), torch.tensor([1.0, 2.0]))
    assert isinstance(found, torch.Tensor)
    assert found.dtype is torch.float64


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_derivatives(backend: str) -> None:
    def loss(x: Any) -> Any:
        y = frontend.add.reduce(frontend.multiply(frontend.sin(x), [1.0, 2.0, 3.0]))
        return frontend.sum(frontend.clip(x, 0, 1)) + y + frontend.mean(frontend.cumsum(x) ** 2)

    x = on(backend, [0.5, -0.25, 2.0], "float64")
    eps, numeric = 1e-6, []
    for i in range(3):
        step = np.eye(3)[i] * eps
        up, down = (float(loss(np.asarray([0.5, -0.25, 2.0]) + s)) for s in (step, -step))
        numeric.append((up - down) / (2 * eps))
    np.testing.assert_allclose(host(na.grad(loss)(x)), numeric, rtol=1e-6, atol=1e-8)


def test_every_function_has_an_expression() -> None:
    used = {name for row in EXPRESSIONS for name in expressions.names_in(row)}
    public = {
        n
        for n in dir(frontend)
        if isinstance(f := getattr(frontend, n), types.FunctionType)
        and f.__module__.startswith("nestarray")
    }
    elsewhere = {"copyto", "fill_diagonal", "place", "put", "putmask", "put_along_axis",
                 "asarray_chkfinite", "from_dlpack", "frompyfunc", "empty", "empty_like"}  # fmt: skip
    aliases = {n for n in public if getattr(frontend, n).__name__ != n}
    assert public - used - elsewhere - aliases == set()


def test_signatures_are_those_of_upstream() -> None:
    assert str(inspect.signature(frontend.sum)) == str(inspect.signature(np.sum))

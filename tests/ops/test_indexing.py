"""`getitem` and `setitem` on all backends are NumPy's, whatever the index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, ShapeError
from nestarray.testing import assert_close
from tests.arrays import host, on

SHAPE = (2, 3, 4)
X = np.arange(24, dtype="float32").reshape(SHAPE)
SETTINGS = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@st.composite
def indices(draw: Any) -> tuple[Any, ...]:
    """For each of some axes an integer, a slice or an integer array, with None among them."""
    common = draw(st.sampled_from([(), (1,), (3,), (2, 1), (2, 3)]))
    index: list[Any] = []
    for length in SHAPE[: draw(st.integers(0, 3))]:
        shape = draw(st.sampled_from([common, common[-1:], (1,) * len(common)]))
        places = arrays.arrays("int64", shape, elements=st.integers(-length, length - 1))
        index.append(draw(st.one_of(st.integers(-length, length - 1), st.slices(length), places)))
        if draw(st.integers(0, 5)) == 0:
            index.append(None)
    if draw(st.booleans()):
        # Only where every axis has an entry may those behind the Ellipsis be the last ones.
        full = sum(item is not None for item in index) == len(SHAPE)
        index.insert(draw(st.integers(0, len(index))) if full else len(index), ...)
    return tuple(index)


@SETTINGS
@given(index=indices())
def test_getitem_is_numpys(backend: str, index: tuple[Any, ...]) -> None:
    x = backends.core(backend).from_numpy(X)
    assert_close(na.getitem(x, index), X[index], backend=backend)


@SETTINGS
@given(index=indices(), mode=st.sampled_from(["add", "min", "max", "mul"]))
def test_setitem_is_numpys(backend: str, index: tuple[Any, ...], mode: str) -> None:
    x = backends.core(backend).from_numpy(X)
    value = np.linspace(0.5, 1.5, X[index].size, dtype="float32").reshape(X[index].shape)
    expected = X.copy()
    combine = {"add": np.add, "min": np.minimum, "max": np.maximum, "mul": np.multiply}[mode]
    combine.at(expected, index, value)
    actual = na.setitem(x, index, backends.core(backend).from_numpy(value), mode=mode)
    assert_close(actual, expected, backend=backend)
    assert_close(x, X, backend=backend)


@pytest.mark.parametrize("shape", [(2, 0), (0, 3), (0, 0), (0,)])
def test_a_mask_without_elements_chooses_nothing(backend: str, shape: tuple[int, ...]) -> None:
    core = backends.core(backend)
    x, mask = core.from_numpy(np.ones((2, 3), "float32")), core.from_numpy(np.zeros(shape, bool))
    assert tuple(na.array_namespace(backend).asarray(x)[mask].shape) == (0, 3)[: 3 - len(shape)]


def test_index_arrays_of_the_framework(backend: str) -> None:
    core = backends.core(backend)
    x, rows = core.from_numpy(X), core.from_numpy(np.asarray([1, 0, -1]))
    mask = core.from_numpy(X[0] % 2 == 0)
    assert_close(na.getitem(x, (rows, slice(None), 0)), X[[1, 0, -1], :, 0], backend=backend)
    assert_close(na.getitem(x, (0, mask)), X[0, X[0] % 2 == 0], backend=backend)
    expected = X.copy()
    expected[1, X[0] % 2 == 0] = 0.5
    assert_close(na.setitem(x, (1, mask), 0.5), expected, backend=backend)


def test_derivative_of_a_product_with_zeros() -> None:
    """JAX differentiates by factors of one position, also where some of them are 0."""
    import jax

    x = np.asarray([2.0, 0.0, 3.0, 0.0], "float32")
    factors = np.asarray([5.0, 0.0, 7.0, 0.0, 2.0], "float32")
    index = [0, 0, 1, 3, 3]

    def product(x: Any, factors: Any) -> Any:
        return na.setitem(x, index, factors, mode="mul").sum()

    by_x, by_factors = jax.grad(product, (0, 1))(x.copy(), factors)
    assert_close(np.asarray(by_x), np.asarray([0, 7, 1, 0], "float32"))
    assert_close(np.asarray(by_factors), np.asarray([0, 10, 0, 0, 0], "float32"))


@pytest.mark.parametrize("backend", ["numpy", "tensorflow"])  # PyTorch has no complex kernel
def test_derivative_of_a_complex_product(backend: str) -> None:
    import jax

    x = np.asarray([1 + 2j, 3 - 1j, 0.5], "complex64")
    factors = np.asarray([2 - 1j, 0.3 + 0.4j], "complex64")

    def product(c: Any) -> Any:
        values = na.setitem(c["x"], [0, 0], c["factors"], mode="mul")
        return na.sum(na.real(values * (2 - 3j)))

    c = na.Container(x=x, factors=factors)
    _, found = na.execute_with_gradients(product, na.to_backend(c, backend))
    expected = jax.grad(product)({"x": x, "factors": factors})
    for name, theirs in expected.items():  # JAX returns the conjugate
        assert_close(found[name], np.conj(theirs), backend=backend)


def test_setitem_under_torch_vmap() -> None:
    import torch

    x, values = torch.zeros(3), torch.tensor([1.0, 2.0])
    rows = torch.func.vmap(lambda value: na.setitem(x, 1, value))(values)
    assert_close(rows, torch.tensor([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]))


def test_open_shapes_in_tf_function() -> None:
    import tensorflow as tf

    @tf.function(input_signature=[tf.TensorSpec((None, 4), tf.float32)], autograph=False)
    def function(x: Any) -> Any:
        flat = na.reshape(x, (na.shape(x)[0] * 4,))
        picked = na.getitem(x, (slice(None, None, -1), np.asarray([0, -1])))
        masked = na.getitem(x, na.greater(x, 6.0))
        return (
            flat,
            picked,
            masked,
            na.setitem(x, (..., 0), 0.0),
            na.take(x, tf.constant([-1]), axis=0),
        )

    x = X.reshape(6, 4)
    expected = (x.ravel(), x[::-1, [0, -1]], x[x > 6], x * (np.arange(4) > 0), x[[-1]])
    assert_close(list(function(tf.constant(x))), [e.astype("float32") for e in expected])


def test_unknown_mode(backend: str) -> None:
    x = backends.core(backend).from_numpy(X)
    with pytest.raises(ArgumentError, match=r"setitem: mode: got 'sum', expected one of replace"):
        na.setitem(x, 0, 1.0, mode="sum")


@pytest.mark.parametrize("backend", ["torch", "tensorflow"])
def test_too_many_entries(backend: str) -> None:
    x = backends.core(backend).from_numpy(X)
    with pytest.raises(ShapeError, match=r"getitem: index: got 4 entries for an array of 3 dim"):
        na.getitem(x, (0, 0, 0, [0]))


@pytest.mark.usefixtures("x64")
def test_numbers_keep_their_digits(backend: str) -> None:
    x = backends.core(backend).from_numpy(np.zeros(2))
    assert host(na.setitem(x, 0, 16777217.0))[0] == 16777217.0
    assert host(na.setitem(x, slice(None), 0.1))[1] == 0.1
    assert host(na.pad(x, ((1, 0),), constant_values=0.1))[0] == 0.1
    for op in (na.hypot, na.atan2, na.copysign, na.logaddexp):
        assert na.dtype_of(op(1, x)) is na.dtype_of(op(x, 1)) is na.float64


def test_positions_of_a_batch_of_open_length() -> None:
    import tensorflow as tf

    x, places = np.arange(12.0).reshape(3, 4), np.asarray([[[0], [-1]], [[1], [1]], [[3], [2]]])

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, 4), tf.float64),
            tf.TensorSpec((None, 2, 1), tf.int64),
        ]
    )
    def gathered(x: Any, places: Any) -> Any:
        return na.gather_nd(x, places, batch_dims=1)

    expected = np.take_along_axis(x, places[..., 0], axis=1)
    assert_close(gathered(tf.constant(x), tf.constant(places)), expected, backend="tensorflow")


def test_a_compiled_write_of_a_shifted_slice(backend: str) -> None:
    """XLA writes in place while it reads: https://github.com/openxla/xla/issues/49176."""

    def differences(x: Any) -> Any:
        total = na.cumulative_sum(x)
        return na.setitem(total, slice(3, None), total[3:] - total[:-3])

    x = on(backend, np.arange(8.0, dtype="float32"))
    expected = np.convolve(np.arange(8.0), np.ones(3))[:8].astype("float32")
    options = {"backend": "aot_eager"} if backend == "torch" else {}
    assert_close(host(na.jit(differences, **options)(x)), expected)

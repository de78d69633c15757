"""Unusual calls that frameworks treat differently, and our result for them on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from tests.arrays import host, on
from tests.cases import on_backend

X = np.arange(6, dtype="float32").reshape(2, 3)

#: A call of x and of a function that makes arrays, and its result.
COMPUTED: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
    "a bool is a condition": (lambda x, array: na.where(True, x, 0.0), X),
    "bools as numbers": (
        lambda x, array: na.astype(na.relu(True), "float32"),
        np.ones((), np.float32),
    ),
    "integers as floats": (
        lambda x, array: na.hard_sigmoid(3),
        np.asarray(1.0, np.float32),
    ),
    "a scalar of NumPy is a flag": (
        lambda x, array: na.sum(x, axis=0, keepdims=np.True_),  # type: ignore[arg-type]
        X.sum(axis=0, keepdims=True),
    ),
    "and a number": (
        lambda x, array: na.soft_shrink(x, threshold=np.float32(0.5)),  # type: ignore[arg-type]
        np.maximum(X - np.float32(0.5), 0),
    ),
    "which is as weak as Python's": (
        lambda x, array: na.leaky_relu(-x, negative_slope=np.float64(0.5)),
        X * np.float32(-0.5),
    ),
    "an axis of einsum repeated": (
        lambda x, array: na.einsum("ij,jk->ik", x, x[:1, :2] + 1),
        X.sum(axis=1, keepdims=True) * np.asarray([[1, 2]], np.float32),
    ),
    "and without a result": (
        lambda x, array: na.einsum("ij,jk", x, x[:1, :2] + 1),
        X.sum(axis=1, keepdims=True) * np.asarray([[1, 2]], np.float32),
    ),
    "one place": (lambda x, array: na.take(x, 1, axis=1), X[:, 1]),
    "one row": (lambda x, array: na.embedding(1, x), X[1]),
    "one mask": (lambda x, array: na.masked_fill(x, True, 2.0), np.full_like(X, 2)),
    "nothing in nothing": (
        lambda x, array: na.astype(
            na.unravel_index(array(np.zeros(0, np.int64)), (2, 0))[0], "float32"
        ),
        np.zeros(0, np.float32),
    ),
    "one axis and a list of one": (lambda x, array: na.moveaxis(x, [0], -1), X.T),
    "one element before all": (
        lambda x, array: na.diff(x, prepend=x[0, 0], axis=0),
        np.diff(X, prepend=X[0, 0], axis=0),
    ),
    "a number for a target": (
        lambda x, array: na.binary_cross_entropy_with_logits(x, 1.0, reduction="sum"),
        np.log1p(np.exp(-X)).sum(),
    ),
    "a range is a sequence": (lambda x, array: na.permute_dims(x, range(1, -1, -1)), X.T),
    "of steps too": (
        lambda x, array: na.roll(x, range(1, 3), axis=(0, 1)),
        np.roll(X, (1, 2), (0, 1)),
    ),
    "one step for several axes": (
        lambda x, array: na.roll(x, (1,), axis=(0, 1)),
        np.roll(X, 1, (0, 1)),
    ),
    "a number beside a matrix": (lambda x, array: na.kron(1.5, x), X * np.float32(1.5)),
    "a number of twos": (
        lambda x, array: na.ldexp(1.5, array(np.asarray([1, 2]))),
        np.asarray([3, 6], np.float32),
    ),
    "a number between arrays": (
        lambda x, array: na.random_between(0.5, x[0], x[1]),
        np.asarray([1.5, 2.5, 3.5], np.float32),
    ),
    "one rate": (
        lambda x, array: na.random_poisson(array(np.asarray([1, 2], np.uint32)), 1.5),
        np.asarray(2, np.int32),
    ),
    "patches without channels": (
        lambda x, array: na.unfold(x[None, None][:, :0], kernel_size=2),
        np.zeros((1, 0, 2), np.float32),
    ),
    "put back": (
        lambda x, array: na.fold(x[:, None][:, :0, :2], output_size=(2, 3), kernel_size=2),
        np.zeros((2, 0, 2, 3), np.float32),
    ),
    "images without channels": (
        lambda x, array: na.max_pool1d(x[:, None][:, :0], kernel_size=3),
        np.zeros((2, 0, 1), np.float32),
    ),
    "and their places": (
        lambda x, array: na.max_pool_with_indices(x[:, None][:, :0], kernel_size=3)[0],
        np.zeros((2, 0, 1), np.float32),
    ),
    "their means": (
        lambda x, array: na.adaptive_avg_pool1d(x[:, None][:, :0, :2], output_size=1),
        np.zeros((2, 0, 1), np.float32),
    ),
    "in several parts": (
        lambda x, array: na.adaptive_max_pool1d(na.tile(x, (1, 2))[:, None][:, :0], output_size=3),
        np.zeros((2, 0, 3), np.float32),
    ),
    "means of images that are padded to a window": (
        lambda x, array: na.avg_pool3d(
            x[None, None, None], kernel_size=2, stride=1, padding=1, count_include_pad=False
        )[0, 0, 0],
        np.asarray([[0, 0.5, 1.5, 2], [1.5, 2, 3, 3.5], [3, 3.5, 4.5, 5]], np.float32),
    ),
    "made larger": (
        lambda x, array: na.interpolate(x[:, None][:, :0], size=6),
        np.zeros((2, 0, 6), np.float32),
    ),
    "as many parts as elements": (
        lambda x, array: na.adaptive_avg_pool1d(x[None], output_size=(None,)),
        X[None],
    ),
    "one step for all axes": (
        lambda x, array: na.unfold(x[None, None], kernel_size=[2], stride=[1]),
        np.asarray([[[0, 1], [1, 2], [3, 4], [4, 5]]], np.float32),
    ),
    "no distance is too far": (
        lambda x, array: na.soft_shrink(x, threshold=np.inf),
        np.zeros_like(X),
    ),
    "what is above 0 knows no slope": (
        lambda x, array: na.celu(x + 1, alpha=np.nan),
        X + 1,
    ),
    "shares outside of all": (
        lambda x, array: na.normal_quantile(array(np.asarray([1.5, 1, 0, -1, -2], np.float32))),
        np.asarray([np.nan, np.inf, 0, -np.inf, np.nan], np.float32),
    ),
    "windows of bfloat16": (
        lambda x, array: na.astype(
            na.fractional_max_pool1d(
                na.astype(array(np.arange(40, dtype=np.float32)[None, None]), "bfloat16"),
                array(np.asarray([1, 2], np.uint32)),
                kernel_size=2,
                output_size=3,
            ),
            "float32",
        ),
        na.fractional_max_pool1d(
            np.arange(40, dtype=np.float32)[None, None],
            np.asarray([1, 2], np.uint32),
            kernel_size=2,
            output_size=3,
        ),
    ),
    "the angle of NaN": (
        lambda x, array: na.angle(na.where(na.less(x, 3), np.nan, -x)),
        np.where(X < 3, np.float32(np.nan), np.float32(np.pi)),
    ),
    "no image at all": (
        lambda x, array: na.instance_norm(array(np.zeros((0, 2, 3), np.float32))),
        np.zeros((0, 2, 3), np.float32),
    ),
    "sums of small integers": (
        lambda x, array: na.einsum("ij->i", array(X.astype(np.uint8))),
        X.sum(axis=1).astype(np.uint8),
    ),
}


@pytest.mark.parametrize("label", COMPUTED)
def test_computed_alike(label: str, backend: str) -> None:
    call, expected = COMPUTED[label]
    array = backends.core(backend).from_numpy
    with na.use_backend(backend):
        found = backends.core(backend).to_numpy(call(array(X), array))
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_what_is_replaced_keeps_its_dtype(backend: str) -> None:
    array = backends.core(backend).from_numpy
    x, wide, places = (
        na.astype(array(X), na.bfloat16),
        array(X[:, :1]),
        array(np.zeros((2, 1), int)),
    )
    for found in (
        na.scatter(x, places, wide, axis=1),
        na.index_add(x, places[0], wide, axis=1),
        na.masked_fill(x, na.greater(x, 1), wide),
        na.broadcast_arrays(wide, x)[1],
        na.setdiff1d(x, wide),
    ):
        assert na.dtype_of(found) is na.bfloat16


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "int16", "int32", "int64"])
def test_more_twos_than_there_are(dtype: str, backend: str) -> None:
    most = np.iinfo(dtype if dtype != "int64" or backend != "jax" else "int32").max
    x2 = on(backend, np.asarray([most, 3], dtype))
    with np.errstate(over="ignore"):
        found = na.ldexp(on(backend, np.ones(2, np.float32)), x2)
    np.testing.assert_array_equal(backends.core(backend).to_numpy(found), [np.inf, 8.0])


def test_a_number_beside_floats_keeps_their_dtype() -> None:
    found = na.gammainc(1.0, X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 1 - np.exp(-X), rtol=1e-6)


def f(*shape: int) -> np.ndarray:
    return np.ones(shape, "float32")


@pytest.mark.parametrize("index", [0, [0, 1], slice(2), np.asarray([True, True, False])])
@pytest.mark.parametrize("mode", ["replace", "add", "mul", "max"])
def test_axes_of_length_one_in_front_of_a_value(mode: str, index: Any, backend: str) -> None:
    x = f(3) if isinstance(index, int) else f(3, 2)
    whole = np.full(x[index].shape, 2.0, "float32")
    x, value, longer = on_backend((x, whole, whole[None, None]), backend)
    wanted = host(na.setitem(x, index, value, mode=mode))
    assert host(na.setitem(x, index, longer, mode=mode)).tolist() == wanted.tolist()


def test_fill_values_are_rounded_like_a_cast(backend: str) -> None:
    x = on_backend(f(2), backend)
    with np.errstate(over="ignore"):
        assert host(na.full_like(x, 1e300)).tolist() == [np.inf, np.inf]
        assert host(na.full((1,), -1e5, dtype="float16", like=x)).tolist() == [-np.inf]
    assert host(na.full_like(x, 2.9, dtype="int8")).tolist() == [2, 2]


def test_integers_of_one_byte_are_indices(backend: str) -> None:
    x, at = on_backend((np.asarray([3.0, 4.0], "float32"), np.asarray([1, 0, 1], "uint8")), backend)
    for found in (na.take(x, at, axis=0), na.getitem(x, (at,))):
        assert host(found).tolist() == [4.0, 3.0, 4.0]


def test_results_without_elements(backend: str) -> None:
    x, w = on_backend((f(0, 3, 8), f(3, 4, 3)), backend)
    assert tuple(na.conv_transpose1d(x, w).shape) == (0, 4, 10)
    assert tuple(na.channel_shuffle(on_backend(f(2, 4, 2, 0), backend), groups=2).shape) == (
        2,
        4,
        2,
        0,
    )
    assert tuple(na.pinv(on_backend(f(2, 4, 0), backend)).shape) == (2, 0, 4)
    assert host(na.matrix_rank(on_backend(f(2, 4, 0), backend))).tolist() == [0, 0]
    assert host(na.logsumexp(on_backend(f(0, 3), backend))) == -np.inf


EMPTY: list[tuple[Callable[..., Any], tuple[int, ...]]] = [
    (lambda x: na.fft(x(0, 5)), (0, 5)),
    (lambda x: na.rfft(x(0, 5), n=8), (0, 5)),
    (lambda x: na.irfft(x(0, 5)), (0, 8)),
    (lambda x: na.fftn(x(3, 0, 5), axes=(0, 2)), (3, 0, 5)),
    (lambda x: na.dct(x(0, 5)), (0, 5)),
    (lambda x: na.conv1d(x(0, 3, 5), x(2, 3, 3)), (0, 2, 3)),
    (lambda x: na.conv2d(x(0, 3, 5, 6), x(2, 3, 3, 3)), (0, 2, 3, 4)),
    (lambda x: na.conv3d(x(0, 3, 5, 6, 3), x(2, 3, 3, 3, 3)), (0, 2, 3, 4, 1)),
    (lambda x: na.depthwise_conv(x(0, 3, 5, 6), x(6, 1, 3, 3)), (0, 6, 3, 4)),
    (lambda x: na.quantile(x(0, 5), 0.5, axis=-1), (0,)),
    (lambda x: na.unique_values(x(0, 5), size=3), (3,)),
]


@pytest.mark.parametrize(("call", "shape"), EMPTY)
def test_arrays_without_elements(
    backend: str, call: Callable[..., Any], shape: tuple[int, ...]
) -> None:
    def ones(*shape: int) -> Any:
        return on(backend, np.ones(shape, "float32"))

    assert tuple(call(ones).shape) == shape


def test_bits_are_counted_without_64_bit_integers(backend: str) -> None:
    x = np.asarray([0, 7, -8, 2**31 - 1, -(2**31)], "int32")
    found = na.bitwise_count(backends.core(backend).from_numpy(x))
    assert backends.core(backend).to_numpy(found).tolist() == np.bitwise_count(x).tolist()


def test_the_pole_of_digamma_is_infinite(backend: str) -> None:
    x = on(backend, np.asarray([0.0, -0.0, 1.0], np.float32))
    found = backends.core(backend).to_numpy(na.digamma(x))
    assert np.isinf(found[:2]).all()
    assert found[0] < 0
    assert np.isfinite(found[2])

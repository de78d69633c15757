"""What a framework would compute with in silence is refused by all: one type, one text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray
from nestarray.config import BACKENDS
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from tests.cases import on_backend

Call = Callable[..., Any]

na: Any = nestarray  # whose signatures forbid these calls


def f(*shape: int) -> np.ndarray:
    return np.ones(shape, "float32")


def i(*values: int) -> np.ndarray:
    return np.asarray(values, "int32")


def host(x: Any) -> np.ndarray:
    return np.asarray(na.to_backend(x, "numpy"))


#: A call, its arrays, the class of the error, its text.
CALLS: list[tuple[Call, tuple[np.ndarray, ...], type[Exception], str]] = [
    # settings of other kinds
    (
        lambda x: na.leaky_relu(x, negative_slope=(1.0,)), (f(3),), ArgumentError,
        "leaky_relu: negative_slope: got (1.0,), expected a real number",
    ),
    (
        lambda x: na.hard_shrink(x, threshold=1j), (f(3),), ArgumentError,
        "hard_shrink: threshold: got 1j, expected a real number",
    ),
    (
        lambda x: na.scaled_dot_product_attention(x, x, x, is_causal="a"), (f(2, 3),), ArgumentError,
        "scaled_dot_product_attention: is_causal: got 'a', expected True or False",
    ),
    (
        lambda x: na.scaled_dot_product_attention(x, x, x, 1.5), (f(2, 3),), ArgumentError,
        "scaled_dot_product_attention: mask: got float, expected an array",
    ),
    (
        lambda x: na.max_pool1d(x, kernel_size=2, ceil_mode="a"), (f(2, 3, 9),), ArgumentError,
        "max_pool1d: ceil_mode: got 'a', expected True or False",
    ),
    # numbers out of their range
    (
        lambda x: na.huber_loss(x, x, delta=0.0), (f(3),), ArgumentError,
        "huber_loss: delta: got 0.0, expected a number above 0",
    ),
    (
        lambda x: na.smooth_l1_loss(x, x, beta=-1.0), (f(3),), ArgumentError,
        "smooth_l1_loss: beta: got -1.0, expected a number of at least 0",
    ),
    (
        lambda x: na.cross_entropy(x, x, label_smoothing=2.5), (f(3, 2),), ArgumentError,
        "cross_entropy: label_smoothing: got 2.5, expected a number from 0 to 1",
    ),
    (
        lambda x: na.hard_tanh(x, min_value=2.5), (f(3),), ArgumentError,
        "hard_tanh: min_value: got 2.5, expected a number from -inf to 1.0",
    ),
    (
        lambda x: na.local_response_norm(x, size=0), (f(4, 3, 2),), ArgumentError,
        "local_response_norm: size: got 0, expected a number of at least 1",
    ),
    (
        lambda x, w: na.conv_transpose1d(x, w, groups=0), (f(2, 3, 8), f(3, 4, 3)), ArgumentError,
        "conv_transpose1d: groups: got 0, expected at least 1",
    ),
    # numbers that elements are set to
    *(
        (
            call, (np.ones(3, "uint8"),), ArgumentError,
            f"{name}: got {value!r} for elements of uint8, expected a number from 0 to 255; cast to "
            "a wider dtype first",
        )
        for value in (300, -1, float("nan"))
        for name, call in (
            ("full: fill_value", lambda x, v=value: na.full((2,), v, dtype="uint8", like=x)),
            ("full_like: fill_value", lambda x, v=value: na.full_like(x, v)),
            ("setitem: value", lambda x, v=value: na.setitem(x, 0, v)),
            ("masked_fill: value", lambda x, v=value: na.masked_fill(x, na.greater(x, 0), v)),
            ("pad: constant_values", lambda x, v=value: na.pad(x, 1, constant_values=v)),
        )
    ),
    (
        lambda x: na.full_like(x, 1j), (f(3),), ArgumentError,
        "full_like: fill_value: got 1j for elements of float32, expected a real number; cast to a "
        "complex dtype first",
    ),
    (
        lambda x: na.searchsorted(x, x, side=None), (f(3),), ArgumentError,
        "searchsorted: side: got None, expected a string",
    ),
    (
        lambda x: na.searchsorted(x, x, side="mid"), (f(3),), ArgumentError,
        "searchsorted: side: got 'mid', expected 'left' or 'right'",
    ),
    (
        lambda a: na.random_gamma(na.random.split(a, 1)[0], na.ones((2,), like=a), log_space=2),
        (np.asarray([0, 1], "uint32"),), ArgumentError,
        "random_gamma: log_space: got 2, expected True or False",
    ),
    # shapes
    (
        lambda q, v: na.scaled_dot_product_attention(q, q, v), (f(2, 6, 5), f(2, 5, 5)), ShapeError,
        "scaled_dot_product_attention: matmul: got shapes (2, 6, 6) and (2, 5, 5): the last axis of x1 "
        "has 6 elements, expected 5, as the second last axis of x2",
    ),
    (
        lambda x: na.scaled_dot_product_attention(x, x, x), (f(2, 3, 0),), ShapeError,
        "scaled_dot_product_attention: query: got shape (2, 3, 0), expected a last axis of at least one "
        "element",
    ),
    (
        na.conv1d, (f(2, 3, 8), f(4, 3, 3), f(1, 4)), ShapeError,
        "conv1d: bias: got shape (1, 4), expected (4,), one for each channel of the result",
    ),
    (
        na.conv_transpose1d, (f(2, 3, 0), f(3, 4, 3)), ShapeError,
        "conv_transpose1d: x: got shape (2, 3, 0), expected spatial axes of 1 and more",
    ),
    (
        lambda x, w: na.conv_transpose1d(x, w, padding=9), (f(2, 3, 8), f(3, 4, 3)), ShapeError,
        "conv_transpose1d: padding: got 9 for x of shape (2, 3, 8), of whose result nothing is left",
    ),
    (
        na.depthwise_conv, (f(2, 3, 8), f(4, 1, 3)), ShapeError,
        "depthwise_conv: weight has shape (4, 1, 3), expected (channels, 1, *kernel) with a multiple of "
        "the 3 channels of x (2, 3, 8)",
    ),
    (
        na.batch_norm, (f(4, 3, 2), f(1, 3), f(3)), ShapeError,
        "batch_norm: mean: got shape (1, 3), expected (3,), as axis 1 of x (4, 3, 2)",
    ),
    (
        lambda x: na.layer_norm(x, axis=-4), (f(4, 3, 2),), IndexingError,
        "layer_norm: axis: got -4 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    (
        na.softmax, (f(),), IndexingError,
        "softmax: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    (
        na.grid_sample, (f(1, 3, 4, 5), f(2, 3, 4, 2)), ShapeError,
        "grid_sample: got 1 images and 2 grids, expected as many",
    ),
    (
        na.cholesky, (f(2, 3, 3, 1),), ShapeError,
        "cholesky: x: got shape (2, 3, 3, 1), expected square matrices (*batch, n, n)",
    ),
    (
        na.matrix_cond, (f(2, 4, 0),), ShapeError,
        "matrix_cond: x: got shape (2, 4, 0), expected no empty matrices",
    ),
    (
        lambda x: na.reshape(x, (4, -3)), (f(2, 3, 4),), ShapeError,
        "reshape: shape: got (4, -3) for an array of shape (2, 3, 4) with 24 elements",
    ),
    (
        lambda x: na.reshape(x, None), (f(2, 3, 4),), ArgumentError,
        "reshape: shape: got None, expected a sequence of ints",
    ),
    (
        lambda x: na.tile(x, (-1, 2)), (f(2, 3),), ArgumentError,
        "tile: cannot be computed for x float32 (2, 3), repetitions (-1, 2); help(na.tile) says what it "
        "takes",
    ),
    (
        lambda *arrays: na.roi_align(*arrays, output_size=2), (f(2, 0, 5, 4), f(2, 4), i(0, 1)), ShapeError,
        "roi_align: x has shape (2, 0, 5, 4), expected an image with elements",
    ),
    # indices
    (
        lambda x: na.getitem(x, 20), (f(2, 3),), IndexingError,
        "getitem: index: got 20 for axis 0 of length 2, expected -2 <= index < 2",
    ),
    (
        lambda x: na.setitem(x, (0, -4), 1.0), (f(2, 3),), IndexingError,
        "setitem: index: got -4 for axis 1 of length 3, expected -3 <= index < 3",
    ),
    *(
        (
            lambda x, at=at: na.setitem(x, (slice(None), at), 1.0), (f(2, 3),), IndexingError,
            "setitem: index: got 7 for axis 1 of length 3, expected -3 <= index < 3",
        )
        for at in ([0, 7], np.asarray([[0], [7]]), np.int64(7))
    ),
    (
        lambda x: na.setitem(x, [0, 1], na.ones((3, 3), like=x)), (f(2, 3),), ShapeError,
        "setitem: value: got shape (3, 3), expected (2, 3), the shape of the part that the index names, "
        "or what broadcasts to it",
    ),
    (
        lambda x, j: na.take(x, j, axis=0), (f(2, 3), np.asarray([True, False])), DtypeError,
        "take: indices: got bool, expected integers; cast with na.astype",
    ),
    (
        lambda x, j: na.gather(x, j, axis=1), (f(2, 3, 4), i(0, 1)), ShapeError,
        "gather: indices: got shape (2,) for x of shape (2, 3, 4), expected as many axes, none but axis "
        "1 longer",
    ),
    (
        lambda x, j, u: na.scatter(x, j, u, axis=1), (f(3, 4), np.zeros((2, 2), "int32"), f(1, 3)),
        ShapeError,
        "scatter: updates: got shape (1, 3) for indices of shape (2, 2), expected as many axes, none "
        "shorter",
    ),
    (
        na.embedding, (i(0, 1), f(3)), ShapeError,
        "embedding: weight: got shape (3,), expected (count, length)",
    ),
    (
        na.masked_select, (f(3, 2), np.ones((3, 2), "uint8")), DtypeError,
        "masked_select: mask: got uint8, expected bool; compare it with 0 to make it one",
    ),
    (
        na.where, (np.ones(3, "uint8"), f(3), f(3)), DtypeError,
        "where: condition: got uint8, expected bool; compare it with 0 to make it one",
    ),
    (
        lambda x: na.nanmax(x, axis=0), (f(0, 3),), ShapeError,
        "nanmax: x: got shape (0, 3), which has no elements to reduce over axis 0; there is no nanmax of "
        "nothing",
    ),
]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("call", "arrays", "error", "text"), CALLS, ids=[text.split(": got")[0] for *_, text in CALLS]
)
def test_refused_alike(
    call: Call, arrays: Any, error: type[Exception], text: str, backend: str
) -> None:
    with pytest.raises(error) as caught:
        call(*on_backend(arrays, backend))
    assert str(caught.value) == text
    assert type(caught.value) is error


#: Indices outside of an axis: JAX clips or drops them, as its documentation says.
OUTSIDE: list[tuple[Call, tuple[np.ndarray, ...], str]] = [
    (lambda x, j: na.take(x, j, axis=0), (f(2, 3), i(0, 5)),
     "take: indices: got 5, expected -2 <= index < 2, which is the length of axis 0"),
    (lambda x, j: na.gather(x, j, axis=1), (f(2, 3), np.asarray([[0, 7]])),
     "gather: indices: got 7, expected -3 <= index < 3, which is the length of axis 1"),
    (na.embedding, (i(0, 9), f(3, 2)),
     "embedding: indices: got 9, expected 0 <= index < 3, which is the length of axis 0"),
    (lambda x, j: na.getitem(x, (..., j)), (f(2, 3), i(0, 7)),
     "getitem: index: got 7 for axis 1 of length 3, expected -3 <= index < 3"),
    (lambda x, j: na.setitem(x, j, 1.0), (f(2, 3), np.asarray(-3)),
     "setitem: index: got -3 for axis 0 of length 2, expected -2 <= index < 2"),
    (na.gather_nd, (f(2, 3), np.asarray([[0, 1], [1, 3]])),
     "gather_nd: indices: got 3, expected -3 <= index < 3, which is the length of axis 1"),
    (na.scatter_nd, (f(2, 3), np.asarray([[0], [2]]), f(3)),
     "scatter_nd: indices: got 2, expected -2 <= index < 2, which is the length of axis 0"),
    (lambda x, j: na.segment_sum(x, j, num_segments=2), (f(2, 3), i(0, 7)),
     "segment_sum: segment_ids: got 7, expected -2 <= index < 2, which is num_segments"),
]  # fmt: skip


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
@pytest.mark.parametrize(("call", "arrays", "text"), OUTSIDE)
def test_indices_outside(call: Call, arrays: Any, text: str, backend: str) -> None:
    with pytest.raises(IndexingError) as caught:
        call(*on_backend(arrays, backend))
    assert str(caught.value) == text


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_dtype_without_a_kernel_is_known_by_the_call_in_float32(backend: str) -> None:
    x = on_backend(np.asarray([True, False]), backend)
    with pytest.raises(DtypeError) as caught:
        na.negative(x)
    assert str(caught.value) == (
        f"negative: {backend} cannot compute it for bool; cast to a dtype that it takes with na.astype"
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("index", [0, [0, 1], slice(2), np.asarray([True, True, False])])
@pytest.mark.parametrize("mode", ["replace", "add", "mul", "max"])
def test_axes_of_length_one_in_front_of_a_value(mode: str, index: Any, backend: str) -> None:
    x = f(3) if isinstance(index, int) else f(3, 2)
    whole = np.full(x[index].shape, 2.0, "float32")
    x, value, longer = on_backend((x, whole, whole[None, None]), backend)
    wanted = host(na.setitem(x, index, value, mode=mode))
    assert host(na.setitem(x, index, longer, mode=mode)).tolist() == wanted.tolist()


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_fills_is_rounded_as_a_cast_rounds(backend: str) -> None:
    x = on_backend(f(2), backend)
    with np.errstate(over="ignore"):
        assert host(na.full_like(x, 1e300)).tolist() == [np.inf, np.inf]
        assert host(na.full((1,), -1e5, dtype="float16", like=x)).tolist() == [-np.inf]
    assert host(na.full_like(x, 2.9, dtype="int8")).tolist() == [2, 2]


@pytest.mark.parametrize("backend", BACKENDS)
def test_integers_of_one_byte_are_indices(backend: str) -> None:
    x, at = on_backend((np.asarray([3.0, 4.0], "float32"), np.asarray([1, 0, 1], "uint8")), backend)
    for found in (na.take(x, at, axis=0), na.getitem(x, (at,))):
        assert host(found).tolist() == [4.0, 3.0, 4.0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_nothing_and_yet_computed(backend: str) -> None:
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

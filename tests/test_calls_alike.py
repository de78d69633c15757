"""Odd calls of which frameworks make different things: refused in one text, or computed alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError, IndexingError, NestarrayError, ShapeError

X = np.arange(6, dtype="float32").reshape(2, 3)

#: A call of x and of what makes an array of NumPy one of the backend's, and what it raises.
REFUSED: dict[str, tuple[Callable[[Any, Any], Any], type[Exception], str]] = {
    "a number is no condition": (
        lambda x, array: na.where(1.5, x, x),
        DtypeError,
        "where: condition: got float32, expected bool; compare it with 0 to make it one",
    ),
    "a number has no axis": (
        lambda x, array: na.softmax(1.5),
        IndexingError,
        "softmax: axis: got -1 for an array of 0 dimensions, expected 0 <= axis < 0",
    ),
    "one array is no sequence": (
        lambda x, array: na.concat(x),
        ArgumentError,
        "concat: got an array, expected a list or a tuple of arrays",
    ),
    "a set has no order": (
        lambda x, array: na.softmax(x, axis={0}),  # type: ignore[arg-type]
        ArgumentError,
        "softmax: axis: got {0}, expected an int",
    ),
    "a range is no tuple": (
        lambda x, array: na.sum(x, axis=range(1)),
        ArgumentError,
        "sum: axis: got range(0, 1), expected an int",
    ),
    "nor for a place": (
        lambda x, array: na.expand_dims(x, range(1)),  # type: ignore[arg-type]
        ArgumentError,
        "expand_dims: axis: got range(0, 1), expected an int",
    ),
    "nor for a source": (
        lambda x, array: na.moveaxis(x, {0}, -1),  # type: ignore[arg-type]
        ArgumentError,
        "moveaxis: source: got {0}, expected an int",
    ),
    "steps have an order": (
        lambda x, array: na.roll(x, {1}, axis=0),  # type: ignore[arg-type]
        ArgumentError,
        "roll: shift: got {1}, expected an int or a sequence of ints",
    ),
    "contracted axes are not repeated": (
        lambda x, array: na.tensordot(x[:, :1], array(np.ones((3, 2), np.float32)), axes=1),
        ShapeError,
        "tensordot: axes: got 1 for shapes (2, 1) and (3, 2): lengths (1,) of x1 against (3,) of "
        "x2, expected equal ones",
    ),
    "a bias does not repeat the product": (
        lambda x, array: na.linear(x, x[:1], array(np.zeros(4, np.float32))),
        ShapeError,
        "linear: bias: got shape (4,), expected (1,)",
    ),
    "nor does it give it axes": (
        lambda x, array: na.linear(x, x, array(np.zeros((1, 1, 2), np.float32))),
        ShapeError,
        "linear: bias: got shape (1, 1, 2), expected (2,)",
    ),
    "nor is it added along the batch": (
        lambda x, array: na.linear(x, x, array(np.zeros((2, 1), np.float32))),
        ShapeError,
        "linear: bias: got shape (2, 1), expected (2,)",
    ),
    "a weight for each channel has one axis": (
        lambda x, array: na.batch_norm_training(x, array(np.ones((1, 3), np.float32))),
        ShapeError,
        "batch_norm_training: weight: got shape (1, 3), expected (3,), as axis 1 of x (2, 3)",
    ),
    "of images too": (
        lambda x, array: na.instance_norm(x[None], array(np.ones((2, 1), np.float32))),
        ShapeError,
        "instance_norm: weight: got shape (2, 1), expected (2,), as axis 1 of x (1, 2, 3)",
    ),
    "one output has one number for a bias": (
        lambda x, array: na.linear(x, x[0], array(np.zeros(2, np.float32))),
        ShapeError,
        "linear: bias: got shape (2,), expected ()",
    ),
    "no index of another rank": (
        lambda x, array: na.take_along_axis(x, array(np.zeros(0, np.int64)), axis=1),
        ShapeError,
        "take_along_axis: indices: got shape (0,) for x of shape (2, 3), expected as many axes, "
        "which broadcast with those of x but for axis 1",
    ),
    "not to gather": (
        lambda x, array: na.gather(x, array(np.zeros(0, np.int64)), axis=1),
        ShapeError,
        "gather: indices: got shape (0,) for x of shape (2, 3), expected as many axes, none but "
        "axis 1 longer",
    ),
    "nor to scatter": (
        lambda x, array: na.scatter(x, array(np.zeros(0, np.int64)), 1.0, axis=1),
        ShapeError,
        "scatter: indices: got shape (0,) for x of shape (2, 3), expected as many axes, none but "
        "axis 1 longer",
    ),
    "the shape before the values": (
        lambda x, array: na.gather(x, array(np.full((1, 5), 9)), axis=0),
        ShapeError,
        "gather: indices: got shape (1, 5) for x of shape (2, 3), expected as many axes, none but "
        "axis 0 longer",
    ),
    "places in nothing": (
        lambda x, array: na.unravel_index(array(np.zeros(1, np.int64)), (2, 0)),
        ShapeError,
        "unravel_index: shape: got (2, 0), which has no elements, for indices of shape (1,)",
    ),
    "a number is no mask": (
        lambda x, array: na.masked_fill(x, 1.5, 0.0),
        DtypeError,
        "masked_fill: mask: got float32, expected bool; compare it with 0 to make it one",
    ),
    "a weight for each class": (
        lambda x, array: na.nll_loss(x, array(np.asarray([0, 2])), x[0, :1]),
        ShapeError,
        "nll_loss: weight: got shape (1,), expected (3,), one for each class",
    ),
    "a scale for each channel": (
        lambda x, array: na.batch_norm_training(x, x[0, :1]),
        ShapeError,
        "batch_norm_training: weight: got shape (1,), expected (3,), as axis 1 of x (2, 3)",
    ),
    "of groups": (
        lambda x, array: na.group_norm(x, bias=x[0, :1], num_groups=3),
        ShapeError,
        "group_norm: bias: got shape (1,), expected (3,), as axis 1 of x (2, 3)",
    ),
    "of examples": (
        lambda x, array: na.instance_norm(x[None], x[0, 0]),
        ShapeError,
        "instance_norm: weight: got shape (), expected (2,), as axis 1 of x (1, 2, 3)",
    ),
    "no norm is negative": (
        lambda x, array: na.normalize(x, eps=-1.0),
        ArgumentError,
        "normalize: eps: got -1.0, expected a number of at least 0",
    ),
    "a position for each element": (
        lambda x, array: na.searchsorted(x[0], x, sorter=array(np.asarray([1], np.int32))),
        ShapeError,
        "searchsorted: sorter: got int32 of shape (1,), expected integers of shape (3,), which "
        "na.argsort(x1) gives",
    ),
    "numbers are no vector": (
        lambda x, array: na.searchsorted(1j, x),
        ShapeError,
        "searchsorted: x1: got shape (), expected (n,)",
    ),
    "a part of an element is not repeated": (
        lambda x, array: na.repeat(x, 1.5, axis=1),
        ArgumentError,
        "repeat: cannot be computed for x float32 (2, 3), repeats 1.5, axis 1; help(na.repeat) "
        "says what it takes",
    ),
    "one element is no vector of three": (
        lambda x, array: na.cross(x, x[:, :1]),
        ShapeError,
        "cross: got vectors of length 1 along axis -1, expected 3",
    ),
    "a range goes somewhere": (
        lambda x, array: na.arange(0.0, 1.0, 0.0, like=x),
        ArgumentError,
        "arange: step: got 0.0, expected a number but 0",
    ),
    "in integers too": (
        lambda x, array: na.arange(0, 4, 0, like=x),
        ArgumentError,
        "arange: step: got 0, expected a number but 0",
    ),
    "no count of half precision": (
        lambda x, array: na.segment_sum(x, na.astype(x[:, 0], "bfloat16"), num_segments=2),
        DtypeError,
        "segment_sum: segment_ids: got bfloat16, expected integers; cast with na.astype",
    ),
    "nor a rate": (
        lambda x, array: na.random_poisson(
            array(np.asarray([1, 2], np.uint32)), na.astype(x, "bfloat16")
        ),
        DtypeError,
        "random_poisson: lam: got bfloat16, expected float32",
    ),
    "nothing is divided by 0": (
        lambda x, array: na.celu(x, alpha=0),
        ArgumentError,
        "celu: alpha: got 0, expected a number but 0",
    ),
    "a set is no order of axes": (
        lambda x, array: na.permute_dims(x, {0, 1}),  # type: ignore[arg-type]
        ArgumentError,
        "permute_dims: axes: got {0, 1}, expected a sequence of ints",
    ),
    "True is no length": (
        lambda x, array: na.zeros(True, like=x),
        ArgumentError,
        "zeros: shape: got True, expected an int or a sequence of ints",
    ),
    "nor one of several": (
        lambda x, array: na.full((True,), 1.0, like=x),
        ArgumentError,
        "full: shape: got True, expected an int",
    ),
    "nor a number of rows": (
        lambda x, array: na.eye(True, like=x),
        ArgumentError,
        "eye: n_rows: got True, expected an int",
    ),
    "samples are apart": (
        lambda x, array: na.fftfreq(4, d=0.0, like=x),
        ArgumentError,
        "fftfreq: d: got 0.0, expected a number but 0",
    ),
}


@pytest.mark.parametrize("label", REFUSED)
def test_refused_alike(label: str, backend: str) -> None:
    call, error, message = REFUSED[label]
    array = backends.core(backend).from_numpy
    with na.use_backend(backend), pytest.raises(NestarrayError) as caught:
        call(array(X), array)
    assert type(caught.value) is error
    assert str(caught.value) == message


#: Calls of the same, and what they give.
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


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
def test_rows_are_not_counted_from_the_end(backend: str) -> None:
    array = backends.core(backend).from_numpy
    message = "^embedding: indices: got -1, expected 0 <= index < 2, which is the length of axis 0$"
    with pytest.raises(IndexingError, match=message):
        na.embedding(array(np.asarray([0, -1])), array(X))


@pytest.mark.parametrize("backend", ["numpy", "torch", "tensorflow"])
def test_lengths_are_those_of_sequences(backend: str) -> None:
    array = backends.core(backend).from_numpy
    log_probs, targets = array(np.zeros((4, 1, 3), np.float32)), array(np.asarray([[1, 2]]))
    lengths = [array(np.asarray([n])) for n in (4, 2, 5, 3)]
    message = "^ctc_loss: input_lengths: got 5, expected 0 to 4, the length of log_probs$"
    with pytest.raises(ArgumentError, match=message):
        na.ctc_loss(log_probs, targets, lengths[2], lengths[1])
    message = "^ctc_loss: target_lengths: got 3, expected 0 to 2, the length of targets$"
    with pytest.raises(ArgumentError, match=message):
        na.ctc_loss(log_probs, targets, lengths[0], lengths[3])


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


@pytest.mark.parametrize("name", ["huber_loss", "log_cosh", "mse_loss", "smooth_l1_loss"])
def test_errors_of_complex_numbers_are_refused(name: str, backend: str) -> None:
    x = backends.core(backend).from_numpy(X)
    message = f"{name}: {backend} cannot compute it for complex64; cast to a dtype that it takes "
    for target in (1j, na.astype(x, "complex64")):
        with pytest.raises(DtypeError, match=f"^{message}with na.astype$"):
            getattr(na, name)(x, target)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "int16", "int32", "int64"])
def test_more_twos_than_there_are(dtype: str, backend: str) -> None:
    most = np.iinfo(dtype if dtype != "int64" or backend != "jax" else "int32").max
    x2 = backends.core(backend).from_numpy(np.asarray([most, 3], dtype))
    with np.errstate(over="ignore"):
        found = na.ldexp(backends.core(backend).from_numpy(np.ones(2, np.float32)), x2)
    np.testing.assert_array_equal(backends.core(backend).to_numpy(found), [np.inf, 8.0])


@pytest.mark.parametrize("bound", [1j, np.asarray([1j])])
def test_bounds_are_real(bound: Any, backend: str) -> None:
    array = backends.core(backend).from_numpy
    bound = bound if isinstance(bound, complex) else array(bound.astype(np.complex64))
    message = f"clip: {backend} cannot compute it for float32 and complex64; cast to a dtype that "
    for bounds in ((bound,), (0.0, bound)):
        with pytest.raises(DtypeError, match=f"^{message}it takes with na.astype$"):
            na.clip(array(X), *bounds)


@pytest.mark.parametrize("device", ["cpu:99", "tpu", "no such", 3])
def test_devices_that_are_not_there(device: Any, backend: str) -> None:
    have = ", ".join(backends.core(backend).devices())
    x = backends.core(backend).from_numpy(X)
    for call, name in (
        (lambda: na.zeros((2,), device=device, like=x), "zeros"),
        (lambda: na.ones_like(x, device=device), "ones_like"),
        (lambda: na.to_device(x, device), "to_device"),
    ):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert str(caught.value) == f"{name}: device: got {device!r}, expected one of {have}"


@pytest.mark.parametrize("name", ["cbrt", "digamma", "erf", "hypot", "mish", "ndtr"])
def test_no_function_of_complex_numbers(name: str, backend: str) -> None:
    arrays = [backends.core(backend).from_numpy(X)] if name == "hypot" else []
    found = "float32 and complex64" if arrays else "complex64"
    message = f"{name}: {backend} cannot compute it for {found}; cast to a dtype that it takes"
    with na.use_backend(backend), pytest.raises(DtypeError, match=f"^{message}"):
        getattr(na, name)(*arrays, 1j)


def test_a_number_beside_floats_keeps_their_dtype() -> None:
    found = na.gammainc(1.0, X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 1 - np.exp(-X), rtol=1e-6)

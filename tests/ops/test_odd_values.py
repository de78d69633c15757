"""Values on which frameworks differ: NaN in bfloat16, unsigned integers, memory layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from tests.arrays import host
from tests.cases import in_dtype, on_backend

pytestmark = pytest.mark.one_in(4)

NAN = np.nan
ROWS = np.asarray([[3.0, NAN, -1.0, 2.0], [NAN, 0.5, NAN, -2.0]], "float32")


def as_float64(x: Any) -> np.ndarray:
    return host(x).astype("float64")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_nan_is_behind_all_numbers(dtype: str, backend: str) -> None:
    x = on_backend(in_dtype(ROWS, dtype), backend)
    np.testing.assert_array_equal(as_float64(na.sort(x)), np.sort(ROWS))
    np.testing.assert_array_equal(as_float64(na.argsort(x)), np.argsort(ROWS, kind="stable"))
    np.testing.assert_array_equal(as_float64(na.partition(x, 1))[:, :2], np.sort(ROWS)[:, :2])
    ordered = on_backend(in_dtype(np.sort(ROWS[0, [0, 2, 3]]), dtype), backend)
    np.testing.assert_array_equal(as_float64(na.searchsorted(ordered, ordered)), [0, 1, 2])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("op", ["nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanmedian"])
def test_nan_is_left_out(op: str, dtype: str, backend: str) -> None:
    x = on_backend(in_dtype(ROWS, dtype), backend)
    found = as_float64(getattr(na, op)(x, axis=1))
    rtol = na.finfo(dtype).eps  # rounded once
    np.testing.assert_allclose(found, getattr(np, op)(ROWS, axis=1), rtol=rtol)


@pytest.mark.parametrize("ends", [("float16", "int64"), ("bfloat16", "int32"), ("uint8", "int8")])
def test_differences_of_several_dtypes_are_of_the_promoted_one(
    ends: tuple[str, str], backend: str
) -> None:
    x, before = (
        on_backend(in_dtype(np.asarray(v, "float32"), d), backend)
        for v, d in zip(([3, 5], [1]), ends)
    )
    found = na.diff(x, prepend=before)
    assert na.dtype_of(found) is na.result_type(x, before)
    np.testing.assert_array_equal(as_float64(found), [2, 2])


@pytest.mark.parametrize("op", ["quantile", "nanquantile"])
def test_quantiles_outside_0_to_1_are_nan(op: str, backend: str) -> None:
    shares = np.asarray([0.5, -0.25, 1.25, NAN, 1.0], "float32")
    x = on_backend(in_dtype(np.asarray([4.0, 1.0, 2.0], "float32"), "bfloat16"), backend)
    found = getattr(na, op)(x, on_backend(shares, backend))
    assert na.dtype_of(found) is na.bfloat16
    np.testing.assert_array_equal(as_float64(found), [2, NAN, NAN, NAN, 4])


@pytest.mark.parametrize("mode", ["min", "max"])
def test_extrema_of_nan_are_nan(mode: str, backend: str) -> None:
    x, updates = (on_backend(np.asarray(v, "float32"), backend) for v in ([1, NAN, 3], [NAN, 2, 2]))
    found = as_float64(na.setitem(x, [0, 1, 2], updates, mode=mode))
    np.testing.assert_array_equal(found, [NAN, NAN, 2 if mode == "min" else 3])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_unsigned_integers_keep_their_order(dtype: str, backend: str) -> None:
    top = int(np.iinfo(dtype if dtype != "uint64" or backend != "jax" else "uint32").max)
    x = np.asarray([7, top, 3], "uint32" if dtype == "uint64" and backend == "jax" else dtype)
    y = on_backend(x, backend)
    read = lambda v: np.asarray(na.to_backend(v, "numpy")).tolist()  # noqa: E731  # exact integers
    assert read(na.cummax(y)) == [7, top, top]
    assert read(na.cummin(y)) == [7, 7, 3]
    ones = na.ones_like(y)
    assert read(na.setitem(y, slice(None), ones, mode="max")) == [7, top, 3]
    assert read(na.setitem(y, slice(None), ones, mode="min")) == [1, 1, 1]
    at = on_backend(np.asarray([2, 1, 0]), backend)
    assert read(na.scatter(ones, at, y, axis=0, mode="max")) == [3, top, 7]
    assert read(na.scatter(ones, at, y, axis=0)) == [3, top, 7]
    assert read(na.segment_max(y, on_backend(np.zeros(3, "int32"), backend))) == [top]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint16"])
def test_sums_of_exponentials_of_integers(dtype: str, backend: str) -> None:
    x = np.asarray([[100, 1, 2], [0, 3, 90]], dtype)
    found = na.logsumexp(on_backend(x, backend), axis=1)
    assert na.dtype_of(found) is na.float32
    expected = scipy.special.logsumexp(x.astype("float64"), axis=1)
    np.testing.assert_allclose(as_float64(found), expected, rtol=1e-6)
    assert as_float64(na.logsumexp(on_backend(x[:, :0], backend), axis=1)).tolist() == [
        -np.inf,
        -np.inf,
    ]


def test_members_of_any_layout(backend: str) -> None:
    x = on_backend(np.arange(6, dtype="float32").reshape(2, 3), backend)
    turned = na.permute_dims(x, (1, 0))
    assert as_float64(na.isin(turned, turned[:1])).tolist() == [[1, 1], [0, 0], [0, 0]]
    truth = on_backend(np.asarray([True, False, True]), backend)
    assert as_float64(na.isin(truth, truth[:1])).tolist() == [1, 0, 1]
    assert as_float64(na.isin(truth, truth[:1], invert=True)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("backend", ["numpy", "jax", "tensorflow"])
def test_tails_of_gelu_are_no_rounding_errors(backend: str) -> None:
    """On PyTorch it is torch's function, which adds 1 to the error function."""
    x = np.asarray([-3.0, -5.5, -10.0], "float32")
    found = as_float64(na.gelu(on_backend(x, backend)))
    np.testing.assert_allclose(found, x * scipy.special.ndtr(x.astype("float64")), rtol=1e-5)


def test_small_errors_are_inverted(backend: str) -> None:
    x = np.asarray([1e-8, -1e-8, 3e-3, -0.9], "float32")
    found = as_float64(na.erfinv(on_backend(x, backend)))
    np.testing.assert_allclose(found, scipy.special.erfinv(x.astype("float64")), rtol=2e-6)


A = [0.3, 5.0, 40.0, 1e4, 1e6, 1e6, 4e6, 1e20]
NEAR_A = [0.2, 7.0, 33.0, 1e4, 1.001e6, 0.999e6, 4.001e6, 1e20]
SMALL_A = [1e-30, 1e-8, 1e-3, 0.1, 0.45, 0.49, 0.3]
#: Op: arguments where a formula cancels or overflows, its values in float64, on which backends.
WHERE_FORMULAS_FAIL: dict[str, tuple[list[list[float]], Callable[..., Any], tuple[str, ...]]] = {
    "gammainc": ([A, NEAR_A], scipy.special.gammainc, ("numpy", "jax", "tensorflow")),
    "gammaincc": (
        [A + SMALL_A, [*NEAR_A, 0.5, 1.0, 1e-3, 1.0, 1.4, 0.01, 1.2]],
        scipy.special.gammaincc,
        ("numpy", "jax", "tensorflow"),
    ),
    "zeta": (
        [[2.5, 1.5, 1.001, 90.0, 3.0], [1e20, 3e38, 1e3, 1.0, 0.5]],
        scipy.special.zeta,
        BACKENDS,
    ),
    "squareplus": (
        [[-1e6, -3e4, -50.0, -1.0, 0.0, 2.0, 1e9]],
        lambda x: np.where(x < 0, 2 / (np.hypot(x, 2) + np.abs(x)), (x + np.hypot(x, 2)) / 2),
        ("numpy", "torch", "tensorflow"),
    ),
    "i0": ([[0.0, 5.0, -89.0, 91.5]], scipy.special.i0, ("numpy", "jax")),
    "i1": ([[0.0, 5.0, -89.0, 91.5]], scipy.special.i1, ("numpy", "jax")),
}


@pytest.mark.parametrize(
    ("op", "backend"), [(op, b) for op, row in WHERE_FORMULAS_FAIL.items() for b in row[2]]
)
def test_float32_is_right_to_its_last_digits(op: str, backend: str) -> None:
    """To 16 units in the last place, where what other formulas give is off by thousands."""
    arguments, reference, _ = WHERE_FORMULAS_FAIL[op]
    single = [np.asarray(x, "float32") for x in arguments]
    expected = reference(*(x.astype("float64") for x in single))
    function = getattr(na, op)
    if backend == "jax":  # which would compile each of many small operations by itself
        function = na.jit(function)
    found = as_float64(function(*on_backend(single, backend)))
    assert np.all(
        np.abs(found - expected) <= 16 * np.spacing(np.abs(expected).astype("float32"))
    ), found


@pytest.mark.parametrize("op", ["gammainc", "gammaincc"])
def test_incomplete_gamma_functions_of_wide_floats(op: str) -> None:
    """PyTorch's own is right to 9 digits there."""
    import torch

    a, x = WHERE_FORMULAS_FAIL["gammaincc"][0]
    found = getattr(na, op)(*(torch.asarray(v, dtype=torch.float64) for v in (a, x)))
    np.testing.assert_allclose(as_float64(found), getattr(scipy.special, op)(a, x), rtol=1e-14)


def test_half_precision_holds_results_with_large_factors(backend: str) -> None:
    x = on_backend(np.asarray([12.0, 1.0], "float16"), backend)
    np.testing.assert_allclose(as_float64(na.i0(x)), scipy.special.i0([12.0, 1.0]), rtol=1e-3)
    np.testing.assert_allclose(as_float64(na.i1(x)), scipy.special.i1([12.0, 1.0]), rtol=1e-3)
    assert abs(as_float64(na.sinc(x))[1]) < 1e-6
    assert backends.backend_of(na.sinc(x)) == backend


def test_derivatives_where_values_meet(backend: str) -> None:
    x = on_backend(np.asarray([0.0, 1.0, 0.5, -1.0, 2.0], "float32"), backend)
    low, high = (on_backend(np.asarray(v, "float32"), backend) for v in (0.0, 1.0))
    slopes = na.grad(lambda x: na.sum(na.clip(x, low, high)))(x)
    assert as_float64(slopes).tolist() == [1, 1, 1, 0, 0]  # at a bound, x has the gradient
    assert as_float64(na.grad(lambda x: na.sum(na.cbrt(x)))(x))[:2].tolist() == pytest.approx(
        [np.inf, 1 / 3]
    )
    assert as_float64(na.grad(lambda x: na.sum(na.i0(x)))(x))[0] == 0


def test_each_bound_has_the_gradient_of_its_elements(backend: str) -> None:
    x = on_backend(np.asarray([-1.0, 0.5, 3.0], "float32"), backend)
    bound = on_backend(np.asarray(1.0, "float32"), backend)
    slopes = na.grad(lambda low, high: na.sum(na.clip(x, low, high)), argnums=(0, 1))(bound, bound)
    assert [float(as_float64(s)) for s in slopes] == [2, 1]


#: Calls with arrays that the op promotes to one dtype, of which one is of another.
MIXED: dict[str, tuple[tuple[int, ...], ...]] = {
    "conv1d": ((1, 2, 5), (3, 2, 2), (3,)),
    "conv_transpose2d": ((1, 2, 3, 3), (2, 1, 2, 2), (1,)),
    "batch_norm": ((2, 3, 4), (3,), (3,), (3,)),
    "layer_norm": ((2, 3), (3,), (3,)),
    "rms_norm": ((2, 3), (3,)),
    "instance_norm": ((2, 3, 4), (3,), (3,)),
    "mse_loss": ((2, 3), (2, 3)),
    "binary_cross_entropy_with_logits": ((2, 3), (2, 3), (3,)),
    "rotary_embedding": ((2, 4), (2, 2), (2, 2)),
    "scaled_dot_product_attention": ((2, 3), (2, 3), (2, 3)),
    "box_iou": ((2, 4), (3, 4)),
}


@pytest.mark.parametrize("other", ["float16", "int32"])
@pytest.mark.parametrize("op", MIXED)
def test_arrays_of_one_op_are_promoted(op: str, other: str, backend: str) -> None:
    function = getattr(na, op)
    arrays = [np.abs(np.sin(np.arange(np.prod(s)) + 1.0)).reshape(s) for s in MIXED[op]]
    wide = [x.astype("float32") for x in arrays]
    for place in (0, len(wide) - 1):
        narrow = on_backend(wide[place].astype(other), backend)
        mixed = [
            *on_backend(wide[:place], backend),
            narrow,
            *on_backend(wide[place + 1 :], backend),
        ]
        found = function(*mixed)
        assert na.dtype_of(found) is na.float32
        mixed[place] = na.astype(narrow, na.float32)
        np.testing.assert_array_equal(as_float64(found), as_float64(function(*mixed)))


def test_weights_of_a_network_are_promoted(backend: str) -> None:
    x, w, u = (np.ones(s, "float32") for s in ((2, 1, 3), (4, 3), (4, 4)))
    narrow = on_backend(u.astype("float16"), backend)
    out, last = na.rnn(on_backend(x, backend), [on_backend(w, backend), narrow])
    assert na.dtype_of(out) is na.dtype_of(last) is na.float32


def test_of_nothing_shapes_are_those_of_the_rest(backend: str) -> None:
    x = on_backend(np.ones((2, 4, 3), "float32"), backend)
    assert tuple(na.householder_product(x, x[:, 0, :0]).shape) == (2, 4, 3)
    images = on_backend(np.ones((0, 2, 4, 6), "float32"), backend)
    assert tuple(na.pixel_unshuffle(images, downscale_factor=2).shape) == (0, 8, 2, 3)
    np.testing.assert_array_equal(as_float64(na.layer_norm(x, axis=())), np.zeros((2, 4, 3)))
    np.testing.assert_array_equal(as_float64(na.roll(x, 1, axis=())), as_float64(x))


def test_derivatives_of_smooth_functions_where_their_formulas_bend(backend: str) -> None:
    """Equal operands, a factor of 0 and a root of 0 are points like others there."""
    x, y = (on_backend(np.asarray(v, "float32"), backend) for v in ([1.0, -3.0], [1.0, -3.0]))
    slopes = lambda op, x, y: [  # noqa: E731
        as_float64(s) for s in na.grad(lambda x, y: na.sum(op(x, y)), argnums=(0, 1))(x, y)
    ]
    for op in (na.logaddexp, na.logaddexp2):
        np.testing.assert_allclose(slopes(op, x, y), [[0.5, 0.5]] * 2, rtol=1e-6)
    root = [np.sqrt(0.5), -np.sqrt(0.5)]
    np.testing.assert_allclose(slopes(na.hypot, x, y), [root, root], rtol=1e-6)
    zero, other = (on_backend(np.asarray(v, "float32"), backend) for v in ([0.0, 0.0], [0.5, 2.0]))
    logs = np.log(as_float64(other))
    np.testing.assert_allclose(slopes(na.xlogy, zero, other), [logs, np.zeros(2)], rtol=1e-6)
    logs = np.log1p(as_float64(other))
    np.testing.assert_allclose(slopes(na.xlog1py, zero, other), [logs, np.zeros(2)], rtol=1e-6)
    slope = as_float64(na.grad(lambda x: na.sum(na.erfinv(x)))(zero))
    np.testing.assert_allclose(slope, [np.sqrt(np.pi) / 2] * 2, rtol=1e-6)


def test_networks_of_integers(backend: str) -> None:
    x = np.arange(24, dtype="int64").reshape(1, 3, 8) % 7
    y = on_backend(x, backend)
    assert na.dtype_of(na.interpolate(y, size=(4,))).is_integer
    np.testing.assert_array_equal(as_float64(na.interpolate(y, size=(4,))), x[:, :, ::2])
    found = na.local_response_norm(y, size=3)
    expected = na.local_response_norm(on_backend(x.astype("float32"), backend), size=3)
    np.testing.assert_array_equal(as_float64(found), as_float64(expected))
    targets, lengths = on_backend(np.asarray([[1]]), backend), [3]
    lengths_of = [on_backend(np.asarray(n), backend) for n in (lengths, [1])]
    loss = na.ctc_loss(na.permute_dims(y, (1, 0, 2)), targets, *lengths_of)
    assert na.dtype_of(loss) is na.float32
    boxes = on_backend(np.asarray([[0, 0, 2, 2], [0, 0, 2, 2], [5, 5, 6, 6]]), backend)
    scores = on_backend(np.asarray([1, 2, 3]), backend)
    assert as_float64(na.nms(boxes, scores, iou_threshold=0.5)).tolist() == [2, 1]
    ends = on_backend(np.asarray([0, 254, 255], "uint8"), backend)
    np.testing.assert_allclose(as_float64(na.softsign(ends)), [0, 254 / 255, 255 / 256], rtol=1e-6)


def test_windows_of_padding_alone_have_no_maximum(backend: str) -> None:
    x = on_backend(np.asarray([[[1.0, 3.0, 2.0]]], "float32"), backend)
    found = as_float64(na.max_pool1d(x, kernel_size=2, stride=1, padding=2))
    np.testing.assert_array_equal(found, [[[-np.inf, 1, 3, 3, 2, -np.inf]]])


def test_arrays_without_elements(backend: str) -> None:
    x = on_backend(np.zeros((2, 6, 0), "float32"), backend)
    for axis in (1, -2):
        assert tuple(na.group_norm(x, num_groups=2, axis=axis).shape) == (2, 6, 0)
    places = on_backend(np.asarray([[1, 5], [0, 0], [1, 2]]), backend)
    assert tuple(na.gather_nd(x, places).shape) == (3, 0)


def test_settings_that_are_not_ordinary(backend: str) -> None:
    x = on_backend(np.asarray([-2.0, 0.25, 0.75], "float32"), backend)
    np.testing.assert_array_equal(as_float64(na.hard_shrink(x, threshold=NAN)), 0.0)
    np.testing.assert_array_equal(
        as_float64(na.threshold(x, threshold=NAN, value=7.0)), as_float64(x)
    )
    unknown = on_backend(np.asarray([NAN, -1.0], "float32"), backend)
    np.testing.assert_array_equal(
        as_float64(na.threshold(unknown, threshold=0.0, value=7.0)), [NAN, 7.0]
    )
    np.testing.assert_array_equal(as_float64(na.logit(x, eps=NAN)), NAN)
    np.testing.assert_allclose(
        as_float64(na.logit(x, eps=0.6)), scipy.special.logit(0.4), rtol=1e-6
    )
    target = on_backend(np.asarray([-1.0, -1.0, 1.0], "float32"), backend)
    assert float(na.hinge_embedding_loss(x, target, margin=True, reduction="sum")) == 4.5
    rows = na.stack([x, x])
    loss = na.cosine_embedding_loss(rows, rows, target[:2], margin=True)
    np.testing.assert_allclose(as_float64(loss), 0.0, atol=1e-6)


def test_places_that_are_nan(backend: str) -> None:
    x = on_backend(np.arange(16, dtype="float32").reshape(1, 1, 4, 4), backend)
    grid = on_backend(np.asarray([[[[NAN, 0.0], [0.0, 0.0]]]], "float32"), backend)
    assert np.isnan(as_float64(na.grid_sample(x, grid)).ravel()).tolist() == [True, False]
    assert as_float64(na.grid_sample(x, grid, mode="nearest")).ravel()[0] == 0.0
    boxes = on_backend(np.asarray([[0, 0, 1, 1], [NAN, 0, 1, 1]], "float32"), backend)
    images = on_backend(np.zeros(2, "int64"), backend)
    np.testing.assert_allclose(
        as_float64(na.roi_align(x, boxes, images, output_size=1)).ravel(), [2.5, 0.0]
    )
    np.testing.assert_allclose(
        as_float64(na.crop_and_resize(x, boxes, images, crop_size=1)).ravel(), [7.5, 0.0]
    )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_squares_in_half_precision_do_not_overflow(dtype: str, backend: str) -> None:
    x = na.astype(on_backend(np.asarray([[300.0, -300.0, 600.0]], "float32"), backend), dtype)
    wide = np.asarray([[300.0, -300.0, 600.0]])
    centered = wide - wide.mean()
    expected = {
        na.layer_norm: centered / centered.std(),
        na.rms_norm: wide / np.sqrt((wide * wide).mean()),
        na.normalize: wide / np.linalg.norm(wide),
    }
    for op, values in expected.items():
        found = op(x)
        assert na.dtype_of(found) is na.as_dtype(dtype)
        rtol = na.finfo(dtype).eps  # computed in float32, rounded once
        np.testing.assert_allclose(as_float64(na.astype(found, "float32")), values, rtol=rtol)
    zeros = as_float64(na.astype(na.normalize(na.zeros_like(x)), "float32"))
    np.testing.assert_array_equal(zeros, 0.0)


#: What sums 3,000 ones in two columns, and what that is.
OF_ONES: dict[str, tuple[Callable[[Any], Any], float]] = {
    "sum": (lambda x: na.sum(x, axis=0), 3000.0),
    "mean": (lambda x: na.mean(x, axis=0), 1.0),
    "var": (lambda x: na.var(x, axis=0), 0.0),
    "std": (lambda x: na.std(x, axis=0), 0.0),
    "cov": (lambda x: na.cov(x, rowvar=False), 0.0),
    "nansum": (lambda x: na.nansum(x, axis=0), 3000.0),
    "nanmean": (lambda x: na.nanmean(x, axis=0), 1.0),
    "cumulative_sum": (lambda x: na.cumulative_sum(x, axis=0)[-1], 3000.0),
    "nancumsum": (lambda x: na.nancumsum(x, axis=0)[-1], 3000.0),
    "logsumexp": (lambda x: na.logsumexp(x, axis=0), 1.0 + np.log(3000.0)),
    "segment_sum": (
        lambda x: na.segment_sum(x, na.zeros(3000, dtype="int32", like=x), num_segments=1),
        3000.0,
    ),
    "segment_mean": (
        lambda x: na.segment_mean(x, na.zeros(3000, dtype="int32", like=x), num_segments=1),
        1.0,
    ),
    "avg_pool1d": (
        lambda x: na.avg_pool1d(na.permute_dims(x, (1, 0))[None], kernel_size=3000),
        1.0,
    ),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", OF_ONES)
def test_sums_in_half_precision_do_not_stand_still(op: str, dtype: str, backend: str) -> None:
    call, expected = OF_ONES[op]
    found = call(na.astype(on_backend(np.ones((3000, 2), "float32"), backend), dtype))
    assert na.dtype_of(found) is na.as_dtype(dtype)
    np.testing.assert_allclose(as_float64(na.astype(found, "float32")), expected, rtol=4e-3)


#: Reductions of columns near 1, whose result is rounded once.
ROUNDED_ONCE: dict[str, Callable[[Any], Any]] = {
    **{
        op: lambda x, op=op: getattr(na, op)(x, axis=0)
        for op in (
            "sum", "mean", "var", "std", "prod", "nansum", "nanmean", "nanprod", "logsumexp",
            "vector_norm", "softmax",
        )
    },
    **{
        op: lambda x, op=op: getattr(na, op)(x, axis=0)[-1]
        for op in ("cumulative_sum", "cumulative_prod", "nancumsum", "nancumprod")
    },
    "vector_norm-1": lambda x: na.vector_norm(x, axis=0, ord=1),
    "cumulative_logsumexp": lambda x: na.cumulative_logsumexp(x, axis=0)[-1],
    "cov": lambda x: na.cov(x, rowvar=False),
    "corrcoef": lambda x: na.corrcoef(x, rowvar=False),
    "avg_pool1d": lambda x: na.avg_pool1d(na.permute_dims(x, (1, 0))[None], kernel_size=500),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ROUNDED_ONCE)
def test_reductions_of_half_precision_are_rounded_once(
    name: str, dtype: str, backend: str, rng: np.random.Generator
) -> None:
    x = in_dtype(rng.uniform(0.9, 1.1, (500, 3)).astype("float32"), dtype)
    exact = as_float64(ROUNDED_ONCE[name](x.astype("float64")))
    found = ROUNDED_ONCE[name](on_backend(x, backend))
    assert na.dtype_of(found) is na.as_dtype(dtype)
    step = na.finfo(dtype).eps * 2.0 ** np.floor(np.log2(np.abs(exact)))
    # float32 has an error of a small part of a step; PyTorch's softmax rounds twice
    limit = 1.5 if name == "softmax" else 0.6
    assert np.max(np.abs(as_float64(found) - exact) / step) <= limit

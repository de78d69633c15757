"""Dtypes of results are equal on all backends: integers become float32, numbers are weak, half stays half."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends, dtypes
from nestarray.config import BACKENDS
from nestarray.dtypes import DType
from nestarray.errors import DtypeError, MixedBackendError
from nestarray.testing import assert_close
from tests.arrays import host, on
from tests.cases import Case, convert, rows
from tests.cases.transcendental import DOMAINS

pytestmark = pytest.mark.one_in(4)

HALVES = ("float16", "bfloat16")


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("op", [*DOMAINS, "reciprocal", "angle", "rsqrt", "erf", "lgamma", "sinc"])
def test_integers_become_float32(op: str, backend: str) -> None:
    function = getattr(na, op)
    values = [0, 0] if op == "atanh" else [1, 1]  # of which it is infinite, and NumPy warns
    for dtype in ("bool", "int8", "int32", "int64", "uint8"):
        result = function(on(backend, values, dtype))
        assert na.dtype_of(result) is na.float32, dtype
        expected = function(on(backend, values, "float32"))
        assert_close(host(result), host(expected))


@pytest.mark.parametrize("op", ["divide", "atan2", "hypot", "logaddexp", "copysign", "xlogy"])
def test_pairs_of_integers_become_float32(op: str, backend: str) -> None:
    function = getattr(na, op)
    for dtype in ("int8", "int32", "uint8"):
        pair = on(backend, [1, 2], dtype), on(backend, [2, 3], dtype)
        assert na.dtype_of(function(*pair)) is na.float32
        assert na.dtype_of(function(pair[0], 2)) is na.float32
        assert na.dtype_of(function(2, pair[0])) is na.float32


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(
    "op",
    [
        *DOMAINS,
        "abs",
        "square",
        "floor",
        "sign",
        "erf",
        "erfc",
        "erfinv",
        "lgamma",
        "digamma",
        "erfcx",
        "ndtr",
        "log_ndtr",
        "ndtri",
        "i0",
        "i1e",
        "cbrt",
        "sinc",
    ],
)
def test_half_precision_stays(op: str, dtype: str, backend: str) -> None:
    function = getattr(na, op)
    values = [1.25, 2.0] if op == "acosh" else [0.25, 0.5]
    result = function(on(backend, values, dtype))
    assert na.dtype_of(result) is na.as_dtype(dtype)
    wide = function(on(backend, values, "float32"))
    assert_close(
        host(na.astype(result, "float32")),
        host(wide),
        rtol=na.finfo(dtype).eps,
        atol=na.finfo(dtype).eps,
        reason="computed in half precision",
    )


@pytest.mark.usefixtures("x64")
def test_promotion_is_that_of_the_standard(backend: str) -> None:
    for a in dtypes.ALL:
        for b in dtypes.ALL:
            if dtypes.bool in (a, b):
                continue
            wanted = dtypes.promote_types(a, b)
            x, y = on(backend, [1, 2], a.name), on(backend, [1, 1], b.name)
            assert na.dtype_of(na.multiply(x, y)) is wanted, (a, b)
            assert na.dtype_of(na.equal(x, y)) is na.bool, (a, b)


NUMBERS = [(True, "bool"), (2, "int"), (1.5, "float"), (1 + 2j, "complex")]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("number", "kind"), NUMBERS, ids=[k for _, k in NUMBERS])
def test_numbers_lift_the_kind_only(number: Any, kind: str, backend: str) -> None:
    for dtype in dtypes.ALL:
        if dtype is dtypes.bool:
            continue
        x = on(backend, [1, 2], dtype.name)
        wanted = dtypes.result_dtype(x, number)
        for result in (na.multiply(x, number), na.multiply(number, x)):
            assert na.dtype_of(result) is wanted, (dtype, number)
    small = on(backend, [1, 2], "int8")
    assert na.dtype_of(na.add(small, 2)) is na.int8
    assert na.dtype_of(na.add(small, 1.5)) is na.float32


@pytest.mark.parametrize("op", ["exp", "sin", "abs", "negative", "erf", "logit", "isnan"])
def test_a_number_alone_goes_to_the_default_backend(op: str, backend: str) -> None:
    with na.use_backend(backend):
        result = getattr(na, op)(0.5)
    assert na.backend_of(result) == backend
    assert na.dtype_of(result) in (na.float32, na.bool)


def test_two_numbers(backend: str) -> None:
    with na.use_backend(backend):
        assert_close(host(na.divide(1, 2)), np.asarray(0.5, "float32"))
        assert_close(host(na.maximum(1.0, 2.0)), np.asarray(2.0, "float32"))


def test_full_precision_of_numbers(backend: str) -> None:
    x = on("numpy", [1.0], "float64")
    if backend == "jax":
        return
    assert_close(host(na.multiply(0.1, on(backend, [1.0], "float64"))), x * 0.1, rtol=0.0, atol=0.0)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("op", ["add", "divide", "floor_divide", "pow", "maximum", "less"])
def test_a_number_of_numpy_on_either_side(op: str, backend: str) -> None:
    function, x = getattr(na, op), on(backend, [1.0, 2.0], "float64")
    for number in (1.5, 1 / 3):
        assert_close(host(function(np.float64(number), x)), host(function(number, x)))
        assert_close(host(function(x, np.float64(number))), host(function(x, number)))


@pytest.mark.parametrize("op", ["add", "divide", "pow", "minimum"])
def test_tensorflow_takes_a_wide_number_as_a_weak_one(op: str) -> None:
    function, x = getattr(na, op), on("tensorflow", [1.0, 2.0], "float32")
    for number, array in ((np.float64(0.1), x), (x, np.float64(0.1))):
        assert na.dtype_of(function(number, array)) is na.float32
    chosen = na.where(on("tensorflow", [True, False], "bool"), np.float64(0.1), x)
    assert na.dtype_of(chosen) is na.float32


def test_two_frameworks_in_one_call() -> None:
    message = (
        "add: got arrays of numpy and of torch in one call. Move one of them first, "
        'for example with na.to_backend(x, "numpy")'
    )
    with pytest.raises(MixedBackendError) as error:
        na.add(on("numpy", [1.0], "float32"), on("torch", [1.0], "float32"))
    assert str(error.value) == message


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_finfo(dtype: str) -> None:
    import ml_dtypes

    expected = ml_dtypes.finfo(dtype)
    info = na.finfo(dtype)
    assert info.dtype is na.as_dtype(dtype)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(info, field) == float(getattr(expected, field)), field


def test_finfo_of_complex_and_of_an_array() -> None:
    assert na.finfo(na.complex64) == na.finfo(na.float32)
    assert na.finfo(np.zeros(1)) == na.finfo("float64")
    with pytest.raises(
        DtypeError, match="finfo: dtype: got int8, expected a floating or complex dtype"
    ):
        na.finfo("int8")


@pytest.mark.parametrize("dtype", [d.name for d in dtypes.ALL if d.is_integer])
def test_iinfo(dtype: str) -> None:
    info, expected = na.iinfo(dtype), np.iinfo(dtype)
    assert (info.bits, info.min, info.max) == (expected.bits, expected.min, expected.max)
    with pytest.raises(DtypeError, match="iinfo: dtype: got float32, expected an integer dtype"):
        na.iinfo("float32")


KINDS = [
    "bool",
    "signed integer",
    "unsigned integer",
    "integral",
    "real floating",
    "complex floating",
    "numeric",
]


@pytest.mark.parametrize("kind", KINDS)
def test_isdtype_agrees_with_numpy(kind: str) -> None:
    for dtype in dtypes.ALL:
        if dtype is not na.bfloat16:
            assert na.isdtype(dtype, kind) == np.isdtype(np.dtype(dtype.name), kind), dtype


def test_isdtype_of_several_kinds() -> None:
    assert na.isdtype(na.bfloat16, ("bool", "real floating"))
    assert na.isdtype("int8", na.int8)
    with pytest.raises(
        DtypeError, match="isdtype: kind: got 'wide', expected a dtype or one of bool, signed"
    ):
        na.isdtype(na.int8, "wide")


def test_result_type_and_can_cast() -> None:
    assert na.result_type(np.zeros(2, "int8"), "uint8") is na.int16
    assert na.result_type(na.float16, 1.0) is na.float16
    assert na.result_type(1, 2.0) is na.float32
    assert na.can_cast(na.uint8, na.int16)
    assert not na.can_cast(na.uint64, na.int64)
    assert not na.can_cast(na.int16, na.uint16)
    with pytest.raises(DtypeError, match="result_type: got no argument"):
        na.result_type()


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="NumPy asks for __numpy_dtype__ since 2.4"
)
def test_numpy_takes_dtypes() -> None:
    for dtype in dtypes.ALL:
        if dtype is not dtypes.bfloat16:
            assert np.dtype(dtype) == np.dtype(dtype.name)  # type: ignore[call-overload]
    assert np.eye(2, dtype=na.float32).dtype == np.float32  # type: ignore[call-overload]


DTYPE_PAIRS = [(a, b) for a in dtypes.ALL for b in dtypes.ALL if na.bfloat16 not in (a, b)]


def test_can_cast_within_a_kind_agrees_with_numpy() -> None:
    def alike(a: DType, b: DType) -> bool:
        return a.kind == b.kind or {a.kind, b.kind} == {"int", "uint"}

    for a, b in DTYPE_PAIRS:
        if alike(a, b):
            assert na.can_cast(a, b) == np.can_cast(a.name, b.name), (a, b)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", BACKENDS)
def test_casts_to_integers_agree_where_the_value_is_defined(backend: str) -> None:
    """Floats within the range are rounded towards zero, integers are taken modulo 2ⁿ."""
    integers = [dtype for dtype in dtypes.ALL if dtype.kind in ("int", "uint")]
    for dtype in integers:
        limits = np.iinfo(dtype.name)
        # the largest number of 24 bits within the range, and fractions that round to its ends
        largest = float(limits.max) if limits.bits < 32 else limits.max * (1 - 2.0**-23)
        values = [0.9, -0.9, 1.5, largest, float(limits.min), 2.0]
        if dtype.kind == "int":
            values.append(-1.5)
        for source in ("float32", "float64"):
            x = np.asarray(values, source)
            result = na.astype(on(backend, x, source), dtype)
            np.testing.assert_array_equal(host(result), np.trunc(x).astype(dtype.name))
        for source in integers:
            limits = np.iinfo(source.name)
            x = np.asarray([limits.min, limits.max, 7, limits.max // 2 + 1], source.name)
            result = na.astype(on(backend, x, source.name), dtype)
            np.testing.assert_array_equal(host(result), x.astype(dtype.name))


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_stop_gradient_is_a_constant(backend: str) -> None:
    from tests.derivatives import GRADIENTS, SUM

    def loss(x: Any) -> Any:
        return SUM[backend](na.stop_gradient(x) * x)

    (gradient,) = GRADIENTS[backend](loss, [on(backend, [2.0, 3.0], "float32")])
    assert_close(gradient, np.asarray([2.0, 3.0], "float32"))


def arrays_of(nest: Any, of: Any = (np.ndarray, np.generic)) -> list[Any]:
    found: list[Any] = []
    convert(nest, lambda x: found.append(x) or x, of)
    return found


def takes_floats(case: Case) -> bool:
    with np.errstate(over="ignore"):
        kinds = [x.dtype.kind for x in arrays_of(case.draw("float32"), np.ndarray)]
    return "f" in kinds and "c" not in kinds


#: Ops with another dtype for half precision, or that refuse it on all backends.
SINGLE = {"astype", "irfft", "hfft", "dct", "idct", "random_binomial", "random_poisson"}


@pytest.mark.parametrize(
    ("case", "backend"),
    rows(
        ("numpy",),
        lambda case: case.op not in SINGLE and takes_floats(case),
        one_an_op=True,
    ),
)
def test_bfloat16_stays_on_numpy(case: Case, backend: str) -> None:
    """With ml_dtypes' arrays numbers are not weak, and much of NumPy converts them to float32."""
    with np.errstate(all="ignore"):
        wide, narrow = case.draw("float32"), case.draw("bfloat16")
        results = [getattr(na, case.op)(*args, **kwargs) for args, kwargs in (wide, narrow)]
    expected, found = ([x.dtype.name for x in arrays_of(result)] for result in results)
    assert found == [name.replace("float32", "bfloat16") for name in expected]


def is_of_real_numbers(case: Case) -> bool:
    return bool(case.record.is_floating)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("case", "backend"), rows(where=is_of_real_numbers, one_an_op=True))
def test_integers_are_computed_as_float32(case: Case, backend: str) -> None:
    """The arguments that are promoted; the dtypes of indices and masks tell their roles."""
    args, kwargs = case.draw("float32")
    put = backends.core(backend).from_numpy

    def result(dtype: str, *, through: str) -> Any:
        def cast(x: np.ndarray) -> Any:
            if x.dtype.kind != "f":
                return put(x)
            finite = np.nan_to_num(np.abs(x), posinf=2.0)
            return put(np.rint(finite).astype(through).astype(dtype))

        given = case.record.signature.bind(*args, **kwargs)
        for name, value in given.arguments.items():
            given.arguments[name] = convert(value, cast if name in case.record.promoted else put)
        with np.errstate(all="ignore"):
            return getattr(na, case.op)(*given.args, **given.kwargs)

    for dtype in ("uint8", "bool", "int32"):
        found, wide = result(dtype, through=dtype), result("float32", through=dtype)
        results, wides = (r if isinstance(r, tuple) else (r,) for r in (found, wide))
        for one, other in zip(results, wides, strict=True):
            assert na.dtype_of(one) is na.dtype_of(other)
            assert_close(host(one), host(other))


@pytest.mark.parametrize("op", ["rrelu", "gumbel_softmax"])
def test_numbers_are_drawn_in_the_dtype_of_the_argument(op: str) -> None:
    x = np.linspace(-3.0, 3.0, 12).reshape(3, 4)
    key = na.random.key(3)
    found = {}
    for name in BACKENDS:
        drawn = getattr(na, op)(on(name, x, "bfloat16"), backends.core(name).from_numpy(key))
        found[name] = na.astype(drawn, "float32")
    for result in found.values():
        assert_close(host(result), host(found["jax"]), rtol=2**-6, atol=2**-9, reason="bfloat16")

"""Gradients through complex numbers, and what `complex` and `polar` say about complex parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.errors import DtypeError
from nestarray.testing import assert_close
from tests.arrays import host
from tests.cases import on_backend
from tests.derivatives import AUTODIFF, GRADIENTS, SUM

pytestmark = pytest.mark.one_in(4)

A = np.asarray([[1.0, -2.0, 0.5], [3.0, 0.25, 1.0]])
B = np.asarray([0.5, -1.0, 2.0])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", AUTODIFF)
def test_gradients_of_the_parts(backend: str) -> None:
    """Σ (2 Re z + 3 Im z): of z = a + ib it has the slopes 2 and 3; of r exp(iφ) the slopes of its parts."""

    def loss(function: Callable[..., Any]) -> Callable[..., Any]:
        def of(a: Any, b: Any) -> Any:
            z = function(a, b)
            return SUM[backend](2.0 * na.real(z) + 3.0 * na.imag(z))

        return of

    found = GRADIENTS[backend](loss(na.complex), [on_backend(x, backend) for x in (A, B)])
    assert_close([np.asarray(g) for g in found], [np.full((2, 3), 2.0), np.full(3, 6.0)])
    found = GRADIENTS[backend](loss(na.polar), [on_backend(x, backend) for x in (A, B)])
    of_abs = np.broadcast_to(2 * np.cos(B) + 3 * np.sin(B), (2, 3))
    of_angle = (A * (3 * np.cos(B) - 2 * np.sin(B))).sum(0)
    assert_close([np.asarray(g) for g in found], [of_abs, of_angle])


def test_complex_parts(backend: str) -> None:
    x, z = (on_backend(h, backend) for h in (B.astype("float32"), B.astype("complex64")))
    with pytest.raises(DtypeError, match="complex: imag: got complex64, expected a real dtype"):
        na.complex(x, z)
    with pytest.raises(DtypeError, match="polar: abs: got complex64, expected a real dtype"):
        na.polar(z, x)


def test_widest_part_decides(backend: str) -> None:
    half = on_backend(B.astype("float16"), backend)
    assert na.dtype_of(na.complex(half, half)) is na.complex64
    assert na.dtype_of(na.complex(half, 1)) is na.complex64
    assert na.dtype_of(na.polar(on_backend(np.asarray([1, 2, 3]), backend), half)) is na.complex64


@pytest.mark.parametrize("backend", BACKENDS)
def test_imaginary_numbers_are_not_zero(backend: str) -> None:
    x = backends.core(backend).from_numpy(np.asarray([0j, 1j, 1.0], "complex64"))
    np.testing.assert_array_equal(host(na.nonzero(x)[0]), [1, 2])
    np.testing.assert_array_equal(host(na.astype(x, na.bool)), [False, True, True])
    np.testing.assert_array_equal(host(na.logical_not(x)), [True, False, False])
    np.testing.assert_array_equal(host(na.logical_and(x, x)), [False, True, True])
    assert bool(host(na.any(x[:2])))
    assert bool(host(na.all(x[1:])))
    assert int(host(na.count_nonzero(x))) == 2
    np.testing.assert_array_equal(host(na.round(x * 1.4)), [0j, 1j, 1.0])


#: Functions of an order, which complex numbers have not: the standard leaves them to real ones.
OF_AN_ORDER: dict[str, Callable[[Any], Any]] = {
    **{
        name: (lambda z, name=name: getattr(na, name)(z))
        for name in (
            "max", "min", "argmax", "argmin", "sort", "argsort", "ptp", "median", "mode", "cummax",
            "cummin", "nanmax", "nanmin", "nanmedian", "nanargmax", "nanargmin", "relu", "relu6",
            "leaky_relu", "elu", "hard_tanh", "softmax", "log_softmax", "softplus", "cbrt", "selu",
            "log_sigmoid", "mish", "squareplus", "logit",
        )
    },
    **{
        name: (lambda z, name=name: getattr(na, name)(z, z))
        for name in (
            "maximum", "minimum", "fmax", "fmin", "less", "less_equal", "greater", "greater_equal",
            "searchsorted", "heaviside", "floor_divide", "remainder", "fmod", "atan2", "hypot",
            "logaddexp2", "xlogy", "xlog1py", "mse_loss", "huber_loss", "smooth_l1_loss", "kl_div",
            "binary_cross_entropy", "binary_cross_entropy_with_logits", "dice_loss", "focal_loss",
        )
    },
    "clip": lambda z: na.clip(z, 0.0, 1.0),
    "quantile": lambda z: na.quantile(z, 0.5),
    "top_k": lambda z: na.top_k(z, 2),
    "partition": lambda z: na.partition(z, 1),
    "argpartition": lambda z: na.argpartition(z, 1),
    "reduce_window": lambda z: na.reduce_window(z, computation="max", window=(2,)),
    "gaussian_nll_loss": lambda z: na.gaussian_nll_loss(z, z, na.real(z)),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_AN_ORDER)
def test_complex_numbers_have_no_order(name: str, backend: str) -> None:
    z = on_backend(np.asarray([1 + 2j, 3 - 1j, 2.0], "complex64"), backend)
    with pytest.raises(DtypeError) as caught:
        OF_AN_ORDER[name](z)
    assert str(caught.value) == (
        f"{name}: {backend} cannot compute it for complex64; cast to a dtype that it takes with "
        "na.astype"
    )


@pytest.mark.parametrize("name", ["maximum", "less", "fmin"])
@pytest.mark.parametrize("number", [1.0, 1j])
def test_nor_beside_a_number(name: str, number: Any, backend: str) -> None:
    x = on_backend(np.ones(3, "complex64" if number == 1 else "float32"), backend)
    for operands in ((x, number), (number, x)):
        with pytest.raises(DtypeError, match=f"^{name}: {backend} cannot compute it for"):
            getattr(na, name)(*operands)


@pytest.mark.parametrize("mode", ["min", "max"])
def test_nor_are_they_combined_by_one(mode: str, backend: str) -> None:
    z = on_backend(np.ones(3, "complex64"), backend)
    with pytest.raises(DtypeError, match=f"^setitem: {backend} cannot compute it for complex64"):
        na.setitem(z, slice(2), z[:2], mode=mode)


def test_sets_and_sums_of_exponentials_need_none(backend: str) -> None:
    host = np.asarray([1 + 2j, 3 - 1j, 2.0, 1 + 2j], "complex64")
    z = on_backend(host, backend)
    to_host = backends.core(backend).to_numpy
    np.testing.assert_array_equal(to_host(na.isin(z, z[:2])), [True, True, False, True])
    np.testing.assert_array_equal(to_host(na.setdiff1d(z, z[:2])), [2.0])
    assert_close(np.asarray(to_host(na.logsumexp(z))), np.asarray(np.log(np.exp(host).sum())))


def test_cardinal_sine_and_gates_of_complex_numbers(backend: str) -> None:
    z = np.asarray([0.3 + 0.2j, 0.0, 1 - 2j, 0.5], "complex64")
    x = on_backend(z, backend)
    host = backends.core(backend).to_numpy
    np.testing.assert_allclose(host(na.sinc(x)), np.sinc(z), rtol=1e-5)
    np.testing.assert_allclose(host(na.softsign(x)), z / (1 + np.abs(z)), rtol=1e-6)
    np.testing.assert_allclose(host(na.glu(x)), z[:2] / (1 + np.exp(-z[2:])), rtol=1e-6)


#: Normalizations, whose variances are of real numbers, a loss and a colour.
OF_REAL_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "batch_norm_training": lambda z: na.batch_norm_training(z),
    "group_norm": lambda z: na.group_norm(z, num_groups=1),
    "hsv_to_rgb": lambda z: na.hsv_to_rgb(z, axis=1),
    "instance_norm": lambda z: na.instance_norm(z),
    "layer_norm": lambda z: na.layer_norm(z),
    "nll_loss": lambda z: na.nll_loss(z, na.zeros((2, 3), dtype="int64", like=z)),
    "local_response_norm": lambda z: na.local_response_norm(z, size=1),
}


@pytest.mark.parametrize("name", OF_REAL_NUMBERS)
def test_there_are_no_complex_variances(name: str, backend: str) -> None:
    z = on_backend(np.ones((2, 3, 4), "complex64"), backend)
    with pytest.raises(DtypeError, match=f"^{name}: {backend} cannot compute it for complex64"):
        OF_REAL_NUMBERS[name](z)


@pytest.mark.parametrize("backend", BACKENDS)
def test_derivative_of_the_sign(backend: str) -> None:
    """Only the part of a tangent orthogonal to z changes z / |z|; at 0 the derivative is 0."""
    z = on_backend(np.asarray([3 + 4j, 0, 1j, -2], "complex64"), backend)
    real, imag = (
        na.grad(lambda x, part=part: na.sum(part(na.sign(x))))(z) for part in (na.real, na.imag)
    )
    np.testing.assert_allclose(host(real), [0.128 - 0.096j, 0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(host(imag), [-0.096 + 0.072j, 0, 0, 0.5j], atol=1e-6)

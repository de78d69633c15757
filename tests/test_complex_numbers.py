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
from tests.cases import on_backend
from tests.derivatives import AUTODIFF, GRADIENTS, SUM

A = np.asarray([[1.0, -2.0, 0.5], [3.0, 0.25, 1.0]])
B = np.asarray([0.5, -1.0, 2.0])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("backend", AUTODIFF)
def test_gradients_of_the_parts(backend: str) -> None:
    """Σ (2 Re z + 3 Im z): of z = a + ib it has the slopes 2 and 3; of r exp(iφ) those of its parts."""

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
def test_what_is_imaginary_is_not_zero(backend: str) -> None:
    x = backends.core(backend).from_numpy(np.asarray([0j, 1j, 1.0], "complex64"))
    host = lambda y: backends.core(backend).to_numpy(y)  # noqa: E731
    np.testing.assert_array_equal(host(na.nonzero(x)[0]), [1, 2])
    np.testing.assert_array_equal(host(na.astype(x, na.bool)), [False, True, True])
    np.testing.assert_array_equal(host(na.logical_not(x)), [True, False, False])
    np.testing.assert_array_equal(host(na.logical_and(x, x)), [False, True, True])
    assert bool(host(na.any(x[:2])))
    assert bool(host(na.all(x[1:])))
    assert int(host(na.count_nonzero(x))) == 2
    np.testing.assert_array_equal(host(na.round(x * 1.4)), [0j, 1j, 1.0])

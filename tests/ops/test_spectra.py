"""Derivatives through complex spectra, the inverses, and dtypes, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.testing import assert_close
from tests.arrays import host, on
from tests.derivatives import AUTODIFF, GRADIENTS, SUM

pytestmark = pytest.mark.usefixtures("x64")

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 7))
WINDOW = RNG.uniform(0.5, 1.5, 4)


@pytest.mark.parametrize("op", ["irfft", "hfft", "fft", "ifft"])
def test_padding_of_an_empty_axis_is_zero(op: str, backend: str) -> None:
    x = on(backend, np.zeros((2, 0), "complex64"))
    np.testing.assert_array_equal(host(getattr(na, op)(x, n=8)), np.zeros((2, 8)))


def parts(x: Any) -> Any:
    """Real and imaginary part, weighed apart so that neither hides the other."""
    return na.concat([na.square(na.real(x)), na.multiply(na.imag(x), na.real(x))], axis=-1)


def both(x: Any) -> Any:
    """Complex numbers that depend on reals."""
    return na.multiply(x, 1.0 - 0.5j)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "fft": lambda x: parts(na.fft(x, n=5)),
    "fft-of-complex": lambda x: parts(na.fft(both(x), axis=0)),
    "ifft": lambda x: parts(na.ifft(x, n=9, norm="ortho")),
    "rfft-odd": lambda x: parts(na.rfft(x)),
    "rfft-even": lambda x: parts(na.rfft(x, n=6, norm="forward")),
    "rfft-longer": lambda x: parts(na.rfft(x, n=10)),
    "irfft-even": lambda x: na.square(na.irfft(both(x))),
    "irfft-odd": lambda x: na.square(na.irfft(both(x), n=9)),
    "irfft-longer": lambda x: na.square(na.irfft(both(x), n=16)),
    "hfft": lambda x: na.square(na.hfft(both(x), n=8)),
    "ihfft": lambda x: parts(na.ihfft(x, axis=0)),
    "fftn": lambda x: parts(na.fftn(x, s=(2, 9), axes=(0, 1))),
    "rfftn": lambda x: parts(na.rfftn(x, s=(4, 6), axes=(1, 0))),
    "irfftn": lambda x: na.square(na.irfftn(both(x), s=(4, 9), axes=(0, 1))),
    "stft": lambda x: parts(na.stft(x, na.asarray(WINDOW, like=x), n_fft=5, hop_length=2)),
    "istft": lambda x: na.square(
        na.istft(both(x), na.asarray(WINDOW, like=x), n_fft=4, hop_length=2)
    ),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("backend", AUTODIFF)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(backend: str, name: str) -> None:
    """The gradient of ⟨w, f(x)⟩ is what central differences of f on NumPy give."""
    function = FUNCTIONS[name]
    weight = np.random.default_rng(1).uniform(0.5, 1.5, function(X).shape)

    def loss(value: Any) -> Any:
        return SUM[backend](function(value) * on(backend, weight))

    (gradient,) = GRADIENTS[backend](loss, [on(backend, X)])
    step = 1e-5
    for seed in (2, 3):
        direction = np.random.default_rng(seed).uniform(-1, 1, X.shape)
        moved = [(function(X + sign * step * direction) * weight).sum() for sign in (1, -1)]
        slope = (moved[0] - moved[1]) / (2 * step)
        assert abs((gradient * direction).sum() - slope) <= 1e-6 * (1 + abs(slope))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_inverses(backend: str, norm: str) -> None:
    x = on(backend, X)
    assert_close(host(na.real(na.ifft(na.fft(x, norm=norm), norm=norm))), X)
    assert_close(host(na.irfft(na.rfft(x, norm=norm), n=7, norm=norm)), X)
    assert_close(host(na.hfft(na.ihfft(x, norm=norm), n=7, norm=norm)), X)
    assert_close(host(na.irfftn(na.rfftn(x, norm=norm), s=(3, 7), norm=norm)), X)
    for kind in (1, 2, 3, 4):
        there = na.dct(x, kind=kind, axis=0, norm=norm)
        assert_close(host(na.idct(there, kind=kind, axis=0, norm=norm)), X)


@pytest.mark.parametrize("options", [{}, {"hop_length": 3}, {"normalized": True}, {"length": 19}])
def test_signal_comes_back(backend: str, options: dict[str, Any]) -> None:
    signal = np.random.default_rng(4).standard_normal((2, 21))
    window = on(backend, np.hanning(9)[1:])
    forth = {k: v for k, v in options.items() if k != "length"}
    spectrum = na.stft(on(backend, signal), window, n_fft=8, **forth)
    found = host(na.istft(spectrum, window, n_fft=8, **options))
    assert_close(found, signal[:, : found.shape[-1]])
    assert found.shape[-1] >= 18


def test_times_that_no_frame_reaches_are_zero(backend: str) -> None:
    window = on(backend, np.asarray([0.0, 1.0]))
    spectrum = na.stft(on(backend, np.ones(6)), window, n_fft=2, hop_length=2, center=False)
    found = na.istft(spectrum, window, n_fft=2, hop_length=2, center=False)
    assert host(found).tolist() == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "bool"])
def test_precision_of_results(backend: str, dtype: str) -> None:
    """Of float64 complex128 and back, of everything else complex64 and float32."""
    x = na.astype(on(backend, np.ones(4, "float32")), dtype)
    wide = dtype == "float64"
    spectrum, reals = ("complex128", "float64") if wide else ("complex64", "float32")
    for op in (na.fft, na.ifft, na.rfft, na.ihfft, na.fftn, na.rfftn):
        assert na.dtype_of(op(x)).name == spectrum, op
    for op in (na.irfft, na.hfft, na.irfftn, na.dct, na.idct):
        assert na.dtype_of(op(x)).name == reals, op


def test_frequencies_follow_an_array(backend: str) -> None:
    like = on(backend, np.ones(2, "float32"))
    assert na.backend_of(na.fftfreq(4, like=like)) == backend
    assert na.dtype_of(na.rfftfreq(4, like=like, dtype="float64")) is na.float64

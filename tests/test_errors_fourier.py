"""What Fourier and cosine transforms say about arguments that they cannot take, on every backend."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import ArgumentError, DtypeError, ShapeError

X = np.arange(12, dtype="float32").reshape(2, 6)

ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    *(
        (
            lambda x, op=op: op(x, norm="unit"),
            ArgumentError,
            f"{op.__name__}: norm: got 'unit', expected one of backward, ortho, forward",
        )
        for op in (
            na.fft,
            na.ifft,
            na.rfft,
            na.irfft,
            na.hfft,
            na.ihfft,
            na.fftn,
            na.ifftn,
            na.rfftn,
            na.irfftn,
            na.dct,
            na.idct,
        )
    ),
    *(
        (
            lambda x, op=op: op(x, axis=2),
            ShapeError,
            f"{op.__name__}: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
        )
        for op in (na.fft, na.ifft, na.rfft, na.irfft, na.hfft, na.ihfft, na.dct)
    ),
    (lambda x: na.fftn(x, s="a"), ArgumentError, "fftn: s: got 'a', expected a sequence of ints"),
    (lambda x: na.fft(x, n=0), ShapeError, "fft: n: got the length 0, expected at least 1"),
    (lambda x: na.irfft(x, n=-1), ShapeError, "irfft: n: got the length -1, expected at least 1"),
    (
        lambda x: na.irfft(x[:, :1]),
        ShapeError,
        "irfft: n: got the length 0, expected at least 1",
    ),
    (
        lambda x: na.fftn(x, axes=(0, 3)),
        ShapeError,
        "fftn: axes: got 3 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x: na.ifftn(x, axes=(0, 0)),
        ShapeError,
        "ifftn: axes: got (0, 0), in which an axis stands twice",
    ),
    (
        lambda x: na.rfftn(x, s=(2,), axes=(0, 1)),
        ShapeError,
        "rfftn: s: got 1 lengths for 2 axes, expected one for each",
    ),
    (
        lambda x: na.irfftn(x, axes=()),
        ShapeError,
        "irfftn: axes: got none, expected one axis at least, the last real",
    ),
    *(
        (
            lambda x, op=op: op(na.multiply(x, 1j)),
            DtypeError,
            f"{op.__name__}: x: got complex64, expected real numbers; {other} takes complex ones",
        )
        for op, other in (
            (na.rfft, "fft"),
            (na.ihfft, "ifft"),
            (na.rfftn, "fftn"),
            (na.dct, "fft"),
        )
    ),
    (
        lambda x: na.fftfreq(0, like=x),
        ArgumentError,
        "fftfreq: n: got 0, expected an int of at least 1",
    ),
    (
        lambda x: na.rfftfreq(4, dtype="int32", like=x),
        DtypeError,
        "rfftfreq: dtype: got int32, expected a real floating dtype",
    ),
    (lambda x: na.dct(x, kind=5), ArgumentError, "dct: kind: got 5, expected 1, 2, 3 or 4"),
    (
        lambda x: na.idct(x, kind=1, n=1),
        ShapeError,
        "idct: n: got the length 1, expected at least 2 for kind 1",
    ),
    (
        lambda x: na.stft(x, n_fft=0),
        ArgumentError,
        "stft: n_fft: got 0, expected an int of at least 1",
    ),
    (
        lambda x: na.stft(x, n_fft=4, hop_length=1.5),
        ArgumentError,
        "stft: hop_length: got 1.5, expected an int",
    ),
    (
        lambda x: na.stft(x, n_fft=4, win_length=5),
        ShapeError,
        "stft: win_length: got 5, expected at most n_fft, 4",
    ),
    (
        lambda x: na.stft(x, x[0], n_fft=8, win_length=5),
        ShapeError,
        "stft: window: got the shape (6,), expected (5,)",
    ),
    (
        lambda x: na.stft(x, n_fft=8, center=False),
        ShapeError,
        "stft: x: got 6 elements along the time, expected at least n_fft, 8",
    ),
    (
        lambda x: na.stft(na.multiply(x, 1j), n_fft=4, onesided=True),
        ArgumentError,
        "stft: onesided: got True for complex numbers, expected False or None",
    ),
    (
        lambda x: na.istft(na.multiply(x, 1j), n_fft=4),
        ShapeError,
        "istft: x: got 2 frequencies for n_fft=4, expected 4",
    ),
    (
        lambda x: na.istft(x[0], n_fft=4),
        ShapeError,
        "istft: x: got the shape (6,), expected (*batch, frequency, frame)",
    ),
    (
        lambda x: na.istft(x, n_fft=2, onesided=True, return_complex=True),
        ArgumentError,
        "istft: onesided: got True with return_complex, expected False",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(
    backend: str, call: Callable[[Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        call(backends.core(backend).from_numpy(X))

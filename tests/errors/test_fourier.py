"""Refused calls of functions that transform signals."""

from __future__ import annotations

from typing import Any

import nestarray
from nestarray.errors import ArgumentError, DtypeError, IndexingError, ShapeError
from tests.errors.checks import Row, check_refused, refused

na: Any = nestarray  # whose signatures forbid these calls

ROWS: list[Row] = [
    *(
        (
            lambda signal, op=op: op(signal, norm="unit"),
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
            lambda signal, op=op: op(signal, axis=2),
            IndexingError,
            f"{op.__name__}: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
        )
        for op in (na.fft, na.ifft, na.rfft, na.irfft, na.hfft, na.ihfft, na.dct)
    ),
    (
        lambda signal: na.fftn(signal, s="a"),
        ArgumentError,
        "fftn: s: got 'a', expected a sequence of ints",
    ),
    (
        lambda signal: na.fft(signal, n=0),
        ShapeError,
        "fft: n: got the length 0, expected at least 1",
    ),
    (
        lambda signal: na.irfft(signal, n=-1),
        ShapeError,
        "irfft: n: got the length -1, expected at least 1",
    ),
    (
        lambda signal: na.irfft(signal[:, :1]),
        ShapeError,
        "irfft: n: got the length 0, expected at least 1",
    ),
    (
        lambda signal: na.fftn(signal, axes=(0, 3)),
        IndexingError,
        "fftn: axes: got 3 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda signal: na.ifftn(signal, axes=(0, 0)),
        ShapeError,
        "ifftn: axes: got (0, 0), with a repeated axis",
    ),
    (
        lambda signal: na.rfftn(signal, s=(2,), axes=(0, 1)),
        ShapeError,
        "rfftn: s: got 1 lengths for 2 axes, expected one for each",
    ),
    (
        lambda signal: na.irfftn(signal, axes=()),
        ShapeError,
        "irfftn: axes: got none, expected one axis at least, the last real",
    ),
    *(
        (
            lambda signal, op=op: op(na.multiply(signal, 1j)),
            DtypeError,
            f"{op.__name__}: x: got complex64, expected real numbers; {other} takes complex ones",
        )
        for op, other in ((na.rfft, "fft"), (na.ihfft, "ifft"), (na.rfftn, "fftn"), (na.dct, "fft"))
    ),
    (
        lambda signal: na.fftfreq(0, like=signal),
        ArgumentError,
        "fftfreq: n: got 0, expected an int of at least 1",
    ),
    (
        lambda signal: na.rfftfreq(4, dtype="int32", like=signal),
        DtypeError,
        "rfftfreq: dtype: got int32, expected a real floating dtype",
    ),
    (
        lambda signal: na.dct(signal, kind=5),
        ArgumentError,
        "dct: kind: got 5, expected 1, 2, 3 or 4",
    ),
    (
        lambda signal: na.idct(signal, kind=1, n=1),
        ShapeError,
        "idct: n: got the length 1, expected at least 2 for kind 1",
    ),
    (
        lambda signal: na.stft(signal, n_fft=0),
        ArgumentError,
        "stft: n_fft: got 0, expected an int of at least 1",
    ),
    (
        lambda signal: na.stft(signal, n_fft=4, hop_length=1.5),
        ArgumentError,
        "stft: hop_length: got 1.5, expected an int",
    ),
    (
        lambda signal: na.stft(signal, n_fft=4, win_length=5),
        ShapeError,
        "stft: win_length: got 5, expected at most n_fft, 4",
    ),
    (
        lambda signal: na.stft(signal, signal[0], n_fft=8, win_length=5),
        ShapeError,
        "stft: window: got the shape (6,), expected (5,)",
    ),
    (
        lambda signal: na.stft(signal, n_fft=8, center=False),
        ShapeError,
        "stft: x: got 6 elements along the time, expected at least n_fft, 8",
    ),
    (
        lambda signal: na.stft(na.multiply(signal, 1j), n_fft=4, onesided=True),
        ArgumentError,
        "stft: onesided: got True for complex numbers, expected False or None",
    ),
    (
        lambda signal: na.istft(na.multiply(signal, 1j), n_fft=4),
        ShapeError,
        "istft: x: got 2 frequencies for n_fft=4, expected 4",
    ),
    (
        lambda signal: na.istft(signal[0], n_fft=4),
        ShapeError,
        "istft: x: got the shape (6,), expected (*batch, frequency, frame)",
    ),
    (
        lambda signal: na.istft(signal, n_fft=2, onesided=True, return_complex=True),
        ArgumentError,
        "istft: onesided: got True with return_complex, expected False",
    ),
    (
        lambda x: na.fftfreq(4, d=0.0, like=x),
        ArgumentError,
        "fftfreq: d: got 0.0, expected a nonzero number",
    ),
    (
        lambda ones: na.fft(ones(3, 4), axis=True),
        ArgumentError,
        "fft: axis: got True, expected an int",
    ),
    (lambda ones: na.rfft(ones(3, 4), n=True), ArgumentError, "rfft: n: got True, expected an int"),
    (
        lambda ones: na.fftn(ones(3, 4), s=(True, 2)),
        ArgumentError,
        "fftn: s: got True, expected an int",
    ),
    (
        lambda ones: na.fftn(ones(3, 19), axes=(True,)),
        ArgumentError,
        "fftn: axes: got True, expected an int",
    ),
]


@refused(ROWS)
def test_refused(row: Row, backend: str) -> None:
    check_refused(row, backend)

"""The functions of `tf.signal` against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.frontends import tensorflow_expressions as expressions

EXPRESSIONS = [
    "fft(c)", "ifft(c)", "fft2d(cm)", "ifft2d(cm)", "fft3d([c, c])", "ifft3d([c, c])",
    "rfft(x)", "rfft(t, [6])", "rfft(t, [3])", "rfft2d(t)", "rfft2d(t, [5, 2])", "rfft3d(t)",
    "rfft3d(volume[0], [4, 3, 6])", "irfft(c)", "irfft(c, [5])", "irfft(c, [8])", "irfft2d(cm)",
    "irfft2d(cm, [2, 5])", "irfft3d([c, c])", "irfft3d([c, c], [2, 2, 3])",
    "fftshift(t)", "fftshift(t, 1)", "fftshift(t, [0, -1])", "ifftshift(t)", "ifftshift(i, -1)",
    *[f"dct(t, {kind})" for kind in (1, 2, 3, 4)], *[f"idct(t, {kind})" for kind in (1, 2, 3, 4)],
    *[f"{name}(t, {kind}, norm='ortho')" for name in ("dct", "idct") for kind in (2, 3, 4)],
    "dct(t, 2, 6)", "dct(t, 3, 3)",
    *[
        f"{name}({length}{rest})"
        for name in ("hann_window", "hamming_window")
        for length in (1, 7, 8)
        for rest in ("", ", periodic=False")
    ],
    "vorbis_window(8)", "kaiser_window(1)", "kaiser_window(7)", "kaiser_window(8, 4.0)",
    "kaiser_bessel_derived_window(8)", "kaiser_bessel_derived_window(4, 2.0)",
    "frame(t, 3, 2)", "frame(t, 3, 2, axis=1)", "frame(t, 3, 2, True, 1.5)", "frame(ties, 6, 2)",
    "frame(ties, 2, 3, pad_end=True)", "overlap_and_add(t, 2)", "overlap_and_add(t, 4)",
    "overlap_and_add(x, 5)",
    "stft(v, 4, 1)", "stft(signal[..., 0], 3, 2)", "stft(signal[..., 0], 3, 2, 8, None, True)",
    "inverse_stft(c, 4, 2)", "inverse_stft(c, 3, 1, 8, None)", "inverse_stft(c, 6, 2)",
    "inverse_stft(c, 4, 2, window_fn=inverse_stft_window_fn(2))",
    "inverse_stft(stft(v, 4, 2), 4, 2, window_fn=inverse_stft_window_fn(2))",
    "mdct(signal[..., 0], 4)", "mdct(t, 4, None, True, 'ortho')", "inverse_mdct(t)",
    "inverse_mdct(t, None, 'ortho')", "inverse_mdct(x[:, :2], kaiser_bessel_derived_window)",
    "linear_to_mel_weight_matrix()", "linear_to_mel_weight_matrix(5, 20, 16000, 0.0, 8000.0)",
    "mfccs_from_log_mel_spectrograms(x)",
]  # fmt: skip
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    "rfft3d": "upstream has none",
    "rfft(t, [3])": "an error upstream, where the axis is cropped",
    "rfft2d(t, [5, 2])": "an error upstream, where an axis is cropped",
}
#: Functions without a kernel for CPUs upstream, and NumPy's.
WITHOUT_KERNEL = {"fftnd": "fftn", "ifftnd": "ifftn", "rfftnd": "rfftn", "irfftnd": "irfftn"}


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, tf.signal, frontend.signal, backend)


@pytest.mark.one_in(32)
@pytest.mark.parametrize(
    "expression", [row for row in EXPRESSIONS if not row.startswith(tuple(NOT_DIFFERENTIATED))]
)
def test_gradients(expression: str, backend: str) -> None:
    if expressions.is_differentiable(expression, tf.signal):
        expressions.assert_gradients(expression, tf.signal, frontend.signal, backend)


@pytest.mark.parametrize("name", WITHOUT_KERNEL)
@pytest.mark.parametrize(("length", "axes"), [(None, None), ((4, 3), (0, -1)), (None, (1,))])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_transforms_of_several_axes(name: str, length: Any, axes: Any, norm: Any) -> None:
    x = expressions.INPUTS["x" if name == "rfftnd" else "cm"]
    found = getattr(frontend.signal, name)(x, length, axes, norm)
    wanted = getattr(np.fft, WITHOUT_KERNEL[name])(x, length, axes, norm)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s, x: s.fft(x), "fft: got a tensor of float64, expected a dtype of kind complex"),
        (lambda s, x: s.dct(x, 5), "dct: type: got 5, expected 1, 2, 3 or 4"),
        (lambda s, x: s.dct(x, axis=0), "dct: axis: got 0, expected -1"),
        (lambda s, x: s.dct(x, 1, norm="ortho"), "dct: norm: got 'ortho' for type 1"),
        (lambda s, x: s.mdct(x, 6), "mdct: frame_length: got 6, expected a multiple of 4"),
        (lambda s, x: s.hann_window(4, dtype="int32"), "hann_window: dtype: got int32"),
        (lambda s, x: s.linear_to_mel_weight_matrix(upper_edge_hertz=9e3), "expected 0 ≤ lower"),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises((na.errors.ArgumentError, na.errors.DtypeError), match=message):
        call(frontend.signal, np.eye(3))

"""Functions for which torch has no record of test inputs: one expression, run by both."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
import torch

import nestarray as na
import nestarray.frontends.torch as frontend
from tests.frontends.aten_cases import Draw
from tests.frontends.compare import assert_same, to_backend

FLOAT_LIMITS = (
    "bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution", "dtype",
)  # fmt: skip

#: Function → an expression of the namespace `t` and of drawn arrays `x(*sizes)`.
EXPRESSIONS: dict[str, Callable[[Any, Callable[..., Any]], Any]] = {
    "torch.adjoint": lambda t, x: t.adjoint(x(2, 3, 4)),
    "torch.as_tensor": lambda t, x: t.as_tensor([[1, 2], [3, 4]]),
    "torch.tensor": lambda t, x: [t.tensor(2), t.tensor([1.0, 2]), t.tensor([True])],
    "torch.chain_matmul": lambda t, x: t.chain_matmul(x(2, 3), x(3, 4), x(4, 2)),
    "torch.finfo": lambda t, x: [
        tuple(getattr(t.finfo(dtype), name) for name in FLOAT_LIMITS)
        for dtype in (t.float16, t.bfloat16, t.float32, t.float64, t.complex64)
    ],
    "torch.from_numpy": lambda t, x: t.from_numpy(np.arange(6.0, dtype="float32")),
    "torch.iinfo": lambda t, x: [
        tuple(getattr(t.iinfo(dtype), name) for name in ("bits", "max", "min"))
        for dtype in (t.uint8, t.int8, t.int32, t.int64)
    ],
    "torch.is_tensor": lambda t, x: [t.is_tensor(x(2)), t.is_tensor([1.0]), t.is_tensor(1)],
    "torch.hamming_window": lambda t, x: [t.hamming_window(7), t.hamming_window(1)],
    "torch.hann_window": lambda t, x: [t.hann_window(7), t.hann_window(7, False)],
    "torch.bartlett_window": lambda t, x: [t.bartlett_window(7), t.bartlett_window(6, False)],
    "torch.blackman_window": lambda t, x: [t.blackman_window(7), t.blackman_window(6, False)],
    "torch.kaiser_window": lambda t, x: [t.kaiser_window(7), t.kaiser_window(6, False, 4.0)],
    "torch.conv_tbc": lambda t, x: t.conv_tbc(x(5, 2, 3), x(2, 3, 4), x(4), 1),
    "torch.linalg.matrix_sqrth": lambda t, x: t.linalg.matrix_sqrth(
        t.matmul(y := x(2, 3, 4), t.adjoint(y))
    ),
    "torch.linalg.polar": lambda t, x: list(t.linalg.polar(x(2, 4, 3))),
    "torch.range": lambda t, x: [t.range(1, 4.5, 0.5), t.range(0, 4)],
    "torch.is_complex": lambda t, x: t.is_complex(x(2)),
    "torch.is_floating_point": lambda t, x: t.is_floating_point(x(2)),
    "torch.numel": lambda t, x: t.numel(x(2, 3)),
    "torch.promote_types": lambda t, x: str(t.promote_types(t.int64, t.float32)).split(".")[-1],
    "torch.rnn_relu": lambda t, x: t.rnn_relu(
        x(5, 2, 3), x(1, 2, 4), [x(4, 3), x(4, 4), x(4), x(4)], True, 1, 0.0, False, False, False
    ),
    "torch.fft.fftfreq": lambda t, x: [t.fft.fftfreq(5), t.fft.fftfreq(6, 0.5)],
    "torch.fft.rfftfreq": lambda t, x: [t.fft.rfftfreq(5), t.fft.rfftfreq(6, 0.5)],
    "torch.Tensor.dim": lambda t, x: t.Tensor.dim(x(2, 3)),
    "torch.Tensor.new_tensor": lambda t, x: t.Tensor.new_tensor(x(2), [1, 2]),
    "torch.special.expit": lambda t, x: t.special.expit(x(2, 3)),
    "torch.nn.functional.affine_grid": lambda t, x: t.nn.functional.affine_grid(
        x(2, 2, 3), [2, 1, 4, 5], align_corners=False
    ),
    "torch.nn.functional.grouped_mm": lambda t, x: [
        t.nn.functional.grouped_mm(x(6, 8), x(3, 8, 4), offs=t.tensor([2, 2, 6], dtype=t.int32)),
        t.nn.functional.grouped_mm(x(2, 3, 8), x(8, 12), offs=t.tensor([4, 12], dtype=t.int32)),
        t.nn.functional.grouped_mm(x(3, 8), x(8, 4), offs=t.tensor([3, 8], dtype=t.int32)),
        t.nn.functional.grouped_mm(x(2, 3, 8), x(2, 8, 4)),
    ],
    "torch.nn.functional.lp_pool1d": lambda t, x: t.nn.functional.lp_pool1d(x(2, 3, 8), 2, 3),
    "torch.nn.functional.lp_pool2d": lambda t, x: t.nn.functional.lp_pool2d(x(2, 3, 8, 8), 2, 2, 1),
    "torch.nn.functional.lp_pool3d": lambda t, x: t.nn.functional.lp_pool3d(
        x(2, 3, 4, 4, 4), 2, (1, 2, 2)
    ),
    "torch.nn.functional.fractional_max_pool2d": lambda t, x: t.nn.functional.fractional_max_pool2d(
        x(2, 3, 7, 6), (2, 3), (3, 3), _random_samples=t.abs(t.sin(x(2, 3, 2)))
    ),
    "torch.nn.functional.fractional_max_pool3d": lambda t, x: t.nn.functional.fractional_max_pool3d(
        x(2, 3, 7, 6, 5), 2, output_ratio=0.5, _random_samples=t.abs(t.sin(x(2, 3, 3)))
    ),
    "torch.nn.functional.rrelu": lambda t, x: t.nn.functional.rrelu(x(9)),
    "torch.nn.functional.upsample": lambda t, x: t.nn.functional.upsample(
        x(1, 2, 4, 4), scale_factor=1.7, mode="bilinear"
    ),
    "torch.ops.aten._embedding_bag": lambda t, x: t.ops.aten._embedding_bag(
        x(5, 3), t.tensor([0, 2, 4, 1]), t.tensor([0, 3]), False, 1
    )[0],
    "torch.ops.aten._is_any_true": lambda t, x: t.ops.aten._is_any_true(x(5) > 1),
    "torch.ops.aten.adaptive_max_pool3d": lambda t, x: t.ops.aten.adaptive_max_pool3d(
        x(1, 2, 4, 5, 6), [2, 3, 4]
    ),
    "torch.ops.aten.max_pool3d_with_indices": lambda t, x: t.ops.aten.max_pool3d_with_indices(
        x(1, 2, 5, 5, 6), [2, 2, 2], [2, 1, 2], [1, 0, 1]
    ),
    "torch.ops.aten.native_batch_norm": lambda t, x: t.ops.aten.native_batch_norm(
        x(4, 3, 5), x(3), x(3), None, None, True, 0.1, 1e-5
    ),
    "torch.ops.aten.bincount": lambda t, x: t.ops.aten.bincount(
        t.tensor([0, 2, 2]), t.tensor([1.0, 2.0, 3.0]), 5
    ),
    "torch.sym_float": lambda t, x: t.sym_float(2),
    "torch.sym_int": lambda t, x: t.sym_int(2.7),
    "torch.sym_ite": lambda t, x: t.sym_ite(True, 2, 3),
    "torch.sym_max": lambda t, x: t.sym_max(2, 3),
    "torch.sym_min": lambda t, x: t.sym_min(2, 3),
    "torch.sym_not": lambda t, x: t.sym_not(True),
    "torch.sym_sum": lambda t, x: t.sym_sum([2, 3]),
}


def _evaluate(namespace: Any, name: str, convert: Callable[[Any], Any]) -> Any:
    draw = Draw()
    return EXPRESSIONS[name](namespace, lambda *sizes: convert(draw.f(*sizes)))


@pytest.mark.parametrize("name", list(EXPRESSIONS))
def test_expression(name: str, backend: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch deprecates some of these
        wanted = _evaluate(torch, name, lambda x: x)
    with jax.enable_x64(True), na.use_backend(backend):
        actual = _evaluate(frontend, name, lambda x: to_backend(x, backend))
        assert_same(actual, wanted, backend)


def test_in_place_methods_are_functions(backend: str) -> None:
    x = Draw().f(3, 4)
    with na.use_backend(backend):
        ours = frontend.Tensor.fill_diagonal(to_backend(x, backend), 7.0)
    assert_same(ours, x.clone().fill_diagonal_(7.0), backend)

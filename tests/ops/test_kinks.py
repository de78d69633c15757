"""Derivatives at kinks and ties are those of the table, on every backend and in every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from tests.arrays import host, on
from tests.kinks import KINKS, Kink

#: torch.compile cannot differentiate them: "TensorIterator does not support symbolic shapes".
NOT_COMPILED_BY_TORCH = ("hard_shrink", "soft_shrink")

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, of 1 / 0 and ∞ − ∞
    pytest.mark.parametrize("kink", [pytest.param(k, id=k.name) for k in KINKS]),
]


def _check(found: Any, expected: Any, kink: Kink) -> None:
    expected = expected or [np.zeros_like(x) for x in kink.args]
    for got, value in zip(found, expected, strict=True):
        value = np.asarray(value, "float64")
        got = np.where(np.isnan(value), value, host(got))  # NaN in the table: not specified
        np.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-12)


def _inputs(kink: Kink, backend: str) -> list[Any]:
    return [on(backend, np.asarray(x, "float64")) for x in kink.args]


def test_first_derivatives(kink: Kink, backend: str) -> None:
    _check(kink.gradients(*_inputs(kink, backend)), kink.first, kink)


def test_second_derivatives(kink: Kink, backend: str) -> None:
    _check(kink.second_gradients(*_inputs(kink, backend)), kink.second, kink)


def test_compiled(kink: Kink, backend: str) -> None:
    if backend == "torch" and kink.function in NOT_COMPILED_BY_TORCH:
        pytest.skip("torch.compile has no derivative")
    _check(na.jit(kink.gradients)(*_inputs(kink, backend)), kink.first, kink)


def test_vectorized(kink: Kink, backend: str) -> None:
    rows = [na.stack([x, x]) for x in _inputs(kink, backend)]
    found = na.vmap(kink.gradients)(*rows)
    for i in range(2):
        _check([g[i] for g in found], kink.first, kink)


def test_forward_mode(kink: Kink, backend: str) -> None:
    inputs = _inputs(kink, backend)
    expected = sum(np.sum(np.asarray(g, "float64")) for g in kink.first)
    if not np.isfinite(expected) or not all(np.isfinite(x).all() for x in kink.args):
        pytest.skip("forward mode multiplies what reverse mode leaves out, 0 · ∞ among it")
    pushed = na.jvp(kink.total, tuple(inputs), tuple(na.ones_like(x) for x in inputs))[1]
    np.testing.assert_allclose(host(pushed), expected, rtol=1e-12, atol=1e-12)

"""Derivatives at kinks and ties equal the table, on every backend and in every mode."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.config import BACKENDS
from tests.arrays import host, on
from tests.kinks import KINKS, Kink

#: torch.compile cannot differentiate them: "TensorIterator does not support symbolic shapes".
NOT_COMPILED_BY_TORCH = ("hard_shrink", "soft_shrink")

pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, of 1 / 0 and ∞ − ∞
]


def _of(kinks: Iterable[Kink]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kink", [pytest.param(k, id=k.name) for k in kinks])


def _is_finite(kink: Kink) -> bool:
    """Whether points and derivatives are finite: forward mode computes 0 · ∞ elsewhere."""
    return all(np.isfinite(np.asarray(x, "float64")).all() for x in (*kink.args, *kink.first))


PAIRS = [
    pytest.param(kink, backend, id=f"{backend}-{kink.name}")
    for kink in KINKS
    for backend in BACKENDS
    if backend != "torch" or kink.function not in NOT_COMPILED_BY_TORCH
]


def _check(found: Any, expected: Any, kink: Kink) -> None:
    expected = expected or [np.zeros_like(x) for x in kink.args]
    for got, value in zip(found, expected, strict=True):
        value = np.asarray(value, "float64")
        got = np.where(np.isnan(value), value, host(got))  # NaN in the table: not specified
        np.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-12)


def _inputs(kink: Kink, backend: str) -> list[Any]:
    return [on(backend, np.asarray(x, "float64")) for x in kink.args]


@pytest.mark.one_in(8)
@_of(KINKS)
def test_first_derivatives(kink: Kink, backend: str) -> None:
    _check(kink.gradients(*_inputs(kink, backend)), kink.first, kink)


@pytest.mark.one_in(8)
@_of(KINKS)
def test_second_derivatives(kink: Kink, backend: str) -> None:
    _check(kink.second_gradients(*_inputs(kink, backend)), kink.second, kink)


@pytest.mark.one_in(16)
@pytest.mark.parametrize(("kink", "backend"), PAIRS)
def test_compiled(kink: Kink, backend: str) -> None:
    _check(na.jit(kink.gradients)(*_inputs(kink, backend)), kink.first, kink)


@pytest.mark.one_in(8)
@_of(KINKS)
def test_vectorized(kink: Kink, backend: str) -> None:
    rows = [na.stack([x, x]) for x in _inputs(kink, backend)]
    found = na.vmap(kink.gradients)(*rows)
    for i in range(2):
        _check([g[i] for g in found], kink.first, kink)


@pytest.mark.one_in(8)
@_of(filter(_is_finite, KINKS))
def test_forward_mode(kink: Kink, backend: str) -> None:
    inputs = _inputs(kink, backend)
    expected = sum(np.sum(np.asarray(g, "float64")) for g in kink.first)
    pushed = na.jvp(kink.total, tuple(inputs), tuple(na.ones_like(x) for x in inputs))[1]
    np.testing.assert_allclose(host(pushed), expected, rtol=1e-12, atol=1e-12)

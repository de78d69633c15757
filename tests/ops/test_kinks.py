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


def _is_compiled_by_torch(kink: Kink) -> bool:
    """Whether torch.compile differentiates it.

    Not the shrinking functions, "TensorIterator does not support symbolic shapes", and in 2.14 not
    reductions of empty arrays, whose code names a size that it does not define.
    """
    is_empty = kink.function in ("max", "ptp") and not np.size(kink.args[0])
    return kink.function not in ("hard_shrink", "soft_shrink") and not is_empty


pytestmark = [
    pytest.mark.usefixtures("x64"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # NumPy's, of 1 / 0 and ∞ − ∞
]


def _of(kinks: Iterable[Kink]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("kink", [pytest.param(k, id=k.name) for k in kinks])


def _is_finite(kink: Kink) -> bool:
    """Whether points and derivatives are finite: forward mode computes 0 · ∞ elsewhere."""
    return all(np.isfinite(np.asarray(x, "float64")).all() for x in (*kink.args, *kink.first))


def _is_smooth(kink: Kink) -> bool:
    """Whether the table has the second derivative along (1, 1, …)."""
    seconds = kink.second or [np.zeros_like(np.asarray(x, "float64")) for x in kink.args]
    return not kink.counted and all(np.isfinite(np.asarray(x, "float64")).all() for x in seconds)


PAIRS = [
    pytest.param(kink, backend, id=f"{backend}-{kink.name}")
    for kink in KINKS
    for backend in BACKENDS
    if backend != "torch" or _is_compiled_by_torch(kink)
]


def _check(found: Any, expected: Any, kink: Kink) -> None:
    expected = expected or [np.zeros_like(x) for x in kink.args]
    for got, value in zip(found, expected, strict=True):
        value = np.asarray(value, "float64")
        got = np.where(np.isnan(value), value, host(got))  # NaN in the table: not specified
        np.testing.assert_allclose(got, value, rtol=1e-12, atol=1e-12)


def _inputs(kink: Kink, backend: str) -> list[Any]:
    return [on(backend, np.asarray(x, "float64")) for x in kink.args]


@pytest.mark.one_in(16)
@_of(KINKS)
def test_first_derivatives(kink: Kink, backend: str) -> None:
    _check(kink.gradients(*_inputs(kink, backend)), kink.first, kink)


@pytest.mark.one_in(16)
@_of(KINKS)
def test_second_derivatives(kink: Kink, backend: str) -> None:
    _check(kink.second_gradients(*_inputs(kink, backend)), kink.second, kink)


@pytest.mark.one_in(32)
@pytest.mark.parametrize(("kink", "backend"), PAIRS)
def test_compiled(kink: Kink, backend: str) -> None:
    _check(na.jit(kink.gradients)(*_inputs(kink, backend)), kink.first, kink)


@pytest.mark.one_in(16)
@_of(KINKS)
def test_vectorized(kink: Kink, backend: str) -> None:
    rows = [na.stack([x, x]) for x in _inputs(kink, backend)]
    found = na.vmap(kink.gradients)(*rows)
    for i in range(2):
        _check([g[i] for g in found], kink.first, kink)


@pytest.mark.one_in(16)
@_of(filter(_is_finite, KINKS))
def test_forward_mode(kink: Kink, backend: str) -> None:
    inputs = _inputs(kink, backend)
    expected = sum(np.sum(np.asarray(g, "float64")) for g in kink.first)
    pushed = na.jvp(kink.total, tuple(inputs), tuple(na.ones_like(x) for x in inputs))[1]
    np.testing.assert_allclose(host(pushed), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.one_in(16)
@_of(kink for kink in KINKS if _is_finite(kink) and _is_smooth(kink))
@pytest.mark.parametrize("order", ["jvp of grad", "grad of jvp"])
def test_second_derivatives_in_forward_mode(kink: Kink, order: str, backend: str) -> None:
    inputs = tuple(_inputs(kink, backend))
    ones = tuple(na.ones_like(x) for x in inputs)
    numbers = tuple(range(len(inputs)))
    if order == "jvp of grad":
        found = na.jvp(lambda *args: kink.gradients(*args), inputs, ones)[1]
    else:
        found = na.grad(lambda *args: na.jvp(kink.total, args, ones)[1], numbers)(*inputs)
    _check(found, kink.second, kink)

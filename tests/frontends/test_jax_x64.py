"""Dtypes under `jax_enable_x64` against JAX."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.jax as frontend

ARRAYS = {
    "i": np.asarray([[3, -1, 2], [0, 5, -4]], "int32"),
    "s": np.asarray([3, 100, -7], "int8"),
    "x": np.asarray([[0.5, 1.5], [2.5, -1.0]], "float32"),
    "d": np.asarray([0.25, -2.0]),
    "b": np.asarray([True, False]),
}

EXPRESSIONS = """numpy.zeros(3); numpy.ones((2, 1)); numpy.arange(4); numpy.arange(4.0); numpy.arange(1, 3, 0.5); numpy.linspace(0, 1, 5); numpy.array([1, 2]); numpy.array(1.5); numpy.asarray(2); numpy.asarray(1j); numpy.eye(2); numpy.full(2, 3); numpy.full(2, 3.0)
numpy.sum(i); numpy.sum(s); numpy.sum(b); numpy.prod(s); numpy.mean(i); numpy.mean(x); numpy.sin(i); numpy.sin(x); numpy.sqrt(s); numpy.argmax(x); numpy.argsort(x); numpy.count_nonzero(x); numpy.cumsum(s); numpy.divide(i, i + 1); numpy.add(x, 1); numpy.add(x, 1.5); numpy.add(b, 1); numpy.add(i, 1.5)
numpy.add(x, d); numpy.multiply(s, 2); numpy.where(b, 1, 2); numpy.where(b, 1.0, x); numpy.power(i, 2); numpy.std(i); numpy.var(x); numpy.nonzero(x)[0]; numpy.searchsorted(d, 0.5); numpy.hanning(4); numpy.indices((2, 2)); numpy.result_type(1.0); numpy.result_type(i, 1.0)
nn.one_hot(i, 3); nn.softmax(i); nn.relu(x); scipy.special.erf(x); scipy.special.gammaln(i); scipy.stats.norm.pdf(i); image.resize(x, (3, 3), 'linear')"""
ROWS = [row.strip() for row in EXPRESSIONS.replace("\n", ";").split(";")]


def _value(row: str, module: Any, arrays: Any) -> Any:
    return eval(row, {**vars(module), **arrays})


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("row", ROWS)
def test_new_numbers_have_64_bits(row: str) -> None:
    with np.errstate(all="ignore"):
        _compare(row)


def _compare(row: str) -> None:
    want = _value(row, jax, {name: jax.numpy.asarray(x) for name, x in ARRAYS.items()})
    with frontend.enable_x64():
        found = _value(row, frontend, ARRAYS)
    if isinstance(want, np.dtype):
        assert na.as_dtype(found) is na.as_dtype(want)
        return
    assert str(na.dtype_of(found)) == str(want.dtype)
    np.testing.assert_allclose(
        found, np.asarray(want), rtol=1e-6 if want.dtype == "float32" else 1e-12
    )


def test_the_setting_of_the_process() -> None:
    assert frontend.numpy.zeros(1).dtype == "float32"
    frontend.config.update("jax_enable_x64", True)
    try:
        assert frontend.config.jax_enable_x64
        assert frontend.numpy.zeros(1).dtype == "float64"
        with frontend.enable_x64(False):
            assert frontend.numpy.zeros(1).dtype == "float32"
    finally:
        frontend.config.update("jax_enable_x64", False)
    assert not frontend.config.jax_enable_x64
    assert not jax.config.jax_enable_x64


def test_other_settings_are_refused() -> None:
    with pytest.raises(na.errors.UnsupportedError, match="got 'jax_debug_nans', expected"):
        frontend.config.update("jax_debug_nans", True)

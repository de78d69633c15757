"""Reductions that pass NaN over: their gradients are 0 at NaN; complex numbers without 64 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.errors import IndexingError
from nestarray.testing import assert_close
from tests.cases import on_backend
from tests.derivatives import AUTODIFF, GRADIENTS, SUM

pytestmark = pytest.mark.one_in(4)

OPS = ["nansum", "nanprod", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd", "nanmedian"]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("backend", AUTODIFF)
def test_gradient_beside_nan(op: str, backend: str) -> None:
    def slope(name: str, host: np.ndarray) -> np.ndarray:
        def loss(x: Any) -> Any:
            return SUM[backend](getattr(na, name)(x, axis=-1))

        (found,) = GRADIENTS[backend](loss, [on_backend(host, backend)])
        return np.asarray(found)

    whole = np.asarray([[1.5, -2.0, 4.0], [0.5, 3.0, -1.0]])
    with_nan = np.insert(whole, 1, np.nan, axis=1)
    expected = np.insert(slope(op.removeprefix("nan"), whole), 1, 0.0, axis=1)
    assert_close(slope(op, with_nan), expected)


def test_complex_numbers_in_32_bits(backend: str) -> None:
    x = on_backend(np.asarray([1 + 1j, np.nan, 3 - 1j], "complex64"), backend)
    to_numpy = backends.core(backend).to_numpy
    assert_close(to_numpy(na.nansum(x)), np.asarray(4 + 0j, "complex64"))
    assert_close(to_numpy(na.nanmean(x)), np.asarray(2 + 0j, "complex64"))
    assert_close(to_numpy(na.nanvar(x)), np.asarray(2.0, "float32"))


REDUCTIONS = [
    "all", "any", "argmax", "argmin", "average", "count_nonzero", "cummax", "cummin",
    "cumulative_logsumexp", "cumulative_prod", "cumulative_sum", "logsumexp", "max", "mean",
    "median", "min", "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean",
    "nanmedian", "nanmin", "nanprod", "nanstd", "nansum", "nanvar", "prod", "ptp", "std", "sum",
    "var", "vector_norm",
]  # fmt: skip


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, -1])
def test_an_array_without_axes_has_no_first_axis(op: str, axis: int, backend: str) -> None:
    for dtype in ("float32", "float16", "int32"):
        x = on_backend(np.asarray(1, dtype), backend)
        with pytest.raises(IndexingError, match=f"{op}: axis: got {axis}"):
            getattr(na, op)(x, axis=axis)
    with pytest.raises(IndexingError, match="take: axis"):
        na.take(x, on_backend(np.asarray([0]), backend), axis=axis)

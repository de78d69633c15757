"""Dtypes that a framework has no kernel for: one type, and one message up to the backend's name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.errors import DtypeError
from tests.arrays import on


def _one(dtype: str) -> np.ndarray:
    return np.ones(3, dtype)


def _dtype(x: Any) -> str:
    return "complex64" if isinstance(x, complex) else str(x.dtype)


#: An op and NumPy arrays of dtypes that it does not compute with; numbers stay numbers.
REFUSED: list[tuple[str, tuple[Any, ...]]] = [
    ("bitwise_and", (_one("float32"), _one("float32"))),
    ("bitwise_left_shift", (_one("float32"), _one("float32"))),
    ("nextafter", (_one("int32"), _one("int32"))),
    ("maximum", (_one("complex64"), _one("complex64"))),
    ("logaddexp2", (_one("complex64"), _one("complex64"))),
    ("negative", (_one("bool"),)),
    *((op, (_one("complex64"),)) for op in ("floor", "hard_shrink", "softplus", "squareplus")),
    *((op, (1j,)) for op in ("cbrt", "digamma", "erf", "mish", "ndtr")),
    ("hypot", (_one("float32"), 1j)),
    ("clip", (_one("float32"), 1j)),
    ("clip", (_one("float32"), 0.0, _one("complex64"))),
]


@pytest.mark.parametrize(("name", "values"), REFUSED)
def test_no_kernel(name: str, values: tuple[Any, ...], backend: str) -> None:
    found = " and ".join(dict.fromkeys(_dtype(x) for x in values if not isinstance(x, float)))
    check_no_kernel(name, values, found, backend)


@pytest.mark.parametrize("name", ["huber_loss", "log_cosh", "mse_loss", "smooth_l1_loss"])
@pytest.mark.parametrize("target", [1j, _one("complex64")])
def test_losses_of_complex_numbers(name: str, target: Any, backend: str) -> None:
    check_no_kernel(name, (_one("float32"), target), "complex64", backend)


def check_no_kernel(name: str, values: tuple[Any, ...], found: str, backend: str) -> None:
    arrays = [on(backend, x) if isinstance(x, np.ndarray) else x for x in values]
    with na.use_backend(backend), pytest.raises(DtypeError) as caught:
        getattr(na, name)(*arrays)
    assert str(caught.value) == (
        f"{name}: {backend} cannot compute it for {found}; cast to a dtype that it "
        "takes with na.astype"
    )

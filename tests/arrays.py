"""Arrays for tests: from NumPy to a backend and back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends

#: Where the arrays of PyTorch and JAX are: ``make test-gpu`` sets it; None leaves the choice to them.
DEVICE = os.environ.get("NESTARRAY_TEST_DEVICE")


def on(backend: str, values: Any, dtype: str | None = None) -> Any:
    """An array of `backend` with these values; a Container of such arrays if `values` is a mapping.

    Args:
        backend: the name of the backend.
        values: a NumPy array, numbers or nested lists of numbers, or a mapping of NumPy arrays.
            Other leaves of a mapping stay unchanged.
        dtype: the dtype of the arrays; None keeps NumPy's.
    """
    if isinstance(values, Mapping):
        return na.Container(values).map(
            lambda leaf: on(backend, leaf, dtype) if hasattr(leaf, "dtype") else leaf
        )
    array = np.asarray(values)
    if dtype is not None:
        array = array.astype(backends.core("numpy").native_dtype(dtype))
    return placed(backend, array)


def placed(backend: str, x: np.ndarray) -> Any:
    """`x` as an array of `backend`, on the device of this run."""
    device = DEVICE if backend in ("torch", "jax") else None
    return backends.core(backend).from_numpy(x, device)


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> Any:
    """Normal numbers in JAX.

    NumPy draws them: JAX compiles a program for each shape, while the tests are collected.
    """
    return on("jax", np.random.default_rng(seed).normal(scale=scale, size=shape), "float32")


def host(x: Any) -> np.ndarray:
    """The values of an array of any backend as a NumPy array."""
    return backends.core(na.backend_of(x)).to_numpy(x)

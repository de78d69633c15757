"""Arrays from torch to a backend and results back, to compare a frontend function with torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

import nestarray as na
import nestarray.frontends.torch as frontend
from nestarray import backends, dtypes

#: (rtol, atol): float32 chains of a few roundings, on frameworks that sum in other orders.
TOLERANCE = {"float32": (2e-5, 2e-5), "complex64": (2e-5, 2e-5)}
#: float64 functions that a framework computes by different series.
TOLERANCE |= {"float64": (1e-9, 1e-10), "complex128": (1e-9, 1e-10)}
#: Half precision: a few roundings to 11 or to 8 bits, of which upstream has some in the middle.
TOLERANCE |= {"float16": (4 * 2.0**-10, 1e-5), "bfloat16": (4 * 2.0**-7, 1e-5)}


def to_backend(value: Any, backend: str) -> Any:
    """torch tensors in a nest as arrays of `backend`, torch dtypes as ours, devices as None."""
    if isinstance(value, torch.Tensor):
        value = value.detach().resolve_conj().resolve_neg()
        if backend == "torch":
            return value.clone()
        return backends.core(backend).from_numpy(_host(value))
    if isinstance(value, torch.Size):
        return tuple(value)
    if isinstance(value, (list, tuple)):
        return type(value)([to_backend(item, backend) for item in value])
    if isinstance(value, dict):
        return {k: to_backend(item, backend) for k, item in value.items()}
    if isinstance(value, torch.dtype):
        return dtypes.as_dtype(value)
    if isinstance(value, (torch.device, torch.layout, torch.memory_format)):
        return None
    if isinstance(value, torch.nn.PairwiseDistance):  # a record passes it as a function
        return frontend.nn.functional.pairwise_distance
    return value


def _host(x: torch.Tensor) -> np.ndarray:
    """The values of a tensor; NumPy takes no bfloat16 from torch."""
    return backends.core("torch").to_numpy(x).copy()


def assert_same(
    actual: Any, expected: Any, backend: str, *, values: bool = True, off_by: int = 0
) -> None:
    """`actual` of `backend` has the structure, dtypes, shapes and values of torch's result.

    `off_by` is how far integers may be from torch's.
    """
    if isinstance(expected, (list, tuple)):
        assert isinstance(actual, (list, tuple)), f"got {type(actual).__name__}"
        assert len(actual) == len(expected), f"got {len(actual)} results, expected {len(expected)}"
        for one, other in zip(actual, expected):
            assert_same(one, other, backend, values=values, off_by=off_by)
        return
    if not isinstance(expected, torch.Tensor):
        assert actual == expected, f"got {actual!r}, expected {expected!r}"
        return
    expected = expected.detach().resolve_conj().resolve_neg()
    assert na.backend_of(actual) == backend
    found, wanted = na.dtype_of(actual), dtypes.as_dtype(expected.dtype)
    assert found is wanted, f"got {found}, expected {wanted}"
    ours, theirs = backends.core(backend).to_numpy(actual), _host(expected)
    assert ours.shape == theirs.shape, f"got the shape {ours.shape}, expected {theirs.shape}"
    if not values:
        return
    if wanted is na.bfloat16:  # of which NumPy's comparisons know little
        ours, theirs = ours.astype(np.float32), theirs.astype(np.float32)
    if wanted.is_integer and off_by:
        ours, theirs = ours.astype(np.int64), theirs.astype(np.int64)
    rtol, atol = TOLERANCE.get(found.name, (0, off_by))
    if wanted.is_inexact and theirs.size:
        # Where large terms cancel, the error is relative to their size, not to the result's.
        largest = np.abs(np.where(np.isfinite(theirs), theirs, 0)).max()
        steps = 4 if wanted.bits == 16 else 8
        atol = max(atol, steps * float(na.finfo(wanted).eps) * float(largest))
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)

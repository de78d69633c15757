"""Gradients and values of the torch frontend where elements are equal or 0, against torch's own.

The inputs are torch's own test inputs, with every real number replaced by a draw from {−1, 0, 1}.
Gradients are compared where torch's are finite.
"""

from __future__ import annotations

import zlib
from typing import Any

import jax
import numpy as np
import pytest
import torch
from torch.utils import _pytree as pytree

import nestarray as na
import nestarray.frontends.torch as frontend
from tests.arrays import host, on
from tests.frontends.op_samples import on_one_backend, records, samples
from tests.frontends.test_torch_gradients import (
    NAMES,
    assert_close,
    own_gradients,
    torch_gradients,
)

_ANY = "upstream selects any of equal elements"
_SINGULAR = "the matrices are singular, and the difference of rounding decides"

#: Records that are not compared, and why.
WITHOUT = {
    **dict.fromkeys(("kthvalue", "mode", "msort", "sort", "topk"), _ANY),
    **dict.fromkeys(
        (
            "linalg.cholesky_ex", "linalg.cond", "linalg.eigvals", "linalg.lu_solve", "linalg.pinv",
            "linalg.qr", "linalg.svdvals", "lu_solve", "norm-nuc", "triangular_solve",
        ),
        _SINGULAR,
    ),
    "clamp": "upstream gives nothing to equal bounds, so that the sum is no derivative",
    "digamma": "upstream is finite at some poles",
    "nn.functional.binary_cross_entropy": "upstream divides by at least 1e-12 where log 0 is cut off",
    "polar": "upstream's gradient is wrong for radii that are 0 or negative",
    "remainder": "TensorFlow's value and derivative by x are NaN for the divisor 0",
    "__rmod__": "as `remainder`",
    "_segment_reduce-offsets": "upstream gives nothing to an initial value that equals the extremum",
    **dict.fromkeys(
        ("index_reduce-amax", "index_reduce-amin", "scatter_reduce-amax", "scatter_reduce-amin"),
        "upstream counts the replaced elements among the equal ones",
    ),
}  # fmt: skip

TIED = [name for name in NAMES if name not in WITHOUT]
OTHERS = ("numpy", "jax", "tensorflow")


def _tied(nest: Any, rng: np.random.Generator) -> Any:
    """The real numbers of `nest` replaced by draws from {−1, 0, 1}."""

    def leaf(x: Any) -> Any:
        if type(x) is not torch.Tensor or x.dtype != torch.float64 or x.layout != torch.strided:
            return x
        drawn = rng.integers(-1, 2, tuple(x.shape)).astype("float64")
        return torch.as_tensor(drawn).requires_grad_(x.requires_grad)

    return pytree.tree_map(leaf, nest)


@pytest.mark.parametrize(("name", "backend"), on_one_backend(TIED, OTHERS, 12))
def test_gradients(name: str, backend: str) -> None:
    info = records()[name]
    torch.manual_seed(0)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    with jax.enable_x64(True), na.use_backend(backend), np.errstate(all="ignore"):
        for args, kwargs in samples(info, torch.float64, 3, requires_grad=True):
            args, kwargs = _tied((args, kwargs), rng)
            try:
                wanted = torch_gradients(info, args, kwargs)
            except (RuntimeError, ValueError, IndexError):
                continue  # a singular matrix, or a setting out of its range
            if wanted is None:
                continue
            found = own_gradients(info, args, kwargs, backend)
            for ours, theirs in zip(found, wanted, strict=True):
                is_finite = np.isfinite(theirs.numpy())
                assert_close(np.where(is_finite, ours, 0), np.where(is_finite, theirs, 0))


TIES = np.asarray([[1.0, 0.0, 1.0, -1.0, 0.0, 1.0], [0.0] * 6])


def test_positions_of_equal_elements(backend: str) -> None:
    x, own = torch.tensor(TIES), on(backend, TIES.astype("float32"))
    for name in ("argmax", "argmin"):
        expected = getattr(torch, name)(x, dim=-1).numpy()
        np.testing.assert_array_equal(host(getattr(frontend, name)(own, dim=-1)), expected)
        np.testing.assert_array_equal(host(getattr(na, name)(own, axis=-1)), expected)
    for descending in (False, True):
        values, places = torch.sort(x, dim=-1, descending=descending, stable=True)
        found = frontend.sort(own, dim=-1, descending=descending, stable=True)
        np.testing.assert_array_equal(host(found[0]), values.numpy())
        np.testing.assert_array_equal(host(found[1]), places.numpy())
        np.testing.assert_array_equal(
            host(na.argsort(own, axis=-1, descending=descending)), places.numpy()
        )
        found = na.top_k(own, 4, largest=descending)
        np.testing.assert_array_equal(host(found.values), values[:, :4].numpy())
        np.testing.assert_array_equal(host(found.indices), places[:, :4].numpy())


def test_values_of_equal_elements(backend: str) -> None:
    x, own = torch.tensor(TIES), on(backend, TIES.astype("float32"))
    for name in ("mode", "median", "cummax", "cummin"):
        expected = getattr(torch, name)(x, dim=-1).values.numpy()
        np.testing.assert_array_equal(host(getattr(frontend, name)(own, dim=-1)[0]), expected)
    np.testing.assert_array_equal(host(na.mode(own, axis=-1).values), [1.0, 0.0])
    expected = torch.unique(x, return_inverse=True, return_counts=True)
    found = frontend.unique(own, return_inverse=True, return_counts=True)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(host(ours), theirs.numpy())

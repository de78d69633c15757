"""Gradients and values of the torch frontend where elements are equal or 0, against torch's own.

The inputs are torch's own test inputs, with every real number replaced by a draw from {−1, 0, 1}.
Gradients are compared where torch's are finite.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
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

_ATEN = "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native"
_ANY = f"any of equal elements is selected: {_ATEN}/Sorting.cpp (quick_select_template), {_ATEN}/TopKImpl.h"
_UNSTABLE = "stable=False: https://docs.pytorch.org/docs/stable/generated/torch.sort.html"
_SINGULAR = (
    "the drawn matrices are singular, where upstream defines no gradient and rounding decides: "
    "https://docs.pytorch.org/docs/stable/linalg.html"
)
_MANUAL = "https://github.com/pytorch/pytorch/blob/main/torch/csrc/autograd/FunctionsManual.cpp"

#: Records that are not compared, and why.
WITHOUT = {
    **dict.fromkeys(("kthvalue", "topk"), _ANY),
    **dict.fromkeys(("msort", "sort"), _UNSTABLE),
    **dict.fromkeys(
        (
            "linalg.cholesky_ex", "linalg.cond", "linalg.eigvals", "linalg.lu_solve", "linalg.pinv",
            "linalg.svdvals", "lu_solve", "norm-nuc", "triangular_solve",
        ),
        _SINGULAR,
    ),
    "digamma": f"trigamma is finite at some poles: {_ATEN}/Math.h",
    "polar": f"sgn(result) is 0 for the radius 0, and reversed for negative ones: {_MANUAL} (polar_backward)",
    **dict.fromkeys(
        ("index_reduce-amax", "index_reduce-amin", "scatter_reduce-amax", "scatter_reduce-amin"),
        f"replaced elements count among the equal ones: {_MANUAL} (scatter_reduce_backward)",
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


@pytest.mark.one_in(12)
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


DRAWN = np.random.default_rng(0).integers(-1, 2, (4, 7))
SPECIAL = np.random.default_rng(0).choice(
    [-1.0, 0.0, 1.0, np.nan, np.inf, -np.inf], (4, 7)
)  # fmt: skip
SPECIAL[3] = np.nan
INFINITE = np.where(np.isnan(SPECIAL), -np.inf, SPECIAL)

INPUTS = {
    **{name: DRAWN.astype(name) for name in ("int32", "int64", "float32", "float64")},
    "uint8": (DRAWN + 1).astype("uint8"),
    **{f"inf, {name}": INFINITE.astype(name) for name in ("float16", "float32", "float64")},
    **{f"nan, {name}": SPECIAL.astype(name) for name in ("float16", "float32", "float64")},
}


def _rows(t: Any, x: Any) -> Any:
    """Numbers to search in."""
    return t.sort(t.where(x == x, x, t.zeros_like(x)), dim=-1)[0]


def _pool(name: str, *settings: Any, lead: int = 0) -> Any:
    def call(t: Any, x: Any) -> Any:
        images = t.reshape(x, (1,) * lead + (1, *x.shape))
        return getattr(t.nn.functional, name)(images, *settings, return_indices=True)

    return call


#: Name → the call of torch or of the frontend.
CALLS: dict[str, Any] = {
    **{name: lambda t, x, name=name: getattr(t, name)(x, dim=-1) for name in (
        "argmax", "argmin", "max", "min", "median", "nanmedian", "mode", "cummax", "cummin",
        "aminmax",
    )},
    **{f"{name} of all": lambda t, x, name=name: getattr(t, name)(x) for name in (
        "argmax", "argmin", "max", "min", "median", "nanmedian", "msort",
    )},
    **{f"{name}, {'descending' if descending else 'ascending'}":
        lambda t, x, name=name, descending=descending: getattr(t, name)(
            x, dim=-1, descending=descending, stable=True
        ) for name in ("sort", "argsort") for descending in (False, True)},
    **{f"{name}, dim={dim}": lambda t, x, name=name, dim=dim: getattr(t, name)(
        x, return_inverse=True, return_counts=True, dim=dim
    ) for name in ("unique", "unique_consecutive") for dim in (None, 0, 1)},
    **{f"searchsorted, {side}": lambda t, x, side=side: t.searchsorted(_rows(t, x), x, side=side)
        for side in ("left", "right")},
    **{f"bucketize, {right}": lambda t, x, right=right: t.bucketize(x, _rows(t, x)[0], right=right)
        for right in (False, True)},
    "max_pool1d": _pool("max_pool1d", 3, 1, 1),
    "max_pool2d": _pool("max_pool2d", 3, 1, 1, lead=1),
    "max_pool2d, dilated": _pool("max_pool2d", 2, 1, 0, 2, lead=1),
    "max_pool3d": _pool("max_pool3d", (1, 2, 2), lead=2),
    "adaptive_max_pool1d": _pool("adaptive_max_pool1d", 3),
    "adaptive_max_pool2d": _pool("adaptive_max_pool2d", (3, 3), lead=1),
}  # fmt: skip

#: Calls whose comparator of equal elements or NaN gives no order: values and their places alone.
#: https://docs.pytorch.org/docs/stable/generated/torch.topk.html
ANY_PLACE: dict[str, Any] = {
    **{f"topk, {largest}": lambda t, x, largest=largest: t.topk(x, 4, dim=-1, largest=largest)
        for largest in (False, True)},
    **{f"kthvalue, {k}": lambda t, x, k=k: t.kthvalue(x, k, dim=-1, keepdim=True) for k in (1, 4)},
    "nanmedian": lambda t, x: t.nanmedian(x, dim=-1, keepdim=True),
}  # fmt: skip

#: Calls that sort with `<`, which orders no NaN.
#: https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/cpu/TensorCompareKernel.cpp
#: https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/Unique.cpp
UNORDERED_NAN = ("mode", "nanmedian", "unique, dim=None", "unique, dim=1")


def _equal(found: Any, expected: Any) -> None:
    parts = expected if isinstance(expected, tuple) else (expected,)
    for ours, theirs in zip(found if isinstance(expected, tuple) else (found,), parts, strict=True):
        np.testing.assert_array_equal(host(ours), theirs.numpy())


def _is_computed_upstream(call: str, name: str) -> bool:
    if "nan" in name:
        return call not in UNORDERED_NAN
    return not call.startswith("adaptive") or "float" in name  # upstream has no integer kernel


def _pairs(calls: Iterable[str], is_row: Callable[[str, str], bool] = lambda *_: True) -> list[Any]:
    """Parameters (call, input); the fast tests take one dtype of each kind."""
    return [
        pytest.param(call, x, id=f"{call}-{x}", marks=[] if x in FAST else [pytest.mark.full])
        for call in calls
        for x in INPUTS
        if is_row(call, x)
    ]


FAST = ("int32", "float32", "nan, float32")


@pytest.mark.one_in(32)
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("call", "name"), _pairs(CALLS, _is_computed_upstream))
def test_values_and_positions(call: str, name: str, backend: str) -> None:
    expected = CALLS[call](torch, torch.as_tensor(INPUTS[name]))
    _equal(CALLS[call](frontend, on(backend, INPUTS[name])), expected)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(("call", "name"), _pairs(ANY_PLACE))
def test_values_at_any_position(call: str, name: str, backend: str) -> None:
    x = INPUTS[name]
    expected = ANY_PLACE[call](torch, torch.as_tensor(x)).values.numpy()
    found = ANY_PLACE[call](frontend, on(backend, x))
    np.testing.assert_array_equal(host(found.values), expected)
    np.testing.assert_array_equal(np.take_along_axis(x, host(found.indices), -1), expected)


def test_nan_among_unique_elements(backend: str) -> None:
    """Each NaN is unique; their order among each other is upstream's."""
    x = SPECIAL.astype("float32")
    expected = torch.unique(torch.as_tensor(x), return_inverse=True, return_counts=True)
    found = frontend.unique(on(backend, x), return_inverse=True, return_counts=True)
    np.testing.assert_array_equal(host(found[0]), expected[0].numpy())
    np.testing.assert_array_equal(host(found[2]), expected[2].numpy())
    np.testing.assert_array_equal(host(found[0])[host(found[1])], x)
    mode = frontend.mode(on(backend, x), dim=-1)
    np.testing.assert_array_equal(x[range(4), host(mode.indices)], host(mode.values))

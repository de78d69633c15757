"""torch's promotion of dtypes: arrays, 0-d arrays and Python numbers."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import numpy as np
import pytest
import torch

import nestarray as na
import nestarray.frontends.torch as frontend
from nestarray import dtypes
from tests.frontends.compare import assert_same, to_backend

DTYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128,
]  # fmt: skip


def _operands(dtype: torch.dtype) -> list[object]:
    return [torch.ones(2, dtype=dtype), torch.ones((), dtype=dtype)]


@pytest.mark.parametrize("first", DTYPES, ids=str)
def test_the_result_type_is_torchs(first: torch.dtype) -> None:
    numbers = [True, 2, 2.5, 2j]
    for x, second in itertools.product(_operands(first), DTYPES):
        for y in [*_operands(second), *numbers]:
            theirs = torch.result_type(x, y)
            if theirs is torch.complex32:  # nestarray has no such dtype
                continue
            ours = frontend.result_type(to_backend(x, "numpy"), to_backend(y, "numpy"))
            assert ours is dtypes.as_dtype(theirs), (x, y)


@pytest.mark.parametrize(("x", "y"), [((2,), ()), ((), (2,)), ((2,), (2,)), ((), ())])
def test_sums_have_torchs_dtype(x: tuple[int, ...], y: tuple[int, ...], backend: str) -> None:
    pairs = itertools.product([torch.int32, torch.int64, torch.float32, torch.float64], repeat=2)
    with jax.enable_x64(True):
        for first, second in pairs:
            a, b = torch.ones(x, dtype=first), torch.full(y, 3, dtype=second)
            ours = frontend.add(to_backend(a, backend), to_backend(b, backend), alpha=2)
            assert_same(ours, torch.add(a, b, alpha=2), backend)


def test_a_0d_array_does_not_widen() -> None:
    wide = np.asarray(1.5, np.float64)
    assert frontend.add(np.ones(2, np.float32), wide).dtype == np.float32
    assert na.add(np.ones(2, np.float32), wide).dtype == np.float64


def test_integers_divide_as_float32(backend: str) -> None:
    with jax.enable_x64(True):
        x, y = torch.tensor([7, -7]), torch.tensor([2, 2])
        ours = frontend.div(to_backend(x, backend), to_backend(y, backend))
        assert na.dtype_of(ours) is na.float32
        ours = frontend.div(to_backend(x, backend), 2, rounding_mode="trunc")
        assert_same(ours, torch.div(x, 2, rounding_mode="trunc"), backend)


def test_small_integers_are_summed_in_int64(backend: str) -> None:
    with jax.enable_x64(True):
        x = torch.full((300,), 100, dtype=torch.int8)
        assert_same(frontend.sum(to_backend(x, backend)), torch.sum(x), backend)


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.bool], ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "nansum"])
def test_a_narrow_dtype_that_is_asked_for_is_kept(name: str, dtype: Any, backend: str) -> None:
    with jax.enable_x64(True):
        x = torch.tensor([[100, 100, 3], [2, 0, 7]])
        ours = getattr(frontend, name)(to_backend(x, backend), 1, dtype=dtypes.as_dtype(dtype))
        assert_same(ours, getattr(torch, name)(x, 1, dtype=dtype), backend)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, repeat=2)))
def test_can_cast_is_torchs(source: torch.dtype, target: torch.dtype) -> None:
    ours = frontend.can_cast(dtypes.as_dtype(source), dtypes.as_dtype(target))
    assert ours == torch.can_cast(source, target)

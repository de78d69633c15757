"""Ops with piecewise constant results: comparisons, counts, indices, shapes."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes, ops
from nestarray.dispatch import OPS
from nestarray.traits import Trait
from nestarray.transforms.autodiff.rules import CONSTANT, Composed, Rule
from nestarray.transforms.autodiff.values import StandIn


def _full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:  # fmt: skip
    like = None if like is None else ops.stop_gradient(like)
    if not isinstance(fill_value, StandIn):
        return ops.full(shape, fill_value, dtype=dtype, device=device, like=like)
    filled = ops.broadcast_to(fill_value, (shape,) if isinstance(shape, int) else tuple(shape))
    return ops.astype(filled, dtypes.dtype_of(fill_value) if dtype is None else dtype)


def _full_like(x: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return _full(x.shape, fill_value, dtype=dtypes.dtype_of(x) if dtype is None else dtype, like=x)


RULES: dict[str, Rule] = {
    **{name: CONSTANT for name, op in OPS.items() if Trait.CONSTANT in op.traits},
    "full": Composed(_full),
    "full_like": Composed(_full_like),
}

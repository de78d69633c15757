"""Ops with piecewise constant results: comparisons, counts, indices, shapes."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes, ops
from nestarray.transforms.autodiff.rules import CONSTANT, Composed, Rule
from nestarray.transforms.autodiff.values import StandIn

_NAMES = [
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "isclose",
    "allclose",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "isfinite",
    "isinf",
    "isnan",
    "signbit",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "argpartition",
    "nonzero",
    "argwhere",
    "count_nonzero",
    "searchsorted",
    "isin",
    "ceil",
    "floor",
    "trunc",
    "round",
    "floor_divide",
    "nextafter",
    "stop_gradient",
    "bitcast",
    "zeros",
    "ones",
    "empty",
    "zeros_like",
    "ones_like",
    "empty_like",
    "eye",
    "arange",
    "shape",
    "matrix_rank",
    "nanargmax",
    "nanargmin",
    "digitize",
    "nms",
]


def _full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, like: Any = None) -> Any:  # fmt: skip
    like = None if like is None else ops.stop_gradient(like)
    if not isinstance(fill_value, StandIn):
        return ops.full(shape, fill_value, dtype=dtype, device=device, like=like)
    filled = ops.broadcast_to(fill_value, (shape,) if isinstance(shape, int) else tuple(shape))
    return ops.astype(filled, dtypes.dtype_of(fill_value) if dtype is None else dtype)


def _full_like(x: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Any:
    return _full(x.shape, fill_value, dtype=dtypes.dtype_of(x) if dtype is None else dtype, like=x)


RULES: dict[str, Rule] = dict.fromkeys(_NAMES, CONSTANT) | {
    "full": Composed(_full),
    "full_like": Composed(_full_like),
}

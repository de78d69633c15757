"""NumPy: `nestarray.ops.activations`."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray.backends.base import refuse_complex
from nestarray.backends.numpy.core import in_dtype
from nestarray.backends.numpy.promotion import cast, floating
from nestarray.backends.precision import in_single_precision
from nestarray.numerics.axes import many_axes


def relu(x: Any, /) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.maximum.html"""
    if x.dtype.kind == "c":
        refuse_complex(x)
    return np.maximum(x, 0)


def _sigmoid(x: Any, /) -> Any:
    with np.errstate(over="ignore"):  # 1 / inf is 0
        return in_dtype(1.0 / (1.0 + np.exp(-x)), x.dtype)


sigmoid = floating(_sigmoid)


def _log_sigmoid(x: Any, /) -> Any:
    return -np.logaddexp(0, -x)


log_sigmoid = floating(_log_sigmoid)


@in_single_precision(cast)
def softmax(x: Any, /, *, axis: Any = -1) -> Any:
    """https://numpy.org/doc/stable/reference/generated/numpy.exp.html"""
    refuse_complex(x)
    axis = tuple(axis) if isinstance(axis, list) else axis
    if not x.size or not x.ndim:
        many_axes(axis, x.ndim, "softmax")  # max accepts 0 for an array without axes
        if not x.size:
            return x.copy()  # no maximum of an empty array
    powers = x - np.max(x, axis=axis, keepdims=True)
    powers = np.exp(powers, out=powers) if powers.ndim else np.exp(powers)
    return powers / np.sum(powers, axis=axis, keepdims=True)

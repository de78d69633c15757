"""The scalar whose gradients are compared: a fixed random projection of the outputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.backends import is_array
from nestarray.errors import UnsupportedError
from nestarray.proof.comparison import leaves
from nestarray.proof.rounding import moved


def projection(output: Any, *, seed: int = 0) -> Any:
    """A scalar that depends on every element of every floating output, with fixed weights.

    The weights are the inputs of the backward pass; `seed` changes them by rounding, see `moved`.
    """
    total: Any = None
    rng = np.random.default_rng(0)
    for _, leaf in leaves(output):
        if not is_array(leaf) or not dtypes.dtype_of(leaf).is_floating:
            continue
        weights = rng.standard_normal(tuple(leaf.shape)).astype("float32")
        weights = moved(ops.asarray(weights, dtype=dtypes.dtype_of(leaf), like=leaf), seed)
        reduce = ops.sum if 0 in leaf.shape else ops.mean  # the mean of no elements is NaN
        term = reduce(leaf * weights)
        total = term if total is None else total + ops.astype(term, dtypes.dtype_of(total))
    if total is None:
        raise UnsupportedError("verify: no output is floating, so there is no gradient to compare")
    return total

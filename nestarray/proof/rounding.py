"""The effect of rounding alone on a result.

Inputs that differ by one ulp are indistinguishable for float arithmetic, so all results for such
inputs are equally correct. The spread of these results bounds meaningless differences: of a
logarithm of a determinant near one; of the gradient of a bias before a normalization, which is zero
up to rounding; of a network that amplifies differences from layer to layer.

References:
    Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 1.5 (backward error).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nestarray import dtypes, ops, tree
from nestarray.backends import is_array
from nestarray.proof.comparison import difference, host
from nestarray.proof.report import Comparison

#: The accepted error, in multiples of the source's largest change. Measured: correct programs differ
#: by 1 to 3 in deep networks, and by 6 if one of them adds thousands of numbers sequentially
#: (TensorFlow's gradients of biases); wrong programs differ by thousands.
ALLOWED = 16
#: The seeds of `moved`: unchanged, and three changes.
SEEDS = range(4)


def moved(nest: Any, seed: int) -> Any:
    """Each number of floating arrays up or down by a unit in its last place.

    Whole numbers are exact (masks, counts, ids) and stay, as do infinities and NaN.

    Args:
        nest: of arrays and anything else.
        seed: decides the directions; 0 moves nothing.
    """
    rng = np.random.default_rng(seed)

    def one(x: Any) -> Any:
        if not is_array(x) or not dtypes.dtype_of(x).is_inexact:
            return x
        dtype = dtypes.dtype_of(x)
        unit = dtypes.finfo(dtype).eps
        factors = rng.choice([1 - unit, 1 + unit], size=tuple(x.shape))
        if dtype not in (dtypes.float64, dtypes.complex128):
            factors = factors.astype(np.float32)
        factors = ops.astype(ops.asarray(factors, like=x), dtype)
        return ops.where(ops.equal(x, ops.round(x)), x, x * factors)

    return tree.map(one, nest) if seed else nest


def variants(nest: Any) -> list[Any]:
    """A nest of arrays, unchanged and changed by rounding: `moved` by each of `SEEDS`."""
    return [moved(nest, seed) for seed in SEEDS]


def allowance(results: Sequence[Any]) -> float:
    """The largest difference that rounding makes in an array, or in an array of several.

    Args:
        results: of one computation, for the `variants` of its inputs.
    """
    want, *others = ([host(x) for x in tree.flatten(result)[0]] for result in results)
    changes = [difference(a, b) for other in others for a, b in zip(want, other, strict=True)]
    return ALLOWED * max(filter(math.isfinite, changes), default=0.0)


def with_rounding(rows: list[Comparison], of: Callable[[str], float]) -> list[Comparison]:
    """Add the effect of rounding to rows over the tolerance, by the name of the array.

    Rounding decides neither shapes nor whether something is a number.
    """
    return [
        row
        if row.agrees_in_value or math.isinf(row.error)
        else dataclasses.replace(row, rounding=of(row.name))
        for row in rows
    ]

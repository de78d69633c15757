"""Maps of scores to probabilities: softmin, sparse alternatives to `softmax`, and Gumbel softmax.

`sparse_sigmoid` is `sparsemax` of one score and 0, and `sparse_plus` its integral.
"""

from __future__ import annotations

from nestarray import dtypes, ops
from nestarray.dispatch import Trait, floating_op
from nestarray.errors import ArgumentError
from nestarray.numerics.axes import one_axis
from nestarray.typing import Array, Axis

__all__ = ["gumbel_softmax", "softmin", "sparse_plus", "sparse_sigmoid", "sparsemax"]

#: The smallest normal number of a dtype: a uniform number above it has a finite logarithm.
_TINY = {"float16": 2.0**-14, "float64": 2.0**-1022}


@floating_op(traits=Trait.ROWWISE)
def softmin(x: Array, /, *, axis: Axis = -1) -> Array:
    """The softmax of the negative, exp(−xᵢ) / Σⱼ exp(−xⱼ).

    Args:
        x: any shape, floating.
        axis: the axis or axes that sum to 1; None: all.

    Returns:
        The shape and dtype of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.softmin(np.log(np.asarray([1.0, 3.0])))
        array([0.75, 0.25])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.softmin.html
    """
    return ops.softmax(-x, axis=axis)


@floating_op(traits=Trait.ROWWISE)
def sparsemax(x: Array, /, *, axis: int = -1) -> Array:
    """The projection to the probability simplex, max(xᵢ − τ, 0) with τ such that the sum is 1.

    Unlike for `softmax`, the probabilities of low scores are exactly 0.

    Args:
        x: any shape, floating.
        axis: the axis that sums to 1.

    Returns:
        The shape and dtype of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sparsemax(np.asarray([1.0, 0.5, -1.0]))
        array([0.75, 0.25, 0.  ])

    References:
        https://arxiv.org/abs/1602.02068
    """
    at = one_axis(axis, len(x.shape), "sparsemax")
    falling = ops.sort(x, axis=at, descending=True)
    count = ops.arange(1, x.shape[at] + 1, dtype=dtypes.dtype_of(x), like=x)
    count = ops.reshape(count, (-1,) + (1,) * (len(x.shape) - 1 - at))
    totals = ops.cumulative_sum(falling, axis=at)
    # the scores with positive probability come first, so their number is a sum
    is_kept = ops.greater(1.0 + count * falling, totals)
    kept = ops.astype(is_kept, dtypes.dtype_of(x))
    total = ops.sum(ops.where(is_kept, falling, 0.0), axis=at, keepdims=True)
    threshold = (total - 1.0) / ops.sum(kept, axis=at, keepdims=True)
    return ops.relu(x - threshold)


@floating_op(traits=Trait.ELEMENTWISE)
def sparse_sigmoid(x: Array, /) -> Array:
    """A sigmoid that reaches 0 and 1: (x + 1) / 2 in [−1, 1], 0 below and 1 above.

    Args:
        x: real, any shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sparse_sigmoid(np.asarray([-2.0, 0.0, 0.5, 3.0]))
        array([0.  , 0.5 , 0.75, 1.  ])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.sparse_sigmoid.html
    """
    return ops.clip((x + 1) * 0.5, 0.0, 1.0)


@floating_op(traits=Trait.ELEMENTWISE)
def sparse_plus(x: Array, /) -> Array:
    """A softplus that reaches its limits: (x + 1)² / 4 in [−1, 1], 0 below and x above.

    Args:
        x: real, any shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.sparse_plus(np.asarray([-2.0, 0.0, 3.0]))
        array([0.  , 0.25, 3.  ])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.nn.sparse_plus.html
    """
    inner = ops.square(ops.clip(x, -1.0, 1.0) + 1) * 0.25
    return ops.where(ops.greater(x, 1), x, inner)


@floating_op(not_promoted=("key",))
def gumbel_softmax(
    x: Array, key: Array, /, *, axis: int = -1, tau: float = 1.0, hard: bool = False
) -> Array:
    """A relaxed categorical sample, softmax((x + g) / tau) with Gumbel noise g = −log(−log u).

    The largest element is i with probability softmax(x)ᵢ; for tau → 0 the others vanish. With
    `hard` the result is one-hot, with the gradient of the relaxed sample (straight-through
    estimator).

    Args:
        x: logits, any shape, floating.
        key: `(2,)`, uint32, from ``na.random.key``.
        axis: the axis of the classes.
        tau: the temperature; positive.
        hard: return a one-hot sample.

    Returns:
        The shape and dtype of x; the same numbers for the same key on every backend.

    Raises:
        ArgumentError: `tau` is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.gumbel_softmax(np.zeros((2, 3), np.float32), na.random.key(0), hard=True)
        array([[0., 1., 0.],
               [0., 1., 0.]], dtype=float32)

    References:
        https://arxiv.org/abs/1611.01144
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gumbel_softmax.html
    """
    if not tau > 0:
        raise ArgumentError(f"gumbel_softmax: tau: got {tau!r}, expected a positive number")
    dtype = dtypes.dtype_of(x)
    tiny = _TINY.get(dtype.name, 2.0**-126)
    uniform = ops.maximum(ops.random_uniform(key, shape=tuple(x.shape), dtype=dtype), tiny)
    noise = ops.log(ops.negative(ops.log(uniform)))
    soft = ops.softmax(ops.divide(ops.subtract(x, noise), tau), axis=axis)
    if not hard:
        return soft
    at = axis % len(x.shape)
    choice = ops.one_hot(ops.argmax(soft, axis=at), x.shape[at], axis=at, dtype=dtype)
    return choice + (soft - ops.stop_gradient(soft))

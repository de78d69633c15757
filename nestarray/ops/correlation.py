"""Covariance and correlation.

PyTorch's own functions branch on values and cannot be traced, so it uses the default bodies.
"""

from __future__ import annotations

from nestarray import ops
from nestarray.backends.base import mean_dtype
from nestarray.backends.precision import rounded_once
from nestarray.dispatch import op
from nestarray.dtypes import dtype_of
from nestarray.errors import ShapeError
from nestarray.typing import Array

__all__ = ["corrcoef", "cov"]


@op
@rounded_once
def cov(
    x: Array,
    /,
    *,
    rowvar: bool = True,
    correction: float = 1.0,
    fweights: Array | None = None,
    aweights: Array | None = None,
) -> Array:
    """The covariance matrix, Cᵢⱼ = Σₖ wₖ (xᵢₖ − x̄ᵢ) (xⱼₖ − x̄ⱼ)* / (n − correction).

    With weights w, n is Σₖ wₖ, and with `aweights` a the correction is multiplied by
    Σₖ wₖ aₖ / Σₖ wₖ. Where n − correction is not positive, the result is ∞ or NaN.

    Args:
        x: `(variables, observations)`, or `(observations,)` of one variable; any number.
        rowvar: False means `(observations, variables)`.
        correction: subtracted from n: 1 for the unbiased estimate, 0 for the variance of a
            population.
        fweights: `(observations,)`, integers: the frequency of each observation.
        aweights: `(observations,)`, floating: the weight of each observation.

    Returns:
        `(variables, variables)`, or `()` for one variable; the dtype of `x`, float32 for
        integers.

    Raises:
        ShapeError: `x` has more than two dimensions, or weights do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.cov(np.asarray([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
        array([[ 1., -1.],
               [-1.,  1.]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.cov.html
    """
    x = _variables(x, rowvar, "cov")
    count = x.shape[1]
    weights = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        if tuple(given.shape) != (count,):
            raise ShapeError(
                f"cov: {name}: got the shape {tuple(given.shape)} for {count} observations, "
                f"expected ({count},)"
            )
        real = ops.astype(given, ops.real(x).dtype, copy=False)
        weights = real if weights is None else ops.multiply(weights, real)
    if weights is None:
        mean = ops.mean(x, axis=1, keepdims=True)
        deviation = weighted = ops.subtract(x, mean)
        degrees = ops.full((), count - correction, dtype=ops.real(x).dtype, like=x)
    else:
        total = ops.sum(weights)
        mean = ops.divide(ops.sum(ops.multiply(x, weights), axis=1, keepdims=True), total)
        deviation = ops.subtract(x, mean)
        weighted = ops.multiply(deviation, weights)
        degrees = ops.subtract(total, correction)
        if aweights is not None:
            product = ops.sum(ops.multiply(weights, ops.astype(aweights, weights.dtype)))
            degrees = ops.subtract(total, ops.multiply(ops.divide(product, total), correction))
    degrees = ops.maximum(degrees, 0.0)
    sums = ops.matmul(deviation, ops.conj(ops.matrix_transpose(weighted)))
    result = ops.divide(sums, ops.astype(degrees, x.dtype, copy=False))
    return ops.reshape(result, ()) if x.shape[0] == 1 else result


@op
@rounded_once
def corrcoef(x: Array, /, *, rowvar: bool = True) -> Array:
    """The correlation coefficients, Rᵢⱼ = Cᵢⱼ / √(Cᵢᵢ Cⱼⱼ) with C = cov(x); NaN for a constant.

    Args:
        x: `(variables, observations)`, or `(observations,)` of one variable; any number.
        rowvar: False means `(observations, variables)`.

    Returns:
        as for `cov`; real and imaginary parts are from −1 to 1.

    Raises:
        ShapeError: `x` has more than two dimensions.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.corrcoef(np.asarray([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
        array([[ 1., -1.],
               [-1.,  1.]])

    References:
        https://numpy.org/doc/stable/reference/generated/numpy.corrcoef.html
    """
    x = _variables(x, rowvar, "corrcoef")
    covariance = ops.reshape(ops.cov(x), (x.shape[0], x.shape[0]))
    deviation = ops.sqrt(ops.real(ops.diagonal(covariance)))
    ratio = ops.divide(covariance, ops.expand_dims(deviation, 1))
    ratio = ops.divide(ratio, ops.expand_dims(deviation, 0))
    # Rounding can exceed 1; the derivative ignores the clip.
    excess = ops.subtract(_clipped(ops.stop_gradient(ratio)), ops.stop_gradient(ratio))
    result = ops.add(ratio, excess)
    return ops.reshape(result, ()) if x.shape[0] == 1 else result


def _clipped(x: Array) -> Array:
    """Real and imaginary parts, from −1 to 1."""
    if dtype_of(x).kind != "complex":
        return ops.clip(x, -1.0, 1.0)
    return ops.complex(ops.clip(ops.real(x), -1.0, 1.0), ops.clip(ops.imag(x), -1.0, 1.0))


def _variables(x: Array, rowvar: bool, name: str) -> Array:
    """`x` as `(variables, observations)` of an inexact dtype."""
    ndim = len(x.shape)
    if ndim not in (1, 2):
        raise ShapeError(
            f"{name}: x: got the shape {tuple(x.shape)}, expected (variables, observations) or "
            "(observations,)"
        )
    x = ops.astype(x, mean_dtype(x), copy=False)
    if ndim == 1:
        return ops.expand_dims(x, 0)
    return x if rowvar else ops.matrix_transpose(x)

"""Random vectors and matrices."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.random import sources
from nestarray.random.arguments import check_number, floating, parameter, sampler, shape_of, sizes
from nestarray.random.continuous import exponential, normal
from nestarray.random.discrete import bernoulli
from nestarray.random.gammas import gamma
from nestarray.typing import Array, DTypeLike, Shape


@sampler
def multivariate_normal(
    key: Array,
    mean: Array,
    cov: Array,
    shape: Shape | None = None,
    dtype: DTypeLike | None = None,
    method: str = "cholesky",
) -> Array:
    """Normal random vectors of the given mean and covariance: mean + F z with F Fᵀ = cov.

    Args:
        key: `(2,)`, uint32.
        mean: `(..., n)`, floating.
        cov: `(..., n, n)`, floating, symmetric and positive definite (semidefinite will do
            for ``"svd"`` and ``"eigh"``).
        shape: of the draws, to which the other axes of `mean` and `cov` broadcast; None is
            the shape that these make.
        dtype: a floating type; None is the result dtype of `mean` and `cov`.
        method: the factorization for F: ``"cholesky"``, ``"svd"`` or ``"eigh"``. The last two do not
            determine the signs of columns, so backends may differ.

    Returns:
        array `(*shape, n)` of `dtype`.

    Raises:
        ArgumentError: `method` is another.
        DtypeError: `mean` or `cov` is not floating.
        ShapeError: they do not fit each other, or `shape`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> cov = np.asarray([[2.0, 1.0], [1.0, 2.0]])
        >>> x = na.random.multivariate_normal(na.random.key(0), np.zeros(2), cov, (10000,))
        >>> bool(abs(np.cov(x.T) - cov).max() < 0.1)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.multivariate_normal.html
    """
    if method not in ("cholesky", "svd", "eigh"):
        raise ArgumentError(
            f"random.multivariate_normal: method: got {method!r}, expected 'cholesky', 'svd' or "
            "'eigh'"
        )
    for argument, x in (("mean", mean), ("cov", cov)):
        if not hasattr(x, "shape") or not dtypes.dtype_of(x).is_floating:
            shown = dtypes.dtype_of(x) if hasattr(x, "shape") else type(x).__name__
            raise DtypeError(
                f"random.multivariate_normal: {argument}: got {shown}, expected a floating array"
            )
    n = int(mean.shape[-1]) if len(mean.shape) else 0
    if not len(mean.shape) or len(cov.shape) < 2 or tuple(cov.shape[-2:]) != (n, n):
        raise ShapeError(
            f"random.multivariate_normal: cov: got shape {tuple(cov.shape)} for a mean of shape "
            f"{tuple(mean.shape)}, expected (..., n) and (..., n, n)"
        )
    own = dtypes.promote_types(dtypes.dtype_of(mean), dtypes.dtype_of(cov))
    wanted = floating("multivariate_normal", own if dtype is None else dtype)
    shape = shape_of("multivariate_normal", shape, mean=mean[..., 0], cov=cov[..., 0, 0])
    z = normal(key, (*shape, n), wanted)
    factor = ops.astype(_factor(ops.astype(cov, own, copy=False), method), wanted, copy=False)
    spread = ops.matmul(factor, ops.expand_dims(z, axis=-1))
    return ops.add(ops.astype(mean, wanted, copy=False), ops.squeeze(spread, axis=-1))


def _factor(cov: Array, method: str) -> Array:
    if method == "cholesky":
        return ops.cholesky(cov)
    if method == "svd":
        found = ops.svd(cov)
        vectors, values = found.U, found.S
    else:
        values, vectors = ops.eigh(cov)
        values = ops.maximum(values, 0.0)  # rounding may have made zeros negative
    return ops.multiply(vectors, ops.expand_dims(ops.sqrt(values), axis=-2))


@sampler
def orthogonal(
    key: Array,
    n: int,
    shape: Shape = (),
    dtype: DTypeLike = "float32",
    m: int | None = None,
) -> Array:
    """Random orthogonal matrices, uniform in the Haar measure.

    Args:
        key: `(2,)`, uint32.
        n: number of rows.
        shape: of the draws.
        dtype: float32 or float64.
        m: number of columns; None is `n`. If they differ, the shorter of rows and columns
            are orthonormal.

    Returns:
        array `(*shape, n, m)` of `dtype`.

    Raises:
        ArgumentError: `n` or `m` is not an integer of 0 and above.
        DtypeError: `dtype` is not floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> q = na.random.orthogonal(na.random.key(0), 3)
        >>> bool(abs(q @ q.T - np.eye(3)).max() < 1e-6)
        True

    References:
        Mezzadri, How to generate random matrices from the classical compact groups. Notices
        of the American Mathematical Society, 2007.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.orthogonal.html
    """
    wanted = floating("orthogonal", dtype)
    n = _size("orthogonal", "n", n)
    m = n if m is None else _size("orthogonal", "m", m)
    z = normal(key, (*sizes("orthogonal", shape), max(n, m), min(n, m)), wanted)
    found = ops.qr(z)
    # signs that make the factorization unique make the distribution uniform
    signs = ops.sign(ops.diagonal(found.R))
    q = ops.multiply(found.Q, ops.expand_dims(signs, axis=-2))
    return ops.matrix_transpose(q) if n < m else q


def _size(function: str, argument: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int) or n < 0:
        raise ArgumentError(
            f"random.{function}: {argument}: got {n!r}, expected an integer of 0 and above"
        )
    return n


@sampler
def ball(
    key: Array,
    d: int,
    p: float = 2,
    shape: Shape = (),
    dtype: DTypeLike = "float32",
) -> Array:
    """Uniform random points in the ball of radius 1 of the norm (∑ |xᵢ|ᵖ)^(1/p).

    Args:
        key: `(2,)`, uint32.
        d: dimensions.
        p: of the norm, above 0.
        shape: of the draws.
        dtype: a floating type.

    Returns:
        array `(*shape, d)` of `dtype`.

    Raises:
        ArgumentError: `p` is not a number above 0; or `d` is not an integer of 0 and above.
        DtypeError: `dtype` is not floating.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random.ball(na.random.key(0), 3, shape=(1000,))
        >>> x.shape, bool((x**2).sum(-1).max() <= 1)
        ((1000, 3), True)

    References:
        Barthe et al., A probabilistic approach to the geometry of the ℓᵖₙ-ball. Annals of
        Probability, 2005.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.ball.html
    """
    wanted = floating("ball", dtype)
    d, shape = _size("ball", "d", d), sizes("ball", shape)
    check_number("ball", "p", p, 0.0)
    first, second = sources.halves(key)
    powers, signs = sources.halves(first)
    g = gamma(powers, 1.0 / p, (*shape, d), wanted)
    # jax.random compares in float64 with x64, which uses other bits
    half = parameter(0.5, wanted if wanted is dtypes.float64 else dtypes.float32, key)
    is_positive = bernoulli(signs, half, (*shape, d))
    power = ops.pow(g, 1.0 / p)
    x = ops.where(is_positive, power, ops.negative(power))
    e = exponential(second, shape, wanted)
    total = ops.add(ops.sum(ops.pow(ops.abs(x), p), axis=-1), e)
    return ops.divide(x, ops.expand_dims(ops.pow(total, 1.0 / p), axis=-1))

"""The gamma distribution and its relatives; parameters may be arrays.

Marsaglia and Tsang's rejection with a separate key for each element. Samples have derivatives with
respect to the parameters up to the third (implicit reparametrization).
"""

from __future__ import annotations

import math

from nestarray import ops
from nestarray.errors import ShapeError
from nestarray.random import sources
from nestarray.random.arguments import (
    check_number,
    floating,
    is_native,
    is_number,
    parameter,
    sampler,
    shape_of,
)
from nestarray.random.continuous import exponential, normal
from nestarray.random.discrete import rademacher
from nestarray.typing import Array, DTypeLike, Shape


@sampler
def gamma(
    key: Array, a: float | Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Random numbers of the density xᵃ⁻¹ e⁻ˣ / Γ(a) for x > 0.

    Args:
        key: `(2,)`, uint32.
        a: the shape parameter, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape of `a`.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`; NaN where `a` is negative or NaN. For small `a` many
        are 0; see `loggamma`.

    Raises:
        ArgumentError: `a` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `a` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.gamma(na.random.key(0), 3.0, (10000,))
        >>> bool(abs(x.mean() - 3) < 0.1), bool(abs(x.var() - 3) < 0.2)
        (True, True)

    References:
        Marsaglia and Tsang, A simple method for generating gamma variables. ACM Transactions
        on Mathematical Software, 2000.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.gamma.html
    """
    wanted = floating("gamma", dtype)
    check_number("gamma", "a", a, 0.0)
    shape = shape_of("gamma", shape, a=a)
    a = ops.broadcast_to(parameter(a, wanted, key), shape)
    if is_native(key):
        return sources.generator_of(key).gamma(key, a)
    return ops.random_gamma(key, a)


@sampler
def loggamma(
    key: Array, a: float | Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Logarithms of `gamma` samples, exact where the samples underflow `dtype`.

    Args:
        key: `(2,)`, uint32.
        a: the shape parameter, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape of `a`.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `a` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `a` does not broadcast to `shape`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random.loggamma(na.random.key(0), 0.001, (1000,))
        >>> bool(np.isfinite(x).all())
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.loggamma.html
    """
    wanted = floating("loggamma", dtype)
    check_number("loggamma", "a", a, 0.0)
    shape = shape_of("loggamma", shape, a=a)
    a = ops.broadcast_to(parameter(a, wanted, key), shape)
    if not is_native(key):
        return ops.random_gamma(key, a, log_space=True)
    first, second = sources.halves(key)
    is_small = ops.less(a, 1.0)
    raised = ops.where(is_small, ops.add(a, 1.0), a)
    boost = ops.divide(exponential(second, shape, wanted), a)
    drawn = ops.log(sources.generator_of(key).gamma(first, raised))
    return ops.where(is_small, ops.subtract(drawn, boost), drawn)


@sampler
def beta(
    key: Array,
    a: float | Array,
    b: float | Array,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Random numbers of the density xᵃ⁻¹ (1 − x)ᵇ⁻¹ / B(a, b) in (0, 1).

    Args:
        key: `(2,)`, uint32.
        a: above 0; a number, or an array that broadcasts to `shape`.
        b: above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which `a` and `b` broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `a` or `b` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `a` or `b` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.beta(na.random.key(0), 2.0, 6.0, (10000,))
        >>> bool(abs(x.mean() - 0.25) < 0.01)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.beta.html
    """
    wanted = floating("beta", dtype)
    check_number("beta", "a", a, 0.0)
    check_number("beta", "b", b, 0.0)
    shape = shape_of("beta", shape, a=a, b=b)
    first, second = sources.halves(key)
    x, y = loggamma(first, a, shape, wanted), loggamma(second, b, shape, wanted)
    greater = ops.maximum(x, y)
    x, y = ops.exp(ops.subtract(x, greater)), ops.exp(ops.subtract(y, greater))
    return ops.divide(x, ops.add(x, y))


@sampler
def dirichlet(
    key: Array, alpha: Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Random vectors of positive numbers with the sum 1, of the density ∏ xᵢ^(αᵢ − 1) / B(α).

    Args:
        key: `(2,)`, uint32.
        alpha: `(..., n)`, above 0.
        shape: of the draws, to which the axes of `alpha` before the last broadcast; None is
            these.
        dtype: a floating type.

    Returns:
        array `(*shape, n)` of `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.
        ShapeError: `alpha` has no axis, or does not broadcast to `shape`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.random.dirichlet(na.random.key(0), np.ones(3), (10000,))
        >>> x.shape, bool(abs(x.mean(0) - 1 / 3).max() < 0.01)
        ((10000, 3), True)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.dirichlet.html
    """
    wanted = floating("dirichlet", dtype)
    if not len(getattr(alpha, "shape", ())):
        raise ShapeError("random.dirichlet: alpha: got no axis, expected an array (..., n)")
    alpha = parameter(alpha, wanted, key)
    shape = shape_of("dirichlet", shape, alpha=alpha[..., 0])
    x = loggamma(key, alpha, (*shape, int(alpha.shape[-1])), wanted)
    return ops.softmax(x, axis=-1)


@sampler
def chisquare(
    key: Array, df: float | Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Sums of `df` squares of normal numbers.

    Args:
        key: `(2,)`, uint32.
        df: degrees of freedom, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape of `df`.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `df` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `df` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.chisquare(na.random.key(0), 5.0, (10000,))
        >>> bool(abs(x.mean() - 5) < 0.2)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.chisquare.html
    """
    wanted = floating("chisquare", dtype)
    check_number("chisquare", "df", df, 0.0)
    shape = shape_of("chisquare", shape, df=df)
    half = ops.divide(parameter(df, wanted, key), 2.0)
    return ops.multiply(ops.exp(loggamma(key, half, shape, wanted)), 2.0)


@sampler
def student_t(
    key: Array, df: float | Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Student's t: normal numbers over the root of the mean of `df` squares of normal numbers.

    Args:
        key: `(2,)`, uint32.
        df: degrees of freedom, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape of `df`.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `df` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `df` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.student_t(na.random.key(0), 10.0, (10000,))
        >>> bool(abs(x.var() - 10 / 8) < 0.1)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.t.html
    """
    wanted = floating("student_t", dtype)
    check_number("student_t", "df", df, 0.0)
    shape = shape_of("student_t", shape, df=df)
    first, second = sources.halves(key)
    half = ops.divide(parameter(df, wanted, key), 2.0)
    g = gamma(second, half, shape, wanted)
    is_zero = ops.equal(g, 0.0)  # underflow at few degrees of freedom
    scale = ops.divide(ops.sqrt(half), ops.sqrt(ops.where(is_zero, ops.ones_like(g), g)))
    scale = ops.where(is_zero, ops.full_like(g, math.inf), scale)
    return ops.multiply(normal(first, shape, wanted), scale)


@sampler
def f(
    key: Array,
    dfnum: float | Array,
    dfden: float | Array,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Fisher's F: a ratio of means of `dfnum` and `dfden` squares of normal numbers.

    Args:
        key: `(2,)`, uint32.
        dfnum: degrees of freedom, above 0; a number, or an array that broadcasts to `shape`.
        dfden: degrees of freedom, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which `dfnum` and `dfden` broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `dfnum` or `dfden` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `dfnum` or `dfden` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.f(na.random.key(0), 5.0, 12.0, (10000,))
        >>> bool(abs(x.mean() - 12 / 10) < 0.05)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.f.html
    """
    wanted = floating("f", dtype)
    check_number("f", "dfnum", dfnum, 0.0)
    check_number("f", "dfden", dfden, 0.0)
    shape = shape_of("f", shape, dfnum=dfnum, dfden=dfden)
    below, above = sources.halves(key)
    upper, lower = (
        ops.divide(chisquare(k, df, shape, wanted), parameter(df, wanted, key))
        for k, df in ((above, dfnum), (below, dfden))
    )
    return ops.divide(upper, lower)


@sampler
def generalized_normal(
    key: Array, p: float | Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Random numbers of the density p e^−|x|ᵖ / 2 Γ(1/p): Laplace's for p = 1, a bell for p = 2.

    Args:
        key: `(2,)`, uint32.
        p: the power, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape of `p`.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `p` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `p` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.generalized_normal(na.random.key(0), 2.0, (10000,))
        >>> bool(abs((x * x).mean() - 0.5) < 0.02)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.generalized_normal.html
    """
    wanted = floating("generalized_normal", dtype)
    check_number("generalized_normal", "p", p, 0.0)
    shape = shape_of("generalized_normal", shape, p=p)
    inverse = 1.0 / p if is_number(p) else ops.reciprocal(parameter(p, wanted, key))
    inverse = parameter(inverse, wanted, key)
    first, second = sources.halves(key)
    size = ops.pow(gamma(first, inverse, shape, wanted), inverse)
    return ops.multiply(rademacher(second, shape, wanted), size)

"""Continuous distributions with parameters, made of uniform, exponential and normal numbers."""

from __future__ import annotations

import math

from nestarray import ops
from nestarray.random import sources
from nestarray.random.arguments import (
    check_number,
    floating,
    is_number,
    parameter,
    sampler,
    shape_of,
    sizes,
)
from nestarray.random.continuous import exponential, normal, uniform
from nestarray.random.discrete import rademacher
from nestarray.typing import Array, DTypeLike, Shape


@sampler
def rayleigh(
    key: Array, scale: float | Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Rayleigh distribution, lengths of normal vectors in the plane: σ √(−2 ln u), of the density x e^(−x² / 2σ²) / σ².

    Args:
        key: `(2,)`, uint32.
        scale: σ, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the parameters broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `scale` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `scale` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.rayleigh(na.random.key(0), 2.0, (10000,))
        >>> bool(abs((x * x).mean() - 8) < 0.2)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.rayleigh.html
    """
    wanted = floating("rayleigh", dtype)
    check_number("rayleigh", "scale", scale, 0.0)
    shape = shape_of("rayleigh", shape, scale=scale)
    u = sources.unit(key, shape, wanted)
    is_zero = ops.equal(u, 0.0)  # NumPy warns about log 0
    u = ops.where(is_zero, ops.ones_like(u), u)
    length = ops.random_quantile(u, distribution="rayleigh")
    length = ops.where(is_zero, ops.full_like(u, math.inf), length)
    return ops.multiply(length, parameter(scale, wanted, key))


@sampler
def weibull_min(
    key: Array,
    scale: float | Array,
    concentration: float | Array,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Weibull distribution: λ (−ln(1 − u))^(1 / k), of the density k/λ (x/λ)ᵏ⁻¹ e^−(x/λ)ᵏ.

    Args:
        key: `(2,)`, uint32.
        scale: λ, above 0; a number, or an array that broadcasts to `shape`.
        concentration: k, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the parameters broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: a parameter is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: a parameter does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.weibull_min(na.random.key(0), 3.0, 1.0, (10000,))  # exponential
        >>> bool(abs(x.mean() - 3) < 0.1)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.weibull_min.html
    """
    wanted = floating("weibull_min", dtype)
    check_number("weibull_min", "scale", scale, 0.0)
    check_number("weibull_min", "concentration", concentration, 0.0)
    shape = shape_of("weibull_min", shape, scale=scale, concentration=concentration)
    power = (
        parameter(1.0 / concentration, wanted, key)
        if is_number(concentration)
        else ops.reciprocal(parameter(concentration, wanted, key))
    )
    drawn = ops.pow(exponential(key, shape, wanted), power)
    return ops.multiply(drawn, parameter(scale, wanted, key))


@sampler
def pareto(
    key: Array, b: float | Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Pareto distribution, with the density b / xᵇ⁺¹.

    Args:
        key: `(2,)`, uint32.
        b: the exponent, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the parameters broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `b` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `b` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.pareto(na.random.key(0), 3.0, (10000,))
        >>> bool(x.min() >= 1), bool(abs(x.mean() - 1.5) < 0.05)
        (True, True)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.pareto.html
    """
    wanted = floating("pareto", dtype)
    check_number("pareto", "b", b, 0.0)
    shape = shape_of("pareto", shape, b=b)
    return ops.exp(ops.divide(exponential(key, shape, wanted), parameter(b, wanted, key)))


@sampler
def lognormal(
    key: Array, sigma: float | Array = 1.0, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Log-normal distribution: logarithms are normal with mean 0 and standard deviation `sigma`.

    Args:
        key: `(2,)`, uint32.
        sigma: a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the parameters broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.
        ShapeError: `sigma` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.lognormal(na.random.key(0), 0.5, (10000,))
        >>> bool(abs(x.mean() - 2.71828**0.125) < 0.02)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.lognormal.html
    """
    wanted = floating("lognormal", dtype)
    shape = shape_of("lognormal", shape, sigma=sigma)
    return ops.exp(ops.multiply(normal(key, shape, wanted), parameter(sigma, wanted, key)))


@sampler
def maxwell(key: Array, shape: Shape = (), dtype: DTypeLike = "float32") -> Array:
    """Maxwell distribution, lengths of normal vectors in space: density √(2/π) x² e^(−x²/2).

    Args:
        key: `(2,)`, uint32.
        shape: of the result.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.

    Example:
        >>> import nestarray as na
        >>> x = na.random.maxwell(na.random.key(0), (10000,))
        >>> bool(abs((x * x).mean() - 3) < 0.1)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.maxwell.html
    """
    wanted = floating("maxwell", dtype)
    vectors = normal(key, (*sizes("maxwell", shape), 3), wanted)
    return ops.vector_norm(vectors, axis=-1)


@sampler
def double_sided_maxwell(
    key: Array,
    loc: float | Array,
    scale: float | Array,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Two-sided Maxwell distribution: density x² e^(−x²/2) / √(2π), scaled and moved.

    Args:
        key: `(2,)`, uint32.
        loc: the center; a number, or an array that broadcasts to `shape`.
        scale: the unit; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the parameters broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.
        ShapeError: a parameter does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.double_sided_maxwell(na.random.key(0), 1.0, 2.0, (10000,))
        >>> bool(abs(x.mean() - 1) < 0.1), bool(abs(x.var() - 12) < 0.3)
        (True, True)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.double_sided_maxwell.html
    """
    wanted = floating("double_sided_maxwell", dtype)
    shape = shape_of("double_sided_maxwell", shape, loc=loc, scale=scale)
    first, second = sources.halves(key)
    signed = ops.multiply(rademacher(second, shape, wanted), maxwell(first, shape, wanted))
    scaled = ops.multiply(signed, parameter(scale, wanted, key))
    return ops.add(scaled, parameter(loc, wanted, key))


@sampler
def triangular(
    key: Array,
    left: float | Array,
    mode: float | Array,
    right: float | Array,
    shape: Shape | None = None,
    dtype: DTypeLike = "float32",
) -> Array:
    """Triangular distribution between `left` and `right` with its peak at `mode`.

    Args:
        key: `(2,)`, uint32.
        left: the least; a number, or an array that broadcasts to `shape`.
        mode: the most probable, from `left` to `right`; a number, or an array that broadcasts to `shape`.
        right: the largest, above `left`; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the parameters broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        DtypeError: `dtype` is not floating.
        ShapeError: a parameter does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.triangular(na.random.key(0), 0.0, 1.0, 5.0, (10000,))
        >>> bool(abs(x.mean() - 2) < 0.05)
        True

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.random.triangular.html
    """
    wanted = floating("triangular", dtype)
    shape = shape_of("triangular", shape, left=left, mode=mode, right=right)
    low, top, high = (parameter(x, wanted, key) for x in (left, mode, right))
    span, rise, fall = ops.subtract(high, low), ops.subtract(top, low), ops.subtract(high, top)
    u = uniform(key, shape, wanted)
    below = ops.add(low, ops.sqrt(ops.multiply(ops.multiply(u, span), rise)))
    rest = ops.multiply(ops.multiply(ops.subtract(1.0, u), span), fall)
    return ops.where(ops.less(u, ops.divide(rise, span)), below, ops.subtract(high, ops.sqrt(rest)))


@sampler
def wald(
    key: Array, mean: float | Array, shape: Shape | None = None, dtype: DTypeLike = "float32"
) -> Array:
    """Wald's (inverse Gaussian) distribution, of the density e^(−(x − μ)² / 2μ²x) / √(2πx³).

    The draws of ``jax.random``, right to 4 ulp. Its own are a difference of numbers that grow
    with μ: in float32 they miss by up to 4 · 10⁻⁵ of the value at μ = 2, and by a seventh of it
    at μ = 100. So this is the one distribution that does not follow its digits.

    Args:
        key: `(2,)`, uint32.
        mean: μ, above 0; a number, or an array that broadcasts to `shape`.
        shape: of the result; None is the shape to which the parameters broadcast.
        dtype: a floating type.

    Returns:
        array of `shape` and `dtype`.

    Raises:
        ArgumentError: `mean` is a number and not above 0.
        DtypeError: `dtype` is not floating.
        ShapeError: `mean` does not broadcast to `shape`.

    Example:
        >>> import nestarray as na
        >>> x = na.random.wald(na.random.key(0), 2.0, (10000,))
        >>> bool(abs(x.mean() - 2) < 0.1)
        True

    References:
        Michael, Schucany and Haas, Generating random variates using transformations with multiple
        roots. The American Statistician, 1976.
        https://docs.jax.dev/en/latest/_autosummary/jax.random.wald.html
    """
    wanted = floating("wald", dtype)
    check_number("wald", "mean", mean, 0.0)
    shape = shape_of("wald", shape, mean=mean)
    first, second = sources.halves(key)
    v, u = normal(first, shape, wanted), sources.unit(second, shape, wanted)
    mean = parameter(mean, wanted, key)
    t = ops.multiply(ops.multiply(v, v), ops.multiply(mean, 0.5))
    # the roots are μ / g and μ g; 1 + t − √(t (t + 2)) would cancel
    g = ops.add(ops.add(t, 1.0), ops.sqrt(ops.multiply(t, ops.add(t, 2.0))))
    is_first = ops.less_equal(u, ops.divide(g, ops.add(g, 1.0)))
    return ops.where(is_first, ops.divide(mean, g), ops.multiply(mean, g))

"""Regression losses.

All take ``reduction``: ``"mean"``, ``"sum"`` or ``"none"``.
"""

from __future__ import annotations

import math

from nestarray import ops
from nestarray.backends.base import refuse_complex
from nestarray.dispatch import floating_op
from nestarray.ops.losses import reduced
from nestarray.typing import Array, check_range

__all__ = [
    "gaussian_nll_loss",
    "huber_loss",
    "l1_loss",
    "log_cosh",
    "mse_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
]

_TWO_PI = 2.0 * math.pi


@floating_op
def mse_loss(x: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """The squared error, (x − target)².

    Args:
        x: predictions, any shape, floating.
        target: of the shape of x.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.mse_loss(np.asarray([1.0, 2.0]), np.asarray([1.0, 4.0])))
        2.0

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.mse_loss.html
    """
    error = x - target
    return reduced("mse_loss", error * error, reduction)


@floating_op
def l1_loss(x: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """The absolute error, |x − target|.

    Args:
        x: predictions, any shape, floating.
        target: of the shape of x.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.l1_loss(np.asarray([1.0, 2.0]), np.asarray([1.0, 4.0])))
        1.0

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.l1_loss.html
    """
    return reduced("l1_loss", ops.abs(x - target), reduction)


@floating_op
def huber_loss(x: Array, target: Array, /, *, delta: float = 1.0, reduction: str = "mean") -> Array:
    """The Huber loss: d²/2 for |d| ≤ δ, δ·(|d| − δ/2) otherwise.

    Args:
        x: predictions, any shape, floating.
        target: of the shape of x.
        delta: the error δ above which the loss is linear; positive.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.huber_loss(np.asarray([1.0, 5.0]), np.asarray([0.0, 0.0]), reduction="none")
        array([0.5, 4.5])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.huber_loss.html
    """
    check_range("huber_loss", "delta", delta, 0, above=True)
    error = x - target
    refuse_complex(error)
    error = ops.abs(error)
    loss = ops.where(ops.less(error, delta), error * error * 0.5, (error - delta / 2) * delta)
    return reduced("huber_loss", loss, reduction)


@floating_op
def smooth_l1_loss(
    x: Array, target: Array, /, *, beta: float = 1.0, reduction: str = "mean"
) -> Array:
    """The smoothed absolute error: d²/(2β) for |d| < β, |d| − β/2 otherwise.

    Args:
        x: predictions, any shape, floating.
        target: of the shape of x.
        beta: the error β below which the loss is quadratic; 0 gives `l1_loss`.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.smooth_l1_loss(np.asarray([1.0, 5.0]), np.asarray([0.0, 0.0]), reduction="none")
        array([0.5, 4.5])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.smooth_l1_loss.html
    """
    check_range("smooth_l1_loss", "beta", beta, 0)
    error = x - target
    refuse_complex(error)
    error = ops.abs(error)
    if beta == 0:
        return reduced("smooth_l1_loss", error, reduction)
    loss = ops.where(ops.less(error, beta), error * error * (0.5 / beta), error - beta / 2)
    return reduced("smooth_l1_loss", loss, reduction)


@floating_op
def poisson_nll_loss(
    x: Array,
    target: Array,
    /,
    *,
    log_input: bool = True,
    full: bool = False,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Array:
    """The negative log-likelihood of counts under Poisson distributions, eˣ − t · x.

    Args:
        x: the logarithms of the rates, any shape, floating.
        target: counts, of the shape of x.
        log_input: False if x holds the rates: the loss is then x − t · log(x + eps).
        full: add Stirling's approximation of log t!, for t > 1.
        eps: added to the argument of the logarithm.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.poisson_nll_loss(np.zeros(2), np.ones(2)))
        1.0

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.poisson_nll_loss.html
    """
    loss = ops.exp(x) - target * x if log_input else x - target * ops.log(x + eps)
    if full:
        is_large = ops.greater(target, 1)
        t = ops.where(is_large, target, 1.0)
        stirling = t * ops.log(t) - t + ops.log(t * _TWO_PI) * 0.5
        loss = loss + ops.where(is_large, stirling, 0.0)
    return reduced("poisson_nll_loss", loss, reduction)


@floating_op
def gaussian_nll_loss(
    x: Array,
    target: Array,
    variance: Array,
    /,
    *,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Array:
    """The negative log-likelihood under normal distributions, (log v + (x − target)² / v) / 2.

    Args:
        x: the expectations, any shape, floating.
        target: of the shape of x.
        variance: the variances v, broadcast with x; positive.
        full: add the constant log(2π) / 2.
        eps: the lower bound of the variance.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.gaussian_nll_loss(np.zeros(2), np.ones(2), np.ones(2)))
        0.5

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.gaussian_nll_loss.html
    """
    variance = ops.maximum(variance, eps)
    error = x - target
    loss = (ops.log(variance) + error * error / variance) * 0.5
    if full:
        loss = loss + 0.5 * math.log(_TWO_PI)
    return reduced("gaussian_nll_loss", loss, reduction)


@floating_op
def log_cosh(x: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """The log-cosh loss, log cosh(x − target): quadratic near zero, linear for large errors.

    Args:
        x: predictions, any shape, floating.
        target: of the shape of x.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.log_cosh(np.asarray([0.0, 9.0]), np.zeros(2), reduction="none").round(4)
        array([0.    , 8.3069])

    References:
        https://keras.io/api/losses/regression_losses/#logcosh-class
    """
    error = x - target
    refuse_complex(error)
    loss = error + ops.softplus(error * -2.0) - math.log(2.0)
    return reduced("log_cosh", loss, reduction)

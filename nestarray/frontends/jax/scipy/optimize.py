"""Minima of functions.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.scipy.optimize.minimize.html
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.jax.promotion import inexact
from nestarray.typing import Array

__all__ = ["OptimizeResults", "minimize"]


class OptimizeResults(NamedTuple):
    """The result of `minimize`.

    Attributes:
        x: the position.
        success: whether it converged.
        status: 0; 1 if the number of steps was reached; 3 and 5 if no step descends.
        fun, jac, hess_inv: value, gradient and inverse of the Hessian at the position.
        nfev, njev, nit: numbers of values, gradients and steps.
    """

    x: Array
    success: Array
    status: Array
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: Array
    njev: Array
    nit: Array


class _State(NamedTuple):
    x: Array
    value: Array
    gradient: Array
    inverse: Array
    evaluations: Array
    steps: Array
    failed: Array


def minimize(
    fun: Callable[..., Array],
    x0: Array,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A minimum of a scalar function by the method of Broyden, Fletcher, Goldfarb and Shanno.

    The steps are searched by halving, so positions on the way differ from upstream's.

    Args:
        fun: function of an array `(n,)` and of `args` that returns a scalar.
        x0: `(n,)`.
        args: further arguments.
        method: "BFGS".
        tol: the largest element of the gradient at the end, 10⁻⁵ by default.
        options: "gtol", as `tol`; "maxiter", by default 200 n.
    """
    if method.lower() != "bfgs":
        raise ArgumentError(f"minimize: method: got {method!r}, expected 'BFGS'")
    settings = dict(options or {})
    limit = settings.pop("gtol", 1e-5 if tol is None else tol)
    x0 = inexact(x0)
    if len(na.shape(x0)) != 1:
        raise ArgumentError(f"minimize: x0: got {len(na.shape(x0))} axes, expected one")
    most = settings.pop("maxiter", None) or 200 * na.shape(x0)[0]
    function = na.value_and_grad(lambda x: fun(x, *args))
    eye = na.eye(na.shape(x0)[0], dtype=dtypes.dtype_of(x0), like=x0)
    value, gradient = function(x0)
    zero = na.zeros((), dtype=dtypes.int32, like=x0)
    start = _State(x0, value, gradient, eye, zero + 1, zero, na.equal(zero, 1))

    def goes_on(state: _State) -> Array:
        is_steep = na.greater(na.max(na.abs(state.gradient)), limit)
        is_early = na.less(state.steps, most)
        return na.logical_and(na.logical_and(is_steep, is_early), na.logical_not(state.failed))

    def step(state: _State) -> _State:
        direction = -na.matmul(state.inverse, state.gradient)
        slope = na.vecdot(state.gradient, direction)
        length, count = _length(lambda x: fun(x, *args), state, direction, slope)
        change = direction * length
        value, gradient = function(state.x + change)
        inverse = _updated(state.inverse, change, gradient - state.gradient, eye)
        failed = na.logical_not(na.less_equal(value, state.value))
        x, value, gradient, inverse = [
            na.where(failed, old, new)
            for old, new in ((state.x, state.x + change), (state.value, value),
                             (state.gradient, gradient), (state.inverse, inverse))
        ]  # fmt: skip
        evaluations = state.evaluations + count + 1
        return _State(x, value, gradient, inverse, evaluations, state.steps + 1, failed)

    end = na.while_loop(goes_on, step, start)
    converged = na.less_equal(na.max(na.abs(end.gradient)), limit)
    status = na.where(converged, 0, na.where(end.failed, 3, 1))
    return OptimizeResults(
        end.x, converged, na.astype(status, dtypes.int32), end.value, end.gradient, end.inverse,
        end.evaluations, end.evaluations, end.steps,
    )  # fmt: skip


def _length(
    fun: Callable[[Array], Array], state: _State, direction: Array, slope: Array
) -> tuple[Array, Array]:
    """(the first of 1, ½, ¼, … that descends enough, the number of values)."""
    one = na.ones_like(state.value)

    def is_short(carry: tuple[Array, Array]) -> Array:
        length, count = carry
        bound = state.value + 1e-4 * length * slope
        is_high = na.logical_not(na.less_equal(fun(state.x + direction * length), bound))
        return na.logical_and(is_high, na.less(count, 40))

    halved = lambda carry: (carry[0] * 0.5, carry[1] + 1)  # noqa: E731
    return na.while_loop(is_short, halved, (one, na.zeros_like(state.steps)))


def _updated(inverse: Array, change: Array, difference: Array, eye: Array) -> Array:
    """The inverse of the Hessian for a change of position and of gradient."""
    product = na.vecdot(change, difference)
    is_convex = na.greater(product, 1e-10)
    rho = 1.0 / na.where(is_convex, product, na.ones_like(product))
    factor = eye - rho * na.outer(change, difference)
    found = na.matmul(na.matmul(factor, inverse), na.matrix_transpose(factor))
    found = found + rho * na.outer(change, change)
    return na.where(is_convex, found, inverse)

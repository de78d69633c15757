"""Metrics of numbers."""

from __future__ import annotations

from collections.abc import Mapping

from nestarray import ops
from nestarray.container import Container
from nestarray.nn.metrics.metric import Metric, as_floating, check_shapes, ratio, weights_of
from nestarray.typing import Array, Shape


class _MeanOfErrors(Metric):
    """Σ w e / Σ w for an error e of each element."""

    def shapes(self) -> Mapping[str, Shape]:
        """The weighted sum of the errors, and the sum of the weights."""
        return {"total": (), "count": ()}

    def error(self, x: Array, target: Array) -> Array:
        """The error of each element."""
        raise TypeError(f"{type(self).__name__} defines no error")

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch; see `Metric.measure`. `x` and `target` have one shape."""
        check_shapes(type(self).__name__, x, target)
        error = self.error(as_floating(x), as_floating(target))
        weight = weights_of(type(self).__name__, weight, error)
        return Container(total=ops.sum(error * weight), count=ops.sum(weight))

    def compute(self, state: Container) -> Array:
        """The mean error."""
        return ratio(state["total"], state["count"])


class MeanSquaredError(_MeanOfErrors):
    """The mean of (x − target)².

    Example:
        >>> import numpy as np, nestarray as na
        >>> mse = na.nn.metrics.MeanSquaredError()
        >>> float(mse.compute(mse.measure(np.asarray([1.0, 2.0]), np.asarray([0.0, 4.0]))))
        2.5
    """

    def error(self, x: Array, target: Array) -> Array:
        """(x − target)²."""
        return ops.square(x - target)


class RootMeanSquaredError(MeanSquaredError):
    """The square root of the mean of (x − target)².

    Example:
        >>> import numpy as np, nestarray as na
        >>> rmse = na.nn.metrics.RootMeanSquaredError()
        >>> float(rmse.compute(rmse.measure(np.asarray([1.0, 7.0]), np.asarray([0.0, 0.0]))))
        5.0
    """

    def compute(self, state: Container) -> Array:
        """The root of the mean."""
        return ops.sqrt(super().compute(state))


class MeanAbsoluteError(_MeanOfErrors):
    """The mean of |x − target|.

    Example:
        >>> import numpy as np, nestarray as na
        >>> mae = na.nn.metrics.MeanAbsoluteError()
        >>> float(mae.compute(mae.measure(np.asarray([1.0, 2.0]), np.asarray([0.0, 4.0]))))
        1.5
    """

    def error(self, x: Array, target: Array) -> Array:
        """|x − target|."""
        return ops.abs(x - target)


class MeanAbsolutePercentageError(_MeanOfErrors):
    """The mean of |x − target| / max(|target|, eps).

    Args:
        eps: the smallest divisor.

    Example:
        >>> import numpy as np, nestarray as na
        >>> mape = na.nn.metrics.MeanAbsolutePercentageError()
        >>> float(mape.compute(mape.measure(np.asarray([1.0, 2.0]), np.asarray([2.0, 4.0]))))
        0.5
    """

    def __init__(self, eps: float = 1e-7) -> None:
        self.eps = eps

    def error(self, x: Array, target: Array) -> Array:
        """|x − target| / max(|target|, eps)."""
        return ops.abs(x - target) / ops.maximum(ops.abs(target), self.eps)


class _Moments(Metric):
    """Centred sums, which lose no digits where the mean is large; two parts merge as of Chan et al.

    References:
        Chan, Golub and LeVeque, Algorithms for computing the sample variance. The American
        Statistician, 1983.
    """

    def shapes(self) -> Mapping[str, Shape]:
        """Weight, means, and centred sums of squares and products."""
        return dict.fromkeys(("count", "mean_x", "mean_target", "xx", "tt", "xt", "errors"), ())

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch; see `Metric.measure`. `x` and `target` have one shape."""
        check_shapes(type(self).__name__, x, target)
        x, target = as_floating(x), as_floating(target)
        weight = weights_of(type(self).__name__, weight, target)
        count = ops.sum(weight)
        mean_x = ratio(ops.sum(weight * x), count, 0.0)
        mean_target = ratio(ops.sum(weight * target), count, 0.0)
        dx, dt = x - mean_x, target - mean_target
        return Container(
            count=count,
            mean_x=mean_x,
            mean_target=mean_target,
            xx=ops.sum(weight * dx * dx),
            tt=ops.sum(weight * dt * dt),
            xt=ops.sum(weight * dx * dt),
            errors=ops.sum(weight * ops.square(x - target)),
        )

    def merge(self, a: Container, b: Container) -> Container:
        """The state that has seen the batches of both."""
        count = a["count"] + b["count"]
        share = ratio(b["count"], count, 0.0)
        dx, dt = b["mean_x"] - a["mean_x"], b["mean_target"] - a["mean_target"]
        both = a["count"] * share
        return Container(
            count=count,
            mean_x=a["mean_x"] + dx * share,
            mean_target=a["mean_target"] + dt * share,
            xx=a["xx"] + b["xx"] + dx * dx * both,
            tt=a["tt"] + b["tt"] + dt * dt * both,
            xt=a["xt"] + b["xt"] + dx * dt * both,
            errors=a["errors"] + b["errors"],
        )


class R2(_Moments):
    """The coefficient of determination, 1 − Σ (target − x)² / Σ (target − mean)².

    Example:
        >>> import numpy as np, nestarray as na
        >>> r2 = na.nn.metrics.R2()
        >>> state = r2.measure(np.asarray([1.0, 2.0, 4.0]), np.asarray([1.0, 2.0, 3.0]))
        >>> float(r2.compute(state))
        0.5

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.r2_score.html
    """

    def compute(self, state: Container) -> Array:
        """1 − Σ (target − x)² / Σ (target − mean)²; NaN for constant targets."""
        return 1.0 - ratio(state["errors"], state["tt"])


class PearsonCorrelation(_Moments):
    """The correlation coefficient, Σ dx dt / √(Σ dx² Σ dt²), of deviations from the means.

    Example:
        >>> import numpy as np, nestarray as na
        >>> correlation = na.nn.metrics.PearsonCorrelation()
        >>> x = np.asarray([1.0, 2.0, 4.0])
        >>> round(float(correlation.compute(correlation.measure(x, 3 - 2 * x))), 6)
        -1.0

    References:
        https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.pearsonr.html
    """

    def compute(self, state: Container) -> Array:
        """The coefficient; NaN for constant numbers."""
        return ratio(state["xt"], ops.sqrt(state["xx"]) * ops.sqrt(state["tt"]))

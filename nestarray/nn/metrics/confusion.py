"""The confusion matrix, and coefficients of agreement; see `nestarray.nn.metrics.classes`."""

from __future__ import annotations

from collections.abc import Mapping

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.nn.metrics.classes import check_number, classes_of, is_class, sums_of
from nestarray.nn.metrics.metric import Metric, ratio, weights_of
from nestarray.typing import Array, Shape


class ConfusionMatrix(Metric):
    """The number of elements of each class (row) for each predicted class (column).

    Args:
        num_classes: the number of classes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> matrix = na.nn.metrics.ConfusionMatrix(2)
        >>> matrix.compute(matrix.measure(np.asarray([0, 1, 1, 1]), np.asarray([0, 0, 1, 1])))
        array([[1., 1.],
               [0., 2.]], dtype=float32)

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.confusion_matrix.html
    """

    def __init__(self, num_classes: int) -> None:
        check_number(type(self).__name__, num_classes)
        self.num_classes = num_classes

    def shapes(self) -> Mapping[str, Shape]:
        """The matrix."""
        return {"matrix": (self.num_classes, self.num_classes)}

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch; see `Metric.measure`."""
        name, size = type(self).__name__, self.num_classes
        classes = classes_of(name, x, target, 0.5)
        weight = weights_of(name, weight, ops.astype(target, dtypes.float32))
        is_inside = ops.logical_and(is_class(classes, size), is_class(target, size))
        place = ops.astype(target, dtypes.int32) * size + ops.astype(classes, dtypes.int32)
        total = sums_of(
            ops.where(is_inside, place, 0), ops.where(is_inside, weight, 0.0), size * size
        )
        return Container(matrix=ops.reshape(total, (size, size)))

    def compute(self, state: Container) -> Array:
        """The matrix `(classes, classes)`."""
        return state["matrix"]


class MatthewsCorrelation(ConfusionMatrix):
    """The correlation coefficient of predicted and right classes.

    Args:
        num_classes: the number of classes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> matthews = na.nn.metrics.MatthewsCorrelation(2)
        >>> state = matthews.measure(np.asarray([0, 1, 1, 1]), np.asarray([0, 0, 1, 1]))
        >>> round(float(matthews.compute(state)), 3)
        0.577

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.matthews_corrcoef.html
    """

    def compute(self, state: Container) -> Array:
        """The coefficient; NaN where all are of one class, or predicted so."""
        shares = ratio(state["matrix"], ops.sum(state["matrix"]))
        rows, columns = ops.sum(shares, axis=1), ops.sum(shares, axis=0)
        covariance = ops.trace(shares) - ops.sum(rows * columns)
        variances = (1.0 - ops.sum(rows * rows)) * (1.0 - ops.sum(columns * columns))
        return ratio(covariance, ops.sqrt(ops.maximum(variances, 0.0)))


class CohenKappa(ConfusionMatrix):
    """The agreement beyond chance, (observed − expected) / (1 − expected).

    Args:
        num_classes: the number of classes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> kappa = na.nn.metrics.CohenKappa(2)
        >>> float(kappa.compute(kappa.measure(np.asarray([0, 1, 1, 1]), np.asarray([0, 0, 1, 1]))))
        0.5

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.cohen_kappa_score.html
    """

    def compute(self, state: Container) -> Array:
        """The coefficient; NaN if all are of one class."""
        shares = ratio(state["matrix"], ops.sum(state["matrix"]))
        expected = ops.sum(ops.sum(shares, axis=1) * ops.sum(shares, axis=0))
        return ratio(ops.trace(shares) - expected, 1.0 - expected)

"""Metrics of predicted classes.

Predictions are scores `(*batch, classes)`, of which the largest counts, or integer classes
`(*batch,)`. Without a number of classes they are scores of the positive class `(*batch,)`. Targets are
integer classes `(*batch,)`; integers outside the range of classes, such as −100, count for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError
from nestarray.nn.metrics.metric import Metric, as_floating, check_shapes, ratio, weights_of
from nestarray.typing import Array, Shape


class Accuracy(Metric):
    """The share of right classes.

    Args:
        threshold: of the scores of the positive class, if they have no axis of classes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> accuracy = na.nn.metrics.Accuracy()
        >>> state = accuracy.measure(np.asarray([0.1, 0.8, 0.7]), np.asarray([0, 1, 0]))
        >>> round(float(accuracy.compute(state)), 3)
        0.667
    """

    def __init__(self, *, threshold: float = 0.5) -> None:
        self.threshold = threshold

    def shapes(self) -> Mapping[str, Shape]:
        """The weights of right predictions, and of all."""
        return {"hits": (), "count": ()}

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch; see `Metric.measure`. Negative targets count for nothing."""
        name = type(self).__name__
        classes = classes_of(name, x, target, self.threshold)
        weight = weights_of(name, weight, ops.astype(target, dtypes.float32))
        weight = ops.where(ops.less(target, 0), 0.0, weight)
        hits = ops.where(ops.equal(classes, target), weight, 0.0)
        return Container(hits=ops.sum(hits), count=ops.sum(weight))

    def compute(self, state: Container) -> Array:
        """hits / count."""
        return ratio(state["hits"], state["count"])


class TopKAccuracy(Accuracy):
    """The share of targets among the `k` classes with the largest scores.

    Args:
        k: the number of classes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> top2 = na.nn.metrics.TopKAccuracy(2)
        >>> state = top2.measure(np.asarray([[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]]), np.asarray([1, 0]))
        >>> float(top2.compute(state))
        0.5

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.top_k_accuracy_score.html
    """

    def __init__(self, k: int = 5) -> None:
        if not isinstance(k, int) or k < 1:
            raise ArgumentError(f"TopKAccuracy: k: got {k!r}, expected a positive integer")
        self.k = k

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch; `x` are scores `(*batch, classes)`."""
        check_shapes("TopKAccuracy", x, target, classes=True)
        weight = weights_of("TopKAccuracy", weight, ops.astype(target, dtypes.float32))
        is_counted = ops.greater_equal(target, 0)
        index = ops.expand_dims(ops.where(is_counted, target, 0), axis=-1)
        score = ops.take_along_axis(x, index, axis=-1)
        rank = ops.sum(ops.astype(ops.greater(x, score), dtypes.int32), axis=-1)
        weight = ops.where(is_counted, weight, 0.0)
        hits = ops.where(ops.less(rank, self.k), weight, 0.0)
        return Container(hits=ops.sum(hits), count=ops.sum(weight))


class _Counts(Metric):
    """Numbers of hits, predictions and targets of each class, and a quotient of them.

    Args:
        num_classes: None: one class, the positive one, whose scores have no axis of classes.
        average: over classes: ``"macro"``, the mean; ``"micro"``, the quotient of sums; ``"weighted"`` by
            the number of targets; None: an array `(classes,)`.
        threshold: of the scores of the positive class.
    """

    #: the value of a class without predictions and targets; NaN leaves it out of means
    empty: ClassVar[float] = 0.0

    def __init__(
        self,
        num_classes: int | None = None,
        *,
        average: str | None = "macro",
        threshold: float = 0.5,
    ) -> None:
        name = type(self).__name__
        if num_classes is not None:
            check_number(name, num_classes)
        if average not in ("macro", "micro", "weighted", None):
            raise ArgumentError(
                f"{name}: average: got {average!r}, expected 'macro', 'micro', 'weighted' or None"
            )
        self.num_classes, self.average, self.threshold = num_classes, average, threshold

    def shapes(self) -> Mapping[str, Shape]:
        """The weights of right predictions, of predictions and of targets, by class."""
        return dict.fromkeys(("hits", "predicted", "actual"), (self.num_classes or 2,))

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch; see `Metric.measure`."""
        name, size = type(self).__name__, self.num_classes or 2
        classes = classes_of(name, x, target, self.threshold)
        weight = weights_of(name, weight, ops.astype(target, dtypes.float32))
        weight = ops.where(is_class(target, size), weight, 0.0)
        is_predicted = is_class(classes, size)
        target = ops.where(is_class(target, size), target, 0)
        hits = ops.where(ops.equal(classes, target), weight, 0.0)
        predicted = ops.where(is_predicted, weight, 0.0)
        return Container(
            hits=sums_of(target, hits, size),
            predicted=sums_of(ops.where(is_predicted, classes, 0), predicted, size),
            actual=sums_of(target, weight, size),
        )

    def quotient(self, hits: Array, predicted: Array, actual: Array) -> tuple[Array, Array]:
        """Numerator and denominator."""
        raise TypeError(f"{type(self).__name__} defines no quotient")

    def compute(self, state: Container) -> Array:
        """The average over the classes; see the class."""
        counts = [state[name] for name in ("hits", "predicted", "actual")]
        if self.num_classes is None:
            return ratio(*self.quotient(*(x[1] for x in counts)), self.empty)
        if self.average == "micro":
            return ratio(*self.quotient(*map(ops.sum, counts)), self.empty)
        of_class = ratio(*self.quotient(*counts), self.empty)
        if self.average == "macro":
            return ops.nanmean(of_class)
        if self.average == "weighted":
            weighted = ops.where(ops.isnan(of_class), 0.0, of_class) * counts[2]
            return ratio(ops.sum(weighted), ops.sum(counts[2]), self.empty)
        return of_class


class Precision(_Counts):
    """The share of right ones among the predictions of a class.

    Args:
        num_classes: None: one class, the positive one, whose scores have no axis of classes.
        average: over classes: ``"macro"``, the mean; ``"micro"``, the quotient of sums; ``"weighted"`` by
            the number of targets; None: an array `(classes,)`.
        threshold: of the scores of the positive class.

    Example:
        >>> import numpy as np, nestarray as na
        >>> precision = na.nn.metrics.Precision()
        >>> float(precision.compute(precision.measure(np.asarray([0.9, 0.8]), np.asarray([1, 0]))))
        0.5

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.precision_score.html
    """

    def quotient(self, hits: Array, predicted: Array, actual: Array) -> tuple[Array, Array]:
        """hits / predicted."""
        return hits, predicted


class Recall(_Counts):
    """The share of right ones among the targets of a class; settings as for `Precision`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> recall = na.nn.metrics.Recall()
        >>> float(recall.compute(recall.measure(np.asarray([0.9, 0.2]), np.asarray([1, 1]))))
        0.5

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.recall_score.html
    """

    def quotient(self, hits: Array, predicted: Array, actual: Array) -> tuple[Array, Array]:
        """hits / actual."""
        return hits, actual


class F1(_Counts):
    """The harmonic mean of precision and recall, 2 · hits / (predicted + actual).

    Settings as for `Precision`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> f1 = na.nn.metrics.F1(3, average="micro")
        >>> float(f1.compute(f1.measure(np.asarray([0, 1, 2, 2]), np.asarray([0, 1, 1, 2]))))
        0.75

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.f1_score.html
    """

    def quotient(self, hits: Array, predicted: Array, actual: Array) -> tuple[Array, Array]:
        """2 · hits / (predicted + actual)."""
        return 2.0 * hits, predicted + actual


class Dice(F1):
    """The Dice coefficient of regions: `F1`, but the mean is over the classes that occur.

    Settings as for `Precision`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> dice = na.nn.metrics.Dice(3)
        >>> float(dice.compute(dice.measure(np.asarray([[0, 1]]), np.asarray([[0, 1]]))))
        1.0
    """

    empty = float("nan")


class IoU(_Counts):
    """Intersection over union of regions: hits / (predicted + actual − hits).

    Settings as for `Precision`; the mean is over the classes that occur.

    Example:
        >>> import numpy as np, nestarray as na
        >>> iou = na.nn.metrics.IoU(2, average=None)
        >>> iou.compute(iou.measure(np.asarray([[0, 1, 1]]), np.asarray([[0, 0, 1]])))
        array([0.5, 0.5], dtype=float32)

    References:
        https://keras.io/api/metrics/segmentation_metrics/#meaniou-class
    """

    empty = float("nan")

    def quotient(self, hits: Array, predicted: Array, actual: Array) -> tuple[Array, Array]:
        """hits / (predicted + actual − hits)."""
        return hits, predicted + actual - hits


def classes_of(name: str, x: Array, target: Array, threshold: float) -> Array:
    """The predicted classes `(*batch,)`."""
    if len(x.shape) == len(target.shape):
        check_shapes(name, x, target)
        if not dtype_of(x).is_inexact:
            return ops.astype(x, dtypes.int32, copy=False)
        return ops.astype(ops.greater(as_floating(x), threshold), dtypes.int32)
    check_shapes(name, x, target, classes=True)
    return ops.astype(ops.argmax(x, axis=-1), dtypes.int32)


def is_class(x: Array, num_classes: int) -> Array:
    """Whether integers are classes."""
    return ops.logical_and(ops.greater_equal(x, 0), ops.less(x, num_classes))


def sums_of(classes: Array, weight: Array, num_classes: int) -> Array:
    """The weights of each class, `(classes,)`."""
    flat = ops.reshape(classes, (-1,)), ops.reshape(weight, (-1,))
    return ops.segment_sum(flat[1], flat[0], num_segments=num_classes)


def check_number(name: str, num_classes: int) -> None:
    """Raise an ArgumentError unless the number of classes is at least 2."""
    if not isinstance(num_classes, int) or isinstance(num_classes, bool) or num_classes < 2:
        raise ArgumentError(
            f"{name}: num_classes: got {num_classes!r}, expected an integer of at least 2"
        )

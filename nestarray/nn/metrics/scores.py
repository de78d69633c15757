"""Metrics of probabilities and scores: curves, likelihoods, calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.dtypes import dtype_of
from nestarray.errors import ArgumentError
from nestarray.nn.metrics.metric import Metric, as_floating, check_shapes, ratio, weights_of
from nestarray.typing import Array, Shape


class _Curve(Metric):
    """Histograms of the scores of positive and negative targets, between thresholds.

    Args:
        thresholds: increasing numbers; an integer n: n numbers evenly spaced from 0 to 1.
    """

    def __init__(self, thresholds: int | Sequence[float] = 200) -> None:
        name = type(self).__name__
        if isinstance(thresholds, int):
            if thresholds < 2:
                raise ArgumentError(f"{name}: thresholds: got {thresholds}, expected 2 or more")
            values = np.linspace(0, 1, thresholds).tolist()
        else:
            values = [float(x) for x in thresholds]
        if any(b <= a for a, b in pairwise(values)):
            raise ArgumentError(
                f"{name}: thresholds: got {thresholds!r}, expected increasing numbers"
            )
        self.thresholds = tuple(values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.thresholds)} thresholds)"

    def shapes(self) -> Mapping[str, Shape]:
        """The weights of positive and negative targets below, between and above the thresholds."""
        return dict.fromkeys(("positive", "negative"), (len(self.thresholds) + 1,))

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch.

        Args:
            x: scores of the positive class, any shape; a score at a threshold is above it.
            target: 0 or 1, in the shape of `x`; negative ones count for nothing.
            weight: broadcast to the shape of `target`; None: 1.
        """
        name = type(self).__name__
        check_shapes(name, x, target)
        scores = ops.reshape(as_floating(x), (-1,))
        limits = ops.asarray(self.thresholds, dtype=dtype_of(scores), like=scores)
        place = ops.searchsorted(limits, scores, side="right")
        weight = weights_of(name, weight, ops.astype(target, dtypes.float32))
        weight, target = ops.reshape(weight, (-1,)), ops.reshape(target, (-1,))
        size = len(self.thresholds) + 1
        return Container({
            side: ops.segment_sum(
                ops.where(ops.equal(target, value), weight, 0.0), place, num_segments=size
            )
            for side, value in (("positive", 1), ("negative", 0))
        })  # fmt: skip


class AUROC(_Curve):
    """The area under the receiver operating characteristic: P(score of a positive > of a negative).

    Scores between the same thresholds are ties, which count one half. So the result is exact if the
    thresholds separate all different scores.

    Args:
        thresholds: increasing numbers; an integer n: n numbers evenly spaced from 0 to 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> auroc = na.nn.metrics.AUROC()
        >>> state = auroc.measure(np.asarray([0.1, 0.4, 0.35, 0.8]), np.asarray([0, 0, 1, 1]))
        >>> float(auroc.compute(state))
        0.75

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.roc_auc_score.html
    """

    def compute(self, state: Container) -> Array:
        """The area; NaN without positive or negative targets."""
        positive, negative = state["positive"], state["negative"]
        above = ops.sum(positive) - ops.cumulative_sum(positive)
        area = ops.sum(negative * (above + 0.5 * positive))
        return ratio(area, ops.sum(positive) * ops.sum(negative))


class AveragePrecision(_Curve):
    """The mean of the precision over the recall, Σ (Rₙ − Rₙ₋₁) Pₙ over thresholds n.

    Exact if the thresholds separate all different scores.

    Args:
        thresholds: increasing numbers; an integer n: n numbers evenly spaced from 0 to 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> precision = na.nn.metrics.AveragePrecision()
        >>> state = precision.measure(np.asarray([0.1, 0.4, 0.35, 0.8]), np.asarray([0, 0, 1, 1]))
        >>> round(float(precision.compute(state)), 3)
        0.833

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.average_precision_score.html
    """

    def compute(self, state: Container) -> Array:
        """The mean; NaN without positive targets."""
        positive, negative = state["positive"], state["negative"]
        total = ops.sum(positive)
        hits = total - ops.cumulative_sum(positive) + positive
        misses = ops.sum(negative) - ops.cumulative_sum(negative) + negative
        return ratio(ops.sum(positive * ratio(hits, hits + misses, 0.0)), total)


class LogLoss(Metric):
    """The mean cross entropy, −log p(target).

    Args:
        from_logits: whether scores are logits, or probabilities.

    Example:
        >>> import numpy as np, nestarray as na
        >>> loss = na.nn.metrics.LogLoss(from_logits=False)
        >>> state = loss.measure(np.asarray([[0.5, 0.5], [0.25, 0.75]]), np.asarray([0, 1]))
        >>> round(float(loss.compute(state)), 4)
        0.4904

    References:
        https://scikit-learn.org/stable/modules/generated/sklearn.metrics.log_loss.html
    """

    def __init__(self, *, from_logits: bool = True) -> None:
        self.from_logits = from_logits

    def shapes(self) -> Mapping[str, Shape]:
        """The weighted sum of the losses, and the sum of the weights."""
        return {"total": (), "count": ()}

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch.

        Args:
            x: scores `(*batch, classes)`.
            target: integer classes `(*batch,)`; negative ones, such as −100, count for nothing.
            weight: broadcast to the shape of `target`; None: 1.
        """
        name = type(self).__name__
        check_shapes(name, x, target, classes=True)
        x = as_floating(x)
        if self.from_logits:
            log_probs = ops.log_softmax(x, axis=-1)
        else:
            log_probs = ops.log(ops.maximum(x, dtypes.finfo(dtype_of(x)).smallest_normal))
        is_class = ops.greater_equal(target, 0)
        index = ops.expand_dims(ops.where(is_class, target, 0), axis=-1)
        loss = -ops.squeeze(ops.take_along_axis(log_probs, index, axis=-1), axis=-1)
        weight = ops.where(is_class, weights_of(name, weight, loss), 0.0)
        return Container(total=ops.sum(loss * weight), count=ops.sum(weight))

    def compute(self, state: Container) -> Array:
        """The mean, in nats."""
        return ratio(state["total"], state["count"])


class Perplexity(LogLoss):
    """The exponential of the mean cross entropy of tokens.

    Args:
        from_logits: whether scores are logits, or probabilities.

    Example:
        >>> import numpy as np, nestarray as na
        >>> perplexity = na.nn.metrics.Perplexity()
        >>> tokens = np.asarray([[0, 3, -100]])  # -100 is padding
        >>> float(perplexity.compute(perplexity.measure(np.zeros((1, 3, 4)), tokens)))
        4.0
    """

    def compute(self, state: Container) -> Array:
        """exp of the mean."""
        return ops.exp(super().compute(state))


class CalibrationError(Metric):
    """The expected calibration error, Σ_b n_b / n · |accuracy_b − confidence_b| over bins of confidence.

    Args:
        bins: the number of bins of equal width from 0 to 1; each contains its upper limit.
        norm: ``"l1"``: the mean over elements; ``"max"``: the largest of a bin.
        from_logits: whether scores are logits, or probabilities.

    Example:
        >>> import numpy as np, nestarray as na
        >>> error = na.nn.metrics.CalibrationError(10, from_logits=False)
        >>> state = error.measure(np.asarray([[0.25, 0.75], [0.25, 0.75]]), np.asarray([0, 1]))
        >>> float(error.compute(state))
        0.25

    References:
        Guo et al., On calibration of modern neural networks. https://arxiv.org/abs/1706.04599
    """

    def __init__(self, bins: int = 15, *, norm: str = "l1", from_logits: bool = True) -> None:
        if not isinstance(bins, int) or bins < 1:
            raise ArgumentError(
                f"CalibrationError: bins: got {bins!r}, expected a positive integer"
            )
        if norm not in ("l1", "max"):
            raise ArgumentError(f"CalibrationError: norm: got {norm!r}, expected 'l1' or 'max'")
        self.bins, self.norm, self.from_logits = bins, norm, from_logits

    def shapes(self) -> Mapping[str, Shape]:
        """The weights, the confidences and the hits in each bin."""
        return dict.fromkeys(("count", "confidence", "hits"), (self.bins,))

    def measure(self, x: Array, target: Array, weight: Array | None = None) -> Container:
        """The state of one batch.

        Args:
            x: scores `(*batch, classes)`.
            target: integer classes `(*batch,)`; negative ones count for nothing.
            weight: broadcast to the shape of `target`; None: 1.
        """
        check_shapes("CalibrationError", x, target, classes=True)
        x = as_floating(x)
        probabilities = ops.softmax(x, axis=-1) if self.from_logits else x
        confidence = ops.reshape(ops.max(probabilities, axis=-1), (-1,))
        is_hit = ops.reshape(ops.equal(ops.argmax(x, axis=-1), target), (-1,))
        weight = weights_of("CalibrationError", weight, ops.astype(target, dtype_of(x)))
        weight = ops.reshape(ops.where(ops.less(target, 0), 0.0, weight), (-1,))
        place = ops.clip(ops.ceil(confidence * self.bins) - 1.0, 0, self.bins - 1)
        place = ops.astype(place, dtypes.int32)
        sums = {
            "count": weight,
            "confidence": weight * confidence,
            "hits": ops.where(is_hit, weight, 0.0),
        }
        return Container({
            name: ops.segment_sum(values, place, num_segments=self.bins)
            for name, values in sums.items()
        })  # fmt: skip

    def compute(self, state: Container) -> Array:
        """The error, from 0 to 1."""
        gaps = ops.abs(state["hits"] - state["confidence"])
        if self.norm == "max":
            return ops.max(ratio(gaps, state["count"], 0.0))
        return ratio(ops.sum(gaps), ops.sum(state["count"]))

"""Metrics: the numbers of scikit-learn, in any division into batches, on every backend."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sklearn

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError
from nestarray.nn import metrics

SIZE, CLASSES = 60, 4
Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]


class Row(NamedTuple):
    """A metric, its arguments, and the expected number for (x, target, weight)."""

    metric: metrics.Metric
    draw: Draw
    expected: Callable[..., Any]


def numbers(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    target = 50 + rng.normal(size=SIZE)  # centred sums keep the digits of its variance
    return (target + 0.5 * rng.normal(size=SIZE)).astype("f4"), target.astype("f4")


def logits(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    target = rng.integers(0, CLASSES, SIZE)
    x = rng.normal(size=(SIZE, CLASSES)) + np.eye(CLASSES)[target]
    return x.astype("f4"), target.astype("i4")


def probabilities(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x, target = logits(rng)
    return _softmax(x), target


def classes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    x, target = logits(rng)
    return x.argmax(axis=-1).astype("i4"), target


def two_of_four(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, 2, SIZE).astype("i4"), rng.integers(0, 2, SIZE).astype("i4")


def scores(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Scores of 21 different values, between and at thresholds."""
    target = rng.integers(0, 2, SIZE)
    return (rng.integers(0, 17, SIZE) / 20 + 0.2 * target).astype("f4"), target.astype("i4")


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _of_classes(function: Callable[..., Any], **settings: Any) -> Callable[..., Any]:
    """A function of scikit-learn of predicted classes."""

    def expected(x: np.ndarray, t: np.ndarray, w: np.ndarray | None) -> Any:
        predicted = x.argmax(axis=-1) if x.ndim > t.ndim else x
        predicted = predicted if predicted.dtype.kind == "i" else (x > 0.5).astype(int)
        return function(t, predicted, sample_weight=w, **settings)

    return expected


def _calibration(bins: int, norm: str) -> Callable[..., Any]:
    def expected(x: np.ndarray, t: np.ndarray, w: np.ndarray | None) -> Any:
        w = np.ones(len(t)) if w is None else w
        confidence, is_hit = x.max(axis=-1), x.argmax(axis=-1) == t
        gaps = []
        for low in np.arange(bins) / bins:
            inside = (confidence > low) & (confidence <= low + 1 / bins)
            gaps.append(abs(np.sum((w * (is_hit - confidence))[inside])))
        shares = [
            np.sum(w[(confidence > b / bins) & (confidence <= (b + 1) / bins)]) for b in range(bins)
        ]
        if norm == "max":
            return max(g / s for g, s in zip(gaps, shares, strict=True) if s)
        return np.sum(gaps) / np.sum(w)

    return expected


def _weighted_pearson(x: np.ndarray, t: np.ndarray, w: np.ndarray | None) -> Any:
    if w is None:
        return stats.pearsonr(x, t).statistic
    matrix = np.cov(x.astype("f8"), t.astype("f8"), aweights=w)
    return matrix[0, 1] / np.sqrt(matrix[0, 0] * matrix[1, 1])


def _iou(average: str | None) -> Callable[..., Any]:
    return _of_classes(sklearn.jaccard_score, average=average, labels=range(CLASSES))


def _averaged(function: Callable[..., Any], average: str | None) -> Callable[..., Any]:
    return _of_classes(function, average=average, labels=range(CLASSES), zero_division=0)


ROWS = {
    "Mean": Row(metrics.Mean(), numbers, lambda x, t, w: np.average(x, weights=w)),
    "MeanSquaredError": Row(
        metrics.MeanSquaredError(),
        numbers,
        lambda x, t, w: sklearn.mean_squared_error(t, x, sample_weight=w),
    ),
    "RootMeanSquaredError": Row(
        metrics.RootMeanSquaredError(),
        numbers,
        lambda x, t, w: sklearn.root_mean_squared_error(t, x, sample_weight=w),
    ),
    "MeanAbsoluteError": Row(
        metrics.MeanAbsoluteError(),
        numbers,
        lambda x, t, w: sklearn.mean_absolute_error(t, x, sample_weight=w),
    ),
    "MeanAbsolutePercentageError": Row(
        metrics.MeanAbsolutePercentageError(),
        numbers,
        lambda x, t, w: sklearn.mean_absolute_percentage_error(t, x, sample_weight=w),
    ),
    "R2": Row(metrics.R2(), numbers, lambda x, t, w: sklearn.r2_score(t, x, sample_weight=w)),
    "PearsonCorrelation": Row(metrics.PearsonCorrelation(), numbers, _weighted_pearson),
    "Accuracy": Row(metrics.Accuracy(), logits, _of_classes(sklearn.accuracy_score)),
    "Accuracy of scores": Row(metrics.Accuracy(), scores, _of_classes(sklearn.accuracy_score)),
    "Accuracy of classes": Row(metrics.Accuracy(), classes, _of_classes(sklearn.accuracy_score)),
    "TopKAccuracy": Row(
        metrics.TopKAccuracy(2),
        logits,
        lambda x, t, w: sklearn.top_k_accuracy_score(
            t, x, k=2, sample_weight=w, labels=range(CLASSES)
        ),
    ),
    "ConfusionMatrix": Row(
        metrics.ConfusionMatrix(CLASSES),
        logits,
        _of_classes(sklearn.confusion_matrix, labels=range(CLASSES)),
    ),
    "MatthewsCorrelation": Row(
        metrics.MatthewsCorrelation(CLASSES), logits, _of_classes(sklearn.matthews_corrcoef)
    ),
    "CohenKappa": Row(
        metrics.CohenKappa(CLASSES),
        classes,
        lambda x, t, w: sklearn.cohen_kappa_score(t, x, sample_weight=w),
    ),
    **{
        f"{name}, {average}": Row(
            getattr(metrics, name)(CLASSES, average=average), draw, _averaged(function, average)
        )
        for name, function in (
            ("Precision", sklearn.precision_score),
            ("Recall", sklearn.recall_score),
            ("F1", sklearn.f1_score),
        )
        for average, draw in (
            ("macro", logits), ("micro", logits), ("weighted", classes), (None, two_of_four)
        )
    },
    "Precision of scores": Row(
        metrics.Precision(), scores, _of_classes(sklearn.precision_score)
    ),
    "Recall of scores": Row(metrics.Recall(), scores, _of_classes(sklearn.recall_score)),
    "F1 of scores": Row(
        metrics.F1(threshold=0.5), scores, _of_classes(sklearn.f1_score)
    ),
    "IoU": Row(metrics.IoU(CLASSES), logits, _iou("macro")),
    "IoU, weighted": Row(metrics.IoU(CLASSES, average="weighted"), logits, _iou("weighted")),
    "IoU, micro": Row(metrics.IoU(CLASSES, average="micro"), classes, _iou("micro")),
    "Dice": Row(metrics.Dice(CLASSES), logits, _averaged(sklearn.f1_score, "macro")),
    "AUROC": Row(
        metrics.AUROC([i / 20 - 1e-3 for i in range(21)]),
        scores,
        lambda x, t, w: sklearn.roc_auc_score(t, x, sample_weight=w),
    ),
    "AveragePrecision": Row(
        metrics.AveragePrecision([i / 20 - 1e-3 for i in range(21)]),
        scores,
        lambda x, t, w: sklearn.average_precision_score(t, x, sample_weight=w),
    ),
    "LogLoss": Row(
        metrics.LogLoss(),
        logits,
        lambda x, t, w: sklearn.log_loss(t, _softmax(x), sample_weight=w, labels=range(CLASSES)),
    ),
    "LogLoss of probabilities": Row(
        metrics.LogLoss(from_logits=False),
        probabilities,
        lambda x, t, w: sklearn.log_loss(t, x, sample_weight=w, labels=range(CLASSES)),
    ),
    "Perplexity": Row(
        metrics.Perplexity(),
        logits,
        lambda x, t, w: np.exp(
            sklearn.log_loss(t, _softmax(x), sample_weight=w, labels=range(CLASSES))
        ),
    ),
    "CalibrationError": Row(
        metrics.CalibrationError(10, from_logits=False), probabilities, _calibration(10, "l1")
    ),
    "CalibrationError, max": Row(
        metrics.CalibrationError(7, norm="max", from_logits=False),
        probabilities,
        _calibration(7, "max"),
    ),
}  # fmt: skip

BACKENDS = ["numpy", "jax", "torch", "tensorflow"]


def _arguments(row: Row, weighted: bool) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    x, target = row.draw(rng)
    weight = rng.uniform(0.5, 2, SIZE).astype("f4")
    arguments = [x] if isinstance(row.metric, metrics.Mean) else [x, target]
    return [*arguments, weight] if weighted else arguments


def _expected(row: Row, weighted: bool) -> Any:
    rng = np.random.default_rng(0)
    x, target = row.draw(rng)
    return row.expected(x, target, rng.uniform(0.5, 2, SIZE).astype("f4") if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("backend", BACKENDS)
def test_the_numbers_of_scikit_learn(name: str, backend: str, weighted: bool) -> None:
    """Of three batches, the third alone and merged."""
    row = ROWS[name]
    arguments = [na.to_backend(x, backend) for x in _arguments(row, weighted)]
    metric, state = row.metric, row.metric.init(like=arguments[0])
    for part in (slice(0, 20), slice(20, 47)):
        state = metric.update(state, *(x[part] for x in arguments))
    state = metric.merge(state, metric.measure(*(x[47:] for x in arguments)))
    result = metric.compute(state)
    assert na.backend_of(result) == backend
    assert {na.dtype_of(x) for x in state.leaves()} == {na.float32}
    expected = _expected(row, weighted)
    np.testing.assert_allclose(na.to_backend(result, "numpy"), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("backend", ["jax", "tensorflow", "torch"])
def test_compiled(name: str, backend: str) -> None:
    row = ROWS[name]
    options = {"backend": "eager"} if backend == "torch" else {}
    arguments = [na.to_backend(x, backend) for x in _arguments(row, weighted=True)]
    state = row.metric.init(like=arguments[0])
    compiled = na.jit(lambda state, *x: row.metric.update(state, *x), **options)(state, *arguments)
    plain = row.metric.update(state, *arguments)
    for x, y in zip(compiled.leaves(), plain.leaves(), strict=True):
        np.testing.assert_allclose(np.asarray(x), np.asarray(y), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ROWS)
def test_an_empty_state_is_no_number(name: str) -> None:
    metric = ROWS[name].metric
    result = np.asarray(metric.compute(metric.init()))
    has_zero = isinstance(
        metric, metrics.Precision | metrics.Recall | metrics.F1
    ) and not isinstance(metric, metrics.Dice)
    if has_zero or name in ("ConfusionMatrix", "CalibrationError, max"):
        assert not result.any()
    else:
        assert np.isnan(result).all()


def test_pickle() -> None:
    for row in ROWS.values():
        assert repr(pickle.loads(pickle.dumps(row.metric))) == repr(row.metric)


def test_float64_counts_are_exact() -> None:
    mean = metrics.Mean()
    state = mean.init(dtype="float64")
    state = mean.update(state, np.float32(1)).set("count", np.asarray(2.0**24))
    assert float(mean.update(state, np.float32(1))["count"]) == 2**24 + 1


def test_padding_and_absent_classes_count_for_nothing() -> None:
    target, x = np.asarray([0, 2, -100, 2]), np.asarray([0, 2, 1, 0])
    for metric, expected in (
        (metrics.Accuracy(), 2 / 3),
        (metrics.IoU(4), (1 / 2 + 1 / 2) / 2),
        (metrics.Recall(4, average=None), [1, 0, 0.5, 0]),
        (metrics.ConfusionMatrix(3), [[1, 0, 0], [0, 0, 0], [1, 0, 1]]),
    ):
        np.testing.assert_allclose(metric.compute(metric.measure(x, target)), expected, rtol=1e-6)
    logits = np.eye(4)[x] * 9
    for metric in (metrics.Perplexity(), metrics.TopKAccuracy(1), metrics.CalibrationError()):
        kept = metric.compute(metric.measure(logits[[0, 1, 3]], target[[0, 1, 3]]))
        assert float(metric.compute(metric.measure(logits, target))) == pytest.approx(float(kept))


def test_curves_of_evenly_spaced_thresholds_are_near_those_of_keras() -> None:
    rng = np.random.default_rng(1)
    target = rng.integers(0, 2, 500)
    x = np.clip(0.3 * target + rng.uniform(0, 0.7, 500), 0, 1).astype("f4")
    metric, theirs = metrics.AUROC(), keras.metrics.AUC(200)
    theirs.update_state(target, x)
    ours = float(metric.compute(metric.measure(x, target)))
    assert ours == pytest.approx(float(theirs.result()), abs=1e-3)
    assert ours == pytest.approx(sklearn.roc_auc_score(target, x), abs=1e-3)


def test_mean_iou_is_that_of_keras() -> None:
    rng = np.random.default_rng(1)
    x, target = rng.integers(0, 3, (2, 5, 6)), rng.integers(0, 3, (2, 5, 6))
    metric, theirs = metrics.IoU(3), keras.metrics.MeanIoU(3)
    theirs.update_state(target, x)
    ours = float(metric.compute(metric.measure(x, target)))
    assert ours == pytest.approx(float(theirs.result()))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: metrics.F1(1), ArgumentError, "F1: num_classes: got 1, expected an integer of"),
        (
            lambda: metrics.IoU(3, average="mean"),
            ArgumentError,
            "IoU: average: got 'mean', expected",
        ),
        (lambda: metrics.AUROC([0.5, 0.5]), ArgumentError, "AUROC: thresholds: got .* increasing"),
        (lambda: metrics.TopKAccuracy(0), ArgumentError, "TopKAccuracy: k: got 0, expected"),
        (lambda: metrics.CalibrationError(norm="l2"), ArgumentError, "norm: got 'l2', expected"),
        (
            lambda: metrics.Accuracy().measure(np.ones((3, 2)), np.ones(2, "int32")),
            ShapeError,
            r"Accuracy: x and target: got the shapes \(3, 2\) and \(2,\), expected",
        ),
        (
            lambda: metrics.MeanSquaredError().measure(np.ones(3), np.ones((3, 1))),
            ShapeError,
            "MeanSquaredError: x and target: .* expected equal shapes",
        ),
        (
            lambda: metrics.Accuracy().update(np.ones(3), np.ones(2, "int32")),
            TypeError,
            "target",
        ),
        (
            lambda: metrics.Accuracy().update(np.ones(3), np.ones(3), np.ones(3, "int32")),
            ArgumentError,
            r"Accuracy.update: state: got .* expected a Container of hits, count",
        ),
        (
            lambda: metrics.Accuracy().init(dtype="int32"),
            ArgumentError,
            "Accuracy.init: dtype: got int32, expected a floating dtype",
        ),
    ],
)
def test_wrong_arguments(call: Callable[[], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()

"""Metrics that are computed batch by batch: `init`, `update`, `merge` and `compute` over Containers.

Example:
    >>> import numpy as np, nestarray as na
    >>> mse = na.nn.metrics.MeanSquaredError()
    >>> state = mse.update(mse.init(), np.asarray([1.0, 2.0]), np.asarray([0.0, 0.0]))
    >>> other = mse.update(mse.init(), np.asarray([4.0]), np.asarray([0.0]))
    >>> float(mse.compute(mse.merge(state, other)))
    7.0
"""

from nestarray.errors.unknown_names import suggest_names
from nestarray.nn.metrics.classes import (
    F1,
    Accuracy,
    Dice,
    IoU,
    Precision,
    Recall,
    TopKAccuracy,
)
from nestarray.nn.metrics.confusion import CohenKappa, ConfusionMatrix, MatthewsCorrelation
from nestarray.nn.metrics.metric import Mean, Metric
from nestarray.nn.metrics.regression import (
    R2,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    PearsonCorrelation,
    RootMeanSquaredError,
)
from nestarray.nn.metrics.scores import (
    AUROC,
    AveragePrecision,
    CalibrationError,
    LogLoss,
    Perplexity,
)

__all__ = [
    "AUROC",
    "F1",
    "R2",
    "Accuracy",
    "AveragePrecision",
    "CalibrationError",
    "CohenKappa",
    "ConfusionMatrix",
    "Dice",
    "IoU",
    "LogLoss",
    "MatthewsCorrelation",
    "Mean",
    "MeanAbsoluteError",
    "MeanAbsolutePercentageError",
    "MeanSquaredError",
    "Metric",
    "PearsonCorrelation",
    "Perplexity",
    "Precision",
    "Recall",
    "RootMeanSquaredError",
    "TopKAccuracy",
]

suggest_names(__name__)

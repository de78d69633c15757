"""A pytest plugin: scikit-learn and SciPy test themselves on arrays of nestarray.

Both libraries test their functions on the namespaces that they know. With this plugin they test
`na.array_namespace(backend)` instead; the outcomes, by function, are written as JSON:

    SCIPY_ARRAY_API=1 BACKEND=torch OUTCOMES=outcomes.json \\
        python -m pytest -p tests.array_api.plugin --pyargs sklearn.preprocessing -k array_api
"""

from __future__ import annotations

import json
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial, wraps
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import nestarray as na

NAMESPACE = na.array_namespace(os.environ["BACKEND"])
NAME = NAMESPACE.__name__

#: Start of the name of a test that names no class or function → the class or function that it tests.
TESTED = {
    "calibration.": "CalibratedClassifierCV",
    "classification.": "confusion_matrix",
    "data.test_binarizer": "Binarizer",
    "data.test_standard_scaler": "StandardScaler",
    "gaussian_mixture.": "GaussianMixture",
    "glm.": "PoissonRegressor",
    "kernel_approximation.": "Nystroem",
    "label.test_label_binarizer": "LabelBinarizer",
    "label.test_label_binarize": "label_binarize",
    "label.test_label_encoder": "LabelEncoder",
    "logistic.": "LogisticRegression",
    "naive_bayes.": "GaussianNB",
    "pipeline.": "FeatureUnion",
    "polynomial.": "PolynomialFeatures",
    "ridge.": "Ridge",
    "search.": "GridSearchCV",
    "split.": "train_test_split",
    "supervised.": "entropy",
    "validation.": "cross_val_predict",
}

outcomes: dict[str, dict[str, Any]] = defaultdict(lambda: {"passed": 0, "failed": {}})


# -- scikit-learn ----------------------------------------------------------------------------


def in_scikit_learn() -> None:
    """Replace the namespaces of scikit-learn's tests, which they import by name."""
    from sklearn.utils import _array_api

    def namespaces(include_numpy_namespaces: bool = True) -> Iterator[str]:
        yield NAME

    def combinations(include_numpy_namespaces: bool = True) -> Iterator[tuple[str, None, str]]:
        yield from ((NAME, None, "float64"), (NAME, None, "float32"))

    def mixed() -> Iterator[tuple[Any, Any, str]]:
        host, device = (_array_api.NamespaceAndDevice(n, None) for n in ("numpy", NAME))
        yield device, host, "nestarray to numpy"
        yield host, device, "numpy to nestarray"

    sys.modules[NAME] = NAMESPACE  # type: ignore[assignment]
    _array_api.yield_namespaces = namespaces
    _array_api.yield_namespace_device_dtype_combinations = combinations
    _array_api.yield_mixed_namespace_input_permutations = mixed


# -- SciPy -----------------------------------------------------------------------------------


def in_scipy() -> None:
    """Take the place of array-api-strict, SciPy's example of a library that it does not know.

    SciPy's tests assume that Python's floats become float64.
    """
    from scipy._lib import _array_api

    for name in ("asarray", "empty", "eye", "full", "linspace", "ones", "zeros"):
        setattr(NAMESPACE, name, _in_double(getattr(NAMESPACE, name)))

    info = type(NAMESPACE.__array_namespace_info__())
    devices = info.devices
    info.devices = lambda self: [*devices(self)]  # a list, as before 2025.12, to which tests append

    strict = ModuleType("array_api_strict")
    vars(strict).update(
        __version__="3.0",
        empty=NAMESPACE.empty,
        set_array_api_strict_flags=lambda **flags: None,
    )
    sys.modules["array_api_strict"] = strict

    make_marks = _array_api.make_xp_pytest_marks

    def marks(*functions: Any, capabilities_table: Any = None) -> list[Any]:
        names = [f.__name__ for f in functions]
        made = make_marks(*functions, capabilities_table=capabilities_table)
        return [pytest.mark.functions(*names), *made]

    _array_api.make_xp_pytest_marks = marks


def _in_double(create: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(create)
    def wide(*args: Any, dtype: Any = None, **kwargs: Any) -> Any:
        made = create(*args, dtype=dtype, **kwargs)
        if dtype is None and not hasattr(args[0], "dtype"):
            double = {na.float32: na.float64, na.complex64: na.complex128}.get(made.dtype)
            return made if double is None else create(*args, dtype=double, **kwargs)
        return made

    return wide


# -- outcomes --------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "functions(*names): the functions that a test is about")


def names_of(item: pytest.Item) -> list[str]:
    """The functions or classes that a test is about."""
    marked = [name for mark in item.iter_markers("functions") for name in mark.args]
    if marked:
        return marked
    parameters = getattr(item, "callspec", None)
    for name in ("metric", "estimator", "metric_name"):
        if parameters is not None and name in parameters.params:
            return [_name(parameters.params[name])]
    name = f"{item.path.stem.removeprefix('test_')}.{item.name.partition('[')[0]}"
    return [next((row for start, row in TESTED.items() if name.startswith(start)), name)]


def _name(tested: Any) -> str:
    if isinstance(tested, str):
        return tested
    if isinstance(tested, partial):
        tested = tested.func
    return getattr(tested, "__name__", type(tested).__name__)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep at most AT_MOST tests of each function, evenly spaced; of them the tests of ROWS."""
    tests = defaultdict(list)
    for item in items:
        tests[tuple(names_of(item))].append(item)
    rows = set(json.loads(os.environ.get("ROWS", "[]")))
    most = int(os.environ.get("AT_MOST", "0")) or len(items)
    items[:] = [
        found[i * len(found) // most] if len(found) > most else found[i]
        for names, found in tests.items()
        if not rows or rows & set(names)
        for i in range(min(most, len(found)))
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report = yield
    if report.when == "call" or report.failed:
        for name in names_of(item):
            if report.passed:
                outcomes[name]["passed"] += 1
            elif report.failed:
                lines = str(call.excinfo.value).strip().splitlines() if call.excinfo else []
                kind = call.excinfo.typename if call.excinfo else ""
                reason = f"{kind}: {' '.join(' '.join(lines[:6]).split())[:300]}"
                outcomes[name]["failed"][item.nodeid.rpartition("/")[2]] = reason
    return report


def pytest_sessionfinish() -> None:
    Path(os.environ["OUTCOMES"]).write_text(json.dumps(outcomes, indent=1, sort_keys=True))


if os.environ["SCIPY_ARRAY_API"] == "1":
    in_scikit_learn()
else:
    in_scipy()

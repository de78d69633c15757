"""Libraries that are written for the Array API standard run on arrays of every framework.

SciPy and scikit-learn read an environment variable when they are imported, so they run in
separate processes. Their results on NumPy's arrays are the oracle.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import nestarray as na

PROGRAM = """
import warnings
import numpy as np
import scipy.fft, scipy.special, scipy.stats
from sklearn import config_context
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler
import nestarray as na

def results(x):
    with config_context(array_api_dispatch=True):
        yield "PCA", abs(PCA(2, svd_solver="full").fit_transform(x))  # a sign is free
        yield "Ridge", Ridge(solver="svd").fit(x, 2 * x[:, 0]).coef_
        yield "distances", euclidean_distances(x)
        yield "scaled", StandardScaler().fit_transform(x)
    yield "zscore", scipy.stats.zscore(x)
    yield "logsumexp", scipy.special.logsumexp(x, axis=0)
    yield "fft", scipy.fft.fft(x)

x = np.random.default_rng(0).normal(size=(40, 3)).astype("float32")
expected = dict(results(x))
for name, result in results(na.array_namespace(BACKEND).asarray(x)):
    assert isinstance(result, na.Container) and na.backend_of(result) == BACKEND, name
    np.testing.assert_allclose(np.asarray(result), expected[name], rtol=1e-3, atol=2e-4, err_msg=name)
print("all agree")
"""


BACKENDS = [
    "tensorflow",
    pytest.param("numpy", marks=pytest.mark.full),
    pytest.param("jax", marks=pytest.mark.full),
    pytest.param("torch", marks=pytest.mark.full),
]
DOCS = Path(na.__file__).parent.parent / "docs"


@pytest.mark.parametrize("backend", BACKENDS)
def test_scipy_and_scikit_learn(backend: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", f"BACKEND = {backend!r}\n{PROGRAM}"],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.stdout.strip() == "all agree", run.stderr


@pytest.mark.full
@pytest.mark.parametrize("backend", BACKENDS)
def test_libraries_test_themselves(backend: str) -> None:
    measure = runpy.run_path(str(DOCS / "generate_clients.py"))["measure"]
    found = measure("scikit-learn", backend, files=["tests/test_naive_bayes.py"])
    assert found == {"GaussianNB": {"passed": 8, "failed": {}}}
    found = measure("SciPy", backend, files=["linalg/tests/test_procrustes.py"])
    assert set(found) == {"orthogonal_procrustes"}
    assert found["orthogonal_procrustes"]["passed"] > 0
    assert not found["orthogonal_procrustes"]["failed"]

"""The public suite of the Array API standard on the NumPy frontend."""

from __future__ import annotations

import pytest

from tests.array_api.suite import FAILURES_OF_NUMPY, NUMPY_FRONTEND, SUITE, run


@pytest.mark.full
@pytest.mark.skipif(not SUITE.exists(), reason="the suite is not there; `make suite` fetches it")
@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_numpy_frontend(backend: str) -> None:
    found = run(NUMPY_FRONTEND.format(backend=backend), SUITE, 5, FAILURES_OF_NUMPY)
    assert found.failed == []
    assert found.passed > 1300

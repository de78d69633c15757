"""Workarounds for NumPy code have reasons that still hold, and names that the releases have."""

from __future__ import annotations

import threading
from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg

import nestarray as na
from nestarray.importers.numpy import scipy_functions, workarounds
from nestarray.importers.workarounds import Workaround

RECORDS = [*workarounds.WORKAROUNDS, workarounds.of_scipy(tuple(scipy_functions.imported()))]


@pytest.mark.parametrize(
    "reproducer",
    [each for record in RECORDS for each in record.reproducers],
    ids=lambda f: f.__name__,
)
def test_the_reason_of_a_workaround_still_holds(reproducer: Callable[[], None]) -> None:
    # if this passes, the installed release is repaired: set `until`, or remove the record
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        reproducer()


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_the_installed_release_has_all_names(record: Workaround) -> None:
    assert not record.missing()
    assert record.reproducers


def test_other_threads_and_later_code_call_the_native_functions() -> None:
    results: list[object] = []

    def function(x: np.ndarray) -> np.ndarray:
        thread = threading.Thread(
            target=lambda: results.append(
                (np.zeros(2), scipy.linalg.det(np.eye(2)), np.sum([1, 2]))
            )
        )
        thread.start()
        thread.join()
        return np.zeros(3) + x

    before = np.zeros, np.sum, np.nditer, scipy.linalg.det
    graph = na.trace_graph(function, np.ones(3))
    assert before == (np.zeros, np.sum, np.nditer, scipy.linalg.det)
    ((zeros, determinant, total),) = results
    assert type(zeros) is np.ndarray
    assert (determinant, total) == (1.0, 3)
    np.testing.assert_array_equal(graph(np.ones(3)), np.ones(3))

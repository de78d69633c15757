"""Workarounds for NumPy code have reasons that still hold, and names that the releases have."""

from __future__ import annotations

import importlib
import math
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import nestarray as na
from nestarray.importers.numpy import scipy_functions, workarounds
from nestarray.importers.workarounds import Workaround

RECORDS = [*workarounds.WORKAROUNDS, workarounds.of_scipy(tuple(scipy_functions.imported()))]


class Duck:
    """An array of another class, with NumPy's protocols, for the reproducers."""

    shape, ndim, dtype = (2,), 1, np.dtype(float)

    def __array_ufunc__(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def __array_function__(self, *args: Any, **kwargs: Any) -> Any:
        return self

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("its elements are not known")


def callers_in_compiled_code() -> None:
    callers: list[str] = []
    native = np.arange

    def arange(*args: Any, **kwargs: Any) -> Any:
        callers.append(str(sys._getframe(1).f_globals["__name__"]).partition(".")[0])
        return native(*args, **kwargs)

    np.arange = arange  # type: ignore[assignment]
    try:
        np.random.default_rng(0).permutation(3)
    finally:
        np.arange = native
    if callers != ["numpy"]:
        raise RuntimeError(f"the caller of np.arange is {callers}")


def write_into_new_array() -> None:
    np.zeros(2)[...] = Duck()


def write_into_random_numbers() -> None:
    np.random.default_rng(0).normal(size=2)[...] = Duck()


def sum_of_list() -> None:
    np.sum([Duck(), Duck()])


def iteration() -> None:
    np.nditer(Duck())  # type: ignore[call-overload]


def vectorized_function() -> None:
    np.vectorize(abs)(Duck())


def sine_of_math() -> None:
    math.sin(Duck())  # type: ignore[arg-type]


def solution_by_scipy() -> None:
    importlib.import_module("scipy.linalg").solve(Duck(), Duck())


#: Name of a record → the programs that show its behaviour.
REPRODUCERS = {
    "callers in compiled code": (callers_in_compiled_code,),
    "new arrays": (write_into_new_array,),
    "lists of arrays": (sum_of_list,),
    "elements of arrays": (iteration, vectorized_function),
    "random numbers": (write_into_random_numbers,),
    "functions of math": (sine_of_math,),
    "functions of SciPy": (solution_by_scipy,),
}


@pytest.mark.parametrize(
    "reproducer",
    [each for record in RECORDS for each in REPRODUCERS[record.name]],
    ids=lambda f: f.__name__,
)
def test_the_reason_of_a_workaround_still_holds(reproducer: Callable[[], None]) -> None:
    # if this passes, the installed release is repaired: set `until`, or remove the record
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        reproducer()


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_the_installed_release_has_all_names(record: Workaround) -> None:
    assert not record.missing()


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

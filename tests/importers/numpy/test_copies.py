"""Code is recorded as a copy of the function: the module of the user stays as it is."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy import zeros

import nestarray as na
from nestarray.importers.numpy.copies import with_globals

MODULE = globals()
SCALE = 2.0
RNG = np.random.default_rng(0)
SEEN: list[bool] = []
IDENTITIES = id(zeros), id(RNG)
X = np.asarray([0.5, -1.0, 2.0])


def first_element(x: Any) -> Any:
    result = zeros(3)
    result[0] = x[0]
    SEEN.append((id(MODULE["zeros"]), id(MODULE["RNG"])) == IDENTITIES)
    return result


def with_noise(x: Any) -> Any:
    noise = RNG.normal(size=3)
    noise[0] = x[0]
    return noise + first_element(x)


def test_the_module_of_recorded_code_is_unchanged() -> None:
    before = dict(MODULE)
    SEEN.clear()
    graph = na.trace_graph(with_noise, X)
    assert SEEN == [True]
    assert before == MODULE
    assert graph(X * 2)[0] == 4 * X[0]


def scaled(x: Any) -> Any:
    return SCALE * x


def power(x: Any, n: int) -> Any:
    return 1.0 if n == 0 else scaled(x) * power(x, n - 1)


class Model:
    """An object with a method."""

    factor = 3.0

    def call(self, x: Any) -> Any:
        return self.factor * scaled(x)


def test_a_copy_reads_other_names_in_all_functions_of_the_module() -> None:
    copy = with_globals(power, {"SCALE": 10.0})
    assert copy(1.0, 3) == 1000.0
    assert power(1.0, 3) == 8.0
    assert with_globals(Model().call, {"SCALE": 10.0})(1.0) == 30.0


def test_closures_are_copied_with_their_functions() -> None:
    count = 0

    def helper(x: Any) -> Any:
        nonlocal count
        count += 1
        return SCALE * x if x > 0 else function(-x)

    def function(x: Any, *, shift: float = 1.0) -> Any:
        return helper(x) + shift + (later(x) if x > 5 else 0.0)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    copy = with_globals(wrapper, {"SCALE": 10.0})
    assert copy(1.0) == 11.0
    assert copy(-1.0) == 12.0
    assert wrapper(1.0, shift=0.0) == 2.0
    assert count == 4  # a variable that copies and functions share
    later = float
    assert copy(6.0) == 67.0


@functools.lru_cache
def cached(x: float) -> float:
    return SCALE * x


def test_objects_that_wrap_a_function() -> None:
    assert with_globals(cached, {"SCALE": 10.0})(1.0) == 10.0
    assert cached(1.0) == 2.0

"""What a public function does at once is what the backend's function does."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray.backends.fast_paths import FastPath, at_defaults, fast_path_of
from nestarray.testing import assert_close
from tests.cases import Case, on_backend, rows


def at_once(path: FastPath, given: dict[str, Any]) -> Any:
    """What `path` gives for the arguments; NotImplemented where it leaves them to its function."""
    names = dict(path.names)
    try:
        if path.condition and not eval(path.condition, names, given):
            return NotImplemented
        return eval(path.call, names, given)
    except Exception:
        return NotImplemented


def as_list(result: Any) -> Any:
    return list(result) if isinstance(result, (list, tuple)) else result


@pytest.mark.parametrize(
    ("case", "backend"), rows(("numpy", "torch"), lambda c: not c.record.sequence_parameters)
)
def test_a_fast_path_is_its_function(case: Case, backend: str) -> None:
    record = case.record
    for dtype in ("float32", "int32"):
        with np.errstate(all="ignore"):
            args, kwargs = on_backend(case.draw(dtype), backend)
            bound = record.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            function = record.resolve(*(type(given[name]) for name in record.array_parameters))
            found = at_once(fast_path_of(function, record.parameters), given)
            if found is not NotImplemented:
                expected = function(*bound.args, **bound.kwargs)
                assert_close(as_list(found), as_list(expected))


def test_a_mark_is_of_the_function_that_carries_it() -> None:
    @at_defaults("LIMIT", where="x > LIMIT")
    def clipped(x: float, *, scale: float = 1.0) -> float:
        return scale * min(x, LIMIT)

    parameters = list(signature(clipped).parameters.values())
    path = fast_path_of(clipped, parameters)
    assert at_once(path, {"x": 7.0, "scale": 1.0}) == LIMIT
    assert at_once(path, {"x": 2.0, "scale": 1.0}) is NotImplemented
    assert at_once(path, {"x": 7.0, "scale": True}) is NotImplemented

    def doubled(x: float, *, scale: float = 1.0) -> float:
        return 2 * clipped(x)

    doubled.__dict__.update(clipped.__dict__)  # as functools.wraps does
    assert at_once(fast_path_of(doubled, parameters), {"x": 7.0, "scale": 1.0}) == 2 * LIMIT


def test_a_path_speaks_of_the_parameters_of_the_op() -> None:
    @at_defaults("LIMIT", where="array > LIMIT")
    def clipped(array: float) -> float:
        return min(array, LIMIT)

    path = fast_path_of(clipped, [Parameter("x", Parameter.POSITIONAL_ONLY)])
    assert at_once(path, {"x": 7.0}) == LIMIT


def test_names_of_two_conditions_stay_apart() -> None:
    inner = FastPath("x in _kept", "_native(x)", {"_kept": (1, 2), "_native": str})
    both = inner.behind("x not in _kept", {"_kept": (2,)})
    assert at_once(both, {"x": 1}) == "1"
    assert at_once(both, {"x": 2}) is NotImplemented
    assert at_once(both.with_names({"_kept": "_kept_0"}), {"x": 1}) == "1"


LIMIT = 3.0


def test_a_condition_of_one_of_two_holds_for_its_own_types() -> None:
    x = np.asarray([3.0, 0.0, 2.0], "float32")
    for backend in ("numpy", "jax", "numpy"):  # JAX's holds where `size` is None, or …
        (places,) = na.nonzero(on_backend(x, backend), size=2)
        assert na.backend_of(places) == backend


def test_what_a_path_leaves_goes_to_its_function() -> None:
    x = np.arange(4.0)
    for _ in range(2):  # the second call meets the path that the first one brought
        np.testing.assert_array_equal(na.rfft(x), np.fft.rfft(x))
        np.testing.assert_array_equal(na.rfft(x, n=2), np.fft.rfft(x, 2))
        np.testing.assert_array_equal(na.rfft(x, axis=0), np.fft.rfft(x))

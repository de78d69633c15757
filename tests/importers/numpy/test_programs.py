"""NumPy programs as graphs: the same values for other arguments, and the same gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from tests.arrays import host
from tests.importers.numpy.programs import PROGRAMS, Regression, newton

pytestmark = pytest.mark.usefixtures("x64")
BACKENDS = ["numpy", "torch", "jax", "tensorflow"]


def _copies(args: tuple[Any, ...]) -> list[Any]:
    return [np.array(x) for x in args]


def _leaves(x: Any) -> list[Any]:
    return [y for item in x for y in _leaves(item)] if isinstance(x, (list, tuple)) else [x]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, backend: str) -> None:
    program, args = PROGRAMS[name]
    graph = na.trace_graph(program, *_copies(args)).to_backend(backend)
    graph.verify()
    others = [x[::-1].copy() if x.dtype.kind != "f" else x * 0.9 + 0.01 for x in args]
    expected = program(*_copies(tuple(others)))
    found = graph(*[na.to_backend(x, backend) for x in others])
    for got, want in zip(_leaves(found), _leaves(expected), strict=True):
        got = host(got) if hasattr(got, "shape") else got
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_arrays_of_an_object_are_variables(backend: str) -> None:
    model, x = Regression(), np.ones((4, 3))
    graph = na.trace_graph(model.predict, x, v=model).to_backend(backend)
    assert list(graph.v) == ["w", "b"]
    graph.verify()
    inputs = na.to_backend(x, backend)
    loss, gradients = na.execute_with_gradients(lambda v: na.sum(graph(inputs, v=v)), graph.v)
    np.testing.assert_allclose(host(loss), model.predict(x).sum())
    slope = 1 - model.predict(x) ** 2
    np.testing.assert_allclose(host(gradients["w"]), x.T @ slope)
    assert isinstance(model.w, np.ndarray)


def test_choices_by_value_are_reported() -> None:
    with pytest.warns(UserWarning, match=r"depends on values .*programs.py:\d+ \(bool\)"):
        graph = na.trace_graph(newton, np.asarray([1.0, 2.0]))
    np.testing.assert_allclose(graph(np.asarray([1.0, 2.0])), np.cbrt([2.0, 2.0]))


def test_the_arguments_are_not_changed() -> None:
    program, args = PROGRAMS["heat_equation"]
    before = args[0].copy()
    na.trace_graph(program, args[0]).verify()
    np.testing.assert_array_equal(args[0], before)
    assert np.zeros(2).__class__ is np.ndarray


def test_numpy_is_as_before_after_an_error() -> None:
    def fails(x: Any) -> Any:
        return np.zeros(3) + x.undefined

    zeros = np.zeros
    with pytest.raises(AttributeError, match="no attribute 'undefined'"):
        na.trace_graph(fails, np.ones(3))
    assert np.zeros is zeros


def test_elements_do_not_leave_the_recorded_code() -> None:
    def leaves(x: Any) -> Any:
        return np.frombuffer(memoryview(np.ones(3))) + np.testing.assert_allclose(x, memoryview(x))

    with pytest.raises((na.errors.ConversionError, TypeError)):
        na.trace_graph(leaves, np.ones(3))

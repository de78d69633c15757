"""NumPy programs as graphs: the same values for other arguments, and the same gradients."""

from __future__ import annotations

import copy
import functools
from typing import Any

import jax
import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na
from nestarray import errors
from nestarray.errors import ArgumentError
from tests.arrays import host
from tests.importers.numpy.exercises import EXERCISES
from tests.importers.numpy.idioms import IDIOMS
from tests.importers.numpy.programs import PROGRAMS, Network, Regression, newton

pytestmark = pytest.mark.usefixtures("x64")
RNG = np.random.default_rng(3)
BACKENDS = ["numpy", "torch", "jax", "tensorflow"]


def _copies(args: tuple[Any, ...]) -> list[Any]:
    return [np.array(x) for x in args]


def _leaves(x: Any) -> list[Any]:
    return [y for item in x for y in _leaves(item)] if isinstance(x, (list, tuple)) else [x]


def _check(program: Any, args: tuple[Any, ...], backend: str) -> None:
    """The graph agrees, also in its gradients, and computes the same for other arguments."""
    graph = na.trace_graph(program, *_copies(args)).to_backend(backend)
    graph.verify().raise_if_failed()
    others = [x[::-1].copy() if x.dtype.kind != "f" else x * 0.9 + 0.01 for x in args]
    expected = program(*_copies(tuple(others)))
    found = graph(*[na.to_backend(x, backend) for x in others])
    for got, want in zip(_leaves(found), _leaves(expected), strict=True):
        got = host(got) if hasattr(got, "shape") else got
        assert np.asarray(got).dtype == np.asarray(want).dtype
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)


@pytest.mark.release("backend")
@pytest.mark.one_in(12)
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str, backend: str) -> None:
    _check(*PROGRAMS[name], backend)


@pytest.mark.one_in(24)
@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
@pytest.mark.parametrize("name", EXERCISES)
def test_exercise(name: str, backend: str) -> None:
    _check(*EXERCISES[name], backend)


@pytest.mark.one_in(12)
@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
@pytest.mark.parametrize("name", IDIOMS)
def test_idiom(name: str, backend: str) -> None:
    _check(*IDIOMS[name], backend)


def _by_size(x: Any) -> Any:
    out = np.zeros((len(x), 3))
    out[1:] += x[:-1] - x.sum(axis=0) / x.shape[0]
    out[out > 1] = np.sqrt(len(x))
    apart = ((x[:, None] - x[None]) ** 2).sum(-1) + np.eye(len(x))
    return out, np.exp(-apart) @ x, np.arange(x.shape[0]) * x[:, 0], np.pad(x, ((1, 1), (0, 0)))


@pytest.mark.parametrize(
    "backend", ["numpy", "torch", "jax", pytest.param("tensorflow", marks=pytest.mark.full)]
)
def test_sizes_are_open(backend: str) -> None:
    x, other = RNG.normal(size=(5, 3)), RNG.normal(size=(8, 3))
    graph = na.trace_graph(_by_size, x, dynamic={"x": {0: "n"}}).to_backend(backend)
    graph.verify().raise_if_failed()
    found = graph(na.to_backend(other, backend))
    for got, want in zip(found, _by_size(other), strict=True):
        np.testing.assert_allclose(host(got), want, rtol=1e-9, atol=1e-9)


def test_a_loop_needs_its_size() -> None:
    def total(x: Any) -> Any:
        return sum(np.sin(x[i]) for i in range(x.shape[0]))

    message = r"test_programs.py:\d+: the code needs the value of the size n; leave this size fixed"
    with pytest.raises(na.errors.ConversionError, match=message):
        na.trace_graph(total, np.ones(4), dynamic={"x": {0: "n"}})


#: The frameworks' own compilers.
COMPILERS = {
    "jax": jax.jit,
    "torch": functools.partial(torch.compile, backend="eager", fullgraph=True),
    "tensorflow": tf.function,
}


@pytest.mark.parametrize("backend", list(COMPILERS))
def test_another_compiler_does_not_check_assumptions(backend: str) -> None:
    x, other = np.asarray([0.5, 1.0, 2.0]), np.asarray([5.0, 1.0, 200.0])
    graph = na.trace_graph(_weighted, x).to_backend(backend)
    ignoring = na.trace_graph(_weighted, x, guards="ignore").to_backend(backend)
    given = na.to_backend(other, backend)
    with pytest.raises(errors.AssumptionError):
        graph(given)
    found = COMPILERS[backend](lambda x: graph(x) + 1)(given)
    np.testing.assert_allclose(host(found), host(ignoring(given)) + 1)


def test_arrays_from_outside_are_not_written() -> None:
    weights = np.ones(3)

    def writes(x: Any) -> Any:
        np.add(weights, x, out=weights)
        return weights * np.pi

    with pytest.raises(na.errors.ConversionError, match=r"exists outside of it, of shape \(3,\)"):
        na.trace_graph(writes, np.ones(3))
    np.testing.assert_array_equal(weights, 1)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_arrays_of_an_object_are_variables(backend: str) -> None:
    model, x = Regression(), np.ones((4, 3))
    graph = na.trace_graph(model.predict, x, v=model).to_backend(backend)
    assert list(graph.v) == ["w", "b"]
    graph.verify().raise_if_failed()
    inputs = na.to_backend(x, backend)
    loss, gradients = na.execute_with_gradients(lambda v: na.sum(graph(inputs, v=v)), graph.v)
    np.testing.assert_allclose(host(loss), model.predict(x).sum())
    slope = 1 - model.predict(x) ** 2
    np.testing.assert_allclose(host(gradients["w"]), x.T @ slope)
    assert isinstance(model.w, np.ndarray)


@pytest.mark.parametrize("backend", ["torch", "jax"])
def test_assigned_arrays_of_an_object_are_state(backend: str) -> None:
    model, x, y = Network(), RNG.normal(size=(5, 3)), RNG.normal(size=(5, 2))
    graph = na.trace_graph(model.fit, x, y, v=model).to_backend(backend)
    assert list(graph.v.paths()) == ["scale/mean", "scale/deviation", "settings/rate"]
    names = ["layers/0/w", "layers/0/b", "layers/1/w", "layers/1/b", "steps"]
    assert list(graph.s.paths()) == names
    assert graph.verify().ok
    assert model.losses == []
    assert model.steps == 0
    given = [na.to_backend(a, backend) for a in (x, y)]
    for call in (graph, graph.compile()):
        losses, state = call(*given)
        trained = copy.deepcopy(model)
        np.testing.assert_allclose(host(losses), trained.fit(x, y))
        expected = [a for layer in trained.layers for a in (layer.w, layer.b)] + [trained.steps]
        for name, value in zip(names, expected, strict=True):
            np.testing.assert_allclose(host(state[name]), value)
    trained.fit(x, y)  # goes on from the state
    np.testing.assert_allclose(host(graph(*given, s=state)[0]), trained.losses[2:])


def _masked(x: Any) -> Any:
    chosen = x[x > 0.7]
    return chosen.sum() / len(chosen)


def _weighted(x: Any) -> Any:
    return x * float(x.sum()) * int(x.argmax()) + np.bincount(x.argsort())[-1]


ASSUMING = {
    "bool": (newton, r"`if np.abs\(step\).max\(\) < 1e-10:` read True \(bool\) .* give False"),
    "shape": (_masked, r"read \(2,\) \(shape\) for the example .* give \(3,\)"),
    "float": (_weighted, r"programs.py:\d+: `return x \* float.*read 3.5 \(float\).*give 206.0"),
}


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "tensorflow"])
@pytest.mark.parametrize("use", ASSUMING)
def test_calls_check_assumptions(use: str, backend: str, tmp_path: Any) -> None:
    program, message = ASSUMING[use]
    x, other = np.asarray([0.5, 1.0, 2.0]), np.asarray([5.0, 1.0, 200.0])
    traced = na.trace_graph(program, x)
    assert traced.report().assumptions[-1].count(use) == 1
    traced.save(tmp_path / "graph.npz")
    graph = na.Graph.load(tmp_path / "graph.npz", backend=backend)
    ways = [graph, graph.lower(), graph.optimize()]
    if use != "shape" or backend == "tensorflow":
        ways.append(graph.compile())
    for run in ways:
        np.testing.assert_allclose(host(run(na.to_backend(x, backend))), program(x))
        with pytest.raises(na.errors.AssumptionError, match=message):
            run(na.to_backend(other, backend))
    na.grad(lambda x: na.sum(graph(x)))(na.to_backend(x, backend))
    with pytest.raises(na.errors.AssumptionError, match=message):
        na.grad(lambda x: na.sum(graph(x)))(na.to_backend(other, backend))
    ignoring = na.trace_graph(program, x, guards="ignore").to_backend(backend)
    assert ignoring.report().assumptions == traced.report().assumptions
    assert np.isfinite(host(ignoring(na.to_backend(other, backend)))).all()


def test_values_of_constants_are_no_assumptions() -> None:
    def weights(x: Any) -> Any:
        for i in np.arange(3):
            x = x * int(i) if np.ones(2).sum() > i else x
        return x

    assert na.trace_graph(weights, np.ones(3)).assumptions == ()


def test_guards_are_checked() -> None:
    with pytest.raises(na.errors.ArgumentError, match="guards: got 'warn', expected 'raise'"):
        na.trace_graph(newton, np.ones(2), guards="warn")


def _beside_na(x: Any) -> Any:
    z = np.zeros(3)
    z[1:] += na.relu(x)[:-1]
    z = na.fori_loop(0, 3, lambda i, c: np.sin(c) + i, z) + np.tan(z)
    return na.softmax(z) + na.vmap(lambda row: np.sum(row) * row)(np.outer(x, x))


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_programs_may_call_na(backend: str) -> None:
    x = np.asarray([1.0, -2.0, 3.0])
    graph = na.trace_graph(_beside_na, x).to_backend(backend)
    assert {"na.fori_loop", "na.map"} <= {node.target_name for node in graph.calls}
    graph.verify().raise_if_failed()
    np.testing.assert_allclose(host(graph(na.to_backend(-x, backend))), _beside_na(-x))


def _in_slices(x: Any) -> Any:
    y = x * 2.0
    y[1:] += y[:-1]
    return y


def test_a_write_into_a_slice_makes_code_of_numpy(backend: str) -> None:
    """Python 3.12 and later have an instruction of its own for it."""
    _check(_in_slices, (RNG.normal(size=(3, 2)),), backend)


def test_the_arguments_are_not_changed() -> None:
    program, args = PROGRAMS["heat_equation"]
    before = args[0].copy()
    na.trace_graph(program, args[0]).verify().raise_if_failed()
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


@pytest.mark.parametrize(
    "function", [lambda x: np.flatnonzero(x > 0), lambda x: np.unique(x), lambda x: x[x > 0]]
)
def test_sizes_by_values_are_named_when_compilation_fails(function: Any) -> None:
    x = np.asarray([1.0, -2, 3, 1], "float32")
    graph = na.trace_graph(function, x).to_backend("jax")
    given = na.to_backend(x, "jax")
    np.testing.assert_array_equal(graph(given), function(x))
    with pytest.raises(errors.UnsupportedError, match="values decide the size of"):
        graph.compile()(given)
    fixed = na.trace_graph(lambda x: np.sort(x)[:2], x)
    assert graph.sized_by_values is not None
    assert fixed.sized_by_values is None


def _cluster_means(x: Any, labels: Any) -> Any:
    total, spread = x[x > 0].sum(), np.std(x[labels == 1] * 2)
    means = [x[labels == k].mean(axis=0) for k in range(2)]
    extrema = x[labels == 1].max(axis=0), np.min(x[x > 0]), labels[labels > 0].max()
    return (
        total,
        spread,
        np.array(means),
        x[labels == 0].var(ddof=1),
        np.any(x[x > 0] > 2),
        *extrema,
    )


@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_reductions_of_selected_elements_are_compiled(backend: str) -> None:
    x, labels = RNG.normal(size=(6, 3)), np.asarray([0, 1, 1, 0, 0, 1])
    graph = na.trace_graph(_cluster_means, x, labels).to_backend(backend)
    assert graph.sized_by_values is None
    assert graph.verify().ok
    others = -x, labels[[1, 0, 2, 4, 3, 0]]
    found = graph.compile()(*[na.to_backend(a, backend) for a in others])
    for got, want in zip(found, _cluster_means(*others), strict=True):
        np.testing.assert_allclose(host(got), want)


@pytest.mark.parametrize("name", ["masks_computed_twice", "buffers"])
def test_jax_knows_the_sizes_of_idioms(name: str) -> None:
    program, args = IDIOMS[name]
    others = [x + 0.1 for x in args]
    graph = na.trace_graph(program, *_copies(args)).to_backend("jax")
    found = graph.compile()(*[na.to_backend(x, "jax") for x in others])
    for got, want in zip(found, program(*_copies(tuple(others))), strict=True):
        np.testing.assert_allclose(host(got), want, rtol=1e-9)


def _beside_poles(x: Any) -> Any:
    inverse = np.divide(1, x, out=np.zeros_like(x), where=x != 0)
    root = np.zeros_like(x)
    root[x > 0] = np.sqrt(x[x > 0]) / x[x > 0]
    return inverse.sum() + root.sum() + np.log(x[x > 0] - 0.5).sum()


@pytest.mark.parametrize("backend", BACKENDS)
def test_elements_that_a_mask_leaves_out_have_no_derivative(backend: str) -> None:
    x = np.asarray([[1.0, 0.0, -2.0], [4.0, 0.0, 9.0]])
    graph = na.trace_graph(_beside_poles, x).to_backend(backend)
    found = host(na.grad(lambda x: graph(x))(na.to_backend(x, backend)))
    safe = np.where(x > 0, x, 1)
    of_positive = -0.5 * safe**-1.5 + 1 / (safe - 0.5)
    np.testing.assert_allclose(
        found, np.where(x == 0, 0, -1 / np.where(x == 0, 1, x) ** 2 + of_positive * (x > 0))
    )


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch"])
def test_results_of_integers_have_the_derivative_0(backend: str) -> None:
    x = np.linspace(0, 1, 7, dtype="float32")
    for program in (
        lambda x: np.histogram(x, bins=4),
        lambda x: np.histogram(x)[0] * x.sum(),
        lambda x: np.bincount((x * 3).astype(int)),
    ):
        graph = na.trace_graph(program, x).to_backend(backend, float64="float32")
        assert graph.verify().ok


def test_masked_arrays_are_refused() -> None:
    with pytest.raises(ArgumentError, match="got a masked array, which no other framework has"):
        na.trace_graph(lambda x: x * 2, np.ma.array([1.0, 2.0], mask=[True, False]))

"""Properties of every optimizer: the numbers of its twin, on every backend and in every mode."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.container import FusedContainer
from nestarray.testing import assert_close
from tests.cases import EXHAUSTIVE
from tests.nn.optimizers.row import Row, expected, float64
from tests.nn.optimizers.rows import ROWS

pytestmark = pytest.mark.one_in(12)

BACKENDS = ("numpy", "jax", "torch", "tensorflow")
COMPILERS = ("jax", "torch", "tensorflow")


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request: pytest.FixtureRequest) -> Row:
    """Each optimizer with its twin."""
    return request.param


def compiled(function: Any, backend: str) -> Any:
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    return na.jit(function, **options)


def run(row: Row, backend: str, dtype: str, count: int, step: Any = None) -> Any:
    """Variables and state after some steps."""
    optimizer = row.optimizer()
    step = step or optimizer.step
    v = row.variables(backend, dtype)
    state = optimizer.init(v)
    for grads, _ in zip(row.grads(backend, dtype), range(count)):
        v, state = step(v, grads, state)
    return v, state


@pytest.mark.parametrize("backend", BACKENDS)
def test_fifty_steps_are_those_of_the_twin(row: Row, backend: str) -> None:
    with float64(backend):
        optimizer = row.optimizer()
        step = compiled(optimizer.step, backend) if backend in ("jax", "tensorflow") else None
        v, _ = run(row, backend, "float64", 50, step)
        assert_close(v.to_backend("numpy"), expected(row), rtol=1e-9, atol=1e-9, reason="50 steps")


@pytest.mark.parametrize("backend", COMPILERS)
def test_jit_is_the_plain_step(row: Row, backend: str) -> None:
    if not EXHAUSTIVE:  # compilers take as long for each leaf: a matrix, a vector and a scalar
        row = replace(row, paths=row.variables("numpy").paths()[::3])
    with float64(backend):
        plain = run(row, backend, "float64", 3)
        jitted = run(row, backend, "float64", 3, compiled(row.optimizer().step, backend))
        assert_close(jitted, plain)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_run_continues_bit_by_bit_from_a_file(row: Row, backend: str, tmp_path: Any) -> None:
    optimizer, grads = row.optimizer(), list(row.grads(backend, "float32"))[:6]
    v, state = run(row, backend, "float32", 3)
    na.Container(v=v, state=state).save(tmp_path / "run.npz")
    stored = na.Container.load(tmp_path / "run.npz").to_backend(backend)
    again, state_again = stored["v"], stored["state"]
    optimizer_again = pickle.loads(pickle.dumps(optimizer))
    for g in grads[3:]:
        v, state = optimizer.step(v, g, state)
        again, state_again = optimizer_again.step(again, g, state_again)
    for left, right in ((v, again), (state, state_again)):
        assert left.paths() == right.paths()
        for path, leaf in left.to_backend("numpy").flat_items():
            np.testing.assert_array_equal(leaf, na.to_backend(right[path], "numpy"), err_msg=path)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_dtypes_stay(row: Row, backend: str, dtype: str) -> None:
    optimizer = row.optimizer()
    as_dtype = lambda c: c.map(lambda x: na.astype(x, dtype))  # noqa: E731
    v = as_dtype(row.variables(backend, "float32"))
    state = optimizer.init(v)
    before = {path: na.dtype_of(x) for path, x in state.flat_items()}
    for grads, _ in zip(row.grads(backend, "float32"), range(2)):
        v, state = optimizer.step(v, as_dtype(grads), state)
    assert {str(na.dtype_of(x)) for x in v.leaves()} == {dtype}
    assert {path: na.dtype_of(x) for path, x in state.flat_items()} == before
    assert all(
        np.isfinite(np.asarray(na.to_backend(na.astype(x, "float32"), "numpy"))).all()
        for x in v.leaves()
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_fused_variables_have_the_same_steps(row: Row, backend: str) -> None:
    optimizer, v = row.optimizer(), row.variables(backend, "float32").fuse()
    state = optimizer.init(v)
    for grads, _ in zip(row.grads(backend, "float32"), range(3)):
        v, state = optimizer.step(v, grads.fuse(), state)
    plain, _ = run(row, backend, "float32", 3)
    assert isinstance(v, FusedContainer)
    assert_close(v, plain)


def test_other_leaves_stay(row: Row) -> None:
    optimizer, v = (
        row.optimizer(),
        row.variables("numpy").set("number", np.arange(2)).set("name", "x"),
    )
    state = optimizer.init(v)
    for grads, _ in zip(row.grads("numpy"), range(2)):
        others = {"number": np.zeros(2, int), "name": "x"}
        v, state = optimizer.step(v, grads.update(others), state)
    assert v["name"] == "x"
    np.testing.assert_array_equal(v["number"], np.arange(2))
    evaluated = optimizer.evaluation_variables(v, state)
    assert evaluated.paths() == v.paths()
    assert not any("number" in path or "name" in path for path in state.paths())


def test_each_public_optimizer_has_a_row() -> None:
    classes = {
        name for name in nn.__all__
        if isinstance(getattr(nn, name), type) and issubclass(getattr(nn, name), nn.Optimizer)
    }  # fmt: skip
    bases = {"Optimizer", "OptimizerChain", "GradientTransformation"}
    own_tests = {"ClipByNorm", "EMA", "GradientNoise", "Lookahead"}  # in test_chains
    assert classes - bases - own_tests == {row.name.partition("-")[0] for row in ROWS}

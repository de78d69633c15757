"""Schedules: the numbers of optax, on every backend."""

from __future__ import annotations

import numpy as np
import optax
import pytest
import torch

import nestarray as na
from nestarray import errors
from nestarray.nn import schedules

_CASES = {
    "linear": (schedules.linear(0.3, 0.1, 20), optax.linear_schedule(0.3, 0.1, 20)),
    "cosine": (
        schedules.cosine(0.3, 20, end=0.03),
        optax.cosine_decay_schedule(0.3, 20, alpha=0.1),
    ),
    "warm-up": (
        schedules.warmup(schedules.cosine(0.3, 15, end=0.03), 5, start=0.01),
        optax.warmup_cosine_decay_schedule(0.01, 0.3, 5, 20, end_value=0.03),
    ),
    "warm-up, then constant": (
        schedules.warmup(lambda count: 0.3, 5),
        optax.warmup_constant_schedule(0.0, 0.3, 5),
    ),
    "one cycle": (schedules.one_cycle(0.3, 20), optax.cosine_onecycle_schedule(20, 0.3)),
    "one cycle, with settings": (
        schedules.one_cycle(0.3, 23, warmup=0.25, div_factor=5.0, final_div_factor=10.0),
        optax.cosine_onecycle_schedule(23, 0.3, 0.25, 5.0, 10.0),
    ),
    "one cycle, no rise": (
        schedules.one_cycle(0.3, 20, warmup=0.0),
        optax.cosine_onecycle_schedule(20, 0.3, 0.0),
    ),
    "piecewise": (
        schedules.piecewise(0.3, {15: 0.2, 4: 0.5}),
        optax.piecewise_constant_schedule(0.3, {15: 0.2, 4: 0.5}),
    ),
    "no pieces": (schedules.piecewise(0.3, {}), optax.constant_schedule(0.3)),
}


@pytest.mark.parametrize("name", _CASES)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_the_numbers_of_optax(name, backend):
    ours, theirs = _CASES[name]
    for count in range(27):
        got = ours(na.to_backend(np.asarray(count, "int32"), backend))
        assert (na.backend_of(got), na.dtype_of(got), tuple(got.shape)) == (backend, na.float32, ())
        np.testing.assert_allclose(float(got), float(theirs(count)), rtol=1e-6, atol=1e-7)
        assert float(ours(count)) == pytest.approx(float(got), rel=2e-6)


@pytest.mark.parametrize("name", _CASES)
@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_compiled(name, backend):
    schedule = _CASES[name][0]
    count = na.to_backend(np.asarray(7, "int32"), backend)
    np.testing.assert_allclose(float(na.jit(schedule)(count)), float(schedule(7)), rtol=2e-6)


@pytest.mark.full
def test_compiled_by_torch():
    schedule = _CASES["one cycle"][0]
    count = torch.tensor(7, dtype=torch.int32)
    np.testing.assert_allclose(float(na.jit(schedule)(count)), float(schedule(7)), rtol=2e-6)


def test_an_optimizer_takes_a_schedule():
    optimizer = na.nn.SGD(schedules.piecewise(1.0, {1: 0.5}))
    v = na.Container(w=np.zeros(1, "float32"))
    grads, state, steps = v + 1, optimizer.init(v), []
    for _ in range(3):
        new, state = optimizer.step(v, grads, state)
        steps.append(float((v - new)["w"][0]))
        v = new
    assert steps == [1.0, 0.5, 0.5]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: schedules.linear(1.0, 0.0, 0), "linear: steps: got 0, expected a positive"),
        (lambda: schedules.cosine(1.0, 2.5), "cosine: steps: got 2.5"),
        (lambda: schedules.warmup(lambda n: 1.0, -1), "warmup: steps: got -1"),
        (lambda: schedules.one_cycle(1.0, 5, warmup=2.0), "one_cycle: warmup: got 2.0"),
        (lambda: schedules.piecewise(1.0, [3]), "piecewise: scales: got list"),
    ],
)
def test_wrong_settings(make, message):
    with pytest.raises(errors.ArgumentError, match=message):
        make()

"""Schedules: the numbers of optax and torch, on every backend."""

from __future__ import annotations

import pickle
from itertools import pairwise

import keras
import numpy as np
import optax
import pytest
import torch

import nestarray as na
from nestarray import errors
from nestarray.nn import schedules
from nestarray.testing import assert_close

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
        schedules.warmup(schedules.constant(0.3), 5),
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
    "constant": (schedules.constant(0.3), optax.constant_schedule(0.3)),
    "polynomial": (
        schedules.polynomial(0.3, 0.1, 20, power=2.5),
        optax.polynomial_schedule(0.3, 0.1, 2.5, 20),
    ),
    "exponential": (schedules.exponential(0.3, 7, 0.5), optax.exponential_decay(0.3, 7, 0.5)),
    "exponential, with a bound": (
        schedules.exponential(0.3, 7, 0.5, staircase=True, end=0.1),
        optax.exponential_decay(0.3, 7, 0.5, staircase=True, end_value=0.1),
    ),
    "exponential, rising to a bound": (
        schedules.exponential(0.3, 7, 1.5, end=0.5),
        optax.exponential_decay(0.3, 7, 1.5, end_value=0.5),
    ),
    "piecewise linear": (
        schedules.piecewise_linear({4: 0.1, 15: 0.7, 0: 0.3}),
        lambda count: np.interp(count, [0, 4, 15], [0.3, 0.1, 0.7]),
    ),
    "then": (
        schedules.then(schedules.linear(0.3, 0.1, 5), 5, schedules.cosine(0.2, 9)),
        optax.join_schedules(
            [optax.linear_schedule(0.3, 0.1, 5), optax.cosine_decay_schedule(0.2, 9)], [5]
        ),
    ),
    "inverse square root": (
        schedules.warmup(schedules.inverse_square_root(0.3, 6), 6),
        lambda count: 0.3 * min(count / 6, np.sqrt(6 / max(count, 1))),
    ),
    "warm-up, stable, decay": (
        schedules.warmup_stable_decay(0.3, warmup=4, stable=10, decay=8, start=0.1, end=0.05),
        lambda count: np.interp(count, [0, 4, 14, 22], [0.1, 0.3, 0.3, 0.05]),
    ),
    "warm-up, stable, decay by a square root": (
        schedules.warmup_stable_decay(0.3, warmup=0, stable=10, decay=8, end=0.05, shape="sqrt"),
        lambda count: 0.3 - 0.25 * np.sqrt(np.clip((count - 10) / 8, 0, 1)),
    ),
    "warm-up, stable, decay by a cosine": (
        schedules.warmup_stable_decay(0.3, warmup=3, stable=0, decay=8, shape="cosine"),
        optax.warmup_cosine_decay_schedule(0.0, 0.3, 3, 11),
    ),
}


def _of_torch(scheduler, start: float, **settings):
    """The learning rate of a scheduler of torch after so many steps."""

    def rate(count: int) -> float:
        optimizer = torch.optim.SGD([torch.zeros(1)], start)
        schedule = getattr(torch.optim.lr_scheduler, scheduler)(optimizer, **settings)
        for _ in range(count):
            optimizer.step()
            schedule.step()
        return optimizer.param_groups[0]["lr"]

    return rate


_CASES |= {
    "step": (schedules.step(0.3, 6, 0.5), _of_torch("StepLR", 0.3, step_size=6, gamma=0.5)),
    "restarts": (
        schedules.cosine_restarts(0.3, 5, end=0.01),
        _of_torch("CosineAnnealingWarmRestarts", 0.3, T_0=5, eta_min=0.01),
    ),
    "longer restarts": (
        schedules.cosine_restarts(0.3, 3, growth=2),
        _of_torch("CosineAnnealingWarmRestarts", 0.3, T_0=3, T_mult=2),
    ),
    "lower restarts": (
        schedules.cosine_restarts(0.3, 5, decay=0.5),
        optax.sgdr_schedule([
            {"init_value": v, "peak_value": v, "decay_steps": 5, "warmup_steps": 0}
            for v in (0.3, 0.15, 0.075, 0.0375, 0.01875, 0.009375)
        ]),
    ),
    "cyclic": (
        schedules.cyclic(0.1, 0.3, 4, 6),
        _of_torch("CyclicLR", 0.1, base_lr=0.1, max_lr=0.3, step_size_up=4, step_size_down=6),
    ),
    "cyclic, in falling triangles": (
        schedules.cyclic(0.1, 0.3, 4, decay=0.5),
        _of_torch(
            "CyclicLR", 0.1, base_lr=0.1, max_lr=0.3, step_size_up=4, mode="triangular2"
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", _CASES)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_the_numbers_of_optax_and_torch(name, backend):
    ours, theirs = _CASES[name]
    for count in range(27):
        got = ours(na.to_backend(np.asarray(count, "int32"), backend))
        assert (na.backend_of(got), na.dtype_of(got), tuple(got.shape)) == (backend, na.float32, ())
        np.testing.assert_allclose(float(got), float(theirs(count)), rtol=2e-6, atol=1e-7)
        assert float(ours(count)) == pytest.approx(float(got), rel=2e-6, abs=1e-7)


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


@pytest.mark.parametrize("growth", [1.5, 2, 3])
def test_each_cycle_begins_at_the_first_value(growth):
    """Its first step is a power of `growth`, of which a float32 logarithm is inexact."""
    schedule = schedules.restarts(schedules.linear(1.0, 0.0, 10), 10, growth=growth)
    begins = [10 * (growth**n - 1) / (growth - 1) for n in range(12)]
    for begin, end in pairwise(begins):
        for count in {int(np.ceil(begin)), int(np.ceil(end)) - 1}:
            expected = 1 - (count - begin) / (end - begin)
            assert float(schedule(count)) == pytest.approx(expected, abs=2e-4)


_PLATEAUS = [
    {"factor": 0.5, "patience": 1},
    {"factor": 0.5, "patience": 0, "cooldown": 2, "threshold": 0.1},
    {"factor": 0.3, "patience": 1, "mode": "max", "relative": False, "minimum": 0.05},
]


@pytest.mark.parametrize("settings", _PLATEAUS)
@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_plateau_is_that_of_torch(settings, backend):
    rename = {"relative": "threshold_mode", "minimum": "min_lr"}
    theirs = {rename.get(name, name): value for name, value in settings.items()}
    if "threshold_mode" in theirs:
        theirs["threshold_mode"] = "rel" if theirs["threshold_mode"] else "abs"
    optimizer = torch.optim.SGD([torch.zeros(1)], 1.0)
    expected = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **theirs)
    plateau = schedules.Plateau(**settings)
    state = plateau.init(like=na.to_backend(np.zeros((), "float32"), backend))
    update = na.jit(plateau.update) if backend in ("jax", "tensorflow") else plateau.update
    for metric in (3.0, 2.0, 2.0, 1.9, 1.9, 1.95, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 1.2, 1.2):
        expected.step(metric)
        state = update(state, na.to_backend(np.asarray(metric, "float32"), backend))
        assert float(state["scale"]) == pytest.approx(optimizer.param_groups[0]["lr"], rel=1e-6)
        assert int(state["waited"]) == expected.num_bad_epochs
        assert na.backend_of(state["best"]) == backend


@pytest.mark.parametrize("name", _CASES)
def test_pickle(name):
    schedule = _CASES[name][0]
    assert float(pickle.loads(pickle.dumps(schedule))(7)) == float(schedule(7))


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
        (lambda: schedules.piecewise_linear({}), "piecewise_linear: values: got {}"),
        (lambda: schedules.exponential(1.0, 3, 0.0), "exponential: factor: got 0.0"),
        (lambda: schedules.restarts(lambda n: 1.0, 3, growth=0.5), "growth: got 0.5, expected"),
        (lambda: schedules.then(1.0, 3, 2.0), "then: first: got 1.0, expected a function"),
        (lambda: schedules.cyclic(0.1, 1.0, 4, 0), "cyclic: down: got 0, expected a positive"),
        (
            lambda: schedules.warmup_stable_decay(1.0, warmup=1, stable=1, decay=1, shape="log"),
            "warmup_stable_decay: shape: got 'log', expected 'linear'",
        ),
        (lambda: schedules.Plateau(1.5), "Plateau: factor: got 1.5, expected a number between"),
        (lambda: schedules.Plateau(mode="low"), "Plateau: mode: got 'low', expected 'min'"),
    ],
)
def test_wrong_settings(make, message):
    with pytest.raises(errors.ArgumentError, match=message):
        make()


@pytest.fixture(scope="module")
def from_optax():
    """A schedule of optax with its conversion."""
    parts = [optax.linear_schedule(0.0, 0.1, 3), optax.exponential_decay(0.1, 3, 0.5)]
    schedule = optax.join_schedules(parts, [3])
    return schedule, schedules.from_optax(schedule)


def test_schedules_of_optax_on_every_backend(from_optax, backend: str) -> None:
    expected, schedule = from_optax
    v = na.to_backend(na.Container(w=np.ones(2, "float32")), backend)
    count = na.asarray(0, dtype="int32", like=v.w)
    for step in range(8):
        rate = schedule(count + step)
        assert na.backend_of(rate) == backend
        np.testing.assert_allclose(float(rate), float(expected(step)), rtol=1e-6)
    optimizer, state = na.nn.Adam(schedule), na.nn.Adam(0.1).init(v)
    assert_close(na.jit(optimizer.step)(v, v, state)[0], v)  # the first rate is 0


def test_schedules_of_optax_compose_and_pickle(from_optax) -> None:
    expected, schedule = from_optax
    schedule = pickle.loads(pickle.dumps(schedules.then(schedules.constant(1.0), 2, schedule)))
    assert [float(schedule(count)) for count in (0, 1)] == [1.0, 1.0]
    np.testing.assert_allclose(float(schedule(7)), float(expected(5)), rtol=1e-6)


def _run(optimizer, v, state, count: int):
    losses = []
    for _ in range(count):
        value, grads = na.execute_with_gradients(lambda v: na.sum(na.square(v.w - 1.0)), v)
        losses.append(float(value))
        v, state = optimizer.step(v, grads, state)
    return losses, v, state


def test_a_run_with_a_schedule_continues_in_torch() -> None:
    schedule = schedules.warmup(schedules.cosine(0.3, 6), 2)
    v = na.Container(w=torch.arange(3.0))
    optimizer = na.nn.Adam(schedule)
    _, v, state = _run(optimizer, v, optimizer.init(v), 3)
    module = torch.nn.ParameterDict({"w": v.w.clone()})
    native = na.nn.to_torch_optimizer(na.nn.Adam(1.0), state, module)
    scheduler = schedules.to_torch(schedule, native, count=int(state["count"]))
    losses = []
    for _ in range(4):
        native.zero_grad()
        loss = (module["w"] - 1.0).square().sum()
        loss.backward()
        native.step()
        scheduler.step()
        losses.append(loss.item())
    np.testing.assert_allclose(losses, _run(optimizer, v, state, 4)[0], rtol=1e-5)
    other = schedules.to_torch(schedule, torch.optim.SGD(module.parameters()))
    other.load_state_dict(scheduler.state_dict())
    other.step()
    np.testing.assert_allclose(other.get_last_lr(), [float(schedule(8))], atol=1e-8)


def test_a_run_with_a_schedule_continues_in_keras() -> None:
    schedule = schedules.warmup(schedules.cosine(0.3, 6), 2)
    layer = keras.layers.EinsumDense("ab,b->ab", 3)
    layer.build((1, 3))
    v = na.Container.from_keras(layer, trainable=True).to_backend("numpy") * 0.0
    (path,) = v.paths()
    optimizer = na.nn.Adam(schedule, eps=1e-7, eps_hat=True)
    grads = v + np.arange(1.0, 4.0, dtype="float32")
    state = optimizer.init(v)
    for _ in range(3):
        v, state = optimizer.step(v, grads, state)
    layer.set_weights(v.leaves())
    native = na.nn.to_keras_optimizer(na.nn.Adam(1.0, eps=1e-7, eps_hat=True), state, layer)
    native.learning_rate = schedules.to_keras(schedule)
    for _ in range(3):
        v, state = optimizer.step(v, grads, state)
        native.apply([keras.ops.convert_to_tensor(grads[path])])
    np.testing.assert_allclose(layer.get_weights()[0], v[path], rtol=1e-5)


def test_conversions_check_their_arguments() -> None:
    for convert in (
        schedules.from_optax,
        schedules.to_keras,
        lambda schedule: schedules.to_torch(schedule, None),
    ):
        with pytest.raises(errors.ArgumentError, match=r"schedule: got 0\.1, expected a fun"):
            convert(0.1)
    with pytest.raises(
        errors.ArgumentError, match="to_torch: optimizer: got SGD, expected a torch"
    ):
        schedules.to_torch(schedules.constant(0.1), na.nn.SGD(0.1))

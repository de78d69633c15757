"""Optimizers around optimizers, parts, averages."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import optax
import pytest
import torch

import nestarray as na
from nestarray import errors, nn
from nestarray.testing import assert_close
from tests.nn.optimizers.row import GRADS, START, float64

BACKENDS = ("numpy", "jax", "torch", "tensorflow")


def trained(optimizer: nn.Optimizer, backend: str = "numpy", steps: int = 10) -> tuple[Any, Any]:
    """Variables and state after some steps, float64."""
    v = na.Container(START).to_backend(backend)
    state = optimizer.init(v)
    for grads in GRADS[:steps]:
        v, state = optimizer.step(v, na.Container(grads).to_backend(backend), state)
    return v, state


@pytest.mark.parametrize("backend", BACKENDS)
def test_clipping_of_each_leaf_is_kerass(backend: str) -> None:
    import keras

    with float64(backend):
        v, _ = trained(nn.ClipByNorm(1.5, nn.SGD(0.1)), backend)
    variables = [keras.Variable(x, dtype="float64") for x in jax.tree.leaves(START)]
    optimizer = keras.optimizers.SGD(0.1, clipnorm=1.5)
    for grads in GRADS[:10]:
        optimizer.apply([keras.ops.convert_to_tensor(g) for g in jax.tree.leaves(grads)], variables)
    expected = jax.tree.unflatten(jax.tree.structure(START), list(map(np.asarray, variables)))
    assert_close(
        v.to_backend("numpy"), na.Container(expected), rtol=1e-7, atol=1e-7,
        reason="the rate of Keras is float32",
    )  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
def test_lookahead_is_optaxs(backend: str) -> None:
    optimizer = nn.Lookahead(3, nn.Adam(0.1), slow_step_size=0.25)
    with float64(backend):
        v, state = trained(optimizer, backend)
        slow = optimizer.evaluation_variables(v, state).to_backend("numpy")
        v = v.to_backend("numpy")
    with jax.enable_x64(True):
        twin = optax.lookahead(optax.adam(0.1), 3, 0.25)
        params = optax.LookaheadParams.init_synced(START)
        twin_state = twin.init(params)
        for grads in GRADS[:10]:
            updates, twin_state = twin.update(grads, twin_state, params)
            params = optax.apply_updates(params, updates)
        expected = jax.tree.map(np.asarray, params)
    assert_close(v, na.Container(expected.fast))
    assert_close(slow, na.Container(expected.slow))


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_average_is_optaxs(backend: str) -> None:
    optimizer = nn.EMA(0.8, nn.SGD(0.1))
    with float64(backend):
        v, state = trained(optimizer, backend)
        average = optimizer.evaluation_variables(v, state).to_backend("numpy")
    with jax.enable_x64(True):
        twin, plain = optax.ema(0.8), na.Container(START)
        twin_state = twin.init(START)
        for grads in GRADS[:10]:
            plain = plain - na.Container(grads) * 0.1
            expected, twin_state = twin.update(plain.to_dict(), twin_state)
        expected = jax.tree.map(np.asarray, expected)
    assert_close(v.to_backend("numpy"), plain)
    assert_close(average, na.Container(expected))


def test_noise_is_normal_and_the_same_on_every_backend() -> None:
    zeros = na.Container(w=np.zeros((100, 100), np.float32), b=np.zeros(3, np.float32))
    optimizer = nn.GradientNoise(0.04, nn.SGD(1.0), gamma=0.5, seed=3)
    results = []
    for backend in BACKENDS:
        v = zeros.to_backend(backend)
        state = optimizer.init(v)
        first, state = optimizer.step(v, v, state)
        second, state = optimizer.step(v, v, state)
        results.append((first.to_backend("numpy"), second.to_backend("numpy")))
    for result in results[1:]:
        assert_close(result, results[0])
    first, second = results[0]
    assert abs(first.w.std() - 0.2) < 0.005
    assert abs(second.w.std() - 0.2 / 2**0.25) < 0.005
    assert abs(np.corrcoef(first.w.ravel(), second.w.ravel())[0, 1]) < 0.05


def test_accumulation_is_one_step_with_the_mean() -> None:
    v, state = trained(nn.Accumulate(5, nn.Adam(0.1)), steps=5)
    mean = jax.tree.map(lambda *g: np.mean(g, axis=0), *GRADS[:5])
    adam, start = nn.Adam(0.1), na.Container(START)
    expected, _ = adam.step(start, na.Container(mean), adam.init(start))
    assert_close(v, expected)
    assert int(state["count"]) == 5
    assert int(state["inner/count"]) == 1
    before, _ = trained(nn.Accumulate(5, nn.Adam(0.1)), steps=4)
    assert_close(before, start)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.one_in(2)
def test_chains_nest_and_compile(backend: str) -> None:
    optimizer = nn.EMA(
        0.9, nn.ClipByGlobalNorm(1.0, nn.Accumulate(2, nn.Lookahead(2, nn.AdamW(0.1))))
    )
    options: dict[str, Any] = {"backend": "aot_eager"} if backend == "torch" else {}
    step = na.jit(optimizer.step, **options)
    paths = ("a", "scalar")  # compilers take as long for each leaf
    plain, compiled = [na.Container(START).select(*paths).map(np.float32).to_backend(backend)] * 2
    plain_state, state = [optimizer.init(plain)] * 2
    for grads in GRADS[:4]:
        g = na.Container(grads).select(*paths).map(np.float32).to_backend(backend)
        plain, plain_state = optimizer.step(plain, g, plain_state)
        compiled, state = step(compiled, g, state)
    assert_close(compiled, plain)
    assert_close(state, plain_state)
    assert set(state) == {"count", "ema", "inner"}
    assert set(state["inner/inner"]) == {"count", "slow", "inner"}  # clipping has no state
    assert_close(optimizer.evaluation_variables(compiled, state), state["ema"])


def test_rates_by_path_are_groups_of_torch() -> None:
    """With a schedule for one of them."""
    halved = nn.schedules.piecewise(0.5, {5: 0.5})
    v, _ = trained(nn.Adam({"a/**": halved, "**": 0.1}))
    for paths, rate in (("a/**", halved), (("square", "vector", "tensor"), 0.1)):
        patterns = (paths,) if isinstance(paths, str) else paths
        alone, _ = trained(nn.Adam(rate))
        assert_close(v.select(*patterns), alone.select(*patterns))


def test_partition_freezes_nothing_silently() -> None:
    v = na.Container(START)
    optimizer = nn.Partition({"a/**": nn.SGD(0.1), "vector": nn.Adam(0.1)})
    with pytest.raises(errors.StructureError) as info:
        optimizer.init(v)
    assert str(info.value) == (
        "Partition: no pattern matches 'square', expected an optimizer for each leaf; the patterns "
        "are 'a/**', 'vector'; '**' matches the rest"
    )
    adam = nn.Adam({"a/**": 0.1})
    with pytest.raises(errors.StructureError) as info:
        adam.step(v, v, adam.init(v))
    assert str(info.value) == (
        "optimizer.step: learning_rate: no pattern matches 'square', expected a rate for each leaf; "
        "the patterns are 'a/**'; '**' matches the rest"
    )


def test_partition_evaluates_each_part() -> None:
    optimizer = nn.Partition({"vector": nn.ScheduleFreeSGD(0.1), "**": nn.SGD(0.1)})
    v, state = trained(optimizer)
    evaluated = optimizer.evaluation_variables(v, state)
    alone = nn.ScheduleFreeSGD(0.1)
    expected = alone.evaluation_variables(*trained(alone))
    assert_close(evaluated["vector"], expected["vector"])
    assert_close(evaluated.exclude("vector"), v.exclude("vector"))


def test_the_average_of_asgd_is_evaluated() -> None:
    optimizer = nn.ASGD(0.1, t0=3.0)
    v, state = trained(optimizer)
    twin = torch.zeros(4, dtype=torch.float64)
    twin.copy_(torch.from_numpy(START["vector"]))
    asgd = torch.optim.ASGD([twin], 0.1, t0=3.0)
    for grads in GRADS[:10]:
        twin.grad = torch.from_numpy(grads["vector"])
        asgd.step()
    average = optimizer.evaluation_variables(v, state)["vector"]
    assert_close(
        average, asgd.state[twin]["ax"].numpy(), rtol=1e-6, atol=1e-6, reason="float32 rates"
    )


def test_schedule_free_evaluates_as_optax() -> None:
    optimizer = nn.ScheduleFreeAdamW(0.1)
    v, state = trained(optimizer)
    with jax.enable_x64(True):
        twin = optax.contrib.schedule_free_adamw(0.1)
        params, twin_state = jax.tree.map(jax.numpy.asarray, START), None
        twin_state = twin.init(params)
        for grads in GRADS[:10]:
            updates, twin_state = twin.update(grads, twin_state, params)
            params = optax.apply_updates(params, updates)
        expected = optax.contrib.schedule_free_eval_params(twin_state, params)
        expected = jax.tree.map(np.asarray, expected)
    assert_close(optimizer.evaluation_variables(v, state), na.Container(expected))


def test_a_wrong_inner_optimizer() -> None:
    for make in (lambda o: nn.EMA(0.9, o), lambda o: nn.ClipByNorm(1.0, o)):
        with pytest.raises(
            errors.ArgumentError, match="optimizer: got 3, expected an optimizer such"
        ):
            make(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(errors.ArgumentError) as info:
        nn.Partition({"**": 3})  # pyright: ignore[reportArgumentType]
    assert str(info.value) == (
        "Partition: optimizers: got {'**': 3}, expected a mapping of path patterns to optimizers"
    )

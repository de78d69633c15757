"""`na.train_step`: the numbers of a loop written by hand, bit for bit, on every backend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError, ShapeError, StructureError

BACKENDS = ["numpy", "jax", "torch", "tensorflow"]
#: torch runs the traced calls one by one: its C++ compiler takes a minute.
OPTIONS: dict[str, dict[str, Any]] = {"torch": {"backend": "eager"}}


class Net(nn.Module):
    def __init__(self) -> None:
        self.first = nn.Linear(3, 8)
        self.norm = nn.BatchNorm(8)
        self.dropout = nn.Dropout(0.2)
        self.last = nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.last(self.dropout(na.tanh(self.norm(self.first(x)))))


NET = Net()


def stateless(v: Any, batch: Any) -> Any:
    """A loss of variables alone."""
    hidden = na.tanh(na.linear(batch.x, v["first/weight"], v["first/bias"]))
    return na.cross_entropy(na.linear(hidden, v["last/weight"], v["last/bias"]), batch.y)


def stateful(v: Any, batch: Any, s: Any, key: Any) -> Any:
    """A loss with the state of batch norm, the key of dropout, and logits as aux."""
    logits, s = NET(batch.x, v=v, s=s, train=True, key=key)
    return na.cross_entropy(logits, batch.y), s, {"logits": logits}


def _start(backend: str) -> tuple[Any, Any, list[Any]]:
    """A net, the key of its steps, and four batches."""
    key = na.random.key(0, backend=backend)
    data = na.Container(
        x=na.random.normal(na.random.fold_in(key, "x"), (32, 3)),
        y=na.random.randint(na.random.fold_in(key, "y"), (32,), 0, 4),
    )
    return NET.init(key), na.random.fold_in(key, "steps"), list(data.batches(8))


def _equal(got: Any, expected: Any) -> None:
    assert got.paths() == expected.paths()
    for path, x in got.flat_items():
        np.testing.assert_array_equal(np.asarray(x), np.asarray(expected[path]), err_msg=path)


def _jit(fn: Any, backend: str) -> Any:
    return na.jit(fn, **OPTIONS.get(backend, {}))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loss_of_variables(backend: str) -> None:
    net, _, batches = _start(backend)
    optimizer = nn.AdamW(nn.schedules.warmup(nn.schedules.constant(0.1), 3))

    @(lambda fn: _jit(fn, backend))
    def by_hand(v: Any, state: Any, batch: Any) -> Any:
        value, grads = na.execute_with_gradients(lambda v: stateless(v, batch), v)
        return value, *optimizer.step(v, grads, state)

    step = na.train_step(stateless, optimizer, **OPTIONS.get(backend, {}))
    state, v, of_optimizer = step.init(net.v), net.v, optimizer.init(net.v)
    for number, batch in enumerate(batches):
        state, metrics = step(state, batch)
        value, v, of_optimizer = by_hand(v, of_optimizer, batch)
        assert float(metrics.loss) == float(value)
        assert int(state["step"]) == number + 1
        _equal(state.v, v)
        _equal(state.optimizer, of_optimizer)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_loss_with_state_key_and_aux(backend: str) -> None:
    net, key, batches = _start(backend)
    optimizer = nn.SGD(0.1, momentum=0.9)

    @(lambda fn: _jit(fn, backend))
    def by_hand(v: Any, s: Any, state: Any, batch: Any, number: Any) -> Any:
        def loss(v: Any) -> Any:
            value, new, aux = stateful(v, batch, s, na.random.fold_in(key, number))
            return value, (new, aux["logits"])

        (value, (new, logits)), grads = na.execute_with_gradients(loss, v, has_aux=True)
        return value, logits, new, *optimizer.step(v, grads, state)

    step = na.train_step(stateful, optimizer, has_aux=True, **OPTIONS.get(backend, {}))
    state = step.init(net.v, net.s, key)
    v, s, of_optimizer = net.v, net.s, optimizer.init(net.v)
    for number, batch in enumerate(batches):
        state, metrics = step(state, batch)
        count = na.to_backend(np.asarray(number, "int32"), backend)
        value, logits, s, v, of_optimizer = by_hand(v, s, of_optimizer, batch, count)
        assert float(metrics.loss) == float(value)
        np.testing.assert_array_equal(np.asarray(metrics.logits), np.asarray(logits))
        _equal(state.v, v)
        _equal(state.s, s)
    assert int(state.s["norm/num_batches_tracked"]) == 4


@pytest.mark.parametrize("backend", BACKENDS)
def test_accumulation(backend: str) -> None:
    """Parts in turn: the state goes through them, each has a key, gradients are averaged."""
    net, key, batches = _start(backend)
    optimizer = nn.SGD(0.1)
    step = na.train_step(
        stateful, optimizer, has_aux=True, accumulate=2, **OPTIONS.get(backend, {})
    )
    state, metrics = step(step.init(net.v, net.s, key), batches[0])
    keys, s, losses, sums = na.random.split(na.random.fold_in(key, 0), 2), net.s, [], net.v * 0
    for part, own in zip(batches[0].batches(4), keys, strict=True):

        def loss(v: Any, part: Any = part, own: Any = own, s: Any = s) -> Any:
            value, new, aux = stateful(v, part, s, own)
            return value, (new, aux["logits"])

        (value, (s, logits)), grads = na.execute_with_gradients(loss, net.v, has_aux=True)
        np.testing.assert_allclose(metrics.logits[len(losses)], logits, rtol=1e-5, atol=1e-6)
        losses.append(float(value))
        sums = sums + grads
    assert float(metrics.loss) == pytest.approx(np.mean(losses), rel=1e-6)
    v, _ = optimizer.step(net.v, sums * 0.5, optimizer.init(net.v))
    for expected, got in ((v, state.v), (s, state.s)):
        for path, x in got.flat_items():
            np.testing.assert_allclose(
                np.asarray(x), np.asarray(expected[path]), rtol=1e-5, atol=1e-6
            )


def test_accumulation_of_a_mean_is_the_whole_batch() -> None:
    net, _, batches = _start("numpy")
    whole, parts = (na.train_step(stateless, nn.SGD(0.1), accumulate=n) for n in (1, 4))
    a, b = (step(step.init(net.v), batches[0]) for step in (whole, parts))
    assert float(a[1].loss) == pytest.approx(float(b[1].loss), rel=1e-6)
    for path, x in a[0].v.flat_items():
        np.testing.assert_allclose(x, b[0].v[path], rtol=1e-5, atol=1e-7)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_mixed_precision(backend: str, accumulate: int) -> None:
    net, key, batches = _start(backend)
    settings = {"has_aux": True, "accumulate": accumulate, **OPTIONS.get(backend, {})}
    step = na.train_step(stateful, nn.SGD(0.1), compute="bfloat16", keep="last", **settings)
    full = na.train_step(stateful, nn.SGD(0.1), **settings)
    (state, metrics), (expected, theirs) = (
        each(each.init(net.v, net.s, key), batches[0]) for each in (step, full)
    )
    assert 0 < abs(float(metrics.loss) - float(theirs.loss)) < 0.02
    for path, x in state.v.flat_items():
        assert na.dtype_of(x) is na.float32
        np.testing.assert_allclose(np.asarray(x), np.asarray(expected.v[path]), atol=5e-3)


def test_patterns_select_the_modules_in_float32() -> None:
    """With all modules kept, the step is that in float32; a pattern of no module is an error."""
    net, key, batches = _start("numpy")
    kept = na.train_step(stateful, nn.SGD(0.1), has_aux=True, compute="bfloat16", keep="**")
    full = na.train_step(stateful, nn.SGD(0.1), has_aux=True)
    (state, _), (expected, _) = (
        each(each.init(net.v, net.s, key), batches[0]) for each in (kept, full)
    )
    _equal(state.v, expected.v)
    wrong = na.train_step(stateful, nn.SGD(0.1), has_aux=True, compute="bfloat16", keep="head")
    with pytest.raises(ArgumentError, match="head"):
        wrong(wrong.init(net.v, net.s, key), batches[0])


@pytest.mark.one_in(4)
@pytest.mark.parametrize("accumulate", [1, 2])
@pytest.mark.parametrize("backend", BACKENDS)
def test_loss_scaling_skips_steps_that_overflow(backend: str, accumulate: int) -> None:
    net, key, batches = _start(backend)
    step = na.train_step(
        stateful,
        nn.SGD(0.1),
        has_aux=True,
        compute="float16",
        accumulate=accumulate,
        loss_scale=nn.DynamicLossScale(2.0**10),
        **OPTIONS.get(backend, {}),
    )
    state, metrics = step(step.init(net.v, net.s, key), batches[0])
    assert int(state["optimizer/count"]) == 1
    assert float(metrics.loss) < 10  # not scaled
    before = state.to_backend("numpy").map(np.copy)  # the step may overwrite the state
    state, _ = step(state, batches[1].set("x", batches[1].x * 1e6))
    _equal(state.v, before.v)
    _equal(state.s, before.s)
    assert (int(state["optimizer/count"]), int(state["step"])) == (1, 2)
    assert float(state["scale/scale"]) == 2.0**9


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_stored_run_continues_with_the_same_bits(backend: str, tmp_path: Path) -> None:
    net, key, batches = _start(backend)
    step = na.train_step(stateful, nn.Adam(0.1), has_aux=True, **OPTIONS.get(backend, {}))
    state = step.init(net.v, net.s, key)
    for batch in batches[:2]:
        state, _ = step(state, batch)
    state.save(tmp_path / "state.safetensors")
    loaded = na.Container.load(tmp_path / "state.safetensors", backend=backend)
    for batch in batches[2:]:
        state, _ = step(state, batch)
        loaded, _ = step(loaded, batch)
    _equal(loaded, state)


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_donated_memory_is_not_that_of_the_net(backend: str) -> None:
    net, _, batches = _start(backend)
    before = net.v.to_backend("numpy").map(np.copy)
    step = na.train_step(stateless, nn.Adam(0.1), **OPTIONS.get(backend, {}))
    state = step.init(net.v)
    first = state.v["first/weight"]
    step(state, batches[0])
    _equal(net.v, before)
    if backend == "jax":
        assert first.is_deleted()


def test_one_trace_serves_all_steps() -> None:
    net, _, batches = _start("jax")
    calls = []

    def loss(v: Any, batch: Any) -> Any:
        calls.append(1)
        return stateless(v, batch)

    step = na.train_step(loss, nn.Adam(0.1))
    state = step.init(net.v)
    for batch in batches:
        state, _ = step(state, batch)
    assert len(calls) == 1


def test_without_compilation() -> None:
    net, _, batches = _start("jax")
    a, b = (na.train_step(stateless, nn.SGD(0.1), compile=flag) for flag in (False, True))
    (x, _), (y, _) = (step(step.init(net.v), batches[0]) for step in (a, b))
    for path, leaf in x.v.flat_items():
        np.testing.assert_allclose(leaf, y.v[path], rtol=1e-6, atol=1e-7)


def test_wrong_arguments() -> None:
    net, key, batches = _start("numpy")
    with pytest.raises(ArgumentError, match="train_step: accumulate: got 0"):
        na.train_step(stateless, nn.SGD(0.1), accumulate=0)
    with pytest.raises(ArgumentError, match=r"train_step: optimizer: got .* with init and step"):
        na.train_step(stateless, 0.1)
    with pytest.raises(ArgumentError, match="train_step: keep: got 'norm' without compute"):
        na.train_step(stateless, nn.SGD(0.1), keep="norm")
    step = na.train_step(stateful, nn.SGD(0.1), has_aux=True)
    with pytest.raises(ArgumentError, match="init: s: got None, but the loss has a parameter 's'"):
        step.init(net.v)
    with pytest.raises(ArgumentError, match="init: key: got None, but the loss"):
        step.init(net.v, net.s)
    with pytest.raises(ArgumentError, match="TrainStep: state: has no s, optimizer, step"):
        step(na.Container(v=net.v), batches[0])
    scaled = na.train_step(stateless, nn.SGD(0.1), loss_scale=nn.DynamicLossScale())
    with pytest.raises(ArgumentError, match="TrainStep: state: has no scale; expected"):
        scaled(na.train_step(stateless, nn.SGD(0.1)).init(net.v), batches[0])
    missing = na.train_step(stateful, nn.SGD(0.1))
    with pytest.raises(ArgumentError, match=r"returned .*, expected loss, s"):
        missing(missing.init(net.v, net.s, key), batches[0])
    parts = na.train_step(stateless, nn.SGD(0.1), accumulate=3)
    with pytest.raises(ShapeError, match="accumulate: got 3 for first axes of"):
        parts(parts.init(net.v), batches[0])

    def other_state(v: Any, batch: Any, s: Any) -> Any:
        return stateless(v, batch), v

    wrong = na.train_step(other_state, nn.SGD(0.1))
    with pytest.raises(StructureError, match=r"returned the model state .* structure of s"):
        wrong(wrong.init(net.v, net.s), batches[0])

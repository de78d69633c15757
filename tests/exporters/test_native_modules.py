"""Native modules compute, differentiate and train as the models they are made of."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np
import pytest
import tensorflow as tf
import torch
from flax import nnx
from torch import nn

import nestarray as na
from nestarray.errors import ShapeError
from nestarray.exporters.program import program_of
from tests.arrays import host
from tests.exporters.forms import FORMS, expected_gradients
from tests.exporters.rows import ROWS


def _moved(values: Any, backend: str) -> Any:
    """Arguments on a backend, as tuples and dicts."""
    args, kwargs = na.tree.map(
        lambda x: na.to_backend(x, backend) if isinstance(x, np.ndarray) else x,
        (list(values.args), values.kwargs),
    )
    return tuple(args), dict(kwargs)


def _arrays(output: Any) -> list[np.ndarray]:
    """The leaves; a function of TensorFlow returns numbers as arrays."""
    return [host(x) if hasattr(x, "dtype") else np.asarray(x) for x in jax.tree.leaves(output)]


def _close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


@pytest.mark.release("form")
@pytest.mark.one_in(16)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ROWS)
def test_native_modules_agree_with_the_model(row: str, form: str) -> None:
    values = ROWS[row]()
    native = FORMS[form](values.model)
    args, kwargs = _moved(values, native.backend)
    program = program_of(values.model, native.backend)
    held = program.v | program.s
    want, _ = program.run(False, args, kwargs, held)
    output = native.evaluate(args, kwargs)
    assert jax.tree.structure(output) == jax.tree.structure(want)
    for a, b in zip(_arrays(output), _arrays(want), strict=True):
        _close(a, b)

    grads = native.gradients(args, kwargs)
    wanted = expected_gradients(values.model, native.backend, args, kwargs)
    assert {*grads} == {*wanted}
    for path, x in wanted.items():
        _close(grads[path], x)


@pytest.mark.release("form")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ["conv_net", "nnx_net", "own_module"])
def test_the_training_mode_writes_statistics_and_draws(row: str, form: str) -> None:
    values = ROWS[row]()
    native = FORMS[form](values.model)
    args, kwargs = _moved(values, native.backend)
    program = program_of(values.model, native.backend)
    key = na.random.key(0, backend=native.backend) if program.needs_key(True) else None
    _, new = program.run(True, args, kwargs, program.v | program.s, key)
    assert new
    before = native.evaluate(args, kwargs)
    output, state = native.train(args, kwargs)
    for path, x in new.items():
        _close(state[path], host(x))
    assert output.shape == before.shape
    if program.needs_key(True):
        other, _ = native.train(args, kwargs)
        is_keyed = form in ("linen", "haiku", "equinox")  # which take the same key here
        assert np.array_equal(host(output), host(other)) == is_keyed


class _Exchange(nn.Module):
    """Two buffers exchange their values."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.tensor([1.0, 2.0]))
        self.register_buffer("b", torch.tensor([3.0, 4.0]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        old = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(old)
        return x + old


@torch.no_grad()
@pytest.mark.parametrize("form", ["torch", "keras", "tensorflow", "flax"])
def test_new_state_is_computed_before_it_is_written(form: str) -> None:
    native = FORMS[form](na.to_module(_Exchange(), torch.zeros(2)))
    output, state = native.train((na.to_backend(np.zeros(2, np.float32), native.backend),), {})
    assert host(output).tolist() == [1.0, 2.0]
    assert {path: host(x).tolist() for path, x in state.items()} == {
        "a": [3.0, 4.0],
        "b": [1.0, 2.0],
    }


def test_modules_of_jax_and_tensorflow_have_channels_last() -> None:
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(4, 5, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    )  # fmt: skip
    model = na.to_module(net, torch.ones(2, 3, 8, 8))
    for module in (model.to_linen_module().program, model.to_tf_module()._program):
        for train in (False, True):
            graph = module.graph(train)
            moved = [n.args[0] for n in graph.calls if n.target_name == "na.permute_dims"]
            assert [node.path or node.name for node in moved] == ["input", "0/weight", "4/weight"]
            assert tuple(graph.v["4/weight"].shape) == (5, 4, 3, 3)
    assert "na.permute_dims" not in str(model.to_torch_module()._program.graph(True))


def test_keras_names_the_remedy_for_another_batch() -> None:
    net = na.trace_graph(nn.Linear(3, 2), torch.ones(2, 3)).to_keras_model()
    assert net.predict(np.ones((2, 3), "float32"), verbose=0).shape == (2, 2)
    with pytest.raises(ShapeError, match="dynamic=True"):
        net.predict(np.ones((5, 3), "float32"), verbose=0)


def test_keras_takes_the_names_of_all_functions(tmp_path: Path) -> None:
    x = np.arange(6.0, dtype="float32").reshape(2, 3)
    net = na.trace_graph(lambda x: x * 2, torch.ones(2, 3), dynamic={"x": {0: "batch"}})
    native = net.to_keras_model()
    np.testing.assert_allclose(native.predict(x, verbose=0), x * 2)
    native.save(tmp_path / "net.keras")
    loaded = keras.saving.load_model(tmp_path / "net.keras")
    np.testing.assert_allclose(loaded.predict(x, verbose=0), x * 2)


def test_programs_of_jax_pickle_and_export_in_pytorch() -> None:
    def windows(params: Any, x: jax.Array) -> jax.Array:
        x = jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 2), (1, 2), "VALID")
        return x @ params["in"]["kernel"] + params["if"]

    params = {"in": {"kernel": jax.numpy.ones((2, 3))}, "if": jax.numpy.ones(3)}
    x = np.arange(8, dtype="float32").reshape(2, 4)
    graph = na.trace_graph(windows, params, x, v="params")
    net = graph.to_torch_module()
    want = net(torch.from_numpy(x)).detach()
    assert {*net.state_dict()} == {"in_.kernel", "if_"}  # words of Python
    assert torch.equal(pickle.loads(pickle.dumps(net))(torch.from_numpy(x)), want)
    exported = torch.export.export(net, (torch.from_numpy(x),)).module()
    assert torch.equal(exported(torch.from_numpy(x)), want)


def test_loops_of_tensorflow_with_an_open_batch_run_under_autocast() -> None:
    w = tf.Variable(tf.eye(3))

    def program(x: Any) -> Any:
        h = tf.zeros((tf.shape(x)[0], 3))
        return tf.while_loop(lambda t, h: t < 2, lambda t, h: (t + 1, x[:, t] @ w + h), (0, h))[1]

    x = np.ones((4, 2, 3), "float32")
    net = na.trace_graph(program, tf.constant(x), dynamic={"x": {0: "batch"}}).to_torch_module()
    with torch.autocast("cpu", torch.bfloat16):
        y = net(torch.ones(5, 2, 3))
    np.testing.assert_array_equal(y.detach().float(), np.full((5, 3), 2))


class _Blocks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear, self.first = nn.Linear(3, 4), nn.BatchNorm1d(4)
        self.second = nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(self.linear(x)).relu())


def test_submodules_of_pytorch_are_in_evaluation_by_themselves() -> None:
    source, x = _Blocks(), torch.randn(8, 3)
    source(x + 1)
    native = na.to_module(source, x).to_torch_module()
    compiled = torch.compile(native, fullgraph=True, backend="eager")
    for net in (source, native):
        net.train().first.eval()
    _close(compiled(x).detach(), source(x).detach())
    _close(native(x).detach(), source(x).detach())
    for name, value in source.state_dict().items():
        _close(native.state_dict()[name], value)
    source.first.train(), native.first.train()
    _close(compiled(x).detach(), source(x).detach())
    _close(native.first.running_mean, source.first.running_mean)


@pytest.mark.parametrize("form", FORMS)
def test_modules_of_flax_nnx_draw_from_the_generator_of_their_library(form: str) -> None:
    source = nnx.Dropout(0.5, rngs=nnx.Rngs(0))
    native = FORMS[form](na.to_module(source, jax.numpy.ones(64)))
    x = na.ones(64, dtype="float32", like=na.random.key(0, backend=native.backend))
    (first, state), (second, _) = native.train((x,), {}), native.train((x,), {})
    assert not state
    assert 0 < (host(first) == 0).sum() < 64
    is_keyed = form in ("linen", "haiku", "equinox")  # which take the same key here
    assert np.array_equal(host(first), host(second)) == is_keyed


@pytest.mark.parametrize("form", ["to_flax_module", "to_equinox_module"])
def test_modules_of_a_graph_have_one_structure_and_hold_the_arrays_once(form: str) -> None:
    graph = na.trace_graph(nn.Linear(37, 41), torch.ones(2, 37))
    first, second = getattr(graph, form)(), getattr(graph, form)()
    total = jax.tree.map(lambda a, b: a + b, first, second)
    weights = [jax.tree.leaves(net)[-1] for net in (first, second, total)]
    np.testing.assert_array_equal(weights[2], 2 * weights[0])
    gc.collect()
    assert len([x for x in jax.live_arrays() if x.shape == (41, 37)]) == 3


class _Attending(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.attention = nnx.MultiHeadAttention(2, 4, rngs=rngs, decode=False)
        self.linear = nnx.Linear(4, 3, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.linear(x + self.attention(x))


def test_torch_modules_have_no_calls_that_only_reshape_biases() -> None:
    x = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(2, 3, 4)
    source = _Attending(nnx.Rngs(0))
    module = na.to_module(source, jax.numpy.asarray(x)).to_torch_module()
    graph = next(iter(module._program.graphs.values()))
    names = [call.target_name for call in graph.calls]
    assert "na.reshape" not in names
    np.testing.assert_allclose(
        module(torch.tensor(x)).detach(), source(jax.numpy.asarray(x)), atol=1e-5
    )

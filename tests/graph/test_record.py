"""Graphs of Python code over `na`: recording, replaying, moving, what cannot be recorded."""

from __future__ import annotations

import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tensorflow as tf
import torch

import nestarray as na
from nestarray import errors, nn
from tests.arrays import host, on
from tests.graph.networks import ConvNet

BACKENDS = ("numpy", "jax", "torch", "tensorflow")
X = np.arange(6, dtype="float32").reshape(2, 3) - 2


class Net(nn.Module):
    """Convolution, batch normalization, dropout, attention: state and random numbers."""

    def __init__(self) -> None:
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm(4)
        self.drop = nn.Dropout(0.3)
        self.attention = nn.MultiHeadAttention(8, 2)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        y = self.drop(na.relu(self.norm(self.conv(x))))
        y = self.attention(na.reshape(y, (y.shape[0], -1, 8)))
        return {"logits": self.head(y[:, 0]), "mean": [na.mean(y)]}


@pytest.fixture(scope="module")
def net() -> Net:
    return Net().init(na.random.key(0, backend="jax"))


@pytest.fixture(scope="module")
def images():
    return na.random.normal(na.random.key(1, backend="jax"), (2, 1, 8, 8))


def test_the_graph_reads_as_the_code_that_was_recorded():
    weight = np.ones((3, 2), "float32")
    graph = na.trace_graph(lambda x, scale=2.0: na.softmax(x @ weight, axis=0) * scale, X, scale=3)
    assert str(graph) == (
        "import nestarray as na\n\n\n"
        "def graph(x, *, v, s, constants, key=None):  # float32[2, 3]\n"
        "    matmul = na.matmul(x, constants['c0'])  # float32[2, 2]\n"
        "    softmax = na.softmax(matmul, axis=0)  # float32[2, 2]\n"
        "    multiply = na.multiply(softmax, 3)  # float32[2, 2]\n"
        "    return multiply\n"
    )
    assert graph.calls[0].line.startswith("test_record.py:")


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_function_of_containers_moves_to_any_backend(backend):
    def fn(c, index):
        y = c["a"][None, ..., ::-1] + index.T[0, 0] - 1
        return {"y": na.concat([y, -y]), "b": c["b"], "n": y.shape[-1]}, (na.sum(c["a"]) < 3)

    c, index = na.Container(a=X, b=[X, X + 1]), np.ones((2, 2), "int64")
    graph = na.trace_graph(fn, c, index).to_backend(backend)
    out, flag = graph(c.to_backend(backend), na.to_backend(index, backend))
    expected, expected_flag = fn(c, index)
    host = lambda x: np.asarray(na.to_backend(x, "numpy"))  # noqa: E731
    np.testing.assert_array_equal(host(out["y"]), expected["y"])
    np.testing.assert_array_equal(host(out["b"][1]), X + 1)
    assert isinstance(out, na.Container)
    assert out["n"] == 3
    assert bool(host(flag)) == bool(expected_flag)


def test_what_nothing_uses_is_left_out():
    unused = np.ones(3, "float32")

    def fn(x):
        na.exp(x + unused)
        return na.svd(x)[1]

    graph = na.trace_graph(fn, X)
    assert [node.target_name for node in graph.calls] == ["na.svd", "getitem"]
    assert graph.constants.paths() == ()


@pytest.mark.one_in(6)
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
@pytest.mark.parametrize("train", [False, True])
def test_a_module_agrees_with_its_graph_on_every_backend(net, images, backend, train):
    graph = na.trace_graph(net, images, train=train).to_backend(backend)
    assert graph.v.paths() == net.v.paths()
    report = graph.verify()
    assert report.ok, str(report)
    assert len(report.gradients) == len(net.v.leaves())
    assert len(report.state) == (3 if train else 0)


def test_a_training_graph_draws_what_the_module_draws(net, images):
    graph = na.trace_graph(net, images, train=True)
    key, other = na.random.key(5, backend="jax"), na.random.key(6, backend="jax")
    out, s = graph(images, key=key)
    expected, expected_s = net(images, train=True, key=key)
    np.testing.assert_allclose(out["logits"], expected["logits"], rtol=1e-6)
    np.testing.assert_array_equal(s["norm/running_mean"], expected_s["norm/running_mean"])
    assert float(na.max(na.abs(graph(images, key=other)[0]["logits"] - out["logits"]))) > 1e-3
    with pytest.raises(errors.ArgumentError, match="this graph draws random numbers"):
        graph(images)


def test_nodes_name_the_layer_and_the_line(net, images):
    graph = na.trace_graph(net, images)
    (head,) = [n for n in graph.calls if n.module == "head"]
    assert head.target is na.linear
    assert head.line.startswith("test_record.py:")


def test_a_recorded_graph_compiles_pickles_and_takes_other_variables(net, images):
    graph = na.trace_graph(net, images)
    expected = net(images, v=net.v * 0.5)["logits"]
    for other in (graph.compile(), pickle.loads(pickle.dumps(graph))):
        np.testing.assert_allclose(
            other(images, v=graph.v * 0.5)["logits"], expected, rtol=1e-5, atol=1e-7
        )


def test_a_torch_network_records_as_functions_of_na():
    torch.manual_seed(0)
    images = torch.randn(2, 1, 8, 8)
    module = na.to_module(ConvNet(), images)
    graph = na.trace_graph(
        nn.Sequential(module, na.relu).init(na.random.key(0, like=images)), images
    )
    assert {n.target_name.partition(".")[0] for n in graph.calls} == {"na"}
    report = graph.to_backend("jax").verify()
    assert report.ok, str(report)


def test_jit_inside_a_recording_records_what_it_does():
    graph = na.trace_graph(na.jit(lambda x: na.exp(x)), X)
    assert [n.target_name for n in graph.calls] == ["na.exp"]


def test_numpy_and_jax_scalars_and_dtypes_of_a_framework_are_recorded():
    graph = na.trace_graph(lambda x: na.astype(x * np.float32(2), jnp.int32), jnp.asarray(X))
    assert graph.calls[-1].args[1] is na.int32
    np.testing.assert_array_equal(graph.to_backend("numpy")(X), (X * 2).astype("int32"))


VALUES = "the code needs the values of an array"


@pytest.mark.parametrize(
    ("fn", "error", "text"),
    [
        (lambda x: X[na.abs(x)], errors.ConversionError, VALUES),
        (lambda x: na.fori_loop(0, 2, lambda i, c: c if na.sum(c) > 0 else -c, x),
         errors.ConversionError, VALUES),
        (lambda x: x if x > 0 else -x, ValueError, "truth value of an array"),
        (lambda x: torch.sin(x), errors.ConversionError, "a function of another library"),
        (lambda x: jnp.sin(x), errors.ConversionError, "a function of another library"),
        (lambda x: na.abs(x).relu(), AttributeError, r"no attribute 'relu'; use na\.relu\(x, \.\.\.\)"),
        (lambda x: object(), errors.ConversionError, "output: got object, which a graph cannot"),
        (lambda x: na.grad(na.sum)(x), errors.UnsupportedError, "derivatives cannot be recorded"),
    ],
)  # fmt: skip
def test_what_cannot_be_recorded_says_what_to_do(fn, error, text):
    with pytest.raises(error, match=text):
        na.trace_graph(fn, X)


def test_errors_name_the_line_of_the_code():
    with pytest.raises(errors.ConversionError, match=r"trace_graph: test_record\.py:\d+: the code"):
        na.trace_graph(lambda x: np.asarray(na.any(x > 0)), on("torch", X))


@pytest.mark.parametrize("backend", BACKENDS)
def test_values_that_code_reads_are_assumptions(backend):
    def fn(x):
        y = x if na.sum(x) > 0 else -x
        return y * float(na.max(x)) * [1, 2][int(na.argmax(x, axis=None)) > 3]

    x = on(backend, X)
    graph = na.trace_graph(fn, x)
    assert [each.use for each in graph.assumptions] == ["bool", "float", "int"]
    assert graph.assumptions[0].text == "y = x if na.sum(x) > 0 else -x"
    assert "greater = na.greater(sum, 0)  # bool[] · assumed bool: True" in str(graph)
    np.testing.assert_array_equal(host(graph(x)), host(fn(x)))
    with pytest.raises(errors.AssumptionError, match=r"test_record.py:\d+: `y = x if na.sum"):
        graph(x - 10)


class Mixed(nn.Module):
    """A layer, and functions and methods of the framework."""

    def __init__(self, function) -> None:
        self.layer, self.function = nn.Linear(3, 2), function

    def forward(self, x):
        return self.function(self.layer(x))


NATIVE = {
    "numpy": lambda y: np.maximum(np.sin(y), 0.1) + y.sum(axis=-1, keepdims=True) * np.ones(2, "f4"),
    "torch": lambda y: torch.nn.functional.relu(torch.sin(y)).view(-1) + torch.ones(4) * y.sum(dim=0)[0],
    "tensorflow": lambda y: tf.concat([tf.nn.relu(tf.sin(y)), tf.constant([[1.0, 1.0]]) * y], 0),
    "jax": lambda y: y.sum(axis=-1, keepdims=True) + y.astype("float32"),
}  # fmt: skip


def test_transformations_of_frameworks_check_assumptions_where_values_are_known():
    graph = na.trace_graph(lambda x: x if na.sum(x) > 0 else -x, on("torch", X))
    x, moved = on("torch", X), graph.to_backend("jax")
    with pytest.raises(errors.AssumptionError, match="give False"):
        torch.func.grad(lambda x: na.sum(graph(x)))(-x)
    with pytest.raises(errors.AssumptionError, match="give False"):
        jax.grad(lambda x: na.sum(moved(x)))(-jnp.asarray(X))
    assert torch.func.vmap(lambda row: graph(row.expand(2, 3)))(-x).shape == (2, 2, 3)
    assert jax.jit(lambda x: moved(x))(-jnp.asarray(X)).shape == (2, 3)


@pytest.mark.parametrize("backend", NATIVE)
def test_native_calls_in_modules_of_na_are_recorded(backend):
    model = Mixed(NATIVE[backend]).init(na.random.key(0, backend=backend))
    graph = na.trace_graph(model, on(backend, X))
    assert {node.target_name.partition(".")[0] for node in graph.calls} == {"na"}
    graph.verify().raise_if_failed()
    moved = graph.to_backend("torch")
    np.testing.assert_allclose(
        host(moved(on("torch", X + 1))), host(model(on(backend, X + 1))), rtol=1e-5
    )


def test_layers_of_torch_in_modules_of_na_are_refused():
    model = Mixed(torch.nn.Linear(2, 2)).init(na.random.key(0, backend="torch"))
    with pytest.raises(errors.ConversionError, match=r"parameters would be constants; .*to_module"):
        na.trace_graph(model, on("torch", X))


def test_index_of_a_traced_array_into_a_constant(backend):
    table = on(backend, np.asarray([3.0, 1.0, 2.0], "float32"))
    graph = na.trace_graph(
        lambda i: na.getitem(table, (na.add(i, 1),)), on(backend, np.asarray([0, 1]))
    )
    assert [node.target_name for node in graph.calls] == ["na.add", "na.getitem"]
    assert graph.verify().ok


def test_writing_into_an_array_names_setitem():
    def fn(x):
        x = na.abs(x)
        x[0] = 1.0
        return x

    with pytest.raises(errors.ImmutableError, match=r"use x = na\.setitem\(x, index, value\)"):
        na.trace_graph(fn, on("torch", X))


def test_arrays_of_an_ended_recording_are_refused():
    kept = []

    def leak(x):
        kept.append(na.exp(x))
        return x

    na.trace_graph(leak, X)
    with pytest.raises(errors.ConversionError, match="a recording that has ended"):
        na.exp(kept[0])
    with pytest.raises(errors.ConversionError, match="a recording that has ended"):
        na.trace_graph(lambda x: x + kept[0], X)


def test_arguments_that_do_not_fit():
    with pytest.raises(errors.ArgumentError, match="there is no array among the arguments"):
        na.trace_graph(lambda x: x, 2.0)
    with pytest.raises(errors.ArgumentError, match="train=True is for modules"):
        na.trace_graph(na.relu, X, train=True)
    graph = na.trace_graph(na.relu, X)
    with pytest.raises(errors.ShapeError, match=r"argument 'x': got shape \(3, 2\)"):
        graph(X.T)

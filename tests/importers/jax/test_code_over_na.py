"""Code over `na` that calls JAX, which JAX traces: modules of nestarray, and functions."""

import threading

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na
from nestarray import errors, nn
from tests.arrays import host, on

X = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
KEY = na.random.key(0, backend="jax")


@jax.jit
def gated(x):
    return jnp.tanh(x) * x


@jax.custom_vjp
def clipped(x):
    return x


clipped.defvjp(lambda x: (x, None), lambda _, gradient: (jnp.clip(gradient, -0.1, 0.1),))


class Module(nn.Module):
    """A layer, and a function of it and an input."""

    def __init__(self, function) -> None:
        self.layer, self.function = nn.Linear(3, 3), function

    def forward(self, x):
        return self.function(self.layer, x)


class Network(nn.Module):
    """State, dropout, and calls of JAX between layers."""

    def __init__(self) -> None:
        self.blocks = [nn.Linear(3, 4), nn.Linear(4, 4)]
        self.norm, self.dropout = nn.BatchNorm(4), nn.Dropout(0.5)

    def forward(self, x, *, scale=1.0):
        for block in self.blocks:
            x = jnp.sin(block(x)) * scale
        return jax.nn.log_softmax(self.dropout(self.norm(x)))


def residual(layer, x):
    """The residual of a differential equation."""

    def u(row):
        return jnp.sum(jnp.tanh(layer(row)))

    return (
        jax.vmap(jax.grad(u))(x) + jax.vmap(lambda row: jnp.trace(jax.hessian(u)(row)))(x)[:, None]
    )


FUNCTIONS = {
    "jit": lambda layer, x: gated(layer(x)),
    "vmap": lambda layer, x: jax.vmap(lambda row: na.relu(layer(row)).sum())(x),
    "grad": residual,
    "scan": lambda layer, x: jax.lax.scan(
        lambda c, row: (c := jnp.tanh(layer(c + row)), c), jnp.zeros(3), x
    ),
    "cond": lambda layer, x: jax.lax.cond(jnp.sum(x) > 0, lambda x: layer(x), jnp.negative, x),
    "loop of na": lambda layer, x: na.fori_loop(0, 2, lambda i, c: jnp.sin(layer(c)), x),
    "custom_vjp": lambda layer, x: clipped(layer(x) * 10),
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_modules_with_transformations_and_control_flow_of_jax(function):
    model, x = Module(function).init(KEY), on("jax", X)
    graph = na.trace_graph(model, x)
    assert graph.backend == "jax"
    assert graph.v.paths() == model.v.paths()
    moved = graph.to_backend("torch")
    moved.verify().raise_if_failed()
    want, got = na.tree.leaves(model(x + 1)), na.tree.leaves(moved(on("torch", X + 1)))
    for x, y in zip(got, want, strict=True):
        np.testing.assert_allclose(host(x), host(y), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("train", [False, True])
def test_state_keys_and_modes_of_modules_that_call_jax(train):
    model, x = Network().init(KEY), on("jax", X)
    settings = {"train": True, "key": na.random.key(3, backend="jax")} if train else {}
    graph = na.trace_graph(model, x, scale=2.0, **({"train": True} if train else {}))
    assert {"blocks/0", "blocks/1", "norm"} <= {node.module for node in graph.calls}
    assert all(node.line.startswith("test_code_over_na.py:") for node in graph.calls if node.line)
    graph.lower().to_backend("torch").verify().raise_if_failed()
    moved = graph.to_backend("torch")
    keys = {"key": on("torch", host(settings["key"]))} if train else {}
    got, want = moved(on("torch", X), **keys), model(x, scale=2.0, **settings)
    if train:
        (got, new), (want, state) = got, want
        assert new.paths() == state.paths()
        for path in state.paths():
            np.testing.assert_allclose(host(new[path]), host(state[path]), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(host(got), host(want), rtol=1e-4, atol=1e-5)


def test_calls_of_ops_stay_calls_of_ops():
    def function(layer, x):
        halves = na.split(jnp.sin(layer(x)), [1, 2], axis=1)
        return na.relu(halves[0]) * gated(na.softmax(x, axis=0)[:, :1]) + jax.grad(na.sum)(x)[:, :1]

    graph = na.trace_graph(Module(function).init(KEY), on("jax", X))
    assert "na." not in str(jax.make_jaxpr(na.relu)(on("jax", X)))  # as before the trace
    names = [node.target_name for node in graph.calls if node.target_name.startswith("na.")]
    assert names == ["na.linear", "na.split", "na.relu", "na.softmax"]
    graph.to_backend("torch").verify().raise_if_failed()


def test_other_threads_run_ops_while_jax_traces():
    found = []

    def function(layer, x):
        thread = threading.Thread(target=lambda: found.append(jax.jit(na.relu)(on("jax", X))))
        thread.start()
        thread.join()
        return jnp.sin(layer(x))

    na.trace_graph(Module(function).init(KEY), on("jax", X))
    for result in found:
        np.testing.assert_array_equal(host(result), np.maximum(X, 0))
    assert found


@pytest.mark.full
def test_source_of_modules_that_call_jax(tmp_path):
    graph = na.trace_graph(Network().init(KEY), on("jax", X), train=True)
    graph.eject(tmp_path / "net", "torch")
    text = (tmp_path / "net" / "model.py").read_text()
    assert "nn.Linear(3, 4)" in text
    assert "nn.BatchNorm1d(4)" in text
    assert "ropout" in text


class Perceptron(nn.Module):
    """Layers whose calls and derivatives alternate."""

    def __init__(self) -> None:
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 1)

    def forward(self, x):
        return self.last(na.tanh(self.first(x)))


class PerceptronOfEquinox(eqx.Module):
    """The second derivative of layers in a list."""

    layers: eqx.nn.MLP

    def __call__(self, x):
        return jax.vmap(jax.hessian(lambda row: jnp.sum(self.layers(row))))(x)


@pytest.mark.full
@pytest.mark.parametrize("target", ["torch", "jax"])
def test_source_of_derivatives_of_modules(target, tmp_path):
    model = Module(lambda layer, x: layer(x) + residual(layer, x))
    model.layer = Perceptron()
    na.trace_graph(model.init(KEY), on("jax", X)).eject(tmp_path / "residual", target)
    layers = eqx.nn.MLP(3, 1, 4, 2, activation=jnp.tanh, key=jax.random.key(0))
    graph = na.trace_graph(PerceptronOfEquinox(layers), on("jax", X))
    graph.eject(tmp_path / "hessian", target)


def test_open_sizes_of_modules_that_call_jax():
    model = Module(lambda layer, x: jnp.concatenate([layer(x), jnp.zeros((x.shape[0], 1))], 1))
    model = model.init(KEY)
    graph = na.trace_graph(model, on("jax", X), dynamic={"x": {0: "batch"}})
    found = graph.to_backend("torch")(on("torch", X[:2]))
    np.testing.assert_allclose(host(found), host(model(on("jax", X[:2]))), rtol=1e-5)


def test_layers_of_modules_that_call_jax():
    layer = na.to_module(Network().init(KEY), on("jax", X)).to_backend("torch")
    out, state = layer(on("torch", X), train=True, key=na.random.key(1, backend="torch"))
    assert out.shape == (5, 4)
    assert int(state["norm/num_batches_tracked"]) == 1


def test_functions_of_modules_that_call_jax():
    model = Network().init(KEY)
    graph = na.trace_graph(lambda x, v, s: model(x, v=v, s=s), on("jax", X), model.v, model.s)
    moved = graph.to_backend("torch")
    v, s = model.v.to_backend("torch"), model.s.to_backend("torch")
    np.testing.assert_allclose(
        host(moved(on("torch", X), v, s)), host(model(on("jax", X))), rtol=1e-5, atol=1e-6
    )
    graph = na.trace_graph(lambda x: jnp.sin(x) + na.cos(x) * x.sum(), on("jax", X))
    found = host(graph.to_backend("torch")(on("torch", X)))
    np.testing.assert_allclose(found, np.sin(X) + np.cos(X) * X.sum(), rtol=1e-5)


def test_choices_by_value_beside_calls_of_jax_are_refused():
    model = Module(lambda layer, x: jnp.sin(layer(x)) if jnp.sum(x) > 0 else x).init(KEY)
    with pytest.raises(
        errors.ConversionError, match=r"test_code_over_na\.py:\d+\) .*jax\.lax\.cond"
    ):
        na.trace_graph(model, on("jax", X))


def test_operations_that_jax_alone_has_are_listed_under_jax():
    def function(layer, x):
        return jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct(x.shape, x.dtype), layer(x))

    report = na.check(Module(function).init(KEY), on("jax", X), target="torch")
    assert report.framework == "jax"
    assert [op.status for op in report.operations if op.name == "pure_callback"] == ["island"]

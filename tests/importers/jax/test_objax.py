"""Models of Objax, where it is installed: outputs, gradients and state, against Objax.

Objax is not a dependency of the tests: its last version trains only with JAX before 0.10.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import nestarray as na

# not in the extra: it brings TensorBoard, and assigns by a class that JAX has removed
pytestmark = pytest.mark.skipif(
    find_spec("objax") is None, reason="Objax is not installed: https://github.com/google/objax"
)
IMAGES = jax.random.normal(jax.random.key(0), (2, 3, 8, 8))
ROWS = jax.random.normal(jax.random.key(1), (4, 3))


@pytest.fixture
def objax() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of TensorBoard, which it imports
        import objax
    return objax


def convolutions(objax: Any) -> Any:
    nn = objax.nn

    class Net(objax.Module):
        def __init__(self) -> None:
            self.layers = nn.Sequential(
                [
                    nn.Conv2D(3, 4, 3, use_bias=False),
                    nn.BatchNorm2D(4),
                    objax.functional.relu,
                    nn.Dropout(0.5, generator=objax.random.Generator(3)),
                    nn.ConvTranspose2D(4, 4, 3, strides=2),
                    nn.GroupNorm2D(4, 2),
                ]
            )
            self.head = nn.Linear(4, 2)

        def __call__(self, x: Any, training: bool) -> Any:
            return self.head(self.layers(x, training=training).mean((2, 3)))

    return Net()


def values(module: Any) -> dict[str, Any]:
    return {name: np.asarray(x.value) for name, x in module.vars().items()}


@pytest.mark.parametrize(
    "backend",
    ["torch", *[pytest.param(b, marks=pytest.mark.full) for b in ("tensorflow", "numpy")]],
)
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_module(objax: Any, train: bool, backend: str) -> None:
    net = convolutions(objax)
    before = values(net)
    graph = na.trace_graph(net, IMAGES, train=train)
    report = graph.to_backend(backend).verify()
    assert report.ok, str(report)
    assert len(report.gradients) == len(net.vars().subset(objax.TrainVar))
    assert len(report.state) == (3 if train else 0)
    assert {*graph.v.keys(), *graph.s.keys()} == before.keys()
    assert {"layers/0", "layers/4", "head"} <= {n.module for n in graph.calls}
    for name, x in values(net).items():
        np.testing.assert_array_equal(x, before[name])


def test_training_changes_the_module_as_objax_does(objax: Any) -> None:
    net = convolutions(objax)
    output, new = na.trace_graph(net, IMAGES, train=True)(IMAGES)
    np.testing.assert_allclose(net(IMAGES, training=True), output, rtol=1e-5, atol=1e-5)
    after = values(net)
    for name, x in new.items():
        np.testing.assert_allclose(after[name], x, rtol=1e-5, atol=1e-6, err_msg=name)


def test_parameters_return_by_name(objax: Any) -> None:
    net = convolutions(objax)
    graph = na.trace_graph(net, IMAGES)
    v = (graph.v.to_backend("torch") * 0.5).to_backend("jax")
    for name, variable in net.vars().subset(objax.TrainVar).items():
        variable.assign(v[name], check=False)
    np.testing.assert_allclose(graph(IMAGES, v=v), net(IMAGES, training=False), rtol=1e-5)


def test_variables_with_two_names_are_one(objax: Any) -> None:
    layer = objax.nn.Linear(3, 3)
    graph = na.trace_graph(objax.nn.Sequential([layer, jnp.tanh, layer]), ROWS)
    assert graph.v.paths() == ("(Sequential)[0](Linear).b", "(Sequential)[0](Linear).w")
    assert graph.to_backend("numpy").verify().ok


def test_functions_with_variables(objax: Any) -> None:
    net = objax.nn.Sequential([objax.nn.Linear(3, 2), objax.nn.BatchNorm0D(2)])
    before = values(net)

    def loss(x: Any) -> Any:
        return (net(x, training=True) ** 2).mean()

    declared = na.trace_graph(objax.Function(loss, net.vars()), ROWS)
    assert {*declared.v.keys(), *declared.s.keys()} == {f"{{loss}}{name}" for name in before}
    closed = na.trace_graph(loss, ROWS)
    assert {*closed.v.paths(), *closed.s.paths()} == {f"net/{name}" for name in before}
    for graph in (declared, closed):
        report = graph.to_backend("numpy").verify()
        assert report.ok, str(report)
        assert len(report.gradients) == 4
        assert len(report.state) == 2
    for name, x in values(net).items():
        np.testing.assert_array_equal(x, before[name])


def test_parameters_that_an_optimizer_writes_are_state(objax: Any) -> None:
    net = objax.nn.Linear(3, 2)

    class Descent(objax.Module):
        def __init__(self) -> None:
            self.net = net
            self.refs = objax.ModuleList(objax.TrainRef(x) for x in net.vars())

        def __call__(self, x: Any) -> Any:
            loss = (self.net(x) ** 2).mean()
            for ref in self.refs:
                ref.ref.assign(0.9 * ref.value, check=False)
            return loss

    graph = na.trace_graph(Descent(), ROWS)
    assert not graph.v.leaves()
    assert len(graph.state_updates) == len(graph.s.leaves()) == 2
    assert graph.to_backend("numpy").verify().ok

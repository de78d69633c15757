"""`to_module`: a torch network with the conventions of our own modules."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import optax
import pytest
import torch

import nestarray as na
from nestarray import errors, nn
from tests.graph.networks import ConvNet


@pytest.fixture(scope="module")
def net() -> ConvNet:
    torch.manual_seed(0)
    return ConvNet()


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    return torch.randn(4, 1, 8, 8, generator=torch.Generator().manual_seed(1))


def _host(x):
    return np.asarray(na.to_backend(x, "numpy"))


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_evaluation_is_the_networks(net, images, backend):
    module = na.to_module(net, images).to_backend(backend)
    with torch.no_grad():
        expected = copy.deepcopy(net).eval()(images)
    out = module(na.to_backend(images, backend))
    np.testing.assert_allclose(_host(out), expected.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("backend", ["jax", "tensorflow"])
def test_training_returns_the_state_and_changes_nothing(net, images, backend):
    module = na.to_module(net, images).to_backend(backend)
    x = na.to_backend(images, backend)
    with na.use_backend(backend):
        key = na.random.key(0)
    before = module.s
    _, s = module(x, train=True, key=key)
    assert module.s is before
    assert int(_host(s["norm/num_batches_tracked"])) == 1
    trained = module.with_variables(module.v, s)
    assert np.abs(_host(trained(x)) - _host(module(x))).max() > 1e-4
    with pytest.raises(errors.ArgumentError, match="needs one for its random operations"):
        module(x, train=True)
    assert module.verify(train=True).ok


def test_optax_trains_it_and_torch_takes_the_result_back(net, images):
    module = na.to_module(net, images).to_backend("jax")
    x = na.to_backend(images, "jax")
    target = np.eye(10, dtype="float32")[[1, 2, 3, 4]]
    target = na.to_backend(target, "jax")
    optimizer = optax.adam(1e-2)
    v, state = module.v, optimizer.init(module.v)

    def loss_fn(v):
        return na.mean((module(x, v=v) - target) ** 2)

    losses = []
    for _ in range(20):
        loss, grads = na.execute_with_gradients(loss_fn, v)
        updates, state = optimizer.update(grads, state, v)
        v = optax.apply_updates(v, updates)
        losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]

    trained = copy.deepcopy(net)
    na.load_into_torch_module(v, trained)
    with torch.no_grad():
        got = trained.eval()(images).numpy()
    np.testing.assert_allclose(got, _host(module(x, v=v)), rtol=1e-4, atol=1e-5)


def test_it_stands_among_other_layers(net, images):
    model = nn.Sequential(na.to_module(net, images), nn.Linear(10, 2))
    with na.use_backend("jax"):
        model = model.init(na.random.key(0))
    x = na.to_backend(images, "jax")
    assert model(x).shape == (4, 2)
    np.testing.assert_array_equal(_host(model.v["0/conv/weight"]), net.conv.weight.detach().numpy())
    _, grads = na.execute_with_gradients(lambda v: na.mean(model(x, v=v) ** 2), model.v)
    assert float(na.max(na.abs(grads["0/conv/weight"]))) > 0


def test_pickling_keeps_what_was_traced(net, images):
    module = na.to_module(net, images).to_backend("numpy")
    loaded = pickle.loads(pickle.dumps(module))
    x = images.numpy()
    np.testing.assert_array_equal(loaded(x), module(x))
    with pytest.raises(errors.ConversionError, match=r"read module\.training_graph once"):
        loaded(x, train=True, key=na.random.key(0))


def test_repr(net, images):
    module = na.to_module(net, images).to_backend("jax")
    assert repr(module) == "GraphModule(ConvNet, jax: 7 calls, 6 parameters, 3 state arrays)"


def test_wrong_variables(net, images):
    module = na.to_module(net, images)
    with pytest.raises(errors.StructureError, match="lacks 'fc/bias'"):
        module(images, v=module.v.delete("fc/bias"))
    with pytest.raises(
        errors.ShapeError, match=r"'fc/bias': got the shape \(3,\), expected \(10,\)"
    ):
        module.with_variables(module.v.set("fc/bias", torch.zeros(3)))

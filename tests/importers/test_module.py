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
from nestarray.backends import core
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


@pytest.mark.full
@pytest.mark.release
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
    assert repr(module) == "GraphModule(ConvNet, jax: 6 calls, 6 parameters, 3 state arrays)"


def test_wrong_variables(net, images):
    module = na.to_module(net, images)
    with pytest.raises(errors.StructureError, match="lacks 'fc/bias'"):
        module(images, v=module.v.delete("fc/bias"))
    with pytest.raises(
        errors.ShapeError, match=r"'fc/bias': got the shape \(3,\), expected \(10,\)"
    ):
        module.with_variables(module.v.set("fc/bias", torch.zeros(3)))


class Scale(torch.nn.Module):
    """A parameter, a buffer or a layer of the given name."""

    def __init__(self, name: str, kind: str) -> None:
        super().__init__()
        self.name, self.kind = name, kind
        value = torch.nn.Parameter(torch.full((3,), 2.0))
        if kind == "parameter":
            self.register_parameter(name, value)
        elif kind == "buffer":
            self.register_buffer(name, value.detach())
        else:
            layer = torch.nn.Linear(3, 3)
            torch.nn.init.ones_(layer.weight)
            torch.nn.init.zeros_(layer.bias)
            self.add_module(name, layer)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        part = getattr(self, self.name)
        if self.kind == "buffer":
            part.add_(1)
        return part(x) if self.kind == "module" else x * part


# attributes of Module and Container, names of the printed program, keywords, digits, other scripts
NAMES = (
    *("v", "s", "init", "graph", "verify", "summary", "to_backend", "states", "items", "paths"),
    *("_w", "_v", "_source", "_graphs", "self", "key", "constants", "na", "class", "lambda"),
    *("slice", "0", "1a", "a b", "größe", "名", "ﬁ", "x²"),
)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("kind", ["parameter", "buffer", "module"])
@pytest.mark.parametrize("name", NAMES)
def test_names_of_variables_are_free(name, kind):
    x = torch.arange(12.0).reshape(4, 3)
    module = na.to_module(Scale(name, kind), x).to_backend("numpy")
    assert module.v.paths() + module.s.paths() == (
        (f"{name}/weight", f"{name}/bias") if kind == "module" else (name,)
    )
    for train in (False, True):
        assert module.verify(train=train).ok
    expected = Scale(name, kind)
    expected.load_state_dict(module.to_torch_state_dict())
    out, s = module(x.numpy(), train=True)
    np.testing.assert_allclose(out, expected(x).detach().numpy(), rtol=1e-6)
    for path, new in s.flat_items():
        np.testing.assert_array_equal(new, expected.get_buffer(path).numpy())
    np.testing.assert_allclose(module(x.numpy()), out, rtol=1e-6)


def test_keys_of_arguments_are_free():
    net = torch.nn.Linear(3, 3)
    net.forward = lambda x: x["ﬁ"] * net.weight + x["fi"] - x["x²"] + x["class"]
    x = {name: torch.full((3, 3), float(i)) for i, name in enumerate(["ﬁ", "fi", "x²", "class"])}
    module = na.to_module(net, x)
    np.testing.assert_array_equal(module(x), net(x).detach())


def test_a_copy_takes_other_variables(net, images):
    module = na.to_module(net, images).to_backend("numpy")
    x = images.numpy()
    module(x)  # fills caches
    copied = module.with_variables(module.v)
    zeros = module.v * 0
    np.testing.assert_array_equal(copied(x, v=zeros), module(x, v=zeros))
    assert np.abs(copied(x) - copied(x, v=zeros)).max() > 0


def _addresses(c: na.Container) -> list[int | None]:
    return [core(na.backend_of(x)).address(x) for x in c.leaves()]


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_later_training_of_the_source_changes_nothing(net, images, backend):
    source = copy.deepcopy(net)
    graphs = [
        na.trace_graph(source, images).to_backend(backend),
        na.trace_graph(source, images, train=True).to_backend(backend),
        na.to_module(source, images).to_backend(backend).graph,
        na.to_module(source, images).to_backend(backend).training_graph,
    ]
    variables = [c for graph in graphs for c in (graph.v, graph.s, graph.constants)]
    own = {x.data_ptr() for x in (*source.parameters(), *source.buffers())}
    assert all(own.isdisjoint(_addresses(c)) for c in variables)
    before = [[_host(x).copy() for x in c.leaves()] for c in variables]
    with torch.no_grad():
        for x in (*source.parameters(), *source.buffers()):
            x.add_(1)
    for c, values in zip(variables, before, strict=True):
        for x, value in zip(c.leaves(), values, strict=True):
            np.testing.assert_array_equal(_host(x), value)


def test_memory_is_shared_on_request(net, images):
    source = copy.deepcopy(net).eval()
    own = [x.data_ptr() for x in source.parameters()]
    graph = na.trace_graph(source, images)
    for backend in ("numpy", "torch"):
        assert _addresses(graph.to_backend(backend, copy=None).v) == own
        assert _addresses(graph.to_backend(backend, copy=False).v) == own
    assert _addresses(na.to_module(source, images, copy=False).v) == own
    with pytest.raises(errors.ArgumentError, match="copy=False, but moving this array"):
        na.trace_graph(source, images, train=True).to_backend("jax", copy=False)  # int64 → int32


def test_each_variable_is_copied_once(net, images, monkeypatch):
    module = na.to_module(net, images)
    copies = []
    for backend in ("numpy", "jax", "torch", "tensorflow"):
        own = core(backend)
        copied = own.copied
        monkeypatch.setattr(own, "copied", lambda x, f=copied: copies.append(x) or f(x))
    for backend in ("numpy", "jax"):
        assert _addresses(module.to_backend(backend).v) == _addresses(module.v)
    assert copies == []
    graph = na.trace_graph(net, images, train=True)
    graph.to_backend("jax")
    wide = [x for x in graph.s.leaves() if x.dtype == torch.int64]
    assert len(wide) == 1  # JAX copies it to 32 bits
    assert len(copies) == sum(map(na.Container.count, (graph.v, graph.s, graph.constants))) - 1

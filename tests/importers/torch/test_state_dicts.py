"""Weights both ways: trained weights go back into the module, all keys matched."""

from __future__ import annotations

import copy

import jax
import numpy as np
import optax
import pytest
import torch
from torch import nn

import nestarray as na
from nestarray import errors
from tests.graph.agreement import host


class Everything(nn.Module):
    """Tied weights, a parametrization, running statistics, buffers that are not stored."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.body = nn.Sequential(
            nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)),
            nn.BatchNorm1d(4),
            nn.Dropout(0.1),
        )
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight
        self.unused = nn.Linear(2, 2)
        self.unused.bias = nn.Parameter(torch.ones(2), requires_grad=False)
        self.register_buffer("positions", torch.arange(3.0).reshape(3, 1), persistent=False)
        self.register_buffer("kept", torch.ones(4))
        self.register_buffer("same", self.kept)

    def forward(self, ids):
        x = self.embed(ids) + self.positions * self.kept
        return self.head(self.body(x.flatten(0, 1)))


@pytest.fixture(scope="module")
def net() -> Everything:
    torch.manual_seed(0)
    return Everything()


IDS = torch.tensor([[0, 3, 5], [1, 1, 6]])


def test_trained_in_jax_loaded_into_torch(net):
    graph = na.trace_graph(net, IDS, train=True).to_backend("jax")
    assert graph.v.paths() == (
        "embed/weight",
        "body/0/bias",
        "body/0/parametrizations/weight/original0",
        "body/0/parametrizations/weight/original1",
        "body/1/weight",
        "body/1/bias",
        "unused/weight",
        "unused/bias",
    )
    ids, key = na.to_backend(IDS, "jax"), na.random.key(0, backend="jax")
    labels = ids.reshape(-1)
    optimizer = optax.adam(0.05)
    v, s = graph.v, graph.s
    state = optimizer.init(v)

    def loss_fn(v, s):
        out, s = graph(ids, v=v, s=s, key=key)
        return -na.mean(na.take_along_axis(na.log_softmax(out), labels[:, None], axis=1)), s

    @jax.jit
    def step(v, s, state):
        (loss, s), grads = jax.value_and_grad(loss_fn, has_aux=True)(v, s)
        updates, state = optimizer.update(grads, state, v)
        return loss, optax.apply_updates(v, updates), s, state

    losses = []
    for _ in range(5):
        loss, v, s, state = step(v, s, state)
        losses.append(float(loss))
    assert losses[-1] < losses[0]

    trained = copy.deepcopy(net)
    weights = graph.to_torch_state_dict(v, s)
    assert list(weights) == list(net.state_dict())
    trained.load_state_dict(weights, strict=True)
    assert trained.head.weight is trained.embed.weight
    assert int(trained.body[1].num_batches_tracked) == 5
    with torch.no_grad():
        expected = trained.eval()(IDS)
    got = na.trace_graph(net, IDS).to_backend("jax")(ids, v=v, s=s)
    np.testing.assert_allclose(host(got), host(expected), rtol=1e-4, atol=1e-5)

    other = na.load_into_torch_module(v, copy.deepcopy(net))
    assert torch.equal(other.head.weight, trained.head.weight)


@pytest.mark.parametrize("backend", ["numpy", "jax", "torch", "tensorflow"])
def test_untrained_weights_come_back_as_they_were(net, backend):
    weights = na.to_module(net, IDS).to_backend(backend).to_torch_state_dict()
    for name, tensor in net.state_dict().items():
        assert torch.equal(weights.pop(name), tensor), name
    assert not weights


def test_one_name_of_tied_weights_is_enough_and_none_is_not(net):
    v = na.Container.from_torch_module(net)
    assert "head/weight" in v
    before = net.embed.weight.detach().clone()
    na.load_into_torch_module(v.delete("embed/weight"), net)
    assert torch.equal(net.embed.weight, before)
    with pytest.raises(errors.StructureError, match=r"no leaf for 'embed\.weight', 'head\.weight'"):
        na.load_into_torch_module(v.delete("embed/weight").delete("head/weight"), net)


@pytest.mark.parametrize("lists", [False, True])
def test_all_names_of_tied_weights_may_be_given(net, lists):
    graph = na.trace_graph(net, IDS)
    v = na.Container.from_torch_module(net, lists=lists)
    assert set(v.paths()) == {*graph.v.paths(), "head/weight"}
    before = host(graph(IDS))
    np.testing.assert_array_equal(host(graph(IDS, v=v)), before)
    # the one that is read is the graph's own
    np.testing.assert_array_equal(host(graph(IDS, v=v.set("head/weight", 0.0))), before)
    changed = v.set("embed/weight", v["embed/weight"] * 2)
    own = graph.v.set("embed/weight", v["embed/weight"] * 2)
    np.testing.assert_array_equal(host(graph(IDS, v=changed)), host(graph(IDS, v=own)))
    assert list(graph.to_torch_state_dict(v)) == list(net.state_dict())
    for wrong, which in (
        (v.set("other/weight", 0.0), "an unexpected 'other/weight'"),
        (v.set("kept", 0.0), "an unexpected 'kept'"),  # which is of the state
        (v.delete("embed/weight"), "no 'embed/weight'"),
    ):
        with pytest.raises(errors.StructureError, match=f"v has {which}; expected the keys of"):
            graph(IDS, v=wrong)


def test_what_modules_keep_beside_tensors_goes_back(tmp_path):
    class Counted(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc, self.extra = nn.Linear(2, 2), {"steps": 3, "scales": [0.5, 2.0]}

        def get_extra_state(self):
            return self.extra

        def set_extra_state(self, state):
            self.extra = state

        def forward(self, x):
            return self.fc(x)

    first, last = Counted(), nn.Linear(2, 2)
    net = nn.Sequential(first, last)
    graph = na.trace_graph(net, torch.ones(1, 2))
    graph.save(tmp_path / "net.safetensors")
    loaded = na.Graph.load(tmp_path / "net.safetensors", backend="numpy")
    for each in (graph.optimize([]), graph.to_backend("jax"), loaded):
        weights = each.to_torch_state_dict(each.v * 2.0)
        assert list(weights) == list(net.state_dict())
        counted, plain = Counted(), nn.Linear(2, 2)
        counted.extra = {}
        assert not any(nn.Sequential(counted, plain).load_state_dict(weights))
        assert counted.extra == first.extra
        torch.testing.assert_close(plain.weight, last.weight * 2)


def test_what_has_no_torch_names():
    class Own(na.nn.Module):
        def __init__(self) -> None:
            self.fc = na.nn.Linear(2, 2)

        def forward(self, x):
            return self.fc(x)

    graph = na.trace_graph(Own().init(na.random.key(0)), np.ones((1, 2), "float32"))
    with pytest.raises(
        errors.ConversionError,
        match=r"to_torch_state_dict: Own was not traced from a torch module; "
        r"na\.to_torch_state_dict\(v\) names leaves by their paths",
    ):
        graph.to_torch_state_dict()
    graph = na.trace_graph(nn.Linear(2, 2), torch.ones(1, 2))
    with pytest.raises(errors.StructureError, match="v has no 'bias'"):
        graph.to_torch_state_dict(graph.v.delete("bias"))

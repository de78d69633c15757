"""Parameters out of torch modules and back in."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.errors import ArgumentError, ShapeError, StructureError


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(5, 3)
        self.head = torch.nn.Linear(3, 5)
        self.head.weight = self.embed.weight


def network() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.Flatten(), torch.nn.Linear(8, 3)
    )


def test_parameters_are_nested_by_module() -> None:
    net = network()
    v = na.Container.from_torch_module(net)
    assert list(v) == ["0", "1", "3"]
    assert v["3/weight"].shape == (3, 8)
    assert [p for p in v.paths() if "running" in p] == []
    assert v.size == sum(p.numel() for p in net.parameters())
    both = na.Container.from_torch_module(net, buffers=True)
    assert list(both["1"]) == [
        "weight",
        "bias",
        "running_mean",
        "running_var",
        "num_batches_tracked",
    ]


def test_memory_is_shared_and_gradients_are_not() -> None:
    net = network()
    v = na.Container.from_torch_module(net)
    assert not v["3/weight"].requires_grad
    with torch.no_grad():
        net[3].weight.fill_(7.0)
    assert (v["3/weight"] == 7).all()


def test_state_dict_is_torchs_own() -> None:
    net = network()
    state = na.Container.from_torch_module(net, buffers=True).to_torch_state_dict()
    own = net.state_dict()
    assert state.keys() == own.keys()
    assert all(state[name].equal(own[name]) for name in own)
    network().load_state_dict(state)


@pytest.mark.parametrize("name", ["numpy", "jax", "torch", "tensorflow"])
def test_there_and_back_through_every_backend(name: str) -> None:
    source, target = network(), network()
    with torch.no_grad():
        source[1].running_mean.fill_(3.0)
        source[1].num_batches_tracked.fill_(9)
        for p in source.parameters():
            p.add_(1.0)
    c = na.Container.from_torch_module(source, buffers=True)
    x = torch.randn(2, 1, 4, 4)
    assert not source.eval()(x).equal(target.eval()(x))
    assert na.to_backend(c, name).load_into_torch_module(target) is target
    assert target[1].num_batches_tracked == 9
    assert source(x).equal(target(x))


def test_buffers_may_be_left_out() -> None:
    net = network()
    with torch.no_grad():
        net[1].running_mean.fill_(3.0)
    na.load_into_torch_module(na.Container.from_torch_module(net) * 0.0, net)
    assert (net[1].running_mean == 3).all()
    assert (net[3].weight == 0).all()
    assert net[3].weight.requires_grad


def test_tied_weights_are_one_tensor() -> None:
    net = Tied()
    c = na.Container.from_torch_module(net)
    assert c["embed/weight"] is c["head/weight"]
    state = na.to_torch_state_dict(c.map(lambda x: x.numpy()))
    assert set(state) == {"embed.weight", "head.weight", "head.bias"}
    x = np.ones((5, 3), "float32")
    na.Container(
        embed={"weight": x}, head={"weight": x, "bias": np.zeros(5)}
    ).load_into_torch_module(net)
    assert net.head.weight is net.embed.weight
    with pytest.raises(StructureError) as info:
        na.load_into_torch_module(c.set("embed/weight", x * 2), net)
    assert str(info.value) == (
        "load_into_torch_module: 'embed.weight' and 'head.weight' are one tensor in the module, but "
        "the Container has different values for them. Nothing was written; set both to the value "
        "that is meant"
    )


def test_messages_of_names_that_do_not_fit() -> None:
    net = torch.nn.Linear(3, 2)
    v = na.Container.from_torch_module(net)
    with pytest.raises(StructureError) as info:
        v.delete("bias").load_into_torch_module(net)
    assert str(info.value) == (
        "load_into_torch_module: the Container does not fit Linear: no leaf for 'bias'. Nothing was "
        "written; rename, exclude or set leaves so that the names are the module's"
    )
    with pytest.raises(StructureError) as info:
        v.rename({"weight": "weigth"}).load_into_torch_module(net)
    assert str(info.value) == (
        "load_into_torch_module: the Container does not fit Linear: no leaf for 'weight'; no place "
        "for 'weigth' (the nearest is 'weight'). Nothing was written; rename, exclude or set leaves "
        "so that the names are the module's"
    )
    with pytest.raises(StructureError, match=r"no place for 'a', 'b', 'c' and 2 more"):
        v.update(dict.fromkeys("abcde", np.ones(1))).load_into_torch_module(net)


def test_nothing_is_written_when_a_shape_is_wrong() -> None:
    net = torch.nn.Linear(3, 2)
    before = {name: p.clone() for name, p in net.named_parameters()}
    wrong = na.Container(weight=np.zeros((2, 3), "float32"), bias=np.zeros(3, "float32"))
    with pytest.raises(ShapeError) as info:
        wrong.load_into_torch_module(net)
    assert str(info.value) == (
        "load_into_torch_module: 'bias' has the shape (3,), expected (2,). Nothing was written"
    )
    assert all(p.equal(before[name]) for name, p in net.named_parameters())


def test_messages_of_wrong_arguments() -> None:
    with pytest.raises(ArgumentError) as info:
        na.Container.from_torch_module({"a": 1})
    assert str(info.value) == (
        "Container.from_torch_module: module: got dict, expected a torch.nn.Module"
    )
    with pytest.raises(ArgumentError) as info:
        na.Container(a=np.ones(1)).load_into_torch_module([])
    assert str(info.value) == "load_into_torch_module: module: got list, expected a torch.nn.Module"
    with pytest.raises(ArgumentError) as info:
        na.to_torch_state_dict(na.Container(a={"b": "relu"}))
    assert str(info.value) == (
        "to_torch_state_dict: 'a/b' is a str, expected an array or a number; leave it out with "
        "c.exclude(...)"
    )

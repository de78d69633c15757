"""Parameters out of torch modules and back in."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray.container import ListContainer
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


# -- state dicts --------------------------------------------------------------------------------------


class Mixed(torch.nn.Module):
    """Buffers before parameters, members in a list and by number, two tied weights, bfloat16."""

    def __init__(self) -> None:
        super().__init__()
        self.statistics = torch.nn.BatchNorm1d(3, affine=False)
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)])
        self.layers[1].weight = self.layers[0].weight
        self.register_buffer("scale", torch.ones((), dtype=torch.bfloat16))
        self.register_buffer("unused", torch.ones(2), persistent=False)
        self.head = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(3, 1))


def test_buffers_stand_beside_the_parameters_of_their_module() -> None:
    for net in (Mixed(), network(), torch.nn.TransformerEncoderLayer(4, 2, 8)):
        own = list(net.state_dict())
        flat = na.Container.from_torch_module(net, buffers=True).to_flat_dict(".")
        assert [name for name in flat if name != "unused"] == own


def test_state_dicts_come_back() -> None:
    for net in (Mixed(), network(), torch.nn.TransformerEncoderLayer(4, 2, 8)):
        own = net.state_dict()
        c = na.Container.from_torch_state_dict(own)
        back = c.to_torch_state_dict()
        assert list(back) == list(own)
        assert all(back[n].equal(own[n]) and back[n].dtype == own[n].dtype for n in own)
        assert all(back[n].data_ptr() == own[n].data_ptr() for n in own)
        assert na.Container.from_torch_state_dict(back).spec is c.spec


def test_tied_weights_of_a_state_dict_are_one_leaf() -> None:
    own = Mixed().state_dict()
    assert own["layers.0.weight"] is not own["layers.1.weight"]
    c = na.Container.from_torch_state_dict(own)
    assert c["layers/0/weight"] is c["layers/1/weight"]
    assert c["layers/0/bias"] is not c["layers/1/bias"]
    for name in ("numpy", "jax"):
        there = na.to_backend(c.select("layers"), name)
        state = there.to_torch_state_dict()
        assert state["layers.0.weight"].equal(own["layers.0.weight"])


def test_tensors_that_only_look_shared_are_apart() -> None:
    x = torch.arange(6.0)
    views = {
        "whole": x, "front": x[:3], "again": x[:3], "steps": x[::2], "bits": x[:3].view(torch.int32),
        "empty": x[:0], "none": x[:0].reshape(0, 2), "meta": x.to("meta"), "other": x.to("meta"),
    }  # fmt: skip
    c = na.Container.from_torch_state_dict(views)
    assert c["front"] is c["again"]
    assert len({id(leaf) for leaf in c.leaves()}) == len(views) - 1
    assert all(c[name].shape == views[name].shape for name in views)


def test_derivatives_go_through_a_state_dict() -> None:
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    x = torch.linspace(-1.0, 1.0, 15).reshape(5, 3)

    def loss(v: na.Container) -> torch.Tensor:
        return torch.func.functional_call(net, v.to_torch_state_dict(), (x,)).square().sum()

    net(x).square().sum().backward()
    v = na.Container.from_torch_module(net)
    for slopes in (na.grad(loss)(v), torch.func.grad(loss)(v)):
        for name, parameter in net.named_parameters():
            assert torch.allclose(slopes[name.replace(".", "/")], parameter.grad)


def test_parameters_are_detached() -> None:
    net = torch.nn.Linear(2, 2)
    for source in (net.state_dict(keep_vars=True), dict(net.named_parameters())):
        c = na.Container.from_torch_state_dict(source)
        assert not c["weight"].requires_grad
        assert c["weight"].data_ptr() == net.weight.data_ptr()


def test_numbered_members_are_lists_on_request() -> None:
    net = Mixed()
    c = na.Container.from_torch_state_dict(net.state_dict(), lists=True)
    assert type(c["layers"]) is ListContainer
    assert list(c["head"]) == ["1"]  # the ReLU has nothing to store
    assert list(c.to_torch_state_dict()) == list(net.state_dict())
    assert na.Container.from_torch_module(net, lists=True)["layers"].spec is c["layers"].spec
    assert na.Container.from_torch_module(net, lists=True).load_into_torch_module(net) is net


def test_extra_state_goes_along() -> None:
    state = {"a.weight": torch.ones(1), "a._extra_state": {"scale": 2}, "_extra_state": None}
    c = na.Container.from_torch_state_dict(state)
    assert c["a"].leaves()[1] == {"scale": 2}
    assert c.to_torch_state_dict() == state


def test_messages_of_what_is_no_state_dict() -> None:
    net = torch.nn.Linear(2, 2)
    with pytest.raises(ArgumentError) as info:
        na.Container.from_torch_state_dict(net)
    assert str(info.value) == (
        "Container.from_torch_state_dict: state_dict: got Linear, expected a mapping of names to "
        "tensors; it is its state_dict()"
    )
    with pytest.raises(ArgumentError) as info:
        na.Container.from_torch_state_dict({"epoch": 3, "model": net.state_dict()})
    assert str(info.value) == (
        "Container.from_torch_state_dict: state_dict: got OrderedDict at 'model', expected a tensor; "
        "give that part of the checkpoint alone, state_dict['model']"
    )
    with pytest.raises(StructureError, match=r"'a\.b' goes below 'a', which is a leaf"):
        na.Container.from_torch_state_dict({"a": torch.ones(1), "a.b": torch.ones(1)})


def test_buffers_that_are_not_stored() -> None:
    net = torch.nn.BatchNorm1d(2)
    net.register_buffer("table", torch.ones(3), persistent=False)
    c = na.Container.from_torch_module(net, buffers=True)
    net.load_state_dict(c.to_torch_state_dict(), strict=True)
    assert "table" not in c
    assert na.Container.from_torch_module(net, buffers="all").table.shape == (3,)
    with pytest.raises(ArgumentError, match="buffers: got 'some', expected True, False or 'all'"):
        na.Container.from_torch_module(net, buffers="some")  # type: ignore[arg-type]

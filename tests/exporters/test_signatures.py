"""Calls of native modules have the parameters of their source."""

from __future__ import annotations

import copy
import inspect
import pickle
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
import torch
from flax import nnx

import nestarray as na
from nestarray.errors import ShapeError, StructureError
from nestarray.graph import Graph
from nestarray.importers.module import GraphModule


class Scaled(torch.nn.Module):
    """An array, a nest of arrays and settings."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x, extra=None, *, scale: float = 2.0):
        y = self.linear(x) * scale
        return y if extra is None else y + extra["a"]


@pytest.fixture(scope="module")
def graph() -> Graph:
    rows = {0: "rows"}
    extra = {"a": torch.ones(2, 4)}
    return na.trace_graph(
        Scaled(),
        torch.ones(2, 3),
        extra=extra,
        scale=3.0,
        dynamic={"x": rows, "extra": {"a": rows}},
    )


def test_torch_export_takes_the_names_of_the_source(graph):
    net = graph.to_torch_module()
    assert str(inspect.signature(net.forward)) == "(x: torch.Tensor, *, extra, scale=3.0)"
    x, extra = torch.randn(5, 3), {"a": torch.randn(5, 4)}
    rows = {0: torch.export.Dim.DYNAMIC}
    program = torch.export.export(
        net, (x,), {"extra": extra}, dynamic_shapes={"x": rows, "extra": {"a": rows}}
    )
    x, extra = torch.randn(2, 3), {"a": torch.randn(2, 4)}
    torch.testing.assert_close(program.module()(x, extra=extra), net(x, extra=extra))
    with pytest.raises(
        TypeError, match="unexpected argument 'y'; it was traced with x, extra, scale"
    ):
        net(y=x, extra=extra)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_keep_the_signature(graph, copied):
    net = graph.to_torch_module()
    other = copied(net)
    assert inspect.signature(other.forward) == inspect.signature(net.forward)
    x, extra = torch.randn(5, 3), {"a": torch.randn(5, 4)}
    torch.testing.assert_close(other(x, extra=extra), net(x, extra=extra))
    with torch.no_grad():
        other.linear.bias += 1
    assert not torch.equal(other(x, extra=extra), net(x, extra=extra))


@pytest.mark.filterwarnings("ignore:.*to a Python boolean:torch.jit.TracerWarning")
@pytest.mark.filterwarnings("ignore:.*torch.jit.*is deprecated:DeprecationWarning")
def test_one_argument_of_args_is_x():
    layers = nnx.Linear(3, 4, rngs=nnx.Rngs(0)), jax.nn.relu
    graph = na.trace_graph(nnx.Sequential(*layers), jnp.ones((2, 3)), dynamic={"x": {0: "rows"}})
    net = graph.to_torch_module()
    assert str(inspect.signature(net.forward)) == "(x: torch.Tensor)"
    traced = torch.jit.trace(net, torch.ones(2, 3))
    assert traced(torch.ones(5, 3)).shape == (5, 4)


@pytest.mark.parametrize(
    ("form", "settings"),
    [
        ("flax", ""),
        ("linen", ", train: bool = False"),
        ("haiku", ", is_training: bool = False"),
        ("equinox", ", key: jax.Array = None"),
    ],
)
def test_modules_of_jax_show_the_parameters(graph, form, settings):
    net = getattr(graph, f"to_{form}_module")()
    assert str(inspect.signature(net)) == f"(x: jax.Array, *, extra, scale=3.0{settings})"
    assert inspect.signature(type(net))


def test_the_state_of_equinox_is_an_argument():
    norm = torch.nn.BatchNorm1d(3)
    net, state = na.to_module(norm, torch.ones(4, 3)).to_equinox_module()
    assert list(inspect.signature(net).parameters) == ["input", "state", "key"]
    x = jnp.ones((4, 3))
    out, state = net(x, state)
    assert jnp.array_equal(net(x, state=state)[0], out)


def test_modules_of_tensorflow_show_the_parameters(graph):
    assert list(inspect.signature(graph.to_tf_module()).parameters) == [
        "x", "extra", "scale", "training",
    ]  # fmt: skip


# -- graphs and modules of graphs ------------------------------------------------------------

#: Public methods of one of them alone → the reason.
ALONE = {
    **dict.fromkeys(
        ("bind", "calls", "function", "lower", "optimize", "replace", "running", "to_source"),
        "of one program: module.graph",
    ),
    "compile": "na.jit compiles functions of modules",
    **dict.fromkeys(("load", "parse", "save"), "files and texts of one behaviour: module.graph"),
    **dict.fromkeys(
        ("children", "forward", "init", "key_for", "named_modules", "states", "summary",
         "update_state", "variables"),
        "of a layer among layers",
    ),
}  # fmt: skip


def test_graphs_and_their_modules_have_the_same_methods():
    methods = [
        {n for n in dir(cls) if not n.startswith("_") and callable(getattr(cls, n, None))}
        for cls in (Graph, GraphModule)
    ]
    differences = methods[0] ^ methods[1]
    assert differences <= ALONE.keys()
    assert not ALONE.keys() & methods[0] & methods[1]


def test_a_module_of_a_graph_writes_files(tmp_path: Path):
    module = na.to_module(torch.nn.Linear(3, 2), torch.ones(4, 3))
    module = module.with_variables(module.v * 2)
    file = module.export(tmp_path / "net.pt2")
    x = torch.randn(4, 3)
    torch.testing.assert_close(torch.export.load(file.path).module()(x), module(x))
    assert str(module.report()) == str(module.graph.report())


def test_variables_of_a_graph_are_checked():
    net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3)).eval()
    graph = na.trace_graph(net, torch.ones(4, 3))
    with torch.no_grad():
        net[0].weight += 1
        net[1].running_mean += 1
    x = torch.randn(4, 3)
    changed = graph.with_variables(na.Container.from_torch_module(net, buffers=True))
    torch.testing.assert_close(changed(x), net(x))
    with pytest.raises(StructureError, match="v has no '0/weight'"):
        graph.with_variables(graph.v.delete("0/weight"))
    with pytest.raises(ShapeError, match=r"v\['0/bias'\]: got shape \(2,\)"):
        graph.with_variables(graph.v.set("0/bias", torch.ones(2)))


def test_missing_statistics_name_the_argument():
    v = na.Container.from_torch_module(torch.nn.BatchNorm1d(3)).rename({"weight": "scale"})
    like = {"scale": jnp.ones(3), "bias": jnp.ones(3), "mean": jnp.ones(3), "var": jnp.ones(3)}
    with pytest.raises(StructureError, match=r"from_torch_module\(net, buffers=True\)"):
        v.to_backend("jax").to_pytree(like)

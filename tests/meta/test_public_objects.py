"""Public objects pickle, copy and print."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from tests.nn.optimizers.rows import ROWS as OPTIMIZERS
from tests.nn.test_layers import ROWS

SPACES = [
    na, na.dtypes, na.errors, na.graph, na.graph.passes, na.nn, na.nn.initializers, na.nn.metrics,
    na.nn.schedules,
    na.ops, na.random, na.storage, na.testing, na.tree, na.typing,
]  # fmt: skip


def check(x: Any) -> None:
    """Raise unless `x` pickles, copies and prints; functions print as Python's do."""
    for copied in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert type(copied) is type(x)
        assert str(copied) == str(x) or callable(x)
    assert str(x)
    if not callable(x):
        assert " object at 0x" not in repr(x)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_public_names(space: ModuleType) -> None:
    for name in dir(space):
        value = getattr(space, name)
        if name[0] != "_" and not isinstance(value, ModuleType):
            check(value)
            if inspect.isroutine(value) or inspect.isclass(value):
                assert pickle.loads(pickle.dumps(value)) is value, name


NET = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2), torch.nn.Dropout(0.1))
X = torch.ones(4, 3)


@functools.cache
def graph() -> na.Graph:
    return na.trace_graph(NET, X)


def tree() -> na.Container:
    return na.Container(a=np.ones(2), b=[1, "x", None], d={"e": np.zeros((2, 2))})


def model() -> nn.Sequential:
    layers = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm(4), nn.Dropout(0.2))
    return layers.init(na.random.key(0))


INSTANCES = {
    "Container": tree,
    "FusedContainer": lambda: tree().select("a", "d/**").fuse(),
    "Spec": lambda: tree().spec,
    "At": lambda: tree().at["a"],
    "At inside": lambda: tree().at["d/**"][0],
    "Table": lambda: tree().summary(),
    "Table of leaves": lambda: tree().describe(),
    "LazyStack": lambda: na.LazyStack([tree().select("a")] * 2),
    "Diff": lambda: tree().diff(tree().set("a", np.zeros(2))),
    "Change": lambda: next(iter(tree().diff(tree().set("a", np.zeros(2))))),
    "Schema": lambda: na.Schema.of(tree()),
    "KeyMap": lambda: tree().match(na.Container(x=np.ones(2), y=np.zeros((2, 2)))),
    "Graph": graph,
    "Graph on JAX": lambda: graph().to_backend("jax"),
    "Graph in training": lambda: na.trace_graph(NET, X, train=True),
    "lowered Graph": lambda: graph().lower(),
    "optimized Graph": lambda: graph().optimize(),
    "Node": lambda: graph().calls[0],
    "Aval": lambda: graph().calls[0].aval,
    "GraphModule": lambda: na.to_module(NET, X),
    "GraphModule on JAX": lambda: na.to_module(NET, X).to_backend("jax"),
    "Report": lambda: graph().to_backend("jax").verify(),
    "CheckReport": lambda: na.check(NET, X, target="jax"),
    "report of a graph": lambda: graph().report(),
    "model": model,
    "state of an optimizer": lambda: nn.Adam(1e-3).init(model().v),
    "DType": lambda: na.float32,
    "finfo": lambda: na.finfo(na.float32),
    "iinfo": lambda: na.iinfo(na.int8),
    "namespace": lambda: na.array_namespace(np.ones(2)),
    "initializer": lambda: nn.initializers.variance_scaling(1.0, "fan_in", "normal"),
    "schedule": lambda: nn.schedules.warmup(nn.schedules.one_cycle(1.0, 10), 5),
    "optimizer with a schedule": lambda: nn.AdamW(nn.schedules.piecewise(1.0, {2: 0.5})),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_instances(name: str) -> None:
    check(INSTANCES[name]())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_layers(row: Any) -> None:
    layer = row.layer()
    check(layer)
    key = na.random.key(0)
    assert not layer.init(key).v.diff(pickle.loads(pickle.dumps(layer)).init(key).v)


@pytest.mark.parametrize("row", OPTIMIZERS, ids=lambda row: row.name)
def test_optimizers(row: Any) -> None:
    check(row.optimizer())


@pytest.mark.parametrize("suffix", ["npz", "safetensors", "h5", "zarr", "json"])
@pytest.mark.parametrize("memory_map", [False, True])
def test_stored_arrays(suffix: str, memory_map: bool, tmp_path: Path) -> None:
    path = tmp_path / f"c.{suffix}"
    c = tree().select("a", "d/**")
    c.save(path)
    lazy = na.Container.load(path, lazy=True, memory_map=memory_map)
    check(lazy)
    check(lazy.a)
    if memory_map and suffix not in ("safetensors", "h5"):
        return  # this format cannot be mapped
    again = pickle.loads(pickle.dumps(lazy))
    assert not c.diff(na.storage.read(again))
    assert again.a._source is again.d.e._source  # one file is opened

"""Stand-alone source of training graphs: batch statistics, dropout, other state."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

import nestarray as na
from nestarray.exporters.source.eject import source_of
from nestarray.exporters.source.styles.style import Style
from tests.exporters.networks import torch_layout
from tests.exporters.styles import STYLES, TARGETS, needs_mlx


class Net(nn.Module):
    """Batch normalization and dropout, as layers, as functions and in equal blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4, momentum=0.2)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1)) for _ in range(2)
        )
        self.fc = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of images."""
        x = F.dropout2d(F.relu(self.bn(self.conv(x))), 0.2, self.training)
        x = F.dropout(x.mean((2, 3)), 0.3, self.training)
        for block in self.blocks:
            x = block(x)
        return self.fc(x)


#: Programs for a process in which nestarray cannot be imported. Each finds the output, the gradients
#: of the loss and the new state without dropping, the output of the evaluation mode, and the mean
#: and the share of zeros of outputs of `_dropped`.
_ALONE = """
import importlib.util, sys
sys.modules["nestarray"] = None
import numpy as np

def load(folder):
    spec = importlib.util.spec_from_file_location("model", f"{folder}/model.py")
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    return model

def attribute(owner, name):
    for key in name.split("."):
        owner = owner[int(key)] if key.isdigit() else getattr(owner, key)
    return owner

def flat(tree, name=""):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    if not isinstance(tree, (dict, list)):
        return {name: tree}
    return {k: x for key, y in items for k, x in flat(y, f"{name}.{key}").items()}

folder, names = sys.argv[1], sys.argv[2].split(",")
model, drop = load(f"{folder}/net"), load(f"{folder}/drop")
x, ones = np.load(f"{folder}/x.npy"), np.ones((100, 100), np.float32)
PROGRAM
found = {f"grad {k}": x for k, x in grads.items()} | {f"state {k}": x for k, x in state.items()}
found = {k: np.asarray(x) for k, x in found.items()}
np.savez(f"{folder}/found.npz", first=first, evaluated=evaluated, dropped=dropped, kept=kept, **found)
"""
_PROGRAMS = {
    "torch": """
import torch
net = model.load().train()
model.F.dropout2d = lambda x, *_, **__: x
plain, model.F.dropout = model.F.dropout, lambda x, *_, **__: x
first = net(torch.as_tensor(x))
(first * first).sum().backward()
model.F.dropout = plain
grads = {k: p.grad for k, p in net.named_parameters()}
first, state = first.detach(), {name: attribute(net, name) for name in names}
evaluated = model.load()(torch.as_tensor(x)).detach()
one = torch.as_tensor(ones)
dropped, kept = drop.load().train()(one).detach(), drop.load()(one).detach()
""",
    "functional": """
import jax
params, old = model.load()
def loss(params):
    y, new = model.net(params, old, x, True, None)
    return (y * y).sum(), (y, new)
grads, (first, state) = jax.jit(jax.grad(loss, has_aux=True))(params)
grads = {f"params{k}": x for k, x in flat(grads).items()}
state = {f"state{k}": x for k, x in flat(state).items()}
evaluated, same = model.net(params, old, x, False, jax.random.key(0))
assert jax.tree.all(jax.tree.map(lambda a, b: a is b, old, same))
function = jax.jit(drop.drop, static_argnums=2)
dropped, kept = function(drop.load(), ones, True, jax.random.key(0)), function(drop.load(), ones, False, None)
""",
    "nnx": """
import jax
from flax import nnx
net = model.load()
net.set_attributes(use_running_average=False)  # and no dropout
def loss(net):
    y = net(x)
    return (y * y).sum(), y
grads, first = nnx.grad(loss, has_aux=True)(net)
grads = {".".join(map(str, path)): x[...] for path, x in nnx.to_flat_state(grads)}
state = {name: attribute(net, name)[...] for name in names}
evaluated, other, kept = model.load()(x), drop.load(), drop.load()(ones)
other.train()
dropped = nnx.jit(lambda net: net(ones))(other)
""",
    "equinox": """
import equinox, jax
net, old = model.load()
def loss(net):
    y, new = net(x, old, True, None)
    return (y * y).sum(), (y, new)
tree, (first, new) = equinox.filter_grad(loss, has_aux=True)(net)
key = lambda k: str(k.name if hasattr(k, "name") else k.idx)
grads = {".".join(map(key, path)): x for path, x in jax.tree_util.tree_leaves_with_path(tree)}
state = {name: new.get(attribute(net, name)) for name in names}
evaluated, _ = net(x, model.load()[1], False, None)
dropped, kept = drop.load()(ones, True, jax.random.key(0)), drop.load()(ones, False, None)
""",
    "mlx": """
import mlx.core as mx, mlx.nn as nn
from mlx.utils import tree_flatten
net, images, one = model.load().train(), mx.array(x), mx.array(ones)
for module in net.modules():
    if "Dropout" in type(module).__name__:
        module.eval()
found = []
def loss():
    found.append(net(images))
    return (found[0] * found[0]).sum()
_, grads = nn.value_and_grad(net, loss)()
first, grads = net.eval() and found[0], dict(tree_flatten(grads))
state = {name: attribute(net, name) for name in names}
evaluated, dropped, kept = model.load()(images), drop.load().train()(one), drop.load()(one)
""",
    "module": """
import tensorflow as tf
net, plain = model.load(), model.dropout
model.dropout = lambda x, training, **_: x
with tf.GradientTape() as tape:
    first = tf.function(net)(tf.convert_to_tensor(x), True)
    value = tf.reduce_sum(first * first)
found = net._flatten(predicate=lambda v: isinstance(v, tf.Variable), with_path=True)
found = {".".join(map(str, path)): x for path, x in found if x.trainable}
grads = dict(zip(found, tape.gradient(value, list(found.values()))))
state = {name: attribute(net, name) for name in names}
model.dropout = plain
evaluated = model.load()(tf.convert_to_tensor(x), False)
dropped, kept = drop.load()(tf.convert_to_tensor(ones), True), drop.load()(tf.convert_to_tensor(ones), False)
""",
    "keras": """
import jax, keras
net = model.load()
for layer in net._flatten_layers():
    if isinstance(layer, keras.layers.Dropout):
        layer.rate = 0.0
trained, others = net.trainable_variables, net.non_trainable_variables
old = [x.value for x in others]
def loss(values):
    y, new = net.stateless_call(values, old, x, training=True)
    return (y * y).sum(), (y, new)
tree, (first, new) = jax.grad(loss, has_aux=True)([x.value for x in trained])
found = {id(x): g for x, g in zip((*trained, *others), (*tree, *new))}
found = {name: found[id(model.part_of(net, name))] for name in model.load_file(model.WEIGHTS)}
grads = {name: x for name, x in found.items() if name not in names}
state = {name: found[name] for name in names}
evaluated = model.load()(x)
dropped, kept = drop.load()(ones, training=True), drop.load()(ones)
""",
}


class Drop(nn.Module):
    """Dropout of a weighted array."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Kept numbers have the mean of x · weight."""
        return F.dropout(x * self.weight, 0.25, self.training)


@functools.cache
def _graphs() -> tuple[dict[bool, na.graph.Graph], torch.Tensor]:
    torch.manual_seed(0)
    net, x = Net(), torch.randn(6, 3, 8, 8)
    net(x)  # statistics other than those of the start
    return {train: na.trace_graph(net.train(train), x, train=train) for train in (True, False)}, x


@functools.cache
def _source(style: str) -> Style:
    return source_of(_graphs()[0][True], TARGETS[style], style)


@pytest.mark.parametrize(
    "style",
    [
        "functional",
        *(
            pytest.param(*x.values, marks=[pytest.mark.full, *x.marks])
            for x in STYLES
            if x.values[0] != "functional"
        ),
    ],
)
def test_the_source_of_a_training_graph_has_both_modes(style: str, tmp_path: Path) -> None:
    graphs, x = _graphs()
    graphs[True].eject(tmp_path / "net", TARGETS[style], style=style)
    drop = na.trace_graph(Drop(), torch.ones(100, 100), train=True)
    drop.eject(tmp_path / "drop", TARGETS[style], style=style)
    np.save(tmp_path / "x.npy", x)
    program = _ALONE.replace("PROGRAM", _PROGRAMS[style].strip())
    names = ",".join(_source(style).writes)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": "", "PYTHONPATH": ""}
    environment |= {"KERAS_BACKEND": "jax"}
    command = [sys.executable, "-c", program, str(tmp_path), names]
    subprocess.run(command, check=True, env=environment)
    found = np.load(tmp_path / "found.npz")
    _check_training(style, found)
    np.testing.assert_allclose(found["evaluated"], graphs[False](x).detach(), rtol=1e-4, atol=1e-5)
    _check_dropped(found["dropped"], found["kept"])


def _check_training(style: str, found: Any) -> None:
    """Compare output, gradients and state with those of the module, which drops nothing."""
    graphs, x = _graphs()
    net = Net().train()
    net.load_state_dict({k.replace("/", "."): y for k, y in _variables(graphs[True]).items()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(F, "dropout", lambda x, *_, **__: x)
        patch.setattr(F, "dropout2d", lambda x, *_, **__: x)
        first = net(x)
    (first * first).sum().backward()
    np.testing.assert_allclose(found["first"], first.detach(), rtol=1e-4, atol=1e-5)
    grads = {k: p.grad for k, p in net.named_parameters()}
    buffers = dict(net.named_buffers())
    for name, value in _source(style).variables.items():
        wanted = grads if value.source == "v" else buffers
        kind = "grad" if value.source == "v" else "state"
        got = torch_layout(found[f"{kind} {name}"], name, _source(style))
        path = value.path.replace("/", ".").replace("kernel", "weight")
        np.testing.assert_allclose(got, wanted[path], rtol=1e-3, atol=1e-4)


def _variables(graph: na.graph.Graph) -> dict[str, Any]:
    return dict(graph.v.flat_items()) | dict(graph.s.flat_items())


def _check_dropped(dropped: Any, kept: Any) -> None:
    """A quarter of the numbers is zero, the others keep the mean; without dropping all are kept."""
    np.testing.assert_array_equal(kept, 2.0)
    np.testing.assert_allclose(np.unique(dropped), [0.0, 2.0 / 0.75], rtol=1e-5)
    share = (dropped == 0).mean()
    assert abs(share - 0.25) < 5 * (0.25 * 0.75 / dropped.size) ** 0.5


def test_numpy_trains_and_evaluates(tmp_path: Path) -> None:
    graphs, x = _graphs()
    assert graphs[True].eject(tmp_path / "net", "numpy").error < 1e-5  # the state is compared too
    namespace: dict[str, Any] = {"__file__": str(tmp_path / "net" / "model.py")}
    exec((tmp_path / "net" / "model.py").read_text(), namespace)
    params, state = namespace["load"]()
    output, _ = namespace["net"](params, state, x.numpy(), False, None)
    np.testing.assert_allclose(output, graphs[False](x).detach(), rtol=1e-4, atol=1e-5)
    ones = np.ones((100, 100), np.float32)
    drop = namespace["dropout"](2 * ones, np.random.default_rng(0), True, rate=0.25)
    _check_dropped(drop, namespace["dropout"](2 * ones, np.random.default_rng(0), False, rate=0.25))


def test_torch_gets_its_own_layers() -> None:
    text = _source("torch").text
    assert _source("torch").weights["bn.num_batches_tracked"] == 1
    assert "nn.BatchNorm2d(4, momentum=0.2)" in text
    assert "nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1))" in text
    assert "F.dropout2d(x, p=0.2, training=self.training)" in text


class Counter(nn.Module):
    """State that is no statistic of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(()))
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scale by the old total, and move by the new mean."""
        old = self.total * 1.0
        self.total = self.total + x.sum()
        self.mean.mul_(0.5).add_(x.mean(0) * 0.5)
        return x * old + self.mean


@pytest.mark.parametrize(
    ("target", "style"),
    [("torch", None), ("jax", None), ("jax", "nnx"), ("jax", "equinox"), ("tensorflow", None), ("numpy", None), ("keras", None),
     pytest.param("mlx", None, marks=needs_mlx)],
)  # fmt: skip
def test_other_state_is_assigned(target: str, style: str | None, tmp_path: Path) -> None:
    graph = na.trace_graph(Counter().eval(), torch.rand(4, 3))
    assert graph.eject(tmp_path / "net", target, style=style).error < 1e-5


def test_batch_statistics_of_flax_are_recognized(tmp_path: Path) -> None:
    from flax import nnx

    class Flax(nnx.Module):
        def __init__(self, rngs: nnx.Rngs) -> None:
            self.lin, self.bn = nnx.Linear(3, 4, rngs=rngs), nnx.BatchNorm(4, rngs=rngs)
            self.drop = nnx.Dropout(0.3, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.drop(nnx.relu(self.bn(self.lin(x))))

    x = np.ones((5, 3), np.float32)
    graph = na.trace_graph(Flax(nnx.Rngs(0)), na.to_backend(x, "jax"), train=True)
    text = graph.to_source("jax", standalone=True)
    assert "is_unbiased=False" in text
    assert "rate=0.3" in text
    assert "count" not in text[text.index("def flax") : text.index("def load")]  # of random keys
    assert graph.eject(tmp_path / "net", "tensorflow").error < 1e-5
    layers = graph.to_source("jax", standalone=True, style="nnx")
    assert "self.bn = nnx.BatchNorm(4, rngs=rngs)" in layers
    assert "self.drop = nnx.Dropout(0.3, rngs=rngs)" in layers
    assert graph.eject(tmp_path / "flax", "jax", style="nnx").error < 1e-5


def test_nnx_gets_its_own_layers() -> None:
    text = _source("nnx").text
    assert 'nnx.Conv(3, 4, (3, 3), padding="VALID", rngs=rngs)' in text
    assert "BatchNorm(4, momentum=0.8, rngs=rngs)" in text
    assert "nnx.Dropout(0.2, broadcast_dims=(1, 2), rngs=rngs)" in text
    assert "self.blocks_0 = nnx.List(" in text
    assert "train" not in text[text.index("class Net") :]
    assert "key" not in text[text.index("class Net") : text.index("def load")]


@needs_mlx
def test_mlx_gets_its_own_layers() -> None:
    text = _source("mlx").text
    assert "self.conv = nn.Conv2d(3, 4, 3)" in text
    assert "self.bn = nn.BatchNorm(4, momentum=0.2)" in text
    assert "nn.Dropout2d(0.2)" in text
    assert "nn.Linear(4, 4), nn.BatchNorm(4), nn.Dropout(0.1)" in text

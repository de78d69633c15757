"""Stand-alone source computes, differentiates and trains as the model, and reads as upstream's."""

from __future__ import annotations

import functools
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.functional as F

import nestarray as na
from nestarray.errors import ArgumentError, ConversionError, StorageError
from nestarray.exporters.export import example_of
from nestarray.exporters.source.eject import source_of
from nestarray.exporters.source.functions import jax_functions
from nestarray.exporters.source.styles.style import Style
from tests import models
from tests.exporters.networks import LOOPS, NETWORKS, torch_layout
from tests.exporters.styles import HAS_MLX, STYLES, TARGETS, lint, needs_mlx

_SOME = ("mlp", "stages", "unet")
_OTHERS = tuple(name for name in NETWORKS if name not in _SOME)

#: The start of programs that run in a process in which nestarray cannot be imported.
_BLOCKED = """
import sys
sys.modules["nestarray"] = None
"""
#: Programs that run the sources in the folders of the command line.
_ALONE = """
import importlib.util, sys
import numpy as np

def leaves(x):
    items = x.values() if isinstance(x, dict) else x
    return [y for z in items for y in leaves(z)] if isinstance(x, (dict, list, tuple)) else [x]

def names(tree, name):
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    if not isinstance(tree, (dict, list)):
        return {name: tree}
    return {k: x for key, y in items for k, x in names(y, f"{name}.{key}").items()}

for folder in sys.argv[1:]:
    spec = importlib.util.spec_from_file_location("model", f"{folder}/model.py")
    model = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(model)
    inputs = np.load(f"{folder}/inputs.npz").values()
    first, grads, second = None, None, None
    PROGRAM
    found = {f"grad {k}": np.asarray(x) for k, x in grads.items()}
    np.savez(f"{folder}/found.npz", first=first, second=second, **found)
"""
#: Style → a program that computes the loss, its gradients, and the loss after a step of descent.
_PROGRAMS = {
    "torch": """
    import torch
    net, inputs = model.load(), [torch.as_tensor(x) for x in inputs]
    loss = lambda: sum((x * x).sum() for x in leaves(net(*inputs)))
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    first = loss()
    first.backward()
    grads = {k: x.grad for k, x in net.named_parameters()}
    optimizer.step()
    first, second = first.detach(), loss().detach()
""",
    "functional": """
    import jax
    inputs = [jax.numpy.asarray(x) for x in inputs]
    loaded = model.load()
    params, *state = loaded if isinstance(loaded, tuple) else (loaded,)
    function = [x for x in vars(model).values() if callable(x)][-3]  # before load and _lists
    loss = lambda params: sum((x * x).sum() for x in leaves(function(params, *state, *inputs)))
    first, tree = jax.jit(jax.value_and_grad(loss))(params)
    second = jax.jit(loss)(jax.tree.map(lambda p, g: p - 1e-3 * g, params, tree))
    grads = names({"params": tree} if state else tree, "")
    grads = {k.removeprefix("."): x for k, x in grads.items()}
""",
}
#: NumPy has no gradients.
_NUMPY = """
    function = [x for x in vars(model).values() if callable(x)][-3]  # before load and _lists
    loaded = model.load()
    loaded = loaded if isinstance(loaded, tuple) else (loaded,)
    first = second = sum((x * x).sum() for x in leaves(function(*loaded, *inputs)))
    grads = {}
"""
_PROGRAMS |= {
    "nnx": """
    import jax, optax
    from flax import nnx
    net, inputs = model.load(), [jax.numpy.asarray(x) for x in inputs]
    loss = lambda net: sum((x * x).sum() for x in leaves(net(*inputs)))
    first, tree = nnx.jit(nnx.value_and_grad(loss))(net)
    grads = {".".join(map(str, path)): x[...] for path, x in nnx.to_flat_state(tree)}
    nnx.Optimizer(net, optax.sgd(1e-3), wrt=nnx.Param).update(net, tree)
    second = nnx.jit(loss)(net)
""",
    "equinox": """
    import equinox, jax
    net, inputs = model.load(), [jax.numpy.asarray(x) for x in inputs]
    loss = lambda net: sum((x * x).sum() for x in leaves(net(*inputs)))
    first, tree = equinox.filter_jit(equinox.filter_value_and_grad(loss))(net)
    key = lambda k: str(k.name if hasattr(k, "name") else k.idx)
    found = jax.tree_util.tree_leaves_with_path(tree)
    grads = {".".join(map(key, path)): x for path, x in found}
    second = equinox.filter_jit(loss)(equinox.apply_updates(net, jax.tree.map(lambda g: -1e-3 * g, tree)))
""",
    "module": """
    import tensorflow as tf
    net, inputs = model.load(), [tf.convert_to_tensor(x) for x in inputs]
    loss = lambda: sum(tf.reduce_sum(x * x) for x in leaves(tf.function(net)(*inputs)))
    with tf.GradientTape() as tape:
        first = loss()
    found = net._flatten(predicate=lambda v: isinstance(v, tf.Variable), with_path=True)
    found = {".".join(map(str, path)): x for path, x in found if x.trainable}
    grads = dict(zip(found, tape.gradient(first, list(found.values()))))
    grads = {k: tf.convert_to_tensor(g) for k, g in grads.items()}
    for key, x in found.items():
        x.assign_sub(1e-3 * grads[key])
    second = loss()
""",
    "mlx": """
    import mlx.core as mx, mlx.nn as nn, mlx.optimizers as optim
    from mlx.utils import tree_flatten
    net, inputs = model.load(), [mx.array(x) for x in inputs]
    loss = lambda: sum((x * x).sum() for x in leaves(net(*inputs)))
    first, tree = nn.value_and_grad(net, loss)()
    grads = dict(tree_flatten(tree))
    optim.SGD(1e-3).update(net, tree)
    second = loss()
""",
    "keras": """
    import jax
    net, inputs = model.load(), [jax.numpy.asarray(x) for x in inputs]
    state, values = ([x.value for x in xs] for xs in (net.non_trainable_variables, net.trainable_variables))
    output = lambda values: net.stateless_call(values, state, *inputs)[0]
    loss = lambda values: sum((x * x).sum() for x in leaves(output(values)))
    first, tree = jax.jit(jax.value_and_grad(loss))(values)
    second = jax.jit(loss)([x - 1e-3 * g for x, g in zip(values, tree)])
    found = {id(x): g for x, g in zip(net.trainable_variables, tree)}
    names = {name: id(model.part_of(net, name)) for name in model.load_file(model.WEIGHTS)}
    grads = {name: found[x] for name, x in names.items() if x in found}
""",
}

#: Models of `transformers` with blocks that lack parts or inputs of others.
_ONE_CLASS = (
    "bart", "convnext", "hgnet_v2", "longt5", "mobilenet_v2", "regnet", "resnet", "resnet18", "swin",
)  # fmt: skip


@functools.cache
def _graph(name: str) -> tuple[torch.nn.Module, na.graph.Graph]:
    own = NETWORKS | LOOPS
    net, inputs = own[name]() if name in own else models.build(name)
    return net, na.trace_graph(net, **inputs)


@functools.cache
def _source(name: str, style: str) -> Style:
    graph = _graph(name)[1]
    return source_of(graph, TARGETS[style], style)


def _loss(output: Any) -> Any:
    return sum((x * x).sum() for x in na.tree.leaves(output))


_ROWS = [
    pytest.param(
        names, style,
        marks=[*([pytest.mark.full] if is_full else []), *([needs_mlx] if style == "mlx" else [])],
        id=f"{kind}-{style}",
    )
    for style in _PROGRAMS
    for kind, names, is_full in (
        ("some", _SOME, False),
        ("others", _OTHERS, True),
        ("loops", tuple(LOOPS), True),
    )
]  # fmt: skip


@pytest.mark.release
@pytest.mark.one_in(8)
@pytest.mark.parametrize(("names", "style"), _ROWS)
def test_the_source_runs_and_trains_without_nestarray(
    names: tuple[str, ...], style: str, tmp_path: Path
) -> None:
    target = TARGETS[style]
    graphs = {name: _graph(name)[1] for name in names}
    for name, graph in graphs.items():
        graph.eject(tmp_path / name, target, style=style)
        np.savez(tmp_path / name / "inputs.npz", **example_of(graph).flat)
    program = _BLOCKED + _ALONE.replace("PROGRAM", _PROGRAMS[style].strip())
    folders = [str(tmp_path / name) for name in names]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": "", "PYTHONPATH": ""}
    environment |= {"KERAS_BACKEND": "jax"}
    subprocess.run([sys.executable, "-c", program, *folders], check=True, env=environment)
    for name in graphs:
        _check(name, style, np.load(tmp_path / name / "found.npz"))


#: Styles that one environment runs → its packages.
_ENVIRONMENTS = {
    ("torch",): ["torch"],
    ("functional", "nnx", "equinox"): ["jax", "flax", "equinox", "optax"],
    ("module",): ["tensorflow-cpu"],
    ("mlx",): ["mlx", "mlx-cpu"],
    ("keras",): ["keras", "jax"],
    ("numpy",): [],
}


@pytest.mark.full
@pytest.mark.parametrize(
    "styles",
    [pytest.param(x, marks=[needs_mlx] if "mlx" in x else [], id=str(x)) for x in _ENVIRONMENTS],
)
def test_the_source_runs_in_an_environment_without_nestarray(
    styles: tuple[str, ...], tmp_path: Path
) -> None:
    constraints = Path(__file__).parents[2] / "constraints.txt"
    pins = dict(re.findall(r"(?m)^([\w-]+)(==\S+)", constraints.read_text()))
    packages = [name + pins[name] for name in ("numpy", "safetensors", *_ENVIRONMENTS[styles])]
    python = tmp_path / "env" / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "env")], check=True)
    install = [str(python), "-m", "pip", "install", "-q", "-c", str(constraints), *packages]
    subprocess.run(install, check=True)
    environment = {"OMP_NUM_THREADS": "1", "PATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment |= {"KERAS_BACKEND": "jax"}
    absent = "import importlib.util as u; assert u.find_spec('nestarray') is None"
    settings: dict[str, Any] = {"check": True, "env": environment, "cwd": tmp_path}
    subprocess.run([str(python), "-c", absent], **settings)
    for style in styles:
        program = _NUMPY if style == "numpy" else _PROGRAMS[style]
        target, own = ("numpy", None) if style == "numpy" else (TARGETS[style], style)
        for name in _SOME:
            folder, graph = tmp_path / f"{style}_{name}", _graph(name)[1]
            graph.eject(folder, target, style=own)
            np.savez(folder / "inputs.npz", **example_of(graph).flat)
            text = _ALONE.replace("PROGRAM", program.strip())
            subprocess.run([str(python), "-c", text, str(folder)], **settings)
            found = np.load(folder / "found.npz")
            if style != "numpy":
                _check(name, style, found)
                continue
            args, kwargs = example_of(graph).on("torch")
            np.testing.assert_allclose(found["first"], _loss(graph(*args, **kwargs)), rtol=1e-4)


def _check(name: str, style: str, found: Any) -> None:
    """Compare the losses and the gradients of a source with those of the graph."""
    graph = _graph(name)[1]
    args, kwargs = example_of(graph).on("torch")
    first, grads = na.value_and_grad(lambda v: _loss(graph(*args, v=v, **kwargs)))(graph.v)
    second = _loss(graph(*args, v=graph.v - 1e-3 * grads, **kwargs))
    np.testing.assert_allclose(found["first"], first, rtol=1e-4)
    np.testing.assert_allclose(found["second"], second, rtol=1e-4)
    source = _source(name, style)
    trained = {key: x.path for key, x in source.variables.items() if x.source == "v"}
    assert {f"grad {key}" for key in trained} <= {*found}  # Equinox differentiates state too
    for key, path in trained.items():
        path = path.replace("kernel", "weight")
        largest = max(1.0, float(abs(grads[path]).max()))
        got = torch_layout(found[f"grad {key}"], key, source)
        np.testing.assert_allclose(got, grads[path], rtol=1e-3, atol=1e-4 * largest)


@pytest.mark.parametrize("style", ["torch", "functional"])
@pytest.mark.parametrize("name", ["resnet18", "vit", "bert", "gpt2", "unet"])
def test_the_source_is_as_short_as_upstream(name: str, style: str) -> None:
    net, _ = _graph(name)
    kinds = {type(part) for part in net.modules()}
    kinds = {kind for kind in kinds if not kind.__module__.startswith("torch.")}
    upstream = sum(len(_code(inspect.getsource(kind))) for kind in kinds)
    parts = re.split(r"\n(?=class |def )", _source(name, style).text)[1:]
    layers = {*vars(jax_functions)}  # upstream's lines have no layers of PyTorch either
    own = [x for x in parts if re.split(r"\W", x)[1] not in {"load", "_lists"} | layers]
    assert len(_code("\n".join(own))) <= 1.5 * upstream


def _code(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("style", STYLES)
def test_linters_find_nothing_in_the_source(style: str) -> None:
    assert lint(_source("mlp", style).text) == ""


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "name", ["stages", *(pytest.param(x, marks=pytest.mark.full) for x in _ONE_CLASS)]
)
def test_each_class_has_another_program(name: str, style: str) -> None:
    parts = re.split(r"(?m)^(?:class|def) ", _source(name, style).text)[1:]
    bodies = [part.partition("\n")[2] for part in parts]
    assert len({*bodies}) == len(bodies)


def test_lacking_parts_read_as_a_human_writes_them() -> None:
    torch_text, jax_text = (_source("stages", style).text for style in ("torch", "functional"))
    assert "if project else None" in torch_text
    assert "self.project(x) if self.project is not None else x" in torch_text
    assert "class ScaledWithoutScale(" in torch_text
    assert "*[Unit(out_features, out_features) for _ in range(num_units - 1)]," in torch_text
    assert "for layer in (nn.LayerNorm(8), nn.Linear(8, 8))" in torch_text
    assert "h, h2 = self.attention(y, torch.roll(x, (1,), 0), z, self.mask)" in torch_text
    assert "def unit_with_project(params, x):" in jax_text
    assert 'for unit_params in params["units"]' in jax_text


class Pair(torch.nn.Module):
    """A layer with two results."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Two arrays."""
        h = torch.tanh(self.linear(x))
        return h * y, h


class Single(torch.nn.Module):
    """A layer with one result."""

    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The difference."""
        return self.project(x) - y


class Handing(torch.nn.Module):
    """A list of layers with two results and with one, and a matrix of zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([Pair(), Single()])
        self.register_buffer("zeros", torch.zeros(4, 4), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(2, 4) → (2, 4)."""
        y, h = self.layers[0](x, torch.exp(x))
        return self.layers[1](y, h) + x @ self.zeros


@pytest.mark.parametrize("target", ["torch", "jax"])
def test_layers_with_other_outputs_and_products_with_zeros(target: str, tmp_path: Path) -> None:
    graph = na.trace_graph(Handing().eval(), torch.ones(2, 4))
    assert graph.eject(tmp_path / "net", target).error < 1e-5


class Resized(torch.nn.Module):
    """An image whose positions are resized to it."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = torch.nn.Parameter(torch.randn(1, 2, 9, 9))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum."""
        return x + F.interpolate(self.positions, x.shape[2:], mode="bicubic")


@pytest.mark.parametrize("style", [style for style in STYLES if style.values[0] != "torch"])
def test_long_lists_of_numbers_are_in_the_file(style: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    graph = na.trace_graph(Resized().eval(), torch.randn(1, 2, 12, 12))
    ejected = graph.eject(tmp_path / "net", TARGETS[style], style=style)
    assert ejected.error < 1e-5
    assert "constant_2" in (tmp_path / "net" / "model.py").read_text()


class Attention(torch.nn.Module):
    """Attention, whose queries and keys are rotated."""

    def __init__(self, is_causal: bool) -> None:
        super().__init__()
        self.is_causal = is_causal
        self.project = torch.nn.Linear(8, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The mean of the heads."""
        q, k = self.project(x).reshape(2, 6, 2, 8).transpose(1, 2) * 1.0, x[:, None]
        mask = torch.ones(6, 6, dtype=torch.bool).tril() if self.is_causal else None
        rotated = torch.cat([-q[:, :, :, 4:8], q[:, :, :, 0:4]], 3)
        scale = float(np.float32(8**-0.5))
        return F.scaled_dot_product_attention(rotated, k, k, mask, scale=scale).mean(1)


def test_attention_reads_as_a_human_writes_it() -> None:
    net = torch.nn.Sequential(Attention(is_causal=False), Attention(is_causal=True))
    graph = na.trace_graph(net.eval(), torch.ones(2, 6, 8))
    text = graph.to_source("torch", standalone=True)
    assert text.count("class Attention") == 1
    assert "torch.cat([-project[..., 4:8], project[..., :4]], 3)" in text
    assert "is_causal=self.is_causal)" in text
    assert "scale=" not in text
    assert "* 1.0" not in text


class Ordered(torch.nn.Module):
    """A linear layer whose results a buffer puts in order."""

    def __init__(self, *order: int) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)
        self.register_buffer("order", torch.tensor(order), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, 3) → (batch, 3)."""
        return self.linear(x)[:, self.order]


@pytest.mark.parametrize("target", ["torch", "jax"])
def test_computed_and_stored_constants_have_one_class(target: str, tmp_path: Path) -> None:
    net = torch.nn.Sequential(Ordered(2, 0, 1), Ordered(0, 1, 2), Ordered(1, 2, 0))
    na.trace_graph(net.eval(), torch.ones(2, 3)).eject(tmp_path / "net", target)
    text = (tmp_path / "net" / "model.py").read_text()
    assert len(re.findall(r"(?m)^(?:class|def) [Oo]rdered", text)) == 1


def test_images_in_nnx_have_the_channels_last() -> None:
    text = _source("unet", "nnx").text
    assert "nnx.Conv(in_features, out_features, (3, 3), padding=1, rngs=rngs)" in text
    assert "nnx.GroupNorm(out_features, 2, epsilon=1e-05, rngs=rngs)" in text
    assert "nnx.max_pool(x, (2, 2), strides=(2, 2))" in text
    assert "nnx.avg_pool(h, (2, 2), strides=(2, 2))" in text
    assert text.count("transpose((") == 1  # of the output


def test_images_in_tensorflow_have_the_channels_last() -> None:
    text = _source("unet", "module").text
    assert "tf.nn.conv2d(x, self.kernel, strides=(1, 1), padding=self.padding)" in text
    assert "tf.image.resize(" in text
    assert text[text.index("class Conv2d") :].count("tf.transpose(") == 1  # of the output


def test_a_folder_is_replaced_only_when_asked(tmp_path: Path) -> None:
    _, graph = _graph("mlp")
    (tmp_path / "net").mkdir()  # empty: nothing is lost
    graph.eject(tmp_path / "net", "torch")
    with pytest.raises(StorageError, match="pass overwrite=True"):
        graph.eject(tmp_path / "net", "torch")
    assert graph.eject(tmp_path / "net", "torch", overwrite=True).error < 1e-6


@pytest.mark.parametrize("own", ["train.py", "README.md"])
def test_a_folder_with_other_files_is_kept(own: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
    if own == "train.py":
        graph.eject(folder, "jax")  # and the user adds a file
    else:
        folder.mkdir()
    (folder / own).write_text("years of work")
    with pytest.raises(StorageError, match=r"eject: .* is a directory of other things"):
        graph.eject(folder, "jax", overwrite=True)
    assert (folder / own).read_text() == "years of work"


@pytest.mark.release("target")
@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy", "keras"])
@pytest.mark.parametrize(
    "layer",
    [
        torch.nn.Linear(4, 3),
        torch.nn.LayerNorm(4),
        torch.nn.BatchNorm1d(4),
        torch.nn.GELU(),
        torch.nn.Softmax(-1),
        torch.nn.Dropout(),
    ],
    ids=lambda layer: type(layer).__name__,
)
def test_single_layers(layer: torch.nn.Module, target: str, tmp_path: Path) -> None:
    na.trace_graph(layer, torch.ones(2, 4)).eject(tmp_path / "layer", target)


def test_errors_name_the_argument(tmp_path: Path) -> None:
    _, graph = _graph("mlp")
    with pytest.raises(ArgumentError, match=r"target: got 'caffe', .* 'numpy', 'mlx', 'keras'$"):
        graph.eject(tmp_path / "net", "caffe")
    with pytest.raises(ArgumentError, match="style: got 'haiku' for torch, expected"):
        graph.eject(tmp_path / "net", "torch", style="haiku")
    with pytest.raises(ArgumentError, match="with standalone=True"):
        graph.to_source("torch")
    assert not list(tmp_path.iterdir())


def test_loops_read_as_in_their_framework() -> None:
    torch_text, jax_text = (_source("seq2seq", style).text for style in ("torch", "functional"))
    assert "for x_t in x:" in torch_text
    assert "for _ in range(9):" in torch_text  # the bound of the while loop
    assert "torch.stack(" in torch_text
    assert "= torch.stack(" not in torch_text
    assert "def step(" in jax_text
    assert "lax.scan(step, " in jax_text
    assert "lax.fori_loop(1, 3, " in jax_text
    assert "nn.LSTM(6, 4, num_layers=2, batch_first=True)" in _source("lstm", "torch").text
    assert "nn.GRU(6, 4, batch_first=True, bidirectional=True)" in _source("gru", "torch").text
    assert "    if " in _source("branch", "torch").text
    assert "lax.cond(" in _source("branch", "functional").text


def test_a_branch_takes_both_ways(tmp_path: Path) -> None:
    graph = _graph("branch")[1]
    graph.eject(tmp_path / "net", "torch")
    namespace: dict[str, Any] = {"__file__": str(tmp_path / "net" / "model.py")}
    exec((tmp_path / "net" / "model.py").read_text(), namespace)
    for sign in (1, -1):
        x = sign * torch.ones(2, 4)
        torch.testing.assert_close(namespace["load"]()(x), graph(x=x))


@pytest.mark.parametrize("name", _SOME)
def test_a_checkpoint_of_a_torch_source_loads(name: str) -> None:
    net, graph = _graph(name)
    module: dict[str, Any] = {"__file__": "model.py"}
    source = _source(name, "torch")
    exec(compile(source.text, "model.py", "exec"), module)
    ejected = module[source.name]()
    assert ejected.load_state_dict(net.state_dict()) == ([], [])
    args, kwargs = example_of(graph).on("torch")
    torch.testing.assert_close(ejected.eval()(*args, **kwargs), net(*args, **kwargs))


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_constants_without_axes_are_numbers(target: str, tmp_path: Path) -> None:
    def program(x: Any, mask: Any) -> Any:
        scale, least = jnp.float32(0.3), jnp.finfo(jnp.float32).min
        total = jax.lax.while_loop(
            lambda n: n < jnp.int32(5), lambda n: n + jnp.int32(2), x.sum().astype(int)
        )
        return jnp.where(mask, x * scale, -1e9) + jnp.where(mask, x, least), total, jnp.arange(3)

    x = jnp.ones((2, 3))
    graph = na.trace_graph(program, x, x > 0)
    assert graph.eject(tmp_path / "net", target).error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert re.search(r"where\(mask, x \* 0\.3, -1e9\)", text)
    assert "< 5" in text
    assert "+ 2" in text
    assert "full" not in text


def test_tensorflow_source_computes_constants(tmp_path: Path) -> None:
    half, mask = np.full((2, 3), 0.5, "float32"), np.tri(3, dtype=bool)[None]

    def program(x: Any, y: Any) -> Any:
        return [jnp.concatenate([x, half]), jnp.where(mask, x[:, None], 0), y + jnp.arange(3)]

    graph = na.trace_graph(program, jnp.ones((2, 3)), jnp.ones((2, 3), int))
    graph.eject(tmp_path / "net", "tensorflow")
    text = (tmp_path / "net" / "model.py").read_text()
    assert "tf.constant(0.5, tf.float32, (2, 3))" in text
    assert "tf.linalg.band_part(tf.ones((3, 3), tf.bool), -1, 0)" in text
    assert "y + tf.reshape(tf.range(3), (1, 3))" in text
    assert "tf.Variable" not in text


@pytest.mark.parametrize(
    ("target", "infinity", "counted", "kind"),
    [
        ("torch", 'float("-inf")', "torch.arange(-3, 0, dtype=torch.int32)", "torch.bool"),
        ("jax", "-jnp.inf", "jnp.arange(-3, 0)", "bool"),
        ("numpy", "-np.inf", "np.arange(-3, 0, dtype=np.int32)", "bool"),
        ("tensorflow", "-math.inf", "tf.range(-3, 0)", "tf.bool"),
    ],
)
def test_numbers_and_dtypes_read_as_in_their_framework(
    target: str, infinity: str, counted: str, kind: str
) -> None:
    def program(x: Any, y: Any) -> Any:
        return jnp.where(x > 0, x, -jnp.inf), y + jnp.arange(-3, 0), y.astype(bool)

    graph = na.trace_graph(program, jnp.ones(3), jnp.ones(3, int))
    text = graph.to_source(target, standalone=True)
    for word in (
        f"x, {infinity})",
        counted,
        f", {kind})" if target == "tensorflow" else f"({kind})",
    ):
        assert word in text, text


def test_functions_that_the_source_defines_have_no_annotations() -> None:
    text = _source("stages", "functional").text
    assert "def layer_norm(x, weight=None, bias=None, *, axis=-1, eps=1e-5):\n" in text
    assert "->" not in text


def test_numpy_source_repeats_no_default_arguments() -> None:
    graph = na.trace_graph(
        lambda x: (x.mean((2, 3)), x.amax(1, keepdim=True)), torch.ones(1, 2, 3, 4)
    )
    text = graph.to_source("numpy", standalone=True)
    assert ".mean(axis=(2, 3))" in text
    assert "axis=1, keepdims=True)" in text
    assert "None" not in text[text.index("def ") : text.index("def load")]


@pytest.mark.parametrize("name", ["mlp", "stages", "gpt2", *LOOPS])
def test_numpy_agrees_with_the_graph(name: str, tmp_path: Path) -> None:
    graph = _graph(name)[1]
    assert graph.eject(tmp_path / "net", "numpy").error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert "nestarray" not in text
    assert "torch" not in text


def test_source_has_no_sizes_that_values_of_the_example_decide(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Counted(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            positive = x[x > 0]
            return positive * positive.shape[0]

    monkeypatch.setattr("nestarray.exporters.source.tree.sizes.VALUES", 1)
    graph = na.trace_graph(Counted(), torch.tensor([0.3, -1.0, 2.0, 0.5, -2.0, 1.0]))
    with pytest.raises(ConversionError, match=r"values decide the size of .* sizes of one example"):
        graph.eject(tmp_path / "net", "torch")
    assert not (tmp_path / "net").exists()


_WITH_LAYERS = [("jax", "nnx"), ("tensorflow", None), *([("mlx", None)] if HAS_MLX else [])]


def test_layers_of_one_feature_are_layers(tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.mask, self.down = torch.nn.Conv2d(3, 1, 1), torch.nn.Linear(4, 1)
            self.up = torch.nn.Linear(1, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.up(torch.tanh(self.down(self.mask(x))))

    graph = na.trace_graph(Net(), torch.randn(2, 3, 5, 4))
    for target, style in _WITH_LAYERS:
        assert graph.eject(tmp_path / target, target, style=style).error < 1e-5
    text = (tmp_path / "jax" / "model.py").read_text()
    assert "nnx.Conv(3, 1, (1, 1)" in text
    assert "nnx.Linear(4, 1, rngs=rngs)" in text
    assert "nnx.Linear(1, 4, rngs=rngs)" in text
    text = (tmp_path / "tensorflow" / "model.py").read_text()
    assert "self.down = Linear(kernel_shape=(4, 1), bias_shape=(1,))" in text


def test_layers_that_are_called_twice_are_layers(tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.block, self.head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(torch.tanh(self.block(torch.tanh(self.block(x)))))

    graph = na.trace_graph(Net(), torch.randn(3, 4))
    for target, style in _WITH_LAYERS:
        assert graph.eject(tmp_path / target, target, style=style).error < 1e-5
    assert "self.block = nnx.Linear(4, 4, rngs=rngs)" in (tmp_path / "jax/model.py").read_text()
    assert (tmp_path / "tensorflow/model.py").read_text().count("class Linear") == 1


def test_layers_have_the_dtype_of_their_variables(tmp_path: Path) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.lstm = torch.nn.Embedding(5, 4), torch.nn.LSTM(4, 3, batch_first=True)
            self.norm, self.out = torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            return self.out(self.norm(self.lstm(self.embed(ids))[0][:, -1]))

    graph = na.trace_graph(Net().double().eval(), torch.tensor([[1, 2, 0], [4, 0, 3]]))
    assert graph.eject(tmp_path / "net", "torch").error < 1e-12
    text = (tmp_path / "net" / "model.py").read_text()
    assert text.count("dtype=torch.float64)") == 4
    assert "nn.Linear(3, 2, dtype=torch.float64)" in text


def test_numbers_that_compilers_make_zeros(tmp_path: Path) -> None:
    graph = na.trace_graph(lambda x: torch.exp(x) * 1e-30 * 1e-10, torch.ones(3))
    graph.eject(tmp_path / "tiny", "jax")

"""Source of models that spell their layers out has the target's layers."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import equinox as eqx
import haiku as hk
import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import torch
from flax import linen, nnx
from safetensors import safe_open
from torch._higher_order_ops.scan import scan

import nestarray as na
from nestarray.exporters.export import example_of


class Block(linen.Module):
    """A block of a transformer."""

    @linen.compact
    def __call__(self, x: Any) -> Any:
        h = linen.LayerNorm()(x)
        x = x + linen.MultiHeadDotProductAttention(2)(h, h)
        return x + linen.Dense(8)(linen.gelu(linen.Dense(16)(linen.LayerNorm()(x))))


class Transformer(linen.Module):
    """Logits of tokens."""

    @linen.compact
    def __call__(self, ids: Any) -> Any:
        x = linen.Embed(11, 8)(ids)
        for _ in range(2):
            x = Block()(x)
        return linen.Dense(3)(linen.LayerNorm()(x))


class Images(nnx.Module):
    """Convolutions with the channels last."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv = nnx.Conv(3, 4, (3, 3), strides=2, rngs=rngs)
        self.norm = nnx.BatchNorm(4, use_running_average=True, rngs=rngs)
        self.layers = nnx.List([nnx.Linear(4, 4, rngs=rngs) for _ in range(2)])
        self.out = nnx.Linear(16, 2, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = nnx.relu(self.norm(self.conv(x)))
        for layer in self.layers:
            x = nnx.relu(layer(x))
        x = nnx.max_pool(x, (2, 2), (2, 2)) + nnx.avg_pool(x, (2, 2), (2, 2))
        return self.out(x.reshape(x.shape[0], -1))


def _images(channels: int) -> Any:
    return jnp.asarray(np.random.default_rng(0).normal(size=(2, 8, 8, channels)), "float32")


def _linen() -> na.graph.Graph:
    ids = jnp.arange(10).reshape(2, 5)
    return na.trace_graph(Transformer(), ids, variables=Transformer().init(jax.random.key(0), ids))


def _nnx() -> na.graph.Graph:
    return na.trace_graph(Images(nnx.Rngs(0)), _images(3))


def _haiku() -> na.graph.Graph:
    def network(x: Any) -> Any:
        return hk.nets.MLP([4, 2])(hk.Flatten()(jax.nn.relu(hk.Conv2D(4, 3, stride=2)(x))))

    net, x = hk.without_apply_rng(hk.transform(network)), _images(2)
    return na.trace_graph(net, x, params=net.init(jax.random.key(0), x))


def _equinox() -> na.graph.Graph:
    net = eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(2, 4, 3, key=jax.random.key(0)),
            eqx.nn.Lambda(jnp.ravel),
            eqx.nn.MLP(144, 2, width_size=4, depth=1, key=jax.random.key(1)),
        ]
    )
    return na.trace_graph(net, _images(2)[0].transpose(2, 0, 1))


def _keras() -> na.graph.Graph:
    keras.utils.clear_session()  # names of layers begin at 0
    layers = keras.layers
    net = keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.Conv2D(4, 3, padding="same", activation="relu"),
            layers.BatchNormalization(),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(4, activation="relu"),
            layers.Dropout(0.5),
            layers.Dense(3, activation="softmax"),
        ]
    )
    return na.trace_graph(net, np.asarray(_images(3)))


#: Source → its graph, and the layers of its source in PyTorch.
SOURCES = {
    "linen": (
        _linen,
        ["Embed_0 = nn.Embedding(11, 8)", "query = nn.Linear(8, 8)", "Dense_1 = nn.Linear(8, 16)"],
    ),
    "nnx": (
        _nnx,
        ["conv = nn.Conv2d(3, 4, 3, stride=2)", "norm = nn.BatchNorm2d(4)", "F.max_pool2d(x, 2)"],
    ),
    "haiku": (_haiku, ["conv2_d = nn.Conv2d(2, 4, 3, stride=2)", "linear_0 = nn.Linear(64, 4)"]),
    "equinox": (_equinox, ["layer_0 = nn.Conv2d(2, 4, 3)", "nn.Linear(144, 4)"]),
    "keras": (
        _keras,
        [
            "conv2d = nn.Conv2d(3, 4, 3, padding=1)",
            "batch_normalization = nn.BatchNorm2d(4, eps=0.001)",
            "dense = nn.Linear(64, 4)",
        ],
    ),
}


def _loss(output: Any) -> Any:
    return (output * output).sum()


@pytest.mark.parametrize("train", [False, True])
def test_numpy_normalizes_batches_with_the_channels_last(*, train: bool, tmp_path: Path) -> None:
    keras.utils.clear_session()
    net = keras.Sequential([keras.Input((4, 4, 3)), keras.layers.BatchNormalization()])
    x = np.random.default_rng(0).normal(2.0, 1.0, (2, 4, 4, 3)).astype("float32")
    graph = na.trace_graph(net, x, train=train)
    assert graph.eject(tmp_path / "net", "numpy").error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert "axis=3" in text
    assert "moveaxis" not in text


@pytest.mark.parametrize("source", SOURCES)
def test_torch_has_its_own_layers(source: str, tmp_path: Path) -> None:
    make, layers = SOURCES[source]
    graph = make()
    assert graph.eject(tmp_path / "net", "torch").error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert "nn.Parameter" not in text
    for layer in layers:
        assert layer in text, text

    spec = importlib.util.spec_from_file_location("ejected", tmp_path / "net" / "model.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    moved = graph.to_backend("torch")
    (x,) = example_of(graph).on("torch")[0]
    _, grads = na.value_and_grad(lambda v: _loss(moved(x, v=v)))(moved.v)
    stepped = _loss(moved(x, v=moved.v - 1e-2 * grads))
    net = module.load()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    _loss(net(x)).backward()
    optimizer.step()  # steepest descent, which a transposed weight does not change
    torch.testing.assert_close(_loss(net(x)), stepped, rtol=1e-4, atol=1e-5)


class Rows(eqx.Module):
    """Products of the last axis, for which other axes are merged."""

    weight: jax.Array
    bias: jax.Array

    def __call__(self, x: jax.Array) -> Any:
        rows = (x.reshape(-1, 4) @ self.weight + self.bias).reshape(2, 3, 6)
        product = x.reshape(6, 4) @ self.weight
        heads = product.reshape(2, 3, 2, 3)
        other = (jnp.sin(x).reshape(-1, 4) @ self.weight).reshape(3, 2, 6)
        return rows, heads.sum(2), product[0], other


def test_products_of_the_last_axis_have_no_reshapes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = [jnp.asarray(rng.normal(size=n), "float32") for n in ((4, 6), (6,), (2, 3, 4))]
    weight, bias, x = arrays
    graph = na.trace_graph(Rows(weight, bias), x)
    assert graph.eject(tmp_path / "net", "torch").error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    for line in (
        "h = x @ self.weight + self.bias\n",
        "h2 = x @ self.weight\n",  # that two calls read
        "(torch.sin(x) @ self.weight).reshape(3, 2, 6)",
    ):
        assert line in text, text
    assert "reshape(6, 4)" not in text


def test_dense_layers_of_sequences_with_an_open_batch() -> None:
    net = keras.Sequential([keras.Input((3, 4)), keras.layers.Dense(6, "relu", name="dense")])
    x = np.ones((2, 3, 4), "float32")
    graph = na.trace_graph(net, x, dynamic={"inputs": {0: "batch"}})
    lines = {"torch": "self.dense = nn.Linear(4, 6)", "jax": '["dense"]["kernel"]'}
    for target, line in lines.items():
        text = graph.to_source(target, standalone=True)
        assert line in text, text
        assert "reshape" not in text, text


def test_borders_of_open_images_are_settings() -> None:
    x = keras.Input((None, None, 3))
    net = keras.Model(x, keras.layers.Conv2D(4, 3, padding="same")(x))
    graph = na.trace_graph(net, np.ones((2, 8, 8, 3), "float32"), dynamic=True)
    assert "nn.Conv2d(3, 4, 3, padding=1)" in graph.to_source("torch", standalone=True)


class Recurrent(eqx.Module):
    """Layers of one example, mapped over a batch, and cells in a loop."""

    embed: eqx.nn.Embedding
    cell: eqx.nn.GRUCell
    head: eqx.nn.Linear

    def __init__(self, key: jax.Array) -> None:
        self.embed = eqx.nn.Embedding(7, 3, key=key)
        self.cell = eqx.nn.GRUCell(3, 4, key=key)
        self.head = eqx.nn.Linear(4, 2, key=key)

    def __call__(self, ids: jax.Array) -> jax.Array:
        def run(ids: jax.Array) -> jax.Array:
            rows = jax.vmap(self.embed)(ids)
            return jax.lax.scan(lambda h, x: (self.cell(x, h), None), jnp.zeros(4), rows)[0]

        return jax.vmap(self.head)(jax.vmap(run)(ids))


@pytest.mark.full
def test_layers_of_one_example_are_layers_of_a_batch(tmp_path: Path) -> None:
    graph = na.trace_graph(Recurrent(jax.random.key(0)), jnp.asarray([[1, 2], [3, 6], [0, 0]]))
    for target, lines in {
        "torch": ["nn.Embedding(7, 3)", "nn.Linear(4, 2)", "h = self.cell(embed_t, h)"],
        "jax": ['["embed"]["weight"][ids]', 'cell(params["cell"], c, h)', 'x @ params["weight"].T'],
        "tensorflow": ["tf.gather(self.embed_weight, ids)", "@ self.head_kernel"],
    }.items():
        assert graph.eject(tmp_path / target, target).error < 1e-6
        text = (tmp_path / target / "model.py").read_text()
        assert "einsum" not in text
        assert "squeeze" not in text
        for line in lines:
            assert line in text, text


@pytest.mark.parametrize("dynamic", [None, {"inputs": {0: "batch", 1: "length"}}])
def test_attention_of_keras_has_layers(dynamic: Any, tmp_path: Path) -> None:
    keras.utils.clear_session()
    x = keras.Input((None, 6))
    y = keras.layers.MultiHeadAttention(2, 3, name="attention")(x, x, use_causal_mask=True)
    net = keras.Model(x, keras.layers.Softmax(axis=1)(keras.layers.Dense(5, name="dense")(y)))
    graph = na.trace_graph(net, np.ones((2, 4, 6), "float32"), dynamic=dynamic)
    assert graph.eject(tmp_path / "torch", "torch").error < 1e-6
    text = (tmp_path / "torch" / "model.py").read_text()
    for line in ("query = nn.Linear(6, 6)", "attention_output = nn.Linear(6, 6)", ".softmax(1)"):
        assert line in text, text
    assert "F.scaled_dot_product_attention(query, key, value, is_causal=True)" in text, text
    assert graph.eject(tmp_path / "tensorflow", "tensorflow").error < 1e-6
    text = (tmp_path / "tensorflow" / "model.py").read_text()
    assert "tf.tensordot(self.attention(inputs), self.dense_kernel, 1)" in text, text


class Contractions(eqx.Module):
    """Products of one, two and no shared axes, and of a batch of matrices."""

    weight: jax.Array
    kernel: jax.Array

    def __call__(self, x: jax.Array) -> Any:
        heads = jnp.einsum("bti,ihd->bthd", x, self.kernel)
        both = jnp.einsum("bthd,ihd->bti", heads, self.kernel)
        first = jnp.einsum("ij,bti->jbt", self.weight, x)
        return (
            heads,
            both,
            first,
            x @ jnp.stack([self.weight] * 2),
            jnp.einsum("i,j->ij", x[0, 0], x[0, 1]),
        )


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_contractions_are_products(target: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = [jnp.asarray(rng.normal(size=n), "float32") for n in ((4, 5), (4, 2, 3), (2, 3, 4))]
    graph = na.trace_graph(Contractions(*arrays[:2]), arrays[2])
    assert graph.eject(tmp_path / "net", target).error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert text.count("einsum") == 2  # of a batch, and the outer product
    assert text.count("tensordot") >= 2


class Residual(torch.nn.Module):
    """Layers of PyTorch that Flax has too."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(8)
        self.inner = torch.nn.Linear(8, width)
        self.outer = torch.nn.Linear(width, 8, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.outer(torch.relu(self.inner(self.norm(x))))


class Tokens(torch.nn.Module):
    """Blocks of equal and of other widths."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(11, 8)
        self.blocks = torch.nn.ModuleList([Residual(16) for _ in range(3)])
        self.last = Residual(4)
        self.scale = torch.nn.BatchNorm1d(5)
        self.out = torch.nn.Linear(8, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.out(self.scale(self.last(x)))


def test_nnx_has_its_own_layers(tmp_path: Path) -> None:
    torch.manual_seed(0)
    graph = na.trace_graph(Tokens().eval(), torch.arange(10).reshape(2, 5))
    assert graph.eject(tmp_path / "net", "jax", style="nnx").error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    for line in (
        "def __init__(self, out_features, rngs):",
        "self.norm = nnx.LayerNorm(8, epsilon=1e-05, rngs=rngs)",
        "self.outer = nnx.Linear(out_features, 8, use_bias=False, rngs=rngs)",
        "self.embed = nnx.Embed(11, features=8, rngs=rngs)",
        "self.blocks = nnx.List([Residual(16, rngs=rngs) for _ in range(3)])",
        "self.scale = nnx.BatchNorm(5, axis=1, rngs=rngs)",
    ):
        assert line in text, text
    assert "nnx.Param" not in text
    space: dict[str, Any] = {"__file__": str(tmp_path / "net" / "model.py")}
    exec(text, space)
    ids = jnp.asarray([[1, 2, 3, 4, 5]])
    grads = nnx.grad(lambda net: _loss(net(ids)))(space["load"]())
    moved = graph.to_backend("jax")
    wanted = jax.grad(lambda v: _loss(moved(jnp.tile(ids, (2, 1)), v=v)))(moved.v)
    got = 2 * grads.blocks[1].inner.kernel[...].T
    np.testing.assert_allclose(got, wanted["blocks/1/inner/weight"], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "target", ["jax", pytest.param("tensorflow", marks=pytest.mark.full), "numpy"]
)
@pytest.mark.parametrize("source", SOURCES)
def test_other_targets_keep_names_and_layouts(source: str, target: str, tmp_path: Path) -> None:
    graph = SOURCES[source][0]()
    assert graph.eject(tmp_path / "net", target).error < 1e-5
    with safe_open(tmp_path / "net" / "weights.safetensors", "np") as file:
        found = {file.get_tensor(key).shape for key in file.keys()}  # noqa: SIM118
    assert found <= {tuple(x.shape) for x in (*graph.v.leaves(), *graph.s.leaves())}


def test_images_with_the_channels_last_stay_so() -> None:
    for target, calls in {
        "jax": ['(2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")', "lax.reduce_window("],
        "tensorflow": ["tf.nn.conv2d(x, self.conv_kernel, strides=(2, 2)", "tf.nn.max_pool("],
    }.items():
        text = re.sub(r"\s+", " ", _nnx().to_source(target, standalone=True))
        assert all(call in text for call in calls), text


@pytest.mark.parametrize("target", ["tensorflow", "torch", "jax"])
def test_recurrent_layers_of_keras_write_no_rows(target: str, tmp_path: Path) -> None:
    net = keras.Sequential([keras.Input((3, 4)), keras.layers.GRU(5)])
    graph = na.trace_graph(net, np.ones((2, 3, 4), "float32"))
    assert graph.eject(tmp_path / "net", target).error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert not re.search(r"scatter|\.at\[|clone", text), text
    if target == "tensorflow":
        assert "tf.zeros((2, 5))" in text
        assert "trainable=False" not in text


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_slices_of_slices_are_one_access(target: str, tmp_path: Path) -> None:
    def program(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x[:, :3][..., :2, 1:], x[:, 1:][:, :2]

    graph = na.trace_graph(program, torch.randn(2, 4, 3, 5))
    graph.eject(tmp_path / "net", target)
    text = (tmp_path / "net" / "model.py").read_text()
    assert re.search(r"x\[(:|\.\.\.), :3, :2, 1:\], x\[:, 1:3\]", text), text


class Padded(torch.nn.Module):
    """An embedding of which one row is not trained."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(5, 3, padding_idx=2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.embed(ids).sum()


def test_the_padding_of_an_embedding_stays_a_setting() -> None:
    graph = na.trace_graph(Padded(), torch.tensor([1, 2, 3]))
    assert "nn.Embedding(5, 3, padding_idx=2)" in graph.to_source("torch", standalone=True)
    text = graph.to_source("jax", standalone=True)
    assert 'embedding(ids, **params["embed"], padding_idx=2)' in text
    space: dict[str, Any] = {"__file__": "model.py"}
    exec(compile(text, "model.py", "exec"), space)
    weight = jnp.arange(15.0).reshape(5, 3)
    gradient = jax.grad(
        lambda weight: space["embedding"](jnp.asarray([1, 2, 3]), weight, padding_idx=2).sum()
    )(weight)
    np.testing.assert_array_equal(gradient[:, 0], [0, 1, 0, 1, 0])


@pytest.mark.full
def test_models_of_flax_get_layers_of_nnx(tmp_path: Path) -> None:
    graph = _linen()
    assert graph.eject(tmp_path / "net", "jax", style="nnx").error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert "self.Embed_0 = nnx.Embed(11, features=8, rngs=rngs)" in text
    assert "self.LayerNorm_1 = nnx.LayerNorm(8, rngs=rngs)" in text
    assert "x + self.Dense_0(jax.nn.gelu(self.Dense_1(self.LayerNorm_1(x))))" in text


class Tables(nnx.Module):
    """Rows of a table, some of which count from the end."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.embed, self.table = nnx.Embed(5, 3, rngs=rngs), nnx.Param(jnp.arange(15.0) / 7)

    def __call__(self, ids: Any) -> Any:
        table = self.table[...].reshape(5, 3)
        rows = jnp.take(table, ids - 2, axis=0) + table[ids - 1] + table[:, -1:][0]
        return self.embed(ids) + rows, table[:, -1]


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_rows_of_negative_ids_are_no_embedding(target: str, tmp_path: Path) -> None:
    graph = na.trace_graph(Tables(nnx.Rngs(0)), jnp.asarray([[0, 1], [2, 4]]))
    assert graph.eject(tmp_path / "net", target).error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert "clip" not in text
    assert ("where" in text) == (target == "tensorflow")  # which refuses negative ids
    assert "[2::3]" in text  # the last column of the table, which is stored as a vector
    if target == "torch":
        assert "self.embed = nn.Embedding(5, 3)" in text
        assert "[ids - 2]" in text
        assert "[ids - 1]" in text


def test_ids_of_keras_are_no_arithmetic(tmp_path: Path) -> None:
    keras.utils.clear_session()
    net = keras.Sequential([keras.Input((4,), dtype="int32"), keras.layers.Embedding(5, 3)])
    graph = na.trace_graph(net, np.asarray([[0, 1, 2, 4]], np.int32))
    for target, expected in (
        ("torch", "nn.Embedding(5, 3)"), ("jax", '["embeddings"][inputs]'),
        ("tensorflow", "_embeddings, inputs)"),
    ):  # fmt: skip
        assert graph.eject(tmp_path / target, target).error == 0
        text = (tmp_path / target / "model.py").read_text()
        assert expected in text
        assert "where" not in text


class Masked(linen.Module):
    """A layer of a loop, which reads a mask."""

    @linen.compact
    def __call__(self, x: Any, mask: Any) -> Any:
        return jnp.where(mask, linen.Dense(4)(x), -1.0), None


class Layered(linen.Module):
    """A loop over layers that share a mask."""

    @linen.compact
    def __call__(self, ids: Any) -> Any:
        x = linen.Embed(5, 4, name="embed")(ids)
        axes: Any = {"variable_axes": {"params": 0}, "split_rngs": {"params": True}}
        layers = linen.scan(Masked, **axes, length=2, in_axes=linen.broadcast)(name="layers")
        return linen.Dense(2, name="head")(layers(x, ids[..., None] > 1)[0])


@pytest.mark.parametrize("target", ["torch", "jax"])
def test_models_of_linen_with_an_open_batch(target: str, tmp_path: Path) -> None:
    ids = jnp.ones((2, 3), int)
    variables = Layered().init(jax.random.key(0), ids)
    graph = na.trace_graph(Layered(), ids, variables=variables, dynamic={"ids": {0: "batch"}})
    graph.eject(tmp_path / "net", target)
    text = (tmp_path / "net" / "model.py").read_text()
    assert "full(" not in text  # the number -1.0 has no array
    assert "shape(" not in text
    assert text.count("def forward(" if target == "torch" else "def layered") == 1
    assert ("nn.Embedding(5, 4)" if target == "torch" else '["embedding"][ids]') in text


class Noisy(nnx.Module):
    """A recurrent cell and dropout, whose keys are counted in the state."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.first, self.last = nnx.Linear(4, 8, rngs=rngs), nnx.Linear(8, 2, rngs=rngs)
        self.drop = nnx.Dropout(0.2, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return self.last(self.drop(nnx.relu(self.first(x))))


def test_models_that_write_into_their_state_have_layers(tmp_path: Path) -> None:
    graph = na.trace_graph(Noisy(nnx.Rngs(0)), jnp.ones((3, 4)), train=True)
    assert graph.eject(tmp_path / "net", "torch").error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert "self.first = nn.Linear(4, 8)" in text
    assert "F.dropout(F.relu(self.first(x)), p=0.2, training=self.training)" in text
    assert "persistent" not in text


def test_windows_are_pooled_by_the_function_of_the_target(tmp_path: Path) -> None:
    graph = na.trace_graph(lambda x: linen.avg_pool(x, (2, 2), (2, 2)), jnp.ones((1, 4, 4, 3)))
    for target, expected in (("tensorflow", "tf.nn.avg_pool2d(x, (2, 2)"), ("numpy", "avg_pool(x")):
        assert graph.eject(tmp_path / target, target).error < 1e-6
        body = (tmp_path / target / "model.py").read_text()
        assert expected in body
        assert "transpose" not in body


def test_borders_of_pooling_are_padded(tmp_path: Path) -> None:
    graph = na.trace_graph(lambda x: linen.max_pool(x, (3, 3), (2, 2), "SAME"), -_images(3))
    assert graph.eject(tmp_path / "net", "torch").error == 0
    text = (tmp_path / "net" / "model.py").read_text()
    assert '(0, 1, 0, 1), value=float("-inf"))' in text, text
    assert "F.max_pool2d(x, 3, stride=2)" in text, text


@pytest.mark.parametrize(
    ("target", "calls"),
    [
        (
            "torch",
            ["F.elu(x)", "F.leaky_relu(x, negative_slope=0.2)", "F.hardswish(", "F.hardsigmoid("],
        ),
        (
            "jax",
            [
                "jax.nn.elu(x)",
                "jax.nn.leaky_relu(x, negative_slope=0.2)",
                "nn.hard_swish(",
                "nn.hard_sigmoid(",
            ],
        ),
    ],
)
def test_functions_of_jax_keep_their_names_with_open_sizes(
    target: str, calls: list[str], tmp_path: Path
) -> None:
    def net(x: jax.Array, bias: jax.Array) -> jax.Array:
        y = jax.nn.elu(x) + jax.nn.leaky_relu(x, 0.2) + jnp.broadcast_to(bias, x.shape)
        y = y * (jax.nn.relu6(y + 3) / 6) + jax.nn.relu6(x + 3) / 6
        return jnp.sum(y / jnp.linalg.norm(y, axis=-1, keepdims=True), 0) / x.shape[0]

    example = jnp.asarray(np.random.default_rng(0).normal(size=(3, 4)), "float32")
    graph = na.trace_graph(net, example, example[0], dynamic={"x": {0: "batch"}})
    assert graph.eject(tmp_path / "net", target).error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert all(call in text for call in calls), text
    assert not re.search("conj|broadcast|expand[(]|full", text), text
    assert re.search(r" / \w+\.shape\[0\]", text), text


@pytest.mark.parametrize("target", ["torch", "numpy"])
def test_borders_of_open_images_are_computed(target: str, tmp_path: Path) -> None:
    kernel = jnp.asarray(np.random.default_rng(0).normal(size=(3, 5, 3, 4)), "float32")

    def net(x: jax.Array, kernel: jax.Array) -> jax.Array:
        x = linen.max_pool(x, (3, 2), (2, 1), "SAME")
        return jax.lax.conv_general_dilated(
            x, kernel, (2, 3), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    graph = na.trace_graph(net, -_images(3), kernel, dynamic={"x": {1: "height", 2: "width"}})
    assert graph.eject(tmp_path / "net", target).error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert text.count("= pad_same(x") == 2, text


class Steps(nnx.Module):
    """A loop that calls two layers, and a loop that calls a cell."""

    def __init__(self, cell: Any, rngs: nnx.Rngs) -> None:
        self.first = nnx.Linear(3, 4, rngs=rngs)
        self.second = nnx.Linear(4, 4, rngs=rngs)
        self.rnn = nnx.RNN(cell(4, 2, rngs=rngs))

    def __call__(self, x: jax.Array) -> jax.Array:
        def step(h: jax.Array, row: jax.Array) -> tuple[jax.Array, jax.Array]:
            h = jnp.tanh(self.first(row) + self.second(h))
            return h, h

        return self.rnn(jax.lax.scan(step, jnp.zeros(4), x)[1][None])


class Cells(torch.nn.Module):
    """A loop that calls a cell."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = torch.nn.LSTMCell(3, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(5, 2, 3) → (5, 2, 4)."""

        def step(carry: Any, row: torch.Tensor) -> Any:
            h, c = self.cell(row, carry)
            return (h, c), h.clone()

        start = torch.zeros(2, 4), torch.zeros(2, 4)
        return scan(step, start, x)[1]


@pytest.mark.parametrize("cell", [nnx.GRUCell, nnx.OptimizedLSTMCell])
def test_loops_call_the_layers_and_cells_of_flax(cell: Any, tmp_path: Path) -> None:
    graph = na.trace_graph(Steps(cell, nnx.Rngs(0)), jnp.ones((5, 3)))
    for target, style in (("torch", "torch"), ("jax", "nnx")):
        ejected = graph.eject(tmp_path / target, target, style=style)
        text = (ejected.path / "model.py").read_text()
        assert "tanh(self.first(" in text
        assert "+ self.second(h))" in text
        assert "= self.cell(" in text
        assert "dense_h(y)" in text


@pytest.mark.full
def test_a_loop_calls_the_cell_of_pytorch(tmp_path: Path) -> None:
    cells = na.trace_graph(Cells(), torch.ones(5, 2, 3)).eject(tmp_path / "cells", "torch")
    assert "h2, h = self.cell(x_t, (h, c))" in (cells.path / "model.py").read_text()


def test_pooling_of_all_positions_is_a_layer_or_a_mean() -> None:
    layers = [torch.nn.Conv2d(3, 4, 3), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()]
    graph = na.trace_graph(torch.nn.Sequential(*layers).eval(), torch.ones(2, 3, 8, 8))
    texts = {t: graph.to_source(t, standalone=True) for t in ("torch", "jax", "tensorflow")}
    assert "nn.AdaptiveAvgPool2d(1)" in texts["torch"]
    assert "jnp.mean(x, axis=(2, 3), keepdims=True)" in texts["jax"]
    assert "tf.reduce_mean(" in texts["tensorflow"]
    assert not any("class AdaptiveAvgPool2d" in text for text in texts.values())

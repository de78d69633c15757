"""Properties of every layer: torch's numbers, and the same on every backend and in every mode."""

from __future__ import annotations

import contextlib
import pickle
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import torch

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close
from tests.nn.rows import ROWS, Row

pytestmark = [
    pytest.mark.one_in(20),
    # of torch's LSTM with projections, once in a process
    pytest.mark.filterwarnings("ignore:TF32 acceleration on top of oneDNN"),
]

DIFFERENTIABLE = ("numpy", "jax", "torch", "tensorflow")


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request: pytest.FixtureRequest) -> Row:
    """Each layer with its inputs."""
    return request.param


@pytest.fixture(params=[row for row in ROWS if row.twin], ids=lambda row: row.name)
def twinned(request: pytest.FixtureRequest) -> Row:
    """Each layer that torch has too."""
    return request.param


def numbers(tree: Any) -> Any:
    """A nest of NumPy arrays of a nest of any backend."""
    return na.tree.map(lambda x: np.array(na.to_backend(x, "numpy")), tree)


def torchs(tree: Any) -> Any:
    """A nest of NumPy arrays of the results of a module of torch."""
    return na.tree.map(lambda x: x.detach().numpy(), tree)


def energy(tree: Any) -> Any:
    """The sum of the squares of all floating results."""
    leaves = [x for x in na.tree.leaves(tree) if na.dtype_of(x).is_inexact]
    return sum(na.sum(na.square(x)) for x in leaves)


# -- equal to torch ---------------------------------------------------------------------------


def test_forward_is_torchs(twinned: Row, backend: str) -> None:
    layer, twin = twinned.pair()
    expected = torchs(twin(*map(torch.from_numpy, twinned.xs())))
    out = layer.to_backend(backend)(*twinned.on(backend))
    assert {na.backend_of(x) for x in na.tree.leaves(out)} == {backend}
    assert_close(numbers(out), expected)


@pytest.mark.parametrize("backend", DIFFERENTIABLE)
def test_gradients_are_torchs(twinned: Row, backend: str) -> None:
    layer, twin = twinned.pair()
    if not layer.v.leaves():
        pytest.skip("no variables")
    energy(twin(*map(torch.from_numpy, twinned.xs()))).backward()
    layer, xs = layer.to_backend(backend), twinned.on(backend)
    grads = numbers(na.grad(lambda v: energy(layer(*xs, v=v)))(layer.v))
    expected = {name.replace(".", "/"): p.grad.numpy() for name, p in twin.named_parameters()}
    assert set(grads.paths()) == set(expected)
    for path, gradient in grads.flat_items():
        assert_close(gradient, expected[path], rtol=1e-4, atol=1e-4, reason="long sums")


def test_training_is_torchs(twinned: Row, backend: str) -> None:
    if twinned.draws:
        pytest.skip("torch draws other numbers")
    layer, twin = twinned.pair()
    twin.train()
    layer, xs = layer.to_backend(backend), twinned.on(backend)
    for _ in range(2):
        expected = torchs(twin(*map(torch.from_numpy, twinned.xs())))
        out, s = layer(*xs, train=True)
        assert_close(numbers(out), expected)
        layer = layer.with_variables(layer.v, s)
    for path, state in layer.s.flat_items():
        buffer = twin.get_buffer(path.replace("/", ".")).numpy()
        assert_close(na.to_backend(state, "numpy"), buffer, check_dtype=False)


def test_init_has_the_paths_and_shapes_of_torch(twinned: Row, backend: str) -> None:
    layer = twinned.layer().init(na.random.key(0, backend=backend))
    twin = na.Container.from_torch_module(twinned.twin(), buffers=True)
    both = layer.v.update(layer.s)
    assert set(both.paths()) == set(twin.paths())
    for path, leaf in both.flat_items():
        assert tuple(leaf.shape) == tuple(twin[path].shape), path
        assert na.backend_of(leaf) == backend


# -- equal on every backend -------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_training_and_gradients_are_those_of_numpy(row: Row, backend: str) -> None:
    def step(name: str) -> Any:
        layer, xs = row.initialized().to_backend(name), row.on(name)
        key = na.random.key(5, backend=name)

        def loss(v: Any) -> Any:
            out, s = layer(*xs, v=v, train=True, key=key)
            return energy(out), (out, s)

        if not layer.v.leaves():
            return numbers(loss(layer.v)[1])
        return numbers(na.execute_with_gradients(loss, layer.v, has_aux=True))

    has_int64 = backend != "jax"
    assert_close(
        *(step(backend), step("numpy")),
        rtol=1e-4, atol=1e-4, reason="long sums", check_dtype=has_int64,
    )  # fmt: skip


def test_init_draws_the_same_on_every_backend(row: Row) -> None:
    expected = row.layer().init(na.random.key(3)).v
    for backend in DIFFERENTIABLE:
        v = row.layer().init(na.random.key(3, backend=backend)).v.to_backend("numpy")
        assert_close(v, expected)


# -- equal in every mode ----------------------------------------------------------------------


def test_a_call_changes_nothing(row: Row, backend: str) -> None:
    layer, xs = row.initialized().to_backend(backend), row.on(backend)
    v, s = layer.v, layer.s
    before = numbers((v, s))
    layer(*xs, train=True, key=na.random.key(0, backend=backend))
    assert layer.v is v
    assert layer.s is s
    assert_close(numbers((v, s)), before)


def test_jit_is_the_plain_call(row: Row, backend: str) -> None:
    layer, xs = row.initialized().to_backend(backend), row.on(backend)
    key = na.random.key(5, backend=backend)
    options = {"backend": "aot_eager"} if backend == "torch" else {}

    def step(v: Any, s: Any, key: Any, *xs: Any) -> Any:
        return layer(*xs, v=v, s=s, train=True, key=key)

    compiled = na.jit(step, **options)(layer.v, layer.s, key, *xs)
    assert_close(numbers(compiled), numbers(step(layer.v, layer.s, key, *xs)))


def test_vmap_is_a_call_for_each_example(row: Row, backend: str) -> None:
    layer, xs = row.initialized().to_backend(backend), row.on(backend)
    pairs = [na.stack([x, na.flip(x)]) for x in xs]
    mapped = na.vmap(lambda *xs: layer(*xs))(*pairs)
    for i in range(2):
        alone = layer(*[x[i] for x in pairs])
        assert_close(numbers(na.tree.map(lambda x, i=i: x[i], mapped)), numbers(alone))


@pytest.mark.parametrize("backend", DIFFERENTIABLE)
def test_products_with_the_hessian_are_differences_of_gradients(row: Row, backend: str) -> None:
    layer = row.initialized()
    if row.has_kinks or not layer.v.leaves():
        pytest.skip("no second derivative")
    wide = lambda x: x.astype("float64") if x.dtype == np.float32 else x  # noqa: E731
    layer = layer.with_variables(layer.v.map(wide), layer.s.map(wide))
    with jax.enable_x64(True) if backend == "jax" else contextlib.nullcontext():
        layer = layer.to_backend(backend)
        xs = [na.to_backend(wide(x), backend) for x in row.xs()]
        gradient = na.grad(lambda v: energy(layer(*xs, v=v)))
        direction = layer.v.map(lambda x: na.cos(x + 1.0))
        product = na.jvp(gradient, (layer.v,), (direction,))[1]
        ahead, behind = (gradient(layer.v + direction * h) for h in (1e-5, -1e-5))
        difference = numbers((ahead - behind) * 5e4)
        assert_close(numbers(product), difference, rtol=1e-5, atol=1e-5, reason="differences")


def test_tensorflow_leaves_the_batch_open(row: Row) -> None:
    import tensorflow as tf

    layer, xs = row.initialized().to_backend("tensorflow"), row.on("tensorflow")
    key = na.random.key(5, backend="tensorflow")

    def step(*xs: Any) -> Any:
        out, s = layer(*xs, train=True, key=key)
        return out, s.to_flat_dict()

    specs = [tf.TensorSpec((None, *x.shape[1:]), x.dtype) for x in xs]
    assert_close(tf.function(step, input_signature=specs)(*xs), step(*xs))


def test_a_graph_of_the_layer_runs_on_another_backend(row: Row) -> None:
    layer = row.initialized()
    graph = na.trace_graph(layer, *row.xs())
    for backend in ("jax", "torch"):
        out = graph.to_backend(backend)(*row.on(backend))
        assert_close(numbers(out), numbers(layer(*row.xs())))


@pytest.mark.full
@pytest.mark.parametrize("library", ["torch", "flax", "keras", "equinox", "haiku"])
def test_native_modules_compute_the_same(row: Row, library: str) -> None:
    layer = row.initialized()
    graph = na.trace_graph(layer, *row.xs())
    assert_close(native_results(graph, library, row), numbers(layer(*row.xs())))


def native_results(graph: na.Graph, library: str, row: Row) -> Any:
    """The results of a graph as a module of a library."""
    if library == "torch":
        return torchs(graph.to_torch_module()(*map(torch.from_numpy, row.xs())))
    if library == "keras":
        module, xs = graph.to_keras_model(), row.on("tensorflow")
        return numbers(module(*xs) if len(xs) == 1 else module(list(xs)))
    if library == "haiku":
        import haiku

        module = haiku.transform_with_state(lambda *xs: graph.to_haiku_module()(*xs))
        v, s = module.init(None, *row.on("jax"))
        return numbers(module.apply(v, s, None, *row.on("jax"))[0])
    if library == "flax":
        return numbers(graph.to_flax_module()(*row.on("jax")))
    module = graph.to_equinox_module()
    if isinstance(module, tuple):  # with state
        return numbers(module[0](*row.on("jax"), module[1])[0])
    return numbers(module(*row.on("jax")))


@pytest.mark.one_in(100)
@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_ejected_source_computes_the_same(row: Row, target: str, tmp_path: Path) -> None:
    graph = na.trace_graph(row.initialized(), *row.xs())
    assert graph.eject(tmp_path / "net", target).error < 1e-5  # it runs the source


def test_a_graph_in_a_file_computes_the_same(row: Row, tmp_path: Path) -> None:
    layer = row.initialized()
    na.trace_graph(layer, *row.xs()).save(tmp_path / "net.safetensors")
    out = na.Graph.load(tmp_path / "net.safetensors")(*row.xs())
    assert_close(numbers(out), numbers(layer(*row.xs())))


def test_variables_in_a_file_are_the_same(row: Row, tmp_path: Path) -> None:
    layer = row.initialized()
    na.Container(v=layer.v, s=layer.s).save(tmp_path / "net.safetensors")
    tree = na.Container.load(tmp_path / "net.safetensors")
    again = row.layer().with_variables(tree["v"], tree["s"])
    np.testing.assert_equal(numbers(again(*row.xs())), numbers(layer(*row.xs())))


def test_a_layer_can_be_pickled_and_shown(row: Row) -> None:
    layer = row.initialized()
    again = pickle.loads(pickle.dumps(layer))
    assert_close(numbers(again(*row.xs())), numbers(layer(*row.xs())))
    assert type(layer).__name__ in repr(layer)


class TestDropout:
    def test_rate_and_scale(self, backend: str) -> None:
        x = na.to_backend(np.ones((100, 100), np.float32), backend)
        layer = nn.Dropout(0.3).init(na.random.key(0, backend=backend))
        out, _ = layer(x, train=True, key=na.random.key(1, backend=backend))
        values = na.to_backend(out, "numpy")
        kept = np.float32(1.0) / np.float32(1.0 - 0.3)
        np.testing.assert_array_max_ulp(np.unique(values), np.asarray([0, kept], np.float32), 1)
        assert abs((values == 0).mean() - 0.3) < 0.02
        assert layer(x) is x

    def test_the_same_places_on_every_backend(self) -> None:
        x = np.ones((7, 5), np.float32)
        layer = nn.Sequential(nn.Dropout(0.5))
        drawn = []
        for backend in ("numpy", *DIFFERENTIABLE):
            key = na.random.key(2, backend=backend)
            out, _ = layer.init(key)(na.to_backend(x, backend), train=True, key=key)
            drawn.append(na.to_backend(out, "numpy"))
        for other in drawn[1:]:
            np.testing.assert_array_equal(other, drawn[0])

    def test_places_and_uses_differ(self) -> None:
        shared = nn.Dropout(0.5)

        class Twice(nn.Module):
            def __init__(self) -> None:
                self.a, self.b = shared, nn.Dropout(0.5)

            def forward(self, x: Any) -> Any:
                return np.stack([self.a(x), self.a(x), self.b(x)])

        out, _ = Twice().init(na.random.key(0))(
            np.ones(40, np.float32), train=True, key=na.random.key(1)
        )
        assert len({row.tobytes() for row in out}) == 3

    def test_the_ends(self) -> None:
        x = np.ones(3, np.float32)
        key = na.random.key(0)
        assert nn.Dropout(0.0).init(key)(x, train=True)[0] is x
        np.testing.assert_array_equal(nn.Dropout(1.0).init(key)(x, train=True)[0], 0 * x)


class TestAttention:
    def test_sources_and_masks(self) -> None:
        torch.manual_seed(0)
        twin = torch.nn.MultiheadAttention(8, 2, batch_first=True)
        layer = nn.MultiHeadAttention(8, 2).with_variables(na.Container.from_torch_module(twin))
        q, k, value = torch.randn(2, 3, 8), torch.randn(2, 5, 8), torch.randn(2, 5, 8)
        mask = torch.rand(3, 5) < 0.7
        mask[:, 0] = True
        expected = twin(q, k, value, attn_mask=~mask, need_weights=False)[0]
        assert_close(layer(q, k, value, mask), expected.detach())
        causal = torch.ones(3, 3, dtype=torch.bool).tril()
        expected = twin(q, q, q, attn_mask=~causal, need_weights=False)[0]
        assert_close(layer(q, is_causal=True), expected.detach())

    def test_weights_drop_in_training_alike_on_every_backend(self, backend: str) -> None:
        key = na.random.key(3, backend=backend)
        layer = nn.MultiHeadAttention(8, 2, dropout=0.5).init(na.random.key(0, backend=backend))
        x = na.to_backend(np.random.default_rng(0).normal(size=(2, 5, 8)).astype("f4"), backend)
        out, _ = layer(x, train=True, key=key)
        weights = [*na.split(layer.v["in_proj_weight"], 8), layer.v["out_proj/weight"]]
        biases = [*na.split(layer.v["in_proj_bias"], 8), layer.v["out_proj/bias"]]
        expected = na.multi_head_attention(
            x, x, x, weights, biases, None, na.random.fold_in(key, "dropout"),
            num_heads=2, dropout_p=0.5,
        )  # fmt: skip
        assert_close(out, expected)
        assert not np.allclose(na.to_backend(out, "numpy"), na.to_backend(layer(x), "numpy"))

    def test_a_layer_that_drops_needs_a_key(self) -> None:
        layer = nn.MultiHeadAttention(8, 2, dropout=0.5).init(na.random.key(0))
        with pytest.raises(ArgumentError, match="key: got None, but Dropout"):
            layer(np.ones((1, 2, 8), np.float32), train=True)


def test_the_initial_numbers_of_linear_are_distributed_as_torchs() -> None:
    layer = nn.Linear(100, 200).init(na.random.key(0))
    for leaf in layer.v.leaves():
        assert abs(leaf).max() <= 0.1
        assert abs(leaf.std() - 0.1 / 3**0.5) < 0.005

"""Lowering and passes: fewer calls, and the same values."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import linen
from torch import nn

import nestarray as na
from nestarray import errors
from nestarray.graph import passes
from tests import models
from tests.graph.networks import ConvNet, Nested

ALL = (passes.channels_last, *passes.TRAINING)


class Residual(nn.Module):
    """Blocks of convolutions around which the input goes by, pooling, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8))
        self.pool = nn.MaxPool2d(3, 2, 1)
        self.conv1 = nn.Conv2d(8, 8, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1, groups=8)
        self.norm2 = nn.BatchNorm2d(16)
        self.short = nn.Sequential(nn.Conv2d(8, 16, 1, stride=2, bias=False), nn.BatchNorm2d(16))
        self.scale = nn.Parameter(torch.rand(16, 1, 1) + 0.5)
        self.wide = nn.Conv2d(32, 6, 3, dilation=2, padding=2)
        self.head = nn.Linear(6, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(torch.relu(self.stem(x)))
        y = self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x)))))
        x = torch.nn.functional.gelu(self.scale * y + self.short(x))
        x = torch.cat([x, nn.functional.avg_pool2d(x, 3, 1, 1)], dim=1)
        x = self.wide(nn.functional.pad(x, (1, 0, 1, 1)))
        return self.head(nn.functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Patches(nn.Module):
    """The images of a vision transformer as a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Conv2d(3, 8, 4, stride=4)
        self.norm = nn.LayerNorm(8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.embed(x).flatten(2).transpose(1, 2))


def settled(net: nn.Module, *args: Any) -> nn.Module:
    """The module with running statistics that are not 0 and 1."""
    net.train()
    with torch.no_grad():
        for _ in range(3):
            net(*args)
    return net


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    torch.manual_seed(0)
    return torch.randn(2, 3, 32, 24) * 2 + 1


@pytest.fixture(scope="module")
def residual(images: torch.Tensor) -> na.Graph:
    torch.manual_seed(0)
    return na.trace_graph(settled(Residual(), images), images)


def called(graph: na.Graph) -> Counter[str]:
    return Counter(node.target_name.removeprefix("na.") for node in graph.calls)


def assert_agrees(graph: na.Graph, nodes: int) -> None:
    report = graph.verify()
    assert report.ok, str(report)
    assert len(report.nodes) >= nodes
    assert bool(report.gradients) == (not report.gradient_note)


# -- lowering ------------------------------------------------------------------------------


SLOW_TO_COMPILE = pytest.param("jax", marks=pytest.mark.full)


@pytest.mark.parametrize("backend", ["numpy", SLOW_TO_COMPILE, "torch", "tensorflow"])
def test_a_lowered_graph_calls_ops_and_agrees(residual: na.Graph, backend: str) -> None:
    graph = residual.to_backend(backend).lower()
    assert all(n.target is getattr(na, n.target_name[3:]) for n in graph.calls)
    assert str(graph) == str(residual.lower())
    assert graph.v.spec is residual.v.spec
    report = graph.verify(nodes=True)
    assert report.ok, str(report)
    assert len(report.gradients) == len(graph.v.leaves())
    assert len(report.nodes) >= 20


def test_a_lowered_graph_reads_as_ops(images: torch.Tensor) -> None:
    graph = na.trace_graph(Patches(), images).lower()
    text = graph.to_source(comments=False)
    assert (
        text
        == (
            "import nestarray as na\n\n\n"
            "def graph(x, *, v, s, constants, key=None):\n"
            "    conv2d = na.conv2d(x, v['embed/weight'], v['embed/bias'], stride=(4, 4), "
            "padding=(0, 0), dilation=(1, 1))\n"
            "    flatten = na.flatten(conv2d, start_axis=2)\n"
            "    transpose = na.swapaxes(flatten, 1, 2)\n"
            "    layer_norm = na.layer_norm(transpose, v['norm/weight'], v['norm/bias'], axis=(-1,))\n"
            "    return layer_norm\n"
        )
        or "na.reshape(conv2d" in text
    )
    assert graph.lower() is graph
    assert graph.calls[0].module == "embed"


def test_an_inverse_of_an_input_is_lowered() -> None:
    """Lowering computes with zeros, which have no inverse."""
    x = torch.eye(3) + 1
    graph = na.trace_graph(lambda x: torch.linalg.inv(torch.relu(x)), x).lower()
    assert "na.relu" in str(graph)
    torch.testing.assert_close(graph(x), torch.linalg.inv(x))


def test_a_loop_that_does_not_end_at_zero_is_lowered() -> None:
    def doubled(x: Any) -> Any:
        return na.while_loop(lambda c: na.sum(c) < 100, lambda c: c * 2, x)

    x = np.ones(3)
    lowered = na.trace_graph(doubled, x).to_backend("torch").to_backend("numpy").lower()
    np.testing.assert_array_equal(lowered(x), x * 64)
    jitted = na.trace_graph(
        lambda x: jax.lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2, x), jnp.ones(3)
    )
    np.testing.assert_array_equal(jitted.to_backend("numpy").lower()(x.astype("float32")), x * 64)


@pytest.mark.parametrize("backend", [SLOW_TO_COMPILE, "numpy"])
def test_training_draws_the_same_numbers_when_lowered(backend: str) -> None:
    torch.manual_seed(0)
    graph = na.trace_graph(ConvNet(), torch.randn(2, 1, 8, 8), train=True).to_backend(backend)
    for other in (graph.lower(), graph.optimize(ALL), graph.optimize()):
        report = other.verify()
        assert report.ok, str(report)
        assert len(report.gradients) == 6
        assert len(report.state) == 3
        with pytest.raises(errors.ArgumentError, match="this graph draws random numbers"):
            other(na.to_backend(torch.zeros(2, 1, 8, 8), backend))


def test_nested_inputs_constants_and_numbers_stay() -> None:
    extra = {"a": torch.ones(4, 2), "b": [torch.ones(2)]}
    graph = na.trace_graph(Nested(), torch.ones(4, 3), extra, scale=2.0)
    for other in (graph.lower(), graph.optimize().to_backend("numpy")):
        report = other.verify()
        assert report.ok, str(report)
        out = other.to_backend("torch")(torch.ones(4, 3), extra, scale=2.0)
        assert out["size"] == 3


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_transformers_agree_lowered_and_optimized(name: str) -> None:
    module, inputs = models.build(name)
    graph = na.trace_graph(module, **inputs)
    lowered = graph.lower()
    assert_agrees(lowered, 50)
    optimized = graph.optimize()
    assert len(optimized.calls) < 0.85 * len(graph.calls)
    report = optimized.to_backend("numpy").verify()
    assert report.ok, str(report)


# -- single passes -------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["torch", "numpy"])
def test_running_statistics_read_the_moments_of_the_normalization(backend: str) -> None:
    class Net(linen.Module):
        @linen.compact
        def __call__(self, x: Any) -> Any:
            for features in (4, 3):
                x = linen.relu(linen.Conv(features, (3, 3))(x))
                x = linen.BatchNorm(use_running_average=False)(x)
            return x

    x = jax.random.normal(jax.random.key(0), (2, 6, 6, 3))
    variables = Net().init(jax.random.key(1), x)
    graph = na.trace_graph(Net(), x, variables=variables, train=True).lower()
    calls = called(graph)
    assert calls["batch_norm_training"] == 2
    assert not {"mean", "var", "sum", "square"} & {*calls}
    assert len(graph.state_updates) == 4
    graph.to_backend(backend).verify().raise_if_failed()


@pytest.mark.parametrize("backend", ["numpy", SLOW_TO_COMPILE, "torch", "tensorflow"])
def test_batch_norms_are_folded_into_the_layer_before(residual: na.Graph, backend: str) -> None:
    graph = passes.fold_batch_norms(residual.lower().to_backend(backend))
    assert called(graph)["batch_norm"] == 0
    assert not [p for p in graph.v.paths() if "norm" in p]
    assert graph.s.paths() == tuple(p for p in residual.s.paths() if "num_batches" in p)
    assert "stem/0/bias" in graph.v
    assert tuple(graph.v["stem/0/weight"].shape) == (8, 3, 3, 3)
    report = graph.verify(nodes=True)
    assert report.ok, str(report)
    assert "not those of the source" in report.gradient_note
    assert len(report.nodes) >= 15


# -- layout --------------------------------------------------------------------------------


def transposes(graph: na.Graph) -> list[str]:
    names = ("permute_dims", "swapaxes", "moveaxis", "matrix_transpose")
    return [n.name for n in graph.calls if n.target_name.removeprefix("na.") in names]


def tensorflow_operations(graph: na.Graph, x: torch.Tensor) -> Counter[str]:
    import tensorflow as tf

    function = tf.function(lambda x: graph(x), autograph=False)
    traced = function.get_concrete_function(na.to_backend(x, "tensorflow"))
    return Counter(o.type for o in traced.graph.get_operations())


def test_a_convolutional_network_on_tensorflow_is_transposed_at_its_input_only(
    residual: na.Graph, images: torch.Tensor
) -> None:
    graph = residual.to_backend("tensorflow")
    before = tensorflow_operations(graph, images)
    optimized = graph.optimize()
    assert before["Transpose"] > 15
    assert len(transposes(optimized)) == 1
    assert tensorflow_operations(optimized, images)["Transpose"] == 1
    assert optimized.verify().ok


@pytest.mark.parametrize("backend", [SLOW_TO_COMPILE, "tensorflow"])
def test_channels_last_is_right_in_training_too(images: torch.Tensor, backend: str) -> None:
    torch.manual_seed(1)
    graph = na.trace_graph(settled(Residual(), images), images, train=True).to_backend(backend)
    moved = graph.optimize(ALL)
    assert moved.v.spec is graph.v.spec
    activations = [n for n in transposes(moved) if n != "permute_dims"]
    assert len(activations) == called(moved)["conv"]  # the kernels
    report = moved.verify()
    assert report.ok, str(report)
    assert len(report.gradients) == len(graph.v.leaves())


def test_a_convolutional_network_on_jax_is_transposed_at_its_input_only(
    residual: na.Graph,
) -> None:
    optimized = residual.to_backend("jax").optimize()
    assert len(transposes(optimized)) == 1
    assert optimized.verify().ok


def test_patches_become_a_sequence_without_a_transpose(images: torch.Tensor) -> None:
    graph = na.trace_graph(Patches(), images).to_backend("tensorflow").optimize()
    assert transposes(graph) == ["permute_dims"]
    assert called(graph) == {"permute_dims": 1, "conv": 1, "reshape": 1, "layer_norm": 1}
    assert graph.verify().ok


def test_the_image_that_is_returned_is_transposed_back() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(), nn.Conv2d(3, 2, 3), nn.Sigmoid())
    graph = na.trace_graph(net, torch.randn(1, 2, 9, 8)).to_backend("tensorflow").optimize()
    assert len(transposes(graph)) == 2
    assert tensorflow_operations(graph, torch.zeros(1, 2, 9, 8))["Transpose"] == 2
    assert graph.verify().ok


@pytest.mark.parametrize(
    ("fn", "left"),
    [
        (lambda x: na.permute_dims(na.permute_dims(x, (2, 0, 1)), (1, 2, 0)), 0),
        (lambda x: na.swapaxes(na.exp(na.swapaxes(x, 0, 1)), 0, 1), 0),
        (lambda x: na.mean(na.relu(na.moveaxis(x, 0, -1)), axis=(0, 1)), 0),
        (lambda x: na.sum(na.moveaxis(x, 0, -1) * 2, axis=1, keepdims=True), 1),
        (lambda x: na.max(na.permute_dims(x, (1, 2, 0)), axis=0), 1),
        (lambda x: na.argmax(na.permute_dims(x, (2, 1, 0)), axis=0), 1),
        (lambda x: na.softmax(na.permute_dims(x, (2, 1, 0)), axis=0), 1),
        (lambda x: na.concat([na.swapaxes(x, 0, 2), na.swapaxes(x, 0, 2)], axis=0), 1),
        (lambda x: na.reshape(na.permute_dims(x, (1, 2, 0)), (12, 2)), 1),
        (lambda x: na.reshape(na.permute_dims(x, (2, 1, 0)), (4, 6)), 1),
        (lambda x: na.squeeze(na.swapaxes(x[:, :1], 1, 2), axis=2), 0),
        (lambda x: na.matrix_transpose(x) + x[0, :, 0], 1),
        (lambda x: na.swapaxes(na.swapaxes(x, 1, 2) + na.ones((4, 1), like=x), 1, 2), 0),
        (lambda x: na.swapaxes(na.swapaxes(x, 0, 2) + na.ones((4, 3, 2), like=x), 0, 2), 1),
        (lambda x: na.vector_norm(na.swapaxes(x, 1, 2), axis=1), 0),
        (lambda x: na.swapaxes(na.pad(na.swapaxes(x, 0, 2), ((0, 0), (1, 2), (0, 0))), 0, 2), 0),
        (lambda x: na.swapaxes(na.reshape(na.permute_dims(x, (2, 0, 1)), (2, 2, 6)), 1, 2), 1),
        (lambda x: na.permute_dims(na.reshape(na.permute_dims(x, (2, 0, 1)), (4, 6)), (1, 0)), 0),
        (lambda x: na.permute_dims(na.interpolate(na.permute_dims(x[None], (0, 3, 1, 2)),
                                                  scale_factor=2), (0, 2, 3, 1)), 0),
        (lambda x: na.adaptive_max_pool2d(na.permute_dims(x[None], (0, 3, 1, 2)), output_size=1), 0),
        # calls of these stay: they compute by places, which a transpose changes
        (lambda x: na.swapaxes(na.prelu(na.swapaxes(x, 1, 2), na.arange(4.0)), 1, 2), 2),
        (lambda x: na.swapaxes(na.rrelu(na.swapaxes(x, 1, 2), na.random.key(0)), 1, 2), 2),
        (lambda x: na.swapaxes(na.bitcast(na.swapaxes(x, 1, 2), na.uint8), 1, 2), 2),
        (lambda x: na.matrix_transpose(na.linear(na.swapaxes(x, 0, 1), x[0, 0])), 2),
        (lambda x: na.reshape(na.permute_dims(x, (2, 0, 1)), (4, 6), order="F"), 1),
    ],
)  # fmt: skip
def test_transposes_cancel(fn: Any, left: int) -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("float32")
    graph = na.trace_graph(fn, x)
    short = passes.cancel_transposes(graph)
    assert len(transposes(short)) <= min(left, len(transposes(graph)))
    np.testing.assert_array_equal(short(x), fn(x))


def test_optimized_graphs_pickle_move_and_compile(residual: na.Graph, images: torch.Tensor) -> None:
    graph = pickle.loads(pickle.dumps(residual.optimize())).to_backend("jax")
    want = residual(images).detach()
    got = graph.compile()(na.to_backend(images, "jax"))
    torch.testing.assert_close(na.to_backend(got, "torch"), want, rtol=1e-4, atol=1e-5)


# -- report --------------------------------------------------------------------------------


def test_the_report_counts(residual: na.Graph) -> None:
    report = residual.to_backend("tensorflow").report()
    assert report.calls["torch.conv2d"] == 5
    assert (report.transposes, report.hidden_transposes) == (0, 19)
    assert report.parameters == sum(p.numel() for p in Residual().parameters())
    assert report.bytes == 4 * (report.parameters + report.state) + 8 * 4 - 4 * 4
    optimized = residual.to_backend("tensorflow").optimize().report()
    assert (optimized.transposes, optimized.hidden_transposes) == (1, 0)
    assert optimized.flops == report.flops
    assert str(optimized).splitlines()[1] == "  transposes: 1"


def test_flops_are_those_of_torch(images: torch.Tensor) -> None:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    module, inputs = models.build("gpt2")
    for net, args, kwargs in ((Residual().eval(), (images,), {}), (module, (), inputs)):
        counter = FlopCounterMode(display=False)  # which leaves out attention's own CPU kernel
        with counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
            net(*args, **kwargs)
        graph = na.trace_graph(net, *args, **kwargs)
        assert graph.report().flops == graph.optimize().report().flops == counter.get_total_flops()

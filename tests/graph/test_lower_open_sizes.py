"""Lowering of graphs that leave sizes open: the ops compute with the sizes of the call."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import nestarray as na
from nestarray.graph import sizes
from nestarray.graph.node import Aval, Input
from nestarray.graph.record.abstract_recorder import AbstractRecorder
from nestarray.sizes import parse_conditions
from nestarray.transforms.abstract import UndecidedSize
from tests import models


def kept(graph: na.Graph) -> list[str]:
    """The functions of the frontend that are still called."""
    return sorted({n.target_name for n in graph.calls if n.target_name.startswith("torch.")})


def of(function) -> nn.Module:
    """A module that computes a function of `x`."""

    class Of(nn.Module):
        def forward(self, x):
            return function(x)

    return Of()


BOTH = {0: "batch", 1: "length"}


def traced(function, *shape: int, train: bool = False) -> na.Graph:
    net = function if isinstance(function, nn.Module) else of(function)
    name = "x" if type(net).__name__ == "Of" else "input"
    return na.trace_graph(net, torch.randn(*shape), dynamic={name: BOTH}, train=train)


class Attention(nn.Module):
    """A layer as people write it: sizes in reshapes, positions, a mask, a mean."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.places = nn.Embedding(11, 8), nn.Embedding(32, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, ids):
        batch, length = ids.shape
        x = self.embed(ids) + self.places(torch.arange(length))
        mask = torch.ones(length, length).tril().bool()
        x = self.layer(x, src_mask=torch.where(mask, 0.0, float("-inf")))
        rows = torch.cat([x * 2, x], 1)[:, 1:]
        return rows.reshape(batch, -1, 4).mean(1), x.sum(1) / length


class Images(nn.Module):
    """Convolutions, normalizations, and pooling of images of any size."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1, stride=2)
        self.norm = nn.BatchNorm2d(8)
        self.wide = nn.Conv2d(8, 8, 1)
        self.head = nn.Linear(8, 2)

    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        x = F.interpolate(self.wide(x) + x, scale_factor=2.0)
        return self.head(x.mean((2, 3)))


def test_a_lowered_attention_layer_agrees_at_all_sizes():
    torch.manual_seed(0)
    graph = na.trace_graph(Attention().eval(), torch.zeros(2, 6).long(), dynamic={"ids": BOTH})
    lowered, optimized = graph.lower(), graph.to_backend("numpy").optimize()
    assert kept(lowered) == kept(optimized) == []
    assert "batch = shape[0]" in lowered.to_source(comments=False)
    assert [str(n.aval) for n in lowered.calls if n.name == "view_1"] == [
        "float32[length, 2 * batch, 4]"
    ]
    for batch, length in ((1, 6), (3, 2), (5, 13)):
        ids = torch.randint(0, 11, (batch, length))
        for each in (lowered, optimized):
            report = each.verify(ids, gradients=False)
            assert report.ok, str(report)
    report = lowered.verify(torch.randint(0, 11, (4, 3)))
    assert len(report.gradients) == len(lowered.v.leaves())
    assert len(report.nodes) > 35


@pytest.mark.parametrize("window", [None, 8])
def test_attention_to_earlier_positions_is_causal_at_all_lengths(window):
    def attend(x):
        places = jnp.arange(x.shape[1])
        distance = places[:, None] - places
        mask = distance >= 0 if window is None else (distance >= 0) & (distance < window)
        return jax.nn.dot_product_attention(x, x, x, mask=mask)

    rng = np.random.default_rng(0)
    x, longer = (rng.standard_normal((2, n, 2, 4), np.float32) for n in (5, 12))
    graph = na.trace_graph(attend, jnp.asarray(x), dynamic={"x": {1: "length"}}).lower()
    (call,) = (n for n in graph.calls if n.target_name == "na.scaled_dot_product_attention")
    assert call.kwargs.get("is_causal", False) is (window is None)
    for given in (x, longer):
        na.testing.assert_close(graph(jnp.asarray(given)), attend(jnp.asarray(given)))


def test_images_of_all_sizes_stay_channels_last_on_tensorflow():
    torch.manual_seed(0)
    names = {0: "batch", 2: "height", 3: "width"}
    graph = na.trace_graph(Images().eval(), torch.randn(2, 3, 16, 24), dynamic={"x": names})
    optimized = graph.to_backend("tensorflow").optimize()
    assert kept(optimized) == []
    assert (optimized.report().transposes, optimized.report().hidden_transposes) == (1, 0)
    assert not any("batch_norm" in n.target_name for n in optimized.calls)
    for batch, height, width in ((1, 16, 24), (3, 9, 30)):
        report = optimized.verify(torch.randn(batch, 3, height, width))
        assert report.ok, str(report)


@pytest.mark.full
@pytest.mark.parametrize("name", ["bert", "gpt2", "llama"])
def test_a_language_model_is_lowered_for_all_sizes(name):
    net, _ = models.build(name)

    def words(batch: int, length: int) -> dict[str, torch.Tensor]:
        mask = torch.ones(batch, length, dtype=torch.int64)
        mask[-1, length - 1 :] = 0
        return {"input_ids": torch.randint(0, 50, (batch, length)), "attention_mask": mask}

    dynamic = {"input_ids": BOTH, "attention_mask": BOTH}
    given: dict[str, Any] = words(2, 6)
    graph = na.trace_graph(net, dynamic=dynamic, **given).optimize()
    assert kept(graph) == []
    for other in ((1, 6), (3, 9)):
        report = graph.verify(**words(*other))
        assert report.ok, str(report)


#: name → (function of [batch, length, 4], the functions that decide by a size)
FUNCTIONS = {
    "slices": (lambda x: torch.cat([x[:, 1:], x[:, :-1], x[:, -1:]], 1), []),
    "shapes": (lambda x: torch.stack([x, x], 1).flatten(0, 1).repeat(1, 2, 1), []),
    "positions": (lambda x: x * torch.arange(x.shape[1])[None].expand(x.shape[0], -1)[..., None], []),
    "scale": (lambda x: x * x.shape[1] ** -0.5, []),
    "indices": (lambda x: x.gather(1, x.argsort(1)).softmax(1), []),
    "broadcast": (lambda x: F.mse_loss(x, x * 2), []),
    "variance": (lambda x: x.var(1), ["torch.var"]),
    "choice": (lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)), ["torch.cond"]),
    "chosen": (lambda x: x[x > 0].sum(), ["torch.ops.aten.index", "torch.sum"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_code_decides_by_a_size_stays_a_call_of_its_function(name):
    function, decides = FUNCTIONS[name]
    torch.manual_seed(0)
    graph = traced(function, 3, 6, 4).lower()
    assert set(kept(graph)) <= set(decides), kept(graph)
    for batch, length in ((3, 6), (1, 7), (2, 2), (4, 11)):
        x = torch.randn(batch, length, 4)
        torch.testing.assert_close(graph(x), function(x), rtol=1e-5, atol=1e-6)
        assert graph.verify(x).ok


def test_the_sizes_that_values_decide_are_read_when_it_runs():
    def function(x):
        found = torch.nonzero(x > 0)
        return torch.zeros(found.shape[0], 2) + found.shape[0]

    graph = na.trace_graph(of(function), torch.randn(3, 4)).lower()
    for seed in range(3):
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(graph(x), function(x))


@pytest.mark.parametrize("sizes", [None, {0: "n"}])
def test_numbers_that_are_computed_of_values(sizes):
    def function(x):
        number = (x > 0).sum().item()
        return torch.zeros(2 * number + 1) + (number**2 - 1)

    dynamic = {} if sizes is None else {"dynamic": {"x": sizes}}
    graph = na.trace_graph(of(function), torch.randn(3, 4), **dynamic).lower()
    for seed in range(3):
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(graph(x), function(x))


def test_calls_of_arrays_whose_size_values_decide():
    def function(x):
        found = x[x > 0]
        return torch.cat([found, found]), found.argmax(), found.std(), x.relu().sum()

    graph = na.trace_graph(of(function), torch.randn(3, 4)).lower()
    assert "torch.relu" not in str(graph)
    for seed in range(3):
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(seed))
        torch.testing.assert_close(graph(x), function(x))


def test_training_draws_the_same_numbers_at_all_sizes():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.4), nn.Linear(8, 8), nn.Dropout(0.4))
    graph = traced(net, 3, 5, 4, train=True)
    for each in (graph.lower(), graph.to_backend("numpy").optimize()):
        for batch, length in ((3, 5), (2, 9)):
            report = each.verify(torch.randn(batch, length, 4))
            assert report.ok, str(report)
            assert len(report.gradients) == 4


def test_a_lowered_graph_of_open_sizes_is_saved_and_compiled(tmp_path):
    graph = traced(nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Flatten(1)), 3, 5, 4).lower()
    assert kept(graph) == []
    graph.save(tmp_path / "net.safetensors")
    again = na.Graph.load(tmp_path / "net.safetensors", backend="jax")
    assert again.sizes.example == graph.sizes.example == {"batch": 3, "length": 5}
    assert str(again.optimize()) == str(graph.to_backend("jax").optimize())
    compiled = again.compile()
    for batch, length in ((1, 3), (2, 9)):
        x = torch.randn(batch, length, 4)
        got = compiled(na.to_backend(x, "jax"))
        np.testing.assert_allclose(got, graph(x).numpy(), rtol=1e-5, atol=1e-6)


def test_tensorflow_that_does_not_know_the_sizes_runs_it():
    import tensorflow as tf

    graph = traced(of(lambda x: (x.reshape(x.shape[0] * x.shape[1], 2, 2) + 1).relu()), 3, 5, 4)
    graph = graph.to_backend("tensorflow").lower()
    signature = [tf.TensorSpec([None, None, 4], tf.float32)]
    compiled = tf.function(lambda x: graph(x), input_signature=signature, autograph=False)
    for batch, length in ((1, 3), (2, 9)):
        x = tf.random.stateless_normal([batch, length, 4], (0, batch))
        np.testing.assert_allclose(compiled(x), graph(x), rtol=1e-6)


# -- sizes as numbers ------------------------------------------------------------------------


@pytest.fixture
def recorder() -> AbstractRecorder:
    known = sizes.Sizes(
        {"n": (0, None), "m": (2, 64)}, parse_conditions("m % 2 == 0", {}), {"n": 3, "m": 8}
    )
    return AbstractRecorder("Net", known.scope())


@pytest.fixture
def sample(recorder):
    aval = Aval(("n", "m", 4), na.float32)
    node = Input(name="x", source="x", aval=aval)
    return recorder.given(node)


def test_comparisons_are_decided_where_all_sizes_agree(sample):
    n, m, four = sample.shape
    assert four == 4
    assert type(four) is int
    assert isinstance(n / 2, float)
    assert n != -1
    assert n + 1 > 0
    assert m >= 2
    assert n == n
    assert 2 * n + 1 > n
    assert str(n * 2 + m) == "m + 2 * n"
    assert n * 2 - n - n == 0
    assert sample.size == n * m * 4
    for undecided in (
        lambda: n == 1, lambda: n < m, lambda: bool(n), lambda: m > 63, lambda: int(m),
    ):  # fmt: skip
        with pytest.raises(UndecidedSize, match=r"decides by a size|needs the value of the size"):
            undecided()
    for needs_number in (
        lambda: range(n),
        lambda: [0][n],
        lambda: len(sample),
        lambda: np.zeros(n),
    ):
        with pytest.raises((TypeError, UndecidedSize)):
            needs_number()

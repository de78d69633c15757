"""Stand-alone source of open sizes, and of modules that are called with several sizes."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import keras
import numpy as np
import pytest
import tensorflow as tf
import torch
from flax import linen

import nestarray as na
from nestarray.errors import ConversionError
from nestarray.exporters.export import example_of
from nestarray.exporters.source.eject import source_of
from tests.exporters.networks import LOOPS, NETWORKS
from tests.exporters.styles import TARGETS, lint


def test_errors_name_constants_that_depend_on_open_sizes(tmp_path: Path) -> None:
    net = torch.nn.Upsample(scale_factor=2, mode="bicubic")
    sizes: Any = {"input": {2: "height"}}
    graph = na.trace_graph(net, torch.ones(1, 2, 12, 12), dynamic=sizes)
    with pytest.raises(ConversionError, match=r"matmul .* a constant array that depends on open"):
        graph.eject(tmp_path / "net", "jax")


@pytest.mark.parametrize(
    "target", ["torch", *(pytest.param(x, marks=pytest.mark.full) for x in ("jax", "tensorflow"))]
)
def test_open_sizes_stay_open_in_loops(target: str, tmp_path: Path) -> None:
    net, inputs = LOOPS["gru"]()
    graph = na.trace_graph(net, **inputs, dynamic={"x": {0: "batch", 1: "length"}})
    assert graph.eject(tmp_path / "net", target).error < 1e-5
    assert lint((tmp_path / "net" / "model.py").read_text()) == ""


def test_arrays_of_open_sizes_are_on_the_device_of_the_input() -> None:
    class Positions(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            n = x.shape[0]
            mask = torch.ones(n, n, dtype=torch.bool).tril()
            return x * torch.arange(2 * n)[::2, None] + mask.sum(0)[:, None] + torch.zeros(n, 1)

    graph = na.trace_graph(Positions(), torch.ones(3, 2), dynamic={"x": {0: "n"}})
    source = source_of(graph, "torch", "torch")
    module: dict[str, Any] = {"__file__": "model.py"}
    exec(compile(source.text, "model.py", "exec"), module)
    assert "torch.arange(2 * x.shape[0], device=x.device)" in source.text
    x = torch.ones(5, 2, device="meta")
    assert module[source.name]()(x).device == x.device
    for target, xp in (("jax", "jnp"), ("numpy", "np")):
        assert f"{xp}.arange(2 * x.shape[0])" in graph.to_source(target, standalone=True)


def test_arrays_of_fixed_sizes_move_with_the_module() -> None:
    def positions(x: Any) -> Any:
        return np.maximum(x * np.arange(3), 0) + np.ones((2, 1)) - np.zeros(3)

    source = source_of(na.trace_graph(positions, np.ones((2, 3))), "torch", "torch")
    module: dict[str, Any] = {"__file__": "model.py"}
    exec(compile(source.text, "model.py", "exec"), module)
    x = torch.ones(2, 3, device="meta", dtype=torch.float64)
    assert module[source.name]().to("meta")(x).device == x.device
    assert "zeros" not in source.text


@pytest.mark.parametrize("style", ["torch", "functional"])
def test_open_sizes_stay_open(style: str, tmp_path: Path) -> None:
    net, inputs = NETWORKS["vit"]()
    graph = na.trace_graph(net, **inputs, dynamic={"pixel_values": {0: "batch"}})
    ejected = graph.eject(tmp_path / "net", TARGETS[style], style=style)  # runs at three sizes
    assert ejected.error < 1e-5
    assert "shape[0], 17, -1, 8)" in (tmp_path / "net" / "model.py").read_text()


def test_sizes_that_a_function_of_tensorflow_does_not_know(tmp_path: Path) -> None:
    net, inputs = NETWORKS["unet"]()
    graph = na.trace_graph(net, **inputs, dynamic={name: {0: "batch"} for name in inputs})
    ejected = graph.eject(tmp_path / "net", "tensorflow")
    model = runpy.run_path(str(ejected.path / "model.py"))["load"]()
    given = [tf.constant(x) for x in example_of(graph).flat.values()]
    specs = [tf.TensorSpec((None, *x.shape[1:]), x.dtype) for x in given]
    output = tf.function(model, input_signature=specs)(*given)
    np.testing.assert_allclose(output, model(*given), rtol=1e-5, atol=1e-6)


class Segments(torch.nn.Module):
    """The largest number of each segment, and rows; TensorFlow's source has NaN among its constants."""

    def forward(self, x: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        start = torch.full((x.shape[0],), -1e9)
        rows = torch.zeros(x.shape[0], 3).scatter(1, ids[:, None], x[:, None])
        return x - start.scatter_reduce(0, ids, x, "amax")[ids] + rows.sum(1)


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_scattered_numbers_of_open_sizes(target: str, tmp_path: Path) -> None:
    x, ids = torch.randn(4), torch.tensor([0, 2, 2, 1])
    sizes = {"x": {0: "n"}, "ids": {0: "n"}}
    na.trace_graph(Segments(), x, ids, dynamic=sizes).eject(tmp_path / "net", target)


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_means_over_several_open_sizes(target: str, tmp_path: Path) -> None:
    def pooled(x: jax.Array) -> jax.Array:
        return jnp.mean(x**2, (1, 2))

    x = np.arange(2.0 * 6 * 5 * 3, dtype="float32").reshape(2, 6, 5, 3)
    graph = na.trace_graph(pooled, jnp.asarray(x), dynamic={"x": {1: "height", 2: "width"}})
    ejected = graph.eject(tmp_path / "net", target)
    assert ejected.error < 1e-5
    assert "30" not in (ejected.path / "model.py").read_text()  # 6 · 5 elements


@pytest.mark.parametrize("counts_border", [True, False])
@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_averages_with_strided_borders_of_open_images(
    target: str, counts_border: bool, tmp_path: Path
) -> None:
    def pooled(x: jax.Array) -> jax.Array:
        return linen.avg_pool(x, (3, 2), strides=(2, 2), padding="SAME")

    inputs = keras.Input((None, None, 3), name="x")
    layer = keras.layers.AveragePooling2D((3, 2), (2, 2), padding="same")
    source: Any = pooled if counts_border else keras.Model(inputs, layer(inputs))
    x = np.random.default_rng(0).normal(size=(2, 9, 8, 3)).astype("float32")
    given = jnp.asarray(x) if counts_border else x
    sizes = {"x" if counts_border else "inputs": {0: "batch", 1: "height", 2: "width"}}
    ejected = na.trace_graph(source, given, dynamic=sizes).eject(tmp_path / "net", target)
    assert ejected.error < 1e-5
    text = (ejected.path / "model.py").read_text()
    if target == "jax":
        assert text.count("lax.reduce_window(") == (1 if counts_border else 2)
    elif target == "tensorflow" and not counts_border:
        assert '(inputs, (3, 2), (2, 2), "SAME")' in text
    else:
        assert text.count("= pad_same(") + text.count("(pad_same(") >= 1


def test_open_sizes_need_no_values_inside_of_other_modules() -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.front = torch.nn.Sequential(
                torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Conv2d(4, 4, 3)
            )

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.front(x).flatten(2).transpose(1, 2) + 1.0

    graph = na.trace_graph(Net(), torch.randn(2, 3, 6, 6), dynamic={"x": {0: "batch"}})
    text = graph.to_source("torch", standalone=True)
    assert "self.front = nn.Sequential(" in text
    assert "reshape(x.shape[0], 4, 4)" in text


class _Rows(torch.nn.Module):
    """A module with a fixed size in its program."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.scale = torch.nn.Linear(3, 3), torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.linear(x) * self.scale).sin().reshape(x.shape[0] * 3)


class _TwoSizes(torch.nn.Module):
    """A module that is called with two sizes."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = _Rows()

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        first = self.rows(x).sum()
        return first * self.rows(y)


@pytest.mark.parametrize("target", ["torch", "jax"])
def test_calls_of_a_module_with_other_sizes(target: str, tmp_path: Path) -> None:
    graph = na.trace_graph(_TwoSizes(), torch.randn(2, 3), torch.randn(4, 3))
    graph.eject(tmp_path / "net", target)


@pytest.mark.parametrize("target", ["torch", "numpy"])
def test_sums_of_open_sizes(target: str, tmp_path: Path) -> None:
    def positions(ids: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(cache.shape[0] + ids.shape[0])  # of the past, and of the new tokens
        return rows[-ids.shape[0] :] * ids + cache.sum()

    sizes: Any = {"ids": {0: "length"}, "cache": {0: "past"}}
    graph = na.trace_graph(positions, torch.ones(2), torch.ones(5), dynamic=sizes)
    assert graph.eject(tmp_path / "net", target).error < 1e-6
    text = (tmp_path / "net" / "model.py").read_text()
    assert "cache.shape[0] + ids.shape[0]" in text
    assert "[-ids.shape[0] :]" in text


def test_open_images_may_be_smaller_than_a_transposed_kernel(tmp_path: Path) -> None:
    net = torch.nn.ConvTranspose2d(2, 3, 4, 2, 1)
    sizes = {"input": {2: "height", 3: "width"}}
    graph = na.trace_graph(net, torch.randn(1, 2, 4, 4), dynamic=sizes)
    assert graph.eject(tmp_path / "net", "jax").error < 1e-6


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_strided_slices_of_open_axes(target: str, tmp_path: Path) -> None:
    x = jnp.arange(48.0).reshape(2, 6, 4)
    sizes = {"x": {1: "height", 2: "width"}}
    graph = na.trace_graph(lambda x: x[:, 1::2, ::3], x, dynamic=sizes)
    assert graph.eject(tmp_path / "net", target).error == 0
    assert "x[:, 1::2, ::3]" in (tmp_path / "net" / "model.py").read_text()


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_bodies_of_loops_make_arrays_of_open_sizes(target: str, tmp_path: Path) -> None:
    def total(x: jax.Array) -> Any:
        def step(h: jax.Array, row: jax.Array) -> Any:
            mask = jnp.arange(x.shape[0]) > row
            return h + (jnp.ones(x.shape[:1]) + row), jnp.where(mask, h, 1.0)

        return jax.lax.scan(step, jnp.zeros(x.shape[:1]), x.sum(0))

    graph = na.trace_graph(total, jnp.ones((4, 3)), dynamic={"x": {0: "rows"}})
    assert graph.eject(tmp_path / "net", target).error < 1e-6


class LengthRegulator(torch.nn.Module):
    """Frames of tokens whose durations it predicts, with noise, as in a synthesizer of speech."""

    def __init__(self) -> None:
        super().__init__()
        self.duration, self.out = torch.nn.Linear(4, 1), torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(batch, tokens, 4) → (batch, frames, 4)."""
        durations = torch.ceil(self.duration(x).exp()).squeeze(-1)
        lengths = durations.sum(1).long()
        ends = durations.cumsum(1)
        frames = torch.arange(lengths.max(), device=x.device)
        after = frames < ends[..., None]
        path = after ^ torch.nn.functional.pad(after, (0, 0, 1, 0))[:, :-1]
        mean = path.float().transpose(1, 2) @ self.out(x)
        return (mean + torch.randn_like(mean)) * (frames < lengths[:, None])[..., None]


class Counted(torch.nn.Module):
    """Rows up to a length, ones, and the positive elements times their number."""

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """(n, 4), (k,) → (largest length n, 4), (n² − 1 or 12, 1), (positive elements,)."""
        rows, n = (x > 0).nonzero(), lengths.max().item()
        return x[:n] * 2, torch.ones(torch.sym_max(n**2 - 1, 12), 1), x[rows[:, 0]] * rows.shape[0]


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_sizes_that_values_decide(target: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    graph = na.trace_graph(LengthRegulator(), torch.randn(2, 5, 4))
    ejected = graph.eject(tmp_path / "net", target)
    assert ejected.error < 1e-5
    text = (tmp_path / "net" / "model.py").read_text()
    assert lint(text) == ""
    drawn = {"torch": "randn(2, n, 4)", "jax": "normal(subkey, (2, n, 4))"}
    assert drawn.get(target, "normal((2, n, 4)") in text
    given = torch.randn(8, 4), torch.tensor([3, 7, 5])
    assert na.trace_graph(Counted(), *given).eject(tmp_path / "counted", target).error < 1e-6


def test_a_size_is_read_from_an_array_of_any_length(tmp_path: Path) -> None:
    """The two lengths of the example are its only values, and the largest is often the same."""

    def net(lengths: torch.Tensor) -> torch.Tensor:
        return (torch.arange(lengths.max()) < lengths[:, None]).float()

    ejected = na.trace_graph(net, torch.tensor([3, 5])).eject(tmp_path / "mask", "torch")
    model = runpy.run_path(str(ejected.path / "model.py"))["load"]()
    lengths = torch.tensor([2, 9])
    assert torch.equal(model(lengths), net(lengths))


def test_numbers_for_elements_that_are_written(tmp_path: Path) -> None:
    def bordered(x: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[..., 0] = torch.tensor(0.5)
        return x

    graph = na.trace_graph(bordered, torch.randn(2, 3))
    for target, written in (("torch", "x[:, 0] = 0.5"), ("jax", "x.at[:, 0].set(0.5)")):
        graph.eject(tmp_path / target, target)
        assert written in (tmp_path / target / "model.py").read_text()


@pytest.mark.full
@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_rows_of_four_experts_are_parts(target: str, tmp_path: Path) -> None:
    def mixture(rows: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
        counts = torch.nn.functional.one_hot(experts, 4).sum(0).tolist()
        order = experts.argsort()
        parts = rows[order].split(counts, dim=0)
        return torch.cat([part * (i + 1) for i, part in enumerate(parts)])

    rows, experts = torch.randn(9, 3), torch.tensor([0, 1, 3, 2, 2, 0, 1, 3, 2])
    graph = na.trace_graph(mixture, rows, experts)
    assert graph.eject(tmp_path / "net", target).error < 1e-6


@pytest.mark.parametrize("target", ["torch", "jax", "tensorflow", "numpy"])
def test_slices_of_open_sizes_count_from_the_end(target: str, tmp_path: Path) -> None:
    def parts(x: jax.Array) -> Any:
        return x[:, -1], x[:, 0], x[:, 1:] - x[:, :-1], x[:, 1:-1:2], x[:, -3:], x[:, :0]

    x = jax.random.normal(jax.random.key(0), (2, 5, 3))
    graph = na.trace_graph(parts, x, dynamic={"x": {1: "length"}})
    assert graph.eject(tmp_path / "parts", target).error == 0
    text = (tmp_path / "parts" / "model.py").read_text()
    assert "x[:, -1], x[:, 0], x[:, 1:] - x[:, :-1], x[:, 1:-1:2], " in " ".join(text.split())
    assert "shape" not in text.partition("def load")[0]

"""Deployment files compute what the graph computes, in their own runtime."""

from __future__ import annotations

import dataclasses
import inspect
import sys
from pathlib import Path
from typing import Any

import jax
import keras
import numpy as np
import onnxruntime
import pytest
import tensorflow as tf
import torch
from flax import nnx

import nestarray as na
from nestarray import errors
from nestarray.exporters import torch_files
from nestarray.exporters.export import FORMATS, example_of
from nestarray.sizes import parse_conditions
from tests.exporters.rows import ROWS
from tests.graph.networks import ConvNet

FILES = {"torch": "net.pt2", "onnx": "net.onnx", "stablehlo": "net.stablehlo",
         "savedmodel": "net", "tflite": "net.tflite", "keras": "net.keras"}  # fmt: skip


def _dynamic() -> Any:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.GELU(), torch.nn.Linear(4, 2))
    return na.trace_graph(net, torch.randn(4, 3), dynamic={"input": {0: "batch"}})


def _graph(row: str) -> Any:
    model = ROWS[row]().model
    return getattr(model, "graph", model)


@pytest.mark.release("format")
@pytest.mark.parametrize("format", FILES)
@pytest.mark.parametrize(
    "row",
    [
        "nested",
        "conv_net",
        *[
            pytest.param(row, marks=pytest.mark.full)
            for row in (
                "tied",
                "recurrent",
                "nnx_net",
                "linen_graph",
                "haiku_graph",
                "equinox_graph",
            )
        ],
    ],
)
def test_every_format_computes_the_same(row: str, format: str, tmp_path: Path) -> None:
    exported = _graph(row).export(tmp_path / FILES[format])
    assert exported.format == format
    assert exported.error < 1e-5
    assert [path.name for path in tmp_path.iterdir()] == [FILES[format]]


@pytest.mark.parametrize("format", ["torch", "stablehlo", "keras"])
def test_settings_by_keyword_are_part_of_the_program(format: str, tmp_path: Path) -> None:
    class Scaled(torch.nn.Module):
        def forward(self, x: torch.Tensor, negative: bool = False) -> torch.Tensor:
            return -x if negative else x * 2

    graph = na.trace_graph(Scaled(), x=torch.ones(3), negative=True)
    assert graph.export(tmp_path / FILES[format]).error == 0


@pytest.mark.parametrize("format", ["onnx", pytest.param("tflite", marks=pytest.mark.full)])
def test_linear_systems_become_files(format: str, tmp_path: Path) -> None:
    def solved(x1: torch.Tensor, x2: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.linalg.solve(x1, x2), torch.linalg.inv(x1)

    x1 = torch.tensor([[0.0, 2, 1], [1, 0, 0], [0, 0, 4]])  # rows are exchanged
    assert torch.isfinite(torch.linalg.inv(x1)).all()
    graph = na.trace_graph(solved, x1, torch.ones(2, 3, 1), dynamic={"x2": {0: "batch"}})
    assert graph.export(tmp_path / FILES[format]).error < 1e-6


def _inverted(x: torch.Tensor) -> torch.Tensor:
    settings: dict[str, Any] = {"n_fft": 6, "hop_length": 2, "window": torch.hamming_window(6)}
    spectrum = torch.stft(x, **settings, return_complex=True)
    return torch.istft(spectrum * (2 + 1j) / (1 + spectrum.abs()), **settings)


def _mixed_tokens(x: torch.Tensor) -> torch.Tensor:
    return torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2, norm="ortho").real


def _rotated(x: torch.Tensor) -> torch.Tensor:
    turns = torch.polar(torch.ones(2), torch.tensor([0.5, 0.2]))
    pairs = torch.view_as_complex(x.reshape(*x.shape[:2], 2, 2))
    return torch.view_as_real(pairs * turns).flatten(2)


def _centred_spectrum(x: torch.Tensor) -> torch.Tensor:
    return torch.fft.fftshift(torch.fft.fft2(x), dim=(-2, -1)).abs()


def _bordered(x: torch.Tensor) -> torch.Tensor:
    z = na.pad(torch.complex(x, -x), ((0, 0), (1, 0), (0, 0)), constant_values=1.0)
    return torch.view_as_real(z)


@tf.function
def _cepstrum(x: tf.Tensor) -> tf.Tensor:
    bands = tf.signal.linear_to_mel_weight_matrix(4, 9, 8000, 20.0, 3000.0)
    return tf.signal.dct(tf.math.log(tf.abs(tf.signal.stft(x, 16, 8)) @ bands + 0.1))


@pytest.mark.parametrize(
    ("source", "x", "sizes"),
    [
        (_inverted, torch.rand(2, 16), {0: "batch", 1: "length"}),
        *[pytest.param(*row, marks=pytest.mark.full) for row in (
            (_bordered, torch.rand(2, 5, 4), {0: "batch", 1: "length"}),
            (_mixed_tokens, torch.rand(2, 5, 4), {0: "batch", 1: "length"}),
            (_rotated, torch.rand(2, 5, 4), {0: "batch", 1: "length"}),
            (_cepstrum, tf.random.uniform((2, 40)), {0: "batch", 1: "length"}),
            (_centred_spectrum, torch.rand(2, 5, 4), {0: "batch", 1: "height"}),
        )],
    ],
    ids=["inverted", "bordered", "mixed", "rotated", "cepstrum", "centred"],
)  # fmt: skip
def test_complex_numbers_become_tflite(source: Any, x: Any, sizes: Any, tmp_path: Path) -> None:
    graph = na.trace_graph(source, x, dynamic={"x": sizes})
    assert graph.export(tmp_path / "net.tflite").error < 1e-5


def _errors(x: torch.Tensor) -> torch.Tensor:
    return torch.erf(x) + torch.erfc(2 * x) + torch.erfinv(x)


def _rolled(x: torch.Tensor) -> torch.Tensor:
    return torch.roll(x, (x.shape[1] // 2, 1), (1, 0))


@pytest.mark.parametrize(
    ("source", "format"), [(_errors, "tflite"), (_rolled, "tflite"), (_rolled, "onnx")]
)
def test_error_functions_and_rotations_become_files(
    source: Any, format: str, tmp_path: Path
) -> None:
    x = torch.linspace(-0.99, 0.99, 10).reshape(2, 5)
    graph = na.trace_graph(source, x, dynamic={"x": {1: "length"}})
    assert graph.export(tmp_path / FILES[format]).error < 1e-6


def test_inputs_of_nests_have_the_names_of_the_arguments(tmp_path: Path) -> None:
    def total(pair: Any, named: Any) -> torch.Tensor:
        return pair[0] + pair[1] * named["scale"]

    x = torch.ones(2)
    graph = na.trace_graph(total, (x, x), {"scale": x})
    graph.export(tmp_path / "net.pt2")
    names = torch.export.load(tmp_path / "net.pt2").graph_signature.user_inputs
    assert names == ("pair_0", "pair_1", "named_scale")
    assert graph(pair=(x, x), named={"scale": 2 * x}).tolist() == [3.0, 3.0]


def test_tflite_refuses_complex_outputs(tmp_path: Path) -> None:
    graph = na.trace_graph(torch.fft.rfft, torch.ones(4))
    with pytest.raises(
        errors.ConversionError,
        match=r"TFLite lacks complex outputs: got 'fft_rfft'; return its real and imaginary parts, "
        r"or choose another format: onnx, savedmodel$",
    ):
        graph.export(tmp_path / "net.tflite")


def _interpolated(x: jax.Array) -> jax.Array:
    places = jax.numpy.arange(4.0)
    return jax.numpy.interp(x, places, places**2)


def _running_product(x: torch.Tensor) -> torch.Tensor:
    return torch.cumprod(x, 1)


def _largest_of_groups(x: torch.Tensor, groups: torch.Tensor) -> torch.Tensor:
    first, second = groups  # unstacked int64
    return torch.full((4,), -9.0).scatter_reduce(0, first + second, x[:, 0], "amax")


def _recurrent() -> torch.nn.Module:
    torch.manual_seed(0)
    return torch.nn.GRU(2, 3, bidirectional=True, batch_first=True)


@pytest.mark.parametrize(
    ("source", "args", "dynamic"),
    [
        (_running_product, ((3, 4),), {"x": {0: "batch"}}),
        *[pytest.param(*row, marks=pytest.mark.full) for row in (
            (torch.nn.TransformerEncoderLayer(4, 2, 4).eval(), ((3, 2, 4),),
             {"src": {0: "length", 1: "batch"}}),
            (_recurrent(), ((3, 4, 2),), {"input": {0: "batch", 1: "length"}}),
            (_largest_of_groups, ((3, 4), torch.tensor([[0, 1, 0], [0, 2, 0]])), None),
        )],
    ],
    ids=["running product", "attention", "recurrent", "groups"],
)  # fmt: skip
def test_programs_of_open_sizes_become_tflite(
    source: Any, args: Any, dynamic: Any, tmp_path: Path
) -> None:
    arrays = [x if isinstance(x, torch.Tensor) else torch.rand(x) for x in args]
    graph = na.trace_graph(source, *arrays, dynamic=dynamic)
    assert graph.export(tmp_path / "net.tflite").error < 1e-5


def test_an_error_names_the_operations_that_tflite_lacks(tmp_path: Path) -> None:
    graph = na.trace_graph(torch.nn.Linear(2, 3).double(), torch.ones(4, 2, dtype=torch.float64))
    with pytest.raises(
        errors.ConversionError,
        match=r"TFLite lacks .*tf\.MatMul\(.*f64.*; cast .* onnx, savedmodel$",
    ):
        graph.export(tmp_path / "net.tflite")
    assert not [*tmp_path.iterdir()]


def test_symbolic_sizes_stay_symbolic(tmp_path: Path) -> None:
    graph, x = _dynamic(), np.random.default_rng(1).normal(size=(9, 3)).astype("float32")
    want = graph(torch.tensor(x)).detach().numpy()
    for name in FILES.values():
        graph.export(tmp_path / name)
    runs = {
        "torch": torch.export.load(tmp_path / "net.pt2").module()(torch.tensor(x)).detach(),
        "jax": jax.export.deserialize(bytearray((tmp_path / "net.stablehlo").read_bytes())).call(x),
        "tf": tf.saved_model.load(str(tmp_path / "net"))(tf.constant(x)),
        "onnx": onnxruntime.InferenceSession(tmp_path / "net.onnx").run(None, {"input": x})[0],
    }
    for got in runs.values():
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4, atol=1e-5)


class Positions(torch.nn.Module):
    """Embeddings of positions up to the length of the input, and an input by keyword."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.head = torch.nn.Embedding(5, 4), torch.nn.Linear(4, 2)
        self.positions = torch.nn.Parameter(torch.randn(8, 4))

    def forward(self, tokens: torch.Tensor, *, keep: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens) + self.positions[: tokens.shape[1]]
        return self.head(x) * keep[..., None]


@pytest.mark.full
def test_symbolic_sizes_of_positions_and_keyword_inputs(tmp_path: Path) -> None:
    axes, rng = {0: "batch", 1: "length"}, np.random.default_rng(0)
    net, tokens, keep = Positions(), rng.integers(0, 5, (3, 7)), rng.integers(0, 2, (3, 7)) > 0
    example = torch.zeros(2, 6, dtype=torch.long), torch.ones(2, 6, dtype=torch.bool)
    graph = na.trace_graph(net, example[0], keep=example[1], dynamic={"tokens": axes, "keep": axes})
    for name in FILES.values():
        graph.export(tmp_path / name)
    given = {"tokens": tokens, "keep": keep}
    program = torch.export.load(tmp_path / "net.pt2").module()
    stablehlo = jax.export.deserialize(bytearray((tmp_path / "net.stablehlo").read_bytes()))
    onnx = onnxruntime.InferenceSession(tmp_path / "net.onnx")
    saved = tf.saved_model.load(str(tmp_path / "net")).signatures["serving_default"]
    want = net(torch.tensor(tokens), keep=torch.tensor(keep)).detach()
    for got in (
        program(torch.tensor(tokens), keep=torch.tensor(keep)).detach(),
        stablehlo.call(tokens.astype(np.int32), keep=keep),
        onnx.run(None, given)[0],
        saved(**{name: tf.constant(x) for name, x in given.items()})["output"],
    ):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("format", ["savedmodel", "tflite"])
def test_jax_models_of_open_sizes_become_files_of_tensorflow(format: str, tmp_path: Path) -> None:
    def shifted(x: jax.Array, bias: jax.Array) -> jax.Array:
        return x + jax.lax.broadcast_in_dim(bias, x.shape, (1,))

    x = jax.numpy.ones((2, 3))
    graph = na.trace_graph(shifted, x, x[0], dynamic={"x": {0: "batch"}})
    assert graph.export(tmp_path / FILES[format]).error < 1e-6


def test_parts_of_open_lengths_become_savedmodel(tmp_path: Path) -> None:
    def part(x: jax.Array, start: jax.Array) -> jax.Array:
        return jax.lax.dynamic_slice_in_dim(jax.numpy.concatenate([x, x]), start, 2)

    x, start = jax.numpy.arange(6.0).reshape(3, 2), jax.numpy.asarray(1)
    graph = na.trace_graph(part, x, start, dynamic={"x": {0: "length"}})
    assert graph.export(tmp_path / "net").error == 0


def _positions_of(tokens: torch.Tensor) -> torch.Tensor:
    return tokens + torch.arange(tokens.shape[1])


def _after_the_first(x: Any) -> Any:
    """``x[0]`` and ``x[1:]`` of an open size; JAX knows no scan of length - 1 rows for all lengths."""
    return jax.lax.scan(lambda carry, row: (carry / 2 + row, carry), x[0], x[1:])[1]


def _running_sums(x: jax.Array) -> jax.Array:
    return jax.lax.scan(lambda total, row: (total + row, total), jax.numpy.zeros(3), x)[1]


def _first_rows(x: jax.Array) -> jax.Array:
    return jax.lax.while_loop(lambda x: x.max() > 1.0, lambda x: x / 2, x[0] + x[-1])


def _counted(x: jax.Array) -> jax.Array:
    return jax.lax.fori_loop(0, x.shape[0], lambda i, total: total / 2 + x[i], jax.numpy.zeros(3))


@tf.function
def _halved(x: tf.Tensor) -> tf.Tensor:
    total = x[0]
    for _ in tf.range(tf.shape(x)[0]):
        total = total / 2.0
    return total


def _strided() -> torch.nn.Module:
    torch.manual_seed(0)
    pooled = torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.MaxPool2d(2)
    return torch.nn.Sequential(*pooled, torch.nn.Conv2d(2, 2, 3, stride=2, padding=1))


class _UNet(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.down, self.out = torch.nn.Conv2d(2, 3, 2, 2), torch.nn.Conv2d(5, 1, 3, padding=1)
        self.norm = torch.nn.GroupNorm(1, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        low = torch.relu(self.norm(self.down(x)))
        pooled = torch.nn.functional.max_pool2d(low, 2)
        low = low + torch.nn.functional.interpolate(pooled, scale_factor=2, mode="bilinear")
        high = torch.nn.functional.interpolate(low, scale_factor=2, mode="bilinear")
        return self.out(torch.cat([x, high], 1))


class _Enlarged(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(2, 8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        high = torch.nn.functional.interpolate(x, scale_factor=1.5, mode="bicubic")
        return torch.nn.functional.pixel_shuffle(self.conv(high), 2)


def _warped(x: torch.Tensor) -> torch.Tensor:
    grid = 1.2 * torch.tanh(x[:, :2]).movedim(1, 3)
    inside = torch.nn.functional.grid_sample(x, grid, align_corners=False)
    return inside + torch.nn.functional.grid_sample(
        x, grid, padding_mode="reflection", align_corners=True
    )


def _best(x: jax.Array) -> Any:
    return jax.lax.top_k(x.reshape(-1), 3)


def _patches(x: torch.Tensor) -> torch.Tensor:
    each = torch.nn.functional.avg_pool1d(x, 4)
    return each + x[..., : each.shape[-1]]  # for JAX, (n - 4) // 4 + 1 is not n // 4


def _padded(x: jax.Array) -> jax.Array:
    return jax.lax.conv_general_dilated(x, jax.numpy.ones((2, 2, 3)), (2,), [(1, 1)])


def _kept(x: jax.Array) -> jax.Array:
    def without_small(i: jax.Array, kept: jax.Array) -> jax.Array:
        sides = jax.numpy.clip(jax.numpy.minimum(x[i, 2:], x[:, 2:]) - x[:, :2], 0)
        return jax.numpy.where(sides[:, 0] * sides[:, 1] > 0.1, kept, kept / 2)

    return jax.lax.fori_loop(0, x.shape[0], without_small, jax.numpy.ones(x.shape[0]))


@tf.function
def _suppressed(x: tf.Tensor) -> tf.Tensor:
    return tf.image.non_max_suppression(x, x[:, 0], 2)


@tf.function
def _suppressed_and_padded(x: tf.Tensor) -> tf.Tensor:
    return tf.image.non_max_suppression_padded(x, x[:, 0], 2, pad_to_max_output_size=True)


@tf.function
def _in_blocks(x: tf.Tensor) -> tf.Tensor:
    length = tf.shape(x)[0]
    blocks = tf.cast(tf.math.ceil(tf.cast(length, tf.float32) / 4.0), tf.int32)
    x = tf.pad(x, [[0, 4 * blocks - length], [0, 0]])  # a number that no size determines
    steps = tf.reduce_sum(tf.range(blocks))
    total = tf.zeros((4, 3))
    for i in tf.range(blocks):
        total += tf.slice(x, [4 * i, 0], [4, 3])
    return total + tf.cast(steps, tf.float32)


def _mixed_experts(x: torch.Tensor) -> torch.Tensor:
    rows = x.reshape(-1, 2)
    shares = torch.softmax(rows @ torch.ones(2, 3), 1)
    hidden = torch.einsum("nd,edh->neh", rows, torch.ones(3, 2, 8))
    return torch.einsum("neh,ehd,ne->nd", hidden, torch.ones(3, 8, 2), shares).view_as(x)


def _deviations(x: np.ndarray) -> np.ndarray:
    return (x - x.mean(0)) / x.std(0, ddof=1)


def _nearest_rows(x: torch.Tensor) -> torch.Tensor:
    return torch.cdist(x, x[:2]).argmin(1)


def _cached_mask(x: torch.Tensor) -> torch.Tensor:
    rows, columns = x.shape  # of the queries, and of the keys with those of a cache
    return torch.ones(rows, columns, dtype=torch.bool).tril(columns - rows)


class _Packed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.rnn = torch.nn.LSTM(2, 3, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        rows = {"batch_first": True}
        lengths = torch.ones_like(x[..., 0]).sum(1).long()
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, enforce_sorted=False, **rows)
        outputs, _ = self.rnn(packed)
        return torch.nn.utils.rnn.pad_packed_sequence(outputs, total_length=x.shape[1], **rows)[0]


def _medians(x: torch.Tensor) -> torch.Tensor:
    return torch.quantile(x, 0.5, dim=1)


def _spectrum(x: torch.Tensor) -> torch.Tensor:
    return torch.stft(x, 4, 2, window=torch.hann_window(4), return_complex=True).abs()


def _descending(x: np.ndarray) -> np.ndarray:
    return np.sort(x, axis=0)[-2::-1]


def _chosen_below(x: torch.Tensor) -> torch.Tensor:
    below = torch.tril(torch.ones(x.shape[1], x.shape[1]), -1)
    return x.gather(1, x.argmax(1, keepdim=True)) + (x @ below)


def _averaged(x: jax.Array) -> jax.Array:
    pooled = nnx.avg_pool(x, (3, 3), (2, 2), "SAME", count_include_pad=False)
    return pooled.mean((1, 2))


def _keras_same(*pools: type) -> keras.Model:
    settings = {"strides": 2, "padding": "same"}
    keras.utils.set_random_seed(0)
    layers = keras.layers.Conv2D(2, 3, **settings), *[pool(3, **settings) for pool in pools]
    return keras.Sequential([keras.layers.Input((None, None, 2)), *layers])


def _keras_layer(layer: keras.Layer, *shape: int | None) -> keras.Model:
    return keras.Sequential([keras.layers.Input(shape), layer])


_POOLS = keras.layers.MaxPooling2D, keras.layers.AveragePooling2D


_IMAGES = {0: "batch", 2: "height", 3: "width"}


@pytest.mark.parametrize(
    ("source", "x", "axes", "format"),
    [
        (_positions_of, torch.ones(2, 5), {0: "batch", 1: "length"}, "torch"),
        (_running_sums, jax.numpy.ones((5, 3)), {0: "length"}, "stablehlo"),
        *[(_after_the_first, jax.numpy.ones((5, 3)), {0: "length"}, format)
          for format in ("stablehlo", "savedmodel")],
        (_descending, np.float32([[3, 1], [1, 2], [2, 5]]), {0: "length"}, "torch"),
        (torch.nn.ConvTranspose2d(2, 2, 2, 2), torch.ones(2, 2, 4, 4), _IMAGES, "savedmodel"),
        (torch.nn.Upsample(scale_factor=2, mode="bilinear"), torch.ones(2, 2, 4, 4), _IMAGES,
         "stablehlo"),
        (_averaged, jax.numpy.ones((2, 16, 15, 2)), {1: "height", 2: "width"}, "savedmodel"),
        (torch.nn.AdaptiveAvgPool2d((2, 3)), torch.ones(2, 2, 4, 6), _IMAGES, "onnx"),
        (_patches, torch.ones(2, 2, 8), {2: "length"}, "stablehlo"),
        (_padded, jax.numpy.ones((2, 2, 8)), {0: "batch", 2: "length"}, "savedmodel"),
        (_best, jax.numpy.ones((2, 5)), {0: "batch", 1: "length"}, "stablehlo"),
        *[(_warped, torch.rand(2, 3, 4, 6), _IMAGES, format) for format in ("stablehlo", "savedmodel")],
        *[(_nearest_rows, torch.rand(4, 3), {0: "points"}, format) for format in ("onnx", "stablehlo")],
        (_mixed_experts, torch.rand(2, 5, 2), {0: "batch", 1: "length"}, "torch"),
        (_deviations, np.float32([[3, 1], [1, 2], [2, 5]]), {0: "length"}, "savedmodel"),
        (_cached_mask, torch.ones(3, 5), {0: "new", 1: "all"}, "savedmodel"),
        (_in_blocks, tf.random.uniform((6, 3)), {0: "length"}, "savedmodel"),
        *[pytest.param(*row, marks=pytest.mark.full) for row in (
            *[(_UNet(), torch.ones(2, 2, 8, 8), _IMAGES, format)
              for format in ("torch", "onnx", "stablehlo", "savedmodel", "tflite")],
            (_positions_of, torch.ones(2, 5), {0: "batch", 1: "length"}, "onnx"),
            *[(torch.nn.RNN(2, 3), torch.ones(4, 3, 2), {0: "length", 1: "batch"}, format)
              for format in ("torch", "onnx", "aotinductor")],
            (_first_rows, jax.numpy.ones((5, 3)), {0: "length"}, "stablehlo"),
            (_counted, jax.numpy.ones((5, 3)), {0: "length"}, "torch"),
            (_halved, tf.ones((5, 3)), {0: "length"}, "torch"),
            (_halved, tf.ones((5, 3)), {0: "length"}, "tflite"),
            (_strided(), torch.ones(2, 2, 16, 16), _IMAGES, "stablehlo"),
            (nnx.Conv(2, 2, (3, 3), strides=2, rngs=nnx.Rngs(0)), jax.numpy.ones((2, 16, 16, 2)),
             {0: "batch", 1: "height", 2: "width"}, "stablehlo"),
            *[(_keras_same(*pools), tf.ones((2, 16, 15, 2)), {1: "height", 2: "width"}, format)
              for pools, format in (((), "torch"), (_POOLS, "savedmodel"), (_POOLS, "tflite"))],
            *[(_averaged, jax.numpy.ones((2, 16, 15, 2)), {1: "height", 2: "width"}, format)
              for format in ("onnx", "stablehlo", "tflite")],
            (torch.nn.AvgPool2d(3, 2, 1, count_include_pad=False), torch.ones(2, 2, 8, 9), _IMAGES,
             "stablehlo"),
            (torch.nn.ConvTranspose2d(2, 2, 2, 2), torch.ones(2, 2, 4, 4), _IMAGES, "stablehlo"),
            (_medians, torch.ones(2, 5), {0: "batch"}, "savedmodel"),
            *[(_interpolated, jax.numpy.linspace(-1, 4, 5), {0: "length"}, format)
              for format in ("torch", "onnx", "tflite")],
            *[(torch.nn.AdaptiveAvgPool2d((2, 3)), torch.ones(2, 2, 4, 6), _IMAGES, format)
              for format in ("stablehlo", "savedmodel", "tflite")],
            *[(_spectrum, torch.ones(2, 8), {0: "batch", 1: "length"}, format)
              for format in ("stablehlo", "savedmodel")],
            *[(_mixed_tokens, torch.rand(2, 5, 4), {0: "batch", 1: "length"}, format)
              for format in ("onnx", "savedmodel")],
            *[(_chosen_below, torch.rand(2, 5), {0: "batch", 1: "length"}, format)
              for format in ("stablehlo", "savedmodel")],
            *[(_medians, torch.rand(2, 5), {0: "batch", 1: "length"}, format)
              for format in ("torch", "stablehlo", "tflite")],
            *[(_keras_layer(keras.layers.Resizing(3, 4), None, None, 2), tf.ones((2, 5, 4, 2)),
               {0: "batch", 1: "height", 2: "width"}, format) for format in ("onnx", "savedmodel")],
            (_keras_layer(keras.layers.Conv1D(2, 3, dilation_rate=2, padding="causal"), None, 2),
             tf.ones((2, 5, 2)), {0: "batch", 1: "length"}, "tflite"),
            (_kept, jax.numpy.ones((3, 4)), {0: "boxes"}, "savedmodel"),
            *[(_suppressed, tf.random.uniform((5, 4)), {0: "boxes"}, format)
              for format in ("savedmodel", "tflite")],
            (torch.nn.EmbeddingBag(5, 2), torch.ones(3, 4, dtype=torch.int64), {0: "batch"},
             "stablehlo"),
            *[(pool(2, 1), torch.rand(2, 2, 4, 4, 5), {0: "batch", 2: "depth", 3: "height"}, "tflite")
              for pool in (torch.nn.MaxPool3d, torch.nn.AvgPool3d)],
            (_Packed(), torch.ones(3, 4, 2), {0: "batch", 1: "length"}, "savedmodel"),
            *[(_Enlarged(), torch.ones(2, 2, 4, 6), _IMAGES, format)
              for format in ("torch", "savedmodel")],
            *[(torch.nn.AdaptiveMaxPool2d((2, 3)), torch.ones(2, 2, 4, 7), _IMAGES, format)
              for format in ("onnx", "stablehlo", "tflite")],
            *[(_warped, torch.rand(2, 3, 4, 6), _IMAGES, format) for format in ("onnx", "tflite")],
            *[(_suppressed_and_padded, tf.random.uniform((5, 4)), {0: "boxes"}, format)
              for format in ("savedmodel", "tflite")],
        )],
    ],
    ids=["arange", "scan", *["after the first"] * 2, "descending", "transposed", "resized", "averaged", "parts", "patches", "padded", "best", *["warped"] * 2, *["nearest"] * 2, "experts", "deviations", "cached", "blocks",
         *["resized"] * 5, "arange", "recurrent",
         "recurrent", "recurrent", "first", "counted", "steps", "steps", "strided", *["same"] * 4, *["averaged"] * 4, "transposed", "medians", *["interpolated"] * 3,
         *["parts"] * 3, *["spectrum"] * 2, *["mixed"] * 2, *["chosen"] * 2, *["medians"] * 3, *["resizing"] * 2, "dilated",
         "kept", "suppressed", "suppressed", "bags",
         *["volumes"] * 2, "packed", *["enlarged"] * 2, *["greatest parts"] * 3,
         *["warped"] * 2, *["suppressed and padded"] * 2],
)  # fmt: skip
def test_ops_of_open_sizes_become_files(
    source: Any, x: Any, axes: Any, format: str, tmp_path: Path
) -> None:
    function = getattr(source, "python_function", getattr(source, "forward", source))
    function = source.call if isinstance(source, keras.Model) else function
    name = next(iter(inspect.signature(function).parameters))
    graph = na.trace_graph(source, x, dynamic={name: axes})
    assert graph.export(tmp_path / FILES.get(format, "net"), format=format).error < 1e-5


def test_a_file_of_fewer_sizes_than_the_graph_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    graph = na.trace_graph(doubled, torch.ones(2, 8), dynamic={"x": {1: "length"}})
    fixed, written = na.trace_graph(doubled, torch.ones(2, 8)), torch_files.write_torch
    monkeypatch.setattr(torch_files, "write_torch", lambda graph, *rest: written(fixed, *rest))
    with pytest.raises(
        errors.ConversionError,
        match=r"^export: doubled: the file of format 'torch' computes the sizes of the example "
        r"\(length = 8\), but not length = 9 \(dimension 1 of 'x'\): Guard failed: .*; choose "
        r"another format, or leave length out of dynamic=",
    ):
        graph.export(tmp_path / "net.pt2")
    assert not [*tmp_path.iterdir()]


def test_a_file_that_differs_at_other_sizes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = na.trace_graph(lambda x: x / x.shape[0], torch.ones(4), dynamic={"x": {0: "batch"}})
    fixed = na.trace_graph(lambda x: x / 4, torch.ones(4), dynamic={"x": {0: "batch"}})
    written = torch_files.write_torch
    monkeypatch.setattr(torch_files, "write_torch", lambda graph, *rest: written(fixed, *rest))
    with pytest.raises(errors.ConversionError, match=r"but not batch = 5 .*: output: .* differs"):
        graph.export(tmp_path / "net.pt2")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("conditions", "sizes"),
    [("0 <= batch", [(4,), (5,), (8,)]), ("batch % 3 == 1 and batch < 5", [(4,)])],
    ids=["free", "one size"],
)
def test_files_are_compared_at_sizes_that_the_graph_admits(
    conditions: str,
    sizes: list[tuple[int, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, run, seen = _dynamic(), torch_files.run_torch, []
    known = parse_conditions(conditions, graph.sizes.example)
    graph = graph.replace(sizes=dataclasses.replace(graph.sizes, conditions=known))

    def noted(path: Path, example: Any) -> Any:
        seen.append(example.flat["input"].shape[:1])
        return run(path, example)

    monkeypatch.setattr(torch_files, "run_torch", noted)
    graph.export(tmp_path / "net.pt2")
    assert seen[: len(sizes)] == sizes
    assert all(not graph.sizes.allow({"batch": n}) for (n,) in seen[len(sizes) :])  # refused


@pytest.mark.parametrize(
    ("format", "package", "extra"),
    [
        (format, package, extra)
        for format, written in FORMATS.items()
        for package, extra in written.packages.items()
    ],
)
def test_a_missing_package_of_a_format_names_its_extra(
    format: str, package: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = _dynamic()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(errors.MissingFrameworkError, match=rf"'nestarray\[{extra}\]'"):
        graph.export(tmp_path / f"net{FORMATS[format].suffix}", format=format)
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("format", ["savedmodel", "tflite"])
def test_custom_derivatives_that_read_constants(format: str, tmp_path: Path) -> None:
    weight = jax.numpy.linspace(-1.0, 1.0, 200)  # TensorFlow captures those above 128 numbers

    @jax.custom_vjp
    def scaled(x: jax.Array) -> jax.Array:
        return x * weight

    scaled.defvjp(lambda x: (scaled(x), None), lambda _, g: (3.0 * g * weight,))
    graph = na.trace_graph(lambda x: scaled(x) + 1.0, jax.numpy.ones(200))
    assert graph.export(tmp_path / FILES[format]).error < 1e-6
    if format == "savedmodel":
        loaded, x = tf.saved_model.load(str(tmp_path / "net")), tf.ones(200)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loaded(x)
        np.testing.assert_allclose(tape.gradient(y, x), 3.0 * weight)


def test_stablehlo_of_a_loop_that_a_value_ends(tmp_path: Path) -> None:
    def halved(x: Any) -> Any:
        return jax.lax.while_loop(lambda x: x.max() > 1.0, lambda x: x / 2, x)

    na.trace_graph(halved, jax.numpy.ones(3)).export(tmp_path / "net.stablehlo")
    loaded = jax.export.deserialize(bytearray((tmp_path / "net.stablehlo").read_bytes()))
    assert loaded.call(8 * jax.numpy.ones(3)).tolist() == [1.0, 1.0, 1.0]
    assert not loaded.has_vjp()


def test_stablehlo_has_the_derivative(tmp_path: Path) -> None:
    graph = _graph("linen_graph")
    graph.export(tmp_path / "net.stablehlo")
    loaded = jax.export.deserialize(bytearray((tmp_path / "net.stablehlo").read_bytes()))
    x = jax.numpy.asarray(ROWS["linen_graph"]().args[0])
    got = jax.grad(lambda x: loaded.call(x).sum())(x)
    np.testing.assert_allclose(got, jax.grad(lambda x: graph(x).sum())(x), rtol=1e-4, atol=1e-5)


def test_a_graph_from_a_file_is_exported(tmp_path: Path) -> None:
    _graph("conv_net").save(tmp_path / "net.safetensors")
    loaded = na.Graph.load(tmp_path / "net.safetensors", backend="jax")
    assert loaded.export(tmp_path / "net.pt2").error < 1e-5


def test_random_inputs_have_the_sizes_of_the_example() -> None:
    example = example_of(_dynamic())
    assert {name: x.shape for name, x in example.flat.items()} == {"input": (4, 3)}


@pytest.mark.full
@pytest.mark.parametrize("format", ["torch", "onnx", "stablehlo", "savedmodel", "keras"])
def test_a_key_that_is_an_argument_draws_the_numbers(format: str, tmp_path: Path) -> None:
    def sampled(x: jax.Array, key: jax.Array) -> jax.Array:
        return x + jax.random.normal(key, x.shape)

    graph = na.trace_graph(sampled, jax.numpy.ones((5, 2)), jax.random.PRNGKey(0))
    assert graph.export(tmp_path / FILES[format]).error < 1e-5


def test_errors_leave_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, graph = tmp_path / "net.pt2", _graph("conv_net")
    path.write_bytes(b"old")
    wrong = graph.replace(v=graph.v * 2.0)
    written = torch_files.write_torch
    monkeypatch.setattr(torch_files, "write_torch", lambda graph, *rest: written(wrong, *rest))
    with pytest.raises(errors.ConversionError, match=r"ConvNet: output: the file .* differs by"):
        graph.export(path)

    def failing(*args: Any) -> None:
        raise ValueError("no such operation\nmore text")

    monkeypatch.setattr(torch_files, "write_torch", failing)
    with pytest.raises(
        errors.ConversionError,
        match=r"'torch' failed.*: no such operation; .*choose another format$",
    ):
        graph.export(path)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["net.pt2"]


def test_a_refusal_names_the_call_and_the_remedy(tmp_path: Path) -> None:
    def spectrum(x: jax.Array) -> jax.Array:
        return jax.numpy.fft.rfft(x[:, : x.shape[1] // 2])

    graph = na.trace_graph(spectrum, jax.numpy.ones((2, 8)), dynamic={"x": {1: "n"}})
    with pytest.raises(
        errors.ConversionError,
        match=r"'stablehlo' failed at na\.rfftn with the open sizes "
        r"n: .*; leave n out of dynamic=, or choose another format$",
    ):
        graph.export(tmp_path / "net.stablehlo")


def test_errors_of_the_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = _graph("conv_net")
    with pytest.raises(
        errors.ArgumentError, match=r"'\.exe' names no format; expected \.pt2, \.onnx, "
    ):
        graph.export(tmp_path / "net.exe")
    with pytest.raises(errors.ArgumentError, match="format: got 'coreml'"):
        graph.export(tmp_path / "net", format="coreml")
    with pytest.raises(errors.ArgumentError, match="path: got the working directory, expected a"):
        graph.export("")
    with pytest.raises(errors.ArgumentError, match=r"got the suffix '', expected '\.keras'"):
        graph.export(tmp_path / "net", format="keras")
    with pytest.raises(errors.MissingFileError, match="there is no directory"):
        graph.export(tmp_path / "nowhere" / "net.pt2")
    training = na.trace_graph(ConvNet(), torch.randn(4, 1, 8, 8), train=True)
    with pytest.raises(errors.ArgumentError, match="ConvNet: the graph trains; export"):
        training.export(tmp_path / "net.pt2")
    drawing = na.trace_graph(lambda x: x + torch.rand(3), torch.ones(3))
    with pytest.raises(errors.ArgumentError, match="the graph draws random numbers; trace"):
        drawing.export(tmp_path / "net.pt2")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(errors.MissingFrameworkError, match=r"pip install 'nestarray\[onnx\]'"):
        graph.export(tmp_path / "net.onnx")


def test_every_format_has_its_functions() -> None:
    assert {*FORMATS} == {*FILES, "aotinductor"}


@pytest.mark.full  # compiles for a minute
def test_aotinductor_packages_compute_the_same(tmp_path: Path) -> None:
    graph, x = _dynamic(), torch.randn(9, 3)
    exported = graph.export(tmp_path / "net.pt2", format="aotinductor")
    assert exported.error < 1e-5
    loaded = torch._inductor.aoti_load_package(str(exported.path))
    torch.testing.assert_close(loaded(x), graph(x), rtol=1e-4, atol=1e-5)


def test_aotinductor_needs_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import cpp_builder, exc

    def missing() -> str:
        raise exc.InvalidCxxCompiler

    monkeypatch.setattr(cpp_builder, "get_cpp_compiler", missing)
    with pytest.raises(
        errors.ConversionError, match=r"failed: AOTInductor found no C\+\+ compiler"
    ):
        _dynamic().export(tmp_path / "net.pt2", format="aotinductor")
    assert not [*tmp_path.iterdir()]

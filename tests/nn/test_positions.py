"""Positions: equal to `transformers`, Keras' formulas and NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
import transformers
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.t5.modeling_t5 import T5Attention

import nestarray as na
from nestarray import nn
from nestarray.errors import ArgumentError
from nestarray.testing import assert_close


def frequencies_of_transformers(**parameters: object) -> np.ndarray:
    config = transformers.LlamaConfig(
        hidden_size=64,
        num_attention_heads=2,
        max_position_embeddings=512,
        rope_parameters={"rope_theta": 1000.0, "factor": 4.0, **parameters},
    )
    return ROPE_INIT_FUNCTIONS[parameters["rope_type"]](config, "cpu")


def test_frequencies_of_llama() -> None:
    expected, _ = frequencies_of_transformers(
        rope_type="llama3",
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_position_embeddings=128,
    )
    ours = nn.rotary.llama3_frequencies(32, 1000.0, factor=4.0, original_length=128)
    assert_close(ours.astype("float32"), expected.numpy())


@pytest.mark.parametrize("truncate", [True, False])
def test_frequencies_of_yarn(truncate: bool) -> None:
    expected, factor = frequencies_of_transformers(
        rope_type="yarn", original_max_position_embeddings=128, truncate=truncate
    )
    ours = nn.rotary.yarn_frequencies(
        32, 1000.0, factor=4.0, original_length=128, truncate=truncate
    )
    assert_close(ours.astype("float32"), expected.numpy())
    assert math.isclose(factor, 0.1 * math.log(4.0) + 1)


def test_rotations_depend_on_distances(backend: str) -> None:
    rng = np.random.default_rng(0)
    q, k = (na.to_backend(rng.normal(size=(1, 8)).astype("f4"), backend) for _ in range(2))
    rotate = nn.RotaryEmbedding(6, interleaved=True).init(na.random.key(0))

    def score(i: int, j: int) -> object:
        return na.sum(rotate(q, na.asarray([i], like=q)) * rotate(k, na.asarray([j], like=q)))

    assert_close(score(7, 4), score(23, 20), rtol=1e-5, atol=1e-5, reason="large angles")


def test_sine_encodings(backend: str) -> None:
    x = na.zeros((2, 9, 7), like=na.random.key(0, backend=backend))
    net = nn.SinePositionEncoding(7, 100.0).init(na.random.key(0))
    expected = np.zeros((9, 7), "float32")
    for place in range(9):
        for feature in range(7):
            angle = place * 100.0 ** (-(feature - feature % 2) / 7)
            expected[place, feature] = math.cos(angle) if feature % 2 else math.sin(angle)
    assert_close(net(x)[0], na.to_backend(expected, backend))
    positions = na.asarray([[4], [8]], like=x)
    assert_close(net(x[:, :1], positions)[:, 0], na.to_backend(expected[[4, 8]], backend))


def test_learned_positions_continue(backend: str) -> None:
    net = nn.PositionEmbedding(6, 3).init(na.random.key(0, backend=backend))
    x = na.zeros((2, 4, 3), like=net.v["weight"])
    assert_close(net(x)[1], net.v["weight"][:4])
    positions = na.asarray([[5], [2]], like=x)
    assert_close(net(x[:, :1], positions)[1, 0], net.v["weight"][2])
    with pytest.raises(ArgumentError, match="x: got a length of 7, expected at most"):
        net(na.zeros((7, 3), like=x))


@pytest.mark.parametrize("bidirectional", [True, False])
def test_relative_biases_of_t5(bidirectional: bool) -> None:
    places = torch.arange(-300, 301)
    expected = T5Attention._relative_position_bucket(places, bidirectional, 32, 128).numpy()
    net = nn.RelativePositionBias(1, 32, 128, bidirectional)
    v = na.Container(relative_attention_bias={"weight": np.arange(32, dtype="f4")[:, None]})
    out = net.with_variables(v)(np.asarray([300]), np.arange(601))
    np.testing.assert_array_equal(out[0, 0], expected)


def test_linear_biases_are_those_of_the_op(backend: str) -> None:
    key = na.random.key(0, backend=backend)
    net = nn.AlibiBias(3).init(key)
    bias = net(na.arange(4, 7, like=key), na.arange(7, like=key))
    assert_close(bias, na.alibi_bias(3, 3, 7, like=key))


def test_errors() -> None:
    with pytest.raises(ArgumentError, match="dim: got 3, expected an even number"):
        nn.RotaryEmbedding(3)
    with pytest.raises(ArgumentError, match=r"frequencies: got the shape \(3,\), expected \(2,\)"):
        nn.RotaryEmbedding(4, frequencies=[1.0, 2.0, 3.0])
    with pytest.raises(ArgumentError, match="num_buckets: got 2 with max_distance=128"):
        nn.RelativePositionBias(2, 2)
    with pytest.raises(ArgumentError, match="num_heads: got 0, expected one at least"):
        nn.AlibiBias(0)

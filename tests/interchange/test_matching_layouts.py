"""match: networks of torch, Flax, Keras and Haiku compute the same with matched weights."""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

os.environ.setdefault("KERAS_BACKEND", "jax")

import nestarray as na
from nestarray.errors import ArgumentError, PathError, ShapeError, StructureError

CHANNELS, WIDTH, HEADS = 8, 12, 3


class Network(NamedTuple):
    """The variables of a network, and its output for other variables, on images or sequences."""

    variables: na.Container
    call: Any


def outputs_agree(source: Network, target: Network, x: np.ndarray, keymap: na.KeyMap) -> None:
    np.testing.assert_allclose(
        target.call(keymap.apply(source.variables), x), source.call(source.variables, x), atol=1e-5
    )
    back = keymap.invert().apply(keymap.apply(source.variables))
    for path, leaf in back.flat_items():
        np.testing.assert_array_equal(leaf, source.variables[path])


def of_torch(net: Any, channels_first: bool = False) -> Network:
    import torch

    def call(v: na.Container, x: np.ndarray) -> np.ndarray:
        net.load_state_dict(v.to_torch_state_dict())
        given = torch.as_tensor(x.transpose(0, 3, 1, 2) if channels_first else x)
        return net(given).detach().numpy()

    v = na.Container.from_torch_module(net.eval(), buffers=True)
    return Network(randomized(v), call)


def of_flax(net: Any, x: np.ndarray) -> Network:
    import jax

    variables = net.init(jax.random.key(0), x)
    call = lambda v, x: np.asarray(net.apply(v.to_flax(like=variables), x))  # noqa: E731
    return Network(randomized(na.Container.from_flax(variables)), call)


def of_keras(model: Any) -> Network:
    call = lambda v, x: np.asarray(v.load_into_keras(model)(x))  # noqa: E731
    return Network(randomized(na.Container.from_keras(model)), call)


def randomized(v: na.Container) -> na.Container:
    """Positive numbers, as running variances need; counters are kept."""
    rng = np.random.default_rng(0)
    return v.map(lambda x: rng.uniform(0.1, 0.5, x.shape).astype("float32") if x.ndim else x)


# -- a flatten after a convolution ----------------------------------------------------------------


IMAGES = np.random.default_rng(1).normal(size=(2, 6, 8, 3)).astype("float32")


def torch_cnn() -> Network:
    from torch import nn

    net = nn.Sequential(
        nn.Conv2d(3, CHANNELS, 3, padding=1), nn.BatchNorm2d(CHANNELS), nn.MaxPool2d(2),
        nn.Flatten(), nn.BatchNorm1d(CHANNELS * 12), nn.Linear(CHANNELS * 12, 16), nn.Linear(16, 5),
    )  # fmt: skip
    return of_torch(net, channels_first=True)


def flax_cnn() -> Network:
    import flax.linen as fl

    class CNN(fl.Module):
        @fl.compact
        def __call__(self, x: Any) -> Any:
            x = fl.BatchNorm(True, epsilon=1e-5)(fl.Conv(CHANNELS, (3, 3))(x))
            x = fl.max_pool(x, (2, 2), (2, 2)).reshape(len(x), -1)
            x = fl.BatchNorm(True, epsilon=1e-5)(x)
            x = fl.Dense(16)(x)
            return fl.Dense(5)(x)

    return of_flax(CNN(), IMAGES)


def keras_cnn() -> Network:
    import keras
    from keras import layers

    return of_keras(
        keras.Sequential(
            [
                keras.Input(IMAGES.shape[1:]),
                layers.Conv2D(CHANNELS, 3, padding="same", name="conv"),
                layers.BatchNormalization(epsilon=1e-5, name="norm1"),
                layers.MaxPooling2D(2),
                layers.Flatten(),
                layers.BatchNormalization(epsilon=1e-5, name="norm2"),
                layers.Dense(16, name="fc1"),
                layers.Dense(5, name="fc2"),
            ]
        )
    )


CNNS = {"torch": torch_cnn, "flax": flax_cnn, "keras": keras_cnn}


@pytest.mark.parametrize("target", CNNS)
@pytest.mark.parametrize("source", CNNS)
def test_layers_after_a_flatten(source: str, target: str, tmp_path: Path) -> None:
    old, new = CNNS[source](), CNNS[target]()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        keymap = old.variables.match(new.variables)
    flattened = {
        name: CHANNELS for name, leaf in old.variables.flat_items() if CHANNELS * 12 in leaf.shape
    }
    assert len(flattened) == 5
    if "torch" in (source, target) and source != target:
        told = [str(one.message) for one in caught]
        assert sorted(text.split("'")[1] for text in told) == sorted(flattened)
        assert all(f"flatten={{'{name}': 8}}" in "".join(told) for name in flattened)
        with pytest.raises(AssertionError):
            outputs_agree(old, new, IMAGES, keymap)
        keymap = old.variables.match(new.variables, flatten=flattened)
    else:  # equal layouts
        assert not caught
        assert old.variables.match(new.variables, flatten=flattened) == keymap
    outputs_agree(old, new, IMAGES, keymap)
    keymap.save(tmp_path / "map.json")
    assert na.KeyMap.load(tmp_path / "map.json") == keymap


def linear_after(channels: int, inputs: int) -> tuple[na.Container, na.Container]:
    """A convolution and a matrix, as PyTorch stores them, and as Keras does."""
    a = na.Container(
        conv={"weight": np.ones((channels, 3, 2, 2))}, fc={"weight": np.ones((7, inputs))}
    )
    b = na.Container(
        conv={"kernel": np.ones((2, 2, 3, channels))}, fc={"kernel": np.ones((inputs, 7))}
    )
    return a, b


@pytest.mark.parametrize(("inputs", "warns"), [(4, False), (6, False), (8, True), (10, False)])
def test_only_multiples_of_the_channels_are_reported(inputs: int, warns: bool) -> None:
    a, b = linear_after(4, inputs)
    for pair in ((a, b), (b, a)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            pair[0].match(pair[1])
        assert bool(caught) is warns
        assert all(one.filename == __file__ for one in caught)


def test_one_channel_keeps_the_order() -> None:
    a, b = linear_after(4, 8)
    keymap = a.match(b, flatten={"fc/weight": 1})
    weight = np.arange(56.0).reshape(7, 8)
    given = a.set("fc/weight", weight)
    np.testing.assert_array_equal(keymap.apply(given)["fc/kernel"], weight.T)


def test_without_convolution_the_names_decide() -> None:
    weight = np.arange(84.0).reshape(7, 12)
    a, b = na.Container(fc={"weight": weight}), na.Container(dense={"kernel": np.ones((12, 7))})
    expected = weight.reshape(7, 3, 4).transpose(2, 1, 0).reshape(12, 7)
    made = a.match(b, flatten={"fc/weight": 3}).apply(a)
    np.testing.assert_array_equal(made["dense/kernel"], expected)
    back = b.match(a, flatten={"dense/kernel": 3}).apply(made)
    np.testing.assert_array_equal(back["fc/weight"], weight)


@pytest.mark.parametrize(
    ("flatten", "error", "message"),
    [
        (
            {"fc/weight": 3},
            ShapeError,
            "'fc/weight' has 8 inputs, expected a multiple of the 3 chan",
        ),
        (
            {"fc/weight": (4, 2)},
            ArgumentError,
            "'fc/weight': got (4, 2), expected the number of ch",
        ),
        ({"fc/weights": 4}, PathError, "did you mean 'weight'?"),
        ({"fc": 4}, ArgumentError, "'fc' has no counterpart in the map"),
        (
            {"conv/weight": 4},
            ShapeError,
            "'conv/weight' has the shape (4, 3, 2, 2), expected the mat",
        ),
        ([("fc/weight", 4)], ArgumentError, "flatten: got list, expected a dict: path of a leaf"),
    ],
)
def test_wrong_flatten(flatten: Any, error: type[Exception], message: str) -> None:
    a, b = linear_after(4, 8)
    with pytest.raises(error) as info:
        a.match(b, flatten=flatten)
    assert message in str(info.value)


def test_undecided_layouts() -> None:
    a, b = na.Container(x=np.ones((7, 12))), na.Container(y=np.ones((12, 7)))
    with pytest.raises(ArgumentError, match="neither convolutions nor names say which tree"):
        a.match(b, flatten={"x": 3})


# -- attention with fused projections -------------------------------------------------------------


SEQUENCES = np.random.default_rng(2).normal(size=(2, 5, WIDTH)).astype("float32")


def torch_attention() -> Network:
    from torch import nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
            self.fc = nn.Linear(WIDTH, 4)

        def forward(self, x: Any) -> Any:
            return self.fc(self.attention(x, x, x)[0])

    return of_torch(Attention())


def flax_attention() -> Network:
    import flax.linen as fl

    class Attention(fl.Module):
        @fl.compact
        def __call__(self, x: Any) -> Any:
            return fl.Dense(4)(fl.MultiHeadDotProductAttention(HEADS)(x))

    return of_flax(Attention(), SEQUENCES)


def keras_attention() -> Network:
    import keras
    from keras import layers

    x = keras.Input(SEQUENCES.shape[1:])
    y = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, name="attention")(x, x)
    return of_keras(keras.Model(x, layers.Dense(4, name="fc")(y)))


def haiku_attention() -> Network:
    import haiku as hk
    import jax

    def forward(x: Any) -> Any:
        attention = hk.MultiHeadAttention(
            HEADS, WIDTH // HEADS, w_init=hk.initializers.Constant(0.1), model_size=WIDTH
        )
        return hk.Linear(4)(attention(x, x, x))

    f = hk.without_apply_rng(hk.transform(forward))
    parameters = f.init(jax.random.key(0), SEQUENCES)
    call = lambda v, x: np.asarray(f.apply(v.to_haiku(), x))  # noqa: E731
    return Network(randomized(na.Container.from_haiku(parameters)), call)


ATTENTION = {"flax": flax_attention, "keras": keras_attention, "haiku": haiku_attention}


@pytest.mark.parametrize("other", ATTENTION)
def test_fused_projections(other: str, tmp_path: Path) -> None:
    fused, separate = torch_attention(), ATTENTION[other]()
    split = fused.variables.match(separate.variables)
    outputs_agree(fused, separate, SEQUENCES, split)
    joined = separate.variables.match(fused.variables)
    outputs_agree(separate, fused, SEQUENCES, joined)
    for keymap in (split, joined):
        assert keymap.unmatched == ((), ())
        keymap.save(tmp_path / "map.json")
        assert na.KeyMap.load(tmp_path / "map.json") == keymap


def fused_and_separate() -> tuple[na.Container, na.Container]:
    fused = na.Container(
        attn={"qkv": {"weight": np.arange(48.0).reshape(12, 4), "bias": np.arange(12.0)}}
    )
    part = {"kernel": np.ones((4, 4)), "bias": np.ones(4)}
    return fused, na.Container(attention={"query": part, "key": part, "value": part})


def test_a_section_without_a_partner_is_reported() -> None:
    fused, separate = fused_and_separate()
    keymap = fused.match(separate.delete("attention/value"))
    with pytest.raises(StructureError, match="2 leaves of the source unmatched: 'attn/qkv/weight'"):
        keymap.apply(fused)
    keymap = separate.match(fused)
    with pytest.raises(StructureError, match="c lacks 'attention/value/kernel'"):
        keymap.apply(separate.delete("attention/value/kernel"))
    partial = keymap.apply(separate.delete("attention/value/kernel"), strict=False)
    assert partial.paths() == ("attn/qkv/bias",)


def test_a_known_leaf_is_not_split() -> None:
    fused, separate = fused_and_separate()
    other = separate.set("attention/all", np.ones((4, 12)))
    keymap = fused.match(other, known={"attn/qkv/weight": "attention/all"})
    assert ("attn", "qkv", "weight") in [p.source for p in keymap.pairs if len(p.steps) == 1]
    with pytest.raises(ShapeError, match="'attn/qkv/weight' has the shape"):
        fused.match(separate, known={"attn/qkv/weight": "attention/query/kernel"})


def test_fused_in_both_trees() -> None:
    fused, _ = fused_and_separate()
    other = na.Container(block={"c_attn": {"w": np.ones((4, 12)), "b": np.ones(12)}})
    assert [str(p.steps) for p in fused.match(other).pairs] == ["(Transpose(axes=(1, 0)),)", "()"]


# -- counters -------------------------------------------------------------------------------------


def test_counters_of_batches_are_optional() -> None:
    torch_like = na.Container(
        bn={"weight": np.ones(3), "bias": np.ones(3), "num_batches_tracked": np.asarray(7)}
    )
    flax_like = na.Container(norm={"scale": np.ones(3), "bias": np.ones(3)})
    there = torch_like.match(flax_like)
    assert there.apply(torch_like).spec is flax_like.spec
    assert there.apply(torch_like.exclude("**/num_batches_tracked")).spec is flax_like.spec
    assert there.invert().apply(flax_like).paths() == ("bn/weight", "bn/bias")
    without = torch_like.exclude("**/num_batches_tracked").match(flax_like)
    assert without.apply(torch_like).spec is flax_like.spec
    named = torch_like.rename({"bn/num_batches_tracked": "steps"})
    keymap = named.match(flax_like)
    with pytest.raises(StructureError, match="1 leaf of the source unmatched: 'bn/steps'"):
        keymap.apply(named)

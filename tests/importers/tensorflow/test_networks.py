"""Whole models in the style of keras.io become graphs that compute and train the same."""

from __future__ import annotations

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
from tests.arrays import host
from tests.importers.tensorflow.layers import verify

layers = keras.layers
ops = keras.ops
_rng = np.random.default_rng(0)
WORDS = np.asarray([[1, 2, 3, 0, 0], [4, 5, 6, 7, 0]])
IMAGES = _rng.uniform(0, 1, (2, 8, 8, 1)).astype("float32")


def text_transformer() -> tuple[Any, tuple[Any, ...]]:
    """A classifier of texts: token and position embeddings, a block with attention, pooling."""
    inputs = keras.Input((5,), dtype="int64")
    positions = layers.Embedding(5, 8)(ops.arange(5))
    x = layers.Embedding(20, 8)(inputs) + positions
    attended = layers.MultiHeadAttention(2, 4)(x, x)
    x = layers.LayerNormalization(epsilon=1e-6)(x + layers.Dropout(0.1, seed=1)(attended))
    hidden = layers.Dense(8)(layers.Dense(16, "relu")(x))
    x = layers.LayerNormalization(epsilon=1e-6)(x + layers.Dropout(0.1, seed=2)(hidden))
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(inputs, layers.Dense(2, "softmax")(x), name="text"), (WORDS,)


def tagger() -> tuple[Any, tuple[Any, ...]]:
    """A tagger of words by a bidirectional LSTM over masked sequences."""
    model = keras.Sequential(
        [
            keras.Input((5,), dtype="int64"),
            layers.Embedding(20, 6, mask_zero=True),
            layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
            layers.TimeDistributed(layers.Dense(3, "softmax")),
        ],
        name="tagger",
    )
    return model, (WORDS,)


def u_net() -> tuple[Any, tuple[Any, ...]]:
    """A segmentation network of separable convolutions, with residual and skip connections."""
    inputs = keras.Input((8, 8, 1))
    x = layers.BatchNormalization()(layers.Conv2D(4, 3, 2, "same")(inputs))
    x = skip = layers.Activation("relu")(x)
    x = layers.BatchNormalization()(layers.SeparableConv2D(8, 3, padding="same")(x))
    x = layers.MaxPooling2D(3, 2, "same")(x)
    x = x + layers.Conv2D(8, 1, 2, "same")(skip)
    x = layers.BatchNormalization()(layers.Conv2DTranspose(4, 3, padding="same")(x))
    x = layers.UpSampling2D(2)(layers.Activation("relu")(x))
    x = layers.Concatenate()([x, skip])
    x = layers.Conv2DTranspose(4, 3, 2, "same")(x)
    return keras.Model(inputs, layers.Conv2D(3, 3, padding="same")(x), name="u_net"), (IMAGES,)


def wave_net() -> tuple[Any, tuple[Any, ...]]:
    """Causal dilated convolutions with gates, residual and skip connections."""
    inputs = keras.Input((12, 2))
    x = layers.Conv1D(4, 1)(inputs)
    skips = []
    for rate in (1, 2, 4):
        gate = layers.Conv1D(4, 2, padding="causal", dilation_rate=rate, activation="sigmoid")(x)
        value = layers.Conv1D(4, 2, padding="causal", dilation_rate=rate, activation="tanh")(x)
        z = layers.Conv1D(4, 1)(layers.Multiply()([value, gate]))
        skips.append(z)
        x = layers.Add()([x, z])
    out = layers.Conv1D(3, 1)(layers.Activation("relu")(layers.Add()(skips)))
    sound = _rng.standard_normal((2, 12, 2)).astype("float32")
    return keras.Model(inputs, layers.Softmax()(out), name="wave_net"), (sound,)


class Autoencoder(keras.Model):
    """A variational autoencoder: the noise is of a seed generator, the loss is in `train_step`."""

    def __init__(self) -> None:
        super().__init__(name="vae")
        self.encoder = keras.Sequential(
            [layers.Conv2D(4, 3, 2, "same", activation="relu"), layers.Flatten(), layers.Dense(6)],
            name="encoder",
        )
        self.decoder = keras.Sequential(
            [
                layers.Dense(32, "relu"),
                layers.Reshape((4, 4, 2)),
                layers.Conv2DTranspose(1, 3, 2, "same", activation="sigmoid"),
            ],
            name="decoder",
        )
        self.seeds = keras.random.SeedGenerator(1)

    def call(self, x: Any) -> Any:
        mean, logarithm = ops.split(self.encoder(x), 2, axis=-1)
        noise = keras.random.normal(ops.shape(mean), seed=self.seeds)
        return self.decoder(mean + ops.exp(0.5 * logarithm) * noise), mean, logarithm


class AutoencoderStep(tf.Module):
    """A step of the training of an autoencoder."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Autoencoder()
        self.model(IMAGES)
        self.optimizer = keras.optimizers.Adam(0.01)
        self.optimizer.build(self.model.trainable_variables)

    def __call__(self, x: Any) -> Any:
        with tf.GradientTape() as tape:
            found, mean, logarithm = self.model(x, training=True)
            differences = keras.losses.binary_crossentropy(x, found)
            reconstruction = ops.mean(ops.sum(differences, axis=(1, 2)))
            divergence = -0.5 * (1 + logarithm - ops.square(mean) - ops.exp(logarithm))
            loss = reconstruction + ops.mean(ops.sum(divergence, axis=1))
        variables = self.model.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return loss


class AdversarialStep(tf.Module):
    """A step of a generator and a discriminator, each with its optimizer."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = keras.Sequential(
            [keras.Input((3,)), layers.Dense(16), layers.LeakyReLU(0.2), layers.Reshape((4, 4, 1)),
             layers.Conv2DTranspose(1, 4, 2, "same", activation="sigmoid")]
        )  # fmt: skip
        self.discriminator = keras.Sequential(
            [keras.Input((8, 8, 1)), layers.Conv2D(4, 3, 2, "same"), layers.LeakyReLU(0.2),
             layers.GlobalMaxPooling2D(), layers.Dense(1)]
        )  # fmt: skip
        self.optimizers = [keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.01)]
        for optimizer, model in zip(self.optimizers, (self.discriminator, self.generator)):
            optimizer.build(model.trainable_variables)
        self.loss = keras.losses.BinaryCrossentropy(from_logits=True)

    def __call__(self, images: Any, latent: Any) -> Any:
        fake = self.generator(latent)
        both = tf.concat([fake, images], axis=0)
        labels = tf.concat([tf.ones((2, 1)), tf.zeros((2, 1))], axis=0)
        with tf.GradientTape() as tape:
            first = self.loss(labels, self.discriminator(both))
        variables = self.discriminator.trainable_variables
        self.optimizers[0].apply(tape.gradient(first, variables), variables)
        with tf.GradientTape() as tape:
            second = self.loss(tf.zeros((2, 1)), self.discriminator(self.generator(latent)))
        variables = self.generator.trainable_variables
        self.optimizers[1].apply(tape.gradient(second, variables), variables)
        return first, second


class Translator(keras.Model):
    """An encoder and a decoder that reads its own words, in a loop of a fixed number of steps."""

    def __init__(self) -> None:
        super().__init__(name="translator")
        self.embed = layers.Embedding(20, 6)
        self.encoder = layers.GRU(6, return_state=True)
        self.cell = layers.GRUCell(6)
        self.head = layers.Dense(9)

    def build(self, shape: Any) -> None:
        self.head.build((None, 6))
        self.cell.build((None, 6))
        self.encoder.build((None, None, 6))
        self.embed.build(shape)
        super().build(shape)

    def call(self, words: Any) -> Any:
        _, state = self.encoder(self.embed(words))
        word = ops.ones_like(words[:, 0])

        def step(carry: Any, _: Any) -> Any:
            word, state = carry
            output, state = self.cell(self.embed(word), state)
            word = ops.cast(ops.argmax(self.head(output), axis=-1), words.dtype)
            return (word, state), (word, state)

        _, (found, states) = ops.scan(step, (word, state), length=4)
        return ops.transpose(found), self.head(states)


def translator() -> tuple[Any, tuple[Any, ...]]:
    """A translator, built."""
    model = Translator()
    model(WORDS)
    return model, (WORDS,)


@pytest.mark.parametrize("target", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("make", [text_transformer, tagger, u_net, wave_net])
@pytest.mark.one_in(24)
def test_models_compute_and_train_the_same(make: Any, train: bool, target: str) -> None:
    keras.utils.set_random_seed(0)
    model, inputs = make()
    na.trace_graph(model, *inputs, train=train).to_backend(target).verify().raise_if_failed()


@pytest.mark.parametrize("target", ["numpy", "torch", "jax"])
@pytest.mark.one_in(12)
def test_a_decoding_loop(target: str) -> None:
    keras.utils.set_random_seed(0)
    model, inputs = translator()
    graph = na.trace_graph(model, *inputs).to_backend(target)
    graph.verify().raise_if_failed()
    words, _ = graph(*inputs) if target == "numpy" else graph(na.to_backend(WORDS, target))
    np.testing.assert_array_equal(host(words), host(model(WORDS)[0]))


@pytest.mark.parametrize("target", ["numpy", "torch", "jax"])
@pytest.mark.one_in(12)
def test_a_step_of_a_variational_autoencoder(target: str) -> None:
    keras.utils.set_random_seed(0)
    verify(AutoencoderStep(), (IMAGES,), target)


@pytest.mark.parametrize("target", ["numpy", "torch", "jax"])
@pytest.mark.one_in(12)
def test_a_step_of_an_adversarial_network(target: str) -> None:
    keras.utils.set_random_seed(0)
    latent = _rng.standard_normal((2, 3)).astype("float32")
    verify(AdversarialStep(), (IMAGES, latent), target)

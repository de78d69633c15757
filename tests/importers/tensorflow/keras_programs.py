"""Models of Keras, and steps that train them, in the styles of keras.io."""

from __future__ import annotations

import math
from typing import Any

import keras
import numpy as np
import tensorflow as tf

layers = keras.layers
ops = keras.ops


class Block(layers.Layer):
    """A residual block of a subclassed network, with `call(training=)`."""

    def __init__(self, filters: int, stride: int = 1) -> None:
        super().__init__()
        self.first = layers.Conv2D(filters, 3, stride, "same", use_bias=False)
        self.second = layers.Conv2D(filters, 3, 1, "same", use_bias=False)
        self.norms = [layers.BatchNormalization(momentum=0.9) for _ in range(2)]
        self.shortcut = layers.Conv2D(filters, 1, stride) if stride > 1 else None

    def call(self, x: Any, training: bool | None = None) -> Any:
        h = tf.nn.relu(self.norms[0](self.first(x), training=training))
        h = self.norms[1](self.second(h), training=training)
        if self.shortcut is not None:
            x = self.shortcut(x)
        return tf.nn.relu(h + x)


class SubclassedResNet(keras.Model):
    """Stages of blocks in a list, and a head."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = layers.Conv2D(4, 3, padding="same")
        self.stages = [Block(4), Block(8, 2)]
        self.pool = layers.GlobalAveragePooling2D()
        self.drop = layers.Dropout(0.3, seed=1)
        self.head = layers.Dense(5)

    def call(self, x: Any, training: bool = False) -> Any:
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x, training=training)
        x = self.pool(x)
        if training:
            x = self.drop(x, training=True)
        return self.head(x)


def augmented() -> Any:
    """A sequential network that augments its images."""
    return keras.Sequential(
        [
            keras.Input((8, 8, 3)),
            layers.RandomFlip("horizontal", seed=1),
            layers.RandomRotation(0.1, seed=2),
            layers.Rescaling(2.0, -1.0),
            layers.Conv2D(4, 3, activation="relu", kernel_regularizer="l2"),
            layers.MaxPooling2D(),
            layers.SpatialDropout2D(0.2, seed=3),
            layers.Flatten(),
            layers.Dense(4, activation="softmax"),
        ],
        name="augmented",
    )


class PatchEncoder(layers.Layer):
    """Patches of images with position embeddings."""

    def __init__(self) -> None:
        super().__init__()
        self.project = layers.Dense(8)
        self.positions = layers.Embedding(4, 8)

    def call(self, images: Any) -> Any:
        patches = tf.image.extract_patches(
            images, [1, 4, 4, 1], [1, 4, 4, 1], [1, 1, 1, 1], "VALID"
        )
        patches = tf.reshape(patches, [tf.shape(images)[0], -1, patches.shape[-1]])
        return self.project(patches) + self.positions(tf.range(0, 4, 1))


def vision_transformer() -> Any:
    """A transformer over patches."""
    inputs = keras.Input((8, 8, 3))
    x = PatchEncoder()(inputs)
    for seed in (1, 2):
        h = layers.LayerNormalization(epsilon=1e-6)(x)
        h = layers.MultiHeadAttention(2, 4, dropout=0.1, seed=seed)(h, h)
        x = layers.Add()([h, x])
        h = layers.LayerNormalization(epsilon=1e-6)(x)
        h = layers.Dense(16, activation=tf.nn.gelu)(h)
        x = layers.Add()([layers.Dense(8)(layers.Dropout(0.1, seed=seed + 5)(h)), x])
    x = layers.Flatten()(layers.LayerNormalization(epsilon=1e-6)(x))
    return keras.Model(inputs, layers.Dense(4)(x), name="vit")


def mixer() -> Any:
    """An MLP mixer: layers over tokens and over channels."""
    inputs = keras.Input((5, 4))
    x = layers.Dense(6)(inputs)
    for _ in range(2):
        h = layers.Permute((2, 1))(layers.LayerNormalization()(x))
        h = layers.Dense(5)(layers.Dense(8, "gelu")(h))
        x = layers.Add()([x, layers.Permute((2, 1))(h)])
        h = layers.Dense(6)(layers.Dense(8, "gelu")(layers.LayerNormalization()(x)))
        x = layers.Add()([x, h])
    return keras.Model(inputs, layers.GlobalAveragePooling1D()(x), name="mixer")


class GraphAttention(layers.Layer):
    """Attention over the edges of a graph, by segments."""

    def __init__(self, units: int) -> None:
        super().__init__()
        self.units = units

    def build(self, shapes: Any) -> None:
        self.kernel = self.add_weight(shape=(shapes[0][-1], self.units))
        self.score = self.add_weight(shape=(2 * self.units, 1))

    def call(self, inputs: Any) -> Any:
        nodes, edges = inputs
        h = tf.matmul(nodes, self.kernel)
        pairs = tf.reshape(tf.gather(h, edges), [tf.shape(edges)[0], -1])
        scores = tf.squeeze(tf.nn.leaky_relu(tf.matmul(pairs, self.score)), -1)
        scores = tf.math.exp(tf.clip_by_value(scores, -2, 2))
        count = tf.reduce_max(edges[:, 0]) + 1
        sums = tf.math.unsorted_segment_sum(scores, edges[:, 0], count)
        scores = scores / tf.gather(sums, edges[:, 0])
        return tf.math.unsorted_segment_sum(
            tf.gather(h, edges[:, 1]) * scores[:, tf.newaxis], edges[:, 0], tf.shape(nodes)[0]
        )


class GraphNetwork(keras.Model):
    """Two layers of attention over a graph."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = GraphAttention(8), GraphAttention(3)

    def call(self, inputs: Any) -> Any:
        nodes, edges = inputs
        x = tf.nn.elu(self.first([nodes, edges]))
        return self.second([x, edges])


class Coupling(keras.Model):
    """A flow of affine couplings with alternating masks, and its log-density."""

    def __init__(self) -> None:
        super().__init__()
        self.masks = np.asarray([[0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0]] * 2, "float32")
        self.scales = [
            keras.Sequential([layers.Dense(8, "relu"), layers.Dense(6, "tanh")]) for _ in range(4)
        ]
        self.shifts = [
            keras.Sequential([layers.Dense(8, "relu"), layers.Dense(6)]) for _ in range(4)
        ]

    def call(self, x: Any, training: bool = True) -> Any:
        determinant = 0.0
        sign = -1 if training else 1
        order = range(4)[::sign]
        for i in order:
            kept = x * self.masks[i]
            free = 1 - self.masks[i]
            s, t = self.scales[i](kept) * free, self.shifts[i](kept) * free
            gate = (sign - 1) / 2
            x = free * (x * tf.exp(sign * s) + sign * t * tf.exp(gate * s)) + kept
            determinant += gate * tf.reduce_sum(s, axis=1)
        density = -0.5 * tf.reduce_sum(x**2 + math.log(2 * math.pi), axis=1)
        return x, density + determinant


class PenaltyStep(tf.Module):
    """A critic's step with a gradient penalty: a tape in a tape."""

    def __init__(self) -> None:
        super().__init__()
        self.critic = keras.Sequential(
            [keras.Input((8, 8, 3)), layers.Conv2D(4, 3, 2, "same"), layers.LeakyReLU(0.2),
             layers.Flatten(), layers.Dense(1)]
        )  # fmt: skip
        self.optimizer = keras.optimizers.Adam(2e-3, beta_1=0.5)
        self.optimizer.build(self.critic.trainable_variables)

    @tf.function
    def __call__(self, real: tf.Tensor, fake: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            cost = tf.reduce_mean(self.critic(fake)) - tf.reduce_mean(self.critic(real))
            alpha = tf.random.stateless_uniform([tf.shape(real)[0], 1, 1, 1], seed)
            between = real + alpha * (fake - real)
            with tf.GradientTape() as inner:
                inner.watch(between)
                scores = self.critic(between, training=True)
            gradient = inner.gradient(scores, [between])[0]
            norm = tf.sqrt(tf.reduce_sum(tf.square(gradient), axis=[1, 2, 3]) + 1e-12)
            loss = cost + 10.0 * tf.reduce_mean((norm - 1.0) ** 2)
        variables = self.critic.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return loss


class RadianceField(keras.Model):
    """A radiance field: encoded positions, a network with a skip, and rendering along rays."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = [layers.Dense(16, "relu") for _ in range(4)]
        self.head = layers.Dense(4)

    def call(self, inputs: Any) -> Any:
        rays, depths = inputs  # (rays, samples, 3), (rays, samples)
        encoded = [rays]
        for i in range(3):
            for function in (tf.sin, tf.cos):
                encoded.append(function(2.0**i * rays))
        x = encoded = tf.concat(encoded, axis=-1)
        for i, layer in enumerate(self.hidden):
            x = layer(x)
            if i % 2 == 1:
                x = tf.concat([x, encoded], axis=-1)
        found = self.head(x)
        rgb, sigma = tf.sigmoid(found[..., :-1]), tf.nn.relu(found[..., -1])
        delta = depths[..., 1:] - depths[..., :-1]
        delta = tf.concat([delta, tf.broadcast_to([1e10], shape=(tf.shape(delta)[0], 1))], axis=-1)
        alpha = 1.0 - tf.exp(-sigma * delta)
        through = tf.math.cumprod(1.0 - alpha + 1e-10, axis=-1, exclusive=True)
        weights = alpha * through
        colour = tf.reduce_sum(weights[..., None] * rgb, axis=-2)
        return colour, tf.reduce_sum(weights * depths, axis=-1)


class Diffusion(keras.Model):
    """The training objective of a diffusion model: schedule, noise by a seed, and a small U-Net."""

    def __init__(self) -> None:
        super().__init__()
        self.normalizer = layers.Normalization(mean=[0.5] * 3, variance=[0.1] * 3)
        self.normalizer.build((None, 8, 8, 3))
        self.down = layers.Conv2D(6, 3, 2, "same", activation="swish")
        self.middle = layers.Conv2D(6, 3, padding="same", activation="swish")
        self.up = layers.UpSampling2D(interpolation="bilinear")
        self.norm = layers.BatchNormalization(center=False, scale=False)
        self.last = layers.Conv2D(3, 1, kernel_initializer="zeros")
        self.seeds = keras.random.SeedGenerator(3)

    def embedding(self, variance: Any) -> Any:
        frequencies = ops.exp(ops.linspace(ops.log(1.0), ops.log(100.0), 4))
        speeds = ops.cast(2.0 * math.pi * frequencies, "float32")
        return ops.concatenate([ops.sin(speeds * variance), ops.cos(speeds * variance)], axis=3)

    def call(self, images: Any, training: bool = False) -> Any:
        images = self.normalizer(images)
        noises = keras.random.normal(ops.shape(images), seed=self.seeds)
        times = keras.random.uniform((ops.shape(images)[0], 1, 1, 1), seed=self.seeds)
        start, end = ops.arccos(0.95), ops.arccos(0.02)
        angles = start + times * (end - start)
        signal, noise = ops.cos(angles), ops.sin(angles)
        noisy = signal * images + noise * noises
        wide = ops.tile(self.embedding(noise**2), [1, 8, 8, 1])
        x = skip = ops.concatenate([noisy, wide], axis=-1)
        x = self.norm(self.middle(self.down(x)), training=training)
        predicted = self.last(ops.concatenate([self.up(x), skip], axis=-1))
        denoised = (noisy - noise * predicted) / signal
        return predicted, denoised, ops.mean(ops.abs(noises - predicted))


def wide_and_deep() -> Any:
    """A network of features by name."""
    inputs = {
        "age": keras.Input((1,), name="age"),
        "job": keras.Input((1,), name="job", dtype="int64"),
        "hours": keras.Input((2,), name="hours"),
    }
    job = layers.CategoryEncoding(4, "one_hot")(inputs["job"])
    wide = layers.concatenate([inputs["age"], job])
    deep = layers.Flatten()(layers.Embedding(4, 3)(inputs["job"]))
    deep = layers.concatenate(
        [deep, layers.Normalization(mean=[1.0, 2.0], variance=[1.0, 4.0])(inputs["hours"])]
    )
    for _ in range(2):
        deep = layers.Dense(6)(deep)
        deep = layers.Dropout(0.2, seed=1)(layers.ReLU()(layers.BatchNormalization()(deep)))
    return keras.Model(inputs, layers.Dense(1, "sigmoid")(layers.concatenate([wide, deep])))


class Recommender(keras.Model):
    """Embeddings of users and items, with biases and a dot product."""

    def __init__(self) -> None:
        super().__init__()
        self.users, self.items = layers.Embedding(6, 4), layers.Embedding(7, 4)
        self.biases = [layers.Embedding(6, 1), layers.Embedding(7, 1)]

    def call(self, pairs: Any) -> Any:
        user, item = self.users(pairs[:, 0]), self.items(pairs[:, 1])
        product = tf.tensordot(user, item, 2)
        return tf.nn.sigmoid(product + self.biases[0](pairs[:, 0]) + self.biases[1](pairs[:, 1]))


class ContrastiveStep(tf.Module):
    """A step of contrastive learning with two views and a temperature."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.Input((6,)),
                layers.Dense(8, "relu"),
                layers.BatchNormalization(),
                layers.Dense(4),
            ]
        )
        self.optimizer = keras.optimizers.SGD(0.1, momentum=0.9)
        self.optimizer.build(self.encoder.trainable_variables)

    def __call__(self, first: Any, second: Any) -> Any:
        with tf.GradientTape() as tape:
            a = ops.normalize(self.encoder(first, training=True), axis=1)
            b = ops.normalize(self.encoder(second, training=True), axis=1)
            similarities = ops.matmul(a, ops.transpose(b)) / 0.1
            labels = ops.arange(ops.shape(a)[0])
            loss = keras.losses.sparse_categorical_crossentropy(
                ops.concatenate([labels, labels], axis=0),
                ops.concatenate([similarities, ops.transpose(similarities)], axis=0),
                from_logits=True,
            )
            loss = ops.mean(loss)
        variables = self.encoder.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        correct = ops.argmax(similarities, axis=1) == ops.cast(labels, "int32")
        return loss, ops.mean(ops.cast(correct, "float32"))


class Decoder(keras.Model):
    """A decoder of one block with a cache of keys and values, in a loop of AutoGraph."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = layers.Embedding(9, 6), layers.Dense(9)
        self.q, self.k, self.v = (layers.Dense(6, use_bias=False) for _ in range(3))

    def build(self, shape: Any) -> None:
        self.embed.build(shape)
        for layer in (self.head, self.q, self.k, self.v):
            layer.build((None, 6))

    @tf.function
    def call(self, prompt: Any) -> Any:
        batch = tf.shape(prompt)[0]
        keys, values = tf.zeros([batch, 8, 6]), tf.zeros([batch, 8, 6])
        word = prompt[:, 0]
        words = tf.TensorArray(prompt.dtype, size=8, element_shape=[None])
        scores = tf.TensorArray(tf.float32, size=8)
        for t in tf.range(8):
            x = self.embed(word)
            place = tf.one_hot(t, 8)[tf.newaxis, :, tf.newaxis]
            keys += place * self.k(x)[:, tf.newaxis]
            values += place * self.v(x)[:, tf.newaxis]
            weights = tf.einsum("bd,btd->bt", self.q(x), keys) / math.sqrt(6.0)
            weights = tf.nn.softmax(tf.where(tf.range(8) <= t, weights, -1e9))
            logits = self.head(x + tf.einsum("bt,btd->bd", weights, values))
            new = tf.argmax(logits, -1, output_type=prompt.dtype)
            if t + 1 < tf.shape(prompt)[1]:
                new = tf.gather(prompt, t + 1, axis=1)
            word = new
            words = words.write(t, word)
            scores = scores.write(t, tf.reduce_max(tf.nn.log_softmax(logits), -1))
        return tf.transpose(words.stack()), tf.reduce_sum(scores.stack(), 0)


def character_translator() -> Any:
    """An encoder and a decoder of LSTMs with their states, of characters as vectors."""
    source, target = keras.Input((5, 4)), keras.Input((3, 4))
    _, h, c = layers.LSTM(6, return_state=True)(source)
    x, _, _ = layers.LSTM(6, return_sequences=True, return_state=True)(target, initial_state=[h, c])
    return keras.Model([source, target], layers.Dense(4, "softmax")(x), name="characters")


class TransformNet(layers.Layer):
    """A learned transformation of points with an orthogonal regularizer."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features
        self.conv, self.norm = layers.Conv1D(8, 1), layers.BatchNormalization(momentum=0.0)
        self.head = layers.Dense(
            features * features,
            kernel_initializer="zeros",
            bias_initializer=keras.initializers.Constant(np.eye(features).flatten()),
        )

    def call(self, x: Any, training: bool | None = None) -> Any:
        h = ops.relu(self.norm(self.conv(x), training=training))
        matrix = ops.reshape(self.head(ops.max(h, axis=1)), (-1, self.features, self.features))
        gram = ops.tensordot(matrix, matrix, axes=(2, 2))
        self.add_loss(0.001 * ops.sum(ops.square(gram)))
        return ops.matmul(x, matrix)


def point_net() -> Any:
    """A classifier of point clouds."""
    inputs = keras.Input((10, 3))
    x = TransformNet(3)(inputs)
    x = layers.BatchNormalization(momentum=0.0)(layers.Conv1D(8, 1)(x))
    x = TransformNet(8)(layers.Activation("relu")(x))
    x = layers.GlobalMaxPooling1D()(layers.Conv1D(16, 1, activation="relu")(x))
    return keras.Model(inputs, layers.Dense(4, "softmax")(layers.Dropout(0.3, seed=1)(x)))


class TextReader(tf.Module):
    """The connectionist temporal loss of a recurrent reader of images of text."""

    def __init__(self) -> None:
        super().__init__()
        inputs = keras.Input((8, 8, 3))
        x = layers.MaxPooling2D()(layers.Conv2D(4, 3, padding="same", activation="relu")(inputs))
        x = layers.Bidirectional(layers.LSTM(4, return_sequences=True))(layers.Reshape((8, 8))(x))
        self.model = keras.Model(inputs, layers.Dense(7, "softmax")(x), name="reader")

    def __call__(self, images: Any, labels: Any) -> Any:
        found = self.model(images)
        lengths = tf.ones((2, 1), tf.int64)
        losses = tf.keras.backend.ctc_batch_cost(labels, found, 8 * lengths, 3 * lengths)
        return found, tf.reduce_mean(losses)


class Window(layers.Layer):
    """Attention in shifted windows, with biases by relative place and a mask of the borders."""

    def __init__(self, features: int, size: int, shift: int) -> None:
        super().__init__()
        self.features, self.size, self.shift = features, size, shift
        self.norm, self.out = layers.LayerNormalization(), layers.Dense(features)
        self.parts = layers.Dense(3 * features)

    def build(self, shape: Any) -> None:
        n, steps = self.size, np.arange(self.size)
        for layer in (self.norm, self.parts, self.out):
            layer.build((None, self.features))
        self.table = self.add_weight(shape=((2 * n - 1) ** 2, 2), name="table")
        places = np.stack(np.meshgrid(steps, steps, indexing="ij")).reshape(2, -1)
        relative = (places[:, :, None] - places[:, None]) + n - 1
        self.index = relative[0] * (2 * n - 1) + relative[1]
        regions = np.zeros((1, *shape[1:3], 1), "float32")
        borders = (slice(0, -n), slice(-n, -self.shift), slice(-self.shift, None))
        for i, rows in enumerate(borders):
            for j, columns in enumerate(borders):
                regions[:, rows, columns] = 3 * i + j
        regions = ops.convert_to_numpy(self._windows(regions))[..., 0]
        self.mask = np.where(regions[:, None] == regions[:, :, None], 0.0, -100.0).astype("float32")

    def _windows(self, x: Any) -> Any:
        _, height, width, channels = x.shape
        n = self.size
        x = ops.reshape(x, (-1, height // n, n, width // n, n, channels))
        return ops.reshape(ops.transpose(x, (0, 1, 3, 2, 4, 5)), (-1, n * n, channels))

    def call(self, x: Any) -> Any:
        _, height, width, channels = x.shape
        n, shift = self.size, (self.shift, self.shift)
        rows = self._windows(ops.roll(self.norm(x), (-self.shift, -self.shift), axis=(1, 2)))
        qkv = ops.reshape(self.parts(rows), (-1, n * n, 3, 2, channels // 2))
        q, k, v = ops.unstack(ops.transpose(qkv, (2, 0, 3, 1, 4)))
        weights = ops.matmul(q, ops.swapaxes(k, -1, -2)) / math.sqrt(channels // 2)
        weights += ops.transpose(ops.take(self.table, self.index, axis=0), (2, 0, 1))
        weights = ops.reshape(weights, (-1, len(self.mask), 2, n * n, n * n))
        weights = ops.softmax(weights + self.mask[None, :, None])
        weights = ops.reshape(weights, (-1, 2, n * n, n * n))
        found = ops.reshape(ops.swapaxes(ops.matmul(weights, v), 1, 2), (-1, n * n, channels))
        found = ops.reshape(self.out(found), (-1, height // n, width // n, n, n, channels))
        found = ops.reshape(ops.transpose(found, (0, 1, 3, 2, 4, 5)), (-1, height, width, channels))
        return x + ops.roll(found, shift, axis=(1, 2))


def window_transformer() -> Any:
    """A classifier of images with attention in shifted windows."""
    inputs = keras.Input((8, 8, 3))
    x = Window(6, 4, 2)(layers.Conv2D(6, 1)(inputs))
    return keras.Model(inputs, layers.Dense(3)(layers.GlobalAveragePooling2D()(x)), name="windows")

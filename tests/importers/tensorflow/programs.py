"""Whole programs of TensorFlow: modules as of Sonnet, functions with AutoGraph, models of Keras."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from tests.importers.tensorflow.keras_programs import (
    ContrastiveStep,
    Coupling,
    Decoder,
    Diffusion,
    GraphNetwork,
    PenaltyStep,
    RadianceField,
    Recommender,
    SubclassedResNet,
    TextReader,
    augmented,
    character_translator,
    mixer,
    point_net,
    vision_transformer,
    wide_and_deep,
    window_transformer,
)

_rng = np.random.default_rng(0)


def _normal(*shape: int) -> np.ndarray:
    return _rng.standard_normal(shape).astype("float32")


WORDS = np.asarray([[1, 2, 3, 0, 0], [4, 5, 6, 7, 0]])
IMAGES = _rng.uniform(0, 1, (2, 8, 8, 3)).astype("float32")
ROWS = _normal(4, 6)
SIGNAL = _normal(2, 5, 4)

# -- modules in the style of Sonnet ------------------------------------------------------------


class Linear(tf.Module):
    """A dense layer whose variables are made with the module."""

    def __init__(self, inputs: int, outputs: int, name: str | None = None) -> None:
        super().__init__(name=name)
        self.w = tf.Variable(_normal(inputs, outputs) / math.sqrt(inputs), name="w")
        self.b = tf.Variable(tf.zeros([outputs]), name="b")

    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return tf.matmul(x, self.w) + self.b


class Residual(tf.Module):
    """Normalized blocks in a list, with dropout by a seed."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = [(Linear(6, 12), Linear(12, 6)) for _ in range(2)]
        self.scale = tf.Variable(tf.ones([6]))
        self.calls = tf.Variable(0, trainable=False, dtype=tf.int32)

    @tf.function
    def __call__(self, x: tf.Tensor, is_training: bool) -> tf.Tensor:
        if is_training:
            self.calls.assign_add(1)
        for i, (up, down) in enumerate(self.blocks):
            mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
            h = tf.nn.batch_normalization(x, mean, variance, None, self.scale, 1e-5)
            h = tf.nn.gelu(up(h), approximate=True)
            if is_training:
                h = tf.nn.experimental.stateless_dropout(h, 0.2, seed=[self.calls, i])
            x = x + down(h)
        return x


class VectorQuantizer(tf.Module):
    """A codebook with moving averages, and a straight-through gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = Linear(6, 4), Linear(4, 6)
        self.codes = tf.Variable(_normal(4, 5), trainable=False)
        self.counts = tf.Variable(tf.ones([5]), trainable=False)
        self.sums = tf.Variable(self.codes, trainable=False)

    def __call__(self, x: tf.Tensor, is_training: bool = False) -> dict[str, tf.Tensor]:
        z = self.encoder(x)
        distances = (
            tf.reduce_sum(z**2, 1, keepdims=True)
            - 2 * tf.matmul(z, self.codes)
            + tf.reduce_sum(self.codes**2, 0, keepdims=True)
        )
        indices = tf.argmax(-distances, 1)
        chosen = tf.one_hot(indices, 5, dtype=z.dtype)
        quantized = tf.nn.embedding_lookup(tf.transpose(self.codes), indices)
        if is_training:
            self.counts.assign(0.9 * self.counts + 0.1 * tf.reduce_sum(chosen, 0))
            self.sums.assign(0.9 * self.sums + 0.1 * tf.matmul(z, chosen, transpose_a=True))
            total = tf.reduce_sum(self.counts)
            stable = (self.counts + 1e-5) / (total + 5 * 1e-5) * total
            self.codes.assign(self.sums / stable[tf.newaxis])
        loss = 0.25 * tf.reduce_mean((tf.stop_gradient(quantized) - z) ** 2)
        straight = z + tf.stop_gradient(quantized - z)
        used = tf.reduce_mean(chosen, 0)
        perplexity = tf.exp(-tf.reduce_sum(used * tf.math.log(used + 1e-10)))
        return {"out": self.decoder(straight), "loss": loss, "perplexity": perplexity}


class Recurrent(tf.Module):
    """An LSTM core that `tf.scan` unrolls."""

    def __init__(self) -> None:
        super().__init__()
        self.gates = Linear(4 + 3, 4 * 3)

    def __call__(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        def core(state: Any, row: tf.Tensor) -> Any:
            hidden, cell = state
            i, g, f, o = tf.split(self.gates(tf.concat([row, hidden], 1)), 4, axis=1)
            cell = tf.sigmoid(f + 1.0) * cell + tf.sigmoid(i) * tf.tanh(g)
            return tf.sigmoid(o) * tf.tanh(cell), cell

        zeros = tf.zeros([tf.shape(x)[0], 3])
        hidden, cell = tf.scan(core, tf.transpose(x, [1, 0, 2]), (zeros, zeros))
        return tf.transpose(hidden, [1, 0, 2]), cell[-1]


class DynamicRecurrent(tf.Module):
    """A recurrent network over a TensorArray, whose rows end at their lengths."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = Linear(4 + 3, 3)

    @tf.function
    def __call__(self, x: tf.Tensor, lengths: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        x = tf.transpose(x, [1, 0, 2])
        steps = tf.shape(x)[0]
        state = tf.zeros([tf.shape(x)[1], 3])
        outputs = tf.TensorArray(tf.float32, size=steps)
        for t in tf.range(steps):
            new = tf.tanh(self.cell(tf.concat([x[t], state], 1)))
            is_live = tf.expand_dims(t < lengths, 1)
            state = tf.where(is_live, new, state)
            outputs = outputs.write(t, tf.where(is_live, new, 0.0))
        return tf.transpose(outputs.stack(), [1, 0, 2]), state


class NeuralODE(tf.Module):
    """Steps of Runge–Kutta in a loop of AutoGraph, with the trajectory."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = Linear(6, 8), Linear(8, 6)

    def field(self, x: tf.Tensor, t: tf.Tensor) -> tf.Tensor:
        return self.outer(tf.tanh(self.inner(x) + tf.sin(t)))

    @tf.function
    def __call__(self, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        h = 0.1
        path = tf.TensorArray(tf.float32, size=5, element_shape=[4, 6])
        for i in tf.range(5):
            t = tf.cast(i, tf.float32) * h
            k1 = self.field(x, t)
            k2 = self.field(x + h / 2 * k1, t + h / 2)
            k3 = self.field(x + h / 2 * k2, t + h / 2)
            k4 = self.field(x + h * k3, t + h)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            path = path.write(i, x)
        return x, path.stack()


class RandomField(tf.Module):
    """A tagger's linear-chain random field: log-likelihood by `tf.scan`, decoding by loops."""

    def __init__(self) -> None:
        super().__init__()
        self.emit = Linear(4, 3)
        self.moves = tf.Variable(_normal(3, 3))

    @tf.function
    def __call__(self, x: tf.Tensor, tags: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        scores = tf.transpose(self.emit(tf.reshape(x, [-1, 4])))
        scores = tf.transpose(tf.reshape(scores, [3, tf.shape(x)[0], -1]), [1, 2, 0])

        def forward(alpha: tf.Tensor, row: tf.Tensor) -> tf.Tensor:
            return row + tf.reduce_logsumexp(alpha[:, :, tf.newaxis] + self.moves, axis=1)

        by_time = tf.transpose(scores, [1, 0, 2])
        alphas = tf.scan(forward, by_time[1:], by_time[0])
        normalizer = tf.reduce_logsumexp(alphas[-1], axis=1)
        unary = tf.reduce_sum(tf.one_hot(tags, 3) * scores, axis=[1, 2])
        pairs = tf.stack([tags[:, :-1], tags[:, 1:]], axis=-1)
        binary = tf.reduce_sum(tf.gather_nd(self.moves, pairs), axis=1)
        best = by_time[0]
        steps = tf.shape(by_time)[0]
        back = tf.TensorArray(tf.int32, size=steps - 1)
        for t in tf.range(1, steps):
            options = best[:, :, tf.newaxis] + self.moves
            back = back.write(t - 1, tf.argmax(options, axis=1, output_type=tf.int32))
            best = tf.reduce_max(options, axis=1) + by_time[t]
        pointers = back.stack()
        tag = tf.argmax(best, axis=1, output_type=tf.int32)
        found = tf.TensorArray(tf.int32, size=steps).write(steps - 1, tag)
        for t in tf.range(steps - 2, -1, -1):
            tag = tf.gather(pointers[t], tag, batch_dims=1)
            found = found.write(t, tag)
        return unary + binary - normalizer, tf.transpose(found.stack())


class MetaStep(tf.Module):
    """Model-agnostic meta-learning: a step of gradient descent inside the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.w1, self.b1 = tf.Variable(_normal(1, 8)), tf.Variable(tf.zeros([8]))
        self.w2, self.b2 = tf.Variable(_normal(8, 1)), tf.Variable(tf.zeros([1]))

    @staticmethod
    def network(x: tf.Tensor, w1: Any, b1: Any, w2: Any, b2: Any) -> tf.Tensor:
        return tf.nn.tanh(x @ w1 + b1) @ w2 + b2

    @tf.function
    def __call__(self, tasks: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
        def loss_of(task: Any) -> tf.Tensor:
            x, y = task
            weights = [self.w1, self.b1, self.w2, self.b2]
            weights = [tf.convert_to_tensor(w) for w in weights]
            with tf.GradientTape() as tape:
                tape.watch(weights)
                inner = tf.reduce_mean((self.network(x, *weights) - y) ** 2)
            gradients = tape.gradient(inner, weights)
            fast = [w - 0.1 * g for w, g in zip(weights, gradients)]
            return tf.reduce_mean((self.network(x, *fast) - y) ** 2)

        return tf.reduce_mean(tf.map_fn(loss_of, (tasks, targets), fn_output_signature=tf.float32))


class Burgers(tf.Module):
    """The residual of a differential equation for a network, by nested tapes, and its Jacobian."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden, self.out = Linear(2, 5), Linear(5, 1)
        self.viscosity = tf.Variable(0.1)

    def network(self, t: tf.Tensor, x: tf.Tensor) -> tf.Tensor:
        return self.out(tf.tanh(self.hidden(tf.concat([t, x], 1))))

    @tf.function
    def __call__(self, t: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch([t, x])
                u = self.network(t, x)
            u_t, u_x = inner.gradient(u, [t, x])
        residual = u_t + u * u_x - self.viscosity * outer.gradient(u_x, x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            u = self.network(t, x)
        return tf.reduce_mean(residual**2), tape.batch_jacobian(u, x)


class PolicyStep(tf.Module):
    """A clipped policy-gradient step with generalized advantages and the optimizer of Keras."""

    def __init__(self) -> None:
        super().__init__()
        self.policy, self.value = Linear(6, 3), Linear(6, 1)
        self.optimizer = keras.optimizers.Adam(0.01)
        self.optimizer.build(list(self.policy.trainable_variables + self.value.trainable_variables))

    @tf.function
    def __call__(self, x: tf.Tensor, actions: tf.Tensor, rewards: tf.Tensor) -> tf.Tensor:
        values = tf.squeeze(self.value(x), -1)
        deltas = rewards[:-1] + 0.99 * values[1:] - values[:-1]
        advantages = tf.scan(lambda a, d: d + 0.9 * a, deltas, tf.constant(0.0), reverse=True)
        advantages = tf.stop_gradient(advantages)
        old = tf.stop_gradient(tf.nn.log_softmax(self.policy(x[:-1])) + 0.1)
        variables = list(self.policy.trainable_variables + self.value.trainable_variables)
        with tf.GradientTape() as tape:
            logs = tf.nn.log_softmax(self.policy(x[:-1]))
            chosen = tf.gather(logs - old, actions[:-1], batch_dims=1)
            ratio = tf.exp(chosen)
            clipped = tf.clip_by_value(ratio, 0.8, 1.2)
            surrogate = tf.minimum(ratio * advantages, clipped * advantages)
            entropy = -tf.reduce_sum(tf.exp(logs) * logs, -1)
            critic = tf.squeeze(self.value(x[:-1]), -1) - (advantages + values[:-1])
            loss = tf.reduce_mean(0.5 * critic**2 - surrogate - 0.01 * entropy)
        gradients = tape.gradient(loss, variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 0.5)
        self.optimizer.apply(gradients, variables)
        return loss


# -- functions -----------------------------------------------------------------------------------


@tf.function
def kalman(observations: tf.Tensor, noise: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """A Kalman filter by `tf.scan` with a nest of states."""
    move = tf.constant([[1.0, 0.1], [0.0, 1.0]])
    see = tf.constant([[1.0, 0.0]])

    def step(state: Any, y: tf.Tensor) -> Any:
        mean, covariance, _ = state
        mean = tf.linalg.matvec(move, mean)
        covariance = move @ covariance @ tf.transpose(move) + 0.01 * tf.eye(2)
        innovation = y - tf.linalg.matvec(see, mean)
        s = see @ covariance @ tf.transpose(see) + noise
        gain = tf.transpose(tf.linalg.solve(s, see @ covariance))
        mean = mean + tf.linalg.matvec(gain, innovation)
        covariance = (tf.eye(2) - gain @ see) @ covariance
        surprise = 0.5 * (tf.linalg.logdet(s) + innovation[0] ** 2 / s[0, 0])
        return mean, covariance, surprise

    start = (tf.zeros([2]), tf.eye(2), tf.constant(0.0))
    means, _, surprises = tf.scan(step, observations, start)
    return means, tf.reduce_sum(surprises)


@tf.function
def collatz(n: tf.Tensor, x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """AutoGraph: while, if, break and continue on tensors."""
    count = tf.constant(0)
    while n != 1:
        if n % 2 == 0:  # noqa: SIM108 — AutoGraph converts the statement
            n = n // 2
        else:
            n = 3 * n + 1
        count += 1
        if count > 40:
            break
    total = tf.zeros_like(x)
    for i in tf.range(6):
        if i % 2 == 1:
            continue
        total += x ** tf.cast(i, tf.float32)
    return count, total


@tf.function
def power_iteration(a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """The largest singular value, with an early end."""
    v = tf.ones([tf.shape(a)[1]])
    sigma, change, i = tf.constant(0.0), tf.constant(1.0), tf.constant(0)
    while tf.logical_and(change > 1e-3, i < 20):
        u = tf.linalg.l2_normalize(tf.linalg.matvec(a, v))
        w = tf.linalg.matvec(a, u, transpose_a=True)
        new = tf.norm(w)
        v = w / new
        change, sigma, i = tf.abs(new - sigma), new, i + 1
    return sigma, v


@tf.function
def boxes(corners: tf.Tensor, scores: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Overlaps of boxes by `tf.vectorized_map`, and scores of those that overlap none before."""

    def overlaps(box: tf.Tensor) -> tf.Tensor:
        low = tf.maximum(box[:2], corners[:, :2])
        high = tf.minimum(box[2:], corners[:, 2:])
        inter = tf.reduce_prod(tf.maximum(high - low, 0.0), -1)
        areas = tf.reduce_prod(corners[:, 2:] - corners[:, :2], -1)
        return inter / (tf.reduce_prod(box[2:] - box[:2]) + areas - inter)

    found = tf.vectorized_map(overlaps, corners)
    order = tf.argsort(scores, direction="DESCENDING")
    ranked = tf.gather(tf.gather(found, order), order, axis=1)
    kept = tf.ones_like(scores, tf.bool)
    for i in tf.range(tf.shape(scores)[0]):
        later = tf.range(tf.shape(scores)[0]) > i
        kept = kept & ~(later & (ranked[i] > 0.3) & kept[i])
    return found, tf.where(kept, tf.gather(scores, order), 0.0)


def _of(model: Any, *inputs: Any) -> tuple[Any, tuple[Any, ...]]:
    model(*inputs)
    return model, inputs


_EDGES = np.asarray([[0, 1], [0, 2], [1, 0], [2, 3], [3, 0], [1, 3]])
_CORNERS = np.asarray(
    [[0.0, 0.0, 2.0, 2.0], [0.2, 0.1, 2.1, 2.0], [3.0, 3.0, 4.0, 4.0], [2.9, 3.1, 4.0, 3.9]],
    "float32",
)

#: Program → a function that makes it and its inputs.
PROGRAMS: dict[str, Callable[[], tuple[Any, tuple[Any, ...]]]] = {
    "residual": lambda: (Residual(), (ROWS,)),
    "vector_quantizer": lambda: (VectorQuantizer(), (ROWS,)),
    "recurrent": lambda: (Recurrent(), (SIGNAL,)),
    "dynamic_recurrent": lambda: (DynamicRecurrent(), (SIGNAL, np.asarray([2, 5], "int32"))),
    "neural_ode": lambda: (NeuralODE(), (ROWS,)),
    "random_field": lambda: (
        RandomField(), (SIGNAL, np.asarray([[0, 2, 1, 1, 0], [1, 0, 0, 2, 2]]))
    ),
    "meta_step": lambda: (MetaStep(), (SIGNAL[..., :1], np.sin(SIGNAL[..., :1]))),
    "burgers": lambda: (Burgers(), (ROWS[:, :1].copy(), ROWS[:, 1:2].copy())),
    "policy_step": lambda: (
        PolicyStep(),
        (ROWS, np.asarray([0, 2, 1, 1]), np.asarray([1.0, 0.0, 0.5, 2.0], "float32")),
    ),
    "kalman": lambda: (kalman, (_normal(6, 1), np.float32(0.3) * np.ones((1, 1), "float32"))),
    "collatz": lambda: (collatz, (np.asarray(7), ROWS)),
    "power_iteration": lambda: (power_iteration, (ROWS,)),
    "boxes": lambda: (boxes, (_CORNERS, np.asarray([0.9, 0.8, 0.7, 0.95], "float32"))),
    "subclassed_resnet": lambda: _of(SubclassedResNet(), IMAGES),
    "augmented": lambda: _of(augmented(), IMAGES),
    "vision_transformer": lambda: _of(vision_transformer(), IMAGES),
    "mixer": lambda: _of(mixer(), SIGNAL),
    "graph_network": lambda: _of(GraphNetwork(), [ROWS, _EDGES]),
    "coupling": lambda: _of(Coupling(), ROWS),
    "penalty_step": lambda: (PenaltyStep(), (IMAGES, 1 - IMAGES**2, np.asarray([1, 2]))),
    "radiance_field": lambda: _of(
        RadianceField(), [_normal(3, 5, 3), np.sort(_rng.uniform(2, 6, (3, 5))).astype("float32")]
    ),
    "diffusion": lambda: _of(Diffusion(), IMAGES),
    "wide_and_deep": lambda: _of(
        wide_and_deep(),
        {"age": _normal(4, 1), "job": np.asarray([[0], [3], [1], [1]]), "hours": _normal(4, 2)},
    ),
    "recommender": lambda: _of(Recommender(), np.asarray([[0, 1], [5, 6], [2, 2]])),
    "contrastive_step": lambda: (ContrastiveStep(), (ROWS, ROWS + 0.1 * _normal(4, 6))),
    "decoder": lambda: _of(Decoder(), WORDS[:, :3]),
    "character_translator": lambda: _of(character_translator(), [SIGNAL, SIGNAL[:, :3].copy()]),
    "text_reader": lambda: (
        TextReader(), (IMAGES, np.asarray([[1.0, 2.0, 3.0], [2.0, 2.0, 1.0]], "float32"))
    ),
    "window_transformer": lambda: _of(window_transformer(), IMAGES),
    "point_net": lambda: _of(point_net(), _normal(2, 10, 3)),
}  # fmt: skip
#: The programs with a training behaviour of their own.
TRAINED = (
    "residual", "vector_quantizer", "subclassed_resnet", "augmented", "vision_transformer",
    "diffusion", "wide_and_deep", "point_net", "coupling",
)  # fmt: skip

"""Training steps of networks of `nestarray.nn` and steps of its optimizers, against the frameworks."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, has_compiler, ratio, readable
from nestarray import nn

LEAVES = 300
RATE = 1e-3
Call = Callable[[], Any]


def tables() -> list[Table]:
    """Training steps on four backends, and steps of Adam for many leaves."""
    return [_on_torch(), _on_jax(), _on_tensorflow(), _on_numpy(), _optimizers()]


# -- networks of nestarray and of torch, from the same text ----------------------------------


def cnn(nn: Any) -> Any:
    """Two convolutions for images of 16 × 16."""
    return nn.Sequential(
        *(nn.Conv2d(3, 16, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(512, 10)),
    )


def resnet18(nn: Any) -> Any:
    """ResNet-18 for small images."""
    residual = nn.Residual if hasattr(nn, "Residual") else _torch_residual()

    def block(inputs: int, outputs: int, stride: int) -> Any:
        body = nn.Sequential(
            *(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)),
            *(nn.ReLU(), nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)),
        )
        if stride == 1:
            return nn.Sequential(residual(body), nn.ReLU())
        shortcut = nn.Conv2d(inputs, outputs, 1, stride, bias=False)
        return nn.Sequential(residual(body, shortcut), nn.ReLU())

    widths = (64, 128, 256, 512)
    stages = [
        block(inputs, outputs, 1 if inputs == outputs else 2)
        for first, width in zip((64, *widths), widths, strict=False)
        for inputs, outputs in ((first, width), (width, width))
    ]
    return nn.Sequential(
        *(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *stages),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)),
    )


def _torch_residual() -> Any:
    import torch

    class Residual(torch.nn.Module):
        def __init__(self, body: Any, shortcut: Any = None) -> None:
            super().__init__()
            self.body, self.shortcut = body, shortcut or torch.nn.Identity()

        def forward(self, x: Any) -> Any:
            return self.body(x) + self.shortcut(x)

    return Residual


def lstm(nn: Any) -> Any:
    """An LSTM over 32 steps."""
    return nn.LSTM(32, 64, batch_first=True)


def transformer_block(nn: Any) -> Any:
    """A block of width 64."""
    return nn.TransformerEncoderLayer(64, 4, 256, 0.0, batch_first=True)


NETWORKS: dict[str, tuple[Callable[[Any], Any], tuple[int, ...]]] = {
    "CNN": (cnn, (16, 3, 16, 16)),
    "ResNet-18": (resnet18, (4, 3, 16, 16)),
    "LSTM": (lstm, (16, 32, 32)),
    "transformer block": (transformer_block, (8, 32, 64)),
}

#: The networks that Inductor compiles in a minute or two.
COMPILED = ("CNN", "LSTM", "transformer block")


def _input(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def _ours(make: Callable[[Any], Any], x: np.ndarray, backend: str, **options: Any) -> Call:
    """A training step of a network of `nestarray.nn`, with the state of the step before."""
    net = make(nn).init(na.random.key(0, backend=backend))

    def loss_fn(v: Any, batch: Any, s: Any) -> Any:
        out, s = net(batch["x"], v=v, s=s, train=True)
        return na.mean(na.square(na.tree.leaves(out)[0])), s

    step = na.train_step(loss_fn, nn.Adam(RATE), **options)
    batch = na.Container(x=na.to_backend(x, backend))
    state = step.init(net.v, net.s)

    def call() -> Any:
        nonlocal state
        state, metrics = step(state, batch)
        return na.to_backend(metrics["loss"], "numpy")

    return call


# -- PyTorch ---------------------------------------------------------------------------------


def _on_torch() -> Table:
    table = Table(
        "Training steps of nestarray.nn in PyTorch",
        ["network", "eager", "nestarray", "ratio", "torch.compile", "nestarray, na.jit", "ratio"],
        "Adam. Compiled: forward and backward pass by Inductor on both sides, on nestarray's also Adam. "
        "ResNet-18 runs eagerly only: Inductor compiles its whole step for minutes.",
    )
    for name, (make, shape) in NETWORKS.items():
        x = _input(shape)
        eager = compare(
            {"theirs": _torch(make, x), "ours": _ours(make, x, "torch", compile=False)},
            at_least=0.1,
        )
        cells = [readable(eager["theirs"]), readable(eager["ours"])]
        cells.append(ratio(eager["ours"], eager["theirs"]))
        if name in COMPILED and has_compiler():
            fast = {"theirs": _torch(make, x, compiled=True), "ours": _ours(make, x, "torch")}
            times = compare(fast, at_least=0.1)
            cells += [readable(times["theirs"]), readable(times["ours"])]
            cells.append(ratio(times["ours"], times["theirs"]))
        table.add(name, *cells, *["–"] * (len(table.columns) - 1 - len(cells)))
    return table


def _torch(make: Callable[[Any], Any], x: np.ndarray, compiled: bool = False) -> Call:
    import torch

    torch.manual_seed(0)
    net = make(torch.nn)
    run = torch.compile(net) if compiled else net
    optimizer = torch.optim.Adam(net.parameters(), RATE)
    batch = torch.from_numpy(x)

    def call() -> Any:
        optimizer.zero_grad()
        out = run(batch)
        loss = (out[0] if isinstance(out, tuple) else out).square().mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    return call


# -- JAX -------------------------------------------------------------------------------------


def _on_jax() -> Table:
    table = Table(
        "Training steps of nestarray.nn in JAX",
        ["network", "Flax nnx", "nestarray", "ratio"],
        "Adam (optax for Flax), compiled with donated states. Flax has channels last.",
    )
    for name, peer in (("CNN", _nnx_cnn), ("LSTM", _nnx_lstm), ("transformer block", _nnx_block)):
        make, shape = NETWORKS[name]
        x = _input(shape)
        times = compare({"theirs": peer(x), "ours": _ours(make, x, "jax")}, at_least=0.1)
        table.add(
            name,
            readable(times["theirs"]),
            readable(times["ours"]),
            ratio(times["ours"], times["theirs"]),
        )
    return table


def _nnx_step(net: Any, x: Any, loss_of: Callable[[Any, Any], Any]) -> Call:
    """A step as Flax recommends it for speed: `nnx.split` outside of `jax.jit`."""
    import jax
    import optax
    from flax import nnx

    graph, variables, others = nnx.split(net, nnx.Param, ...)
    rule = optax.adam(RATE)
    states = variables, rule.init(variables)

    def step(states: Any, x: Any) -> Any:
        variables, moments = states
        loss, grads = jax.value_and_grad(lambda v: loss_of(nnx.merge(graph, v, others), x))(
            variables
        )
        updates, moments = rule.update(grads, moments)
        return (optax.apply_updates(variables, updates), moments), loss

    compiled = jax.jit(step, donate_argnums=0)
    x = jax.numpy.asarray(x)

    def call() -> Any:
        nonlocal states
        states, loss = compiled(states, x)
        return np.asarray(loss)

    return call


def _nnx_cnn(x: np.ndarray) -> Call:
    import jax.numpy as jnp
    from flax import nnx

    class Net(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.first = nnx.Conv(3, 16, (3, 3), rngs=rngs)
            self.second = nnx.Conv(16, 32, (3, 3), rngs=rngs)
            self.out = nnx.Linear(512, 10, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            for layer in (self.first, self.second):
                x = nnx.max_pool(nnx.relu(layer(x)), (2, 2), (2, 2))
            return self.out(x.reshape(len(x), -1))

    return _nnx_step(
        Net(nnx.Rngs(0)), x.transpose(0, 2, 3, 1), lambda net, x: jnp.mean(net(x) ** 2)
    )


def _nnx_lstm(x: np.ndarray) -> Call:
    import jax.numpy as jnp
    from flax import nnx

    net = nnx.RNN(nnx.OptimizedLSTMCell(32, 64, rngs=nnx.Rngs(0)))
    zeros = jnp.zeros((len(x), 64))
    return _nnx_step(net, x, lambda net, x: jnp.mean(net(x, initial_carry=(zeros, zeros)) ** 2))


def _nnx_block(x: np.ndarray) -> Call:
    import jax.numpy as jnp
    from flax import nnx

    class Block(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.attention = nnx.MultiHeadAttention(4, 64, decode=False, rngs=rngs)
            self.norms = nnx.List([nnx.LayerNorm(64, rngs=rngs) for _ in range(2)])
            self.up, self.down = nnx.Linear(64, 256, rngs=rngs), nnx.Linear(256, 64, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = self.norms[0](x + self.attention(x))
            return self.norms[1](x + self.down(nnx.relu(self.up(x))))

    return _nnx_step(Block(nnx.Rngs(0)), x, lambda net, x: jnp.mean(net(x) ** 2))


# -- TensorFlow ------------------------------------------------------------------------------


def _on_tensorflow() -> Table:
    table = Table(
        "Training steps of nestarray.nn in TensorFlow",
        ["network", "Keras", "nestarray", "ratio"],
        "Adam. Keras: `train_on_batch`, with channels last.",
    )
    for name, peer in (("CNN", _keras_cnn), ("LSTM", _keras_lstm)):
        make, shape = NETWORKS[name]
        x = _input(shape)
        times = compare({"theirs": peer(x), "ours": _ours(make, x, "tensorflow")}, at_least=0.1)
        table.add(
            name,
            readable(times["theirs"]),
            readable(times["ours"]),
            ratio(times["ours"], times["theirs"]),
        )
    return table


def _keras_step(layers: list[Any], x: np.ndarray) -> Call:
    import keras
    import tensorflow as tf

    net = keras.Sequential([keras.Input(x.shape[1:]), *layers])
    net.compile(keras.optimizers.Adam(RATE), lambda y, out: tf.reduce_mean(tf.square(out)))
    batch = tf.constant(x)
    target = tf.zeros(net.compute_output_shape(x.shape))
    return lambda: net.train_on_batch(batch, target)


def _keras_cnn(x: np.ndarray) -> Call:
    from keras import layers

    return _keras_step(
        [
            *(layers.Conv2D(16, 3, padding="same", activation="relu"), layers.MaxPooling2D()),
            *(layers.Conv2D(32, 3, padding="same", activation="relu"), layers.MaxPooling2D()),
            *(layers.Flatten(), layers.Dense(10)),
        ],
        x.transpose(0, 2, 3, 1),
    )


def _keras_lstm(x: np.ndarray) -> Call:
    from keras import layers

    return _keras_step([layers.LSTM(64, return_sequences=True)], x)


# -- NumPy -----------------------------------------------------------------------------------


def _on_numpy() -> Table:
    table = Table(
        "Training steps of nestarray.nn in NumPy",
        ["network", "by hand", "nestarray", "ratio"],
        "Adam. By hand: a program of NumPy calls for this network, with its backward pass written out.",
    )
    x = _input((64, 64))
    times = compare({"theirs": _numpy_mlp(x), "ours": _ours(mlp, x, "numpy")}, at_least=0.1)
    ours, theirs = times["ours"], times["theirs"]
    table.add("dense layers", readable(theirs), readable(ours), ratio(ours, theirs))
    return table


def mlp(nn: Any) -> Any:
    """Three dense layers of 256."""
    return nn.Sequential(
        *(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)),
    )


def _numpy_mlp(x: np.ndarray) -> Call:
    rng = np.random.default_rng(0)
    sizes = (64, 256, 256, 10)
    v = []
    for inputs, outputs in pairwise(sizes):
        v += [rng.uniform(-0.1, 0.1, (outputs, inputs)), np.zeros(outputs)]
    v = [a.astype("float32") for a in v]
    mu, nu = [np.zeros_like(a) for a in v], [np.zeros_like(a) for a in v]
    t = 0

    def call() -> Any:
        nonlocal t
        inputs = [x]
        for i in range(0, 4, 2):
            inputs.append(np.maximum(inputs[-1] @ v[i].T + v[i + 1], 0))
        out = inputs[-1] @ v[4].T + v[5]
        grad = out * np.float32(2 / out.size)
        grads: list[np.ndarray] = []
        for i in (4, 2, 0):
            grads = [grad.T @ inputs[i // 2], grad.sum(0), *grads]
            grad = (grad @ v[i]) * (inputs[i // 2] > 0) if i else grad
        t += 1
        for i, g in enumerate(grads):
            mu[i] += 0.1 * (g - mu[i])
            nu[i] += 0.001 * (g * g - nu[i])
            v[i] -= RATE * (mu[i] / (1 - 0.9**t)) / (np.sqrt(nu[i] / (1 - 0.999**t)) + 1e-8)
        return np.mean(out * out)

    return call


# -- optimizers ------------------------------------------------------------------------------


def _optimizers() -> Table:
    table = Table(
        f"A step of Adam for {LEAVES} leaves of 64 numbers",
        ["backend", "peer", "peer's step", "nestarray", "ratio", "nestarray, fused", "ratio"],
        "optax: compiled, as is nestarray on JAX. torch.optim: eager, with foreach; nestarray eager. "
        "Fused: the variables are one buffer, `v.fuse()`.",
    )
    tree = {f"w{i}": _input((64,)) for i in range(LEAVES)}
    for backend, peer, make in (
        ("torch", "torch.optim", _torch_adam),
        ("jax", "optax", _optax_adam),
    ):
        steps = {"theirs": make(tree), "ours": _our_adam(tree, backend)}
        times = compare(steps | {"fused": _our_adam(tree, backend, is_fused=True)}, at_least=0.1)
        theirs = times["theirs"]
        cells = [readable(theirs)]
        for name in ("ours", "fused"):
            cells += [readable(times[name]), ratio(times[name], theirs)]
        table.add(backend, peer, *cells)
    return table


def _our_adam(tree: dict[str, np.ndarray], backend: str, *, is_fused: bool = False) -> Call:
    v = na.Container(tree).to_backend(backend).map(lambda x: x + 0)
    v = v.fuse() if is_fused else v
    grads, optimizer = v * 0.1, nn.Adam(RATE)
    state = optimizer.init(v)
    step = na.jit(optimizer.step, donate_argnums=(0, 2)) if backend == "jax" else optimizer.step

    def call() -> Any:
        nonlocal v, state
        v, state = step(v, grads, state)
        return na.to_backend(v[f"w{LEAVES - 1}"], "numpy")

    return call


def _torch_adam(tree: dict[str, np.ndarray]) -> Call:
    import torch

    parameters = [torch.nn.Parameter(torch.tensor(x)) for x in tree.values()]
    for x in parameters:
        x.grad = x.detach() * 0.1
    optimizer = torch.optim.Adam(parameters, RATE, foreach=True)
    return optimizer.step


def _optax_adam(tree: dict[str, np.ndarray]) -> Call:
    import jax
    import optax

    rule = optax.adam(RATE)
    v = jax.tree.map(jax.numpy.array, tree)
    grads = jax.tree.map(lambda x: x * 0.1, v)
    states = v, rule.init(v)

    def step(states: Any, grads: Any) -> Any:
        updates, moments = rule.update(grads, states[1])
        return optax.apply_updates(states[0], updates), moments

    compiled = jax.jit(step, donate_argnums=0)

    def call() -> Any:
        nonlocal states
        states = compiled(states, grads)
        return np.asarray(states[0][f"w{LEAVES - 1}"])

    return call

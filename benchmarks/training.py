"""Gradients and training steps, against the frameworks' own; on NumPy, against the forward pass."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time as clock
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, has_compiler, ratio, readable

LEAVES, LAYERS, WIDTH, BATCH = 100, 10, 256, 64
REPEATS = 300
FRAMEWORKS = ("jax", "torch", "tensorflow")

Call = Callable[..., Any]


def tables() -> list[Table]:
    """Gradients of a Container of many leaves, training steps, and training on NumPy."""
    return [_gradients(), _steps(), _numpy()]


def _gradients() -> Table:
    rng = np.random.default_rng(0)
    tree = {f"w{i}": rng.standard_normal(8).astype(np.float32) for i in range(LEAVES)}
    table = Table(
        "Value and gradient of a Container",
        ["framework", "native", "nestarray", "more", "native compiled", "compiled", "ratio"],
        f"{LEAVES} leaves of 8 numbers, the sum of their squares. `more` is the processor time beyond "
        "the native call, of a function whose gradient is given by hand and costs next to nothing: "
        f"the difference of the shortest of {REPEATS} calls each.",
    )
    for backend in FRAMEWORKS:
        v = na.Container(tree).to_backend(backend)
        leaves = v.to_dict()
        square_sum = _SQUARES[backend]
        loss = lambda v, f=square_sum: sum(f(x) for x in v.values())  # noqa: E731
        native, compiled = _NATIVE_GRADIENTS[backend](loss)
        whole = na.jit(lambda v, loss=loss: na.execute_with_gradients(loss, v))
        ours = lambda v=v, loss=loss: na.execute_with_gradients(loss, v)  # noqa: E731
        calls: dict[str, Call] = {
            "native": lambda f=native, x=leaves: _ready(f(x)),
            "ours": lambda f=ours: _ready(f()),
        }
        fast: dict[str, Call] = {}
        if compiled is not None:
            fast["native"] = lambda f=compiled, x=leaves: _ready(f(x))
            fast["ours"] = lambda f=whole, v=v: _ready(f(v))
        time, quick = compare(calls, rounds=31), compare(fast, rounds=31)
        table.add(
            backend,
            readable(time["native"]),
            readable(time["ours"]),
            _more(backend, v),
            readable(quick["native"]) if quick else "no compiler",
            readable(quick["ours"]) if quick else "no compiler",
            ratio(quick["ours"], quick["native"]) if quick else "",
        )
    return table


def _more(backend: str, v: Any) -> str:
    """The overhead of value and gradient over the native call; negative if faster.

    Of the function above the native calls take many times as long as our own part, and vary by
    more than that.
    """
    by_hand = _BY_HAND[backend]()
    loss = lambda v: by_hand(*v.values())  # noqa: E731
    native, leaves = _NATIVE_GRADIENTS[backend](loss)[0], v.to_dict()
    calls: list[Call] = [
        lambda: _ready(native(leaves)),
        lambda: _ready(na.execute_with_gradients(loss, v)),
    ]
    least = [float("inf")] * len(calls)
    gc.collect()
    gc.disable()
    try:
        for _ in range(REPEATS):
            for i, call in enumerate(calls):
                start = clock.thread_time()
                call()
                least[i] = min(least[i], clock.thread_time() - start)
    finally:
        gc.enable()
    more = least[1] - least[0]
    return readable(more) if more >= 0.0 else f"−{readable(-more)}"


def _by_hand_jax() -> Call:
    import jax

    zero = jax.numpy.zeros(())
    fn = jax.custom_vjp(lambda *xs: zero)
    fn.defvjp(lambda *xs: (zero, xs), lambda xs, ct: xs)
    return fn


def _by_hand_torch() -> Call:
    import torch

    class Function(torch.autograd.Function):
        """Zero, and the arguments for its gradients."""

        @staticmethod
        def forward(*xs: Any) -> Any:
            return torch.zeros(())

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            return ctx.saved_tensors

    return Function.apply


def _by_hand_tensorflow() -> Call:
    import tensorflow as tf

    zero = tf.zeros(())
    return tf.custom_gradient(lambda *xs: (tf.identity(zero), lambda ct: xs))


_BY_HAND = {"jax": _by_hand_jax, "torch": _by_hand_torch, "tensorflow": _by_hand_tensorflow}


def _ready(found: Any) -> Any:
    """Wait for asynchronous computations of JAX."""
    ready = getattr(found[0], "block_until_ready", None)
    if ready is not None:
        ready()
    return found


def _square_sum(x: Any) -> Any:
    return (x * x).sum()


def _square_sum_tensorflow(x: Any) -> Any:
    import tensorflow as tf

    return tf.reduce_sum(x * x)


_SQUARES = {"jax": _square_sum, "torch": _square_sum, "tensorflow": _square_sum_tensorflow}


def _jax_gradients(loss: Any) -> tuple[Any, Any]:
    import jax

    differentiate = jax.value_and_grad(loss)
    return differentiate, jax.jit(differentiate)


def _torch_gradients(loss: Any) -> tuple[Any, Any]:
    import torch

    differentiate = torch.func.grad_and_value(loss)

    def value_first(x: Any) -> tuple[Any, Any]:
        gradients, value = differentiate(x)
        return value, gradients

    return value_first, torch.compile(value_first) if has_compiler() else None


def _tensorflow_gradients(loss: Any) -> tuple[Any, Any]:
    import tensorflow as tf

    def differentiate(x: Any) -> tuple[Any, Any]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = loss(x)
        return value, tape.gradient(value, x)

    return differentiate, tf.function(differentiate)


_NATIVE_GRADIENTS = {
    "jax": _jax_gradients,
    "torch": _torch_gradients,
    "tensorflow": _tensorflow_gradients,
}


# -- whole steps ---------------------------------------------------------------------------

RATE, DECAY, EPS = 1e-3, 1e-2, 1e-8
COPIES = 3


class Network(na.nn.Module):
    """Linear layers with ReLU between them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = [na.nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS)]

    def forward(self, x: Any) -> Any:
        """x through all layers."""
        for layer in self.layers[:-1]:
            x = na.relu(layer(x))
        return self.layers[-1](x)


def _data(backend: str) -> tuple[Network, Any, Any]:
    key = na.random.key(0, backend=backend)
    net = Network().init(na.random.fold_in(key, 0))
    x, y = (na.random.normal(na.random.fold_in(key, i), (BATCH, WIDTH)) for i in (1, 2))
    return net, x, y


def _our_step(net: Network) -> tuple[Any, Any]:
    optimizer = na.nn.AdamW(RATE, weight_decay=DECAY)

    def step(v: Any, state: Any, x: Any, y: Any) -> tuple[Any, Any, Any]:
        loss, grads = na.execute_with_gradients(lambda v: na.mean(na.square(net(x, v=v) - y)), v)
        return loss, *optimizer.step(v, grads, state)

    return step, optimizer.init(net.v)


def _steps() -> Table:
    table = Table(
        "A step of training, compiled",
        ["framework", "native", "nestarray", "ratio"],
        f"Forward pass, backward pass and AdamW of {LAYERS} layers of {WIDTH}, batch {BATCH}; the "
        "old parameters' memory is given up, as the optimizers of PyTorch and TensorFlow do. Each is "
        f"the faster of {COPIES} copies of itself: where variables lie in memory makes up to a tenth "
        "of the time. On JAX both programs are the same, kernel by kernel.",
    )
    for backend in FRAMEWORKS:
        net, x, y = _data(backend)
        if backend == "torch" and not has_compiler():
            table.add(backend, "no compiler", "", "")
            continue
        step, state = _our_step(net)
        compiled = na.jit(step, donate_argnums=(0, 1))
        calls: dict[str, Call] = {}
        for i in range(COPIES):
            native = _NATIVE_STEPS[backend](net, x, y)
            ours = _in_turn(compiled, *_copies(net.v, state), x, y)
            calls[f"native {i}"] = lambda f=native: _ready(f())
            calls[f"ours {i}"] = lambda f=ours: _ready(f())
        time = compare(calls, rounds=21)
        native_time, our_time = (
            min(time[f"{name} {i}"] for i in range(COPIES)) for name in ("native", "ours")
        )
        table.add(backend, readable(native_time), readable(our_time), ratio(our_time, native_time))
    return table


def _copies(*trees: na.Container) -> list[na.Container]:
    return [c.map(lambda leaf: na.asarray(leaf, copy=True)) for c in trees]


def _in_turn(step: Call, params: Any, state: Any, *data: Any) -> Call:
    """Consecutive training steps."""

    def call() -> tuple[Any]:
        nonlocal params, state
        loss, params, state = step(params, state, *data)
        return (loss,)

    return call


def _pairs(net: Network) -> list[tuple[Any, Any]]:
    return [(layer["weight"], layer["bias"]) for layer in net.v["layers"].values()]


def _jax_step(net: Network, x: Any, y: Any) -> Call:
    import jax
    import optax

    optimizer = optax.adamw(RATE, weight_decay=DECAY, eps=EPS)
    params = jax.tree.map(jax.numpy.copy, _pairs(net))

    def loss_of(params: Any) -> Any:
        h = x
        for i, (w, b) in enumerate(params):
            h = h @ w.T + b
            h = jax.nn.relu(h) if i < LAYERS - 1 else h
        return ((h - y) ** 2).mean()

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(params: Any, state: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(params)
        updates, state = optimizer.update(grads, state, params)
        return loss, optax.apply_updates(params, updates), state

    return _in_turn(step, params, optimizer.init(params))


def _torch_step(net: Network, x: Any, y: Any) -> Call:
    import torch

    layers: list[Any] = []
    for w, b in _pairs(net):
        linear = torch.nn.Linear(WIDTH, WIDTH)
        linear.weight.data, linear.bias.data = w.clone(), b.clone()
        layers += [linear, torch.nn.ReLU()]
    model = torch.nn.Sequential(*layers[:-1])
    optimizer = torch.optim.AdamW(model.parameters(), RATE, weight_decay=DECAY, eps=EPS)

    @torch.compile
    def step() -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return (loss,)

    return step


def _tensorflow_step(net: Network, x: Any, y: Any) -> Call:
    import tensorflow as tf

    params = [tf.Variable(p) for pair in _pairs(net) for p in pair]
    moments = [(tf.Variable(tf.zeros_like(p)), tf.Variable(tf.zeros_like(p))) for p in params]
    count: Any = tf.Variable(tf.zeros(()))

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            h = x
            for i in range(LAYERS):
                h = tf.matmul(h, params[2 * i], transpose_b=True) + params[2 * i + 1]
                h = tf.nn.relu(h) if i < LAYERS - 1 else h
            loss = tf.reduce_mean(tf.square(h - y))
        count.assign_add(1.0)
        first, second = 1.0 - 0.9**count, 1.0 - 0.999**count
        gradients: Any = tape.gradient(loss, params)
        for p, (m, n), g in zip(params, moments, gradients, strict=True):
            m.assign(0.9 * m + 0.1 * g)
            n.assign(0.999 * n + 0.001 * g * g)
            p.assign_sub(RATE * (m / first / (tf.sqrt(n / second) + EPS) + DECAY * p))
        return (loss,)

    return step


_NATIVE_STEPS = {"jax": _jax_step, "torch": _torch_step, "tensorflow": _tensorflow_step}


# -- NumPy ---------------------------------------------------------------------------------


def _numpy() -> Table:
    """Run in a separate process, because memory used by frameworks changes times by up to 10 %."""
    code = "import json; from benchmarks import training; print(json.dumps(training.on_numpy()))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    time: dict[str, float] = json.loads(run.stdout)
    table = Table(
        "Gradients on NumPy",
        ["computation", "time", "of the forward pass"],
        f"{LAYERS} layers of {WIDTH}, batch {BATCH}; in a separate process.",
    )
    for name, seconds in time.items():
        table.add(name, readable(seconds), ratio(seconds, time["forward pass"]))
    return table


def on_numpy() -> dict[str, float]:
    """The time of a forward pass and of gradients of it."""
    net, x, y = _data("numpy")
    loss = lambda v: na.mean(na.square(net(x, v=v) - y))  # noqa: E731
    calls: dict[str, Call] = {
        "forward pass": lambda: loss(net.v),
        "nestarray's gradient": lambda: na.execute_with_gradients(loss, net.v),
        "gradient by autograd": _by_autograd(net, x, y),
    }
    # glibc gives freed memory back to the system, page by page, unless a larger array was freed
    # before: https://man7.org/linux/man-pages/man3/mallopt.3.html (M_MMAP_THRESHOLD)
    np.empty(2**24, np.uint8)
    return compare(calls, rounds=21)


def _by_autograd(net: Network, x: Any, y: Any) -> Call:
    import autograd
    import autograd.numpy as anp

    params = _pairs(net)

    def loss_of(params: Any) -> Any:
        h = x
        for i, (w, b) in enumerate(params):
            h = anp.dot(h, w.T) + b
            h = anp.maximum(h, 0.0) if i < LAYERS - 1 else h
        return anp.mean((h - y) ** 2)

    differentiate = autograd.value_and_grad(loss_of)
    return lambda: differentiate(params)

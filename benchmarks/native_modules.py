"""Training steps of native modules, beside the graph compiled by nestarray and native twins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from benchmarks.loop_twins import pairs
from benchmarks.timing import Table, compare, ratio, readable


def tables() -> list[Table]:
    """A convolutional network in each library; a transformer and loops of others in PyTorch."""
    return [steps(), transformer(), loops()]


def _source() -> Any:
    """A convolutional network of PyTorch."""
    import torch
    from torch import nn

    def block(inputs: int, outputs: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU()
        )

    torch.manual_seed(0)
    return nn.Sequential(
        block(3, 32), block(32, 64), nn.MaxPool2d(2), block(64, 64), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip


def steps() -> Table:
    """Loss and gradients of all parameters in training mode, compiled."""
    import equinox as eqx
    import haiku as hk
    import jax
    import jax.numpy as jnp
    import tensorflow as tf
    import torch
    from flax import nnx

    x = torch.randn(16, 3, 32, 32)
    source = _source()
    model = na.to_module(source, x)
    on_jax, on_tf = jnp.asarray(x.numpy()), tf.constant(x.numpy())

    def of_graph(backend: str, inputs: Any) -> Callable[[], Any]:
        graph = model.training_graph.to_backend(backend)

        def loss(v: Any) -> Any:
            return na.mean(na.square(graph(inputs, v=v)[0]))

        step = na.jit(na.value_and_grad(loss))
        return lambda: _wait(step(graph.v))

    net = model.to_torch_module().train()

    def torch_step(net: Any) -> Callable[[], Any]:
        parameters = list(net.parameters())
        return lambda: torch.autograd.grad(net(x).square().mean(), parameters)

    flax = model.to_flax_module()
    flax.train()
    flax_step = nnx.jit(nnx.value_and_grad(lambda net: jnp.mean(net(on_jax) ** 2)))

    linen = model.to_linen_module()
    variables = linen.init(jax.random.key(0), on_jax)

    def linen_loss(params: Any) -> Any:
        given = {**variables, "params": params}
        return jnp.mean(linen.apply(given, on_jax, train=True, mutable=["batch_stats"])[0] ** 2)

    linen_step = jax.jit(jax.value_and_grad(linen_loss))

    haiku = hk.transform_with_state(lambda: model.to_haiku_module()(on_jax, is_training=True))
    params, state = haiku.init(jax.random.key(0))
    haiku_step = jax.jit(
        jax.value_and_grad(lambda p: jnp.mean(haiku.apply(p, state, None)[0] ** 2))
    )

    equinox, eqx_state = model.to_equinox_module()
    equinox = eqx.nn.inference_mode(equinox, False)
    leaves, tree = jax.tree.flatten(eqx_state)

    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def equinox_step(net: Any) -> Any:
        return jnp.mean(net(on_jax, jax.tree.unflatten(tree, leaves))[0] ** 2)

    module = model.to_tf_module()

    @tf.function
    def tf_step() -> Any:
        return _tf_gradients(module, on_tf, {"training": True})

    keras_model = model.to_keras_model()
    twins = _twins(x)

    @tf.function
    def keras_step() -> Any:
        return _tf_gradients(keras_model, on_tf, {"training": True})

    table = Table(
        "Native modules: a training step of a convolutional network",
        ["", "native module", "graph, na.jit", "ratio", "written by hand", "ratio"],
        "The minimum of steps in turn. torch.nn.Module is eager: its peers are the graph without "
        "na.jit and the source. The twins of JAX and TensorFlow have channels last, as one writes "
        "them there; the converted network transposes its input and its kernels.",
    )
    jax_graph = of_graph("jax", on_jax)
    tf_graph = of_graph("tensorflow", on_tf)
    traced = model.training_graph.lower()
    leaves_of_v = [p.requires_grad_() for p in traced.v.leaves()]
    rows: dict[str, tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]] = {
        "torch.nn.Module": (
            torch_step(net),
            lambda: torch.autograd.grad(traced(x)[0].square().mean(), leaves_of_v),
            torch_step(source.train()),
        ),
        "nnx.Module": (lambda: _wait(flax_step(flax)), jax_graph, twins["nnx"]),
        "linen.Module": (
            lambda: _wait(linen_step(variables["params"])), jax_graph, twins["linen"],
        ),
        "haiku.Module": (lambda: _wait(haiku_step(params)), jax_graph, twins["haiku"]),
        "equinox.Module": (lambda: _wait(equinox_step(equinox)), jax_graph, twins["equinox"]),
        "keras.Model": (keras_step, tf_graph, twins["keras"]),
        "tf.Module": (tf_step, tf_graph, twins["tf"]),
    }  # fmt: skip
    for name, (native, graph, twin) in rows.items():
        functions = {"native": native, "graph": graph, "twin": twin}
        times = compare(functions, rounds=9, at_least=0.0)
        cells = [readable(times["native"])]
        for peer in ("graph", "twin"):
            cells += [readable(times[peer]), ratio(times["native"], times[peer])]
        table.add(name, *cells)
    return table


def transformer() -> Table:
    """Two blocks of a transformer of Flax as a torch module, beside the network in PyTorch."""
    import jax.numpy as jnp
    import torch
    from flax import nnx
    from torch import nn
    from torch.nn import functional as F

    width, heads = 64, 4

    class Block(nnx.Module):
        """Attention and a perceptron."""

        def __init__(self, rngs: nnx.Rngs) -> None:
            self.first, self.second = (nnx.LayerNorm(width, rngs=rngs) for _ in range(2))
            self.attention = nnx.MultiHeadAttention(heads, width, rngs=rngs, decode=False)
            self.inner = nnx.Linear(width, 4 * width, rngs=rngs)
            self.outer = nnx.Linear(4 * width, width, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            x = x + self.attention(self.first(x))
            return x + self.outer(nnx.gelu(self.inner(self.second(x))))

    class Twin(nn.Module):
        """The block, as one writes it in PyTorch."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
            self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
            self.inner, self.outer = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x: Any) -> Any:
            y, shape = self.first(x), (*x.shape[:2], heads, width // heads)
            q, k, v = [layer(y).view(shape).transpose(1, 2) for layer in (self.q, self.k, self.v)]
            mixed = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(x.shape)
            x = x + self.out(mixed)
            return x + self.outer(F.gelu(self.inner(self.second(x)), approximate="tanh"))

    rngs, x = nnx.Rngs(0), torch.randn(8, 16, width)
    source = nnx.Sequential(Block(rngs), Block(rngs))
    modules = {
        "native": na.to_module(source, jnp.asarray(x.numpy())).to_torch_module(),
        "twin": nn.Sequential(Twin(), Twin()),
    }

    table = Table(
        "Native modules: a transformer of Flax in PyTorch",
        ["", "native module", "written by hand", "ratio"],
        "The minimum of calls in turn, of two blocks of width 64.",
    )
    compiled = {name: torch.compile(net) for name, net in modules.items()}
    for how, nets in (("eager", modules), ("torch.compile", compiled)):
        _add_rows(table, how, nets, (x,))
    return table


def loops() -> Table:
    """Networks with loops as torch modules, beside the networks in PyTorch."""
    import torch

    table = Table(
        "Native modules: loops of other libraries in PyTorch",
        ["", "native module", "written by hand", "ratio"],
        "The minimum of calls in turn, eager. By hand: nn.LSTM, whose C++ code runs all steps; "
        "Python loops over layers of torch.nn.",
    )
    for name, (source, arrays, twin) in pairs().items():
        inputs = tuple(map(torch.from_numpy, arrays))
        modules = {"native": na.to_module(source, *arrays).to_torch_module(), "twin": twin}
        _add_rows(table, name, modules, inputs)
    return table


def _add_rows(table: Table, name: str, nets: dict[str, Any], inputs: tuple[Any, ...]) -> None:
    """The times of a forward pass and of a training step."""
    import torch

    def forward(net: Any) -> Callable[[], Any]:
        return torch.no_grad()(lambda: net(*inputs))

    def step(net: Any) -> Callable[[], Any]:
        parameters = list(net.parameters())
        return lambda: torch.autograd.grad(net(*inputs).square().mean(), parameters)

    for what, function in (("forward", forward), ("step", step)):
        times = compare({n: function(net) for n, net in nets.items()}, rounds=60, at_least=0.0)
        cells = [readable(times["native"]), readable(times["twin"])]
        table.add(f"{name}, {what}", *cells, ratio(times["native"], times["twin"]))


def _tf_gradients(net: Any, x: Any, settings: dict[str, Any]) -> Any:
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(net(x, **settings) ** 2)
    return loss, tape.gradient(loss, net.trainable_variables)


#: Convolutions of the network, and whether pooling follows.
_BLOCKS = ((32, False), (64, True), (64, False))


def _twins(x: Any) -> dict[str, Callable[[], Any]]:
    """Library → a training step of the network written for it, with channels last."""
    last = x.movedim(1, -1).numpy()
    return {
        "nnx": _nnx(last), "linen": _linen(last), "haiku": _haiku(last), "equinox": _equinox(last),
        "keras": _keras(last), "tf": _tensorflow(last),
    }  # fmt: skip


def _nnx(x: Any) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp
    from flax import nnx

    class Net(nnx.Module):
        """Convolutions, normalization, pooling and a head."""

        def __init__(self) -> None:
            rngs, inputs, layers = nnx.Rngs(0), 3, []
            for features, _ in _BLOCKS:
                layers.append(nnx.Conv(inputs, features, (3, 3), rngs=rngs))
                layers.append(nnx.BatchNorm(features, rngs=rngs))
                inputs = features
            self.layers = nnx.List(layers)
            self.head = nnx.Linear(inputs, 10, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            for i, (_, pools) in enumerate(_BLOCKS):
                x = jax.nn.relu(self.layers[2 * i + 1](self.layers[2 * i](x)))
                x = nnx.max_pool(x, (2, 2), (2, 2)) if pools else x
            return self.head(x.mean((1, 2)))

    images, net = jnp.asarray(x), Net()
    step = nnx.jit(nnx.value_and_grad(lambda net: jnp.mean(net(images) ** 2)))
    return lambda: _wait(step(net))


def _linen(x: Any) -> Callable[[], Any]:
    import jax
    import jax.numpy as jnp
    from flax import linen as nn

    class Net(nn.Module):
        """Convolutions, normalization, pooling and a head."""

        @nn.compact
        def __call__(self, x: Any) -> Any:
            for features, pools in _BLOCKS:
                x = nn.Conv(features, (3, 3))(x)
                x = nn.relu(nn.BatchNorm(use_running_average=False)(x))
                x = nn.max_pool(x, (2, 2), (2, 2)) if pools else x
            return nn.Dense(10)(x.mean((1, 2)))

    images, net = jnp.asarray(x), Net()
    variables = net.init(jax.random.key(0), images)

    def loss(params: Any) -> Any:
        given = {**variables, "params": params}
        output, state = net.apply(given, images, mutable=["batch_stats"])
        return jnp.mean(output**2), state

    step = jax.jit(jax.value_and_grad(loss, has_aux=True))
    return lambda: _wait(step(variables["params"]))


def _haiku(x: Any) -> Callable[[], Any]:
    import haiku as hk
    import jax
    import jax.numpy as jnp

    images = jnp.asarray(x)

    def forward() -> Any:
        x = images
        for features, pools in _BLOCKS:
            x = hk.Conv2D(features, 3)(x)
            x = jax.nn.relu(hk.BatchNorm(True, True, 0.9)(x, is_training=True))
            x = hk.max_pool(x, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") if pools else x
        return hk.Linear(10)(x.mean((1, 2)))

    net = hk.transform_with_state(forward)
    params, state = net.init(jax.random.key(0))

    def loss(params: Any) -> Any:
        output, new = net.apply(params, state, None)
        return jnp.mean(output**2), new

    step = jax.jit(jax.value_and_grad(loss, has_aux=True))
    return lambda: _wait(step(params))


def _equinox(x: Any) -> Callable[[], Any]:
    """Equinox has channels first, without a batch."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    images = jnp.moveaxis(jnp.asarray(x), -1, 1)

    def made() -> Any:
        keys, inputs, layers = iter(jax.random.split(jax.random.key(0), 4)), 3, []
        for features, pools in _BLOCKS:
            layers.append(eqx.nn.Conv2d(inputs, features, 3, padding=1, key=next(keys)))
            layers += [
                eqx.nn.BatchNorm(features, "batch", mode="batch"),
                eqx.nn.Lambda(jax.nn.relu),
            ]
            layers += [eqx.nn.MaxPool2d(2, 2)] if pools else []
            inputs = features
        mean = eqx.nn.Lambda(lambda x: x.mean((1, 2)))
        return eqx.nn.Sequential([*layers, mean, eqx.nn.Linear(inputs, 10, key=next(keys))])

    net, state = eqx.nn.make_with_state(made)()

    @eqx.filter_jit
    def step(net: Any, state: Any) -> Any:
        def loss(net: Any) -> Any:
            call = jax.vmap(net, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
            output, new = call(images, state)
            return jnp.mean(output**2), new

        return eqx.filter_value_and_grad(loss, has_aux=True)(net)

    return lambda: _wait(eqx.filter(step(net, state), eqx.is_array))


def _keras(x: Any) -> Callable[[], Any]:
    import keras
    import tensorflow as tf

    layers: list[Any] = [keras.Input(x.shape[1:])]
    for features, pools in _BLOCKS:
        layers.append(keras.layers.Conv2D(features, 3, padding="same"))
        layers += [keras.layers.BatchNormalization(), keras.layers.ReLU()]
        layers += [keras.layers.MaxPooling2D()] if pools else []
    net = keras.Sequential([*layers, keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(10)])
    images = tf.constant(x)

    @tf.function
    def step() -> Any:
        return _tf_gradients(net, images, {"training": True})

    return step


def _tensorflow(x: Any) -> Callable[[], Any]:
    import tensorflow as tf

    class Net(tf.Module):
        """Convolutions, normalization with moving moments, pooling and a head."""

        def __init__(self) -> None:
            super().__init__()
            self.kernels, self.affine, self.moving, inputs = [], [], [], 3
            for features, _ in _BLOCKS:
                kernel = tf.random.normal((3, 3, inputs, features), stddev=0.1)
                self.kernels.append((tf.Variable(kernel), tf.Variable(tf.zeros(features))))
                ones = tf.ones(features)
                self.affine.append((tf.Variable(ones), tf.Variable(tf.zeros(features))))
                self.moving.append(
                    [tf.Variable(y, trainable=False) for y in (tf.zeros(features), ones)]
                )
                inputs = features
            self.head = tf.Variable(tf.random.normal((inputs, 10))), tf.Variable(tf.zeros(10))

        def __call__(self, x: Any) -> Any:
            rows = zip(_BLOCKS, self.kernels, self.affine, self.moving, strict=True)
            for (_, pools), (kernel, bias), (scale, shift), moving in rows:
                x = tf.nn.bias_add(tf.nn.conv2d(x, kernel, 1, "SAME"), bias)
                x, *moments = tf.compat.v1.nn.fused_batch_norm(x, scale, shift)
                for old, new in zip(moving, moments, strict=True):
                    old.assign(0.9 * old + 0.1 * new)
                x = tf.nn.relu(x)
                x = tf.nn.max_pool2d(x, 2, 2, "VALID") if pools else x
            weight, bias = self.head
            return tf.reduce_mean(x, (1, 2)) @ weight + bias

    net, images = Net(), tf.constant(x)

    @tf.function
    def step() -> Any:
        return _tf_gradients(net, images, {})

    return step


def _wait(result: Any) -> Any:
    import jax

    return jax.block_until_ready(result)

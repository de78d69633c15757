"""Training steps of native modules, beside the graph compiled by nestarray and native twins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable


def tables() -> list[Table]:
    """One table."""
    return [steps()]


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
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(module(on_tf, training=True) ** 2)
        return loss, tape.gradient(loss, module.trainable_variables)

    table = Table(
        "Native modules: a training step of a convolutional network",
        ["", "native module", "peer", "peer's time", "ratio"],
    )
    jax_graph = of_graph("jax", on_jax)
    tf_graph = of_graph("tensorflow", on_tf)
    for name, native, peer, other in (
        ("torch.nn.Module, eager", torch_step(net), "source, eager", torch_step(source.train())),
        ("nnx.Module", lambda: _wait(flax_step(flax)), "graph, na.jit", jax_graph),
        (
            "linen.Module",
            lambda: _wait(linen_step(variables["params"])),
            "graph, na.jit",
            jax_graph,
        ),
        ("haiku.Module", lambda: _wait(haiku_step(params)), "graph, na.jit", jax_graph),
        ("equinox.Module", lambda: _wait(equinox_step(equinox)), "graph, na.jit", jax_graph),
        ("tf.Module", tf_step, "graph, na.jit", tf_graph),
    ):
        times = compare({"native": native, "peer": other}, rounds=7, at_least=0.0)
        table.add(name, readable(times["native"]), peer, readable(times["peer"]),
                  ratio(times["native"], times["peer"]))  # fmt: skip
    return table


def _wait(result: Any) -> Any:
    import jax

    return jax.block_until_ready(result)

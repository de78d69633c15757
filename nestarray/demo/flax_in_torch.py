"""A Flax network, trained on digits in JAX, fine-tuned with ``torch.optim``, and moved back.

A convolutional network of Flax NNX with batch normalization learns scikit-learn's digits by optax.
`na.trace_graph` moves it to PyTorch, with proof that it computes the same. The data change (another
camera) and the network fails. `to_torch_module` makes a ``torch.nn.Module`` of it, which
``torch.optim.Adam`` fine-tunes. The new parameters and statistics return to the Flax module, which
is accurate again in JAX.

usage: nestarray demo
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import optax
import torch
from flax import nnx

import nestarray as na
from nestarray.demo.digits import accuracy, batches, load_images, other_camera


class Network(nnx.Module):
    """Two convolutions with batch normalization, dropout, a linear layer; images are NHWC."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.conv1, self.norm1 = nnx.Conv(1, 16, (3, 3), rngs=rngs), nnx.BatchNorm(16, rngs=rngs)
        self.conv2, self.norm2 = nnx.Conv(16, 32, (3, 3), rngs=rngs), nnx.BatchNorm(32, rngs=rngs)
        self.dropout = nnx.Dropout(0.25, rngs=rngs)
        self.head = nnx.Linear(4 * 4 * 32, 10, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        x = nnx.relu(self.norm1(self.conv1(x)))
        x = nnx.max_pool(x, (2, 2), (2, 2))
        x = nnx.relu(self.norm2(self.conv2(x)))
        return self.head(self.dropout(x.reshape(x.shape[0], -1)))


def train_in_jax(net: Network, images: Any, *, epochs: int) -> None:
    """Train with optax; the module is changed."""
    optimizer = nnx.Optimizer(net, optax.adam(2e-3), wrt=nnx.Param)

    @nnx.jit
    def step(net: Network, optimizer: nnx.Optimizer, x: Any, y: Any) -> None:
        def loss_fn(net: Network) -> Any:
            return optax.softmax_cross_entropy_with_integer_labels(net(x), y).mean()

        optimizer.update(net, nnx.grad(loss_fn)(net))

    net.train()
    for x, y in batches(images, epochs, seed=1):
        step(net, optimizer, channels_last(x), jnp.asarray(y))
    net.eval()


def fine_tune_in_torch(net: torch.nn.Module, images: Any, *, epochs: int) -> None:
    """Train a module of PyTorch by ``torch.optim``."""
    optimizer = torch.optim.Adam(net.parameters(), 2e-3)
    net.train()
    for x, y in batches(images, epochs, seed=2):
        optimizer.zero_grad()
        logits = net(torch.from_numpy(np.array(channels_last(x))))
        torch.nn.functional.cross_entropy(logits, torch.from_numpy(y)).backward()
        optimizer.step()
    net.eval()


def jax_accuracy(net: Network, images: Any) -> float:
    """The accuracy of the Flax network on the test images."""
    return accuracy(np.asarray(net(channels_last(images.test))), images.test_labels)


def channels_last(x: np.ndarray) -> Any:
    """NCHW to NHWC."""
    return jnp.asarray(x.transpose(0, 2, 3, 1))


def run(*, epochs: int = 4, tuning_epochs: int = 10) -> dict[str, Any]:
    """Run all steps, print them, and return the figures."""
    images = load_images()
    net = Network(nnx.Rngs(0))
    train_in_jax(net, images, epochs=epochs)
    learned = jax_accuracy(net, images)
    print(f"Flax network, trained in JAX: test accuracy {learned:.1%}")

    x = channels_last(images.train[:64])
    report = na.trace_graph(net, x).to_backend("torch").verify()
    print(f"in PyTorch: {str(report).splitlines()[0]}, error {report.output_error:.1e}")

    shifted = other_camera(images)
    before = jax_accuracy(net, shifted)
    native = na.to_module(net, x).to_torch_module()
    fine_tune_in_torch(native, shifted, epochs=tuning_epochs)

    variables = na.Container.from_torch_state_dict(native.state_dict())
    nnx.update(net, na.to_flax(variables, like=nnx.state(net)))
    after = jax_accuracy(net, shifted)
    print(f"another camera, fine-tuned with torch.optim, back in Flax: {before:.1%} → {after:.1%}")
    return {"learned": learned, "agrees": report.ok, "before": before, "after": after}

"""A convolutional network learns to remove noise from digits, and draws new ones by diffusion.

The noise of training and of sampling comes from one key, so all frameworks draw the same digits.

usage: python examples/digit_diffusion.py [--backend numpy | jax | torch | tensorflow]
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import nestarray as na
from nestarray import nn

LEVELS, BATCH, SIZE = 50, 32, 8


class Denoiser(nn.Module):
    """The noise in images, given the level of noise."""

    def __init__(self, channels: int = 32) -> None:
        self.level = nn.Embedding(LEVELS, channels)
        self.label = nn.Embedding(10, channels)
        self.first = nn.Conv2d(1, channels, 3, padding=1)
        self.blocks = [nn.Sequential(*self.layers(channels)) for _ in range(2)]
        self.last = nn.Conv2d(channels, 1, 3, padding=1)

    def layers(self, size: int) -> tuple[nn.Module, ...]:
        return nn.GroupNorm(4, size), nn.SiLU(), nn.Conv2d(size, size, 3, padding=1)

    def forward(self, x: Any, level: Any, label: Any) -> Any:
        """x: `(batch, 1, size, size)`; level and label: `(batch,)`; returns the shape of x."""
        condition = (self.level(level) + self.label(label))[:, :, None, None]
        x = self.first(x)
        for block in self.blocks:
            x = x + block(x + condition)
        return self.last(na.silu(x))


def scales(level: Any) -> tuple[Any, Any]:
    """√ᾱ and √(1 − ᾱ), the scales of image and noise at each level, by the cosine schedule."""
    angle = (na.astype(level, "float32") + 1.0) * (0.5 * math.pi / (LEVELS + 1))
    return na.cos(angle)[:, None, None, None], na.sin(angle)[:, None, None, None]


def noisy(x: Any, noise: Any, level: Any) -> Any:
    """√ᾱ x + √(1 − ᾱ) noise."""
    signal, rest = scales(level)
    return signal * x + rest * noise


def sample(net: Denoiser, v: na.Container, label: Any, key: Any) -> Any:
    """New images of these digits, `(batch, 1, size, size)`, from noise by DDIM steps."""

    def step(i: Any, x: Any) -> Any:
        level = na.full_like(label, LEVELS - 1) - na.astype(i, "int32")
        noise = net(x, level, label, v=v)
        signal, rest = scales(level)
        return noisy(na.clip((x - rest * noise) / signal, -1.0, 1.0), noise, level - 1)

    start = na.random.normal(key, (label.shape[0], 1, SIZE, SIZE))
    return na.fori_loop(0, LEVELS, step, start)


def data(backend: str) -> na.Container:
    """Images in [-1, 1], `(images, 1, size, size)`, and their digits."""
    images, labels = load_digits(return_X_y=True)
    x = (images / 8.0 - 1.0).reshape(-1, 1, SIZE, SIZE)
    digits = na.Container(x=x.astype("float32"), label=labels.astype("int32"))
    return digits.to_backend(backend)


def show(images: Any) -> str:
    """Images side by side, as characters."""
    shades = np.asarray(list(" .:-=+*#%@"))
    rows = np.concatenate(na.to_backend(images, "numpy")[:, 0], axis=1)
    return "\n".join("".join(row) for row in shades[np.clip((rows + 1.0) * 5.0, 0, 9).astype(int)])


def main(backend: str = "jax", steps: int = 600) -> list[float]:
    """The loss of each step."""
    key = na.random.key(0, backend=backend)
    net = Denoiser().init(na.random.fold_in(key, "weights"))

    def loss_fn(v: na.Container, digits: na.Container, key: Any) -> Any:
        keys = na.random.split(key, 3)
        batch = na.take(digits, na.random.randint(keys[0], (BATCH,), 0, len(digits.x)), axis=0)
        level = na.random.randint(keys[1], (BATCH,), 0, LEVELS)
        noise = na.random.normal(keys[2], batch.x.shape)
        return na.mse_loss(net(noisy(batch.x, noise, level), level, batch.label, v=v), noise)

    optimizer = nn.Adam(nn.schedules.cosine(3e-3, steps=600))
    step = na.train_step(loss_fn, optimizer, compile=backend != "torch")  # its compiler is slow
    state, digits = step.init(net.v, key=na.random.fold_in(key, "steps")), data(backend)
    losses = []
    for _ in range(steps):
        state, metrics = step(state, digits)
        losses.append(float(metrics.loss))
    images = sample(net, state["v"], digits.label[:10], na.random.fold_in(key, "images"))
    print(f"{backend}: loss {losses[0]:.4f} → {losses[-1]:.4f}\n{show(images)}")
    return losses


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="jax")
    main(**vars(parser.parse_args()))

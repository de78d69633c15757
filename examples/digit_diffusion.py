"""A network learns to restore noisy digits, and draws new ones by diffusion.

The noise of training and of sampling comes from one key, so all frameworks draw the same digits.

usage: python examples/digit_diffusion.py [--backend numpy | jax | torch | tensorflow]
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

import nestarray as na
from nestarray import nn

LEVELS, BATCH, PIXELS = 50, 32, 64


class Denoiser(nn.Module):
    """The images without noise, given the level of noise and the digits."""

    def __init__(self, size: int = 128) -> None:
        self.level, self.label = nn.Embedding(LEVELS, size), nn.Embedding(10, size)
        self.first = nn.Linear(PIXELS, size)
        self.blocks = nn.Sequential(*(nn.Residual(self.block(size)) for _ in range(2)))
        self.last = nn.Sequential(nn.LayerNorm(size), nn.Linear(size, PIXELS))

    def block(self, size: int) -> nn.Module:
        layers = nn.LayerNorm(size), nn.Linear(size, size), nn.SiLU(), nn.Linear(size, size)
        return nn.Sequential(*layers)

    def forward(self, x: Any, level: Any, label: Any) -> Any:
        """x: `(batch, pixels)`; level and label: `(batch,)`; returns the shape of x."""
        return self.last(self.blocks(self.first(x) + self.level(level) + self.label(label)))


def scales(level: Any) -> tuple[Any, Any]:
    """√ᾱ and √(1 − ᾱ), the scales of image and noise at each level, by the cosine schedule."""
    angle = (na.astype(level, "float32") + 1.0)[:, None] * (0.5 * np.pi / (LEVELS + 1))
    return na.cos(angle), na.sin(angle)


def sample(net: Denoiser, v: na.Container, label: Any, key: Any) -> Any:
    """New images of these digits, `(batch, pixels)`, from noise by DDIM steps."""

    def step(i: Any, x: Any) -> Any:
        level = na.full_like(label, LEVELS - 1) - na.astype(i, "int32")
        clean = na.clip(net(x, level, label, v=v), -1.0, 1.0)
        (signal, rest), (next_signal, next_rest) = scales(level), scales(level - 1)
        return next_signal * clean + next_rest * (x - signal * clean) / rest

    return na.fori_loop(0, LEVELS, step, na.random.normal(key, (label.shape[0], PIXELS)))


def data(backend: str) -> na.Container:
    """Images in [-1, 1], `(images, pixels)`, and their digits."""
    images, labels = load_digits(return_X_y=True)
    x = (images / 8.0 - 1.0).astype("float32")
    return na.Container(x=x, label=labels.astype("int32")).to_backend(backend)


def show(images: Any) -> str:
    """Images side by side, as characters."""
    rows = np.concatenate(na.to_backend(images, "numpy").reshape(-1, 8, 8), axis=1)
    shades = np.clip((rows + 1.0) * 5.0, 0, 9).astype(int)
    return "\n".join("".join(" .:-=+*#%@"[shade] for shade in row) for row in shades)


def main(backend: str = "jax", steps: int = 1000) -> list[float]:
    """The loss of each step."""
    key = na.random.key(0, backend=backend)
    net = Denoiser().init(na.random.fold_in(key, "weights"))

    def loss_fn(v: na.Container, digits: na.Container, key: Any) -> Any:
        keys = na.random.split(key, 3)
        batch = na.take(digits, na.random.randint(keys[0], (BATCH,), 0, digits.x.shape[0]), axis=0)
        level = na.random.randint(keys[1], (BATCH,), 0, LEVELS)
        signal, rest = scales(level)
        x = signal * batch.x + rest * na.random.normal(keys[2], (BATCH, PIXELS))
        return na.mse_loss(net(x, level, batch.label, v=v), batch.x)

    optimizer = nn.Adam(nn.schedules.cosine(3e-3, steps=1000))
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

"""Networks with loops, of Keras, Flax and Equinox, and the same ones written by hand in PyTorch."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

#: Steps of the sampler and of the solver.
_STEPS = 20


class Pair(NamedTuple):
    """A network of another library, and its twin.

    Attributes:
        source: the network.
        inputs: its arguments, arrays of NumPy.
        twin: a ``torch.nn.Module``.
    """

    source: Any
    inputs: tuple[np.ndarray, ...]
    twin: Any


def pairs() -> dict[str, Pair]:
    """Name of a job → its networks."""
    return {
        "BiLSTM of Keras": _recurrent(),
        "diffusion sampler of Flax": _sampler(),
        "neural ODE of Equinox": _solver(),
    }


def _recurrent() -> Pair:
    """Tokens, an LSTM in both directions, and a head."""
    import keras
    import torch
    from torch import nn

    vocabulary, length, width = 100, 24, 32
    source = keras.Sequential(
        [
            keras.Input((length,), dtype="int32"),
            keras.layers.Embedding(vocabulary, width),
            keras.layers.Bidirectional(keras.layers.LSTM(width, return_sequences=True)),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(4),
        ]
    )

    class Twin(nn.Module):
        """The layers of PyTorch."""

        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width)
            self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)
            self.head = nn.Linear(2 * width, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.lstm(self.embedding(x))[0].mean(1))

    tokens = np.random.default_rng(0).integers(0, vocabulary, (8, length)).astype("int32")
    return Pair(source, (tokens,), Twin())


def _sampler() -> Pair:
    """The deterministic sampler of a diffusion model of points, with the noise level cos(πt/2)."""
    import jax
    import jax.numpy as jnp
    import torch
    from flax import nnx
    from torch import nn
    from torch.nn import functional as F

    width, quarter = 64, 0.5 * math.pi

    class Denoiser(nnx.Module):
        """The noise in points at a time, and the sampler."""

        def __init__(self, rngs: nnx.Rngs) -> None:
            self.first = nnx.Linear(18, width, rngs=rngs)
            self.norm = nnx.LayerNorm(width, rngs=rngs)
            self.middle = nnx.Linear(width, width, rngs=rngs)
            self.last = nnx.Linear(width, 2, rngs=rngs)

        def noise(self, x: Any, time: Any) -> Any:
            phases = time * jnp.exp(jnp.arange(8.0))
            waves = jnp.concatenate([jnp.sin(phases), jnp.cos(phases)])
            both = jnp.concatenate([x, jnp.broadcast_to(waves, (len(x), 16))], axis=-1)
            hidden = jax.nn.silu(self.norm(self.first(both)))
            return self.last(jax.nn.silu(self.middle(hidden)))

        def __call__(self, x: Any) -> Any:
            def step(i: Any, x: Any) -> Any:
                now = 1.0 - i / _STEPS
                after = now - 1.0 / _STEPS
                noise = self.noise(x, now)
                scale = jnp.maximum(jnp.cos(quarter * now), 0.1)
                clean = (x - jnp.sin(quarter * now) * noise) / scale
                return jnp.cos(quarter * after) * clean + jnp.sin(quarter * after) * noise

            return jax.lax.fori_loop(0, _STEPS, step, x)

    class Twin(nn.Module):
        """The same with a Python loop."""

        def __init__(self) -> None:
            super().__init__()
            self.first, self.norm = nn.Linear(18, width), nn.LayerNorm(width)
            self.middle, self.last = nn.Linear(width, width), nn.Linear(width, 2)
            self.register_buffer("frequencies", torch.exp(torch.arange(8.0)))

        def noise(self, x: torch.Tensor, time: float) -> torch.Tensor:
            phases = time * self.frequencies
            waves = torch.cat([phases.sin(), phases.cos()])
            both = torch.cat([x, waves.expand(len(x), 16)], dim=-1)
            hidden = F.silu(self.norm(self.first(both)))
            return self.last(F.silu(self.middle(hidden)))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for i in range(_STEPS):
                now, after = 1.0 - i / _STEPS, 1.0 - (i + 1) / _STEPS
                noise = self.noise(x, now)
                scale = max(math.cos(quarter * now), 0.1)
                clean = (x - math.sin(quarter * now) * noise) / scale
                x = math.cos(quarter * after) * clean + math.sin(quarter * after) * noise
            return x

    points = np.random.default_rng(0).normal(size=(64, 2)).astype("float32")
    return Pair(Denoiser(nnx.Rngs(0)), (points,), Twin())


def _solver() -> Pair:
    """The method of Runge and Kutta for a field that is a perceptron."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp
    import torch
    from torch import nn

    size, width, h = 4, 32, 1.0 / _STEPS

    def after_step(field: Any, y: Any) -> Any:
        k1 = field(y)
        k2 = field(y + 0.5 * h * k1)
        k3 = field(y + 0.5 * h * k2)
        k4 = field(y + h * k3)
        return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    class Solution(eqx.Module):
        """The state at time 1 of each start."""

        field: eqx.nn.MLP

        def __call__(self, y: Any) -> Any:
            step = lambda y, _: (after_step(jax.vmap(self.field), y), None)  # noqa: E731
            return jax.lax.scan(step, y, None, length=_STEPS)[0]

    class Twin(nn.Module):
        """The same with a Python loop."""

        def __init__(self) -> None:
            super().__init__()
            self.field = nn.Sequential(
                nn.Linear(size, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(),
                nn.Linear(width, size),
            )  # fmt: skip

        def forward(self, y: torch.Tensor) -> torch.Tensor:
            for _ in range(_STEPS):
                y = after_step(self.field, y)
            return y

    start = np.random.default_rng(0).normal(size=(32, size)).astype("float32")
    field = eqx.nn.MLP(size, size, width, 2, activation=jnp.tanh, key=jax.random.key(0))
    return Pair(Solution(field), (start,), Twin())

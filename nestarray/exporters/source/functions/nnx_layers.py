"""Flax NNX: a layer that differs from Flax's."""

from __future__ import annotations

import jax
from flax import nnx


class BatchNorm(nnx.BatchNorm):
    """Batch normalization whose running variance is the unbiased one, as in PyTorch."""

    def __call__(self, x: jax.Array) -> jax.Array:
        kept = self.momentum * self.var[...]
        y = super().__call__(x)
        if not self.use_running_average:
            count = x.size / x.shape[self.axis]
            self.var[...] = kept + (self.var[...] - kept) * count / (count - 1)
        return y

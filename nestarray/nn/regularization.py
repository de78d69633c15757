"""Regularization layers."""

from __future__ import annotations

from nestarray import dtypes, ops, random
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.typing import Array


class Dropout(Module):
    """In training mode, zeros elements with probability `rate` and scales the others by 1 / (1 − rate).

    Args:
        rate: the probability of a zero, in [0, 1].

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Dropout(0.5).init(na.random.key(0))
        >>> x = np.ones(8, np.float32)
        >>> out, _ = net(x, train=True, key=na.random.key(1))
        >>> sorted(set(out.tolist())), net(x) is x
        ([0.0, 2.0], True)

    References:
        https://jmlr.org/papers/v15/srivastava14a.html
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout.html
    """

    @signature_errors()
    def __init__(self, rate: float = 0.5) -> None:
        if not 0.0 <= rate <= 1.0:
            raise ArgumentError(f"Dropout: rate: got {rate}, expected a number from 0 to 1")
        self.rate = rate

    def forward(self, x: Array) -> Array:
        """x: any shape, floating; returns the same shape."""
        if not self.training or self.rate == 0.0:
            return x
        if self.rate == 1.0:
            return ops.zeros_like(x)
        key = self.key_for("dropping")
        kept = random.bernoulli(key, 1.0 - self.rate, ops.shape(x))
        scale = ops.astype(kept, dtypes.dtype_of(x))
        return ops.multiply(x, ops.multiply(scale, 1.0 / (1.0 - self.rate)))

"""Layers that draw random numbers in training mode and are the identity otherwise.

The draws depend on the key of the call and on the path of the layer only, so every backend drops
the same elements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from nestarray import dtypes, ops, random
from nestarray.errors import ArgumentError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.typing import Array


class _Dropout(Module):
    """A mask of independent draws, and the result of dropping the elements where it is 0."""

    @signature_errors()
    def __init__(self, p: float = 0.5) -> None:
        self.p = _probability(type(self).__name__, "p", p)

    def forward(self, x: Array) -> Array:
        """x: floating; returns the same shape."""
        if not self.training or self.p == 0.0:
            return x
        shape = self._mask_shape(x)
        if self.p == 1.0:
            return ops.zeros_like(x)
        mask = random.bernoulli(self.key_for("dropping"), 1.0 - self.p, shape)
        return self._dropped(x, ops.astype(mask, dtypes.dtype_of(x)))

    def _mask_shape(self, x: Array) -> tuple[Any, ...]:
        return ops.shape(x)

    def _dropped(self, x: Array, mask: Array) -> Array:
        return ops.multiply(x, ops.multiply(mask, 1.0 / (1.0 - self.p)))


class Dropout(_Dropout):
    """In training mode, zeros elements with probability `p` and scales the others by 1 / (1 − p).

    Args:
        p: the probability of a zero, in [0, 1].

    Raises:
        ArgumentError: `p` is not a probability.

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


class _ChannelDropout(_Dropout):
    """One draw for each channel of each example."""

    draws: ClassVar[Mapping[int, int]]  # rank of x → number of axes that have separate draws
    layouts: ClassVar[str]

    def _mask_shape(self, x: Array) -> tuple[Any, ...]:
        rank = len(x.shape)
        if rank not in self.draws:
            raise ShapeError(
                f"{type(self).__name__}: x: got the shape {tuple(x.shape)}, expected {self.layouts}"
            )
        return _channels(x, self.draws[rank])


class Dropout1d(_ChannelDropout):
    """In training mode, zeros whole channels with probability `p` and scales the others by 1 / (1 − p).

    Args:
        p: the probability of a zero, in [0, 1].

    Raises:
        ArgumentError: `p` is not a probability.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Dropout1d(0.5).init(na.random.key(0))
        >>> net(np.ones((1, 4, 2), np.float32), train=True, key=na.random.key(1))[0][0].tolist()
        [[0.0, 0.0], [2.0, 2.0], [2.0, 2.0], [0.0, 0.0]]

    References:
        https://arxiv.org/abs/1411.4280
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout1d.html
    """

    draws = MappingProxyType({2: 1, 3: 2})
    layouts = "(batch, channels, length) or (channels, length)"


class Dropout2d(_ChannelDropout):
    """As `Dropout1d`, for images.

    As in PyTorch, an input of three axes is `(batch, channels, length)`.

    Args:
        p: the probability of a zero, in [0, 1].

    Raises:
        ArgumentError: `p` is not a probability.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Dropout2d(0.5).init(na.random.key(0))
        >>> out, _ = net(np.ones((8, 4, 2, 2), np.float32), train=True, key=na.random.key(1))
        >>> sorted(set(out.sum((2, 3)).ravel().tolist()))
        [0.0, 8.0]

    References:
        https://arxiv.org/abs/1411.4280
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout2d.html
    """

    draws = MappingProxyType({3: 2, 4: 2})
    layouts = "(batch, channels, height, width) or (batch, channels, length)"


class Dropout3d(_ChannelDropout):
    """As `Dropout1d`, for volumes.

    Args:
        p: the probability of a zero, in [0, 1].

    Raises:
        ArgumentError: `p` is not a probability.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Dropout3d(0.5).init(na.random.key(0))
        >>> out, _ = net(np.ones((8, 4, 2, 1, 2), np.float32), train=True, key=na.random.key(1))
        >>> sorted(set(out.sum((2, 3, 4)).ravel().tolist()))
        [0.0, 8.0]

    References:
        https://arxiv.org/abs/1411.4280
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Dropout3d.html
    """

    draws = MappingProxyType({4: 1, 5: 2})
    layouts = "(batch, channels, depth, height, width) or (channels, depth, height, width)"


class AlphaDropout(_Dropout):
    """In training mode, a (x m + α′ (m − 1)) + b with m = 0 with probability `p`, else 1.

    α′ = 1.7581 is the limit of `na.selu` at −∞ without its sign; a and b are such that mean 0 and
    variance 1 do not change.

    Args:
        p: the probability of a dropped element, in [0, 1].

    Raises:
        ArgumentError: `p` is not a probability.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.AlphaDropout(0.2).init(na.random.key(0))
        >>> x = na.random.normal(na.random.key(2), (10000,))
        >>> out, _ = net(x, train=True, key=na.random.key(1))
        >>> bool(abs(out.mean()) < 0.05), bool(abs(out.std() - 1) < 0.05)
        (True, True)

    References:
        https://arxiv.org/abs/1706.02515
        https://docs.pytorch.org/docs/stable/generated/torch.nn.AlphaDropout.html
    """

    def _dropped(self, x: Array, mask: Array) -> Array:
        scale = 1.0 / math.sqrt((1.0 - self.p) * (1.0 + self.p * _SELU_LIMIT**2))
        shift = scale * self.p * _SELU_LIMIT
        dropped = ops.multiply(ops.subtract(mask, 1.0), _SELU_LIMIT)
        return ops.add(ops.multiply(ops.add(ops.multiply(x, mask), dropped), scale), shift)


#: −lim selu(x) for x → −∞, the product of its two constants.
_SELU_LIMIT = 1.0507009873554805 * 1.6732632423543772


class FeatureAlphaDropout(AlphaDropout):
    """As `AlphaDropout`, with one draw for each channel of each example.

    Args:
        p: the probability of a dropped channel, in [0, 1].

    Raises:
        ArgumentError: `p` is not a probability.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.FeatureAlphaDropout(0.5).init(na.random.key(0))
        >>> out, _ = net(np.ones((2, 8, 3), np.float32), train=True, key=na.random.key(1))
        >>> np.unique(out.std(2)), len(np.unique(out))
        (array([0.], dtype=float32), 2)

    References:
        https://arxiv.org/abs/1706.02515
        https://docs.pytorch.org/docs/stable/generated/torch.nn.FeatureAlphaDropout.html
    """

    def _mask_shape(self, x: Array) -> tuple[Any, ...]:
        if len(x.shape) < 2:
            raise ShapeError(
                f"FeatureAlphaDropout: x: got the shape {tuple(x.shape)}, expected (batch, channels, "
                "*spatial)"
            )
        return _channels(x, 2)


class DropPath(_Dropout):
    """In training mode, zeros whole examples with probability `p` and scales the others by 1 / (1 − p).

    Around the branch of a residual connection this is stochastic depth.

    Args:
        p: the probability of a zero, in [0, 1].

    Raises:
        ArgumentError: `p` is not a probability.

    Example:
        >>> import numpy as np, nestarray as na
        >>> block = na.nn.Residual(na.nn.Sequential(na.nn.Linear(3, 3), na.nn.DropPath(0.5)))
        >>> x = np.ones((6, 3), np.float32)
        >>> out, _ = block.init(na.random.key(0))(x, train=True, key=na.random.key(1))
        >>> (out == x).all(1).tolist()
        [False, True, False, True, False, True]

    References:
        https://arxiv.org/abs/1603.09382
    """

    def _mask_shape(self, x: Array) -> tuple[Any, ...]:
        return _channels(x, 1)


class GaussianNoise(Module):
    """In training mode, x + stddev · ε with standard normal ε.

    Args:
        stddev: the standard deviation of the noise, not negative.

    Raises:
        ArgumentError: `stddev` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GaussianNoise(0.1).init(na.random.key(0))
        >>> out, _ = net(np.ones(1000, np.float32), train=True, key=na.random.key(1))
        >>> bool(abs(out.std() - 0.1) < 0.01)
        True

    References:
        https://keras.io/api/layers/regularization_layers/gaussian_noise/
    """

    @signature_errors()
    def __init__(self, stddev: float) -> None:
        if not stddev >= 0.0:
            raise ArgumentError(f"GaussianNoise: stddev: got {stddev}, expected at least 0")
        self.stddev = stddev

    def forward(self, x: Array) -> Array:
        """x: any shape, floating; returns the same shape."""
        if not self.training or self.stddev == 0.0:
            return x
        noise = random.normal(self.key_for("noise"), ops.shape(x), dtypes.dtype_of(x))
        return ops.add(x, ops.multiply(noise, self.stddev))


class GaussianDropout(Module):
    """In training mode, x · (1 + σ ε) with standard normal ε and σ = √(rate / (1 − rate)).

    The factor has the mean and the variance of `Dropout` with the probability `rate`.

    Args:
        rate: in [0, 1).

    Raises:
        ArgumentError: `rate` is outside of [0, 1).

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GaussianDropout(0.5).init(na.random.key(0))
        >>> out, _ = net(np.ones(10000, np.float32), train=True, key=na.random.key(1))
        >>> bool(abs(out.mean() - 1) < 0.05), bool(abs(out.std() - 1) < 0.05)
        (True, True)

    References:
        https://jmlr.org/papers/v15/srivastava14a.html
        https://keras.io/api/layers/regularization_layers/gaussian_dropout/
    """

    @signature_errors()
    def __init__(self, rate: float) -> None:
        self.rate = _probability("GaussianDropout", "rate", rate)
        if rate == 1.0:
            raise ArgumentError("GaussianDropout: rate: got 1.0, expected a number below 1")

    def forward(self, x: Array) -> Array:
        """x: any shape, floating; returns the same shape."""
        if not self.training or self.rate == 0.0:
            return x
        noise = random.normal(self.key_for("noise"), ops.shape(x), dtypes.dtype_of(x))
        return ops.multiply(x, 1.0 + noise * math.sqrt(self.rate / (1.0 - self.rate)))


def _probability(layer: str, argument: str, value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise ArgumentError(f"{layer}: {argument}: got {value}, expected a number from 0 to 1")
    return value


def _channels(x: Array, num_axes: int) -> tuple[Any, ...]:
    """The shape of x with 1 for all but the first axes."""
    return (*ops.shape(x)[:num_axes], *(1,) * (len(x.shape) - num_axes))

"""Normalizations, with learned scales and shifts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from nestarray import ops
from nestarray.backends import is_array
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array


def _affine(shape: tuple[int, ...], bias: bool = True) -> dict[str, Variable]:
    found = {"weight": Variable(shape, initializers.ones)}
    if bias:
        found["bias"] = Variable(shape, initializers.zeros)
    return found


def _shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(normalized_shape, int):
        return (normalized_shape,)
    return tuple(normalized_shape)


class BatchNorm(Module):
    """(x − μ) / √(σ² + eps) · weight + bias, for each channel, with any number of spatial axes.

    In training mode, μ and σ² are the statistics of the batch, and the running statistics move
    towards them: ``running ← (1 − momentum) · running + momentum · batch`` (with the
    unbiased variance); otherwise μ and σ² are the running statistics.

    Args:
        num_features: number of channels, the size of axis 1.
        eps: added to the variance, under the root.
        momentum: the weight of the new batch; None averages over all batches.
        affine: whether there are weight and bias.

    Variables: weight `(channels,)`, bias `(channels,)`. State: running_mean,
    running_var `(channels,)`, num_batches_tracked `()`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.BatchNorm(2).init(na.random.key(0))
        >>> x = np.asarray([[1.0, 2.0], [3.0, 6.0]], np.float32)
        >>> out, s = net(x, train=True)
        >>> s.running_mean, net.s.running_mean
        (array([0.2, 0.4], dtype=float32), array([0., 0.], dtype=float32))

    References:
        https://arxiv.org/abs/1502.03167
        https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html
    """

    @signature_errors()
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        *,
        affine: bool = True,
    ) -> None:
        self.num_features, self.affine = num_features, affine
        self.eps, self.momentum = eps, momentum

    def variables(self) -> Mapping[str, Variable]:
        """weight and bias, if affine."""
        return _affine((self.num_features,)) if self.affine else {}

    def states(self) -> Mapping[str, Variable]:
        """The running statistics and the number of batches in them."""
        shape = (self.num_features,)
        return {
            "running_mean": Variable(shape, initializers.zeros),
            "running_var": Variable(shape, initializers.ones),
            "num_batches_tracked": Variable((), initializers.zeros, "int64"),
        }

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns the same shape."""
        affine = (self.weight, self.bias) if self.affine else (None, None)
        if not self.training:
            return ops.batch_norm(x, self.running_mean, self.running_var, *affine, eps=self.eps)
        number = math.prod([size for axis, size in enumerate(ops.shape(x)) if axis != 1])
        if is_array(number):  # a batch of unknown size in TensorFlow
            number = ops.astype(number, x.dtype)
        elif number < 2:
            raise ArgumentError(
                f"BatchNorm: x: got the shape {tuple(x.shape)}, expected more than one value for "
                "each channel when training"
            )
        out, mean, variance = ops.batch_norm_training(x, *affine, eps=self.eps)
        self._track(ops.stop_gradient(mean), ops.stop_gradient(variance) * (number / (number - 1)))
        return out

    def _track(self, mean: Array, variance: Array) -> None:
        count = ops.add(self.num_batches_tracked, 1)
        rate = self.momentum
        if rate is None:
            rate = ops.divide(1.0, ops.astype(count, "float32"))
        updates = {
            name: ops.add(old, ops.multiply(ops.subtract(ops.astype(new, old.dtype), old), rate))
            for name, old, new in (
                ("running_mean", self.running_mean, mean),
                ("running_var", self.running_var, variance),
            )
        }
        self.update_state(num_batches_tracked=count, **updates)


class LayerNorm(Module):
    """(x − μ) / √(σ² + eps) · weight + bias over the last axes.

    Args:
        normalized_shape: sizes of the last axes, or the size of the last one.
        eps: added to the variance, under the root.
        affine: whether there is a weight.
        bias: whether there is a bias, if affine.

    Variables: weight, bias, of the shape `normalized_shape`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LayerNorm(3).init(na.random.key(0))
        >>> net(np.asarray([[1.0, 2.0, 3.0]], np.float32)).round(3)
        array([[-1.225,  0.   ,  1.225]], dtype=float32)

    References:
        https://arxiv.org/abs/1607.06450
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html
    """

    @signature_errors()
    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        *,
        affine: bool = True,
        bias: bool = True,
    ) -> None:
        self.normalized_shape = _shape(normalized_shape)
        self.eps, self.affine, self.has_bias = eps, affine, affine and bias

    def variables(self) -> Mapping[str, Variable]:
        """weight and bias, if affine."""
        return _affine(self.normalized_shape, self.has_bias) if self.affine else {}

    def forward(self, x: Array) -> Array:
        """x: `(*batch, *normalized_shape)`; returns the same shape."""
        weight = self.weight if self.affine else None
        axes = tuple(range(-len(self.normalized_shape), 0))
        return ops.layer_norm(
            x, weight, self.bias if self.has_bias else None, axis=axes, eps=self.eps
        )


class RMSNorm(Module):
    """x / √(mean(x²) + eps) · weight over the last axes.

    Args:
        normalized_shape: sizes of the last axes, or the size of the last one.
        eps: added to the mean, under the root.

    Variables: weight, of the shape `normalized_shape`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.RMSNorm(2).init(na.random.key(0))
        >>> net(np.asarray([[3.0, 4.0]], np.float32)).round(3)
        array([[0.849, 1.131]], dtype=float32)

    References:
        https://arxiv.org/abs/1910.07467
        https://docs.pytorch.org/docs/stable/generated/torch.nn.RMSNorm.html
    """

    @signature_errors()
    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-6) -> None:
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps

    def variables(self) -> Mapping[str, Variable]:
        """weight."""
        return _affine(self.normalized_shape, bias=False)

    def forward(self, x: Array) -> Array:
        """x: `(*batch, *normalized_shape)`; returns the same shape."""
        axes = tuple(range(-len(self.normalized_shape), 0))
        return ops.rms_norm(x, self.weight, axis=axes, eps=self.eps)


class GroupNorm(Module):
    """(x − μ) / √(σ² + eps) · weight + bias, with moments over groups of channels and all spatial axes.

    Args:
        num_groups: number of groups.
        num_channels: number of channels, a multiple of it; the size of axis 1.
        eps: added to the variance, under the root.
        affine: whether there are weight and bias.

    Variables: weight `(channels,)`, bias `(channels,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GroupNorm(2, 4).init(na.random.key(0))
        >>> net(np.ones((1, 4, 3), np.float32)).shape
        (1, 4, 3)

    References:
        https://arxiv.org/abs/1803.08494
        https://docs.pytorch.org/docs/stable/generated/torch.nn.GroupNorm.html
    """

    @signature_errors()
    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, *, affine: bool = True
    ) -> None:
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine

    def variables(self) -> Mapping[str, Variable]:
        """weight and bias, if affine."""
        return _affine((self.num_channels,)) if self.affine else {}

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns the same shape."""
        affine = (self.weight, self.bias) if self.affine else (None, None)
        return ops.group_norm(x, *affine, num_groups=self.num_groups, eps=self.eps)

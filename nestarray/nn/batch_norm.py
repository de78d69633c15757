"""Normalizations by the statistics of a batch or of an example, with running statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from nestarray import ops
from nestarray.backends import is_array
from nestarray.errors import ArgumentError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.module import Module, Variable
from nestarray.nn.normalization import affine_variables
from nestarray.nn.spatial import Spatial
from nestarray.transforms.collectives import axis_size, pmean
from nestarray.typing import Array


class _RunningStatistics(Module):
    """Mean and variance of each channel, averaged over batches."""

    ranks: ClassVar[tuple[int, ...]] = ()  # of x; empty for any
    layouts: ClassVar[str] = ""

    def _configure(
        self,
        num_features: int | None,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
    ) -> None:
        self.num_features: Any = num_features
        self.eps, self.momentum = eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats

    def variables(self) -> Mapping[str, Variable]:
        """weight and bias, if affine."""
        return affine_variables((self.num_features,)) if self.affine else {}

    def states(self) -> Mapping[str, Variable]:
        """The running statistics and the number of batches in them, if tracked."""
        shape = (self.num_features,)
        if not self.track_running_stats:
            return {}
        return {
            "running_mean": Variable(shape, initializers.zeros),
            "running_var": Variable(shape, initializers.ones),
            "num_batches_tracked": Variable((), initializers.zeros, "int64"),
        }

    def _affine(self) -> tuple[Array | None, Array | None]:
        return (self.weight, self.bias) if self.affine else (None, None)

    def _check_rank(self, x: Array) -> None:
        if self.ranks and len(x.shape) not in self.ranks:
            raise ShapeError(
                f"{type(self).__name__}: x: got the shape {tuple(x.shape)}, expected {self.layouts}"
            )

    def _number(self, x: Array, axes: list[int], size: int = 1) -> Any:
        """The number of elements of a channel, times `size`."""
        number = math.prod([ops.shape(x)[axis] for axis in axes]) * size
        if is_array(number):  # a batch of unknown size in TensorFlow
            return ops.astype(number, x.dtype)
        if number < 2:
            raise ArgumentError(
                f"{type(self).__name__}: x: got the shape {tuple(x.shape)}, expected more than one "
                "value for each channel when training"
            )
        return number

    def _averaged(self, rate: Any, mean: Array, variance: Array) -> dict[str, Array]:
        """The running statistics, moved towards the ones of a batch."""
        return {
            name: ops.add(old, ops.multiply(ops.subtract(ops.astype(new, old.dtype), old), rate))
            for name, old, new in (
                ("running_mean", self.running_mean, ops.stop_gradient(mean)),
                ("running_var", self.running_var, ops.stop_gradient(variance)),
            )
        }


class BatchNorm(_RunningStatistics):
    """(x − μ) / √(σ² + eps) · weight + bias, for each channel, with any number of spatial axes.

    In training mode, μ and σ² are the statistics of the batch, and the running statistics move
    towards them: ``running ← (1 − momentum) · running + momentum · batch`` (with the
    unbiased variance); otherwise μ and σ² are the running statistics.

    Args:
        num_features: number of channels, the size of axis 1; None: `init` reads it from an input.
        eps: added to the variance, under the root.
        momentum: the weight of the new batch; None averages over all batches.
        affine: whether there are weight and bias.
        track_running_stats: whether there is a state; without it, μ and σ² are always the
            statistics of the batch.
        axis_name: name of a mapped axis (`na.vmap`, ``jax.pmap``); the batch is then all of its
            examples together.

    Variables: weight `(channels,)`, bias `(channels,)`. State: running_mean,
    running_var `(channels,)`, num_batches_tracked `()`.

    Raises:
        ArgumentError: a channel has one value only, in training mode.

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

    inferred = ("num_features", 1)

    @signature_errors()
    def __init__(
        self,
        num_features: int | None,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        *,
        axis_name: Any = None,
    ) -> None:
        self._configure(num_features, eps, momentum, affine, track_running_stats)
        self.axis_name = axis_name

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns the same shape."""
        self._check_rank(x)
        if self.track_running_stats and not self.training:
            return ops.batch_norm(
                x, self.running_mean, self.running_var, *self._affine(), eps=self.eps
            )
        axes = [axis for axis in range(len(x.shape)) if axis != 1]
        if self.axis_name is None:
            number = self._number(x, axes)
            out, mean, variance = ops.batch_norm_training(x, *self._affine(), eps=self.eps)
        else:
            number = self._number(x, axes, axis_size(self.axis_name))
            mean = pmean(ops.mean(x, axis=axes, keepdims=True), self.axis_name)
            variance = pmean(ops.mean(ops.square(ops.subtract(x, mean)), axis=axes), self.axis_name)
            mean = ops.reshape(mean, (-1,))
            out = ops.batch_norm(x, mean, variance, *self._affine(), eps=self.eps)
        if self.track_running_stats:
            self._track(mean, variance * (number / (number - 1)))
        return out

    def _track(self, mean: Array, variance: Array) -> None:
        count = ops.add(self.num_batches_tracked, 1)
        rate = self.momentum
        if rate is None:
            rate = ops.divide(1.0, ops.astype(count, "float32"))
        self.update_state(num_batches_tracked=count, **self._averaged(rate, mean, variance))


class BatchNorm1d(BatchNorm):
    """`BatchNorm` of vectors or sequences.

    Args:
        num_features, eps, momentum, affine, track_running_stats, axis_name: as for `BatchNorm`.

    Variables and state: as for `BatchNorm`.

    Raises:
        ShapeError: x is neither `(batch, channels)` nor `(batch, channels, length)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.BatchNorm1d(2).init(na.random.key(0))
        >>> net(np.ones((3, 2, 4), np.float32)).shape
        (3, 2, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html
    """

    ranks = (2, 3)
    layouts = "(batch, channels) or (batch, channels, length)"


class BatchNorm2d(BatchNorm):
    """`BatchNorm` of images.

    Args:
        num_features, eps, momentum, affine, track_running_stats, axis_name: as for `BatchNorm`.

    Variables and state: as for `BatchNorm`.

    Raises:
        ShapeError: x is not `(batch, channels, height, width)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.BatchNorm2d(2).init(na.random.key(0))
        >>> net(np.ones((3, 2, 4, 4), np.float32)).shape
        (3, 2, 4, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html
    """

    ranks = (4,)
    layouts = "(batch, channels, height, width)"


class BatchNorm3d(BatchNorm):
    """`BatchNorm` of volumes.

    Args:
        num_features, eps, momentum, affine, track_running_stats, axis_name: as for `BatchNorm`.

    Variables and state: as for `BatchNorm`.

    Raises:
        ShapeError: x is not `(batch, channels, depth, height, width)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.BatchNorm3d(2).init(na.random.key(0))
        >>> net(np.ones((3, 2, 1, 4, 4), np.float32)).shape
        (3, 2, 1, 4, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.BatchNorm3d.html
    """

    ranks = (5,)
    layouts = "(batch, channels, depth, height, width)"


class _InstanceNorm(Spatial, _RunningStatistics):
    """(x − μ) / √(σ² + eps) · weight + bias, with the moments of each channel of each example."""

    @signature_errors()
    def __init__(
        self,
        num_features: int | None,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
    ) -> None:
        self._configure(num_features, eps, momentum, affine, track_running_stats)

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)` or `(channels, *spatial)`; returns the same shape."""
        return self._batched(self._normalized, x)

    def _normalized(self, x: Array) -> Array:
        if self.track_running_stats and not self.training:
            return ops.batch_norm(
                x, self.running_mean, self.running_var, *self._affine(), eps=self.eps
            )
        axes = list(range(2, len(x.shape)))
        number = self._number(x, axes)
        if self.track_running_stats:
            means = ops.mean(x, axis=axes, keepdims=True)
            variances = ops.mean(ops.square(ops.subtract(x, means)), axis=axes)
            mean = ops.mean(ops.reshape(means, ops.shape(variances)), axis=0)
            variance = ops.mean(variances, axis=0) * (number / (number - 1))
            self.update_state(**self._averaged(self.momentum or 0.0, mean, variance))
        return ops.instance_norm(x, *self._affine(), eps=self.eps)


class InstanceNorm1d(_InstanceNorm):
    """(x − μ) / √(σ² + eps) · weight + bias, with the moments of each channel of each sequence.

    Args:
        num_features: number of channels; None: `init` reads it from an input.
        eps: added to the variance, under the root.
        momentum: the weight of the new statistics in the running ones; None is 0, as in PyTorch.
        affine: whether there are weight and bias.
        track_running_stats: whether there is a state, by which x is normalized outside of training
            mode; it moves towards the mean of the statistics of all examples.

    Variables: weight `(channels,)`, bias `(channels,)`. State: running_mean,
    running_var `(channels,)`, num_batches_tracked `()`, which stays 0 as in PyTorch.

    Raises:
        ShapeError: x is neither `(batch, channels, length)` nor `(channels, length)`.
        ArgumentError: a channel has one value only.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.InstanceNorm1d(2, eps=0.0).init(na.random.key(0))
        >>> net(np.asarray([[1.0, 3.0], [10.0, 30.0]], np.float32))
        array([[-1.,  1.],
               [-1.,  1.]], dtype=float32)

    References:
        https://arxiv.org/abs/1607.08022
        https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm1d.html
    """

    num_axes = 1
    inferred = ("num_features", -2)


class InstanceNorm2d(_InstanceNorm):
    """`InstanceNorm1d` of images.

    Args:
        num_features, eps, momentum, affine, track_running_stats: as for `InstanceNorm1d`.

    Variables and state: as for `InstanceNorm1d`.

    Raises:
        ShapeError: x is neither `(batch, channels, height, width)` nor `(channels, height, width)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.InstanceNorm2d(2).init(na.random.key(0))
        >>> net(np.ones((3, 2, 4, 4), np.float32)).shape
        (3, 2, 4, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm2d.html
    """

    num_axes = 2
    inferred = ("num_features", -3)


class InstanceNorm3d(_InstanceNorm):
    """`InstanceNorm1d` of volumes.

    Args:
        num_features, eps, momentum, affine, track_running_stats: as for `InstanceNorm1d`.

    Variables and state: as for `InstanceNorm1d`.

    Raises:
        ShapeError: x is neither `(batch, channels, depth, height, width)` nor without the batch.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.InstanceNorm3d(2).init(na.random.key(0))
        >>> net(np.ones((3, 2, 1, 4, 4), np.float32)).shape
        (3, 2, 1, 4, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.InstanceNorm3d.html
    """

    num_axes = 3
    inferred = ("num_features", -4)

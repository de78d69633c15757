"""Normalizations of each example, with learned scales and shifts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array


def affine_variables(shape: tuple[int, ...], bias: bool = True) -> dict[str, Variable]:
    """The weight, at first ones, and the bias, at first zeros."""
    declared = {"weight": Variable(shape, initializers.ones)}
    if bias:
        declared["bias"] = Variable(shape, initializers.zeros)
    return declared


def _shape(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(normalized_shape, int):
        return (normalized_shape,)
    return tuple(normalized_shape)


class LayerNorm(Module):
    """(x − μ) / √(σ² + eps) · weight + bias over the last axes.

    Args:
        normalized_shape: sizes of the last axes, or the size of the last one.
        eps: added to the variance, under the root.
        elementwise_affine: whether there is a weight.
        bias: whether there is a bias, if there is a weight.

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
        elementwise_affine: bool = True,
        bias: bool = True,
    ) -> None:
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        self.elementwise_affine, self.has_bias = elementwise_affine, elementwise_affine and bias

    def variables(self) -> Mapping[str, Variable]:
        """weight and bias, if affine."""
        if not self.elementwise_affine:
            return {}
        return affine_variables(self.normalized_shape, self.has_bias)

    def forward(self, x: Array) -> Array:
        """x: `(*batch, *normalized_shape)`; returns the same shape."""
        weight = self.weight if self.elementwise_affine else None
        axes = tuple(range(-len(self.normalized_shape), 0))
        return ops.layer_norm(
            x, weight, self.bias if self.has_bias else None, axis=axes, eps=self.eps
        )


class RMSNorm(Module):
    """x / √(mean(x²) + eps) · weight over the last axes.

    Args:
        normalized_shape: sizes of the last axes, or the size of the last one.
        eps: added to the mean, under the root; None is the distance of 1 to the next number of
            the dtype of x.
        elementwise_affine: whether there is a weight.

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
    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
    ) -> None:
        self.normalized_shape, self.eps = _shape(normalized_shape), eps
        self.elementwise_affine = elementwise_affine

    def variables(self) -> Mapping[str, Variable]:
        """weight, if affine."""
        if not self.elementwise_affine:
            return {}
        return affine_variables(self.normalized_shape, bias=False)

    def forward(self, x: Array) -> Array:
        """x: `(*batch, *normalized_shape)`; returns the same shape."""
        axes = tuple(range(-len(self.normalized_shape), 0))
        eps = dtypes.finfo(dtypes.dtype_of(x)).eps if self.eps is None else self.eps
        return ops.rms_norm(x, self.weight if self.elementwise_affine else None, axis=axes, eps=eps)


class GroupNorm(Module):
    """(x − μ) / √(σ² + eps) · weight + bias, with moments over groups of channels and all spatial axes.

    Args:
        num_groups: number of groups.
        num_channels: number of channels, a multiple of it; the size of axis 1.
        eps: added to the variance, under the root.
        affine: whether there are weight and bias.

    Variables: weight `(channels,)`, bias `(channels,)`.

    Raises:
        ArgumentError: `num_groups` does not divide `num_channels`.

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
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True
    ) -> None:
        if num_groups < 1 or num_channels % num_groups:
            raise ArgumentError(
                f"GroupNorm: num_groups: got {num_groups}, expected a divisor of "
                f"num_channels={num_channels}"
            )
        self.num_groups, self.num_channels = num_groups, num_channels
        self.eps, self.affine = eps, affine

    def variables(self) -> Mapping[str, Variable]:
        """weight and bias, if affine."""
        return affine_variables((self.num_channels,)) if self.affine else {}

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns the same shape."""
        affine = (self.weight, self.bias) if self.affine else (None, None)
        return ops.group_norm(x, *affine, num_groups=self.num_groups, eps=self.eps)


class LocalResponseNorm(Module):
    """x / (k + alpha · m)ᵝ, with the mean m of the squares over neighbouring channels.

    Args:
        size: the number of channels in the mean.
        alpha: the weight of the mean.
        beta: the exponent.
        k: added to the denominator.

    Raises:
        ArgumentError: `size` is less than 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.LocalResponseNorm(2, alpha=2.0, beta=1.0, k=0.0).init(na.random.key(0))
        >>> net(np.asarray([[3.0, 4.0]]))
        array([[0.33333333, 0.16      ]])

    References:
        Krizhevsky et al., ImageNet classification with deep convolutional neural networks.
        Advances in Neural Information Processing Systems, 2012.
        https://docs.pytorch.org/docs/stable/generated/torch.nn.LocalResponseNorm.html
    """

    @signature_errors()
    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        if size < 1:
            raise ArgumentError(f"LocalResponseNorm: size: got {size}, expected at least 1")
        self.size, self.alpha, self.beta, self.k = size, alpha, beta, k

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, *spatial)`; returns the same shape."""
        return ops.local_response_norm(
            x, size=self.size, alpha=self.alpha, beta=self.beta, k=self.k
        )

"""Normalization to mean 0 and variance 1, or to norm 1, over chosen axes."""

from __future__ import annotations

import math

from nestarray import ops
from nestarray.backends.base import refuse_complex
from nestarray.backends.precision import rounded_once
from nestarray.dispatch import Trait, floating_op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.ops.statistical import squares
from nestarray.typing import Array, Axes, check_range

__all__ = [
    "batch_norm",
    "batch_norm_training",
    "group_norm",
    "instance_norm",
    "layer_norm",
    "local_response_norm",
    "normalize",
    "rms_norm",
    "spectral_norm",
    "weight_norm",
]


@floating_op
@rounded_once
def batch_norm(
    x: Array,
    mean: Array,
    variance: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axis: int = 1,
    eps: float = 1e-5,
) -> Array:
    """Normalize each channel with a given mean and variance: (x − μ) / √(σ² + eps) · w + b.

    This is the form for inference; `batch_norm_training` computes the moments of a batch.

    Args:
        x: `(batch, channels, *spatial)`, floating.
        mean: `(channels,)`.
        variance: `(channels,)`, not negative.
        weight: the scale, `(channels,)`; None: 1.
        bias: the shift, `(channels,)`; None: 0.
        axis: the axis of the channels.
        eps: added to the variance, under the root.

    Returns:
        The shape and dtype of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[1.0, 10.0], [3.0, 30.0]])
        >>> na.batch_norm(x, np.asarray([2.0, 20.0]), np.asarray([1.0, 100.0]), eps=0.0)
        array([[-1., -1.],
               [ 1.,  1.]])

    References:
        https://arxiv.org/abs/1502.03167
    """
    refuse_complex(x)
    _check_vectors("batch_norm", x, axis, mean=mean, variance=variance, weight=weight, bias=bias)
    # Combined to one scale and one shift per channel: two passes over x instead of four.
    scale = 1.0 / ops.sqrt(variance + eps)
    scale = scale if weight is None else scale * weight
    shift = -mean * scale
    shift = shift if bias is None else shift + bias
    return x * _on_axis(x, scale, axis) + _on_axis(x, shift, axis)


@floating_op
@rounded_once
def batch_norm_training(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axis: int = 1,
    eps: float = 1e-5,
) -> tuple[Array, Array, Array]:
    """Normalize each channel with the moments of the batch, and return the moments.

    Args:
        x: `(batch, channels, *spatial)`, floating.
        weight: the scale, `(channels,)`; None: 1.
        bias: the shift, `(channels,)`; None: 0.
        axis: the axis of the channels.
        eps: added to the variance, under the root.

    Returns:
        The normalized x, the mean `(channels,)` and the biased variance `(channels,)`
        over all other axes. For an unbiased one multiply by n / (n − 1), n the number
        of elements of a channel.

    Example:
        >>> import numpy as np, nestarray as na
        >>> out, mean, variance = na.batch_norm_training(np.asarray([[1.0], [3.0]]), eps=0.0)
        >>> out.ravel(), mean, variance
        (array([-1.,  1.]), array([2.]), array([1.]))

    References:
        https://arxiv.org/abs/1502.03167
    """
    refuse_complex(x)
    at = one_axis(axis, len(x.shape), "batch_norm_training")
    _check_vectors("batch_norm_training", x, at, weight=weight, bias=bias)
    others = tuple(i for i in range(len(x.shape)) if i != at)
    mean = ops.mean(x, axis=others, keepdims=True)
    centered = ops.subtract(x, mean)
    variance = ops.mean(centered * centered, axis=others, keepdims=True)
    out = centered / ops.sqrt(variance + eps)
    out = _affine(
        out,
        None if weight is None else _on_axis(x, weight, axis),
        None if bias is None else _on_axis(x, bias, axis),
    )
    return out, ops.reshape(mean, (-1,)), ops.reshape(variance, (-1,))


@floating_op(traits=Trait.ROWWISE)
@rounded_once
def layer_norm(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    axis: Axes = -1,
    eps: float = 1e-5,
) -> Array:
    """Normalize over `axis`: (x − mean) / √(variance + eps) · w + b, the variance biased.

    Args:
        x: any shape, floating.
        weight: the scale, in the shape of x along `axis`; None: 1.
        bias: the shift, in the shape of x along `axis`; None: 0.
        axis: the axis or axes of the moments.
        eps: added to the variance, under the root.

    Returns:
        The shape and dtype of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.layer_norm(np.asarray([[1.0, 3.0], [10.0, 30.0]]), eps=0.0)
        array([[-1.,  1.],
               [-1.,  1.]])

    References:
        https://arxiv.org/abs/1607.06450
    """
    refuse_complex(x)
    axes = _axes("layer_norm", x, axis)
    centered = ops.subtract(x, ops.mean(x, axis=axes, keepdims=True))
    variance = ops.mean(centered * centered, axis=axes, keepdims=True)
    out = centered / ops.sqrt(variance + eps)
    return _affine(
        out, _on_axes("layer_norm", x, weight, axes), _on_axes("layer_norm", x, bias, axes)
    )


@floating_op(traits=Trait.ROWWISE)
@rounded_once
def rms_norm(
    x: Array,
    weight: Array | None = None,
    *,
    axis: Axes = -1,
    eps: float = 1e-6,
) -> Array:
    """Divide by the root mean square over `axis`: x / √(mean(x²) + eps) · w.

    Args:
        x: any shape, floating.
        weight: the scale, in the shape of x along `axis`; None: 1.
        axis: the axis or axes of the mean.
        eps: added to the mean square, under the root.

    Returns:
        The shape and dtype of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.rms_norm(np.asarray([1.0, 7.0]), eps=0.0)
        array([0.2, 1.4])

    References:
        https://arxiv.org/abs/1910.07467
    """
    axes = _axes("rms_norm", x, axis)
    out = x / ops.sqrt(ops.mean(x * x, axis=axes, keepdims=True) + eps)
    return _affine(out, _on_axes("rms_norm", x, weight, axes), None)


@floating_op
@rounded_once
def group_norm(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    num_groups: int,
    eps: float = 1e-5,
    axis: int = 1,
) -> Array:
    """Normalize over groups of neighbouring channels and all spatial axes, per example.

    Args:
        x: `(batch, channels, *spatial)`, floating.
        weight: the scale, `(channels,)`; None: 1.
        bias: the shift, `(channels,)`; None: 0.
        num_groups: the number of groups; divides the number of channels.
        eps: added to the variance, under the root.
        axis: the axis of the channels, any but the first.

    Returns:
        The shape and dtype of x.

    Raises:
        ShapeError: `num_groups` does not divide the number of channels.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.group_norm(np.asarray([[1.0, 3.0, 10.0, 30.0]]), num_groups=2, eps=0.0)
        array([[-1.,  1., -1.,  1.]])

    References:
        https://arxiv.org/abs/1803.08494
    """
    refuse_complex(x)
    shape = tuple(x.shape)
    channel = _channel_axis("group_norm", shape, axis) if len(shape) > 1 else 0
    if len(shape) < 2 or num_groups < 1 or shape[channel] % num_groups:
        raise ShapeError(
            f"group_norm: x has shape {shape}, num_groups is {num_groups}; expected "
            "(batch, channels, *spatial) with num_groups a divisor of the channels"
        )
    _check_vectors("group_norm", x, channel, weight=weight, bias=bias)
    scale = None if weight is None else _on_axis(x, weight, channel)
    shift = None if bias is None else _on_axis(x, bias, channel)
    if 0 in shape:  # −1 cannot be inferred for an empty array
        return _affine(x, scale, shift)
    shape = ops.shape(x)
    if channel == 1:
        grouped = ops.reshape(x, (-1, num_groups, math.prod(shape[1:]) // num_groups))
        axes: int | tuple[int, ...] = -1
    else:
        split = (num_groups, shape[channel] // num_groups)
        grouped = ops.reshape(x, (-1, *shape[1:channel], *split, *shape[channel + 1 :]))
        axes = tuple([i for i in range(1, len(shape) + 1) if i != channel])
    mean = ops.mean(grouped, axis=axes, keepdims=True)
    centered = ops.subtract(grouped, mean)
    variance = ops.mean(centered * centered, axis=axes, keepdims=True)
    out = ops.reshape(centered / ops.sqrt(variance + eps), (-1, *shape[1:]))
    return _affine(out, scale, shift)


@floating_op
@rounded_once
def instance_norm(
    x: Array,
    weight: Array | None = None,
    bias: Array | None = None,
    *,
    eps: float = 1e-5,
    axis: int = 1,
) -> Array:
    """Normalize each channel of each example over the spatial axes.

    Args:
        x: `(batch, channels, *spatial)` with at least one spatial axis, floating.
        weight: the scale, `(channels,)`; None: 1.
        bias: the shift, `(channels,)`; None: 0.
        eps: added to the variance, under the root.
        axis: the axis of the channels, any but the first.

    Returns:
        The shape and dtype of x.

    Raises:
        ShapeError: x has no spatial axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.instance_norm(np.asarray([[[1.0, 3.0], [10.0, 30.0]]]), eps=0.0)
        array([[[-1.,  1.],
                [-1.,  1.]]])

    References:
        https://arxiv.org/abs/1607.08022
    """
    refuse_complex(x)
    if len(x.shape) < 3:
        raise ShapeError(
            f"instance_norm: x has shape {tuple(x.shape)}, expected (batch, channels, *spatial) "
            "with at least one spatial axis"
        )
    channel = _channel_axis("instance_norm", tuple(x.shape), axis)
    _check_vectors("instance_norm", x, channel, weight=weight, bias=bias)
    spatial = tuple([i for i in range(1, len(x.shape)) if i != channel])
    centered = ops.subtract(x, ops.mean(x, axis=spatial, keepdims=True))
    variance = ops.mean(centered * centered, axis=spatial, keepdims=True)
    return _affine(
        centered / ops.sqrt(variance + eps),
        None if weight is None else _on_axis(x, weight, channel),
        None if bias is None else _on_axis(x, bias, channel),
    )


@floating_op
@rounded_once
def local_response_norm(
    x: Array, /, *, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0
) -> Array:
    """Divide by a power of the mean square over neighbouring channels: x / (k + alpha · m)ᵝ.

    Args:
        x: `(batch, channels, *spatial)`, floating.
        size: the number of channels in the mean m of the squares; the channels are zero-padded.
        alpha: the weight of the mean square.
        beta: the exponent.
        k: added to the denominator.

    Returns:
        The shape and dtype of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.local_response_norm(np.asarray([[3.0, 4.0]]), size=2, alpha=2.0, beta=1.0, k=0.0)
        array([[0.33333333, 0.16      ]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.local_response_norm.html
    """
    refuse_complex(x)
    check_range("local_response_norm", "size", size, 1)
    channels = x.shape[1]
    around = [(0, 0), (size // 2, (size - 1) // 2)] + [(0, 0)] * (len(x.shape) - 2)
    squares = ops.pad(x * x, around)
    total = squares[:, :channels]
    for offset in range(1, size):
        total = total + squares[:, offset : offset + channels]
    return x / ops.pow(total * (alpha / size) + k, beta)


@floating_op(traits=Trait.ROWWISE)
@rounded_once
def normalize(x: Array, /, *, ord: float = 2.0, axis: Axes = -1, eps: float = 1e-12) -> Array:
    """Divide by the norm over `axis`: x / max(‖x‖, eps).

    Args:
        x: any shape, floating.
        ord: the order of the norm, (Σ|xᵢ|ᵒʳᵈ)^(1/ord): 1, 2, any positive number or infinity.
        axis: the axis or axes of the norm.
        eps: the smallest denominator, so that zeros stay zeros.

    Returns:
        The shape and dtype of x.

    Raises:
        ArgumentError: `ord` is not positive, or `eps` negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.normalize(np.asarray([3.0, 4.0]))
        array([0.6, 0.8])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.normalize.html
    """
    if not ord > 0:
        raise ArgumentError(f"normalize: ord: got {ord!r}, expected a positive number")
    check_range("normalize", "eps", eps, 0)
    axes = many_axes(axis, len(x.shape), "normalize")
    if ord == 2:
        # The lower bound applies before the root, whose derivative at zero is infinite.
        square = ops.sum(squares(x), axis=axes, keepdims=True)
        return ops.divide(x, ops.sqrt(ops.maximum(square, eps * eps)))
    size = ops.abs(x)
    if math.isinf(ord):
        norm = ops.max(size, axis=axes, keepdims=True)
    elif ord == 1:
        norm = ops.sum(size, axis=axes, keepdims=True)
    else:
        power = ops.sum(ops.pow(size, ord), axis=axes, keepdims=True)
        norm = ops.pow(ops.maximum(power, eps**ord), 1.0 / ord)
    return ops.divide(x, ops.maximum(norm, eps))


@floating_op
@rounded_once
def weight_norm(weight: Array, g: Array, /, *, axis: int | None = 0) -> Array:
    """Weight normalization: g · weight / ‖weight‖, with the norm over all axes except `axis`.

    Args:
        weight: the direction, any shape, floating; no slice may be all zeros.
        g: the norms, `(size of axis,)`, or with 1 along the other axes; `()` if `axis` is None.
        axis: the axis with a separate norm per index; None: one norm for the whole weight.

    Returns:
        The shape and dtype of `weight`.

    Raises:
        ShapeError: `g` has the wrong shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.weight_norm(np.asarray([[3.0, 4.0], [0.0, 2.0]]), np.asarray([10.0, 1.0]))
        array([[6., 8.],
               [0., 1.]])

    References:
        https://arxiv.org/abs/1602.07868
        https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html
    """
    count = len(weight.shape)
    kept = () if axis is None else (one_axis(axis, count, "weight_norm"),)
    expected = tuple(n if i in kept else 1 for i, n in enumerate(weight.shape))
    if math.prod(g.shape) != math.prod(expected):
        raise ShapeError(
            f"weight_norm: g has shape {tuple(g.shape)}, expected {math.prod(expected)} lengths: one "
            f"for each element along axis {axis} of weight {tuple(weight.shape)}"
        )
    refuse_complex(weight)
    others = tuple(i for i in range(count) if i not in kept)
    norm = ops.sqrt(ops.sum(weight * weight, axis=others, keepdims=True))
    return ops.multiply(weight, ops.divide(ops.reshape(g, expected), norm))


@floating_op
@rounded_once
def spectral_norm(
    weight: Array, u: Array, /, *, axis: int = 0, num_steps: int = 1, eps: float = 1e-12
) -> tuple[Array, Array]:
    """Spectral normalization: a weight divided by its largest singular value, by power iteration.

    The weight is a matrix W with `axis` as rows. Each step computes v = Wᵀu / ‖Wᵀu‖ and
    u = Wv / ‖Wv‖, and finally σ = uᵀWv. Derivatives treat the vectors as constants.

    Args:
        weight: any shape of two axes or more, floating.
        u: `(rows,)`: the start of the power iteration: random numbers first, then the previous result.
        axis: the axis of the rows.
        num_steps: the number of steps; at least 1.
        eps: the smallest norm to divide by.

    Returns:
        weight / σ, and the new u.

    Raises:
        ShapeError: the length of `u` differs from `axis`.
        ArgumentError: `num_steps` is less than 1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> w, u = na.spectral_norm(np.diag([4.0, 1.0]), np.ones(2), num_steps=20)
        >>> w.round(4)
        array([[1.  , 0.  ],
               [0.  , 0.25]])

    References:
        https://arxiv.org/abs/1802.05957
        https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html
    """
    rows = weight.shape[axis]
    if tuple(u.shape) != (rows,):
        raise ShapeError(
            f"spectral_norm: u has shape {tuple(u.shape)}, expected {(rows,)}: axis {axis} of weight "
            f"{tuple(weight.shape)}"
        )
    if num_steps < 1:
        raise ArgumentError(f"spectral_norm: num_steps: got {num_steps!r}, expected at least 1")
    refuse_complex(weight)
    matrix = ops.reshape(ops.moveaxis(weight, axis, 0), (rows, -1))
    fixed = ops.stop_gradient(matrix)
    u, v = ops.stop_gradient(u), None
    for _ in range(num_steps):
        v = ops.normalize(ops.matmul(u, fixed), eps=eps)
        u = ops.normalize(ops.matmul(fixed, v), eps=eps)
    sigma = ops.sum(u * ops.matmul(matrix, v))
    return weight / sigma, u


def _axes(name: str, x: Array, axis: Axes) -> tuple[int, ...]:
    return tuple(sorted(many_axes(axis, len(x.shape), name)))


def _channel_axis(name: str, shape: tuple[int, ...], axis: int) -> int:
    """The axis of the channels, counted from the front."""
    rank = len(shape)
    if not -rank < axis < rank or axis == 0:
        raise ShapeError(
            f"{name}: axis: got {axis} for x of shape {shape}, expected the axis of the channels, "
            "any but the first"
        )
    return axis % rank


def _check_vectors(name: str, x: Array, axis: int, **vectors: Array | None) -> None:
    """Each is a vector with an element for each channel of x."""
    channels = x.shape[axis]
    for argument, vector in vectors.items():
        if vector is not None and (
            len(vector.shape) != 1
            or (None not in (channels, n := vector.shape[0]) and n != channels)
        ):
            raise ShapeError(
                f"{name}: {argument}: got shape {tuple(vector.shape)}, expected ({channels},), as axis "
                f"{axis} of x {tuple(x.shape)}"
            )


def _on_axis(x: Array, vector: Array, axis: int) -> Array:
    """A vector as an array that broadcasts along `axis` of x."""
    after = len(x.shape) - 1 - axis % len(x.shape)
    return ops.reshape(vector, (-1,) + (1,) * after) if after else vector


def _on_axes(name: str, x: Array, weight: Array | None, axes: tuple[int, ...]) -> Array | None:
    """`weight` in a shape that broadcasts with x."""
    if weight is None:
        return None
    expected = tuple(x.shape[a] for a in axes)
    if tuple(weight.shape) != expected:
        raise ShapeError(
            f"{name}: weight or bias has shape {tuple(weight.shape)}, expected {expected}: "
            f"the shape of x {tuple(x.shape)} along axis {axes}"
        )
    if axes == tuple(range(len(x.shape) - len(axes), len(x.shape))):
        return weight
    return ops.reshape(weight, tuple(n if i in axes else 1 for i, n in enumerate(x.shape)))


def _affine(x: Array, scale: Array | None, shift: Array | None) -> Array:
    x = x if scale is None else x * scale
    return x if shift is None else x + shift

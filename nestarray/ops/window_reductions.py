"""Further pooling: norms, maxima with indices, unpooling, fractional pooling, general reductions.

The rank of x determines the number of spatial axes; channels first, as in `nestarray.ops.pooling`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.backends.base import refuse_complex
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics import windows
from nestarray.numerics.windows import Ints, Padding
from nestarray.ops.convolution import spread
from nestarray.ops.pooling import first_maximum, lowest
from nestarray.typing import Array

__all__ = [
    "fractional_max_pool1d",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "lp_pool",
    "max_pool_with_indices",
    "max_unpool",
    "reduce_window",
]
TRAITS = Trait.HALF_SAFE


@op(traits=Trait(0))
def lp_pool(
    x: Array,
    /,
    *,
    ord: float = 2.0,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Array:
    """Norm pooling: the norm of the elements in sliding windows, (Σ |xᵢ|ᵒʳᵈ)^(1/ord).

    For a window that extends beyond the end (with `ceil_mode`), the sum is scaled to the number of
    elements of a complete window.

    Args:
        x: `(batch, channels, *spatial)` with one to three spatial axes, floating.
        ord: the order of the norm; a positive number, or infinity for the maximum.
        kernel_size: the size of a window; an integer, or one for each spatial axis.
        stride: the step between windows; None: `kernel_size`.
        ceil_mode: a last window that reaches beyond the end counts, if it starts inside.

    Returns:
        `(batch, channels, *out)`.

    Raises:
        ArgumentError: `ord` is not positive.
        ShapeError: the window is larger than x, or x has the wrong rank.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.lp_pool(np.asarray([[[3.0, 4.0, 0.0, 2.0]]]), kernel_size=2)
        array([[[5., 2.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.lp_pool2d.html
    """
    if not ord > 0:
        raise ArgumentError(f"lp_pool: ord: got {ord!r}, expected a positive number")
    count = _spatial("lp_pool", x, most=3)
    at = windows.pooling(
        "lp_pool", count, x.shape, kernel_size, stride=stride, padding=0, ceil_mode=ceil_mode
    )
    size = ops.abs(x)
    if math.isinf(ord):
        pool = (ops.max_pool1d, ops.max_pool2d, ops.max_pool3d)[count - 1]
        return pool(size, kernel_size=kernel_size, stride=stride, ceil_mode=ceil_mode)
    pool = (ops.avg_pool1d, ops.avg_pool2d, ops.avg_pool3d)[count - 1]
    powers = size if ord == 1 else x * x if ord == 2 else ops.pow(size, ord)
    kernel = windows.per_axis("lp_pool", "kernel_size", kernel_size, count)
    if any(at.overhang) or at.kernel != kernel:  # scale the sum of a partial window
        mean = pool(powers, kernel_size=kernel_size, stride=stride, ceil_mode=True)
        total = ops.multiply(mean, float(math.prod(kernel)))
    else:
        total = pool(powers, kernel_size=kernel_size, stride=stride, divisor_override=1)
    if ord == 1:
        return total
    is_zero = ops.equal(total, 0)  # the derivative of the root is infinite at 0
    return ops.where(is_zero, 0.0, ops.pow(ops.where(is_zero, 1.0, total), 1.0 / ord))


@op
def max_pool_with_indices(
    x: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Padding = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
) -> tuple[Array, Array]:
    """Max pooling with the index of each maximum; ties prefer the first element.

    NaN is larger than all numbers; the last of several NaN is selected.

    Args:
        x: `(batch, channels, *spatial)`, real.
        kernel_size: the size of a window; an integer, or one for each spatial axis.
        stride: the step between windows; None: `kernel_size`.
        padding: −∞ around x, counted as in `conv2d`.
        dilation: the step between the elements of a window.
        ceil_mode: a last window that reaches beyond the end counts, if it starts inside.

    Returns:
        the maxima, `(batch, channels, *out)`, and their indices in the flattened spatial axes of x,
        int64 of the same shape.

    Raises:
        ShapeError: the window is larger than the padded x, or x has no spatial axis.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.max_pool_with_indices(np.asarray([[[1.0, 3.0, 2.0, 5.0]]]), kernel_size=2)
        (array([[[3., 5.]]]), array([[[1, 3]]]))

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_pool2d.html
    """
    at = windows.pooling(
        "max_pool_with_indices", _spatial("max_pool_with_indices", x), x.shape, kernel_size,
        stride=stride, padding=padding, dilation=dilation, ceil_mode=ceil_mode,
    )  # fmt: skip
    refuse_complex(x)
    sizes = tuple(x.shape[2:])
    places = np.pad(np.arange(math.prod(sizes)).reshape(sizes), at.padding, constant_values=-1)
    if at.is_padded:
        x = ops.pad(x, [(0, 0), (0, 0), *at.padding], constant_values=lowest(x))
    offsets = list(at.offsets(at.output(sizes)))
    elements = ops.stack([x[(slice(None), slice(None), *place)] for place in offsets], axis=-1)
    numbers = np.stack([places[place] for place in offsets], axis=-1)
    choice = ops.expand_dims(greatest(elements), axis=-1)
    if (numbers < 0).any():  # avoid padding where all elements are −∞
        first = np.argmax(numbers >= 0, axis=-1)[..., None]
        inside = ops.broadcast_to(ops.asarray(numbers >= 0, like=x), ops.shape(elements))
        is_inside = ops.take_along_axis(inside, choice, axis=-1)
        choice = ops.where(is_inside, choice, ops.asarray(first, dtype=choice.dtype, like=x))
    values = ops.take_along_axis(elements, choice, axis=-1)
    table = ops.asarray(numbers, dtype=dtypes.int64, like=x)
    found = ops.take_along_axis(ops.broadcast_to(table, ops.shape(elements)), choice, axis=-1)
    return ops.squeeze(values, axis=-1), ops.squeeze(found, axis=-1)


def greatest(elements: Array) -> Array:
    """The index of the maximum along the last axis: the last NaN, else the first of equal ones."""
    if not dtypes.dtype_of(elements).is_floating:
        return ops.argmax(elements, axis=-1)
    is_nan = ops.isnan(elements)
    greatest = ops.argmax(ops.where(is_nan, -math.inf, elements), axis=-1)
    behind = ops.argmax(ops.astype(ops.flip(is_nan, axis=-1), dtypes.int32), axis=-1)
    last = ops.add(ops.negative(behind), ops.shape(elements)[-1] - 1)
    return ops.where(ops.any(is_nan, axis=-1), last, greatest)


def adaptive_maxima(x: Array, output_size: Sequence[int | None]) -> tuple[Array, Array]:
    """The maximum of each part of the last axes, and their indices in these axes, flattened.

    `output_size` has the number of parts of each axis; None keeps an axis.
    """
    count = len(output_size)
    lead, spatial = ops.shape(x)[:-count], ops.shape(x)[-count:]
    sizes = [n if parts is None else parts for n, parts in zip(spatial, output_size)]
    # the places in the flattened image, (*sizes, *elements)
    place: Any = ops.asarray(0, dtype=dtypes.int32, like=x)
    for axis, (n, m) in enumerate(zip(spatial, sizes)):
        shape = [1] * 2 * count
        shape[axis], shape[count + axis] = m, -1
        place = ops.add(ops.multiply(place, n), ops.reshape(_elements_of_parts(x, n, m), shape))
    count_of_part = math.prod(ops.shape(place)[count:])
    place = ops.reshape(place, (*sizes, count_of_part))
    rows = ops.reshape(x, (*lead, math.prod(spatial)))
    parts = ops.take(rows, ops.reshape(place, (-1,)), axis=-1)
    parts = ops.reshape(parts, (*lead, *sizes, count_of_part))
    best = ops.expand_dims(greatest(parts), axis=-1)
    place = ops.broadcast_to(ops.astype(place, dtypes.int64), ops.shape(parts))
    values, index = (ops.take_along_axis(each, best, axis=-1) for each in (parts, place))
    return ops.squeeze(values, axis=-1), ops.squeeze(index, axis=-1)


def _elements_of_parts(x: Array, n: int, m: int) -> Array:
    """`(m, longest)`: the positions of the elements of m parts of n elements.

    Short parts repeat their last element, which changes neither the maximum nor its index.
    """
    part = ops.expand_dims(ops.arange(m, dtype=dtypes.int32, like=x), axis=-1)
    start, stop = ops.multiply(part, n), ops.multiply(part + 1, n)
    longest = n // m if isinstance(n, int) and n % m == 0 else n // m + 2  # or less
    place = ops.add(ops.floor_divide(start, m), ops.arange(longest, dtype=dtypes.int32, like=x))
    return ops.minimum(place, ops.floor_divide(stop - 1, m))


@op
def max_unpool(
    x: Array,
    indices: Array,
    /,
    *,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    output_size: Sequence[int] | None = None,
) -> Array:
    """Scatter maxima to their indices among zeros: a partial inverse of `max_pool_with_indices`.

    Args:
        x: `(batch, channels, *spatial)`, any number.
        indices: the indices from `max_pool_with_indices`, of the shape of x, integer.
        kernel_size: the size of a window; an integer, or one for each spatial axis.
        stride: the step between windows; None: `kernel_size`.
        padding: the padding of the pooling, on both sides.
        output_size: the spatial sizes of the result; None:
            (size − 1) · stride − 2 · padding + kernel_size.

    Returns:
        `(batch, channels, *output_size)`.

    Raises:
        ShapeError: the shapes of `indices` and x differ.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.max_unpool(np.asarray([[[3.0, 5.0]]]), np.asarray([[[1, 3]]]), kernel_size=2)
        array([[[0., 3., 0., 5.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.max_unpool2d.html
    """
    count = _spatial("max_unpool", x)
    if tuple(indices.shape) != tuple(x.shape):
        raise ShapeError(
            f"max_unpool: indices has shape {tuple(indices.shape)}, expected that of x, "
            f"{tuple(x.shape)}"
        )
    kernel = windows.per_axis("max_unpool", "kernel_size", kernel_size, count)
    step = kernel if stride is None else windows.per_axis("max_unpool", "stride", stride, count)
    pads = windows.per_axis("max_unpool", "padding", padding, count, least=0)
    if output_size is None:
        sizes = tuple(
            (n - 1) * s - 2 * p + k for n, s, p, k in zip(x.shape[2:], step, pads, kernel)
        )
    else:
        sizes = windows.per_axis("max_unpool", "output_size", output_size, count)
    channels, many = ops.shape(x)[1], math.prod(x.shape[2:])
    flat = ops.reshape(x, (-1, channels, many))
    empty = ops.broadcast_to(
        ops.zeros_like(flat[:, :, :1]), (*ops.shape(flat)[:2], math.prod(sizes))
    )
    filled = ops.scatter(empty, ops.reshape(indices, (-1, channels, many)), flat, axis=-1)
    return ops.reshape(filled, (-1, channels, *sizes))


@op
def fractional_max_pool1d(
    x: Array, key: Array, /, *, kernel_size: Ints, output_size: Ints
) -> Array:
    """Fractional max pooling over one axis: windows with random steps.

    The windows are chosen as in `fractional_max_pool2d`.

    Args:
        x: `(batch, channels, length)`, floating.
        key: `(2,)`, uint32, from ``na.random.key``; the numbers u are
            ``na.random.uniform(key, (batch, channels, 1))``.
        kernel_size: the size of a window.
        output_size: the size of the result.

    Returns:
        `(batch, channels, output_size)`.

    Raises:
        ShapeError: x has the wrong rank, or is too small for `output_size`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[1.0, 5.0, 2.0, 4.0]]])
        >>> na.fractional_max_pool1d(x, na.random.key(0), kernel_size=2, output_size=1)
        array([[[4.]]])

    References:
        https://arxiv.org/abs/1412.6071
    """
    return _fractional("fractional_max_pool1d", x, key, kernel_size, output_size, "length")


@op
def fractional_max_pool2d(
    x: Array, key: Array, /, *, kernel_size: Ints, output_size: Ints
) -> Array:
    """Fractional max pooling over two axes: windows with random steps that differ by at most one.

    Window i starts at ⌊(i + u) α⌋ − ⌊u α⌋ with α = (size − kernel) / (output − 1) and one
    uniform u for each channel and axis; the last window ends at the end of x.

    Args:
        x: `(batch, channels, height, width)`, floating.
        key: `(2,)`, uint32, from ``na.random.key``; the numbers u are
            ``na.random.uniform(key, (batch, channels, 2))``, the width's first.
        kernel_size: the size of a window; an integer, or one for each axis.
        output_size: the size of the result; an integer, or one for each axis.

    Returns:
        `(batch, channels, *output_size)`.

    Raises:
        ShapeError: x has the wrong rank, or is too small for `output_size`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.arange(9.0).reshape(1, 1, 3, 3)
        >>> na.fractional_max_pool2d(x, na.random.key(0), kernel_size=2, output_size=2)
        array([[[[4., 5.],
                 [7., 8.]]]])

    References:
        https://arxiv.org/abs/1412.6071
        https://docs.pytorch.org/docs/stable/generated/torch.nn.FractionalMaxPool2d.html
    """
    return _fractional("fractional_max_pool2d", x, key, kernel_size, output_size, "height, width")


@op
def fractional_max_pool3d(
    x: Array, key: Array, /, *, kernel_size: Ints, output_size: Ints
) -> Array:
    """Fractional max pooling over three axes: windows with random steps.

    The windows are chosen as in `fractional_max_pool2d`.

    Args:
        x: `(batch, channels, depth, height, width)`, floating.
        key: `(2,)`, uint32, from ``na.random.key``; the numbers u are
            ``na.random.uniform(key, (batch, channels, 3))``, the depth's first.
        kernel_size: the size of a window; an integer, or one for each axis.
        output_size: the size of the result; an integer, or one for each axis.

    Returns:
        `(batch, channels, *output_size)`.

    Raises:
        ShapeError: x has the wrong rank, or is too small for `output_size`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.arange(27.0).reshape(1, 1, 3, 3, 3)
        >>> na.fractional_max_pool3d(x, na.random.key(0), kernel_size=2, output_size=1)
        array([[[[[26.]]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.FractionalMaxPool3d.html
    """
    layout = "depth, height, width"
    return _fractional("fractional_max_pool3d", x, key, kernel_size, output_size, layout)


def _fractional(
    name: str, x: Array, key: Array, kernel_size: Ints, output_size: Ints, layout: str
) -> Array:
    count = layout.count(",") + 1

    def draw() -> Array:
        dtype = dtypes.result_dtype(x, dtypes.float32)
        return ops.random_uniform(key, shape=(*x.shape[:2], count), dtype=dtype)

    return fractional_maxima(name, x, draw, kernel_size, output_size, layout)


def fractional_maxima(
    name: str,
    x: Array,
    draw: Callable[[], Array],
    kernel_size: Ints,
    output_size: Ints,
    layout: str,
    *,
    return_indices: bool = False,
) -> Any:
    """One axis after the other, as a maximum is separable, by the numbers that `draw` gives.

    With `return_indices` also where the maxima are among the flattened elements of an image.
    """
    count = layout.count(",") + 1
    kernel = windows.per_axis(name, "kernel_size", kernel_size, count)
    output = windows.per_axis(name, "output_size", output_size, count)
    shape = ops.shape(x)  # the batch may be of unknown size
    fits = len(shape) == count + 2 and all(
        n >= o + k - 1 for n, o, k in zip(shape[2:], output, kernel)
    )
    if not fits:
        raise ShapeError(
            f"{name}: x has shape {tuple(x.shape)}, expected (batch, channels, {layout}) with sizes of "
            f"at least {tuple(o + k - 1 for o, k in zip(output, kernel))}: output_size + "
            "kernel_size − 1"
        )
    uniform = draw()
    uniform = ops.astype(uniform, dtypes.result_dtype(uniform, dtypes.float32), copy=False)
    places = None
    if return_indices:
        places = ops.arange(math.prod(shape[2:]), dtype=dtypes.int64, like=x)
        places = ops.broadcast_to(ops.reshape(places, (1, 1, *shape[2:])), shape)
    for axis, (size, k, out) in enumerate(zip(shape[2:], kernel, output)):
        # torch's order: the last axis comes first
        starts = _starts(uniform[:, :, 1 - axis if count == 2 else axis], size, k, out)
        index = ops.expand_dims(starts, axis=3) + ops.arange(k, dtype=dtypes.int64, like=x)
        index = ops.reshape(index, (*shape[:2], out * k))
        x = ops.moveaxis(x, axis + 2, 2)
        rest = tuple(x.shape[3:])
        index = ops.reshape(index, (*ops.shape(index), *(1,) * len(rest)))
        wide = ops.broadcast_to(index, (*shape[:2], out * k, *rest))
        windowed = (*shape[:2], out, k, *rest)
        parts = ops.reshape(ops.take_along_axis(x, wide, axis=2), windowed)
        if places is not None:
            found = ops.take_along_axis(ops.moveaxis(places, axis + 2, 2), wide, axis=2)
            best = ops.argmax(parts, axis=3, keepdims=True)
            found = ops.take_along_axis(ops.reshape(found, windowed), best, axis=3)
            places = ops.moveaxis(ops.squeeze(found, 3), 2, axis + 2)
        x = ops.moveaxis(ops.max(parts, axis=3), 2, axis + 2)
    return x if places is None else (x, places)


def _starts(uniform: Array, size: int, kernel: int, output: int) -> Array:
    """`(batch, channels, output)`: where the windows of one axis start."""
    end = ops.full_like(ops.expand_dims(uniform, axis=2), float(size - kernel))
    if output > 1:
        alpha = (size - kernel) / (output - 1)
        u = ops.expand_dims(uniform, axis=2)
        steps = ops.arange(output - 1, dtype=dtypes.dtype_of(uniform), like=uniform)
        end = ops.concat((ops.floor((u + steps) * alpha) - ops.floor(u * alpha), end), axis=2)
    return ops.astype(end, dtypes.int64)


_COMPUTATIONS = ("add", "mul", "max", "min")


@op
@through_numbers
def reduce_window(
    x: Array,
    /,
    *,
    computation: str,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: str | Sequence[tuple[int, int]] = "valid",
    base_dilation: Sequence[int] | None = None,
    window_dilation: Sequence[int] | None = None,
    init: float | None = None,
) -> Array:
    """Reduce the elements in windows that slide over all axes of an array.

    Args:
        x: any shape, real.
        computation: ``"add"``, ``"mul"``, ``"max"`` or ``"min"``.
        window: the size of the window along each axis.
        strides: the steps of the window along each axis; None: 1.
        padding: ``"valid"``, ``"same"``, or pairs (before, after) of each axis.
        base_dilation: the step between the elements of x, along each axis; None: 1.
        window_dilation: the step between the elements of a window; None: 1.
        init: the initial value of every reduction; None: the identity. Padding and the gaps of
            `base_dilation` are ignored.

    Returns:
        array of the dtype of x, (size + pads − extent) // stride + 1 along each axis, with
        the size of the dilated x.

    Raises:
        ArgumentError: `computation` is unknown, or a setting has the wrong length.
        ShapeError: the window is larger than the padded x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        >>> na.reduce_window(x, computation="add", window=(2, 2))
        array([[12., 16.]])

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.lax.reduce_window.html
    """
    if computation not in _COMPUTATIONS:
        raise ArgumentError(
            f"reduce_window: computation: got {computation!r}, expected one of "
            f"{', '.join(_COMPUTATIONS)}"
        )
    count = len(x.shape)
    ones = (1,) * count
    for name, given in (
        ("window", window),
        ("strides", strides),
        ("base_dilation", base_dilation),
        ("window_dilation", window_dilation),
    ):
        if given is not None and len(given) != count:
            raise ArgumentError(
                f"reduce_window: {name}: got {tuple(given)}, expected {count} numbers: one for each "
                f"axis of x {tuple(x.shape)}"
            )
    combine, neutral = _combination(computation, x)
    if base_dilation is not None:
        if min(base_dilation, default=1) < 1:
            raise ArgumentError(
                f"reduce_window: base_dilation: got {tuple(base_dilation)}, expected numbers of at "
                "least 1"
            )
        x = spread(x, base_dilation, neutral)
    at = windows.settings(
        "reduce_window", ops.shape(x), window, stride=strides or ones, padding=padding,
        dilation=window_dilation or ones,
    )  # fmt: skip
    result = _pooled(x, computation, at, is_same=padding == "same")
    if result is None:
        output = at.output(ops.shape(x))
        if at.is_padded:
            x = ops.pad(x, at.padding, constant_values=neutral)
        result = reduce(combine, (x[place] for place in at.offsets(output)))
    return result if init is None else combine(result, init)


def _combination(computation: str, x: Array) -> tuple[Callable[..., Array], Any]:
    """(combination of two elements, its identity element)."""
    if computation == "max":
        return first_maximum, lowest(x)
    if computation == "min":
        return lambda x1, x2: ops.negative(first_maximum(-x1, -x2)), _highest(x)
    return (ops.add, 0) if computation == "add" else (ops.multiply, 1)


def _pooled(x: Array, computation: str, at: windows.Windows, *, is_same: bool) -> Array | None:
    """The maxima or sums by the pooling functions; None where these do not apply."""
    sizes = ops.shape(x)
    trivial = (1, 1, (0, 0))
    settings = [*zip(at.kernel, at.stride, at.padding)]
    axes = [i for i in range(len(sizes)) if settings[i] != trivial]
    others = [i for i in range(len(sizes)) if settings[i] == trivial]
    is_floating = dtypes.dtype_of(x).is_floating and 1 <= len(axes) <= 3 and 0 not in tuple(x.shape)
    has_dilation = any(step != 1 for step in at.dilation)
    if (
        not is_floating
        or computation not in ("max", "add")
        or (computation == "add" and has_dilation)
    ):
        return None
    order = [*others, *axes]
    rows = ops.permute_dims(x, order)
    if len(others) != 2:  # TFLite takes no reshape of two open sizes
        batch, *channels = [sizes[i] for i in others] or [1]
        rows = ops.reshape(rows, (batch, math.prod(channels), *[sizes[i] for i in axes]))
    kernel, stride, padding, dilation = (
        [each[i] for i in axes] for each in (at.kernel, at.stride, at.padding, at.dilation)
    )
    given = {"kernel_size": kernel, "stride": stride, "padding": "same" if is_same else padding}
    if computation == "max":
        pool = getattr(ops, f"max_pool{len(axes)}d")
        result = pool(rows, **given, dilation=dilation)
    else:
        pool = getattr(ops, f"avg_pool{len(axes)}d")
        result = pool(rows, **given, divisor_override=1)
    if len(others) != 2:
        result = ops.reshape(result, (*[sizes[i] for i in others], *ops.shape(result)[2:]))
    return ops.permute_dims(result, [order.index(i) for i in range(len(order))])


def _highest(x: Array) -> float:
    dtype = dtypes.dtype_of(x)
    if dtype.is_floating:
        return math.inf
    return 1 if dtype.kind == "bool" else 2 ** (dtype.bits - (dtype.kind == "int")) - 1


def _spatial(name: str, x: Array, *, most: int | None = None) -> int:
    """The number of spatial axes of x."""
    count = len(x.shape) - 2
    if count < 1 or (most is not None and count > most):
        limit = "at least one spatial axis" if most is None else f"one to {most} spatial axes"
        raise ShapeError(
            f"{name}: x has shape {tuple(x.shape)}, expected (batch, channels, *spatial) with {limit}"
        )
    return count

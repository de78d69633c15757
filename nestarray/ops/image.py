"""Images: resizing, sampling at points, and rearrangement of channels; channels first."""

from __future__ import annotations

import fractions
import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from nestarray import dtypes, ops
from nestarray.dispatch import floating_op, op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.windows import channels_are_last
from nestarray.typing import Array, check_kind, is_unknown_size

__all__ = [
    "affine_grid",
    "channel_shuffle",
    "grid_sample",
    "interpolate",
    "pixel_shuffle",
    "pixel_unshuffle",
]

#: Mode → its kind, and the number of axes if the name implies one.
_MODES = {
    "nearest": "nearest",
    "nearest-exact": "nearest-exact",
    "linear": "linear",
    "bilinear": "linear",
    "trilinear": "linear",
    "cubic": "cubic",
    "bicubic": "cubic",
    "area": "area",
    "tf-area": "tf-area",
    "tf-bicubic": "tf-bicubic",
    "mitchellcubic": "mitchellcubic",
    "lanczos3": "lanczos3",
    "lanczos5": "lanczos5",
    "gaussian": "gaussian",
}


@op
def interpolate(
    x: Array,
    /,
    *,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    antialias: bool = False,
    data_format: str = "channels_first",
) -> Array:
    """Resample the spatial axes to another size.

    The element at position i of n covers the interval from i to i + 1 of the line from 0
    to n; with `align_corners` it is a point instead, and the first and last points stay.

    Args:
        x: `(batch, channels, *spatial)`, or `(batch, *spatial, channels)`, floating.
        size: the new size; an integer, or one for each spatial axis.
        scale_factor: ⌊size · scale_factor⌋ is the new size, if `size` is None; positions
            are scaled by this factor exactly.
        mode: ``"nearest"``: the element at the floor of the position, without the half-pixel offset;
            ``"nearest-exact"``: the nearest element; ``"linear"`` (or ``"bilinear"``,
            ``"trilinear"``) between the two elements around; ``"cubic"`` (or
            ``"bicubic"``) through the four around, with the kernel of a = −0.75;
            ``"area"``: the mean over the elements that an output element touches;
            ``"tf-area"``: the same, each with the share that is covered; ``"tf-bicubic"``
            (the cubic kernel of Keys, a = −0.5), ``"mitchellcubic"``, ``"lanczos3"``,
            ``"lanczos5"`` and ``"gaussian"``: by these kernels, normalized to sum 1 at the
            border.
        align_corners: for the linear and cubic modes.
        antialias: for all modes with a kernel, widen it when the size shrinks, so that every
            element counts; the cubic kernel has a = −0.5 then. Without it, ``tf.image.resize``
            rounds the positions of ``"tf-bicubic"`` to 1/1024.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(batch, channels, *size)`, or with the channels last.

    Raises:
        ArgumentError: `mode` is unknown or does not support `align_corners`, both or neither of
            `size` and `scale_factor` are given, or they have the wrong length.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.interpolate(np.asarray([[[0.0, 4.0]]]), size=4, mode="linear")
        array([[[0., 1., 3., 4.]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
    """
    kind = _MODES.get(mode)
    if kind is None:
        raise ArgumentError(f"interpolate: mode: got {mode!r}, expected one of {', '.join(_MODES)}")
    if align_corners and (kind == "tf-area" or kind in _KERNELS):
        raise ArgumentError(
            f"interpolate: align_corners: got True with mode {mode!r}, expected a linear or a cubic "
            "mode"
        )
    is_last = channels_are_last("interpolate", "data_format", data_format)
    shape = ops.shape(x)
    shape = (shape[0], shape[-1], *shape[1:-1]) if is_last else shape
    sizes, scales = _sizes(shape, size, scale_factor)
    if kind == "area":
        pool = {1: ops.adaptive_avg_pool1d, 2: ops.adaptive_avg_pool2d, 3: ops.adaptive_avg_pool3d}
        if is_last:
            x = ops.moveaxis(x, -1, 1)
        x = pool[len(sizes)](x, output_size=sizes)
        return ops.moveaxis(x, 1, -1) if is_last else x
    is_nearest = kind.startswith("nearest")
    for axis, (old, new, scale) in enumerate(zip(shape[2:], sizes, scales), 1 if is_last else 2):
        line = _line(old, new, scale, align_corners and not is_nearest, x)
        if is_nearest:
            index = _nearest(line, 0.5 if kind == "nearest-exact" else 0.0)
            if line.lib is ops or index.tolist() != list(range(old)):
                x = ops.take(x, _constant(index, x, dtypes.int64), axis=axis)
        elif kind == "tf-area":
            x = _along(x, _covered(line), axis)
        elif antialias or kind in _KERNELS:
            x = _along(x, _wide_weights(kind, line, antialias), axis)
        elif line.lib is ops or old != new or scale != 1.0:
            x = _along(x, _weights(kind, line, align_corners), axis)
    return x


@op
def pixel_shuffle(
    x: Array, /, *, upscale_factor: int, data_format: str = "channels_first"
) -> Array:
    """Move channels to space: r² channels become r × r neighbouring elements.

    Args:
        x: `(*batch, channels · r², height, width)`, or with the channels last, any dtype.
        upscale_factor: r.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(*batch, channels, height · r, width · r)`, or with the channels last.

    Raises:
        ShapeError: r² does not divide the number of channels.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pixel_shuffle(np.arange(4.0).reshape(1, 4, 1, 1), upscale_factor=2)
        array([[[[0., 1.],
                 [2., 3.]]]])

    References:
        https://arxiv.org/abs/1609.05158
    """
    is_last = channels_are_last("pixel_shuffle", "data_format", data_format)
    *batch, channels, height, width = ops.shape(x)
    if is_last:
        height, width, channels = channels, height, width
    r, count = upscale_factor, len(x.shape) - 3
    if channels % (r * r):
        raise ShapeError(
            f"pixel_shuffle: x has {channels} channels (axis {-1 if is_last else -3} of {tuple(x.shape)}), expected "
            f"a multiple of upscale_factor² = {r * r}"
        )
    if is_last:
        x = ops.reshape(x, (*batch, height, width, channels // (r * r), r, r))
        order = [count + i for i in (0, 3, 1, 4, 2)]
        x = ops.permute_dims(x, (*range(count), *order))
        return ops.reshape(x, (*batch, height * r, width * r, channels // (r * r)))
    x = ops.reshape(x, (*batch, channels // (r * r), r, r, height, width))
    order = [count + i for i in (0, 3, 1, 4, 2)]
    x = ops.permute_dims(x, (*range(count), *order))
    return ops.reshape(x, (*batch, channels // (r * r), height * r, width * r))


@op
def pixel_unshuffle(
    x: Array, /, *, downscale_factor: int, data_format: str = "channels_first"
) -> Array:
    """Move spatial blocks to channels: the inverse of `pixel_shuffle`.

    Args:
        x: `(*batch, channels, height · r, width · r)`, or with the channels last, any dtype.
        downscale_factor: r.
        data_format: ``"channels_first"`` or ``"channels_last"``, of x and the result.

    Returns:
        `(*batch, channels · r², height, width)`, or with the channels last.

    Raises:
        ShapeError: r does not divide height and width.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.pixel_unshuffle(np.arange(4.0).reshape(1, 1, 2, 2), downscale_factor=2).shape
        (1, 4, 1, 1)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_unshuffle.html
    """
    is_last = channels_are_last("pixel_unshuffle", "data_format", data_format)
    *batch, channels, height, width = ops.shape(x)
    if is_last:
        height, width, channels = channels, height, width
    r, count = downscale_factor, len(x.shape) - 3
    if _are_known(height, width) and (height % r or width % r):
        raise ShapeError(
            f"pixel_unshuffle: x has height {height} and width {width}, expected multiples of "
            f"downscale_factor = {r}"
        )
    if is_last:
        x = ops.reshape(x, (*batch, height // r, r, width // r, r, channels))
        order = [count + i for i in (0, 2, 4, 1, 3)]
        x = ops.permute_dims(x, (*range(count), *order))
        return ops.reshape(x, (*batch, height // r, width // r, channels * r * r))
    x = ops.reshape(x, (*batch, channels, height // r, r, width // r, r))
    order = [count + i for i in (0, 2, 4, 1, 3)]
    x = ops.permute_dims(x, (*range(count), *order))
    return ops.reshape(x, (*batch, channels * r * r, height // r, width // r))


@op
def channel_shuffle(x: Array, /, *, groups: int) -> Array:
    """Interleave groups of channels, so that each new group contains channels of every old group.

    Args:
        x: `(batch, groups · channels, *spatial)`, any dtype.
        groups: the number of groups; divides the number of channels.

    Returns:
        The shape and dtype of x.

    Raises:
        ShapeError: `groups` does not divide the number of channels.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.channel_shuffle(np.asarray([[1, 2, 3, 4]]), groups=2)
        array([[1, 3, 2, 4]])

    References:
        https://arxiv.org/abs/1707.01083
    """
    batch, channels, *rest = ops.shape(x)
    if channels % groups:
        raise ShapeError(
            f"channel_shuffle: x has {channels} channels (axis 1 of {tuple(x.shape)}), expected "
            f"a multiple of groups = {groups}"
        )
    x = ops.reshape(x, (batch, groups, channels // groups, *rest))
    x = ops.permute_dims(x, (0, 2, 1, *range(3, len(x.shape))))
    return ops.reshape(x, (batch, channels, *rest))


@floating_op
def affine_grid(theta: Array, /, *, size: Sequence[int], align_corners: bool = False) -> Array:
    """The sampling points of affine maps of an image, for `grid_sample`.

    Args:
        theta: `(batch, 2, 3)` maps of the plane, or `(batch, 3, 4)` of space: a matrix and,
            as last column, a shift; floating.
        size: the shape `(batch, channels, *spatial)` of the result of `grid_sample`.
        align_corners: −1 and 1 are the centres of the first and last elements, not the
            outer edges.

    Returns:
        `(batch, *spatial, 2)` or `(…, 3)`: coordinates x, y (, z), from −1 to 1 inside.

    Raises:
        ShapeError: `theta` and `size` do not match.

    Example:
        >>> import numpy as np, nestarray as na
        >>> unchanged = np.asarray([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> na.affine_grid(unchanged, size=(1, 1, 1, 2))
        array([[[[-0.5,  0. ],
                 [ 0.5,  0. ]]]])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.affine_grid.html
    """
    spatial = tuple(size[2:])
    count = len(spatial)
    if tuple(theta.shape[1:]) != (count, count + 1):
        raise ShapeError(
            f"affine_grid: theta has shape {tuple(theta.shape)}, size is {tuple(size)}; expected "
            f"theta (batch, {count}, {count + 1}) for {count} spatial axes"
        )
    axes = [_centres(n, align_corners) for n in spatial]
    grid = np.meshgrid(*axes, indexing="ij")[::-1]  # x, the last axis, comes first
    points = np.stack([*grid, np.ones(spatial)], axis=-1).reshape(-1, count + 1)
    base = ops.asarray(points.tolist(), dtype=dtypes.dtype_of(theta), like=theta)
    out = ops.matmul(base, ops.permute_dims(theta, (0, 2, 1)))
    return ops.reshape(out, (-1, *spatial, count))


@floating_op
def grid_sample(
    x: Array,
    grid: Array,
    /,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Array:
    """The values of an image at points between its elements.

    Args:
        x: `(batch, channels, height, width)` or `(batch, channels, depth, height, width)`,
            floating.
        grid: `(batch, out_height, out_width, 2)`: coordinates x (along the width) and y,
            −1 to 1 inside the image; for volumes `(batch, *out, 3)`, with z last.
        mode: ``"bilinear"`` between the elements around, ``"nearest"``, or for images
            ``"bicubic"``, between sixteen elements.
        padding_mode: the values outside: ``"zeros"``; ``"border"``: the nearest element of the
            border; ``"reflection"``: the mirror image.
        align_corners: −1 and 1 are the centres of the first and last elements, not the
            outer edges.

    Returns:
        `(batch, channels, *out)`.

    Raises:
        ArgumentError: `mode` or `padding_mode` is unknown.
        ShapeError: x or `grid` has the wrong rank.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.asarray([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> na.grid_sample(x, np.zeros((1, 1, 1, 2)))
        array([[[[2.5]]]])

    References:
        https://arxiv.org/abs/1506.02025
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
    """
    modes = ("bilinear", "nearest", "bicubic")
    if mode not in modes or (mode == "bicubic" and len(x.shape) == 5):
        raise ArgumentError(
            f'grid_sample: mode: got {mode!r}, expected "bilinear", "nearest" or, for images, '
            '"bicubic"'
        )
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ArgumentError(
            f'grid_sample: padding_mode: got {padding_mode!r}, expected "zeros", "border" or '
            '"reflection"'
        )
    count = len(x.shape) - 2
    if count not in (2, 3) or len(grid.shape) != count + 2 or grid.shape[-1] != count:
        raise ShapeError(
            f"grid_sample: x has shape {tuple(x.shape)}, grid {tuple(grid.shape)}; expected "
            "(batch, channels, height, width) and (batch, out_height, out_width, 2), or one axis "
            "more each and 3 coordinates"
        )
    images, grids = x.shape[0], grid.shape[0]
    if None not in (images, grids) and images != grids:
        raise ShapeError(
            f"grid_sample: got {images} images and {grids} grids, expected equal numbers"
        )
    if 0 in x.shape[2:]:
        raise ShapeError(f"grid_sample: x has shape {tuple(x.shape)}, which has nothing to sample")
    taps = []
    for i, n in enumerate(ops.shape(x)[2:]):
        size = _length(n, grid)
        position = _position(grid[..., count - 1 - i], size, align_corners)
        # A cubic kernel reads the elements around the point; other modes clip the point first.
        if mode != "bicubic":
            position = _inside(position, size, padding_mode, align_corners)
        found = _taps(position, mode)
        if mode == "bicubic":
            found = [(_inside(p, size, padding_mode, align_corners), w) for p, w in found]
        taps.append(found)
    total = None
    for chosen in itertools.product(*taps):
        part = _pick(x, [place for place, _ in chosen])
        shares = [share for _, share in chosen if share is not None]
        if shares:
            part = part * ops.expand_dims(functools.reduce(operator.mul, shares), 1)
        total = part if total is None else total + part
    return total


class _Line(NamedTuple):
    """The elements of one axis, before and after.

    Weights of known sizes are constants that NumPy computes; ops compute those of sizes that are
    known only at run time.
    """

    old: Any  #: `(1, old)`, the positions of the elements
    new: Any  #: `(new, 1)`
    scale: Any  #: how many old elements one new element covers
    lib: Any  #: the functions to compute with: `numpy` or `nestarray.ops`


def _line(old: int, new: int, scale: Any, align_corners: bool, like: Array) -> _Line:
    if is_known := _are_known(old, new):
        before, after = [np.arange(n, dtype=np.float64) for n in (old, new)]
    else:
        before, after = [ops.arange(n, dtype=dtypes.float32, like=like) for n in (old, new)]
    lib = np if is_known else ops
    if align_corners:
        scale = lib.where(after[-1] > 0, before[-1] / lib.maximum(after[-1], 1.0), 0.0)
    elif scale is None:
        scale = (before[-1] + 1.0) / (after[-1] + 1.0)
    return _Line(before[None], after[:, None], scale, lib)


def _sizes(
    shape: tuple[int, ...],
    size: int | Sequence[int] | None,
    scale_factor: float | Sequence[float] | None,
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """The new sizes, and how many old elements one new element covers; None: of open sizes."""
    spatial = shape[2:]
    count = len(spatial)
    if not 1 <= count <= 3:
        raise ShapeError(
            f"interpolate: x has shape {shape}, expected (batch, channels, *spatial) with one to "
            "three spatial axes"
        )
    if (size is None) == (scale_factor is None):
        raise ArgumentError(
            f"interpolate: got size={size!r} and scale_factor={scale_factor!r}, expected one of them"
        )
    if size is not None:
        check_kind("interpolate", "size", "int | Sequence[int]", size)
    given: Any = size if size is not None else scale_factor
    if isinstance(given, (int, float)) or is_unknown_size(given):
        given = (given,) * count
    values: tuple[Any, ...] = tuple(given)
    if len(values) != count or any(not is_unknown_size(v) and v <= 0 for v in values):
        name = "size" if size is not None else "scale_factor"
        raise ArgumentError(
            f"interpolate: {name}: got {given!r}, expected a positive number, or {count} of them"
        )
    if size is not None:
        sizes = tuple(v if is_unknown_size(v) else int(v) for v in values)
        scales = [o / n if _are_known(o, n) else None for o, n in zip(spatial, sizes)]
        return sizes, tuple(scales)
    return tuple(map(_scaled, spatial, values)), tuple(1.0 / v for v in values)


def _are_known(*sizes: int) -> bool:
    return all(isinstance(n, int) for n in sizes)


def _scaled(size: int, factor: float) -> int:
    """⌊size · factor⌋"""
    if isinstance(size, int):
        return math.floor(size * factor)
    ratio = fractions.Fraction(factor).limit_denominator(1000)
    if float(ratio) != factor:
        raise ArgumentError(
            f"interpolate: scale_factor: got {factor!r} for an open size, expected a ratio with a "
            "denominator up to 1000; give size="
        )
    return size * ratio.numerator // ratio.denominator


def _nearest(line: _Line, shift: float) -> Any:
    # in float32, like torch: rounding decides the element for a position on an edge
    new, scale = line.new[:, 0], line.scale
    if line.lib is np:
        new, scale = new.astype(np.float32), np.float32(scale)
    return line.lib.minimum(line.lib.floor((new + shift) * scale), line.old[0, -1])


def _weights(kind: str, line: _Line, align_corners: bool) -> Any:
    """`(new, old)`: the weight of each old element in each new one."""
    lib = line.lib
    positions = line.new * line.scale if align_corners else (line.new + 0.5) * line.scale - 0.5
    if kind == "linear":
        positions = lib.maximum(positions, 0.0)
        taps, kernel = (0, 1), _triangle
    else:
        taps, kernel = (-1, 0, 1, 2), _cubic(-0.75)
    first = lib.floor(positions)
    total = 0.0
    for tap in taps:
        index = lib.minimum(lib.maximum(first + tap, 0.0), line.old[0, -1])
        total = total + lib.where(line.old == index, kernel(positions - first - tap, lib), 0.0)
    return total


def _covered(line: _Line) -> Any:
    """`(new, old)`: the share of each new element that lies on each old one."""
    lib, start = line.lib, line.new * line.scale
    common = lib.minimum(start + line.scale, line.old + 1.0) - lib.maximum(start, line.old)
    weights = lib.maximum(common, 0.0)
    return weights / lib.sum(weights, axis=1, keepdims=True)


def _wide_weights(kind: str, line: _Line, antialias: bool) -> Any:
    """`_weights` by a kernel cut at the border and normalized, with `antialias` as wide as a new element."""
    lib = line.lib
    radius, kernel = (1, _triangle) if kind == "linear" else _KERNELS.get(kind, _KEYS)
    width = lib.maximum(line.scale, 1.0) if antialias else 1.0
    centres = (line.new + 0.5) * line.scale
    first = lib.maximum(lib.trunc(centres - radius * width + 0.5), 0.0)
    end = lib.trunc(centres + radius * width + 0.5)
    weights = kernel((line.old - centres + 0.5) / width, lib)
    weights = lib.where((line.old >= first) & (line.old < end), weights, 0.0)
    return weights / lib.sum(weights, axis=1, keepdims=True)


def _triangle(distance: Any, lib: Any) -> Any:
    return lib.maximum(1.0 - lib.abs(distance), 0.0)


def _cubic(a: float) -> Callable[[Any, Any], Any]:
    """Keys' cubic convolution kernel."""

    def kernel(distance: Any, lib: Any) -> Any:
        d = lib.abs(distance)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
        return lib.where(d <= 1, near, lib.where(d < 2, far, 0.0))

    return kernel


def _mitchell(distance: Any, lib: Any) -> Any:
    """The cubic filter of Mitchell and Netravali with B = C = 1/3."""
    d = lib.abs(distance)
    near = (7 * d - 12) * d * d / 6 + 8 / 9
    far = ((-7 / 18 * d + 2) * d - 10 / 3) * d + 16 / 9
    return lib.where(d <= 1, near, lib.where(d < 2, far, 0.0))


def _lanczos(radius: int) -> Callable[[Any, Any], Any]:
    def kernel(distance: Any, lib: Any) -> Any:
        inside = lib.abs(distance) < radius
        return lib.where(inside, lib.sinc(distance) * lib.sinc(distance / radius), 0.0)

    return kernel


def _gaussian(distance: Any, lib: Any) -> Any:
    """A normal density with σ = 1/2, cut at 3σ."""
    return lib.where(lib.abs(distance) < 1.5, lib.exp(-2.0 * distance * distance), 0.0)


_KEYS = (2, _cubic(-0.5))

#: Kernels normalized at the border, also without `antialias`: (radius, function).
_KERNELS: dict[str, tuple[float, Callable[[Any, Any], Any]]] = {
    "tf-bicubic": _KEYS,
    "mitchellcubic": (2, _mitchell),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, _gaussian),
}


def _constant(values: Any, like: Array, dtype: Any) -> Array:
    """NumPy's values as an array of the framework of `like`; arrays of open sizes are that."""
    if isinstance(values, np.ndarray) and not isinstance(like, np.ndarray):
        values = values.astype(np.int64) if dtype is dtypes.int64 else values
        return ops.asarray(values.tolist(), dtype=dtype, like=like)
    return ops.astype(values, dtype)


def _along(x: Array, weights: Any, axis: int) -> Array:
    """The product of `weights` with every line of x along `axis`."""
    shape = ops.shape(x)
    dtype = dtypes.dtype_of(x)
    if axis == len(shape) - 1:
        weights = weights.T if isinstance(weights, np.ndarray) else ops.matrix_transpose(weights)
        return ops.matmul(x, _constant(weights, x, dtype))
    matrix = _constant(weights, x, dtype)
    after = shape[axis + 1 :]
    lines = ops.reshape(x, (*shape[: axis + 1], math.prod(after)))
    return ops.reshape(ops.matmul(matrix, lines), (*shape[:axis], ops.shape(matrix)[0], *after))


def _centres(size: int, align_corners: bool) -> np.ndarray:
    if align_corners:
        return np.linspace(-1.0, 1.0, size) if size > 1 else np.zeros(1)
    return (np.arange(size) + 0.5) * (2.0 / size) - 1.0


def _length(n: Any, like: Array) -> Any:
    """A size: an integer, or an array of the dtype of `like` if only a run knows it."""
    return n if isinstance(n, int) else ops.full((), n, dtype=like.dtype, like=like)


def _position(coordinate: Array, size: Any, align_corners: bool) -> Array:
    """From −1 … 1 to a position among `size` elements, in the order of torch's roundings.

    They decide which of two elements is the nearest to a point in the middle.
    """
    if align_corners:
        return (coordinate + 1.0) / 2.0 * (size - 1.0)
    return ((coordinate + 1.0) * size - 1.0) / 2.0


def _inside(position: Array, size: Any, padding_mode: str, align_corners: bool) -> Array:
    """A position moved inside as the mode says."""
    if padding_mode == "zeros":
        return position
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, size)
        # 0 for a single element, to which the clip moves all positions
        span = max(span, 1.0) if isinstance(span, (int, float)) else ops.maximum(span, 1.0)
        # a triangle wave
        distance = ops.abs(position - low)
        along = ops.remainder(distance, span)
        is_back = ops.equal(ops.remainder(ops.floor(distance / span), 2.0), 1.0)
        position = ops.where(is_back, span - along, along) + low
    return ops.clip(position, 0.0, size - 1.0)


def _taps(position: Array, mode: str) -> list[tuple[Array, Array | None]]:
    """The elements that are read along one axis, and their weights."""
    if mode == "nearest":
        return [(ops.round(position), None)]
    first = ops.floor(position)
    t = position - first
    if mode == "bilinear":
        return [(first, 1.0 - t), (first + 1.0, t)]
    # Keys' kernel with a = −3/4, as polynomials of the distances 1 + t, t, 1 − t and 2 − t
    a = -0.75
    u = 1.0 - t
    near = [((a + 2) * d - (a + 3)) * d * d + 1.0 for d in (t, u)]
    far = [((a * d - 5 * a) * d + 8 * a) * d - 4 * a for d in (t + 1.0, u + 1.0)]
    weights = (far[0], near[0], near[1], far[1])
    return [(first + float(i - 1), weight) for i, weight in enumerate(weights)]


def _pick(x: Array, places: Sequence[Array]) -> Array:
    """The elements at whole positions, one array `(batch, *out)` for each axis, zeros outside."""
    images, channels, *spatial = ops.shape(x)
    out = ops.shape(places[0])[1:]
    inside: Any = None
    flat: Any = None
    for place, size in zip(places, spatial):
        before_end = ops.less(place, _length(size, place))
        within = ops.logical_and(ops.greater_equal(place, 0.0), before_end)
        inside = within if inside is None else ops.logical_and(inside, within)
        index = ops.astype(ops.where(within, place, 0.0), dtypes.int64)
        flat = index if flat is None else flat * _length(size, index) + index
    index = ops.reshape(flat, (images, 1, math.prod(out)))
    rows = ops.reshape(x, (images, channels, math.prod(spatial)))
    found = ops.reshape(ops.take_along_axis(rows, index, axis=-1), (images, channels, *out))
    return ops.where(ops.expand_dims(inside, 1), found, 0.0)

"""Shapes, and the order and number of elements.

Upstream: https://www.tensorflow.org/api_docs/python/tf/raw_ops/Reshape
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import UnsupportedError
from nestarray.frontends.tensorflow.conversion import integers, number
from nestarray.numerics.windows import Ints
from nestarray.typing import Array

__all__ = [
    "BatchToSpace", "BatchToSpaceND", "BroadcastArgs", "BroadcastGradientArgs", "BroadcastTo",
    "Concat", "ConcatOffset", "ConcatV2", "ConjugateTranspose", "DataFormatDimMap",
    "DataFormatVecPermute", "DeepCopy", "DepthToSpace", "Empty", "EnsureShape", "ExpandDims",
    "Fill", "GuaranteeConst", "Identity", "IdentityN", "InvertPermutation", "LinSpace", "MirrorPad",
    "MirrorPadGrad", "OneHot", "Pack", "Pad", "PadV2", "ParallelConcat", "PlaceholderWithDefault",
    "Range", "Rank", "Reshape", "Reverse", "ReverseSequence", "ReverseV2", "Roll", "Shape",
    "ShapeN", "Size", "Snapshot", "SpaceToBatch", "SpaceToBatchND", "SpaceToDepth", "Split",
    "SplitV", "Squeeze", "Tile", "Transpose", "Unpack",
]  # fmt: skip


#: (before, after) of each axis.
Pairs = Sequence[Sequence[int]]


def Identity(input: Array) -> Array:
    """`input`."""
    return input


GuaranteeConst = Identity


def IdentityN(input: Sequence[Array]) -> tuple[Array, ...]:
    """`input`."""
    return tuple(input)


def PlaceholderWithDefault(input: Array, shape: Any) -> Array:
    """`input`."""
    return input


def Snapshot(input: Array) -> Array:
    """`input`."""
    return input


def DeepCopy(x: Array) -> Array:
    """`x`."""
    return x


def EnsureShape(input: Array, shape: Any) -> Array:
    """`input`."""
    return input


def Reshape(tensor: Array, shape: Ints) -> Array:
    """The elements in another shape; −1 is the remaining size."""
    return na.reshape(tensor, integers(shape))


def Squeeze(input: Array, axis: Sequence[int] = ()) -> Array:
    """`input` without axes of size 1, by default all."""
    return na.squeeze(input, tuple(axis) or None)


def ExpandDims(input: Array, axis: int) -> Array:
    """`input` with an axis of size 1."""
    axis = integers(axis)
    return na.expand_dims(input, axis[0] if isinstance(axis, tuple) else axis)


def Transpose(x: Array, perm: Ints) -> Array:
    """The axes in another order."""
    return na.permute_dims(x, integers(perm))


def ConjugateTranspose(x: Array, perm: Ints) -> Array:
    """The complex conjugate with the axes in another order."""
    found = na.permute_dims(x, integers(perm))
    return na.conj(found) if dtypes.dtype_of(x).kind == "complex" else found


def ConcatV2(values: Sequence[Array], axis: int) -> Array:
    """Tensors after one another along an axis."""
    return na.concat(values, axis=integers(axis))


def Concat(concat_dim: int, values: Sequence[Array]) -> Array:
    """Tensors after one another along an axis."""
    return ConcatV2(values, concat_dim)


def ParallelConcat(values: Sequence[Array], shape: Any) -> Array:
    """Tensors after one another along the first axis."""
    return na.concat(values, axis=0)


def ConcatOffset(concat_dim: int, shape: Sequence[Any]) -> tuple[Array, ...]:
    """The offset of each tensor's gradient in the gradient of `Concat`."""
    shapes = [integers(x) for x in shape]
    axis, at, found = integers(concat_dim), 0, []
    for sizes in shapes:
        start = [0] * len(sizes)
        start[axis] = at
        at += sizes[axis]
        found.append(na.asarray(start, dtype=dtypes.int32, like=shape[0]))
    return tuple(found)


def Pack(values: Sequence[Array], axis: int = 0) -> Array:
    """Tensors along a new axis."""
    return na.stack(values, axis=axis)


def Unpack(value: Array, num: int, axis: int = 0) -> tuple[Array, ...]:
    """The slices along an axis."""
    return na.unstack(value, axis=axis)


def Split(axis: int, value: Array, num_split: int) -> tuple[Array, ...]:
    """Parts of one size along an axis."""
    axis = integers(axis)
    size = na.shape(value)[axis] // num_split
    return na.split(value, [size] * num_split, axis=axis)


def SplitV(value: Array, size_splits: Ints, axis: int, num_split: int) -> tuple[Array, ...]:
    """Parts of given sizes along an axis; −1 is the remaining size."""
    sizes, axis = list(integers(size_splits)), integers(axis)
    if -1 in sizes:
        sizes[sizes.index(-1)] = na.shape(value)[axis] - sum(sizes) - 1
    return na.split(value, sizes, axis=axis)


def Tile(input: Array, multiples: Ints) -> Array:
    """`input` repeated along each axis."""
    return na.tile(input, integers(multiples))


def BroadcastTo(input: Array, shape: Ints) -> Array:
    """`input` in a larger shape."""
    return na.broadcast_to(input, integers(shape))


def BroadcastArgs(s0: Array, s1: Array) -> Array:
    """The shape to which two shapes are broadcast."""
    found = na.broadcast_shapes(integers(s0), integers(s1))
    return na.asarray(found, dtype=dtypes.dtype_of(s0), like=s0)


def BroadcastGradientArgs(s0: Array, s1: Array) -> tuple[Array, Array]:
    """The axes over which the gradients of two broadcast tensors are summed."""
    shapes = integers(s0), integers(s1)
    rank = max(map(len, shapes))
    full = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    axes = [[i for i in range(rank) if sizes[i] == 1] for sizes in full]
    if full[0] == full[1]:
        axes = [[], []]
    return tuple([na.asarray(x, dtype=dtypes.dtype_of(s0), like=s0) for x in axes])  # type: ignore[return-value]


def Pad(input: Array, paddings: Pairs) -> Array:
    """Zeros before and after the elements of each axis."""
    return na.pad(input, integers(paddings))


def PadV2(input: Array, paddings: Pairs, constant_values: Array) -> Array:
    """A number before and after the elements of each axis."""
    pairs = integers(paddings)
    if not hasattr(constant_values, "dtype"):
        return na.pad(input, pairs, constant_values=constant_values)  # type: ignore[arg-type]
    inside = na.pad(na.ones_like(input, dtype=dtypes.bool), pairs)
    return na.where(inside, na.pad(input, pairs), constant_values)


def MirrorPad(input: Array, paddings: Pairs, mode: str) -> Array:
    """Mirrored elements at both ends of each axis."""
    return na.pad(input, integers(paddings), mode=mode.lower())


def MirrorPadGrad(input: Array, paddings: Pairs, mode: str) -> Array:
    """The gradient of `MirrorPad`."""
    pairs = integers(paddings)
    sizes = [n - sum(pair) for n, pair in zip(na.shape(input), pairs, strict=True)]
    start = na.zeros(sizes, dtype=dtypes.dtype_of(input), like=input)
    return na.vjp(lambda x: na.pad(x, pairs, mode=mode.lower()), start)[1](input)[0]


def ReverseV2(tensor: Array, axis: Ints) -> Array:
    """The elements of axes in reverse."""
    axes = integers(axis)
    return na.flip(tensor, axis=axes) if axes else tensor


def Reverse(tensor: Array, dims: Ints) -> Array:
    """The elements of the axes that are true in reverse."""
    chosen = dims if isinstance(dims, list) else [bool(x) for x in na.unstack(dims)]
    return ReverseV2(tensor, [i for i, is_reversed in enumerate(chosen) if is_reversed])


def ReverseSequence(input: Array, seq_lengths: Array, seq_dim: int, batch_dim: int = 0) -> Array:
    """The first elements of each sequence in reverse."""
    steps = na.shape(input)[seq_dim]
    lengths = na.expand_dims(na.astype(seq_lengths, dtypes.int32), 1)
    places = na.expand_dims(na.arange(steps, dtype=dtypes.int32, like=input), 0)
    back = na.subtract(na.subtract(lengths, 1), places)
    chosen = na.where(na.less(places, lengths), back, places)  # (batch, steps)
    moved = na.moveaxis(input, (batch_dim, seq_dim), (0, 1))
    index = na.reshape(chosen, (*na.shape(chosen), *[1] * (len(na.shape(input)) - 2)))
    found = na.take_along_axis(moved, na.broadcast_to(index, na.shape(moved)), axis=1)
    return na.moveaxis(found, (0, 1), (batch_dim, seq_dim))


def Roll(input: Array, shift: Ints, axis: Ints) -> Array:
    """The elements moved along axes, those beyond the end to the beginning."""
    return na.roll(input, integers(shift), axis=integers(axis))


def Fill(dims: Ints, value: Array) -> Array:
    """One number in each place."""
    if not hasattr(value, "dtype"):
        return na.full(integers(dims), value)  # type: ignore[arg-type]
    return na.broadcast_to(value, integers(dims))


def Empty(shape: Ints, dtype: DType, init: bool = False) -> Array:
    """Zeros."""
    return na.zeros(integers(shape), dtype=dtype)


def Range(start: float, limit: float, delta: float, Tidx: DType = dtypes.int32) -> Array:
    """Numbers from `start` to `limit`; `Tidx` is the dtype if no operand is an array."""
    values = [number(x) for x in (start, limit, delta)]
    like = next((x for x in (start, limit, delta) if hasattr(x, "dtype")), None)
    dtype = Tidx if like is None else dtypes.dtype_of(like)
    return na.arange(*values, dtype=dtype, like=like)


def LinSpace(start: Array, stop: Array, num: int) -> Array:
    """`num` numbers from `start` to `stop`, which is the last one; without a derivative."""
    start, stop = na.stop_gradient(start), na.stop_gradient(stop)
    count = integers(num)
    if count == 1:
        return na.expand_dims(start, 0)
    steps = na.arange(count, dtype=dtypes.dtype_of(start), like=start)
    found = na.add(start, na.multiply(steps, na.divide(na.subtract(stop, start), count - 1)))
    return na.concat([found[:-1], na.expand_dims(stop, 0)])  # type: ignore[index]


def OneHot(indices: Array, depth: int, on_value: Array, off_value: Array, axis: int = -1) -> Array:
    """`on_value` at each index along a new axis, `off_value` elsewhere; without a derivative."""
    found = na.one_hot(indices, integers(depth), axis=axis, dtype=dtypes.bool)
    if hasattr(on_value, "dtype") and dtypes.dtype_of(on_value) is dtypes.bool:
        both = na.logical_and(found, on_value), na.logical_and(na.logical_not(found), off_value)
        return na.logical_or(*both)
    return na.stop_gradient(na.where(found, on_value, off_value))


def InvertPermutation(x: Array) -> Array:
    """The inverse of a permutation."""
    return na.astype(na.argsort(x), dtypes.dtype_of(x))


def Shape(input: Array, out_type: DType = dtypes.int32) -> Array:
    """The sizes of the axes."""
    return na.asarray(na.shape(input), dtype=out_type, like=input)


def ShapeN(input: Sequence[Array], out_type: DType = dtypes.int32) -> tuple[Array, ...]:
    """The sizes of the axes of each tensor."""
    return tuple([Shape(x, out_type) for x in input])


def Rank(input: Array) -> Array:
    """The number of axes."""
    return na.full((), len(na.shape(input)), dtype=dtypes.int32, like=input)


def Size(input: Array, out_type: DType = dtypes.int32) -> Array:
    """The number of elements."""
    total = 1
    for n in na.shape(input):
        total = total * n
    return na.full((), total, dtype=out_type, like=input)


_LAYOUTS = {"NHWC": "channels_last", "NCHW": "channels_first"}


def DepthToSpace(input: Array, block_size: int, data_format: str = "NHWC") -> Array:
    """Channels as blocks of the image."""
    return na.depth_to_space(input, block_size=block_size, data_format=_layout(data_format))


def SpaceToDepth(input: Array, block_size: int, data_format: str = "NHWC") -> Array:
    """Blocks of the image as channels."""
    return na.space_to_depth(input, block_size=block_size, data_format=_layout(data_format))


def _layout(data_format: str) -> str:
    if data_format not in _LAYOUTS:
        raise UnsupportedError(
            f"data_format: got {data_format!r}, expected 'NHWC' or 'NCHW'; other layouts are of one "
            "accelerator's kernels"
        )
    return _LAYOUTS[data_format]


def DataFormatDimMap(x: Array, src_format: str = "NHWC", dst_format: str = "NCHW") -> Array:
    """The places in one layout of axes in another; negative axes count from the end."""
    places = [dst_format.index(axis) for axis in src_format]
    return na.take(na.asarray(places, dtype=dtypes.dtype_of(x), like=x), x % len(places), axis=0)


def DataFormatVecPermute(x: Array, src_format: str = "NHWC", dst_format: str = "NCHW") -> Array:
    """Numbers of the axes in another order: of all axes, or of the spatial ones alone."""
    if na.shape(x)[0] < len(src_format):
        src_format, dst_format = [
            f.replace("N", "").replace("C", "") for f in (src_format, dst_format)
        ]
    return na.take(x, na.asarray([src_format.index(axis) for axis in dst_format], like=x), axis=0)


def SpaceToBatchND(input: Array, block_shape: Ints, paddings: Pairs) -> Array:
    """The places of blocks as images."""
    block, pairs = integers(block_shape), integers(paddings)
    count = len(block)
    rank = len(na.shape(input))
    x = na.pad(input, [(0, 0), *pairs, *[(0, 0)] * (rank - 1 - count)])
    batch, *sizes = na.shape(x)
    rest = sizes[count:]
    split = [part for n, b in zip(sizes, block) for part in (n // b, b)]
    x = na.reshape(x, (batch, *split, *rest))
    blocks = tuple(range(2, 2 * count + 1, 2))
    grid = tuple(range(1, 2 * count, 2))
    x = na.permute_dims(x, (*blocks, 0, *grid, *range(2 * count + 1, len(na.shape(x)))))
    total = 1
    for b in block:
        total *= b
    return na.reshape(x, (batch * total, *[n // b for n, b in zip(sizes, block)], *rest))


def BatchToSpaceND(input: Array, block_shape: Ints, crops: Pairs) -> Array:
    """The inverse of `SpaceToBatchND`."""
    block, pairs = integers(block_shape), integers(crops)
    count = len(block)
    batch, *sizes = na.shape(input)
    rest = sizes[count:]
    total = 1
    for b in block:
        total *= b
    x = na.reshape(input, (*block, batch // total, *sizes))
    order = [count]
    for i in range(count):
        order += [count + 1 + i, i]
    x = na.permute_dims(x, (*order, *range(2 * count + 1, len(na.shape(x)))))
    x = na.reshape(x, (batch // total, *[n * b for n, b in zip(sizes, block)], *rest))
    ends = [(low, n * b - high) for n, b, (low, high) in zip(sizes, block, pairs)]
    return na.getitem(x, (slice(None), *[slice(low, high) for low, high in ends]))


def SpaceToBatch(input: Array, paddings: Pairs, block_size: int) -> Array:
    """`SpaceToBatchND` over two axes."""
    return SpaceToBatchND(input, (block_size, block_size), paddings)


def BatchToSpace(input: Array, crops: Pairs, block_size: int) -> Array:
    """`BatchToSpaceND` over two axes."""
    return BatchToSpaceND(input, (block_size, block_size), crops)

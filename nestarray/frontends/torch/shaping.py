"""Shapes: arrange, join, split and repeat elements.

Upstream: https://docs.pytorch.org/docs/stable/torch.html, one page a function:
https://docs.pytorch.org/docs/stable/generated/torch.reshape.html
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.torch.dims import (
    broadcast_shape,
    has_zero,
    ndim_of,
    numel_of,
    same_shape,
    shape_of,
    sizes,
    wrap,
    wrap_all,
)
from nestarray.frontends.torch.promotion import cast, result_type
from nestarray.typing import Array

__all__ = [
    "adjoint", "alias_copy", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shapes",
    "broadcast_tensors", "broadcast_to", "cartesian_prod", "cat", "chunk", "clone",
    "column_stack", "concat", "concatenate", "dsplit", "dstack", "expand_copy", "flatten", "flip",
    "fliplr", "flipud", "hsplit", "hstack", "meshgrid", "moveaxis", "movedim", "numel", "permute",
    "permute_copy", "ravel", "repeat_interleave", "reshape", "resolve_conj", "resolve_neg",
    "roll", "rot90", "row_stack", "split", "split_with_sizes", "split_with_sizes_copy", "squeeze",
    "squeeze_copy", "stack", "swapaxes", "swapdims", "t", "t_copy", "tensor_split", "tile",
    "transpose", "transpose_copy", "unbind", "unbind_copy", "unflatten", "unsafe_chunk",
    "unsafe_split", "unsafe_split_with_sizes", "unsqueeze", "unsqueeze_copy", "vsplit", "vstack",
]  # fmt: skip

_ALL = slice(None)

# -- order of dimensions -------------------------------------------------------------------


def permute(input: Array, dims: Sequence[int]) -> Array:
    """The dimensions in another order."""
    return na.permute_dims(input, tuple(wrap("permute", d, ndim_of(input)) for d in dims))


def transpose(input: Array, dim0: int, dim1: int) -> Array:
    """Two dimensions exchanged."""
    ndim = ndim_of(input)
    first, second = wrap("transpose", dim0, ndim), wrap("transpose", dim1, ndim)
    return input if first == second else na.swapaxes(input, first, second)


def t(input: Array) -> Array:
    """The transpose of a matrix; vectors stay."""
    if ndim_of(input) > 2:
        raise ShapeError(f"t: input: got {ndim_of(input)} dimensions, expected at most 2")
    return input if ndim_of(input) < 2 else na.permute_dims(input, (1, 0))


def adjoint(input: Array) -> Array:
    """Swap the last two dimensions and conjugate."""
    swapped = transpose(input, -2, -1)
    return na.conj(swapped) if dtypes.dtype_of(input).kind == "complex" else swapped


def movedim(input: Array, source: int | Sequence[int], destination: int | Sequence[int]) -> Array:
    """Move dimensions; the others keep their order."""
    for name, given in (("source", source), ("destination", destination)):
        places = wrap_all("movedim", given, ndim_of(input))
        if len(set(places)) != len(places):
            raise ArgumentError(f"movedim: {name}: got {given}, expected each dimension once")
    ndim = ndim_of(input)
    if ndim == 0:
        return input
    start, end = wrap_all("movedim", source, ndim), wrap_all("movedim", destination, ndim)
    return na.moveaxis(input, start, end)


def flip(input: Array, dims: int | Sequence[int]) -> Array:
    """The elements in reverse order along `dims`."""
    if not isinstance(dims, int) and len(dims) == 0:
        return input
    return na.flip(input, axis=wrap_all("flip", dims, ndim_of(input))) if ndim_of(input) else input


def fliplr(input: Array) -> Array:
    """Reversed along dimension 1."""
    return flip(input, (1,))


def flipud(input: Array) -> Array:
    """Reversed along dimension 0."""
    if ndim_of(input) < 1:
        raise ShapeError("flipud: input: got 0 dimensions, expected at least 1")
    return flip(input, (0,))


def rot90(input: Array, k: int = 1, dims: Sequence[int] = (0, 1)) -> Array:
    """Rotate by 90° `k` times in the plane of `dims`, from the first towards the second."""
    if len(set(wrap_all("rot90", dims, ndim_of(input)))) != 2 or len(dims) != 2:
        raise ArgumentError(f"rot90: dims: got {tuple(dims)}, expected two different dimensions")
    first, second = dims
    turns = k % 4
    if turns == 0:
        return input
    if turns == 2:
        return flip(input, (first, second))
    if turns == 1:
        return transpose(flip(input, (second,)), first, second)
    return flip(transpose(input, first, second), (second,))


def roll(
    input: Array, shifts: int | Sequence[int], dims: int | Sequence[int] | None = None
) -> Array:
    """Roll the elements along `dims`, cyclically."""
    moves = len(shifts) if isinstance(shifts, (list, tuple)) else 1
    places = len(dims) if isinstance(dims, (list, tuple)) else 1
    if moves != builtins.max(places, 1):
        raise ArgumentError(
            f"roll: shifts: got {moves}, expected one for each of {places} dimensions"
        )
    if dims is None or (not isinstance(dims, int) and len(dims) == 0):
        shift = shifts if isinstance(shifts, int) else shifts[0]
        return na.reshape(na.roll(na.reshape(input, (-1,)), shift, axis=0), shape_of(input))
    axes = wrap_all("roll", dims, ndim_of(input))
    steps = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    return na.roll(input, steps, axis=axes)


# -- one shape for another -----------------------------------------------------------------


def reshape(input: Array, shape: Sequence[int]) -> Array:
    """Reshape; one size may be −1."""
    wanted = sizes((shape,))
    if -1 in wanted and has_zero(wanted):
        raise ShapeError(
            f"reshape: shape: got {wanted}, expected no -1 beside 0: it could be any size"
        )
    return na.reshape(input, wanted)


def flatten(input: Array, start_dim: int = 0, end_dim: int = -1) -> Array:
    """Merge the dimensions from `start_dim` to `end_dim`."""
    shape = shape_of(input)
    start, end = wrap("flatten", start_dim, len(shape)), wrap("flatten", end_dim, len(shape))
    if start > end:
        raise ArgumentError(
            f"flatten: start_dim: got {start_dim}, which comes after the end_dim {end_dim}"
        )
    merged = math.prod(shape[start : end + 1])
    return na.reshape(input, (*shape[:start], merged, *shape[end + 1 :]))


def unflatten(input: Array, dim: int, sizes: Sequence[int]) -> Array:
    """One dimension as several; one size may be −1."""
    shape = shape_of(input)
    at = wrap("unflatten", dim, len(shape))
    parts = list(sizes)
    if -1 in parts:
        known = math.prod([s for s in parts if s != -1])
        parts[parts.index(-1)] = shape[at] // known if known else 0
    return na.reshape(input, (*shape[:at], *parts, *shape[at + 1 :]))


def ravel(input: Array) -> Array:
    """All elements in one dimension."""
    return na.reshape(input, (numel_of(input),))


def unsqueeze(input: Array, dim: int) -> Array:
    """A new dimension of size 1 at `dim`."""
    return na.expand_dims(input, axis=wrap("unsqueeze", dim, ndim_of(input) + 1))


def squeeze(input: Array, dim: int | Sequence[int] | None = None) -> Array:
    """Remove dimensions of size 1: all of them, or only the dimensions `dim`."""
    shape = shape_of(input)
    wanted = () if dim == () or dim == [] else wrap_all("squeeze", dim, len(shape))
    axes = tuple(a for a in wanted if a < len(shape) and shape[a] == 1)
    return na.squeeze(input, axis=axes) if axes else input


def broadcast_to(input: Array, size: Sequence[int]) -> Array:
    """Broadcast to a shape; −1 keeps a size."""
    wanted = list(sizes((size,)))
    own = shape_of(input)
    offset = len(wanted) - len(own)
    for i, n in enumerate(wanted):
        if n == -1:
            wanted[i] = own[i - offset]
    return input if same_shape(wanted, own) else na.broadcast_to(input, tuple(wanted))


def broadcast_tensors(*tensors: Array) -> tuple[Array, ...]:
    """The arrays in their common shape."""
    arrays = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    shape = broadcast_shape(*(shape_of(x) for x in arrays))
    return tuple(broadcast_to(x, shape) for x in arrays)


def broadcast_shapes(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The common shape."""
    return broadcast_shape(*((s,) if isinstance(s, int) else s for s in shapes))


def atleast_1d(*tensors: Array) -> Any:
    """With at least one dimension."""
    return _each(tensors, lambda x: x if ndim_of(x) else na.reshape(x, (1,)))


def atleast_2d(*tensors: Array) -> Any:
    """With at least two dimensions, new ones in front."""
    return _each(tensors, lambda x: x if ndim_of(x) >= 2 else na.reshape(x, (1, numel_of(x))))


def atleast_3d(*tensors: Array) -> Any:
    """With at least three dimensions."""

    def three(x: Array) -> Array:
        shape = shape_of(x)
        if len(shape) >= 3:
            return x
        return na.reshape(x, (*shape, 1) if len(shape) == 2 else (1, numel_of(x), 1))

    return _each(tensors, three)


def _each(tensors: tuple[Any, ...], function: Any) -> Any:
    if len(tensors) == 1 and not isinstance(tensors[0], (list, tuple)):
        return function(tensors[0])
    arrays = tensors[0] if len(tensors) == 1 else tensors
    return tuple(function(x) for x in arrays)


# -- joining -------------------------------------------------------------------------------


def cat(tensors: Sequence[Array], dim: int = 0) -> Array:
    """Concatenate along `dim`; empty 1-d arrays are ignored."""
    if not tensors:
        raise ArgumentError("cat: tensors: got no arrays, expected at least one")
    dtype = result_type(*tensors)
    arrays = [x for x in tensors if ndim_of(x) != 1 or shape_of(x)[0] != 0] or list(tensors)[:1]
    arrays = [cast(x, dtype) for x in arrays]
    if len(arrays) == 1:
        return arrays[0]
    return na.concat(arrays, axis=wrap("cat", dim, ndim_of(arrays[0])))


def stack(tensors: Sequence[Array], dim: int = 0) -> Array:
    """The arrays side by side along a new dimension."""
    if not tensors:
        raise ArgumentError("stack: tensors: got no arrays, expected at least one")
    dtype = result_type(*tensors)
    axis = wrap("stack", dim, ndim_of(tensors[0]) + 1)
    return na.stack([cast(x, dtype) for x in tensors], axis=axis)


def hstack(tensors: Sequence[Array]) -> Array:
    """Joined along dimension 1; 1-d arrays along 0."""
    arrays = [atleast_1d(x) for x in tensors]
    return cat(arrays, 0 if ndim_of(arrays[0]) == 1 else 1)


def vstack(tensors: Sequence[Array]) -> Array:
    """Joined along dimension 0; 1-d arrays as rows."""
    return cat([atleast_2d(x) for x in tensors], 0)


def dstack(tensors: Sequence[Array]) -> Array:
    """Joined along dimension 2."""
    return cat([atleast_3d(x) for x in tensors], 2)


def column_stack(tensors: Sequence[Array]) -> Array:
    """1-d arrays as columns of a matrix."""
    return hstack([x if ndim_of(x) >= 2 else na.reshape(x, (-1, 1)) for x in tensors])


def meshgrid(*tensors: Array, indexing: str = "ij") -> tuple[Array, ...]:
    """The coordinates of a grid, one array for each 1-d array."""
    arrays = tensors[0] if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    if indexing not in ("ij", "xy"):
        raise ArgumentError(f"meshgrid: indexing: got {indexing!r}, expected 'ij' or 'xy'")
    arrays = [atleast_1d(x) for x in arrays]
    shape = tuple(numel_of(x) for x in arrays)
    grids = []
    for i, x in enumerate(arrays):
        row = na.reshape(x, tuple(-1 if j == i else 1 for j in range(len(arrays))))
        grid = na.broadcast_to(row, shape)
        swap = indexing == "xy" and len(arrays) > 1
        grids.append(na.swapaxes(grid, 0, 1) if swap else grid)
    return tuple(grids)


def cartesian_prod(*tensors: Array) -> Array:
    """All tuples with one element of each array, as rows."""
    if len(tensors) == 1:
        return tensors[0]
    return na.stack([na.reshape(x, (-1,)) for x in meshgrid(*tensors)], axis=1)


# -- splitting -----------------------------------------------------------------------------


def split(
    tensor: Array, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Array, ...]:
    """Split into parts of one size (the last may be smaller), or of given sizes."""
    axis = wrap("split", dim, ndim_of(tensor))
    total = shape_of(tensor)[axis]
    if isinstance(split_size_or_sections, int):
        size = split_size_or_sections
        if total == 0 or size == 0:
            return (tensor,)
        parts = [builtins.min(size, total - start) for start in range(0, total, size)]
    else:
        parts = list(split_size_or_sections)
    return na.split(tensor, parts, axis=axis)


def chunk(input: Array, chunks: int, dim: int = 0) -> tuple[Array, ...]:
    """Split into at most `chunks` parts of equal size; the last may be smaller."""
    axis = wrap("chunk", dim, ndim_of(input))
    if chunks < 1:
        raise ArgumentError(f"chunk: chunks: got {chunks}, expected at least 1")
    total = shape_of(input)[axis]
    if total == 0:
        return (input,) * chunks
    return split(input, -(-total // chunks), axis)


def tensor_split(input: Array, indices_or_sections: Any, dim: int = 0) -> tuple[Array, ...]:
    """Split into `n` parts whose sizes differ by at most 1, or before each index."""
    axis = wrap("tensor_split", dim, ndim_of(input))
    total = shape_of(input)[axis]
    if hasattr(indices_or_sections, "dtype"):  # an array, read as numbers
        listed = na.reshape(indices_or_sections, (-1,))
        numbers = [int(n) for n in na.unstack(listed, axis=0)] if numel_of(listed) else []
        indices_or_sections = numbers if ndim_of(indices_or_sections) else numbers[0]
    if isinstance(indices_or_sections, int):
        small, more = divmod(total, indices_or_sections)
        return split(input, [small + (i < more) for i in range(indices_or_sections)], axis)
    cuts = [builtins.slice(int(i)).indices(total)[1] for i in indices_or_sections]
    before = (_ALL,) * axis
    return tuple(
        na.getitem(input, (*before, builtins.slice(a, builtins.max(a, b))))
        for a, b in zip([0, *cuts], [*cuts, total])
    )


def unbind(input: Array, dim: int = 0) -> tuple[Array, ...]:
    """The slices along a dimension, without it."""
    return na.unstack(input, axis=wrap("unbind", dim, ndim_of(input)))


# -- repetition ----------------------------------------------------------------------------


def tile(input: Array, dims: Sequence[int]) -> Array:
    """Tile the array; missing dimensions are added in front."""
    counts = tuple(dims)
    missing = ndim_of(input) - len(counts)
    return na.tile(input, (1,) * builtins.max(missing, 0) + counts)


def repeat_interleave(
    input: Array,
    repeats: int | Array | None = None,
    dim: int | None = None,
    *,
    output_size: int | None = None,
) -> Array:
    """Repeat each element; with one argument, return each index as often as the argument says."""
    if repeats is None:
        return na.repeat(na.arange(numel_of(input), dtype=dtypes.int64, like=input), input, axis=0)
    if dim is None:
        input, dim = na.reshape(input, (-1,)), 0
    if not isinstance(repeats, int) and numel_of(repeats) == 1 and ndim_of(repeats) == 1:
        repeats = na.broadcast_to(repeats, (shape_of(input)[dim],))
    return na.repeat(input, repeats, axis=wrap("repeat_interleave", dim, ndim_of(input)))


# -- copies --------------------------------------------------------------------------------


def clone(input: Array) -> Array:
    """input: arrays are values here, so that no copy is needed."""
    return input


resolve_conj = resolve_neg = alias_copy = clone


def numel(input: Array) -> int:
    """The number of elements."""
    return numel_of(input)


swapaxes = swapdims = transpose
moveaxis = movedim
concat = concatenate = cat
row_stack = vstack


def hsplit(input: Array, indices_or_sections: int | Sequence[int]) -> tuple[Array, ...]:
    """Split along the second dimension; along the only one for 1-d arrays."""
    _expect_sections("hsplit", indices_or_sections, input, 0 if ndim_of(input) == 1 else 1)
    return tensor_split(input, indices_or_sections, 0 if ndim_of(input) == 1 else 1)


def vsplit(input: Array, indices_or_sections: int | Sequence[int]) -> tuple[Array, ...]:
    """Parts along the first dimension."""
    _expect_sections("vsplit", indices_or_sections, input, 0)
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input: Array, indices_or_sections: int | Sequence[int]) -> tuple[Array, ...]:
    """Parts along the third dimension."""
    _expect_sections("dsplit", indices_or_sections, input, 2)
    return tensor_split(input, indices_or_sections, 2)


def _expect_sections(name: str, sections: Any, x: Array, axis: int) -> None:
    if ndim_of(x) <= axis:
        raise ShapeError(
            f"{name}: input: got {ndim_of(x)} dimensions, expected at least {axis + 1}"
        )
    if isinstance(sections, int) and shape_of(x)[axis] % sections:
        raise ShapeError(
            f"{name}: got {sections} parts of a dimension of size {shape_of(x)[axis]}, "
            "expected a divisor"
        )


def split_with_sizes(input: Array, split_sizes: Sequence[int], dim: int = 0) -> tuple[Array, ...]:
    """Split into parts of the given sizes, whose sum is the size of the dimension."""
    size = shape_of(input)[wrap("split_with_sizes", dim, ndim_of(input))]
    if sum(split_sizes) != size:
        raise ShapeError(
            f"split_with_sizes: split_sizes: got {list(split_sizes)}, of the sum "
            f"{sum(split_sizes)}, expected the sum {size}"
        )
    return split(input, list(split_sizes), dim)


# -- upstream's names for results that share no memory, which nothing here does ---------------

permute_copy, transpose_copy, t_copy = permute, transpose, t
squeeze_copy, unsqueeze_copy, unbind_copy = squeeze, unsqueeze, unbind
unsafe_chunk, unsafe_split, unsafe_split_with_sizes = chunk, split, split_with_sizes
split_with_sizes_copy, expand_copy = split_with_sizes, broadcast_to

"""Methods of torch.Tensor, as functions of the tensor: ``torch.Tensor.view(x, 2, 3)``.

Methods that are functions of `torch` too are found there. Upstream:
https://docs.pytorch.org/docs/stable/tensors.html, one page a method:
https://docs.pytorch.org/docs/stable/generated/torch.Tensor.view.html
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError, UnsupportedError
from nestarray.frontends.torch import contraction, pointwise, representation, shaping
from nestarray.frontends.torch.dims import ndim_of, shape_of, sizes, wrap
from nestarray.frontends.torch.promotion import cast, fill_number, is_number, to_array
from nestarray.frontends.torch.sampling import cauchy as cauchy
from nestarray.frontends.torch.sampling import exponential as exponential
from nestarray.frontends.torch.sampling import geometric as geometric
from nestarray.frontends.torch.sampling import log_normal as log_normal
from nestarray.frontends.torch.sampling import uniform as uniform
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.transforms.control_flow import known
from nestarray.typing import Array, DTypeLike

__all__ = [
    "H", "T", "bfloat16", "bool", "byte", "cauchy", "cdouble", "cfloat", "char", "contiguous",
    "copy", "detach", "dim", "double", "expand", "expand_as", "exponential", "fill",
    "fill_diagonal", "float", "geometric", "half", "int", "item", "log_normal", "long", "mH",
    "mT", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros",
    "repeat", "reshape_as", "short", "size", "sum_to_size", "to", "type_as", "unfold",
    "unfold_copy", "uniform", "view", "view_as", "view_copy",
]  # fmt: skip

# -- shape ---------------------------------------------------------------------------------


def view(input: Array, *size: Any, dtype: DTypeLike | None = None) -> Array:
    """Reshape, one size may be −1; or the bits as elements of `dtype`, without a gradient."""
    if dtype is None and len(size) == 1 and isinstance(size[0], dtypes.DType):
        dtype = size[0]
    if dtype is not None:
        return na.bitcast(input, dtype)
    return shaping.reshape(input, sizes(size))


def view_as(input: Array, other: Array) -> Array:
    """The elements in the shape of `other`."""
    return na.reshape(input, shape_of(other))


def reshape_as(input: Array, other: Array) -> Array:
    """The elements in the shape of `other`."""
    return na.reshape(input, shape_of(other))


def expand(input: Array, *size: Any) -> Array:
    """Broadcast to a shape; −1 keeps a size."""
    return shaping.broadcast_to(input, sizes(size))


def expand_as(input: Array, other: Array) -> Array:
    """`expand` to the shape of `other`."""
    return shaping.broadcast_to(input, shape_of(other))


def repeat(input: Array, *repeats: Any) -> Array:
    """Tile the array `repeats` times along each dimension; new dimensions come first."""
    return na.tile(input, sizes(repeats))


def unfold(input: Array, dimension: builtins.int, size: builtins.int, step: builtins.int) -> Array:
    """The windows of `size` elements along a dimension, as a new last dimension."""
    if ndim_of(input) == 0:
        return na.reshape(input, (1,))
    axis = wrap("unfold", dimension, ndim_of(input))
    return na.sliding_window_view(input, size, axis=axis, step=step)


def size(input: Array, dim: builtins.int | None = None) -> Any:
    """The shape, or the size of one dimension."""
    shape = shape_of(input)
    if None in shape:
        raise UnsupportedError(
            f"size: input: got an array of shape {shape} in a tf.function that does not know its "
            "sizes, of which the code makes shapes; trace it for each shape: graph.compile(), or a "
            "tf.function without input_signature"
        )
    return shape if dim is None else shape[wrap("size", dim, len(shape))]


def dim(input: Array) -> builtins.int:
    """The number of dimensions."""
    return ndim_of(input)


def sum_to_size(input: Array, *size: Any) -> Array:
    """The sum over the dimensions along which `size` was broadcast to the shape of input."""
    wanted = sizes(size)
    own = shape_of(input)
    lead = len(own) - len(wanted)
    fits = lead >= 0 and all(n in (1, m) for n, m in zip(wanted, own[lead:]))
    if not fits:
        raise ShapeError(
            f"sum_to_size: size: got {wanted} for an array of shape {own}, "
            "expected a shape that broadcasts to it"
        )
    summed = [*range(lead), *(lead + i for i, n in enumerate(wanted) if n != own[lead + i])]
    dtype = dtypes.dtype_of(input)
    x = input if dtype.is_inexact or not (summed or not wanted) else cast(input, dtypes.int64)
    return na.reshape(na.sum(x, axis=builtins.tuple(summed)) if summed else x, wanted)


# -- dtype ---------------------------------------------------------------------------------


def to(input: Array, dtype: DTypeLike | None = None) -> Array:
    """input as `dtype`."""
    return input if dtype is None else cast(input, dtype)


def type_as(input: Array, other: Array) -> Array:
    """input in the dtype of `other`."""
    return cast(input, dtypes.dtype_of(other))


def double(input: Array) -> Array:
    """input as float64."""
    return cast(input, dtypes.float64)


def float(input: Array) -> Array:
    """input as float32."""
    return cast(input, dtypes.float32)


def half(input: Array) -> Array:
    """input as float16."""
    return cast(input, dtypes.float16)


def bfloat16(input: Array) -> Array:
    """input as bfloat16."""
    return cast(input, dtypes.bfloat16)


def long(input: Array) -> Array:
    """input as int64."""
    return cast(input, dtypes.int64)


def int(input: Array) -> Array:
    """input as int32."""
    return cast(input, dtypes.int32)


def bool(input: Array) -> Array:
    """Where input is not 0."""
    return cast(input, dtypes.bool)


def byte(input: Array) -> Array:
    """input as uint8."""
    return cast(input, dtypes.uint8)


def char(input: Array) -> Array:
    """input as int8."""
    return cast(input, dtypes.int8)


def short(input: Array) -> Array:
    """input as int16."""
    return cast(input, dtypes.int16)


def cfloat(input: Array) -> Array:
    """input as complex64."""
    return cast(input, dtypes.complex64)


def cdouble(input: Array) -> Array:
    """input as complex128."""
    return cast(input, dtypes.complex128)


# -- copies --------------------------------------------------------------------------------


def contiguous(input: Array) -> Array:
    """input: layout is the framework's business."""
    return input


def detach(input: Array) -> Array:
    """input, through which no gradient flows."""
    return na.stop_gradient(input)


def copy(input: Array, src: Array) -> Array:
    """`src` in the shape and dtype of input: ``copy_`` as a function."""
    return shaping.broadcast_to(cast(src, dtypes.dtype_of(input)), shape_of(input))


def fill(input: Array, value: Array | builtins.float) -> Array:
    """`value` everywhere: ``fill_`` as a function."""
    dtype = dtypes.dtype_of(input)
    value = to_array(fill_number("fill", value, dtype), dtype, input)
    return na.broadcast_to(value, shape_of(input))


def item(input: Array) -> Any:
    """The only element as a Python number, a constant for derivatives.

    In compiled code a floating number stays an array; an integer cannot be compiled, as it may
    be a size.
    """
    element = na.reshape(input, ())
    kind = dtypes.dtype_of(input).kind
    if kind in ("float", "complex"):
        element = na.stop_gradient(element)
        value = known(element)
        return element if value is None else value
    return builtins.bool(element) if kind == "bool" else builtins.int(element)


# -- new arrays of the same kind -----------------------------------------------------------


def new_zeros(input: Array, *size: Any, dtype: DTypeLike | None = None) -> Array:
    """Zeros of the dtype of input."""
    return na.zeros(sizes(size), dtype=_own(input, dtype), like=input)


def new_ones(input: Array, *size: Any, dtype: DTypeLike | None = None) -> Array:
    """Ones of the dtype of input."""
    return na.ones(sizes(size), dtype=_own(input, dtype), like=input)


def new_empty(input: Array, *size: Any, dtype: DTypeLike | None = None) -> Array:
    """An array with undefined elements; zeros here."""
    return new_zeros(input, *size, dtype=dtype)


def new_full(
    input: Array,
    size: Sequence[builtins.int],
    fill_value: builtins.float,
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """`fill_value` everywhere, of the dtype of input."""
    wanted = _own(input, dtype)
    value = fill_number("new_full", fill_value, wanted)
    return na.full(sizes((size,)), value, dtype=wanted, like=input)


def new_tensor(input: Array, data: Any, *, dtype: DTypeLike | None = None) -> Array:
    """An array of a number or nested lists, of the dtype of input."""
    if is_number(data):
        return to_array(data, _own(input, dtype), input)
    return na.asarray(data, dtype=_own(input, dtype), like=input)


def _own(x: Array, dtype: DTypeLike | None) -> DTypeLike:
    return dtypes.dtype_of(x) if dtype is None else dtype


# -- in-place methods of upstream, as functions --------------------------------------------


def fill_diagonal(input: Array, fill_value: builtins.float) -> Array:
    """input with one value on the main diagonal of a matrix."""
    rows, columns = shape_of(input)[-2:]
    places = na.eye(rows, columns, dtype=dtypes.bool, like=input)
    dtype = dtypes.dtype_of(input)
    value = to_array(fill_number("fill_diagonal", fill_value, dtype), dtype, input)
    return na.where(places, value, input)


def __getitem__(input: Array, index: Any) -> Array:
    """The part that `index` names, by NumPy's rules."""
    return na.getitem(input, index)


def T(input: Array) -> Array:
    """Reverse the dimensions; a 0-d array is unchanged."""
    ndim = ndim_of(input)
    return input if ndim < 2 else na.permute_dims(input, builtins.tuple(range(ndim))[::-1])


def mT(input: Array) -> Array:
    """The last two dimensions exchanged."""
    return shaping.transpose(input, -2, -1)


def mH(input: Array) -> Array:
    """Swap the last two dimensions and conjugate."""
    return shaping.adjoint(input)


def H(input: Array) -> Array:
    """The conjugate transpose of a matrix; of a 0-d array the conjugate."""
    if ndim_of(input) not in (0, 2):
        raise ShapeError(f"H: input: got {ndim_of(input)} dimensions, expected a matrix")
    return shaping.adjoint(input) if ndim_of(input) else representation.conj_physical(input)


# -- operators with the array on the right ---------------------------------------------------


def __radd__(input: Array, other: Any) -> Array:
    """other + input."""
    return pointwise.add(other, input)


def __rsub__(input: Array, other: Any) -> Array:
    """other − input."""
    return pointwise.sub(other, input)


def __rmul__(input: Array, other: Any) -> Array:
    """other · input."""
    return pointwise.mul(other, input)


def __rdiv__(input: Array, other: Any) -> Array:
    """other / input."""
    return pointwise.div(other, input)


def __rmod__(input: Array, other: Any) -> Array:
    """The remainder of other / input."""
    return pointwise.remainder(other, input)


def __rpow__(input: Array, other: Any) -> Array:
    """other to the input."""
    return pointwise.pow(other, input)


def __rmatmul__(input: Array, other: Array) -> Array:
    """other @ input."""
    return contraction.matmul(other, input)


def __rand__(input: Array, other: Any) -> Array:
    """other & input."""
    return pointwise.bitwise_and(other, input)


def __ror__(input: Array, other: Any) -> Array:
    """other | input."""
    return pointwise.bitwise_or(other, input)


def __rxor__(input: Array, other: Any) -> Array:
    """other ^ input."""
    return pointwise.bitwise_xor(other, input)


def new_empty_strided(
    input: Array,
    size: Sequence[builtins.int],
    stride: Sequence[builtins.int],
    *,
    dtype: DTypeLike | None = None,
) -> Array:
    """An array with undefined elements; zeros here, in row-major order."""
    return new_zeros(input, *size, dtype=dtype)


view_copy, unfold_copy = view, unfold


_public_namespace(__name__)

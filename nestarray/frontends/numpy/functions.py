"""NumPy's functions that the JAX frontend also has, with NumPy's arguments and dtypes.

Upstream: https://numpy.org/doc/stable/reference/routines.html
"""

from __future__ import annotations

import builtins
import functools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, ShapeError
from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.numpy.adaptation import adapted
from nestarray.frontends.numpy.arrays import as_array, cast, is_number
from nestarray.typing import Array

__all__ = [
    "allclose", "append",
    "apply_over_axes", "arange", "argmax", "argmin", "argpartition", "argsort", "argwhere",
    "around", "array_equal", "array_equiv", "array_split",
    "atleast_1d", "atleast_2d", "atleast_3d", "bartlett", "blackman",
    "broadcast_arrays", "broadcast_shapes", "broadcast_to",
    "column_stack", "concat", "concatenate", "convolve", "corrcoef",
    "correlate", "count_nonzero", "cov", "cross", "cumulative_prod",
    "cumulative_sum", "delete", "diag", "diag_indices", "diag_indices_from", "diagflat",
    "diagonal", "digitize", "dot", "dsplit", "dstack", "ediff1d", "empty", "empty_like",
    "expand_dims", "extract", "eye", "flatnonzero", "flip", "fliplr", "flipud", "from_dlpack",
    "frombuffer", "fromfunction", "geomspace", "gradient", "hamming",
    "hanning", "hsplit",
    "hstack", "i0", "identity", "imag", "indices", "inner", "intersect1d",
    "isclose", "iscomplex", "isin", "isneginf", "isposinf", "isreal", "ix_", "kaiser", "kron",
    "lexsort", "logspace", "mask_indices", "matmul", "matrix_transpose", "matvec",
    "mean", "meshgrid", "moveaxis", "nan_to_num",
    "nanmax", "nanmean", "nanmin",
    "nanprod", "nanstd", "nansum", "nanvar", "ndim",
    "ones", "ones_like", "outer", "packbits", "partition", "permute_dims",
    "poly", "polyadd", "polydiv", "polyfit", "polymul",
    "polysub", "polyval", "ptp", "ravel", "ravel_multi_index", "real",
    "repeat", "reshape", "resize", "roll", "rollaxis", "roots", "rot90", "round",
    "searchsorted", "select",  "setxor1d", "shape", "sinc", "size", "sort",
    "split", "squeeze", "stack", "std", "swapaxes",
    "take_along_axis", "tensordot", "tile", "trace", "transpose", "tri", "tril",
    "tril_indices", "tril_indices_from", "triu", "triu_indices",
    "triu_indices_from", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "unpackbits", "unstack", "vander", "var",
    "vdot", "vecdot", "vecmat", "vsplit", "vstack", "zeros", "zeros_like",
]  # fmt: skip


def _triangle(function: Callable[..., Array], m: Array, k: int = 0) -> Array:
    """A triangle of matrices; a vector is the rows of a square matrix."""
    sizes = na.shape(m)
    if not sizes:
        raise ArgumentError("tril, triu: m: got shape (), expected at least one axis")
    return function(na.broadcast_to(m, sizes * 2) if len(sizes) == 1 else m, k)


def _cumulative(
    function: Callable[..., Array],
    x: Array,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: builtins.bool = False,
) -> Array:
    """Cumulative results; of a number as of a vector."""
    x = x if na.shape(x) else na.reshape(x, (1,))
    if axis is None and len(na.shape(x)) > 1:
        raise ArgumentError(f"axis: got None for shape {na.shape(x)}, expected an axis")
    return function(x, axis=axis, dtype=dtype, include_initial=include_initial)


def _rounded(a: Array, decimals: int = 0) -> Array:
    """Rounded elements; NumPy's bool numbers become float16."""
    return jnp.round(cast(a, np.float16) if na.dtype_of(a) is na.bool else a, decimals)


def _partitioned(a: Array, kth: Any, axis: int | None = -1) -> Array:
    """The elements at the positions `kth` of a sorted array, between smaller and larger ones."""
    return jnp.sort(a, axis)


def _argpartitioned(a: Array, kth: Any, axis: int | None = -1) -> Array:
    """The positions of a partition."""
    return jnp.argsort(a, axis)


def _cross(
    a: Array,
    b: Array,
    axisa: int = -1,
    axisb: int = -1,
    axisc: int = -1,
    axis: int | None = None,
) -> Array:
    """The cross product of vectors of length 3; NumPy 2.5 refuses those of length 2."""
    first, second = (axisa, axisb) if axis is None else (axis, axis)
    sizes = (na.shape(a)[first], na.shape(b)[second])
    if sizes != (3, 3):
        raise ShapeError(f"cross: got vectors of lengths {sizes[0]} and {sizes[1]}, expected 3")
    return jnp.cross(a, b, axisa, axisb, axisc, axis)


def _sorted(
    a: Array,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """Sorted, NaN last in both orders."""
    if descending and dtypes.dtype_of(a).is_inexact:
        return na.negative(jnp.sort(na.negative(a), axis))
    return jnp.sort(a, axis, descending=descending)


def _argsorted(
    a: Array,
    axis: int | None = -1,
    *,
    kind: None = None,
    order: None = None,
    stable: bool = True,
    descending: bool = False,
) -> Array:
    """The positions that sort an array, NaN last in both orders."""
    if descending and dtypes.dtype_of(a).is_inexact:
        return jnp.argsort(na.negative(a), axis)
    return jnp.argsort(a, axis, descending=descending)


# -- creation ------------------------------------------------------------------------------------

arange = adapted("arange", jnp.arange)
diag = adapted("diag", jnp.diag)
diag_indices = adapted("diag_indices", jnp.diag_indices, result=np.int64)
diag_indices_from = adapted("diag_indices_from", jnp.diag_indices_from)
diagflat = adapted("diagflat", jnp.diagflat)
empty = adapted("empty", jnp.empty)
empty_like = adapted("empty_like", jnp.empty_like)
eye = adapted("eye", jnp.eye)
from_dlpack = adapted("from_dlpack", jnp.from_dlpack)
frombuffer = adapted("frombuffer", jnp.frombuffer)
fromfunction = adapted("fromfunction", jnp.fromfunction)
geomspace = adapted("geomspace", jnp.geomspace)
identity = adapted("identity", jnp.identity)
indices = adapted("indices", jnp.indices)
logspace = adapted("logspace", jnp.logspace)
mask_indices = adapted("mask_indices", jnp.mask_indices, result=np.int64)
meshgrid = adapted("meshgrid", jnp.meshgrid, kept=["xi"])
ones = adapted("ones", jnp.ones)
ones_like = adapted("ones_like", jnp.ones_like)
tri = adapted("tri", jnp.tri)
tril = adapted("tril", partial(_triangle, jnp.tril))
tril_indices = adapted("tril_indices", jnp.tril_indices, result=np.int64)
tril_indices_from = adapted("tril_indices_from", jnp.tril_indices_from, result=np.int64)
triu = adapted("triu", partial(_triangle, jnp.triu))
triu_indices = adapted("triu_indices", jnp.triu_indices, result=np.int64)
triu_indices_from = adapted("triu_indices_from", jnp.triu_indices_from, result=np.int64)
vander = adapted("vander", jnp.vander, with_dtype=np.int64)
zeros = adapted("zeros", jnp.zeros)
zeros_like = adapted("zeros_like", jnp.zeros_like)
bartlett = adapted("bartlett", lambda M: jnp.bartlett(builtins.max(M, 0)))
blackman = adapted("blackman", lambda M: jnp.blackman(builtins.max(M, 0)))
hamming = adapted("hamming", lambda M: jnp.hamming(builtins.max(M, 0)))
hanning = adapted("hanning", lambda M: jnp.hanning(builtins.max(M, 0)))
kaiser = adapted("kaiser", jnp.kaiser)

# -- shapes --------------------------------------------------------------------------------------


def _whole(x: Any) -> Any:
    """Numbers without their fractions, as NumPy takes counts."""
    if isinstance(x, (list, tuple)):
        return type(x)(map(_whole, x))
    if is_number(x):  # an integer may be a size that a recorder leaves open
        return int(x) if type(x) in (bool, float) else x
    return na.astype(x, dtypes.int64) if dtypes.dtype_of(x).is_floating else x


def _repeat(a: Array, repeats: Any, axis: int | None = None) -> Array:
    """Each element repeated; counts with fractions are numbers or lists."""
    if is_number(repeats):
        repeats = _whole(repeats)
    elif not hasattr(repeats, "dtype"):
        repeats = as_array(np.asarray(_whole(repeats), np.int64), a)
    elif dtypes.dtype_of(repeats) is dtypes.bool:
        repeats = na.astype(repeats, dtypes.int64)
    return jnp.repeat(a, repeats, axis)


def _roll(a: Array, shift: Any, axis: Any = None) -> Array:
    """Shifted along axes; elements that leave at one end return at the other."""
    return jnp.roll(a, _whole(shift), axis)


append = adapted("append", jnp.append)
array_split = adapted("array_split", jnp.array_split)
atleast_1d = adapted("atleast_1d", jnp.atleast_1d, kept=["arys"])
atleast_2d = adapted("atleast_2d", jnp.atleast_2d, kept=["arys"])
atleast_3d = adapted("atleast_3d", jnp.atleast_3d, kept=["arys"])
broadcast_arrays = adapted("broadcast_arrays", jnp.broadcast_arrays, kept=["args"])
broadcast_shapes = adapted("broadcast_shapes", jnp.broadcast_shapes)
broadcast_to = adapted("broadcast_to", jnp.broadcast_to)
column_stack = adapted("column_stack", jnp.column_stack)
concat = concatenate = adapted("concatenate", jnp.concatenate, result="dtype")
delete = adapted("delete", jnp.delete)
diagonal = adapted("diagonal", jnp.diagonal)
dsplit = adapted("dsplit", jnp.dsplit)
dstack = adapted("dstack", jnp.dstack)
expand_dims = adapted("expand_dims", jnp.expand_dims)
flip = adapted("flip", jnp.flip)
fliplr = adapted("fliplr", jnp.fliplr)
flipud = adapted("flipud", jnp.flipud)
hsplit = adapted("hsplit", jnp.hsplit)
hstack = adapted("hstack", jnp.hstack, result="dtype")
matrix_transpose = adapted("matrix_transpose", jnp.matrix_transpose)
moveaxis = adapted("moveaxis", jnp.moveaxis)
ndim = adapted("ndim", jnp.ndim, arrays=["a"])
permute_dims = adapted("permute_dims", jnp.permute_dims)
ravel = adapted("ravel", jnp.ravel)
repeat = adapted("repeat", _repeat)
reshape = adapted("reshape", jnp.reshape)
resize = adapted("resize", jnp.resize)
roll = adapted("roll", _roll)
rollaxis = adapted("rollaxis", jnp.rollaxis)
rot90 = adapted("rot90", jnp.rot90)
shape = adapted("shape", jnp.shape, arrays=["a"])
size = adapted("size", jnp.size, arrays=["a"])
split = adapted("split", jnp.split)
squeeze = adapted("squeeze", jnp.squeeze)
stack = adapted("stack", jnp.stack, result="dtype")
swapaxes = adapted("swapaxes", jnp.swapaxes)
tile = adapted("tile", jnp.tile)
transpose = adapted("transpose", jnp.transpose)
unstack = adapted("unstack", jnp.unstack)
vsplit = adapted("vsplit", jnp.vsplit)
vstack = adapted("vstack", jnp.vstack, result="dtype")

# -- reductions ----------------------------------------------------------------------------------

argmax = adapted("argmax", jnp.argmax)
argmin = adapted("argmin", jnp.argmin)
count_nonzero = adapted("count_nonzero", jnp.count_nonzero)
cumulative_prod = adapted("cumulative_prod", partial(_cumulative, jnp.cumulative_prod))
cumulative_sum = adapted("cumulative_sum", partial(_cumulative, jnp.cumulative_sum))
nanmax = adapted("nanmax", jnp.nanmax)
nanmin = adapted("nanmin", jnp.nanmin)
nanprod = adapted("nanprod", jnp.nanprod)
nansum = adapted("nansum", jnp.nansum)
ptp = adapted("ptp", jnp.ptp)
trace = adapted("trace", jnp.trace)

# -- statistics ----------------------------------------------------------------------------------

corrcoef = adapted("corrcoef", jnp.corrcoef, with_dtype=np.float64)
cov = adapted("cov", jnp.cov, with_dtype=np.float64)
digitize = adapted("digitize", jnp.digitize)
mean = adapted("mean", jnp.mean, is_inexact=True)
nanmean = adapted("nanmean", jnp.nanmean, is_inexact=True)
nanstd = adapted("nanstd", jnp.nanstd, is_inexact=True)
nanvar = adapted("nanvar", jnp.nanvar, is_inexact=True)


def _infinite(function: Callable[..., Any]) -> Callable[..., Any]:
    """A variance that is infinite, where upstream divides by 0 degrees of freedom."""

    @functools.wraps(function)
    def call(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0,
             keepdims: bool = False, *, where: Any = None, mean: Any = None,
             correction: float | None = None) -> Any:  # fmt: skip
        ddof = ddof if correction is None else correction
        if ddof and where is mean is None:
            axes = range(len(na.shape(a))) if axis is None else np.atleast_1d(axis)
            count = math.prod(na.shape(a)[i] for i in axes)
            if type(count) is int and count <= ddof:  # an open size exceeds it
                return na.multiply(function(a, axis, dtype, out, 0, keepdims), math.inf)
        return function(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean)

    return call


std = adapted("std", _infinite(jnp.std), is_inexact=True)
var = adapted("var", _infinite(jnp.var), is_inexact=True)

# -- products ------------------------------------------------------------------------------------

convolve = adapted("convolve", jnp.convolve, result="promoted")
correlate = adapted("correlate", jnp.correlate, result="promoted")
cross = adapted("cross", _cross)
dot = adapted("dot", jnp.dot)
inner = adapted("inner", jnp.inner)
kron = adapted("kron", jnp.kron)
matmul = adapted("matmul", jnp.matmul)
matvec = adapted("matvec", jnp.matvec)
outer = adapted("outer", jnp.outer)
tensordot = adapted("tensordot", jnp.tensordot)
vdot = adapted("vdot", jnp.vdot)
vecdot = adapted("vecdot", jnp.vecdot)
vecmat = adapted("vecmat", jnp.vecmat)

# -- elements ------------------------------------------------------------------------------------

ediff1d = adapted("ediff1d", jnp.ediff1d)
gradient = adapted("gradient", jnp.gradient, is_inexact=True)
i0 = adapted("i0", jnp.i0, is_inexact=True)
imag = adapted("imag", jnp.imag)
isclose = adapted("isclose", jnp.isclose, is_weak=True, is_inexact=True)
iscomplex = adapted("iscomplex", jnp.iscomplex)
isneginf = adapted("isneginf", jnp.isneginf)
isposinf = adapted("isposinf", jnp.isposinf)
isreal = adapted("isreal", jnp.isreal)
nan_to_num = adapted("nan_to_num", jnp.nan_to_num)
real = adapted("real", jnp.real)
around = round = adapted("round", _rounded)
sinc = adapted("sinc", jnp.sinc, is_inexact=True)
allclose = adapted("allclose", jnp.allclose, is_weak=True, is_inexact=True)
array_equal = adapted("array_equal", jnp.array_equal)
array_equiv = adapted("array_equiv", jnp.array_equiv)

# -- positions -----------------------------------------------------------------------------------

argpartition = adapted("argpartition", _argpartitioned)
argsort = adapted("argsort", _argsorted)
argwhere = adapted("argwhere", jnp.argwhere)
extract = adapted("extract", jnp.extract)
flatnonzero = adapted("flatnonzero", jnp.flatnonzero)
ix_ = adapted("ix_", jnp.ix_, kept=["args"])
lexsort = adapted("lexsort", jnp.lexsort, kept=["keys"])
packbits = adapted("packbits", jnp.packbits)
partition = adapted("partition", _partitioned)
ravel_multi_index = adapted("ravel_multi_index", jnp.ravel_multi_index)
searchsorted = adapted("searchsorted", jnp.searchsorted, result=np.int64)
select = adapted("select", jnp.select, is_weak=True)
sort = adapted("sort", _sorted)
take_along_axis = adapted("take_along_axis", jnp.take_along_axis)
unpackbits = adapted("unpackbits", jnp.unpackbits)

# -- sets ----------------------------------------------------------------------------------------

intersect1d = adapted("intersect1d", jnp.intersect1d)
isin = adapted("isin", jnp.isin)
setxor1d = adapted("setxor1d", jnp.setxor1d)
union1d = adapted("union1d", jnp.union1d)
unique = adapted("unique", jnp.unique)
unique_all = adapted("unique_all", jnp.unique_all)
unique_counts = adapted("unique_counts", jnp.unique_counts)
unique_inverse = adapted("unique_inverse", jnp.unique_inverse)
unique_values = adapted("unique_values", jnp.unique_values)

# -- polynomials ---------------------------------------------------------------------------------

poly = adapted("poly", jnp.poly, is_inexact=True)
polyadd = adapted("polyadd", jnp.polyadd)
polydiv = adapted("polydiv", partial(jnp.polydiv, trim_leading_zeros=True), is_inexact=True)
polyfit = adapted("polyfit", jnp.polyfit, with_dtype=np.int64)
polymul = adapted("polymul", partial(jnp.polymul, trim_leading_zeros=True), result="promoted")
polysub = adapted("polysub", jnp.polysub)
polyval = adapted("polyval", jnp.polyval)
roots = adapted("roots", jnp.roots, is_inexact=True)

# -- functions -----------------------------------------------------------------------------------

apply_over_axes = adapted("apply_over_axes", jnp.apply_over_axes)

"""Calls of the functions of NumPy's namespaces, as Hypothesis strategies by name.

A name is a path in NumPy's namespace: ``"sum"``, ``"linalg.svd"``, ``"add.reduce"``. Names without a
strategy are listed with a reason.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import nestarray as na
from tests.frontends.numpy_arguments import (
    AXES,
    AXIS,
    BOOL,
    COMPLEX,
    DTYPE,
    FLAG,
    FLOATS,
    INEXACT,
    INTEGERS,
    NUMERIC,
    REAL,
    SMALL,
    WIDE,
    Calls,
    after,
    array_shapes_for,
    arrays,
    broadcastable,
    call,
    joinable,
    matrices,
    same_shape,
    shapes,
    spread,
    with_out,
)


def rows(names: str, calls: Calls) -> dict[str, Calls]:
    """One strategy for several functions."""
    return dict.fromkeys(names.split(), calls)


ANY, EXTREME = arrays(), arrays(extreme=True)
FILLED = arrays(min_side=1)
VECTOR = arrays(min_dims=1, max_dims=1, max_side=6)
FILLED_VECTOR = arrays(min_dims=1, max_dims=1, min_side=1, max_side=6)
MATRIX = arrays(min_dims=2, max_dims=3)
REALS = arrays(REAL, extreme=True)
FLOAT_FILLED = arrays(FLOATS, min_side=1)
PROBABILITY = st.sampled_from([0.0, 0.25, 0.5, 1.0, [0.1, 0.75]])
SIZE = st.integers(0, 5)
SHAPE = st.one_of(SIZE, shapes())
MASK = arrays(BOOL)


def _reductions() -> dict[str, Calls]:
    keep = {"axis": AXES, "keepdims": FLAG}
    one = {"axis": AXIS, "keepdims": FLAG}
    nans = arrays(INEXACT, min_side=1, extreme=True)
    quantiles = call(arrays((*FLOATS, *INTEGERS), min_side=1), PROBABILITY, axis=AXES, keepdims=FLAG,
                     method=st.sampled_from(["linear", "lower", "higher", "midpoint", "nearest"]))  # fmt: skip
    return {
        **rows("all any count_nonzero", call(EXTREME, **keep)),
        **rows("sum prod", with_out(np.sum, call(EXTREME, **keep, dtype=DTYPE, initial=SMALL))),
        **rows("max min amax amin", call(EXTREME, **keep, initial=st.integers(0, 3))),
        **rows("argmax argmin", call(EXTREME, **one)),
        **rows("mean", call(ANY, **keep, dtype=st.sampled_from(["float32", "float64"]))),
        **rows("var std", st.one_of(call(ANY, **keep, ddof=st.integers(0, 2)), call(ANY, **keep, correction=st.integers(0, 2)))),
        **rows("ptp", call(FILLED, **keep)),
        **rows("nansum nanprod nanmax nanmin nanmean", call(nans, **keep)),
        "nanmedian": call(arrays(FLOATS, extreme=True), **keep),
        **rows("nanvar nanstd", call(nans, **keep, ddof=st.integers(0, 2))),
        **rows("nanargmax nanargmin", call(nans, **one)),
        **rows("median", call(arrays(REAL), **keep)),
        **rows("quantile nanquantile", quantiles),
        **rows("percentile nanpercentile",
               quantiles.map(lambda c: ((c[0][0], 50.0 if isinstance(c[0][1], list) else c[0][1] * 100), c[1]))),
        **rows("cumsum cumprod nancumsum nancumprod", call(EXTREME, axis=AXIS, dtype=DTYPE)),
        **rows("cumulative_sum cumulative_prod",
               call(ANY, axis=AXIS, dtype=DTYPE, include_initial=FLAG)),
        "trace": call(MATRIX, offset=SMALL, axis1=AXIS, axis2=AXIS, dtype=DTYPE),
        "average": after(FILLED, lambda x: st.one_of(
            call(axis=AXES, keepdims=FLAG), call(weights=arrays(("uint8", "bool"), x.shape).map(lambda w: np.asarray(w + 1)), axis=AXES, returned=FLAG))),
    }  # fmt: skip


def _shapes() -> dict[str, Calls]:
    axes = st.one_of(AXIS, st.tuples(AXIS, AXIS))
    return {
        **rows("ravel", call(ANY, order=st.sampled_from("CFAK"))),
        "reshape": after(ANY, lambda x: call(array_shapes_for(x.size), order=st.sampled_from("CF"))),
        "resize": call(ANY, SHAPE),
        "transpose": after(ANY, lambda x: call(axes=st.permutations(range(x.ndim)))),
        "permute_dims": after(ANY, lambda x: call(st.permutations(range(x.ndim)))),
        **rows("swapaxes", call(ANY, AXIS, AXIS)),
        "moveaxis": call(ANY, axes, axes),
        "rollaxis": call(ANY, AXIS, start=st.integers(-1, 3)),
        **rows("squeeze", call(arrays(max_side=2), axis=AXES)),
        "expand_dims": call(ANY, axes),
        **rows("atleast_1d atleast_2d atleast_3d", st.one_of(call(ANY), call(ANY, ANY), call(SMALL))),
        "broadcast_to": after(arrays(max_side=2), lambda x: call(
            st.sampled_from([(2, *x.shape), (3, 2), x.shape, (1, 2, 3)]))),
        "broadcast_arrays": spread(broadcastable(3, extreme=True)),
        "broadcast_shapes": call(shapes(max_side=2), shapes(max_side=2)),
        **rows("concatenate concat", call(joinable(), axis=st.one_of(AXIS, st.none()), dtype=DTYPE,
                                   casting=st.sampled_from(["unsafe", "same_kind", "safe"]))),
        "stack": call(same_shape(2).map(list), axis=AXIS),
        **rows("vstack hstack", call(joinable(), dtype=DTYPE, casting=st.just("unsafe"))),
        **rows("dstack column_stack", call(joinable())),
        "block": call(st.one_of(joinable(), st.tuples(joinable(), joinable()).map(list))),
        "append": spread(broadcastable(2), axis=st.none()),
        **rows("split array_split", call(FILLED, st.one_of(st.integers(1, 3), st.lists(st.integers(-1, 4), max_size=2)), axis=AXIS)),
        **rows("hsplit vsplit dsplit", call(arrays(min_dims=1), st.one_of(st.integers(1, 3), st.just([1])))),
        "unstack": call(ANY, axis=AXIS),
        "tile": call(ANY, st.one_of(st.integers(0, 3), shapes())),
        "repeat": after(ANY, lambda x: call(
            st.one_of(st.integers(0, 3), st.floats(0, 3), st.lists(st.one_of(st.integers(0, 2), st.floats(0, 2)), min_size=1, max_size=3)), axis=st.one_of(AXIS, st.none()))),
        **rows("flip", call(ANY, axis=AXES)),
        **rows("fliplr flipud matrix_transpose", call(ANY)),
        "rot90": call(MATRIX, k=SMALL, axes=st.sampled_from([(0, 1), (1, 0), (0, -1), (0, 0)])),
        "roll": call(ANY, st.one_of(SMALL, st.floats(-4, 4), st.tuples(SMALL, st.floats(-4, 4))), axis=st.one_of(AXIS, st.sampled_from([None, (0, 1)]))),
        **rows("ndim shape", call(st.one_of(ANY, SMALL, st.just([[1, 2]])))),
        "size": call(ANY, axis=AXIS),
        "trim_zeros": call(ANY, trim=st.sampled_from(["fb", "f", "b"])),
        "pad": after(ANY, lambda x: call(
            st.one_of(st.integers(0, 2), st.just((1, 2)), st.lists(st.tuples(SIZE, SIZE), min_size=x.ndim, max_size=x.ndim)),
            mode=st.sampled_from(["constant", "edge", "reflect", "symmetric", "wrap", "maximum", "mean", "linear_ramp"]))),
        "diag": call(arrays(min_dims=1), k=SMALL),
        "diagflat": call(ANY, k=SMALL),
        "diagonal": call(ANY, offset=SMALL, axis1=AXIS, axis2=AXIS),
        **rows("tril triu", call(ANY, k=SMALL)),
        "delete": call(ANY, st.one_of(SMALL, st.lists(SMALL, max_size=2), st.just(slice(None, None, 2))), axis=st.one_of(AXIS, st.none())),
        "insert": call(ANY, st.one_of(SMALL, st.lists(SMALL, min_size=1, max_size=2)), st.one_of(SMALL, st.just(2.5)), axis=st.one_of(AXIS, st.none())),
    }  # fmt: skip


def _creation() -> dict[str, Calls]:
    number = st.sampled_from([0, 1, -1, 2, 5, 0.5, 2.5, 3.0])
    bounds = st.sampled_from([0.0, 1, -2, 5.5, 10])
    like = {"dtype": DTYPE, "shape": SHAPE}
    data = st.one_of(ANY, SMALL, st.just([1, 2.5]), st.just([[1], [2]]), joinable())
    return {
        **rows("zeros ones empty", call(SHAPE, dtype=DTYPE)),
        "full": call(SHAPE, number, dtype=DTYPE),
        **rows("zeros_like ones_like empty_like", call(ANY, **like)),
        "full_like": call(ANY, number, **like),
        "arange": st.one_of(call(number, dtype=st.sampled_from(["float64", "int64"])), call(number, number),
                            call(number, number, st.sampled_from([1, 2, -1, 0.5]))),
        "linspace": call(bounds, bounds, num=SIZE, endpoint=FLAG, retstep=FLAG, dtype=DTYPE),
        "logspace": call(st.integers(0, 2), SMALL, num=SIZE, endpoint=FLAG, base=st.sampled_from([2.0, 10])),
        "geomspace": call(st.sampled_from([1, 2.0, 100]), st.sampled_from([1, 8.0, 1000]), num=SIZE, endpoint=FLAG),
        "eye": call(SIZE, st.one_of(st.none(), SIZE), k=SMALL, dtype=DTYPE),
        "identity": call(SIZE, dtype=DTYPE),
        "tri": call(SIZE, st.one_of(st.none(), SIZE), k=SMALL, dtype=DTYPE),
        "vander": call(VECTOR, N=SIZE, increasing=FLAG),
        **rows("tril_indices triu_indices", call(SIZE, k=SMALL, m=SIZE)),
        **rows("tril_indices_from triu_indices_from", call(ANY, k=SMALL)),
        "diag_indices": call(SIZE, ndim=st.integers(1, 3)),
        "diag_indices_from": call(st.one_of(ANY, matrices(square=True, batch=0))),
        "mask_indices": call(SIZE, st.sampled_from([np.triu, np.tril]), k=SMALL),
        "indices": call(shapes(), dtype=st.sampled_from(["int64", "float32"]), sparse=FLAG),
        "meshgrid": spread(st.lists(VECTOR, max_size=3), indexing=st.sampled_from(["xy", "ij"]), sparse=FLAG),
        **rows("bartlett blackman hamming hanning", call(st.integers(-1, 6))),
        "kaiser": call(SIZE, st.sampled_from([0.0, 2.0, 8.5])),
        **rows("array asarray asanyarray asfortranarray ascontiguousarray", call(data, dtype=DTYPE)),
        "asarray_chkfinite": call(EXTREME),
        "astype": call(ANY, DTYPE),
        "copy": call(data),
        "fromfunction": call(st.just(lambda i, j: i * 2 + j), st.tuples(SIZE, SIZE), dtype=st.sampled_from(["int64", "float32"])),
        "frombuffer": call(st.binary(min_size=8, max_size=8), dtype=st.sampled_from(["uint8", "int16"]), count=st.integers(-1, 4), offset=st.integers(0, 8)),
        "fromstring": call(st.sampled_from(["1 2 3", "", "4"]), dtype=st.sampled_from(["int64", "float32"]), sep=st.just(" ")),
        **rows("lib.stride_tricks.sliding_window_view",
               call(ANY, st.integers(1, 3), axis=st.one_of(st.none(), AXIS))),
    }  # fmt: skip


def _products() -> dict[str, Calls]:
    @st.composite
    def chained(draw: Any) -> tuple[np.ndarray, ...]:
        n = draw(st.integers(0, 3))
        left = draw(arrays(shape=(*draw(shapes(max_dims=2)), n)))
        right = (n,) if draw(FLAG) else (*draw(shapes(max_dims=1)), n, draw(st.integers(0, 3)))
        return left, draw(arrays(shape=right))

    pairs = st.one_of(chained(), chained(), broadcastable(2, numbers=False))
    vectors = same_shape(2, min_dims=1)
    threes = st.sampled_from([2, 3]).flatmap(
        lambda n: same_shape(2, NUMERIC, min_dims=1, max_dims=1, min_side=n, max_side=n)
    )
    filled = same_shape(2, (*INTEGERS, *WIDE), min_dims=1, max_dims=1, min_side=1, max_side=5)
    return {
        **rows("matmul dot linalg.matmul", spread(pairs)),
        "inner": spread(st.one_of(vectors, pairs)),
        **rows("outer linalg.outer", spread(st.tuples(VECTOR, VECTOR))),
        "vdot": spread(st.one_of(vectors, pairs)),
        **rows("vecdot linalg.vecdot", spread(vectors, axis=AXIS)),
        "matvec": spread(st.tuples(MATRIX, VECTOR)),
        "vecmat": spread(st.tuples(VECTOR, MATRIX)),
        "kron": spread(st.tuples(arrays(max_dims=2), arrays(max_dims=2))),
        **rows("tensordot linalg.tensordot", spread(st.one_of(vectors, pairs), axes=st.sampled_from([0, 1, 2, ([0], [0]), ([-1], [0])]))),
        **rows("cross", spread(threes)),
        "linalg.cross": spread(same_shape(2, NUMERIC, min_dims=1, max_dims=2, min_side=3, max_side=3)),
        "einsum": st.one_of(spread(vectors.map(lambda p: ("...i,...i", *p))), call(st.sampled_from(["ij->ji", "ij", "i j -> i", "...j->..."]), MATRIX),
                            spread(chained().map(lambda p: ("ij,jk", *p)))),
        "einsum_path": call(st.just("ij,jk->ik"), matrices(square=True, batch=0), st.just(np.ones((3, 3)))),
        **rows("convolve correlate", spread(filled, mode=st.sampled_from(["full", "same", "valid"]))),
        "linalg.multi_dot": call(st.tuples(*[matrices(square=True, batch=0)] * 3).map(list)),
        "cov": call(arrays((*FLOATS, *INTEGERS), min_dims=1, max_dims=2, min_side=2), bias=FLAG, rowvar=FLAG, ddof=st.integers(0, 1)),
        "corrcoef": call(matrices(FLOATS, batch=0), rowvar=FLAG),
        "interp": spread(st.tuples(arrays(REAL), st.just(np.asarray([-1.0, 0.5, 2.0])), arrays((*FLOATS, *INTEGERS, *COMPLEX), (3,))), left=SMALL, right=SMALL),
        "trapezoid": call(arrays(NUMERIC, min_dims=1), dx=st.sampled_from([1, 0.5]), axis=AXIS),
        "gradient": call(arrays((*FLOATS, *COMPLEX, "int64"), min_dims=1, min_side=2, max_side=4), axis=AXES, edge_order=st.integers(1, 2)),
        "diff": call(ANY, n=st.integers(-1, 3), axis=AXIS, prepend=SMALL, append=SMALL),
        "ediff1d": call(ANY, to_end=st.just([1]), to_begin=st.just([0, 1])),
    }  # fmt: skip


def _elements() -> dict[str, Calls]:
    triples = broadcastable(3, REAL, extreme=True)
    floats = arrays((*FLOATS, *INTEGERS))
    decimals = call(arrays(NUMERIC), decimals=st.integers(0, 2))
    return {
        **rows("angle", call(ANY, deg=FLAG)),
        **rows("around round", decimals),
        **rows("fix isneginf isposinf", call(REALS)),
        **rows("real imag iscomplex isreal real_if_close iscomplexobj isrealobj", call(EXTREME)),
        **rows("i0 sinc", call(floats)),
        **rows("isclose allclose", spread(broadcastable(2, extreme=True), rtol=st.sampled_from([0.0, 0.5]), atol=st.sampled_from([0.0, 1.0]), equal_nan=FLAG)),
        **rows("array_equal", spread(st.one_of(broadcastable(2, extreme=True), same_shape(2)), equal_nan=FLAG)),
        "array_equiv": spread(broadcastable(2, extreme=True)),
        "nan_to_num": call(EXTREME, nan=SMALL, posinf=SMALL, neginf=SMALL),
        "unwrap": call(arrays((*FLOATS, "int64", "int32"), min_dims=1), discont=st.sampled_from([1.0, 4.0]), axis=AXIS, period=st.sampled_from([4, 2.5])),
        "clip": st.one_of(spread(triples), call(REALS, SMALL, st.none()), call(REALS, st.none(), SMALL)),
        "where": st.one_of(spread(st.tuples(MASK, SMALL, ANY)), spread(broadcastable(3, extreme=True)), call(ANY)),
        "select": spread(same_shape(4).map(lambda p: ([p[0] > 0, p[1] > 0], [p[2], p[3]])), default=SMALL),
        "choose": spread(broadcastable(3, numbers=False).map(lambda p: (np.asarray(np.abs(p[0].real).astype(int) % 2), list(p[1:])))),
        "piecewise": after(ANY, lambda x: call(arrays(BOOL, x.shape).map(lambda m: [m]), st.just([3, 4]))),
    }  # fmt: skip


def _positions() -> dict[str, Calls]:
    nans = arrays((*FLOATS, *INTEGERS), min_dims=1, max_side=5, extreme=True)
    index = st.one_of(SMALL, st.lists(SMALL, max_size=3), arrays(("int64",), max_dims=2))
    mode = {"mode": st.sampled_from(["raise", "wrap", "clip"])}
    monotone = nans.map(lambda x: np.sort(x, None)[:5])
    along = after(
        arrays(min_dims=1, min_side=2),
        lambda x: call(arrays(("int64",), x.shape).map(lambda i: i % 2), axis=AXIS),
    )
    weights = arrays(("float64", "float32", "int64"), (4,))
    counted = arrays(("int64", "uint8", "bool"), (4,)).map(
        lambda x: np.abs(x.astype(int)).astype(x.dtype)
    )
    sample = arrays((*FLOATS, *INTEGERS), (4,))
    bins = st.sampled_from([1, 2, 4, [-2, 0, 1.5, 3]])  # others round at the edges
    integral = arrays(("int64", "float64"), (4,))
    density = {"density": FLAG}
    flags = dict.fromkeys(["return_index", "return_inverse", "return_counts"], FLAG)
    return {
        **rows("sort", call(arrays(extreme=True), axis=st.one_of(AXIS, st.none()))),
        "argsort": call(arrays(extreme=True), axis=st.one_of(AXIS, st.none()), kind=st.just("stable"), stable=st.just(None)),
        **rows("partition argpartition", call(nans, st.one_of(st.integers(-1, 2), st.just([0, 1])), axis=AXIS)),
        "sort_complex": call(arrays(min_dims=1)),
        "lexsort": call(same_shape(2, REAL, max_dims=2)),
        "searchsorted": call(monotone, nans, side=st.sampled_from(["left", "right"])),
        "digitize": call(nans, st.just(np.asarray([-1.0, 0.5, 2.0])), right=FLAG),
        **rows("nonzero argwhere flatnonzero", call(EXTREME)),
        "take": call(FILLED, index, axis=st.one_of(AXIS, st.none()), **mode),
        "take_along_axis": along,
        "compress": call(arrays(BOOL, min_dims=1, max_dims=1), FILLED, axis=st.one_of(AXIS, st.none())),
        "extract": spread(same_shape(2)),
        "ix_": spread(st.lists(arrays(("int64", "bool"), max_dims=1, min_dims=1), max_size=3)),
        "ravel_multi_index": call(st.tuples(*[arrays(("int64",), (2,))] * 2), st.just((3, 4)), **mode, order=st.sampled_from("CF")),
        "unravel_index": call(st.one_of(st.integers(0, 12), arrays(("uint8", "int64"))), st.just((3, 4)), order=st.sampled_from("CF")),
        **rows("packbits", call(arrays(("bool", "uint8")), axis=AXIS, bitorder=st.sampled_from(["big", "little"]))),
        "unpackbits": call(arrays(("uint8",), min_side=1), axis=AXIS, bitorder=st.sampled_from(["big", "little"]), count=st.integers(-2, 9)),
        **rows("intersect1d union1d setxor1d", spread(st.tuples(ANY, ANY))),
        "setdiff1d": spread(st.tuples(ANY, ANY), assume_unique=FLAG),
        "isin": spread(st.tuples(ANY, ANY), invert=FLAG, assume_unique=FLAG),
        "unique": st.one_of(call(EXTREME, **flags), call(ANY, **flags, axis=AXIS)),  # NumPy orders rows with NaN in no way
        **rows("unique_all unique_counts unique_inverse unique_values", call(EXTREME)),
        "bincount": st.one_of(call(counted, minlength=SIZE), call(counted, weights=weights)),
        "histogram": call(sample, bins, range=st.just((-3, 5)), weights=weights, **density),
        "histogram_bin_edges": call(sample, bins, range=st.just((-3, 5))),
        "histogram2d": call(integral, integral, st.sampled_from([1, 2, (2, 4)]), weights=weights, **density),
        "histogramdd": call(arrays((*FLOATS, "int64"), (4, 2)), st.sampled_from([1, 2, (2, 4)]), weights=weights, **density),
    }  # fmt: skip


def _polynomials() -> dict[str, Calls]:
    one = arrays((*INTEGERS, *WIDE), min_dims=1, max_dims=1, min_side=1, max_side=4)
    pair = st.tuples(one, one)
    return {
        **rows("polyadd polysub polymul", spread(pair)),
        "polydiv": spread(pair.map(lambda p: (p[0], np.concatenate([np.ones(1, p[1].dtype), p[1]])))),
        "polyval": spread(st.tuples(one, ANY)),
        "polyder": call(one, m=st.integers(0, 3)),
        "polyint": call(one, m=st.integers(0, 2)),
        "polyfit": spread(st.tuples(st.just(np.asarray([0.0, 1, 2, 4])), arrays((*WIDE, "int64"), (4,)), st.integers(0, 2))),
        "poly": call(one),
        "roots": call(arrays(("float64", "int64", "complex128"), min_dims=1, max_dims=1, min_side=1, max_side=4)),
    }  # fmt: skip


def _writes() -> dict[str, Calls]:
    value = st.one_of(SMALL, st.just(2.5), arrays(max_dims=1, max_side=2))
    return {
        "copyto": spread(broadcastable(2, numbers=False), casting=st.sampled_from(["unsafe", "same_kind", "no"]), where=st.booleans()),
        "put": call(ANY, st.one_of(SMALL, st.lists(SMALL, max_size=3)), value, mode=st.sampled_from(["raise", "wrap", "clip"])),
        "place": after(ANY, lambda x: call(arrays(BOOL, x.shape), st.one_of(st.just([1, 2]), st.just([2.5]), st.just([])))),
        "putmask": after(ANY, lambda x: call(arrays(BOOL, x.shape), value)),
        "put_along_axis": after(arrays(min_dims=1, min_side=2), lambda x: call(arrays(("int64",), x.shape).map(lambda i: i * 0), SMALL, AXIS)),
        "fill_diagonal": call(arrays(min_dims=1), value, wrap=FLAG),
    }  # fmt: skip


def _dtypes() -> dict[str, Calls]:
    several = st.lists(st.one_of(ANY, DTYPE, SMALL), min_size=1, max_size=3)
    return {
        "result_type": spread(several),
        "can_cast": call(DTYPE, DTYPE, casting=st.sampled_from(["safe", "same_kind", "no"])),
        "common_type": spread(st.lists(ANY, min_size=1, max_size=2)),
        "min_scalar_type": call(st.one_of(SMALL, ANY, st.just(300), st.just(1e10))),
        "isscalar": call(st.one_of(SMALL, ANY)),
        "iterable": call(st.one_of(SMALL, ANY)),
    }


def _functional() -> dict[str, Calls]:
    return {
        "apply_along_axis": call(st.sampled_from([na.sum, na.sort, na.diff]), AXIS, arrays(min_dims=1, min_side=1)),
        "apply_over_axes": call(st.just(lambda a, axis: na.sum(a, axis=axis)), arrays(min_dims=2, min_side=1), st.sampled_from([0, 1, -1, (0, 1)])),
    }  # fmt: skip


def _linalg() -> dict[str, Calls]:
    square, any_matrix = matrices(square=True), matrices()
    dtypes = (*WIDE, "int64")

    def hermitian(x: np.ndarray) -> np.ndarray:
        return x + np.conj(np.swapaxes(x, -1, -2))

    symmetric = square.map(hermitian)
    systems = after(matrices(dtypes, square=True, batch=0),
                    lambda a: call(arrays(dtypes, st.sampled_from([(len(a),), (len(a), 2), (2,)]))))  # fmt: skip
    norms = {
        "ord": st.sampled_from([None, 1, 2, np.inf, -np.inf, "fro", "nuc", 0, 3]),
        "keepdims": FLAG,
    }
    named = {
        **rows("cholesky", call(symmetric)),
        **rows("det inv slogdet matrix_power", call(matrices(dtypes, square=True))),
        "matrix_power": call(matrices(dtypes, square=True), st.integers(-2, 3)),
        "cond": call(square, p=st.sampled_from([None, 1, 2, np.inf, "fro"])),
        **rows("eigh eigvalsh", call(symmetric, UPLO=st.sampled_from("LU"))),
        **rows("eig eigvals", call(square)),
        "lstsq": after(matrices(dtypes, batch=0), lambda a: call(arrays(WIDE, (len(a), 2)), rcond=st.just(None))),
        **rows("svd", call(any_matrix, full_matrices=FLAG, compute_uv=FLAG)),
        "svdvals": call(any_matrix),
        "qr": call(any_matrix, mode=st.sampled_from(["reduced", "complete", "r", "raw"])),
        "pinv": call(any_matrix),
        "matrix_rank": call(any_matrix),
        "solve": systems,
        "norm": call(arrays(dtypes, min_dims=1, min_side=1), **norms, axis=AXES),
        "vector_norm": call(arrays(dtypes, min_side=1), ord=st.sampled_from([1, 2, np.inf, 0, 3]), axis=AXES, keepdims=FLAG),
        "matrix_norm": call(any_matrix, **norms),
        "trace": call(MATRIX, offset=SMALL, dtype=DTYPE),
        "diagonal": call(MATRIX, offset=SMALL),
        "matrix_transpose": call(ANY),
        "tensorinv": call(matrices(square=True, batch=0), ind=st.just(1)),
        "tensorsolve": systems,
    }  # fmt: skip
    return {f"linalg.{name}": calls for name, calls in named.items()}


def _fft() -> dict[str, Calls]:
    x = arrays((*WIDE, "int64", "int8", "bool"), min_dims=1, min_side=1)
    norm = {"norm": st.sampled_from([None, "ortho", "forward", "backward"])}
    length = st.one_of(st.none(), st.integers(0, 5))
    reals = arrays(("float64", "float32", "int64", "bool"), min_dims=1, min_side=1)
    several = {"axes": st.sampled_from([None, (0,), (0, 1), (-1,), (-2, -1)]), **norm}
    two = arrays(WIDE, min_dims=2, min_side=1)
    named = {
        **rows("fft ifft hfft irfft", call(x, n=length, axis=AXIS, **norm)),
        **rows("rfft ihfft", call(reals, n=length, axis=AXIS, **norm)),
        **rows("fft2 ifft2 fftn ifftn irfft2 irfftn", call(two, **several)),
        **rows(
            "rfft2 rfftn",
            call(arrays(("float64", "float32", "int64"), min_dims=2, min_side=1), **several),
        ),
        **rows(
            "fftshift ifftshift",
            call(arrays(min_dims=1), axes=st.sampled_from([None, 0, -1, (0, 1)])),
        ),
        **rows("fftfreq rfftfreq", call(SIZE, d=st.sampled_from([1.0, 0.5, 2]))),
    }
    return {f"fft.{name}": calls for name, calls in named.items()}


CALLS: dict[str, Calls] = {
    **_reductions(), **_shapes(), **_creation(), **_products(), **_elements(), **_positions(),
    **_polynomials(), **_writes(), **_dtypes(), **_functional(), **_linalg(), **_fft(),
}  # fmt: skip

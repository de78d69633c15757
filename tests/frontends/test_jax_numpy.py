"""The functions of `jax.numpy`, `jax.numpy.linalg` and `jax.numpy.fft` against JAX."""

from __future__ import annotations

import inspect
import math
from typing import Any

import jax.numpy
import numpy as np
import pytest

import nestarray as na
import nestarray.frontends.jax as frontend
from tests.frontends import jax_expressions as expressions

UNARY = [
    "abs",
    "absolute",
    "arccosh(x*x+1)",
    "arcsinh",
    "arcsin(p)",
    "arccos(p)",
    "arctan",
    "arctanh(p)",
    "acosh(x*x+1)",
    "asinh",
    "asin(p)",
    "acos(p)",
    "atan",
    "atanh(p)",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
    "tanh",
    "exp",
    "exp2",
    "expm1",
    "log(p)",
    "log10(p)",
    "log1p(p)",
    "log2(p)",
    "sqrt(p)",
    "cbrt",
    "sinc",
    "i0",
    "deg2rad",
    "radians",
    "rad2deg",
    "degrees",
    "fabs",
    "negative",
    "positive",
    "sign",
    "square",
    "reciprocal",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "around",
    "signbit",
    "real",
    "imag",
    "conj",
    "conjugate",
    "angle",
    "spacing",
    "nan_to_num",
    "frexp",
    "modf",
    "isfinite",
    "isinf",
    "isnan",
    "isposinf",
    "isneginf",
    "iscomplex",
    "isreal",
    "logical_not",
    "iscomplexobj",
    "isrealobj",
    "shape",
    "ndim",
    "size",
    "isscalar",
    "iterable",
]

BINARY = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "true_divide",
    "floor_divide",
    "remainder",
    "mod",
    "fmod",
    "divmod",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
    "arctan2",
    "atan2",
    "hypot",
    "copysign",
    "nextafter",
    "logaddexp",
    "logaddexp2",
    "heaviside",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "isclose",
    "allclose",
    "array_equal",
    "array_equiv",
    "float_power(p,y)",
    "power(p,y)",
    "pow(p,y)",
]


def _unary() -> list[str]:
    rows = [name if "(" in name else f"{name}(x)" for name in UNARY]
    plain = [name for name in UNARY if "(" not in name]
    ordered = ("i0", "fabs", "spacing", "frexp", "modf", "cbrt", "sinc", "rad2deg", "degrees")
    real_only = {
        *ordered,
        "floor",
        "ceil",
        "trunc",
        "signbit",
        "deg2rad",
        "radians",
        "isposinf",
        "isneginf",
    }
    rows += [f"{name}(i)" for name in plain]
    rows += [f"{name}(e)" for name in plain if name not in ("frexp", "sinc", "modf", "spacing")]
    rows += [f"{name}(c)" for name in plain if name not in real_only]
    return rows


def _binary() -> list[str]:
    rows = []
    for row in BINARY:
        name = row.partition("(")[0]
        rows.append(row if "(" in row else f"{row}(x, y)")
        rows += [f"{name}(i, j)", f"{name}(x, 2)", f"{name}(j, 1.5)", f"{name}(s, j[0])"]
    return rows


ROWS = {
    "one operand": _unary(),
    "two operands": _binary(),
    "promotion": """add(1, 2); add(b, 1); add(b, b2); multiply(b, b2); add(i, 1.5); add(h, z); divide(1, 2)
        square(b); maximum(u, 300); add(s, 200); clip(u, -5, 300); equal(u, 300); astype(x * 1000, 'uint8'); astype(x * 1e5, 'int16'); astype(h * 1000, 'int8'); astype(e, 'uint8')
        add(1.5, 2j); multiply(s, s); subtract(i, u[:3]); maximum(b, b2); power(b, 2); power(i, 2)
        power(j, 2.0); sqrt(4); sin(1.0); add(h, 1); multiply(h, 2.5); add(s, 1); add(x, b)
        result_type(x, 1); result_type(i, 1.0); result_type(b, 1); result_type(1); result_type(1, 2.0)
        promote_types('int32', 'float16'); promote_types('int8', 'uint8'); result_type(h, i)
        can_cast('int32', 'float32'); can_cast('float32', 'int32', 'same_kind'); can_cast('int8', 'int32')
        issubdtype(float32, character); issubdtype(character, flexible); issubdtype(flexible, character); issubdtype(object_, generic); isinstance(x, ndarray); isinstance(3, ndarray)
        issubdtype(float32, floating); issubdtype(int32, integer); issubdtype(int32, inexact)
        isdtype('float32', 'real floating'); astype(x, 'int32'); astype(i, bool_)
        finfo('float32').bits; iinfo('int8').max; size(t, 1); floor_divide(i, 0); remainder(i, 0); fmod(j, 0); remainder(i, multiply(i, 0)); floor_divide(i, multiply(i, 0)); fmod(i, multiply(i, 0)); remainder(u, multiply(u, 0)); remainder(i, -3); fmod(i, -3); floor_divide(i, -3)
        floor_divide(u, 0); size(2.0); ldexp(x, j); gcd(i, j); lcm(i, j); gcd(i, 6)""",
    "rounding": """round(x, 1); round(t * 10, -1); round(c, 2); clip(x, -0.5, 0.5)
        clip(x, 0); clip(i, 0.5, 2); clip(x, None, 0.0); clip(ties, 1.0, 2.0); angle(c, True)
        nan_to_num(e, nan=1.0, posinf=2.0, neginf=-3.0); maximum(ties, 3.0); minimum(ties, 1)""",
    "bits": """bitwise_and(i, j); bitwise_or(i, 3); bitwise_xor(i, j); bitwise_not(i); invert(b); bitwise_and(b, b2)
        bitwise_invert(u); left_shift(j, 2); right_shift(i, 1); left_shift(j, 40); right_shift(i, 40)
        bitwise_left_shift(u, 1); bitwise_right_shift(u, 1); bitwise_count(i); packbits(b); packbits(b, axis=1)
        packbits(b, axis=0, bitorder='little'); unpackbits(u); unpackbits(u, count=11); unpackbits(u, count=40)
        unpackbits(u, bitorder='little')""",
    "creation": """array([1, 2]); array([1.0, 2]); array([[True]]); array(3); array(2.5); array([x, y]); array(x, ndmin=4)
        asarray([1, 2], dtype='float32'); asarray(x, 'int32'); array([1, 2j]); copy(x); array([v[0], 2.0])
        zeros((2, 3)); zeros(3, 'int32'); ones((2,)); empty((2,)); full((2,), 3); full((2, 2), 1.5, 'float32')
        full((2, 3), z); zeros_like(x); ones_like(i, float); zeros_like(x, shape=(2,)); full_like(x, 2)
        full_like(x, z, shape=(2, 3)); empty_like(i); arange(5); arange(1, 6, 2); arange(0.0, 1.0, 0.25); arange(3, dtype='float32')
        arange(5, 0, -2); linspace(0, 1, 5); linspace(0, 10, 4, dtype='int32'); linspace(z, 2.0, 4); linspace(0, 1, 4, endpoint=False)
        linspace(0, 1, 5, retstep=True); linspace(z, z + 1, 3, axis=1); logspace(0, 2, 3); logspace(0, 3, 4, base=2)
        geomspace(1, 1000, 4); eye(3); eye(2, 3, 1, 'int32'); identity(2); tri(3); tri(2, 3, 1); tril(m); triu(m, 1)
        tril(t); diag(v); diag(m, 1); diag(v, -1); diagflat(x); vander(v); vander(z, 2, True); vander(k)
        meshgrid(v, z); meshgrid(v, z, indexing='ij'); meshgrid(v, z, sparse=True); indices((2, 3)); indices((2, 3), sparse=True)
        indices((2,), 'float32'); fromfunction(lambda i, j: i + 2 * j, (2, 3)); tril_indices(3); triu_indices(3, 1); tril_indices(2, 0, 4)
        tril_indices_from(m); triu_indices_from(m, 1); diag_indices(3); diag_indices_from(m); mask_indices(3, triu); mask_indices(3, tril, -1, size=2)
        mgrid[0:3, 0:2]; mgrid[0:1:4j]; ogrid[0:3, 0:2]; mgrid[0:3]; r_[1:4, 0, 5]; r_[v, z]; c_[z, z]; r_['0,2', z, z]; r_[0:1:3j]
        ix_(k, k); frombuffer(b'\\x01\\x02\\x03', 'uint8'); fromstring('1 2 3', 'int32', sep=' ')
        index_exp[1:2]; s_[1:2, 3]""",
    "reductions": """sum(x); sum(x, 1); sum(t, (0, 2), keepdims=True); sum(b); sum(s); sum(u); sum(x, initial=2.0); sum(x, where=b); sum(i, dtype='float32')
        sum(h); sum(c); prod(x); prod(x, 0); prod(s); prod(b); prod(x, 1, where=b, initial=2.0); cumsum(x); cumsum(x, 1); cumsum(b); cumsum(s, dtype='int32')
        cumprod(x); cumprod(x, 0); cumulative_sum(v); cumulative_sum(x, axis=1, include_initial=True); cumulative_prod(v, include_initial=True); cumulative_sum(s)
        trace(m); trace(t, 1, 1, 2); trace(i, dtype='float32'); max(x); max(ties); min(ties); max(x, 1); min(x, 0, keepdims=True); max(b); max(i)
        max(x, 1, initial=0.0, where=b); min(x, initial=-1.0); minmax(x, 1); minmax(x, keepdims=True, initial=(-1.0, 0.5)); minmax(x, 1, initial=0.0, where=b); amax(t, (0, 1)); amin(e); max(zeros((0, 2)), 0, initial=1.0); ptp(x); ptp(x, 1, keepdims=True)
        argmax(x); argmax(x, 1); argmin(x, 0, keepdims=True); argmax(ties); argmax(n, 1); argmax(b); mean(x); mean(x, 1); mean(i); mean(b, 0)
        mean(x, 1, where=b, keepdims=True); mean(h); mean(x, dtype='float16'); var(x); var(x, 1, ddof=1); var(i); var(c); var(x, where=b)
        var(x, 0, mean=mean(x, 0, keepdims=True)); var(x, correction=1); std(x, 0); std(x, 1, keepdims=True, where=b2); std(c); all(b); all(b, 0)
        any(b, 1, keepdims=True); any(x); all(i, 1, where=b); any(b, where=b2); count_nonzero(i); count_nonzero(b, 1); count_nonzero(b, 0, keepdims=True)
        nansum(n); nansum(n, 1); nanprod(n, 1); nancumsum(n, 1); nancumprod(n); nanmax(n, 1); nanmin(n, 0); nanmax(i); nanmin(n, 1, initial=0.0)
        nanargmax(n, 1); nanargmin(n); nanmean(n, 1); nanmean(x); nanvar(n, 1); nanstd(n, 0); nanvar(x, ddof=1); nanmean(i); max(ties, 0, keepdims=True)""",
    "statistics": """median(x); median(v); median(x, 1, keepdims=True); median(i); quantile(x, 0.3); quantile(x, array([0.1, 0.7]), axis=1); quantile(n, 0.5, axis=1)
        quantile(v, 0.4, method='lower'); quantile(v, 0.4, method='higher'); quantile(v, 0.4, method='nearest'); quantile(v, 0.4, method='midpoint')
        percentile(x, 30); percentile(x, array([10.0, 60.0]), axis=0); nanquantile(n, 0.4); nanquantile(n, 0.4, axis=1); nanpercentile(n, 40.0); nanmedian(n, 1); nanmedian(x)
        quantile(t, 0.2, axis=(0, 2), keepdims=True); average(x); average(x, 1, weights=z); average(x, weights=y, returned=True); average(x, 0, returned=True, keepdims=True)
        average(i); cov(x); cov(x, y); cov(v, w); cov(x, rowvar=False, ddof=0); cov(x, bias=True); cov(c); cov(x, aweights=z * z); cov(x, fweights=abs(k[:3])); cov(t[0])
        corrcoef(x); corrcoef(v, w); corrcoef(v); corrcoef(c); bincount(k); bincount(k, minlength=8); bincount(k, length=3); bincount(k, multiply(k, 0.5)); bincount(k, weights=abs(k))
        histogram(i, array([-4, 0, 3, 5])); histogram(v); histogram(x, 4); histogram(x, bins=array([-1.0, 0.0, 0.5, 2.0])); histogram(v, 3, range=(-1, 1), density=True); histogram(v, 4, weights=w); histogram(k, 3)
        histogram_bin_edges(v, 5); histogram2d(v, w, 3); histogram2d(v, w, [2, 3], density=True); histogramdd(t[0], 2); histogramdd(t[0], [2, 1, 3, 2], range=[(-1, 1)] * 4)""",
    "indexing": """take(v, k); take(x, array([0, 2, 9, -1]), axis=1); take(x, array([[0, 5]]), axis=1, mode='clip'); take(i, k, mode='wrap'); take(i, k + 9); take(u, k + 9)
        take(x, 1, axis=0); take(v, k, mode='fill', fill_value=7.0); take(b, k + 9); take_along_axis(x, j - 2, 1); take_along_axis(x, j, axis=1, mode='clip')
        take_along_axis(x, i, 1, 'clip'); take_along_axis(x, argsort(x, 1), 1); take_along_axis(x, k, None); take_along_axis(i, j, 1); take_along_axis(x, j, 1, fill_value=3.0)
        choose(k, [v[0], 2.0, 3.0], mode='clip'); choose(k, (k, k + 10), mode='wrap'); compress(array([True, False, True]), x, axis=1); compress(b[0], v); compress(array([1, 0, 1]), x, 1, size=3, fill_value=9)
        extract(b, x); extract(b, x, size=5); where(b, x, y); where(b, x, 0); where(b, 1, 2); where(b, 1.5, i); where(b); where(b, size=4); where(b, size=2); where(i, x, 1j)
        where(b, size=8, fill_value=7); select([b, b2], [x, y]); select([x > 0, y > 0], [i, j], 9); piecewise(v, [v < 0, v > 1], [-1, 1]); piecewise(v, [v < 0], [lambda v: v * v, lambda v: v + 1])
        nonzero(i); nonzero(x, size=3, fill_value=9); flatnonzero(b); flatnonzero(b, size=7, fill_value=-1); argwhere(b); argwhere(b, size=2); argwhere(b, size=5, fill_value=3)
        ravel_multi_index((j[0], j[1]), (5, 6)); ravel_multi_index((k, k), (3, 3), mode='clip'); ravel_multi_index((k, k), (3, 4), mode='wrap', order='F')
        unravel_index(k, (2, 3)); unravel_index(array([-1, 7, 100]), (2, 3)); unravel_index(4, (2, 3)); put(x, array([0, 4]), z[:2], inplace=False); put(x, k + 3, 9.0, inplace=False)
        put(x, k[:3] + 3, z, mode='clip', inplace=False); put_along_axis(x, j[:, :1] - 2, 9.0, 1, inplace=False); put_along_axis(x, j[:, :1] + 1, 9.0, 1, inplace=False)
        place(x, b, z[:2], inplace=False); fill_diagonal(m, 5.0, inplace=False); fill_diagonal(m, v[:3], inplace=False); fill_diagonal(m, v[:2], inplace=False)""",
    "sorting": """sort(x); sort(x, None); sort(x, 0, descending=True); sort(e); sort(b); sort(c); sort_complex(c); sort_complex(v); argsort(x); argsort(ties); argsort(ties, descending=True)
        argsort(x, axis=None); argsort(n); argsort(c); lexsort((k, k % 2)); lexsort((k, k % 2), batch_size=1); top_k(k, 2); top_k(ties, 3, mode='smallest'); top_k(x, 1, axis=0); top_k(n, 2); lexsort((x, y)); lexsort((x, y), axis=0); sort(partition(v, 2)[:2]); partition(x, 1, axis=1)[:, 1]
        take(v, argpartition(v, 2), mode='clip')[2]; searchsorted(sort(v), w); searchsorted(sort(v), w, side='right'); searchsorted(ties, 2.0, sorter=argsort(ties)); searchsorted(sort(k), 2)
        digitize(v, array([-1.0, 0.0, 1.0])); digitize(v, array([1.0, 0.0, -1.0])); digitize(k, array([1, 2, 3]), right=True)""",
    "sets": """unique(i, size=4, return_counts=True, fill_value=-9); unique(k); unique(ties); unique(ties, return_index=True, return_inverse=True, return_counts=True); unique(e); unique(k, size=3); unique(k, size=6); unique(k, size=6, fill_value=-1)
        unique(i % 2, axis=0); unique(ties, size=4, return_index=True, return_counts=True, return_inverse=True); unique(array([[1, 2], [1, 2], [0, 5]]), axis=0, return_index=True, return_inverse=True, return_counts=True)
        unique(array([[1, 2, 1], [3, 4, 3]]), axis=1); unique(n, equal_nan=False); unique_all(k); unique_counts(k); unique_inverse(x); unique_values(ties); unique_all(k, size=6, fill_value=9)
        isin(k, array([2, 5])); isin(x, v); isin(k, array([2]), invert=True); union1d(k, array([7, 2])); union1d(k, array([7, 2]), size=7); union1d(k, array([7]), size=3); setdiff1d(k, array([2])); setdiff1d(k, array([2]), size=5)
        setdiff1d(k, array([2]), size=5, fill_value=8); intersect1d(k, array([5, 2, 9])); intersect1d(k, array([5, 2, 9]), size=4); intersect1d(k, array([5, 2, 9]), return_indices=True)
        intersect1d(k, array([5, 2, 9]), size=4, fill_value=-1); setxor1d(k, array([2, 9])); setxor1d(k, array([2, 9]), size=6); setxor1d(k, array([2, 9]), size=6, fill_value=-1); unique(c)""",
    "shapes": """reshape(x, (3, 2)); reshape(x, -1); reshape(x, (3, 2), order='F'); ravel(x); ravel(x, 'F'); resize(x, (3, 3)); resize(x, 2); transpose(t); transpose(t, (1, 0, 2)); permute_dims(t, (2, 0, 1))
        matrix_transpose(t); swapaxes(t, 0, 2); moveaxis(t, 0, -1); moveaxis(t, (0, 1), (2, 0)); rollaxis(t, 2); rollaxis(t, 0, 3); squeeze(x[:, :1], 1); squeeze(x[None]); expand_dims(x, (0, 3)); atleast_1d(2.0)
        atleast_2d(v); atleast_3d(v); atleast_3d(x); atleast_1d(v, 1); broadcast_to(z, (2, 3)); broadcast_to(1, (2,)); broadcast_arrays(x, z); broadcast_shapes((2, 1), (3,)); flip(x); flip(x, 1); fliplr(x); flipud(x)
        rot90(x); rot90(x, 2); rot90(t, 1, (1, 2)); roll(x, 1); roll(x, (1, 2), (0, 1)); roll(x, k[0], 1); roll(x, -1, axis=0); diagonal(t); diagonal(t, 1, 2, 1); concatenate([x, y]); concatenate([x, i], 1)
        concatenate([x, y], None); concatenate([x, i], dtype='int32'); concat([x, y], axis=1); stack([x, y]); stack([x, i], -1); stack(t, 1); unstack(x); unstack(x, axis=1); vstack([v, w]); vstack((x, z)); hstack([v, z])
        hstack((x, y)); dstack([v, w]); dstack((x, y)); column_stack([v, w]); column_stack([x, y]); block([[x, y], [y, x]]); block([v, z]); block([[1, 2], [3, 4]]); tile(x, 2); tile(x, (2, 1, 2)); repeat(x, 2)
        repeat(x, 2, axis=1); repeat(v, array([1, 0, 2, 1])); repeat(v, array([1, 0, 2, 1]), total_repeat_length=6); append(x, y); append(x, y, 0); append(v, 1); insert(v, 1, 9.0); insert(v, array([1, 3]), z[:2])
        insert(x, 1, 5.0, axis=1); insert(x, 1, z, axis=0); insert(v, -1, 2); insert(x, array([0, 2]), 7.0, axis=1); delete(v, 1); delete(x, array([0, 2]), axis=1); delete(v, -1); delete(x, 3); delete(v, slice(0, 2))
        split(v, 2); split(x, [1], axis=1); array_split(v, 3); hsplit(x, 3); vsplit(x, 2); dsplit(t, 2); split(t, (1, 2), 2); hsplit(v, 2); trim_zeros(array([0, 1, 0, 2, 0])); trim_zeros(array([0, 1, 0]), 'f')
        pad(v, 2); pad(x, ((1, 0), (0, 2)), constant_values=3); pad(v, (1, 2), 'edge'); pad(v, 3, 'reflect'); pad(v, 5, mode='symmetric'); pad(x, 2, 'wrap'); pad(v, (2, 3), 'linear_ramp', end_values=(1, 2))
        pad(x, 1, 'maximum'); pad(x, ((1, 2), (0, 1)), 'mean'); pad(v, 2, 'minimum', stat_length=2); pad(v, 2, 'median'); pad(v, 2, 'reflect', reflect_type='odd'); pad(v, 2, 'symmetric', reflect_type='odd')
        pad(i, 1, constant_values=((1, 2), (3, 4))); pad(v, 1, 'empty'); pad(i, 1, 'mean'); pad(i, (0, 2), 'linear_ramp', end_values=7)""",
    "polynomials": """polyval(v, x); polyval(v, 2.0); polyval(k, i); polyadd(v, z); polysub(z, v); polymul(v, z); polydiv(v, z); polydiv(z, v); polyder(v); polyder(v, 2); polyint(v); polyint(v, 2, k=3); polyint(v, 2, array([1.0, 2.0]))
        poly(z); poly(array([1, 2])); polyfit(v, w, 2); polyfit(v, w, 1, w=q); polyfit(v, w, 1, full=True); polyfit(v, w, 1, cov=True); polyfit(v, w, 1, cov='unscaled'); polyfit(v, transpose(t[0]), 1)
        sort(real(roots(array([1.0, -6.0, 11.0, -6.0])))); sort(imag(roots(array([1.0, 0.0, 4.0])))); sort(real(roots(array([0.0, 1.0, -2.0, 0.0])))); polymul(k, k); polyadd(k, v); polydiv(k + 1, array([1, 2]))
        diff(v); diff(x, 2); diff(x, axis=0); diff(b); diff(v, prepend=0.0, append=z); diff(k); ediff1d(x); ediff1d(k, to_end=array([9, 9]), to_begin=7); gradient(v); gradient(x); gradient(v, 0.5); gradient(x, axis=1)
        gradient(v, array([0.0, 1.0, 3.0, 4.0])); gradient(x, 2.0, 3.0); gradient(k); trapezoid(x); trapezoid(x, z); trapezoid(v, dx=0.5); trapezoid(t, axis=1); trapezoid(k); unwrap(v * 5); unwrap(x * 9, axis=0)
        unwrap(k * 5, period=4); interp(x, array([-1.0, 0.0, 1.0]), z); interp(x, array([-1.0, 0.0, 1.0]), z, left=5.0, right=7.0); interp(v, array([0.0, 1.0, 2.0]), z, period=3.0); interp(k, array([0, 1, 3]), z)
        convolve(v, z); convolve(z, v, 'same'); convolve(v, z, mode='valid'); convolve(k, k); convolve(cv, v); correlate(v, z); correlate(z, v, 'full'); correlate(v, z, mode='same'); correlate(z, v, mode='same'); correlate(cv, cv, 'full'); correlate(z, v)""",
    "products": """matmul(m, a); matmul(x, m); matmul(v, w); matmul(t, v); matmul(i, transpose(j)); matmul(x, transpose(i)); dot(m, a); dot(v, w); dot(x, 2.0); dot(t, v); dot(t[0], transpose(t, (0, 2, 1))); inner(x, y); inner(v, w); vdot(c, c); vdot(x, y); vecdot(x, y)
        vecdot(c, c); vecdot(x, y, axis=0); matvec(m, z); matvec(t, v); vecmat(z, m); vecmat(c, m); outer(v, z); outer(x, z); kron(x, m); kron(v, z); kron(x, v); tensordot(x, y); tensordot(t, t, ((0, 1), (0, 1))); tensordot(x, m, 1); tensordot(x, y, axes=(-1, -1))
        cross(z, z + 1); cross(x, y); cross(x[:, :2], y[:, :2]); cross(x, y[:, :2]); cross(transpose(x), transpose(y), axis=0); einsum('ij,jk->ik', x, m); einsum('ij->ji', x); einsum('...i,i', t, v); einsum(x, [0, 1], m, [1, 2], [0, 2]); einsum('ii', m)
        einsum('ij,ij', x, i); einsum('i,j,k', v, z, v); einsum_path('ij,jk,kl', x, m, a)[0]; einsum_path('ij->ji', x)[0]; matmul(x, m, preferred_element_type='float16'); dot(b, transpose(b2)); bartlett(6); blackman(7); hamming(1); hanning(5); kaiser(6, 2.0); kaiser(1, 2.0)""",
    "functions": """apply_along_axis(lambda r: r - mean(r), 1, x); apply_along_axis(sum, 0, x); apply_along_axis(lambda r: outer(r, r), 1, t); apply_over_axes(sum, t, (0, 2)); vectorize(lambda u, v: u * v + 1)(x, z); vectorize(dot, signature='(n),(n)->()')(x, y)
        vectorize(lambda m, u: dot(m, u), signature='(m,n),(n)->(m)')(t, v); vectorize(lambda u, k: u ** k, excluded={1})(x, 2); frompyfunc(add, 2, 1, identity=0)(x, y); frompyfunc(add, 2, 1, identity=0).reduce(x); frompyfunc(multiply, 2, 1, identity=1).accumulate(x, axis=1)
        frompyfunc(add, 2, 1, identity=0).outer(v, z); frompyfunc(add, 2, 1, identity=0).reduceat(v, array([0, 2])); frompyfunc(add, 2, 1, identity=0).at(v, array([0, 0, 1]), z, inplace=False); frompyfunc(maximum, 2, 1, identity=None).reduce(t, axis=1, keepdims=True)""",
    "linalg": """linalg.norm(x); linalg.norm(v, 1); linalg.norm(x, axis=1); linalg.norm(x, inf, 1); linalg.norm(x, 'nuc'); linalg.norm(x, 1); linalg.norm(x, 2); linalg.norm(x, -2, keepdims=True); linalg.norm(v, 3); linalg.norm(v, -inf); linalg.norm(t, axis=(0, 2), keepdims=True)
        linalg.norm(v, 0); linalg.norm(c); linalg.norm(i); linalg.norm(t); linalg.norm(x, keepdims=True); linalg.vector_norm(x); linalg.vector_norm(t, axis=(0, 1), ord=3); linalg.vector_norm(x, axis=0, keepdims=True, ord=1); linalg.matrix_norm(t); linalg.matrix_norm(x, ord=inf, keepdims=True)
        linalg.det(m); linalg.slogdet(m); linalg.inv(m); linalg.solve(m, z); linalg.solve(m, a); linalg.cholesky(a); linalg.cholesky(a, upper=True); linalg.cholesky(m + 5 * eye(3), symmetrize_input=False); linalg.eigvalsh(a); linalg.eigvalsh(m, symmetrize_input=False); linalg.eigh(a)[0]
        abs(linalg.eigh(a)[1]); linalg.svd(x, compute_uv=False); linalg.svdvals(t); abs(linalg.svd(x, full_matrices=False)[0]); abs(linalg.qr(x)[0]); abs(linalg.qr(x, mode='r')); abs(linalg.qr(transpose(x), mode='complete')[1])
        sort(real(linalg.eigvals(a))); sort(real(linalg.eig(a)[0])); linalg.pinv(x); linalg.pinv(m); linalg.matrix_rank(m); linalg.matrix_rank(outer(v, z)); linalg.matrix_rank(ones((2, 3, 3))); linalg.lstsq(transpose(x), z); linalg.lstsq(transpose(x), m)
        linalg.matrix_power(m, 3); linalg.matrix_power(m, -2); linalg.matrix_power(m, 0); linalg.cond(m); linalg.cond(m, 1); linalg.cond(m, 'fro'); linalg.cond(m, -2); linalg.multi_dot([x, m, transpose(y)]); linalg.tensorinv(reshape(a, (3, 3)), 1); linalg.tensorsolve(reshape(m, (3, 1, 3)), z[:, None])
        linalg.cross(x, y); linalg.outer(v, z); linalg.matmul(x, m); linalg.tensordot(x, m, axes=1); linalg.vecdot(x, y); linalg.trace(t, offset=1); linalg.diagonal(t, offset=1); linalg.matrix_transpose(t); linalg.inv(cm); linalg.det(cm); linalg.slogdet(cm); linalg.solve(cm, c[0]); linalg.det(i[:2, :2])""",
    "fft": """fft.fft(v); fft.ifft(cv); fft.rfft(v); fft.irfft(cv); fft.fft(x, 4); fft.fft(x, axis=0, norm='ortho'); fft.fft2(t); fft.ifft2(t); fft.fftn(t, axes=(0, 1)); fft.ifftn(t); fft.rfft2(t); fft.irfft2(t); fft.rfftn(t); fft.irfftn(t, (2, 2)); fft.hfft(cv); fft.ihfft(v)
        fft.fftfreq(5); fft.fftfreq(6, 0.5); fft.rfftfreq(5); fft.fftshift(v); fft.ifftshift(t, axes=1); fft.irfft(cv, 5, norm='forward')""",
}  # fmt: skip


#: Expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    **dict.fromkeys(
        ["spacing(x)", "nextafter(x, y)", "nextafter(x, 2)"], "upstream has no derivative"
    ),
    **dict.fromkeys(
        [
            "unique(ties)", "unique(ties, return_index=True, return_inverse=True, return_counts=True)",
            "unique_inverse(x)", "unique_values(ties)",
        ],
        "without `size`, upstream returns 0",
    ),
    **dict.fromkeys(
        ["linalg.cholesky(m + 5 * eye(3), symmetrize_input=False)", "linalg.eigvalsh(m, symmetrize_input=False)"],
        "upstream's derivative by the triangle that is not read is not zero",
    ),
    "abs(linalg.qr(transpose(x), mode='complete')[1])": "the added columns are not determined",
    "sort(real(linalg.eig(a)[0]))": "upstream's derivative is disabled by default",
}  # fmt: skip


def _rows() -> list[str]:
    found = []
    for rows in ROWS.values():
        lines = rows if isinstance(rows, list) else rows.replace("\n", ";").split(";")
        found += [row.strip() for row in lines if row.strip()]
    return found


EXPRESSIONS = _rows()


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values_on_numpy(expression: str) -> None:
    expressions.assert_equal(expression, jax.numpy, frontend.numpy, "numpy")


@pytest.mark.one_in(32)
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "jax"])
@pytest.mark.parametrize("expression", expressions.first_of_each_function(EXPRESSIONS))
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, jax.numpy, frontend.numpy, backend)


@pytest.mark.full
@pytest.mark.parametrize("backend", ["torch", "tensorflow", "jax"])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_all_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, jax.numpy, frontend.numpy, backend)


def _differentiable(rows: list[str]) -> list[str]:
    return [
        row
        for row in rows
        if row not in NOT_DIFFERENTIATED
        and any(name in expressions.DIFFERENTIATED for name in expressions.used(row))
    ]


@pytest.mark.one_in(32)
@pytest.mark.parametrize(
    "expression", expressions.first_of_each_function(_differentiable(EXPRESSIONS))
)
def test_gradients_on_torch(expression: str) -> None:
    if expressions.is_differentiable(expression, jax.numpy):
        expressions.assert_gradients(expression, jax.numpy, frontend.numpy, "torch")


@pytest.mark.full
@pytest.mark.parametrize("expression", _differentiable(EXPRESSIONS))
def test_gradients(expression: str, backend: str) -> None:
    if expressions.is_differentiable(expression, jax.numpy):
        expressions.assert_gradients(expression, jax.numpy, frontend.numpy, backend)


@pytest.mark.parametrize("space", ["numpy", "numpy.fft", "numpy.linalg"])
def test_every_function_has_an_expression(space: str) -> None:
    expressions.assert_every_function_is_used(space, [*EXPRESSIONS, "from_dlpack(x)"])


def test_an_array_of_another_library_becomes_one_of_the_default_backend(backend: str) -> None:
    with na.use_backend(backend):
        assert na.backend_of(frontend.numpy.from_dlpack(np.arange(3.0, dtype="float32"))) == backend


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda j, x: j.put(x, 0, 1.0), "put: inplace: got True, expected False"),
        (lambda j, x: j.choose(x, [x]), "choose: mode: got 'raise', expected 'wrap' or 'clip'"),
        (lambda j, x: j.take(x, x, mode="raise"), "mode: got 'raise', expected 'fill', 'clip'"),
        (lambda j, x: j.max(x, where=x > 0), "max, min: where: expected initial too"),
        (lambda j, x: j.split(x, 2), "split: indices_or_sections: got 2 for an axis of length 3"),
        (lambda j, x: j.linalg.norm(x, "fro", 0), "norm: ord: got 'fro', expected a number"),
        (lambda j, x: j.sort(x, 3), "axis"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises((na.errors.ArgumentError, ValueError), match=message):
        call(frontend.numpy, np.asarray([0.0, 1.0, math.pi]))


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, value in vars(frontend.numpy).items()
        if inspect.isfunction(value) and "out" in inspect.signature(value).parameters
    ],
)
def test_results_are_not_written_into_arrays(name: str) -> None:
    function, x = getattr(frontend.numpy, name), np.ones((2, 2), "float32")
    required = [p for p in inspect.signature(function).parameters.values() if p.default is p.empty]
    with pytest.raises(
        na.errors.UnsupportedError, match=f"{function.__name__}: out: got ndarray, expected None"
    ):
        function(*[x] * len(required), out=x)

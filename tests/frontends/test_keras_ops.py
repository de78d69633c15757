"""The functions of `keras.ops` against Keras on its TensorFlow backend."""

from __future__ import annotations

import inspect
import itertools
import re
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.frontends import keras as frontend
from nestarray.frontends.keras import promotion
from tests.arrays import on
from tests.frontends import tensorflow_expressions as expressions
from tests.frontends.expressions import assert_same, first_of_each_function, names_in
from tests.frontends.tensorflow_expressions import INPUTS

UNARY = """abs absolute angle arccos(p) arccosh(p+1) arcsin(p) arcsinh arctan arctanh(p) cbrt ceil conj conjugate cos cosh deg2rad
exp exp2 expm1 fabs floor i0 imag log(p) log10(p) log1p(p) log2(p) nan_to_num negative rad2deg real reciprocal(p) round sign signbit
sin sinc sinh sqrt(p) square tan tanh trunc isfinite isinf isnan isneginf isposinf isreal logical_not all any amax amin argmax argmin
max min sum prod mean var std median cumsum cumprod count_nonzero nanmax nanmin nansum nanprod nanmean nanvar nanstd nanmedian nancumsum
nancumprod nanargmax nanargmin average ptp ravel size ndim copy sort argsort zeros_like ones_like empty_like flip fliplr flipud nonzero
transpose squeeze diagflat trace tril triu diagonal diff corrcoef"""

BINARY = """add subtract multiply divide true_divide divide_no_nan floor_divide mod fmod maximum minimum fmax fmin arctan2 hypot heaviside
logaddexp logaddexp2 equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor isclose allclose isin
append outer kron nextafter(x,y) matmul(x,tall) dot(x,tall) inner tensordot(x,tall,1) vdot power(p,y)"""


def _unary() -> list[str]:
    rows = [name if "(" in name else f"{name}(x)" for name in UNARY.split()]
    plain = [name for name in UNARY.split() if "(" not in name]
    refused = {
        "i": ("conj", "conjugate", "imag", "real", "reciprocal", "corrcoef"),
        "u": ("conj", "conjugate", "imag", "real", "reciprocal", "negative", "ptp", "fliplr", "fliplr", "trace",
              "tril", "triu", "diagonal", "corrcoef", "square"),
        "b": ["abs", "absolute", "conj", "conjugate", "cbrt", "imag", "real", "reciprocal", "negative", "round", "sign", "ptp", "nan_to_num", "diff", "nanargmax", "nanargmin", "corrcoef", "trunc", "median", "nanmedian"],
        "h": ("fliplr", "trace", "tril", "triu", "diagonal", "corrcoef"),
        "c": (),
    }  # fmt: skip
    for name in ("i", "u", "b", "h"):
        rows += [f"{f}({name})" for f in plain if f not in refused[name]]
    ordered = [
        "isfinite",
        "isinf",
        "isnan",
        "isneginf",
        "isposinf",
        "signbit",
        "sign",
        "nan_to_num",
        "abs",
        "floor",
    ]
    rows += [f"{f}(e)" for f in ordered]
    rows += [
        f"{f}(c)"
        for f in [
            "abs",
            "angle",
            "conj",
            "cos",
            "exp",
            "imag",
            "real",
            "sqrt",
            "square",
            "isreal",
            "tanh",
            "sum",
            "mean",
        ]
    ]
    return rows


def _binary() -> list[str]:
    rows = []
    for row in BINARY.split():
        name = row.partition("(")[0]
        rows.append(row if "(" in row else f"{row}(x, y)")
        if name in ("dot", "inner", "tensordot", "vdot", "matmul", "kron", "nextafter", "power"):
            continue
        rows += [f"{name}(i, j)", f"{name}(s, j[0])"]
        if name not in ("append", "outer"):
            rows += [f"{name}(x, 2)", f"{name}(j, 1.5)", f"{name}(h, 2.5)", f"{name}(h, j[0])"]
    return rows


ROWS = {
    "one operand": _unary(),
    "two operands": _binary(),
    "promotion": """add(b, 1); add(b, 1.5); add(1, 2); add(i, c); add(u, 1); add(h, 1); add(h, x[0]); multiply(b, 2.5); subtract(2, i); power(i, 2); power(j, 1.5); power(u, 2)
        power(h, 2); power(holes, 2.0); maximum(i, 1.5); maximum(s, 7); maximum(holes, 0.0); minimum(holes, 0.0); maximum(ties, 3.0); maximum(n, 1.0); minimum(1.0, n); maximum(1, 2.5); fmax(n, 0.0)
        fmin(1.0, n); fmax(ties, ties); where(b, x, y); where(b, 1, 2); where(b, 1.5, i); where(b, x, 0); where(i, x, y); where(b); select([b, b2], [x, y]); select([b, b2], [i, j], 9)
        clip(x, -0.5, 0.5); clip(i, -1, 2); clip(b, 0, 1); clip(ties, 1.0, 2.0); clip(u, 5, 100); heaviside(holes, 0.5); heaviside(i, 2); ldexp(x, j); ldexp(h, j[0]); gcd(i, j); lcm(i, j); gcd(u, 6)
        round(x, 1); round(t * 100, -1); round(i, -1); round(i, 1); bitwise_and(i, j); bitwise_and(i, 3); bitwise_or(i, s); bitwise_xor(i, j); bitwise_invert(i); bitwise_not(u)
        bitwise_left_shift(j, 2); left_shift(j, i * 0 + 1); bitwise_right_shift(i, 1); right_shift(u, 2); nan_to_num(e, nan=1.0, posinf=2.0, neginf=-3.0); isclose(e, e); isclose(e, e, equal_nan=True)
        allclose(x, x); allclose(e, e, equal_nan=True); isclose(x, x + 1e-6); isin(i, j); isin(i, [1, 3], invert=True); isin(i, j, assume_unique=True); hypot(holes, 1.0); angle(-x); logical_and(i, x)""",
    "creation": """array([1, 2]); array([1.0, 2]); array([[True]]); array(3); array(2.5); array(x, 'int32'); array([v[0], w[1]]); numpy.zeros((2, 3)); numpy.zeros(3, 'int32'); ones((2,)); empty((2,)); full((2,), 3); full((2, 2), 1.5, 'int32')
        full((2, 3), z); full_like(x, 2); full_like(i, 2.5, 'float32'); full_like(x, z); zeros_like(x, 'int32'); ones_like(i, 'float16'); empty_like(b); arange(5); arange(1, 6, 2); arange(0.0, 1.0, 0.25); arange(3, dtype='float32')
        arange(5, 0, -2); arange(4, dtype='int8'); linspace(0, 1, 5); linspace(0, 10, 4, dtype='int32'); linspace(z, 2.0, 4); linspace(0, 1, 4, endpoint=False); linspace(0, 1, 5, retstep=True); linspace(z, z + 1, 3, axis=1)
        linspace(0.0, 1.0, 3, False, True); logspace(0, 2, 3); logspace(0, 3, 4, base=2); logspace(z, z + 1, 3); geomspace(1, 1000, 4); geomspace(-2.0, -16.0, 4); geomspace(1.0, 8.0, 3, endpoint=False); eye(3); eye(2, 3, 1, 'int32')
        eye(3, k=-1); identity(2); identity(2, 'bool'); tri(3); tri(2, 3, 1); tri(3, k=-1, dtype='int32'); tril(m); tril(m, -1); triu(m, 1); triu(m, -1); tril(t); diag(v); diag(m, 1); diag(v, -1); diagflat(x); diagflat(v, 1)
        vander(v); vander(z, 2, True); vander(k); meshgrid(v, z); meshgrid(v, z, indexing='ij'); meshgrid(v); bartlett(5); bartlett(1); blackman(6); blackman(1); hamming(5); hanning(6); kaiser(5, 2.0)""",
    "reductions": """sum(x, 1); sum(t, (0, 2), True); sum(s); sum(b, 0); prod(x, 0); prod(s); prod(holes, 1); prod(i, dtype='int32'); cumsum(x, 1); cumsum(i, 0, 'float32'); cumsum(b, 1); cumprod(x, 1); cumprod(holes, 1)
        max(x, 1); max(ties); max(b, 0); max(i, initial=4); max(x, 1, True, 0.5); min(ties); min(x, 0, True); min(x, initial=-1.0); min(b, 1); amax(t, (0, 1)); amin(t, 2, True); argmax(x, 1); argmax(ties); argmax(x, 0, True)
        argmax(e[:2]); argmin(e[:2]); argmin(x, 1); argmax(b, 1); argmin(t, 2, True); argmax(x, None, True); mean(x, 1); mean(t, (0, 2), True); mean(h); var(x, 1); var(t, (0, 1), True); std(x, 0); std(t, 2, True); all(b, 1)
        any(b, 0, True); count_nonzero(i, 1); ptp(x, 1); ptp(t, (0, 1), True); trace(t, 1, 1, 2); trace(m, 1); trace(i); nansum(n, 1); nansum(n); nanprod(n, 1); nanmax(n, 1); nanmin(n, 0); nanmax(n, keepdims=True); nanargmax(n, 1)
        nanargmin(n, 0, True); nancumsum(n, 1); nancumprod(n); nanmean(n, 1); nanmean(n, axis=()); nanvar(n, 1); nanstd(n, 0, True); nanmedian(n, 1); nanquantile(n, 0.4); nanquantile(x, 0.3, 0, keepdims=True)
        nanpercentile(n, 40.0); nanpercentile(x, 25.0, axis=1); median(x, 1, True); median(v); median(i); quantile(x, 0.3); quantile(x, [0.1, 0.7], axis=1); quantile(v, 0.4, method='lower'); quantile(v, 0.4, method='higher')
        quantile(v, 0.4, method='nearest'); quantile(v, 0.4, method='midpoint'); quantile(t, 0.2, (0, 2), keepdims=True); quantile(n, 0.5, 1); percentile(x, 30.0); percentile(x, [10.0, 60.0], 0); average(x, 1, z); average(x, weights=y)
        average(x, 0); average(i); average(i, weights=j); bincount(k); bincount(k, minlength=8); bincount(k, k * 2); bincount(k, take(v, k), 7); bincount(j); bincount(k[None], weights=k[None] * 2); bincount(u[:1]); corrcoef(x); corrcoef(t[0])
        trapezoid(x); trapezoid(x, z); trapezoid(t, dx=0.5, axis=1); trapezoid(i); count_nonzero(holes)""",
    "shapes": """append(x, y, 0); append(i, x, axis=1); array_split(v, 3); array_split(t, 2, axis=2); broadcast_to(z, (2, 3)); concatenate([x, y]); concatenate([x, i], axis=1); concatenate([h, s]); dstack([x, y]); dstack([v, w]); hstack([x, y])
        hstack([v, z]); vstack([x, y]); vstack([x, i]); stack([x, y]); stack([x, i], axis=-1); split(v, 2); split(t, 3, 1); split(t, [1, 2], axis=2); hsplit(x, 3); hsplit(v, [1, 3]); vsplit(x, 2); dsplit(t, 2); expand_dims(x, 1)
        expand_dims(x, (0, -1)); squeeze(x[None]); squeeze(x[None, :, None], axis=(0, 2)); squeeze(x[None], 0); transpose(t); transpose(t, (1, 0, 2)); transpose(t, (0, -1, 1)); swapaxes(t, 0, -1); moveaxis(t, 0, 2); moveaxis(t, (0, 1), (-1, 0))
        flip(x, 1); flip(t, (0, 2)); fliplr(x); flipud(x); rot90(x); rot90(m, 2); rot90(t, -1, (1, 2)); roll(x, 1); roll(x, 1, 1); roll(t, (1, -1), (0, 2)); repeat(x, 2); repeat(x, 2, 1); repeat(v, [1, 0, 2, 1]); tile(x, 2); tile(x, (2, 1))
        tile(v, (2, 2)); reshape(x, (3, 2)); reshape(x, -1); reshape(t, (2, -1)); ravel(t); pad(x, [(1, 0), (0, 2)]); pad(x, ((1, 1), (0, 0)), constant_values=2.0); pad(x, [(1, 1), (2, 1)], 'reflect'); pad(x, [(1, 1), (2, 1)], mode='symmetric')
        diagonal(t, 1, 0, 2); diagonal(m, -1); diff(x); diff(t, 2, 1); diff(b); diff(i, axis=0); diff(x, 0); view(x, 'int32'); view(k, 'float32'); view(u, 'int16'); view(x, 'uint8'); view(x)""",
    "parts": """get_item(x, 0); get_item(x, (..., 1)); get_item(t, (None, 0)); take(v, k); take(x, [0, -1], axis=1); take(x, k); take(t, [[0, 1]], axis=1); take_along_axis(x, j - 2, 1); take_along_axis(x, argsort(x, 1), axis=1); take_along_axis(v, k)
        take_along_axis(t, j[:, :1, None] - 2, 1); unravel_index(k, (2, 3)); unravel_index(j, (3, 3)); searchsorted(sort(v), w); searchsorted(sort(v), w, 'right'); digitize(x, [-1.0, 0.0, 1.0]); digitize(i, [0, 3]); sort(x, 0); sort(x, None); sort(b); sort(i)
        argsort(x, 0); argsort(ties); argsort(x, None); argsort(b); argpartition(k, 2); argpartition(k, 4, None)[4:]; unique(k); unique(i); unique(k, return_index=True, return_inverse=True, return_counts=True); unique(k, size=5, return_counts=True)
        unique(k, size=2); unique(concatenate([i, i]), axis=0, return_inverse=True); unique(j, axis=1); unique(j, return_inverse=True); unique(k, return_index=True, size=4, fill_value=7); histogram(v); histogram(ravel(x), 4); histogram(v, 3, range=(-1.0, 1.0))
        nonzero(holes); nonzero(b)""",
    "products": """matmul(t, transpose(t[0])); matmul(m, z); matmul(z, m); matmul(i, j[0]); matmul(t, transpose(t, (0, 2, 1))); matmul(s[:, None], s[None]); matmul(h, h); dot(v, w); dot(x, 2.0); dot(t, v); dot(i, j[0]); dot(m, a); inner(v, w); inner(x, y); inner(t, v); inner(i, j)
        vdot(x, y); vdot(i, j); outer(v, z); outer(i, x); tensordot(t, t, [[0, 1], [0, 1]]); tensordot(m, a); tensordot(i, j, 2); tensordot(t, v, 1); einsum('ij,kj->ik', x, y); einsum('bij,bik->bjk', t, t); einsum('ii', m); einsum('ij,ij->', i, j)
        einsum('i,j->ij', s, s); kron(m, x); kron(v, w); kron(i, j); cross(z, z + 1); cross(m, a); cross(x[:, :2], y[:, :2]); cross(m, a, axis=0); cross(x[:, :2], y); cross(m, a, axisa=0, axisc=0); cross(i, j); correlate(v, z); correlate(v, z, 'full')
        correlate(v, z, mode='same'); correlate(k, l, 'full'); slogdet(m); slogdet(a); einsum('abc,cd->abd', t, transpose(t[0]))""",
}

NN = """
relu(x); relu6(x * 5); leaky_relu(x); leaky_relu(x, 0.3); elu(x); elu(x, 2.0); celu(x); celu(x, 0.5); selu(x); sigmoid(x); log_sigmoid(x); sparse_sigmoid(x); hard_sigmoid(x * 3); silu(x); swish(x); hard_silu(x * 3); hard_swish(x); gelu(x); gelu(x, False); glu(t); glu(t, 2)
softplus(x); sparse_plus(x); squareplus(x); squareplus(x, 2); softsign(x); hard_tanh(x); tanh_shrink(x); hard_shrink(x); hard_shrink(x, 0.2); soft_shrink(x); soft_shrink(x, 0.1); threshold(x, 0.2, 2.0); softmax(x); softmax(t, 1); softmax(x, None); log_softmax(x); log_softmax(t, 0)
log_softmax(x, None); sparsemax(x); sparsemax(t, 1); relu(h); gelu(h); softmax(h); relu(i)
relu(holes); relu6(holes); relu6(holes * 0 + 6); leaky_relu(holes); elu(holes); elu(holes, 2.0); selu(holes); hard_sigmoid(holes * 0 + 3); hard_sigmoid(holes * 0 - 3); hard_silu(holes * 0 + 3); hard_silu(holes * 0 - 3); hard_tanh(ties); hard_tanh(-ties); hard_shrink(holes + 0.5); soft_shrink(holes - 0.5)
softsign(holes); sparse_sigmoid(ties); sparse_sigmoid(-ties); sparse_plus(ties); sparse_plus(-ties); threshold(holes, 0.0, 1.0); softplus(holes); log_sigmoid(holes)
max_pool(signal, 2); max_pool(image, 2); max_pool(image, (2, 3), (1, 2), 'same'); max_pool(volume, 2, 1, 'same'); max_pool(image, 2, padding='valid', data_format='channels_first'); average_pool(signal, 3, 2, 'same'); average_pool(image, 2); average_pool(image, (3, 2), 2, 'same')
average_pool(volume, 2, 2); average_pool(image, 2, data_format='channels_first', padding='same'); adaptive_average_pool(signal, 3); adaptive_average_pool(image, (4, 3)); adaptive_average_pool(volume, 2); adaptive_max_pool(image, (3, 2)); adaptive_max_pool(image, 2, 'channels_first')
adaptive_max_pool(signal, 4); adaptive_max_pool(volume, (2, 3, 2))
conv(signal, f1); conv(signal, f1, 2, 'same'); conv(image, f2); conv(image, f2, (2, 1), 'same'); conv(image, f2, 1, 'same', dilation_rate=2); conv(volume, f3); conv(volume, f3, 2, 'same'); conv(concatenate([image, image], -1), f2[..., :2])
conv(image, f2[:, :, :1, :3], 1, 'same'); conv(signal, f1, padding='valid', dilation_rate=2)
depthwise_conv(signal, f1[:, :, :2]); depthwise_conv(image, f2[..., :2], 2, 'same'); depthwise_conv(image, f2, dilation_rate=2, padding='same'); depthwise_conv(image, f2, 2, dilation_rate=2); separable_conv(image, f2[..., :1], f2[:1, :1], 2, 'same'); separable_conv(signal, f1[..., :1], f1[:1])
depthwise_conv(image[:, :3], f2, 1, 'same', 'channels_first')
conv_transpose(signal, moveaxis(f1, 1, 2)); conv_transpose(signal, moveaxis(f1, 1, 2), 2, 'same'); conv_transpose(image, moveaxis(f2, 2, 3), 2, 'same'); conv_transpose(image, moveaxis(f2, 2, 3), (1, 3)); conv_transpose(image, moveaxis(f2, 2, 3), 2, 'valid', 1)
conv_transpose(image, moveaxis(f2, 2, 3), 2, 'same', 1); conv_transpose(image, moveaxis(f2, 2, 3), 4); conv_transpose(volume, moveaxis(f3, 3, 4), 2)
one_hot(k, 4); one_hot(i, 3); one_hot(k, 3, 0, 'int32'); one_hot(k, 3, dtype='bool'); one_hot(j, 5, 1); multi_hot(k, 4); multi_hot(j, 5); multi_hot(j, 5, dtype='bool'); multi_hot(j, num_classes=5, axis=1, dtype='int32')
polar(p, x); psnr(x, y, 2.0); moments(x, 1); moments(t, (0, 2), True); moments(h, 0); batch_normalization(x, z, p[0], -1); batch_normalization(x, z, p[0], -1, x[0], p[1], 0.1); batch_normalization(t, z, p[0], 1, x[0], p[1])
layer_normalization(x); layer_normalization(x, z, y[0]); layer_normalization(t, axis=1, gamma=z); layer_normalization(t, axis=(1, 2), gamma=t[0], beta=t[1], epsilon=0.1); layer_normalization(h); rms_normalization(x); rms_normalization(x, z, epsilon=0.1); rms_normalization(t, axis=(1, 2))
rms_normalization(h, axis=0); normalize(x); normalize(x, 0); normalize(x, order=3); normalize(t, axis=(0, 1)); normalize(holes, epsilon=1.0); normalize(x, order=1)
binary_crossentropy(p, p * 0.9); binary_crossentropy(p, x, True); categorical_crossentropy(p, p * 0.9 + 0.05); categorical_crossentropy(p, x, from_logits=True); categorical_crossentropy(p, x, True, 0); categorical_crossentropy(p, p + 1, axis=0); sparse_categorical_crossentropy(l - 1, x, True)
sparse_categorical_crossentropy(l - 2, p); sparse_categorical_crossentropy(l[:, None] - 1, p); sparse_categorical_crossentropy(j[:, :1] - 2, x[:, None], True)
dot_product_attention(image, image, image); dot_product_attention(image, image[:, :4], image[:, :4], scale=0.5); dot_product_attention(image, image, image, is_causal=True); dot_product_attention(image, image, image, bias=image[:1, :1, :1, :1]); dot_product_attention(image, image, image, mask=image[:, :1, :1, :1] > 9)
dot_product_attention(image[:, :, :4], image[:, :, :2], image[:, :, :2]); dot_product_attention(image, image, image, mask=(image[:, None, :, 0, :1] + moveaxis(image[:, None, :, 1, :1], 2, 3)) > 0)
ctc_loss(j[:, :2] % 2 + 1, signal, l - 1, l + 2); ctc_loss(j[:, :2] % 2, signal, l - 1, l + 2, 2); ctc_decode(signal, l + 3); ctc_decode(signal, l + 3, merge_repeated=False, mask_index=2); ctc_decode(signal, l + 3, 'beam_search', 20, 3); ctc_decode(signal, l + 3, 'beam_search', 6, mask_index=None)
unfold(image, 2); unfold(image, (2, 1), 2, 1, 2); fold(unfold(image, 2), (5, 3), 2); fold(unfold(image, (2, 3), 1, 1, 1), (5, 3), (2, 3), padding=1); depth_to_space(concatenate([image, image[..., :1]], 3), 2); space_to_depth(image[:, :, :4], 2); depth_to_space(image[:, :4], 2, 'channels_first')
space_to_depth(image[:, :, :4, :2], 2, 'channels_first')
"""

LINALG = """cholesky(a); cholesky(a, True); cholesky_inverse(cholesky(a)); cholesky_inverse(cholesky(a, True), True); det(m); det(a); eigh(a)[0]; sort(real(eig(a)[0])); inv(m); lstsq(tall, z); lstsq(tall, m); lstsq(m, z, 0.1); lu_factor(m); lu_factor(flip(m, 0)); matrix_rank(m); matrix_rank(tall); matrix_rank(m, 4.0)
norm(x); norm(x, axis=1); norm(x, 1, 1); norm(x, 3, 0); norm(x, float('inf'), 1, True); norm(x, float('-inf'), 0); norm(holes, 0, 1); norm(m, 'fro'); norm(m, 'nuc'); norm(m, 2); norm(m, -2); norm(m, 1); norm(m, -1); norm(m, float('inf')); norm(m, float('-inf'), keepdims=True); norm(t, 1, (0, 2)); norm(t, axis=(1, 2))
norm(i); norm(v); norm(v, 2); pinv(tall); pinv(m, 0.1); qr(m)[1] ** 2; qr(tall)[1] ** 2; qr(tall, 'complete')[0].shape[1]; solve(m, z); solve(m, a); solve_triangular(m, z); solve_triangular(m, a, True); svd(m, compute_uv=False); svd(tall)[1]; svd(tall, full_matrices=False)[1]; jvp(lambda x: x * x, (x,), (y,))
jvp(lambda x, y: (x * y, x), (x, y), (y, x), has_aux=True)[:2]"""

IMAGE = """rgb_to_grayscale(image); rgb_to_grayscale(image[0]); rgb_to_grayscale(image[:, :3], 'channels_first'); rgb_to_hsv(abs(image)); hsv_to_rgb(image * 0 + 0.3); rgb_to_hsv(abs(image[:, :3]) + 0.1, data_format='channels_first'); hsv_to_rgb(abs(image[0]) * 0.2)
resize(image, (4, 7)); resize(image, (3, 4), 'nearest'); resize(image[0], (9, 4), 'bicubic', True); resize(image, (3, 3), 'area'); resize(image, (8, 3), 'lanczos3'); resize(image, (3, 8), 'lanczos5', True); resize(image, (3, 3), antialias=True); resize(image, (4, 4), crop_to_aspect_ratio=True)
resize(image, (4, 8), pad_to_aspect_ratio=True, fill_value=2.0); resize(image, (8, 4), data_format='channels_first'); resize(image, (9, 3), pad_to_aspect_ratio=True); resize(i[:, :, None], (4, 5)); resize(u[:, None, None], (7, 2)); resize(i[:, :, None], (4, 5), 'nearest')
affine_transform(image, P); affine_transform(image, P, 'nearest'); affine_transform(image[0], P, fill_value=2.0); affine_transform(image, P * 3, fill_mode='reflect'); affine_transform(image, P * 3, fill_mode='wrap'); affine_transform(image, P * 3, fill_mode='nearest')
affine_transform(image, stack([P, P * 2]), 'nearest', 'reflect'); affine_transform(image[:, :, :3], P, data_format='channels_first'); affine_transform(i[:, :, None], P)
perspective_transform(image, C, C * 1.2 + 0.3); perspective_transform(image[0], C, flip(C, 0), 'nearest', 1.0); perspective_transform(image, stack([C, C]), stack([C, C + 1]))
extract_patches(image, 2); extract_patches(image[0], (3, 2), 1, padding='same'); extract_patches(image, 2, 1, 2); extract_patches(volume, (2, 2, 1)); extract_patches_3d(volume, 2); extract_patches_3d(volume[0], (1, 2, 3), 1, padding='same')
map_coordinates(m, Q, 1); map_coordinates(m, Q, 0); map_coordinates(m, Q, 1, 'nearest'); map_coordinates(m, Q, 1, 'wrap'); map_coordinates(m, sigmoid(Q) * 1.9, 1, 'mirror'); map_coordinates(m, Q, 1, 'reflect'); map_coordinates(m, Q, 0, 'reflect'); map_coordinates(m, Q, 1, fill_value=2.0); map_coordinates(i, Q[:, :, :2], 1)
pad_images(image, 1, 2, 3, 4); pad_images(image[0], top_padding=1, left_padding=0, target_height=9, target_width=8); pad_images(image, 1, 2, 3, 4, data_format='channels_first'); crop_images(image, 1, 1, 2, 1); crop_images(image[0], top_cropping=1, left_cropping=2, target_height=3, target_width=2)
crop_images(image, bottom_cropping=1, right_cropping=1, target_height=2, target_width=2, data_format='channels_first'); gaussian_blur(image); gaussian_blur(image[0], (5, 3), (1.5, 0.5)); gaussian_blur(image, data_format='channels_first'); elastic_transform(image, 1.0, 1.5, seed=3); elastic_transform(image[0], 2.0, 1.0, 'nearest', 'constant', 1.0, seed=2**20); elastic_transform(image, 1.0, seed=1, data_format='channels_first'); sobel_edges(image); sobel_edges(image, 'channels_first')
scale_and_translate(image, (2, 4, 4, 3), z[:2] * 0 + 0.7, z[1:], (1, 2), 'linear'); scale_and_translate(image, (2, 8, 5, 3), z[:1] * 3, z[:1], (1,), 'cubic', False); scale_and_translate(image, (2, 6, 4, 3), z[:1] + 1, z[:1], (-2,), 'lanczos3')
ssim(sigmoid(image), sigmoid(image * 2), filter_size=3); ssim(sigmoid(image[0]), sigmoid(image[1]), 2.0, 5, 0.8, 0.02, 0.04); ssim(sigmoid(image), sigmoid(image * 3), filter_size=3, data_format='channels_first')"""

#: Abbreviations in the expressions of images: a projective map, the corners of images, coordinates.
ABBREVIATIONS = {
    "P": "convert_to_tensor([1.1, 0.2, -0.5, 0.1, 0.9, 0.3, 0.01, 0.02])",
    "C": "convert_to_tensor([[0.0, 0.0], [4.0, 0.5], [0.5, 5.0], [4.0, 5.0]])",
    "Q": "stack([t[0] * 2 + 1, t[1] * 2])",
}

CORE = """cast(x, 'int32'); cast(i, 'float32'); cast(c, 'float32'); cast(x, 'bool'); saturate_cast(x * 1000, 'int8'); saturate_cast(i, 'uint8'); saturate_cast(x, 'bool'); saturate_cast(b, 'int32'); convert_to_tensor([1, 2]); convert_to_tensor(x, 'float16'); convert_to_tensor(2.5, dtype='int32'); is_tensor(x); is_tensor([1]); shape(t); dtype(x); dtype(b); slice(t, (0, 1, 1), (2, 2, 3)); slice(t, [0, 1, 0], [1, -1, 2]); slice(x, l - 2, (1, 2)); slice_update(x, (0, 1), y[:1, :2]); slice_update(x, l - 1, y[:1, :2]); scatter(k[:, None], take(v, k), (4,)); scatter(i[:, :2] * 0 + 1, x[:, 0], (2, 3))
scatter_update(v, k[:2, None], w[:2]); scatter_update(x, l[:1, None] - 2, y[:1]); scatter_update(v, k[:, None], take(v, k), 'add'); scatter_update(v, k[:, None], take(w, k), reduction='max'); scatter_update(v, k[:, None], take(w, k), 'min'); scatter_update(v, k[:, None], take(w, k), 'mul'); unstack(x); unstack(x, 3, 1)
rearrange(t, 'b (h w) c -> b h w c', h=3); rearrange(t, 'a b c -> (b a) c'); stop_gradient(x) * y; custom_gradient(lambda v: (v * v, lambda upstream: upstream * 3.0))(v); custom_gradient(lambda v, w: (v * w, lambda upstream: (upstream, upstream * 2.0)))(v, w)
cond(b[0, 0], lambda: x, lambda: y); cond(x[0, 0] > 9, lambda: (x, y), lambda: (y, x)); switch(k[0], [lambda v: v, lambda v: v * 2, lambda v: v * 3], v); switch(9, [sin, cos], x); while_loop(lambda v: v[0] < 9, lambda v: v * 2, abs(v)); while_loop(lambda n, v: n < 3, lambda n, v: (n + 1, v * v), (0, v))
while_loop(lambda v: v[0] < 9, lambda v: v + 1.0, v, 2); fori_loop(0, 3, lambda n, v: v * 1.5, v); scan(lambda v, w: (v + w, v * w), z, m); scan(lambda v, w: (v * 1.5, v), z, length=3); scan(lambda v, w: (v + w, v * w), z, m, reverse=True); associative_scan(lambda v, w: v + w, t); associative_scan(lambda v, w: v * w, x, True, 1)
map(lambda v: v * 2, x); map(lambda v: v[0] * v[1], (x, y)); vectorized_map(lambda v: v * sum(v), x); vectorized_map(lambda v: v[0] + v[1], (x, y))"""

MATH = """erf(x); erfc(x); erfinv(p); rsqrt(p); logsumexp(x); logsumexp(t, (0, 1), True); logdet(a); cdist(x, y); cdist(t, t[:, :2] + 1); segment_sum(take(x, k % 2, 0), k); segment_sum(take(v, k), k, 4); segment_max(take(x, k % 2, 0), k); segment_max(take(v, k), k + 1, 5); segment_min(take(v, k), k, 4); segment_min(i[:, 0], l - 2); segment_prod(take(v, k), k)
segment_prod(holes[0], l[:1] * k[:3] // 9, 2); segment_sum(v, k[:4] * 0, sorted=True); segment_max(z, l[:1] - k[:3] // 2 * 0 - 1, sorted=True); segment_prod(z, sort(k[:3]), sorted=True); segment_min(z, sort(k[:3] * 2), sorted=True); top_k(x, 2); top_k(ties, 3); top_k(i, 1, False); in_top_k(l - 1, x, 2); in_top_k(k[:2], x, 1)
extract_sequences(v, 2, 1); extract_sequences(t, 3, 1); fft((x, y)); fft2((t, t * 2)); ifft2((t, t * 2)); rfft(v); rfft(x, 4); irfft((x, y)); irfft((x, y), 5); stft(T, 4, 2, 4); stft(T, 3, 2, 5, 'hamming', False); stft(T, 4, 1, 6, None); stft(T, 3, 2, 4, z); istft(stft(T, 4, 2, 4), 4, 2, 4); istft(stft(T, 3, 1, 5), 3, 1, 5, 6)
istft(stft(T, 4, 2, 4, None), 4, 2, 4, window=None, center=False); istft(stft(T, 4, 2, 6, 'hamming'), 4, 2, 6, None, 'hamming'); view_as_complex(x[:, :2]); view_as_real(c); view_as_real(x)"""
ABBREVIATIONS["T"] = "reshape(t, (2, 12))"


def _rows(text: str) -> list[str]:
    """The expressions in a text, with abbreviations written out."""
    rows = [row.strip() for row in text.strip().replace("\n", ";").split(";")]
    return [re.sub(r"\b[PCQT]\b", lambda m: ABBREVIATIONS[m[0]], row) for row in rows if row]


EXPRESSIONS = [
    *(row for rows in ROWS.values() for row in (rows if isinstance(rows, list) else _rows(rows))),
    *(row for text in (NN, LINALG, IMAGE, CORE, MATH) for row in _rows(text)),
]
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    "bincount(k, take": "none upstream",
    "view(": "none upstream",
    "lu_factor(": "none upstream",
    "resize(image, (3, 3), 'area'": "none upstream",
    "slice_update(": "none upstream",
    "hsv_to_rgb(": "zero upstream",
    "svd(tall)[1]": "of complete factors: not determined on NumPy",
}


def _functions(ops: Any) -> ModuleType:
    """The public functions of `keras.ops` and of its chapter of images."""
    found = ModuleType("ops")
    for space in (ops, ops.image):
        names = [name for name in dir(space) if name[0] != "_"]
        vars(found).update({n: getattr(space, n) for n in names if callable(getattr(space, n))})
    vars(found)["numpy"] = ops.numpy  # for the function that has the name of an array
    return found


THEIRS, OURS = _functions(keras.ops), _functions(frontend.ops)
DIFFERENTIATED = [row for row in EXPRESSIONS if not row.startswith(tuple(NOT_DIFFERENTIATED))]


@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.one_in(64)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, THEIRS, OURS, backend)


@pytest.mark.one_in(8)
@pytest.mark.parametrize("expression", first_of_each_function(DIFFERENTIATED))
def test_gradients_on_torch(expression: str) -> None:
    if expressions.is_differentiable(expression, THEIRS):
        expressions.assert_gradients(expression, THEIRS, OURS, "torch")


@pytest.mark.full
@pytest.mark.parametrize("expression", DIFFERENTIATED)
def test_gradients(expression: str, backend: str) -> None:
    if expressions.is_differentiable(expression, THEIRS):
        expressions.assert_gradients(expression, THEIRS, OURS, backend)


def test_defaults_are_those_of_upstream() -> None:
    def defaults(function: Any) -> list[Any]:
        return [p.default for p in inspect.signature(function).parameters.values()]

    theirs, ours = vars(THEIRS), vars(OURS)
    functions = {n: f for n, f in ours.items() if inspect.isfunction(f)}
    assert [n for n, f in functions.items() if defaults(f) != defaults(theirs[n])] == []


def test_every_function_has_an_expression() -> None:
    tested = {name for row in EXPRESSIONS for name in names_in(row)}
    functions = {n for n, f in vars(OURS).items() if inspect.isfunction(f)}
    assert functions - tested == {"convert_to_numpy", "vectorize"}  # tested below


def test_values_as_arrays_of_numpy(backend: str) -> None:
    x = on(backend, INPUTS["i"])
    found = frontend.ops.convert_to_numpy(x)
    assert type(found) is np.ndarray
    np.testing.assert_array_equal(found, INPUTS["i"])


def test_vectorized_functions(backend: str) -> None:
    """Keras on TensorFlow refuses the broadcasting that NumPy has."""
    x, z = (on(backend, INPUTS[name]) for name in "xz")
    ops = frontend.ops
    found = ops.vectorize(lambda a, b: a * 2 + b)(x, z)
    assert_same(found, INPUTS["x"] * 2 + INPUTS["z"], backend)
    product = ops.vectorize(ops.dot, signature="(n),(n)->()")
    assert_same(product(x, z), INPUTS["x"] @ INPUTS["z"], backend)


@pytest.mark.parametrize("name", ["conv", "conv_transpose", "separable_conv"])
def test_convolutions_with_the_channels_first(name: str, backend: str) -> None:
    """Keras on TensorFlow has most of them on a GPU only."""
    function = getattr(frontend.ops, name)
    image, kernel = INPUTS["image"], INPUTS["f2"]
    kernels = {"conv": [kernel], "conv_transpose": [kernel.swapaxes(2, 3)]}
    kernels["separable_conv"] = [kernel[..., :1], kernel[:1, :1]]
    weights = [on(backend, np.ascontiguousarray(k)) for k in kernels[name]]
    wanted = function(on(backend, image), *weights, 2, "same")
    first = on(backend, np.ascontiguousarray(np.moveaxis(image, 3, 1)))
    found = function(first, *weights, 2, "same", data_format="channels_first")
    host = backends.core(backend).to_numpy
    np.testing.assert_allclose(np.moveaxis(host(found), 1, 3), host(wanted), 1e-5, 1e-5)


def test_a_dilated_transposed_convolution(backend: str) -> None:
    """The kernel with zeros in between; Keras on TensorFlow has dilation on a GPU only."""
    image, kernel = INPUTS["image"], INPUTS["f2"].swapaxes(2, 3)
    spread = np.zeros((5, 3, *kernel.shape[2:]), "float32")
    spread[::2, ::2] = kernel
    x, w, s = (on(backend, np.ascontiguousarray(a)) for a in (image, kernel, spread))
    host = backends.core(backend).to_numpy
    for padding in ("same", "valid"):
        found = frontend.ops.conv_transpose(x, w, padding=padding, dilation_rate=2)
        wanted = frontend.ops.conv_transpose(x, s, padding=padding)
        np.testing.assert_allclose(host(found), host(wanted), 1e-5, 1e-5)


def test_dtypes_of_pairs() -> None:
    names = ["bool", "uint8", "uint16", "uint32", "int8", "int16", "int32", "int64"]
    names += ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
    specs = [*names, int, float]
    for one, other in itertools.combinations_with_replacement(specs, 2):
        wanted = keras.backend.result_type(one, other)
        assert str(promotion.result_type(one, other)) == wanted, (one, other)


def test_settings_of_keras() -> None:
    settings = frontend.config
    assert (settings.floatx(), settings.epsilon(), settings.image_data_format()) == (
        "float32", 1e-7, "channels_last",
    )  # fmt: skip
    try:
        settings.set_floatx("float16")
        settings.set_epsilon(1e-3)
        settings.set_image_data_format("channels_first")
        assert na.dtype_of(frontend.ops.ones(2)) is na.float16
        assert na.dtype_of(frontend.ops.sin(np.ones(2, "int32"))) is na.float16
        loss = frontend.ops.binary_crossentropy(np.ones(1), np.zeros(1))
        np.testing.assert_allclose(loss, -np.log(1e-3))
        x = np.ones((1, 4, 4, 2), "float32")
        assert frontend.ops.max_pool(x, (2, 1)).shape == (1, 4, 2, 2)
    finally:
        settings.set_floatx("float32")
        settings.set_epsilon(1e-7)
        settings.set_image_data_format("channels_last")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda ops, x: ops.where(x > 0, x), "where: x1 and x2: got one of both"),
        (lambda ops, x: ops.select(x, [x]), "select: condlist: got .*, expected a list"),
        (lambda ops, x: ops.select([x > 0], [x, x]), "choicelist: got 2 arrays, expected 1"),
        (lambda ops, x: ops.diag(x[None, None]), "diag: x: got the shape .1, 1, 2., expected"),
        (lambda ops, x: ops.squeeze(x, 0), "squeeze: axis: got 0 of the shape .2,., expected"),
        (lambda ops, x: ops.split(x, 3), "indices_or_sections: got 3 for an axis of length 2"),
        (lambda ops, x: ops.pad(x, [(1, 1)], "reflect", 1.0), "pad: mode: got 'reflect'"),
        (lambda ops, x: ops.diff(x, -1), "diff: n: got -1, expected at least 0"),
        (lambda ops, x: ops.take(x, 0, 2), "take: axis: got 2 for an array of rank 1"),
        (lambda ops, x: ops.take_along_axis(x[None], x[None]), "indices: got the shape .1, 2."),
        (lambda ops, x: ops.searchsorted(x[None], x), "sorted_sequence: got the shape .1, 2."),
        (lambda ops, x: ops.ldexp(x, x), "ldexp: x2: got float64, expected integers"),
        (lambda ops, x: ops.correlate(x, x, "all"), "correlate: mode: got 'all', expected 'full'"),
        (lambda ops, x: ops.bincount(x, sparse=True), "bincount: sparse: got True"),
        (lambda ops, x: ops.one_hot(x, 3, sparse=True), "one_hot: sparse: got True"),
        (lambda ops, x: ops.multi_hot(x), "multi_hot: num_classes: got None, expected an integer"),
        (lambda ops, x: ops.convert_to_tensor(x, ragged=True), "ragged: got True, expected False"),
        (lambda ops, x: ops.scatter_update(x, [[0]], x[:1], "div"), "reduction: got 'div'"),
        (lambda ops, x: ops.unstack(x, 3), "unstack: num: got 3, expected 2"),
        (lambda ops, x: ops.glu(x[:1]), "glu: x: got 1 elements along axis -1, expected an even"),
        (lambda ops, x: ops.conv(x[None, None], np.ones((1, 3, 1))), "kernel: got 3 channels"),
        (lambda ops, x: ops.depthwise_conv(x[None, None], np.ones((1, 3, 1))), "got 3 channels"),
        (lambda ops, x: ops.conv(x, x, padding="full", data_format="NHWC"), "data_format: got"),
        (lambda ops, x: ops.max_pool(x[None, :, None], 1, padding="full"), "padding: got 'full'"),
        (lambda ops, x: ops.adaptive_max_pool(x, 1), "adaptive_max_pool: inputs: got the shape"),
        (lambda ops, x: ops.normalize(x, order=0), "normalize: order: got 0, expected a positive"),
        (lambda ops, x: ops.layer_normalization(x, scale=1), "unknown arguments: scale"),
        (lambda ops, x: ops.categorical_crossentropy(x, x[:1]), "target: got the shape .2,."),
        (lambda ops, x: ops.sparse_categorical_crossentropy(x, x), "target: got the shape .2,."),
        (lambda ops, x: ops.sparse_categorical_crossentropy(x, x[None], axis=0), "axis: got 0"),
        (lambda ops, x: ops.ctc_decode(x[None, None], [1], "best"), "strategy: got 'best'"),
        (lambda ops, x: ops.dot_product_attention(x, x, x), "query: got the shape .2,."),
        (lambda ops, x: ops.dot_product_attention(x, x, x, flash_attention=True), "flash_attent"),
        (lambda ops, x: ops.fft(x), "fft: x: got ndarray, expected a pair"),
        (lambda ops, x: ops.fft((x, x[:1])), "fft: x: got the shapes .2,. and .1,."),
        (lambda ops, x: ops.irfft((x > 0, x > 0)), "irfft: x: got bool, expected floating"),
        (lambda ops, x: ops.stft(x > 0, 2, 1, 2), "stft: x: got bool, expected float32"),
        (lambda ops, x: ops.stft(x, 4, 1, 2), "fft_length: got 2, expected at least"),
        (lambda ops, x: ops.stft(x, 2, 1, 2, "flat"), "window: got 'flat', expected 'hann'"),
        (lambda ops, x: ops.stft(x, 2, 1, 2, x[:1]), "window: got the shape .1,., expected .2,."),
        (lambda ops, x: ops.view_as_complex(x[:1]), "view_as_complex: x: got the shape .1,."),
        (lambda ops, x: ops.segment_sum(x, x[:1]), "segment_sum: segment_ids: got the shape .1,."),
        (lambda ops, x: ops.segment_max(x, [0, 1], 2, True), "num_segments: got 2, expected None"),
        (lambda ops, x: ops.cdist(x, x), "cdist: got the shapes .2,. and .2,."),
        (lambda ops, x: ops.norm(x, "fro"), "norm: ord: got 'fro', expected a number"),
        (lambda ops, x: ops.norm(x[None], 5), "norm: ord: got 5, expected 'fro'"),
        (lambda ops, x: ops.norm(x[None, None]), "norm: axis: got None, expected one axis or two"),
        (lambda ops, x: ops.qr(x[None], "raw"), "qr: mode: got 'raw', expected 'reduced'"),
        (lambda ops, x: ops.lstsq(x, x), "lstsq: got the shapes .2,. and .2,."),
        (lambda ops, x: ops.image.resize(x, (1, 1)), "resize: images: got the shape .2,."),
        (lambda ops, x: ops.image.resize(x[None, None], (1, 1), "cubic"), "interpolation: got 'cub"),
        (lambda ops, x: ops.image.resize(x[None, None], (1, 0)), "size: got .1, 0., expected two"),
        (lambda ops, x: ops.image.resize(x[None, None], (1, 1), fill_mode="wrap"), "fill_mode: got"),
        (lambda ops, x: ops.image.resize(x[None, None], (1, 1), "area", False, True, True), "both"),
        (lambda ops, x: ops.image.rgb_to_hsv(x[None, None] > 0), "images: got bool, expected float"),
        (lambda ops, x: ops.image.rgb_to_grayscale(x[None, None]), "got 2 channels, expected 1 or 3"),
        (lambda ops, x: ops.image.pad_images(x[None, None], 1, 1), "expected two of three"),
        (lambda ops, x: ops.image.crop_images(x[None, None], 9, 0, 0, 0), "target_height: got -8"),
        (lambda ops, x: ops.image.extract_patches(x, 2), "extract_patches: got the size .2, 2."),
        (lambda ops, x: ops.image.map_coordinates(x, x, 1), "coordinates: got the shape .2,."),
        (lambda ops, x: ops.image.map_coordinates(x, x[None], 2), "order: got 2, expected 0 or 1"),
        (lambda ops, x: ops.image.map_coordinates(x, x[None], 1, "no"), "fill_mode: got 'no'"),
        (lambda ops, x: ops.image.affine_transform(x[None, None], x, "cubic"), "interpolation: got"),
        (lambda ops, x: ops.image.perspective_transform(x[None, None], x, x), "got the shapes"),
        (lambda ops, x: ops.image.elastic_transform(x[None, None]), "seed: got None, expected an"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(na.errors.NestarrayError, match=message):
        call(frontend.ops, np.asarray([0.0, 1.0]))


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"keras\.ops\.soft_max: .* no such name"):
        frontend.ops.soft_max  # noqa: B018

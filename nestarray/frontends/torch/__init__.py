"""PyTorch's public API on nestarray's ops: the same code on arrays of any framework.

Names, parameters, defaults and semantics are upstream's, https://docs.pytorch.org/docs/stable:
``dim`` and ``keepdim``, 0-d arrays that do not promote, integers divided as float32. What
differs from nestarray's ops is written here and in no backend. The same functions are the
rules by which ATen graphs are read: `vocabulary`.

What a program has to do differently:

- Arrays are the framework's own, so that methods and operators are its own too; upstream's
  methods are functions, ``torch.Tensor.view(x, -1)``. Nothing is changed in place.
- Random functions take one more parameter, ``key``; there is no state to seed.
- Gradients are `nestarray.grad` of a function, or those of the framework.
- ``device``, ``layout`` and ``requires_grad`` are not taken. What is made from no array is of
  the default backend: ``na.set_backend("jax")``.
- JAX has 64-bit numbers only with ``jax_enable_x64``; without, integers are int32, and float64
  is an error.

Example:
    >>> import numpy as np, nestarray as na, nestarray.frontends.torch as torch
    >>> torch.add(np.asarray([1.0, 2.0]), np.asarray([10.0, 20.0]), alpha=2)
    array([21., 42.])
    >>> torch.nn.functional.one_hot(np.asarray([2, 0]), 3)
    array([[0, 0, 1],
           [1, 0, 0]])
    >>> torch.randn(2, 3, key=na.random.key(0)).shape
    (2, 3)
    >>> torch.linalg.svd(np.eye(2)).S
    array([1., 1.])

    A step of training, on any backend:

    >>> F = torch.nn.functional
    >>> def loss(w, x, labels, key):
    ...     x = F.dropout(torch.tanh(x), 0.5, key=key)
    ...     return F.cross_entropy(F.linear(x, w), labels)
    >>> x, w = np.ones((4, 3), "float32"), np.zeros((2, 3), "float32")
    >>> gradient = na.grad(loss)(w, x, np.asarray([0, 1, 1, 1]), na.random.key(1))
    >>> (w - 0.1 * gradient).dtype
    dtype('float32')
"""

import math as _math

from nestarray.dtypes import bfloat16 as bfloat16
from nestarray.dtypes import bool as bool
from nestarray.dtypes import complex64 as cfloat
from nestarray.dtypes import complex64 as complex64
from nestarray.dtypes import complex128 as cdouble
from nestarray.dtypes import complex128 as complex128
from nestarray.dtypes import float16 as float16
from nestarray.dtypes import float16 as half
from nestarray.dtypes import float32 as float
from nestarray.dtypes import float32 as float32
from nestarray.dtypes import float64 as double
from nestarray.dtypes import float64 as float64
from nestarray.dtypes import int8 as int8
from nestarray.dtypes import int16 as int16
from nestarray.dtypes import int16 as short
from nestarray.dtypes import int32 as int
from nestarray.dtypes import int32 as int32
from nestarray.dtypes import int64 as int64
from nestarray.dtypes import int64 as long
from nestarray.dtypes import uint8 as uint8
from nestarray.dtypes import uint16 as uint16
from nestarray.dtypes import uint32 as uint32
from nestarray.dtypes import uint64 as uint64
from nestarray.frontends.torch import _higher_order_ops as _higher_order_ops
from nestarray.frontends.torch import absent as _absent
from nestarray.frontends.torch import fft as fft
from nestarray.frontends.torch import linalg as linalg
from nestarray.frontends.torch import masked as masked
from nestarray.frontends.torch import methods as Tensor
from nestarray.frontends.torch import nn as nn
from nestarray.frontends.torch import ops as ops
from nestarray.frontends.torch import signal as signal
from nestarray.frontends.torch import special as special
from nestarray.frontends.torch._higher_order_ops import cond as cond
from nestarray.frontends.torch._higher_order_ops import while_loop as while_loop
from nestarray.frontends.torch.comparison import allclose as allclose
from nestarray.frontends.torch.comparison import eq as eq
from nestarray.frontends.torch.comparison import equal as equal
from nestarray.frontends.torch.comparison import ge as ge
from nestarray.frontends.torch.comparison import greater as greater
from nestarray.frontends.torch.comparison import greater_equal as greater_equal
from nestarray.frontends.torch.comparison import gt as gt
from nestarray.frontends.torch.comparison import isclose as isclose
from nestarray.frontends.torch.comparison import isfinite as isfinite
from nestarray.frontends.torch.comparison import isin as isin
from nestarray.frontends.torch.comparison import isinf as isinf
from nestarray.frontends.torch.comparison import isnan as isnan
from nestarray.frontends.torch.comparison import isneginf as isneginf
from nestarray.frontends.torch.comparison import isposinf as isposinf
from nestarray.frontends.torch.comparison import isreal as isreal
from nestarray.frontends.torch.comparison import le as le
from nestarray.frontends.torch.comparison import less as less
from nestarray.frontends.torch.comparison import less_equal as less_equal
from nestarray.frontends.torch.comparison import logical_and as logical_and
from nestarray.frontends.torch.comparison import logical_not as logical_not
from nestarray.frontends.torch.comparison import logical_or as logical_or
from nestarray.frontends.torch.comparison import logical_xor as logical_xor
from nestarray.frontends.torch.comparison import lt as lt
from nestarray.frontends.torch.comparison import ne as ne
from nestarray.frontends.torch.comparison import not_equal as not_equal
from nestarray.frontends.torch.contraction import addbmm as addbmm
from nestarray.frontends.torch.contraction import addmm as addmm
from nestarray.frontends.torch.contraction import addmv as addmv
from nestarray.frontends.torch.contraction import addr as addr
from nestarray.frontends.torch.contraction import baddbmm as baddbmm
from nestarray.frontends.torch.contraction import block_diag as block_diag
from nestarray.frontends.torch.contraction import bmm as bmm
from nestarray.frontends.torch.contraction import cdist as cdist
from nestarray.frontends.torch.contraction import chain_matmul as chain_matmul
from nestarray.frontends.torch.contraction import cross as cross
from nestarray.frontends.torch.contraction import dot as dot
from nestarray.frontends.torch.contraction import einsum as einsum
from nestarray.frontends.torch.contraction import ger as ger
from nestarray.frontends.torch.contraction import inner as inner
from nestarray.frontends.torch.contraction import kron as kron
from nestarray.frontends.torch.contraction import matmul as matmul
from nestarray.frontends.torch.contraction import mm as mm
from nestarray.frontends.torch.contraction import mv as mv
from nestarray.frontends.torch.contraction import outer as outer
from nestarray.frontends.torch.contraction import tensordot as tensordot
from nestarray.frontends.torch.contraction import vdot as vdot
from nestarray.frontends.torch.creation import arange as arange
from nestarray.frontends.torch.creation import as_tensor as as_tensor
from nestarray.frontends.torch.creation import bartlett_window as bartlett_window
from nestarray.frontends.torch.creation import blackman_window as blackman_window
from nestarray.frontends.torch.creation import empty as empty
from nestarray.frontends.torch.creation import empty_like as empty_like
from nestarray.frontends.torch.creation import eye as eye
from nestarray.frontends.torch.creation import from_numpy as from_numpy
from nestarray.frontends.torch.creation import full as full
from nestarray.frontends.torch.creation import full_like as full_like
from nestarray.frontends.torch.creation import hamming_window as hamming_window
from nestarray.frontends.torch.creation import hann_window as hann_window
from nestarray.frontends.torch.creation import kaiser_window as kaiser_window
from nestarray.frontends.torch.creation import linspace as linspace
from nestarray.frontends.torch.creation import logspace as logspace
from nestarray.frontends.torch.creation import ones as ones
from nestarray.frontends.torch.creation import ones_like as ones_like
from nestarray.frontends.torch.creation import range_ as range
from nestarray.frontends.torch.creation import scalar_tensor as scalar_tensor
from nestarray.frontends.torch.creation import tensor as tensor
from nestarray.frontends.torch.creation import tril_indices as tril_indices
from nestarray.frontends.torch.creation import triu_indices as triu_indices
from nestarray.frontends.torch.creation import zeros as zeros
from nestarray.frontends.torch.creation import zeros_like as zeros_like
from nestarray.frontends.torch.differences import gradient as gradient
from nestarray.frontends.torch.factoring import cholesky as cholesky
from nestarray.frontends.torch.factoring import cholesky_inverse as cholesky_inverse
from nestarray.frontends.torch.factoring import cholesky_solve as cholesky_solve
from nestarray.frontends.torch.factoring import logdet as logdet
from nestarray.frontends.torch.factoring import lu as lu
from nestarray.frontends.torch.factoring import lu_solve as lu_solve
from nestarray.frontends.torch.factoring import lu_unpack as lu_unpack
from nestarray.frontends.torch.factoring import matrix_exp as matrix_exp
from nestarray.frontends.torch.factoring import pinverse as pinverse
from nestarray.frontends.torch.factoring import qr as qr
from nestarray.frontends.torch.factoring import svd as svd
from nestarray.frontends.torch.factoring import triangular_solve as triangular_solve
from nestarray.frontends.torch.indexing import argwhere as argwhere
from nestarray.frontends.torch.indexing import diag as diag
from nestarray.frontends.torch.indexing import diag_embed as diag_embed
from nestarray.frontends.torch.indexing import diagflat as diagflat
from nestarray.frontends.torch.indexing import diagonal as diagonal
from nestarray.frontends.torch.indexing import diagonal_copy as diagonal_copy
from nestarray.frontends.torch.indexing import diagonal_scatter as diagonal_scatter
from nestarray.frontends.torch.indexing import gather as gather
from nestarray.frontends.torch.indexing import index_add as index_add
from nestarray.frontends.torch.indexing import index_copy as index_copy
from nestarray.frontends.torch.indexing import index_fill as index_fill
from nestarray.frontends.torch.indexing import index_put as index_put
from nestarray.frontends.torch.indexing import index_reduce as index_reduce
from nestarray.frontends.torch.indexing import index_select as index_select
from nestarray.frontends.torch.indexing import masked_fill as masked_fill
from nestarray.frontends.torch.indexing import masked_scatter as masked_scatter
from nestarray.frontends.torch.indexing import masked_select as masked_select
from nestarray.frontends.torch.indexing import narrow as narrow
from nestarray.frontends.torch.indexing import narrow_copy as narrow_copy
from nestarray.frontends.torch.indexing import nonzero as nonzero
from nestarray.frontends.torch.indexing import nonzero_static as nonzero_static
from nestarray.frontends.torch.indexing import put as put
from nestarray.frontends.torch.indexing import scatter as scatter
from nestarray.frontends.torch.indexing import scatter_add as scatter_add
from nestarray.frontends.torch.indexing import scatter_reduce as scatter_reduce
from nestarray.frontends.torch.indexing import select as select
from nestarray.frontends.torch.indexing import select_copy as select_copy
from nestarray.frontends.torch.indexing import select_scatter as select_scatter
from nestarray.frontends.torch.indexing import slice_scatter as slice_scatter
from nestarray.frontends.torch.indexing import take as take
from nestarray.frontends.torch.indexing import take_along_dim as take_along_dim
from nestarray.frontends.torch.indexing import trace as trace
from nestarray.frontends.torch.indexing import tril as tril
from nestarray.frontends.torch.indexing import triu as triu
from nestarray.frontends.torch.indexing import where as where
from nestarray.frontends.torch.linalg import det as det
from nestarray.frontends.torch.linalg import householder_product as orgqr
from nestarray.frontends.torch.linalg import inv as inverse
from nestarray.frontends.torch.linalg import matrix_power as matrix_power
from nestarray.frontends.torch.linalg import slogdet as slogdet
from nestarray.frontends.torch.lowrank import pca_lowrank as pca_lowrank
from nestarray.frontends.torch.lowrank import svd_lowrank as svd_lowrank
from nestarray.frontends.torch.methods import detach as detach
from nestarray.frontends.torch.methods import unfold_copy as unfold_copy
from nestarray.frontends.torch.methods import view_copy as view_copy
from nestarray.frontends.torch.nn.functional.activation import celu as celu
from nestarray.frontends.torch.nn.functional.activation import gelu as gelu
from nestarray.frontends.torch.nn.functional.activation import hardshrink as hardshrink
from nestarray.frontends.torch.nn.functional.activation import log_softmax as log_softmax
from nestarray.frontends.torch.nn.functional.activation import prelu as prelu
from nestarray.frontends.torch.nn.functional.activation import relu as relu
from nestarray.frontends.torch.nn.functional.activation import rrelu as rrelu
from nestarray.frontends.torch.nn.functional.activation import selu as selu
from nestarray.frontends.torch.nn.functional.activation import sigmoid as sigmoid
from nestarray.frontends.torch.nn.functional.activation import softmax as softmax
from nestarray.frontends.torch.nn.functional.activation import threshold as threshold
from nestarray.frontends.torch.nn.functional.convolution import bilinear as bilinear
from nestarray.frontends.torch.nn.functional.convolution import conv1d as conv1d
from nestarray.frontends.torch.nn.functional.convolution import conv2d as conv2d
from nestarray.frontends.torch.nn.functional.convolution import conv3d as conv3d
from nestarray.frontends.torch.nn.functional.convolution import conv_transpose1d as conv_transpose1d
from nestarray.frontends.torch.nn.functional.convolution import conv_transpose2d as conv_transpose2d
from nestarray.frontends.torch.nn.functional.convolution import conv_transpose3d as conv_transpose3d
from nestarray.frontends.torch.nn.functional.distance import cosine_similarity as cosine_similarity
from nestarray.frontends.torch.nn.functional.distance import pairwise_distance as pairwise_distance
from nestarray.frontends.torch.nn.functional.distance import pdist as pdist
from nestarray.frontends.torch.nn.functional.dropout import alpha_dropout as alpha_dropout
from nestarray.frontends.torch.nn.functional.dropout import dropout as dropout
from nestarray.frontends.torch.nn.functional.dropout import (
    feature_alpha_dropout as feature_alpha_dropout,
)
from nestarray.frontends.torch.nn.functional.dropout import feature_dropout as feature_dropout
from nestarray.frontends.torch.nn.functional.normalization import batch_norm as batch_norm
from nestarray.frontends.torch.nn.functional.normalization import group_norm as group_norm
from nestarray.frontends.torch.nn.functional.normalization import instance_norm as instance_norm
from nestarray.frontends.torch.nn.functional.normalization import layer_norm as layer_norm
from nestarray.frontends.torch.nn.functional.normalization import rms_norm as rms_norm
from nestarray.frontends.torch.nn.functional.pooling import (
    adaptive_avg_pool1d as adaptive_avg_pool1d,
)
from nestarray.frontends.torch.nn.functional.pooling import avg_pool1d as avg_pool1d
from nestarray.frontends.torch.nn.functional.pooling import max_pool1d as max_pool1d
from nestarray.frontends.torch.nn.functional.pooling import max_pool2d as max_pool2d
from nestarray.frontends.torch.nn.functional.pooling import max_pool3d as max_pool3d
from nestarray.frontends.torch.nn.functional.sparse import embedding as embedding
from nestarray.frontends.torch.nn.functional.vision import channel_shuffle as channel_shuffle
from nestarray.frontends.torch.nn.functional.vision import constant_pad_nd as constant_pad_nd
from nestarray.frontends.torch.nn.functional.vision import pixel_shuffle as pixel_shuffle
from nestarray.frontends.torch.nn.functional.vision import pixel_unshuffle as pixel_unshuffle
from nestarray.frontends.torch.ops.aten import adaptive_max_pool1d as adaptive_max_pool1d
from nestarray.frontends.torch.ordering import argsort as argsort
from nestarray.frontends.torch.ordering import bincount as bincount
from nestarray.frontends.torch.ordering import bucketize as bucketize
from nestarray.frontends.torch.ordering import cummax as cummax
from nestarray.frontends.torch.ordering import cummin as cummin
from nestarray.frontends.torch.ordering import cumprod as cumprod
from nestarray.frontends.torch.ordering import cumsum as cumsum
from nestarray.frontends.torch.ordering import diff as diff
from nestarray.frontends.torch.ordering import histc as histc
from nestarray.frontends.torch.ordering import kthvalue as kthvalue
from nestarray.frontends.torch.ordering import logcumsumexp as logcumsumexp
from nestarray.frontends.torch.ordering import msort as msort
from nestarray.frontends.torch.ordering import searchsorted as searchsorted
from nestarray.frontends.torch.ordering import sort as sort
from nestarray.frontends.torch.ordering import topk as topk
from nestarray.frontends.torch.pointwise import abs as abs
from nestarray.frontends.torch.pointwise import absolute as absolute
from nestarray.frontends.torch.pointwise import acos as acos
from nestarray.frontends.torch.pointwise import acosh as acosh
from nestarray.frontends.torch.pointwise import add as add
from nestarray.frontends.torch.pointwise import addcdiv as addcdiv
from nestarray.frontends.torch.pointwise import addcmul as addcmul
from nestarray.frontends.torch.pointwise import angle as angle
from nestarray.frontends.torch.pointwise import arccos as arccos
from nestarray.frontends.torch.pointwise import arccosh as arccosh
from nestarray.frontends.torch.pointwise import arcsin as arcsin
from nestarray.frontends.torch.pointwise import arcsinh as arcsinh
from nestarray.frontends.torch.pointwise import arctan as arctan
from nestarray.frontends.torch.pointwise import arctan2 as arctan2
from nestarray.frontends.torch.pointwise import arctanh as arctanh
from nestarray.frontends.torch.pointwise import asin as asin
from nestarray.frontends.torch.pointwise import asinh as asinh
from nestarray.frontends.torch.pointwise import atan as atan
from nestarray.frontends.torch.pointwise import atan2 as atan2
from nestarray.frontends.torch.pointwise import atanh as atanh
from nestarray.frontends.torch.pointwise import bitwise_and as bitwise_and
from nestarray.frontends.torch.pointwise import bitwise_left_shift as bitwise_left_shift
from nestarray.frontends.torch.pointwise import bitwise_not as bitwise_not
from nestarray.frontends.torch.pointwise import bitwise_or as bitwise_or
from nestarray.frontends.torch.pointwise import bitwise_right_shift as bitwise_right_shift
from nestarray.frontends.torch.pointwise import bitwise_xor as bitwise_xor
from nestarray.frontends.torch.pointwise import ceil as ceil
from nestarray.frontends.torch.pointwise import clamp as clamp
from nestarray.frontends.torch.pointwise import clamp_max as clamp_max
from nestarray.frontends.torch.pointwise import clamp_min as clamp_min
from nestarray.frontends.torch.pointwise import clip as clip
from nestarray.frontends.torch.pointwise import complex_ as complex
from nestarray.frontends.torch.pointwise import conj as conj
from nestarray.frontends.torch.pointwise import copysign as copysign
from nestarray.frontends.torch.pointwise import cos as cos
from nestarray.frontends.torch.pointwise import cosh as cosh
from nestarray.frontends.torch.pointwise import deg2rad as deg2rad
from nestarray.frontends.torch.pointwise import div as div
from nestarray.frontends.torch.pointwise import divide as divide
from nestarray.frontends.torch.pointwise import exp as exp
from nestarray.frontends.torch.pointwise import exp2 as exp2
from nestarray.frontends.torch.pointwise import expm1 as expm1
from nestarray.frontends.torch.pointwise import fix as fix
from nestarray.frontends.torch.pointwise import float_power as float_power
from nestarray.frontends.torch.pointwise import floor as floor
from nestarray.frontends.torch.pointwise import floor_divide as floor_divide
from nestarray.frontends.torch.pointwise import fmax as fmax
from nestarray.frontends.torch.pointwise import fmin as fmin
from nestarray.frontends.torch.pointwise import fmod as fmod
from nestarray.frontends.torch.pointwise import frac as frac
from nestarray.frontends.torch.pointwise import heaviside as heaviside
from nestarray.frontends.torch.pointwise import hypot as hypot
from nestarray.frontends.torch.pointwise import imag as imag
from nestarray.frontends.torch.pointwise import lerp as lerp
from nestarray.frontends.torch.pointwise import log as log
from nestarray.frontends.torch.pointwise import log1p as log1p
from nestarray.frontends.torch.pointwise import log2 as log2
from nestarray.frontends.torch.pointwise import log10 as log10
from nestarray.frontends.torch.pointwise import logaddexp as logaddexp
from nestarray.frontends.torch.pointwise import logaddexp2 as logaddexp2
from nestarray.frontends.torch.pointwise import maximum as maximum
from nestarray.frontends.torch.pointwise import minimum as minimum
from nestarray.frontends.torch.pointwise import mul as mul
from nestarray.frontends.torch.pointwise import multiply as multiply
from nestarray.frontends.torch.pointwise import nan_to_num as nan_to_num
from nestarray.frontends.torch.pointwise import neg as neg
from nestarray.frontends.torch.pointwise import negative as negative
from nestarray.frontends.torch.pointwise import polar as polar
from nestarray.frontends.torch.pointwise import positive as positive
from nestarray.frontends.torch.pointwise import pow as pow
from nestarray.frontends.torch.pointwise import rad2deg as rad2deg
from nestarray.frontends.torch.pointwise import real as real
from nestarray.frontends.torch.pointwise import reciprocal as reciprocal
from nestarray.frontends.torch.pointwise import remainder as remainder
from nestarray.frontends.torch.pointwise import round as round
from nestarray.frontends.torch.pointwise import rsqrt as rsqrt
from nestarray.frontends.torch.pointwise import rsub as rsub
from nestarray.frontends.torch.pointwise import sgn as sgn
from nestarray.frontends.torch.pointwise import sign as sign
from nestarray.frontends.torch.pointwise import signbit as signbit
from nestarray.frontends.torch.pointwise import sin as sin
from nestarray.frontends.torch.pointwise import sinh as sinh
from nestarray.frontends.torch.pointwise import sqrt as sqrt
from nestarray.frontends.torch.pointwise import square as square
from nestarray.frontends.torch.pointwise import sub as sub
from nestarray.frontends.torch.pointwise import subtract as subtract
from nestarray.frontends.torch.pointwise import tan as tan
from nestarray.frontends.torch.pointwise import tanh as tanh
from nestarray.frontends.torch.pointwise import true_divide as true_divide
from nestarray.frontends.torch.pointwise import trunc as trunc
from nestarray.frontends.torch.pointwise import view_as_complex as view_as_complex
from nestarray.frontends.torch.pointwise import view_as_real as view_as_real
from nestarray.frontends.torch.promotion import can_cast as can_cast
from nestarray.frontends.torch.promotion import finfo as finfo
from nestarray.frontends.torch.promotion import iinfo as iinfo
from nestarray.frontends.torch.promotion import is_complex as is_complex
from nestarray.frontends.torch.promotion import is_floating_point as is_floating_point
from nestarray.frontends.torch.promotion import is_tensor as is_tensor
from nestarray.frontends.torch.promotion import promote_types as promote_types
from nestarray.frontends.torch.promotion import result_type as result_type
from nestarray.frontends.torch.quantization import (
    fake_quantize_per_channel_affine as fake_quantize_per_channel_affine,
)
from nestarray.frontends.torch.quantization import (
    fake_quantize_per_tensor_affine as fake_quantize_per_tensor_affine,
)
from nestarray.frontends.torch.recurrent import gru as gru
from nestarray.frontends.torch.recurrent import lstm as lstm
from nestarray.frontends.torch.recurrent import rnn_relu as rnn_relu
from nestarray.frontends.torch.recurrent import rnn_tanh as rnn_tanh
from nestarray.frontends.torch.reduction import all as all
from nestarray.frontends.torch.reduction import amax as amax
from nestarray.frontends.torch.reduction import amin as amin
from nestarray.frontends.torch.reduction import aminmax as aminmax
from nestarray.frontends.torch.reduction import any as any
from nestarray.frontends.torch.reduction import argmax as argmax
from nestarray.frontends.torch.reduction import argmin as argmin
from nestarray.frontends.torch.reduction import count_nonzero as count_nonzero
from nestarray.frontends.torch.reduction import dist as dist
from nestarray.frontends.torch.reduction import logsumexp as logsumexp
from nestarray.frontends.torch.reduction import max as max
from nestarray.frontends.torch.reduction import mean as mean
from nestarray.frontends.torch.reduction import median as median
from nestarray.frontends.torch.reduction import min as min
from nestarray.frontends.torch.reduction import mode as mode
from nestarray.frontends.torch.reduction import nanmean as nanmean
from nestarray.frontends.torch.reduction import nansum as nansum
from nestarray.frontends.torch.reduction import norm as norm
from nestarray.frontends.torch.reduction import prod as prod
from nestarray.frontends.torch.reduction import quantile as quantile
from nestarray.frontends.torch.reduction import std as std
from nestarray.frontends.torch.reduction import std_mean as std_mean
from nestarray.frontends.torch.reduction import sum as sum
from nestarray.frontends.torch.reduction import trapezoid as trapezoid
from nestarray.frontends.torch.reduction import var as var
from nestarray.frontends.torch.reduction import var_mean as var_mean
from nestarray.frontends.torch.reflections import geqrf as geqrf
from nestarray.frontends.torch.reflections import ormqr as ormqr
from nestarray.frontends.torch.representation import conj_physical as conj_physical
from nestarray.frontends.torch.representation import frexp as frexp
from nestarray.frontends.torch.representation import gcd as gcd
from nestarray.frontends.torch.representation import hash_tensor as hash_tensor
from nestarray.frontends.torch.representation import lcm as lcm
from nestarray.frontends.torch.representation import ldexp as ldexp
from nestarray.frontends.torch.representation import nextafter as nextafter
from nestarray.frontends.torch.sampling import bernoulli as bernoulli
from nestarray.frontends.torch.sampling import multinomial as multinomial
from nestarray.frontends.torch.sampling import normal as normal
from nestarray.frontends.torch.sampling import poisson as poisson
from nestarray.frontends.torch.sampling import rand as rand
from nestarray.frontends.torch.sampling import rand_like as rand_like
from nestarray.frontends.torch.sampling import randint as randint
from nestarray.frontends.torch.sampling import randint_like as randint_like
from nestarray.frontends.torch.sampling import randn as randn
from nestarray.frontends.torch.sampling import randn_like as randn_like
from nestarray.frontends.torch.sampling import randperm as randperm
from nestarray.frontends.torch.segments import segment_reduce as _segment_reduce
from nestarray.frontends.torch.segments import segment_reduce as segment_reduce
from nestarray.frontends.torch.shaping import adjoint as adjoint
from nestarray.frontends.torch.shaping import alias_copy as alias_copy
from nestarray.frontends.torch.shaping import atleast_1d as atleast_1d
from nestarray.frontends.torch.shaping import atleast_2d as atleast_2d
from nestarray.frontends.torch.shaping import atleast_3d as atleast_3d
from nestarray.frontends.torch.shaping import broadcast_shapes as broadcast_shapes
from nestarray.frontends.torch.shaping import broadcast_tensors as broadcast_tensors
from nestarray.frontends.torch.shaping import broadcast_to as broadcast_to
from nestarray.frontends.torch.shaping import cartesian_prod as cartesian_prod
from nestarray.frontends.torch.shaping import cat as cat
from nestarray.frontends.torch.shaping import chunk as chunk
from nestarray.frontends.torch.shaping import clone as clone
from nestarray.frontends.torch.shaping import column_stack as column_stack
from nestarray.frontends.torch.shaping import concat as concat
from nestarray.frontends.torch.shaping import concatenate as concatenate
from nestarray.frontends.torch.shaping import dsplit as dsplit
from nestarray.frontends.torch.shaping import dstack as dstack
from nestarray.frontends.torch.shaping import expand_copy as expand_copy
from nestarray.frontends.torch.shaping import flatten as flatten
from nestarray.frontends.torch.shaping import flip as flip
from nestarray.frontends.torch.shaping import fliplr as fliplr
from nestarray.frontends.torch.shaping import flipud as flipud
from nestarray.frontends.torch.shaping import hsplit as hsplit
from nestarray.frontends.torch.shaping import hstack as hstack
from nestarray.frontends.torch.shaping import meshgrid as meshgrid
from nestarray.frontends.torch.shaping import moveaxis as moveaxis
from nestarray.frontends.torch.shaping import movedim as movedim
from nestarray.frontends.torch.shaping import numel as numel
from nestarray.frontends.torch.shaping import permute as permute
from nestarray.frontends.torch.shaping import permute_copy as permute_copy
from nestarray.frontends.torch.shaping import ravel as ravel
from nestarray.frontends.torch.shaping import repeat_interleave as repeat_interleave
from nestarray.frontends.torch.shaping import reshape as reshape
from nestarray.frontends.torch.shaping import resolve_conj as resolve_conj
from nestarray.frontends.torch.shaping import resolve_neg as resolve_neg
from nestarray.frontends.torch.shaping import roll as roll
from nestarray.frontends.torch.shaping import rot90 as rot90
from nestarray.frontends.torch.shaping import row_stack as row_stack
from nestarray.frontends.torch.shaping import split as split
from nestarray.frontends.torch.shaping import split_with_sizes as split_with_sizes
from nestarray.frontends.torch.shaping import split_with_sizes_copy as split_with_sizes_copy
from nestarray.frontends.torch.shaping import squeeze as squeeze
from nestarray.frontends.torch.shaping import squeeze_copy as squeeze_copy
from nestarray.frontends.torch.shaping import stack as stack
from nestarray.frontends.torch.shaping import swapaxes as swapaxes
from nestarray.frontends.torch.shaping import swapdims as swapdims
from nestarray.frontends.torch.shaping import t as t
from nestarray.frontends.torch.shaping import t_copy as t_copy
from nestarray.frontends.torch.shaping import tensor_split as tensor_split
from nestarray.frontends.torch.shaping import tile as tile
from nestarray.frontends.torch.shaping import transpose as transpose
from nestarray.frontends.torch.shaping import transpose_copy as transpose_copy
from nestarray.frontends.torch.shaping import unbind as unbind
from nestarray.frontends.torch.shaping import unbind_copy as unbind_copy
from nestarray.frontends.torch.shaping import unflatten as unflatten
from nestarray.frontends.torch.shaping import unsafe_chunk as unsafe_chunk
from nestarray.frontends.torch.shaping import unsafe_split as unsafe_split
from nestarray.frontends.torch.shaping import unsafe_split_with_sizes as unsafe_split_with_sizes
from nestarray.frontends.torch.shaping import unsqueeze as unsqueeze
from nestarray.frontends.torch.shaping import unsqueeze_copy as unsqueeze_copy
from nestarray.frontends.torch.shaping import vsplit as vsplit
from nestarray.frontends.torch.shaping import vstack as vstack
from nestarray.frontends.torch.special import digamma as digamma
from nestarray.frontends.torch.special import erf as erf
from nestarray.frontends.torch.special import erfc as erfc
from nestarray.frontends.torch.special import erfinv as erfinv
from nestarray.frontends.torch.special import gammainc as igamma
from nestarray.frontends.torch.special import gammaincc as igammac
from nestarray.frontends.torch.special import gammaln as lgamma
from nestarray.frontends.torch.special import i0 as i0
from nestarray.frontends.torch.special import logit as logit
from nestarray.frontends.torch.special import multigammaln as mvlgamma
from nestarray.frontends.torch.special import polygamma as polygamma
from nestarray.frontends.torch.special import sinc as sinc
from nestarray.frontends.torch.special import xlogy as xlogy
from nestarray.frontends.torch.spectra import istft as istft
from nestarray.frontends.torch.spectra import stft as stft
from nestarray.frontends.torch.statistics import corrcoef as corrcoef
from nestarray.frontends.torch.statistics import cov as cov
from nestarray.frontends.torch.statistics import cumulative_trapezoid as cumulative_trapezoid
from nestarray.frontends.torch.statistics import histogram as histogram
from nestarray.frontends.torch.statistics import histogramdd as histogramdd
from nestarray.frontends.torch.statistics import nanmedian as nanmedian
from nestarray.frontends.torch.statistics import nanquantile as nanquantile
from nestarray.frontends.torch.statistics import renorm as renorm
from nestarray.frontends.torch.statistics import trapz as trapz
from nestarray.frontends.torch.strides import as_strided as as_strided
from nestarray.frontends.torch.strides import as_strided_copy as as_strided_copy
from nestarray.frontends.torch.strides import as_strided_scatter as as_strided_scatter
from nestarray.frontends.torch.strides import empty_permuted as empty_permuted
from nestarray.frontends.torch.strides import empty_strided as empty_strided
from nestarray.frontends.torch.symbolic import sym_float as sym_float
from nestarray.frontends.torch.symbolic import sym_int as sym_int
from nestarray.frontends.torch.symbolic import sym_ite as sym_ite
from nestarray.frontends.torch.symbolic import sym_max as sym_max
from nestarray.frontends.torch.symbolic import sym_min as sym_min
from nestarray.frontends.torch.symbolic import sym_not as sym_not
from nestarray.frontends.torch.symbolic import sym_sum as sym_sum
from nestarray.frontends.torch.uniqueness import combinations as combinations
from nestarray.frontends.torch.uniqueness import unique as unique
from nestarray.frontends.torch.uniqueness import unique_consecutive as unique_consecutive
from nestarray.frontends.torch.uniqueness import unravel_index as unravel_index

e, inf, nan, pi = _math.e, _math.inf, _math.nan, _math.pi

_absent.explain(__name__)

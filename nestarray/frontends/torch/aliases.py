"""Names of ``torch`` that are defined in another namespace, or under another name."""

from math import e, inf, nan, pi

from nestarray.dtypes import (
    bfloat16,
    bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from nestarray.frontends.torch import linalg, special
from nestarray.frontends.torch._higher_order_ops import cond, while_loop
from nestarray.frontends.torch.creation import range_
from nestarray.frontends.torch.linalg import det, matrix_power, slogdet
from nestarray.frontends.torch.methods import detach, unfold_copy, view_copy
from nestarray.frontends.torch.nn.functional import (
    adaptive_avg_pool1d,
    alpha_dropout,
    avg_pool1d,
    batch_norm,
    bilinear,
    celu,
    channel_shuffle,
    conv1d,
    conv2d,
    conv3d,
    conv_tbc,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
    cosine_similarity,
    dropout,
    embedding,
    feature_alpha_dropout,
    gelu,
    group_norm,
    hardshrink,
    instance_norm,
    layer_norm,
    log_softmax,
    max_pool1d,
    max_pool2d,
    max_pool3d,
    pairwise_distance,
    pdist,
    pixel_shuffle,
    pixel_unshuffle,
    prelu,
    relu,
    rms_norm,
    rrelu,
    selu,
    sigmoid,
    softmax,
    threshold,
)
from nestarray.frontends.torch.nn.functional.dropout import feature_dropout
from nestarray.frontends.torch.nn.functional.vision import constant_pad_nd
from nestarray.frontends.torch.ops.aten import adaptive_max_pool1d
from nestarray.frontends.torch.pointwise import complex_
from nestarray.frontends.torch.segments import segment_reduce as _segment_reduce
from nestarray.frontends.torch.special import (
    digamma,
    erf,
    erfc,
    erfinv,
    i0,
    logit,
    polygamma,
    sinc,
    xlogy,
)

__all__ = [
    "_segment_reduce", "adaptive_avg_pool1d", "adaptive_max_pool1d", "alpha_dropout",
    "avg_pool1d", "batch_norm", "bfloat16", "bilinear", "bool", "cdouble", "celu", "cfloat",
    "channel_shuffle", "complex", "complex64", "complex128", "cond", "constant_pad_nd", "conv1d",
    "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
    "cosine_similarity", "det", "detach", "digamma", "double", "dropout", "e", "embedding", "erf",
    "erfc", "erfinv", "feature_alpha_dropout", "feature_dropout", "float", "float16", "float32",
    "float64", "gelu", "group_norm", "half", "hardshrink", "i0", "igamma", "igammac", "inf",
    "instance_norm", "int", "int8", "int16", "int32", "int64", "inverse", "layer_norm", "lgamma",
    "log_softmax", "logit", "long", "matrix_power", "max_pool1d", "max_pool2d", "max_pool3d",
    "mvlgamma", "nan", "orgqr", "pairwise_distance", "pdist", "pi", "pixel_shuffle",
    "pixel_unshuffle", "polygamma", "prelu", "range", "relu", "rms_norm", "rrelu", "selu",
    "short", "sigmoid", "sinc", "slogdet", "softmax", "threshold", "uint8", "uint16", "uint32",
    "uint64", "unfold_copy", "view_copy", "while_loop", "xlogy",
]  # fmt: skip

half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128

complex, range = complex_, range_
inverse, orgqr = linalg.inv, linalg.householder_product
igamma, igammac = special.gammainc, special.gammaincc
lgamma, mvlgamma = special.gammaln, special.multigammaln

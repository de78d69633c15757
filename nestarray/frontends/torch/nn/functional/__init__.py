"""torch.nn.functional, https://docs.pytorch.org/docs/stable/nn.functional.html."""

from nestarray.frontends.torch import absent as _absent
from nestarray.frontends.torch.nn.functional.activation import celu as celu
from nestarray.frontends.torch.nn.functional.activation import elu as elu
from nestarray.frontends.torch.nn.functional.activation import gelu as gelu
from nestarray.frontends.torch.nn.functional.activation import glu as glu
from nestarray.frontends.torch.nn.functional.activation import gumbel_softmax as gumbel_softmax
from nestarray.frontends.torch.nn.functional.activation import hardshrink as hardshrink
from nestarray.frontends.torch.nn.functional.activation import hardsigmoid as hardsigmoid
from nestarray.frontends.torch.nn.functional.activation import hardswish as hardswish
from nestarray.frontends.torch.nn.functional.activation import hardtanh as hardtanh
from nestarray.frontends.torch.nn.functional.activation import leaky_relu as leaky_relu
from nestarray.frontends.torch.nn.functional.activation import log_softmax as log_softmax
from nestarray.frontends.torch.nn.functional.activation import logsigmoid as logsigmoid
from nestarray.frontends.torch.nn.functional.activation import mish as mish
from nestarray.frontends.torch.nn.functional.activation import prelu as prelu
from nestarray.frontends.torch.nn.functional.activation import relu as relu
from nestarray.frontends.torch.nn.functional.activation import relu6 as relu6
from nestarray.frontends.torch.nn.functional.activation import rrelu as rrelu
from nestarray.frontends.torch.nn.functional.activation import selu as selu
from nestarray.frontends.torch.nn.functional.activation import sigmoid as sigmoid
from nestarray.frontends.torch.nn.functional.activation import silu as silu
from nestarray.frontends.torch.nn.functional.activation import softmax as softmax
from nestarray.frontends.torch.nn.functional.activation import softmin as softmin
from nestarray.frontends.torch.nn.functional.activation import softplus as softplus
from nestarray.frontends.torch.nn.functional.activation import softshrink as softshrink
from nestarray.frontends.torch.nn.functional.activation import softsign as softsign
from nestarray.frontends.torch.nn.functional.activation import tanhshrink as tanhshrink
from nestarray.frontends.torch.nn.functional.activation import threshold as threshold
from nestarray.frontends.torch.nn.functional.attention import dropout_attention as dropout_attention
from nestarray.frontends.torch.nn.functional.attention import (
    multi_head_attention_forward as multi_head_attention_forward,
)
from nestarray.frontends.torch.nn.functional.attention import (
    scaled_dot_product_attention as scaled_dot_product_attention,
)
from nestarray.frontends.torch.nn.functional.convolution import bilinear as bilinear
from nestarray.frontends.torch.nn.functional.convolution import conv1d as conv1d
from nestarray.frontends.torch.nn.functional.convolution import conv2d as conv2d
from nestarray.frontends.torch.nn.functional.convolution import conv3d as conv3d
from nestarray.frontends.torch.nn.functional.convolution import conv_transpose1d as conv_transpose1d
from nestarray.frontends.torch.nn.functional.convolution import conv_transpose2d as conv_transpose2d
from nestarray.frontends.torch.nn.functional.convolution import conv_transpose3d as conv_transpose3d
from nestarray.frontends.torch.nn.functional.convolution import fold as fold
from nestarray.frontends.torch.nn.functional.convolution import linear as linear
from nestarray.frontends.torch.nn.functional.convolution import unfold as unfold
from nestarray.frontends.torch.nn.functional.distance import cosine_similarity as cosine_similarity
from nestarray.frontends.torch.nn.functional.distance import pairwise_distance as pairwise_distance
from nestarray.frontends.torch.nn.functional.distance import pdist as pdist
from nestarray.frontends.torch.nn.functional.dropout import alpha_dropout as alpha_dropout
from nestarray.frontends.torch.nn.functional.dropout import dropout as dropout
from nestarray.frontends.torch.nn.functional.dropout import dropout1d as dropout1d
from nestarray.frontends.torch.nn.functional.dropout import dropout2d as dropout2d
from nestarray.frontends.torch.nn.functional.dropout import dropout3d as dropout3d
from nestarray.frontends.torch.nn.functional.dropout import (
    feature_alpha_dropout as feature_alpha_dropout,
)
from nestarray.frontends.torch.nn.functional.dropout import feature_dropout as feature_dropout
from nestarray.frontends.torch.nn.functional.loss import (
    binary_cross_entropy as binary_cross_entropy,
)
from nestarray.frontends.torch.nn.functional.loss import (
    binary_cross_entropy_with_logits as binary_cross_entropy_with_logits,
)
from nestarray.frontends.torch.nn.functional.loss import (
    cosine_embedding_loss as cosine_embedding_loss,
)
from nestarray.frontends.torch.nn.functional.loss import cross_entropy as cross_entropy
from nestarray.frontends.torch.nn.functional.loss import ctc_loss as ctc_loss
from nestarray.frontends.torch.nn.functional.loss import gaussian_nll_loss as gaussian_nll_loss
from nestarray.frontends.torch.nn.functional.loss import (
    hinge_embedding_loss as hinge_embedding_loss,
)
from nestarray.frontends.torch.nn.functional.loss import huber_loss as huber_loss
from nestarray.frontends.torch.nn.functional.loss import kl_div as kl_div
from nestarray.frontends.torch.nn.functional.loss import l1_loss as l1_loss
from nestarray.frontends.torch.nn.functional.loss import (
    linear_cross_entropy as linear_cross_entropy,
)
from nestarray.frontends.torch.nn.functional.loss import margin_ranking_loss as margin_ranking_loss
from nestarray.frontends.torch.nn.functional.loss import mse_loss as mse_loss
from nestarray.frontends.torch.nn.functional.loss import multi_margin_loss as multi_margin_loss
from nestarray.frontends.torch.nn.functional.loss import (
    multilabel_margin_loss as multilabel_margin_loss,
)
from nestarray.frontends.torch.nn.functional.loss import (
    multilabel_soft_margin_loss as multilabel_soft_margin_loss,
)
from nestarray.frontends.torch.nn.functional.loss import nll_loss as nll_loss
from nestarray.frontends.torch.nn.functional.loss import poisson_nll_loss as poisson_nll_loss
from nestarray.frontends.torch.nn.functional.loss import smooth_l1_loss as smooth_l1_loss
from nestarray.frontends.torch.nn.functional.loss import soft_margin_loss as soft_margin_loss
from nestarray.frontends.torch.nn.functional.loss import triplet_margin_loss as triplet_margin_loss
from nestarray.frontends.torch.nn.functional.loss import (
    triplet_margin_with_distance_loss as triplet_margin_with_distance_loss,
)
from nestarray.frontends.torch.nn.functional.normalization import batch_norm as batch_norm
from nestarray.frontends.torch.nn.functional.normalization import group_norm as group_norm
from nestarray.frontends.torch.nn.functional.normalization import instance_norm as instance_norm
from nestarray.frontends.torch.nn.functional.normalization import layer_norm as layer_norm
from nestarray.frontends.torch.nn.functional.normalization import (
    local_response_norm as local_response_norm,
)
from nestarray.frontends.torch.nn.functional.normalization import normalize as normalize
from nestarray.frontends.torch.nn.functional.normalization import rms_norm as rms_norm
from nestarray.frontends.torch.nn.functional.pooling import (
    adaptive_avg_pool1d as adaptive_avg_pool1d,
)
from nestarray.frontends.torch.nn.functional.pooling import (
    adaptive_avg_pool2d as adaptive_avg_pool2d,
)
from nestarray.frontends.torch.nn.functional.pooling import (
    adaptive_avg_pool3d as adaptive_avg_pool3d,
)
from nestarray.frontends.torch.nn.functional.pooling import (
    adaptive_max_pool1d as adaptive_max_pool1d,
)
from nestarray.frontends.torch.nn.functional.pooling import (
    adaptive_max_pool2d as adaptive_max_pool2d,
)
from nestarray.frontends.torch.nn.functional.pooling import (
    adaptive_max_pool3d as adaptive_max_pool3d,
)
from nestarray.frontends.torch.nn.functional.pooling import avg_pool1d as avg_pool1d
from nestarray.frontends.torch.nn.functional.pooling import avg_pool2d as avg_pool2d
from nestarray.frontends.torch.nn.functional.pooling import avg_pool3d as avg_pool3d
from nestarray.frontends.torch.nn.functional.pooling import lp_pool1d as lp_pool1d
from nestarray.frontends.torch.nn.functional.pooling import lp_pool2d as lp_pool2d
from nestarray.frontends.torch.nn.functional.pooling import lp_pool3d as lp_pool3d
from nestarray.frontends.torch.nn.functional.pooling import max_pool1d as max_pool1d
from nestarray.frontends.torch.nn.functional.pooling import max_pool2d as max_pool2d
from nestarray.frontends.torch.nn.functional.pooling import max_pool3d as max_pool3d
from nestarray.frontends.torch.nn.functional.sparse import embedding as embedding
from nestarray.frontends.torch.nn.functional.sparse import embedding_bag as embedding_bag
from nestarray.frontends.torch.nn.functional.sparse import one_hot as one_hot
from nestarray.frontends.torch.nn.functional.unpooling import (
    fractional_max_pool2d as fractional_max_pool2d,
)
from nestarray.frontends.torch.nn.functional.unpooling import (
    fractional_max_pool3d as fractional_max_pool3d,
)
from nestarray.frontends.torch.nn.functional.unpooling import max_unpool1d as max_unpool1d
from nestarray.frontends.torch.nn.functional.unpooling import max_unpool2d as max_unpool2d
from nestarray.frontends.torch.nn.functional.unpooling import max_unpool3d as max_unpool3d
from nestarray.frontends.torch.nn.functional.vision import affine_grid as affine_grid
from nestarray.frontends.torch.nn.functional.vision import channel_shuffle as channel_shuffle
from nestarray.frontends.torch.nn.functional.vision import grid_sample as grid_sample
from nestarray.frontends.torch.nn.functional.vision import interpolate as interpolate
from nestarray.frontends.torch.nn.functional.vision import pad as pad
from nestarray.frontends.torch.nn.functional.vision import pixel_shuffle as pixel_shuffle
from nestarray.frontends.torch.nn.functional.vision import pixel_unshuffle as pixel_unshuffle
from nestarray.frontends.torch.nn.functional.vision import upsample as upsample
from nestarray.frontends.torch.nn.functional.vision import upsample_bilinear as upsample_bilinear
from nestarray.frontends.torch.nn.functional.vision import upsample_nearest as upsample_nearest

_absent.explain(__name__)

"""Layers, initializers, optimizers and schedules; `nestarray.nn.module` says how they work together."""

from nestarray import lazy_imports
from nestarray.errors.unknown_names import suggest_names
from nestarray.nn import initializers, schedules
from nestarray.nn.activations import (
    GELU,
    GLU,
    Hardsigmoid,
    Hardswish,
    LogSigmoid,
    Mish,
    Sigmoid,
    SiLU,
    Softplus,
    Softsign,
    Tanh,
    Tanhshrink,
)
from nestarray.nn.adaptive_pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
    GlobalAvgPool,
    GlobalMaxPool,
)
from nestarray.nn.attention import MultiHeadAttention
from nestarray.nn.composition import Lambda, Sequential
from nestarray.nn.convolution import Conv1d, Conv2d, Conv3d
from nestarray.nn.distances import CosineSimilarity, PairwiseDistance
from nestarray.nn.fractional_pooling import FractionalMaxPool2d, FractionalMaxPool3d
from nestarray.nn.linear import Bilinear, Embedding, Linear
from nestarray.nn.loss_scaling import DynamicLossScale
from nestarray.nn.module import Module, Variable
from nestarray.nn.normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from nestarray.nn.optimizers import SGD, Adam, AdamW, Optimizer
from nestarray.nn.padding import (
    CircularPad1d,
    CircularPad2d,
    CircularPad3d,
    ConstantPad1d,
    ConstantPad2d,
    ConstantPad3d,
    ReflectionPad1d,
    ReflectionPad2d,
    ReflectionPad3d,
    ReplicationPad1d,
    ReplicationPad2d,
    ReplicationPad3d,
    ZeroPad1d,
    ZeroPad2d,
    ZeroPad3d,
)
from nestarray.nn.patches import Fold, Unfold
from nestarray.nn.pooling import (
    AvgPool1d,
    AvgPool2d,
    AvgPool3d,
    LPPool1d,
    LPPool2d,
    LPPool3d,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
)
from nestarray.nn.rectifiers import (
    CELU,
    ELU,
    SELU,
    Hardshrink,
    Hardtanh,
    LeakyReLU,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Softshrink,
    Threshold,
)
from nestarray.nn.regularization import Dropout
from nestarray.nn.resampling import (
    ChannelShuffle,
    PixelShuffle,
    PixelUnshuffle,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)
from nestarray.nn.separable_convolution import (
    DepthwiseConv1d,
    DepthwiseConv2d,
    SeparableConv1d,
    SeparableConv2d,
)
from nestarray.nn.shapes import Flatten, Identity, Unflatten
from nestarray.nn.softmax import LogSoftmax, Softmax, Softmax2d, Softmin
from nestarray.nn.transposed_convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from nestarray.nn.unpooling import MaxUnpool1d, MaxUnpool2d, MaxUnpool3d
from nestarray.transforms.meta_learning import accumulate_gradients, maml_step, reptile_step

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "SGD",
    "Adam",
    "AdamW",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm",
    "Bilinear",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineSimilarity",
    "DepthwiseConv1d",
    "DepthwiseConv2d",
    "Dropout",
    "DynamicLossScale",
    "Embedding",
    "Flatten",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GlobalAvgPool",
    "GlobalMaxPool",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "Lambda",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LogSigmoid",
    "LogSoftmax",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "Mish",
    "Module",
    "MultiHeadAttention",
    "Optimizer",
    "PReLU",
    "PairwiseDistance",
    "PixelShuffle",
    "PixelUnshuffle",
    "RMSNorm",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "SeparableConv1d",
    "SeparableConv2d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "Variable",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "accumulate_gradients",
    "initializers",
    "maml_step",
    "reptile_step",
    "schedules",
]

suggest_names(__name__)

lazy_imports.attach_methods(
    Module,
    {
        "nestarray.exporters.native": (
            "to_equinox_module",
            "to_flax_module",
            "to_haiku_module",
            "to_keras_model",
            "to_linen_module",
            "to_tf_module",
            "to_torch_module",
        ),
    },
)

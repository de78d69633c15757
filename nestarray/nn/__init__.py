"""Layers, initializers, optimizers and schedules; `nestarray.nn.module` says how they work together."""

from nestarray import lazy_imports
from nestarray.errors.unknown_names import suggest_names
from nestarray.nn import initializers, metrics, recurrent_weights, rotary, schedules
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
from nestarray.nn.adapters import DoRA, LoRA
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
from nestarray.nn.batch_norm import (
    BatchNorm,
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)
from nestarray.nn.bidirectional import Bidirectional
from nestarray.nn.checkpoints import Checkpoint, Checkpointer
from nestarray.nn.composition import Lambda, Parallel, Remat, Residual, Sequential, TimeDistributed
from nestarray.nn.convolution import Conv1d, Conv2d, Conv3d
from nestarray.nn.decoders import CausalBlock, CausalTransformer, GatedMLP
from nestarray.nn.distances import CosineSimilarity, PairwiseDistance
from nestarray.nn.embeddings import Embedding, EmbeddingBag, PatchEmbedding
from nestarray.nn.experts import MixtureOfExperts
from nestarray.nn.fractional_pooling import FractionalMaxPool2d, FractionalMaxPool3d
from nestarray.nn.graph_attention import GATConv
from nestarray.nn.graphs import GCNConv, GINConv, MessagePassing, SAGEConv
from nestarray.nn.grouped_attention import GroupedQueryAttention
from nestarray.nn.linear import Bilinear, Linear
from nestarray.nn.loss_scaling import DynamicLossScale
from nestarray.nn.module import Module, Variable
from nestarray.nn.normalization import GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm
from nestarray.nn.optimizers import SGD, Adam, AdamW, Optimizer
from nestarray.nn.orthogonal_weights import orthogonal
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
from nestarray.nn.parametrization import spectral_norm, weight_norm
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
from nestarray.nn.positions import (
    AlibiBias,
    PositionEmbedding,
    RelativePositionBias,
    SinePositionEncoding,
)
from nestarray.nn.progress_line import progress
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
from nestarray.nn.recurrent import GRU, LSTM, RNN
from nestarray.nn.recurrent_cells import GRUCell, LSTMCell, RNNCell
from nestarray.nn.regularization import (
    AlphaDropout,
    Dropout,
    Dropout1d,
    Dropout2d,
    Dropout3d,
    DropPath,
    FeatureAlphaDropout,
    GaussianDropout,
    GaussianNoise,
)
from nestarray.nn.repetition import Repeat
from nestarray.nn.resampling import (
    ChannelShuffle,
    PixelShuffle,
    PixelUnshuffle,
    Upsample,
    UpsamplingBilinear2d,
    UpsamplingNearest2d,
)
from nestarray.nn.rotary import RotaryEmbedding
from nestarray.nn.separable_convolution import (
    DepthwiseConv1d,
    DepthwiseConv2d,
    SeparableConv1d,
    SeparableConv2d,
)
from nestarray.nn.shapes import Flatten, Identity, Unflatten
from nestarray.nn.softmax import LogSoftmax, Softmax, Softmax2d, Softmin
from nestarray.nn.state_space import S4D, Mamba
from nestarray.nn.training import TrainStep, train_step
from nestarray.nn.transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from nestarray.nn.transposed_convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from nestarray.nn.unpooling import MaxUnpool1d, MaxUnpool2d, MaxUnpool3d
from nestarray.transforms.meta_learning import accumulate_gradients, maml_step, reptile_step

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "S4D",
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
    "AlibiBias",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bidirectional",
    "Bilinear",
    "CausalBlock",
    "CausalTransformer",
    "ChannelShuffle",
    "Checkpoint",
    "Checkpointer",
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
    "DoRA",
    "DropPath",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "DynamicLossScale",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GATConv",
    "GCNConv",
    "GINConv",
    "GRUCell",
    "GatedMLP",
    "GaussianDropout",
    "GaussianNoise",
    "GlobalAvgPool",
    "GlobalMaxPool",
    "GroupNorm",
    "GroupedQueryAttention",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTMCell",
    "Lambda",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LoRA",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "Mamba",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
    "MessagePassing",
    "Mish",
    "MixtureOfExperts",
    "Module",
    "MultiHeadAttention",
    "Optimizer",
    "PReLU",
    "PairwiseDistance",
    "Parallel",
    "PatchEmbedding",
    "PixelShuffle",
    "PixelUnshuffle",
    "PositionEmbedding",
    "RMSNorm",
    "RNNCell",
    "RReLU",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "RelativePositionBias",
    "Remat",
    "Repeat",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Residual",
    "RotaryEmbedding",
    "SAGEConv",
    "SeparableConv1d",
    "SeparableConv2d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SinePositionEncoding",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "TimeDistributed",
    "TrainStep",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
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
    "metrics",
    "orthogonal",
    "progress",
    "recurrent_weights",
    "reptile_step",
    "rotary",
    "schedules",
    "spectral_norm",
    "train_step",
    "weight_norm",
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

"""Layers, initializers, optimizers and schedules; `nestarray.nn.module` says how they work together."""

from nestarray import lazy_imports
from nestarray.errors.unknown_names import suggest_names
from nestarray.nn import initializers, recurrent_weights, schedules
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
from nestarray.nn.composition import (
    Lambda,
    Parallel,
    Remat,
    Residual,
    Sequential,
    TimeDistributed,
)
from nestarray.nn.convolution import Conv1d, Conv2d, Conv3d, ConvTranspose2d
from nestarray.nn.linear import Embedding, Linear
from nestarray.nn.loss_scaling import DynamicLossScale
from nestarray.nn.module import Module, Variable
from nestarray.nn.normalization import GroupNorm, LayerNorm, LocalResponseNorm, RMSNorm
from nestarray.nn.optimizers import SGD, Adam, AdamW, Optimizer
from nestarray.nn.orthogonal_weights import orthogonal
from nestarray.nn.parametrization import spectral_norm, weight_norm
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
from nestarray.nn.state_space import S4D, Mamba
from nestarray.transforms.meta_learning import accumulate_gradients, maml_step, reptile_step

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "S4D",
    "SGD",
    "Adam",
    "AdamW",
    "AlphaDropout",
    "BatchNorm",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bidirectional",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose2d",
    "DropPath",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "DynamicLossScale",
    "Embedding",
    "FeatureAlphaDropout",
    "GRUCell",
    "GaussianDropout",
    "GaussianNoise",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LSTMCell",
    "Lambda",
    "LayerNorm",
    "Linear",
    "LocalResponseNorm",
    "Mamba",
    "Module",
    "MultiHeadAttention",
    "Optimizer",
    "Parallel",
    "RMSNorm",
    "RNNCell",
    "Remat",
    "Repeat",
    "Residual",
    "Sequential",
    "TimeDistributed",
    "Variable",
    "accumulate_gradients",
    "initializers",
    "maml_step",
    "orthogonal",
    "recurrent_weights",
    "reptile_step",
    "schedules",
    "spectral_norm",
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

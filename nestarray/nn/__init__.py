"""Layers, initializers, optimizers and schedules; `nestarray.nn.module` says how they work together."""

from nestarray import lazy_imports
from nestarray.errors.unknown_names import suggest_names
from nestarray.nn import initializers, metrics, schedules
from nestarray.nn.attention import MultiHeadAttention
from nestarray.nn.checkpoints import Checkpoint, Checkpointer
from nestarray.nn.composition import Lambda, Sequential
from nestarray.nn.convolution import Conv1d, Conv2d, Conv3d, ConvTranspose2d
from nestarray.nn.linear import Embedding, Linear
from nestarray.nn.loss_scaling import DynamicLossScale
from nestarray.nn.module import Module, Variable
from nestarray.nn.normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from nestarray.nn.optimizers import SGD, Adam, AdamW, Optimizer
from nestarray.nn.progress_line import progress
from nestarray.nn.regularization import Dropout
from nestarray.nn.training import TrainStep, train_step
from nestarray.transforms.meta_learning import accumulate_gradients, maml_step, reptile_step

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "BatchNorm",
    "Checkpoint",
    "Checkpointer",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose2d",
    "Dropout",
    "DynamicLossScale",
    "Embedding",
    "GroupNorm",
    "Lambda",
    "LayerNorm",
    "Linear",
    "Module",
    "MultiHeadAttention",
    "Optimizer",
    "RMSNorm",
    "Sequential",
    "TrainStep",
    "Variable",
    "accumulate_gradients",
    "initializers",
    "maml_step",
    "metrics",
    "progress",
    "reptile_step",
    "schedules",
    "train_step",
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

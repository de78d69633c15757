"""Layers, initializers, optimizers and schedules; `nestarray.nn.module` says how they work together."""

from nestarray import lazy_imports
from nestarray.errors.unknown_names import suggest_names
from nestarray.nn import initializers, rotary, schedules
from nestarray.nn.adapters import DoRA, LoRA
from nestarray.nn.attention import MultiHeadAttention
from nestarray.nn.composition import Lambda, Sequential
from nestarray.nn.convolution import Conv1d, Conv2d, Conv3d, ConvTranspose2d
from nestarray.nn.decoders import CausalBlock, CausalTransformer, GatedMLP
from nestarray.nn.embeddings import Embedding, EmbeddingBag, PatchEmbedding
from nestarray.nn.experts import MixtureOfExperts
from nestarray.nn.graph_attention import GATConv
from nestarray.nn.graphs import GCNConv, GINConv, MessagePassing, SAGEConv
from nestarray.nn.grouped_attention import GroupedQueryAttention
from nestarray.nn.linear import Linear
from nestarray.nn.loss_scaling import DynamicLossScale
from nestarray.nn.module import Module, Variable
from nestarray.nn.normalization import BatchNorm, GroupNorm, LayerNorm, RMSNorm
from nestarray.nn.optimizers import SGD, Adam, AdamW, Optimizer
from nestarray.nn.positions import (
    AlibiBias,
    PositionEmbedding,
    RelativePositionBias,
    SinePositionEncoding,
)
from nestarray.nn.regularization import Dropout
from nestarray.nn.rotary import RotaryEmbedding
from nestarray.nn.transformer import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from nestarray.transforms.meta_learning import accumulate_gradients, maml_step, reptile_step

__all__ = [
    "SGD",
    "Adam",
    "AdamW",
    "AlibiBias",
    "BatchNorm",
    "CausalBlock",
    "CausalTransformer",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose2d",
    "DoRA",
    "Dropout",
    "DynamicLossScale",
    "Embedding",
    "EmbeddingBag",
    "GATConv",
    "GCNConv",
    "GINConv",
    "GatedMLP",
    "GroupNorm",
    "GroupedQueryAttention",
    "Lambda",
    "LayerNorm",
    "Linear",
    "LoRA",
    "MessagePassing",
    "MixtureOfExperts",
    "Module",
    "MultiHeadAttention",
    "Optimizer",
    "PatchEmbedding",
    "PositionEmbedding",
    "RMSNorm",
    "RelativePositionBias",
    "RotaryEmbedding",
    "SAGEConv",
    "Sequential",
    "SinePositionEncoding",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "Variable",
    "accumulate_gradients",
    "initializers",
    "maml_step",
    "reptile_step",
    "rotary",
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

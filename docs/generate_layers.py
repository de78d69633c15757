"""Write docs/layers.md: every layer of `na.nn`, and its equivalents in PyTorch, Keras and Flax.

usage: python docs/generate_layers.py

PyTorch's equivalent is the class of the same name in torch.nn, if there is one. The tables below name
the others; a test checks that all of these names exist.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import torch

from nestarray import nn

PAGE = Path(__file__).with_name("layers.md")

#: Area → modules of nestarray.nn.
AREAS = {
    "Affine maps and embeddings": ("linear", "embeddings"),
    "Convolution": ("convolution", "transposed_convolution", "separable_convolution", "patches"),
    "Pooling": ("pooling", "adaptive_pooling", "fractional_pooling", "unpooling"),
    "Normalization": ("batch_norm", "normalization"),
    "Parametrized weights": ("parametrization", "orthogonal_weights", "adapters"),
    "Regularization": ("regularization",),
    "Activations": ("rectifiers", "activations", "softmax"),
    "Shapes, padding and resampling": ("shapes", "padding", "resampling"),
    "Distances": ("distances",),
    "Recurrent layers": ("recurrent", "recurrent_cells", "bidirectional"),
    "Attention and positions": ("attention", "grouped_attention", "positions", "rotary"),
    "Transformers": ("transformer", "decoders", "experts"),
    "State spaces": ("state_space",),
    "Graphs": ("graphs", "graph_attention"),
    "Composition": ("composition", "repetition"),
}

#: Members of na.nn that are no modules but work as layers.
OTHERS = ("weight_norm", "spectral_norm", "orthogonal", "LoRA", "DoRA")

#: Layer → names below torch, where torch.nn has no class of the same name.
TORCH = {
    "BatchNorm": "nn.BatchNorm1d",
    "DepthwiseConv1d": "nn.Conv1d(groups=in_channels)",
    "DepthwiseConv2d": "nn.Conv2d(groups=in_channels)",
    "GlobalAvgPool": "nn.AdaptiveAvgPool2d(1)",
    "GlobalMaxPool": "nn.AdaptiveMaxPool2d(1)",
    "MultiHeadAttention": "nn.MultiheadAttention",
    "Remat": "utils.checkpoint.checkpoint",
    "orthogonal": "nn.utils.parametrizations.orthogonal",
    "spectral_norm": "nn.utils.parametrizations.spectral_norm",
    "weight_norm": "nn.utils.parametrizations.weight_norm",
}

#: Layer → names below keras.
KERAS = {
    "AlphaDropout": "layers.AlphaDropout",
    "BatchNorm": "layers.BatchNormalization",
    "Bidirectional": "layers.Bidirectional",
    "CELU": "activations.celu",
    "Dropout": "layers.Dropout",
    "ELU": "layers.ELU",
    "Embedding": "layers.Embedding",
    "Flatten": "layers.Flatten",
    "GELU": "activations.gelu(approximate=False)",
    "GLU": "activations.glu",
    "GRU": "layers.GRU",
    "GRUCell": "layers.GRUCell",
    "GaussianDropout": "layers.GaussianDropout",
    "GaussianNoise": "layers.GaussianNoise",
    "GlobalAvgPool": "layers.GlobalAveragePooling2D",
    "GlobalMaxPool": "layers.GlobalMaxPooling2D",
    "GroupNorm": "layers.GroupNormalization",
    "GroupedQueryAttention": "layers.GroupQueryAttention",
    "Hardshrink": "activations.hard_shrink",
    "Hardsigmoid": "activations.hard_sigmoid",
    "Hardswish": "activations.hard_silu",
    "Hardtanh": "activations.hard_tanh",
    "Identity": "layers.Identity",
    "LSTM": "layers.LSTM",
    "LSTMCell": "layers.LSTMCell",
    "Lambda": "layers.Lambda",
    "LayerNorm": "layers.LayerNormalization",
    "LeakyReLU": "layers.LeakyReLU",
    "Linear": "layers.Dense",
    "LoRA": "layers.Dense.enable_lora",
    "LogSigmoid": "activations.log_sigmoid",
    "LogSoftmax": "activations.log_softmax",
    "Mish": "activations.mish",
    "MultiHeadAttention": "layers.MultiHeadAttention",
    "PReLU": "layers.PReLU",
    "RMSNorm": "layers.RMSNormalization",
    "RNN": "layers.SimpleRNN",
    "RNNCell": "layers.SimpleRNNCell",
    "ReLU": "layers.ReLU",
    "ReLU6": "activations.relu6",
    "Remat": "remat",
    "SELU": "activations.selu",
    "Sequential": "Sequential",
    "SiLU": "activations.silu",
    "Sigmoid": "activations.sigmoid",
    "Softmax": "layers.Softmax",
    "Softplus": "activations.softplus",
    "Softshrink": "activations.soft_shrink",
    "Softsign": "activations.softsign",
    "Tanh": "activations.tanh",
    "Tanhshrink": "activations.tanh_shrink",
    "Threshold": "activations.threshold",
    "TimeDistributed": "layers.TimeDistributed",
    "Unflatten": "layers.Reshape",
    "Upsample": "layers.UpSampling2D",
    "UpsamplingNearest2d": "layers.UpSampling2D",
    "spectral_norm": "layers.SpectralNormalization",
}

#: The same for layers whose names end in the number of dimensions, {}.
KERAS_BY_DIMENSION = {
    "AdaptiveAvgPool": "layers.AdaptiveAveragePooling{}D",
    "AdaptiveMaxPool": "layers.AdaptiveMaxPooling{}D",
    "AvgPool": "layers.AveragePooling{}D",
    "BatchNorm": "layers.BatchNormalization",
    "Conv": "layers.Conv{}D",
    "ConvTranspose": "layers.Conv{}DTranspose",
    "DepthwiseConv": "layers.DepthwiseConv{}D",
    "Dropout": "layers.SpatialDropout{}D",
    "InstanceNorm": "layers.GroupNormalization(groups=-1)",
    "MaxPool": "layers.MaxPooling{}D",
    "SeparableConv": "layers.SeparableConv{}D",
    "ZeroPad": "layers.ZeroPadding{}D",
}

#: Layer → names below flax.nnx.
FLAX = {
    "BatchNorm": "BatchNorm",
    "Bidirectional": "Bidirectional",
    "CELU": "celu",
    "Dropout": "Dropout",
    "ELU": "elu",
    "Embedding": "Embed",
    "GELU": "gelu(approximate=False)",
    "GLU": "glu",
    "GRU": "RNN(GRUCell)",
    "GRUCell": "GRUCell",
    "GroupNorm": "GroupNorm",
    "Hardsigmoid": "hard_sigmoid",
    "Hardswish": "hard_swish",
    "Hardtanh": "hard_tanh",
    "Identity": "identity",
    "LSTM": "RNN(LSTMCell)",
    "LSTMCell": "LSTMCell",
    "LayerNorm": "LayerNorm",
    "LeakyReLU": "leaky_relu",
    "Linear": "Linear",
    "LoRA": "LoRA",
    "LogSigmoid": "log_sigmoid",
    "LogSoftmax": "log_softmax",
    "MultiHeadAttention": "MultiHeadAttention",
    "PReLU": "PReLU",
    "RMSNorm": "RMSNorm",
    "RNN": "RNN(SimpleCell)",
    "RNNCell": "SimpleCell",
    "ReLU": "relu",
    "ReLU6": "relu6",
    "Remat": "remat",
    "Repeat": "scan",
    "RotaryEmbedding": "RoPE",
    "SELU": "selu",
    "Sequential": "Sequential",
    "SiLU": "silu",
    "Sigmoid": "sigmoid",
    "Softmax": "softmax",
    "Softplus": "softplus",
    "Softsign": "soft_sign",
    "Tanh": "tanh",
    "spectral_norm": "SpectralNorm",
    "weight_norm": "WeightNorm",
}
FLAX_BY_DIMENSION = {
    "AvgPool": "avg_pool",
    "BatchNorm": "BatchNorm",
    "Conv": "Conv",
    "ConvTranspose": "ConvTranspose",
    "DepthwiseConv": "Conv(feature_group_count=in_channels)",
    "Dropout": "Dropout(broadcast_dims=...)",
    "InstanceNorm": "InstanceNorm",
    "MaxPool": "max_pool",
}

#: Framework → its module, and the tables.
LIBRARIES: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "PyTorch": ("torch", TORCH, {}),
    "Keras": ("keras", KERAS, KERAS_BY_DIMENSION),
    "Flax": ("flax.nnx", FLAX, FLAX_BY_DIMENSION),
}

HEAD = """# Layers

Generated by `python docs/generate_layers.py`; do not edit.

{count} layers of `na.nn` and their equivalents; `help(na.nn.Linear)` shows the contract. {same} of them
have the name of a class of `torch.nn`, with its order of arguments and paths of variables, so that
`Container.from_torch_module(layer, buffers=True)` fits; attention and transformers have
`batch_first=True` by default. Keras and Flax have other layouts of weights:
[weights between PyTorch, Flax and Keras](guide/matching.md). Layers of graphs have the names of PyTorch
Geometric. The guide has [examples](guide/layers.md).
"""


def layers() -> list[str]:
    """The names of all layers, in the order of `na.nn`."""
    return [name for name in nn.__all__ if name in OTHERS or _is_layer(getattr(nn, name))]


def _is_layer(member: Any) -> bool:
    return inspect.isclass(member) and issubclass(member, nn.Module) and member is not nn.Module


def area(name: str) -> str:
    """The area of a layer, from the module that defines it."""
    module = getattr(nn, name).__module__.rpartition(".")[2]
    areas = [title for title, modules in AREAS.items() if module in modules]
    if len(areas) != 1:
        raise LookupError(f"nestarray.nn.{module} is in the areas {areas}, expected one of AREAS")
    return areas[0]


def equivalent(name: str, library: str) -> str:
    """The name in another library, below its module; empty without one."""
    _, names, by_dimension = LIBRARIES[library]
    if library == "PyTorch" and hasattr(torch.nn, name):
        return f"nn.{name}"
    stem, dimension = name[:-2], name[-2:-1]
    has_dimension = name.endswith(("1d", "2d", "3d")) and stem in by_dimension
    return names.get(name) or (by_dimension[stem].format(dimension) if has_dimension else "")


def rows(title: str) -> Iterator[str]:
    """The rows of the table of an area."""
    for name in layers():
        if area(name) != title:
            continue
        summary = str(getattr(nn, name).__doc__).partition("\n")[0].replace("|", "\\|")
        others = []
        for library, (module, *_) in LIBRARIES.items():
            other = equivalent(name, library)
            others.append(f"`{module.removeprefix('flax.')}.{other}`" if other else "")
        yield f"| `{name}` | {summary} | {' | '.join(others)} |"


def unknown_names() -> list[str]:
    """The names in the tables that their libraries, or `na.nn`, do not have."""
    unknown = []
    for library, (module, names, by_dimension) in LIBRARIES.items():
        root: Any = importlib.import_module(module)
        stems = {name[:-2] for name in layers()}
        unknown += [f"na.nn.{name}" for name in names if name not in layers()]
        unknown += [f"na.nn.{stem}" for stem in by_dimension if stem not in stems]
        for name in layers():
            other = equivalent(name, library).partition("(")[0]
            try:
                attrgetter(other)(root) if other else None
            except AttributeError:
                unknown.append(f"{module}.{other}")
    return unknown


def page() -> str:
    """The page."""
    names = layers()
    head = HEAD.format(count=len(names), same=sum(hasattr(torch.nn, name) for name in names))
    sections = ""
    for title in AREAS:
        table = "\n".join(rows(title))
        sections += f"\n## {title}\n\n| layer | definition | {' | '.join(LIBRARIES)} |\n|---|---|---|---|---|\n{table}\n"
    return head + sections


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


if __name__ == "__main__":
    main()

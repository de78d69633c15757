"""Layers, initializers and optimizers; `nestarray.nn.module` says how they work together."""

from nestarray.errors.unknown_names import suggest_names as _suggest_names
from nestarray.nn import initializers as initializers
from nestarray.nn.attention import MultiHeadAttention as MultiHeadAttention
from nestarray.nn.composition import Lambda as Lambda
from nestarray.nn.composition import Sequential as Sequential
from nestarray.nn.convolution import Conv1d as Conv1d
from nestarray.nn.convolution import Conv2d as Conv2d
from nestarray.nn.convolution import Conv3d as Conv3d
from nestarray.nn.convolution import ConvTranspose2d as ConvTranspose2d
from nestarray.nn.linear import Embedding as Embedding
from nestarray.nn.linear import Linear as Linear
from nestarray.nn.meta_learning import accumulate_gradients as accumulate_gradients
from nestarray.nn.meta_learning import maml_step as maml_step
from nestarray.nn.meta_learning import reptile_step as reptile_step
from nestarray.nn.module import Module as Module
from nestarray.nn.module import Variable as Variable
from nestarray.nn.normalization import BatchNorm as BatchNorm
from nestarray.nn.normalization import GroupNorm as GroupNorm
from nestarray.nn.normalization import LayerNorm as LayerNorm
from nestarray.nn.normalization import RMSNorm as RMSNorm
from nestarray.nn.optimizers import SGD as SGD
from nestarray.nn.optimizers import Adam as Adam
from nestarray.nn.optimizers import AdamW as AdamW
from nestarray.nn.optimizers import Optimizer as Optimizer
from nestarray.nn.regularization import Dropout as Dropout

_suggest_names(__name__)

"""Functions of neural networks.

Upstream: https://keras.io/api/ops/nn/
"""

from nestarray.frontends.keras.ops.nn.activations import *
from nestarray.frontends.keras.ops.nn.attention import *
from nestarray.frontends.keras.ops.nn.classes import *
from nestarray.frontends.keras.ops.nn.convolution import *
from nestarray.frontends.keras.ops.nn.losses import *
from nestarray.frontends.keras.ops.nn.normalization import *
from nestarray.frontends.keras.ops.nn.patches import *
from nestarray.frontends.keras.ops.nn.pooling import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

"""Functions of neural networks.

Upstream: https://www.tensorflow.org/api_docs/python/tf/nn
"""

from nestarray.frontends.tensorflow.nn.activations import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

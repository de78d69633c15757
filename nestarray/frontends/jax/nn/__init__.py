"""Functions of neural networks.

Upstream: https://docs.jax.dev/en/latest/jax.nn.html
"""

from nestarray.frontends.jax.nn import initializers as initializers
from nestarray.frontends.jax.nn.activations import *
from nestarray.frontends.jax.nn.attention import *
from nestarray.frontends.jax.nn.products import *

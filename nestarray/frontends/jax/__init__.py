"""JAX's public API on nestarray's ops: the same code on arrays of any framework.

Names, parameters and semantics are upstream's, https://docs.jax.dev. So far `jax.lax` and
parts of `jax.random` and `jax.nn`, whose functions are also the rules by which jaxprs are imported (`vocabulary`).

Differences from programs for JAX: arrays are native, and settings about shardings, layouts and
precision are not parameters.

Example:
    >>> import numpy as np, nestarray.frontends.jax as jax
    >>> jax.lax.dynamic_slice(np.arange(5.0), [4], (2,))
    array([3., 4.])
"""

from nestarray.dtypes import *
from nestarray.frontends.jax import lax as lax
from nestarray.frontends.jax import nn as nn
from nestarray.frontends.jax import random as random

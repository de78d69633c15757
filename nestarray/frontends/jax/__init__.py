"""JAX's public API on nestarray's ops: the same code on arrays of any framework.

Names, parameters and semantics are upstream's, https://docs.jax.dev: `jax.numpy`, `jax.nn`,
`jax.lax`, `jax.random`, `jax.image`, `jax.ops`, `jax.scipy`, and the transformations `jax.grad`,
`jax.vmap`, `jax.jit`. The functions are also the rules by which jaxprs are imported (`vocabulary`).

Differences from programs for JAX: arrays are native, and settings about shardings and layouts are
not parameters. Numbers without an array have 32 bits, or 64 bits after
``jax.config.update("jax_enable_x64", True)`` and under ``jax.enable_x64()``, which are settings of
this frontend; arrays keep their dtypes, and samples of `jax.random` have 32 bits unless `dtype` is
given.

Example:
    >>> import numpy as np, nestarray.frontends.jax as jax
    >>> jax.lax.dynamic_slice(np.arange(5.0), [4], (2,))
    array([3., 4.])
    >>> jax.numpy.clip(np.asarray([-1.0, 0.5]), 0, 1)
    array([0. , 0.5])
"""

from nestarray.dtypes import *
from nestarray.frontends.jax import core as core
from nestarray.frontends.jax import image as image
from nestarray.frontends.jax import lax as lax
from nestarray.frontends.jax import nn as nn
from nestarray.frontends.jax import numpy as numpy
from nestarray.frontends.jax import ops as ops
from nestarray.frontends.jax import random as random
from nestarray.frontends.jax import scipy as scipy
from nestarray.frontends.jax import tree as tree
from nestarray.frontends.jax import tree_util as tree_util
from nestarray.frontends.jax.arrays import *
from nestarray.frontends.jax.configuration import *
from nestarray.frontends.jax.transformations import *

"""NumPy's functions with JAX's dtypes and rules.

Upstream: https://docs.jax.dev/en/latest/jax.numpy.html. Differences: ``device`` and ``out_sharding``
are not parameters, and the binary functions have no methods such as ``reduce``.
"""

from nestarray.frontends.jax.numpy import fft as fft
from nestarray.frontends.jax.numpy import linalg as linalg
from nestarray.frontends.jax.numpy.contraction import *
from nestarray.frontends.jax.numpy.creation import *
from nestarray.frontends.jax.numpy.data_type import *
from nestarray.frontends.jax.numpy.elementwise import *
from nestarray.frontends.jax.numpy.functional import *
from nestarray.frontends.jax.numpy.grids import *
from nestarray.frontends.jax.numpy.indexing import *
from nestarray.frontends.jax.numpy.logic import *
from nestarray.frontends.jax.numpy.polynomials import *
from nestarray.frontends.jax.numpy.reduction import *
from nestarray.frontends.jax.numpy.sets import *
from nestarray.frontends.jax.numpy.shaping import *
from nestarray.frontends.jax.numpy.sorting import *
from nestarray.frontends.jax.numpy.statistics import *
from nestarray.frontends.jax.numpy.windows import *

"""Primitive operations.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html. Operands have equal dtypes and shapes, or
are numbers; nothing is promoted or broadcast. Functions without a page upstream are primitives of
jaxprs. Arguments about shardings are left out.
"""

from nestarray.frontends.jax.lax import linalg as linalg
from nestarray.frontends.jax.lax.collectives import *
from nestarray.frontends.jax.lax.contraction import *
from nestarray.frontends.jax.lax.control_flow import *
from nestarray.frontends.jax.lax.elementwise import *
from nestarray.frontends.jax.lax.fourier import *
from nestarray.frontends.jax.lax.indexing import *
from nestarray.frontends.jax.lax.primitives import *
from nestarray.frontends.jax.lax.products import *
from nestarray.frontends.jax.lax.random_numbers import *
from nestarray.frontends.jax.lax.reduction import *
from nestarray.frontends.jax.lax.settings import *
from nestarray.frontends.jax.lax.shaping import *
from nestarray.frontends.jax.lax.solvers import *
from nestarray.frontends.jax.lax.windows import *

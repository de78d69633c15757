"""Primitive operations.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html. Operands have equal dtypes and shapes, or
are numbers; nothing is promoted or broadcast.
"""

from nestarray.frontends.jax.lax.contraction import *
from nestarray.frontends.jax.lax.control_flow import *
from nestarray.frontends.jax.lax.elementwise import *
from nestarray.frontends.jax.lax.indexing import *
from nestarray.frontends.jax.lax.linalg import *
from nestarray.frontends.jax.lax.random_numbers import *
from nestarray.frontends.jax.lax.reduction import *
from nestarray.frontends.jax.lax.shaping import *
from nestarray.frontends.jax.lax.windows import *

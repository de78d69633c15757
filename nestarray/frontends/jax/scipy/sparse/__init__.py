"""Linear systems of which only products with the matrix are known.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html#module-jax.scipy.sparse.linalg
"""

from nestarray.frontends.jax.scipy.sparse import linalg as linalg

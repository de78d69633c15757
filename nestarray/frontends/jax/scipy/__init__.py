"""Functions of SciPy, with JAX's dtypes.

Upstream: https://docs.jax.dev/en/latest/jax.scipy.html
"""

from nestarray.frontends.jax.scipy import cluster as cluster
from nestarray.frontends.jax.scipy import fft as fft
from nestarray.frontends.jax.scipy import integrate as integrate
from nestarray.frontends.jax.scipy import interpolate as interpolate
from nestarray.frontends.jax.scipy import linalg as linalg
from nestarray.frontends.jax.scipy import ndimage as ndimage
from nestarray.frontends.jax.scipy import optimize as optimize
from nestarray.frontends.jax.scipy import signal as signal
from nestarray.frontends.jax.scipy import sparse as sparse
from nestarray.frontends.jax.scipy import special as special
from nestarray.frontends.jax.scipy import stats as stats

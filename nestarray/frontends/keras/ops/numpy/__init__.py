"""NumPy's functions with Keras' dtypes and rules.

Upstream: https://keras.io/api/ops/numpy/
"""

from nestarray.frontends.keras.ops.numpy.contraction import *
from nestarray.frontends.keras.ops.numpy.creation import *
from nestarray.frontends.keras.ops.numpy.elementwise import *
from nestarray.frontends.keras.ops.numpy.indexing import *
from nestarray.frontends.keras.ops.numpy.logic import *
from nestarray.frontends.keras.ops.numpy.reduction import *
from nestarray.frontends.keras.ops.numpy.shaping import *
from nestarray.frontends.keras.ops.numpy.statistics import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

"""Mathematics.

Upstream: https://www.tensorflow.org/api_docs/python/tf/math
"""

from nestarray.frontends.tensorflow.math.comparison import *
from nestarray.frontends.tensorflow.math.elementwise import *
from nestarray.frontends.tensorflow.math.normalization import *
from nestarray.frontends.tensorflow.math.ordering import *
from nestarray.frontends.tensorflow.math.reduction import *
from nestarray.frontends.tensorflow.math.segments import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__, "special")

"""`tf.linalg`: matrices, or batches of them, along the last two axes.

Linear operators (`LinearOperator`) are matrices by their structure: diagonal, circulant, products of
others.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg
"""

from nestarray.frontends.tensorflow.contraction import *
from nestarray.frontends.tensorflow.creation import eye as eye
from nestarray.frontends.tensorflow.linalg.block_operators import *
from nestarray.frontends.tensorflow.linalg.diagonals import *
from nestarray.frontends.tensorflow.linalg.factorizations import *
from nestarray.frontends.tensorflow.linalg.functions import *
from nestarray.frontends.tensorflow.linalg.linear_operator import *
from nestarray.frontends.tensorflow.linalg.products import *
from nestarray.frontends.tensorflow.linalg.structured_operators import *
from nestarray.frontends.tensorflow.linalg.systems import *
from nestarray.frontends.tensorflow.math import l2_normalize as l2_normalize
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

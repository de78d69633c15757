"""Sparse tensors: indices and values of the elements that are not zero, and a shape.

The number of elements of many results depends on values, as for `from_dense`; such functions run
outside of compiled code. Derivatives are taken by the values.

Upstream: https://www.tensorflow.org/api_docs/python/tf/sparse
"""

from nestarray.frontends.tensorflow.sparse.arithmetic import *
from nestarray.frontends.tensorflow.sparse.layout import *
from nestarray.frontends.tensorflow.sparse.segments import *
from nestarray.frontends.tensorflow.sparse.tensors import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__)

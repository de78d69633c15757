"""`tf.random`: stateless functions with upstream's bits, and random functions of a key.

Upstream: https://www.tensorflow.org/api_docs/python/tf/random
"""

from nestarray.frontends.tensorflow.candidates import *
from nestarray.frontends.tensorflow.random import experimental as experimental
from nestarray.frontends.tensorflow.random.rejection import *
from nestarray.frontends.tensorflow.random.stateful import *
from nestarray.frontends.tensorflow.random.stateless import *
from nestarray.frontends.tensorflow.random.streams import Algorithm as Algorithm
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__, "experimental")

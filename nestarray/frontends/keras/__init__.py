"""The functions of `keras.ops` on nestarray's ops: the same code on arrays of any framework.

Names, parameters, dtypes and semantics are upstream's, https://keras.io/api/ops/, on Keras'
TensorFlow backend. Differences: arrays are native, NumPy arrays stay NumPy arrays, and sparse
tensors are not made. This frontend has its own settings of `keras.config`.

Example:
    >>> import numpy as np
    >>> from nestarray.frontends import keras
    >>> keras.ops.softmax(np.zeros((2, 2), "float32"))
    array([[0.5, 0.5],
           [0.5, 0.5]], dtype=float32)
    >>> keras.ops.add(np.asarray([1, 2], "int32"), 0.5)
    array([1.5, 2.5], dtype=float32)
"""

from nestarray.frontends.keras import config as config
from nestarray.frontends.keras import ops as ops
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(__name__, "config", "ops")

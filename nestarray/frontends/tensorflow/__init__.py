"""TensorFlow's public API on nestarray's ops: the same code on arrays of any framework.

Names, parameters and semantics are upstream's, https://www.tensorflow.org/api_docs/python/tf:
channels last, ``"SAME"`` padding, and no promotion of dtypes: a number takes the dtype of the
tensor beside it, and tensors of two dtypes are an error. The functions of `tf.raw_ops` are also the
rules by which concrete functions are imported (`vocabulary`).

Differences from programs for TensorFlow: arrays are native, with the methods and operators of their
framework; ``name`` has no effect; gradients are computed by `nestarray.grad` or by the framework.
JAX has 64-bit numbers only with ``jax_enable_x64``.

Example:
    >>> import numpy as np, nestarray.frontends.tensorflow as tf
    >>> tf.math.cumprod(np.asarray([[1.0, 2.0, 3.0]]), axis=-1)
    array([[1., 2., 6.]])
    >>> tf.nn.relu(np.asarray([-1.0, 0.5]))
    array([0. , 0.5])
    >>> tf.add(np.zeros(2, "float32"), np.zeros(2, "float64"))
    Traceback (most recent call last):
    nestarray.errors.DtypeError: add: got a tensor of float64, expected float32: TensorFlow does not
    promote dtypes; use tf.cast(x, tf.float32)
"""

from nestarray.frontends.tensorflow import bitwise as bitwise
from nestarray.frontends.tensorflow import image as image
from nestarray.frontends.tensorflow import linalg as linalg
from nestarray.frontends.tensorflow import math as math
from nestarray.frontends.tensorflow import nn as nn
from nestarray.frontends.tensorflow import quantization as quantization
from nestarray.frontends.tensorflow import random as random
from nestarray.frontends.tensorflow import raw_ops as raw_ops
from nestarray.frontends.tensorflow import sets as sets
from nestarray.frontends.tensorflow import signal as signal
from nestarray.frontends.tensorflow import sparse as sparse
from nestarray.frontends.tensorflow.aliases import *
from nestarray.frontends.tensorflow.assertions import *
from nestarray.frontends.tensorflow.blocks import *
from nestarray.frontends.tensorflow.clipping import *
from nestarray.frontends.tensorflow.contraction import *
from nestarray.frontends.tensorflow.conversion import *
from nestarray.frontends.tensorflow.creation import *
from nestarray.frontends.tensorflow.data_type import *
from nestarray.frontends.tensorflow.division import *
from nestarray.frontends.tensorflow.edit_distance import *
from nestarray.frontends.tensorflow.functional import *
from nestarray.frontends.tensorflow.indexing import *
from nestarray.frontends.tensorflow.shaping import *
from nestarray.frontends.tensorflow.sorting import *
from nestarray.frontends.unknown_names import public_namespace as _public_namespace

_public_namespace(
    __name__,
    "bitwise",
    "image",
    "linalg",
    "math",
    "nn",
    "quantization",
    "random",
    "raw_ops",
    "sets",
    "signal",
    "sparse",
)

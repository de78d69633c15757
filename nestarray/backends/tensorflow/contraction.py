"""TensorFlow: `nestarray.ops.contraction`."""

from __future__ import annotations

import tensorflow as tf

from nestarray.backends.base import promoting
from nestarray.backends.tensorflow.elementwise import _cast

matmul = promoting(tf.matmul, _cast)

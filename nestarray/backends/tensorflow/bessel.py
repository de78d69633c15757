"""TensorFlow: `nestarray.ops.bessel`."""

from __future__ import annotations

import tensorflow as tf

from nestarray.backends.tensorflow.special import _in_float32

i0 = _in_float32(tf.math.bessel_i0)
i0e = _in_float32(tf.math.bessel_i0e)
i1 = _in_float32(tf.math.bessel_i1)
i1e = _in_float32(tf.math.bessel_i1e)

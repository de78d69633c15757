"""TensorFlow: `nestarray.ops.complex_numbers`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends import portable
from nestarray.backends.base import parts_dtype
from nestarray.backends.tensorflow import complex_parts
from nestarray.backends.tensorflow.promotion import cast


def complex(real: Any, imag: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/complex"""
    dtype = parts_dtype("complex", real=real, imag=imag)
    parts = cast(real, dtype), cast(imag, dtype)
    return complex_parts.of_both(*parts) if portable.are_wanted() else tf.complex(*parts)

"""TensorFlow: `nestarray.ops.linear_systems`."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from nestarray.backends.base import promoted
from nestarray.backends.tensorflow.elementwise import _cast

inv = tf.linalg.inv


def _stacked(x1: Any, x2: Any) -> tuple[Any, Any]:
    """The matrices and the right sides as columns, both of the broadcast batch axes."""
    right = x2[:, None] if len(x2.shape) == 1 else x2
    batch1, batch2 = x1.shape[:-2].as_list(), right.shape[:-2].as_list()
    if batch1 != batch2:
        batch = tf.broadcast_dynamic_shape(tf.shape(x1)[:-2], tf.shape(right)[:-2])
        x1 = tf.broadcast_to(x1, tf.concat([batch, tf.shape(x1)[-2:]], 0))
        right = tf.broadcast_to(right, tf.concat([batch, tf.shape(right)[-2:]], 0))
    return x1, right


def solve(x1: Any, x2: Any, /) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/solve"""
    x1, x2 = promoted((x1, x2), _cast)
    solution = tf.linalg.solve(*_stacked(x1, x2))
    return solution[..., 0] if len(x2.shape) == 1 else solution


def solve_triangular(x1: Any, x2: Any, /, *, upper: bool = False) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/linalg/triangular_solve"""
    x1, x2 = promoted((x1, x2), _cast)
    solution = tf.linalg.triangular_solve(*_stacked(x1, x2), lower=not upper)
    return solution[..., 0] if len(x2.shape) == 1 else solution

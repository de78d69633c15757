"""TensorFlow: elimination by columns, as one graph loop for every size.

``tf.linalg.lu`` supports only square matrices without a zero on the diagonal of U, and returns the
order of the rows instead of LAPACK's exchanges.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf


def eliminated(x: Any) -> tuple[Any, Any, Any]:
    """L and U in one matrix, the row exchanges, and the resulting order of the rows."""
    m, n = x.shape[-2:]
    rows, columns = tf.range(m, dtype=tf.int64), tf.range(n, dtype=tf.int64)
    batch = len(x.shape) - 2

    def step(k: Any, x: Any, pivots: Any, order: Any) -> tuple[Any, ...]:
        size = tf.abs(tf.gather(x, k, axis=-1))
        size = tf.where(rows >= k, size, tf.constant(-1, size.dtype))  # rows above are final
        pivot = tf.argmax(size, -1)[..., None]
        swap = tf.where(tf.equal(rows, k), pivot, tf.where(tf.equal(rows, pivot), k, rows))
        x = tf.gather(x, swap, axis=-2, batch_dims=batch)
        row, column = tf.gather(x, [k], axis=-2), tf.gather(x, [k], axis=-1)
        head = tf.gather(row, [k], axis=-1)
        # zero only in a column of zeros, which does not change
        head = tf.where(tf.equal(head, 0), tf.ones_like(head), head)
        below = (rows > k)[:, None]
        factor = tf.where(below, column / head, tf.zeros_like(column))
        behind = tf.where(columns > k, row, tf.zeros_like(row))
        x = tf.where(below & tf.equal(columns, k), factor, x - factor * behind)
        pivots = tf.where(tf.equal(tf.range(min(m, n), dtype=tf.int64), k), pivot, pivots)
        return k + 1, x, pivots, tf.gather(order, swap, axis=-1, batch_dims=batch)

    count = min(m, n)
    lead = tf.shape(x)[:-2]
    pivots = tf.zeros(tf.concat([lead, [count]], 0), tf.int64)
    pivots = tf.ensure_shape(pivots, (*x.shape[:-2], count))
    order = tf.broadcast_to(rows, tf.concat([lead, [m]], 0))
    order = tf.ensure_shape(order, (*x.shape[:-2], m))
    start = (tf.constant(0, tf.int64), x, pivots, order)
    _, LU, pivots, order = tf.while_loop(
        lambda k, *_: k < count, step, start, maximum_iterations=count
    )
    return LU, pivots, order


def exchanges(order: Any) -> Any:
    """The row exchanges for an order of the rows: LAPACK's pivots."""
    n = order.shape[-1]
    rows = tf.range(n, dtype=tf.int64)

    def step(k: Any, state: Any, pivots: Any) -> tuple[Any, ...]:
        # the exchange that moves row order[k] from its current position to k
        wanted = tf.gather(order, [k], axis=-1)
        place = tf.argmax(tf.cast(tf.equal(state, wanted), tf.int32), -1)[..., None]
        state = tf.where(tf.equal(rows, place), tf.gather(state, [k], axis=-1), state)
        state = tf.where(tf.equal(rows, k), wanted, state)
        return k + 1, state, tf.where(tf.equal(rows, k), place, pivots)

    start = (tf.constant(0, tf.int64), rows + tf.zeros_like(order), tf.zeros_like(order))
    return tf.while_loop(lambda k, *_: k < n, step, start, maximum_iterations=n)[2]


def ordered(pivots: Any) -> Any:
    """The order of the rows after exchanges: row i is the former row orderᵢ."""
    n = pivots.shape[-1]
    rows = tf.range(n, dtype=tf.int64)

    def step(k: Any, order: Any) -> tuple[Any, Any]:
        pivot = tf.gather(pivots, [k], axis=-1)
        here = tf.gather(order, [k], axis=-1)
        there = tf.gather(order, pivot, axis=-1, batch_dims=len(pivots.shape) - 1)
        order = tf.where(tf.equal(rows, pivot), here, order)
        return k + 1, tf.where(tf.equal(rows, k), there, order)

    start = (tf.constant(0, tf.int64), rows + tf.zeros_like(pivots))
    return tf.while_loop(lambda k, _: k < n, step, start, maximum_iterations=n)[1]

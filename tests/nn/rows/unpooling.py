"""Rows of `nestarray.nn.unpooling`."""

from __future__ import annotations

import numpy as np

from tests.nn.rows.row import both


def maxima(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Maxima of windows of two, and their indices."""
    shape = (2, 3, *shape)
    places = 2 * np.indices(shape[2:])  # the first element of each window
    rows = np.ravel_multi_index(tuple(places), tuple(2 * n for n in shape[2:]))
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    return x, np.broadcast_to(rows, shape).copy()


ROWS = [
    both("MaxUnpool1d", lambda nn: nn.MaxUnpool1d(2), inputs=lambda rng: maxima(4)),
    both("MaxUnpool2d", lambda nn: nn.MaxUnpool2d(2, (2, 2)), inputs=lambda rng: maxima(2, 3)),
    both(
        "MaxUnpool2d unbatched",
        lambda nn: nn.MaxUnpool2d(2),
        inputs=lambda rng: [x[0] for x in maxima(2, 3)],
    ),
    both("MaxUnpool3d", lambda nn: nn.MaxUnpool3d(2, 2, 0), inputs=lambda rng: maxima(1, 2, 1)),
]

"""Cases of `nestarray.ops.blocks`; the oracle is TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case


def reference(op: str) -> Any:
    """TensorFlow's function with the channels last, its only layout on CPUs."""

    def call(x: np.ndarray, *, block_size: int, data_format: str = "channels_first") -> Any:
        import tensorflow as tf  # here, since it takes seconds

        function = getattr(tf.nn, op)
        if data_format == "channels_last":
            return function(x, block_size).numpy()
        return np.moveaxis(function(np.moveaxis(x, 1, -1), block_size).numpy(), -1, 1)

    return call


def draw(*shape: int) -> Any:
    return lambda rng: (rng.standard_normal(shape),)


LAST = {"block_size": 2, "data_format": "channels_last"}
CASES = [
    Case("depth_to_space", draw(2, 12, 2, 3), {"block_size": 2}, reference=reference("depth_to_space")),
    Case("depth_to_space", draw(1, 2, 3, 8), LAST, reference=reference("depth_to_space"), id="last"),
    Case("space_to_depth", draw(1, 2, 3, 6), {"block_size": 3}, reference=reference("space_to_depth")),
    Case("space_to_depth", draw(2, 2, 4, 3), LAST, reference=reference("space_to_depth"), id="last"),
]  # fmt: skip

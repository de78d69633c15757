"""TensorFlow: `nestarray.transforms.collectives`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.transforms import derivatives_around


def mark() -> tuple[int, Any]:
    """How many derivatives are taken of what runs, and the graph that is made of it."""
    return derivatives_around(), tf.compat.v1.get_default_graph()


def hindrance(values: Sequence[Any], at_first: tuple[int, Any]) -> str | None:
    """Why values cannot be handed to other examples: where they come from."""
    count, graph = at_first
    if derivatives_around() > count:
        return (
            "TensorFlow has no derivative of one example by what others have; differentiate the "
            "function that na.vmap gives, or call it on the gradient"
        )
    if tf.compat.v1.get_default_graph() is not graph:  # its code runs more often, or not at all
        return (
            "TensorFlow cannot collect values inside of a loop, a choice or a compiled function; "
            "call it outside of that"
        )
    return None

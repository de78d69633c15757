"""Layers of Flax, Haiku and Equinox: tables for test_layers.py.

The name of a row is the class, and a variant after a slash.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from tests.arrays import normal as array

KEY = jax.random.PRNGKey(0)


ROWS = array(4, 6)
SERIES = array(2, 8, 3)
IMAGES = array(2, 8, 8, 3)
VOLUMES = array(1, 5, 5, 5, 2)
IDS = jnp.asarray([[1, 4, 0], [2, 2, 3]])


class Call(NamedTuple):
    """A call of a layer.

    Attributes:
        source, args, kwargs: the arguments of `trace_graph`.
        direct: returns the output of the library.
    """

    source: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    direct: Callable[[], Any]


class Row(NamedTuple):
    """A layer.

    Attributes:
        make: its call, for `train`.
        state: the number of arrays that the training mode writes.
        eval_state: the same in evaluation.
    """

    make: Callable[[bool], Call]
    state: int = 0
    eval_state: int = 0

"""TensorFlow: default bodies of ops on dtypes for which their ops have no kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray.backends.tensorflow.integers import by_bits

#: Ops of einops that repeat elements by TensorFlow's functions.
_REPEATING = ("repeat_axes",)


def adapted(body: Callable[..., Any], promoted: Sequence[str]) -> Callable[..., Any]:
    """`body`, for arguments of every dtype."""
    return by_bits(body) if body.__name__ in _REPEATING else body

"""TensorFlow: default bodies of ops on dtypes for which what they are made of has no kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray.backends.tensorflow.integers import by_bits

#: Ops that einops makes of TensorFlow's own functions, and that repeat elements.
_REPEATING = ("repeat_axes",)


def adapted(body: Callable[..., Any], promoted: Sequence[str]) -> Callable[..., Any]:
    """`body`, for arguments of every dtype."""
    return by_bits(body) if body.__name__ in _REPEATING else body

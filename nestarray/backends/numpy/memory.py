"""Memory in which large arrays are computed block by block, so that a block stays in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

_LINE = 64  # bytes of a line of the cache, and of the processor's widest registers


def rows(count: int, size: int, dtype: Any) -> Any:
    """An uninitialized array of shape (count, size) whose rows begin with a line of the cache.

    NumPy's own large arrays begin 16 bytes behind one. Of those each wide load touches two
    lines, which costs up to a fifth of what is computed in the cache.
    """
    width = -(-size * np.dtype(dtype).itemsize // _LINE) * _LINE
    memory = np.empty(count * width + _LINE, np.uint8)
    first = -memory.__array_interface__["data"][0] % _LINE
    lines = memory[first : first + count * width].reshape(count, width)
    return lines.view(dtype)[:, :size]


def longest_block(size: int, largest: int) -> int:
    """How many of `size` elements a block has: about as many each, and at most `largest`.

    A multiple of 64, as `largest` has to be, so that each block begins with a line of the cache.
    """
    count = -(-size // largest) or 1
    return -(-size // count // _LINE) * _LINE or _LINE


def blocks(size: int, largest: int) -> Iterator[slice]:
    """The places of `size` elements in blocks of `longest_block`, but for the last."""
    step = longest_block(size, largest)
    for start in range(0, size, step):
        yield slice(start, start + step)

"""Memory for block-wise computation of large arrays; a block fits in the cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

_LINE = 64  # bytes of a cache line and of the widest registers


def rows(count: int, size: int, dtype: Any) -> Any:
    """An uninitialized array of shape (count, size) whose rows start at a cache line.

    NumPy's large arrays start 16 bytes after one, so each wide load touches two lines, which costs
    up to 20 % of the time in the cache.
    """
    width = -(-size * np.dtype(dtype).itemsize // _LINE) * _LINE
    memory = np.empty(count * width + _LINE, np.uint8)
    first = -memory.__array_interface__["data"][0] % _LINE
    lines = memory[first : first + count * width].reshape(count, width)
    return lines.view(dtype)[:, :size]


def longest_block(size: int, largest: int) -> int:
    """The length of nearly equal blocks of `size` elements, at most `largest`.

    A multiple of 64, as `largest` must be, so that each block starts at a cache line.
    """
    count = -(-size // largest) or 1
    return -(-size // count // _LINE) * _LINE or _LINE


def blocks(size: int, largest: int) -> Iterator[slice]:
    """Slices of `size` elements in blocks of `longest_block`; the last may be shorter."""
    step = longest_block(size, largest)
    for start in range(0, size, step):
        yield slice(start, start + step)

"""What functions with several results return; torch.return_types.

https://docs.pytorch.org/docs/stable/torch.html
"""

from __future__ import annotations

from typing import NamedTuple

from nestarray.typing import Array


class ValuesIndices(NamedTuple):
    """Values and where they were: torch.return_types.max, sort, topk, median …"""

    values: Array
    indices: Array


class MinMax(NamedTuple):
    """torch.return_types.aminmax."""

    min: Array
    max: Array

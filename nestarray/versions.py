"""Versions of packages, compared by their numbers."""

from __future__ import annotations

import re


def numbers(version: str) -> tuple[int, ...]:
    """The first three numbers of a version, without its local part.

    Example:
        >>> from nestarray.versions import numbers
        >>> numbers("2.14.1+cu130") < numbers("2.15")
        True
    """
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])[:3]))

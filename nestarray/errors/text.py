"""Phrases that error messages share."""

from __future__ import annotations

from collections.abc import Iterable

#: The remedy for a state that holds the new values of variables.
NEW_VARIABLES = "it holds new values of variables: v, s = v.update(s).partition(*v.paths())"


def listed(texts: Iterable[str], most: int = 3) -> str:
    """``a, b, c and 4 more``: the first `most` texts and the number of the others."""
    texts = list(texts)
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def counted(count: int, one: str, many: str = "") -> str:
    """``1 leaf``, ``2 leaves``, ``1,024 elements``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"

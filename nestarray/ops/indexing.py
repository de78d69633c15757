"""Elements taken from, and put at, computed places."""

from __future__ import annotations

__all__: list[str] = []

"""New arrays from shapes, ranges, values and other data."""

from __future__ import annotations

__all__: list[str] = []

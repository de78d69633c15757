"""Where in an array: extrema, non-zeros, conditions."""

from __future__ import annotations

__all__: list[str] = []

"""The same elements in another shape, order or number."""

from __future__ import annotations

__all__: list[str] = []

"""Reductions along axes, and running ones."""

from __future__ import annotations

__all__: list[str] = []

"""Losses of predictions against targets."""

from __future__ import annotations

__all__: list[str] = []

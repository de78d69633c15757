"""Batch, layer, group and RMS normalization."""

from __future__ import annotations

__all__: list[str] = []

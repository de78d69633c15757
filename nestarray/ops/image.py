"""Images resized and sampled, channels first."""

from __future__ import annotations

__all__: list[str] = []

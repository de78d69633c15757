"""Special functions: erf, gamma and their kin."""

from __future__ import annotations

__all__: list[str] = []

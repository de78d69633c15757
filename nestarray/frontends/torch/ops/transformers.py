"""Operations that the package transformers registers with torch."""

from __future__ import annotations

from nestarray.frontends.torch.nn.functional.grouped import grouped_mm
from nestarray.frontends.unknown_names import public_namespace as _public_namespace
from nestarray.typing import Array

__all__ = ["grouped_mm_fallback"]


def grouped_mm_fallback(input: Array, weight: Array, offs: Array) -> Array:
    """Row s of `(rows, in)` times the matrix of its group in `(groups, in, out)`; `grouped_mm`."""
    return grouped_mm(input, weight, offs=offs)


_public_namespace(__name__)

"""Objects that make arrays from slices.

Upstream: https://numpy.org/doc/stable/reference/routines.indexing.html
"""

from __future__ import annotations

from typing import Any

from nestarray.frontends.jax import numpy as jnp
from nestarray.frontends.jax.promotion import enable_x64

__all__ = ["c_", "mgrid", "ogrid", "r_"]


class _Grid:
    """An object of the JAX frontend, with numbers of 64 bits."""

    def __init__(self, narrow: Any) -> None:
        self._narrow = narrow

    def __getitem__(self, key: Any) -> Any:
        with enable_x64():
            found = self._narrow[key]
        return tuple(found) if isinstance(found, list) else found


c_, mgrid, ogrid, r_ = _Grid(jnp.c_), _Grid(jnp.mgrid), _Grid(jnp.ogrid), _Grid(jnp.r_)

"""JAX's configuration, of which the frontend has one setting.

Upstream: https://docs.jax.dev/en/latest/default_dtypes.html. The setting is the frontend's: it does
not change JAX's, and JAX's does not change it.
"""

from __future__ import annotations

from typing import Any

from nestarray.errors import UnsupportedError
from nestarray.frontends.jax import promotion
from nestarray.frontends.jax.promotion import enable_x64

__all__ = ["config", "enable_x64"]


class _Config:
    """``config.update("jax_enable_x64", True)``: new numbers have 64 bits in this process."""

    @property
    def jax_enable_x64(self) -> bool:
        """Whether new numbers have 64 bits."""
        return promotion.is_x64()

    def update(self, name: str, val: Any) -> None:
        """Set ``jax_enable_x64``.

        Raises:
            UnsupportedError: another name.
        """
        if name != "jax_enable_x64":
            raise UnsupportedError(
                f"config: got {name!r}, expected 'jax_enable_x64': other settings are of JAX's compiler"
            )
        promotion.set_x64(val)


config = _Config()

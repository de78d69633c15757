"""The ops by name, for backend functions that call algorithms of `nestarray.numerics`.

The dispatcher, which is above the backends, adds each op to this module when it is defined.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    def __getattr__(name: str) -> Any: ...

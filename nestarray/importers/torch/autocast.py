"""``torch.autocast`` around a trace: as if forward itself entered it.

The exporter records the autocast that forward enters. One that surrounds it casts below the calls
that the exporter sees, so that a program would have the dtypes of autocast and none of its casts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

#: Pairs of a type of device and the dtype to which calls on it are cast.
Autocast = tuple[tuple[str, Any], ...]

_DEVICES = ("cpu", "cuda", "mps", "xpu")


def surrounding() -> Autocast:
    """The autocast that is enabled now."""
    import torch

    return tuple(
        (device, torch.get_autocast_dtype(device))
        for device in _DEVICES
        if torch.is_autocast_enabled(device)
    )


@contextlib.contextmanager
def casting(autocast: Autocast, *, enabled: bool = True) -> Iterator[None]:
    """Enter `autocast`, or leave it."""
    import torch

    with contextlib.ExitStack() as stack:
        for device, dtype in autocast:
            stack.enter_context(torch.autocast(device, dtype, enabled=enabled))
        yield

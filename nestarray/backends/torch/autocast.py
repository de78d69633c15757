"""The ``torch.autocast`` that surrounds a call.

A trace counts it as entered by forward: the exporter records the autocast that forward enters, but one
that surrounds it casts below the calls that the exporter sees. A proof leaves it.

Importing this file imports no framework: the importer of PyTorch is read by installations without it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

#: Pairs of a type of device and the dtype to which calls on it are cast.
Autocast = tuple[tuple[str, Any], ...]

_DEVICES = ("cpu", "cuda", "mps", "xpu")


def casts(x: Any) -> bool:
    """Whether calls on the device of `x` cast their arguments."""
    import torch

    return torch.is_autocast_enabled(x.device.type)


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

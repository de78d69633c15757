"""Global state that a proof neither changes nor depends on.

A source draws random numbers although the graph's numbers replace them. It runs in the modes of its
trace, not in those around the proof.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator

import numpy as np

from nestarray import backends


@contextlib.contextmanager
def keeping_random_states() -> Iterator[None]:
    """Restore the global random states at the end.

    Example:
        >>> before = np.random.get_state()[2]
        >>> with keeping_random_states():
        ...     _ = np.random.normal()
        >>> np.random.get_state()[2] == before
        True
    """
    torch = sys.modules.get("torch")
    with contextlib.ExitStack() as stack:
        stack.callback(random.setstate, random.getstate())
        stack.callback(np.random.set_state, np.random.get_state())
        if torch is not None:
            on_cuda = torch.cuda.is_initialized()
            devices = range(torch.cuda.device_count()) if on_cuda else ()
            stack.enter_context(torch.random.fork_rng(devices))
        yield


@contextlib.contextmanager
def leaving_modes() -> Iterator[None]:
    """Leave ``torch.autocast`` and ``torch.inference_mode``, which change dtypes and gradients.

    Example:
        >>> import torch
        >>> with torch.autocast("cpu"), leaving_modes():
        ...     torch.is_autocast_enabled("cpu")
        False
    """
    torch = sys.modules.get("torch")
    with contextlib.ExitStack() as stack:
        if torch is not None:
            autocast = backends.chapter("torch", "autocast")
            stack.enter_context(torch.inference_mode(False))
            stack.enter_context(autocast.casting(autocast.surrounding(), enabled=False))
        yield

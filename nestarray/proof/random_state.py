"""The global random states of Python, NumPy and PyTorch, unchanged by a proof.

A source draws random numbers although the graph's numbers replace them.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Iterator

import numpy as np


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

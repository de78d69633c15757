"""Random numbers that a module draws by NumPy or Python: constants of the graph.

Only torch's random functions are calls of the exported program. Speech models draw their training
masks by NumPy; in a graph these would be equal in every step.
"""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np


@contextlib.contextmanager
def warn_external_random(name: str) -> Iterator[None]:
    """Warn if a global random generator outside torch advances during a trace."""
    before = _states()
    yield
    moved = [library for library, state in _states().items() if state != before[library]]
    if moved:
        warnings.warn(
            f"trace_graph: {name} draws random numbers by {' and '.join(moved)} while it is "
            "traced; they are constants of the graph, the same in every call. Pass what is drawn "
            "as an argument (a speech model's mask_time_indices), draw it with torch, or switch it "
            "off (config.apply_spec_augment = False)",
            stacklevel=6,
        )


def _states() -> dict[str, Any]:
    kind, keys, *others = np.random.get_state()
    return {
        "NumPy": (kind, np.asarray(keys).tobytes(), *others),
        "Python's random": random.getstate(),
    }

"""Random numbers that a module draws by NumPy or by Python: a graph has them as constants.

Only torch's own draws are calls of the exported program. The masks that speech models draw for
their inputs in training come from NumPy, and would be the same at every step.
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
    """Around a trace: warn if a global generator of numbers outside of torch has moved on."""
    before = _states()
    yield
    moved = [library for library, state in _states().items() if state != before[library]]
    if moved:
        warnings.warn(
            f"trace_graph: {name} draws random numbers by {' and '.join(moved)} while it is "
            "traced; they are constants of the graph, the same in every call. Pass what is drawn "
            "as an argument (a speech model's mask_time_indices), draw it with torch, or switch it "
            "off (config.apply_spec_augment = False)",
            stacklevel=5,
        )


def _states() -> dict[str, Any]:
    kind, keys, *others = np.random.get_state()
    return {
        "NumPy": (kind, np.asarray(keys).tobytes(), *others),
        "Python's random": random.getstate(),
    }

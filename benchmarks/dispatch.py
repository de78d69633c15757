"""The overhead of some calls over the framework's own function, and of other libraries."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

import nestarray as na
from benchmarks.timing import Table, compare, ratio, readable

GOAL = 0.2e-6


def tables() -> list[Table]:
    """One table: some functions of each kind on small arrays."""
    os.environ.setdefault("KERAS_BACKEND", "torch")
    import jax.numpy as jnp
    import keras
    import torch

    a = np.arange(4, dtype="float32").reshape(2, 2)
    t, j = torch.from_numpy(a), jnp.asarray(a)
    keras_ops: Any = keras.ops
    cases: list[tuple[str, str, dict[str, Callable[[], Any]]]] = [
        ("numpy", "add", {"native": lambda: np.add(a, a), "na": lambda: na.add(a, a)}),
        ("numpy", "exp", {"native": lambda: np.exp(a), "na": lambda: na.exp(a)}),
        ("numpy", "add 2.0", {"native": lambda: np.add(a, 2.0), "na": lambda: na.add(a, 2.0)}),
        (
            "torch", "add",
            {
                "native": lambda: torch.add(t, t), "na": lambda: na.add(t, t),
                "keras": lambda: keras_ops.add(t, t),
            },
        ),
        (
            "torch", "exp",
            {
                "native": lambda: torch.exp(t), "na": lambda: na.exp(t),
                "keras": lambda: keras_ops.exp(t),
            },
        ),
        (
            "torch", "relu",
            {
                "native": lambda: torch.relu(t), "na": lambda: na.relu(t),
                "keras": lambda: keras_ops.relu(t),
            },
        ),
        ("jax", "add", {"native": lambda: jnp.add(j, j), "na": lambda: na.add(j, j)}),
        ("jax", "exp", {"native": lambda: jnp.exp(j), "na": lambda: na.exp(j)}),
    ]  # fmt: skip
    table = Table(
        "Added time of one call, 2×2 arrays",
        ["call", "native", "nestarray", "added", "ratio", "keras.ops", "ratio"],
        f"The goal is {readable(GOAL)} over the native call.",
    )
    for backend, name, functions in cases:
        time = compare(functions, rounds=21)
        peer = time.get("keras")
        table.add(
            f"{backend} {name}", readable(time["native"]), readable(time["na"]),
            f"{(time['na'] - time['native']) * 1e6:.2f} µs", ratio(time["na"], time["native"]),
            readable(peer) if peer else "", ratio(peer, time["native"]) if peer else "",
        )  # fmt: skip
    return [table]

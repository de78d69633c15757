"""Cases of `nestarray.ops.grids`; the oracle is NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.cases import Case


def plain(op: str, *args: Any, id: str = "", **settings: Any) -> Case:
    reference = getattr(np, op)
    wanted = settings.get("dtype")
    return Case(
        op,
        lambda rng: args,
        settings,
        reference=reference,
        differentiable=False,
        dtype=wanted,
        id=id,
    )


def ends(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.uniform(0.5, 2, (2, 1)), rng.uniform(3, 4, 3), 5


CASES = [
    plain("logspace", -1, 2, 7),
    plain("logspace", 0, 3.5, 4, base=2.0, endpoint=False, dtype="float64", id="open"),
    Case("logspace", ends, reference=np.logspace, id="arrays"),
    Case("logspace", ends, {"axis": 1}, reference=np.logspace, id="axis"),
    plain("geomspace", 1, 1000, 4),
    plain("geomspace", -2.0, -0.25, 5, endpoint=False, id="negative"),
    Case("geomspace", ends, reference=np.geomspace, id="arrays"),
    Case("geomspace", ends, {"axis": -1}, reference=np.geomspace, id="axis"),
    plain("geomspace", 1, 8, 4, axis=-1, id="axis-numbers"),
    Case(
        "geomspace",
        lambda rng: (-rng.uniform(1, 2, 3), -8.0, 4),
        {"endpoint": False},
        reference=np.geomspace,
        id="below-zero",
    ),
    plain("indices", (2, 3, 4)),
    plain("indices", (2, 3), sparse=True, id="sparse"),
    plain("indices", (2, 3), dtype="float32", id="floating"),
]

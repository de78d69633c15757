"""Cases of `nestarray.ops.gates`; the oracle is torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.cases import Case


def halves(rng: np.random.Generator) -> tuple[Any, ...]:
    """Numbers well away from 0, where the derivative of relu jumps."""
    return (rng.permutation(np.linspace(-2.9, 2.9, 24)).reshape(2, 4, 3),)


def gated(function: Callable[..., Any], **fixed: Any) -> Callable[..., Any]:
    def reference(x: Any, *, axis: int = -1, **_: Any) -> Any:
        value, gate = torch.as_tensor(x).chunk(2, axis)
        return value * function(gate, **fixed)

    return reference


def last(rng: np.random.Generator) -> tuple[Any, ...]:
    return (halves(rng)[0].reshape(3, 8),)


CASES = [
    Case("geglu", last, reference=gated(F.gelu)),
    Case(
        "geglu",
        halves,
        {"axis": 1, "approximate": True},
        gated(F.gelu, approximate="tanh"),
        id="tanh",
    ),
    Case("swiglu", last, reference=gated(F.silu)),
    Case("swiglu", halves, {"axis": 1}, gated(F.silu), id="axis"),
    Case("reglu", last, reference=gated(F.relu)),
    Case("reglu", halves, {"axis": 1}, gated(F.relu), id="axis"),
]

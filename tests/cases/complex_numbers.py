"""Cases of `nestarray.ops.complex_numbers`; the oracle is PyTorch.

The results are complex: ``tests/ops/test_complex_numbers.py`` has the gradients of their parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tests.cases import Case


def in_torch(function: Any) -> Any:
    def call(*arrays: np.ndarray) -> Any:
        return function(*(torch.asarray(x, dtype=torch.float64) for x in arrays))

    return call


def pair(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.standard_normal((2, 3)), rng.standard_normal(3)


CASES = [
    Case("complex", pair, reference=in_torch(torch.complex), differentiable=False),
    Case(
        "complex",
        lambda rng: (
            np.asarray([-0.0, np.inf, np.nan, 1.0]),
            np.asarray([-0.0, 1.0, 2.0, -np.inf]),
        ),
        reference=in_torch(torch.complex),
        differentiable=False,
        id="infinite",
    ),
    Case(
        "complex",
        lambda rng: (rng.integers(-3, 4, 5), 2.0),
        reference=lambda real, imag: in_torch(torch.complex)(real, np.full(5, imag)),
        differentiable=False,
        id="number",
    ),
    Case("polar", pair, reference=in_torch(torch.polar), differentiable=False),
    Case(
        "view_as_complex",
        lambda rng: (rng.standard_normal((3, 4, 2)),),
        reference=in_torch(torch.view_as_complex),
        differentiable=False,
    ),
    Case(
        "view_as_real",
        lambda rng: (rng.standard_normal((2, 3)) + 1j * rng.standard_normal((2, 3)),),
        reference=lambda x: np.stack([x.real, x.imag], -1),
        differentiable=False,
    ),
]

"""Cases of `nestarray.ops.matrices`; the oracles are NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from tests.cases import Case


def of(*shape: int) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda rng: (rng.standard_normal(shape),)


def filled(x: np.ndarray, value: Any) -> np.ndarray:
    x = x.copy()
    np.fill_diagonal(x, value)
    return x


CASES = [
    Case("tri", lambda rng: (3,), reference=np.tri, differentiable=False),
    Case(
        "tri",
        lambda rng: (2, 4),
        {"k": 1, "dtype": "int32"},
        reference=np.tri,
        differentiable=False,
        dtype="int32",
        id="wide",
    ),
    Case("diag", of(3), reference=np.diag),
    Case("diag", of(3), {"k": 2}, reference=np.diag, id="above"),
    Case("diag", of(2), {"k": -1}, reference=np.diag, id="below"),
    Case("diag", of(3, 4), {"k": 1}, reference=np.diag, id="matrix"),
    Case(
        "diag",
        lambda rng: (np.asarray([np.nan, np.inf, 1.0]),),
        reference=np.diag,
        differentiable=False,
        id="nan",
    ),
    Case("diagflat", of(2, 2), {"k": -1}, reference=np.diagflat),
    Case("fill_diagonal", lambda rng: (rng.standard_normal((3, 4)), 2.0), reference=filled),
    Case(
        "fill_diagonal",
        lambda rng: (rng.standard_normal((3, 3, 3)), rng.standard_normal(3)),
        reference=filled,
        id="vector",
    ),
    Case("vander", of(3), reference=np.vander),
    Case("vander", of(3), {"N": 4, "increasing": True}, reference=np.vander, id="increasing"),
    Case("vander", of(3), {"N": 0}, reference=np.vander, differentiable=False, id="none"),
    Case(
        "vander",
        lambda rng: (np.asarray([0, 2, -3], "int32"),),
        reference=np.vander,
        differentiable=False,
        id="integers",
    ),
    Case(
        "block_diag",
        lambda rng: ([rng.standard_normal(s) for s in ((2, 1), (3,), (1, 2))],),
        reference=lambda arrays: scipy.linalg.block_diag(*arrays),
    ),
]

"""Cases of `nestarray.ops.conversion`; the oracle is NumPy."""

from __future__ import annotations

import numpy as np

from tests.cases import Case
from tests.cases.creation import plain

CASES = [
    plain("asarray", [[1.0, 2.0], [3.0, 4.0]]),
    plain("asarray", [1, 2, 3], id="int"),
    plain("asarray", [True, False], id="bool"),
    plain("asarray", 2.5, id="number"),
    plain("asarray", [1 + 2j], id="complex"),
    plain("asarray", [], id="empty"),
    plain("asarray", [1, 2], kwargs={"dtype": "float64"}, dtype="float64", id="cast"),
    Case("asarray", lambda rng: (rng.normal(size=(2, 3)),), reference=np.asarray, id="array"),
    Case(
        "asarray",
        lambda rng: ([rng.normal(size=(3,)), rng.normal(size=(3,))],),
        reference=np.asarray,
        id="arrays",
    ),
    Case(
        "from_dlpack",
        lambda rng: (rng.normal(size=(2, 3)),),
        reference=np.asarray,
        differentiable=False,
        jit=False,
    ),
    # an array of the case would be one of the backend: tests/ops/test_at.py has NumPy's
    plain("from_numpy", np.float32(2.5), reference=np.asarray),
]

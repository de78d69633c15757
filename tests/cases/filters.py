"""Cases of `nestarray.ops.filters`; the oracles are NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tests.cases import Case

WINDOWS = {
    "bartlett": torch.bartlett_window,
    "blackman": torch.blackman_window,
    "hamming": torch.hamming_window,
    "hanning": torch.hann_window,
    "kaiser": torch.kaiser_window,
}


def window(op: str, n: int, id: str = "", **settings: Any) -> Case:
    def reference(n: int, **settings: Any) -> Any:
        settings.pop("dtype", None)
        return WINDOWS[op](n, **{"periodic": False, **settings}, dtype=torch.float64)

    own = {"beta": 4.5} if op == "kaiser" else {}
    return Case(
        op,
        lambda rng: (n,),
        {**own, **settings},
        reference=reference,
        differentiable=False,
        dtypes=("float32",),
        dtype=settings.get("dtype"),
        id=id,
    )


def two(n: int, m: int) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda rng: (rng.standard_normal(n), rng.standard_normal(m))


def two_complex(rng: np.random.Generator) -> tuple[Any, ...]:
    return tuple(rng.standard_normal(n) + 1j * rng.standard_normal(n) for n in (5, 3))


def two_integers(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.integers(-5, 6, 4), rng.integers(-5, 6, 6)


CASES = [
    *(
        case
        for op in WINDOWS
        for case in (
            window(op, 7),
            window(op, 6, "periodic", periodic=True),
            window(op, 5, "float64", dtype="float64"),
            window(op, 1, "one", periodic=True),
            window(op, 0, "none"),
        )
    ),
    *(
        case
        for op in ("convolve", "correlate")
        for function in (getattr(np, op),)
        for case in (
            Case(op, two(6, 3), reference=function),
            Case(op, two(3, 6), {"mode": "full"}, reference=function, id="full"),
            Case(op, two(4, 5), {"mode": "same"}, reference=function, id="same"),
            Case(op, two(6, 4), {"mode": "same"}, reference=function, id="same-even"),
            Case(op, two(2, 5), {"mode": "valid"}, reference=function, id="valid"),
            Case(op, two_complex, {"mode": "full"}, reference=function, differentiable=False, id="complex"),
            Case(op, two_integers, {"mode": "same"}, reference=function, differentiable=False, id="int"),
        )
    ),
]  # fmt: skip

"""Cases of `nestarray.ops.resampling`; the oracle is SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.ndimage

from tests.cases import Case

Rng = np.random.Generator


def places(*shape: int, beyond: float) -> Callable[[Rng], tuple[Any, ...]]:
    """An array and places up to so far beyond its ends, none in the middle or at an element."""

    def draw(rng: Rng) -> tuple[Any, ...]:
        sizes = np.asarray(shape)[:, None]
        at = rng.uniform(-beyond, sizes - 1 + beyond, (len(shape), 200))
        clear = (np.abs(2 * at - np.round(2 * at)) > 0.1).all(axis=0)
        return rng.standard_normal(shape), at[:, clear][:, :24].reshape(len(shape), 4, 6)

    return draw


def reference(x: Any, at: Any, *, order: int = 1, mode: str = "constant", cval: float = 0.0) -> Any:
    """SciPy calls our constants, between which and the elements there is interpolation, so."""
    mode = {"constant": "grid-constant", "wrap": "grid-wrap"}.get(mode, mode)
    return scipy.ndimage.map_coordinates(x, at, order=order, mode=mode, cval=cval)


CASES = [
    Case("map_coordinates", places(4, 5, beyond=2.0), {"cval": 0.5}, reference=reference),
    Case("map_coordinates", places(5, beyond=1.5), reference=reference, id="line"),
    Case("map_coordinates", places(2, 3, 4, beyond=0.0), reference=reference, id="volume"),
    *(
        Case("map_coordinates", places(4, 3, beyond=6.0), {"mode": mode}, reference=reference, id=mode)
        for mode in ("nearest", "wrap", "mirror", "reflect")
    ),
    Case(
        "map_coordinates",
        places(4, 3, beyond=3.0),
        {"order": 0, "mode": "reflect"},
        reference=reference,
        id="nearest-element",
    ),
    Case(
        "map_coordinates",
        lambda rng: (rng.integers(-9, 9, (3, 3)), rng.uniform(0, 2, (2, 5))),
        reference=lambda x, at: reference(x.astype(float), at),
        differentiable=False,
        id="int",
    ),
]  # fmt: skip

"""Cases of `nestarray.ops.arrangement`; the oracles are NumPy and, for `chunk`, PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tests.cases import Case


def of(*shape: int) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda rng: (rng.standard_normal(shape),)


def several(*shapes: tuple[int, ...]) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda rng: ([rng.standard_normal(shape) for shape in shapes],)


def cut(where: Any, *shape: int) -> Callable[[np.random.Generator], tuple[Any, ...]]:
    return lambda rng: (rng.standard_normal(shape), where)


def parts(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: tuple(function(*args, **kwargs))


def chunks(x: np.ndarray, count: int, axis: int = 0) -> Any:
    return tuple(torch.chunk(torch.asarray(x), count, axis))


def margins(rng: np.random.Generator) -> tuple[Any, ...]:
    x = np.zeros((4, 6))
    x[1:3, 2] = rng.uniform(1, 2, 2)
    x[2, 4] = 1.0
    return (x,)


def trimmed(id: str, args: Any = margins, **settings: Any) -> Case:
    # where the zeros are decides the shape: a step to either side would change it
    return Case(
        "trim_zeros",
        args,
        settings,
        reference=np.trim_zeros,
        differentiable=False,
        jit=False,
        id=id,
    )


CASES = [
    Case("atleast_1d", of(), reference=np.atleast_1d),
    Case("atleast_2d", of(), reference=np.atleast_2d, id="0d"),
    Case("atleast_2d", of(3), reference=np.atleast_2d),
    Case("atleast_3d", of(3), reference=np.atleast_3d),
    Case("atleast_3d", of(3, 2), reference=np.atleast_3d, id="matrix"),
    Case("hstack", several((2,), (3,), ()), reference=np.hstack),
    Case("hstack", several((2, 1), (2, 3)), reference=np.hstack, id="matrices"),
    Case("vstack", several((3,), (2, 3)), reference=np.vstack),
    Case("dstack", several((3,), (1, 3), (1, 3, 2)), reference=np.dstack),
    Case("column_stack", several((3,), (3, 2)), reference=np.column_stack),
    Case("chunk", cut(4, 9, 2), reference=chunks),
    Case("chunk", cut(2, 3, 5), {"axis": -1}, reference=chunks, id="axis"),
    Case("chunk", cut(2, 0, 3), reference=chunks, differentiable=False, id="empty"),
    Case("hsplit", cut(2, 3, 4), reference=parts(np.hsplit)),
    Case("hsplit", cut([1, 3], 5), reference=parts(np.hsplit), id="vector"),
    Case("vsplit", cut([1, 2], 4, 2), reference=parts(np.vsplit)),
    Case("dsplit", cut(3, 2, 2, 6), reference=parts(np.dsplit)),
    Case("rot90", of(2, 3), reference=np.rot90),
    Case("rot90", of(2, 3, 4), {"k": -1, "axes": (0, -1)}, reference=np.rot90, id="back"),
    Case("rot90", of(2, 3, 4), {"k": 2, "axes": (2, 1)}, reference=np.rot90, id="half"),
    trimmed(""),
    trimmed("front", trim="f", axis=1),
    trimmed("zeros", lambda rng: (np.zeros(4, "int32"),)),
]

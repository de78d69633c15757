"""Cases of `nestarray.ops.pooling`; the oracle is torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator


def draw(*shape: int) -> Callable[[Rng], tuple[Any, ...]]:
    """Distinct numbers, well apart: where two are equal the maximum has no derivative."""

    def args(rng: Rng) -> tuple[Any, ...]:
        size = int(np.prod(shape))
        return (rng.permutation(np.linspace(-2.0, 3.0, size)).reshape(shape),)

    return args


def integers(rng: Rng) -> tuple[Any, ...]:
    return (rng.permutation(20).reshape(1, 2, 10) - 30,)


def by_torch(op: str) -> Callable[..., Any]:
    """torch's function of the op's name, which has the op's settings."""

    def reference(x: Any, **settings: Any) -> Any:
        return getattr(F, op)(torch.as_tensor(x), **settings)

    return reference


def padded_first(op: str, pads: tuple[int, ...], fill: float) -> Callable[..., Any]:
    """torch's function after a padding that it has not itself."""

    def reference(x: Any, *, padding: Any, **settings: Any) -> Any:
        return getattr(F, op)(F.pad(torch.as_tensor(x), pads, value=fill), **settings)

    return reference


def largest_of_three(x: Any, **_: Any) -> Any:
    """By NumPy: torch pools no integers."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1)), constant_values=-100)
    return np.lib.stride_tricks.sliding_window_view(padded, 3, axis=2).max(axis=-1)


def avg_pool1d_by_sum(x: Any, *, divisor_override: int, kernel_size: int, **_: Any) -> Any:
    return F.avg_pool1d(torch.as_tensor(x), kernel_size) * kernel_size / divisor_override


def pool(id: str, args: Callable[..., Any], reference: Any = None, **kwargs: Any) -> Case:
    op, _, rest = id.partition("-")
    return Case(op, args, kwargs, reference or by_torch(op), id=rest)


ONE, TWO, THREE = draw(2, 3, 9), draw(2, 3, 7, 6), draw(1, 2, 4, 5, 4)

CASES = [
    pool("max_pool1d", ONE, kernel_size=3),
    pool("max_pool1d-settings", ONE, kernel_size=3, stride=2, padding=1, ceil_mode=True),
    pool("max_pool1d-dilation", ONE, kernel_size=2, stride=2, padding=1, dilation=3),
    Case("max_pool1d", integers, {"kernel_size": 3, "stride": 1, "padding": "same"},
         largest_of_three, differentiable=False, id="integers"),
    pool("max_pool2d", TWO, kernel_size=2),
    pool("max_pool2d-settings", TWO, kernel_size=(3, 2), stride=(2, 1), padding=(1, 0)),
    pool("max_pool2d-ceil", TWO, kernel_size=2, stride=2, padding=1, ceil_mode=True),
    pool("max_pool2d-dilation", TWO, kernel_size=2, stride=1, dilation=(2, 3), ceil_mode=True),
    pool("max_pool2d-ceil-larger", TWO, kernel_size=(40, 3), stride=(80, 2), dilation=(2, 1),
         padding=(1, 0), ceil_mode=True),
    pool("max_pool2d-pairs", TWO, padded_first("max_pool2d", (0, 1, 2, 0), -np.inf),
         kernel_size=3, stride=2, padding=((2, 0), (0, 1))),
    pool("max_pool3d", THREE, kernel_size=2),
    pool("max_pool3d-settings", THREE, kernel_size=(2, 3, 2), stride=(1, 2, 2), padding=1,
         ceil_mode=True),
    pool("avg_pool1d", ONE, kernel_size=3),
    pool("avg_pool1d-settings", ONE, kernel_size=4, stride=3, padding=2, ceil_mode=True),
    pool("avg_pool1d-divisor", ONE, avg_pool1d_by_sum, kernel_size=3, divisor_override=2),
    pool("avg_pool2d", TWO, kernel_size=2),
    pool("avg_pool2d-padding", TWO, kernel_size=3, stride=2, padding=1),
    pool("avg_pool2d-inside", TWO, kernel_size=3, stride=2, padding=1, count_include_pad=False),
    pool("avg_pool2d-ceil", TWO, kernel_size=(2, 3), stride=(2, 2), padding=(1, 1),
         ceil_mode=True),
    pool("avg_pool2d-ceil-inside", TWO, kernel_size=3, stride=2, padding=1, ceil_mode=True,
         count_include_pad=False),
    pool("avg_pool2d-ceil-larger", TWO, kernel_size=400, stride=400, padding=(1, 0),
         ceil_mode=True),
    pool("avg_pool2d-divisor", TWO, kernel_size=2, stride=1, divisor_override=3),
    pool("avg_pool2d-pairs", TWO, padded_first("avg_pool2d", (0, 1, 2, 0), 0.0),
         kernel_size=3, stride=2, padding=((2, 0), (0, 1))),
    pool("avg_pool3d", THREE, kernel_size=2),
    pool("avg_pool3d-settings", THREE, kernel_size=(2, 3, 2), stride=(1, 2, 2), padding=1,
         ceil_mode=True, count_include_pad=False),
    *(
        pool(f"adaptive_{kind}_pool{count}d-{id}", args, output_size=size)
        for kind in ("avg", "max")
        for count, id, args, size in (
            (1, "one", ONE, 1),
            (1, "parts", ONE, 3),
            (1, "overlapping", ONE, 4),
            (2, "one", TWO, 1),
            (2, "parts", TWO, (7, 3)),
            (2, "overlapping", TWO, (3, 4)),
            (2, "larger", TWO, (9, None)),
            (3, "overlapping", THREE, (3, 2, 1)),
        )
    ),
]  # fmt: skip

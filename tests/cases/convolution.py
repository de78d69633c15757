"""Cases of `nestarray.ops.convolution`; the oracle is torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator


def draw(x: tuple[int, ...], weight: tuple[int, ...], bias: int = 0) -> Callable[..., Any]:
    """x and a kernel of these shapes, and a bias if its size is given."""

    def args(rng: Rng) -> tuple[Any, ...]:
        arrays = rng.normal(size=x), rng.normal(size=weight)
        return (*arrays, rng.normal(size=bias)) if bias else arrays

    return args


def _pairs(padding: Any, count: int) -> list[tuple[int, int]]:
    padding = (padding,) * count if isinstance(padding, int) else padding
    return [(p, p) if isinstance(p, int) else p for p in padding]


def convolution(x: Any, weight: Any, bias: Any = None, *, padding: Any = 0, **settings: Any) -> Any:
    count = x.ndim - 2
    native = getattr(F, f"conv{count}d")
    tensors = [torch.as_tensor(x), torch.as_tensor(weight)]
    bias = None if bias is None else torch.as_tensor(bias)
    if padding == "same":
        # the definition: ⌈size / stride⌉ windows, the odd zero after
        stride, dilation = settings.get("stride", 1), settings.get("dilation", 1)
        totals = [
            max((-(-n // stride) - 1) * stride + dilation * (k - 1) + 1 - n, 0)
            for n, k in zip(x.shape[2:], weight.shape[2:])
        ]
        padding = [(t // 2, t - t // 2) for t in totals]
    if not isinstance(padding, str):
        flat = [n for pair in reversed(_pairs(padding, count)) for n in pair]
        tensors[0], padding = F.pad(tensors[0], flat), 0
    return native(*tensors, bias, padding=padding, **settings)


def transposed(x: Any, weight: Any, bias: Any = None, *, padding: Any = 0, **settings: Any) -> Any:
    count = x.ndim - 2
    native = getattr(F, f"conv_transpose{count}d")
    bias = None if bias is None else torch.as_tensor(bias)
    if padding == "valid":
        padding = 0
    pairs = _pairs(padding, count)
    if all(low == high for low, high in pairs):
        padding = [low for low, _ in pairs]
        return native(
            torch.as_tensor(x), torch.as_tensor(weight), bias, padding=padding, **settings
        )
    out = native(torch.as_tensor(x), torch.as_tensor(weight), bias, **settings)
    return out[(..., *(slice(low, n - high) for n, (low, high) in zip(out.shape[2:], pairs)))]


def unfold(x: Any, **settings: Any) -> Any:
    return F.unfold(torch.as_tensor(x), **settings)


def unfold1d(x: Any, *, kernel_size: int, **settings: Any) -> Any:
    return F.unfold(torch.as_tensor(x)[:, :, None], (1, kernel_size), **settings)


def fold(x: Any, **settings: Any) -> Any:
    return F.fold(torch.as_tensor(x), **settings)


def conv(id: str, args: Callable[..., Any], **kwargs: Any) -> Case:
    op, _, rest = id.partition("-")
    return Case(op, args, kwargs, transposed if "transpose" in op else convolution, id=rest)


ONE = draw((2, 3, 8), (4, 3, 3), 4)
TWO = draw((2, 4, 6, 5), (6, 4, 3, 2), 6)
THREE = draw((1, 2, 4, 4, 5), (3, 2, 2, 3, 2), 3)

CASES = [
    conv("conv1d", ONE),
    conv("conv1d-settings", ONE, stride=2, padding=1, dilation=2),
    conv("conv1d-groups", draw((2, 4, 7), (6, 2, 3)), groups=2),
    conv("conv1d-depthwise", draw((2, 4, 7), (8, 1, 3), 8), groups=4, stride=(2,)),
    conv("conv1d-same", draw((2, 3, 8), (4, 3, 4)), padding="same"),
    conv("conv2d", TWO),
    conv("conv2d-pointwise", draw((2, 4, 3, 3), (5, 4, 1, 1))),
    conv("conv2d-settings", TWO, stride=(2, 1), padding=(1, 2), dilation=(1, 2)),
    conv("conv2d-dilated", TWO, stride=2, padding=2, dilation=2),
    conv("conv2d-groups", draw((2, 4, 6, 5), (6, 2, 3, 3), 6), groups=2, padding=1),
    conv("conv2d-depthwise", draw((2, 4, 6, 5), (4, 1, 3, 3), 4), groups=4, padding=1),
    conv("conv2d-multiplier", draw((2, 3, 6, 6), (6, 1, 3, 3)), groups=3, stride=2, dilation=2),
    conv("conv2d-uneven", draw((2, 3, 6, 6), (3, 1, 2, 3)), groups=3, stride=(1, 2)),
    conv("conv2d-same", draw((2, 3, 6, 5), (4, 3, 2, 3)), padding="same", dilation=2),
    conv("conv2d-same-stride", draw((2, 3, 7, 6), (4, 3, 3, 3)), padding="same", stride=2),
    conv("conv2d-valid", TWO, padding="valid"),
    conv("conv2d-pairs", TWO, padding=((0, 1), (2, 1)), stride=2),
    conv("conv3d", THREE),
    conv("conv3d-settings", THREE, stride=(1, 2, 1), padding=(1, 1, 2), dilation=(2, 1, 2)),
    conv("conv3d-groups", draw((1, 4, 3, 4, 3), (4, 2, 2, 2, 2)), groups=2),
    conv("conv_transpose1d", draw((2, 3, 5), (3, 4, 3), 4)),
    conv(
        "conv_transpose1d-settings",
        draw((2, 3, 5), (3, 4, 3), 4),
        stride=3,
        padding=1,
        output_padding=2,
        dilation=2,
    ),
    conv("conv_transpose2d", draw((2, 3, 4, 3), (3, 2, 3, 2), 2)),
    conv(
        "conv_transpose2d-settings",
        draw((2, 3, 4, 3), (3, 2, 3, 2), 2),
        stride=(2, 3),
        padding=(1, 0),
        output_padding=(1, 2),
        dilation=(2, 1),
    ),
    conv(
        "conv_transpose2d-groups",
        draw((2, 4, 4, 3), (4, 3, 3, 2), 6),
        groups=2,
        stride=2,
        padding=1,
    ),
    conv(
        "conv_transpose2d-pairs",
        draw((2, 3, 4, 3), (3, 2, 3, 3)),
        stride=2,
        padding=((0, 1), (2, 1)),
    ),
    conv("conv_transpose2d-valid", draw((2, 3, 4, 3), (3, 2, 3, 3)), padding="valid"),
    conv("conv_transpose3d", draw((1, 2, 2, 3, 2), (2, 3, 2, 2, 3), 3), stride=2),
    conv("conv_transpose3d-small", draw((1, 2, 2, 3, 2), (2, 3, 2, 2, 3)), stride=2, padding=1),
    conv(
        "conv_transpose3d-settings",
        draw((1, 2, 3, 3, 2), (2, 3, 2, 2, 3)),
        stride=(1, 2, 2),
        padding=1,
        output_padding=(0, 1, 0),
        dilation=(2, 1, 1),
    ),
    Case("unfold", lambda rng: (rng.normal(size=(2, 3, 5, 4)),), {"kernel_size": (3, 2)}, unfold),
    Case(
        "unfold",
        lambda rng: (rng.normal(size=(2, 3, 5, 6)),),
        {"kernel_size": 2, "stride": 2, "padding": 1, "dilation": 2},
        unfold,
        id="settings",
    ),
    Case(
        "unfold",
        lambda rng: (rng.normal(size=(2, 3, 6)),),
        {"kernel_size": 3, "stride": 2},
        unfold1d,
        id="line",
    ),
    Case(
        "fold",
        lambda rng: (rng.normal(size=(2, 12, 12)),),
        {"output_size": (5, 4), "kernel_size": 2},
        fold,
    ),
    Case(
        "fold",
        lambda rng: (rng.normal(size=(2, 12, 9)),),
        {"output_size": (5, 6), "kernel_size": 2, "stride": 2, "padding": 1, "dilation": 2},
        fold,
        id="settings",
    ),
]

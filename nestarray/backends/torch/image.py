"""PyTorch: `nestarray.ops.image`."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

from nestarray.backends.base import supports
from nestarray.backends.torch.integers import by_bits

_SPELLING = {
    ("linear", 3): "linear",
    ("linear", 4): "bilinear",
    ("linear", 5): "trilinear",
    ("bilinear", 4): "bilinear",
    ("trilinear", 5): "trilinear",
    ("cubic", 4): "bicubic",
    ("bicubic", 4): "bicubic",
    **{(mode, n): mode for mode in ("nearest", "nearest-exact", "area") for n in (3, 4, 5)},
}


def _is_native(
    x: Any,
    /,
    *,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    antialias: bool = False,
    data_format: str = "channels_first",
) -> bool:
    spelling = _SPELLING.get((mode, x.ndim))
    if (
        data_format != "channels_first"
        or not (x.is_floating_point() or x.dtype is torch.uint8)
        or spelling is None
        or not x.shape[1]
        or (size is None) == (scale_factor is None)
    ):
        return False
    if antialias and x.is_cpu and x.itemsize < 4:  # no kernel for half precision
        return False
    return not antialias or spelling in ("bilinear", "bicubic")


@supports(_is_native)
def interpolate(
    x: Any,
    /,
    *,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    antialias: bool = False,
    data_format: str = "channels_first",
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html"""
    mode = _SPELLING[mode, x.ndim]
    corners = align_corners if mode.endswith(("linear", "cubic")) else None
    return F.interpolate(x, size, scale_factor, mode, corners, antialias=antialias)


@supports(
    lambda x, *, upscale_factor, data_format="channels_first": (
        data_format == "channels_first" and x.shape[-3] % upscale_factor**2 == 0
    )
)
@by_bits
def pixel_shuffle(x: Any, /, *, upscale_factor: int, data_format: str = "channels_first") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_shuffle.html"""
    return F.pixel_shuffle(x, upscale_factor)


@supports(
    lambda x, *, downscale_factor, data_format="channels_first": (
        data_format == "channels_first"
        and x.shape[-1] % downscale_factor == 0
        and x.shape[-2] % downscale_factor == 0
        and x.numel() > 0  # torch keeps the shape of an empty image
    )
)
@by_bits
def pixel_unshuffle(
    x: Any, /, *, downscale_factor: int, data_format: str = "channels_first"
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.pixel_unshuffle.html"""
    return F.pixel_unshuffle(x, downscale_factor)


@supports(
    lambda x, grid, *, mode="bilinear", padding_mode="zeros", align_corners=False: (
        x.ndim == grid.ndim
        and (
            (x.ndim == 4 and mode in ("bilinear", "nearest", "bicubic"))
            or (x.ndim == 5 and mode in ("bilinear", "nearest"))
        )
        and padding_mode in ("zeros", "border", "reflection")
    )
)
def grid_sample(
    x: Any,
    grid: Any,
    /,
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html"""
    return F.grid_sample(x, grid, mode, padding_mode, align_corners)

"""Images and margins, https://docs.pytorch.org/docs/stable/nn.functional.html#vision-functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import ndim_of, shape_of
from nestarray.frontends.torch.promotion import expect_one_dtype
from nestarray.typing import Array

__all__ = [
    "affine_grid", "channel_shuffle", "grid_sample", "interpolate", "pad", "pixel_shuffle",
    "pixel_unshuffle", "upsample", "upsample_bilinear", "upsample_nearest",
]  # fmt: skip

_MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def pad(
    input: Array, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Array:
    """Margins before and after, the last dimension first; negative ones cut.

    "constant", "reflect", "replicate" or "circular".
    """
    ndim = ndim_of(input)
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    margins = [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]
    if mode != "constant" and mode not in _MODES:
        raise ArgumentError(
            f"pad: mode: got {mode!r}, expected 'constant', 'reflect', 'replicate' or 'circular'"
        )
    inner = [(min(before, 0), min(after, 0)) for before, after in margins]
    outer = [(max(before, 0), max(after, 0)) for before, after in margins]
    # Upstream cuts first where the margin comes from the other end, and last elsewhere.
    if mode == "circular":
        return _widened(_cut(input, inner), outer, mode, value)
    return _cut(_widened(input, outer, mode, value), inner)


def _cut(x: Array, margins: Sequence[tuple[int, int]]) -> Array:
    if all(isinstance(n, int) and n == 0 for pair in margins for n in pair):
        return x
    kept = tuple(slice(-a, n + b) for (a, b), n in zip(margins, shape_of(x)))
    return na.getitem(x, kept)


def _widened(x: Array, margins: Sequence[tuple[int, int]], mode: str, value: float | None) -> Array:
    if all(isinstance(n, int) and n == 0 for pair in margins for n in pair):
        return x
    if mode != "constant":
        return na.pad(x, margins, mode=_MODES[mode])
    fill = 0 if value is None else value
    fill = bool(fill) if dtypes.dtype_of(x) is dtypes.bool else fill
    return na.pad(x, margins, constant_values=fill)


def interpolate(
    input: Array,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Array:
    """`(n, c, *spatial)` in another size."""
    if scale_factor is not None and recompute_scale_factor:
        spatial = shape_of(input)[2:]
        factors = (
            (scale_factor,) * len(spatial)
            if isinstance(scale_factor, (int, float))
            else tuple(scale_factor)
        )
        size = tuple(int(n * factor) for n, factor in zip(spatial, factors))
        scale_factor = None
    if dtypes.dtype_of(input) is dtypes.uint8 and mode in ("bilinear", "bicubic"):
        return _interpolated_bytes(input, size, scale_factor, mode, bool(align_corners), antialias)
    return na.interpolate(
        input,
        size=size,
        scale_factor=scale_factor,
        mode=mode,
        align_corners=bool(align_corners),
        antialias=antialias,
    )


def _interpolated_bytes(
    x: Array,
    size: int | Sequence[int] | None,
    scale_factor: float | Sequence[float] | None,
    mode: str,
    align_corners: bool,
    antialias: bool,
) -> Array:
    """Columns first and then rows, each rounded to a byte, as upstream does."""
    height, _ = shape_of(x)[2:]
    sizes = (size, size) if isinstance(size, int) else size
    factors = (scale_factor,) * 2 if isinstance(scale_factor, (int, float)) else scale_factor
    for axis in (1, 0):
        given: dict[str, Any] = {}
        if sizes is not None:
            given["size"] = sizes if axis == 0 else (height, sizes[1])
        elif factors is not None:
            given["scale_factor"] = (factors[0], 1.0) if axis == 0 else (1.0, factors[1])
        x = na.interpolate(
            na.astype(x, dtypes.float32),
            mode=mode,
            align_corners=align_corners,
            antialias=antialias,
            **given,
        )
        x = na.astype(na.clip(na.floor(na.add(x, 0.5)), 0.0, 255.0), dtypes.uint8)
    return x


def upsample(
    input: Array,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Array:
    """`interpolate`."""
    return interpolate(input, size, scale_factor, mode, align_corners)


def pixel_shuffle(input: Array, upscale_factor: int) -> Array:
    """`(*, c · r², h, w)` → `(*, c, h · r, w · r)`."""
    return na.pixel_shuffle(input, upscale_factor=upscale_factor)


def pixel_unshuffle(input: Array, downscale_factor: int) -> Array:
    """`(*, c, h · r, w · r)` → `(*, c · r², h, w)`."""
    return na.pixel_unshuffle(input, downscale_factor=downscale_factor)


def channel_shuffle(input: Array, groups: int) -> Array:
    """The channels `(g, c)` as `(c, g)`."""
    return na.channel_shuffle(input, groups=groups)


def affine_grid(theta: Array, size: Sequence[int], align_corners: bool | None = None) -> Array:
    """The sampling grid of an affine map for an image of `size`."""
    return na.affine_grid(theta, size=tuple(size), align_corners=bool(align_corners))


def grid_sample(
    input: Array,
    grid: Array,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Array:
    """Sample an image at the points of a grid."""
    expect_one_dtype("grid_sample", input, grid=grid)
    return na.grid_sample(
        input, grid, mode=mode, padding_mode=padding_mode, align_corners=bool(align_corners)
    )


def constant_pad_nd(input: Array, pad: Sequence[int], value: float = 0) -> Array:
    """torch.constant_pad_nd: margins of one number, the last dimension first."""
    return _with_margins(input, pad, value=value)


def upsample_nearest(
    input: Array,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Array:
    """`interpolate` to the nearest element."""
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(
    input: Array,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Array:
    """`interpolate` with aligned corners."""
    return interpolate(input, size, scale_factor, "bilinear", True)


_with_margins = pad

"""Cases of `nestarray.ops.image`; the oracle is torch.nn.functional."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.image
import numpy as np
import torch
import torch.nn.functional as F

from tests.cases import Case

Rng = np.random.Generator
Draw = Callable[[Rng], tuple[Any, ...]]


def draw(*shape: int) -> Draw:
    return lambda rng: (rng.normal(size=shape),)


def sampled(rng: Rng) -> tuple[Any, ...]:
    """An image and points, a part of them outside, none near a jump of the derivative."""
    points = rng.uniform(-1.7, 1.7, (1000, 2))
    sizes = np.asarray([5, 4])
    clear = np.ones(len(points), bool)
    for positions in ((points + 1) * (sizes - 1) / 2, (points + 1) * sizes / 2 - 0.5):
        clear &= (np.abs(2 * positions - np.round(2 * positions)) > 0.1).all(axis=-1)
    return rng.normal(size=(2, 3, 4, 5)), points[clear][:24].reshape(2, 3, 4, 2)


def sampled_volume(rng: Rng) -> tuple[Any, ...]:
    """A volume and points inside it and outside, none near a jump of the derivative."""
    sizes = np.asarray([4, 3, 5])
    points = rng.uniform(-1.5, 1.5, (1000, 3))
    positions = (points + 1) * sizes / 2 - 0.5
    clear = (np.abs(2 * positions - np.round(2 * positions)) > 0.1).all(axis=-1)
    return rng.normal(size=(2, 2, 5, 3, 4)), points[clear][:12].reshape(2, 3, 1, 2, 3)


def interpolate(x: Any, *, mode: str = "nearest", align_corners: bool = False, **settings: Any):
    x, count = torch.as_tensor(x), x.ndim - 2
    mode = {("linear", 2): "bilinear", ("linear", 3): "trilinear", ("cubic", 2): "bicubic"}.get(
        (mode, count), mode
    )
    corners = align_corners if mode.endswith(("linear", "cubic")) else None
    return F.interpolate(x, mode=mode, align_corners=corners, **settings)


def by_torch(op: str, **renamed: str) -> Callable[..., Any]:
    def reference(*arrays: Any, **settings: Any) -> Any:
        settings = {renamed.get(k, k): v for k, v in settings.items()}
        return getattr(F, op)(*map(torch.as_tensor, arrays), **settings)

    return reference


def last(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reference around which the channels, the last axis of x, are moved."""

    def reference(x: Any, *, data_format: str, **settings: Any) -> Any:
        assert data_format == "channels_last"
        return function(torch.as_tensor(x).movedim(-1, 1), **settings).movedim(1, -1)

    return reference


def affine_grid(theta: Any, *, size: Any, align_corners: bool = False) -> Any:
    return F.affine_grid(torch.as_tensor(theta), list(size), align_corners)


def resized(id: str, args: Draw, **kwargs: Any) -> Case:
    return Case("interpolate", args, kwargs, interpolate, id=id)


def by_jax(id: str, **settings: Any) -> Case:
    mode = id.partition("-")[0]

    def reference(x: Any, *, size: Any, antialias: bool = False, **_: Any) -> Any:
        with jax.enable_x64(True):
            shape = (*x.shape[:2], *size)
            return np.asarray(jax.image.resize(x, shape, mode, antialias=antialias))

    return Case("interpolate", draw(2, 3, 5, 4), {"mode": mode, **settings}, reference, id=id)


def by_tensorflow(id: str, **settings: Any) -> Case:
    mode = id.removesuffix("-antialias")

    def reference(x: Any, *, size: Any, antialias: bool = False, **_: Any) -> Any:
        import tensorflow as tf  # here, since it takes seconds

        last = np.moveaxis(x, 1, -1)
        method = mode.removeprefix("tf-")
        return np.moveaxis(tf.image.resize(last, size, method, antialias=antialias).numpy(), -1, 1)

    settings = {"mode": mode, **settings}
    # TensorFlow resizes to float32
    return Case("interpolate", draw(2, 3, 5, 4), settings, reference, dtypes=("float32",), id=id)


ONE, TWO, THREE = draw(2, 3, 5), draw(2, 3, 5, 4), draw(1, 2, 3, 4, 2)

CASES = [
    resized("", TWO, size=(8, 6)),
    resized("nearest-line", ONE, size=7),
    resized("nearest-smaller", TWO, size=(2, 3)),
    resized("nearest-scale", TWO, scale_factor=2.3),
    resized("nearest-space", THREE, scale_factor=(2, 1, 3)),
    resized("exact", TWO, size=(8, 3), mode="nearest-exact"),
    resized("linear", ONE, size=8, mode="linear"),
    resized("linear-corners", ONE, size=8, mode="linear", align_corners=True),
    resized("bilinear", TWO, size=(8, 3), mode="bilinear"),
    resized("bilinear-same", TWO, size=(5, 4), mode="bilinear"),
    resized("bilinear-scale", TWO, scale_factor=1.7, mode="linear"),
    resized("bilinear-corners", TWO, size=(8, 1), mode="bilinear", align_corners=True),
    resized("bilinear-antialias", TWO, size=(2, 6), mode="bilinear", antialias=True),
    resized("trilinear", THREE, size=(5, 2, 4), mode="trilinear"),
    resized("trilinear-corners", THREE, size=(5, 2, 4), mode="linear", align_corners=True),
    resized("bicubic", TWO, size=(8, 3), mode="bicubic"),
    resized("bicubic-corners", TWO, size=(3, 7), mode="cubic", align_corners=True),
    resized("bicubic-scale", TWO, scale_factor=(1.7, 0.6), mode="bicubic"),
    resized("bicubic-antialias", TWO, size=(2, 3), mode="bicubic", antialias=True),
    resized("area", TWO, size=(3, 2), mode="area"),
    by_jax("lanczos3", size=(9, 2)),
    by_jax("lanczos5-antialias", size=(3, 7), antialias=True),
    by_tensorflow("tf-area", size=(3, 7)),
    by_tensorflow("tf-bicubic", size=(10, 8)),  # positions that TensorFlow does not round
    by_tensorflow("tf-bicubic-antialias", size=(3, 7), antialias=True),
    by_tensorflow("mitchellcubic", size=(9, 2)),
    by_tensorflow("mitchellcubic-antialias", size=(2, 3), antialias=True),
    by_tensorflow("gaussian", size=(9, 2)),
    by_tensorflow("gaussian-antialias", size=(2, 3), antialias=True),
    *[
        Case(
            "interpolate",
            draw(2, 5, 4, 3),
            {"size": (7, 3), "mode": mode, "data_format": "channels_last"},
            last(interpolate),
            id=f"last-{mode}",
        )
        for mode in ("nearest", "bilinear", "area")
    ],
    Case("pixel_shuffle", draw(2, 8, 2, 3), {"upscale_factor": 2}, by_torch("pixel_shuffle")),
    Case(
        "pixel_shuffle",
        draw(2, 2, 3, 8),
        {"upscale_factor": 2, "data_format": "channels_last"},
        last(by_torch("pixel_shuffle")),
        id="last",
    ),
    Case("pixel_unshuffle", draw(2, 2, 4, 6), {"downscale_factor": 2}, by_torch("pixel_unshuffle")),
    Case(
        "pixel_unshuffle",
        draw(2, 4, 6, 2),
        {"downscale_factor": 2, "data_format": "channels_last"},
        last(by_torch("pixel_unshuffle")),
        id="last",
    ),
    Case(
        "channel_shuffle",
        draw(2, 6, 2, 3),
        {"groups": 2},
        lambda x, groups: torch.nn.ChannelShuffle(groups)(torch.as_tensor(x)),
    ),
    Case("affine_grid", draw(2, 2, 3), {"size": (2, 3, 4, 5)}, affine_grid),
    Case(
        "affine_grid",
        draw(2, 3, 4),
        {"size": (2, 3, 2, 4, 3), "align_corners": True},
        affine_grid,
        id="space",
    ),
    *(
        Case(
            "grid_sample",
            sampled,
            {"mode": mode, "padding_mode": padding, "align_corners": corners},
            by_torch("grid_sample"),
            differentiable=True if mode == "bilinear" else (0,),
            id=f"{mode}-{padding}" + ("-corners" if corners else ""),
        )
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for corners in (False, True)
    ),
    Case(
        "grid_sample",
        sampled,
        {"mode": "bicubic", "padding_mode": "reflection", "align_corners": False},
        by_torch("grid_sample"),
        id="bicubic",
    ),
    *(
        Case(
            "grid_sample",
            lambda rng, channels=channels, height=height: (
                rng.normal(size=(2, channels, 4, 5)),
                rng.uniform(-1, 1, (2, height, 3, 2)),
            ),
            {"align_corners": False},
            by_torch("grid_sample"),
            id=name,
        )
        for name, channels, height in (("no-channels", 0, 2), ("no-points", 3, 0))
    ),
    Case(
        "grid_sample",
        sampled_volume,
        {"padding_mode": "border", "align_corners": False},
        by_torch("grid_sample"),
        id="volume",
    ),
]

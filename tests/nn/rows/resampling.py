"""Rows of `nestarray.nn.resampling`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("Upsample", lambda nn: nn.Upsample(scale_factor=2), (2, 3, 4)),
    both("Upsample bilinear", lambda nn: nn.Upsample((5, 7), mode="bilinear"), (2, 1, 3, 4)),
    both("Upsample bicubic", lambda nn: nn.Upsample(None, (1.5, 2), "bicubic", True), (2, 1, 3, 4)),
    both(
        "Upsample trilinear",
        lambda nn: nn.Upsample(None, 1.7, "trilinear", False, True),
        (2, 1, 2, 3, 2),
    ),
    both("UpsamplingNearest2d", lambda nn: nn.UpsamplingNearest2d((5, 4)), (2, 1, 3, 4)),
    both("UpsamplingBilinear2d", lambda nn: nn.UpsamplingBilinear2d(scale_factor=2), (2, 1, 3, 4)),
    both("PixelShuffle", lambda nn: nn.PixelShuffle(2), (2, 8, 3, 4)),
    both("PixelUnshuffle", lambda nn: nn.PixelUnshuffle(2), (2, 3, 4, 6)),
    both("ChannelShuffle", lambda nn: nn.ChannelShuffle(2), (2, 6, 3, 2)),
]

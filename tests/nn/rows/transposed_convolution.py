"""Rows of `nestarray.nn.transposed_convolution`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("ConvTranspose1d", lambda nn: nn.ConvTranspose1d(2, 3, 3, 2), (2, 2, 5)),
    both(
        "ConvTranspose1d bare",
        lambda nn: nn.ConvTranspose1d(2, 3, 2, bias=False, dilation=2),
        (2, 2, 5),
    ),
    both(
        "ConvTranspose2d", lambda nn: nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, groups=2), (1, 4, 3, 3)
    ),
    both(
        "ConvTranspose2d axes",
        lambda nn: nn.ConvTranspose2d(4, 2, (3, 2), (2, 1), (1, 0), (1, 0), 2, True, (1, 2)),
        (1, 4, 3, 3),
    ),
    both("ConvTranspose1d unbatched", lambda nn: nn.ConvTranspose1d(2, 3, 3, 2), (2, 5)),
    both("ConvTranspose2d unbatched", lambda nn: nn.ConvTranspose2d(2, 3, 3, 2), (2, 3, 3)),
    both("ConvTranspose3d unbatched", lambda nn: nn.ConvTranspose3d(1, 2, 2, 2), (1, 2, 3, 2)),
    both("ConvTranspose3d", lambda nn: nn.ConvTranspose3d(1, 2, 2, 2), (2, 1, 2, 3, 2)),
]

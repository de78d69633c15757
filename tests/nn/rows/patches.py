"""Rows of `nestarray.nn.patches`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("Unfold", lambda nn: nn.Unfold(2, 2, 1, 2), (2, 3, 5, 6)),
    both("Unfold axes", lambda nn: nn.Unfold((2, 3)), (2, 3, 4, 5)),
    both("Unfold unbatched", lambda nn: nn.Unfold(2, 2, 1, 2), (3, 5, 6)),
    both("Fold", lambda nn: nn.Fold((4, 5), (2, 3), stride=(2, 1), padding=(0, 1)), (2, 12, 10)),
]

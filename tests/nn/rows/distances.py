"""Rows of `nestarray.nn.distances`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("CosineSimilarity", lambda nn: nn.CosineSimilarity(), (2, 3, 4), (2, 3, 4)),
    both("CosineSimilarity axis", lambda nn: nn.CosineSimilarity(-1, 0.5), (2, 3), (2, 3)),
    both("PairwiseDistance", lambda nn: nn.PairwiseDistance(), (2, 3), (2, 3)),
    both(
        "PairwiseDistance order",
        lambda nn: nn.PairwiseDistance(3.0, 0.1, True),
        (2, 3, 4),
        (2, 3, 4),
    ),
]

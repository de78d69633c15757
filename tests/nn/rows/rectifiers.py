"""Rows of `nestarray.nn.rectifiers`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("ReLU", lambda nn: nn.ReLU(), (2, 3)),
    both("ReLU6", lambda nn: nn.ReLU6(), (2, 3)),
    both("LeakyReLU(0.2)", lambda nn: nn.LeakyReLU(0.2), (2, 3)),
    both("PReLU", lambda nn: nn.PReLU(), (2, 3)),
    both("PReLU channels", lambda nn: nn.PReLU(3, 0.1), (2, 3, 4)),
    both("RReLU", lambda nn: nn.RReLU(0.1, 0.3), (2, 3), draws=True),
    both("ELU(0.5)", lambda nn: nn.ELU(0.5), (2, 3)),
    both("SELU", lambda nn: nn.SELU(), (2, 3)),
    both("CELU(0.5)", lambda nn: nn.CELU(0.5), (2, 3)),
    both("Threshold(0.1, -2.0)", lambda nn: nn.Threshold(0.1, -2.0), (2, 3)),
    both("Hardtanh(-0.5, 0.7)", lambda nn: nn.Hardtanh(-0.5, 0.7), (2, 3)),
    both("Hardshrink(0.3)", lambda nn: nn.Hardshrink(0.3), (2, 3)),
    both("Softshrink(0.3)", lambda nn: nn.Softshrink(0.3), (2, 3)),
]

"""Rows of `nestarray.nn.activations`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("Sigmoid", lambda nn: nn.Sigmoid(), (2, 3)),
    both("LogSigmoid", lambda nn: nn.LogSigmoid(), (2, 3)),
    both("Hardsigmoid", lambda nn: nn.Hardsigmoid(), (2, 3)),
    both("Tanh", lambda nn: nn.Tanh(), (2, 3)),
    both("Tanhshrink", lambda nn: nn.Tanhshrink(), (2, 3)),
    both("SiLU", lambda nn: nn.SiLU(), (2, 3)),
    both("Hardswish", lambda nn: nn.Hardswish(), (2, 3)),
    both("Mish", lambda nn: nn.Mish(), (2, 3)),
    both("GELU", lambda nn: nn.GELU(), (2, 3)),
    both("GELU tanh", lambda nn: nn.GELU("tanh"), (2, 3)),
    both("Softplus(2.0, 1.0)", lambda nn: nn.Softplus(2.0, 1.0), (2, 3)),
    both("Softsign", lambda nn: nn.Softsign(), (2, 3)),
    both("GLU", lambda nn: nn.GLU(1), (2, 4, 3)),
]

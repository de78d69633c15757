"""Rows of `nestarray.nn.padding`."""

from __future__ import annotations

from tests.nn.rows.row import both

ROWS = [
    both("ZeroPad1d", lambda nn: nn.ZeroPad1d((2, 1)), (2, 3, 4)),
    both("ZeroPad2d", lambda nn: nn.ZeroPad2d((1, 0, 2, 1)), (2, 1, 3, 3)),
    both("ZeroPad3d", lambda nn: nn.ZeroPad3d(1), (2, 1, 2, 3, 2)),
    both("ConstantPad1d", lambda nn: nn.ConstantPad1d((2, 1), 2.5), (2, 3, 4)),
    both("ConstantPad2d", lambda nn: nn.ConstantPad2d((1, 0, 2, 1), 2.5), (2, 1, 3, 3)),
    both("ConstantPad3d", lambda nn: nn.ConstantPad3d(1, 2.5), (2, 1, 2, 3, 2)),
    both("ReflectionPad1d", lambda nn: nn.ReflectionPad1d((2, 1)), (2, 3, 4)),
    both("ReflectionPad2d", lambda nn: nn.ReflectionPad2d((1, 0, 2, 1)), (2, 1, 3, 3)),
    both("ReflectionPad3d", lambda nn: nn.ReflectionPad3d(1), (2, 1, 2, 3, 2)),
    both("ReplicationPad1d", lambda nn: nn.ReplicationPad1d((2, 1)), (2, 3, 4)),
    both("ReplicationPad2d", lambda nn: nn.ReplicationPad2d((1, 0, 2, 1)), (2, 1, 3, 3)),
    both("ReplicationPad3d", lambda nn: nn.ReplicationPad3d(1), (2, 1, 2, 3, 2)),
    both("CircularPad1d", lambda nn: nn.CircularPad1d((2, 1)), (2, 3, 4)),
    both("CircularPad2d", lambda nn: nn.CircularPad2d((1, 0, 2, 1)), (2, 1, 3, 3)),
    both("CircularPad3d", lambda nn: nn.CircularPad3d(1), (2, 1, 2, 3, 2)),
    both("ZeroPad2d crop", lambda nn: nn.ZeroPad2d((-1, 2, 1, -2)), (2, 1, 4, 4)),
    both("ReflectionPad1d crop", lambda nn: nn.ReflectionPad1d((-1, 3)), (2, 3, 4)),
    both("CircularPad1d crop", lambda nn: nn.CircularPad1d((-1, 3)), (2, 3, 4)),
]

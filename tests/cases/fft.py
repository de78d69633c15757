"""Cases of the chapter fft."""

from __future__ import annotations

import numpy as np

from tests.cases import Case


def _reference(function):  # type: ignore[no-untyped-def]
    def call(x, *, s=None, axes=None, norm="backward"):  # type: ignore[no-untyped-def]
        if axes is None and s is not None:
            axes = range(-len(s), 0)
        return function(x, s=s, axes=axes, norm=norm)

    return call


def _complex(*shape: int):  # type: ignore[no-untyped-def]
    return lambda rng: (rng.normal(size=shape) + 1j * rng.normal(size=shape),)


CASES = [
    Case(op, args, kwargs, _reference(function), differentiable=False, id=name)
    for op, function in (("fftn", np.fft.fftn), ("ifftn", np.fft.ifftn))
    for name, args, kwargs in [
        ("complex", _complex(3, 4), {}),
        ("one-axis", _complex(3, 4), {"axes": (0,)}),
        ("ortho", _complex(2, 3, 4), {"axes": (-1, 0), "norm": "ortho"}),
        ("forward", _complex(5), {"norm": "forward"}),
        ("longer-and-shorter", _complex(3, 6), {"s": (4, 5)}),
        ("last", _complex(3, 6), {"s": (4,)}),
    ]
]

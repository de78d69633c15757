"""Cases of `nestarray.ops.fft`; the oracle is NumPy.

Derivatives where results or arguments are complex are in ``tests/ops/test_spectra.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Case

Args = Callable[[np.random.Generator], tuple[Any, ...]]


def several(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's function, which warns where `s` comes without `axes`."""

    def call(x: np.ndarray, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        if axes is None and s is not None:
            axes = range(-len(s), 0)
        return function(x, s=s, axes=axes, norm=norm)

    return call


def complexes(*shape: int) -> Args:
    return lambda rng: (rng.normal(size=shape) + 1j * rng.normal(size=shape),)


def reals(*shape: int) -> Args:
    return lambda rng: (rng.normal(size=shape),)


def integers(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.integers(-9, 9, (2, 5)),)


def one(op: str, args: Args, id: str, *, differentiable: bool = False, **kwargs: Any) -> Case:
    function = getattr(np.fft, op)
    return Case(op, args, kwargs, reference=function, differentiable=differentiable, id=id)


CASES = [
    *(
        Case(op, args, kwargs, several(getattr(np.fft, op)), differentiable=False, id=name)
        for op in ("fftn", "ifftn")
        for name, args, kwargs in [
            ("complex", complexes(3, 4), {}),
            ("one-axis", complexes(3, 4), {"axes": (0,)}),
            ("ortho", complexes(2, 3, 4), {"axes": (-1, 0), "norm": "ortho"}),
            ("forward", complexes(5), {"norm": "forward"}),
            ("longer-and-shorter", complexes(3, 6), {"s": (4, 5)}),
            ("last", complexes(3, 6), {"s": (4,)}),
        ]
    ),
    *(
        case
        for op in ("fft", "ifft")
        for case in (
            one(op, complexes(2, 5), "complex"),
            one(op, reals(4, 3), "longer", n=6, axis=0, norm="forward"),
            one(op, complexes(5), "shorter", n=4, norm="ortho"),
            one(op, integers, "int"),
        )
    ),
    *(
        case
        for op in ("rfft", "ihfft")
        for case in (
            one(op, reals(2, 6), "even"),
            one(op, reals(5, 2), "odd", axis=-2, norm="ortho"),
            one(op, reals(2, 5), "longer", n=8, norm="forward"),
            one(op, integers, "shorter", n=4),
        )
    ),
    *(
        case
        for op in ("irfft", "hfft")
        for case in (
            one(op, complexes(2, 4), "even"),
            one(op, complexes(4, 2), "odd", n=7, axis=0, norm="ortho"),
            one(op, complexes(2, 3), "longer", n=8, norm="forward"),
            one(op, reals(2, 5), "shorter-real", n=5, differentiable=True),
        )
    ),
    *(
        Case(op, args, kwargs, several(getattr(np.fft, op)), differentiable=False, id=name)
        for op, args in (("rfftn", reals(3, 6)), ("irfftn", complexes(3, 6)))
        for name, kwargs in [
            ("all", {}),
            ("one-axis", {"axes": (0,), "norm": "forward"}),
            ("lengths", {"s": (4, 5), "axes": (1, 0), "norm": "ortho"}),
            ("last", {"s": (7,)}),
        ]
    ),
    Case("fftfreq", lambda rng: (5,), reference=np.fft.fftfreq, differentiable=False),
    Case(
        "fftfreq",
        lambda rng: (6,),
        {"d": 0.25, "dtype": "float64"},
        reference=lambda n, d, dtype: np.fft.fftfreq(n, d),
        differentiable=False,
        dtype="float64",
        id="step",
    ),
    Case("rfftfreq", lambda rng: (5,), reference=np.fft.rfftfreq, differentiable=False),
    Case(
        "rfftfreq",
        lambda rng: (6,),
        {"d": 0.25},
        reference=np.fft.rfftfreq,
        differentiable=False,
        id="step",
    ),
    *(
        case
        for op in ("fftshift", "ifftshift")
        for case in (
            Case(op, reals(3, 4), reference=getattr(np.fft, op)),
            Case(op, reals(3, 5), {"axes": 1}, reference=getattr(np.fft, op), id="axis"),
            one(op, integers, "int", axes=(-1, 0)),
        )
    ),
]

"""`Trait`: properties of ops, which transformations ask for in the place of names.

An op declares its traits beside its signature, ``@op(traits=…)``; `TRAITS` of a chapter are the
traits of its other ops. `REDUCTION` follows from the signature. The arrays of these definitions
are the array arguments that a call has, the settings are fixed. ``tests/ops/test_traits.py``
compares each declaration with the values that the ops compute.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from inspect import Parameter


class Trait(enum.Flag):
    """A property of an op; `Op.traits` is a union of them."""

    #: Each element of the results is computed from the elements at its place in the arrays, which
    #: broadcast.
    ELEMENTWISE = 1 << 0
    #: f(a x + b y) = a f(x) + b f(y), for all floating arrays together and complex a, b.
    LINEAR = 1 << 1
    #: The same for each floating array alone, with the others fixed.
    MULTILINEAR = 1 << 2
    #: f(x1, x2) = f(x2, x1), up to rounding.
    COMMUTATIVE = 1 << 3
    #: No element of the results is negative if no element of the arrays, and no number, is.
    NONNEGATIVE = 1 << 4
    #: The elements of x with its axes permuted, split, merged, added, removed or broadcast.
    VIEW = 1 << 5 | LINEAR | NONNEGATIVE
    #: The elements of x in the same order, under another shape.
    RESHAPE = 1 << 6 | VIEW
    #: The elements of x along `axis` become one, whatever their order; the other axes remain.
    REDUCTION = 1 << 7
    #: Each row of x along `axis`, or along the last axis, is computed alone; the rank remains.
    ROWWISE = 1 << 8
    #: The results are piecewise constant in the arrays, or defined to have no derivative.
    CONSTANT = 1 << 9
    #: The results are positions or counts, integers from 0.
    POSITIONS = 1 << 10 | CONSTANT
    #: Sums of products of the arrays, with most of the FLOPs of a model.
    PRODUCT = 1 << 11
    #: In half precision the error is a few roundings of the arguments and results.
    HALF_SAFE = 1 << 12


def derived(parameters: Iterable[Parameter]) -> Trait:
    """The traits that follow from a signature: `keepdims` and any number of axes for one array."""
    positional = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    settings = {p.name: str(p.annotation) for p in parameters if p.kind is p.KEYWORD_ONLY}
    is_reduction = settings.get("axis") == "Axis" and "keepdims" in settings
    return Trait.REDUCTION if is_reduction and len(positional) == 1 else Trait(0)

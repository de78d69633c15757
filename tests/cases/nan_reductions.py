"""Cases of `nestarray.ops.nan_reductions`; the oracle is NumPy.

Derivatives are taken without NaN here, because differences of NaN are NaN.
``tests/ops/test_nan_reductions.py`` has the gradients of arrays with NaN.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Case
from tests.cases.statistical import Rng, apart, as_float32, block, exact, small_integers, spread


def holes(rng: Rng) -> tuple[Any, ...]:
    """Some NaN, and a row of nothing else."""
    x = rng.permutation(24).reshape(2, 3, 4) / 4 - 3
    x[rng.random(x.shape) < 0.3] = np.nan
    x[1, 2] = np.nan
    x[0, 0, 1] = 2.5
    return (x,)


def quiet(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` without NumPy's warnings of slices of NaN."""

    def call(*args: Any, **kwargs: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(*args, **kwargs)

    return call


def placed(function: Callable[..., Any]) -> Callable[..., Any]:
    """`nanargmax` or `nanargmin` of NumPy, which raises where all is NaN."""

    def call(x: np.ndarray, axis: int | None = None, keepdims: bool = False) -> Any:
        nothing = np.isnan(x).all(axis=axis, keepdims=keepdims)
        filled = np.where(np.isnan(x).all(axis=axis, keepdims=True), 0.0, x)
        return np.where(nothing, -1, function(filled, axis=axis, keepdims=keepdims))

    return call


def both(
    op: str, reference: Callable[..., Any], smooth: Callable[[Rng], tuple[Any, ...]] = block
) -> list[Case]:
    """Without NaN, for the derivatives; with it; and of integers."""
    whole = (
        as_float32(reference) if op in ("nanmean", "nanvar", "nanstd", "nanmedian") else reference
    )
    return [
        Case(op, smooth, {"axis": (0, -1)}, reference=reference),
        exact(op, holes, "nan", quiet(reference), axis=-1, keepdims=True),
        exact(op, holes, "nan-all", reference),
        exact(op, small_integers, "int8", whole, axis=0),
    ]


CASES = [
    *both("nansum", np.nansum),
    *both("nanprod", np.nanprod),
    *both("nanmean", np.nanmean),
    *both("nanmax", np.nanmax, apart),
    *both("nanmin", np.nanmin, apart),
    *both("nanvar", spread(np.nanvar)),
    *both("nanstd", spread(np.nanstd)),
    *both("nanmedian", np.nanmedian, apart),
    exact("nanvar", holes, "corrected", quiet(spread(np.nanvar)), axis=0, correction=1),
    exact("nansum", holes, "no-axis", np.nansum, axis=()),
    exact("nanmean", holes, "no-axis", quiet(np.nanmean), axis=()),
    *(
        exact(op, holes, id, placed(getattr(np, op)), **settings)
        for op in ("nanargmax", "nanargmin")
        for id, settings in {
            "axis": {"axis": 2, "keepdims": True},
            "flat": {},
        }.items()
    ),
    *(
        exact(
            op,
            lambda rng, sign=sign: (sign * np.asarray([np.nan, np.inf, np.inf]),),
            "infinite",
            lambda x: np.asarray(1),
        )
        for op, sign in (("nanargmax", -1), ("nanargmin", 1))
    ),
    Case(
        "nanquantile",
        lambda rng: (*apart(rng), np.asarray([0.1, 0.6])),
        {"axis": (0, 2)},
        reference=np.nanquantile,
        differentiable=(0,),
    ),
    *(
        exact(
            "nanquantile",
            lambda rng: (*holes(rng), np.asarray([0.0, 0.3, 1.0])),
            method,
            quiet(np.nanquantile),
            axis=-1,
            method=method,
            keepdims=method == "linear",
        )
        for method in ("linear", "nearest", "lower", "hazen", "averaged_inverted_cdf")
    ),
    exact(
        "nanquantile",
        lambda rng: (*holes(rng), np.asarray([0.0, 0.3, 1.0])),
        "weights",
        quiet(np.nanquantile),
        axis=-1,
        method="inverted_cdf",
        weights=np.linspace(0.5, 2.0, 24).reshape(2, 3, 4),
    ),
    Case(
        "nanpercentile",
        lambda rng: (*apart(rng), np.asarray([10.0, 60.0])),
        {"axis": (0, 2)},
        reference=np.nanpercentile,
        differentiable=(0,),
    ),
    exact(
        "nanpercentile",
        lambda rng: (*holes(rng), 30.0),
        "number",
        quiet(np.nanpercentile),
        axis=-1,
        method="nearest",
    ),
    *(
        case
        for op, reference in (("nancumsum", np.nancumsum), ("nancumprod", np.nancumprod))
        for case in (
            Case(op, apart, {"axis": 1}, reference=reference),
            Case(op, holes, {"axis": -1}, reference=reference, differentiable=False, id="holes"),
            Case(op, holes, reference=reference, differentiable=False, id="flat"),
        )
    ),
]

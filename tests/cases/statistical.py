"""Cases of `nestarray.ops.statistical`; the oracles are NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tests.cases import Case

Rng = np.random.Generator
Args = Callable[[Rng], tuple[Any, ...]]


def block(rng: Rng) -> tuple[Any, ...]:
    return (rng.standard_normal((2, 3, 4)),)


def apart(rng: Rng) -> tuple[Any, ...]:
    """Elements far enough apart that a small step does not change their order."""
    return (rng.permutation(24).reshape(2, 3, 4) / 4 - 3,)


def scalar(rng: Rng) -> tuple[Any, ...]:
    return (rng.standard_normal(()),)


def small_integers(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(-3, 4, (2, 3), dtype="int8"),)


def bytes_(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(1, 200, (2, 3), dtype="uint8"),)


def halves(rng: Rng) -> tuple[Any, ...]:
    """Numbers other than 0 that are multiples of 256 or less than 1."""
    return (np.asarray([[0.0, 0.5, 256.0], [0.0, 1.0, 0.0]]),)


def bools(rng: Rng) -> tuple[Any, ...]:
    return (rng.random((2, 3)) < 0.6,)


def with_nan(rng: Rng) -> tuple[Any, ...]:
    x = rng.standard_normal((3, 4))
    x[1, 2] = np.nan
    return (x,)


def empty(rng: Rng) -> tuple[Any, ...]:
    return (np.zeros((2, 0)),)


AXES: dict[str, dict[str, Any]] = {
    "": {},
    "axis": {"axis": 1},
    "negative": {"axis": -1, "keepdims": True},
    "two": {"axis": (0, -1)},
    "two-kept": {"axis": (2, 0), "keepdims": True},
    "kept": {"keepdims": True},
    "no-axis": {"axis": ()},
}


def reductions(
    op: str, reference: Callable[..., Any], args: Args = block, **settings: Any
) -> list[Case]:
    """One case for each kind of `axis`, and a 0-d one."""
    cases = [Case(op, args, kw, reference=reference, id=id, **settings) for id, kw in AXES.items()]
    return [*cases, Case(op, scalar, reference=reference, id="0d", **settings)]


def exact(op: str, args: Args, id: str, reference: Callable[..., Any], **kwargs: Any) -> Case:
    """A case without gradients: integers, bools, NaN."""
    return Case(op, args, kwargs, reference=reference, differentiable=False, id=id)


def as_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, **kwargs: function(x.astype("float32"), **kwargs)


def spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """`var` or `std` of NumPy, where the correction is called ddof."""
    return lambda x, correction=0.0, **kwargs: function(x, ddof=correction, **kwargs)


def running(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, axis=None: function(x.ravel()) if axis is None else function(x, axis=axis)


def total_int64(x: np.ndarray, **kwargs: Any) -> Any:
    return np.sum(x, dtype="int64", **kwargs)


def weighted(rng: Rng) -> tuple[Any, ...]:
    return rng.standard_normal((2, 3)), rng.uniform(0.5, 2, (2, 3))


def weighted_axis(rng: Rng) -> tuple[Any, ...]:
    return rng.standard_normal((2, 3, 4)), rng.uniform(0.5, 2, 3)


CASES = [
    *reductions("sum", np.sum),
    *reductions("prod", np.prod),
    *reductions("mean", np.mean),
    *reductions("max", np.max, apart),
    *reductions("min", np.min, apart),
    *reductions("all", np.all, differentiable=False),
    *reductions("any", np.any, differentiable=False),
    *reductions("var", np.var),
    *(case for case in reductions("std", np.std) if case.id not in ("no-axis", "0d")),
    *(
        case
        for case in reductions("logsumexp", scipy.special.logsumexp)
        if case.id not in ("no-axis", "0d")
    ),
    exact("sum", small_integers, "int8", np.sum, axis=0),
    exact("sum", bytes_, "uint8", np.sum),
    exact("sum", bools, "bool", total_int64, axis=1),
    exact("sum", empty, "empty", np.sum, axis=1),
    Case(
        "sum",
        small_integers,
        {"dtype": "float32"},
        reference=np.sum,
        differentiable=False,
        dtype="float32",
        id="dtype",
    ),
    *(
        Case(
            op,
            halves,
            {"axis": 0, "dtype": "bool"},
            reference=getattr(np, op),
            differentiable=False,
            dtype="bool",
            id="in-bool",
        )
        for op in ("sum", "prod", "cumulative_sum", "cumulative_prod")
    ),
    exact("prod", small_integers, "int8", np.prod, axis=0),
    exact("prod", bytes_, "uint8", np.prod),
    exact("prod", bools, "bool", np.prod, axis=(0, 1)),
    exact("prod", empty, "empty", np.prod, axis=1),
    Case(
        "prod",
        lambda rng: (np.asarray([[1.5, 0.0, 2.0], [0.0, 3.0, 0.0]]),),
        {"axis": 1},
        reference=np.prod,
        id="zeros",
    ),
    exact("mean", small_integers, "int8", as_float32(np.mean)),
    exact("mean", bools, "bool", as_float32(np.mean), axis=0),
    exact("max", small_integers, "int8", np.max, axis=0),
    exact("max", bools, "bool", np.max, axis=0),
    exact("max", with_nan, "nan", np.max, axis=1),
    exact("min", small_integers, "int8", np.min, axis=0),
    exact("min", bools, "bool", np.min),
    exact("min", with_nan, "nan", np.min, axis=0),
    Case(
        "max",
        lambda rng: (np.asarray([[1.0, 2.0], [3.0, -1.0]]),),
        {"axis": []},
        reference=lambda x, axis: x,
        id="empty-list",
    ),
    exact("all", bools, "bool", np.all, axis=1),
    exact("all", small_integers, "int8", np.all, axis=0),
    exact("all", empty, "empty", np.all, axis=1),
    exact("any", bools, "bool", np.any, axis=1),
    exact("any", small_integers, "int8", np.any, axis=0),
    exact("any", empty, "empty", np.any, axis=1),
    Case("var", block, {"axis": 1, "correction": 1}, reference=spread(np.var), id="unbiased"),
    exact("var", small_integers, "int8", as_float32(np.var)),
    Case(
        "std",
        block,
        {"axis": (0, 1), "correction": 1.5, "keepdims": True},
        reference=spread(np.std),
        id="corrected",
    ),
    exact("std", small_integers, "int8", as_float32(np.std), axis=0),
    Case(
        "logsumexp",
        lambda rng: (rng.standard_normal((2, 3)) + 800,),
        {"axis": 1},
        reference=scipy.special.logsumexp,
        id="large",
    ),
    exact(
        "logsumexp",
        lambda rng: (np.asarray([[-np.inf, -np.inf], [0.0, -np.inf]]),),
        "infinite",
        lambda x, axis: np.asarray([-np.inf, 0.0]),
        axis=1,
    ),
    *(
        Case(
            "logsumexp",
            lambda rng: (rng.uniform(700.0, 701.0, (2, 3, 4)),),
            {"b": np.asarray([2.0, 0.0, -0.5, 3.0]), "return_sign": sign, **settings},
            reference=scipy.special.logsumexp,
            id=f"factors{'-and-sign' if sign else ''}{settings.get('axis', '')}",
        )
        for sign, settings in (
            (False, {"axis": (0, 2)}),
            (True, {"axis": 2, "keepdims": True}),
            (True, {}),
        )
    ),
    exact(
        "logsumexp",
        lambda rng: (np.asarray([[np.inf, 0.0, -np.inf], [0.0, 0.0, 1.0], [0.0, np.nan, 2.0]]),),
        "factors-special",
        scipy.special.logsumexp,
        axis=1,
        b=np.asarray([[0.0, -1.0, 2.0], [1.0, -1.0, 0.0], [1.0, 0.0, -1.0]]),
    ),
    Case("cumulative_sum", block, {"axis": -1}, reference=np.cumulative_sum),
    Case("cumulative_sum", block, reference=lambda x: np.cumsum(x), id="flat"),
    Case(
        "cumulative_sum",
        block,
        {"axis": 1, "include_initial": True},
        reference=np.cumulative_sum,
        id="initial",
    ),
    exact("cumulative_sum", small_integers, "int8", np.cumulative_sum, axis=0),
    exact("cumulative_sum", bytes_, "uint8", np.cumulative_sum, axis=0),
    Case("cumulative_prod", block, {"axis": -2}, reference=np.cumulative_prod),
    Case(
        "cumulative_prod",
        block,
        {"axis": 0, "include_initial": True},
        reference=np.cumulative_prod,
        id="initial",
    ),
    Case(
        "cumulative_prod",
        lambda rng: (np.asarray([[1.5, 0.0, 2.0, 0.5], [0.0, 3.0, 0.0, 1.0]]),),
        {"axis": 1},
        reference=np.cumulative_prod,
        id="zeros",
    ),
    exact("cumulative_prod", small_integers, "int8", np.cumulative_prod, axis=1),
    Case("cummax", apart, {"axis": 1}, reference=running(np.maximum.accumulate)),
    Case("cummax", apart, reference=running(np.maximum.accumulate), id="flat"),
    exact("cummax", small_integers, "int8", running(np.maximum.accumulate), axis=-1),
    Case("cummin", apart, {"axis": -1}, reference=running(np.minimum.accumulate)),
    Case("cummin", apart, reference=running(np.minimum.accumulate), id="flat"),
    Case("average", block, {"axis": 1}, reference=np.average),
    Case("average", weighted, reference=lambda x, w: np.average(x, weights=w), id="weights"),
    Case(
        "average",
        weighted_axis,
        {"axis": -2, "keepdims": True},
        reference=lambda x, w, **kw: np.average(x, weights=w, **kw),
        id="weights-of-axis",
    ),
    Case(
        "cumulative_logsumexp",
        block,
        {"axis": -1},
        reference=lambda x, axis: np.logaddexp.accumulate(x, axis=axis),
    ),
    Case(
        "cumulative_logsumexp",
        lambda rng: (rng.standard_normal((2, 3)) + 800,),
        reference=lambda x: np.logaddexp.accumulate(x.ravel()),
        id="flat-large",
    ),
    Case(
        "cumulative_logsumexp",
        lambda rng: (np.asarray([[0.5 + 1j, -1.2, 2 - 1j], [1j, 0.0, -3.0]]),),
        {"axis": 1},
        reference=lambda x, axis: np.log(np.cumsum(np.exp(x), axis=axis)),
        differentiable=False,
        id="complex",
    ),
    exact(
        "cumulative_logsumexp",
        lambda rng: (np.asarray([[-np.inf, -np.inf, 0.0], [1.0, -np.inf, 2.0]]),),
        "infinite",
        lambda x, axis: np.logaddexp.accumulate(x, axis=axis),
        axis=1,
    ),
]

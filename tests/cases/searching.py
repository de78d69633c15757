"""Cases of `nestarray.ops.searching`; the oracles are NumPy and JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tests.cases import Case

Rng = np.random.Generator


def apart(rng: Rng) -> tuple[Any, ...]:
    """Elements far enough apart that a small step does not change their order."""
    return (rng.permutation(24).reshape(2, 3, 4) / 4 - 3,)


def with_ties(rng: Rng) -> tuple[Any, ...]:
    return (rng.integers(0, 3, (4, 5)),)


def with_nan(rng: Rng) -> tuple[Any, ...]:
    x = rng.standard_normal((3, 4))
    x[1, 2], x[1, 3], x[2, 0] = np.nan, np.inf, -np.inf
    return (x,)


def sparse(rng: Rng) -> tuple[Any, ...]:
    return (np.where(rng.random((3, 4)) < 0.5, 0.0, rng.standard_normal((3, 4))),)


def places(op: str, reference: Callable[..., Any]) -> list[Case]:
    return [
        Case(op, args, kwargs, reference=reference, differentiable=False, id=id)
        for id, args, kwargs in (
            ("", apart, {}),
            ("axis", apart, {"axis": 1}),
            ("kept", apart, {"keepdims": True}),
            ("last-kept", apart, {"axis": -1, "keepdims": True}),
            ("ties", with_ties, {"axis": 0}),
            ("nan", with_nan, {"axis": 1}),
            ("bool", lambda rng: (rng.random((2, 5)) < 0.5,), {"axis": 1}),
            ("0d", lambda rng: (np.asarray(2.0),), {}),
        )
    ]


def sorted_and_values(rng: Rng) -> tuple[Any, ...]:
    x = np.sort(rng.integers(0, 9, 6) / 2)
    return x, np.concatenate([x[:4], rng.uniform(-1, 5, 2)]).reshape(2, 3)


def greatest(x: np.ndarray, k: int, axis: int = -1, largest: bool = True) -> Any:
    order = np.argsort(-x if largest else x, axis=axis, kind="stable")
    indices = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, indices, axis), indices


def weighted_counts(x: np.ndarray, weights: np.ndarray, minlength: int = 0) -> Any:
    return np.bincount(x, weights, minlength)


def points(rng: Rng) -> tuple[Any, ...]:
    return (rng.uniform(-1, 2, (12, 3)),)


def plane(rng: Rng) -> tuple[Any, ...]:
    return rng.uniform(-1, 2, 9), rng.uniform(0, 1, 9)


def counted(result: Any, density: bool) -> tuple[Any, ...]:
    """NumPy's counts are floating: here they are integers, as in `histogram`."""
    counts, *edges = result
    edges = edges[0] if isinstance(edges[0], (list, tuple)) else edges
    return (counts if density else counts.astype("int64"), *edges)


def histogram_of(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, density: bool = False, **settings: Any) -> Any:
        result = function(*args, density=density, **settings)
        return counted(result, density or "weights" in settings)

    return call


def in_top_k(targets: np.ndarray, scores: np.ndarray, k: int) -> np.ndarray:
    """TensorFlow's function."""
    import tensorflow as tf  # here, since it takes seconds

    return tf.math.in_top_k(targets, scores.astype("float32"), k).numpy()


CASES = [
    Case(
        "where",
        lambda rng: (rng.random((2, 3)) < 0.5, rng.standard_normal((2, 1)), rng.standard_normal(3)),
        reference=np.where,
    ),
    Case(
        "where",
        lambda rng: (rng.random((2, 3)) < 0.5, rng.standard_normal((2, 3)), 0.5),
        reference=np.where,
        id="number",
    ),
    Case(
        "where",
        lambda rng: (rng.random(4) < 0.5, 1.5, rng.integers(0, 9, 4)),
        reference=np.where,
        differentiable=False,
        id="lifts",
    ),
    Case(
        "where",
        lambda rng: (rng.random(4) < 0.5, 1, 0),
        reference=np.where,
        differentiable=False,
        id="numbers",
    ),
    Case(
        "where",
        lambda rng: (rng.random(4) < 0.5, rng.integers(0, 9, 4), rng.standard_normal(4)),
        reference=np.where,
        differentiable=(2,),
        id="promotes",
    ),
    *places("argmax", np.argmax),
    *places("argmin", np.argmin),
    Case("nonzero", sparse, reference=np.nonzero, differentiable=False, jit=False),
    Case("argwhere", sparse, reference=np.argwhere, differentiable=False, jit=False),
    *(
        Case(op, sparse, settings, reference=getattr(jnp, op), differentiable=False, id=id)
        for op, id, settings in (
            ("nonzero", "cut", {"size": 3}),
            ("nonzero", "filled", {"size": 15, "fill_value": -1}),
            ("nonzero", "filled-by-axis", {"size": 15, "fill_value": (7, -3)}),
            ("argwhere", "filled", {"size": 14, "fill_value": 5}),
        )
    ),
    Case(
        "nonzero",
        lambda rng: (np.zeros((3, 0)),),
        {"size": 2, "fill_value": 9},
        reference=lambda x, size, fill_value: (np.full(size, fill_value),) * 2,
        differentiable=False,
        id="none-filled",
    ),
    Case(
        "count_nonzero",
        sparse,
        reference=lambda x: np.asarray(np.count_nonzero(x)),
        differentiable=False,
    ),
    Case(
        "count_nonzero",
        sparse,
        {"axis": (0, 1), "keepdims": True},
        reference=np.count_nonzero,
        differentiable=False,
        id="two-kept",
    ),
    Case(
        "count_nonzero",
        sparse,
        {"axis": -1},
        reference=np.count_nonzero,
        differentiable=False,
        id="axis",
    ),
    *(
        Case(
            "searchsorted",
            sorted_and_values,
            {"side": side},
            reference=np.searchsorted,
            differentiable=False,
            id=side,
        )
        for side in ("left", "right")
    ),
    Case(
        "searchsorted",
        lambda rng: (np.arange(5) / 2, 1.0),
        reference=np.searchsorted,
        differentiable=False,
        id="number",
    ),
    Case(
        "searchsorted",
        lambda rng: (np.arange(5), rng.uniform(-1, 6, 4)),
        {"side": "right"},
        reference=np.searchsorted,
        differentiable=False,
        id="promotes",
    ),
    Case(
        "searchsorted",
        lambda rng: (np.asarray([1.0, 0.5, 2.0]), rng.uniform(0, 3, 5)),
        {"sorter": np.asarray([1, 0, 2])},
        reference=np.searchsorted,
        differentiable=False,
        id="sorter",
    ),
    Case("top_k", lambda rng: (*apart(rng), 2), reference=greatest),
    Case("top_k", lambda rng: (*apart(rng), 3), {"axis": 1}, reference=greatest, id="axis"),
    Case("top_k", lambda rng: (*apart(rng), 2), {"largest": False}, reference=greatest, id="least"),
    Case(
        "top_k",
        lambda rng: (rng.permutation(9), 4),
        reference=greatest,
        differentiable=False,
        id="int",
    ),
    Case(
        "bincount",
        lambda rng: (rng.integers(0, 5, 9),),
        reference=np.bincount,
        differentiable=False,
        jit=False,
    ),
    Case(
        "bincount",
        lambda rng: (np.asarray([1, 3, 1]),),
        {"minlength": 6},
        reference=np.bincount,
        differentiable=False,
        jit=False,
        id="longer",
    ),
    Case(
        "bincount",
        lambda rng: (rng.integers(0, 5, 9), rng.standard_normal(9)),
        reference=weighted_counts,
        jit=False,
        id="weights",
    ),
    *(
        Case(
            "bincount",
            lambda rng: (rng.integers(-1, 5, 9), rng.standard_normal(9)),
            {"length": length},
            reference=jnp.bincount,
            id=f"length-{length}",
        )
        for length in (3, 8)
    ),
    Case(
        "histogram",
        lambda rng: (rng.integers(-9, 9, (4, 5)) / 4, 8),
        {"range": (-1.0, 1.0)},
        reference=np.histogram,
        differentiable=False,
    ),
    Case(
        "histogram",
        lambda rng: (rng.integers(-9, 9, 40) / 4,),
        reference=np.histogram,
        differentiable=False,
        id="extrema",
    ),
    Case(
        "histogram",
        lambda rng: (rng.standard_normal(20), np.asarray([-2.0, -0.5, 0.0, 1.5])),
        reference=np.histogram,
        differentiable=False,
        id="edges",
    ),
    Case(
        "histogram",
        lambda rng: (rng.standard_normal(20), np.asarray([-2.0, -0.5, 0.0, 1.5])),
        {"density": True},
        reference=np.histogram,
        differentiable=False,
        id="density",
    ),
    Case(
        "histogram",
        lambda rng: (np.full(3, 2.0), 2),
        {"weights": np.asarray([0.5, 1.0, 2.0])},
        reference=np.histogram,
        differentiable=False,
        id="one-value",
    ),
    Case(
        "digitize",
        lambda rng: (rng.integers(0, 9, (2, 5)) / 2, np.asarray([1.0, 2.0, 2.0, 3.5])),
        reference=np.digitize,
        differentiable=False,
    ),
    Case(
        "digitize",
        lambda rng: (rng.integers(0, 9, (2, 5)) / 2, np.asarray([1.0, 2.0, 3.5])),
        {"right": True},
        reference=np.digitize,
        differentiable=False,
        id="right",
    ),
    Case(
        "histogramdd",
        lambda rng: (*points(rng), (2, 3, 4)),
        reference=histogram_of(np.histogramdd),
        differentiable=False,  # in steps
    ),
    Case(
        "histogramdd",
        lambda rng: (*points(rng), ([-1.0, 0.0, 0.5], [0.0, 1.0], [-1.0, 1.0, 2.0])),
        {"weights": np.linspace(0.5, 2.0, 12)},
        reference=histogram_of(np.histogramdd),
        differentiable=False,
        id="edges",
    ),
    Case(
        "histogram2d",
        lambda rng: (*plane(rng), 3),
        {"density": True, "range": ((-1.0, 1.0), (0.0, 1.0))},
        reference=histogram_of(np.histogram2d),
        differentiable=False,
    ),
    Case(
        "select",
        lambda rng: (
            [np.asarray([True, False, False, False]), np.asarray([True, True, True, False])],
            [rng.standard_normal(4), rng.standard_normal(4)],
        ),
        {"default": 7.0},
        reference=np.select,
        differentiable=False,
    ),
    Case(
        "select",
        lambda rng: ([np.asarray([[True], [False]])], [rng.integers(0, 9, 3)]),
        reference=lambda conditions, choices: np.select(
            [np.broadcast_to(conditions[0], (2, 3))], [np.broadcast_to(choices[0], (2, 3))]
        ),
        differentiable=False,
        id="broadcast",
    ),
    Case(
        "in_top_k",
        lambda rng: (
            np.asarray([2, 0, 1, 3, -1, 6]),
            np.asarray(
                [[0.1, 0.7, 0.2], [0.5, 0.5, 0.5], [1.0, np.nan, 0.0], *[[3.0, 2.0, 1.0]] * 3]
            ).repeat(2, 1),
        ),
        {"k": 2},
        reference=in_top_k,
        differentiable=False,
    ),
]

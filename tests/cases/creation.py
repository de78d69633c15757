"""Cases of `nestarray.ops.creation`; the oracle is NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.cases import Case


def plain(
    op: str, *args: Any, reference: Callable[..., Any] | None = None, **settings: Any
) -> Case:
    """A case without array arguments: nothing to differentiate, one dtype."""
    kwargs = settings.pop("kwargs", {})
    return Case(
        op,
        lambda rng: args,
        kwargs,
        reference=reference or getattr(np, op),
        differentiable=False,
        dtypes=("float32",),
        **settings,
    )


def counted(count: int, dtype: str) -> np.ndarray:
    return np.arange(count).astype(dtype)


def like(op: str, reference: Callable[..., Any], *more: Any, **settings: Any) -> Case:
    kwargs = settings.pop("kwargs", {})
    return Case(
        op,
        lambda rng: (rng.normal(size=(2, 3)), *more),
        kwargs,
        reference=reference,
        differentiable=False,
        **settings,
    )


def matrices(rng: np.random.Generator) -> tuple[Any, ...]:
    return (rng.normal(size=(2, 3, 4)),)


def one_hot(indices: np.ndarray, num_classes: int, axis: int = -1, **_: Any) -> np.ndarray:
    return np.moveaxis(np.stack([indices == i for i in range(num_classes)], -1) * 1.0, -1, axis)


INDICES = np.asarray([[0, 2, 1], [3, -1, 2]])

CASES = [
    plain("zeros", (2, 3)),
    plain("zeros", 3, id="integer-shape"),
    plain("zeros", (), id="0-d"),
    plain("zeros", (0, 2), id="empty"),
    plain("zeros", (2,), kwargs={"dtype": "int8"}, dtype="int8", id="int8"),
    plain("ones", (2, 3)),
    plain("ones", (2,), kwargs={"dtype": "bool"}, dtype="bool", id="bool"),
    plain("ones", 2, kwargs={"dtype": "float64"}, dtype="float64", id="float64"),
    plain("empty", (0, 3)),
    plain("full", (2, 3), 1.5),
    plain("full", 2, 7, id="int"),
    plain("full", (2,), True, id="bool"),
    plain("full", (2,), 1 + 2j, id="complex"),
    plain("full", (2,), 0.1, kwargs={"dtype": "float64"}, dtype="float64", id="float64"),
    like("zeros_like", np.zeros_like),
    like(
        "zeros_like",
        lambda x, dtype: np.zeros(x.shape, "int32"),
        kwargs={"dtype": "int32"},
        dtype="int32",
        id="dtype",
    ),
    like("ones_like", np.ones_like),
    like("full_like", np.full_like, 2.5),
    like(
        "full_like",
        lambda x, v, dtype: np.full(x.shape, v, dtype),
        True,
        kwargs={"dtype": "bool"},
        dtype="bool",
        id="bool",
    ),
    Case(
        "empty_like", lambda rng: (np.zeros((0, 3)),), reference=np.zeros_like, differentiable=False
    ),
    plain("arange", 5),
    plain("arange", 2, 11, 3, id="step"),
    plain("arange", 5, 0, -2, id="down"),
    plain("arange", 5, 2, id="none"),
    plain("arange", 0.5, 2.0, 0.25, id="floating"),
    plain("arange", 4, kwargs={"dtype": "float64"}, dtype="float64", id="float64"),
    plain("arange", 3, kwargs={"dtype": "bool"}, reference=counted, dtype="bool", id="bools"),
    plain("arange", 3, kwargs={"dtype": "complex64"}, reference=counted, id="complex"),
    plain("linspace", 0.0, 1.0, 5),
    plain("linspace", 0, 10, 4, kwargs={"endpoint": False}, id="open"),
    plain("linspace", 2.0, 3.0, 1, id="one"),
    Case(
        "linspace",
        lambda rng: (rng.normal(size=(2, 1)), rng.normal(size=(3,)), 4),
        reference=np.linspace,
        id="arrays",
    ),
    Case(
        "linspace",
        lambda rng: (0.0, rng.normal(size=(3,)), 4),
        reference=np.linspace,
        id="number-array",
    ),
    Case(
        "linspace",
        lambda rng: (rng.normal(size=(2, 1)), rng.normal(size=(3,)), 4),
        {"axis": 1},
        reference=np.linspace,
        id="axis",
    ),
    plain("eye", 3),
    plain("eye", 2, 4, kwargs={"k": 1}, id="k"),
    plain("eye", 3, 2, kwargs={"k": -1, "dtype": "int64"}, dtype="int64", id="int"),
    plain(
        "eye",
        2,
        kwargs={"batch_shape": (3,)},
        reference=lambda n, batch_shape: np.broadcast_to(np.eye(n), (*batch_shape, n, n)),
        id="batch",
    ),
    Case(
        "meshgrid",
        lambda rng: (rng.normal(size=(2,)), rng.normal(size=(3,)), rng.normal(size=(4,))),
        reference=lambda *x: tuple(np.meshgrid(*x)),
    ),
    Case(
        "meshgrid",
        lambda rng: (rng.normal(size=(2,)), rng.normal(size=(3,))),
        {"indexing": "ij"},
        reference=lambda *x, indexing: tuple(np.meshgrid(*x, indexing=indexing)),
        id="ij",
    ),
    *(Case(op, matrices, reference=getattr(np, op)) for op in ("tril", "triu")),
    *(
        Case(op, matrices, {"k": k}, reference=getattr(np, op), id=f"k={k}")
        for op in ("tril", "triu")
        for k in (-1, 1, 9)
    ),
    Case(
        "one_hot",
        lambda rng: (INDICES, 3),
        reference=one_hot,
        differentiable=False,
        dtypes=("float32",),
    ),
    Case(
        "one_hot",
        lambda rng: (INDICES, 4),
        {"axis": 1, "dtype": "int32"},
        reference=one_hot,
        differentiable=False,
        dtypes=("float32",),
        dtype="int32",
        id="axis",
    ),
]

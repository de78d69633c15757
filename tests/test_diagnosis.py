"""Wrong calls: one error type and one text on every backend, raised in place of the framework's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.config import BACKENDS
from nestarray.errors import DtypeError, ShapeError

X = np.arange(6, dtype="float32").reshape(2, 3)
EMPTY = np.zeros((0, 3), "float32")

Call = Callable[[Any, Any, Any], Any]

#: A call on (x (2, 3), its transpose, an empty array), the class of the error, its text.
CALLS: list[tuple[Call, type[Exception], str]] = [
    (
        lambda x, t, e: na.sum(x, axis=5),
        ShapeError, "sum: axis: got 5 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x, t, e: na.mean(x, axis=(0, -3)),
        ShapeError, "mean: axis: got -3 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x, t, e: na.softmax(x, axis=2),
        ShapeError, "softmax: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x, t, e: na.cumulative_sum(x, axis=4),
        ShapeError, "cumulative_sum: axis: got 4 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x, t, e: na.sort(x, axis=2),
        ShapeError, "sort: axis: got 2 for an array of 2 dimensions, expected -2 <= axis < 2",
    ),
    (
        lambda x, t, e: na.getitem(x, x[:, :1] > 9),
        IndexError, "getitem: index: got a mask of shape (2, 1) for axes of shape (2, 3), expected the same",
    ),
    (
        lambda x, t, e: na.getitem(x, (slice(None), x[0, :2] > 9)),
        IndexError, "getitem: index: got a mask of shape (2,) for axes of shape (3,), expected the same",
    ),
    (
        lambda x, t, e: na.expand_dims(x, 7),
        ShapeError, "expand_dims: axis: got 7 for an array of 3 dimensions, expected -3 <= axis < 3",
    ),
    (
        lambda x, t, e: na.permute_dims(x, (0, 0)),
        ShapeError, "permute_dims: axes: got (0, 0), in which an axis stands twice",
    ),
    (
        lambda x, t, e: na.permute_dims(x, (0,)),
        ShapeError, "permute_dims: axes: got (0,), expected each of the 2 axes once",
    ),
    (
        lambda x, t, e: na.squeeze(x, 1),
        ShapeError, "squeeze: axis 1 of shape (2, 3) has length 3, expected 1",
    ),
    (
        lambda x, t, e: na.add(x, t),
        ShapeError, "add: got arrays of shapes (2, 3) and (3, 2), which do not broadcast",
    ),
    (
        lambda x, t, e: na.where(x > 0, x, t),
        ShapeError, "where: got arrays of shapes (2, 3) and (3, 2), which do not broadcast",
    ),
    (
        lambda x, t, e: na.matmul(x, x),
        ShapeError,
        "matmul: got shapes (2, 3) and (2, 3): the last axis of x1 has 3 elements, expected 2, as the "
        "second last axis of x2",
    ),
    (
        lambda x, t, e: na.linear(x, t),
        ShapeError,
        "linear: got x of shape (2, 3) and weight of shape (3, 2), expected x (*batch, in) and weight "
        "(out, in) or (in,)",
    ),
    (
        lambda x, t, e: na.tensordot(x, x, axes=1),
        ShapeError,
        "tensordot: axes: got 1 for shapes (2, 3) and (2, 3): lengths (3,) of x1 against (2,) of x2, "
        "expected equal ones",
    ),
    (
        lambda x, t, e: na.einsum("ij,jk->ik", x, x),
        ShapeError, "einsum: operands[1]: got shape (2, 3) for 'jk': j is 2, and 3 before",
    ),
    (
        lambda x, t, e: na.concat([x, t]),
        ShapeError,
        "concat: arrays[1]: got shape (3, 2), expected that of the first, (2, 3), but for axis 0",
    ),
    (
        lambda x, t, e: na.stack([x, t]),
        ShapeError, "stack: arrays[1]: got shape (3, 2), expected (2, 3), as the first",
    ),
    (
        lambda x, t, e: na.reshape(x, (4, 2)),
        ShapeError, "reshape: shape: got (4, 2) for an array of shape (2, 3) with 6 elements",
    ),
    (
        lambda x, t, e: na.reshape(x, (4, -1)),
        ShapeError, "reshape: shape: got (4, -1) for an array of shape (2, 3) with 6 elements",
    ),
    (
        lambda x, t, e: na.broadcast_to(x, (4, 4)),
        ShapeError,
        "broadcast_to: shape: got (4, 4), to which an array of shape (2, 3) does not broadcast",
    ),
    (
        lambda x, t, e: na.max(e),
        ShapeError,
        "max: x: got shape (0, 3), which has no elements to reduce; there is no max of nothing",
    ),
    (
        lambda x, t, e: na.argmin(e, axis=0),
        ShapeError,
        "argmin: x: got shape (0, 3), which has no elements to reduce over axis 0; there is no argmin "
        "of nothing",
    ),
    (
        lambda x, t, e: na.inv(x),
        ShapeError, "inv: x: got shape (2, 3), expected square matrices (*batch, n, n)",
    ),
    (
        lambda x, t, e: na.cholesky(x),
        ShapeError, "cholesky: x: got shape (2, 3), expected square matrices (*batch, n, n)",
    ),
    (
        lambda x, t, e: na.solve(x @ t, t),
        ShapeError, "solve: x2: got shape (3, 2), expected 2 rows, as x1 of shape (2, 2) has",
    ),
    (
        lambda x, t, e: na.embedding(x, t),
        DtypeError, "embedding: indices: got float32, expected integers; cast with na.astype",
    ),
    (
        lambda x, t, e: na.take(x, x, axis=0),
        DtypeError, "take: indices: got float32, expected integers; cast with na.astype",
    ),
]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("call", "kind", "text"), CALLS, ids=[text for _, _, text in CALLS])
def test_one_text_everywhere(call: Call, kind: type[Exception], text: str, backend: str) -> None:
    from_numpy = backends.core(backend).from_numpy
    with pytest.raises(kind) as info:
        call(*map(from_numpy, (X, np.ascontiguousarray(X.T), EMPTY)))
    assert str(info.value) == text


def test_the_frameworks_own_error_stays_behind_ours() -> None:
    with pytest.raises(ShapeError) as info:
        na.add(X, X.T)
    assert "could not be broadcast" in str(info.value.__cause__)


def test_an_error_in_a_tree_names_the_path() -> None:
    with pytest.raises(ShapeError) as info:
        na.sum(na.Container(a=np.ones(2), b={"c": np.ones((2, 2))}), axis=1)
    assert "at the Container path 'a'" in info.value.__notes__


def test_what_no_rule_knows_keeps_its_own_error() -> None:
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        na.cholesky(-np.eye(2))

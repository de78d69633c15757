"""NumPy's own functions and universal functions of Containers are the ops of their names."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
import torch

import nestarray as na
from nestarray import errors
from nestarray.dispatch import numpy_protocols
from nestarray.testing import assert_close

W = np.asarray([[0.5, -1.0, 2.0], [3.0, 0.25, -0.75], [1.0, 1.5, -2.0]])
TREE: dict[str, Any] = {"a": {"w": W}, "b": W[::-1] * 0.5}
ON_LEAVES: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "abs": np.absolute,
    "arctan2": lambda x: np.arctan2(x, 2.0),
    "number first": lambda x: np.power(2.0, x),
    "two": lambda x: np.maximum(x, x * x),
    "rint": np.rint,
    "divmod": lambda x: np.divmod(x, 0.7)[1],
    "reduce": lambda x: np.add.reduce(x, axis=1, keepdims=True),
    "erf of SciPy": scipy.special.erf,
    "sum": np.sum,
    "sum over an axis": lambda x: np.sum(x, 1, keepdims=True),
    "mean": lambda x: np.mean(x, axis=0),
    "std": lambda x: np.std(x, axis=1, ddof=1),
    "average": lambda x: np.average(x, 0),
    "weights": lambda x: np.average(x, axis=1, weights=np.asarray([1.0, 2.0, 5.0])),
    "median": np.median,
    "percentile": lambda x: np.percentile(x, 30.0, axis=0),
    "cumsum": lambda x: np.cumsum(x, 1),
    "clip": lambda x: np.clip(x, -1.0, 1.0),
    "where": lambda x: np.where(x > 0, x, 0.1),
    "concatenate": lambda x: np.concatenate([x, 2 * x], axis=1),
    "stack": lambda x: np.stack((x, x), -1),
    "reshape": lambda x: np.reshape(x, (1, -1)),
    "transpose": np.transpose,
    "axes": lambda x: np.transpose(x[None], (2, 0, 1)),
    "ravel": np.ravel,
    "split": lambda x: np.split(x, 3, axis=1)[1],
    "split at places": lambda x: np.split(x, [1, 2])[2],
    "pad": lambda x: np.pad(x, ((1, 0), (0, 2)), constant_values=7.0),
    "tile": lambda x: np.tile(x, (2, 1)),
    "roll": lambda x: np.roll(x, 1, axis=0),
    "take": lambda x: np.take(x, np.asarray([2, 0]), axis=1),
    "sort": lambda x: np.sort(x, axis=0),
    "argmax": lambda x: np.argmax(x, axis=1),
    "diff": lambda x: np.diff(x, 2, axis=0),
    "diagonal": lambda x: np.diagonal(x[:, None, :] * x[0], 1, 0, 2),
    "diagonal of three axes": lambda x: np.diagonal(x[:, None, :] * x[0]),
    "trace": lambda x: np.trace(np.stack([x, x, x]), axis1=1, axis2=2),
    "trace of linalg": lambda x: np.linalg.trace(x[None]),
    "dot": lambda x: np.dot(x, np.asarray([1.0, 2.0, 3.0])),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "tensordot": lambda x: np.tensordot(x, x, 1),
    "norm": np.linalg.norm,
    "norms": lambda x: np.linalg.norm(x, np.inf, axis=0),
    "nuclear norm": lambda x: np.linalg.norm(x, "nuc"),
    "inv": np.linalg.inv,
    "svd": lambda x: np.linalg.svd(x)[1],
    "fft": lambda x: np.abs(np.fft.fft(x, axis=0)),
    "nan_to_num": np.nan_to_num,
    "zeros_like": np.zeros_like,
    "full_like": lambda x: np.full_like(x, 3.0),
    "isclose": lambda x: np.isclose(x, 0.5, atol=0.3),
}


@pytest.mark.parametrize("name", ON_LEAVES)
def test_a_function_of_numpy_is_the_op_of_its_name(name: str) -> None:
    fn = ON_LEAVES[name]
    found = fn(na.Container(TREE))
    assert isinstance(found, na.Container)
    assert found.paths() == ("a/w", "b")
    for leaf, x in zip(found.leaves(), (TREE["a"]["w"], TREE["b"]), strict=True):
        assert_close(np.asarray(leaf), np.asarray(fn(x)))


@pytest.mark.parametrize("name", numpy_protocols.BUILT_IN)
def test_parameters_that_older_versions_of_numpy_do_not_tell(name: str) -> None:
    ours = inspect.signature(numpy_protocols.BUILT_IN[name]).parameters.values()
    theirs = inspect.signature(getattr(np, name.removeprefix("np."))).parameters.values()
    assert [(p.name, p.kind, p.default) for p in ours] == [
        (p.name, p.kind, p.default) for p in theirs
    ]


def test_whatever_the_leaves_are_arrays_of() -> None:
    c: Any = na.Container(TREE).to_backend("torch")
    assert isinstance(np.exp(c).a.w, torch.Tensor)
    assert_close(np.sum(c, axis=0).b, torch.sum(c.b, 0))
    norms: Any = np.linalg.norm(c)
    assert_close(norms.b, torch.linalg.norm(c.b))


@pytest.mark.parametrize(
    "op", [operator.add, operator.sub, operator.truediv, operator.mod, operator.pow, operator.matmul, operator.lt, operator.eq]
)  # fmt: skip
def test_operators_with_arrays_on_either_side(op: Callable[..., Any]) -> None:
    c: Any = na.Container(TREE).abs()
    x = np.abs(W) + 1.0
    assert_close(op(x, c).a.w, op(x, np.abs(W)))
    assert_close(op(c, x).b, op(c.b, x))
    if op is not operator.matmul:
        assert_close(op(np.float64(2.0), c).b, op(np.float64(2.0), c.b))
    both: Any = divmod(x, c)
    quotient, rest = both
    assert_close(quotient.b * c.b + rest.b, x)


def test_other_trees() -> None:
    c = na.Container(TREE)
    fused: Any = np.exp(c.fuse())
    assert type(fused).__name__ == "FusedContainer"
    assert_close(fused.b, np.exp(TREE["b"]))
    stack = na.LazyStack([c, c[:2]])
    assert [x.b.shape for x in np.exp(stack)] == [(3, 3), (2, 3)]
    assert (np.ones(3) + stack)[1].b.shape == (2, 3)


def test_a_bare_array() -> None:
    c: Any = na.Container(W)  # to checkers np.sum(c) is an array of NumPy's
    assert_close(np.sum(c, axis=0).leaves()[0], W.sum(0))
    assert_close((W + c).leaves()[0], 2 * W)
    # functions without an op take it as an array, as np.asarray does
    assert_close(np.spacing(c), np.spacing(W))
    assert_close(np.ediff1d(c), np.ediff1d(W))
    assert_close(np.sum(c, where=W > 0), W[W > 0].sum())
    assert_close(np.block([c, c]), np.block([W, W]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (np.spacing, "np.spacing: got a Container, and there is no op of this name; use c.map(lambda x: np.spacing(x, …)), which calls it on each leaf"),
        (lambda c: np.multiply.outer(c, c), "np.multiply.outer: got a Container, and there is no op of this name; use c.map(lambda x: np.multiply.outer(x, …)), which calls it on each leaf"),
        (lambda c: np.linalg.cond(c), "np.linalg.cond: got a Container, and there is no op of this name; use c.map(lambda x: np.linalg.cond(x, …)), which calls it on each leaf"),
        (lambda c: np.sum(c, where=W > 0), "np.sum with where: got a Container, and na.sum has no such setting; use c.map(lambda x: np.sum(x, …)), which calls it on each leaf"),
        (lambda c: np.mean(c, dtype="float32"), "np.mean with dtype: got a Container, and na.mean has no such setting; use c.map(lambda x: np.mean(x, …)), which calls it on each leaf"),
        (lambda c: np.array_equal(c, c), "np.array_equal: got a Container, and there is no op of this name; use (c == d).tree_all(), or c.diff(d)"),
        (lambda c: np.save("x.npy", c), "np.save: got a Container, and there is no op of this name; use c.save(path)"),
        (lambda c: np.put_along_axis(c, np.zeros((3, 1), int), 0, 1), "np.put_along_axis: got a Container, and there is no op of this name; use c = c.set(path, x), because a Container is immutable"),
        (lambda c: operator.iadd(np.ones(3), c), "np.add: a Container cannot be written into an array; instead of x += c, write c = x + c"),
        (scipy.special.expit, "expit: got a Container, and there is no op of this name; use c.map(lambda x: expit(x, …)), which calls it on each leaf"),
    ],
)  # fmt: skip
def test_functions_without_an_op_name_a_replacement(
    call: Callable[[Any], Any], message: str
) -> None:
    with pytest.raises(errors.UnsupportedError) as caught:
        call(na.Container(TREE))
    assert str(caught.value) == message


def test_nothing_becomes_an_array_in_silence() -> None:
    with pytest.raises(errors.StructureError, match=r"^__array__: this Container is a tree of arr"):
        np.asarray(na.Container(TREE))

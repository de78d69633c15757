"""Repeated calls of an op on similar leaves: results, errors and dtypes equal the first call's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.container.leaf_kinds import leaf_kinds
from nestarray.dispatch.operation import Op
from nestarray.testing import assert_close

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "add": na.add,
    "less": na.less,
    "number second": lambda x, y: na.multiply(x, 2.5),
    "number first": lambda x, y: na.subtract(1.5, y),
    "one": lambda x, y: na.exp(x),
    "int beside floats": lambda x, y: na.add(x, 2),
    "number by its name": lambda x, y: na.pinv(na.expand_dims(x, 0), rtol=0.1),
}


def trees(backend: str, dtype: str = "float32") -> tuple[na.Container, na.Container]:
    convert = backends.core(backend).from_numpy
    x, y = np.linspace(0.5, 2, 4).astype(dtype), np.linspace(2, 1, 4).astype(dtype)
    left = na.Container(a=convert(x), b=[convert(x[:2]), convert(x[:1])])
    return left, na.Container(a=convert(y), b=[convert(y[:2]), convert(y[:1])])


@pytest.mark.parametrize("call", CALLS)
def test_further_calls_give_the_same(backend: str, call: str) -> None:
    left, right = trees(backend)
    function = CALLS[call]
    expected = [function(x, y) for x, y in zip(left.leaves(), right.leaves(), strict=True)]
    for _ in range(3):
        found = function(left, right)
        assert found.spec is left.spec
        assert_close(list(found.leaves()), expected)


def test_errors_of_further_calls_name_the_leaf(backend: str) -> None:
    left, right = trees(backend)
    na.add(left, right)
    other = right.set("b/0", backends.core(backend).from_numpy(np.ones(3, "float32")))
    for _ in range(2):
        with pytest.raises(Exception, match="do not broadcast") as caught:
            na.add(left, other)
        assert "at the Container path 'b/0'" in caught.value.__notes__


def test_trees_of_other_dtypes_promote(backend: str) -> None:
    left, right = trees(backend)
    na.add(left, right)
    halves = na.astype(right, "float16")
    for _ in range(2):
        found = na.add(halves, halves)
        assert {na.dtype_of(x) for x in found.leaves()} == {na.float16}
        found = na.add(left, halves)
        assert {na.dtype_of(x) for x in found.leaves()} == {na.float32}


def test_tensors_that_change_their_dtype_in_place() -> None:
    import torch

    left, right = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    trees = [na.Container({"w": net.weight, "b": net.bias}) for net in (left, right)]
    with torch.no_grad():
        na.add(*trees)
        right.half()
        found = [na.add(*trees) for _ in range(2)]
        right.to(torch.float64)
        found += [na.add(*trees) for _ in range(2)]
    dtypes = [{na.dtype_of(x) for x in c.leaves()} for c in found]
    assert dtypes == [{na.float32}] * 2 + [{na.float64}] * 2


def test_an_array_object_takes_another_dtype() -> None:
    x = na.Container(np.ones(3, "float32"))
    na.add(x, x)
    x[...] = np.zeros(3, "float32")
    assert_close(na.add(x, x).leaves()[0], np.zeros(3, "float32"))


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32"])
def test_results_carry_their_inferred_dtypes(backend: str, dtype: str) -> None:
    left, right = trees(backend, dtype)
    calls = [
        lambda: na.add(left, right), lambda: na.multiply(left, 2), lambda: na.subtract(left, right),
        lambda: na.divide(left, right), lambda: na.sqrt(left), lambda: na.less(left, right),
    ]  # fmt: skip
    noted = 0
    for call in calls:
        call()
        found = call()
        # inferred dtypes and types equal the arrays': chains are right
        noted += found._note is not None
        assert found._note in (None, leaf_kinds(na.Container(found.to_dict())))
    assert noted >= 2
    x, y = left["b/0"], right["b/0"]
    found = na.subtract(na.less(left, right) * 1.0, left)["b/0"]
    assert_close(found, na.subtract(na.multiply(na.less(x, y), 1.0), x))


def test_transformations_see_later_calls() -> None:
    import torch

    left, _ = trees("torch")
    for _ in range(3):
        na.exp(left * 2.0 + left)
    rows = left.map(lambda x: torch.stack([x, x + 1]))
    mapped = torch.func.vmap(lambda c: na.exp(c * 2.0 + c))(rows)
    assert_close(mapped, rows.map(lambda x: torch.exp(3 * x)))
    _, slope = torch.func.jvp(lambda c: na.exp(c * 2.0 + c), (left,), (left,))
    assert_close(slope, left.map(lambda x: 3 * x * torch.exp(3 * x)))


def test_scalars_among_results_are_looked_for() -> None:
    """NumPy gives scalars for 0-d arrays, so nothing is inferred of those."""
    c = na.Container(a=np.ones(2, "float32"), b=np.asarray(2.0, "float32"))
    for _ in range(3):
        found = (c + c) * c
    assert type(found["b"]) is np.float32
    assert_close(found["a"], np.full(2, 2, "float32"))
    assert (c + c)._note is None


def test_functions_that_take_axes_away_are_not_inferred() -> None:
    c = na.Container(a=np.ones(2, "float32"), b=np.ones(3, "float32"))
    for _ in range(3):
        found = na.matmul(c, c)
    assert [type(x) for x in found.leaves()] == [np.float32, np.float32]
    assert_close(found + found, na.Container(a=np.float32(4), b=np.float32(6)))


def test_pairs_of_ints_are_not_checked_again(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("slow")

    monkeypatch.setattr(Op, "check_settings", refuse)
    x = backends.core(backend).from_numpy(np.ones((1, 1, 4, 4), np.float32))
    out = na.max_pool2d(x, kernel_size=(2, 2), stride=[2, 2], padding=0)
    assert tuple(out.shape) == (1, 1, 2, 2)

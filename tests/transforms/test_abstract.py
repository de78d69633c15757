"""Abstract evaluation: shapes and dtypes of all ops, with one open size at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import dtypes, errors, tree
from nestarray.sizes import named, value_at
from nestarray.transforms.abstract import Abstract, Scope, UndecidedSize
from tests.cases import Case, all_cases, convert

#: How a function fails that asks for the number of a size.
_UNKNOWN = (UndecidedSize, TypeError, NotImplementedError, errors.NestarrayError)

#: Reason → the ops that have no abstract result for some size of their cases.
UNKNOWN = {
    "values decide the size of the result": "argwhere bincount getitem intersect1d nms nonzero "
    "random_gamma setdiff1d setxor1d union1d unique_all unique_counts unique_inverse unique_values",
    "the kernel is a loop over its elements": "avg_pool2d conv conv1d conv2d conv3d conv_transpose "
    "conv_transpose1d conv_transpose2d conv_transpose3d convolve correlate depthwise_conv lp_pool "
    "max_pool2d max_pool_with_indices separable_conv",
    "the size is the number of steps or of parts": "array_split chunk dsplit fill_diagonal gather_nd "
    "gru histogramdd householder_product hsplit lstm lu lu_factor lu_solve polyval scatter_nd split "
    "unstack vsplit",
    "positions of NumPy are as many as the size": "dct diag diagflat idct istft pdist stft",
    "the size is a number of the formula": "crop_and_resize fractional_max_pool1d fractional_max_pool2d "
    "fractional_max_pool3d interp kl_div multi_margin_loss multilabel_margin_loss roi_align",
    "a setting that is a number": "broadcast_to",
}


def _sizes(case: Case) -> list[int]:
    with np.errstate(all="ignore"):
        drawn = case.draw("float32")
    arrays = [x for x in tree.leaves(list(drawn)) if isinstance(x, np.ndarray)]
    return sorted({n for x in arrays for n in x.shape if n})


def _abstract(case: Case, size: int) -> tuple[Any, Scope]:
    """The result of a case whose axes of one size are open."""
    scope = Scope({"n": (1, None)}, (), {"n": size}, str)

    def stand_in(x: np.ndarray) -> Abstract:
        return Abstract(
            [named("n") if n == size else n for n in x.shape], dtypes.dtype_of(x), scope
        )

    with np.errstate(all="ignore"):
        args, kwargs = convert(case.draw("float32"), stand_in)
    return case.record.function(*args, **kwargs), scope


def _real(case: Case, size: int, other: int) -> Any:
    """The result on arrays in which another number is in place of a size."""

    def resized(x: np.ndarray) -> np.ndarray:
        return np.resize(x, [other if n == size else n for n in x.shape])

    with np.errstate(all="ignore"):
        args, kwargs = convert(case.draw("float32"), resized)
        return case.record.function(*args, **kwargs)


def _leaves(nest: Any) -> list[Any]:
    return [y for x in nest for y in _leaves(x)] if isinstance(nest, (list, tuple)) else [nest]


CASES = [case for case in all_cases() if "numpy" in case.backends and case.jit]
MAY_BE_UNKNOWN = {op for ops in UNKNOWN.values() for op in ops.split()}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.on("numpy"))
def test_shapes_at_other_sizes(case: Case) -> None:
    for size in _sizes(case):
        try:
            result, scope = _abstract(case, size)
        except _UNKNOWN:
            assert case.op in MAY_BE_UNKNOWN, size
            continue
        for other in (size, size + 1, size + 2, 2 * size, 1):
            if not all(condition.holds({"n": other}) for condition in scope.conditions):
                continue
            try:
                want = _real(case, size, other)
            except Exception:  # arrays of this size do not fit the settings of the case
                assert other != size
                continue
            pairs = zip(_leaves(result), _leaves(want), strict=True)
            for x, y in ((x, y) for x, y in pairs if isinstance(x, Abstract)):
                assert tuple(value_at(n, {"n": other}) for n in x.sizes) == np.shape(y), (
                    size,
                    other,
                )
                assert x.dtype is dtypes.dtype_of(y)


@pytest.mark.full
def test_each_exception_is_needed() -> None:
    needed = set()
    for case in CASES:
        for size in _sizes(case):
            try:
                _abstract(case, size)
            except _UNKNOWN:
                needed.add(case.op)
    assert needed == MAY_BE_UNKNOWN


def test_open_sizes_in_python_code() -> None:
    scope = Scope({"n": (2, None)})
    n = Abstract([named("n")], na.float32, scope).shape[0]
    assert n >= 2
    assert n - n == 0
    assert str(n * 2 // 4 + 1) == "n // 2 + 1"
    assert (n * n) % n == 0
    with pytest.raises(UndecidedSize, match="decides by a size: n > 5"):
        bool(n > 5)
    with pytest.raises(TypeError):
        range(n)


def test_the_example_answers_and_the_answers_are_conditions() -> None:
    scope = Scope({"n": (1, None), "m": (1, None)}, (), {"n": 4, "m": 4}, lambda: "line 3")
    x, y = (Abstract([named(name), 3], na.float32, scope) for name in "nm")
    assert str(na.add(x, y)) == "Abstract(float32[n, 3])"
    assert {str(condition): condition.line for condition in scope.conditions} == {
        "n == m": "line 3"
    }
    with pytest.raises(errors.ShapeError, match="expected sizes with 3 \\* n == 5"):
        na.reshape(x, (5,))


def test_control_flow() -> None:
    x = Abstract([named("n"), 3], na.float32, Scope({}))
    last, rows = na.scan(lambda c, row: (c + row, c * 2), na.zeros((3,), like=x), x)
    assert (str(last), str(rows)) == ("Abstract(float32[3])", "Abstract(float32[n, 3])")
    assert na.cond(na.sum(x) > 0, lambda: x, lambda: -x).sizes == x.sizes

"""PyTorch: `nestarray.ops.searching`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.backends.checks.positions import check_sorter
from nestarray.backends.promotion import choosing
from nestarray.backends.torch.core import FLOATING
from nestarray.backends.torch.derivatives import is_observed
from nestarray.backends.torch.integers import LACKING, by_bits, by_order
from nestarray.backends.torch.promotion import cast, promoted
from nestarray.errors import ShapeError
from nestarray.numerics.axes import one_axis
from nestarray.numerics.results import TopKResult


def _where_by_bits(condition: Any, x1: Any, x2: Any) -> Any:
    """`torch.where`, also of unsigned integers, for which PyTorch 2.11 has no kernel."""
    if getattr(x1, "dtype", None) not in LACKING:
        return torch.where(condition, x1, x2)
    return by_bits(lambda x1, x2: torch.where(condition, x1, x2))(x1, x2)


where = choosing(
    torch.where if torch.__version__ >= "2.13" else _where_by_bits,
    cast,
    boolean=torch.bool,
    scalar_ok=lambda dtype: dtype not in LACKING,
)


def _numbers(x: Any) -> Any:
    return x.to(torch.uint8) if x.dtype is torch.bool else x


_argmax, _argmin = by_order(torch.argmax), by_order(torch.argmin)


def _search(x1: Any, x2: Any, side: str) -> Any:
    if portable.are_wanted():
        return portable.searchsorted(x1, x2, side)
    return torch.searchsorted(x1, x2, side=side)


_search_integers = by_order(_search)


def _placed(search: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    if axis is None:
        found = search(_numbers(x))
        return found.reshape((1,) * x.ndim) if keepdims else found
    if not x.ndim:  # torch accepts axes 0 and -1 of a 0-d tensor
        one_axis(axis, 0, "axis")
    return search(_numbers(x), axis, keepdims)


def argmax(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.argmax.html"""
    if x.dtype in FLOATING:
        if axis is None and keepdims is False:
            return torch.argmax(x)
        if axis.__class__ is int and x.ndim:
            return torch.argmax(x, axis, keepdims)
    return _placed(_argmax, x, axis, keepdims)


def argmin(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.argmin.html"""
    if x.dtype in FLOATING:
        if axis is None and keepdims is False:
            return torch.argmin(x)
        if axis.__class__ is int and x.ndim:
            return torch.argmin(x, axis, keepdims)
    return _placed(_argmin, x, axis, keepdims)


@supports(lambda *_, size=None, **_settings: size is None)
def nonzero(x: Any, /, *, size: int | None = None, fill_value: Any = 0) -> tuple[Any, ...]:
    """https://docs.pytorch.org/docs/stable/generated/torch.nonzero.html"""
    if not x.ndim:
        raise ShapeError("nonzero: x: got an array of shape (), expected at least one axis")
    return torch.nonzero(x != 0 if x.dtype in LACKING else x, as_tuple=True)


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.searchsorted.html"""
    if x1.ndim != 1:  # torch accepts as many rows as x2 has
        raise ValueError("x1 is no vector")
    if side.__class__ is not str:
        raise TypeError("PyTorch takes None for 'left'")
    dtype = x1.dtype
    is_plain = dtype is getattr(x2, "dtype", None) and dtype not in LACKING and sorter is None
    if not (is_plain and x1.is_contiguous() and x2.is_contiguous()):
        x1, x2 = (x.contiguous() for x in promoted((x1, x2)))
    if sorter is not None:
        check_sorter("searchsorted", {"x1": x1, "sorter": sorter})
        x1 = x1[sorter]
    if x1.dtype not in FLOATING:
        return _search_integers(x1, x2, side)
    if x1.is_cpu and not is_observed() and not (len(x1) and x1[-1].isnan()):
        return torch.searchsorted(x1, x2, side=side)
    # torch compares NaN in x1, which are at the end, as if all numbers were larger
    found = _search(torch.where(x1.isnan(), torch.inf, x1), x2, side)
    numbers = torch.minimum(found, x1.isnan().logical_not().sum())
    return numbers if side == "left" else torch.where(x2.isnan(), found, numbers)


def top_k(x: Any, /, k: int, *, axis: int = -1, largest: bool = True) -> TopKResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.topk.html"""
    if not x.ndim:
        one_axis(axis, 0, "top_k")
    if x.dtype in LACKING:
        indices = _topk(x, k, axis, largest)[1]
        return TopKResult(by_bits(torch.gather)(x, axis, indices), indices)
    return TopKResult(*_first_of_equals(x, k, axis, largest))


def _first_of_equals(x: Any, k: int, axis: int, largest: bool) -> Any:
    """``torch.topk``, which selects any of equal elements; for ties, the first ones in order."""
    if x.is_cpu and not is_observed():  # on other devices the test would synchronize
        found = torch.topk(x, k, axis, largest)
        values = found.values.detach()
        if k == 0 or not (
            (values.diff(dim=axis) == 0).any()
            or ((x == values.narrow(axis, k - 1, 1)).sum(axis) > 1).any()
        ):
            return found
    found = torch.sort(x, dim=axis, descending=largest, stable=True)
    return found.values.narrow(axis, 0, k), found.indices.narrow(axis, 0, k)


_topk = by_order(_first_of_equals)

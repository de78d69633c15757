"""Ops that are operators in every framework: ``x + y`` for ``add(x, y)``."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from nestarray import dtypes
from nestarray.backends.base import supports
from nestarray.dtypes import dtype_of


def _keeps_dtype(*args: Any) -> bool:
    """Whether no operand is promoted; each framework promotes by its own rules."""
    kinds = {dtype_of(x) for x in args if hasattr(x, "dtype")}
    return kinds == {dtypes.result_dtype(*args)} and dtypes.bool not in kinds


def _is_floating(*args: Any) -> bool:
    return _keeps_dtype(*args) and dtypes.result_dtype(*args).is_inexact


def _is_bool(*args: Any) -> bool:
    return all(hasattr(x, "dtype") and dtype_of(x) is dtypes.bool for x in args)


def _is_matrix(*args: Any) -> bool:
    return _keeps_dtype(*args) and all(len(x.shape) > 1 for x in args)


def _form(condition: Callable[..., bool], function: Callable[..., Any]) -> Callable[..., Any]:
    return supports(condition)(lambda *args: function(*args))


add = _form(_keeps_dtype, operator.add)
subtract = _form(_keeps_dtype, operator.sub)
multiply = _form(_keeps_dtype, operator.mul)
divide = _form(_is_floating, operator.truediv)
pow = _form(_is_floating, operator.pow)
negative = _form(_keeps_dtype, operator.neg)
matmul = _form(_is_matrix, operator.matmul)
equal = _form(_keeps_dtype, operator.eq)
not_equal = _form(_keeps_dtype, operator.ne)
less = _form(_keeps_dtype, operator.lt)
less_equal = _form(_keeps_dtype, operator.le)
greater = _form(_keeps_dtype, operator.gt)
greater_equal = _form(_keeps_dtype, operator.ge)
logical_and = _form(_is_bool, operator.and_)
logical_or = _form(_is_bool, operator.or_)
logical_not = _form(_is_bool, operator.invert)

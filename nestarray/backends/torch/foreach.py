"""PyTorch: ops on the leaves of a whole tree in one call.

torch's ``foreach`` functions take lists of tensors and save the transition from Python to C++ for
each tensor. They return the values of `nestarray.backends.torch.elementwise` for leaves of one
dtype, and None if the caller must go leaf by leaf. ``for_dtype`` returns a version without dtype
checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends.torch.derivatives import is_observed

_WIDE = (torch.float32, torch.float64)

_Many = Callable[..., "tuple[torch.Tensor, ...] | None"]


def covers(t: type) -> bool:
    """Whether the functions support arguments of type `t`; other subclasses have their own rules."""
    return t in (torch.Tensor, torch.nn.Parameter, bool, int, float)


def _unary(native: Callable[[Any], Any]) -> _Many:
    def many(leaves: Any) -> tuple[torch.Tensor, ...] | None:
        if is_observed():
            return None
        try:
            return tuple(native(leaves))
        except RuntimeError:  # no kernel, or an error that the calls per leaf report
            return None

    def alike(leaves: Any) -> tuple[torch.Tensor, ...] | None:
        return None if is_observed() else tuple(native(leaves))

    many.for_dtype = lambda dtype: alike  # type: ignore[attr-defined]
    return many


def _binary(
    native: Callable[[Any, Any], Any], *, commutes: bool = False, takes_tensors: bool = True
) -> _Many:
    def many(left: Any, right: Any) -> tuple[torch.Tensor, ...] | None:
        if commutes and left.__class__ is not tuple:
            left, right = right, left
        if left.__class__ is not tuple or is_observed():
            return None
        try:
            if right.__class__ is tuple:
                for x, y in zip(left, right):
                    if x.dtype is not y.dtype:
                        return None
            elif right.__class__ in (int, float):
                # narrow types would compute with it in single precision, unlike an array
                if any(x.dtype not in _WIDE for x in left):
                    return None
            elif right.ndim or any(x.dtype is not right.dtype for x in left):
                return None  # promotion or broadcasting
            return tuple(native(left, right))
        except RuntimeError:  # the calls per leaf report the error
            return None
        except AttributeError:  # a Python number has no dtype
            return None

    def alike(left: Any, right: Any) -> tuple[torch.Tensor, ...] | None:
        if is_observed():
            return None
        if left.__class__ is not tuple:
            left, right = right, left
        if right.__class__ is not tuple and takes_tensors and left[0].is_cpu:
            # on the CPU, torch makes a tensor of a number again for each leaf
            right = torch.tensor(right, dtype=left[0].dtype)
        return tuple(native(left, right))

    def for_dtype(dtype: torch.dtype, *numbers: Any) -> _Many | None:
        takes_numbers = dtype in _WIDE and all(n.__class__ in (int, float) for n in numbers)
        return alike if takes_numbers or not numbers else None

    many.for_dtype = for_dtype  # type: ignore[attr-defined]
    return many


abs = _unary(torch._foreach_abs)
exp = _unary(torch._foreach_exp)
negative = _unary(torch._foreach_neg)
sqrt = _unary(torch._foreach_sqrt)


def lerp(start: Any, end: Any, weight: Any) -> tuple[torch.Tensor, ...] | None:
    """All leaves with one number as weight."""
    are_columns = start.__class__ is end.__class__ is tuple and weight.__class__ is float
    if not are_columns or is_observed():
        return None
    if any(x.dtype is not y.dtype or x.dtype not in _WIDE for x, y in zip(start, end)):
        return None
    try:
        return tuple(torch._foreach_lerp(start, end, weight))
    except RuntimeError:  # the calls per leaf report the error
        return None


add = _binary(torch._foreach_add, commutes=True)
subtract = _binary(torch._foreach_sub, takes_tensors=False)
multiply = _binary(torch._foreach_mul, commutes=True)
divide = _binary(torch._foreach_div)

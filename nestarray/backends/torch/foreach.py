"""PyTorch: ops on the leaves of a whole tree in one call.

torch's ``foreach`` functions, which its optimizers are built on, take lists of tensors
and save the way from Python to C++ and back for each of them. The values are those of
the functions in `nestarray.backends.torch.elementwise`, for leaves whose dtypes settle
promotion. A result of None says: not for these, go leaf by leaf. Of leaves that are known to be
of one dtype, what ``of_dtype`` gives looks at none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends.torch.derivatives import is_observed

_WIDE = (torch.float32, torch.float64)

_Many = Callable[..., "tuple[torch.Tensor, ...] | None"]


def covers(t: type) -> bool:
    """Whether the functions here are for arguments of type `t`; subclasses have their own rules."""
    return t in (torch.Tensor, torch.nn.Parameter, bool, int, float)


def _unary(native: Callable[[Any], Any]) -> _Many:
    def many(leaves: Any) -> tuple[torch.Tensor, ...] | None:
        if is_observed():
            return None
        try:
            return tuple(native(leaves))
        except RuntimeError:  # a dtype without kernels; or leaf by leaf the error names the path
            return None

    def alike(leaves: Any) -> tuple[torch.Tensor, ...] | None:
        return None if is_observed() else tuple(native(leaves))

    many.of_dtype = lambda dtype: alike  # type: ignore[attr-defined]
    return many


def _binary(native: Callable[[Any, Any], Any], *, commutes: bool = False) -> _Many:
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
            # a number: narrow types would compute with it in single precision, an array does not;
            # a tensor for all leaves: left to broadcasting
            elif right.__class__ not in (int, float) or any(x.dtype not in _WIDE for x in left):
                return None
            return tuple(native(left, right))
        except RuntimeError:  # leaf by leaf, the error will name the path
            return None
        except AttributeError:  # a number among the leaves has no dtype
            return None

    def alike(left: Any, right: Any) -> tuple[torch.Tensor, ...] | None:
        if is_observed():
            return None
        return tuple(native(left, right) if left.__class__ is tuple else native(right, left))

    def of_dtype(dtype: torch.dtype, *numbers: Any) -> _Many | None:
        takes_numbers = dtype in _WIDE and all(n.__class__ in (int, float) for n in numbers)
        return alike if takes_numbers or not numbers else None

    many.of_dtype = of_dtype  # type: ignore[attr-defined]
    return many


abs = _unary(torch._foreach_abs)
exp = _unary(torch._foreach_exp)
negative = _unary(torch._foreach_neg)
sqrt = _unary(torch._foreach_sqrt)

add = _binary(torch._foreach_add, commutes=True)
subtract = _binary(torch._foreach_sub)
multiply = _binary(torch._foreach_mul, commutes=True)
divide = _binary(torch._foreach_div)

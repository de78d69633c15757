"""PyTorch: `nestarray.ops.logic`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from nestarray.backends.torch import integers
from nestarray.backends.torch.core import INEXACT
from nestarray.backends.torch.integers import LACKING, by_order, guarded, through_int64
from nestarray.backends.torch.promotion import promoting
from nestarray.dynamo import traced_as

_NO_INTEGERS = INEXACT | {torch.bool}


def _of_tensors(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, with a Python number converted to a tensor."""

    @traced_as(lambda x1, x2, /: native(x1 != 0, x2 != 0))
    def of_tensors(x1: Any, x2: Any, /) -> Any:
        try:
            return native(x1, x2)
        except RuntimeError:  # wide unsigned integers: neither kernel nor promotion
            return native(x1 != 0, x2 != 0)

    def call(x1: Any, x2: Any, /) -> Any:
        return of_tensors(torch.as_tensor(x1), torch.as_tensor(x2))

    def select(types: tuple[type, ...]) -> Callable[..., Any]:
        return of_tensors if all(issubclass(t, torch.Tensor) for t in types) else call

    call.select = select
    return call


def _of_integers(native: Callable[..., Any]) -> Callable[..., Any]:
    """`native`, which would multiply floats by powers of 2 and shift the bytes of bools."""

    def call(x1: Any, x2: Any, /) -> Any:
        if x1.dtype in _NO_INTEGERS:
            raise TypeError("not implemented for 'floats' and 'bools'")
        return native(x1, x2)

    return call


isfinite = torch.isfinite
isinf = torch.isinf
isneginf = torch.isneginf
isposinf = torch.isposinf
isnan = torch.isnan
logical_not = guarded(torch.logical_not, lambda x: x == 0)
signbit = torch.signbit

_bitwise_invert = through_int64(torch.bitwise_not)


def bitwise_invert(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.bitwise_not.html"""
    return _bitwise_invert(x) if x.dtype in LACKING else torch.bitwise_not(x)


equal = promoting(torch.eq, otherwise=by_order(torch.eq), compares=True)
not_equal = promoting(torch.ne, otherwise=by_order(torch.ne), compares=True)
less = promoting(torch.lt, otherwise=by_order(torch.lt), compares=True)
less_equal = promoting(torch.le, otherwise=by_order(torch.le), compares=True)
greater = promoting(torch.gt, otherwise=by_order(torch.gt), compares=True)
greater_equal = promoting(torch.ge, otherwise=by_order(torch.ge), compares=True)
bitwise_and = promoting(torch.bitwise_and)
bitwise_or = promoting(torch.bitwise_or)
bitwise_xor = promoting(torch.bitwise_xor)
bitwise_left_shift = promoting(
    _of_integers(torch.bitwise_left_shift), otherwise=integers.shift_left
)
bitwise_right_shift = promoting(
    _of_integers(torch.bitwise_right_shift), otherwise=integers.shift_right
)

logical_and = _of_tensors(torch.logical_and)
logical_or = _of_tensors(torch.logical_or)
logical_xor = _of_tensors(torch.logical_xor)

"""PyTorch: `nestarray.ops.elementwise`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends.base import promoting
from nestarray.backends.torch.core import native_dtype


def _cast(x: Any, dtype: Any) -> Any:
    return torch.as_tensor(x, dtype=native_dtype(dtype))


abs = torch.abs
exp = torch.exp
negative = torch.negative
positive = torch.positive
bitwise_invert = torch.bitwise_not

add = promoting(torch.add, _cast, scalar_ok=False)
subtract = promoting(torch.subtract, _cast, scalar_ok=False)
multiply = promoting(torch.multiply, _cast, scalar_ok=False)
divide = promoting(torch.true_divide, _cast, scalar_ok=False)
floor_divide = promoting(torch.floor_divide, _cast, scalar_ok=False)
remainder = promoting(torch.remainder, _cast, scalar_ok=False)
pow = promoting(torch.pow, _cast, scalar_ok=False)
bitwise_and = promoting(torch.bitwise_and, _cast, scalar_ok=False)
bitwise_or = promoting(torch.bitwise_or, _cast, scalar_ok=False)
bitwise_xor = promoting(torch.bitwise_xor, _cast, scalar_ok=False)
bitwise_left_shift = promoting(torch.bitwise_left_shift, _cast, scalar_ok=False)
bitwise_right_shift = promoting(torch.bitwise_right_shift, _cast, scalar_ok=False)
equal = promoting(torch.eq, _cast, scalar_ok=False)
not_equal = promoting(torch.ne, _cast, scalar_ok=False)
less = promoting(torch.lt, _cast, scalar_ok=False)
less_equal = promoting(torch.le, _cast, scalar_ok=False)
greater = promoting(torch.gt, _cast, scalar_ok=False)
greater_equal = promoting(torch.ge, _cast, scalar_ok=False)

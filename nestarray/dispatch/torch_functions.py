"""PyTorch's functions that meet a Container: operators with a tensor are ours, others refuse.

In a plain call PyTorch gives up on ``x + c`` and Python asks the Container. torch.compile does
not get that far, neither in ``x + c`` nor in ``c + x``; it asks ``__torch_function__``, and so
does a plain call if a class has it. The arguments are the tensor's method and the tensor first,
for ``c - x`` thus ``__rsub__``. Its table of these methods lacks ``@``, which is added when it is
imported.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from nestarray import lazy_imports
from nestarray.container import Container
from nestarray.dispatch.operation import OPS
from nestarray.errors import ArgumentError
from nestarray.errors.unknown_names import suggestion

_OPERATORS: dict[str, str] = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide",
    "__floordiv__": "floor_divide", "remainder": "remainder", "pow": "pow",
    "__and__": "bitwise_and", "__or__": "bitwise_or", "__xor__": "bitwise_xor",
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor",
    "__lshift__": "bitwise_left_shift", "__rshift__": "bitwise_right_shift",
    "matmul": "matmul", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal", "eq": "equal", "ne": "not_equal", "__eq__": "equal",
}  # fmt: skip
_REFLECTED: dict[str, str] = {
    "__rsub__": "subtract", "__rdiv__": "divide", "__rfloordiv__": "floor_divide",
    "__rmod__": "remainder", "__rpow__": "pow", "__rlshift__": "bitwise_left_shift",
    "__rrshift__": "bitwise_right_shift", "__rmatmul__": "matmul",
}  # fmt: skip


def _torch_function(
    func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
) -> Any:
    """What `func` of PyTorch is when one of its arguments is a Container."""
    name = getattr(func, "__name__", "")
    if len(args) == 2 and not kwargs:
        if name in _OPERATORS:
            return OPS[_OPERATORS[name]].function(*args)
        if name in _REFLECTED:
            return OPS[_REFLECTED[name]].function(args[1], args[0])
    own = (suggestion("nestarray", name) or name).removeprefix("na.")
    ours = f"na.{own}(…) or " if own in OPS else ""
    raise ArgumentError(
        f"torch: {name}: got a Container, expected tensors; use {ours}c.map(fn) with a function "
        "of one leaf"
    )


def _let_torch_compile_read_matmul() -> None:
    """Complete torch.compile's tables of operators, from which it leaves ``@`` out.

    They are of operators that a tensor reflects, and of those that objects have.
    """
    import torch
    from torch._dynamo.variables import builtin

    reflected = getattr(builtin, "BUILTIN_TO_TENSOR_RFN_MAP", None)
    if reflected is not None:
        reflected.setdefault(operator.matmul, torch.Tensor.__rmatmul__)
    of_objects = getattr(builtin.BuiltinVariable, "_binops", None)
    if of_objects is not None:
        names = ["__matmul__", "__rmatmul__", "__matmul__"]  # ``@=`` stays as torch has it
        of_objects().setdefault(operator.matmul, (names, operator.matmul))


lazy_imports.after_import("torch._dynamo.variables.builtin", _let_torch_compile_read_matmul)
Container.__torch_function__ = staticmethod(_torch_function)  # type: ignore[attr-defined]

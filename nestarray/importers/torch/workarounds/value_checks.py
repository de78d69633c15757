"""Checks of values in forward, which a graph drops; see `nestarray.importers.torch.checks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from nestarray.importers.torch.checks import check_here
from nestarray.importers.torch.workarounds import reproducers
from nestarray.importers.workarounds import Workaround


def _bool_of_tensor(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    def answer(tensor: Any) -> bool:
        return _passed(trace, native, tensor)

    return answer


def _bool_of_number(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    """The bool of a comparison of ``x.item()``; those of sizes are conditions of the graph."""

    def __bool__(self: Any) -> bool:
        return _passed(trace, native, self) if free_unbacked_symbols(self) else native(self)

    return __bool__


def _passed(trace: Any, native: Callable[..., Any], value: Any) -> bool:
    """The bool of a value; that of a passed check, which is noted, where nothing else asks."""
    check = check_here()
    if check is None:
        return native(value)
    trace.checks[check.text] = None
    return check.answer


def _assert(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    def call(condition: Any, message: str) -> None:
        if isinstance(condition, torch.Tensor):
            trace.checks["torch._assert"] = None
        else:
            native(condition, message)

    return call


def _assert_close(trace: Any, native: Callable[..., Any]) -> Callable[..., Any]:
    def call(actual: Any, expected: Any, **settings: Any) -> None:
        trace.checks["torch.testing.assert_close"] = None

    return call


VALUE_CHECKS = Workaround(
    "checks of values",
    "asserts, and conditions before errors, read values",
    (reproducers.assertion,),
    functions={"torch.Tensor.__bool__": _bool_of_tensor, "torch._assert": _assert},
)
CHECKS_OF_NUMBERS = Workaround(
    "checks of numbers",
    "asserts, and conditions before errors, read the values of x.item()",
    (reproducers.assertion_of_number,),
    attributes={
        "torch.SymBool.__bool__": _bool_of_number,
        "torch.testing.assert_close": _assert_close,
    },
)

"""What torch.compile is told about code that it reads instead of running it.

It follows Python line by line and guards whatever it looks at. Tables that fill as calls
come, locks and interned objects are nothing to follow. So functions whose results depend on
structures and types alone are marked `settled`: it calls them, and the result is a constant
of the program. And where code would note something for the next call, it asks `is_read`
first: a note that was made while the program was read would fail the guard that it was not.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class _Results:
    """What settled functions have returned, as attributes: objects that guards can name."""


_results = _Results()


def read_as(read: Callable[..., Any]) -> Callable[[Function], Function]:
    """Let torch.compile read `read`, of the same parameters, where a function is called."""

    def mark(function: Function) -> Function:
        function._torchdynamo_inline = read  # type: ignore[attr-defined]
        return function

    return mark


def settled(function: Function) -> Function:
    """Let torch.compile call a function of structures, types and names, and keep the result.

    ``torch.compiler.assume_constant_result`` alone gives an object that no guard can name. Results
    are kept as long as the process lives; structures and types are few.
    """

    def settle(*args: Any, **kwargs: Any) -> str:
        result = function(*args, **kwargs)
        name = f"_{id(result)}"  # which stays its own, because the result is kept
        setattr(_results, name, result)
        return name

    settle._dynamo_marked_constant = True  # type: ignore[attr-defined]

    # with globals of its own and no closure: of methods torch.compile looks for cells in the wrong
    # function; and a __name__ would send it to that module
    names = {"settle": settle, "results": _results, "__builtins__": builtins.__dict__}
    return read_as(FunctionType(_read.__code__, names))(function)


def remembered(function: Function) -> Function:
    """`functools.cache` of a settled function; torch.compile warns where it meets that itself."""
    known: dict[tuple[Any, ...], Any] = {}

    @wraps(function)
    def call(*args: Any) -> Any:
        try:
            return known[args]
        except KeyError:
            pass  # an error of the function shall not stand behind this one
        result = known[args] = function(*args)
        return result

    return settled(call)  # type: ignore[return-value]


def _read(*args: Any, **kwargs: Any) -> Any:
    return getattr(results, settle(*args, **kwargs))  # type: ignore[name-defined]  # noqa: F821


@read_as(lambda: True)
def is_read() -> bool:
    """Whether torch.compile reads this call."""
    return False

"""What torch.compile is told about code that it reads instead of running it.

It follows Python line by line and guards whatever it looks at. Tables that fill as calls
come, locks and interned objects are nothing to follow. So functions whose results depend on
structures and types alone are marked `settled`: it calls them, and the result is a constant
of the program. And where code would note something for the next call, it asks `is_read`
first: a note that was made while the program was read would fail the guard that it was not.
A `ContextVariable` is a context variable that it reads as well.

PyTorch before 2.12 gives a settled function no objects, so there they end what it reads: it
compiles what is around calls of nestarray, and with ``fullgraph=True`` says why it cannot.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable
from contextvars import ContextVar, Token
from functools import wraps
from types import FunctionType
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])


#: What is called for settled functions, until torch.compile is imported.
_settling: list[Callable[..., str]] = []


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

    _settling.append(settle)
    if "torch._dynamo.variables" in sys.modules:
        mark_settled()

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


def mark_settled() -> None:
    """Say to torch.compile, which has been imported, what becomes of settled functions."""
    import torch

    takes_objects = torch.__version__ >= "2.12"  # a TorchVersion, which compares as versions do
    for settle in _settling:
        if takes_objects:
            settle._dynamo_marked_constant = True  # type: ignore[attr-defined]
        else:  # as torch.compiler.disable says it, which cannot be called while it is imported
            settle._torchdynamo_disable = True  # type: ignore[attr-defined]
            settle._torchdynamo_disable_msg = (  # type: ignore[attr-defined]
                "torch.compile reads calls of nestarray from PyTorch 2.12 on"
            )
    _settling.clear()


def _read(*args: Any, **kwargs: Any) -> Any:
    return getattr(results, settle(*args, **kwargs))  # type: ignore[name-defined]  # noqa: F821


@read_as(lambda: True)
def is_read() -> bool:
    """Whether torch.compile reads this call."""
    return False


def identity(x: Any) -> Any:
    """What tells an object that is alive from all others, as a key: its id.

    As torch.compile reads it, the object itself: tensors are keys there, alike where they are
    one. It would guard an id, and compile each call with other tensors anew.
    """
    return x if is_read() else id(x)


class ContextVariable(Generic[T]):
    """`contextvars.ContextVar`, which torch.compile cannot read.

    A value that was set before the program is a constant of it, under the guard that it is
    still the same. One that the program sets is an item of a list, as long as it is set.
    """

    def __init__(self, name: str, *, default: T) -> None:
        self._variable: ContextVar[T] = ContextVar(name, default=default)
        self._set: list[T] = []
        variable = self._variable

        def given() -> T:
            return variable.get()

        self._given = given
        _guarded.append(given)
        if "torch._dynamo.variables" in sys.modules:
            guard_context()

    def get(self) -> T:
        """The value now."""
        if is_read():
            return self._set[-1] if self._set else self._given()
        return self._variable.get()

    def set(self, value: T) -> Token[T] | None:
        """Set the value; returns what `reset` takes."""
        if is_read():
            self._set.append(value)
            return None
        return self._variable.set(value)

    def reset(self, token: Token[T] | None) -> None:
        """Set what was before."""
        if token is None:
            self._set.pop()
        else:
            self._variable.reset(token)


#: Functions of no arguments, whose results torch.compile is to take as they are, and to guard.
_guarded: list[Callable[[], Any]] = []


def guard_context() -> None:
    """Have torch.compile guard the values that context variables are given outside of it.

    It has no public way to say so; without its tables it stops where it meets one.
    """
    import torch
    from torch._dynamo.variables import torch as known

    for name in ("constant_fold_functions", "constant_fold_functions_need_guards"):
        getattr(known, name, {}).update(dict.fromkeys(_guarded))
    for function in _guarded:
        torch.compiler.allow_in_graph(function)
    _guarded.clear()

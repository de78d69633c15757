"""Support for torch.compile, whose tracer (Dynamo) interprets Python code and guards its inputs.

Dynamo cannot trace caches that grow during calls, locks or interned objects. Therefore:

- `compile_time_constant` marks functions whose results depend on structures and types only.
  Dynamo calls them and treats the result as a constant.
- `traced_as` gives Dynamo another function to trace in place of the marked one.
- `is_compiling` guards code that stores something for later calls: a store during tracing
  would invalidate the guards.
- `ContextVariable` is a context variable that Dynamo can read.

PyTorch before 2.12 cannot call constant functions with object arguments. There the tracer stops
at calls of nestarray, and with ``fullgraph=True`` raises an error that names the version.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from functools import wraps
from types import FunctionType
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])


#: The functions behind `compile_time_constant` that torch.compile does not know yet.
_unmarked: list[Callable[..., str]] = []


class _Results:
    """The results of constant functions as attributes, which guards can refer to."""


_results = _Results()


def traced_as(replacement: Callable[..., Any]) -> Callable[[Function], Function]:
    """Let torch.compile trace `replacement`, of equal parameters, instead of the function."""

    def mark(function: Function) -> Function:
        function._torchdynamo_inline = replacement  # type: ignore[attr-defined]
        return function

    return mark


def compile_time_constant(function: Function) -> Function:
    """Let torch.compile call `function` and treat the result as a constant of the program.

    The arguments are structures, types and names. ``torch.compiler.assume_constant_result`` alone
    returns objects that guards cannot refer to, so results are stored for the whole process.
    """

    def name_of_result(*args: Any, **kwargs: Any) -> str:
        result = function(*args, **kwargs)
        name = f"_{id(result)}"  # unique because the result is kept alive
        setattr(_results, name, result)
        return name

    _unmarked.append(name_of_result)
    if "torch._dynamo.variables" in sys.modules:
        mark_constants()

    # Own globals and no closure: for methods Dynamo looks up closure cells in the wrong
    # function, and a __name__ would make it use that module's globals.
    names = {
        "name_of_result": name_of_result,
        "results": _results,
        "__builtins__": builtins.__dict__,
    }
    return traced_as(FunctionType(_look_up.__code__, names))(function)


def cached_constant(function: Function) -> Function:
    """`functools.cache` of a `compile_time_constant`; torch.compile warns about `cache` itself."""
    known: dict[tuple[Any, ...], Any] = {}

    @wraps(function)
    def call(*args: Any) -> Any:
        try:
            return known[args]
        except KeyError:
            pass  # so that an error of the function has no KeyError as its context
        result = known[args] = function(*args)
        return result

    return compile_time_constant(call)  # type: ignore[return-value]


def mark_constants() -> None:
    """Mark all constant functions for torch.compile, once it is imported."""
    import torch

    takes_objects = torch.__version__ >= "2.12"  # a TorchVersion, which compares as versions do
    for function in _unmarked:
        if takes_objects:
            function._dynamo_marked_constant = True  # type: ignore[attr-defined]
        else:  # as torch.compiler.disable does, which cannot be called during the import
            function._torchdynamo_disable = True  # type: ignore[attr-defined]
            function._torchdynamo_disable_msg = (  # type: ignore[attr-defined]
                "torch.compile reads calls of nestarray from PyTorch 2.12 on"
            )
    _unmarked.clear()


def _look_up(*args: Any, **kwargs: Any) -> Any:
    return getattr(results, name_of_result(*args, **kwargs))  # type: ignore[name-defined]  # noqa: F821


@traced_as(lambda: True)
def is_compiling() -> bool:
    """Whether torch.compile traces this call."""
    return False


def identity(x: Any) -> Any:
    """A dictionary key for the object itself: its id.

    While torch.compile traces, the object: tensors are keys by identity there, and a guard on
    the id would recompile for each other tensor.
    """
    return x if is_compiling() else id(x)


class ContextVariable(Generic[T]):
    """`contextvars.ContextVar`, which torch.compile cannot trace, with support for it.

    A value that was set before the compiled program is a constant, guarded to be unchanged. A
    value that the program sets is an item of a list until it is reset.
    """

    def __init__(self, name: str, *, default: T) -> None:
        self._variable: ContextVar[T] = ContextVar(name, default=default)
        self._set: list[T] = []
        variable = self._variable

        def outer_value() -> T:
            return variable.get()

        self._outer_value = outer_value
        _guarded.append(outer_value)
        if "torch._dynamo.variables" in sys.modules:
            guard_context_variables()

    def get(self) -> T:
        """The current value."""
        if is_compiling():
            return self._set[-1] if self._set else self._outer_value()
        return self._variable.get()

    @contextmanager
    def being(self, value: T) -> Iterator[None]:
        """Set the value within the ``with`` statement."""
        token = self.set(value)
        try:
            yield
        finally:
            self.reset(token)

    def set(self, value: T) -> Token[T] | None:
        """Set the value; returns the argument of `reset`."""
        if is_compiling():
            self._set.append(value)
            return None
        return self._variable.set(value)

    def reset(self, token: Token[T] | None) -> None:
        """Restore the previous value."""
        if token is None:
            self._set.pop()
        else:
            self._variable.reset(token)


#: Functions without arguments whose results torch.compile folds and guards.
_guarded: list[Callable[[], Any]] = []


def guard_context_variables() -> None:
    """Make torch.compile guard the values of context variables set outside of the program.

    Dynamo has private tables for this, and no public interface; without them it stops there.
    """
    import torch
    from torch._dynamo.variables import torch as known

    for name in ("constant_fold_functions", "constant_fold_functions_need_guards"):
        getattr(known, name, {}).update(dict.fromkeys(_guarded))
    for function in _guarded:
        torch.compiler.allow_in_graph(function)
    _guarded.clear()

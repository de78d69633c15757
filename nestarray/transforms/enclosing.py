"""The running call of a module, whose variables functions in it read without naming them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from nestarray.dynamo import ContextVariable
from nestarray.typing import Array


class Call(Protocol):
    """The call of a module."""

    #: New states, and new values of variables, by path.
    updates: dict[str, Array]

    def lifted(self, fn: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Array]]:
        """A pure function in place of `fn`, and the values by path that `fn` may read.

        ``pure(values, *args, **kwargs)`` returns the result and the updates that `fn` makes.
        """
        ...


running_call: ContextVariable[Any] = ContextVariable("nestarray_module_call", default=None)

"""Rules: how calls of a source's operations become calls of frontend functions.

Each vocabulary has one list of `Rule` rows. An operation that has the name and the parameter
names of its function needs no row.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from nestarray.errors import MissingOpError

Arguments = dict[str, Any]


class Call(NamedTuple):
    """One call of a function of a frontend.

    Attributes:
        function: the function.
        name: its printed name, ``"torch.nn.functional.linear"``.
        args, kwargs: its arguments.
        is_random: whether the call takes a random ``key``.
    """

    function: Callable[..., Any]
    name: str
    args: tuple[Any, ...]
    kwargs: Arguments
    is_random: bool = False


@dataclass(frozen=True, eq=False)
class Rule(ABC):
    """Maps calls of one operation to calls of one function.

    A vocabulary overrides `function`, and where its source has conventions for all operations
    `parameters` and `is_random`.

    Attributes:
        operation: the operation, ``"aten.linear.default"``, or all of its overloads,
            ``"aten.linear"``.
        name: the printed name of the function, ``"torch.nn.functional.linear"``; empty if the
            operation has no effect on values and graphs omit it.
        names: argument → parameter, where the two differ.
        defaults: arguments that are added to calls without them.
        adapt: converts the arguments, before they are renamed.
        when: condition on the arguments of a call; the next row applies if it is false.
        first_result: whether the row is limited to calls of which later calls use the first
            result only.
        result_sizes: parameters that take the sizes of the result, where these are known.
        positional: whether arguments are passed in order, by position.
    """

    operation: str
    name: str
    names: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    adapt: Callable[[Arguments], Arguments] | None = None
    when: Callable[[Mapping[str, Any]], bool] | None = None
    first_result: bool = False
    result_sizes: tuple[str, ...] = ()
    positional: bool = False

    @property
    @abstractmethod
    def function(self) -> Callable[..., Any]:
        """The function with the printed name."""

    def parameters(self, arguments: Arguments) -> Arguments:
        """Return the arguments by the names of the function's parameters."""
        return {self.names.get(name, name): value for name, value in arguments.items()}

    def is_random(self, arguments: Mapping[str, Any]) -> bool:
        """Whether a call with these arguments draws random numbers: it takes a ``key``."""
        parameter = signature_of(self.function).parameters.get("key")
        return parameter is not None and parameter.kind is parameter.KEYWORD_ONLY

    @property
    def is_ignored(self) -> bool:
        """Whether graphs omit the operation."""
        return not self.name

    def call(self, arguments: Mapping[str, Any], result_shape: tuple[Any, ...] = ()) -> Call:
        """Return the call for arguments of the operation.

        Args:
            arguments: by the names of the operation's schema; arguments at their defaults
                are optional.
            result_shape: known sizes of the result.

        Raises:
            MissingOpError: the function does not take one of the arguments.
        """
        function = self.function
        if self.positional:
            return Call(function, self.name, tuple(arguments.values()), {})
        named = {**self.defaults, **arguments}
        if self.adapt is not None:
            named = self.adapt(named)
        named = self.parameters(named)
        sizes = zip(self.result_sizes, result_shape)
        named |= {name: size for name, size in sizes if isinstance(size, int)}
        args, kwargs = bind(self.operation, function, named)
        return Call(function, self.name, args, kwargs, self.is_random(named))


def bind(
    operation: str, function: Callable[..., Any], arguments: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Arguments]:
    """Pass arrays and required arguments by position, settings by name.

    Args:
        operation: name of the operation, for the error.
        function: the function to call.
        arguments: values by parameter; a list for ``*parameter`` is spread.

    Returns:
        Positional and keyword arguments.

    Raises:
        MissingOpError: the function does not take one of the arguments.
    """
    args: list[Any] = []
    kwargs: Arguments = {}
    left = dict(arguments)
    by_position = True
    for name, parameter in signature_of(function).parameters.items():
        if name not in left:
            by_position = False
            continue
        value = left.pop(name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            args.extend(value if isinstance(value, (list, tuple)) else [value])
        elif by_position and _goes_by_position(parameter):
            args.append(value)
        else:
            by_position = False
            kwargs[name] = value
    if left:
        raise MissingOpError(
            f"{operation}: {', '.join(left)}: {function.__name__} does not take "
            f"{'it' if len(left) == 1 else 'them'}; add the parameter to the frontend"
        )
    return tuple(args), kwargs


def _goes_by_position(parameter: inspect.Parameter) -> bool:
    if parameter.kind is parameter.KEYWORD_ONLY:
        return False
    return parameter.default is parameter.empty or "Array" in str(parameter.annotation)


def public_function(
    frontend: ModuleType, printed_name: str, *, owner: str
) -> Callable[..., Any] | None:
    """Return the public function of a printed name; None if the frontend has none.

    Args:
        frontend: the module that programs import under the first part of the name.
        printed_name: ``"torch.nn.functional.linear"``.
        owner: the package that defines the function.
    """
    space: Any = frontend
    *path, name = printed_name.split(".")[1:]
    for part in path:
        space = vars(space).get(part)
        if not isinstance(space, ModuleType) or not space.__name__.startswith(frontend.__name__):
            return None
    found = vars(space).get(name)
    is_public = name in vars(space).get("__all__", (name,)) and not name.startswith("__")
    is_ours = isinstance(found, FunctionType) and found.__module__.startswith(owner)
    return found if is_public and is_ours else None


def require_function(frontend: ModuleType, printed_name: str, *, owner: str) -> Callable[..., Any]:
    """Return the public function of a printed name.

    Args:
        frontend, printed_name, owner: as in `public_function`.

    Raises:
        ValueError: the frontend has no public function of this name.
    """
    found = public_function(frontend, printed_name, owner=owner)
    if found is None:
        raise ValueError(f"there is no function {printed_name!r}")
    return found


@cache
def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function; without parameters for a builtin that has none."""
    try:
        return inspect.signature(function)
    except ValueError:
        return inspect.Signature()

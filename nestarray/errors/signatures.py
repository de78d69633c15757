"""Calls that do not fit a function's signature: the error says which argument was meant.

Python's own error names the argument that came and nothing else, and it is raised before the
function has begun. Functions marked `signature_errors` catch it on its way out. Ops would pay for that
by what they take longer, so those that have settings take any argument that comes
(`accept_any_call`), in code that they have anyway (`nestarray.dispatch`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

from nestarray.dynamo import traced_as
from nestarray.errors import ArgumentError, suggestions
from nestarray.errors.text import counted
from nestarray.errors.unknown_names import meant_argument

F = TypeVar("F", bound=Callable[..., Any])

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)

#: In annotations of what takes several numbers or arrays: ``zeros(2, 3)`` means ``zeros((2, 3))``.
_SEVERAL = re.compile(r"\b(Sequence|Shape|Axis|Ints)\b")


class _Missing:
    """What a parameter without a default is where the call does not give it."""


MISSING = _Missing()

#: What takes the arguments that a signature has no place for.
EXTRA = Parameter("_extra", Parameter.VAR_POSITIONAL)
UNKNOWN = Parameter("_unknown", Parameter.VAR_KEYWORD)


def is_required(parameter: Parameter) -> bool:
    """Whether a call must give it."""
    return parameter.default is parameter.empty and parameter.kind not in _VARIADIC


def accept_any_call(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Parameters that take any call: none is required, and there is a place for whatever comes."""
    kinds = {p.kind for p in parameters}
    found = [p.replace(default=MISSING) if is_required(p) else p for p in parameters]
    if Parameter.VAR_POSITIONAL not in kinds:
        found.insert(sum(p.kind in _POSITIONAL for p in found), EXTRA)
    if Parameter.VAR_KEYWORD not in kinds:
        found.append(UNKNOWN)
    return found


def signature_errors(
    name: str | None = None, *, method_of: str | None = None, callables: tuple[str, ...] = ()
) -> Callable[[F], F]:
    """Let calls of a function that do not fit its signature raise an `ArgumentError` that helps.

    Args:
        name: what errors call the function; by default as it is defined.
        method_of: the class whose method the function becomes, with its first argument as ``self``.
        callables: the parameters that are functions, which are checked before the call.

    Example:
        >>> @signature_errors()
        ... def mean(x, /, *, axis=None, keepdims=False): ...
        >>> mean(2.0, dim=0)
        Traceback (most recent call last):
        nestarray.errors.ArgumentError: mean: dim: there is no such argument, it is axis; mean(x, /, *, axis=None, keepdims=False)
        >>> mean(2.0, 0)
        Traceback (most recent call last):
        nestarray.errors.ArgumentError: mean: got 2 positional arguments, expected 1, and the others by name; mean(x, /, *, axis=None, keepdims=False)
    """

    def mark(function: Any) -> Any:
        places = [(n, function.__code__.co_varnames.index(n)) for n in callables]

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for parameter, place in places:
                given = args[place] if place < len(args) else kwargs.get(parameter, len)
                if not callable(given):
                    label, parameters = _as_called(name, method_of, function, args)
                    raise ArgumentError(
                        f"{label}: {parameter}: got {type(given).__name__}, expected a function; "
                        f"{_shown(label, parameters)}"
                    )
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                found = (
                    None
                    if _is_from_inside(error)
                    else _misfit(name, method_of, function, args, kwargs)
                )
                if found is None:
                    raise
            raise found

        # torch.compile reads the function, but looks for its defaults here
        front: Any = call
        front.__defaults__, front.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return traced_as(getattr(function, "_torchdynamo_inline", function))(front)

    return mark


def _is_from_inside(error: TypeError) -> bool:
    """Whether the function that was called had begun."""
    return error.__traceback__ is None or error.__traceback__.tb_next is not None


def _as_called(
    name: str | None, method_of: str | None, function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[str, list[Parameter]]:
    """What errors call a function, and the parameters that who calls it fills."""
    label = name or function.__qualname__.rpartition("<locals>.")[2]
    if function.__name__ == "__init__":
        label = type(args[0]).__name__
    parameters = list(signature(function).parameters.values())
    return (label, parameters) if method_of is None else (f"{method_of}.{label}", parameters[1:])


def _shown(name: str, parameters: Iterable[Parameter]) -> str:
    shown = [p.replace(annotation=p.empty) for p in parameters if p.name not in ("self", "cls")]
    return f"{name}{Signature(shown)}"


def _misfit(
    name: str | None,
    method_of: str | None,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> ArgumentError | None:
    label, parameters = _as_called(name, method_of, function, args)
    if method_of is not None:
        args = args[1:]
    kinds = {p.kind for p in parameters}
    by_place = [p.name for p in parameters if p.kind in _POSITIONAL]
    by_name = [p.name for p in parameters if p.kind not in (Parameter.POSITIONAL_ONLY, *_VARIADIC)]
    unknown = () if Parameter.VAR_KEYWORD in kinds else [k for k in kwargs if k not in by_name]
    more = 0 if Parameter.VAR_POSITIONAL in kinds else max(len(args) - len(by_place), 0)
    given = {*by_place[: len(args)], *kwargs}
    missing = [p.name for p in parameters if is_required(p) and p.name not in given]
    if not unknown and not more and not missing:
        return None
    return signature_error(label, parameters, unknown, more, missing)


def signature_error(
    name: str,
    parameters: Sequence[Parameter],
    unknown: Iterable[str],
    more: int,
    missing: Sequence[str],
) -> ArgumentError:
    """The error for a call that does not fit.

    Args:
        name: of the function.
        parameters: of its signature.
        unknown: names of arguments that it does not take by name.
        more: how many arguments came by position for which there is no place.
        missing: parameters that were not given.
    """
    parameters = [p for p in parameters if p.name not in ("self", "cls")]
    shown = _shown(name, parameters)
    stars = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
    names = [stars.get(p.kind, "") + p.name for p in parameters]
    for argument in unknown:
        meant = meant_argument(argument, names)
        instead = suggestions.WITHOUT.get(argument)
        said = "there is no such argument" + (f", {instead}" if instead else "")
        if meant is not None:
            said = f"there is no such argument, it is {meant}"
        if argument in names:
            said = "got it by name, expected it by position"
        return ArgumentError(f"{name}: {argument}: {said}; {shown}")
    if more:
        places = [p for p in parameters if p.kind in _POSITIONAL]
        of_several = [p.name for p in places if _SEVERAL.search(str(p.annotation))]
        others = any(p.kind is p.KEYWORD_ONLY for p in parameters)
        return ArgumentError(
            f"{name}: got {counted(len(places) + more, 'positional argument')}, expected {len(places)}"
            f"{f', {of_several[-1]} as one tuple' if of_several else ''}"
            f"{', and the others by name' if others else ''}; {shown}"
        )
    return ArgumentError(f"{name}: {missing[0]}: got nothing, expected an argument; {shown}")

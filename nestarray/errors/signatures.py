"""Calls that do not fit a function's signature: the error names the argument that was meant.

Python raises such errors before the function starts, and names neither the intended argument
nor the signature. `signature_errors` replaces its error. An extra wrapper would make ops
slower, so ops with settings accept any call (`accept_any_call`) and raise the same error from
their generated code (`nestarray.dispatch`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeVar

from nestarray.dynamo import traced_as
from nestarray.errors import ArgumentError
from nestarray.errors.text import counted
from nestarray.errors.unknown_names import parameter_hint

F = TypeVar("F", bound=Callable[..., Any])

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)

#: Annotations of sequences: ``zeros(2, 3)`` was meant as ``zeros((2, 3))``.
_SEQUENCE = re.compile(r"\b(Sequence|Shape|Axis|Ints)\b")


class _Missing:
    """The default of required parameters in functions that accept any call."""


MISSING = _Missing()

#: These parameters collect the arguments that the signature does not have.
EXTRA = Parameter("_extra", Parameter.VAR_POSITIONAL)
UNKNOWN = Parameter("_unknown", Parameter.VAR_KEYWORD)

#: The parameters of ops of arrays alone that take one argument too many, and ``out``.
SURPLUS = Parameter("_extra", Parameter.POSITIONAL_ONLY, default=MISSING)
OUT = Parameter("out", Parameter.POSITIONAL_OR_KEYWORD, default=None)


def is_required(parameter: Parameter) -> bool:
    """Whether a call must pass the parameter."""
    return parameter.default is parameter.empty and parameter.kind not in _VARIADIC


def accept_any_call(parameters: Sequence[Parameter]) -> list[Parameter]:
    """The parameters, all optional, with `EXTRA` and `UNKNOWN` for all other arguments."""
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
    """Decorate a function: calls that do not fit its signature raise a helpful `ArgumentError`.

    Args:
        name: the function's name in errors; by default its own.
        method_of: the class whose method the function becomes; the first argument is ``self``.
        callables: the parameters that are functions, which are checked before the call.

    Example:
        >>> @signature_errors()
        ... def mean(x, /, *, axis=None, keepdims=False): ...
        >>> mean(2.0, dim=0)
        Traceback (most recent call last):
        nestarray.errors.ArgumentError: mean: dim: unknown argument, use axis; mean(x, /, *, axis=None, keepdims=False)
        >>> mean(2.0, 0)
        Traceback (most recent call last):
        nestarray.errors.ArgumentError: mean: got 2 positional arguments, expected 1, and the others by name; mean(x, /, *, axis=None, keepdims=False)
    """

    def decorate(function: Any) -> Any:
        positions = [(n, function.__code__.co_varnames.index(n)) for n in callables]

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            for parameter, position in positions:
                given = args[position] if position < len(args) else kwargs.get(parameter, len)
                if not callable(given):
                    label, parameters = _label_and_parameters(name, method_of, function, args)
                    raise ArgumentError(
                        f"{label}: {parameter}: got {type(given).__name__}, expected a function; "
                        f"{_signature_text(label, parameters)}"
                    )
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                has_started = error.__traceback__ is None or error.__traceback__.tb_next is not None
                if has_started:
                    raise
                label, parameters = _label_and_parameters(name, method_of, function, args)
                own_args = args if method_of is None else args[1:]
                found = _call_error(label, parameters, own_args, kwargs)
                if found is None:
                    raise
            raise found

        # torch.compile traces the function, but reads the defaults here
        wrapper: Any = call
        wrapper.__defaults__, wrapper.__kwdefaults__ = (
            function.__defaults__,
            function.__kwdefaults__,
        )
        return traced_as(getattr(function, "_torchdynamo_inline", function))(wrapper)

    return decorate


def _label_and_parameters(
    name: str | None, method_of: str | None, function: Callable[..., Any], args: tuple[Any, ...]
) -> tuple[str, list[Parameter]]:
    """The function's name in errors, and the parameters that a caller passes."""
    label = name or function.__qualname__.rpartition("<locals>.")[2]
    if function.__name__ == "__init__":
        label = type(args[0]).__name__
    parameters = list(signature(function).parameters.values())
    return (label, parameters) if method_of is None else (f"{method_of}.{label}", parameters[1:])


def _signature_text(name: str, parameters: Iterable[Parameter]) -> str:
    shown = [p.replace(annotation=p.empty) for p in parameters if p.name not in ("self", "cls")]
    return f"{name}{Signature(shown)}"


def _call_error(
    label: str, parameters: Sequence[Parameter], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ArgumentError | None:
    """The error for a call with these arguments; None if they fit the parameters."""
    kinds = {p.kind for p in parameters}
    by_position = [p.name for p in parameters if p.kind in _POSITIONAL]
    by_name = [p.name for p in parameters if p.kind not in (Parameter.POSITIONAL_ONLY, *_VARIADIC)]
    unknown = () if Parameter.VAR_KEYWORD in kinds else [k for k in kwargs if k not in by_name]
    extra = 0 if Parameter.VAR_POSITIONAL in kinds else max(len(args) - len(by_position), 0)
    given = {*by_position[: len(args)], *kwargs}
    missing = [p.name for p in parameters if is_required(p) and p.name not in given]
    if not unknown and not extra and not missing:
        return None
    return signature_error(label, parameters, unknown, extra, missing)


def signature_error(
    name: str,
    parameters: Sequence[Parameter],
    unknown: Iterable[str],
    extra: int,
    missing: Sequence[str],
) -> ArgumentError:
    """The error for a call that does not fit a signature.

    Args:
        name: the function.
        parameters: its signature.
        unknown: keywords that it does not accept.
        extra: the number of surplus positional arguments.
        missing: required parameters that were not passed.
    """
    parameters = [p for p in parameters if p.name not in ("self", "cls")]
    shown = _signature_text(name, parameters)
    stars = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
    names = [stars.get(p.kind, "") + p.name for p in parameters]
    for argument in unknown:
        problem = f"unknown argument{parameter_hint(argument, names)}"
        if argument in names:
            problem = "got it by name, expected it by position"
        return ArgumentError(f"{name}: {argument}: {problem}; {shown}")
    if extra:
        positional = [p for p in parameters if p.kind in _POSITIONAL]
        sequences = [p.name for p in positional if _SEQUENCE.search(str(p.annotation))]
        has_keywords = any(p.kind is p.KEYWORD_ONLY for p in parameters)
        return ArgumentError(
            f"{name}: got {counted(len(positional) + extra, 'positional argument')}, "
            f"expected {len(positional)}"
            f"{f', {sequences[-1]} as one tuple' if sequences else ''}"
            f"{', and the others by name' if has_keywords else ''}; {shown}"
        )
    return ArgumentError(f"{name}: {missing[0]}: missing argument; {shown}")

"""The parameters of functions, as those are declared and called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


def texts(parameters: Sequence[Parameter]) -> tuple[str, str]:
    """Parameters as they are declared (without defaults), and as they are handed on."""
    declared, passed = [], []
    has_star = False
    for i, p in enumerate(parameters):
        if p.kind is p.KEYWORD_ONLY and not has_star:
            declared.append("*")
            has_star = True
        if p.kind is p.VAR_POSITIONAL:
            has_star = True
        stars = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        declared.append(f"{stars}{p.name}")
        passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else declared[-1])
        is_last = i + 1 == len(parameters) or parameters[i + 1].kind is not p.POSITIONAL_ONLY
        if p.kind is p.POSITIONAL_ONLY and is_last:
            declared.append("/")
    return ", ".join(declared), ", ".join(passed)


def parameters_of(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of `function`; of a built-in one that does not tell them, one array."""
    try:
        return list(signature(function).parameters.values())
    except ValueError:
        return [Parameter("x", Parameter.POSITIONAL_ONLY)]


def are_at(defaults: Mapping[str, Any]) -> str:
    """The text of the condition that parameters have these values, which it calls ``_<name>``."""
    return " and ".join(
        f"{name} is {value}"
        if value is None or isinstance(value, bool)
        else f"({name} is _{name} or {name}.__class__ is _{name}.__class__ and {name} == _{name})"
        for name, value in defaults.items()
    )


def is_variadic(parameters: Sequence[Parameter]) -> bool:
    """Whether a parameter takes any number of arguments."""
    return any(p.kind in _VARIADIC for p in parameters)

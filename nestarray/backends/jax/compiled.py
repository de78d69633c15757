"""Functions of several native calls as one compiled call.

The functions of jax.numpy are compiled each by itself. What stands before and behind them
(a cast, a reshape, padding to a length) is 5 to 200 µs a call when it runs eagerly, and
nothing when it is compiled with them. Settings are known while JAX traces, so that what is
looked at in Python (dtypes, axes, unknown names) is looked at once for each kind of arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import jax

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """`function` as one compiled call; arrays are positional, what is keyword-only is constant."""
    return _compile(function, frozenset())


def compiled_for_any(*numbers: str) -> Callable[[F], F]:
    """As `compiled`; the settings called `numbers` may change without a new compilation.

    At its default a number is a constant too: handing it over takes longer than most functions.
    """
    return lambda function: _compile(function, frozenset(numbers))


def _compile(function: F, numbers: frozenset[str]) -> F:
    parameters = inspect.signature(function).parameters
    settings = [p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY]
    run = jax.jit(function, static_argnames=[n for n in settings if n not in numbers], inline=True)
    defaults = [(name, parameters[name].default) for name in numbers]

    def call(*args: Any, **settings: Any) -> Any:
        try:
            return run(*args, **settings)
        except Exception:
            return again(args, settings)

    def call_with_numbers(*args: Any, **settings: Any) -> Any:
        for name, default in defaults:
            value = settings.get(name)
            if value.__class__ is default.__class__ and value == default:
                settings.pop(name, None)
        return call(*args, **settings)

    def again(args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        hashable = {name: _hashable(value) for name, value in settings.items()}
        if hashable != settings:
            return run(*args, **hashable)
        return function(*args, **settings)  # an error without JAX's notes on tracing

    return wraps(function)(call_with_numbers if numbers else call)  # type: ignore[return-value]


def _hashable(setting: Any) -> Any:
    """Lists as tuples: JAX looks up compiled functions by the settings."""
    return tuple(map(_hashable, setting)) if isinstance(setting, (list, tuple)) else setting

"""Functions of several native calls as one compiled call.

Each function of jax.numpy is compiled by itself. The steps around them (a cast, a reshape,
padding to a length) cost 5 to 200 µs when they run eagerly, and nothing when they are compiled
together. Settings are constants of the compiled program, so Python code that reads dtypes, axes
or names runs once for each kind of call.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

import jax

from nestarray.errors import NestarrayError

F = TypeVar("F", bound=Callable[..., Any])

#: Compiled when called eagerly; inside of other traces the function is inlined.
traced = partial(jax.jit, inline=True)


def compiled(function: F) -> F:
    """Compile `function`: positional arguments are arrays, keyword-only ones are constants."""
    return _compile(function, frozenset())


def compiled_for_any(*numbers: str) -> Callable[[F], F]:
    """Like `compiled`, except that the settings `numbers` may change without recompilation.

    A number at its default is a constant too: passing it takes longer than most functions.
    """
    return lambda function: _compile(function, frozenset(numbers))


def _compile(function: F, numbers: frozenset[str]) -> F:
    parameters = signature(function).parameters.values()
    defaults = {p.name: p.default for p in parameters if p.kind is Parameter.KEYWORD_ONLY}
    constants = [name for name in defaults if name not in numbers]
    run = jax.jit(function, static_argnames=constants, inline=True)

    def retry(args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        hashable = {name: _hashable(value) for name, value in settings.items()}
        if hashable != settings:
            with suppress(NestarrayError):  # raised below for the original settings
                return run(*args, **hashable)
        return function(*args, **settings)  # raises the error without JAX's notes on tracing

    @wraps(function)
    def call(*args: Any, **settings: Any) -> Any:
        try:
            if not numbers and settings == defaults:
                return run(*args)
            # JAX takes long to look up each keyword, so defaults are left out
            given = {}
            for name, value in settings.items():
                default = defaults[name]
                if value is not default and (
                    name not in numbers
                    or value.__class__ is not default.__class__
                    or value != default
                ):
                    given[name] = value
            return run(*args, **given)
        except Exception:
            return retry(args, settings)

    return call  # type: ignore[return-value]


def _hashable(setting: Any) -> Any:
    """Lists as tuples: JAX looks up compiled functions by the settings."""
    return tuple(map(_hashable, setting)) if isinstance(setting, (list, tuple)) else setting

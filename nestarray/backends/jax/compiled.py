"""Functions of several native calls as one compiled call.

The functions of jax.numpy are compiled each by itself. What stands before and behind them
(a cast, a reshape, padding to a length) is 5 to 200 µs a call when it runs eagerly, and
nothing when it is compiled with them. Settings are known while JAX traces, so that what is
looked at in Python (dtypes, axes, unknown names) is looked at once for each kind of arrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial, wraps
from typing import Any, TypeVar

import jax

from nestarray.backends.fast_paths import FastPath, noted
from nestarray.backends.parameters import are_at, is_variadic, parameters_of, texts
from nestarray.backends.templates import code_of, generated
from nestarray.errors import NestarrayError
from nestarray.typing import check_kind, holds_bool

F = TypeVar("F", bound=Callable[..., Any])

#: Dtypes are looked at while JAX traces; a call is JAX's own look-up of compiled functions,
#: and inside of other traces nothing of it is seen.
traced = partial(jax.jit, inline=True)


def compiled(function: F) -> F:
    """`function` as one compiled call; arrays are positional, what is keyword-only is constant."""
    return _compile(function, frozenset())


def compiled_for_any(*numbers: str) -> Callable[[F], F]:
    """As `compiled`; the settings called `numbers` may change without a new compilation.

    At its default a number is a constant too: handing it over takes longer than most functions.
    """
    return lambda function: _compile(function, frozenset(numbers))


def _compile(function: F, numbers: frozenset[str]) -> F:
    parameters = parameters_of(function)
    function = _checking_settings(function, parameters)
    defaults = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    settings = list(defaults)
    run = jax.jit(function, static_argnames=[n for n in settings if n not in numbers], inline=True)

    def again(args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        hashable = {name: _hashable(value) for name, value in settings.items()}
        if hashable != settings:
            with suppress(NestarrayError):  # said below, of the settings as they came
                return run(*args, **hashable)
        return function(*args, **settings)  # an error without JAX's notes on tracing

    def with_numbers(args: tuple[Any, ...], settings: dict[str, Any]) -> Any:
        if any(bool in map(type, v) for v in settings.values() if isinstance(v, (tuple, list))):
            raise TypeError("True is no axis")  # the call is made again, eagerly
        changed = {
            name: value
            for name, value in settings.items()
            if name not in numbers
            or value.__class__ is not defaults[name].__class__
            or value != defaults[name]
        }
        return run(*args, **changed)

    declared, passed = texts(parameters)
    arrays = "".join(
        f"{'*' * (p.kind is p.VAR_POSITIONAL)}{p.name}, "
        for p in parameters
        if p.kind is not p.KEYWORD_ONLY
    )
    named = ", ".join(f"{name!r}: {name}" for name in settings)
    if is_variadic(parameters):
        at_once, by_position = run, passed
    else:
        at_once, by_position = _by_position(function, parameters)
    has_plain = inspect.Parameter.empty not in defaults.values()
    at_defaults = are_at(defaults) or "True"
    # JAX finds what it compiled for (1,) by (True,) too
    conditions = [f"not ({holds_bool(name)})" for name in settings if name in ("axis", "axes")]
    conditions += [are_at({name: defaults[name] for name in numbers})] * bool(numbers)
    of_constants = " and ".join(conditions)
    source = f"def op({declared}):\n    try:\n"
    if has_plain:
        source += f"        if {at_defaults}:\n            return _plain({arrays})\n"
    if settings:
        source += (
            f"        if {of_constants or True}:\n"
            f"            return _at_once({by_position})\n"
            f"        return _with_numbers(({arrays}), {{{named}}})\n"
        )
    source += f"    except Exception:\n        return _again(({arrays}), {{{named}}})\n"
    called = {
        "_plain": jax.jit(function, inline=True),
        "_at_once": at_once,
        **{f"_{name}": default for name, default in defaults.items()},
    }
    namespace = {**called, "_with_numbers": with_numbers, "_again": again}
    code = code_of(source, "compiled op")
    call = wraps(function)(generated(code, namespace, function.__name__, parameters))
    # what fails at once is called the general way, and there again
    if has_plain and (numbers or not settings):
        return noted(call, FastPath(are_at(defaults), f"_plain({arrays})", called))
    once = f"_at_once({by_position})"
    once = f"_plain({arrays}) if {at_defaults} else {once}" if has_plain else once
    if has_plain and of_constants:  # which take longer to look at
        of_constants = f"{at_defaults} or {of_constants}"
    return noted(call, FastPath(of_constants, once, called))


def _checking_settings(function: F, parameters: Sequence[inspect.Parameter]) -> F:
    """`function` behind a look at its flags and real numbers, for which JAX takes more: as it traces."""
    flags = [p.name for p in parameters if str(p.annotation) == "bool"]
    numbers = {
        p.name: str(p.annotation)
        for p in parameters
        if str(p.annotation) in ("float", "float | None")
    }
    axes = {p.name: str(p.annotation) for p in parameters if p.name == "axis"}
    counts = {
        p.name: str(p.annotation)
        for p in parameters
        if str(p.annotation) in ("int", "int | None") and p.name not in axes
    }
    if not (flags or numbers or axes or counts) or function.__name__.startswith("_"):
        return function

    @wraps(function)
    def checking(*args: Any, **kwargs: Any) -> Any:
        for name in flags:
            if kwargs.get(name, False).__class__ is not bool:
                check_kind(function.__name__, name, "bool", kwargs[name])
        for name, annotation in axes.items():
            if name in kwargs and kwargs[name].__class__ is not int:
                of_any = annotation if annotation in ("int", "int | None") else "Axis"
                check_kind(function.__name__, name, of_any, kwargs[name])
        for name, annotation in counts.items():
            if kwargs.get(name, 0).__class__ is not int:
                check_kind(function.__name__, name, annotation, kwargs[name])
        for name, annotation in numbers.items():
            if kwargs.get(name, 0.0) is None or isinstance(
                kwargs.get(name), (complex, tuple, list)
            ):
                check_kind(function.__name__, name, annotation, kwargs[name])
            elif getattr(getattr(kwargs.get(name), "dtype", None), "kind", "f") == "c":
                raise TypeError(f"{name} is complex")  # the call is made again with its value
        return function(*args, **kwargs)

    return checking  # type: ignore[return-value]


def _by_position(function: Any, parameters: Any) -> tuple[Any, str]:
    """`function` compiled, with its settings by position, and how to call it.

    JAX sorts what comes by name at each call, and takes what comes by position as it lies.
    """
    _, passed = texts(parameters)
    names = ", ".join(p.name for p in parameters)
    code = code_of(f"def op({names}):\n    return _function({passed})\n", "positional op")
    taking = generated(code, {"_function": function}, function.__name__, ())
    constant = [i for i, p in enumerate(parameters) if p.kind is p.KEYWORD_ONLY]
    return jax.jit(taking, static_argnums=constant, inline=True), names


def _hashable(setting: Any) -> Any:
    """Lists as tuples: JAX looks up compiled functions by the settings."""
    return tuple(map(_hashable, setting)) if isinstance(setting, (list, tuple)) else setting

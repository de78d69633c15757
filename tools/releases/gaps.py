"""A gap between a release and its frontend, and the comparison of signatures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NamedTuple

Function = Callable[..., Any]


class Gap(NamedTuple):
    """A name, an argument or an operation that one side lacks.

    Attributes:
        kind: the framework and the sort of the gap, ``"jax names"``.
        name: the full name, ``"jax.lax.top_k"``; of an argument ``"jax.lax.top_k(axis)"``.
    """

    kind: str
    name: str


def parameters(function: Any) -> list[str] | None:
    """The names of parameters; None for functions of any, and where no signature is known."""
    try:
        values = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    is_open = any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in values)
    return None if is_open else [p.name for p in values]


def name_gaps(
    framework: str, prefix: str, theirs: Collection[str], ours: Collection[str]
) -> Iterator[Gap]:
    """The names of a namespace that one side lacks.

    Args:
        framework: the first word of the kinds.
        prefix: the namespace with its dot, ``"jax.lax."``.
        theirs: the public names upstream.
        ours: the public names of the frontend.
    """
    for name in sorted({*theirs} - {*ours}):
        yield Gap(f"{framework} names", prefix + name)
    for name in sorted({*ours} - {*theirs}):
        yield Gap(f"{framework} names without upstream", prefix + name)


def argument_gaps(
    framework: str, prefix: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]
) -> Iterator[Gap]:
    """The arguments that one side lacks, or has elsewhere, in the functions of a namespace.

    Functions of NumPy and builtin ones have positional parameters only, whose names do not count.
    """
    for name in sorted({*theirs} & {*ours}):
        expected, present = parameters(theirs[name]), parameters(ours[name])
        if expected is None or present is None or not inspect.isfunction(ours[name]):
            continue
        if _is_positional(theirs[name]):
            if len(present) != len(expected):
                yield Gap(f"{framework} arguments", f"{prefix}{name}(number of arguments)")
            continue
        for argument in expected:
            if argument not in present:
                yield Gap(f"{framework} arguments", f"{prefix}{name}({argument})")
        for argument in present:
            if argument not in expected:
                kind = f"{framework} arguments without upstream"
                yield Gap(kind, f"{prefix}{name}({argument})")
        if [n for n in expected if n in present] != [n for n in present if n in expected]:
            yield Gap(f"{framework} arguments", f"{prefix}{name}(order of arguments)")


def _is_positional(function: Function) -> bool:
    """Whether all parameters are positional only."""
    values = inspect.signature(function).parameters.values()
    return all(p.kind is p.POSITIONAL_ONLY for p in values)

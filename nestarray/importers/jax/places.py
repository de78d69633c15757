"""Modules and lines of equations.

Flax Linen and Haiku name the scopes of their modules; `named_modules` does so for Flax NNX and
Equinox while they are traced.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jax

from nestarray.graph.builder import NOWHERE, Place, line_name
from nestarray.importers.patching import one_trace, patched

_IMPORTERS = str(Path(__file__).parents[1])
_PACKAGE = str(Path(__file__).parents[2])
#: Files of functions that are called between the source and JAX.
_WRAPPERS = ("importers/patching.py", "jax/named_calls.py", "jax/own_calls.py")
#: The calls of this package around a line of its backends are fewer.
_FRAMES = 20


def place_of(eqn: Any, outer: Place = NOWHERE) -> Place:
    """The module and the line of an equation."""
    stack = eqn.source_info.name_stack.stack
    scopes = [part.name for part in stack if type(part).__name__ == "Scope"]
    # classes of Equinox and formulas of einsum are not paths
    modules = [name for name in scopes if not name.startswith("eqx.nn.") and "->" not in name]
    line = _line_of(eqn.source_info) or outer.line
    return Place("/".join([*filter(None, [outer.module]), *modules]), line)


def _line_of(source_info: Any) -> str:
    """The innermost line outside of JAX and this package; empty if an importer wrote it or it is unknown."""
    try:
        from jax.extend import source_info_util
    except ImportError:  # lines are for messages only
        return ""
    frames = source_info_util.summarize(source_info, num_frames=_FRAMES).splitlines()
    for frame in reversed(frames):
        match = re.match(r"(.*?):(\d+)(:\d+)? \(", frame)
        if match is not None and match[1].endswith(_WRAPPERS):
            continue
        if match is None or match[1].startswith(_IMPORTERS):
            return ""
        if not match[1].startswith((_PACKAGE, "<nestarray op")):
            return line_name(match[1], match[2])
    return ""


@contextlib.contextmanager
def named_modules(parts: Sequence[tuple[str, Any]]) -> Iterator[None]:
    """Let the calls of modules open a scope with their name."""
    paths = {id(module): path for path, module in parts}
    active = [""]

    def named(call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            path = paths.get(id(self), "")
            if path in ("", active[-1]):  # the second: a method of a base class
                return call(self, *args, **kwargs)
            scope = path.removeprefix(f"{active[-1]}/")
            active.append(path)
            try:
                with jax.named_scope(scope):
                    return call(self, *args, **kwargs)
            finally:
                active.pop()

        return run

    classes = {cls for _, module in parts for cls in type(module).__mro__}
    calls = [(cls, vars(cls).get("__call__")) for cls in classes]
    with (
        one_trace,
        patched(*[(cls, "__call__", named(call)) for cls, call in calls if callable(call)]),
    ):
        yield

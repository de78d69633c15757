"""What a public function does at once for the arrays that it has met: its inline caches.

A call of an op is a look-up by types, and then one frame of Python for each thing that is looked
at before the framework's function: equal dtypes, settings of their kinds, what a native function
covers. A `FastPath` says the same as text, "where this holds, that is the result", and
`nestarray.dispatch` puts the texts for the first few kinds of arrays that come into the code of
the public function itself, where they cost no frame. Whatever holds for none of them, and
whatever fails, goes the general way, so a fast path only ever says less than its function.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


@dataclass(frozen=True)
class FastPath:
    """Where `condition` holds, `call` is what the function gives.

    Both are texts of expressions of the op's parameters and of `names`.
    """

    condition: str
    call: str
    names: Mapping[str, Any]

    def behind(self, condition: str, names: Mapping[str, Any]) -> FastPath:
        """This path, where `condition`, which means its own `names`, holds as well."""
        path = self
        while not names.keys().isdisjoint(path.names):
            path = path.renamed("_")
        conditions = [c for c in (condition, path.condition) if c]
        both = " and ".join(f"({c})" for c in conditions) if len(conditions) > 1 else conditions[0]
        return FastPath(both, path.call, {**names, **path.names})

    def renamed(self, suffix: str) -> FastPath:
        """The same with `suffix` behind each of its names."""
        names = {name + suffix: value for name, value in self.names.items()}

        def text(source: str) -> str:
            tree = ast.parse(source, mode="eval") if source else None
            for node in ast.walk(tree) if tree else ():
                if isinstance(node, ast.Name) and node.id in self.names:
                    node.id += suffix
            return ast.unparse(tree) if tree else ""

        return replace(self, condition=text(self.condition), call=text(self.call), names=names)


def noted(function: F, path: FastPath) -> F:
    """`function`, with `path` for what it gives where the path's condition holds."""
    # with the function itself: decorators copy attributes to what they make of it
    function.fast_path = function, path  # type: ignore[attr-defined]
    return function


def fast_path(condition: str, call: str) -> Callable[[F], F]:
    """Say of a function in a chapter file that it gives `call` where `condition` holds.

    Args:
        condition: the text of an expression of the op's parameters and names of the module.
        call: that of the result.
    """

    def mark(function: F) -> F:
        known = inspect.unwrap(function).__globals__  # type: ignore[attr-defined]
        used = {n for text in (condition, call) for n in compile(text, "", "eval").co_names}
        names = {name: known[name] for name in used if name in known}
        return noted(function, FastPath(condition, call, names))

    return mark


def fast_path_of(function: Function, passed: str) -> FastPath:
    """What was noted for `function` itself, else its call.

    Args:
        function: what serves an op.
        passed: the arguments as the op hands them on.
    """
    own, path = getattr(function, "fast_path", (None, None))
    if own is function and path is not None:
        return path
    return FastPath("", f"_native({passed})", {"_native": function})

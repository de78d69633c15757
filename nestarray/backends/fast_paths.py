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
import builtins
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter
from typing import Any, TypeVar

from nestarray.backends.parameters import are_at, parameters_of, texts

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)


@dataclass(frozen=True)
class FastPath:
    """Where `condition` holds, `call` is what the function gives.

    Both are texts of expressions of the function's parameters and of `names`. What stands before
    a function has conditions of its own, unless the path `is_complete` and speaks for the op.
    """

    condition: str
    call: str
    names: Mapping[str, Any]
    is_complete: bool = False

    def behind(self, condition: str, names: Mapping[str, Any]) -> FastPath:
        """This path, where `condition`, which means its own `names`, holds as well."""
        if self.is_complete:
            return self
        path = self
        while not names.keys().isdisjoint(path.names):
            path = path.with_names({name: f"{name}_" for name in path.names})
        conditions = [c for c in (condition, path.condition) if c]
        both = " and ".join(f"({c})" for c in conditions) if len(conditions) > 1 else conditions[0]
        return FastPath(both, path.call, {**names, **path.names})

    def unknown(self) -> set[str]:
        """What the texts speak of, but for `names` and what Python has."""
        words = _names(self.condition) | _names(self.call)
        return words - self.names.keys() - vars(builtins).keys()

    def with_names(self, new: Mapping[str, str]) -> FastPath:
        """The same with other words for parameters and names."""

        def text(source: str) -> str:
            if not source:
                return source
            tree = ast.parse(source, mode="eval")
            for node in ast.walk(tree):
                if isinstance(node, ast.Name):
                    node.id = new.get(node.id, node.id)
            return ast.unparse(tree)

        names = {new.get(name, name): value for name, value in self.names.items()}
        return FastPath(text(self.condition), text(self.call), names, self.is_complete)

    def with_defaults(self, defaults: Mapping[str, Any]) -> FastPath:
        """The same, with these objects for equal ones in `are_at`, which asks first for identity."""
        known = {name: self.names[f"_{name}"] for name in defaults if f"_{name}" in self.names}
        same = {
            f"_{name}": defaults[name]
            for name, value in known.items()
            if type(value) is type(defaults[name]) and value == defaults[name]
        }
        return FastPath(self.condition, self.call, {**self.names, **same}, self.is_complete)


def noted(function: F, path: FastPath) -> F:
    """`function`, with `path` for what it gives where the path's condition holds."""
    # with the function itself: decorators copy attributes to what they make of it
    function.fast_path = function, path  # type: ignore[attr-defined]
    return function


def at_defaults(call: str, *, where: str = "") -> Callable[[F], F]:
    """Say of a function in a chapter file that the op gives `call` where no setting is given.

    A setting that `call` speaks of may be given, if it is of the class of its default, or an int
    where that is None. Neither what the function `supports` nor the kinds of its settings are
    asked for then; where `call` raises, the op is called the general way.

    Args:
        call: the text of an expression of the parameters and names of the module.
        where: that of a further condition.
    """

    def mark(function: F) -> F:
        known = inspect.unwrap(function).__globals__  # type: ignore[attr-defined]
        used = {n for text in (call, where) for n in _names(text)}
        defaults = {p.name: p.default for p in parameters_of(function) if p.default is not p.empty}
        handed_on = {name: value for name, value in defaults.items() if name in used}
        fixed = {name: value for name, value in defaults.items() if name not in used}
        conditions = [are_at(fixed), *map(_is_of_class, handed_on, handed_on.values())]
        conditions.append(where and f"({where})")
        names = {f"_{name}": value for name, value in fixed.items()}
        names |= {name: known[name] for name in used if name in known}
        condition = " and ".join(filter(None, conditions))
        path = FastPath(condition, call, names, is_complete=True)
        unknown = path.unknown() - {p.name for p in parameters_of(function)}
        assert not unknown, f"{function.__name__}: what is {unknown}?"
        return noted(function, path)

    return mark


def _names(text: str) -> set[str]:
    tree = ast.parse(text or "0", mode="eval")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _is_of_class(name: str, default: Any) -> str:
    """The text of the condition that a setting is what a native function takes as it is."""
    if default is None:
        return f"({name} is None or {name}.__class__ is int)"
    return f"{name}.__class__ is {type(default).__name__}"


def fast_path_of(function: Function, parameters: Sequence[Parameter]) -> FastPath:
    """What was noted for `function` itself, else its call.

    Args:
        function: what serves an op.
        parameters: as the op declares them, whose names the path speaks of; those of the
            function may be called otherwise where they are positional.
    """
    own, path = getattr(function, "fast_path", (None, None))
    if own is function and path is not None:
        pairs = zip(parameters_of(function), parameters)
        path = path.with_names({theirs.name: ours.name for theirs, ours in pairs})
        path = path.with_defaults({p.name: p.default for p in parameters})
        if path.unknown() <= {p.name for p in parameters}:
            return path
    return FastPath("", f"_native({texts(parameters)[1]})", {"_native": function})

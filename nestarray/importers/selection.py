"""The values that a function names, and whether its code uses a framework; nothing runs.

The search follows globals, closures, defaults, attributes of modules, and lists and dicts in
these; it does not follow values that exist only in a call, such as a function that another
function returns.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

from nestarray import backends
from nestarray.container import Container
from nestarray.graph.record.recorder import Traced

#: Packages whose functions are not searched.
_CLOSED = frozenset([*sys.stdlib_module_names, "jax", "nestarray", "numpy", "tensorflow", "tree"])
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")


class Search:
    """The names that a function, and the functions that it names, use.

    Args:
        is_of_framework: whether an object or a callable is of the framework.
        methods: names of methods of its arrays.
        packages: of the framework, which the code of a function may import.
        is_deep: follow the functions that a function names.

    Attributes:
        methods: methods of arrays that are taken from values.
        names_container: whether `Container` is named.
    """

    def __init__(
        self,
        is_of_framework: Callable[[Any], bool],
        methods: frozenset[str] = frozenset(),
        packages: frozenset[str] = frozenset(),
        *,
        is_deep: bool = True,
    ) -> None:
        self._is_of_framework, self._packages = is_of_framework, packages
        self._is_deep, self._has_entered = is_deep, False
        self._methods, self._seen = methods, set[int]()
        self.methods: set[str] = set()
        self.names_container = False

    def finds(self, function: Any, example: Any) -> bool:
        """Whether a function uses the framework, by its names or by methods of arrays.

        Args:
            function: any callable.
            example: its arguments; with Containers among them, methods that Containers have too
                are theirs.
        """
        found = self.visit(function) or self._imports(function)
        has_containers = self.names_container or _holds_container(example)
        return found or bool(self.methods - ({*dir(Container)} if has_containers else set()))

    def visit(self, value: Any) -> bool:
        """Whether a value that is named is of the framework, or is a function that uses it."""
        if id(value) in self._seen:
            return False
        self._seen.add(id(value))
        if value is Container:
            self.names_container = True
        if isinstance(value, dict):
            return any(map(self.visit, value.values()))
        if isinstance(value, (list, tuple)):
            return any(map(self.visit, value))
        if isinstance(value, types.ModuleType):
            return False
        if self._is_of_framework(value):
            return True
        if not callable(value):
            return False
        if isinstance(value, functools.partial):
            return any(map(self.visit, (value.func, *value.args, *value.keywords.values())))
        if isinstance(value, types.MethodType):
            return self.visit(value.__self__) or self.visit(value.__func__)
        if isinstance(value, types.FunctionType):
            if _is_closed(value) or (self._has_entered and not self._is_deep):
                return False
            self._has_entered = True
            return self._visit_function(value)
        if isinstance(value, type) or _is_closed(type(value)):
            return False
        return self.visit(inspect.unwrap(inspect.getattr_static(type(value), "__call__")))

    def _imports(self, function: Any) -> bool:
        """Whether the function itself, not one that it calls, imports the framework."""
        code = getattr(inspect.unwrap(function), "__code__", None)
        return code is not None and not self._packages.isdisjoint(_imported(code))

    def _visit_function(self, function: types.FunctionType) -> bool:
        function = inspect.unwrap(function)
        outside = dict(vars(sys.modules["builtins"])) | function.__globals__
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
            try:
                outside[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        return any(map(self.visit, defaults)) or self._visit_code(function.__code__, outside)

    def _visit_code(self, code: types.CodeType, outside: dict[str, Any]) -> bool:
        names = set(code.co_varnames) | set(code.co_cellvars)
        outside = {name: value for name, value in outside.items() if name not in names}
        for value in self._values(code, outside):
            if self.visit(value):
                return True
        inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
        return any(self._visit_code(c, outside) for c in inner)

    def _values(self, code: types.CodeType, outside: dict[str, Any]) -> Iterator[Any]:
        """The values that the code names; notes methods that it takes from others."""
        known, value = False, None
        for step in dis.get_instructions(code):
            if step.opname in ("PUSH_NULL", "CACHE", "PRECALL", "RESUME", "COPY_FREE_VARS"):
                continue
            if step.opname in _ATTRIBUTES and isinstance(step.argval, str):
                if known:
                    yield value
                    value = _attribute(value, step.argval)
                    known = value is not None
                    continue
                is_method = step.opname == "LOAD_METHOD" or "NULL" in step.argrepr
                if step.argval in self._methods and (step.argval != "size" or is_method):
                    self.methods.add(step.argval)
                continue
            if known:
                yield value
            known = step.opname in ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME", "LOAD_CLASSDEREF")
            known = known and step.argval in outside
            value = outside[step.argval] if known else None
        if known:
            yield value


def methods_of(arrays: type) -> frozenset[str]:
    """The names of methods of a framework's arrays that values of other classes do not have."""
    shared = (Traced, str, dict, list, tuple, int, float, slice)
    names = {name for name in dir(arrays) if not name.startswith("_")}
    return frozenset(names - {name for cls in shared for name in dir(cls)})


def packages_of(value: Any) -> set[str]:
    """The packages of an object's class and, if it can be called, of its definition."""
    owners = [type(value)]
    names = []
    if callable(value):
        home = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
        owners += [value, *([home] if isinstance(home, type) else [])]
        names += [home.__name__] if isinstance(home, types.ModuleType) else []
    if isinstance(value, types.FunctionType):  # a wrapper has the name of the wrapped function
        names.append(value.__globals__.get("__name__", ""))
    names += [getattr(owner, "__module__", None) or "" for owner in owners]
    return {str(name).partition(".")[0] for name in names}


def _imported(code: types.CodeType) -> Iterator[str]:
    """The packages that the code imports."""
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            yield str(step.argval).partition(".")[0]


def _attribute(value: Any, name: str) -> Any:
    """An attribute, read without running code of the user; None if that cannot be."""
    if isinstance(value, types.ModuleType):
        return getattr(value, name, None)
    if backends.is_array(value):  # a constant, whose methods are called once
        return None
    found = inspect.getattr_static(value, name, None)
    return found.__func__ if isinstance(found, (staticmethod, classmethod)) else found


def _is_closed(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0] in _CLOSED


def _holds_container(nest: Any) -> bool:
    if isinstance(nest, Container):
        return True
    if isinstance(nest, dict):
        return any(map(_holds_container, nest.values()))
    return isinstance(nest, (list, tuple)) and any(map(_holds_container, nest))


def variables_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The globals and closure variables that a function uses, by name."""
    try:
        found = inspect.getclosurevars(function)
    except TypeError:  # not a Python function
        return {}
    except ValueError:  # a variable of the closure has no value yet
        return variables_of(_with_filled_closure(function))
    return {**found.globals, **found.nonlocals}


def _with_filled_closure(function: Any) -> Any:
    """`function` with None for the variables of its closure that have no value."""
    filled = types.CellType(None)
    closure = tuple([filled if cell == types.CellType() else cell for cell in function.__closure__])
    return types.FunctionType(
        function.__code__, function.__globals__, function.__name__, None, closure
    )

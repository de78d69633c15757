"""Copies of functions with other global names, which leave the module of the function as it is."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import CellType, FunctionType, MethodType
from typing import Any


def with_globals(function: Any, names: Mapping[str, Any]) -> Any:
    """A copy of a function, and of the functions of its module, that reads other global names.

    Functions of the module that are globals, or variables of a closure, are copied with it.

    Args:
        function: a function of Python, a method, or an object that wraps a function.
        names: name → value.
    """
    if isinstance(function, MethodType):
        return MethodType(with_globals(function.__func__, names), function.__self__)
    innermost = inspect.unwrap(function)
    copies = _Copies(innermost.__globals__, names)
    return copies.of_function(function if isinstance(function, FunctionType) else innermost)


class _Copies:
    """The copies of the functions of a module.

    Args:
        module: the globals of the functions.
        names: the globals that their copies have in place of these.
    """

    def __init__(self, module: dict[str, Any], names: Mapping[str, Any]) -> None:
        self._module, self._names = module, {**module, **names}
        self._functions: dict[FunctionType, FunctionType] = {}
        for name, x in module.items():
            if name not in names and self._is_of_module(x):
                self._names[name] = self.of_function(x)

    def _is_of_module(self, x: Any) -> bool:
        return isinstance(x, FunctionType) and inspect.unwrap(x).__globals__ is self._module

    def of_function(self, function: FunctionType) -> FunctionType:
        """The copy of a function, which may be a wrapper that another module defines."""
        if function in self._functions:
            return self._functions[function]
        is_wrapper = function.__globals__ is not self._module
        old = function.__closure__ or ()
        cells = tuple([CellType() if self._is_of_module(_value(cell)) else cell for cell in old])
        copy = FunctionType(
            function.__code__,
            function.__globals__ if is_wrapper else self._names,
            function.__name__,
            function.__defaults__,
            cells or None,
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        vars(copy).update(vars(function))
        self._functions[function] = copy  # before its closure, which may hold the function itself
        for cell, new in zip(old, cells, strict=True):
            if new is not cell:
                new.cell_contents = self.of_function(cell.cell_contents)
        return copy


def _value(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not assigned yet
        return None

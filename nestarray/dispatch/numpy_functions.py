"""NumPy's functions of Containers: ``np.exp(c)`` is ``na.exp(c)``, ``x + c`` is ``na.add(x, c)``.

They are the ops of their names (`nestarray.dispatch.numpy_protocols`), whatever the leaves are arrays of.
Without an op, the error names the alternative. A bare array is an array object, which
NumPy takes as an array there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray.container import Container
from nestarray.container.spec import LEAF
from nestarray.dispatch import numpy_protocols
from nestarray.dispatch.numpy_protocols import SPECIAL, Lacking, spelled_name
from nestarray.errors import MixedBackendError, UnsupportedError
from nestarray.errors.unknown_names import suggestion

#: NumPy functions that depend on the number of axes, which differs between leaves.
_BY_AXES = ("np.transpose", "np.dot", "np.linalg.norm")


def _of_ufunc(self: Any, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    if any(isinstance(x, np.ndarray) for x in kwargs.get("out", ())):
        raise UnsupportedError(
            f"np.{ufunc.__name__}: a Container cannot be written into an array; instead of x += c, "
            "write c = x + c"
        )
    try:
        return numpy_protocols.of_ufunc(ufunc, method, args, kwargs)
    except Lacking as lacking:
        function = ufunc if method == "__call__" else getattr(ufunc, method)
        return _otherwise(function, args, kwargs, lacking)


def _of_function(
    self: Any, function: Callable[..., Any], types: Any, args: Any, kwargs: Any
) -> Any:
    spelled = spelled_name(function)
    try:
        if spelled in _BY_AXES:
            return _leaf_by_leaf(SPECIAL[spelled], args, kwargs)
        if suggestion("numpy", function.__name__):
            raise Lacking(spelled, {})
        return numpy_protocols.of_function(function, args, kwargs)
    except Lacking as lacking:
        return _otherwise(function, args, kwargs, lacking)
    except MixedBackendError:  # NumPy's arrays and array objects, in a function of NumPy
        values = _all_members(args, kwargs)
        if not (_are_bare(values) and any(isinstance(x, np.ndarray) for x in values)):
            raise
        return _by_numpy(function, args, kwargs)


def _leaf_by_leaf(function: Callable[..., Any], args: Any, kwargs: Any) -> Container:
    bound = inspect.signature(function).bind(*args, **kwargs)
    given = {k: v for k, v in bound.arguments.items() if isinstance(v, Container)}

    def call(*leaves: Any) -> Any:
        bound.arguments.update(zip(given, leaves, strict=True))
        return function(*bound.args, **bound.kwargs)

    first, *others = given.values()
    return first.map(call, *others)


def _otherwise(function: Callable[..., Any], args: Any, kwargs: Any, lacking: Lacking) -> Any:
    """What NumPy makes of bare arrays; of trees, an error that leads on."""
    if _are_bare(_all_members(args, kwargs)):
        return _by_numpy(function, args, kwargs)
    if lacking.settings:
        words = f"na.{lacking.name} has no such setting"
    else:
        words = "there is no op of this name"
    on_each = f"c.map(lambda x: {lacking.function}(x, …)), which calls it on each leaf"
    raise UnsupportedError(
        f"{lacking}: got a Container, and {words}; use {suggestion('numpy', lacking.name) or on_each}"
    ) from None


def _by_numpy(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    arrays = [_as_array(x) for x in args]
    return function(*arrays, **{name: _as_array(x) for name, x in kwargs.items()})


def _are_bare(values: list[Any]) -> bool:
    """Whether all trees among the values are bare arrays, and there is one."""
    trees = [x for x in values if isinstance(x, tuple(_TREES))]
    return bool(trees) and all(isinstance(x, Container) and x.spec is LEAF for x in trees)


def _all_members(args: Any, kwargs: Any) -> list[Any]:
    """The arguments, and the members of those that are lists or tuples."""
    given = [*args, *kwargs.values()]
    return [x for v in given for x in (v if isinstance(v, (list, tuple)) else [v])]


def _as_array(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_as_array(x) for x in value])
    return np.asarray(value) if isinstance(value, Container) else value


#: The classes that take functions of NumPy.
_TREES: list[type] = []


def attach(cls: Any) -> None:
    """Give a class of trees NumPy's protocols."""
    _TREES.append(cls)
    cls.__array_ufunc__ = _of_ufunc
    cls.__array_function__ = _of_function


attach(Container)

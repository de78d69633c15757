"""A copy of a backend's code in which the framework is observed.

The files of ``backends/<name>`` run a second time, with an ``import`` that gives namespaces of
recording functions for the modules of the framework. Functions bound at import
(``selu = floating(jax.nn.selu)``) are then recording functions too. Decorators that compile, register
or define derivatives do nothing: the records are differentiated by the framework.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

from nestarray.dispatch import Op, register_interpreter, without_arrays
from nestarray.exporters.source.recording.forms import layers, operators
from nestarray.exporters.source.recording.observation import (
    Observed,
    current,
    is_recording,
    observed,
    unrecorded,
)


class _Undecorated:
    """A function, with the methods that define a derivative or another rule of it."""

    def __init__(self, function: Any = None, **_settings: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith(("def", "register_")):
            raise AttributeError(name)
        return lambda rule, **_settings: rule


def _unchanged(function: Any = None, **_settings: Any) -> Any:
    return (lambda function: function) if function is None else function


def _unregistered(_name: str, **_settings: Any) -> Callable[..., Any]:
    return _Undecorated


def _value_only(function: Callable[..., Any]) -> Callable[..., Any]:
    """The value of a function that returns it with its gradient."""
    return lambda *args, **kwargs: function(*args, **kwargs)[0]


#: Public names that the copy sees as something else.
_REPLACED: Mapping[str, Any] = {
    "jax.Array": Observed,
    "jax.core.Tracer": Observed,
    "jax.jit": _unchanged,
    "jax.custom_jvp": _Undecorated,
    "jax.custom_vjp": _Undecorated,
    "jax.lax.optimization_barrier": _unchanged,  # of a fault of XLA
    "tensorflow.Tensor": Observed,
    "tensorflow.Variable": Observed,
    "tensorflow.function": _unchanged,
    "tensorflow.custom_gradient": _value_only,
    "numpy.ndarray": Observed,
    "torch.Tensor": Observed,
    "torch.library.custom_op": _unregistered,
    "torch.compiler.is_compiling": lambda: True,  # no values are known, and NumPy takes none
}


#: Packages whose functions belong to a framework's.
_OTHER_PACKAGES: Mapping[str, str] = {"numpy": "scipy"}


class Namespace:
    """A module of the framework whose functions record their calls.

    Args:
        module: the module.
        name: its public name.
    """

    def __init__(self, module: Any, name: str) -> None:
        self._module, self._name = module, name

    def __getattr__(self, name: str) -> Any:
        value = self._find(name)
        setattr(self, name, value)
        return value

    def _find(self, name: str) -> Any:
        public = f"{self._name}.{name}"
        if public in _REPLACED:
            return _REPLACED[public]
        value = getattr(self._module, name)
        if isinstance(value, ModuleType):
            return Namespace(value, public)
        if isinstance(value, type) or not callable(value):
            return value
        return observed(public, value)


class Copy:
    """The files of a backend, with the framework observed.

    Args:
        backend: the framework.
    """

    def __init__(self, backend: str) -> None:
        self.backend = backend
        self._package = f"nestarray.backends.{backend}"
        self._forms = f"nestarray.exporters.source.recording.forms.{backend}_forms"
        self._modules: dict[str, Any] = {}
        self._builtins = {**vars(builtins), "__import__": self._import}

    def find(self, op: Op) -> Callable[..., Any]:
        """The implementation of an op: its public form, the backend's function, or the body."""
        function = op.default(self.backend)
        for native in self._candidates(op):
            condition = getattr(native, "supports", None)
            function = native if condition is None else _chosen(condition, native, function)
        return function

    def _candidates(self, op: Op) -> Iterator[Callable[..., Any]]:
        """The implementations of an op, each preferred to those before it."""
        chapter, forms = map(self._file, (f"{self._package}.{op.chapter}", self._forms))
        functions = [getattr(module, op.name, None) for module in (chapter, operators, layers)]
        functions += [layers.own(op, self.backend), getattr(forms, op.name, None)]
        return filter(None, functions)

    def _file(self, name: str) -> Any:
        """The copy of a file, or None where there is none."""
        return None if importlib.util.find_spec(name) is None else self.module(name)

    def module(self, name: str) -> Any:
        """The copy of a file."""
        if name not in self._modules:
            spec = importlib.util.find_spec(name)
            assert spec is not None
            assert spec.loader is not None
            module = self._modules[name] = ModuleType(name)
            module.__dict__["__builtins__"] = self._builtins
            with unrecorded():
                exec(spec.loader.get_code(name), module.__dict__)  # type: ignore[attr-defined]
        return self._modules[name]

    def _import(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        root = name.partition(".")[0]
        if root in (self.backend, _OTHER_PACKAGES.get(self.backend)):
            importlib.import_module(name)
            public = name if fromlist else root
            return Namespace(importlib.import_module(public), public)
        if name == self._package:
            return SimpleNamespace(**{x: self.module(f"{name}.{x}") for x in fromlist})
        if name.startswith(f"{self._package}."):
            return self.module(name)
        return builtins.__import__(name, globals, locals, fromlist, level)


@cache
def copy_of(backend: str) -> Copy:
    """The copy of a backend."""
    return Copy(backend)


@cache
def _found(backend: str, op: Op) -> Callable[..., Any]:
    return copy_of(backend).find(op)


def _chosen(
    condition: Callable[..., bool], native: Callable[..., Any], otherwise: Callable[..., Any]
) -> Callable[..., Any]:
    """`native` for the arguments of which `condition` holds."""

    def call(*args: Any, **kwargs: Any) -> Any:
        function = native if condition(*args, **kwargs) else _selected(otherwise, args)
        return function(*args, **kwargs)

    return call


def _selected(function: Callable[..., Any], args: tuple[Any, ...]) -> Callable[..., Any]:
    """The version of a function for the types of its arguments."""
    select = getattr(function, "select", None)
    return function if select is None else select(tuple(map(type, args)))


def observe(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler of `Observed` in `nestarray.dispatch`."""
    return _selected(_found(current().backend, op), args)(*args, **kwargs)


register_interpreter(Observed, observe, priority=10)


def _observe_sizes(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler of calls without arrays; NotImplemented outside of a recording."""
    return observe(op, args, kwargs) if is_recording() else NotImplemented


def creations_observed() -> AbstractContextManager[None]:
    """Record arrays that sizes determine too, as no array among the arguments says so."""
    return without_arrays(_observe_sizes)

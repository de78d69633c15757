"""Arrays whose uses are recorded: `Observed` represents an array while a graph runs.

The code of a backend runs in a copy whose framework is observed (`backend_copy`). Its functions
take `Observed` values, compute on the arrays behind them, and append a `Call` to the recorder.
Functions that return no array (`result_type`, `issubdtype`) are not recorded.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from inspect import Parameter, signature
from typing import Any

import numpy as np

from nestarray import dtypes
from nestarray.backends import backend_of_type
from nestarray.dtypes import DType, dtype_of
from nestarray.exporters.source.recording.records import Call, Name, Value
from nestarray.graph.builder import NOWHERE
from nestarray.graph.node import map_leaves


class Observed:
    """The stand-in of an array. Its operators, methods and attributes are calls too."""

    __slots__ = ("_native", "_noted")
    __array_ufunc__ = None  # so that NumPy's operators leave the call to ours
    __control_flow__: Any = None  # of `nestarray.backends.control_flow`
    __hash__ = object.__hash__

    def __init__(self, native: Any, noted: Any) -> None:
        self._native, self._noted = native, noted

    @property
    def shape(self) -> Any:
        """The sizes of the axes, as the framework has them."""
        return self._native.shape

    @property
    def dtype(self) -> Any:
        """The framework's dtype."""
        return self._native.dtype

    @property
    def at(self) -> Any:
        """``x.at[index].set(value)`` of JAX: one call ``"at:set"`` with the index."""
        return _At(self)

    def __getattr__(self, name: str) -> Any:
        if name == "__traced_backend__":
            return current().backend
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._native, name)
        if callable(value):
            return observed(f"method:{name}", _method(name)).of(self)
        if backend_of_type(type(value)) is not None:
            return observed(f"attribute:{name}", operator.attrgetter(name))(self)
        return value

    def __getitem__(self, index: Any) -> Any:
        return observed("operator.getitem", operator.getitem)(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        observed("operator.setitem", operator.setitem)(self, index, value)

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        return bool(self._native)

    def __index__(self) -> int:
        number = operator.index(self._native)
        if _recorders:
            current().number("int", (self,), number)
        return number

    def __float__(self) -> float:
        return float(self._native)

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __repr__(self) -> str:
        return f"Observed({self._native!r})"


class Number(int):
    """An integer that the program reads from an array, or computes of such integers.

    Args:
        number: the integer.
        noted: its Value.
    """

    _noted: Value

    def __new__(cls, number: int, noted: Value) -> Number:
        """The integer, with its Value."""
        instance = super().__new__(cls, number)
        instance._noted = noted
        return instance


class _At:
    """``x.at`` and ``x.at[index]``."""

    def __init__(self, x: Observed, *index: Any) -> None:
        self._x, self._index = x, index

    def __getitem__(self, index: Any) -> _At:
        return _At(self._x, index)

    def __getattr__(self, name: str) -> Any:
        def of(x: Any, index: Any, *args: Any, **kwargs: Any) -> Any:
            return getattr(x.at[index], name)(*args, **kwargs)

        return observed(f"at:{name}", of).of(self._x, *self._index)


_OPERATORS = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and_", "or_", "xor",
    "lshift", "rshift",
)  # fmt: skip
_OTHER_OPERATORS = ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert")


def _attach_operators() -> None:
    for name in (*_OPERATORS, *_OTHER_OPERATORS):
        function = observed(f"operator.{name}", getattr(operator, name))
        plain = name.strip("_")
        setattr(Observed, f"__{plain}__", _own(function))
        if name in _OPERATORS:
            setattr(Observed, f"__r{plain}__", _reflected(function))


def _own(function: Any) -> Callable[..., Any]:
    return lambda *args: function(*args)


def _reflected(function: Any) -> Callable[..., Any]:
    return lambda x, other: function(other, x)


def _method(name: str) -> Callable[..., Any]:
    return lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)


class observed:
    """A function of a framework that records its calls.

    Args:
        target: its public name.
        native: the function.
    """

    def __init__(self, target: str, native: Callable[..., Any]) -> None:
        self.target, self.native = target, native

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return current().call(self, args, kwargs) if _recorders else self.native(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.native, name)
        is_method = callable(value) and not isinstance(value, type) and name[0] != "_"
        return observed(f"{self.target}.{name}", value) if is_method else value

    def of(self, *first: Any) -> Callable[..., Any]:
        """The function with its first arguments given."""
        return lambda *args, **kwargs: self(*first, *args, **kwargs)


#: The recorders that are running, the innermost one last.
_recorders: list[Recorder] = []


def is_recording() -> bool:
    """Whether a recorder is running."""
    return bool(_recorders)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Calls compute: constants of a file are arrays, as the file outlives the recording."""
    running = _recorders[:]
    _recorders.clear()
    try:
        yield
    finally:
        _recorders[:] = running


def current() -> Recorder:
    """The recorder that is running."""
    return _recorders[-1]


class Recorder:
    """One recording; a context in which calls are recorded.

    Attributes:
        backend: the framework.
        has_statements: whether branches and loops of the source are statements of Python.
        calls: the calls so far.
        constants: arrays that calls use and the graph does not hold, by path.
        numbers: Value of a `Number` → the integer.
        sizes: (operator, operands, result) of the sizes that the program computes of others.
        place: of new calls.
        mode: whether the model trains.
        key: from which the next random numbers come; None if the framework has its own.
    """

    def __init__(self, backend: str, *, has_statements: bool) -> None:
        self.backend, self.has_statements = backend, has_statements
        self.calls: list[Call] = []
        self.constants: dict[str, np.ndarray] = {}
        self.numbers: dict[Value, int] = {}
        self.sizes: list[tuple[str, tuple[int, ...], int]] = []
        self.place = NOWHERE
        self.mode = Observed(True, _mode(backend))
        self.key = _key(backend)

    def __enter__(self) -> Recorder:
        _recorders.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _recorders.pop()

    def given(self, x: Any, source: str, path: str) -> Observed:
        """The stand-in of an argument or a variable."""
        return Observed(x, value_of(x, source, path))

    def call(self, function: observed, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute a call, and record it if it returns arrays."""
        value = function.native(*natives(args), **natives(kwargs))
        changed = next((x for x in args[:1] if value is None), kwargs.get("out"))
        if isinstance(changed, Observed):  # written in place: from here on it is another value
            self._add(function, args, kwargs, value_of(changed._native))
            changed._noted = self.calls[-1].result
            return None if value is None else changed
        if not _holds_array(value):
            return value
        if _is_conversion(function.target) and args:
            x = args[0]
            if isinstance(x, Observed) and self._is_same(value, x._native):
                return x
            literal = getattr(x, "_noted", x)
            if _is_literal(literal):
                return Observed(value, literal)  # literals follow the dtypes of arrays
            if _is_table(x):
                array = np.asarray(x, dtype_of(value).__numpy_dtype__)
                return Observed(value, self._literal(array))
        if function.target.startswith("operator.") and all(map(_is_literal, self.noted(args))):
            return Observed(value, function.native(*self.noted(args)))
        args, kwargs = _shortest(function.native, args, kwargs)
        result = map_leaves(lambda x: Observed(x, value_of(x)) if _is_array(x) else x, value)
        noted = map_leaves(lambda x: x._noted if isinstance(x, Observed) else x, result)
        self._add(function, args, kwargs, noted)
        return result

    def number(self, target: str, args: tuple[Any, ...], number: int) -> Number:
        """Record a call that gives an integer: it may be a size."""
        value = Value((), "size")
        self.numbers[value] = number
        self.calls.append(Call(target, self.noted(args), {}, value, self.place))
        return Number(number, value)

    def _add(
        self, function: observed, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any
    ) -> None:
        operands, settings = self.noted(args), self.noted(kwargs)
        self.calls.append(Call(function.target, operands, settings, result, self.place))

    def _is_same(self, copy: Any, x: Any) -> bool:
        """Whether a conversion returned its argument, or a copy that nobody can tell from it."""
        is_immutable = self.backend in ("jax", "tensorflow")
        return copy is x or (
            (copy.shape, copy.dtype) == (x.shape, x.dtype)
            and (is_immutable or not _owns_memory(copy))
        )

    def noted(self, x: Any) -> Any:
        """A nest of arguments, as a record holds it."""
        if isinstance(x, (list, tuple)):
            items = [self.noted(item) for item in x]
            return items if isinstance(x, list) else tuple(items)
        if isinstance(x, slice):
            return slice(*map(self.noted, (x.start, x.stop, x.step)))
        if isinstance(x, Mapping):
            return {key: self.noted(item) for key, item in x.items()}
        if isinstance(x, (Observed, Number)):
            return x._noted
        if isinstance(x, observed):
            return Name(x.target)
        if type(x).__name__ == "TensorShape":
            return tuple(x.as_list())
        if _is_dtype(x):
            return dtypes.as_dtype(x)
        return self._literal(x) if _is_array(x) else x

    def _literal(self, x: Any) -> Any:
        array = np.asarray(x)
        if array.ndim == 0:
            return array.item()
        path = f"array{len(self.constants)}"
        self.constants[path] = array
        return value_of(x, "constants", path)


def _mode(backend: str) -> Value | Name:
    """How the source reads its mode."""
    if backend == "torch":
        return Name("self.training")
    name = "training" if backend == "tensorflow" else "train"
    return Value((), name, "mode", name)


def _key(backend: str) -> Observed | None:
    if backend == "jax":
        import jax

        return Observed(jax.random.PRNGKey(0), Value((), "key", "key", "key"))
    if backend == "numpy":
        return Observed(np.random.default_rng(0), Value((), "rng", "key", "rng"))
    return None


def natives(nest: Any) -> Any:
    """A nest with arrays for stand-ins, and functions for observed ones."""
    return map_leaves(_native, nest)


def _native(x: Any) -> Any:
    if isinstance(x, Number):
        return int(x)
    return x._native if isinstance(x, Observed) else x.native if isinstance(x, observed) else x


def value_of(x: Any, source: str = "", path: str = "") -> Value:
    """The Value of an array."""
    return Value(tuple(map(int, x.shape)), dtype_of(x).name, source, path)


def _is_literal(x: Any) -> bool:
    return isinstance(x, (bool, int, float))


def _is_table(x: Any) -> bool:
    """Whether it is a list of more numbers than a reader of the source wants to see."""
    numbers: list[Any] = []
    map_leaves(numbers.append, x)
    return len(numbers) > _MOST_NUMBERS and all(map(_is_literal, numbers))


def _is_array(x: Any) -> bool:
    return backend_of_type(type(x)) is not None


def _holds_array(nest: Any) -> bool:
    if isinstance(nest, (list, tuple)):
        return any(map(_holds_array, nest))
    if isinstance(nest, Mapping):
        return any(map(_holds_array, nest.values()))
    return _is_array(nest)


def _is_dtype(x: Any) -> bool:
    if isinstance(x, type):
        return issubclass(x, (np.generic, bool, int, float, complex))
    return isinstance(x, (DType, np.dtype)) or type(x).__name__ in ("DType", "dtype", "_ScalarMeta")


def _shortest(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call without those that equal their default."""
    parameters = _parameters(function)
    defaults = {p.name: p.default for p in parameters}
    kwargs = {k: x for k, x in kwargs.items() if not _is_same(x, defaults.get(k, Parameter.empty))}
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    known = list(itertools.takewhile(lambda p: p.kind in kinds, parameters))
    if len(args) > len(known):
        return args, kwargs
    while args and _is_same(args[-1], known[len(args) - 1].default):
        args = args[:-1]
    for i, (p, x) in enumerate(zip(known, args, strict=False)):
        is_named = p.kind is Parameter.POSITIONAL_OR_KEYWORD
        if is_named and _is_same(x, p.default):  # the rest goes by name
            pairs = zip(known[i:], args[i:], strict=False)
            named = {p.name: x for p, x in pairs if not _is_same(x, p.default)}
            return args[:i], named | kwargs
    return args, kwargs


def _is_same(x: Any, default: Any) -> bool:
    return type(x) is type(default) and x == default


@cache
def _parameters(function: Callable[..., Any]) -> list[Parameter]:
    try:
        return list(signature(function).parameters.values())
    except (TypeError, ValueError):  # written in C
        return []


def _owns_memory(x: Any) -> bool:
    """Whether it owns its memory."""
    return x._base is None if hasattr(x, "_base") else getattr(x, "base", None) is None


def _is_conversion(target: str) -> bool:
    return target.rpartition(".")[2].rpartition(":")[2] in _CONVERSIONS


#: Longer lists of numbers, such as the weights of an interpolation, are constants in a file.
_MOST_NUMBERS = 64

#: Functions that may return their argument.
_CONVERSIONS = frozenset(
    ("asarray", "astype", "broadcast_to", "cast", "convert_to_tensor", "reshape")
)

_attach_operators()

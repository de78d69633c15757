"""Calls of ops of `na` in code that JAX traces, which stay one call of the op.

While code is traced, a call on traced arrays becomes an equation that calls a function; its name
identifies the op and its settings. A derivative or a batch of the equation keeps the name, but has
another jaxpr, so the op is traced again, and the call is kept if the jaxprs are equal.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import jax

from nestarray import backends, dtypes
from nestarray.dispatch import Op, register_interpreter
from nestarray.errors import Refused
from nestarray.errors.foreign import foreign
from nestarray.graph.node import map_leaves
from nestarray.graph.record.recorder import written_arguments
from nestarray.importers.jax.dimensions import is_symbolic
from nestarray.importers.jax.equations import call_of
from nestarray.importers.jax.named_calls import kept_calls


@dataclasses.dataclass(frozen=True)
class Input:
    """The place of an array among the inputs of an equation."""

    index: int


class OwnCall(NamedTuple):
    """A call of an op.

    Attributes:
        op: the op.
        args, kwargs: its arguments, with Inputs for arrays.
        run: computes it for the inputs of the equation.
        is_single: whether it returns one array; else a tuple or a list of arrays.
    """

    op: Op
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    run: Callable[..., Any]
    is_single: bool


#: Name of an equation → its call, while a program is traced and read.
_calls: ContextVar[dict[str, OwnCall]] = ContextVar("own_calls")
#: Whether the code runs whose calls are noted.
_is_noting: ContextVar[bool] = ContextVar("notes_own_calls", default=False)
_numbers = itertools.count()
_SETTINGS = (bool, int, float, complex, str, dtypes.DType, type(None), type(Ellipsis))


@contextlib.contextmanager
def kept_ops() -> Iterator[None]:
    """Keep the calls of ops in the programs that are traced and read in this context."""
    token = _calls.set({})
    try:
        yield
    finally:
        _calls.reset(token)


def noted(tracer: Any) -> contextlib.AbstractContextManager[None]:
    """Make equations of the calls of ops on values such as `tracer`, in this context."""
    _interpret(type(tracer))
    return _noting(True)


@contextlib.contextmanager
def _noting(is_noting: bool) -> Iterator[None]:
    token = _is_noting.set(is_noting)
    try:
        yield
    finally:
        _is_noting.reset(token)


@functools.cache
def _interpret(kind: type) -> None:
    register_interpreter(kind, _note, priority=0, is_active=_is_noting.get)


def _note(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler of traced values in `nestarray.dispatch`."""
    arrays: list[Any] = []

    def placed(x: Any) -> Any:
        if not backends.is_array(x):
            return x
        arrays.append(x)
        return Input(len(arrays) - 1)

    def setting(parameter: str, value: Any) -> Any:
        is_dtype = parameter == "dtype" and value is not None
        return dtypes.as_dtype(value) if is_dtype else map_leaves(placed, value)

    written = written_arguments(op, args, kwargs, setting)
    settings: list[Any] = []
    map_leaves(settings.append, map_inputs(lambda _: None, [*written]))
    is_known = all(isinstance(x, _SETTINGS) or is_symbolic(x) for x in settings)
    is_jax = all(backends.backend_of(x) == "jax" and not dtypes.is_key(x) for x in arrays)
    if not (is_known and is_jax):
        return op.call_native(args, kwargs)
    kinds: list[type | None] = []  # of the result; None: an array

    def run(*given: Any) -> Any:
        with _noting(False):
            result = op.call_native(*_filled(written, given))
        kinds[:] = [None if backends.is_array(result) else type(result)]
        if backends.is_array(result):
            return result
        if not isinstance(result, (tuple, list)) or not all(map(backends.is_array, result)):
            raise TypeError(f"got {type(result).__name__}, expected arrays")
        return tuple(result)

    run.__name__ = f"na.{op.name}.{next(_numbers)}"
    try:
        with foreign():
            result = jax.jit(run)(*arrays)
    except Refused:  # it needs values, or is wrong, which the plain call explains
        return op.call_native(args, kwargs)
    (kind,) = kinds
    _calls.get()[run.__name__] = OwnCall(op, *written, run, is_single=kind is None)
    if kind is None:
        return result
    return kind(*result) if hasattr(kind, "_fields") else kind(result)


def _filled(nest: Any, given: Sequence[Any]) -> Any:
    return map_inputs(lambda x: given[x.index], nest)


def map_inputs(fn: Callable[[Input], Any], nest: Any) -> Any:
    """A nest with `fn` applied to its Inputs."""
    return map_leaves(lambda x: fn(x) if isinstance(x, Input) else x, nest)


@functools.lru_cache(maxsize=1024)
def own_call(eqn: Any) -> OwnCall | None:
    """The op that an equation calls; None for other equations."""
    if eqn.primitive.name not in ("jit", "pjit"):
        return None
    call = _calls.get({}).get(call_of(eqn).name)
    return call if call is not None and _is_unchanged(call, eqn) else None


def _is_unchanged(call: OwnCall, eqn: Any) -> bool:
    """Whether an equation is the call itself, not a derivative, a batch or a part of it."""
    try:
        with kept_calls(), foreign():
            jaxpr = jax.make_jaxpr(call.run)(*[x.aval for x in eqn.invars])
    except Refused:  # the inputs are others
        return False
    return str(jaxpr) == str(call_of(eqn).jaxpr)

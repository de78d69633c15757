"""Public ops, and the look-up of the implementation of a call.

`op` turns a signature, a docstring and a default body into a public function. Its generated code
checks the settings, looks the implementation up by the types of the array arguments, and calls
it. The first call with new types resolves them, in this order:

1. the type of an interpreter (Container, …): its handler takes the op and the arguments;
2. arrays of one backend: the function of the op's name in the backend's file of the op's
   chapter, or the op's body;
3. arrays of two backends: an error;
4. only numbers, or no array: the current default backend, looked up at each call.

A parameter is an array argument if its annotation contains ``Array``: ``Array | None``,
``Sequence[Array]``, ``like: Array | None``. The rest are settings.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial, wraps
from typing import Any, NamedTuple, TypeVar, overload

from nestarray import backends, diagnosis, dtypes, dynamo, lazy_imports
from nestarray.backends import floating, truth, xp
from nestarray.config import current_backend
from nestarray.container.arguments import constructor_for
from nestarray.dispatch import generator, output
from nestarray.errors import (
    ArgumentError,
    MixedBackendError,
    NestarrayError,
    OutOfRangeError,
    UnsupportedError,
    signatures,
)
from nestarray.errors.unknown_names import suggestion
from nestarray.traits import Trait, derived
from nestarray.typing import NUMBERS, is_size_type, takes_several

F = TypeVar("F", bound=Callable[..., Any])
Resolved = tuple[Callable[..., Any], Callable[..., Any] | None]
Handler = Callable[["Op", tuple[Any, ...], dict[str, Any]], Any]

#: Exceptions by which frameworks end a computation on purpose.
#: https://github.com/pytorch/pytorch/blob/main/torch/utils/checkpoint.py
_SIGNALS = frozenset(("_StopRecomputationError",))

#: Every public op by name, in the order of definition.
OPS: dict[str, Op] = {}


class Interpreter(NamedTuple):
    """Code that evaluates the calls on values of one type, such as Containers.

    Attributes:
        kind: the type.
        handler: takes the op and its arguments.
        priority: among the types of one call, the interpreter with the highest takes the call.
        is_active: whether it takes calls in the running context; otherwise the backend does. None:
            in every context.
    """

    kind: type
    handler: Handler
    priority: int
    is_active: Callable[[], bool] | None = None


#: All interpreters, by falling priority: structures, then derivatives, then records of calls.
INTERPRETERS: list[Interpreter] = []

#: Handlers of calls without arrays, the innermost first; see `without_arrays`.
_without_arrays: dynamo.ContextVariable[tuple[Handler, ...]] = dynamo.ContextVariable(
    "without_arrays", default=()
)


def register_interpreter(
    kind: type, handler: Handler, *, priority: int, is_active: Callable[[], bool] | None = None
) -> None:
    """Hand calls on values of a type to `handler`; see `Interpreter` for the arguments."""
    INTERPRETERS.append(Interpreter(kind, handler, priority, is_active))
    INTERPRETERS.sort(key=lambda each: -each.priority)
    for record in OPS.values():
        record.forget(kind)


@contextlib.contextmanager
def without_arrays(handler: Handler) -> Iterator[None]:
    """Give calls without arrays to a handler, which may return NotImplemented, in this context."""
    with _without_arrays.being((handler, *_without_arrays.get())):
        yield


class Op:
    """The record of one op; the public function carries it as ``.op``."""

    def __init__(
        self,
        body: Callable[..., Any],
        *,
        is_primitive: bool = False,
        is_floating: bool = False,
        not_promoted: Collection[str] = (),
        promoted: Collection[str] = (),
        traits: Trait | None = None,
    ) -> None:
        self.name = body.__name__
        self.chapter = body.__module__.rpartition(".")[2]
        self.body = body
        self.is_primitive = is_primitive
        self.signature = inspect.signature(body)
        self.parameters = list(self.signature.parameters.values())
        of_chapter = body.__globals__.get("TRAITS", Trait(0))
        #: its properties
        self.traits = (of_chapter if traits is None else traits) | derived(self.parameters)
        self.array_parameters = [p.name for p in self.parameters if _holds_arrays(p)]
        self.sequence_parameters = [
            p.name for p in self.parameters if _holds_arrays(p) and _is_sequence(p)
        ]
        #: whether promoted integers become floats
        self.is_floating = is_floating
        #: the arguments with a common dtype
        self.promoted = [
            name
            for name in self.array_parameters
            if (name not in not_promoted if is_floating else name in promoted)
        ]
        self.required_arrays = {
            p.name for p in self.parameters if _holds_arrays(p) and "None" not in str(p.annotation)
        }
        self.optional_arrays = {
            p.name for p in self.parameters if str(p.annotation) == "Array | None"
        }
        #: the function by the types of the array arguments, nested: tuples are slow to hash
        self.table: dict[Any, Any] = {}
        #: for Containers, by the tuple of types: the function, and the grouped function
        self.resolved: dict[tuple[Any, ...], Resolved] = {}
        #: for Containers: cached functions by the types of the arguments and kinds of the leaves
        self.cached_calls: dict[tuple[type, ...], dict[Any, Any]] = {}
        #: whether it has array arguments only
        self.is_of_arrays = all(
            p.kind is p.POSITIONAL_ONLY and p.name in self.array_parameters for p in self.parameters
        )
        self._takes_one_or_two = (
            self.is_of_arrays and len(self.parameters) <= 2 and not self.sequence_parameters
        )
        self.function: Callable[..., Any] = _compile(self)

    def __repr__(self) -> str:
        return f"<op {self.name} of {self.chapter}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return OPS.__getitem__, (self.name,)

    def arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The array arguments of a call by parameter name."""
        bound = self.signature.bind(*args, **kwargs).arguments
        return {name: bound[name] for name in self.array_parameters if name in bound}

    @dynamo.compile_time_constant
    def implementation(self, backend: str) -> Callable[..., Any]:
        """The implementation for arrays of `backend`: its own function, or the op's body."""
        chapter = backends.chapter(backend, self.chapter)
        native = getattr(chapter, self.name, None)
        if native is None:
            if self.is_primitive:
                raise UnsupportedError(f"{self.name}: not available on the backend {backend!r}")
            return self.default(backend)
        supports = getattr(native, "supports", None)
        if supports is None:
            return native
        return generator.partial_function(self.parameters, supports, native, self.default(backend))

    def default(self, backend: str) -> Callable[..., Any]:
        """The op's body, adapted to the backend and to the promoted dtype of its arguments."""
        module = backends.chapter(backend, "bodies")
        body = self.body if module is None else module.adapted(self.body, self.promoted)
        if self.promoted:
            body = floating.guarded(body, self.parameters, self.promoted, self._in_one_dtype)
        return body

    def resolve(self, *types: Any) -> Callable[..., Any]:
        """The function for these argument types, kept in the table; called on a miss."""
        for name, found in zip(self.array_parameters, types):
            if found is type(signatures.MISSING):
                raise self.misfit({name: signatures.MISSING})
            if found is type(None) and name in self.required_arrays:
                raise self._bad_type(found)
            if found in NUMBERS and name in self.optional_arrays:
                raise ArgumentError(f"{self.name}: {name}: got {found.__name__}, expected an array")
        flat = _flat(types)
        function = self._find(flat)
        self.resolved[types] = function, self._find_foreach(flat, function)
        *outer, last = types
        table = self.table
        for t in outer:
            table = table.setdefault(t, {})
        table[last] = function
        return function

    def forget(self, kind: type) -> None:
        """Look up again the functions for types that include a subclass of `kind`."""
        types = {t for key in self.resolved for t in _flat(key)}
        if any(issubclass(t, kind) for t in types):
            for table in (self.table, self.resolved, self.cached_calls):
                table.clear()

    def types_in(self, arrays: Iterable[Any]) -> frozenset[type]:
        """The types of a sequence of arrays."""
        if arrays is signatures.MISSING:
            raise self.misfit({self.sequence_parameters[0]: arrays})
        if not isinstance(arrays, (list, tuple)):
            is_one = backends.is_array(arrays)
            got = "an array" if is_one else type(arrays).__name__
            raise ArgumentError(f"{self.name}: got {got}, expected a list or a tuple of arrays")
        return frozenset(map(type, arrays))

    def check_settings(self, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """Check the kinds of the settings, and convert them; see `_as_python`.

        Frameworks and default bodies compute a value for many settings of a wrong kind.

        Raises:
            ArgumentError: a setting is not of the kind that its annotation names.
        """
        bound = self.signature.bind(*args, **kwargs)
        settings = {k: v for k, v in bound.arguments.items() if k not in self.array_parameters}
        if any(isinstance(v, each.kind) for v in settings.values() for each in _active()):
            return bound  # checked by the calls that the interpreter makes
        diagnosis.check_kinds(self.name, bound.arguments, self.signature.parameters)
        bound.arguments.update(self._as_python(settings))
        return bound

    def _as_python(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that need a conversion: NumPy scalars to numbers, ranges to tuples."""
        parameters, converted = self.signature.parameters, {}
        for name, value in settings.items():
            if _is_numpy_scalar(type(value)):
                converted[name] = value.item()
            elif type(value) is range and takes_several(str(parameters[name].annotation)):
                converted[name] = tuple(value)
        return converted

    def call_with_other_settings(self, *args: Any, **kwargs: Any) -> Any:
        """Call the op with settings of other types than the annotations name, if they are valid."""
        bound = self.check_settings(*args, **kwargs)
        values = [
            bound.arguments.get(n, self.signature.parameters[n].default)
            for n in self.array_parameters
        ]
        types = tuple(
            self.types_in(value) if name in self.sequence_parameters else type(value)
            for name, value in zip(self.array_parameters, values, strict=True)
        )
        known = self.resolved.get(types)
        function = self.resolve(*types) if known is None else known[0]
        try:
            return function(*bound.args, **bound.kwargs)
        except Exception as error:
            instead = self.explain(error, *bound.args, **bound.kwargs)
            if instead is None:
                raise
        return instead()

    @dynamo.compile_time_constant
    def implementation_for(self, *types: type) -> Callable[..., Any]:
        """The function for these types, of members of sequences too, for torch.compile."""
        return self._find(list(types), has_shortcuts=False)

    def _find_foreach(
        self, types: list[type], function: Callable[..., Any]
    ) -> Callable[..., Any] | None:
        """The grouped function for many arrays of these types, from the backend's ``foreach`` file.

        It is the function of the op's name, or `of_op` of a native `function`. Default bodies are
        excluded: a compiler could fuse them, which changes the rounding.
        """
        names = {backends.backend_of_type(t) for t in types} - {None}
        module = backends.chapter(str(names.pop()), "foreach") if len(names) == 1 else None
        if module is None or not all(map(module.covers, types)):
            return None
        if Trait.ELEMENTWISE in self.traits and inspect.unwrap(function) is not self.body:
            of_op = getattr(module, "of_op", None)
            if of_op is not None:
                return of_op(function)
        return getattr(module, self.name, None)

    def _find(self, types: list[type], *, has_shortcuts: bool = True) -> Callable[..., Any]:
        for kind, handler, _, is_active in INTERPRETERS:
            if any(issubclass(t, kind) for t in types):
                general = partial(_interpret, handler, self)
                if is_active is not None:
                    return _chosen(is_active, general, self._of_one_backend(types))
                if has_shortcuts and self._takes_one_or_two and hasattr(handler, "shortcut"):
                    return handler.shortcut(self, tuple(types), general)
                return general
        return self._of_one_backend(types)

    def _of_one_backend(self, types: list[type]) -> Callable[..., Any]:
        names: list[str] = []
        numpy_scalars = False
        if any(map(is_size_type, types)):
            return self._call_with_sizes
        for t in types:
            name = backends.backend_of_type(t)
            if name is None:
                if not issubclass(t, (*NUMBERS, type(None))):
                    raise self._bad_type(t)
            elif name == "numpy" and _is_numpy_scalar(t):
                numpy_scalars = True
            elif name not in names:
                names.append(name)
        if not names and numpy_scalars:
            names.append("numpy")
        if len(names) > 1:
            raise MixedBackendError(backends.mixed_message(self.name, names))
        if not names:
            return partial(self._call_default, tuple(types))
        function = self.implementation(names[0])
        select = getattr(function, "select", None)
        return select(tuple(types)) if select is not None else function

    def _call_with_sizes(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the op with sizes that are unknown under tracing; they are weakly typed integers."""
        bound = self.signature.bind(*args, **kwargs)
        given = {n: x for n, x in bound.arguments.items() if n in self.array_parameters}
        groups = [x if isinstance(x, (list, tuple)) else (x,) for x in given.values()]
        arrays = [x for group in groups for x in group if backends.is_array(x)]
        promoted = [given[n] for n in self.promoted if backends.is_array(given.get(n))]
        like, dtype = next(iter(arrays), None), dtypes.result_dtype(*promoted, 1)

        def converted(value: Any) -> Any:
            if isinstance(value, (list, tuple)):
                return [converted(x) for x in value]
            is_size = is_size_type(type(value))
            return OPS["full"].function((), value, dtype=dtype, like=like) if is_size else value

        bound.arguments.update({n: converted(x) for n, x in given.items()})
        return self.function(*bound.args, **bound.kwargs)

    def explain(self, error: Exception, /, *args: Any, **kwargs: Any) -> Callable[[], Any] | None:
        """Raise nestarray's error for a call that a framework refused, or return another call.

        Returns:
            a call with converted numbers, with arguments promoted to one dtype, or of the op's
            definition for bools; None if no error and no other call applies.
        """
        if type(error).__name__ in _SIGNALS:
            return None
        instead = (
            self._by_setting(args, kwargs)
            or self._as_declared(error, args, kwargs)
            or self._in_one_dtype(args, kwargs)
        )
        if instead is not None:
            return instead
        of_bools = getattr(self.body, "of_bools", None)
        if of_bools is not None and truth.are_bools(self.arrays(args, kwargs), of_bools):
            return partial(of_bools, self.function, *args, **kwargs)
        given = self.signature.bind(*args, **kwargs).arguments
        body = None if self.is_primitive else partial(self.body, *args, **kwargs)

        def again(arguments: Mapping[str, Any]) -> Any:
            bound = self.signature.bind(*args, **kwargs)
            bound.arguments.update(arguments)
            return self._find(self._types_of(bound))(*bound.args, **bound.kwargs)

        parameters = self.signature.parameters
        diagnosis.explain(self.name, self.traits, error, given, parameters, body, again)
        return None

    def call_native(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute a call by the backend of its arrays, without interpreters."""
        bound = self.signature.bind(*args, **kwargs)
        return self._of_one_backend(self._types_of(bound))(*bound.args, **bound.kwargs)

    def _types_of(self, bound: inspect.BoundArguments) -> list[type]:
        """The types of the array arguments, and of the items of sequences of them."""
        values = [bound.arguments.get(name) for name in self.array_parameters]
        groups = [value if isinstance(value, (list, tuple)) else (value,) for value in values]
        return [type(x) for group in groups for x in group]

    def _by_setting(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[], Any] | None:
        """The call of an interpreter, whose values are settings of arrays of a framework.

        Such as the index of an array, or the sizes of a shape.
        """
        bound = self.signature.bind(*args, **kwargs).arguments
        settings = [
            item
            for name, value in bound.items()
            if name not in self.array_parameters
            for item in (value if isinstance(value, (list, tuple)) else (value,))
        ]
        for kind, handler, *_ in _active():
            if any(isinstance(bound.get(name), kind) for name in self.array_parameters):
                return None  # the failed call was the interpreter's
            if any(isinstance(item, kind) for item in settings):
                return partial(handler, self, args, kwargs)
        return None

    def _as_declared(
        self, error: Exception, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[], Any] | None:
        """The call with converted settings, and with required numbers as arrays.

        Such arrays have the promoted dtype. An error of the op itself concerns the value of the
        number, so there the number is not converted.
        """
        bound = self.signature.bind(*args, **kwargs)
        given = bound.arguments
        arrays = [given[name] for name in self.array_parameters if name in given]
        like = next((x for x in arrays if backends.is_array(x)), None)
        instead = self._as_python(
            {name: value for name, value in given.items() if name not in self.array_parameters}
        )
        is_over_numbers = isinstance(error, OutOfRangeError) or (
            isinstance(error, NestarrayError) and str(error).startswith(f"{self.name}: ")
        )
        for name in self.required_arrays & given.keys():
            value = given[name]
            if like is not None and value.__class__ in NUMBERS and not is_over_numbers:
                dtype = dtypes.result_dtype(like, value) if name in self.promoted else None
                if dtype is not None or value.__class__ in (int, bool):  # an index, or a mask
                    instead[name] = OPS["asarray"].function(value, dtype=dtype, like=like)
        given.update(instead)
        return partial(self.function, *bound.args, **bound.kwargs) if instead else None

    def _in_one_dtype(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[], Any] | None:
        """The call with the promoted arguments cast to their common dtype; None if they have it."""
        bound = self.signature.bind(*args, **kwargs)
        given = {name: bound.arguments.get(name) for name in self.promoted}
        cast = OPS["astype"].function
        instead = floating.promoted(given, cast, is_floating=self.is_floating)
        bound.arguments.update(instead)
        return partial(self.function, *bound.args, **bound.kwargs) if instead else None

    def other_call(self, given: Mapping[str, Any]) -> Any:
        """A call with ``out``, from the values of the parameters; raises the error of a misfit."""
        unknown = dict(given.get(signatures.UNKNOWN.name, ()))
        out = given["out"] if self.is_of_arrays else unknown.pop("out", None)
        extra: Any = given.get(signatures.EXTRA.name, ())
        if self.is_of_arrays:
            extra = () if extra is signatures.MISSING else (extra, *([] if out is None else [out]))
        own = {k: v for k, v in given.items() if k in self.signature.parameters}
        if unknown or extra or any(x is signatures.MISSING for x in own.values()):
            raise self.misfit(own, unknown, len(extra))
        bound = inspect.BoundArguments(self.signature, own)  # type: ignore[arg-type]
        result = self.function(*bound.args, **bound.kwargs)
        return result if out is None else self.written(out, result)

    def written(self, out: Any, result: Any) -> Any:
        """`out`, into which a result is written."""
        return output.written(self.name, tuple([each.kind for each in _active()]), out, result)

    def misfit(
        self, given: Mapping[str, Any], unknown: Iterable[str] = (), extra: int = 0
    ) -> ArgumentError:
        """The error for a call that does not fit the signature.

        Args:
            given: values by parameter.
            unknown: keywords that the op does not have.
            extra: the number of surplus positional arguments.
        """
        missing = [name for name, value in given.items() if value is signatures.MISSING]
        return signatures.signature_error(self.name, self.parameters, unknown, extra, missing)

    def _bad_type(self, found: type) -> ArgumentError:
        expected = "an array of numpy, jax, torch or tensorflow, a Container or a number"
        hint = ""
        if issubclass(found, (list, tuple)):
            hint = "; convert it with na.asarray(...), or take its arrays one by one: na.tree.map"
            if instead := suggestion("tuples", self.name):
                hint = f"; use {instead}"
        if issubclass(found, dict):
            hint = "; make it a tree with na.Container(...)"
            hint += ", or merge it in with c.update(...)" if self.name == "bitwise_or" else ""
        if backends.core("numpy").is_masked(found):
            hint = "; pass x.filled(value), or x.data and x.mask as two arrays"
        if instead := constructor_for(found):
            hint = f"; {instead}"
        which = ", ".join(self.array_parameters)
        return ArgumentError(
            f"{self.name}: array argument ({which}): got {found.__name__}, expected {expected}{hint}"
        )

    def _call_default(self, types: tuple[type, ...], /, *args: Any, **kwargs: Any) -> Any:
        for handler in _without_arrays.get():
            result = handler(self, args, kwargs)
            if result is not NotImplemented:
                return result
        backend = current_backend()
        function = self.implementation(backend)
        select = getattr(function, "select", None)
        if select is not None:
            return select(types)(*args, **kwargs)
        if "like" in self.array_parameters or all(t is type(None) for t in types):
            return function(*args, **kwargs)
        bound = self.signature.bind(*args, **kwargs)
        arrays = {
            name: _array_of(value, backend)
            for name in self.array_parameters
            if (value := bound.arguments.get(name)).__class__ in NUMBERS
        }
        if not arrays:
            return function(*args, **kwargs)
        bound.arguments.update(arrays)
        return self.function(*bound.args, **bound.kwargs)  # which explains errors over arrays


def _array_of(number: Any, backend: str) -> Any:
    import numpy as np

    dtype = backends.core("numpy").native_dtype(dtypes.scalar_dtype(number))
    return backends.core(backend).from_numpy(np.asarray(number, dtype))


def _is_numpy_scalar(t: type) -> bool:
    import numpy as np

    return issubclass(t, np.generic)


def _flat(types: Iterable[Any]) -> list[Any]:
    """The types of arguments, and those in sequences of arrays."""
    return [t for item in types for t in (item if isinstance(item, frozenset) else (item,))]


def _active() -> list[Interpreter]:
    """The interpreters of the running context."""
    return [each for each in INTERPRETERS if each.is_active is None or each.is_active()]


def _interpret(handler: Handler, op: Op, /, *args: Any, **kwargs: Any) -> Any:
    return handler(op, args, kwargs)


def _chosen(
    is_active: Callable[[], bool], interpreted: Callable[..., Any], native: Callable[..., Any]
) -> Callable[..., Any]:
    """`interpreted` in the contexts of an interpreter, `native` in others."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return (interpreted if is_active() else native)(*args, **kwargs)

    return call


def _holds_arrays(parameter: inspect.Parameter) -> bool:
    return "Array" in str(parameter.annotation)


def _is_sequence(parameter: inspect.Parameter) -> bool:
    is_variadic = parameter.kind is inspect.Parameter.VAR_POSITIONAL
    return is_variadic or "Sequence[" in str(parameter.annotation)


@overload
def op(body: F, /) -> F: ...
@overload
def op(*, promoted: Collection[str] = (), traits: Trait | None = None) -> Callable[[F], F]: ...
def op(body: Any = None, /, *, promoted: Collection[str] = (), traits: Trait | None = None) -> Any:
    """Make `body` a public op: its signature is the contract, its code the default on all backends.

    Args:
        body: the function.
        promoted: the array arguments that are promoted to a common dtype. Ops that only call
            promoting ops need none.
        traits: its properties; None: `TRAITS` of its file, else none.
    """
    return _declare(body, promoted=promoted, traits=traits)


@overload
def floating_op(body: F, /) -> F: ...
@overload
def floating_op(
    *, not_promoted: Collection[str] = (), traits: Trait | None = None
) -> Callable[[F], F]: ...
def floating_op(
    body: Any = None, /, *, not_promoted: Collection[str] = (), traits: Trait | None = None
) -> Any:
    """`op` for a function of floats: promotes its arrays to one floating dtype.

    Integers take the dtype of the floats among the arguments, or float32.

    Args:
        body: the function.
        not_promoted: the array arguments that keep their dtype, such as classes or a key.
        traits: as in `op`.
    """
    return _declare(body, is_floating=True, not_promoted=not_promoted, traits=traits)


@overload
def primitive(body: F, /) -> F: ...
@overload
def primitive(*, traits: Trait) -> Callable[[F], F]: ...
def primitive(body: Any = None, /, *, traits: Trait | None = None) -> Any:
    """Declare an op without a default: every backend must define it; `traits` as in `op`."""
    return _declare(body, is_primitive=True, traits=traits)


def _declare(body: Any, **settings: Any) -> Any:
    """The public function of a body; without one, the decorator with these settings."""
    if body is None:
        return partial(_declare, **settings)
    record = Op(body, **settings)
    if record.name in OPS:
        raise ValueError(f"op {record.name!r} is defined twice")
    OPS[record.name] = record
    setattr(xp, record.name, record.function)
    return record.function


def _compile(record: Op) -> Callable[..., Any]:
    """The public function: the op's signature, one look-up, one call."""
    assert record.array_parameters, f"op {record.name} has no array parameter"
    names = {p.name.lstrip("_") for p in record.parameters}
    assert generator.RESERVED.isdisjoint(names), record.name

    namespace = {
        "_table": record.table,
        "_resolve": record.resolve,
        "_array_types": record.types_in,
        "_explain": record.explain,
        "_missing": signatures.MISSING,
        "_check_settings": record.call_with_other_settings,
        "_other_call": record.other_call,
    }
    function = generator.public_function(
        record.name,
        record.parameters,
        record.array_parameters,
        record.sequence_parameters,
        namespace,
    )
    public = wraps(record.body)(function)
    public.op = record  # type: ignore[attr-defined]
    return public


def _let_torch_compile_trace() -> None:
    """Tell torch.compile, when it is imported, which function to trace for each op."""
    for record in OPS.values():
        traceable = generator.traceable_function(
            record.name,
            record.parameters,
            record.array_parameters,
            record.sequence_parameters,
            {
                "_implementation": record.implementation_for,
                "_check_settings": record.check_settings,
                "_written": record.written,
            },
        )
        dynamo.traced_as(traceable)(record.function)
    dynamo.mark_constants()
    dynamo.guard_context_variables()


lazy_imports.after_import("torch._dynamo", _let_torch_compile_trace)

"""`jit` compiles a function for each backend of its arguments.

Tracing works as in JAX on all three frameworks: the Python function runs once for each structure
of its arguments and each shape and dtype of their arrays; its array operations are recorded and
compiled. Side effects such as print happen at trace time only, `if` on the value of an array
raises, and arrays in closures are constants.

JAX compiles with ``jax.jit``, which flattens registered Containers natively. PyTorch and
TensorFlow compile a function of the flat arrays; other leaves (numbers, strings, None) are
constants of the trace. NumPy runs the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper, wraps
from inspect import signature
from typing import Any, NamedTuple

from nestarray import backends, tree
from nestarray.config import current_backend
from nestarray.container import Container
from nestarray.container.leaf import short_dtype
from nestarray.errors import ArgumentError, ShapeError, StructureError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.carries import Form, take_apart
from nestarray.transforms.enclosing import through_states


@signature_errors(callables=("fn",))
def jit(
    fn: Callable[..., Any],
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    donate_argnames: str | Sequence[str] = (),
    new_shapes: str = "recompile",
    **options: Any,
) -> Callable[..., Any]:
    """Compile `fn` for the backend of its arguments.

    ``jax.jit`` on JAX, ``torch.compile`` of the traced operations on PyTorch,
    ``tf.function`` on TensorFlow, `fn` itself on NumPy. ``compiled.traces`` is the number of
    traces, that is of runs of the Python function.

    Args:
        fn: function of nests, arrays and settings; it must be pure. In a call of a `Module`, a
            function that updates states runs without a compilation of its own: compile a function
            that calls the whole model.
        static_argnums: the numbers of static arguments: hashable values, each of which needs its
            own trace. Required on JAX, except for text; on the other frameworks all leaves other
            than arrays are static.
        static_argnames: the same by name.
        donate_argnums: the numbers of arguments whose memory the results may reuse. JAX deletes
            the arguments; PyTorch overwrites them with results of equal shape and dtype, unless
            arrays of the call share memory or require gradients. TensorFlow and NumPy ignore it.
        donate_argnames: the same by name.
        new_shapes: the reaction to arrays of other shapes or dtypes than in the first call:
            ``"recompile"``, or ``"raise"`` a ShapeError that names the array.
        **options: options of the backend's function, for example ``mode`` and ``backend``
            (PyTorch), ``jit_compile`` (TensorFlow).

    Returns:
        a function of the same arguments and results.

    Raises:
        ArgumentError: `new_shapes` is unknown.

    Example:
        >>> import jax.numpy as jnp, nestarray as na
        >>> double = na.jit(lambda c: c * 2)
        >>> double(na.Container(a=jnp.ones(2))).a.tolist(), double.traces
        ([2.0, 2.0], 1)

    References:
        https://docs.jax.dev/en/latest/_autosummary/jax.jit.html
        https://docs.pytorch.org/docs/stable/generated/torch.compile.html
        https://www.tensorflow.org/api_docs/python/tf/function
    """
    if new_shapes not in ("recompile", "raise"):
        raise ArgumentError(f"jit: new_shapes: got {new_shapes!r}, expected 'recompile' or 'raise'")
    jax_only = {
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
    }
    return _Jitted(fn, options, {k: v for k, v in jax_only.items() if v != ()}, new_shapes)


class _Jitted:
    """The result of `jit`: a native compiled function for each backend."""

    def __init__(
        self,
        fn: Callable[..., Any],
        options: dict[str, Any],
        jax_only: dict[str, Any],
        new_shapes: str,
    ) -> None:
        self._fn, self._options, self._jax_only = fn, options, jax_only
        self._new_shapes = new_shapes
        self._native: dict[str, Callable[..., Any]] = {}
        self._first: Any = None  # of the first call: structure, shapes and dtypes
        #: how often the function was traced
        self.traces = 0
        update_wrapper(self, fn, updated=())  # what `fn` keeps of itself is not ours

    def __repr__(self) -> str:
        return f"<nestarray.jit of {getattr(self._fn, '__qualname__', self._fn)}>"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """Bind like a method, so that ``@na.jit`` works in a class."""
        return (
            self
            if instance is None
            else self.__class__(
                self._fn.__get__(instance, owner), self._options, self._jax_only, self._new_shapes
            )
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        backend = _backend(args, kwargs)
        if backend is None:
            return self._fn(*args, **kwargs)
        if self._new_shapes == "raise":
            self._check_shapes(args, kwargs)
        native = self._native.get(backend)
        if native is None:
            native = self._native[backend] = self._compile(backend)
        return through_states(
            lambda: native(*args, **kwargs),
            lambda thread, states: thread(lambda: self._fn(*args, **kwargs))(states),
        )

    def _compile(self, backend: str) -> Callable[..., Any]:
        if backend == "numpy":
            return self._fn

        @wraps(self._fn)  # JAX finds arguments by the names in the signature
        def traced(*args: Any, **kwargs: Any) -> Any:
            self.traces += 1
            return self._fn(*args, **kwargs)

        transforms = backends.chapter(backend, "transforms")
        if hasattr(transforms, "compile_leaves"):
            donated = _Donated(
                self._fn,
                self._jax_only.get("donate_argnums", ()),
                self._jax_only.get("donate_argnames", ()),
            )
            return _Traces(traced, transforms, self._options, donated)
        return transforms.jit(traced, self._options | self._jax_only)

    def _check_shapes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        leaves, structure = tree.flatten((args, kwargs))
        kinds = [
            (tuple(x.shape), short_dtype(x.dtype)) if hasattr(x, "dtype") else (type(x), x)
            for x in leaves
        ]
        if self._first is None:
            self._first = structure.key, kinds
        elif self._first[0] != structure.key:
            raise StructureError(
                f"{self!r}: the arguments have another structure than in the first call; say "
                "new_shapes='recompile' to compile for both"
            )
        for number, (old, new) in enumerate(zip(self._first[1], kinds, strict=True)):
            if old != new:
                raise ShapeError(
                    f"{self!r}: array {number} of the arguments: got {_shown(new)}, compiled for "
                    f"{_shown(old)}; say new_shapes='recompile' to compile for both"
                )


def _shown(kind: tuple[Any, Any]) -> str:
    return f"{kind[1]}{list(kind[0])}" if isinstance(kind[0], tuple) else repr(kind[1])


def _backend(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """The backend of the first array; inner functions detect mixed backends.

    None while the call is being recorded as a graph: it then records what `fn` does.
    """
    for nest in (*args, *kwargs.values()):
        leaves = nest._flat()[0] if isinstance(nest, Container) else nest
        for leaf in leaves if type(leaves) in (tuple, list) else (leaves,):
            name = backends.backend_of_type(type(leaf))
            if name is not None:
                return name
    found = backends.find_backend((args, kwargs))
    if found is None and any(map(backends.backend_of_value, tree.flatten((args, kwargs))[0])):
        return None
    return found or current_backend()


class _Donated:
    """The donated arguments of a call, by number or name, as in JAX."""

    def __init__(
        self, fn: Callable[..., Any], numbers: int | Sequence[int], names: str | Sequence[str]
    ) -> None:
        self._numbers = (numbers,) if isinstance(numbers, int) else tuple(numbers)
        self._names = {names} if isinstance(names, str) else set(names)
        if not self:
            return
        try:
            parameters = signature(fn).parameters.values()
        except (TypeError, ValueError):  # of some functions in C nothing is known
            return
        places = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        named = {n for n, name in enumerate(places) if name in self._names}
        self._names |= {places[n] for n in self._numbers if -len(places) <= n < len(places)}
        self._numbers = (*self._numbers, *named)

    def __bool__(self) -> bool:
        return bool(self._numbers or self._names)

    def leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[bool]:
        """For each leaf of the arguments, whether it is donated."""
        numbers = {i + len(args) if i < 0 else i for i in self._numbers}
        given = [i in numbers for i in range(len(args))]
        named = {name: name in self._names for name in kwargs}
        return tree.spread((given, named), (args, kwargs), "jit", unfused=False)


class _Trace(NamedTuple):
    """A compiled function of flat arrays."""

    serves: Callable[[list[Any]], bool]  # whether other arrays are like those it was made of
    compiled: Callable[..., Any]
    result: list[Form]  # the form of the result, known after the trace


class _Traces:
    """The traces of one function on a backend that compiles functions of flat arrays."""

    def __init__(
        self,
        fn: Callable[..., Any],
        transforms: Any,
        options: dict[str, Any],
        donated: _Donated,
    ) -> None:
        self._fn, self._transforms, self._options = fn, transforms, options
        self._donated = donated
        #: by structure and constants; in each list the trace used last comes first
        self._traces: dict[Any, list[_Trace]] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, structure = tree.flatten((args, kwargs))
        arrays: list[Any] = list(leaves)
        places: Sequence[int] = range(len(arrays))
        constants: list[Any] = []
        others = {t for t in set(map(type, leaves)) if backends.backend_of_type(t) is None}
        if others:
            places = [i for i, leaf in enumerate(leaves) if type(leaf) not in others]
            arrays = [leaves[i] for i in places]
            constants = [(type(leaf), leaf) for leaf in leaves if type(leaf) in others]
        if self._transforms.runs_inline(arrays):
            return self._fn(*args, **kwargs)
        where = tuple(places) if others else None
        traces = self._traces.setdefault((structure.key, where, tuple(constants)), [])
        for position, trace in enumerate(traces):
            if trace.serves(arrays):
                if position:
                    traces.insert(0, traces.pop(position))
                break
        else:
            given_up = self._donated.leaves(args, kwargs) if self._donated else []
            donated = [n for n, place in enumerate(places) if given_up and given_up[place]]
            trace = self._trace(leaves, structure, places, arrays, donated)
            traces.insert(0, trace)
        values = trace.compiled(*arrays)  # the first call may be the one that traces
        return trace.result[0].nest(values)

    def _trace(
        self,
        leaves: tuple[Any, ...],
        structure: Any,
        places: Sequence[int],
        arrays: list[Any],
        donated: list[int],
    ) -> _Trace:
        constants = [None if i in set(places) else leaf for i, leaf in enumerate(leaves)]
        result: list[Form] = []

        def flat(*values: Any) -> tuple[Any, ...]:
            filled = list(constants)
            for place, value in zip(places, values, strict=True):
                filled[place] = value
            args, kwargs = tree.unflatten(structure, filled)
            out, form = take_apart(self._fn(*args, **kwargs))
            result[:] = [form]
            return out

        serves = self._transforms.trace_guard(arrays)
        compiled = self._transforms.compile_leaves(flat, arrays, self._options, donated)
        return _Trace(serves, compiled, result)

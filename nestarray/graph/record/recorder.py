"""Record Python code over `na.*`: the code runs once, and each call of an op becomes a node.

The arrays of the example are replaced by `Traced` values: a node of the graph and the example's
array. `Traced` is one more type of the dispatcher; its handler computes the result on the arrays
and appends a node. Everything else (shapes, numbers, settings) has its usual value. Code that
reads the *values* of an array gets the example's values, and the graph notes an assumption; in the
body of a loop, which runs on many values, it raises an error. Arrays in closures become constants of the
graph; random numbers come from keys that are arguments.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, NoReturn

from nestarray import backends, dtypes, ops
from nestarray.backends import is_array
from nestarray.dispatch import OPS, Op, register_interpreter
from nestarray.errors import (
    ArgumentError,
    ConversionError,
    ImmutableError,
)
from nestarray.graph import assumptions
from nestarray.graph.assumptions import Assumption
from nestarray.graph.builder import GraphBuilder, Place, aval_of
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Aval,
    Body,
    Call,
    Function,
    Input,
    Node,
    Operand,
    is_input,
    iter_nodes,
    map_leaves,
    map_nodes,
)
from nestarray.graph.record import native_calls
from nestarray.graph.record.places import (
    calling_library,
    is_call_by_user,
    line_of,
    module_path,
    user_frame,
    user_line,
)
from nestarray.graph.value_sizes import is_sized_by_values
from nestarray.transforms.recording import recording
from nestarray.typing import Array, Nest

if TYPE_CHECKING:
    import numpy as np

    from nestarray.proof.source import Source

#: Adds a call to the graph under a name, with its shape and dtype.
Write = Callable[..., Node]


class Traced:
    """The stand-in of an array while code is recorded.

    It has the operators and the metadata that the four frameworks' arrays share; all else
    is an op: ``na.reshape(x, shape)``.
    """

    __slots__ = ("_node", "_recorder", "_value")

    def __init__(self, value: Array, node: Node, recorder: Recorder) -> None:
        self._value, self._node, self._recorder = value, node, recorder

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes; those that values decide become an assumption."""
        if self._node in self._recorder.sized_by_values:
            return self._recorder.read(self, "shape")
        return tuple([int(n) for n in self._value.shape])

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._value.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Nest:
        """The dtype, in the framework's own words."""
        return self._value.dtype

    @property
    def device(self) -> str:
        """The device on which the example lives."""
        return backends.core(self.backend).device_of(self._value)

    @property
    def backend(self) -> str:
        """The backend on which the code is recorded."""
        return backends.backend_of(self._value)

    __traced_backend__ = backend

    @property
    def __graph_backend__(self) -> str:
        """The backend on which the graph is computed; JAX's graphs are lowered on NumPy."""
        return self._recorder.builder.backend or self.backend

    @property
    def T(self) -> Array:
        """The transpose of a matrix."""
        return ops.matrix_transpose(self)

    @property
    def mT(self) -> Array:
        """Each matrix of the last two axes transposed."""
        return ops.matrix_transpose(self)

    def __getitem__(self, index: Operand) -> Nest:
        return ops.getitem(self, index)

    def __len__(self) -> int:
        if not self.ndim:
            raise ArgumentError("len: got a traced array of shape (), which has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return iter([self[i] for i in range(len(self))])

    def __setitem__(self, index: object, value: object) -> NoReturn:
        raise ImmutableError(
            "trace_graph: the code writes into an array; use x = na.setitem(x, index, value), or "
            f"framework={self.backend!r} for code over {self.backend}"
        )

    def __getattr__(self, name: str) -> Nest:
        if name in ("item", "tolist"):
            return lambda: self._recorder.read(self, name)
        hint = f"use na.{name}(x, ...)" if name in OPS else "use a function of na"
        if not name.startswith("_"):
            function = native_calls.method(self.backend, name)
            if function is not None:
                return partial(function, self)
            hint += f", or framework={self.backend!r} for code over {self.backend}"
        raise AttributeError(f"a traced array has no attribute {name!r}; {hint}")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *args: Nest, **kwargs: Nest) -> Nest:
        function = native_calls.numpy_function(ufunc) if self.backend == "numpy" else None
        if function is None:
            return NotImplemented
        return (function if method == "__call__" else getattr(function, method))(*args, **kwargs)

    def __array_function__(
        self, function: Function, types: object, args: Nest, kwargs: Nest
    ) -> Nest:
        found = native_calls.numpy_function(function) if self.backend == "numpy" else None
        return NotImplemented if found is None else found(*args, **kwargs)

    @classmethod
    def __torch_function__(
        cls, function: Function, types: object, args: Nest = (), kwargs: Nest = None
    ) -> Nest:
        found, kwargs = None, kwargs or {}
        if any(x.backend == "torch" for x in _traced([*args, kwargs])):
            found = native_calls.torch_function(function, [args, kwargs])
        if found is None:
            # a TypeError, so that an operator between a tensor and a traced array becomes ours
            name = getattr(function, "__name__", function)
            raise TypeError(f"{name}(): got {cls.__name__}, expected a Tensor")
        return found(*args, **kwargs)

    def __repr__(self) -> str:
        return f"Traced({self._node.name}: {self._node.aval}, {self.backend})"

    def __bool__(self) -> bool:
        return self._recorder.read(self, "bool")

    def __int__(self) -> int:
        return self._recorder.read(self, "int")

    def __float__(self) -> float:
        return self._recorder.read(self, "float")

    def __complex__(self) -> complex:
        return self._recorder.read(self, "complex")

    def __index__(self) -> int:
        return self._recorder.read(self, "index")

    def _needs_values(self, *_: object, **__: object) -> NoReturn:
        if calling_library():  # TensorFlow then asks its dispatchers
            raise TypeError(f"got {self!r}, expected an array")
        raise self._recorder.needs_values(self)

    __array__ = __dlpack__ = __contains__ = _needs_values


ops.attach_operators(Traced)
Traced.__hash__ = object.__hash__  # type: ignore[method-assign]  # lost to the operator ==


class Recorder:
    """One recording.

    Args:
        name, backend, train: of the graph.
        guards: ``"raise"`` if calls of the graph check the assumptions, ``"ignore"`` if not; None: the
            arrays have no values that code may read.

    Attributes:
        builder: the graph that is being built.
        is_open: whether the code is still running.
        assumptions: the values that the code has read.
        sized_by_values: the calls whose sizes depend on values of arrays, such as ``x[x > 0]``.
        of: the call of another graph that is being recorded again; new calls get its place.
    """

    def __init__(
        self, name: str, backend: str = "", *, train: bool = False, guards: str | None = None
    ) -> None:
        self.name, self.builder = name, GraphBuilder(name, backend, train=train)
        self.assumptions: list[Assumption] = []
        self.sized_by_values: set[Node] = set()
        self._guards = guards
        self.is_open = True
        self.of: Call | None = None
        self._behind: dict[Node, Nest] = {}
        self._constant_nodes: dict[int, Node] = {}

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the innermost function that is being recorded."""
        return self.builder.nodes

    def read(self, x: Traced, use: str) -> Nest:
        """The value of an array for code that depends on it, which becomes an assumption.

        Args:
            x: the array.
            use: see `Assumption`.

        Raises:
            ConversionError: the array has many values, or none.
        """
        if self._guards is None or self.builder.depth > 1 or not self.is_open:
            raise self.needs_values(x)
        value, frame = assumptions.read(use, x._value), user_frame()
        line, text = "", ""
        if frame is not None:
            line = line_of([frame])
            text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        self.assumptions.append(Assumption(use, value, line, text, x._node))
        return value

    def is_constant(self, x: Traced) -> bool:
        """Whether no argument, variable or key decides the value of an array."""
        return self.builder.depth == 1 and x._node not in assumptions.varying_nodes(self.nodes)

    def needs_values(self, x: Traced) -> ConversionError:
        """The error of code that reads the values of an array and gets none."""
        return ConversionError(
            f"trace_graph: {user_line()}: the code needs the values of an array "
            f"({x._node.name}: {x._node.aval}), which a graph computes later. Write a choice "
            "by value with na.where; hand arrays to functions of na, not to NumPy or another "
            "framework; what is a setting of the code pass as a number"
        )

    def finish(
        self, output: Operand, updates: Mapping[str, Node], source: Source | None, **fields: Nest
    ) -> Graph:
        """The graph; see `GraphBuilder.finish`."""
        found = assumptions.of_inputs(self.assumptions, self.nodes)
        if self._guards == "ignore":
            found = tuple([each._replace(node=None) for each in found])
        return self.builder.finish(output, updates, source, assumptions=found, **fields)

    def control_flow(
        self,
        name: str,
        public: Function,
        args: tuple[Nest, ...],
        kwargs: Mapping[str, Nest],
        namespace: str = "na",
    ) -> Nest:
        """Record a loop or a choice whose functions are Bodies, and compute it.

        Or another call that is not one of an op, of the function ``namespace.name``.
        """

        def stands_for(x: Nest) -> Nest:
            if isinstance(x, Body):
                return x
            x = _now(x)
            if isinstance(x, Traced):
                self._behind[x._node] = x
            return self.node_of(x, f"{name}: argument")

        given = map_leaves(stands_for, args)
        write = partial(
            self.builder.call, target=public, target_name=f"{namespace}.{name}", args=given
        )
        write = partial(write, kwargs=kwargs, **self._place(name))
        with recording(None):
            result = self._run(public, [list(given), kwargs])
        if all(is_input(used, "constants") for used in iter_nodes(given)):
            return result  # of arrays that are known, as any op would give it
        return self._traced(result, write, name)

    def _run(self, function: Function, arguments: list[Nest]) -> Nest:
        """The result of a function of Bodies and nodes for the arrays that stand behind."""
        args, kwargs = map_nodes(lambda node: _values(self._behind[node]), arguments)
        return function(*args, **kwargs)

    def example(self, x: Array, function: Callable[[Nest], Nest] = lambda x: x) -> Traced:
        """The argument of a body: `x`, or `function` of it, in the first step.

        Its node is in no graph yet.
        """

        def write(name: str, *, aval: Aval | None = None) -> Node:
            return Input(name=name, source="body", aval=aval)

        return self._traced(self.compute(function, (_now(x),), {}), write, "x")

    def body(
        self, name: str, avals: Mapping[str, Aval | Sequence[Aval | None] | None]
    ) -> AbstractContextManager[Body]:
        """Record a function that a loop or a choice takes; see `GraphBuilder.body`."""
        return self.builder.body(name, avals)

    def argument(self, value: Array) -> Traced:
        """The traced value of an argument."""
        return Traced(value, self.builder.argument("x", aval_of(value)), self)

    def variable(self, kind: str, path: str, value: Array) -> Traced:
        """The traced value of a variable."""
        return Traced(value, self.builder.variable(kind, path, value), self)

    def key(self, value: Array) -> Traced:
        """The traced value of the random key."""
        return Traced(value, self.builder.key(), self)

    def call(self, op: Op, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Nest:
        """Compute `op` on the arrays that stand behind, and record it."""
        result = self.compute(op.function, args, kwargs)
        given_args, given_kwargs = written_arguments(op, args, kwargs, partial(self._argument, op))
        write = partial(
            self.builder.call,
            target=op.function,
            target_name=f"na.{op.name}",
            args=given_args,
            kwargs=given_kwargs,
            **self._place(op.name),
        )
        return self._traced(result, write, op.name)

    def compute(self, function: Function, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Nest:
        """What `function` gives for the arrays that stand behind."""
        return function(*_values(args), **_values(kwargs))

    def _place(self, name: str) -> dict[str, Nest]:
        """Where the code stands that calls the function `name`."""
        if self.of is None:
            return {"place": Place(module_path(), user_line()), "origin": name}
        return {"place": Place(self.of.module, self.of.line), "origin": self.of.origin}

    def _traced(self, result: Nest, write: Write, name: str) -> Nest:
        """The result of a call as traced values, with the call written if it holds arrays."""
        if is_array(result):
            node = write(name, aval=aval_of(result))
            self._note_size(node)
            return Traced(result, node, self)
        if not isinstance(result, (tuple, list)) or not _holds_array(result):
            return result  # shapes and the like are known now
        node = write(name)
        self._note_size(node)
        items = [
            self._traced(item, partial(self._item, node, i), f"{name}_{i}")
            for i, item in enumerate(result)
        ]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)

    def _note_size(self, node: Node) -> None:
        """Note whether the size of a call's result depends on values."""
        if self._guards is None or (node.aval is not None and not node.aval.shape):
            return
        if not isinstance(node, Call):
            return
        used = list(iter_nodes((node.args, node.kwargs)))
        if any(x in self.sized_by_values for x in used) or is_sized_by_values(node):
            self.sized_by_values.add(node)

    def _item(self, of: Node, index: int, name: str, *, aval: Aval | None = None) -> Node:
        return self.builder.item(of, index, name, aval=aval)

    def _argument(self, op: Op, parameter: str, value: Nest) -> Nest:
        if value is None:
            return None
        if parameter == "dtype":
            return dtypes.as_dtype(value)
        if parameter == "device" and not isinstance(value, str):
            raise ConversionError(
                f"trace_graph: {op.name}: device: got {value!r}, an object of one framework; name "
                'it in words that all understand, such as "cpu" or "gpu:1"'
            )
        return map_leaves(lambda leaf: self.node_of(leaf, f"{op.name}: {parameter}"), value)

    def node_of(self, value: Nest, where: str) -> Nest:
        """The Node of an array, or the value itself."""
        value = _now(value)
        if isinstance(value, Traced):
            if value._recorder is not self:
                raise ConversionError(
                    f"trace_graph: {where}: got an array of "
                    f"{'another recording' if value._recorder.is_open else 'a recording that has ended'}; "
                    "pass it as an argument, and return what is used later"
                )
            if value._node in self.builder.ended:
                raise ConversionError(
                    f"trace_graph: {where}: got an array of the body of a loop or a branch that has "
                    "ended; return it from there"
                )
            if self.builder.depth > 1:
                self._behind[value._node] = value
            return value._node
        if is_array(value):
            return self._constant(value)
        if isinstance(value, dtypes.DType):
            return value
        if value is None or value is Ellipsis or isinstance(value, _LITERALS):
            return value
        raise ConversionError(
            f"trace_graph: {where}: got {type(value).__name__}, which a graph cannot hold; it takes "
            "arrays, numbers, strings, dtypes, None, and lists, tuples, slices and mappings of these"
        )

    def _constant(self, value: Array) -> Node:
        known = self._constant_nodes.get(id(value))
        if known is None:
            constants = self.builder.values["constants"]
            path = next(p for i in count(len(constants)) if (p := f"c{i}") not in constants)
            # the builder keeps the array alive, and so its id its own
            known = self._constant_nodes[id(value)] = self.builder.variable(
                "constants", path, value
            )
            self._behind[known] = value
        return known


_LITERALS = (bool, int, float, complex, str)
_NOTHING = object()


def written_arguments(
    op: Op, args: tuple[Nest, ...], kwargs: dict[str, Nest], convert: Callable[[str, Nest], Nest]
) -> tuple[tuple[Nest, ...], dict[str, Nest]]:
    """The arguments of a call of an op as people write it: short, without defaults.

    What stands behind an argument left out goes by name.

    Args:
        op, args, kwargs: the call.
        convert: of a parameter's name and its value, what a node holds.
    """
    bound = op.signature.bind(*args, **kwargs).arguments
    is_before = False  # what goes by position alone and has one behind it is not left out
    for p in reversed(op.parameters):
        value = bound.get(p.name, _NOTHING)
        if not is_before and type(value) is type(p.default) and value == p.default:
            del bound[p.name]
        elif p.kind is p.POSITIONAL_ONLY and value is not _NOTHING:
            is_before = True
    by_place: list[Nest] = []
    by_name: dict[str, Nest] = {}
    gap = False
    for p in op.parameters:
        if p.name not in bound:
            gap = True
            continue
        value = convert(p.name, bound[p.name])
        if p.kind is p.VAR_POSITIONAL:
            by_place += value
        elif p.kind is p.VAR_KEYWORD:
            by_name |= value
        elif p.kind is p.KEYWORD_ONLY or (gap and p.kind is not p.POSITIONAL_ONLY):
            by_name[p.name] = value
        else:
            by_place.append(value)
    return tuple(by_place), by_name


def _record(op: Op, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Nest:
    """The handler of `Traced` in `nestarray.dispatch`."""
    recorder = _traced([*args, kwargs])[0]._recorder
    if not recorder.is_open:
        raise ConversionError(
            f"{op.name}: got an array of a recording that has ended ({recorder.name}); return what "
            "is used later from the traced function"
        )
    return recorder.call(op, args, kwargs)


register_interpreter(Traced, _record, priority=30)


def is_tensorflow_call(arguments: Iterable[Nest]) -> bool:
    """Whether code that is recorded, and not an op, calls TensorFlow with a traced tensor."""
    is_traced = any(isinstance(x, Traced) and x.backend == "tensorflow" for x in arguments)
    return is_traced and is_call_by_user("tensorflow")


def _now(x: Nest) -> Nest:
    """The traced value of an array of NumPy code, which can change; other values unchanged."""
    return x._current() if hasattr(type(x), "_current") else x


def _traced(nest: Nest) -> list[Traced]:
    values: list[Traced] = []
    map_leaves(lambda x: values.append(x) if isinstance(x, Traced) else None, nest)
    return values


def _values(nest: Nest) -> Nest:
    return map_leaves(lambda x: x._value if isinstance(x, Traced) else x, nest)


def _holds_array(nest: object) -> bool:
    if isinstance(nest, (tuple, list)):
        return any(map(_holds_array, nest))
    return is_array(nest)

"""Python code over `na.*` as a Graph: the code runs once, and each op that it calls is a node.

The arrays of the example stand in the code as `Traced` values: a node of the graph and the
array that the code would have had. To dispatch, `Traced` is one more type that ops hand
over: the recorder computes the result on the arrays that stand behind and appends a node.
So a recording is made of the very calls in the code, and everything that is no array (shapes,
numbers, settings) is what it is in a plain call. What depends on the *values* of an array
cannot be recorded, and raises. Arrays that the code closes over become constants of the
graph; random numbers come from the keys that are passed in.
"""

from __future__ import annotations

import math
import operator
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import BoundArguments
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

from nestarray import backends, dtypes, ops, tree
from nestarray.backends import is_array
from nestarray.container import Container
from nestarray.dispatch import INTERPRETERS, OPS, Op
from nestarray.errors import (
    ArgumentError,
    ConversionError,
    ImmutableError,
    NestarrayError,
    UnsupportedError,
)
from nestarray.graph.binding import argument_names, name_inputs
from nestarray.graph.codegen import valid_name
from nestarray.graph.graph import Graph
from nestarray.graph.node import (
    Aval,
    Body,
    Node,
    iter_nodes,
    live_nodes,
    map_leaves,
    map_nodes,
    substituted,
)
from nestarray.graph.record.control_flow import ControlFlow
from nestarray.nn.module import Module, running_path
from nestarray.proof.reference import PythonReference
from nestarray.transforms.recording import recording

_PACKAGE = str(Path(__file__).parents[2])


#: Gives the random key of one call.
Draw = Callable[[], Any]


class TorchCall(ConversionError, TypeError):
    """Code of torch met the stand-in of a torch tensor: it is for ``torch.export`` to trace.

    It is a TypeError, so that an operator between a tensor and a stand-in becomes the stand-in's.
    """


class TorchAttribute(ConversionError, AttributeError):
    """Code of torch asked the stand-in of a torch tensor for a method of tensors."""


class _Size(int):
    """The number of elements, where code of torch may call ``x.size(0)``."""

    def __call__(self, *_: Any) -> NoReturn:
        raise TorchAttribute("a traced array has no method 'size'; use its shape")


class Traced:
    """The stand-in of an array while code is recorded.

    It has the operators and the metadata that the four frameworks' arrays share; all else
    is an op: ``na.reshape(x, shape)``.
    """

    __slots__ = ("_node", "_recorder", "_value")
    __array_ufunc__ = None  # so that NumPy's operators leave the call to ours

    def __init__(self, value: Any, node: Node, recorder: Recorder) -> None:
        self._value, self._node, self._recorder = value, node, recorder

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return tuple([int(n) for n in self._value.shape])

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._value.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        count = math.prod(self.shape)
        return _Size(count) if self.backend == "torch" else count

    @property
    def dtype(self) -> Any:
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
    def T(self) -> Any:
        """The transpose of a matrix."""
        return ops.matrix_transpose(self)

    @property
    def mT(self) -> Any:
        """Each matrix of the last two axes transposed."""
        return ops.matrix_transpose(self)

    def __getitem__(self, index: Any) -> Any:
        return ops.getitem(self, index)

    def __len__(self) -> int:
        if not self.ndim:
            raise ArgumentError("len: got a traced array of shape (), which has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ImmutableError(
            "trace_graph: the code writes into an array; use x = na.setitem(x, index, value)"
        )

    def __getattr__(self, name: str) -> NoReturn:
        hint = f"use na.{name}(x, ...)" if name in OPS else "use a function of na"
        message = f"a traced array has no attribute {name!r}; {hint}"
        if self.backend == "torch" and not name.startswith("__") and hasattr(self._value, name):
            raise TorchAttribute(message)
        raise AttributeError(message)

    @classmethod
    def __torch_function__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> NoReturn:
        message = (
            f"{getattr(function, '__name__', function)}(): got {cls.__name__}, expected a Tensor"
        )
        found: list[Traced] = []
        map_leaves(lambda x: found.append(x) if isinstance(x, cls) else None, [args, kwargs or {}])
        if any(x.backend == "torch" for x in found):
            raise TorchCall(message)
        raise TypeError(message)

    def __repr__(self) -> str:
        return f"Traced({self._node.name}: {self._node.aval}, {self.backend})"

    def _needs_values(self, *_: Any, **__: Any) -> NoReturn:
        raise ConversionError(
            f"trace_graph: {_user_line()}: the code needs the values of an array "
            f"({self._node.name}: {self._node.aval}), which a graph computes later. Write a choice "
            "by value with na.where; hand arrays to functions of na, not to NumPy or another "
            "framework; what is a setting of the code pass as a number"
        )

    __bool__ = __int__ = __float__ = __complex__ = __index__ = _needs_values
    __array__ = __dlpack__ = __contains__ = _needs_values


ops.attach_operators(Traced)
Traced.__hash__ = object.__hash__  # type: ignore[method-assign]  # lost to the operator ==


class Kept(NamedTuple):
    """A call of another graph that is recorded as it is.

    Attributes:
        node: the call among the nodes that stand for its arguments.
        function: what it calls.
        used: the stand-ins of its arguments by the other graph's nodes.
        settings: the key of a random call.
    """

    node: Node
    function: Callable[..., Any]
    used: dict[Node, Any]
    settings: dict[str, Any]


class Recorder:
    """One recording: the nodes so far and the constants that they name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.taken: set[str] = set()
        self._scopes: list[list[Node]] = [[]]
        self._ended: set[Node] = set()
        self._behind: dict[Node, Any] = {}
        self.constants: dict[str, Any] = {}
        self.is_open = True
        #: the node of another graph that is being recorded again, whose place its calls have
        self.of: Node | None = None
        self._constant_nodes: dict[int, Node] = {}

    @property
    def nodes(self) -> list[Node]:
        """The nodes of the innermost function that is being recorded."""
        return self._scopes[-1]

    @property
    def depth(self) -> int:
        """How many scopes are open."""
        return len(self._scopes)

    def open_scope(self) -> None:
        """Begin with the body of a loop or a branch."""
        self._scopes.append([])

    def close_scope(self) -> list[Node]:
        """End the innermost body; what it computed is known in it alone."""
        nodes = self._scopes.pop()
        self._ended.update(nodes)
        return [node for node in nodes if node.kind == "call"]

    def parameter(self, value: Any, name: str) -> Traced:
        """The stand-in of an argument of a body."""
        node = Node(
            name=valid_name(name, self.taken), kind="input", source="body", aval=_aval(value)
        )
        self.nodes.append(node)
        return Traced(value, node, self)

    def control_flow(
        self, name: str, public: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Record a loop or a choice whose functions are Bodies, and compute it."""

        def stands_for(x: Any) -> Any:
            if isinstance(x, Body):
                return x
            if isinstance(x, Traced):
                self._behind[x._node] = x._value
            return self.node_of(x, f"{name}: argument")

        given = map_leaves(stands_for, args)
        node = Node(
            name="",
            kind="call",
            target=public,
            target_name=f"na.{name}",
            args=given,
            kwargs=kwargs,
            **self._place(name),
        )
        with recording(None):
            values = map_nodes(self._behind.__getitem__, [list(given), kwargs])
            result = public(*values[0], **values[1])
        if all(used.source == "constants" for used in iter_nodes(given)):
            return result  # of arrays that are known, as any op would give it
        return self._traced(result, node, name)

    def input(self, value: Any, source: str, path: str = "") -> Traced:
        """The stand-in of an argument (`source` ``"x"``), a variable or the key."""
        node = Node(name=path or source, kind="input", source=source, path=path, aval=_aval(value))
        self.nodes.append(node)
        return Traced(value, node, self)

    def call(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute `op` on the arrays that stand behind, and record it."""
        result = self.compute(op.function, args, kwargs)
        given = op.signature.bind(*args, **kwargs)
        is_before = False  # what goes by position alone and has one behind it is not left out
        for p in reversed(op.parameters):  # a call is recorded as short as people write it
            value = given.arguments.get(p.name, _NOTHING)
            if not is_before and type(value) is type(p.default) and value == p.default:
                del given.arguments[p.name]
            elif p.kind is p.POSITIONAL_ONLY and value is not _NOTHING:
                is_before = True
        node = Node(
            name="",
            kind="call",
            target=op.function,
            target_name=f"na.{op.name}",
            **self._arguments(op, given),
            **self._place(op.name),
        )
        return self._traced(result, node, op.name)

    def compute(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What `function` gives for the arrays that stand behind."""
        return function(*_values(args), **_values(kwargs))

    def _place(self, name: str) -> dict[str, Any]:
        """Where the code stands that calls the function `name`."""
        if self.of is None:
            return {"module": _module_path(), "line": _user_line(), "origin": name}
        return {"module": self.of.module, "line": self.of.line, "origin": self.of.origin}

    def lowered(
        self, old: Node, run: Callable[[], Any], value_of: Callable[[Node], Any], draw: Draw
    ) -> Any:
        """The value of a call as ops, or of the call itself where its code cannot be recorded.

        Args:
            old: the call of the graph that is lowered.
            run: computes it on stand-ins.
            value_of: the stand-ins of its arguments.
            draw: gives what it draws random numbers with, if it does.
        """
        before = len(self.nodes)
        try:
            value = run()
        except UnsupportedError:  # it takes a derivative, which is known when it runs
            del self.nodes[before:]
            kept = self.kept(old, value_of, draw)
            with recording(None):
                values = {node: _values(x) for node, x in kept.used.items()}
                args, kwargs = map_nodes(values.__getitem__, [list(old.args), old.kwargs])
                result = kept.function(*args, **kwargs, **_values(kept.settings))
            value = self._traced(result, kept.node, old.name)
        if isinstance(value, Traced) and value._node in self.nodes[before:]:
            value._node.name = old.name
        return value

    def kept(self, old: Node, value_of: Callable[[Node], Any], draw: Draw) -> Kept:
        """A call of another graph as it is; see `lowered`."""
        used = {node: value_of(node) for node in iter_nodes((old.args, old.kwargs))}
        stands_for = {node: self.node_of(value, old.name) for node, value in used.items()}
        args, kwargs = substituted((old.args, old.kwargs), stands_for)
        settings: dict[str, Any] = {}
        if old.is_random:
            settings = {"key": draw()}
            kwargs = {**kwargs, "key": self.node_of(settings["key"], old.name)}
        node = Node(
            name="",
            kind="call",
            target=old.target,
            target_name=old.target_name,
            args=args,
            kwargs=kwargs,
            module=old.module,
            line=old.line,
            origin=old.origin,
        )
        assert old.target is not None
        return Kept(node, old.target, used, settings)

    def _traced(self, result: Any, node: Node, name: str) -> Any:
        if is_array(result):
            node.name, node.aval = valid_name(name, self.taken), _aval(result)
            self.nodes.append(node)
            return Traced(result, node, self)
        if not isinstance(result, (tuple, list)) or not _holds_array(result):
            return result  # shapes and the like are known now
        node.name = valid_name(name, self.taken)
        self.nodes.append(node)
        items = [
            self._traced(item, self._item(node, i), f"{name}_{i}") for i, item in enumerate(result)
        ]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)

    def _item(self, node: Node, i: int) -> Node:
        return Node(
            name="",
            kind="call",
            target=operator.getitem,
            target_name="getitem",
            args=(node, i),
            module=node.module,
            line=node.line,
            origin=node.origin,
        )

    def _arguments(self, op: Op, given: BoundArguments) -> dict[str, Any]:
        """`args` and `kwargs` of a node; what stands behind an argument left out goes by name."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        gap = False
        for p in op.parameters:
            if p.name not in given.arguments:
                gap = True
                continue
            value = self._argument(op, p.name, given.arguments[p.name])
            if p.kind is p.VAR_POSITIONAL:
                args += value
            elif p.kind is p.VAR_KEYWORD:
                kwargs |= value
            elif p.kind is p.KEYWORD_ONLY or (gap and p.kind is not p.POSITIONAL_ONLY):
                kwargs[p.name] = value
            else:
                args.append(value)
        return {"args": tuple(args), "kwargs": kwargs}

    def _argument(self, op: Op, parameter: str, value: Any) -> Any:
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

    def node_of(self, value: Any, where: str) -> Any:
        """What stands for `value` in the graph: its Node, or the value itself, if it is no array."""
        if isinstance(value, Traced):
            if value._recorder is not self:
                raise ConversionError(
                    f"trace_graph: {where}: got an array of "
                    f"{'another recording' if value._recorder.is_open else 'a recording that has ended'}; "
                    "pass it as an argument, and return what is used later"
                )
            if value._node in self._ended:
                raise ConversionError(
                    f"trace_graph: {where}: got an array of the body of a loop or a branch that has "
                    "ended; return it from there"
                )
            if len(self._scopes) > 1:
                self._behind[value._node] = value._value
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

    def _constant(self, value: Any) -> Node:
        known = self._constant_nodes.get(id(value))
        if known is None:
            path = f"c{len(self.constants)}"
            self.constants[path] = value  # which keeps it alive, and so its id its own
            known = self._constant_nodes[id(value)] = Node(
                name=path, kind="input", source="constants", path=path, aval=_aval(value)
            )
            self._scopes[0].append(known)
            self._behind[known] = value
        return known


_LITERALS = (bool, int, float, complex, str)
_NOTHING = object()


def _record(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler of `Traced` in `nestarray.dispatch`."""
    found: list[Traced] = []
    map_leaves(lambda x: found.append(x) if isinstance(x, Traced) else None, [*args, kwargs])
    recorder = found[0]._recorder
    if not recorder.is_open:
        raise ConversionError(
            f"{op.name}: got an array of a recording that has ended ({recorder.name}); return what "
            "is used later from the traced function"
        )
    return recorder.call(op, args, kwargs)


INTERPRETERS.append((Traced, _record))


def _values(nest: Any) -> Any:
    return map_leaves(lambda x: x._value if isinstance(x, Traced) else x, nest)


def _holds_array(nest: Any) -> bool:
    if isinstance(nest, (tuple, list)):
        return any(map(_holds_array, nest))
    return is_array(nest)


def _aval(value: Any) -> Aval:
    return Aval(tuple([int(n) for n in value.shape]), dtypes.dtype_of(value))


def _frames() -> Iterator[FrameType]:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _user_line() -> str:
    """``"file.py:12"``, the innermost running line that is not of this library."""
    return _line_of(_frames())


def _line_of(frames: Iterable[FrameType]) -> str:
    for frame in frames:
        name = frame.f_code.co_filename
        if not name.startswith((_PACKAGE, "<")):
            return f"{Path(name).name}:{frame.f_lineno}"
    return ""


def _module_path() -> str:
    """The path of the innermost module of the model whose ``forward`` is running."""
    for frame in _frames():
        if frame.f_code.co_name == "forward":
            module = frame.f_locals.get("self")
            path = running_path(module) if isinstance(module, Module) else None
            if path is not None:
                return path
    return ""


# -- what can be traced --------------------------------------------------------------------


def trace_python(source: PythonReference) -> Graph:
    """The Graph of a function, or of a `nestarray.nn.Module`; see `nestarray.trace_graph`.

    Args:
        source: the code and the example that it is recorded with.
    """
    recorder = Recorder(source.name)
    leaves, structure = tree.flatten((source.args, source.kwargs))
    inputs = [recorder.input(x, "x") if is_array(x) else x for x in leaves]
    nodes = [x._node if isinstance(x, Traced) else x for x in inputs]
    want_args, want_kwargs = _plain(tree.unflatten(structure, nodes))
    names = argument_names(source.signed, len(want_args))
    name_inputs([*zip(names, want_args, strict=True), *want_kwargs.items()], recorder.taken)

    def variables(letter: str, c: Container) -> Container:
        return c.map(lambda path, x: recorder.input(x, letter, path), with_path=True)

    v, s = variables("v", source.v), variables("s", source.s)
    key = None if source.key is None else recorder.input(source.key, "key")
    try:
        with recording(ControlFlow(recorder)):
            result, state = source.call([x for x in inputs if isinstance(x, Traced)], v, s, key)
        output = map_leaves(lambda x: recorder.node_of(x, "output"), _plain(result))
        new = {path: recorder.node_of(x, f"state {path!r}") for path, x in state.items()}
    except TypeError as error:
        in_module = isinstance(error, TorchCall) and isinstance(source.source, Module)
        if in_module or (not isinstance(error, NestarrayError) and "Traced" in str(error)):
            raise _foreign_call(source, error) from error
        raise
    finally:
        recorder.is_open = False
    updates = {path: node for path, node in new.items() if node is not s[path]._node}
    used = live_nodes(recorder.nodes, output, updates)
    constants = {n.path: recorder.constants[n.path] for n in used if n.source == "constants"}
    return Graph(
        name=source.name,
        backend=source.backend,
        train=source.train,
        nodes=used,
        signature=(tuple(want_args), want_kwargs),
        output=output,
        state_updates=updates,
        v=source.v,
        s=source.s,
        constants=Container.from_flat_dict(constants).to_backend(source.backend),
        reference=source,
    )


def _foreign_call(source: PythonReference, error: TypeError) -> ConversionError:
    frames = [f for f, _ in traceback.walk_tb(error.__traceback__)]
    # a method called by its class, torch.Tensor.item(x), is of torch too
    is_of_torch = "torch._C" in str(error) and not isinstance(source.source, Module)
    return (TorchCall if is_of_torch else ConversionError)(
        f"trace_graph: {source.name}: {_line_of(reversed(frames))}: a function of another library "
        f"was called on a traced array; use the function of na that does the same ({error})"
    )


def _plain(nest: Any) -> Any:
    """A nest of builtins: Containers become what they were made from."""
    if isinstance(nest, Container):
        return nest.to_dict()
    if isinstance(nest, Mapping):
        return {key: _plain(item) for key, item in nest.items()}
    if hasattr(nest, "_fields"):
        return {name: _plain(getattr(nest, name)) for name in nest._fields}
    if isinstance(nest, (list, tuple)):
        return type(nest)([_plain(item) for item in nest])
    return nest

"""`Input` and `Call`, the nodes of a graph, and `Body`, the function inside of a call; walks over nests of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import EllipsisType
from typing import Any, TypeAlias, TypeGuard, TypeVar

from nestarray.dtypes import DType
from nestarray.sizes import IntOrSize, Size, parse
from nestarray.typing import Nest


@dataclasses.dataclass(frozen=True)
class Aval:
    """Shape and dtype of an array.

    Attributes:
        shape: the sizes; an open one is a `Size`, which may be given as its text.
        dtype: of the elements.

    Example:
        >>> import nestarray as na
        >>> from nestarray.graph.node import Aval
        >>> str(Aval(("batch", "2*length + 1", 3), na.float32))
        'float32[batch, 2 * length + 1, 3]'
    """

    shape: tuple[IntOrSize, ...]
    dtype: DType

    def __post_init__(self) -> None:
        if any(isinstance(n, str) for n in self.shape):
            sizes = tuple([parse(n) if isinstance(n, str) else n for n in self.shape])
            object.__setattr__(self, "shape", sizes)

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join(map(str, self.shape))}]"


@dataclasses.dataclass(eq=False)
class Input:
    """A value that a graph or a `Body` receives.

    Attributes:
        name: the variable that holds it in the printed program.
        source: ``"x"`` (an argument), ``"v"``, ``"s"``, ``"constants"``, ``"key"``, or ``"body"``
            (a parameter of a Body).
        path: for a variable, its path in that Container.
        aval: shape and dtype; None where the value is not one array.
    """

    name: str
    source: str
    path: str = ""
    aval: Aval | None = None

    def __repr__(self) -> str:
        return self.name


@dataclasses.dataclass(eq=False)
class Call:
    """A call of an importable function.

    Attributes:
        name: the variable that holds the value in the printed program.
        target: the function.
        target_name: its name as printed.
        args, kwargs: Nodes, Bodies, constants, and lists and tuples of these.
        aval: shape and dtype; None where the value is not one array.
        is_random: the call takes a ``key``.
        module: path of the source module that made the call.
        line: source line that made the call, ``"file.py:12"``.
        origin: name of the source framework's operation.
    """

    name: str
    target: Function
    target_name: str
    args: tuple[Operand, ...] = ()
    kwargs: dict[str, Operand] = dataclasses.field(default_factory=dict)
    aval: Aval | None = None
    is_random: bool = False
    module: str = ""
    line: str = ""
    origin: str = ""

    def __repr__(self) -> str:
        return self.name


#: One step of a graph.
Node: TypeAlias = Input | Call
T = TypeVar("T")
#: A function of arrays and settings.
Function: TypeAlias = Callable[..., Nest]
#: A number, a text or a dtype of the program.
Constant: TypeAlias = bool | int | float | complex | str | EllipsisType | DType | Size | None
#: What a program passes to a function.
Argument: TypeAlias = "Node | Body | Constant | slice | Sequence[Argument] | Mapping[str, Argument]"
#: An Argument that is read: the function of the call says which of them it is.
Operand: TypeAlias = Any


@dataclasses.dataclass(eq=False)
class Body:
    """A function of tuples of arrays.

    Attributes:
        name: by which it is printed.
        names: the parameters.
        parameters: for each parameter its Node, or the tuple of Nodes that it is unpacked to.
        nodes: the calls, in an order in which they can run.
        output: nest of Nodes and constants.
    """

    name: str
    names: tuple[str, ...]
    parameters: tuple[Input | tuple[Input, ...], ...]
    nodes: list[Call]
    output: Operand

    def __repr__(self) -> str:
        return self.name

    def members(self, place: int) -> tuple[Input, ...]:
        """The Inputs of one parameter: those that it is unpacked to, or itself."""
        parameter = self.parameters[place]
        return parameter if isinstance(parameter, tuple) else (parameter,)

    @cached_property
    def free(self) -> list[Node]:
        """The nodes of the program around it that it uses."""
        bound = {*iter_nodes(self.parameters), *self.nodes}
        used = iter_nodes((self.output, [(node.args, node.kwargs) for node in self.nodes]))
        return list(dict.fromkeys([node for node in used if node not in bound]))

    def bound(self, outer: Callable[[Node], Nest]) -> Function:
        """The function, with `outer` to give the values of `free`, computed node by node."""

        def run(*args: Nest) -> Nest:
            values: dict[Node, Nest] = {}

            def value(node: Node) -> Nest:
                return values[node] if node in values else outer(node)

            for want, given in zip(self.parameters, args, strict=True):
                pairs = (
                    zip(want, given, strict=True) if isinstance(want, tuple) else [(want, given)]
                )
                values.update(pairs)
            for node in self.nodes:
                arguments, kwargs = map_nodes(value, [list(node.args), node.kwargs])
                values[node] = node.target(*arguments, **kwargs)
            return map_nodes(value, self.output)

        return run


def is_input(value: object, *sources: str) -> TypeGuard[Input]:
    """Whether it is an Input of one of `sources`."""
    return isinstance(value, Input) and value.source in sources


def is_variable(value: object) -> TypeGuard[Input]:
    """Whether it is a parameter, a state array or a constant."""
    return is_input(value, "v", "s", "constants")


def bodies(value: object) -> Iterator[Body]:
    """The Bodies among the arguments of a call."""
    if isinstance(value, Body):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from bodies(item)


def all_calls(nodes: Iterable[Node]) -> Iterator[Call]:
    """The calls among nodes, each after those in its Bodies."""
    for node in nodes:
        if isinstance(node, Call):
            for body in bodies(node.args):
                yield from all_calls(body.nodes)
            yield node


def names_of(nodes: Iterable[Node]) -> set[str]:
    """The names of nodes, and those in their Bodies."""
    names: set[str] = set()
    for node in nodes:
        names.add(node.name)
        for body in bodies(node.args) if isinstance(node, Call) else ():
            names |= {body.name, *body.names, *names_of(iter_nodes(body.parameters))}
            names |= names_of(body.nodes)
    return names


def map_leaves(fn: Callable[[Nest], Nest], value: object) -> Nest:
    """`value` with `fn` applied to what stands in its lists, tuples, slices and mappings."""
    if isinstance(value, (list, tuple)):
        items = [map_leaves(fn, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, slice):
        return slice(*(map_leaves(fn, part) for part in (value.start, value.stop, value.step)))
    if isinstance(value, Mapping):
        return {key: map_leaves(fn, item) for key, item in value.items()}
    return fn(value)


def map_nodes(fn: Callable[[Node], Nest], value: object) -> Nest:
    """`value` with `fn` applied to each Node in it.

    A Body becomes a function, with `fn` for the outer nodes that it uses.
    """

    def of_leaf(leaf: Argument) -> Nest:
        if isinstance(leaf, Node):
            return fn(leaf)
        return leaf.bound(fn) if isinstance(leaf, Body) else leaf

    return map_leaves(of_leaf, value)


def substituted(value: T, stands_for: Mapping[Node, Operand]) -> T:
    """`value` with Nodes replaced, also those that a Body uses of outside."""

    def of_leaf(leaf: Argument) -> Nest:
        if isinstance(leaf, Node):
            return stands_for.get(leaf, leaf)
        return _substituted_body(leaf, stands_for) if isinstance(leaf, Body) else leaf

    return map_leaves(of_leaf, value)


def _substituted_body(body: Body, stands_for: Mapping[Node, Operand]) -> Body:
    if not any(node in stands_for for node in body.free):
        return body
    inner = dict(stands_for)
    nodes = []
    for old in body.nodes:
        args, kwargs = substituted((old.args, old.kwargs), inner)
        inner[old] = dataclasses.replace(old, args=args, kwargs=kwargs)
        nodes.append(inner[old])
    return dataclasses.replace(body, nodes=nodes, output=substituted(body.output, inner))


def iter_nodes(value: object) -> Iterator[Node]:
    """The Nodes in a nest of arguments."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, Body):
        yield from value.free
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from iter_nodes(item)
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from iter_nodes(item)
    elif isinstance(value, slice):
        yield from iter_nodes((value.start, value.stop, value.step))


def live_nodes(nodes: Iterable[Node], results: object) -> list[Node]:
    """All arguments and variables, and the calls, constants and keys that a nest of results uses."""
    nodes = list(nodes)
    live = reached(nodes, results)
    used = [n for n in nodes if n in live or is_input(n, "x", "v", "s")]
    return sorted(used, key=lambda node: isinstance(node, Call))


def reached(nodes: Sequence[Node], output: object) -> set[Node]:
    """The nodes that `output` uses, itself or through calls among `nodes`, which are in order."""
    live = set(iter_nodes(output))
    for node in reversed(nodes):
        if node in live and isinstance(node, Call):
            live.update(iter_nodes((node.args, node.kwargs)))
    return live

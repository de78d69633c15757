"""Arguments, sizes and variables of a call of a graph, checked and in order."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from nestarray import backends, dtypes
from nestarray.container import Container
from nestarray.container.container import from_leaves
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError, ShapeError, StructureError
from nestarray.errors.text import NEW_VARIABLES
from nestarray.graph import codegen
from nestarray.graph.node import Argument, Function, Input, Node, is_variable, iter_nodes
from nestarray.graph.sizes import Binding, shape_text
from nestarray.typing import Array, Nest

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph


def bind_arguments(
    graph: Graph, args: tuple[Nest, ...], kwargs: dict[str, Nest]
) -> tuple[list[Array], dict[str, int]]:
    """The flat inputs for a call with `args` and `kwargs`, and the sizes that names have in it.

    Raises:
        ArgumentError: an argument is missing or not expected, or is of another framework.
        ShapeError: the shape of an argument differs from the trace, or open sizes do not fit.
        DtypeError: an argument has another dtype than was traced.
    """
    call = _Arguments(graph)
    inputs = call.bind(args, kwargs)
    return inputs, call.sizes.values


class _Arguments:
    """The arguments of one call by input node, and the sizes that they have."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.name = graph, graph.name
        self.found: dict[Node, Array] = {}
        self.sizes = Binding(graph.name, graph.sizes)

    def bind(self, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> list[Array]:
        """The flat inputs; fills `sizes`."""
        want_args, want_kwargs = self.graph.signature
        names = [_argument_name(w, i) for i, w in enumerate(want_args)]
        if len(args) > len(want_args):
            named = f" ({', '.join(names)})" if names else ""
            by_name = ", ".join(f"{name}=…" for name in want_kwargs)
            hint = f"; give {by_name} by name, as in the example" if by_name else ""
            raise ArgumentError(
                f"{self.name}: got {len(args)} positional arguments, expected "
                f"{len(want_args)}{named}{hint}"
            )
        kwargs = by_own_names(kwargs, {*names, *want_kwargs})
        unknown = kwargs.keys() - {*names, *want_kwargs}
        if unknown:
            known = ", ".join([*names, *want_kwargs])
            raise ArgumentError(
                f"{self.name}: got an unexpected argument {min(unknown)!r}; it was traced with {known}"
            )
        for i, (name, want) in enumerate(zip(names, want_args)):
            if i < len(args):
                self._match(name, want, args[i])
            elif name in kwargs:
                self._match(name, want, kwargs.pop(name))
            else:
                self._absent(name, want)
        for name, want in want_kwargs.items():
            if name in kwargs:
                self._match(name, want, kwargs.pop(name))
            else:
                self._absent(name, want)
        if kwargs:
            raise ArgumentError(f"{self.name}: got the argument {min(kwargs)!r} twice")
        self.sizes.finish()
        return [self.found[node] for node in self.graph.inputs]

    def _absent(self, name: str, want: Argument) -> None:
        if any(True for _ in iter_nodes(want)):
            hint = f"; pass it as {name}_=" if name in ("v", "s", "key") else ""
            raise ArgumentError(f"{self.name}: argument {name!r} is missing{hint}")

    def _match(self, name: str, want: Nest, got: Nest) -> None:
        if isinstance(got, Container):
            got = got.to_dict()
        if isinstance(want, Node):
            self.found[want] = self._checked(name, want, got)
        elif isinstance(want, Mapping):
            if not isinstance(got, Mapping) and all(hasattr(got, str(key)) for key in want):
                got = {key: getattr(got, str(key)) for key in want}  # a named tuple, a dataclass
            if not isinstance(got, Mapping) or set(got) != set(want):
                keys = list(got) if isinstance(got, Mapping) else type(got).__name__
                raise ArgumentError(
                    f"{self.name}: {_described(name)}: got {keys}, expected a mapping with {list(want)}"
                )
            for key in want:
                self._match(f"{name}[{key!r}]", want[key], got[key])
        elif isinstance(want, (list, tuple)):
            if not isinstance(got, (list, tuple)) or len(got) != len(want):
                size = len(got) if isinstance(got, (list, tuple)) else type(got).__name__
                raise ArgumentError(
                    f"{self.name}: {_described(name)}: got {size}, expected {len(want)} items"
                )
            for i, item in enumerate(want):
                self._match(f"{name}[{i}]", item, got[i])
        elif got is not want and (getattr(got, "ndim", 0) or got != want):
            raise ArgumentError(
                f"{self.name}: {_described(name)}: got {got!r}, but the graph was traced with "
                f"{want!r}, which is part of the program; trace again with the new value"
            )

    def _checked(self, name: str, want: Node, got: Array) -> Array:
        backend = backends.backend_of_value(got)
        if backend != self.graph.backend:
            came = type(got).__name__ if backend is None else f"an array of {backend}"
            raise ArgumentError(
                f"{self.name}: {_described(name)}: got {came}, expected an array of {self.graph.backend}; "
                f'move it with na.to_backend(x, "{self.graph.backend}")'
            )
        if want.aval is None:
            return got
        if dtypes.is_key(got):
            got = backends.chapter("jax", "keys").words_of(got)
        shape, dtype = tuple(got.shape), dtypes.dtype_of(got)
        if shape != want.aval.shape:
            self.sizes.fit(name, want.aval.shape, shape)
        if dtype is not want.aval.dtype and not self._is_narrowed(dtype, want.aval.dtype):
            raise DtypeError(
                f"{self.name}: {_described(name)}: got {dtype.name}, the graph was traced with "
                f"{want.aval.dtype.name}; cast it with na.astype(x, na.{want.aval.dtype.name})"
            )
        return got

    def _is_narrowed(self, got: DType, want: DType) -> bool:
        """JAX without x64 holds 64-bit integers in 32 bits."""
        narrow = got.is_integer and got.kind == want.kind and got.bits == 32 and want.bits == 64
        return narrow and self.graph.backend == "jax"


def bind_variables(
    graph: Graph, v: Container | None, s: Container | None
) -> tuple[Container, Container]:
    """Parameters and state of a call: those given, or the graph's own.

    Raises:
        ArgumentError: one is not a Container, or is missing and the graph has shapes only.
        StructureError: one has other keys than the graph's.
    """
    pairs = []
    for letter, given, own, other in (("v", v, graph.v, s), ("s", s, graph.s, v)):
        if given is None:
            if letter in graph.abstract:
                raise ArgumentError(
                    f"{graph.name}: {letter}: this graph was traced on the meta device and has "
                    f"shapes only; pass {letter}=, a Container with the keys of graph.{letter}"
                )
            given = own
        elif not isinstance(given, Container):
            names: Nest = given if isinstance(given, Mapping) else ()
            has_dots = any("." in str(name) for name in names)
            maker = "na.Container.from_torch_state_dict" if has_dots else "na.Container"
            raise ArgumentError(
                f"{graph.name}: {letter}: got {type(given).__name__}, expected a Container; use "
                f"{maker}({letter})"
            )
        elif given.spec is not own.spec and given.spec.permutation_to(own.spec) is None:
            given = _by_own_names(graph, letter, given, own, other)
        pairs.append(given)
    return pairs[0], pairs[1]


def check_variables(graph: Graph, inputs: Sequence[Array], v: Container, s: Container) -> None:
    """Raise an error for a parameter or state array that differs from the trace.

    It is asked after a call has failed: variables of other shapes may be meant.

    Raises:
        ArgumentError: one is not an array, is of another framework, or is on another device than
            the first input.
        ShapeError: one has another shape.
    """
    containers = {"v": v, "s": s, "constants": graph.constants}
    core = backends.core(graph.backend)
    device = core.device_of(inputs[0]) if inputs and not core.is_traced(inputs[0]) else None
    for node in graph.nodes:
        if not is_variable(node) or node.aval is None:
            continue
        where, got = (
            f"{graph.name}: {node.source}[{node.path!r}]",
            containers[node.source][node.path],
        )
        backend = backends.backend_of_value(got)
        if backend != graph.backend:
            came = type(got).__name__ if backend is None else f"an array of {backend}"
            raise ArgumentError(
                f"{where}: got {came}, expected an array of {graph.backend}; move all of them with "
                f'{node.source}.to_backend("{graph.backend}")'
            )
        if tuple(got.shape) != node.aval.shape:
            raise ShapeError(
                f"{where}: got shape {tuple(got.shape)}, the graph was traced with "
                f"{shape_text(node.aval.shape)}"
            )
        if device is not None and not core.is_traced(got) and core.device_of(got) != device:
            raise ArgumentError(
                f"{where}: got an array on {core.device_of(got)}, but the first input is on {device}; "
                f'move the graph with graph.to_backend("{graph.backend}", device="{device}"), or the '
                f'inputs with na.to_device(x, "{core.device_of(got)}")'
            )


def _by_own_names(
    graph: Graph, letter: str, given: Container, own: Container, other: Nest
) -> Container:
    """`given` with the keys of `own`: less the other names of tied weights, as torch has them.

    A parameter that forward writes in training is state there: evaluation finds it in `other`, what
    is given on the other side.
    """
    leaves, paths = dict(given.flat_items()), own.paths()
    beside = dict(other.flat_items()) if isinstance(other, Container) else leaves
    moved = {p: beside[p] for p in paths if p not in leaves and p in beside}
    missing = [p for p in paths if p not in leaves and p not in moved]
    known, names = set(paths), graph.source_names.names.items()
    letters = {name.replace(".", "/"): other for name, (other, _) in names}
    extra = [p for p in leaves if p not in known and letters.get(p) != letter]
    extra = [p for p in extra if p in beside or p not in letters]
    if missing or extra:
        which = f"no {missing[0]!r}" if missing else f"an unexpected {extra[0]!r}"
        is_new = letter == "s" and not missing and extra[0] in graph.v
        hint = f"; {NEW_VARIABLES}" if is_new else ""
        raise StructureError(
            f"{graph.name}: {letter} has {which}; expected the keys of graph.{letter}{hint}"
        )
    leaves |= moved
    return from_leaves(own.spec, [leaves[p] for p in paths])


def by_own_names(kwargs: Mapping[str, Nest], names: Collection[str]) -> dict[str, Nest]:
    """Keyword arguments by the source's names: ``key_`` is the argument ``key``.

    The underscore distinguishes an argument of the source from a setting of the same name.

    Args:
        kwargs: the arguments of a call.
        names: the names of the source's arguments.
    """

    def name_of(given: str) -> str:
        name = given.removesuffix("_")
        return name if given not in names and name in names else given

    return {name_of(given): value for given, value in kwargs.items()}


def input_names(graph: Graph) -> list[str]:
    """The names of the inputs, as a call takes them."""
    positional, named = graph.signature
    return [*(_argument_name(want, i) for i, want in enumerate(positional)), *named]


def argument_names(fn: Function, count: int) -> list[str]:
    """The names of the first `count` positional arguments of `fn`.

    One argument of ``*images`` is ``images``, more are ``images_0``, ``images_1``; those of
    ``*args``, whose name says nothing, are ``x`` or ``x_0``, ``x_1``.

    Example:
        >>> from nestarray.graph.binding import argument_names
        >>> argument_names(lambda *args: 0, 1), argument_names(lambda x, *others: 0, 3)
        (['x'], ['x', 'others_0', 'others_1'])
    """
    names: list[str] = []
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:  # some builtins have none
        parameters = {}.values()
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            missing = count - len(names)
            name = "x" if p.name == "args" and "x" not in names else p.name
            names += [name] if missing == 1 else [f"{name}_{i}" for i in range(missing)]
        elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
            names.append(p.name)
    return [*names, *(f"argument_{i}" for i in range(len(names), count))][:count]


def name_inputs(arguments: Iterable[tuple[str, Argument]], taken: set[str]) -> None:
    """Name input nodes as the source's signature does, so that they may be passed by name too."""
    for name, want in arguments:
        if isinstance(want, Input):
            want.path, want.name = name, codegen.valid_name(name, taken)
        elif isinstance(want, Mapping):
            name_inputs(((f"{name}_{key}", item) for key, item in want.items()), taken)
        elif isinstance(want, (list, tuple)):
            name_inputs(((f"{name}_{i}", item) for i, item in enumerate(want)), taken)


def _argument_name(want: Argument, index: int) -> str:
    """The name of an argument, which begins the names of the nodes in a nest."""
    if isinstance(want, Input):
        return want.path or f"argument {index}"
    items = enumerate(want) if isinstance(want, (list, tuple)) else getattr(want, "items", tuple)()
    names = [_argument_name(item, index).removesuffix(f"_{key}") for key, item in items]
    return names[0] if names else f"argument {index}"


def _described(name: str) -> str:
    """An argument in a message; settings by position have no name."""
    return name if name.startswith("argument ") else f"argument {name!r}"


def is_abstract(x: object) -> bool:
    """Whether a variable has a shape and a dtype but no values."""
    backend = backends.backend_of_value(x)
    return backend is not None and backends.core(backend).is_abstract(x)

"""Recording with open sizes: each array has its value at several sizes at once.

The graph runs at several points, and an `OpenTraced` holds the array of each. An axis of a result
is open if its length differs between the points; its size is then the known expression with these
values. If the code of a frontend function depends on an open size, its call is kept, because the
function reads the sizes at run time.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations_with_replacement
from typing import Any

from nestarray import dtypes, ops
from nestarray.backends import is_array
from nestarray.dispatch import INTERPRETERS, OPS, Op, without_arrays
from nestarray.errors import ArgumentError
from nestarray.graph.node import Aval, Body, Node, iter_nodes, map_leaves, map_nodes
from nestarray.graph.record.open_sizes import (
    RUNS,
    Size,
    UndecidedSize,
    at_points,
    draw_points,
    is_size,
    values_of,
    written,
)
from nestarray.graph.record.recorder import Draw, Recorder, Traced, Write
from nestarray.graph.sizes import Sizes, names_in
from nestarray.transforms.recording import recording


class OpenTraced(Traced):
    """A traced array with open sizes.

    Args:
        values: the array at each point where the graph is run.
        dims: its sizes: numbers, expressions, or None for one without a name.
    """

    __slots__ = ("_dims", "_values")
    _recorder: OpenRecorder

    def __init__(
        self,
        values: list[Any],
        dims: tuple[int | str | None, ...],
        node: Node,
        recorder: OpenRecorder,
    ) -> None:
        super().__init__(values[0], node, recorder)
        self._values, self._dims = values, dims

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes of the axes; those that are open are `Size`."""
        return tuple([self._recorder.size(self, i) for i in range(len(self._dims))])

    @property
    def size(self) -> Any:
        """The number of elements."""
        return math.prod(self.shape)


class OpenRecorder(Recorder):
    """One recording of a graph with open sizes.

    Args:
        name: of the graph.
        texts: the sizes of its inputs.
        sizes: ranges and conditions of the names.
        backend, train: of the graph.
    """

    #: Code fails in many ways on a size that has no number.
    unrecordable = (Exception,)

    def __init__(
        self,
        name: str,
        texts: Iterable[int | str],
        sizes: Sizes,
        backend: str = "",
        *,
        train: bool = False,
    ) -> None:
        super().__init__(name, backend, train=train)
        names = sorted({n for text in texts if isinstance(text, str) for n in names_in(text)})
        self.ranges = sizes
        self.points = draw_points(name, names, sizes)
        self.runs = RUNS if names else 1
        self._names = frozenset(names)
        self._values: dict[str, list[Any]] = {}
        self._shapes: dict[Node, Node] = {}
        self._sizes: dict[str, Node] = {}
        self._at_hand: set[str] = set()

    # -- sizes -----------------------------------------------------------------------------

    def values_of(self, text: str) -> list[Any]:
        """The values of an expression at all points."""
        if text not in self._values:
            self._values[text] = values_of(text, self.points)
        return self._values[text]

    def size(self, x: OpenTraced, axis: int) -> Any:
        """The length of an axis."""
        text = x._dims[axis]
        if isinstance(text, int):
            return text
        if text is None:
            raise UndecidedSize(f"lower: a size of {x._node.name} is no expression of those known")
        values = [int(array.shape[axis]) for array in x._values]
        values += self.values_of(text)[self.runs :]
        return Size(text, values, self, lambda: self._length(x, axis))

    def _length(self, x: OpenTraced, axis: int) -> Node:
        """The call that reads the length of an axis."""
        node = self.node_of(x, "size")
        if node not in self._shapes:
            self._shapes[node] = self._written("shape", OPS["shape"].function, "na.shape", (node,))
        return self._written("size", operator.getitem, "getitem", (self._shapes[node], axis))

    def arithmetic(self, function: Callable[..., Any], *operands: Any) -> Any:
        """A number made of sizes, recorded when something uses it."""
        values = at_points(function, len(self.points), *operands)
        if len(set(values)) == 1 and values[0] is not None:
            return values[0]
        text = written(function, *operands)
        self._values.setdefault(text, values)

        def make() -> Node:
            given = tuple([self.node_of(x, "size") for x in operands])
            name = function.__name__
            return self._written(name, function, f"operator.{name}", given)

        return Size(text, values, self, make)

    def size_node(self, size: Size) -> Node:
        """The node that computes a size, one for each expression."""
        if size.text not in self._sizes:
            self._sizes[size.text] = size.make()
        return self._sizes[size.text]

    @contextlib.contextmanager
    def body(
        self, name: str, avals: Mapping[str, Aval | Sequence[Aval | None] | None]
    ) -> Iterator[Body]:
        """Record a function that a loop or a choice takes; it reads the sizes that it uses itself."""
        outside = self._shapes, self._sizes
        self._shapes, self._sizes = {}, {}
        try:
            with super().body(name, avals) as body:
                yield body
        finally:
            self._shapes, self._sizes = outside

    def _written(self, name: str, target: Any, target_name: str, args: tuple[Any, ...]) -> Node:
        return self.builder.call(name, target, target_name, args, **self._place(name))

    # -- calls -----------------------------------------------------------------------------

    def node_of(self, value: Any, where: str) -> Any:
        """The node or the constant of a value."""
        return self.size_node(value) if is_size(value) else super().node_of(value, where)

    def given(self, node: Node, value_at: Callable[[tuple[int, ...]], Any]) -> OpenTraced:
        """The traced value of an input, computed for each shape."""
        assert node.aval is not None
        sizes = [
            [n] * self.runs if isinstance(n, int) else self.values_of(n) for n in node.aval.shape
        ]
        values = [value_at(tuple([axis[i] for axis in sizes])) for i in range(self.runs)]
        return OpenTraced(values, node.aval.shape, node, self)

    def call(self, op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Compute `op` at all points, and record it."""
        if op.name == "shape":
            return args[0].shape
        return super().call(op, self._numbers_as_arrays(op, args), kwargs)

    def _numbers_as_arrays(self, op: Op, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Replace sizes in calls with arrays by arrays of the promoted dtype.

        Tracers hold sizes as expressions (JAX) or integer tensors (TensorFlow), which promote
        differently from Python numbers.
        """
        arrays = [x for x in args if isinstance(x, Traced)]
        places = [
            i
            for i, x in enumerate(args)
            if is_size(x) and op.parameters[i].name in op.array_parameters
        ]
        if not arrays or not places:
            return args
        found = list(args)
        for i in places:
            number = 1.0 if isinstance(found[i], float) else 1
            dtype = dtypes.result_dtype(*map(dtypes.dtype_of, arrays), number)
            found[i] = ops.full((), found[i], dtype=dtype, like=arrays[0])
        return tuple(found)

    def compute(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """The result of `function`, at each point if an argument is open."""
        texts = _texts([args, kwargs])
        if any(text is None or not names_in(text) <= self._names for text in texts):
            raise UndecidedSize("lower: a size that values decide, or that has no name")
        if not texts and not _is_open([args, kwargs]):
            return super().compute(function, args, dict(kwargs))
        self._at_hand = {text for text in texts if text is not None}
        return _Runs([function(*_at(i, args), **_at(i, kwargs)) for i in range(self.runs)])

    def _run(self, function: Callable[..., Any], arguments: list[Any]) -> Any:
        used = [self._behind[node] for node in iter_nodes(arguments)]
        if not _is_open(used):
            return super()._run(function, arguments)
        self._at_hand = {text for text in _texts(used) if text is not None}
        results = []
        for i in range(self.runs):
            at = partial(_at_point, i, self._behind)
            args, kwargs = map_nodes(at, arguments)
            results.append(function(*args, **kwargs))
        return _Runs(results)

    def _traced(self, result: Any, write: Write, name: str) -> Any:
        if not isinstance(result, _Runs):
            return super()._traced(result, write, name)
        first = result.values[0]
        if is_array(first):
            dims = self._dims_of(result.values)
            aval = None if None in dims else Aval(dims, dtypes.dtype_of(first))  # type: ignore[arg-type]
            return OpenTraced(result.values, dims, write(name, aval=aval), self)
        if not isinstance(first, (tuple, list)):
            if any(value != first for value in result.values):
                raise UndecidedSize(f"lower: {name} gives a number that sizes decide")
            return first
        node = write(name)
        if len({len(value) for value in result.values}) > 1:
            raise UndecidedSize(f"lower: {name} gives as many arrays as a size says")
        items = [
            self._traced(_Runs(list(item)), partial(self._item, node, i), f"{name}_{i}")
            for i, item in enumerate(zip(*result.values, strict=True))
        ]
        return type(first)(*items) if hasattr(first, "_fields") else type(first)(items)

    def _dims_of(self, arrays: list[Any]) -> tuple[int | str | None, ...]:
        shapes = [tuple(map(int, x.shape)) for x in arrays]
        if len({len(shape) for shape in shapes}) > 1:
            raise UndecidedSize("lower: a size decides how many axes an array has")
        return tuple([self._named(values) for values in zip(*shapes, strict=True)])

    def _named(self, values: tuple[int, ...]) -> int | str | None:
        """The expression that has these values where the graph is run."""
        if len(set(values)) == 1:
            return values[0]
        texts = sorted(self._at_hand | self._names, key=lambda text: (len(text), text))
        known = {text: tuple(self.values_of(text)[: self.runs]) for text in texts}
        for text, found in known.items():
            if found == values:
                return text
        for text, found in known.items():
            written_so = _linear(text, found, values)
            if written_so is not None:
                return written_so
        for a, b in combinations_with_replacement(texts, 2):
            pairs = list(zip(known[a], known[b], strict=True))
            if None in known[a] or None in known[b]:
                continue
            if tuple([x * y for x, y in pairs]) == values:
                return f"({a}) * ({b})"
            if tuple([x + y for x, y in pairs]) == values:
                return f"{a} + {b}"
        return None

    # -- calls of the graph that is lowered -------------------------------------------------

    def _adopt(self, value: Any, old: Node, new: list[Node]) -> None:
        super()._adopt(value, old, new)
        if isinstance(value, OpenTraced):
            if old.aval is not None and (value._node in new or None in value._dims):
                value._dims, value._node.aval = old.aval.shape, old.aval
        elif is_size(value):
            self.size_node(value).name = old.name

    def beside_sizes(self, old: Node, value_of: Callable[[Node], Any]) -> Callable[[Node], Any]:
        """`value_of` for a call with sizes: also constant arrays are traced.

        An open size has no number that could be combined with an array now.
        """
        found = {node: value_of(node) for node in iter_nodes((old.args, old.kwargs))}
        if any(map(is_size, found.values())):
            found |= {node: self._held(x) for node, x in found.items() if is_array(x)}
        return found.__getitem__

    def _held(self, array: Any) -> OpenTraced:
        shape = tuple(array.shape)
        return OpenTraced([array] * self.runs, shape, self.node_of(array, "lower"), self)

    def _take_back(self, count: int) -> None:
        gone = set(self.nodes[count:])
        del self.nodes[count:]
        self._shapes = {x: node for x, node in self._shapes.items() if node not in gone}
        self._sizes = {text: node for text, node in self._sizes.items() if node not in gone}

    def _kept(self, old: Node, value_of: Callable[[Node], Any], draw: Draw) -> Any:
        """Keep the call, and return its result."""
        write, function, used, settings = self.kept(old, value_of, draw)
        results = []
        with recording(None):
            for i in range(self.runs):
                at = {node: _at(i, value) for node, value in used.items()}
                given = map_nodes(at.__getitem__, [list(old.args), old.kwargs])
                results.append(function(*given[0], **given[1], **_at(i, settings)))
        if isinstance(results[0], (bool, int, float)):
            return self._number(old, write, list(used.values()), results)
        self._at_hand = {t for t in _texts(list(used.values())) if t is not None and self._knows(t)}
        return self._traced(_Runs(results), write, old.name)

    def _knows(self, text: str) -> bool:
        return names_in(text) <= self._names

    def _number(self, old: Node, write: Write, given: list[Any], results: list[Any]) -> Size:
        """The number that a call returns; known at all points if it depends on sizes only."""
        operands = old.args if not old.kwargs else ()
        stands_for = dict(zip(iter_nodes((old.args, old.kwargs)), given, strict=False))
        operands = [stands_for.get(x, x) if isinstance(x, Node) else x for x in operands]
        is_of_sizes = operands and all(is_size(x) or type(x) in (int, float) for x in operands)
        values = [*results, *([None] * (len(self.points) - len(results)))]
        text = ""
        if is_of_sizes:
            assert old.target is not None
            values = at_points(old.target, len(self.points), *operands)
            text = written(old.target, *operands)
        text = text or old.name

        self._values.setdefault(text, values)
        return Size(text, values, self, lambda: write(old.name))


class _Runs:
    """The results of a function at the points where the graph runs."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values


def _linear(text: str, found: tuple[Any, ...], values: tuple[int, ...]) -> str | None:
    """``text + n``, ``n * text`` or ``text // n``, if that has the values."""
    if None in found or 0 in found:
        return None
    sums = {v - f for f, v in zip(found, values, strict=True)}
    if len(sums) == 1:
        n = sums.pop()
        return f"{text} + {n}" if n > 0 else f"{text} - {-n}"
    ratio = values[0] // found[0]
    if all(f * ratio == v for f, v in zip(found, values, strict=True)):
        return f"{ratio} * ({text})"
    ratio = found[0] // max(values[0], 1)
    if ratio and all(f == v * ratio for f, v in zip(found, values, strict=True)):
        return f"({text}) // {ratio}"
    return None


def _at(i: int, nest: Any) -> Any:
    """A nest of arguments at one point."""

    def value(x: Any) -> Any:
        if isinstance(x, OpenTraced):
            return x._values[i]
        if isinstance(x, Traced):
            return x._value
        return x.values[i] if is_size(x) else x

    return map_leaves(value, nest)


def _at_point(i: int, behind: Mapping[Node, Any], node: Node) -> Any:
    return _at(i, behind[node])


def _texts(nest: Any) -> set[str | None]:
    """The open sizes in a nest of arguments; None for one that has no name."""
    found: set[str | None] = set()

    def look(x: Any) -> None:
        if isinstance(x, OpenTraced):
            found.update(n for n in x._dims if not isinstance(n, int))
        elif is_size(x):
            found.add(x.text)

    map_leaves(look, nest)
    return found


def _is_open(nest: Any) -> bool:
    found: list[Any] = []
    map_leaves(lambda x: found.append(x) if isinstance(x, OpenTraced) else None, nest)
    return bool(found)


def _record_sizes(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The handler of calls whose arguments are sizes; NotImplemented if there are none."""
    found: list[Size] = []
    map_leaves(lambda x: found.append(x) if is_size(x) else None, [*args, kwargs])
    if not found:
        return NotImplemented
    recorder: OpenRecorder = found[0].recorder
    if not recorder.is_open:
        raise ArgumentError(f"{op.name}: got a size of a recording that has ended")
    return recorder.call(op, args, kwargs)


INTERPRETERS.append((Size, _record_sizes))


def creations_recorded() -> contextlib.AbstractContextManager[None]:
    """Record functions whose only arguments are sizes, too."""
    return without_arrays(_record_sizes)

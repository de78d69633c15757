"""Recording without elements: arrays have shapes, whose sizes may be open.

A traced array holds an `Abstract`, whose sizes are numbers or expressions in names; the ops compute
the shapes of their results. Code sees open sizes as `OpenSize`, whose arithmetic is recorded when
a call uses it.
"""

from __future__ import annotations

import contextlib
import math
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial

from nestarray import backends, dtypes, ops
from nestarray.backends import is_array
from nestarray.dispatch import OPS, Op, register_interpreter, without_arrays
from nestarray.errors import ArgumentError
from nestarray.frontends import registry
from nestarray.graph.node import Aval, Body, Function, Input, Node, map_leaves, map_nodes
from nestarray.graph.record.recorder import Recorder, Traced, Write
from nestarray.sizes import IntOrSize, Size
from nestarray.transforms import abstract
from nestarray.transforms.abstract import Abstract, OpenNumber, OpenSize, Scope, UndecidedSize
from nestarray.typing import Nest


class AbstractTraced(Traced):
    """A traced array without elements."""

    __slots__ = ()
    _recorder: AbstractRecorder
    _value: Abstract

    @property
    def shape(self) -> tuple[IntOrSize, ...]:
        """The sizes of the axes; those that are open are `OpenSize`."""
        return tuple([self._recorder.size(self, i) for i in range(len(self._value.sizes))])

    @property
    def size(self) -> Nest:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> Nest:
        """The dtype, in the framework's own words."""
        return backends.core(self.backend).native_dtype(self._value.dtype)

    @property
    def device(self) -> str:
        """The device of the arrays of the recording."""
        return self._value.device


class RecordedSize(OpenSize):
    """A size as recorded code sees it: it passes ``isinstance(n, int)``, as numbers do there."""

    __slots__ = ()
    __hash__ = OpenNumber.__hash__

    @property
    def __class__(self) -> type:  # what isinstance asks when the type is another one
        return int

    __index__ = __float__ = __complex__ = OpenNumber._needs_value


class _RecordedScope:
    """The scope of sizes that recorded code sees: their arithmetic becomes calls."""

    size_type = RecordedSize

    def __init__(self, recorder: AbstractRecorder) -> None:
        self.recorder = recorder

    def decide(self, left: Nest, sign: str, right: Nest) -> bool:
        scope = self.recorder.scope
        known = scope.relations.decide(left, sign, right)
        if known is None and not scope.makes_conditions:
            raise UndecidedSize(f"lower: the code decides by a size: {left} {sign} {right}")
        return scope.decide(left, sign, right) if known is None else known

    def maker(self, function: Function | str, operands: tuple[Nest, ...]) -> Nest:
        return partial(self.recorder.arithmetic, function, operands)


class AbstractRecorder(Recorder):
    """One recording on shapes.

    Args:
        name: of the graph.
        scope: the relations of the sizes.
        backend, train: of the graph.
        runs_on: the backend of arrays that the code makes; None for that of the graph.
    """

    def __init__(
        self,
        name: str,
        scope: Scope,
        backend: str = "",
        *,
        train: bool = False,
        runs_on: str | None = None,
    ) -> None:
        super().__init__(name, backend, train=train)
        self.scope, self._seen = scope, _RecordedScope(self)
        self.runs_on = runs_on or backend or "numpy"
        self._inputs: dict[str, tuple[Node, int]] = {}
        self._shapes: dict[Node, Node] = {}
        self._sizes: dict[Hashable, Node] = {}

    # -- sizes -----------------------------------------------------------------------------

    def size(self, x: AbstractTraced, axis: int) -> Nest:
        """The length of an axis."""
        n = x._value.sizes[axis]
        return n if isinstance(n, int) else self.as_seen(n, partial(self._length, x, axis))

    def as_seen(self, number: Nest, make: Callable[[], Node]) -> Nest:
        """A size as recorded code sees it."""
        return abstract.as_code_sees(number, self._seen, make)  # type: ignore[arg-type]

    def _length(self, x: AbstractTraced, axis: int) -> Node:
        """The call that reads the length of an axis."""
        return self._axis_length(self.node_of(x, "size"), axis)

    def _axis_length(self, array: Node, axis: int) -> Node:
        if array not in self._shapes:
            self._shapes[array] = self._written(
                "shape", OPS["shape"].function, "na.shape", (array,)
            )
        return self._written("size", operator.getitem, "getitem", (self._shapes[array], axis))

    def arithmetic(self, function: Function | str, operands: tuple[Nest, ...]) -> Node:
        """The call of an operator, or of a function that rounds, on sizes."""
        arguments = tuple([self.node_of(x, "size") for x in operands])
        if isinstance(function, str):
            printed = _ROUNDINGS[function]
            rounding = registry.vocabulary("torch").function(printed)
            return self._written("rounded", rounding, printed, arguments)
        name = function.__name__
        return self._written(name, function, f"operator.{name}", arguments)

    def size_node(self, size: OpenNumber) -> Node:
        """The node that computes a size, one for each expression."""
        if size.expression not in self._sizes:
            make = size.make or partial(self._named, size.expression)
            self._sizes[size.expression] = make()
        return self._sizes[size.expression]

    def _named(self, size: Nest) -> Node:
        """The node of a size that the code has not computed: of an input's axis."""
        if not isinstance(size, Size) or size.name not in self._inputs:
            raise UndecidedSize(f"lower: no array has the size {size}")
        return self._axis_length(*self._inputs[size.name])

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

    def _written(
        self, name: str, target: Function, target_name: str, args: tuple[Nest, ...]
    ) -> Node:
        return self.builder.call(name, target, target_name, args, **self._place(name))

    # -- calls -----------------------------------------------------------------------------

    def node_of(self, value: Nest, where: str) -> Nest:
        """The node or the constant of a value."""
        return self.size_node(value) if is_size(value) else super().node_of(value, where)

    def given(self, node: Node) -> AbstractTraced:
        """The traced value of an input, or of a call of the graph that is lowered."""
        assert node.aval is not None
        for axis, n in enumerate(node.aval.shape):
            if isinstance(node, Input) and isinstance(n, Size) and n.name:
                self._inputs.setdefault(n.name, (node, axis))
        return AbstractTraced(self.abstract(node.aval.shape, node.aval.dtype), node, self)

    def abstract(self, sizes: Sequence[IntOrSize], dtype: dtypes.DType) -> Abstract:
        """An array of the recording's framework."""
        return Abstract(sizes, dtype, self.scope, self.runs_on)

    def call(self, op: Op, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Nest:
        """Compute the shape of `op`, and record it."""
        if op.name == "shape":
            return args[0].shape
        return super().call(op, self._numbers_as_arrays(op, args), kwargs)

    def _numbers_as_arrays(self, op: Op, args: tuple[Nest, ...]) -> tuple[Nest, ...]:
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
        operands = list(args)
        for i in places:
            number = 1.0 if isinstance(operands[i], float) else 1
            dtype = dtypes.result_dtype(*map(dtypes.dtype_of, arrays), number)
            operands[i] = ops.full((), operands[i], dtype=dtype, like=arrays[0])
        return tuple(operands)

    def compute(
        self, function: Function, args: tuple[Nest, ...], kwargs: Mapping[str, Nest]
    ) -> Nest:
        """The abstract result of `function`."""
        args, kwargs = map_leaves(self._abstract_of, [args, dict(kwargs)])
        return abstract.evaluate(function, args, kwargs)

    def _abstract_of(self, x: Nest) -> Nest:
        """The shape and dtype of an array, and a size that is not recorded; others unchanged."""
        if is_size(x):
            return abstract.as_code_sees(x.expression, self.scope)
        x = x._value if isinstance(x, Traced) else x
        if is_array(x):
            return self.abstract(tuple(map(int, x.shape)), dtypes.dtype_of(x))
        return x

    def _run(self, function: Function, arguments: list[Nest]) -> Nest:
        args, kwargs = map_nodes(lambda node: self._abstract_of(self._behind[node]), arguments)
        return abstract.evaluate(function, args, kwargs)

    def _traced(self, result: Nest, write: Write, name: str) -> Nest:
        if isinstance(result, Abstract):
            aval = Aval(result.sizes, result.dtype)
            return AbstractTraced(result, write(name, aval=aval), self)
        if is_size(result):
            return self.as_seen(result.expression, partial(write, name))
        if not isinstance(result, (tuple, list)) or not _holds_abstract(result):
            return super()._traced(result, write, name)
        node = write(name)
        items = [
            self._traced(item, partial(self._item, node, i), f"{name}_{i}")
            for i, item in enumerate(result)
        ]
        return type(result)(*items) if hasattr(result, "_fields") else type(result)(items)


#: Function of `nestarray.sizes` → that of the PyTorch frontend, whose names are those of ATen.
_ROUNDINGS = {
    "math.floor": "torch._sym_floor", "math.ceil": "torch._sym_ceil", "int": "torch.sym_int",
    "round": "torch._sym_round",
}  # fmt: skip


def is_size(x: object) -> bool:
    """Whether `x` is an open size or a number made of sizes."""
    return isinstance(x, OpenNumber)


def _holds_abstract(nest: object) -> bool:
    if isinstance(nest, (tuple, list)):
        return any(map(_holds_abstract, nest))
    return isinstance(nest, Abstract)


def _record_sizes(op: Op, args: tuple[Nest, ...], kwargs: dict[str, Nest]) -> Nest:
    """The handler of calls whose arguments are sizes; NotImplemented if there are none."""
    numbers: list[OpenNumber] = []
    map_leaves(lambda x: numbers.append(x) if is_size(x) else None, [*args, kwargs])
    scopes = [x.scope for x in numbers]
    recorder = next((each.recorder for each in scopes if isinstance(each, _RecordedScope)), None)
    if recorder is None:
        return abstract.apply(op, args, kwargs)
    if not recorder.is_open:
        raise ArgumentError(f"{op.name}: got a size of a recording that has ended")
    return recorder.call(op, args, kwargs)


register_interpreter(OpenNumber, _record_sizes, priority=20)


def creations_recorded() -> contextlib.AbstractContextManager[None]:
    """Record functions whose only arguments are sizes, too."""
    return without_arrays(_record_sizes)

"""The interpreter of ops on `Abstract` values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nestarray import dtypes
from nestarray.dispatch import Op, register_interpreter
from nestarray.dtypes import DType
from nestarray.errors import UnsupportedError
from nestarray.sizes import IntOrSize, Real, Size
from nestarray.transforms.abstract.scope import Scope
from nestarray.transforms.abstract.values import Abstract, OpenNumber, expression

#: Op → rule: takes `Results` and the arguments by name, with a `Size` for each open one.
RULES: dict[str, Callable[..., Any]] = {}


class Results(NamedTuple):
    """Makes the results of one call."""

    op: str
    scope: Scope
    backend: str

    def __call__(self, sizes: Iterable[IntOrSize], dtype: DType) -> Abstract:
        """An abstract array."""
        sizes = map(self.scope.relations.simplified, sizes)
        return Abstract(sizes, dtype, self.scope, self.backend)

    def same(self, a: IntOrSize, b: IntOrSize) -> IntOrSize:
        """One of two sizes that the op needs to be equal."""
        return self.scope.same(self.op, a, b)


def rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function the rule of the op of its name."""
    RULES[function.__name__.rstrip("_")] = function
    return function


def apply(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The abstract result of an op; NotImplemented without abstract arrays and open sizes."""
    first = next(_stand_ins((args, kwargs)), None)
    if first is None:
        return NotImplemented
    backend = first.__traced_backend__ if isinstance(first, Abstract) else "numpy"
    new = Results(op.name, first.scope, backend)
    bound = op.signature.bind(*args, **kwargs)
    function = RULES.get(op.name)
    if function is not None:
        bound.apply_defaults()
        arguments = {name: expression(value) for name, value in bound.arguments.items()}
        return function(new, **arguments)
    if op.is_primitive:
        raise UnsupportedError(f"{op.name}: the sizes of its result depend on values")
    bound.arguments.update(_arrays_of_body(op, new, bound.arguments))
    return op.body(*bound.args, **bound.kwargs)


def _arrays_of_body(op: Op, new: Results, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The array arguments as abstract arrays, of one dtype where the op promotes them."""
    arrays = {name: x for name, x in arguments.items() if name in op.array_parameters}
    operands = [x for each in arrays.values() for x in (each if _is_many(each) else [each])]
    common = promoted(*[expression(x) for x in operands if x is not None])

    def converted(name: str, x: Any) -> Any:
        if _is_many(x):
            return type(x)([converted(name, item) for item in x])
        if isinstance(x, OpenNumber):  # a number
            return new((), common)
        if not hasattr(x, "shape"):
            return x
        dtype = dtype_of(x)
        if name in op.promoted:
            dtype = common if common.is_inexact or not op.is_floating else dtypes.float32
        return new(sizes_of(x), dtype)

    return {name: converted(name, x) for name, x in arrays.items()}


def _is_many(x: Any) -> bool:
    return isinstance(x, (list, tuple))


def _stand_ins(nest: Any) -> Iterator[Abstract | OpenNumber]:
    """The abstract arrays, then the open sizes, in a nest of arguments."""
    leaves = list(_leaves(nest))
    yield from (x for x in leaves if type(x) is Abstract)
    yield from (x for x in leaves if isinstance(x, OpenNumber))


def _leaves(nest: Any) -> Iterator[Any]:
    if isinstance(nest, dict):
        nest = list(nest.values())
    if isinstance(nest, (list, tuple)):
        for item in nest:
            yield from _leaves(item)
    elif isinstance(nest, slice):
        yield from (nest.start, nest.stop, nest.step)
    else:
        yield nest


def sizes_of(x: Any) -> tuple[IntOrSize, ...]:
    """The sizes of an array, abstract or not, or of a number or a size."""
    if isinstance(x, Abstract):
        return x.sizes
    return tuple(map(int, getattr(x, "shape", ())))


def dtype_of(x: Any) -> DType:
    """The dtype of an array, abstract or not, or of a number or a size."""
    return x.dtype if isinstance(x, Abstract) else dtypes.dtype_of(_as_number(x))


def promoted(*operands: Any) -> DType:
    """The common dtype of arrays, numbers and sizes."""
    return dtypes.result_dtype(
        *[x.dtype if isinstance(x, Abstract) else _as_number(x) for x in operands]
    )


def _as_number(x: Any) -> Any:
    """A number of the kind of a size; others unchanged."""
    return 1 if isinstance(x, Size) else 1.0 if isinstance(x, Real) else x


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    return axis % rank if rank else 0


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    """Axes counted from the front; None for all."""
    if axis is None:
        return tuple(range(rank))
    return tuple(
        axis_of(int(a), rank) for a in (axis if isinstance(axis, (tuple, list)) else [axis])
    )


register_interpreter(Abstract, apply, priority=60)

"""The interpreter of ops on `Abstract` values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nestarray import dtypes
from nestarray.dispatch import INTERPRETERS, Op
from nestarray.dtypes import DType
from nestarray.errors import UnsupportedError
from nestarray.sizes import IntOrSize, Real, Size
from nestarray.transforms.abstract.scope import Scope
from nestarray.transforms.abstract.values import Abstract, OpenNumber, OpenReal, OpenSize, expression

#: Op → rule: takes `Results` and the arguments by name, with a `Size` for each open one.
RULES: dict[str, Callable[..., Any]] = {}


class Results(NamedTuple):
    """Makes the results of one call."""

    op: str
    scope: Scope
    backend: str

    def __call__(self, sizes: Iterable[IntOrSize], dtype: DType) -> Abstract:
        """An abstract array."""
        return Abstract(sizes, dtype, self.scope, self.backend)

    def same(self, a: IntOrSize, b: IntOrSize) -> IntOrSize:
        """One of two sizes that the op needs to be equal."""
        return self.scope.same(self.op, a, b)


def rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function the rule of the op of its name."""
    RULES[function.__name__.rstrip("_")] = function
    return function


def apply(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The abstract result of an op."""
    first = next(_stand_ins((args, kwargs)))
    backend = first.__traced_backend__ if isinstance(first, Abstract) else "numpy"
    new = Results(op.name, first.scope, backend)
    given = op.signature.bind(*args, **kwargs)
    function = RULES.get(op.name)
    if function is not None:
        given.apply_defaults()
        arguments = {name: expression(value) for name, value in given.arguments.items()}
        return function(new, **arguments)
    if op.is_primitive:
        raise UnsupportedError(f"{op.name}: the sizes of its result depend on values")
    given.arguments.update(_numbers_as_arrays(op, new, given.arguments))
    return op.default("numpy")(*given.args, **given.kwargs)


def _numbers_as_arrays(op: Op, new: Results, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The open numbers among the arrays, as arrays of the promoted dtype."""
    arrays = {name: x for name, x in arguments.items() if name in op.array_parameters}
    numbers = [name for name, x in arrays.items() if type(x) in (OpenSize, OpenReal)]
    if not numbers:
        return {}
    operands = [expression(x) for x in arrays.values() if not isinstance(x, (list, tuple))]
    dtype = promoted(*[x for x in operands if x is not None])
    return {name: new((), dtype) for name in numbers}


def _stand_ins(nest: Any) -> Iterator[Abstract | OpenNumber]:
    """The abstract arrays, then the open sizes, in a nest of arguments."""
    leaves = list(_leaves(nest))
    yield from (x for x in leaves if type(x) is Abstract)
    yield from (x for x in leaves if type(x) in (OpenSize, OpenReal))


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
    return tuple(axis_of(int(a), rank) for a in (axis if isinstance(axis, (tuple, list)) else [axis]))


INTERPRETERS.append((Abstract, apply))

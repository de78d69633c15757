"""Named sizes of a graph, and their values in a call.

A size in the shape of an `Aval` is a number or a `nestarray.sizes.Size`, such as ``batch`` or
``2*length + 1``. A call assigns a number to each name; it must be in the name's range, and the
conditions of the trace must hold. The program itself reads the sizes of its arrays.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
from collections.abc import Collection, Mapping

from nestarray import backends
from nestarray.dynamo import cached_constant
from nestarray.errors import ArgumentError, ShapeError
from nestarray.sizes import Condition, IntOrSize, Size
from nestarray.transforms.abstract import Scope
from nestarray.typing import Array, Nest

#: The largest change of a size that `Sizes.choices` tries.
_LARGEST_SHIFT = 60


@dataclasses.dataclass(frozen=True)
class Sizes:
    """The names of a graph.

    Attributes:
        ranges: name → minimum and maximum size; None for an unbounded maximum.
        conditions: comparisons on which the traced program depends, such as ``batch % 2 == 0``.
        example: the sizes with which it was traced.
    """

    ranges: Mapping[str, tuple[int, int | None]] = dataclasses.field(default_factory=dict)
    conditions: tuple[Condition, ...] = ()
    example: Mapping[str, int] = dataclasses.field(default_factory=dict, compare=False)

    def allow(self, values: Mapping[str, int]) -> bool:
        """Whether a call may have sizes of these values: the ranges and conditions hold."""
        for name, (least, most) in self.ranges.items():
            if not least <= values[name] <= (math.inf if most is None else most):
                return False
        return all(condition.holds(values) for condition in self.conditions)

    @classmethod
    def of_scope(cls, scope: Scope) -> Sizes:
        """The names of a program, and the comparisons that it asked."""
        return cls(dict(scope.relations.ranges), tuple(scope.conditions), dict(scope.example))

    def scope(self) -> Scope:
        """The relations of the sizes, for abstract evaluation."""
        return Scope(self.ranges, self.conditions, self.example)

    def choices(self, count: int, names: Collection[str] | None = None) -> list[dict[str, int]]:
        """Values that a call may have: those of the example, but at least 2, and then others.

        The first others are odd changes where that is possible, because programs may depend on
        whether a size is even.

        Args:
            count: the number of choices; the result has fewer if fewer are found.
            names: the sizes that differ between the choices, each by another number; None: all.

        Example:
            >>> from nestarray.graph.sizes import Sizes
            >>> from nestarray.sizes import Condition, named
            >>> even = Condition(named("batch") % 2, "==", 0)
            >>> Sizes({"batch": (1, None)}, (even,), {"batch": 4}).choices(2)
            [{'batch': 4}, {'batch': 6}]
        """
        first = {name: max(2, n) for name, n in self.example.items()}
        steps = {n: 2 * i + 1 for i, n in enumerate(first) if names is None or n in names}
        found = [first]
        larger, smaller = range(1, _LARGEST_SHIFT), range(-1, -_LARGEST_SHIFT, -1)
        for shift in itertools.chain(larger, smaller) if steps else ():
            if len(found) == count:
                break
            shift *= 1 if len(found) == 1 else 2
            tried = {name: n + shift * steps.get(name, 0) for name, n in first.items()}
            if min(tried.values()) >= 2 and self.allow(tried):
                found.append(tried)
        return found

    def violations(self, condition: Condition, count: int = 3) -> list[dict[str, int]]:
        """Sizes near those of the example for which a condition does not hold.

        Example:
            >>> from nestarray.graph.sizes import Sizes
            >>> from nestarray.sizes import Condition, named
            >>> even = Condition(named("batch") % 2, "==", 0)
            >>> Sizes({"batch": (1, None)}, (even,), {"batch": 4}).violations(even, 2)
            [{'batch': 5}, {'batch': 3}]
        """
        names = condition.names
        shifts = [signed for shift in range(1, _LARGEST_SHIFT) for signed in (shift, -shift)]
        near = [{n: m + k * (n in names) for n, m in self.example.items()} for k in shifts]
        outside = (x for x in near if min(x.values()) > 0 and not condition.holds(x))
        return list(itertools.islice(outside, count))


class Binding:
    """The sizes of one call: filled by `fit`, one array after the other, and checked by `finish`.

    Attributes:
        values: name → size.
    """

    def __init__(self, owner: str, sizes: Sizes) -> None:
        self._owner, self._sizes = owner, sizes
        self.values: dict[str, int] = {}
        self._places: dict[str, str] = {}
        self._expressions: list[tuple[Size, str, int]] = []

    def fit(self, argument: str, want: tuple[IntOrSize, ...], got: tuple[Nest, ...]) -> None:
        """Take the sizes of an argument; fixed ones must be equal.

        Raises:
            ShapeError: the rank, a fixed size, or the size of a name that is known is another one.
        """
        fits = len(want) == len(got) and all(
            isinstance(w, Size) or w == g for w, g in zip(want, got)
        )
        if not fits:
            what_to_do = (
                "only sizes with names may change"
                if any(isinstance(w, Size) for w in want)
                else "trace again with the new shape, or leave sizes open: na.trace_graph(..., "
                "dynamic=True), or with names, dynamic={'x': {0: 'batch'}}"
            )
            raise ShapeError(
                f"{self._owner}: argument {argument!r}: got shape {got}, the graph was traced with "
                f"{shape_text(want)}; {what_to_do}"
            )
        for axis, (wanted, size) in enumerate(zip(want, got)):
            if not isinstance(wanted, Size):
                continue
            place, name = f"dimension {axis} of {argument!r}", wanted.name
            if not is_known(size):
                self._check_unknown(name, place, size)
                continue
            if not name:
                self._expressions.append((wanted, place, size))
            elif self.values.setdefault(name, size) != size:
                raise ShapeError(
                    f"{self._owner}: argument {argument!r}: {name} (dimension {axis}) is {size}, but "
                    f"{self.values[name]} in {self._places[name]}; sizes of one name are equal"
                )
            else:
                self._places.setdefault(name, place)

    def _check_unknown(self, name: str, place: str, size: Nest) -> None:
        """An expression of JAX's must be said to be in the range; None of TensorFlow's cannot be."""
        least, most = self._sizes.ranges.get(name, (0, None))
        if size is None:
            return
        for bound, is_inside in ((most, operator.le), (least, operator.ge)):
            try:
                fits = bound is None or is_inside(size, bound)
            except backends.chapter("jax", "core").undecided_size():
                fits = False
            if not fits:
                sign = "<=" if bound == most else ">="
                raise ShapeError(
                    f"{self._owner}: {name} ({place}) is {size}, of which is not known that it is "
                    f"{sign} {bound}, as the graph was traced for; say it where the size is made: "
                    f"jax.export.symbolic_shape(..., constraints=['{size} {sign} {bound}'])"
                )

    def finish(self) -> None:
        """Check the ranges, expressions and conditions.

        Raises:
            ShapeError: a size is out of its range or differs from its expression, or a
                condition does not hold.
        """
        for expression, place, size in self._expressions:
            self._solve(expression, place, size)
        for condition in self._sizes.conditions:
            names = _names_in(condition)
            if all(name in self.values for name in names) and not condition.holds(self.values):
                sizes = ", ".join(f"{name} = {self.values[name]}" for name in names)
                at = f": {condition.line}" if condition.line else ""
                raise ShapeError(
                    f"{self._owner}: got {sizes}, but the model was traced for sizes with "
                    f"{condition}, on which its program depends{at}; trace it with an example of "
                    "these sizes"
                )
        for name, (least, most) in self._sizes.ranges.items():
            size = self.values.get(name)
            if size is not None and not least <= size <= (math.inf if most is None else most):
                allowed = f"{least} or more" if most is None else f"from {least} to {most}"
                raise ShapeError(
                    f"{self._owner}: {name} ({self._places[name]}) is {size}, expected {allowed}"
                )

    def _solve(self, expression: Size, place: str, size: int) -> None:
        """Find the one name of an expression that no argument shows, and compare."""
        unknown = expression.names - self.values.keys()
        if len(unknown) == 1:  # expressions of dimensions are linear in it
            (name,) = unknown
            at = [expression.at({**self.values, name: n}) for n in (0, 1)]
            self.values[name] = (size - at[0]) // ((at[1] - at[0]) or 1)
            self._places[name] = place
        if expression.names <= self.values.keys() and expression.at(self.values) != size:
            raise ShapeError(
                f"{self._owner}: {place} is {size}, expected a size that is {expression}"
            )


def has_unknown_size(x: Array) -> bool:
    """Whether a tracer does not know all sizes of an array: TensorFlow has None, JAX an expression."""
    return not all(map(is_known, getattr(x, "shape", ())))


def is_known(size: Nest) -> bool:
    """Whether a size is a number, or a symbol of PyTorch's, which is one where it has to be."""
    return isinstance(size, int) or hasattr(size, "__index__")


def check_same(owner: str, compiled: Mapping[str, int], got: Mapping[str, int]) -> None:
    """Raise a ShapeError if a size is another one than the program was compiled for."""
    other = [name for name in got if got[name] != compiled[name]]
    if other:
        had, has = (", ".join(f"{n} = {c[n]}" for n in other) for c in (compiled, got))
        raise ShapeError(
            f"{owner}: got {has}, compiled for {had}; say new_shapes='recompile' to compile for both"
        )


def shape_text(shape: tuple[IntOrSize, ...]) -> str:
    """A shape as a tuple, its names without quotes: ``(batch, 3)``."""
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def check_name(name: str, where: str) -> None:
    """Raise an ArgumentError unless `name` can be a Python name."""
    if not name.isidentifier():
        raise ArgumentError(
            f"{where}: got the name {name!r}, expected one that is a Python name, such as 'batch'"
        )


@cached_constant
def _names_in(condition: Condition) -> tuple[str, ...]:
    return tuple(sorted(condition.names))

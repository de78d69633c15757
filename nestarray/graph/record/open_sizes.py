"""Open sizes in frontend code, while a graph is lowered.

A `Size` replaces a number, as `Traced` replaces an array. It has a value at each of many points,
which assign a number to each name: the example's sizes, and corner cases (0, 1, the minimum, very
large). Arithmetic is done at all points, and recorded. A comparison with the same result at all
points is decided. Otherwise, and where code needs the number itself, `UndecidedSize` is raised,
because the program would differ between sizes.
"""

from __future__ import annotations

import ast
import operator
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from nestarray.errors import ConversionError
from nestarray.graph.sizes import Sizes, evaluate, names_in

#: The value of an expression that divides by 0; calls with such sizes fail earlier.
FAILS = object()
#: The number of points at which a graph runs; the others decide comparisons.
RUNS = 3
_POINTS = 48
_TRIES = 4000
_CORNERS = (0, 1, 2, 3, 4, 5, 7, 8, 12, 16, 31, 64, 100, 257, 1024, 5000, 100_000)


class UndecidedSize(ConversionError):
    """Code needs the value of an open size."""


class Size:
    """A traced size.

    It passes ``isinstance(n, int)``, but uses of the number itself raise an error (``range(n)``,
    ``int(n)``, a table).

    Args:
        text: the expression in names that it is.
        values: its value at each point; None if unknown, or `FAILS`.
        recorder: records the arithmetic.
        make: records the node that computes it.
    """

    __slots__ = ("make", "recorder", "text", "values")

    def __init__(self, text: str, values: list[Any], recorder: Any, make: Callable[[], Any]):
        self.text, self.values, self.recorder, self.make = text, values, recorder, make

    @property
    def __class__(self) -> type:  # what isinstance asks when the type is another one
        return float if any(type(n) is float for n in self.values) else int

    def __repr__(self) -> str:
        return self.text

    def _needs_value(self, *_: Any) -> NoReturn:
        raise UndecidedSize(f"lower: the code needs the value of the size {self.text}")

    __int__ = __index__ = __float__ = __complex__ = __hash__ = _needs_value  # type: ignore[assignment]
    __array__ = __len__ = __iter__ = __trunc__ = __round__ = _needs_value

    def __bool__(self) -> bool:
        return self != 0

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return NotImplemented  # recorded arrays of NumPy code compute with sizes, others do not

    # -- comparisons: decided, or an error ----------------------------------------------------

    def __eq__(self, other: object) -> Any:
        return _decided(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return _decided(operator.ne, self, other)

    def __lt__(self, other: Any) -> Any:
        return _decided(operator.lt, self, other)

    def __le__(self, other: Any) -> Any:
        return _decided(operator.le, self, other)

    def __gt__(self, other: Any) -> Any:
        return _decided(operator.gt, self, other)

    def __ge__(self, other: Any) -> Any:
        return _decided(operator.ge, self, other)

    # -- arithmetic: recorded -----------------------------------------------------------------

    def __neg__(self) -> Any:
        return self.recorder.arithmetic(operator.neg, self)

    def __add__(self, other: Any) -> Any:
        return _computed(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return _computed(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return _computed(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _computed(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return _computed(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _computed(operator.mul, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return _computed(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return _computed(operator.floordiv, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _computed(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _computed(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Any:
        return _computed(operator.pow, self, other)

    def __mod__(self, other: Any) -> Any:
        return _computed(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return _computed(operator.mod, other, self)


def is_size(x: Any) -> bool:
    """Whether `x` is a `Size`, and not an integer."""
    return type(x) is Size


def _computed(function: Callable[..., Any], a: Any, b: Any) -> Any:
    if not all(is_size(x) or type(x) in (int, float) for x in (a, b)):
        return NotImplemented
    recorder = a.recorder if is_size(a) else b.recorder
    return recorder.arithmetic(function, a, b)


def at_points(function: Callable[..., Any], count: int, *operands: Any) -> list[Any]:
    """`function` of sizes and numbers at each point; None where one is unknown."""
    found: list[Any] = []
    for i in range(count):
        given = [x.values[i] if is_size(x) else x for x in operands]
        try:
            missing = FAILS if FAILS in given else None
            found.append(missing if {FAILS, None} & set(given) else function(*given))
        except ZeroDivisionError:
            found.append(FAILS)
    return found


def _decided(function: Callable[..., Any], a: Size, b: Any) -> Any:
    if not (is_size(b) or type(b) in (int, float)):
        return NotImplemented
    if is_size(b) and a.text == b.text:
        return function(0, 0)
    found = [x for x in at_points(function, len(a.values), a, b) if x is not FAILS]
    if None in found or len(set(found)) != 1:
        raise UndecidedSize(
            f"lower: {a} {function.__name__} {b}: the code decides by the value of a size"
        )
    return found[0]


_SIGNS = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.floordiv: "//",
    operator.mod: "%", operator.truediv: "/", operator.pow: "**",
}  # fmt: skip


def written(function: Callable[..., Any], *operands: Any) -> str:
    """The expression that a function of sizes computes; "" if it is none of arithmetic."""
    texts = [f"({x.text})" if is_size(x) else repr(x) for x in operands]
    if function in _SIGNS:
        text = f" {_SIGNS[function]} ".join(texts)
    elif function is operator.neg:
        text = f"-{texts[0]}"
    elif function.__name__ in ("sym_min", "sym_max"):
        text = f"{function.__name__[4:]}({', '.join(texts)})"
    else:
        return ""
    return ast.unparse(ast.parse(text, mode="eval"))


# -- points --------------------------------------------------------------------------------


def draw_points(owner: str, names: list[str], sizes: Sizes) -> list[Mapping[str, int]]:
    """The points for the names of a graph, those at which it is run first.

    Raises:
        ConversionError: not enough sizes were found for which the conditions hold.
    """
    if not names:
        return [{}, {}]  # the second one leaves numbers open that are read from an array
    example = {name: sizes.example.get(name, 0) for name in names}
    sizes = Sizes({name: sizes.ranges.get(name, (0, None)) for name in names}, sizes.conditions)
    rng = random.Random(0)
    runs = list(_runs(names, sizes, example, rng))
    if len(runs) < RUNS:
        raise ConversionError(
            f"lower: {owner}: found no sizes of {', '.join(names)} beside those of the example that "
            f"its conditions allow ({'; '.join(sizes.conditions)}); trace it without dynamic= to lower it"
        )
    others: list[Mapping[str, int]] = []
    for _ in range(_TRIES):
        if len(runs) + len(others) == _POINTS:
            break
        base = rng.choice(runs)
        point = {name: rng.choice((base[name], *_CORNERS)) for name in names}
        if point not in others and sizes.allow(point):
            others.append(point)
    return [*runs, *others]


def _runs(
    names: list[str], sizes: Sizes, example: Mapping[str, int], rng: random.Random
) -> Iterator[Mapping[str, int]]:
    """Points near the example, at which all names have different sizes."""
    seen: dict[str, set[int]] = {name: set() for name in names}
    count = 0
    for step in (1, 1, 2, 4, 8, 16, 32, 64, 7, 14):  # sizes may have to be multiples
        for _ in range(_TRIES // 10):
            if count == RUNS:
                return
            point = {}
            for name in names:
                around = max(example[name], sizes.ranges[name][0], 4)
                low, high = (-around // 8, 0) if count == 1 else (1, around // 2 + 4)
                last = high // step + 1 if step == 1 else max(high // step + 1, 4)
                drawn = around + step * rng.randint(low // step, last)
                point[name] = max(drawn, sizes.ranges[name][0], 2)
            is_new = all(point[name] not in seen[name] for name in names)
            if is_new and len(set(point.values())) == len(names) and sizes.allow(point):
                for name in names:
                    seen[name].add(point[name])
                count += 1
                yield point


def values_of(text: str, points: list[Mapping[str, int]]) -> list[Any]:
    """The value of an expression at each point; None if a name has no value."""
    known = names_in(text)
    found: list[Any] = []
    for point in points:
        try:
            found.append(evaluate(text, point) if known <= point.keys() else None)
        except ZeroDivisionError:
            found.append(FAILS)
    return found

"""Ranges of names and conditions, and the comparisons that follow from them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from nestarray.sizes.expressions import (
    IntOrSize,
    Monomial,
    Name,
    Positive,
    Quotient,
    Real,
    Rounded,
    Size,
    Variable,
    names_of,
    value_at,
)

SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le,
    ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_OPPOSITES = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}

#: Powers of rational coefficients, as in `Size`.
_Terms = dict[Monomial, Fraction]
#: The most variables that are replaced by their bounds, one after the other.
_DEPTH = 6


@dataclass(frozen=True)
class Condition:
    """A comparison of sizes on which a program depends.

    Attributes:
        left, right: Sizes, Reals or numbers.
        sign: a key of `SIGNS`.
        line: of the source that asks for it; empty if it is unknown.
    """

    left: Any
    sign: str
    right: Any
    line: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return names_of(self.left) | names_of(self.right)

    @property
    def opposite(self) -> Condition:
        """The condition that holds where this one does not."""
        return replace(self, sign=_OPPOSITES[self.sign])

    @property
    def on_remainder(self) -> Condition | None:
        """The same about a remainder: ``n % 2 == 0`` of ``6 * (n // 2) == 3 * n``; None of others."""
        difference = _difference(self.left, self.right)
        if self.sign not in ("==", "!=") or difference is None:
            return None
        for variable in difference.variables:
            match variable:
                case Quotient(Size() as numerator, int(n)):
                    remainder = numerator - n * Size({((variable, 1),): 1})
                    factor = -difference.terms.get(((variable, 1),), 0) // n
                    constant = difference - factor * remainder
                    if not factor or not isinstance(constant, int) or constant % factor:
                        continue
                    number = -constant // factor  # that the remainder is
                    if 0 <= number < n:
                        others = numerator - numerator.constant
                        right = (number - numerator.constant) % n
                        return replace(self, left=others % n, right=right)
        return None

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it is true in a call; not where a size of 0 is a divisor."""
        try:
            return SIGNS[self.sign](value_at(self.left, values), value_at(self.right, values))
        except ZeroDivisionError:
            return False


def any_of(
    choices: Sequence[tuple[Condition, ...]], example: Mapping[str, int]
) -> tuple[Condition, ...]:
    """The first of several lists of conditions that all hold for an example; else the first."""
    holding = (choice for choice in choices if all(each.holds(example) for each in choice))
    return next(holding, choices[0])


def opposites(conditions: Sequence[Condition], example: Mapping[str, int]) -> tuple[Condition, ...]:
    """Conditions that imply that not all of the others hold, and hold for an example."""
    return any_of([(each.opposite,) for each in conditions], example)


def equal_answers(
    a: tuple[Condition, ...], b: tuple[Condition, ...], example: Mapping[str, int]
) -> tuple[Condition, ...]:
    """Conditions that imply that both lists hold or neither, and hold for an example."""
    return any_of((a + b, opposites(a, example) + opposites(b, example)), example)


@dataclass
class Relations:
    """Ranges of names and conditions, and their consequences.

    Args:
        ranges: name → minimum and maximum; None for an unbounded maximum. Names without a range
            are 0 or more.

    Example:
        >>> from nestarray.sizes import Relations, named
        >>> n, known = named("n"), Relations({"n": (1, None)})
        >>> known.decide((n + 1) // 2, "<=", n), known.decide(n, ">", 1)
        (True, None)
    """

    ranges: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    _facts: list[Size] = field(default_factory=list, init=False)  # each is 0 or more
    _zeros: list[Size] = field(default_factory=list, init=False)
    _bounds: dict[Size, int | None] = field(default_factory=dict, init=False)
    _simple: dict[Size, IntOrSize] = field(default_factory=dict, init=False)

    def assume(self, condition: Condition) -> None:
        """Take a condition as true."""
        difference = _difference(condition.left, condition.right)
        if difference is None:
            return
        self._bounds.clear()
        self._simple.clear()
        match condition.sign:
            case "==":
                self._zeros.append(difference)
                self._facts += [difference, -difference]
            case ">=" | "<=":
                self._facts.append(difference if condition.sign == ">=" else -difference)
            case ">" | "<":
                self._facts.append((difference if condition.sign == ">" else -difference) - 1)

    def decide(self, left: Any, sign: str, right: Any) -> bool | None:
        """Whether a comparison holds for all sizes, or for none; None if it depends on them.

        None also where neither is found.
        """
        left, right = _whole(left), _whole(right)
        if left is None or right is None:
            return None
        difference = left - right
        if not isinstance(difference, Size):
            return SIGNS[sign](difference, 0)
        match sign:
            case "==":
                return self._is_zero(difference)
            case "!=":
                is_zero = self._is_zero(difference)
                return None if is_zero is None else not is_zero
            case ">=" | ">":
                return self._is_at_least(difference, int(sign == ">"))
            case _:
                return self._is_at_least(-difference, int(sign == "<"))

    def at_least(self, x: IntOrSize) -> int | None:
        """A number that a size is never below; None if none is found."""
        if isinstance(x, int):
            return x
        if x not in self._bounds:
            self._bounds[x] = None  # while it is computed from facts that ask for it
            self._bounds[x] = self._lower_bound(x)
        return self._bounds[x]

    def at_most(self, x: IntOrSize) -> int | None:
        """A number that a size never exceeds; None if none is found."""
        bound = self.at_least(-x)
        return None if bound is None else -bound

    def simplified(self, x: IntOrSize) -> IntOrSize:
        """The size without the functions whose value is known, such as ``max(n - 1, 0)`` of n from 1.

        Example:
            >>> from nestarray.sizes import Relations, larger, named
            >>> n = named("n")
            >>> Relations({"n": (1, None)}).simplified(larger(n - 1, 0) + n % 4 // 4)
            Size('2 * n - 1')
        """
        if isinstance(x, int):
            return x
        if x not in self._simple:
            values = {variable: self._value_of(variable) for variable in x.variables}
            self._simple[x] = x.with_variables(values)
        return self._simple[x]

    def _value_of(self, variable: Variable) -> IntOrSize | None:
        match variable:
            case Positive(argument):
                is_natural = self._is_at_least(argument, 0)
                if is_natural is not None:
                    return argument if is_natural else 0
                return 0 if self._is_at_least(-argument, 0) else None
            case Quotient(Size() as numerator, int(b)):
                least, most = self.at_least(numerator), self.at_most(numerator)
                if least is not None and most is not None and least // b == most // b:
                    return least // b
        return None

    def _is_zero(self, x: Size) -> bool | None:
        if any(
            isinstance(x + y, int) and x + y == 0 for zero in self._zeros for y in (zero, -zero)
        ):
            return True
        factors = [n for monomial, n in x.terms.items() if monomial]
        if x.constant % math.gcd(*factors):
            return False
        least, most = self.at_least(x), self.at_most(x)
        if (least is not None and least > 0) or (most is not None and most < 0):
            return False
        return True if least == most == 0 else None

    def _is_at_least(self, x: Size, bound: int) -> bool | None:
        least = self.at_least(x)
        if least is not None and least >= bound:
            return True
        most = self.at_most(x)
        return False if most is not None and most < bound else None

    # -- bounds ----------------------------------------------------------------------------

    def _lower_bound(self, x: Size) -> int | None:
        terms = _polynomial(x)
        bounds = [self._lower(terms, _DEPTH)]
        for fact in [*self._facts, *self._facts_of(x)]:
            for monomial, n in fact.terms.items():
                factor = terms.get(monomial, Fraction(0)) / n if monomial else Fraction(0)
                if factor > 0:  # x is at least x - factor * fact
                    difference = _plus(terms, {m: -factor * k for m, k in fact.terms.items()})
                    if len(difference) <= len(terms):
                        bounds.append(self._lower(difference, _DEPTH))
        known = [bound for bound in bounds if bound is not None]
        return math.ceil(max(known)) if known else None

    def _facts_of(self, x: Size) -> Iterator[Size]:
        """Sizes that are 0 or more: remainders by open sizes."""
        for variable in x.variables:
            match variable:
                case Quotient(numerator, Size() as denominator):
                    least = self.at_least(denominator)
                    if least is not None and least >= 1:
                        remainder = numerator - denominator * Size({((variable, 1),): 1})
                        for fact in (remainder, denominator - 1 - remainder):
                            if isinstance(fact, Size):
                                yield fact

    def _lower(self, terms: _Terms, depth: int) -> Fraction | None:
        """A lower bound of a polynomial with rational coefficients."""
        functions = [m for m in terms if any(type(v) is not Name for v, _ in m)]
        if not functions:
            return self._at_corner(terms)
        # first those of which both cases are known, before their parts lose their relations
        monomial = min(
            functions, key=lambda m: terms[m] > 0 or all(type(v) is not Positive for v, _ in m)
        )
        if not depth:
            return None
        n = terms[monomial]
        others = {m: k for m, k in terms.items() if m != monomial}
        place = next(i for i, (v, _) in enumerate(monomial) if type(v) is not Name)
        variable, power = monomial[place]
        factors = monomial[:place] + monomial[place + 1 :]
        if power > 1:
            factors = tuple(sorted((*factors, (variable, power - 1)), key=str))
        if any(not self._is_natural(v) for v, _ in factors):
            return None
        bounds = self._bounds_of(variable, is_lower=n > 0)
        results = []
        for bound in bounds:
            product = _times(bound, factors, n)
            results.append(self._lower(_plus(others, product), depth - 1))
        if isinstance(variable, Positive) and n < 0:  # one of both is its value
            return None if None in results else min(results)  # type: ignore[type-var]
        return max((r for r in results if r is not None), default=None)

    def _bounds_of(self, variable: Variable, *, is_lower: bool) -> list[_Terms]:
        """Polynomials that a variable is at least, or at most."""
        match variable:
            case Positive(argument):
                return [_polynomial(argument), {}]
            case Quotient(numerator, int(b)):
                shift = Fraction(b - 1, b) if is_lower else Fraction(0)
                scaled = {m: n / b for m, n in _polynomial(numerator).items()}
                return [_plus(scaled, {(): -shift})]
            case Quotient(numerator, denominator):
                least, below = self.at_least(numerator), self.at_least(denominator)
                if least is None or below is None or least < 0 or below < 1:
                    return []
                return (
                    [{}]
                    if is_lower
                    else [{m: n / below for m, n in _polynomial(numerator).items()}]
                )
            case Rounded(_, argument):
                bounds = self._real_bounds(argument)
                bound = bounds[0] if is_lower else bounds[1]
                if bound is None or not math.isfinite(bound):
                    return []
                return [{(): Fraction(math.floor(bound) if is_lower else math.ceil(bound))}]
        return []

    def _is_natural(self, variable: Variable) -> bool:
        """Whether a variable is 0 or more."""
        if isinstance(variable, Quotient):
            least, below = self.at_least(variable.numerator), self.at_least(variable.denominator)
            return least is not None and least >= 0 and below is not None and below >= 1
        return isinstance(variable, (Name, Positive))

    def _at_corner(self, terms: _Terms) -> Fraction | None:
        """The bound of a polynomial in names: its value where each name is at its minimum.

        With ``name = minimum + t`` it is that value and terms in t; negative ones have their
        value at the maximum of t.
        """
        names = {v.text for m in terms for v, _ in m if isinstance(v, Name)}
        low = {name: self.ranges.get(name, (0, None))[0] for name in names}
        shifted: _Terms = {}
        for monomial, n in terms.items():
            product: _Terms = {(): n}
            for variable, power in monomial:
                assert isinstance(variable, Name)
                for _ in range(power):
                    product = _plus(
                        _times(product, ((variable, 1),), Fraction(1)),
                        {m: k * low[variable.text] for m, k in product.items()},
                    )
            shifted = _plus(shifted, product)
        bound = Fraction(0)
        for monomial, n in shifted.items():
            if not monomial:
                bound += n
            elif n < 0:
                room = [self._room(variable) for variable, _ in monomial]
                if None in room:
                    return None
                powers = [power for _, power in monomial]
                bound += n * math.prod(
                    [
                        size**power
                        for size, power in zip(room, powers, strict=True)
                        if size is not None
                    ]
                )
        return bound

    def _room(self, variable: Variable) -> int | None:
        assert isinstance(variable, Name)
        low, high = self.ranges.get(variable.text, (0, None))
        return None if high is None else high - low

    def _real_bounds(self, x: Any) -> tuple[float | None, float | None]:
        """The least and the largest value of a real number."""
        if isinstance(x, (int, float)):
            return x, x
        if isinstance(x, Size):
            return self.at_least(x), self.at_most(x)
        bounds = [self._real_bounds(each) for each in x.operands]
        (low, high), *others = bounds
        if x.function == "float":
            return low, high
        if x.function == "math.sqrt" and low is not None and low >= 0:
            return math.sqrt(low), None if high is None else math.sqrt(high)
        if len(others) != 1:
            return None, None
        ((first, last),) = others
        if x.function == "+":
            return _both(operator.add, low, first), _both(operator.add, high, last)
        if x.function == "-":
            return _both(operator.sub, low, last), _both(operator.sub, high, first)
        is_positive = low is not None and low >= 0 and first is not None and first > 0
        if x.function == "*" and is_positive:
            return _both(operator.mul, low, first), _both(operator.mul, high, last)
        if x.function == "/" and is_positive:
            least = 0.0 if last is None else _both(operator.truediv, low, last)
            return least, _both(operator.truediv, high, first)
        return None, None


def _difference(left: Any, right: Any) -> Size | None:
    """The difference of two sizes, unless it is a number or one of them is none."""
    sides = _whole(left), _whole(right)
    difference = None if None in sides else sides[0] - sides[1]  # type: ignore[operator]
    return difference if isinstance(difference, Size) else None


def _whole(x: Any) -> IntOrSize | None:
    """A number as an integer; None if it is none."""
    if isinstance(x, float):
        return int(x) if x.is_integer() else None
    return None if isinstance(x, Real) else x


def _both(function: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    return None if a is None or b is None else function(a, b)


def _rational(term: tuple[Monomial, int]) -> tuple[Monomial, Fraction]:
    return term[0], Fraction(term[1])


def _polynomial(x: IntOrSize) -> _Terms:
    return dict(map(_rational, x.terms.items())) if isinstance(x, Size) else {(): Fraction(x)}


def _plus(a: _Terms, b: _Terms) -> _Terms:
    total = dict(a)
    for monomial, n in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + n
    return {monomial: n for monomial, n in total.items() if n}


def _times(terms: _Terms, monomial: Monomial, factor: Fraction) -> _Terms:
    product: _Terms = {}
    for m, n in terms.items():
        powers = dict(m)
        for variable, power in monomial:
            powers[variable] = powers.get(variable, 0) + power
        key = tuple(sorted(powers.items(), key=lambda item: str(item[0])))
        product[key] = product.get(key, Fraction(0)) + n * factor
    return product

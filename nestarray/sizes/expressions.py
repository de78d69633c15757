"""`Size`: an integer that depends on names, in normal form.

A Size is a polynomial with integer coefficients. Its variables are names, ``batch``, and three
functions of other sizes: a floor quotient, a positive part and a rounded real number. The other
functions are combinations of these: ``a % b`` is ``a - b * (a // b)``, ``max(a, b)`` is
``b + max(a - b, 0)``. Sizes with one normal form are equal for all values of the names. The
converse holds for polynomials; `nestarray.sizes.relations` decides more.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

#: The largest denominator of a floating-point factor that is computed exactly.
_LARGEST_DENOMINATOR = 2**20


class Name(NamedTuple):
    """A size that each call determines."""

    text: str


class Quotient(NamedTuple):
    """``numerator // denominator``."""

    numerator: Size
    denominator: IntOrSize


class Positive(NamedTuple):
    """``max(argument, 0)``."""

    argument: Size


class Rounded(NamedTuple):
    """A real number made an integer by a function of `ROUNDINGS`."""

    function: str
    argument: Real


Variable: TypeAlias = "Name | Quotient | Positive | Rounded"
_RANKS: dict[type, int] = {Name: 0, Quotient: 1, Positive: 2, Rounded: 3}

#: A product of powers of variables in their order; the empty one is 1.
Monomial: TypeAlias = "tuple[tuple[Variable, int], ...]"


class Size:
    """An integer as a polynomial in names and functions of names; immutable.

    ``==`` and ``hash`` compare normal forms. A result without a name is an ``int``. ``str`` is in
    `nestarray.sizes.text`.

    Args:
        terms: monomial → coefficient, without zeros.

    Example:
        >>> from nestarray.sizes import named
        >>> n = named("n")
        >>> (2 * n + 6) // 4, (n + 3) // 4 * 4 % 4, n * n // n
        (Size('(n + 1) // 2 + 1'), 0, Size('n'))
    """

    __slots__ = ("_hash", "_key", "terms", "text")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = dict(sorted(terms.items(), key=_order))
        self._hash = hash(tuple(self.terms.items()))
        self._key = self.text = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and self._hash == other._hash and self.terms == other.terms

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Size({str(self)!r})"

    def __reduce__(self) -> Any:  # hashes of names differ between processes
        return Size, (self.terms,)

    @property
    def constant(self) -> int:
        """The term without a name."""
        return self.terms.get((), 0)

    @property
    def name(self) -> str:
        """The name that it is; empty if it is another expression."""
        (monomial, factor), *others = self.terms.items()
        (variable, power), *factors = monomial
        is_variable = factor == power == 1 and not others and not factors
        return variable.text if is_variable and isinstance(variable, Name) else ""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables of the polynomial, without those inside of functions."""
        return tuple(dict.fromkeys(v for monomial in self.terms for v, _ in monomial))

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset().union(*map(_names_of_variable, self.variables))

    def at(self, values: Mapping[str, int]) -> int:
        """The number for given values of the names.

        Raises:
            KeyError: a name has no value.
            ZeroDivisionError: a denominator is 0.
        """
        numbers = {variable: _variable_at(variable, values) for variable in self.variables}
        return sum(
            factor * math.prod([numbers[variable] ** power for variable, power in monomial])
            for monomial, factor in self.terms.items()
        )

    def replaced(self, sizes: Mapping[str, IntOrSize]) -> IntOrSize:
        """The expression with other sizes in place of names."""
        return self.with_variables({v: _replaced(v, sizes) for v in self.variables})

    def with_variables(self, values: Mapping[Variable, IntOrSize | None]) -> IntOrSize:
        """The expression with sizes in place of variables; None leaves one."""
        if all(value is None for value in values.values()):
            return self
        total: IntOrSize = 0
        for monomial, factor in self.terms.items():
            product: IntOrSize = factor
            for variable, power in monomial:
                value = values[variable]
                product = product * (_of_variable(variable) if value is None else value) ** power
            total = total + product
        return total

    def __add__(self, other: Any) -> Any:
        return _sum(self, other, 1) if isinstance(other, (int, Size)) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _sum(self, other, -1) if isinstance(other, (int, Size)) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return _sum(other, self, -1) if isinstance(other, int) else NotImplemented

    def __neg__(self) -> Any:
        return _sum(0, self, -1)

    def __mul__(self, other: Any) -> Any:
        return _product(self, other) if isinstance(other, (int, Size)) else NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> Any:
        return quotient(self, other) if isinstance(other, (int, Size)) else NotImplemented

    def __rfloordiv__(self, other: Any) -> Any:
        return quotient(other, self) if isinstance(other, int) else NotImplemented

    def __mod__(self, other: Any) -> Any:
        is_size = isinstance(other, (int, Size))
        return self - other * quotient(self, other) if is_size else NotImplemented

    def __rmod__(self, other: Any) -> Any:
        is_size = isinstance(other, int)
        return other - self * quotient(other, self) if is_size else NotImplemented

    def __pow__(self, power: Any) -> Any:
        if isinstance(power, int) and power >= 0:
            return functools.reduce(operator.mul, [self] * power, 1)
        return NotImplemented


IntOrSize: TypeAlias = "int | Size"


@dataclass(frozen=True)
class Real:
    """A floating-point number that depends on sizes; `rounded` makes an integer of it.

    Attributes:
        function: a key of `REAL_FUNCTIONS`.
        operands: Sizes, Reals and numbers.
    """

    function: str
    operands: tuple[Any, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset().union(*map(names_of, self.operands))

    def at(self, values: Mapping[str, int]) -> float:
        """The number for given values of the names."""
        return REAL_FUNCTIONS[self.function](*[value_at(x, values) for x in self.operands])


#: The functions of a `Real`, by their operator or name in Python.
REAL_FUNCTIONS: dict[str, Callable[..., float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "**": operator.pow, "float": float, "math.sqrt": math.sqrt,
}  # fmt: skip
#: The operators whose results on integers are integers.
_EXACT: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv,
    "%": operator.mod, "**": operator.pow,
}  # fmt: skip
#: The functions that make a real number an integer.
ROUNDINGS: dict[str, Callable[[float], int]] = {
    "math.floor": math.floor, "math.ceil": math.ceil, "int": int, "round": round,
}  # fmt: skip


def named(name: str) -> Size:
    """The size of a name."""
    return _of_variable(Name(name))


def names_of(x: Any) -> frozenset[str]:
    """The names in a size; none in a number."""
    return x.names if isinstance(x, (Size, Real)) else frozenset()


def value_at(x: Any, values: Mapping[str, int]) -> Any:
    """The number that a size, or a number, is in a call."""
    return x.at(values) if isinstance(x, (Size, Real)) else x


def larger(a: IntOrSize, b: IntOrSize) -> IntOrSize:
    """``max(a, b)``."""
    return b + _positive(a - b)


def smaller(a: IntOrSize, b: IntOrSize) -> IntOrSize:
    """``min(a, b)``."""
    return a - _positive(a - b)


def real(function: str, *operands: Any) -> Any:
    """A real function of sizes: a number, if all operands are numbers."""
    if not any(isinstance(x, (Size, Real)) for x in operands):
        return REAL_FUNCTIONS[function](*operands)
    return Real(function, operands)


def computed(sign: str, a: Any, b: Any) -> Any:
    """The result of an operator of Python, exact if both operands are integers.

    Example:
        >>> from nestarray.sizes import computed, named
        >>> str(computed("%", named("n"), 2)), str(computed("/", named("n"), 2))
        ('n % 2', 'n / 2')
    """
    if sign in _EXACT and isinstance(a, (int, Size)) and isinstance(b, (int, Size)):
        return _EXACT[sign](a, b)
    if sign not in REAL_FUNCTIONS:
        raise TypeError(f"{sign} of real numbers made of sizes")
    return real(sign, a, b)


def rounded(function: str, x: Any) -> IntOrSize:
    """An integer made of a real number.

    Quotients of integers, and their products with halves, quarters, …, which floating point
    represents, are integer quotients.

    Example:
        >>> from nestarray.sizes import named, real, rounded
        >>> n = named("n")
        >>> rounded("int", real("*", n, 0.5)), rounded("math.ceil", real("/", n, 3))
        (Size('n // 2'), Size('(n + 2) // 3'))
        >>> rounded("int", real("*", n, 0.3))
        Size('int(n * 0.3)')
    """
    if isinstance(x, (int, Size)):
        return x
    if not isinstance(x, Real):
        return ROUNDINGS[function](x)
    fraction = _fraction(x)
    if fraction is not None:
        numerator, denominator, is_positive = fraction
        if function == "math.floor" or (function == "int" and is_positive):
            return quotient(numerator, denominator)
        if function == "math.ceil":
            return -quotient(-numerator, denominator)
    return _of_variable(Rounded(function, x))


# -- normal form ---------------------------------------------------------------------------


def _of_variable(variable: Variable) -> Size:
    return Size({((variable, 1),): 1})


def _variable_key(variable: Variable) -> tuple[int, str]:
    """By which the variables of a monomial are sorted."""
    return _RANKS[type(variable)], " ".join(map(_key, variable))


def _key(x: Any) -> str:
    if isinstance(x, Real):
        return f"{x.function}({','.join(map(_key, x.operands))})"
    if not isinstance(x, Size):
        return str(x)
    if not x._key:
        terms = [
            f"{n}" + "".join(f"*{_variable_key(v)}^{power}" for v, power in monomial)
            for monomial, n in x.terms.items()
        ]
        x._key = f"({'+'.join(terms)})"
    return x._key


def _order(term: tuple[Monomial, int]) -> Any:
    monomial = term[0]
    return -sum(power for _, power in monomial), [(_variable_key(v), -p) for v, p in monomial]


def _terms(x: IntOrSize) -> Mapping[Monomial, int]:
    return x.terms if isinstance(x, Size) else {(): int(x)} if x else {}


def _leading(x: Size) -> tuple[Monomial, int]:
    return next(iter(x.terms.items()))


def _polynomial(terms: Mapping[Monomial, int]) -> IntOrSize:
    terms = {monomial: n for monomial, n in terms.items() if n}
    return Size(terms) if any(terms) else terms.get((), 0)


def _sum(a: IntOrSize, b: IntOrSize, sign: int) -> IntOrSize:
    terms = dict(_terms(a))
    for monomial, n in _terms(b).items():
        terms[monomial] = terms.get(monomial, 0) + sign * n
    return _polynomial(terms)


def _product(a: IntOrSize, b: IntOrSize) -> IntOrSize:
    terms: dict[Monomial, int] = {}
    for x, n in _terms(a).items():
        for y, m in _terms(b).items():
            powers = dict(x)
            for variable, power in y:
                powers[variable] = powers.get(variable, 0) + power
            monomial = tuple(sorted(powers.items(), key=lambda item: _variable_key(item[0])))
            terms[monomial] = terms.get(monomial, 0) + n * m
    return _polynomial(terms)


def _positive(x: IntOrSize) -> IntOrSize:
    """``max(x, 0)``; of ``max(-x, 0)`` the form ``max(x, 0) - x``."""
    if isinstance(x, int):
        return max(x, 0)
    if _is_natural(x):
        return x
    if _leading(x)[1] < 0:
        return x + _positive(-x)
    return _of_variable(Positive(x))


def _is_natural(x: Any) -> bool:
    """Whether a size or a variable is 0 or more by its form, for any values of the names."""
    if isinstance(x, int):
        return x >= 0
    if isinstance(x, Size):
        return min(x.terms.values()) >= 0 and all(map(_is_natural, x.variables))
    if isinstance(x, Quotient):
        return all(map(_is_natural, x))
    return isinstance(x, (Name, Positive))


def quotient(a: IntOrSize, b: IntOrSize) -> IntOrSize:
    """``a // b`` in normal form; a program divides by no size that is 0."""
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if (b if isinstance(b, int) else _leading(b)[1]) < 0:
        a, b = -a, -b
    if isinstance(b, Size):
        whole, remainder = _divided(a, b)
        if isinstance(remainder, int) and remainder == 0:
            return whole
        if isinstance(remainder, int):
            remainder_size: Any = remainder
            return whole + _of_variable(Quotient(remainder_size, b))
        return whole + _of_variable(Quotient(remainder, b))
    # coefficients are reduced towards 0: -n // 2 is -((n + 1) // 2), and not n // 2 - n
    whole = _polynomial({m: n // b if n > 0 or not m else -(-n // b) for m, n in _terms(a).items()})
    remainder = a - whole * b
    if isinstance(remainder, int):
        return whole
    if _leading(remainder)[1] < 0:
        return whole - quotient(b - 1 - remainder, b)
    return whole + _proper_quotient(remainder, b)


def _proper_quotient(a: Size, b: int) -> IntOrSize:
    """``a // b`` of a polynomial with coefficients below b and a positive leading one."""
    common = math.gcd(b, *[n for monomial, n in a.terms.items() if monomial])
    if common > 1:  # (2n + 3) // 4 is (n + 1) // 2
        parts = _polynomial({monomial: n // common for monomial, n in a.terms.items()})
        return quotient(parts, b // common)
    match a.variables[0]:
        case Quotient(numerator, int(n)) as inner if a - a.constant == _of_variable(inner):
            return quotient(numerator + a.constant * n, n * b)  # (n // 2 + 1) // 3 is (n + 2) // 6
    return _of_variable(Quotient(a, b))


def _divided(a: IntOrSize, b: Size) -> tuple[IntOrSize, IntOrSize]:
    """(q, r) with ``a == b * q + r``; q is 0 unless r is 0 or b is one term."""
    leading, factor = _leading(b)
    q: IntOrSize = 0
    remainder = a
    for _ in range(len(_terms(a)) + 8):
        parts = (_term_ratio(term, leading, factor) for term in _terms(remainder).items())
        part = next((each for each in parts if each is not None), None)
        if part is None:
            break
        q, remainder = q + part, remainder - part * b
    return (q, remainder) if remainder == 0 or len(b.terms) == 1 else (0, a)


def _term_ratio(term: tuple[Monomial, int], leading: Monomial, factor: int) -> IntOrSize | None:
    """The term by whose product with ``factor * leading`` a term is."""
    monomial, n = term
    powers = dict(monomial)
    for variable, power in leading:
        powers[variable] = powers.get(variable, 0) - power
    if n % factor or min(powers.values(), default=0) < 0:
        return None
    ratio = tuple((variable, power) for variable, power in powers.items() if power)
    return _polynomial({ratio: n // factor})


def _fraction(x: Any) -> tuple[IntOrSize, IntOrSize, bool] | None:
    """(numerator, denominator, whether it is not negative), if floating point computes it exactly.

    Also ``a / b`` of two integers: its rounding does not reach the next integer.
    """
    if isinstance(x, Real) and x.function == "/":
        a, b = x.operands
        if isinstance(a, (int, Size)) and isinstance(b, (int, Size)):
            return a, b, _is_natural(a) and _is_natural(b)
    exact = _exact(x)
    if exact is None:
        return None
    return *exact, _is_natural(exact[0])


def _exact(x: Any) -> tuple[IntOrSize, int] | None:
    """(numerator, power of 2), if that is the number without rounding."""
    if isinstance(x, (int, Size)):
        return x, 1
    if isinstance(x, float):
        fraction = Fraction(x) if math.isfinite(x) else Fraction(1, 3)
        denominator = fraction.denominator
        is_exact = denominator <= _LARGEST_DENOMINATOR and denominator & (denominator - 1) == 0
        return (fraction.numerator, denominator) if is_exact else None
    operands = [exact for exact in map(_exact, x.operands) if exact is not None]
    if len(operands) < len(x.operands):
        return None
    (a, b), *others = operands
    if x.function == "float":
        return a, b
    if not others:
        return None
    ((c, d),) = others
    if x.function in ("+", "-"):
        return (a * d + c * b if x.function == "+" else a * d - c * b), b * d
    if x.function == "*":
        return a * c, b * d
    is_power = isinstance(c, int) and c > 0 and c & (c - 1) == 0
    return (a * d, b * c) if x.function == "/" and is_power else None


# -- variables -----------------------------------------------------------------------------


def _names_of_variable(variable: Variable) -> frozenset[str]:
    if isinstance(variable, Name):
        return frozenset([variable.text])
    return frozenset().union(*map(names_of, variable))


def _variable_at(variable: Variable, values: Mapping[str, int]) -> int:
    match variable:
        case Name(text):
            return values[text]
        case Quotient(numerator, denominator):
            return value_at(numerator, values) // value_at(denominator, values)
        case Positive(argument):
            return max(argument.at(values), 0)
        case Rounded(function, argument):
            return ROUNDINGS[function](argument.at(values))


def _replaced(variable: Variable, sizes: Mapping[str, IntOrSize]) -> IntOrSize:
    match variable:
        case Name(text):
            return sizes[text] if text in sizes else _of_variable(variable)
        case Quotient(numerator, denominator):
            return quotient(_with(numerator, sizes), _with(denominator, sizes))
        case Positive(argument):
            return _positive(argument.replaced(sizes))
        case Rounded(function, argument):
            return rounded(function, _with(argument, sizes))


def _with(x: Any, sizes: Mapping[str, IntOrSize]) -> Any:
    if isinstance(x, Real):
        return real(x.function, *[_with(each, sizes) for each in x.operands])
    return x.replaced(sizes) if isinstance(x, Size) else x

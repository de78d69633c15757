"""`Abstract`: an array without elements. `OpenSize`: an axis length that each call determines."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from nestarray import backends, ops
from nestarray.dtypes import DType
from nestarray.sizes import IntOrSize, Real, Size, real, rounded
from nestarray.transforms.abstract.scope import Scope, UndecidedSize


class OpenNumber:
    """A number made of sizes, as code sees it.

    Arithmetic is exact. A comparison has an answer for all sizes, or is an error.

    Args:
        expression: the number.
        scope: decides comparisons.
        make: returns the node that computes it, where a program is recorded.
    """

    __slots__ = ("expression", "make", "scope")

    def __init__(
        self, expression: Size | Real, scope: Scope, make: Callable[[], Any] | None = None
    ) -> None:
        self.expression, self.scope, self.make = expression, scope, make

    def __repr__(self) -> str:
        return str(self.expression)

    def _needs_value(self, *_: Any, **__: Any) -> NoReturn:
        advice = "" if isinstance(self.expression, Size) else "; math.floor(x) and n // 2 stay open"
        raise UndecidedSize(f"the code needs the value of the size {self}{advice}")

    def __hash__(self) -> int:
        return hash(self.expression)

    __int__ = __array__ = __len__ = __iter__ = _needs_value

    def __bool__(self) -> bool:
        return self != 0

    def __array_ufunc__(self, *_: Any, **__: Any) -> Any:
        return NotImplemented  # recorded arrays of NumPy code compute with sizes, others do not

    # -- comparisons -----------------------------------------------------------------------

    def __eq__(self, other: object) -> Any:
        return _decided("==", self, other)

    def __ne__(self, other: object) -> Any:
        return _decided("!=", self, other)

    def __lt__(self, other: Any) -> Any:
        return _decided("<", self, other)

    def __le__(self, other: Any) -> Any:
        return _decided("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return _decided(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return _decided(">=", self, other)

    # -- arithmetic ------------------------------------------------------------------------

    def __neg__(self) -> Any:
        return computed(operator.neg, self)

    def __pos__(self) -> Any:
        return self

    def __add__(self, other: Any) -> Any:
        return computed(operator.add, self, other)

    def __radd__(self, other: Any) -> Any:
        return computed(operator.add, other, self)

    def __sub__(self, other: Any) -> Any:
        return computed(operator.sub, self, other)

    def __rsub__(self, other: Any) -> Any:
        return computed(operator.sub, other, self)

    def __mul__(self, other: Any) -> Any:
        return computed(operator.mul, self, other)

    def __rmul__(self, other: Any) -> Any:
        return computed(operator.mul, other, self)

    def __floordiv__(self, other: Any) -> Any:
        return computed(operator.floordiv, self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return computed(operator.floordiv, other, self)

    def __truediv__(self, other: Any) -> Any:
        return computed(operator.truediv, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return computed(operator.truediv, other, self)

    def __pow__(self, other: Any) -> Any:
        return computed(operator.pow, self, other)

    def __mod__(self, other: Any) -> Any:
        return computed(operator.mod, self, other)

    def __rmod__(self, other: Any) -> Any:
        return computed(operator.mod, other, self)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __floor__(self) -> Any:
        return rounded_size("math.floor", self)

    def __ceil__(self) -> Any:
        return rounded_size("math.ceil", self)

    def __trunc__(self) -> Any:
        return rounded_size("int", self)

    def __round__(self, digits: int | None = None) -> Any:
        return self._needs_value() if digits else rounded_size("round", self)


class OpenSize(OpenNumber):
    """A size as code sees it; like a size of JAX it has no number: ``range(n)`` is an error."""

    __slots__ = ()


class OpenReal(OpenNumber):
    """A real number made of sizes, such as ``n * 0.5``."""

    __slots__ = ()

    @property
    def __class__(self) -> type:  # what isinstance asks when the type is another one
        return float

    __float__ = OpenNumber._needs_value


_SIGNS = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.pow: "**",
}  # fmt: skip


def expression(x: Any) -> Any:
    """The `Size` of an `OpenSize`, also in a nest of lists, tuples and slices; others unchanged."""
    if isinstance(x, OpenNumber):
        return x.expression
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)([expression(item) for item in x])
    if isinstance(x, slice):
        return slice(expression(x.start), expression(x.stop), expression(x.step))
    return x


def as_code_sees(x: Any, scope: Scope, make: Callable[[], Any] | None = None) -> Any:
    """A number, or the `OpenNumber` of an expression."""
    if isinstance(x, Size):
        return getattr(scope, "size_type", OpenSize)(x, scope, make)
    return OpenReal(x, scope, make) if isinstance(x, Real) else x


def computed(function: Callable[..., Any], *operands: Any) -> Any:
    """The result of an operator on sizes and numbers; NotImplemented for other operands."""
    if not all(isinstance(x, OpenNumber) or type(x) in (int, float) for x in operands):
        return NotImplemented
    scope = next(x.scope for x in operands if isinstance(x, OpenNumber))
    make = scope.maker(function, operands)
    return as_code_sees(_arithmetic(function, *map(expression, operands)), scope, make)


def _arithmetic(function: Callable[..., Any], *operands: Any) -> Any:
    if all(isinstance(x, (int, Size)) for x in operands):
        result = function(*operands) if function in _EXACT else NotImplemented
        if result is not NotImplemented:
            return result
    if function is operator.neg:
        return real("-", 0.0, *operands)
    if function in _SIGNS:
        return real(_SIGNS[function], *operands)
    raise UndecidedSize(f"the code computes {function.__name__} of real numbers made of sizes")


_EXACT = (
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.pow,
    operator.neg,
)  # fmt: skip


def rounded_size(function: str, x: OpenNumber) -> Any:
    """A real number made of sizes as an integer."""
    make = x.scope.maker(function, (x,))
    return as_code_sees(rounded(function, x.expression), x.scope, make)


def _decided(sign: str, a: OpenNumber, b: Any) -> Any:
    if not isinstance(b, OpenNumber) and type(b) not in (int, float):
        return NotImplemented
    return a.scope.decide(a.expression, sign, expression(b))


class Abstract:
    """An array of which the shape and the dtype are known.

    Args:
        sizes: of the axes.
        dtype: of the elements.
        scope: of the open sizes.
        backend: of the framework whose array it represents.
    """

    __slots__ = ("__traced_backend__", "dtype", "scope", "sizes")

    def __init__(
        self, sizes: Iterable[IntOrSize], dtype: DType, scope: Scope, backend: str = "numpy"
    ) -> None:
        self.sizes, self.dtype, self.scope = tuple(sizes), dtype, scope
        self.__traced_backend__ = backend

    @property
    def shape(self) -> tuple[Any, ...]:
        """The sizes of the axes; those that are open are `OpenSize`."""
        return tuple([as_code_sees(n, self.scope) for n in self.sizes])

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.sizes)

    @property
    def device(self) -> str:
        """The device on which the context makes arrays."""
        return backends.core(self.__traced_backend__).find_device(None)

    @property
    def size(self) -> Any:
        """The number of elements."""
        return as_code_sees(math.prod(self.sizes), self.scope)

    def like(self, sizes: Iterable[IntOrSize], dtype: DType | None = None) -> Abstract:
        """An array of another shape."""
        return Abstract(sizes, dtype or self.dtype, self.scope, self.__traced_backend__)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        return ops.getitem(self, index)

    def __array_namespace__(self) -> Any:
        return ops

    def _needs_values(self, *_: Any, **__: Any) -> NoReturn:
        raise UndecidedSize("the code needs the values of an array")

    __bool__ = __int__ = __float__ = __index__ = __complex__ = __iter__ = _needs_values
    __array__ = __dlpack__ = __contains__ = _needs_values

    def __repr__(self) -> str:
        return f"Abstract({self.dtype.name}[{', '.join(map(str, self.sizes))}])"


ops.attach_operators(Abstract)
Abstract.__hash__ = object.__hash__  # type: ignore[method-assign]  # lost to the operator ==

"""Stand-ins for differentiated arrays, and nodes of the tape."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NoReturn

from nestarray import ops
from nestarray.backends.numpy import core
from nestarray.dispatch import OPS
from nestarray.errors import ArgumentError, ConversionError, ImmutableError

#: Numbers of derivatives and of nodes; a higher number is a more deeply nested derivative.
NUMBERS = count(1)


class StandIn:
    """A differentiated array, with the operators and metadata of a NumPy array.

    Piecewise constant ops (comparisons, `argmax`, `floor`, …) return plain arrays, so that
    ``if na.sum(x) > 0`` and loops run as without derivatives.
    """

    __slots__ = ("level", "value")

    level: int
    value: Any

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
        return self.value.shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.value.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.value.shape)

    @property
    def dtype(self) -> Any:
        """The dtype, NumPy's."""
        return self.value.dtype

    @property
    def itemsize(self) -> int:
        """Bytes per element."""
        return self.value.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def device(self) -> str:
        """Where NumPy's arrays are."""
        return "cpu"

    @property
    def T(self) -> Any:
        """The axes in reverse order."""
        return ops.permute_dims(self, tuple(range(self.ndim))[::-1])

    @property
    def mT(self) -> Any:
        """Each matrix of the last two axes transposed."""
        return ops.matrix_transpose(self)

    @property
    def real(self) -> Any:
        """The real parts."""
        return ops.real(self)

    @property
    def imag(self) -> Any:
        """The imaginary parts."""
        return ops.imag(self)

    def __getitem__(self, index: Any) -> Any:
        return ops.getitem(self, index)

    def __len__(self) -> int:
        if not self.ndim:
            raise ArgumentError("len: got an array of shape (), which has no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        len(self)
        return iter(ops.unstack(self))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value!r})"

    def __format__(self, spec: str) -> str:
        return format(self.value, spec)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise ImmutableError(
            "a derivative is being taken: the code writes into an array; "
            "use x = na.setitem(x, index, value)"
        )

    def __getattr__(self, name: str) -> NoReturn:
        hint = f"use na.{name}(x, ...)" if name in OPS else "use a function of na"
        raise AttributeError(
            f"an array whose derivative is being taken has no attribute {name!r}; {hint}"
        )

    def _loses_derivative(self, *_: Any, **__: Any) -> NoReturn:
        raise ConversionError(
            f"a derivative is being taken: the code makes a plain number or array of {self!r}, "
            "which would lose the derivative. Use functions of na or NumPy; what is meant to be "
            "a constant pass through na.stop_gradient"
        )

    __float__ = __complex__ = item = tolist = _loses_derivative
    __array__ = __dlpack__ = __buffer__ = _loses_derivative

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return ops

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """This array in another dtype."""
        return ops.astype(self, dtype, copy=copy)

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        """This array in another shape."""
        sizes = shape[0] if len(shape) == 1 else shape
        return ops.reshape(self, (sizes,) if isinstance(sizes, int) else sizes, order=order)

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order; in reverse order if none is given."""
        if not axes or axes == (None,):
            return self.T
        order = axes[0] if len(axes) == 1 else axes
        return ops.permute_dims(self, order)


class Taped(StandIn):
    """Reverse mode: the result number `place` of `node`."""

    __slots__ = ("node", "place")

    def __init__(self, value: Any, level: int, node: Node, place: int = 0) -> None:
        self.value, self.level, self.node, self.place = value, level, node, place


class Dual(StandIn):
    """Forward mode: `tangent` is the directional derivative of the value."""

    __slots__ = ("tangent",)

    def __init__(self, value: Any, level: int, tangent: Any) -> None:
        self.value, self.level, self.tangent = value, level, tangent


class Node:
    """One call of an op on the tape.

    Args:
        parents: (node, result number) of each differentiated argument.
        pull: maps the cotangent of the result, or a list of cotangents of several results, to the
            cotangents of the parents.
        results: the results, if there are several.
    """

    __slots__ = ("number", "parents", "pull", "results")

    def __init__(
        self,
        parents: list[tuple[Node, int]],
        pull: Callable[[Any], list[Any]] | None = None,
        results: Any = None,
    ) -> None:
        self.parents, self.pull, self.results = parents, pull, results
        self.number = next(NUMBERS)


def is_inexact(x: Any) -> bool:
    """Whether a result is an array of a differentiable dtype."""
    return hasattr(x, "dtype") and x.dtype.kind in "fcV"  # NumPy calls bfloat16 V


def stripped(x: Any, level: int) -> Any:
    """The value of `x` if it is a stand-in of `level`, else `x`."""
    return x.value if isinstance(x, StandIn) and x.level == level else x


ops.attach_operators(StandIn)
StandIn.__hash__ = object.__hash__  # type: ignore[method-assign]  # lost to the operator ==

core.STAND_INS.append(StandIn)

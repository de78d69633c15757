"""The numbers of a step, in the dtypes of the leaves that they multiply."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from nestarray import dtypes, ops, tree
from nestarray.container import Container, FusedContainer
from nestarray.errors import StructureError
from nestarray.random.arguments import is_number
from nestarray.typing import Array

#: A number, or a function of the number of steps done (an int32 array of shape `()`).
Rate: TypeAlias = float | Callable[[Array], Any]

#: A rate for all leaves, or rates by path pattern.
LearningRate: TypeAlias = Rate | Mapping[Any, Rate]


class Scale:
    """The numbers of one step, in the dtypes of the leaves that they multiply.

    Args:
        learning_rate: of the optimizer.
        done: the number of steps done, int32 `()`.
        v: the floating variables.

    Attributes:
        count: the number of steps with this one, int32 `()`.
    """

    def __init__(self, learning_rate: LearningRate, done: Array, v: Container) -> None:
        self.count = done + 1
        self._v = v
        self._rate = _rate_of(learning_rate, done, v)

    @property
    def wide(self) -> dtypes.DType:
        """The dtype of `t` and other numbers: float64 if a leaf is float64, else float32."""
        return wide_dtype(self._v)

    @property
    def t(self) -> Array:
        """`count` in the dtype `wide`."""
        return ops.astype(self.count, self.wide)

    @property
    def number(self) -> Any:
        """The learning rate of all leaves, a number or an array `()` of dtype `wide`."""
        rate = self._rate
        return rate if isinstance(rate, (int, float)) else ops.astype(rate, self.wide)

    def rate(self, c: Container) -> Any:
        """The learning rate, to multiply `c` with."""
        rate = self._rate
        if isinstance(rate, (int, float)):
            return rate
        return for_leaves(rate, c) if isinstance(rate, Container) else self.spread(rate, c)

    def spread(self, number: Array, c: Container) -> Any:
        """A number `()` in the dtype of the leaves of `c`; a Container of these if they differ."""
        numbers = {dtype: ops.astype(number, dtype) for dtype in dtypes_of(c)}
        if len(numbers) == 1:
            return next(iter(numbers.values()))
        return tree.map(lambda leaf: numbers[dtypes.dtype_of(leaf)], c)

    def bias(self, decay: float, ahead: int = 0) -> Array:
        """1 − decayᵗ, in the dtype `wide`; for the step t + `ahead`.

        Computed as −expm1(t ln decay): the difference would lose four float32 digits in the first
        steps, and differently on each backend.
        """
        rate = math.log(decay) if decay else -math.inf
        return ops.negative(ops.expm1(ops.multiply(self.t + ahead, rate)))

    def correction(self, decay: float, c: Container, ahead: int = 0) -> Any:
        """`bias`, to divide the running mean `c` by."""
        return self.spread(self.bias(decay, ahead), c)


def wide_dtype(v: Container) -> dtypes.DType:
    """float64 if a leaf is float64, else float32."""
    return dtypes.float64 if dtypes.float64 in dtypes_of(v) else dtypes.float32


def number_like(value: float, v: Container) -> Array:
    """A number as an array `()` of the wide dtype, on the backend of `v`."""
    return ops.full((), value, dtype=wide_dtype(v), like=tree.flatten(v)[0][0])


def dtypes_of(c: Container) -> set[dtypes.DType]:
    """The dtypes of the leaves, which are arrays."""
    return set(map(dtypes.as_dtype, {leaf.dtype for leaf in tree.flatten(c)[0]}))


def _rate_of(learning_rate: LearningRate, done: Array, v: Container) -> Any:
    """A number, an array `()`, or a Container of these for the leaves of `v`."""
    if not isinstance(learning_rate, Mapping):
        return _number(learning_rate, done)
    rates: list[Any] = [None] * len(v.leaves())
    for pattern, rate in learning_rate.items():
        number = _number(rate, done)
        hits = v.mask(pattern).leaves()
        rates = [number if r is None and hit else r for r, hit in zip(rates, hits, strict=True)]
    for path, rate in zip(v.paths(), rates, strict=True):
        if rate is None:
            raise StructureError(
                f"optimizer.step: learning_rate: no pattern matches {path!r}, expected a rate for each "
                f"leaf; the patterns are {', '.join(map(repr, learning_rate))}; '**' matches the rest"
            )
    return tree.unflatten(tree.flatten(v, unfused=True)[1], rates)


def _number(rate: Rate, done: Array) -> Any:
    """A float, or an array `()`; a scalar of NumPy would promote the leaves."""
    number = rate(done) if callable(rate) else rate
    return float(number) if is_number(number) else number


def for_leaves(numbers: Container, c: Container) -> Container:
    """Numbers for the leaves of `c`, in their dtypes; as full buffers if `c` is fused."""
    if isinstance(c, FusedContainer):
        return numbers.map(_full_like, c).fuse()
    return numbers.map(_in_dtype_of, c)


def _full_like(number: Any, leaf: Any) -> Any:
    return ops.add(ops.zeros_like(leaf), _in_dtype_of(number, leaf))


def _in_dtype_of(number: Any, leaf: Any) -> Any:
    return number if is_number(number) else ops.astype(number, dtypes.dtype_of(leaf))

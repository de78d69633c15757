"""`View`: reshapes, transposes, accesses, flips and broadcasts of an array as one value.

An axis of the result is a product of factors. A factor walks along one axis of the array in steps,
or repeats it. Neighbours that walk as one factor are one, and axes of one element have none, so
views are equal if and only if they select the same elements. Sizes may be open.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nestarray.graph.node import Argument, Call, Node, Operand
from nestarray.graph.passes.rewriting import arguments_of, has, is_op
from nestarray.sizes import IntOrSize
from nestarray.traits import Trait

Order = tuple[int, ...]
Shape = tuple[IntOrSize, ...]


class Factor(NamedTuple):
    """A part of an axis of a view.

    Attributes:
        axis: of the array; -1 for one that repeats.
        size: the number of elements, not 1.
        step: between two elements along the axis of the array; 0 for one that repeats.
    """

    axis: int
    size: IntOrSize
    step: IntOrSize = 1

    @property
    def is_reversed(self) -> bool:
        """Whether it walks backwards."""
        return (self.step if isinstance(self.step, int) else min(self.step.terms.values())) < 0

    @property
    def stride(self) -> IntOrSize:
        """The step, without its sign."""
        return -self.step if self.is_reversed else self.step


Factors = tuple[Factor, ...]


#: The item of an access that selects a whole axis.
WHOLE = slice(None)


@dataclass(frozen=True)
class View:
    """A selection of elements of an array, in another shape.

    Attributes:
        base: the shape of the array.
        start: the position of the first element along each of its axes, perhaps a Node.
        axes: the factors of each axis of the result.

    Example:
        >>> from nestarray.graph.passes.views import View
        >>> view = View.whole((2, 6)).reshaped((2, 2, 3)).permuted((0, 2, 1))
        >>> view.axes[1]
        (Factor(axis=1, size=3, step=1),)
        >>> view.permuted((0, 2, 1)).reshaped((2, 6)) == View.whole((2, 6))
        True
    """

    base: Shape
    start: tuple[Operand, ...]
    axes: tuple[Factors, ...]

    @classmethod
    def whole(cls, shape: Shape) -> View:
        """An array itself."""
        axes = [() if n == 1 else (Factor(i, n),) for i, n in enumerate(shape)]
        return cls(shape, (0,) * len(shape), tuple(axes))

    @classmethod
    def of(cls, call: Call) -> View | None:
        """The view of its first argument that a call computes; None for other calls."""
        x = call.args[0] if call.args else None
        return cls.whole(x.aval.shape).then(call) if isinstance(x, Node) and x.aval else None

    @property
    def shape(self) -> Shape:
        """The shape of the result."""
        return tuple(map(size_of, self.axes))

    @property
    def is_bijective(self) -> bool:
        """Whether each element of the array is one of the result."""
        return all(map(self.has_whole, range(len(self.base)))) and not self.along(-1)

    @property
    def is_transpose(self) -> bool:
        """Whether the result has the axes of the array, in any order."""
        return sorted(map(str, self.axes)) == sorted(map(str, View.whole(self.base).axes))

    def has_whole(self, axis: int) -> bool:
        """Whether each position along an axis of the array is one of the result."""
        return size_of(self.along(axis)) == self.base[axis]

    def along(self, axis: int) -> Factors:
        """The factors along an axis of the array, by decreasing strides."""
        factors = [x for each in self.axes for x in each if x.axis == axis]
        return tuple(sorted(factors, key=_by_stride))

    def transpose_of_reshape(self) -> Order | None:
        """The order by which the view transposes a reshaped array; None if it does not."""
        along = [x for axis in range(len(self.base)) for x in self.along(axis)]
        places = [along.index(axis[0]) if axis else -1 for axis in self.axes]
        ranks = sorted(range(len(places)), key=places.__getitem__)
        is_transpose = self.is_bijective and [x for i in ranks for x in self.axes[i]] == along
        return tuple(map(ranks.index, range(len(ranks)))) if is_transpose else None

    # -- composition -----------------------------------------------------------------------

    def then(self, call: Call) -> View | None:
        """The view after a call on the result; None if the two have no common factors."""
        if call.aval is None:
            return None
        shape, order = call.aval.shape, order_of(call)
        if order is not None:
            return self.permuted(order)
        if has(call, Trait.RESHAPE):
            return self.reshaped(shape)
        if has(call, Trait.VIEW):
            return self.broadcast(shape)
        if is_op(call, "flip"):
            axis = arguments_of(call)["axis"]
            axes = range(len(shape)) if axis is None else np.atleast_1d(axis) % len(shape)
            items = [slice(None, None, -1) if i in axes else WHOLE for i in range(len(shape))]
            return self.accessed(items, shape)
        if not is_op(call, "getitem"):
            return None
        items = call.args[1]
        return self.accessed(items if isinstance(items, tuple) else (items,), shape)

    def permuted(self, order: Sequence[int]) -> View:
        """The view with its axes in another order."""
        return replace(self, axes=tuple([self.axes[i] for i in order]))

    def reshaped(self, shape: Sequence[IntOrSize]) -> View | None:
        """The view in another shape; None if the sizes have no common factors."""
        factors = [x for axis in self.axes for x in axis]
        axes: list[Factors] = []
        for size in shape:
            axis: list[Factor] = []
            while size != 1:
                if not factors or (0 in (size, factors[0].size) and size != factors[0].size):
                    return None
                x = factors.pop(0)
                if size == x.size or size % x.size == 0:
                    size = 1 if size == x.size else size // x.size
                elif x.size % size == 0:
                    inner = x._replace(size=x.size // size)
                    factors.insert(0, inner)
                    x, size = Factor(x.axis, size, x.step * inner.size), 1
                else:
                    return None
                outer = axis[-1] if axis else None
                if outer and outer.axis == x.axis and outer.step == x.size * x.step:
                    axis[-1] = x._replace(size=outer.size * x.size)
                else:
                    axis.append(x)
            axes.append(tuple(axis))
        return None if factors else replace(self, axes=tuple(axes))

    def broadcast(self, shape: Shape) -> View | None:
        """The view repeated along new axes and axes of one element; None for another shape."""
        axes: list[Factors] = [()] * (len(shape) - len(self.axes)) + [*self.axes]
        if len(axes) != len(shape):
            return None
        pairs = [*zip(axes, shape, strict=True)]
        if any(axis and size_of(axis) != n for axis, n in pairs):
            return None
        axes = [axis if axis or n == 1 else (Factor(-1, n, 0),) for axis, n in pairs]
        return replace(self, axes=tuple(axes))

    def accessed(self, items: Sequence[Argument], shape: Shape) -> View | None:
        """The view at positions and slices; None at others, and for parts of merged axes.

        Args:
            items: one for each of the first axes, perhaps with an Ellipsis and new axes.
            shape: of the result.
        """
        missing = len(self.axes) - sum(item is not None and item is not Ellipsis for item in items)
        for i in [i for i, item in enumerate(items) if item is Ellipsis]:
            items, missing = [*items[:i], *[WHOLE] * missing, *items[i + 1 :]], 0
        start, axes = [*self.start, 0], []  # the last one of factors that repeat
        of_array = iter(self.axes)
        for item in (*items, *[WHOLE] * missing):
            if item is None:
                axes.append(())
                continue
            factors = next(of_array)
            part = _accessed(factors, item, shape[len(axes)] if isinstance(item, slice) else 1)
            if part is None:
                return None
            first, left = part
            for i, x in reversed([*enumerate(factors)]):
                if isinstance(first, Node):
                    if (start[x.axis], x.step, i) != (0, 1, 0):
                        return None
                    start[x.axis] = first
                    break
                place, first = (first % x.size, first // x.size) if i else (first, 0)
                start[x.axis] += place * x.step
            if isinstance(item, slice):
                axes.append(left)
        return View(self.base, tuple(start[:-1]), tuple(axes))


@functools.cmp_to_key
def _by_stride(a: Factor, b: Factor) -> int:
    """Larger strides first; of open ones, the multiples."""
    x, y = a.stride, b.stride
    is_larger = x > y if isinstance(x, int) and isinstance(y, int) else x != y and x % y == 0
    return -1 if is_larger else 1


def size_of(factors: Iterable[Factor]) -> IntOrSize:
    """The size of an axis of these factors."""
    return math.prod([x.size for x in factors])


def _accessed(factors: Factors, item: Argument, size: IntOrSize) -> tuple[Operand, Factors] | None:
    """The first position of an item along an axis, and the factors left; None if it is not known."""
    total = size_of(factors)
    if type(item) is int:
        return item if item >= 0 else item + total, ()
    if not isinstance(item, slice) or size == 0:
        return None
    start, step = item.start, 1 if item.step is None else item.step
    if isinstance(start, Node) and size == 1 != total:
        return start, ()
    if size == total and step in (1, -1):
        turned = tuple([x._replace(step=x.step * step) for x in factors])
        return (0, factors) if step == 1 else (total - 1, turned)
    if len(factors) != 1 or not isinstance(start, int | None) or not isinstance(step, int):
        return None
    if isinstance(total, int):
        first: IntOrSize = slice(start, None, step).indices(total)[0]
    elif start is None or (start >= 0 and step > 0):
        first = start or (0 if step > 0 else total - 1)
    elif size == -start and step == 1:  # of fewer elements, the slice would be shorter
        first = total + start
    else:
        return None
    return first, (Factor(factors[0].axis, size, factors[0].step * step),) if size != 1 else ()


def order_of(node: object) -> Order | None:
    """The order of axes by which a call transposes its argument; None if it does not."""
    if not has(node, Trait.VIEW) or has(node, Trait.RESHAPE) or node.aval is None:
        return None
    if "shape" in node.target.op.signature.parameters:
        return None
    sizes = range(len(node.aval.shape))  # the op itself says where each of them goes
    return node.target(np.empty(sizes), *node.args[1:], **node.kwargs).shape

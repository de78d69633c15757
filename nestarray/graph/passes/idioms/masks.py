"""Masks of attention: constants, arrays, and comparisons of positions.

Before::

    def graph(q, k, u):  # float32[2, 5, 4], float32[2, 5, 4], float32[2, 5, 3]
        scores = na.einsum('btd,bsd->bts', q, k)
        scaled = na.multiply(scores, 0.5)
        steps = na.arange(5)
        rows = na.expand_dims(steps, -1)
        mask = na.greater_equal(rows, steps)
        masked = na.where(mask, scaled, -1e10)
        weights = na.softmax(masked, axis=-1)
        y = na.matmul(weights, u)
        return y

After::

    def graph(q, k, u):  # float32[2, 5, 4], float32[2, 5, 4], float32[2, 5, 3]
        y = na.scaled_dot_product_attention(q, k, u, is_causal=True)
        return y
"""

from __future__ import annotations

import math
from collections.abc import Hashable

import numpy as np

import nestarray.ops as ops
from nestarray import dtypes
from nestarray.graph.node import Argument, Call, Node, Operand, is_input
from nestarray.graph.passes.idioms.idiom import Match, number_of, range_axis_of
from nestarray.graph.passes.idioms.terms import (
    ONE,
    Atom,
    Axes,
    NoTerm,
    Scaled,
    Term,
    Terms,
    leaf,
    total,
)
from nestarray.graph.passes.views import Shape, order_of

#: Masked scores at most this leave no weight, and hide the score that is added to them.
_LARGEST_FILL = -1e9


class Mask:
    """A mask or a bias.

    Args:
        match: the idiom.
        name: the parameter.
        atoms: the labels of the axes on which it depends.
        value: of a constant, with an axis for each label.
    """

    def __init__(
        self, match: Match, name: str, atoms: tuple[Atom, ...], value: np.ndarray | None
    ) -> None:
        self.match, self.name, self.atoms, self.value = match, name, atoms, value

    @classmethod
    def of(cls, match: Match, name: str) -> Mask:
        """The mask of an idiom; a constant may be equal along some of its axes."""
        atoms, value = match.atoms(name), _value(match, match.node(name))
        sizes = [n for atom in atoms if isinstance(n := match.sizes[atom], int)]
        if value is None or len(sizes) < len(atoms):
            return cls(match, name, atoms, None)
        value = value.reshape(sizes)
        for axis in reversed(range(value.ndim)):
            first = value.take([0], axis)
            if (value == first).all():
                value, atoms = first.squeeze(axis), atoms[:axis] + atoms[axis + 1 :]
        return cls(match, name, atoms, value)

    def arranged(self, axes: Axes) -> Node | None:
        """The mask with axes of these labels, or of size 1, but no batch axis of size 1 first."""
        labels = {*self.atoms}
        target = tuple([group if labels & {*group} else () for group in axes])
        if any(not labels.issuperset(group) for group in target):
            return None
        while len(target) > 2 and not target[0]:
            target = target[1:]
        if self.value is None:
            return self.match.arranged(self.name, target)
        flat = [atom for group in target for atom in group]
        value = self.value.transpose([self.atoms.index(atom) for atom in flat])
        value = value.reshape([n for n in map(self.match.size, target) if isinstance(n, int)])
        array = ops.to_backend(np.ascontiguousarray(value), self.match.writer.graph.backend)
        path = f"{self.match.root.name}_{self.name}"
        return self.match.writer.variable("constants", path, array)


def masking(
    match: Match, query: Node, given: dict[str, Node]
) -> tuple[Node, Node | None, dict[str, Operand]] | None:
    """The query, the mask, and the settings; None if the op has no such mask."""
    mask = given.get("mask")
    bias = match.cast(given["bias"]) if "bias" in given else None
    if mask is None:
        return query, bias, {}
    assert mask.aval is not None
    assert query.aval is not None
    value, fill = _value(match, mask), match.numbers["fill"]
    lowest = float(dtypes.finfo(query.aval.dtype).min)
    is_hidden = fill <= max(_LARGEST_FILL, lowest / 2)
    is_dropped = match.idiom.name_of_mask == "dropped"
    if not is_hidden:
        return None
    if bias is None and _is_causal(match):
        return query, None, {"is_causal": True}
    if value is not None and not is_dropped and bias is None and value.any(axis=-1).all():
        is_square = value.ndim == 2 and value.shape[0] == value.shape[1] > 1
        if is_square and (value == np.tri(len(value), dtype=bool)).all():
            return query, None, {"is_causal": True}
        return query, mask, {}
    if fill == -math.inf:
        return None
    fill = max(fill, lowest)
    shape = mask.aval.shape
    if is_dropped:
        mask = match.call("logical_not", mask, shape=shape, dtype=dtypes.bool)
    is_seen = match.call(
        "any", mask, axis=-1, keepdims=True, shape=(*shape[:-1], 1), dtype=dtypes.bool
    )
    if bias is None or bias.aval is None:
        added = match.call("where", mask, 0.0, fill, shape=shape)
    else:
        wide = _broadcast(shape, bias.aval.shape)
        added = match.call("where", mask, bias, fill, shape=wide)
    # scores of a row without any position have no derivative
    query = match.call("where", is_seen, query, 0.0, shape=query.aval.shape)
    return query, added, {}


def _broadcast(*shapes: Shape) -> Shape:
    """The shape of a call of arrays that are broadcast; sizes may be open."""
    rank = max(map(len, shapes))
    columns = zip(*[(1,) * (rank - len(shape)) + shape for shape in shapes], strict=True)
    return tuple([next((n for n in column if n != 1), 1) for column in columns])


def _value(match: Match, node: Node) -> np.ndarray | None:
    if not is_input(node, "constants"):
        return None
    return np.asarray(ops.to_backend(match.writer.value_of(node), "numpy"))


def _is_causal(match: Match) -> bool:
    """Whether a mask that is computed from positions keeps the keys up to the query's place."""
    node, constants = match.nodes["mask"], match.writer.graph.constants
    rows, columns = match.places("mask", "t"), match.places("mask", "s")
    if len(rows) != 1 or len(columns) != 1 or node.aval is None:
        return False
    terms = _Positions(
        (), lambda node: False, lambda node: number_of(node, constants, of_integers=True),
        order_of, lambda node: range_axis_of(node, constants),
    )  # fmt: skip
    try:
        (_, term), axes = terms.of(node)
    except NoTerm:
        return False
    row, column = axes[rows[0]], axes[columns[0]]
    is_square = node.aval.shape[rows[0]] == node.aval.shape[columns[0]]
    steps = {row: 1.0, column: -1.0}
    if match.idiom.name_of_mask == "dropped":
        steps = {row: -1.0, column: 1.0, (): -1.0}
    return is_square and term.op == "not_negative" and terms.steps(term.args[0]) == steps


class _Positions(Terms):
    """Terms of masks, in which comparisons of positions are differences that are not negative."""

    def steps(self, difference: Scaled) -> dict[Hashable, float]:
        """Labels of an axis → the factor of the positions along it; no labels for a constant."""
        scale, term = difference
        parts = term.args if term.op == "sum" else ((1.0, term),)
        return {() if x is ONE else self.counted(x): scale * c for c, x in parts}

    def _greater_equal(self, x: Call, axes: Axes) -> Scaled:
        return self._compared(x.args, axes, 0)

    def _less_equal(self, x: Call, axes: Axes) -> Scaled:
        return self._compared(x.args[::-1], axes, 0)

    def _greater(self, x: Call, axes: Axes) -> Scaled:
        return self._compared(x.args, axes, 1)

    def _less(self, x: Call, axes: Axes) -> Scaled:
        return self._compared(x.args[::-1], axes, 1)

    def _compared(self, pair: tuple[Argument, ...], axes: Axes, least: int) -> Scaled:
        """Whether the first of two integers is larger by at least a number."""
        larger, (c, term) = [self._scaled(x, axes) for x in pair]
        parts = [larger, (-c, term), (-float(least), ONE)]
        return 1.0, Term("not_negative", (total(parts),))

    def _logical_and(self, x: Call, axes: Axes) -> Scaled:
        return self._connected(x, axes, 1.0)

    def _logical_or(self, x: Call, axes: Axes) -> Scaled:
        return self._connected(x, axes, 0.0)

    def _connected(self, x: Call, axes: Axes, neutral: float) -> Scaled:
        operands = [self._scaled(arg, axes) for arg in x.args]
        if (1.0 - neutral, ONE) in operands:
            return 1.0 - neutral, ONE
        first, *others = [arg for arg in operands if arg != (neutral, ONE)] or [(neutral, ONE)]
        return (1.0, Term("connected", (first, *others), x.name)) if others else first

    def _where(self, x: Call, axes: Axes) -> Scaled:
        condition, *values = [self._scaled(arg, axes) for arg in x.args]
        return condition if values == [(1.0, ONE), (0.0, ONE)] else super()._where(x, axes)

    def _zeros_like(self, x: Call, axes: Axes) -> Scaled:
        return 0.0, ONE

    def _astype(self, x: Call, axes: Axes) -> Scaled:
        """Masks are equal in other dtypes, and positions in wide ones."""
        c, term = self._scaled(x.args[0], axes)
        is_mask = term.op in ("not_negative", "connected", "one")
        is_wide = x.aval is not None and x.aval.dtype.bits >= 32
        return (c, term) if is_mask or is_wide else leaf(x, axes)

"""Cross entropy of probabilities and of class indices.

Before::

    def graph(x, target):  # float32[4, 3], float32[4, 3]
        log = na.log_softmax(x, axis=-1)
        product = na.multiply(log, target)
        total = na.sum(product, axis=-1)
        y = na.negative(total)
        return y

After::

    def graph(x, target):  # float32[4, 3], float32[4, 3]
        y = na.cross_entropy(x, target, reduction='none')
        return y
"""

from __future__ import annotations

import math
from collections.abc import Callable

import nestarray.ops as ops
from nestarray.graph.node import Call, Node, Operand
from nestarray.graph.passes.idioms.attention import unviewed
from nestarray.graph.passes.idioms.idiom import Idiom, Match
from nestarray.graph.passes.rewriting import arguments_of, is_op
from nestarray.typing import Array


def _cross_entropy(x: Array, target: Array) -> Array:
    return ops.negative(ops.sum(target * ops.log_softmax(x, axis=1), axis=1))


def _log_likelihood(x: Array, target: Array) -> Array:
    return ops.sum(target * ops.log_softmax(x, axis=1), axis=1)


def _of_probabilities(sign: int) -> Callable[[Match], Node | None]:
    """The replacement by ``sign`` times `cross_entropy` without reduction."""

    def replacement(match: Match) -> Node | None:
        target = match.arranged("target", match.axes["x"])
        if target is None or target.aval != match.node("x").aval:
            return None
        return _loss(match, target, None if sign == 1 else lambda y: _negative(match, y))

    return replacement


def _loss(match: Match, target: Node, finish: Callable[[Node], Call] | None = None) -> Node | None:
    x, places = match.node("x"), match.places("x", "c")
    if len(places) != 1 or x.aval is None or not x.aval.dtype.is_floating:
        return None
    (axis,) = places
    kept = [i for i in range(len(x.aval.shape)) if i != axis]
    settings: dict[str, Operand] = {} if axis == len(kept) else {"axis": axis}
    shape = [x.aval.shape[i] for i in kept]
    y = match.call("cross_entropy", x, target, shape=shape, **settings, reduction="none")
    y = y if finish is None else finish(y)
    return match.finish(y, tuple([match.axes["x"][i] for i in kept]), "cross_entropy")


def _log_probability(x: Array, indices: Array) -> Array:
    """log softmax(x) at an index of each row."""
    return _picked(ops.log_softmax(x, axis=1), indices)


def _picked(x: Array, indices: Array) -> Array:
    return ops.squeeze(ops.take_along_axis(x, ops.expand_dims(indices, 1), axis=1), 1)


def _class_loss(x: Array, indices: Array) -> Array:
    return ops.negative(_log_probability(x, indices))


def _filled_class_loss(x: Array, indices: Array, mask: Array, fill: Array) -> Array:
    """With a number where an index is out of range."""
    return ops.negative(ops.where(mask, _log_probability(x, indices), fill))


def _difference(x: Array, indices: Array) -> Array:
    return ops.logsumexp(x, axis=1) - _picked(x, indices)


def _filled_difference(x: Array, indices: Array, mask: Array, fill: Array) -> Array:
    """Not a number where an index is out of range; only there do the derivatives differ."""
    return ops.logsumexp(x, axis=1) - ops.where(mask, _picked(x, indices), fill)


def _of_classes(sign: int) -> Callable[[Match], Node | None]:
    """The replacement by ``sign`` times `cross_entropy` of class indices."""

    def replacement(match: Match) -> Node | None:
        places = match.places("x", "c")
        kept = tuple([group for i, group in enumerate(match.axes["x"]) if i not in places])
        indices = match.arranged("indices", kept)
        if indices is None or not _is_in_range(match.node("indices")):
            return None
        if "mask" not in match.nodes:
            return _loss(match, indices, None if sign == 1 else lambda y: _negative(match, y))
        mask, fill = match.arranged("mask", kept), match.numbers["fill"]
        is_difference = match.idiom.pattern is _filled_difference
        if mask is None or (is_difference and not math.isnan(fill)):
            return None

        def filled(y: Node) -> Call:
            assert y.aval is not None
            return match.call("where", mask, y, -fill, shape=y.aval.shape)

        return _loss(match, indices, filled)

    return replacement


def _negative(match: Match, y: Node) -> Call:
    assert y.aval is not None
    return match.call("negative", y, shape=y.aval.shape)


def _is_in_range(indices: Node) -> bool:
    """Whether indices are of a class, and do not count from the end: both mean other things in a loss.

    Indexing in JAX clips them, or replaces those out of range by zero.
    """
    x = unviewed(indices)
    if is_op(x, "clip"):
        lowest = arguments_of(x)["min"]
        return isinstance(lowest, (int, float)) and lowest >= 0
    if is_op(x, "where"):
        condition, index, other = x.args
        is_zero = is_op(other, "zeros_like") if isinstance(other, Node) else other == 0
        tests = condition.args if is_op(condition, "logical_and") else ()
        return is_zero and any(is_op(t, "greater_equal") and t.args == (index, 0) for t in tests)
    return False


_ROWS = {"x": "n c", "indices": "n"}
_FILLED = {**_ROWS, "mask": "n", "fill": ""}
_NEGATIVE, _SUBTRACT = frozenset(["negative"]), frozenset(["subtract"])
_READS = frozenset(["take_along_axis", "getitem"])
_LOG_SOFTMAX, _LOGSUMEXP = frozenset(["log_softmax"]), frozenset(["logsumexp"])

RULES = (
    *[
        Idiom(
            "cross_entropy", pattern, {"x": "n c", "target": "n c"}, frozenset([root]),
            _LOG_SOFTMAX, _of_probabilities(sign), is_read_once=True,
        )
        for pattern, root, sign in ((_cross_entropy, "negative", 1), (_log_likelihood, "sum", -1))
    ],
    *[
        Idiom("cross_entropy", pattern, axes, roots, needs, _of_classes(sign), is_read_once=True)
        for pattern, axes, roots, needs, sign in (
            (_filled_class_loss, _FILLED, _NEGATIVE, _LOG_SOFTMAX, 1),
            (_class_loss, _ROWS, _NEGATIVE, _LOG_SOFTMAX, 1),
            (_filled_difference, _FILLED, _SUBTRACT, _LOGSUMEXP, 1),
            (_difference, _ROWS, _SUBTRACT, _LOGSUMEXP, 1),
            (_log_probability, _ROWS, _READS, _LOG_SOFTMAX, -1),
        )
    ],
)  # fmt: skip

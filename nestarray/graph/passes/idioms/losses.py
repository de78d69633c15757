"""Cross entropy, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import Any

import nestarray.ops as ops
from nestarray.graph.node import Node
from nestarray.graph.passes.idioms.idiom import Idiom, Match


def _logsumexp(x: Any) -> Any:
    """With the largest element taken out, unless it is infinite."""
    largest = ops.max(x, axis=1, keepdims=True)
    largest = ops.stop_gradient(ops.where(ops.isfinite(largest), largest, 0.0))
    return ops.log(ops.abs(ops.sum(ops.exp(x - largest), axis=1, keepdims=True))) + largest


def _summed(match: Match) -> Node | None:
    x, places = match.node("x"), match.places("x", "c")
    if not places or x.aval is None:
        return None
    kept = [i for i in range(len(x.aval.shape)) if i not in places]
    axis = places[0] if len(places) == 1 else places
    shape = [x.aval.shape[i] for i in kept]
    y = match.call("logsumexp", x, shape=shape, axis=axis)
    return match.finish(y, tuple([match.axes["x"][i] for i in kept]))


def _cross_entropy(x: Any, target: Any) -> Any:
    return ops.negative(ops.sum(target * ops.log_softmax(x, axis=1), axis=1))


def _loss(match: Match) -> Node | None:
    """A call of `cross_entropy` without reduction."""
    x, places = match.node("x"), match.places("x", "c")
    target = match.arranged("target", match.axes["x"])
    if len(places) != 1 or x.aval is None or target is None or target.aval is None:
        return None
    if target.aval != x.aval or not x.aval.dtype.is_floating:
        return None
    (axis,) = places
    kept = [i for i in range(len(x.aval.shape)) if i != axis]
    settings = {} if axis == len(kept) else {"axis": axis}
    shape = [x.aval.shape[i] for i in kept]
    y = match.call("cross_entropy", x, target, shape=shape, **settings, reduction="none")
    return match.finish(y, tuple([match.axes["x"][i] for i in kept]))


RULES = (
    Idiom(
        "logsumexp", _logsumexp, {"x": "n c"}, frozenset(["add"]), frozenset(["isfinite"]), _summed
    ),
    Idiom(
        "cross_entropy", _cross_entropy, {"x": "n c", "target": "n c"}, frozenset(["negative"]),
        frozenset(["log_softmax"]), _loss, is_read_once=True,
    ),
)  # fmt: skip

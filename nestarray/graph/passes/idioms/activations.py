"""Softmax, its logarithm, logsumexp, gelu, silu, hard_sigmoid and hard_swish.

Before::

    def graph(x):  # float32[4, 3]
        scaled = na.multiply(x, 0.7071067811865476)
        erf = na.erf(scaled)
        one = na.add(erf, 1.0)
        product = na.multiply(x, one)
        y = na.multiply(product, 0.5)
        return y

After::

    def graph(x):  # float32[4, 3]
        y = na.gelu(x)
        return y
"""

from __future__ import annotations

import math
from collections.abc import Callable

import nestarray.ops as ops
from nestarray.graph.node import Node, Operand
from nestarray.graph.passes.idioms.idiom import Idiom, Match
from nestarray.typing import Array


def _constant_shift(x: Array) -> Array:
    return x - ops.stop_gradient(ops.max(x, axis=1, keepdims=True))


def _shift(x: Array) -> Array:
    """The derivatives of the maximum cancel."""
    return x - ops.max(x, axis=1, keepdims=True)


def _no_shift(x: Array) -> Array:
    """Which overflows where softmax does not."""
    return x


def _softmax(shifted: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def pattern(x: Array) -> Array:
        powers = ops.exp(shifted(x))
        return powers / ops.sum(powers, axis=1, keepdims=True)

    return pattern


def _log_softmax(shifted: Callable[[Array], Array]) -> Callable[[Array], Array]:
    def pattern(x: Array) -> Array:
        return shifted(x) - ops.log(ops.sum(ops.exp(shifted(x)), axis=1, keepdims=True))

    return pattern


def _along(op: str) -> Callable[[Match], Node | None]:
    """The replacement by an op along the axis that is reduced."""

    def replacement(match: Match) -> Node | None:
        x, places = match.node("x"), match.places("x", "c")
        if len(places) != 1:
            return None
        assert x.aval is not None
        axis = places[0]
        axis = -1 if axis == len(x.aval.shape) - 1 else axis
        return match.finish(match.call(op, x, shape=x.aval.shape, axis=axis), match.axes["x"])

    return replacement


def _logsumexp(x: Array) -> Array:
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


def _gelu_tanh(x: Array) -> Array:
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + ops.tanh(inner))


def _gelu_erf(x: Array) -> Array:
    return 0.5 * x * (1.0 + ops.erf(x * math.sqrt(0.5)))


def _gelu_erfc(x: Array) -> Array:
    return 0.5 * x * ops.erfc(x * -math.sqrt(0.5))


def _silu(x: Array) -> Array:
    return x * ops.sigmoid(x)


def _hard_sigmoid(x: Array) -> Array:
    return ops.relu6(x + 3.0) / 6.0


def _hard_swish(x: Array) -> Array:
    return x * (ops.relu6(x + 3.0) / 6.0)


def _unary(op: str, **settings: Operand) -> Callable[[Match], Node | None]:
    """The replacement by an op of elements."""

    def replacement(match: Match) -> Node | None:
        x = match.node("x")
        assert x.aval is not None
        return match.finish(match.call(op, x, shape=x.aval.shape, **settings), match.axes["x"])

    return replacement


_OF_ROWS, _OF_ELEMENTS = {"x": "n c"}, {"x": "n"}
_PRODUCT = frozenset(["multiply", "divide"])

RULES = (
    *[
        Idiom("softmax", _softmax(shifted), _OF_ROWS, _PRODUCT, frozenset(["exp"]),
              _along("softmax"), is_read_once=shifted is _no_shift)
        for shifted in (_constant_shift, _shift, _no_shift)
    ],
    *[
        Idiom("log_softmax", _log_softmax(shifted), _OF_ROWS, frozenset(["subtract"]),
              frozenset(["log"]), _along("log_softmax"))
        for shifted in (_constant_shift, _shift, _no_shift)
    ],
    Idiom(
        "logsumexp", _logsumexp, _OF_ROWS, frozenset(["add"]), frozenset(["isfinite"]), _summed
    ),
    Idiom(
        "gelu", _gelu_tanh, _OF_ELEMENTS, _PRODUCT, frozenset(["tanh"]),
        _unary("gelu", approximate=True),
    ),
    Idiom("gelu", _gelu_erf, _OF_ELEMENTS, _PRODUCT, frozenset(["erf"]), _unary("gelu")),
    Idiom("gelu", _gelu_erfc, _OF_ELEMENTS, _PRODUCT, frozenset(["erfc"]), _unary("gelu")),
    Idiom("silu", _silu, _OF_ELEMENTS, _PRODUCT, frozenset(["sigmoid"]), _unary("silu")),
    Idiom("hard_sigmoid", _hard_sigmoid, _OF_ELEMENTS, _PRODUCT, frozenset(["relu6"]),
          _unary("hard_sigmoid"), is_read_once=True),
    Idiom("hard_swish", _hard_swish, _OF_ELEMENTS, _PRODUCT, frozenset(["relu6"]),
          _unary("hard_swish")),
)  # fmt: skip

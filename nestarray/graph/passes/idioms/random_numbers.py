"""Uniform random numbers from random bits, as `jax.random` computes them.

Before::

    def graph(bits_key):  # uint32[2]
        bits = na.random_bits(bits_key, shape=(4,))
        mantissa = na.bitwise_right_shift(bits, 9)
        number = na.bitwise_or(mantissa, 1065353216)
        fraction = na.bitcast(number, na.float32)
        y = na.subtract(fraction, 1.0)
        return y

After::

    def graph(bits_key):  # uint32[2]
        y = na.random_uniform(bits_key, shape=(4,))
        return y
"""

from __future__ import annotations

from collections.abc import Iterator

import nestarray.ops as ops
from nestarray import dtypes
from nestarray.graph.node import Aval, Node
from nestarray.graph.passes.idioms.idiom import Idiom, Match, behind
from nestarray.graph.passes.rewriting import arguments_of, is_op
from nestarray.typing import Array

#: Calls between the bits and the numbers.
_MOST_STEPS = 10


def _fraction(bits: Array) -> Array:
    """A number in [1, 2) with a random mantissa, minus 1."""
    number = ops.bitwise_or(ops.bitwise_right_shift(bits, 9), 0x3F800000)
    return ops.bitcast(number, dtypes.float32) - 1.0


def _at_least_zero(bits: Array) -> Array:
    return ops.maximum(_fraction(bits), 0.0)


def _search(root: Node) -> Iterator[dict[str, Node]]:
    """The random bits behind a value."""
    for node in behind(root, ["random_bits"], _MOST_STEPS):
        yield {"bits": node}


def _replacement(match: Match) -> Node | None:
    bits = match.node("bits")
    if not is_op(bits, "random_bits") or bits.aval is None or bits.aval.dtype is not dtypes.uint32:
        return None
    given = arguments_of(bits)
    aval = Aval(bits.aval.shape, dtypes.float32)
    y = match.writer.call(
        "random_uniform", given["key"], like=match.root, aval=aval, shape=given["shape"]
    )
    return match.finish(y, match.axes["bits"])


RULES = tuple(
    [
        Idiom(
            "random_uniform", pattern, {"bits": "n"}, frozenset([root]), frozenset(["bitcast"]),
            _replacement, anchors=("bits",), search=_search,
        )
        for pattern, root in ((_at_least_zero, "maximum"), (_fraction, "subtract"))
    ]
)  # fmt: skip

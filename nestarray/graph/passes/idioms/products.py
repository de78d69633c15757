"""Products with one-hot rows, which select rows.

Before::

    def graph(indices, rows):  # int32[5], float32[4, 3]
        classes = na.arange(4)
        column = na.expand_dims(indices, -1)
        is_equal = na.equal(column, classes)
        one_hot = na.astype(is_equal, na.float32)
        y = na.matmul(one_hot, rows)
        return y

After::

    def graph(indices, rows):  # int32[5], float32[4, 3]
        clip = na.clip(indices, 0, 3)
        equal = na.equal(clip, indices)
        take = na.take(rows, clip, axis=0)
        expand_dims = na.expand_dims(equal, -1)
        y = na.where(expand_dims, take, 0.0)
        return y
"""

from __future__ import annotations

from collections.abc import Iterator

import nestarray.ops as ops
from nestarray import dtypes
from nestarray.graph.node import Call, Node
from nestarray.graph.passes.idioms.attention import PRODUCTS, unviewed
from nestarray.graph.passes.idioms.idiom import Idiom, Match
from nestarray.graph.passes.rewriting import is_op
from nestarray.typing import Array


def _selected(indices: Array, rows: Array) -> Array:
    one_hot = ops.equal(ops.expand_dims(indices, 1), ops.arange(rows.shape[0]))
    return ops.matmul(ops.astype(one_hot, dtypes.float64), rows)


def _search(root: Call) -> Iterator[dict[str, Node]]:
    """Indices and rows, given the product."""
    arrays = [x for x in root.args if isinstance(x, Node)]
    if len(arrays) != 2:
        return
    for one_hot, rows in (arrays, arrays[::-1]):
        equal = unviewed(one_hot)
        if is_op(equal, "equal"):
            for x in equal.args:
                if isinstance(x, Node):
                    yield {"indices": unviewed(x), "rows": rows}


def _replacement(match: Match) -> Node | None:
    """Rows by index, and zeros for indices out of range."""
    rows = match.arranged("rows", (match.atoms("rows", "c"), match.atoms("rows", "e")))
    indices, count = match.node("indices"), match.size(match.atoms("rows", "c"))
    if rows is None or rows.aval is None or indices.aval is None or not isinstance(count, int):
        return None
    if not indices.aval.dtype.is_integer or rows.aval.dtype.is_integer:
        return None
    shape, width = indices.aval.shape, rows.aval.shape[1]
    own = indices.aval.dtype
    if own.kind == "uint" or own.bits < 32:
        return None
    clipped = match.call("clip", indices, 0, count - 1, shape=shape, dtype=own)
    is_inside = match.call("equal", clipped, indices, shape=shape, dtype=dtypes.bool)
    found = match.call("take", rows, clipped, axis=0, shape=(*shape, width))
    wide = match.call("expand_dims", is_inside, -1, shape=(*shape, 1), dtype=dtypes.bool)
    y = match.call("where", wide, found, 0.0, shape=(*shape, width))
    return match.finish(y, (*match.axes["indices"], match.atoms("rows", "e")), "take")


RULES = (
    Idiom(
        "take", _selected, {"indices": "n", "rows": "c e"}, PRODUCTS, frozenset(["equal"]),
        _replacement, anchors=("indices", "rows"), search=_search,
    ),
)  # fmt: skip

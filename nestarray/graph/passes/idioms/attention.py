"""Scaled dot-product attention, with and without masks and biases."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import nestarray.ops as ops
from nestarray import dtypes
from nestarray.graph.node import Node
from nestarray.graph.passes.idioms.idiom import Idiom, Match
from nestarray.graph.passes.idioms.terms import VIEWS, Axes
from nestarray.graph.passes.rewriting import op_name

#: Ops that sum products.
PRODUCTS = frozenset(["einsum", "matmul"])
#: Masked scores at most this leave no weight, and hide the score that is added to them.
_LARGEST_FILL = -1e9
#: Calls between the product of queries and keys and the softmax.
_MOST_STEPS = 8


def _attention(has_bias: bool, mask: str) -> Callable[..., Any]:
    """softmax(scale · Q Kᵀ + bias) V, where scores are kept, or dropped, by a mask."""

    def pattern(query: Any, key: Any, value: Any, scale: Any, *others: Any) -> Any:
        given = list(others)
        scores = ops.einsum("btd,bsd->bts", query, key) * scale
        if has_bias:
            scores = scores + given.pop(0)
        if mask == "kept":
            scores = ops.where(given[0], scores, given[1])
        if mask == "dropped":
            scores = ops.where(given[0], given[1], scores)
        return ops.einsum("bts,bse->bte", ops.softmax(scores, axis=-1), value)

    return pattern


def _search(root: Node) -> Iterator[dict[str, Node]]:
    """Queries, keys and values, given the product with the values."""
    arrays = [x for x in root.args if isinstance(x, Node)]
    if len(arrays) != 2:
        return
    for weights, value in (arrays, arrays[::-1]):
        weights = unviewed(weights)
        if op_name(weights) != "softmax":
            continue
        for product in _products(weights.args[0], _MOST_STEPS):
            pair = [_unscaled(x) for x in product.args if isinstance(x, Node)]
            if len(pair) == 2:
                for query, key in (pair, pair[::-1]):
                    yield {"query": query, "key": key, "value": value}


def unviewed(x: Node) -> Node:
    while op_name(x) in VIEWS or op_name(x) == "astype":
        x = x.args[0]
    return x


def _unscaled(x: Node) -> Node:
    """A factor without the numbers by which it is multiplied or divided."""
    while op_name(x) in ("multiply", "divide"):
        arrays = [arg for arg in x.args if isinstance(arg, Node) and arg.aval and arg.aval.shape]
        if len(arrays) != 1 or (arrays[0] is not x.args[0] and op_name(x) == "divide"):
            break
        x = arrays[0]
    return x


def _products(x: Any, steps: int) -> Iterator[Node]:
    if not isinstance(x, Node) or not steps:
        return
    if op_name(x) in PRODUCTS:
        yield x
    elif op_name(x) in VIEWS | {"where", "add", "multiply", "divide", "astype"}:
        for arg in x.args:
            yield from _products(arg, steps - 1)


def _replacement(match: Match) -> Node | None:
    """A call of `scaled_dot_product_attention`, with batch axes, rows, features."""
    q, k, v = "query", "key", "value"
    rows, source = match.atoms(q, "t"), match.atoms(k, "s")
    features, width = match.atoms(q, "d"), match.atoms(v, "e")
    batch = tuple([(atom,) for atom in match.atoms(q, "b")])
    if not features:
        return None
    made: list[Node] = []
    for name, axes in ((q, (rows, features)), (k, (source, features)), (v, (source, width))):
        x = match.arranged(name, (*batch, *axes))
        if x is None:
            return None
        made.append(x)
    masking = _masking(match, made[0], batch, rows, source)
    if masking is None:
        return None
    query, mask, settings = masking
    scale, dim = match.numbers["scale"], match.size(features)
    if not math.isclose(scale, dim**-0.5, rel_tol=1e-6):
        settings["scale"] = scale
    last = made[-1].aval
    assert query.aval is not None
    assert last is not None
    shape = (*query.aval.shape[:-1], last.shape[-1])
    arrays = [query, *made[1:]] if mask is None else [query, *made[1:], mask]
    y = match.call("scaled_dot_product_attention", *arrays, shape=shape, **settings)
    return match.finish(y, (*batch, rows, width))


def _masking(
    match: Match, query: Node, batch: Axes, rows: Any, source: Any
) -> tuple[Node, Node | None, dict[str, Any]] | None:
    """The query, the mask, and the settings; None if the op has no such mask."""
    everything = (*batch, rows, source)
    given = {}
    for name in ("bias", "mask"):
        if name in match.nodes:
            own = {*match.atoms(name)}
            target = tuple([group if own & {*group} else () for group in everything])
            if any(group and not own.issuperset(group) for group in target):
                return None
            while len(target) > 2 and not target[0]:
                target = target[1:]
            given[name] = _constant(match, name, target) or match.arranged(name, target)
            if given[name] is None:
                return None
    bias, mask = given.get("bias"), given.get("mask")
    if mask is None:
        return query, bias, {}
    assert mask.aval is not None
    assert query.aval is not None
    value, fill = _value(match, mask), match.numbers["fill"]
    is_dropped = match.idiom.name_of_mask == "dropped"
    if value is not None and value.any(axis=-1).all() and not is_dropped and bias is None:
        is_causal = value.ndim == 2 and value.shape[0] == value.shape[1] > 1
        if (
            is_causal
            and (value == np.tril(value) * 1).all()
            and (value == np.tri(len(value))).all()
        ):
            return query, None, {"is_causal": True}
        return (query, mask, {}) if fill <= _LARGEST_FILL else None
    lowest = float(dtypes.finfo(query.aval.dtype).min)
    if not (-math.inf < fill <= max(_LARGEST_FILL, lowest / 2)):
        return None
    shape = mask.aval.shape
    if is_dropped:
        mask = match.call("logical_not", mask, shape=shape, dtype=dtypes.bool)
    is_seen = match.call(
        "any", mask, axis=-1, keepdims=True, shape=(*shape[:-1], 1), dtype=dtypes.bool
    )
    if bias is None:
        added = match.call("where", mask, 0.0, fill, shape=shape)
    else:
        assert bias.aval is not None
        wide = np.broadcast_shapes(shape, bias.aval.shape)
        added = match.call("where", mask, bias, fill, shape=wide)
    # scores of a row without any position have no derivative
    query = match.call("where", is_seen, query, 0.0, shape=query.aval.shape)
    return query, added, {}


def _value(match: Match, node: Node) -> np.ndarray | None:
    if node.source != "constants":
        return None
    return np.asarray(ops.to_backend(match.writer.value_of(node), "numpy"))


def _constant(match: Match, name: str, target: Axes) -> Node | None:
    """A constant in this layout, with one element along axes that it does not depend on."""
    node = match.node(name)
    value = _value(match, node)
    if value is None:
        return None
    kept = [group for group in match.axes[name] if group]
    if sorted(kept) != sorted(group for group in target if group):
        return None
    value = value.reshape([n for n in value.shape if n != 1] if kept else ())
    value = value.transpose([kept.index(group) for group in target if group])
    sizes = iter(value.shape)
    value = value.reshape([next(sizes) if group else 1 for group in target])
    for axis in range(value.ndim):
        first = value.take([0], axis)
        if axis < value.ndim - 2 and (value == first).all():
            value = first
    while value.ndim > 2 and value.shape[0] == 1:
        value = value[0]
    made = ops.to_backend(np.ascontiguousarray(value), match.writer.graph.backend)
    return match.writer.variable("constants", f"{match.root.name}_{name}", made)


def _rules() -> Iterator[Idiom]:
    for has_bias, mask in itertools.product((False, True), ("", "kept", "dropped")):
        axes = {"query": "b t d", "key": "b s d", "value": "b s e", "scale": ""}
        axes |= {"bias": "b t s"} if has_bias else {}
        axes |= {"mask": "b t s", "fill": ""} if mask else {}
        yield Idiom(
            "scaled_dot_product_attention", _attention(has_bias, mask), axes, PRODUCTS,
            frozenset(["softmax"]), _replacement, anchors=("query", "key", "value"),
            loose=frozenset(["bias", "mask"]), name_of_mask=mask, search=_search,
        )  # fmt: skip


RULES = tuple(_rules())

"""Scaled dot-product attention, with and without masks, biases and dropout of the weights.

Before::

    def graph(q, k, u, mask):  # float32[2, 5, 4], float32[2, 6, 4], float32[2, 6, 3], bool[5, 6]
        scores = na.einsum('btd,bsd->bts', q, k)
        scaled = na.divide(scores, 2.0)
        masked = na.where(mask, scaled, -1e10)
        weights = na.softmax(masked, axis=-1)
        y = na.matmul(weights, u)
        return y

After::

    def graph(q, k, u, mask):  # float32[2, 5, 4], float32[2, 6, 4], float32[2, 6, 3], bool[5, 6]
        any = na.any(mask, axis=-1, keepdims=True)
        where = na.where(mask, 0.0, -10000000000.0)
        where_1 = na.where(any, q, 0.0)
        y = na.scaled_dot_product_attention(where_1, k, u, where)
        return y
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import nestarray.ops as ops
from nestarray import dtypes
from nestarray.graph.node import Call, Node, Operand
from nestarray.graph.passes.idioms.idiom import Idiom, Match, behind, tolerance_of
from nestarray.graph.passes.idioms.masks import Mask, masking
from nestarray.graph.passes.idioms.terms import Atom
from nestarray.graph.passes.rewriting import arguments_of, has, is_op, op_name
from nestarray.traits import Trait
from nestarray.typing import Array

#: Ops that sum products.
PRODUCTS = frozenset(["einsum", "matmul"])
_WEIGHTS = frozenset(["softmax", "random_uniform"])
#: Calls between the product of queries and keys and the softmax.
_MOST_STEPS = 8


def _attention(has_bias: bool, mask: str, dropout: str) -> Callable[..., Array]:
    """softmax(scale · Q Kᵀ + bias) V, where scores are kept, or dropped, by a mask.

    Dropout multiplies the weights by 0 or `gain`, or selects them.
    """

    def pattern(query: Array, key: Array, value: Array, scale: Array, *others: Array) -> Array:
        given = list(others)
        scores = ops.einsum("btd,bsd->bts", query, key) * scale
        if has_bias:
            scores = scores + given.pop(0)
        if mask:
            seen, fill, *given = given
            scores = ops.where(seen, *((scores, fill) if mask == "kept" else (fill, scores)))
        weights = ops.softmax(scores, axis=-1)
        if not dropout:
            return ops.einsum("bts,bse->bte", weights, value)
        uniform, keep, gain = given
        is_kept = ops.less(uniform, keep)
        if dropout == "selected":
            weights = ops.where(is_kept, weights * gain, 0.0)
        else:
            weights = weights * (ops.astype(is_kept, dtypes.float64) * gain)
        return ops.einsum("bts,bse->bte", weights, value)

    return pattern


def _search(root: Call) -> Iterator[dict[str, Node]]:
    """Queries, keys, values, and the random numbers that decide which weights are dropped."""
    arrays = [x for x in root.args if isinstance(x, Node)]
    for weights, value in (arrays, arrays[::-1]) if len(arrays) == 2 else ():
        calls = {op_name(x): x for x in behind(weights, _WEIGHTS, _MOST_STEPS)}
        if "softmax" not in calls:
            continue
        uniform = {"uniform": calls["random_uniform"]} if "random_uniform" in calls else {}
        for product in behind(calls["softmax"].args[0], PRODUCTS, _MOST_STEPS):
            pair = [_unscaled(x) for x in product.args if isinstance(x, Node)]
            for query, key in (pair, pair[::-1]) if len(pair) == 2 else ():
                yield {"query": query, "key": key, "value": _unwidened(value), **uniform}


def unviewed(x: Node) -> Node:
    """The value whose axes or dtype calls change."""
    while has(x, Trait.VIEW) or is_op(x, "astype"):
        x = x.args[0]
    return x


def _unscaled(x: Node) -> Node:
    """A factor without the numbers by which it is multiplied or divided, and in its own precision."""
    while True:
        x = _unwidened(x)
        if not is_op(x, "multiply", "divide"):
            return x
        arrays = [arg for arg in x.args if isinstance(arg, Node) and arg.aval and arg.aval.shape]
        if len(arrays) != 1:
            return x
        if arrays[0] is not x.args[0] and op_name(x) == "divide":
            return x
        x = arrays[0]


def _unwidened(x: Node) -> Node:
    """The value that a call casts to more bits."""
    while is_op(x, "astype") and _float_bits(x.args[0]) < _float_bits(x):
        x = x.args[0]
    return x


def _float_bits(x: object) -> float:
    """The number of bits of a floating value; of others more than any cast has."""
    aval = x.aval if isinstance(x, Node) else None
    return aval.dtype.bits if aval is not None and aval.dtype.is_floating else math.inf


def _replacement(match: Match) -> Node | None:
    """A call of `scaled_dot_product_attention`, with batch axes, rows, features.

    The op computes the scores of half precision and their softmax in float32. The call has the
    dtype of the result, to which narrower operands are cast; so it never rounds more.
    """
    q, k, v = "query", "key", "value"
    rows, source = match.atoms(q, "t"), match.atoms(k, "s")
    features, width = match.atoms(q, "d"), match.atoms(v, "e")
    batch = match.atoms(q, "b")
    masks = [Mask.of(match, name) for name in ("bias", "mask") if name in match.nodes]
    assert match.root.aval is not None
    bits = match.root.aval.dtype.bits
    operands = [match.node(name) for name in (q, k, v, "bias") if name in match.nodes]
    if not features or any(_float_bits(x) > bits for x in operands):
        return None
    is_dropped = "uniform" in match.nodes
    if max(map(_float_bits, match.floating)) > (bits if is_dropped else max(bits, 32)):
        return None
    dropout: dict[str, Operand] = {}
    if is_dropped:
        dropout, batch = _dropout(match, (*rows, *source))
        if not dropout:
            return None
    # queries that share their masks are heads of one key
    seen = {atom for mask in masks for atom in mask.atoms}
    shared = tuple([atom for atom in rows if atom not in seen])
    heads = [atom for atom in batch if atom not in seen]
    if dropout or not (masks and heads and set(rows) - set(shared)):
        shared = ()
    if shared and batch[-1] in seen:
        batch = (*[atom for atom in batch if atom != heads[-1]], heads[-1])
    rows = tuple([atom for atom in rows if atom not in shared])
    of_keys = tuple([(atom,) for atom in batch])
    of_queries = (*of_keys[:-1], (*of_keys[-1], *shared)) if shared else of_keys
    made: list[Node] = []
    for name, axes in (
        (q, (*of_queries, rows, features)), (k, (*of_keys, source, features)),
        (v, (*of_keys, source, width)),
    ):  # fmt: skip
        x = match.arranged(name, axes)
        if x is None:
            return None
        made.append(match.cast(x))
    everything = (*of_queries, rows, source)
    arranged = {mask.name: mask.arranged(everything) for mask in masks}
    nodes = {name: node for name, node in arranged.items() if node is not None}
    if len(nodes) < len(masks):
        return None
    found = masking(match, made[0], nodes)
    if found is None:
        return None
    query, mask, settings = found
    settings |= dropout | ({"enable_gqa": True} if shared else {})
    scale, dim = match.numbers["scale"], match.size(features)
    if not isinstance(dim, int) or not math.isclose(scale, dim**-0.5, rel_tol=1e-6):
        settings["scale"] = scale
    last = made[-1].aval
    assert query.aval is not None
    assert last is not None
    shape = (*query.aval.shape[:-1], last.shape[-1])
    arrays = [query, *made[1:]] if mask is None else [query, *made[1:], mask]
    y = match.call("scaled_dot_product_attention", *arrays, shape=shape, **settings)
    return match.finish(y, (*of_queries, rows, width))


def _dropout(match: Match, last: tuple[Atom, ...]) -> tuple[dict[str, Operand], tuple[Atom, ...]]:
    """The settings of dropout, and the batch axes, in the order of the random numbers.

    The op draws a number for each weight; numbers for several weights have other settings.

    Args:
        match: the idiom.
        last: the labels of rows and columns of the weights.
    """
    uniform, atoms = match.node("uniform"), match.atoms("uniform")
    batch = atoms[: len(atoms) - len(last)]
    keep, gain = match.numbers["keep"], match.numbers["gain"]
    is_whole = (*batch, *last) == atoms and {*batch} == {*match.atoms("query", "b")}
    is_even = math.isclose(keep * gain, 1.0, rel_tol=tolerance_of(match.root))
    is_exact = 0 < keep < 1 and 1.0 - (1.0 - keep) == keep
    if not is_op(uniform, "random_uniform") or not (is_whole and is_even and is_exact):
        return {}, ()
    return {"dropout_key": arguments_of(uniform)["key"], "dropout_p": 1.0 - keep}, batch


def _rules() -> Iterator[Idiom]:
    masks, dropouts = ("", "kept", "dropped"), ("", "multiplied", "selected")
    for dropout, has_bias, mask in itertools.product(dropouts, (False, True), masks):
        axes = {"query": "b t d", "key": "b s d", "value": "b s e", "scale": ""}
        axes |= {"bias": "b t s"} if has_bias else {}
        axes |= {"mask": "b t s", "fill": ""} if mask else {}
        axes |= {"uniform": "b t s", "keep": "", "gain": ""} if dropout else {}
        yield Idiom(
            "scaled_dot_product_attention", _attention(has_bias, mask, dropout), axes, PRODUCTS,
            frozenset(["random_uniform" if dropout else "softmax"]), _replacement,
            anchors=("query", "key", "value", *(["uniform"] if dropout else [])), loose=frozenset(["bias", "mask", "uniform"]),
            name_of_mask=mask, search=_search, ignores_casts=True,
        )  # fmt: skip


RULES = tuple(_rules())

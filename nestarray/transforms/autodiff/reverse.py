"""Reverse mode: a tape of nodes, traversed backwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nestarray import ops
from nestarray.transforms.autodiff.values import NUMBERS, Node, Taped, stripped

#: A flat function: arrays to (arrays to differentiate, other arrays).
Flat = Callable[..., tuple[tuple[Any, ...], tuple[Any, ...]]]


def vjp(
    fn: Flat, arrays: list[Any], name: str, *, once: bool = False
) -> tuple[Any, Any, Callable[[list[Any]], Any]]:
    """The backend interface of ``transforms.py``: (results, other arrays, pullback).

    With `once`, the pullback frees the residuals of each node after it visits the node, so that
    gradients reuse the memory of activations.
    """
    level = next(NUMBERS)
    inputs = [Taped(x, level, Node([])) for x in arrays]
    found, others = fn(*inputs)
    results = tuple([stripped(y, level) for y in found])
    others = tuple([stripped(y, level) for y in others])
    ends = [(y.node, y.place) if stripped(y, level) is not y else None for y in found]
    starts = [x.node for x in inputs]

    def pullback(cotangents: list[Any]) -> list[Any]:
        pairs = [(end, ct) for end, ct in zip(ends, cotangents, strict=True) if end is not None]
        with np.errstate(all="ignore"):  # infinite derivatives at domain boundaries are valid
            sums = _backwards(pairs, once)
            return [
                ops.zeros_like(x) if sums.get(node) is None else sums[node]
                for node, x in zip(starts, arrays, strict=True)
            ]

    return results, others, pullback


def _backwards(ends: list[tuple[tuple[Node, int], Any]], once: bool) -> dict[Node, Any]:
    """The cotangents of all nodes without parents."""
    sums: dict[Node, Any] = {}
    for (node, place), ct in ends:
        _add(sums, node, place, ct)
    starts = {}
    for node in _ordered([node for (node, _), _ in ends]):
        ct = sums.pop(node, None)
        if ct is None:
            continue
        pull = node.pull
        if pull is None:
            starts[node] = ct
            continue
        parts = pull(ct)
        if once:
            node.pull = pull = None
        for (parent, place), part in zip(node.parents, parts, strict=True):
            if part is not None:
                _add(sums, parent, place, part)
    return starts


def _add(sums: dict[Node, Any], node: Node, place: int, ct: Any) -> None:
    if node.results is None:
        known = sums.get(node)
        sums[node] = ct if known is None else ops.add(known, ct)
        return
    parts = sums.setdefault(node, [None] * len(node.results))
    parts[place] = ct if parts[place] is None else ops.add(parts[place], ct)


def _ordered(ends: list[Node]) -> list[Node]:
    """All nodes from which `ends` were computed, each before its parents."""
    seen = set(ends)
    waiting = list(seen)
    while waiting:
        for parent, _ in waiting.pop().parents:
            if parent not in seen:
                seen.add(parent)
                waiting.append(parent)
    return sorted(seen, key=lambda node: node.number, reverse=True)


def linearize(fn: Flat, arrays: list[Any]) -> tuple[Any, Any, Callable[[list[Any]], Any]]:
    """(results, other arrays, pushforward): the transpose of the pullback, which is linear.

    The function itself runs once, however many tangents are pushed.
    """
    results, others, pull = vjp(fn, arrays, "linearize")
    zeros = [ops.zeros_like(y) for y in results]
    push = vjp(lambda *cts: (tuple(pull(list(cts))), ()), zeros, "linearize")[2]
    return results, others, push

"""Loops and choices.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html#control-flow-operators
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import nestarray as na
from nestarray import tree
from nestarray.typing import Array, Nest

__all__ = [
    "all_gather", "associative_scan", "axis_index", "axis_size", "cond", "fori_loop", "map", "pmax",
    "pmean", "pmin", "psum", "scan", "switch", "while_loop",
]  # fmt: skip

Function = Callable[..., Nest]


def cond(pred: Array, true_fun: Function, false_fun: Function, *operands: Nest) -> Nest:
    """``true_fun(*operands)`` if `pred`, else ``false_fun(*operands)``."""
    return na.cond(pred, true_fun, false_fun, *operands)


def switch(index: Array, branches: Sequence[Function], *operands: Nest) -> Nest:
    """``branches[index](*operands)``; an index out of range counts as the nearest."""
    return na.switch(index, list(branches), *operands)


def while_loop(cond_fun: Function, body_fun: Function, init_val: Nest) -> Nest:
    """``while cond_fun(x): x = body_fun(x)``, beginning with `init_val`."""
    return na.while_loop(cond_fun, body_fun, init_val)


def fori_loop(lower: Array, upper: Array, body_fun: Function, init_val: Nest) -> Nest:
    """``x = body_fun(i, x)`` for i from `lower` to `upper` − 1."""
    return na.fori_loop(lower, upper, body_fun, init_val)


def scan(
    f: Function,
    init: Nest,
    xs: Nest = None,
    length: int | None = None,
    reverse: bool = False,
) -> tuple[Nest, Nest]:
    """``carry, y = f(carry, x)`` for each row x of `xs`; the last carry, and the ys stacked."""
    return na.scan(f, init, xs, length=length, reverse=reverse)


def associative_scan(fn: Function, elems: Nest, reverse: bool = False, axis: int = 0) -> Nest:
    """The combinations of all first slices along an axis, by an associative function."""
    return na.associative_scan(fn, elems, reverse=reverse, axis=axis)


def psum(x: Nest, axis_name: str) -> Nest:
    """The sum over a mapped axis."""
    return na.psum(x, axis_name)


def pmean(x: Nest, axis_name: str) -> Nest:
    """The mean over a mapped axis."""
    return na.pmean(x, axis_name)


def pmax(x: Nest, axis_name: str) -> Nest:
    """The maximum over a mapped axis."""
    return na.pmax(x, axis_name)


def pmin(x: Nest, axis_name: str) -> Nest:
    """The minimum over a mapped axis."""
    return na.pmin(x, axis_name)


def all_gather(x: Nest, axis_name: str, *, axis: int = 0, tiled: bool = False) -> Nest:
    """The values of all members of a mapped axis."""
    return na.all_gather(x, axis_name, axis=axis, tiled=tiled)


def axis_index(axis_name: str) -> Array:
    """The position along a mapped axis."""
    return na.axis_index(axis_name)


def axis_size(axis_name: str) -> int:
    """The length of a mapped axis."""
    return na.axis_size(axis_name)


def map(f: Function, xs: Nest) -> Nest:
    """``f(x)`` for each row x of `xs`, stacked."""
    return na.map(f, tree.map(lambda x: x, xs))

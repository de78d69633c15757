"""Loops and choices.

Upstream: https://docs.jax.dev/en/latest/jax.lax.html#control-flow-operators
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import backends, tree
from nestarray.errors import ArgumentError
from nestarray.frontends.jax import promotion
from nestarray.typing import Array, Nest

__all__ = [
    "associative_scan", "composite", "cond", "dce_sink", "fori_loop", "map", "platform_dependent",
    "scan", "switch", "while_loop",
]  # fmt: skip

Function = Callable[..., Nest]
_NONE = object()


def cond(
    pred: Array, true_fun: Function, false_fun: Function, *operands: Nest, operand: Nest = _NONE
) -> Nest:
    """``true_fun(*operands)`` if `pred`, else ``false_fun(*operands)``."""
    return na.cond(pred, true_fun, false_fun, *_operands("cond", operands, operand))


def switch(
    index: Array, branches: Sequence[Function], *operands: Nest, operand: Nest = _NONE
) -> Nest:
    """``branches[index](*operands)``; an index out of range counts as the nearest."""
    return na.switch(index, list(branches), *_operands("switch", operands, operand))


def _operands(function: str, operands: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
    """The operands, of which upstream takes one by name too."""
    if operand is _NONE:
        return operands
    if operands:
        raise ArgumentError(
            f"{function}: operand: got {type(operand).__name__} next to {len(operands)} operands by "
            "position, expected one of the two"
        )
    return (operand,)


def while_loop(cond_fun: Function, body_fun: Function, init_val: Nest) -> Nest:
    """``while cond_fun(x): x = body_fun(x)``, beginning with `init_val`."""
    return na.while_loop(cond_fun, body_fun, _arrays(init_val, ()))


def fori_loop(
    lower: Array,
    upper: Array,
    body_fun: Function,
    init_val: Nest,
    *,
    unroll: int | bool | None = None,
) -> Nest:
    """``x = body_fun(i, x)`` for i from `lower` to `upper` − 1."""
    init_val = _arrays(init_val, (lower, upper))
    return na.fori_loop(lower, upper, body_fun, init_val, unroll=unroll)


def scan(
    f: Function,
    init: Nest,
    xs: Nest = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    _split_transpose: bool = False,
) -> tuple[Nest, Nest]:
    """``carry, y = f(carry, x)`` for each row x of `xs`; the last carry, and the ys stacked."""
    return na.scan(f, _arrays(init, xs), xs, length=length, reverse=reverse, unroll=unroll)


def _arrays(init: Nest, others: Nest) -> Nest:
    """`init` with arrays of JAX's default dtypes in place of numbers, on the backend of an array."""
    leaves = tree.leaves((init, others))
    like = next((x for x in leaves if backends.is_array(x)), None)

    def array(x: Any) -> Any:
        if not promotion.is_number(x):
            return x
        return na.full((), x, dtype=promotion.default_dtype(type(x)), like=like)

    return tree.map(array, init)


def associative_scan(fn: Function, elems: Nest, reverse: bool = False, axis: int = 0) -> Nest:
    """The combinations of all first slices along an axis, by an associative function."""
    return na.associative_scan(fn, elems, reverse=reverse, axis=axis)


def map(f: Function, xs: Nest, *, batch_size: int | None = None) -> Nest:
    """``f(x)`` for each row x of `xs`, stacked."""
    return na.map(f, xs, batch_size=batch_size)


def composite(decomposition: Function, name: str, version: int = 0) -> Function:
    """`decomposition`: no framework here replaces it by an operation of this name."""
    return decomposition


def platform_dependent(
    *args: Nest, default: Function | None = None, **per_platform: Function
) -> Nest:
    """The function for the device of the arguments (``cpu=``, ``cuda=``), else `default`."""
    platform = _platform(args)
    function = per_platform.get(platform, default)
    if function is None:
        raise ArgumentError(
            f"platform_dependent: got functions for {', '.join(per_platform) or 'no platform'}, "
            f"expected one for {platform} or default="
        )
    return function(*args)


def _platform(args: tuple[Nest, ...]) -> str:
    for x in tree.leaves(args):
        name = backends.backend_of_type(type(x))
        if name is not None:
            device = str(backends.core(name).device_of(x)).lower()
            return "cuda" if "cuda" in device or "gpu" in device else "cpu"
    return "cpu"


def dce_sink(val: Nest, *, prevent_mlir_dce: bool = False) -> None:
    """Nothing: no framework here drops unused values that were computed."""

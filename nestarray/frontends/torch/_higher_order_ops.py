"""Control flow: functions that take functions.

Upstream: https://docs.pytorch.org/docs/stable/higher_order_ops.html; the names without a
public place are in ``torch._higher_order_ops`` there too.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import nestarray as na
from nestarray import tree
from nestarray.errors import ArgumentError
from nestarray.frontends.torch.dims import numel_of, shape_of, wrap
from nestarray.frontends.torch.shaping import movedim
from nestarray.typing import Array, Nest

__all__ = ["associative_scan", "cond", "map", "scan", "while_loop"]

Function = Callable[..., Any]


def cond(
    pred: Array | builtins.bool,
    true_fn: Function,
    false_fn: Function,
    operands: Sequence[Nest] = (),
) -> Nest:
    """``true_fn(*operands)`` if `pred`, an array of one element, else ``false_fn(*operands)``."""
    return na.cond(_of_no_dims("cond", pred), true_fn, false_fn, *operands)


def while_loop(cond_fn: Function, body_fn: Function, carried_inputs: Sequence[Nest]) -> Nest:
    """``while cond_fn(*x): x = body_fn(*x)``, beginning with ``carried_inputs``."""
    return na.while_loop(
        lambda carried: _of_no_dims("while_loop", cond_fn(*carried)),
        lambda carried: tuple(body_fn(*carried)),
        tuple(carried_inputs),
    )


def scan(
    combine_fn: Function, init: Nest, xs: Nest, *, dim: int = 0, reverse: builtins.bool = False
) -> tuple[Nest, Nest]:
    """``carry, y = combine_fn(carry, x)`` for each slice x along `dim`; the ys stacked there."""
    carry, ys = na.scan(combine_fn, init, _first(xs, "scan", dim), reverse=reverse)
    return carry, _back(ys, dim)


def map(f: Function, xs: Nest, *args: Nest) -> Nest:
    """``f(x, *args)`` for each row x of `xs`, stacked."""
    return na.map(lambda x: f(x, *args), xs)


def associative_scan(
    combine_fn: Function,
    xs: Nest,
    dim: int,
    reverse: builtins.bool = False,
    combine_mode: str = "pointwise",
) -> Nest:
    """All prefixes of x₀ ∘ x₁ ∘ … along `dim`, for the associative operation ∘ of two slices."""
    if combine_mode not in ("pointwise", "generic"):
        raise ArgumentError(
            f"associative_scan: combine_mode: got {combine_mode!r}, expected 'pointwise' or 'generic'"
        )
    rows = _first(xs, "associative_scan", dim)
    # upstream maps a generic function over the slices, and so shows it none of their dimension
    function = na.vmap(combine_fn) if combine_mode == "generic" else combine_fn
    return _back(na.associative_scan(function, rows, reverse=reverse), dim)


def _of_no_dims(name: str, pred: Any) -> Any:
    if not shape_of(pred):
        return pred
    if numel_of(pred) != 1:
        raise ArgumentError(
            f"{name}: pred: got an array of shape {shape_of(pred)}, expected one element"
        )
    return na.reshape(pred, ())


def _first(xs: Nest, name: str, dim: int) -> Nest:
    """The arrays with `dim` as their first dimension."""
    return tree.map(lambda x: movedim(x, wrap(name, dim, len(shape_of(x))), 0), xs) if dim else xs


def _back(xs: Nest, dim: int) -> Nest:
    """The arrays with their first dimension at `dim`."""
    return tree.map(lambda x: movedim(x, 0, dim), xs) if dim else xs

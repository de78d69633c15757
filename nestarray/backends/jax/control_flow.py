"""JAX: `nestarray.backends.control_flow`; all of it is ``jax.lax``."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax


def known(x: Any) -> Any:
    """The value of a scalar; a tracer has none."""
    return None if isinstance(x, jax.core.Tracer) else x.item()


def cond(pred: Any, true_branch: Any, false_branch: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html"""
    return lax.cond(pred, true_branch, false_branch)


def switch(index: Any, branches: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.switch.html"""
    return lax.switch(index, branches)


def while_loop(test: Any, body: Any, carry: Any, max_steps: int | None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html

    With a bound it is a scan, which has a reverse derivative, of steps that are skipped once
    the condition is false.
    """
    if max_steps is None:
        return lax.while_loop(test, body, carry)
    bounded = getattr(body, "bounded", None)
    if bounded is None or bounded.test is not test:
        bounded = body.bounded = _Bounded(test, body)
    return lax.scan(bounded, carry, length=max_steps)[0]


class _Bounded:
    """A step of a bounded loop; kept with the body, so that JAX knows it the next time."""

    def __init__(self, test: Any, body: Any) -> None:
        self.test, self._body = test, body

    def __call__(self, carry: Any, _: Any) -> tuple[Any, None]:
        return lax.cond(self.test(carry), self._body, lambda carry: carry, carry), None


def fori_loop(lower: int, upper: int, body: Any, carry: Any, like: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html"""
    return lax.fori_loop(lower, upper, body, carry)


def scan(
    step: Any,
    carry: Any,
    xs: Any,
    length: int | None = None,
    *,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html"""
    return lax.scan(step, carry, xs, length=length, reverse=reverse, unroll=unroll)


def associative_scan(combine: Any, elems: Any, axis: int, reverse: bool) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.associative_scan.html"""
    return lax.associative_scan(combine, elems, reverse=reverse, axis=axis)

"""JAX: `nestarray.backends.control_flow` by ``jax.lax``."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax


def static_value(x: Any) -> Any:
    """The value of a scalar; None for a tracer."""
    return None if isinstance(x, jax.core.Tracer) else x.item()


def cond(pred: Any, true_branch: Any, false_branch: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.cond.html"""
    return lax.cond(pred, true_branch, false_branch)


def switch(index: Any, branches: Any) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.switch.html"""
    return lax.switch(index, branches)


def while_loop(test: Any, body: Any, carry: Any, max_steps: int | None) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.while_loop.html

    A bounded loop is a scan whose steps do nothing after the condition is false; a scan has a
    reverse derivative. An unbounded loop that is differentiated outside of ``jax.jit`` first
    counts its steps and then runs as a scan.
    """
    if max_steps is None:
        found = lax.while_loop(test, body, carry)
        if not any(isinstance(x, jax.core.Tracer) for x in found):
            return found
        counted = getattr(body, "counted", None)
        if counted is None or counted.test is not test:
            counted = body.counted = _Counted(test, body)
        count = counted.steps(carry)
        return found if count is None else lax.fori_loop(0, count, counted, carry)
    bounded = getattr(body, "bounded", None)
    if bounded is None or bounded.test is not test:
        bounded = body.bounded = _Bounded(test, body)
    return lax.scan(bounded, carry, length=max_steps)[0]


class _Counted:
    """The body of a loop with a known number of steps; cached like `_Bounded`."""

    def __init__(self, test: Any, body: Any) -> None:
        self.test, self._body = test, body

    def __call__(self, i: Any, carry: Any) -> Any:
        return self._body(carry)

    def go_on(self, state: Any) -> Any:
        return self.test(state[1])

    def next(self, state: Any) -> Any:
        return state[0] + 1, self._body(state[1])

    def steps(self, carry: Any) -> int | None:
        """The number of steps; None if values are traced."""
        try:
            bool(self.test(carry))
            return int(lax.while_loop(self.go_on, self.next, (0, carry))[0])
        except jax.errors.ConcretizationTypeError:
            return None


class _Bounded:
    """A step of a bounded loop; cached with the body, so that JAX finds its trace again."""

    def __init__(self, test: Any, body: Any) -> None:
        self.test, self._body = test, body

    def __call__(self, carry: Any, _: Any) -> tuple[Any, None]:
        return lax.cond(self.test(carry), self._body, lambda carry: carry, carry), None


def fori_loop(
    lower: int,
    upper: int,
    body: Any,
    carry: Any,
    like: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.fori_loop.html"""
    return lax.fori_loop(lower, upper, body, carry, unroll=unroll)


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
    if xs:  # `lax.scan` takes no symbolic length
        length = None
    return lax.scan(step, carry, xs, length=length, reverse=reverse, unroll=unroll)


def associative_scan(combine: Any, elems: Any, axis: int, reverse: bool) -> Any:
    """https://docs.jax.dev/en/latest/_autosummary/jax.lax.associative_scan.html"""
    return lax.associative_scan(combine, elems, reverse=reverse, axis=axis)

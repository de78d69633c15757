"""The rules of ``jax.custom_jvp``, ``custom_vjp`` and ``lax.custom_linear_solve`` as jaxprs.

An equation holds its rules as Python functions. They are traced here by differentiating the
equation with JAX. Jaxprs follow JAX's convention for complex cotangents, Jᵀ; rules of graphs
follow nestarray's, Jᴴ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import Tracer
from jax.extend.core import jaxpr_as_fun

from nestarray.importers.jax.equations import bind, call_of, without_unused


def rules_of(eqn: Any) -> tuple[Any, ...]:
    """The jaxprs of the rules.

    Returns:
        of `jax.custom_jvp` and of solvers without a transposed one (the pushforward); of
        `jax.custom_vjp` and solvers (forward, backward); empty for a function without inexact
        arguments or results, and for rules that name values of another trace.
    """
    if not inexact([v.aval for v in eqn.invars]) or not inexact([v.aval for v in eqn.outvars]):
        return ()
    if call_of(eqn).is_pushed:
        return (_pushforward(eqn),)
    rules = _pullback(eqn)
    # in the rule of another function, a rule may name values of the trace that ended
    return () if any(isinstance(x, Tracer) for r in rules for x in r.consts) else rules


def _pushforward(eqn: Any) -> Any:
    """(arguments, tangents of inexact arguments) → tangents of inexact results."""
    avals = [v.aval for v in eqn.invars]
    places = inexact(avals)

    def push(primals: list[Any], tangents: list[Any]) -> list[Any]:
        moving = [primals[i] for i in places]
        return jax.jvp(_of(eqn, primals, places), (moving,), (tangents,), has_aux=True)[1]

    # rules also compute the results, by calling the function itself
    return without_unused(jax.make_jaxpr(push)(avals, [avals[i] for i in places]))


def _pullback(eqn: Any) -> tuple[Any, Any]:
    """Arguments → results and residuals; residuals and cotangents → gradients.

    Results have cotangents, and arguments gradients, if they are inexact. Constants of the
    function have none in JAX, and zeros here.
    """
    avals = [v.aval for v in eqn.invars]
    constants = call_of(eqn).constants
    places = [i for i in inexact(avals) if i >= constants]
    structure: list[Any] = []

    def forward(*primals: Any) -> Any:
        moving = [primals[i] for i in places]
        values, pull, others = jax.vjp(_of(eqn, primals, places), moving, has_aux=True)
        residuals, form = jax.tree.flatten(pull)
        structure[:] = [form]
        results = iter(values), iter(others)
        return [next(results[0 if i in moved else 1]) for i in range(count)], residuals

    def backward(residuals: list[Any], cotangents: list[Any]) -> list[Any]:
        (results,) = jax.tree.unflatten(structure[0], residuals)(list(map(_conj, cotangents)))
        zeros = [jax.numpy.zeros_like(avals[i]) for i in inexact(avals[:constants])]
        return [*zeros, *map(_conj, results)]

    count, moved = len(eqn.outvars), inexact([v.aval for v in eqn.outvars])
    closed, (results, residuals) = jax.make_jaxpr(forward, return_shape=True)(*avals)
    return closed, jax.make_jaxpr(backward)(residuals, [results[i] for i in moved])


def called(eqn: Any, call: Any, rules: list[Any], operands: Sequence[Any]) -> list[Any]:
    """The results of the function, with the derivatives of its rules."""
    run, *functions = map(jaxpr_as_fun, (call, *rules))
    if not rules:
        return run(*operands)
    places, moved = (inexact([v.aval for v in vars]) for vars in (eqn.invars, eqn.outvars))

    def filled(moving: Sequence[Any]) -> list[Any]:
        new = dict(zip(places, moving, strict=True))
        return [new.get(i, x) for i, x in enumerate(operands)]

    def function(*moving: Any) -> list[Any]:
        results = run(*filled(moving))
        return [results[i] for i in moved]

    def push(primals: Any, tangents: Any) -> Any:
        return function(*primals), functions[0](*filled(primals), *tangents)

    def forward(*moving: Any) -> Any:
        results = functions[0](*filled(moving))
        return [results[i] for i in moved], results[len(eqn.outvars) :]

    def backward(residuals: Any, cotangents: Any) -> Any:
        return tuple(map(_conj, functions[1](*residuals, *map(_conj, cotangents))))

    if len(rules) == 1:
        custom = jax.custom_jvp(function)
        custom.defjvp(push)
    else:
        custom = jax.custom_vjp(function)
        custom.defvjp(forward, backward)
    results = run(*operands)
    for i, x in zip(moved, custom(*[operands[i] for i in places]), strict=True):
        results[i] = x
    return results


def inexact(avals: list[Any]) -> list[int]:
    """The indices of floating and complex values."""
    return [i for i, aval in enumerate(avals) if jnp.issubdtype(aval.dtype, jnp.inexact)]


def _of(eqn: Any, primals: Any, places: list[int]) -> Any:
    """The equation as a function of the operands at places: (inexact results, other results)."""

    def function(moving: list[Any]) -> tuple[list[Any], list[Any]]:
        filled = list(primals)
        for i, x in zip(places, moving, strict=True):
            filled[i] = x
        results = bind(eqn, filled)
        moved = inexact([v.aval for v in eqn.outvars])
        others = [y for i, y in enumerate(results) if i not in moved]
        return [results[i] for i in moved], others

    return function


def _conj(x: Any) -> Any:
    return x.conj() if x.dtype.kind == "c" else x

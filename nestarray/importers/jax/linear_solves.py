"""Equations of ``jax.lax.custom_linear_solve``."""

from __future__ import annotations

from typing import Any


def solution(eqn: Any) -> Any:
    """The jaxpr of the solver, a function of all operands of the equation."""
    import jax
    from jax.extend.core import jaxpr_as_fun

    lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    first = lengths.matvec + lengths.vecmat
    count = sum(n for n in lengths if n)

    def solve(*operands: Any) -> Any:
        constants = operands[first : first + lengths.solve]
        return jaxpr_as_fun(jaxprs.solve)(*constants, *operands[count:])

    return jax.make_jaxpr(solve)(*[v.aval for v in eqn.invars])

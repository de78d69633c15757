"""Equations ``while``; under ``jax.vmap`` their conditions may have a value for each row."""

from __future__ import annotations

from typing import Any, NamedTuple


class While(NamedTuple):
    """A loop with a condition without axes.

    Attributes:
        go_on: the jaxpr of the condition.
        body: the jaxpr of a step.
        go_on_constants, body_constants: which operands of the equation each takes first.
        carry: which operands are the first values.
    """

    go_on: Any
    body: Any
    go_on_constants: slice
    body_constants: slice
    carry: slice


def while_of(eqn: Any) -> While:
    """The loop of an equation.

    A loop of a batch goes on while any row does; rows that have ended keep their values.
    """
    import jax
    from jax.extend.core import jaxpr_as_fun

    params = eqn.params
    go_on, body = params["cond_jaxpr"], params["body_jaxpr"]
    first, last = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    if not go_on.out_avals[0].shape:
        return While(go_on, body, slice(first), slice(first, last), slice(last, None))
    rows_go_on, one_step = jaxpr_as_fun(go_on), jaxpr_as_fun(body)

    def any_goes_on(*operands: Any) -> Any:
        return jax.numpy.any(rows_go_on(*operands)[0])

    def step(*operands: Any) -> list[Any]:
        (rows,) = rows_go_on(*operands[:first], *operands[last:])

        def chosen(new: Any, old: Any) -> Any:
            lines = jax.lax.broadcast_in_dim(rows, new.shape, range(rows.ndim))
            return jax.lax.select(lines, new, old)

        return list(map(chosen, one_step(*operands[first:]), operands[last:]))

    avals = [v.aval for v in eqn.invars]
    return While(
        jax.make_jaxpr(any_goes_on)(*avals[:first], *avals[last:]),
        jax.make_jaxpr(step)(*avals),
        slice(first),
        slice(last),
        slice(last, None),
    )


def scan_counts(eqn: Any) -> tuple[int, int]:
    """The numbers of constants and of carried values among the operands of a ``scan``."""
    params = eqn.params
    if "ft_in" not in params:  # JAX before 0.12
        return params["num_consts"], params["num_carry"]
    constants, carry, _ = params["ft_in"].unpack()
    return len(constants), len(carry)

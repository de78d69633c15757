"""Equations that take functions: loops, choices, reductions and custom derivatives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from nestarray.errors import Refused
from nestarray.errors.foreign import foreign
from nestarray.frontends import rules
from nestarray.frontends.jax import vocabulary
from nestarray.graph.node import Body, Node
from nestarray.importers.jax import custom_derivatives
from nestarray.importers.jax.calls import settings
from nestarray.importers.jax.equations import (
    CUSTOM_DERIVATIVES,
    branches_of,
    call_of,
    reduction_of,
    refusal,
    scan_of,
    update_of,
    while_of,
)
from nestarray.importers.jax.jaxprs import kept_call
from nestarray.importers.translator import Value
from nestarray.transforms import call_with_jvp, call_with_vjp

if TYPE_CHECKING:
    from nestarray.importers.jax.translation import Translation

#: Inside of this many custom derivatives, JAX differentiates the formula instead. A rule often
#: calls its own function; two make derivatives of first and second order exact.
NO_RULES = 2


class Derivatives:
    """The derivatives of functions of one program that have rules of their own.

    Attributes:
        around: the number of rules around the equations that are being translated.
    """

    def __init__(self) -> None:
        self.around = 0
        self._traced: dict[Any, tuple[Any, ...]] = {}  # equation → jaxprs of its derivative

    def rules_of(self, eqn: Any, around: int | None = None) -> tuple[Any, ...]:
        """The jaxprs of an equation's own derivative; empty if the formula's is used."""
        around = self.around if around is None else around
        is_custom = eqn.primitive.name in CUSTOM_DERIVATIVES and kept_call(eqn) is None
        if not is_custom or around >= NO_RULES or refusal(eqn):
            return ()
        if eqn not in self._traced:
            try:
                with foreign() if around else contextlib.nullcontext():
                    self._traced[eqn] = custom_derivatives.rules_of(eqn)
            except Refused:
                self._traced[eqn] = ()  # JAX cannot trace the rules of some rules
        return self._traced[eqn]


def translate(to: Translation, eqn: Any, inputs: Sequence[Value]) -> Node | None:
    """The call of an equation that takes functions; None for other equations."""
    rule = None if refusal(eqn) else _RULES.get(eqn.primitive.name)
    return None if rule is None else rule(to, eqn, *inputs)


def chosen_branch(eqn: Any, inputs: Sequence[Value]) -> Any:
    """The jaxpr of a choice by a constant or by the platform; None for other equations."""
    if eqn.primitive.name != "cond" or refusal(eqn):
        return None
    branches = branches_of(eqn)
    if len(branches) == 1:
        return branches[0]
    index = inputs[0].known
    return None if index is None else branches[min(max(int(index), 0), len(branches) - 1)]


def carried(eqn: Any) -> int | None:
    """How many results of a loop over rows are carried; None for other equations."""
    return scan_of(eqn).carried if eqn.primitive.name == "scan" and not refusal(eqn) else None


def _call(
    to: Translation,
    name: str,
    args: tuple[Any, ...],
    settings: dict[str, Any] | None = None,
) -> Node:
    printed = f"jax.lax.{name}"
    call = rules.Call(vocabulary.function(printed), printed, args, settings or {})
    return to.call(call, aval=None, origin=name)


# -- rules: the translation, the equation and its operands → the call --------------------------


def _cond(to: Translation, eqn: Any, index: Value, *operands: Value) -> Node:
    branches = [
        to.function(f"branch_{i}", closed, operands, {})
        for i, closed in enumerate(branches_of(eqn))
    ]
    return _call(to, "switch", (to.node(index), branches))


def _while(to: Translation, eqn: Any, *inputs: Value) -> Node:
    loop, functions = while_of(eqn), []
    for name, closed, consts in (
        ("go_on", loop.go_on, inputs[loop.go_on_constants]),
        ("body", loop.body, inputs[loop.body_constants]),
    ):
        carry = closed.jaxpr.invars[len(consts) :]
        functions.append(to.function(name, closed, consts, {"carry": carry}))
    functions[0].output = functions[0].output[0]
    return _call(to, "while_loop", (*functions, tuple(map(to.node, inputs[loop.carry]))))


def _scan(to: Translation, eqn: Any, *inputs: Value) -> Node:
    loop = scan_of(eqn)
    first, last = loop.constants, loop.constants + loop.carried
    invars = loop.step.jaxpr.invars
    parts = {"carry": invars[first:last], "row": invars[last:]}
    body = to.function("step", loop.step, inputs[:first], parts)
    body.output = body.output[: loop.carried], body.output[loop.carried :]
    carry, xs = inputs[first:last], inputs[last:]
    settings = {"reverse": True} if loop.is_reversed else {}
    if not xs:
        settings["length"] = to.sizes.replaced(loop.length)
    args = (body, tuple(map(to.node, carry)), tuple(map(to.node, xs)))
    return _call(to, "scan", args, settings)


def _combining(to: Translation, closed: Any, count: int) -> Body:
    """The function of two elements that a reduction takes."""
    invars = closed.jaxpr.invars
    return to.function("combine", closed, (), {"x": invars[:count], "y": invars[count:]})


def _reduce(to: Translation, eqn: Any, *inputs: Value) -> Node:
    """A reduction of axes or of windows."""
    nodes, count = tuple(map(to.node, inputs)), len(inputs) // 2
    reduction = reduction_of(eqn)
    args = (nodes[:count], nodes[count:], _combining(to, reduction.combine, count))
    return _call(to, eqn.primitive.name, args, settings(to, reduction.settings))


def _scatter(to: Translation, eqn: Any, operand: Value, indices: Value, _: Value) -> Node | None:
    """A scatter that applies a function to elements, in place of updates."""
    closed = update_of(eqn)
    if closed is None:
        return None
    body = _combining(to, closed, 1)
    (element,) = body.members(0)
    body.parameters, body.names = (element,), (element.name,)
    body.output = body.output[0]
    numbers = settings(to, eqn.params)["dimension_numbers"]
    return _call(
        to,
        "scatter_apply",
        (to.node(operand), to.node(indices), body, tuple([tuple(x) for x in numbers])),
        {
            "update_shape": to.sizes.replaced(eqn.invars[2].aval.shape),
            "mode": "clip" if "CLIP" in str(eqn.params["mode"]) else "drop",
        },
    )


def _with_rules(to: Translation, eqn: Any, *inputs: Value) -> Node | None:
    """A call of a function with a custom derivative."""
    around = to.derivatives.around
    derivative = to.derivatives.rules_of(eqn)
    if not derivative:
        return None
    call = call_of(eqn)
    name, invars = call.name, call.jaxpr.jaxpr.invars
    to.derivatives.around = NO_RULES
    body = to.function(name, call.jaxpr, (), {"args": invars})
    to.derivatives.around = around + 1
    if len(derivative) == 1:
        (push,) = derivative
        count = len(invars)
        parts = {"args": push.jaxpr.invars[:count], "tangents": push.jaxpr.invars[count:]}
        bodies = [body, to.function(f"{name}_jvp", push, (), parts)]
        function: Any = call_with_jvp
    else:
        forward, backward = derivative
        outputs = len(eqn.outvars)
        count = len(forward.jaxpr.outvars) - outputs
        residuals, cotangents = backward.jaxpr.invars[:count], backward.jaxpr.invars[count:]
        first = to.function(f"{name}_forward", forward, (), {"args": forward.jaxpr.invars})
        first.output = first.output[:outputs], first.output[outputs:]
        parts = {"residuals": residuals, "cotangents": cotangents}
        bodies = [body, first, to.function(f"{name}_backward", backward, (), parts)]
        function = call_with_vjp
    to.derivatives.around = around
    args = (*bodies, tuple(map(to.node, inputs)))
    with_rules = rules.Call(function, f"na.{function.__name__}", args, {})
    return to.call(with_rules, name, aval=None, origin=eqn.primitive.name)


#: Primitive → its rule, which returns None for an equation that takes no function.
_RULES: dict[str, Callable[..., Node | None]] = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "reduce": _reduce,
    "reduce_window": _reduce,
    "scatter": _scatter,
    **dict.fromkeys(CUSTOM_DERIVATIVES, _with_rules),
}

"""Equations that take functions: loops, choices, reductions and custom derivatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nestarray.frontends.jax import vocabulary
from nestarray.graph.builder import Place
from nestarray.graph.node import Body, Node
from nestarray.importers.jax import custom_derivatives
from nestarray.importers.jax.equations import (
    CONTROL_FLOW,
    CUSTOM_DERIVATIVES,
    branches_of,
    call_of,
    reduction_of,
    refusal,
    scan_of,
    update_of,
    while_of,
)
from nestarray.importers.jax.jaxprs import aval_of, is_literal, kept_call
from nestarray.transforms import call_with_jvp, call_with_vjp

if TYPE_CHECKING:
    from nestarray.importers.jax.importer import Translation

#: Inside of this many custom derivatives, JAX differentiates the formula instead. A rule often
#: calls its own function; two make derivatives of first and second order exact.
NO_RULES = 2


class ControlFlow:
    """Translates the equations of one program that take functions.

    Args:
        of: the translation of the program.
    """

    def __init__(self, of: Translation) -> None:
        self.of = of
        self._rules = 0  # around the equations that are being translated
        self._traced_rules: dict[Any, tuple[Any, ...]] = {}  # equation → jaxprs of its derivative

    def call(self, eqn: Any, inputs: list[Any], place: Place) -> Node | None:
        """The call of an equation that takes functions; None for other equations."""
        if refusal(eqn):
            return None
        if eqn.primitive.name in CONTROL_FLOW:
            return getattr(self, f"_{eqn.primitive.name}")(eqn, inputs, place)
        if self.rules(eqn):
            return self._with_rules(eqn, inputs, place)
        return self._scatter_apply(eqn, inputs, place) if update_of(eqn) else None

    def rules(self, eqn: Any, around: int | None = None) -> tuple[Any, ...]:
        """The jaxprs of an equation's own derivative; empty if the formula's is used.

        Args:
            eqn: any equation.
            around: the number of rules around it; of the present translation by default.
        """
        around = self._rules if around is None else around
        is_custom = eqn.primitive.name in CUSTOM_DERIVATIVES and kept_call(eqn) is None
        if not is_custom or around >= NO_RULES or refusal(eqn):
            return ()
        if eqn not in self._traced_rules:
            try:
                self._traced_rules[eqn] = custom_derivatives.rules_of(eqn)
            except Exception:
                if not around:
                    raise
                self._traced_rules[eqn] = ()  # JAX cannot trace the rules of some rules
        return self._traced_rules[eqn]

    def _body(
        self,
        name: str,
        closed: Any,
        consts: Sequence[Any],
        parameters: Mapping[str, Sequence[Any]],
    ) -> Body:
        """A jaxpr as a Body.

        Args:
            name: of the function.
            closed: the jaxpr; its first inputs are `consts`.
            consts: values of the outer program.
            parameters: name → the variables of a tuple of arguments.
        """
        described = {key: [aval_of(v.aval) for v in vars] for key, vars in parameters.items()}
        outer = [self.of.node(x) for x in consts]
        constants = [self.of.node(self.of.constant(x)) for x in closed.consts]
        with self.of.builder.body(name, described) as body:
            given = [node for part in body.parameters for node in part]
            env = dict(zip(closed.jaxpr.invars, [*outer, *given], strict=True))
            env |= dict(zip(closed.jaxpr.constvars, constants, strict=True))
            self.of.depth += 1
            self.of.translate(closed.jaxpr, env)
            self.of.depth -= 1
            body.output = tuple(
                [self.of.node(x.val if is_literal(x) else env[x]) for x in closed.jaxpr.outvars]
            )
        return body

    def _take(self, name: str, args: Sequence[Any], place: Place, **kwargs: Any) -> Node:
        return self.of.builder.call(
            name, vocabulary.function(f"jax.lax.{name}"), f"jax.lax.{name}", args, kwargs,
            place=place, origin=name,
        )  # fmt: skip

    def _cond(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        index, *operands = inputs
        branches = [
            self._body(f"branch_{i}", closed, operands, {})
            for i, closed in enumerate(branches_of(eqn))
        ]
        return self._take("switch", (self.of.node(index), branches), place)

    def _while(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        loop, functions = while_of(eqn), []
        for name, closed, taken in (
            ("go_on", loop.go_on, inputs[loop.go_on_constants]),
            ("body", loop.body, inputs[loop.body_constants]),
        ):
            carry = closed.jaxpr.invars[len(taken) :]
            functions.append(self._body(name, closed, taken, {"carry": carry}))
        functions[0].output = functions[0].output[0]
        carried = tuple(map(self.of.node, inputs[loop.carry]))
        return self._take("while_loop", (*functions, carried), place)

    def _scan(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        loop = scan_of(eqn)
        first, last = loop.constants, loop.constants + loop.carried
        invars = loop.step.jaxpr.invars
        parts = {"carry": invars[first:last], "row": invars[last:]}
        body = self._body("step", loop.step, inputs[:first], parts)
        body.output = body.output[: loop.carried], body.output[loop.carried :]
        carry, xs = inputs[first:last], inputs[last:]
        settings = {"reverse": True} if loop.is_reversed else {}
        if not xs:
            settings["length"] = self.of.sizes.replaced(loop.length)
        args = (body, tuple(map(self.of.node, carry)), tuple(map(self.of.node, xs)))
        return self._take("scan", args, place, **settings)

    def _combining(self, closed: Any, count: int) -> Body:
        """The function of two elements that a reduction takes."""
        invars = closed.jaxpr.invars
        return self._body("combine", closed, (), {"x": invars[:count], "y": invars[count:]})

    def _reduce(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        """A reduction of axes or of windows."""
        nodes, count = tuple(map(self.of.node, inputs)), len(inputs) // 2
        reduction = reduction_of(eqn)
        args = (nodes[:count], nodes[count:], self._combining(reduction.combine, count))
        settings = self.of.settings(reduction.settings)
        return self._take(eqn.primitive.name, args, place, **settings)

    _reduce_window = _reduce

    def _scatter_apply(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        """A scatter that applies a function to elements, in place of updates."""
        body = self._combining(update_of(eqn), 1)
        body.parameters = body.parameters[0]
        body.names = (body.parameters[0].name,)
        body.output = body.output[0]
        operand, indices, _ = map(self.of.node, inputs)
        numbers = self.of.settings(eqn.params)["dimension_numbers"]
        return self._take(
            "scatter_apply",
            (operand, indices, body, tuple([tuple(x) for x in numbers])),
            place,
            update_shape=self.of.sizes.replaced(eqn.invars[2].aval.shape),
            mode="clip" if "CLIP" in str(eqn.params["mode"]) else "drop",
        )

    def _with_rules(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        """A call of a function with a custom derivative."""
        call, rules = call_of(eqn), self._rules
        name, invars = call.name, call.jaxpr.jaxpr.invars
        self._rules = NO_RULES
        body = self._body(name, call.jaxpr, (), {"args": invars})
        self._rules = rules + 1
        if len(self.rules(eqn, rules)) == 1:
            (rule,) = self.rules(eqn, rules)
            count = len(invars)
            parts = {"args": rule.jaxpr.invars[:count], "tangents": rule.jaxpr.invars[count:]}
            bodies = [body, self._body(f"{name}_jvp", rule, (), parts)]
            function: Any = call_with_jvp
        else:
            forward, backward = self.rules(eqn, rules)
            count = len(forward.jaxpr.outvars) - len(eqn.outvars)
            parts = {
                "residuals": backward.jaxpr.invars[:count],
                "cotangents": backward.jaxpr.invars[count:],
            }
            first = self._body(f"{name}_forward", forward, (), {"args": forward.jaxpr.invars})
            outputs = len(eqn.outvars)
            first.output = first.output[:outputs], first.output[outputs:]
            bodies = [body, first, self._body(f"{name}_backward", backward, (), parts)]
            function = call_with_vjp
        self._rules = rules
        printed = f"na.{function.__name__}"
        args = (*bodies, tuple(map(self.of.node, inputs)))
        return self.of.builder.call(
            name, function, printed, args, place=place, origin=eqn.primitive.name
        )

"""The translation of a jaxpr.

Nested calls are inlined, except upstream's named functions with custom derivatives. Loops
and choices are calls with bodies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nestarray import backends, dtypes
from nestarray.frontends import rules
from nestarray.frontends.jax import vocabulary
from nestarray.graph.builder import NOWHERE, Place
from nestarray.graph.graph import Graph
from nestarray.graph.node import Body, Node, iter_nodes
from nestarray.graph.sizes import Sizes
from nestarray.importers.jax import calls, control_flow
from nestarray.importers.jax.control_flow import NO_RULES, Derivatives
from nestarray.importers.jax.decompositions import decomposition, moves_keys, on_words, why_unread
from nestarray.importers.jax.equations import (
    CONTROL_FLOW,
    PRIMITIVES,
    inner_jaxprs,
    is_call,
    open_jaxpr,
    refusal,
    takes_functions,
)
from nestarray.importers.jax.islands import is_only_on_host, may_be_island, why_missing
from nestarray.importers.jax.jaxprs import (
    Traced,
    aval_of,
    called_jaxpr,
    is_inlined,
    is_literal,
    why_no_arrays,
)
from nestarray.importers.jax.models import Program, key_words
from nestarray.importers.jax.places import place_of
from nestarray.importers.jax.positions import (
    Positions,
    constant_positions,
    positions_of,
    slice_of,
)
from nestarray.importers.jax.sizes import SizeNodes
from nestarray.importers.jax.source import Equation, JaxSource, OpenSize
from nestarray.importers.jax.trace_errors import refuse_leaked
from nestarray.importers.protocol import Request
from nestarray.importers.translator import Translator, Value
from nestarray.interchange.pytrees import from_pytree
from nestarray.proof.source import Given
from nestarray.sizes import Size

#: Primitives that remain calls if all their inputs are constants.
_CREATION = ("iota", "broadcast_in_dim", "dim_as_value", "pure_callback")
#: The example of the random key of a call; a key that no call uses has this value.
KEY = np.zeros(2, np.uint32)


def reads(primitive: str) -> bool:
    """Whether the importer reads equations of a primitive by a rule, or as a part of the graph."""
    special = (*PRIMITIVES, "platform_index", "pure_callback")
    return primitive in special or vocabulary.find(primitive) is not None


class Translation(Translator):
    """Turns one jaxpr into one Graph."""

    framework = "jax"

    def __init__(self, program: Program, request: Request, traced: Traced) -> None:
        super().__init__(program.name, request)
        self.program, self.traced = program, traced
        self.sizes = SizeNodes(self.builder, self._add_size)
        self.sized: dict[str, tuple[Any, int]] = {}  # name → Given, axis
        self.dropped = program.dropped
        self.positions: dict[Value, tuple[Positions, ...]] = {}  # of values that are indices
        self.closed_variables: dict[int, Value] = {}  # id of an array → its value
        self.derivatives = Derivatives()
        self._decompositions: dict[Any, Any] = {}  # equation → jaxpr, or None
        self._decomposing: list[Any] = []  # primitives

    # -- coverage --------------------------------------------------------------------------

    def calls(self) -> Iterator[tuple[Any, Place]]:
        """The equations that become calls."""
        return self._equations(self.traced.closed.jaxpr, 0, NOWHERE)

    def _equations(self, jaxpr: Any, rules: int, outer: Place) -> Iterator[tuple[Any, Place]]:
        """(equation, its place) of a jaxpr and the jaxprs in it.

        Args:
            jaxpr: with its equations.
            rules: the number of rules for derivatives around it.
            outer: the place of the equation around it.
        """
        for eqn in jaxpr.eqns:
            name, place = eqn.primitive.name, place_of(eqn, outer)
            if is_inlined(eqn):
                derivative = self.derivatives.rules_of(eqn, rules)
                inner = open_jaxpr(called_jaxpr(eqn))
                yield from self._equations(inner, NO_RULES if derivative else rules, place)
                for closed in derivative:
                    yield from self._equations(closed.jaxpr, rules + 1, place)
            elif refusal(eqn):
                yield eqn, place
            elif name in CONTROL_FLOW:
                for inner in inner_jaxprs(eqn):
                    yield from self._equations(inner, rules, place)
            elif not (is_call(eqn) or name == "platform_index" or _is_identity(eqn)):
                yield eqn, place

    def name_of(self, equation: Any) -> str:
        """The primitive of an equation."""
        return str(equation.primitive.name)

    def place_of(self, equation: Any, outer: Place) -> Place:
        """The module and the line of an equation."""
        return place_of(equation, outer)

    def rule_of(self, equation: Any) -> rules.Rule | None:
        """The rule of an equation whose parameters it takes."""
        return calls.rule_of(equation)

    def replacement(self, equation: Any) -> tuple[str, str, str]:
        """The replacement of an equation; see `Translator.replacement`."""
        reason = why_no_arrays(equation) if equation.outvars else ""
        return ("missing", "", reason) if reason else super().replacement(equation)

    def parts_of(self, equation: Any) -> Iterable[Any] | None:
        """The equations of JAX's own formula."""
        formula = self._formula(equation)
        if formula is None:
            return None
        return [part for part, _ in self._equations(formula.jaxpr, NO_RULES, NOWHERE)]

    def _formula(self, eqn: Any) -> Any:
        """The jaxpr of an equation without a call, in primitives that have calls; else None."""
        if not _is_unknown(eqn) or eqn.effects or is_only_on_host(eqn):
            return None
        if eqn not in self._decompositions:
            self._decompositions[eqn] = closed = decomposition(eqn)
            if closed is not None and eqn.primitive not in self._decomposing:
                self._decomposing.append(eqn.primitive)  # its derivative may use it
                parts = self._equations(closed.jaxpr, 0, NOWHERE)
                statuses = {self.replacement(part)[0] for part, _ in parts}
                if not statuses <= {"function", "decomposed", "dropped"}:
                    self._decompositions[eqn] = None
                self._decomposing.pop()
        return self._decompositions[eqn]

    def why_missing(self, equation: Any) -> str:
        """Why an equation without a rule cannot be an island."""
        if may_be_island(equation, islands=self.request.islands):
            return ""
        rule = vocabulary.find(equation.primitive.name)
        reason = refusal(equation) or (rule.refusal(equation.params) if rule else "")
        unread = why_unread() if _is_unknown(equation) else ""
        return "; ".join(filter(None, [reason or why_missing(equation), unread]))

    # -- the graph ---------------------------------------------------------------------------

    def graph(self) -> Graph:
        """The whole translation."""
        closed, scope, leaves, structure, inputs, axes, output = self.traced
        builder, program = self.builder, self.program
        env: dict[Any, Value] = {}
        variables = [("v", p, x) for p, x in program.v.flat_items()]
        variables += [("s", p, x) for p, x in program.s.flat_items()]
        *others, key = closed.jaxpr.invars
        env[key] = self.add(Given(KEY), builder.key())
        invars = iter(others)
        for kind, path, value in variables:
            var = next(invars)
            node = builder.variable(kind, path, value, aval=aval_of(var.aval))
            env[var] = self.add(Given(value), node)
            if program.is_closed:
                self.closed_variables[id(value)] = env[var]
        filled = list(leaves)
        for i, var in zip(inputs, invars, strict=True):
            filled[i] = builder.argument(f"x_{i}", aval_of(var.aval))
            env[var] = self.add(Given(), filled[i])
            for axis, name in axes[i].items():
                self.sized.setdefault(name, (env[var].of, axis))
            self.sizes.read(filled[i], axes[i])
        example = _builtins(jax.tree.unflatten(structure, leaves))
        builder.sign(program.signed, *_builtins(jax.tree.unflatten(structure, filled)))
        results = map(self.node, self._results(closed, env))
        returned = [next(results) if backends.is_array(x) else _printable(x) for x in output.leaves]
        (nest,) = _builtins((jax.tree.unflatten(output.structure, returned),))
        updates = dict(zip(output.updated, results, strict=True))
        source = JaxSource("jax", self.equations, self.nodes, *example)
        fields = {"v": program.v, "s": program.s, "dropped": tuple(self.dropped)}
        return builder.finish(nest, updates, source, Sizes.of_scope(scope), **fields)

    def constant(self, array: Any, held: Any = None) -> Value:
        """A variable that the function names, or a constant; see `Translator.constant`."""
        if id(array) in self.closed_variables:
            return self.closed_variables[id(array)]
        refuse_leaked(self.program.name, array)
        array = array if dtypes.is_key(array) else jnp.asarray(array)
        return super().constant(array, key_words(array))

    def _add_size(self, size: Size, node: Node) -> None:
        if not self.depth:  # verify runs a loop as a whole
            self.add(OpenSize(size, self.sized), node)

    # -- equations ---------------------------------------------------------------------------

    def _results(self, called: Any, env: dict[Any, Value]) -> list[Value]:
        """Translate the equations of a jaxpr, and return its results."""
        jaxpr = open_jaxpr(called)
        for var, array in zip(jaxpr.constvars, getattr(called, "consts", ())):
            env[var] = self.constant(array)
        self.translate(jaxpr.eqns, env)
        return [read(x, env) for x in jaxpr.outvars]

    def _inlined(self, called: Any, inputs: Sequence[Value]) -> list[Value]:
        """The results of a jaxpr whose equations take the place of an equation."""
        return self._results(called, dict(zip(open_jaxpr(called).invars, inputs, strict=True)))

    def step(self, equation: Any, env: dict[Any, Any]) -> None:
        """Translate one equation; see `Translator.step`."""
        inputs = [read(x, env) for x in equation.invars]
        at = [self._positions(x) for x in inputs]
        eqn = slice_of(equation, at[1:], self.traced.scope.relations) or equation
        values = self._values(eqn, inputs[: len(eqn.invars)])
        env.update(zip(eqn.outvars, values, strict=True))
        if values and values[0].known is None and values[0] not in self.positions:
            self.positions[values[0]] = positions_of(eqn, at[: len(eqn.invars)])

    def _positions(self, value: Value) -> tuple[Positions, ...]:
        """The indices in a value, if they are known."""
        if value.known is None:
            return self.positions.get(value, ())
        return constant_positions(value.known)

    def _values(self, eqn: Any, inputs: list[Value]) -> Sequence[Value]:
        """The values of an equation: of those that take its place, or of a call."""
        rule = vocabulary.find(eqn.primitive.name)
        if rule is not None and rule.is_ignored:
            if not eqn.outvars:
                self.dropped.append(self.named(eqn, self.builder.place))
            return inputs[: len(eqn.outvars)]
        branch = control_flow.chosen_branch(eqn, inputs)
        if branch is not None:
            return self._inlined(branch, inputs[1:])
        if is_inlined(eqn) and not self.derivatives.rules_of(eqn):
            return self._inlined(called_jaxpr(eqn), inputs)
        formula = self._formula(eqn)
        if formula is not None:
            return self._inlined(formula, inputs)
        if eqn.primitive.name not in _CREATION and all(x.known is not None for x in inputs):
            result = Equation(eqn, [x.known for x in inputs]).evaluate({})
            results = result if eqn.primitive.multiple_results else [result]
            return [Value(known=x) for x in results]
        node = control_flow.translate(self, eqn, inputs)
        if node is None and moves_keys(eqn):
            return self._with_equation(eqn, inputs, None, self._on_words(eqn, inputs))
        node = node or calls.call(self, eqn, inputs)
        return self._with_equation(eqn, inputs, node, self._items(eqn, node))

    def _with_equation(
        self, eqn: Any, inputs: Sequence[Value], node: Node | None, items: Sequence[Node]
    ) -> list[Value]:
        """The values of an equation, which a proof runs."""
        if self.depth:
            return list(map(Value, items))
        operands = [x.of if x.known is None else x.known for x in inputs]
        equation = Equation(eqn, operands, self.builder.place, self.sized)
        self.add(equation, None if items == [node] else node)
        return [self.result(equation, i, item) for i, item in enumerate(items)]

    def _items(self, eqn: Any, node: Node) -> list[Node]:
        """A node for each result of a call."""
        if calls.is_single(eqn):
            return [node]
        avals = [aval_of(v.aval) for v in eqn.outvars]
        count = control_flow.carried(eqn)
        places = [(node, i) for i in range(len(avals))]
        if count is not None:
            carry, rows = self.carry_and_rows(node)
            places = [(carry, i) for i in range(count)]
            places += [(rows, i) for i in range(len(avals) - count)]
        return [
            self.builder.item(of, i, aval=aval) for (of, i), aval in zip(places, avals, strict=True)
        ]

    def _on_words(self, eqn: Any, inputs: Sequence[Value]) -> list[Node]:
        """The results of an equation on arrays of keys, on the arrays of their words."""
        words = [x if x.known is None else Value(known=key_words(x.known)) for x in inputs]
        with self.unrecorded():  # the source has one equation
            return list(map(self.node, self._inlined(on_words(eqn), words)))

    def function(
        self,
        name: str,
        closed: Any,
        consts: Sequence[Value],
        parameters: Mapping[str, Sequence[Any]],
    ) -> Body:
        """A jaxpr as a Body.

        Args:
            name: of the function.
            closed: the jaxpr; its first inputs are `consts`.
            consts: values of the outer program.
            parameters: name → the variables of a tuple of arguments.
        """
        avals = {key: [aval_of(v.aval) for v in variables] for key, variables in parameters.items()}
        outer = [self.node(x) for x in consts]
        constants = [self.constant(x).node for x in closed.consts]
        with self.body(name, avals) as body:
            arguments = [*outer, *iter_nodes(body.parameters), *constants]
            variables = [*closed.jaxpr.invars, *closed.jaxpr.constvars]
            env = dict(zip(variables, map(Value, arguments), strict=True))
            body.output = tuple(map(self.node, self._results(closed.jaxpr, env)))
        return body


def read(atom: Any, env: Mapping[Any, Value]) -> Value:
    """The value of a variable, or of a literal."""
    return Value(known=atom.val) if is_literal(atom) else env[atom]


def _printable(x: Any) -> Any:
    """A setting in an output; None for the functions of an ``equinox.Module``."""
    return None if callable(x) else x


def _builtins(pytree: Any) -> Any:
    """A nest of dicts, lists and tuples: other nodes become dicts of their children."""
    return from_pytree(pytree).to_dict()


def _is_identity(eqn: Any) -> bool:
    """Whether the results of an equation are its operands."""
    rule = vocabulary.find(eqn.primitive.name)
    return rule is not None and rule.is_ignored and bool(eqn.outvars)


def _is_unknown(eqn: Any) -> bool:
    """Whether an equation has neither a call nor a place in the control flow of a graph."""
    if eqn.primitive.name == "platform_index":
        return False
    return bool(refusal(eqn)) or (not takes_functions(eqn) and calls.rule_of(eqn) is None)

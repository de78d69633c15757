"""JAX functions and models as Graphs, through jaxprs.

Nested calls are inlined, except upstream's named functions with custom derivatives. Loops
and choices are calls with bodies.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nestarray import backends, dtypes, tree
from nestarray.container.container import from_leaves
from nestarray.frontends.jax import vocabulary
from nestarray.graph.binding import argument_names
from nestarray.graph.builder import NOWHERE, GraphBuilder, Place
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node, map_leaves
from nestarray.graph.sizes import Sizes
from nestarray.importers import keras
from nestarray.importers.coverage import Operation, operations_of
from nestarray.importers.islands import island
from nestarray.importers.jax import random_keys
from nestarray.importers.jax.control_flow import NO_RULES, ControlFlow
from nestarray.importers.jax.decompositions import decomposition, why_unread
from nestarray.importers.jax.dimensions import DECISIONS
from nestarray.importers.jax.equations import (
    CONTROL_FLOW,
    PRIMITIVES,
    branches_of,
    forget_equations,
    inner_jaxprs,
    is_call,
    open_jaxpr,
    refusal,
    scan_of,
    takes_functions,
)
from nestarray.importers.jax.islands import (
    is_only_on_host,
    may_be_island,
    name_of,
    why_missing,
)
from nestarray.importers.jax.jaxprs import (
    aval_of,
    called_jaxpr,
    is_inlined,
    is_literal,
    kept_call,
    why_no_arrays,
)
from nestarray.importers.jax.literals import TAKE_NUMBERS, number_of
from nestarray.importers.jax.models import (
    KEYWORDS,
    Program,
    key_like,
    key_words,
    kind_of,
    program_of,
)
from nestarray.importers.jax.named_calls import NamedCall, kept_calls, python_number
from nestarray.importers.jax.own_calls import Input, OwnCall, kept_ops, noted
from nestarray.importers.jax.places import place_of
from nestarray.importers.jax.positions import (
    Positions,
    constant_positions,
    positions_of,
    slice_of,
)
from nestarray.importers.jax.selection import uses_jax
from nestarray.importers.jax.sizes import (
    SizeNodes,
    named_axes,
    scope_of,
    symbolic,
    with_same_padding,
)
from nestarray.importers.jax.source import Equation, JaxSource, OpenSize, is_value
from nestarray.importers.jax.trace_errors import explained, refuse_leaked
from nestarray.importers.protocol import Imported, Request
from nestarray.importers.size_spec import declared_axes
from nestarray.interchange.pytrees import from_pytree
from nestarray.proof.source import Given, Part
from nestarray.sizes import Size
from nestarray.transforms.abstract import Scope

#: Primitives that remain calls if all their inputs are constants.
_CREATION = ("iota", "broadcast_in_dim", "dim_as_value", "pure_callback")
#: Primitives without effect on values: copies and placement.
_IDENTITIES = (
    "copy", "copy_p", "device_put", "layout_constraint", "name", "optimization_barrier", "pvary",
    "random_clone",
    "nonbatchable", "reshard", "shard_alike", "sharding_constraint",
)  # fmt: skip
#: The example of the random key of a call; one that no call uses stays as it is.
_KEY = np.zeros(2, np.uint32)
#: Primitives without results, which a graph leaves out.
_DROPPED = ("debug_callback", "debug_print", "inspect_sharding")


def reads(primitive: str) -> bool:
    """Whether the importer reads equations of a primitive by a rule, or as a part of the graph."""
    special = (*PRIMITIVES, *_IDENTITIES, *_DROPPED, "platform_index", "pure_callback")
    return primitive in special or vocabulary.find(primitive) is not None


class JaxImporter:
    """Reads functions of JAX, and models of Flax, Haiku, Equinox and Objax."""

    framework = "jax"

    def accepts(self, request: Request) -> bool:
        """Whether the source is a model of a JAX library, or a function that uses JAX."""
        if kind_of(request.source):
            return True
        if not callable(request.source) or isinstance(request.source, type):
            return False
        example = (request.args, request.kwargs)
        found = {backends.backend_of_value(x) for x in tree.leaves(example)} - {None}
        is_jax = found <= {"jax", "numpy"} and found != {"numpy"}  # JAX takes arrays of NumPy
        return is_jax and uses_jax(request.source, example)

    def keywords(self, source: Any) -> frozenset[str]:
        """The arguments with the variables of a model."""
        return KEYWORDS.get(kind_of(source), frozenset())

    @kept_ops()
    def read(self, request: Request) -> Imported:
        """Trace the source; see `Importer.read`."""
        import jax

        program = program_of(request)
        example, structure = jax.tree.flatten((program.args, program.kwargs))
        example = [_on_jax(x) for x in example]
        if not program.is_closed:  # else values are known by identity
            v, s = program.v.map(_on_jax), program.s.map(_on_jax)
            program = dataclasses.replace(program, v=v, s=s)
        leaves = [key_words(x) for x in example]
        inputs = [i for i, x in enumerate(leaves) if backends.is_array(x)]
        if request.sizes.everything:
            is_keras = kind_of(request.source) == "keras"
            shapes = keras.declared_shapes(request.source, leaves) if is_keras else None
            axes = declared_axes(program.name, leaves, shapes)
        else:
            names = argument_names(program.signed, len(program.args))
            axes = named_axes(request.sizes, names, program.args, program.kwargs)
        output: list[_Output] = []
        key = jax.random.key(0, impl="threefry2x32")

        def flat(v: list[Any], s: list[Any], arrays: list[Any], words: Any) -> list[Any]:
            filled = list(leaves)
            for i, x in zip(inputs, arrays, strict=True):
                filled[i] = key_like(example[i], x)
            args, kwargs = jax.tree.unflatten(structure, filled)
            if program.random:
                kwargs[program.random] = key_like(key, words)
            variables = from_leaves(program.v.spec, tuple(v)), from_leaves(program.s.spec, tuple(s))
            with noted(words):
                result, new = program.run(*variables, args, kwargs)
            found, spec = jax.tree.flatten(jax.tree.map(key_words, result))
            output[:] = [_Output(spec, found, list(new))]
            return [*filter(backends.is_array, found), *new.values()]

        variables = list(program.v.leaves()), list(program.s.leaves())

        scope = scope_of(leaves, axes)
        shaped = symbolic(leaves, axes, scope)
        with DECISIONS.applied(None) if any(axes) else contextlib.nullcontext():
            with explained(program.name, has_open_sizes=any(axes)), kept_calls():
                closed = jax.make_jaxpr(flat)(*variables, [shaped[i] for i in inputs], _KEY)
            scope.close()
            translation = Translation(program, request, closed, leaves, inputs, axes, scope)
            operations = translation.operations()
            graph = None
            if all(operation.status != "missing" for operation in operations):
                graph = translation.graph(structure, *output)
        avals = [(str(v.aval.dtype), "") for eqn in closed.eqns for v in eqn.outvars]
        forget_equations()
        return Imported(self.framework, program.name, operations, graph, avals)


def _on_jax(x: Any) -> Any:
    """An array of NumPy as one of JAX; other values unchanged."""
    import jax.numpy as jnp

    return jnp.asarray(x) if backends.backend_of_value(x) == "numpy" else x


class _Output(NamedTuple):
    """The results of a traced function.

    Attributes:
        structure: of the output.
        leaves: of the output; tracers, and numbers that are part of the program.
        updated: paths of the state that it writes.
    """

    structure: Any
    leaves: list[Any]
    updated: list[str]


class Translation:
    """Turns one jaxpr into one Graph."""

    def __init__(
        self,
        program: Program,
        request: Request,
        closed: Any,
        leaves: list[Any],
        inputs: list[int],
        axes: list[dict[int, str]],
        scope: Scope,
    ) -> None:
        self.program, self.request, self.closed = program, request, closed
        self.leaves, self.inputs, self.axes, self.scope = leaves, inputs, axes, scope
        self.builder = GraphBuilder(program.name, "jax", train=request.train)
        self.sizes = SizeNodes(self.builder, self._add_size)
        self.sized: dict[str, tuple[Any, int]] = {}  # name → Given, axis
        self.nodes: dict[Any, Any] = {}  # Given, Equation or Part → node
        self.equations: list[Any] = []  # the same and other equations, in order
        self.depth = 0  # of the bodies that are being translated
        self.outer = NOWHERE  # of the equations that are being translated
        self.dropped = program.dropped
        self.positions: dict[Any, tuple[Positions, ...]] = {}  # of values that are indices
        self.closed_variables: dict[int, Any] = {}  # id of an array → Given
        self.control_flow = ControlFlow(self)
        self._decompositions: dict[Any, Any] = {}  # equation → jaxpr, or None
        self._decomposing: list[Any] = []  # primitives

    # -- coverage --------------------------------------------------------------------------

    def operations(self) -> list[Operation]:
        """The operations of the jaxpr, each with its function or missing."""
        equations = self._all_equations(self.closed.jaxpr, 0, NOWHERE)
        return operations_of(
            ((eqn.primitive.name, *self._replacement(eqn)), place) for eqn, place in equations
        )

    def _replacement(self, eqn: Any) -> tuple[str, str, str]:
        """(status, function, why it is missing) of an equation."""
        rule, reason = _rule_of(eqn), why_no_arrays(eqn)
        if eqn.primitive.name in _DROPPED:
            return "dropped", "", ""
        if reason:
            return "missing", "", reason
        if rule is not None:
            return "function", rule.name, ""
        if (parts := self._parts(eqn)) is not None:
            found = [part for part, _ in self._all_equations(parts.jaxpr, NO_RULES, NOWHERE)]
            names = dict.fromkeys(self._replacement(part)[1] for part in found)
            return "decomposed", ", ".join(filter(None, names)), ""
        if may_be_island(eqn, islands=self.request.islands):
            return "island", "na.graph.island", ""
        known = vocabulary.find(eqn.primitive.name)
        reason = refusal(eqn) or (known.refusal(eqn.params) if known else "")
        reasons = [reason or why_missing(eqn), why_unread() if _is_unknown(eqn) else ""]
        return "missing", "", "; ".join(filter(None, reasons))

    def _parts(self, eqn: Any) -> Any:
        """The jaxpr of an equation without a call, in primitives that have calls; else None."""
        if not _is_unknown(eqn) or eqn.effects or is_only_on_host(eqn):
            return None
        if eqn not in self._decompositions:
            self._decompositions[eqn] = closed = decomposition(eqn)
            if closed is not None and eqn.primitive not in self._decomposing:
                self._decomposing.append(eqn.primitive)  # its derivative may use it
                found = self._all_equations(closed.jaxpr, 0, NOWHERE)
                statuses = {self._replacement(part)[0] for part, _ in found}
                if not statuses <= {"function", "decomposed", "dropped"}:
                    self._decompositions[eqn] = None
                self._decomposing.pop()
        return self._decompositions[eqn]

    def _all_equations(self, jaxpr: Any, rules: int, outer: Place) -> Iterator[tuple[Any, Place]]:
        """(equation, its place) of a jaxpr and the jaxprs in it.

        Args:
            jaxpr: with its equations.
            rules: the number of rules for derivatives around it.
            outer: the place of the equation around it.
        """
        for eqn in jaxpr.eqns:
            name, place = eqn.primitive.name, place_of(eqn, outer)
            if is_inlined(eqn):
                found = self.control_flow.rules(eqn, rules)
                inner = open_jaxpr(called_jaxpr(eqn))
                yield from self._all_equations(inner, NO_RULES if found else rules, place)
                for closed in found:
                    yield from self._all_equations(closed.jaxpr, rules + 1, place)
            elif refusal(eqn):
                yield eqn, place
            elif name in CONTROL_FLOW:
                for inner in inner_jaxprs(eqn):
                    yield from self._all_equations(inner, rules, place)
            elif name not in _IDENTITIES and not is_call(eqn) and name != "platform_index":
                yield eqn, place

    # -- the graph ---------------------------------------------------------------------------

    def graph(self, structure: Any, output: _Output) -> Graph:
        """The whole translation.

        Args:
            structure: of the arguments.
            output: of the traced function.
        """
        import jax

        jaxpr, builder, program = self.closed.jaxpr, self.builder, self.program
        env: dict[Any, Any] = {}
        variables = [("v", p, x) for p, x in program.v.flat_items()]
        variables += [("s", p, x) for p, x in program.s.flat_items()]
        *invars, key = jaxpr.invars
        env[key] = self._add(Given(_KEY), builder.key())
        invars = iter(invars)
        for kind, path, value in variables:
            var = next(invars)
            env[var] = self._add(
                Given(value), builder.variable(kind, path, value, aval=aval_of(var.aval))
            )
            if program.is_closed:
                self.closed_variables[id(value)] = env[var]
        filled = list(self.leaves)
        for i, var in zip(self.inputs, invars, strict=True):
            filled[i] = builder.argument(f"x_{i}", aval_of(var.aval))
            env[var] = self._add(Given(), filled[i])
            for axis, name in self.axes[i].items():
                self.sized.setdefault(name, (env[var], axis))
            self.sizes.read(filled[i], self.axes[i])
        args_given, kwargs_given = _builtins(jax.tree.unflatten(structure, self.leaves))
        args, kwargs = _builtins(jax.tree.unflatten(structure, filled))
        builder.sign(program.signed, args, kwargs)
        for var, value in zip(jaxpr.constvars, self.closed.consts, strict=True):
            env[var] = self.constant(value)
        self.translate(jaxpr, env)
        results = iter([self.node(x.val if is_literal(x) else env[x]) for x in jaxpr.outvars])
        returned = [next(results) if backends.is_array(x) else _printable(x) for x in output.leaves]
        (nest,) = _builtins((jax.tree.unflatten(output.structure, returned),))
        updates = dict(zip(output.updated, results, strict=True))
        source = JaxSource("jax", self.equations, self.nodes, args_given, kwargs_given)
        fields = {"v": program.v, "s": program.s, "dropped": tuple(self.dropped)}
        return builder.finish(nest, updates, source, Sizes.of_scope(self.scope), **fields)

    def constant(self, value: Any) -> Any:
        """A variable that the function names, or a constant of the graph."""
        import jax.numpy as jnp

        if id(value) in self.closed_variables:
            return self.closed_variables[id(value)]
        refuse_leaked(self.program.name, value)
        value = value if dtypes.is_key(value) else jnp.asarray(value)
        name = f"c{len(self.builder.values['constants'])}"
        node = self.builder.variable("constants", name, key_words(value))
        return self._add(Given(value), node)

    def _add(self, equation: Any, node: Node | None) -> Any:
        """Add a value of the source, and its node if it has one."""
        self.equations.append(equation)
        if node is not None:
            self.nodes[equation] = node
        return equation

    def _add_size(self, size: Size, node: Node) -> None:
        if not self.depth:  # verify runs a loop as a whole
            self._add(OpenSize(size, self.sized), node)

    def node(self, value: Any) -> Any:
        """The node of a value; a constant becomes one."""
        if isinstance(value, Node):
            return value
        if not isinstance(value, (Given, Equation, Part)):
            value = self.constant(value)
        return self.nodes[value]

    def translate(self, jaxpr: Any, env: dict[Any, Any]) -> None:
        """Add the equations of a jaxpr; `env` maps its variables to values, or nodes in bodies."""

        def read(atom: Any) -> Any:
            return atom.val if is_literal(atom) else env[atom]

        for eqn in jaxpr.eqns:
            at = [self._positions(read(x)) for x in eqn.invars]
            eqn = slice_of(eqn, at[1:], self.scope.relations) or eqn
            name, inputs = eqn.primitive.name, [read(x) for x in eqn.invars]
            branch = _constant_branch(eqn, inputs)
            if name in _IDENTITIES:
                env.update(zip(eqn.outvars, inputs, strict=True))
            elif name in _DROPPED:
                self.dropped.append(f"{name} ({place_of(eqn, self.outer)})")
            elif branch is not None:
                with self._inside(eqn):
                    self._inline(branch, inputs[1:], eqn.outvars, env)
            elif is_inlined(eqn) and not self.control_flow.rules(eqn):
                with self._inside(eqn):
                    self._inline(called_jaxpr(eqn), inputs, eqn.outvars, env)
            elif (parts := self._parts(eqn)) is not None:
                with self._inside(eqn):
                    self._inline(parts, inputs, eqn.outvars, env)
            else:
                values = self._equation(eqn, inputs)
                env.update(zip(eqn.outvars, values, strict=True))
                if values and is_value(values[0]):
                    self.positions[values[0]] = positions_of(eqn, at)

    def _positions(self, value: Any) -> tuple[Positions, ...]:
        """The indices in a value of an equation or in a constant, if they are known."""
        return self.positions.get(value, ()) if is_value(value) else constant_positions(value)

    def _inline(
        self, called: Any, inputs: Sequence[Any], outvars: Sequence[Any], env: dict[Any, Any]
    ) -> None:
        """Add the equations of a jaxpr that an equation calls, and its results to `env`."""
        body = open_jaxpr(called)
        inner = dict(zip(body.invars, inputs, strict=True))
        for var, value in zip(body.constvars, getattr(called, "consts", ()), strict=True):
            inner[var] = self.constant(value)
        self.translate(body, inner)
        for var, atom in zip(outvars, body.outvars, strict=True):
            env[var] = atom.val if is_literal(atom) else inner[atom]

    @contextlib.contextmanager
    def _inside(self, eqn: Any) -> Iterator[None]:
        """Translate the jaxprs of an equation."""
        outer, self.outer = self.outer, place_of(eqn, self.outer)
        try:
            yield
        finally:
            self.outer = outer

    def _equation(self, eqn: Any, inputs: list[Any]) -> list[Any]:
        """The values of one equation."""
        is_constant = not any(map(is_value, inputs))
        if is_constant and eqn.primitive.name not in _CREATION:
            found = Equation(eqn, inputs).evaluate({})
            return list(found) if eqn.primitive.multiple_results else [found]
        place = place_of(eqn, self.outer)
        with self._inside(eqn):
            call = self.control_flow.call(eqn, inputs, place)
            if call is not None:
                node = call
            elif random_keys.is_moving(eqn):
                node = None
                results = self._on_words(eqn, inputs)
            elif kept_call(eqn) or _rule_of(eqn):
                node = self._call(eqn, inputs, place)
            else:
                node = self._island(eqn, inputs, place)
        if node is not None:
            results = self._results(eqn, node)
        if self.depth:  # verify runs a loop as a whole
            return results
        equation = Equation(eqn, inputs, place, self.sized)
        if not eqn.primitive.multiple_results:
            return [self._add(equation, results[0])]
        self._add(equation, None if results == [node] else node)
        return [self._add(Part(equation, i), result) for i, result in enumerate(results)]

    def _results(self, eqn: Any, node: Node) -> list[Node]:
        """A node for each result."""
        named = kept_call(eqn)
        is_single = named is not None and (isinstance(named, NamedCall) or named.is_single)
        if is_single or not eqn.primitive.multiple_results:
            return [node]
        avals = [aval_of(v.aval) for v in eqn.outvars]
        if eqn.primitive.name == "scan" and not refusal(eqn):
            count = scan_of(eqn).carried
            pair = [self.builder.item(node, i, name) for i, name in enumerate(("carry", "ys"))]
            places = [(pair[0], i) for i in range(count)]
            places += [(pair[1], i) for i in range(len(avals) - count)]
        else:
            places = [(node, i) for i in range(len(avals))]
        return [
            self.builder.item(of, i, aval=aval) for (of, i), aval in zip(places, avals, strict=True)
        ]

    def _call(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        name = eqn.primitive.name
        named = kept_call(eqn)
        if isinstance(named, OwnCall):
            return self._own_call(eqn, named, inputs, place)
        if named is not None:
            return self._named_call(eqn, named, inputs, place)
        rule = vocabulary.find(name)
        assert rule is not None
        arguments = [self._argument(name, x) for x in inputs]
        params = self.settings(with_same_padding(eqn))
        if name == "broadcast_in_dim" and not isinstance(arguments[0], Node):
            rule = vocabulary.Rule(name, "jax.lax.full")
            dtype = dtypes.as_dtype(eqn.outvars[0].aval.dtype)
            params = {"shape": params["shape"], "fill_value": arguments[0], "dtype": dtype}
            arguments = []
        call = rule.call({**rule.operands(arguments), **params})
        is_single = not eqn.primitive.multiple_results
        return self.builder.call(
            call.name.rpartition(".")[2],
            call.function,
            call.name,
            call.args,
            call.kwargs,
            aval=aval_of(eqn.outvars[0].aval) if is_single else None,
            place=place,
            origin=name,
        )

    def _on_words(self, eqn: Any, inputs: list[Any]) -> list[Node]:
        """The results of an equation on arrays of keys, on the arrays of their words."""
        jaxpr = random_keys.on_words(eqn)
        env: dict[Any, Any] = {}
        self.depth += 1  # the source has one equation
        self._inline(jaxpr, [key_words(x) for x in inputs], eqn.outvars, env)
        self.depth -= 1
        return [self.node(env[var]) for var in eqn.outvars]

    def _island(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        """A call in JAX, on the host."""
        name, nodes = name_of(eqn), tuple(map(self.node, inputs))
        return self.builder.call(
            name, island, "na.graph.island", (name, *nodes),
            {"framework": "jax", "takes": tuple([dtypes.as_dtype(str(v.aval.dtype)) for v in eqn.invars])},
            aval=None if eqn.primitive.multiple_results else aval_of(eqn.outvars[0].aval),
            place=place, origin=eqn.primitive.name,
        )  # fmt: skip

    def _named_call(self, eqn: Any, named: NamedCall, inputs: list[Any], place: Place) -> Node:
        """A call of a public function, by position, with settings by name."""
        given = [
            x if is_value(x) else python_number(x, var.aval)
            for x, var, is_given in zip(inputs, eqn.invars, named.is_given, strict=True)
            if is_given
        ]
        args = [x if isinstance(x, (int, float, complex)) else self.node(x) for x in given]
        rule = named.rule
        return self.builder.call(
            rule.name.rpartition(".")[2], rule.function, rule.name, args, named.settings,
            aval=aval_of(eqn.outvars[0].aval), place=place, origin=eqn.primitive.name,
        )  # fmt: skip

    def _own_call(self, eqn: Any, call: OwnCall, inputs: list[Any], place: Place) -> Node:
        """A call of an op of `na`."""

        def held(x: Any) -> Any:
            return self.node(inputs[x.index]) if isinstance(x, Input) else self.sizes.replaced(x)

        args, kwargs = map_leaves(held, [list(call.args), call.kwargs])
        name, aval = call.op.name, aval_of(eqn.outvars[0].aval) if call.is_single else None
        return self.builder.call(
            name, call.op.function, f"na.{name}", args, kwargs, aval=aval, place=place, origin=name
        )

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters as the graph holds them."""
        return {key: _setting(self.sizes.replaced(value)) for key, value in params.items()}

    def _argument(self, name: str, value: Any) -> Any:
        """The node of an operand, or a number."""
        if is_value(value):
            return self.node(value)
        number = number_of(value)
        is_filled = name == "broadcast_in_dim" and np.ndim(value) == 0
        if is_filled:
            return np.asarray(value).item()
        if number is not None and name in TAKE_NUMBERS:
            return number
        return self.node(value)


def _printable(x: Any) -> Any:
    """A setting in an output; None for the functions of an ``equinox.Module``."""
    return None if callable(x) else x


def _builtins(pytree: Any) -> Any:
    """A nest of dicts, lists and tuples: other nodes become dicts of their children."""
    return from_pytree(pytree).to_dict()


def _constant_branch(eqn: Any, inputs: Sequence[Any]) -> Any:
    """The jaxpr of a choice by a constant or by the platform; None for other equations."""
    if eqn.primitive.name != "cond" or refusal(eqn):
        return None
    branches = branches_of(eqn)
    if len(branches) == 1:
        return branches[0]
    if is_value(inputs[0]):
        return None
    return branches[min(max(int(inputs[0]), 0), len(branches) - 1)]


def _rule_of(eqn: Any) -> vocabulary.Rule | None:
    """The rule of an equation whose parameters it takes."""
    name = eqn.primitive.name
    rule = vocabulary.find(name)
    if name in ("psum", "pmax", "pmin") and eqn.primitive.multiple_results:
        return None  # JAX 0.8: of several operands
    return None if rule is None or rule.refusal(eqn.params) else rule


def _is_unknown(eqn: Any) -> bool:
    """Whether an equation has neither a call nor a place in the control flow of a graph."""
    if eqn.primitive.name in (*_IDENTITIES, *_DROPPED, "platform_index"):
        return False
    return bool(refusal(eqn)) or (not takes_functions(eqn) and _rule_of(eqn) is None)


def _setting(value: Any) -> Any:
    if isinstance(value, (np.dtype, type)):  # JAX's dtypes are classes
        return dtypes.as_dtype(value)
    if isinstance(value, np.integer):
        return int(value)
    if hasattr(value, "_fields"):
        return type(value)(*map(_setting, value))
    if type(value) in (tuple, list):
        return type(value)([_setting(item) for item in value])
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value

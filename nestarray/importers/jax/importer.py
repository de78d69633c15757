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
from nestarray.errors import ConversionError, DtypeError
from nestarray.frontends.jax import vocabulary
from nestarray.graph.binding import argument_names
from nestarray.graph.builder import NOWHERE, GraphBuilder, Place
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Body, Node
from nestarray.importers import keras
from nestarray.importers.coverage import Operation
from nestarray.importers.islands import island
from nestarray.importers.jax import custom_derivatives, linear_solves, random_keys
from nestarray.importers.jax.islands import may_be_island, name_of, why_missing
from nestarray.importers.jax.literals import TAKE_NUMBERS, number_of
from nestarray.importers.jax.loops import while_of
from nestarray.importers.jax.models import (
    KEYWORDS,
    Program,
    key_like,
    key_words,
    kind_of,
    program_of,
)
from nestarray.importers.jax.named_calls import NamedCall, kept_calls, named_call, python_number
from nestarray.importers.jax.places import place_of
from nestarray.importers.jax.selection import uses_jax
from nestarray.importers.jax.sizes import SizeNodes, named_axes, symbolic, text_of
from nestarray.importers.jax.source import Equation, Given, JaxSource, Part, Size
from nestarray.importers.jax.trace_errors import explained, refuse_leaked
from nestarray.importers.protocol import Imported, Request
from nestarray.importers.size_spec import declared_axes
from nestarray.interchange.pytrees import from_pytree
from nestarray.transforms import call_with_jvp, call_with_vjp

#: Primitive → the parameter with the jaxpr that it calls.
_CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "checkpoint": "jaxpr",
    "remat2": "jaxpr",
    "remat_opt": "fwd_jaxpr",
    **dict.fromkeys(("custom_jvp_call", "custom_vjp_call"), "call_jaxpr"),
    "custom_linear_solve": "jaxprs",
    "custom_vmap_call": "call",
    "composite": "jaxpr",
}
_CONTROL_FLOW = ("cond", "while", "scan", "reduce", "reduce_window")
#: Inside of this many custom derivatives, JAX differentiates the formula instead. A rule often
#: calls its own function; two make derivatives of first and second order exact.
_NO_RULES = 2
#: Primitives that remain calls if all their inputs are constants.
_CREATION = ("iota", "broadcast_in_dim", "dim_as_value", "pure_callback")
#: Parameter of choices by platform, of which only one branch runs here.
_PLATFORMS = "branches_platforms"
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
            result, new = program.run(*variables, args, kwargs)
            found, spec = jax.tree.flatten(jax.tree.map(key_words, result))
            output[:] = [_Output(spec, found, list(new))]
            return [*filter(backends.is_array, found), *new.values()]

        shaped = symbolic(leaves, axes)
        arrays = [shaped[i] for i in inputs]
        variables = list(program.v.leaves()), list(program.s.leaves())
        try:
            with explained(program.name), kept_calls():
                closed = jax.make_jaxpr(flat)(*variables, arrays, _KEY)
        except (jax.errors.InconclusiveDimensionOperation, TypeError) as error:
            if not any(axes):
                raise
            raise ConversionError(
                f"trace_graph: dynamic: {program.name} depends on an open size: "
                f"{str(error).splitlines()[0]} Leave this size out of dynamic="
            ) from error
        translation = _Translation(program, request, closed, leaves, inputs, axes)
        operations = translation.operations()
        graph = None
        if all(operation.status != "missing" for operation in operations):
            graph = translation.graph(structure, *output)
        avals = [(str(v.aval.dtype), "") for eqn in closed.eqns for v in eqn.outvars]
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


class _Translation:
    """Turns one jaxpr into one Graph."""

    def __init__(
        self,
        program: Program,
        request: Request,
        closed: Any,
        leaves: list[Any],
        inputs: list[int],
        axes: list[dict[int, str]],
    ) -> None:
        self.program, self.request, self.closed = program, request, closed
        self.leaves, self.inputs, self.axes = leaves, inputs, axes
        self.builder = GraphBuilder(program.name, "jax", train=request.train)
        self.sizes = SizeNodes(self.builder, self._add_size)
        self.sized: dict[str, tuple[Any, int]] = {}  # name → Given, axis
        self.nodes: dict[Any, Any] = {}  # Given, Equation or Part → node
        self.equations: list[Any] = []  # the same and other equations, in order
        self.depth = 0  # of the bodies that are being translated
        self.outer = NOWHERE  # of the equations that are being translated
        self.dropped = program.dropped
        self.closed_variables: dict[int, Any] = {}  # id of an array → Given
        self.rules = 0  # around the equations that are being translated
        self.traced_rules: dict[Any, tuple[Any, ...]] = {}  # equation → jaxprs of its derivative

    # -- coverage --------------------------------------------------------------------------

    def operations(self) -> list[Operation]:
        """The operations of the jaxpr, each with its function or missing."""
        groups: dict[tuple[str, str, str, str], list[Place]] = {}
        for eqn, place in self._all_equations(self.closed.jaxpr, 0, NOWHERE):
            known = eqn.primitive.name, *self._replacement(eqn)
            groups.setdefault(known, []).append(place)
        return [
            Operation(name, status, becomes, tuple(places), reason)
            for (name, status, becomes, reason), places in groups.items()
        ]

    def _replacement(self, eqn: Any) -> tuple[str, str, str]:
        """(status, function, why it is missing) of an equation."""
        rule, reason = vocabulary.find(eqn.primitive.name), _why_no_arrays(eqn)
        if eqn.primitive.name in _DROPPED:
            return "dropped", "", ""
        if reason:
            return "missing", "", reason
        if rule is not None:
            return "function", rule.name, ""
        if may_be_island(eqn, islands=self.request.islands):
            return "island", "na.graph.island", ""
        return "missing", "", why_missing(eqn)

    def _all_equations(self, jaxpr: Any, rules: int, outer: Place) -> Iterator[tuple[Any, Place]]:
        """(equation, its place) of a jaxpr and the jaxprs in it.

        Args:
            jaxpr: with its equations.
            rules: the number of rules for derivatives around it.
            outer: the place of the equation around it.
        """
        for eqn in jaxpr.eqns:
            name, place = eqn.primitive.name, place_of(eqn, outer)
            if _is_inlined(eqn):
                found = self._rules(eqn, rules)
                inner = _open(_called(eqn))
                yield from self._all_equations(inner, _NO_RULES if found else rules, place)
                for closed in found:
                    yield from self._all_equations(closed.jaxpr, rules + 1, place)
            elif name in _CONTROL_FLOW:
                for inner in _jaxprs(eqn.params):
                    yield from self._all_equations(inner, rules, place)
            elif name not in _IDENTITIES and name not in _CALLS and name != "platform_index":
                yield eqn, place

    def _rules(self, eqn: Any, rules: int) -> tuple[Any, ...]:
        """The jaxprs of an equation's own derivative; empty if the formula's is used."""
        is_custom = eqn.primitive.name in custom_derivatives.PRIMITIVES and _named(eqn) is None
        if not is_custom or rules >= _NO_RULES:
            return ()
        if eqn not in self.traced_rules:
            try:
                self.traced_rules[eqn] = custom_derivatives.rules_of(eqn)
            except Exception:
                if not rules:
                    raise
                self.traced_rules[eqn] = ()  # JAX cannot trace the rules of some rules
        return self.traced_rules[eqn]

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
                Given(value), builder.variable(kind, path, value, aval=_aval(var.aval))
            )
            if program.is_closed:
                self.closed_variables[id(value)] = env[var]
        filled = list(self.leaves)
        for i, var in zip(self.inputs, invars, strict=True):
            filled[i] = builder.argument(f"x_{i}", _aval(var.aval))
            env[var] = self._add(Given(), filled[i])
            for axis, name in self.axes[i].items():
                self.sized.setdefault(name, (env[var], axis))
            self.sizes.read(filled[i], self.axes[i], self.leaves[i].shape)
        args_given, kwargs_given = _builtins(jax.tree.unflatten(structure, self.leaves))
        args, kwargs = _builtins(jax.tree.unflatten(structure, filled))
        builder.sign(program.signed, args, kwargs)
        for var, value in zip(jaxpr.constvars, self.closed.consts, strict=True):
            env[var] = self._constant(value)
        self._translate(jaxpr, env)
        results = iter([self._node(x.val if _is_literal(x) else env[x]) for x in jaxpr.outvars])
        returned = [next(results) if backends.is_array(x) else _printable(x) for x in output.leaves]
        (nest,) = _builtins((jax.tree.unflatten(output.structure, returned),))
        updates = dict(zip(output.updated, results, strict=True))
        source = JaxSource("jax", self.equations, self.nodes, args_given, kwargs_given)
        fields = {"v": program.v, "s": program.s, "dropped": tuple(self.dropped)}
        return builder.finish(nest, updates, source, self.sizes.sizes(), **fields)

    def _constant(self, value: Any) -> Any:
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

    def _add_size(self, text: str, node: Node) -> None:
        if not self.depth:  # verify runs a loop as a whole
            self._add(Size(text, self.sized), node)

    def _node(self, value: Any) -> Any:
        """The node of a value; a constant becomes one."""
        if isinstance(value, Node):
            return value
        if not isinstance(value, (Given, Equation, Part)):
            value = self._constant(value)
        return self.nodes[value]

    def _translate(self, jaxpr: Any, env: dict[Any, Any]) -> None:
        """Add the equations of a jaxpr; `env` maps its variables to values, or nodes in bodies."""

        def read(atom: Any) -> Any:
            return atom.val if _is_literal(atom) else env[atom]

        for eqn in jaxpr.eqns:
            name, inputs = eqn.primitive.name, [read(x) for x in eqn.invars]
            branch = _constant_branch(eqn, inputs)
            if name in _IDENTITIES:
                env.update(zip(eqn.outvars, inputs, strict=True))
            elif name in _DROPPED:
                self.dropped.append(f"{name} ({place_of(eqn, self.outer)})")
            elif branch is not None:
                with self._inside(eqn):
                    self._inline(branch, inputs[1:], eqn.outvars, env)
            elif _is_inlined(eqn) and not self._rules(eqn, self.rules):
                with self._inside(eqn):
                    self._inline(_called(eqn), inputs, eqn.outvars, env)
            else:
                env.update(zip(eqn.outvars, self._equation(eqn, inputs), strict=True))

    def _inline(
        self, called: Any, inputs: Sequence[Any], outvars: Sequence[Any], env: dict[Any, Any]
    ) -> None:
        """Add the equations of a jaxpr that an equation calls, and its results to `env`."""
        body = _open(called)
        inner = dict(zip(body.invars, inputs, strict=True))
        for var, value in zip(body.constvars, getattr(called, "consts", ()), strict=True):
            inner[var] = self._constant(value)
        self._translate(body, inner)
        for var, atom in zip(outvars, body.outvars, strict=True):
            env[var] = atom.val if _is_literal(atom) else inner[atom]

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
        known = (Given, Equation, Part, Node)
        is_constant = not any(isinstance(x, known) for x in inputs)
        if is_constant and eqn.primitive.name not in _CREATION:
            found = Equation(eqn, inputs).evaluate({})
            return list(found) if eqn.primitive.multiple_results else [found]
        place = place_of(eqn, self.outer)
        with self._inside(eqn):
            if eqn.primitive.name in _CONTROL_FLOW:
                node = getattr(self, f"_{eqn.primitive.name}")(eqn, inputs, place)
            elif self._rules(eqn, self.rules):
                node = self._with_rules(eqn, inputs, place)
            elif _applies_function(eqn):
                node = self._scatter_apply(eqn, inputs, place)
            elif random_keys.is_moving(eqn):
                node = self._on_words(eqn, inputs)
            elif _named(eqn) or vocabulary.find(eqn.primitive.name):
                node = self._call(eqn, inputs, place)
            else:
                node = self._island(eqn, inputs, place)
        if self.depth:  # verify runs a loop as a whole
            return self._results(eqn, node)
        equation = Equation(eqn, inputs, place, self.sized)
        results = self._results(eqn, node)
        if not eqn.primitive.multiple_results:
            return [self._add(equation, node)]
        self._add(equation, None if results == [node] else node)
        return [self._add(Part(equation, i), result) for i, result in enumerate(results)]

    def _results(self, eqn: Any, node: Node) -> list[Node]:
        """A node for each result."""
        if not eqn.primitive.multiple_results or _named(eqn) is not None:
            return [node]
        avals = [_aval(v.aval) for v in eqn.outvars]
        if eqn.primitive.name == "scan":
            count = eqn.params["num_carry"]
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
        named = _named(eqn)
        if named is not None:
            return self._named_call(eqn, named, inputs, place)
        rule = vocabulary.find(name)
        assert rule is not None
        arguments = [self._argument(name, x) for x in inputs]
        params = self._settings(eqn.params)
        if name == "broadcast_in_dim" and not isinstance(arguments[0], Node):
            rule = vocabulary.Rule(name, "jax.lax.full")
            dtype = dtypes.as_dtype(eqn.outvars[0].aval.dtype)
            params = {"shape": params["shape"], "fill_value": arguments[0], "dtype": dtype}
            arguments = []
        call = rule.call({**_operands(rule, name, arguments), **params})
        is_single = not eqn.primitive.multiple_results
        return self.builder.call(
            call.name.rpartition(".")[2],
            call.function,
            call.name,
            call.args,
            call.kwargs,
            aval=_aval(eqn.outvars[0].aval) if is_single else None,
            place=place,
            origin=name,
        )

    def _on_words(self, eqn: Any, inputs: list[Any]) -> Node:
        """An equation on arrays of keys, on the arrays of their words."""
        jaxpr = random_keys.on_words(eqn)
        env: dict[Any, Any] = {}
        self.depth += 1  # the source has one equation
        self._inline(jaxpr, [key_words(x) for x in inputs], [eqn.outvars[0]], env)
        self.depth -= 1
        return self._node(env[eqn.outvars[0]])

    def _island(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        """A call in JAX, on the host."""
        name, nodes = name_of(eqn), tuple(map(self._node, inputs))
        return self.builder.call(
            name, island, "na.graph.island", (name, *nodes),
            {"framework": "jax", "takes": tuple([dtypes.as_dtype(str(v.aval.dtype)) for v in eqn.invars])},
            aval=None if eqn.primitive.multiple_results else _aval(eqn.outvars[0].aval),
            place=place, origin=eqn.primitive.name,
        )  # fmt: skip

    def _named_call(self, eqn: Any, named: NamedCall, inputs: list[Any], place: Place) -> Node:
        """A call of a public function, by position, with settings by name."""
        given = [
            x if _is_value(x) else python_number(x, var.aval)
            for x, var, is_given in zip(inputs, eqn.invars, named.is_given, strict=True)
            if is_given
        ]
        args = [x if isinstance(x, (int, float, complex)) else self._node(x) for x in given]
        rule = named.rule
        return self.builder.call(
            rule.name.rpartition(".")[2], rule.function, rule.name, args, named.settings,
            aval=_aval(eqn.outvars[0].aval), place=place, origin=eqn.primitive.name,
        )  # fmt: skip

    def _settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters as the graph holds them."""
        return {key: _setting(self.sizes.replaced(value)) for key, value in params.items()}

    def _argument(self, name: str, value: Any) -> Any:
        """The node of an operand, or a number."""
        if isinstance(value, (Given, Equation, Part, Node)):
            return self._node(value)
        number = number_of(value)
        is_filled = name == "broadcast_in_dim" and np.ndim(value) == 0
        if is_filled:
            return np.asarray(value).item()
        if number is not None and name in TAKE_NUMBERS:
            return number
        return self._node(value)

    # -- control flow ------------------------------------------------------------------------

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
        described = {key: [_aval(v.aval) for v in vars] for key, vars in parameters.items()}
        outer = [self._node(x) for x in consts]
        constants = [self._node(self._constant(x)) for x in closed.consts]
        with self.builder.body(name, described) as body:
            given = [node for part in body.parameters for node in part]
            env = dict(zip(closed.jaxpr.invars, [*outer, *given], strict=True))
            env |= dict(zip(closed.jaxpr.constvars, constants, strict=True))
            self.depth += 1
            self._translate(closed.jaxpr, env)
            self.depth -= 1
            body.output = tuple(
                [self._node(x.val if _is_literal(x) else env[x]) for x in closed.jaxpr.outvars]
            )
        return body

    def _take(self, name: str, args: Sequence[Any], place: Place, **kwargs: Any) -> Node:
        return self.builder.call(
            name, vocabulary.function(f"jax.lax.{name}"), f"jax.lax.{name}", args, kwargs,
            place=place, origin=name,
        )  # fmt: skip

    def _cond(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        index, *operands = inputs
        branches = [
            self._body(f"branch_{i}", closed, operands, {})
            for i, closed in enumerate(eqn.params["branches"])
        ]
        return self._take("switch", (self._node(index), branches), place)

    def _while(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        loop, functions = while_of(eqn), []
        for name, closed, taken in (
            ("go_on", loop.go_on, inputs[loop.go_on_constants]),
            ("body", loop.body, inputs[loop.body_constants]),
        ):
            carry = closed.jaxpr.invars[len(taken) :]
            functions.append(self._body(name, closed, taken, {"carry": carry}))
        functions[0].output = functions[0].output[0]
        carried = tuple(map(self._node, inputs[loop.carry]))
        return self._take("while_loop", (*functions, carried), place)

    def _scan(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        params = eqn.params
        first, count = params["num_consts"], params["num_carry"]
        invars = params["jaxpr"].jaxpr.invars
        parts = {"carry": invars[first : first + count], "row": invars[first + count :]}
        body = self._body("step", params["jaxpr"], inputs[:first], parts)
        body.output = body.output[:count], body.output[count:]
        carry, xs = inputs[first : first + count], inputs[first + count :]
        settings = {"reverse": True} if params["reverse"] else {}
        if not xs:
            settings["length"] = self.sizes.replaced(params["length"])
        args = (body, tuple(map(self._node, carry)), tuple(map(self._node, xs)))
        return self._take("scan", args, place, **settings)

    def _combining(self, jaxpr: Any, constants: Sequence[Any], count: int) -> Body:
        """The function of two elements that a reduction takes."""
        from jax.extend.core import ClosedJaxpr

        closed = ClosedJaxpr(_open(jaxpr), getattr(jaxpr, "consts", constants))
        invars = closed.jaxpr.invars
        return self._body("combine", closed, (), {"x": invars[:count], "y": invars[count:]})

    def _reduce(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        nodes, count = tuple(map(self._node, inputs)), len(inputs) // 2
        body = self._combining(eqn.params["jaxpr"], (), count)
        args = (nodes[:count], nodes[count:], body, tuple(eqn.params["dimensions"]))
        return self._take("reduce", args, place)

    def _reduce_window(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        nodes, count = tuple(map(self._node, inputs)), len(inputs) // 2
        params = dict(eqn.params)
        body = self._combining(params.pop("jaxpr"), params.pop("consts"), count)
        args = (nodes[:count], nodes[count:], body)
        return self._take("reduce_window", args, place, **self._settings(params))

    def _scatter_apply(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        """A scatter that applies a function to elements, in place of updates."""
        body = self._combining(eqn.params["update_jaxpr"], eqn.params["update_consts"], 1)
        body.parameters = body.parameters[0]
        body.names = (body.parameters[0].name,)
        body.output = body.output[0]
        operand, indices, _ = map(self._node, inputs)
        numbers = self._settings(eqn.params)["dimension_numbers"]
        return self._take(
            "scatter_apply",
            (operand, indices, body, tuple([tuple(x) for x in numbers])),
            place,
            update_shape=self.sizes.replaced(eqn.invars[2].aval.shape),
            mode="clip" if "CLIP" in str(eqn.params["mode"]) else "drop",
        )

    def _with_rules(self, eqn: Any, inputs: list[Any], place: Place) -> Node:
        """A call of a function with a custom derivative."""
        call = _called(eqn)
        name, rules = custom_derivatives.name_of(eqn), self.rules
        avals = [v.aval for v in call.jaxpr.invars]
        self.rules = _NO_RULES
        body = self._body(name, call, (), {"args": call.jaxpr.invars})
        self.rules = rules + 1
        if len(self._rules(eqn, rules)) == 1:
            (rule,) = self._rules(eqn, rules)
            count = len(avals)
            parts = {"args": rule.jaxpr.invars[:count], "tangents": rule.jaxpr.invars[count:]}
            bodies = [body, self._body(f"{name}_jvp", rule, (), parts)]
            function: Any = call_with_jvp
        else:
            forward, backward = self._rules(eqn, rules)
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
        self.rules = rules
        printed = f"na.{function.__name__}"
        args = (*bodies, tuple(map(self._node, inputs)))
        return self.builder.call(
            name, function, printed, args, place=place, origin=eqn.primitive.name
        )


def _printable(x: Any) -> Any:
    """A setting in an output; None for the functions of an ``equinox.Module``."""
    return None if callable(x) else x


def _builtins(pytree: Any) -> Any:
    """A nest of dicts, lists and tuples: other nodes become dicts of their children."""
    return from_pytree(pytree).to_dict()


def _is_value(x: Any) -> bool:
    return isinstance(x, (Given, Equation, Part, Node))


def _is_literal(atom: Any) -> bool:
    return hasattr(atom, "val")


def _is_inlined(eqn: Any) -> bool:
    """Whether the equations of a called jaxpr take the place of the call."""
    return (eqn.primitive.name in _CALLS and _named(eqn) is None) or bool(
        eqn.params.get(_PLATFORMS)
    )


def _called(eqn: Any) -> Any:
    """The jaxpr of the values of an equation that calls one."""
    name, params = eqn.primitive.name, eqn.params
    if name == "cond":
        return params["branches"][_platform(params[_PLATFORMS])]
    found = params[_CALLS[name]]
    return linear_solves.solution(eqn) if name == "custom_linear_solve" else found


def _platform(platforms: Sequence[Sequence[str] | None]) -> int:
    """The index of the branch for the platform on which the source runs."""
    import jax

    here = [i for i, names in enumerate(platforms) if names and jax.default_backend() in names]
    return here[0] if here else platforms.index(None)


def _open(jaxpr: Any) -> Any:
    """The jaxpr without its constants."""
    return getattr(jaxpr, "jaxpr", jaxpr)


def _constant_branch(eqn: Any, inputs: Sequence[Any]) -> Any:
    """The jaxpr of a choice by a constant; None for other equations."""
    if eqn.primitive.name != "cond" or isinstance(inputs[0], (Given, Equation, Part, Node)):
        return None
    branches = eqn.params["branches"]
    return branches[min(max(int(inputs[0]), 0), len(branches) - 1)]


def _jaxprs(params: Mapping[str, Any]) -> Iterator[Any]:
    for value in params.values():
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if hasattr(_open(item), "eqns"):
                yield _open(item)


def _named(eqn: Any) -> NamedCall | None:
    """The call of a public function that an equation is; None for other equations."""
    return named_call(eqn) if eqn.primitive.name in _CALLS else None


def _applies_function(eqn: Any) -> bool:
    """Whether a scatter computes its values from the elements that it replaces."""
    jaxpr = eqn.params.get("update_jaxpr") if eqn.primitive.name == "scatter" else None
    return jaxpr is not None and jaxpr.outvars[0] is not jaxpr.invars[1]


def _why_no_arrays(eqn: Any) -> str:
    """Why the operands or results of an equation cannot be arrays; empty if they can."""
    try:
        for var in (*eqn.invars, *eqn.outvars):
            _aval(var.aval)
    except DtypeError as error:
        return str(error)
    return ""


def _aval(aval: Any) -> Aval:
    """Shape and dtype; of random keys those of their words, an array uint32[2] for each."""
    shape = tuple(map(text_of, aval.shape))
    if str(aval.dtype).startswith("key<"):
        _check_generator(str(aval.dtype))
        return Aval((*shape, 2), dtypes.uint32)
    return Aval(shape, dtypes.as_dtype(str(aval.dtype)))


def _check_generator(key: str) -> None:
    if key != "key<fry>":
        raise DtypeError(
            f"random key: got {key}, expected key<fry>, a key of threefry2x32: "
            'jax.random.key(0, impl="threefry2x32")'
        )


def _operands(rule: vocabulary.Rule, name: str, arguments: list[Any]) -> dict[str, Any]:
    """Operands by parameter; several of one parameter are a list."""
    if name in ("concatenate", "stack"):
        return {"operands": arguments}
    if name == "sort":
        return {"operand": arguments}
    if name == "select_n":
        return {"which": arguments[0], "cases": arguments[1:]}
    if name == "dynamic_slice":
        return {"operand": arguments[0], "start_indices": arguments[1:]}
    if name == "dynamic_update_slice":
        return dict(zip(("operand", "update"), arguments)) | {"start_indices": arguments[2:]}
    parameters = vocabulary.rules.signature_of(rule.function).parameters
    return dict(zip(parameters, arguments))


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

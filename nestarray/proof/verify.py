"""Compare a graph with its source: outputs, state, gradients and every call.

Errors are relative to the largest magnitude of the array. `calls.py` compares call by call.
Dtypes have to be the source's, but for changes that were asked for (`expected_dtypes.py`).

An export may differ from its model, so a copy of the model is called once and compared with the
exported program.

If every single call agrees, errors over the tolerance may be rounding (`rounding.py`): they pass
if the source's own result changes as much when its inputs change by one ulp. A gradient with a
larger error passes if the source has the same gradient at the graph's values
(`linearization.py`). Explicit tolerances of the caller are strict.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from nestarray import dtypes, random
from nestarray.backends import is_array
from nestarray.container import Container
from nestarray.display.progress import progress
from nestarray.errors import ArgumentError, ConversionError, UnsupportedError
from nestarray.errors.unknown_names import parameter_hint
from nestarray.graph.binding import by_own_names, input_names
from nestarray.graph.derived import DerivedSource, inputs_of, traced_graph
from nestarray.graph.execution import Override, Run, given_values, identity
from nestarray.graph.graph import Graph
from nestarray.graph.node import Node, map_nodes
from nestarray.proof.calls import Calls, Side, is_unset, on_backend
from nestarray.proof.comparison import Pair, compare, compare_together, leaves, worst
from nestarray.proof.expected_dtypes import ExpectedDtypes, number_dtype
from nestarray.proof.global_state import keeping_random_states, leaving_modes
from nestarray.proof.linearization import Along
from nestarray.proof.projection import projection
from nestarray.proof.report import Comparison, Report, Sample, first_divergence
from nestarray.proof.rounding import SEEDS, allowance, moved, variants, with_rounding
from nestarray.proof.sampling import drawn_like
from nestarray.proof.source import Result, Source
from nestarray.proof.tolerances import Tolerances
from nestarray.transforms import execute_with_gradients, jit

_SETTINGS = ("rtol", "gradient_rtol", "gradients", "nodes", "samples", "key", "compiled")


@keeping_random_states()
@leaving_modes()
def verify(
    graph: Graph,
    /,
    *args: Any,
    rtol: float | None = None,
    gradient_rtol: float | None = None,
    gradients: bool = True,
    nodes: bool | None = None,
    samples: int = 0,
    key: Any = None,
    compiled: bool | None = None,
    **kwargs: Any,
) -> Report:
    """Run the source and the graph on the same inputs and compare everything: values and dtypes.

    Args:
        *args, **kwargs: inputs on the source's framework; the traced examples by default.
        rtol: largest relative error of outputs, state and nodes; by default 1e-4 for a
            model in float32, 1e-10 in float64, and 1e-2 or 5e-2 for values computed
            from float16 or bfloat16. By default, an error due to rounding passes too: each call
            agrees on the source's own inputs, and the source's result changes as much when
            inputs and parameters change by one ulp.
        gradient_rtol: the same for gradients; by default 1e-3, 1e-8, and 5e-2 or 1e-1 for a
            model with a call in float16 or bfloat16. By default, errors due to rounding pass, and
            so does a gradient that equals the source's gradient at the graph's own values: both
            sides of a kink are correct.
        gradients: compare the gradients of a fixed random projection of the outputs, with
            respect to parameters and inputs.
        nodes: compare the value of every node. If False, this is done only where the outputs
            differ, to find the node. By default True, unless the graph is compiled.
        samples: number of further random inputs to compare on, of the same kind (ids stay
            ids), with fixed seeds.
        key: random key of a graph that draws random numbers; `na.random.key(0)` by default.
        compiled: compare outputs, state and gradients of one compiled call
            (`nestarray.jit`). By default True on JAX and TensorFlow, where calls one by one
            take long, unless `nodes` is True or values decide a size.

    Returns:
        a `Report`: ``report.ok``, ``print(report)``, ``report.first_divergence``,
        ``report.to_json()``, ``report.raise_if_failed()``.

    Raises:
        ConversionError: the graph has no source to compare with (it was pickled or loaded),
            or no values (it was traced on the meta device).
        ArgumentError: `samples` is negative.

    Example:
        >>> import torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2))
        >>> graph.to_backend("numpy").verify().ok
        True
    """
    source = _checked_source(graph, kwargs, samples)
    if not args and not kwargs:
        args, kwargs = source.args, source.kwargs
    is_asked = compiled is not None
    if compiled is None:
        is_slow = graph.backend in ("jax", "tensorflow")
        compiled = is_slow and not nodes and graph.sized_by_values is None
    if nodes is None:
        nodes = not compiled
    original = graph.to_backend(source.backend, copy=None)
    inputs = traced_graph(graph).bind(args, kwargs)
    narrowed = inputs_of(original, inputs)
    is_double = any(dtypes.dtype_of(x) is dtypes.float64 for x in (*narrowed, *original.v.leaves()))
    if key is None and graph.needs_key:
        key = random.key(0, backend="numpy")
    proof = _Proof(
        source,
        original,
        graph,
        Tolerances(graph, is_double, rtol, gradient_rtol),
        compiled,
    )
    variables = [*original.v.leaves(), *inputs]
    has_gradients = gradients and any(dtypes.dtype_of(x).is_inexact for x in variables)
    with progress(f"verify {graph.name} on {graph.backend}") as step:
        step("compile and compare" if compiled else "compare call by call")
        try:
            found = proof.compare(inputs, key, nodes, has_gradients)
        except Exception:
            if is_asked or not compiled:
                raise
            found = None  # a size may depend on values, which JAX cannot compile
        if found is None or (found.note and not is_asked):  # calls one by one may have a derivative
            proof = dataclasses.replace(proof, is_compiled=False)
            found = proof.compare(inputs, key, nodes, has_gradients)
        count = 2 + samples
        step("compare with the module", 1 / count)
        export, export_note = proof.compare_export(args, kwargs, inputs, found.source)
        drawn = []
        for seed in range(1, samples + 1):
            step(f"sample {seed} of {samples}", (1 + seed) / count)
            drawn.append(proof.sample(inputs, key, seed, has_gradients and not found.note))
    return Report(
        graph.name,
        graph.backend,
        graph.train,
        found.outputs,
        found.state,
        found.gradients,
        found.nodes,
        "no parameter or input is floating" if gradients and not has_gradients else found.note,
        drawn,
        found.call_gradients,
        found.input_gradients,
        export,
        export_note,
    )


def _checked_source(graph: Graph, kwargs: Mapping[str, Any], samples: int) -> Source:
    """The source of the graph, after the checks of the arguments."""
    source: Source | None = graph.reference
    if source is None:
        raise ConversionError(
            f"verify: this graph of {graph.name} has no source to compare with; trace it again"
        )
    names = input_names(graph)
    for name in by_own_names(kwargs, names):
        if name not in names:
            raise ArgumentError(
                f"verify: got an unexpected argument {name!r}{parameter_hint(name, _SETTINGS)}; the "
                f"inputs of {graph.name} are {', '.join(names)}"
            )
    if samples < 0:
        raise ArgumentError(f"verify: samples: got {samples}, expected 0 or more")
    if graph.abstract:
        raise ConversionError(
            f"verify: this graph of {graph.name} was traced on the meta device and has no values to "
            "compare with; trace it with values"
        )
    return source


class _Gradients(NamedTuple):
    """The gradients of parameters and inputs, and the values of the calls at which they are."""

    v: Sequence[Any]
    inputs: Sequence[Any]
    values: Sequence[Any]


class _Found(NamedTuple):
    """The comparisons by kind, and the source's result; a note if gradients are missing."""

    outputs: list[Comparison]
    state: list[Comparison]
    gradients: list[Comparison]
    nodes: list[Comparison]
    call_gradients: list[Comparison]
    input_gradients: list[Comparison]
    source: Result
    note: str = ""

    @property
    def values_agree(self) -> bool:
        """Whether outputs, state and nodes agree."""
        return all(c.ok for c in (*self.outputs, *self.state, *self.nodes))

    @property
    def agrees(self) -> bool:
        """Whether values and gradients agree."""
        return self.values_agree and self.gradients_agree

    @property
    def gradients_agree(self) -> bool:
        """Whether the gradients of parameters and inputs agree."""
        return all(c.ok for c in (*self.gradients, *self.input_gradients))


@dataclasses.dataclass(frozen=True)
class _Proof:
    """A source, the graph on the source's backend, the graph itself, and how they are compared."""

    source: Source
    original: Graph
    graph: Graph
    tolerances: Tolerances
    is_compiled: bool

    @cached_property
    def _calls(self) -> Calls:
        return Calls(self.graph, self.tolerances)

    def sides(self, inputs: list[Any], key: Any) -> tuple[Side, Side]:
        """(the source's, the graph's), for inputs on the source's backend."""
        ours = Side.of(self.graph, inputs_of(self.graph, inputs), key)
        return Side.of(self.original, inputs, key), ours

    def compare(self, inputs: list[Any], key: Any, nodes: bool, gradients: bool) -> _Found:
        """Compare source and graph, for inputs on the source's backend."""
        theirs, ours = self.sides(inputs, key)
        arguments = self._arguments(ours)
        given, note = _Gradients([], [], []), ""
        found: tuple[list[Comparison], list[Comparison]] = ([], [])
        try:
            want = self._source_result(theirs, gradients)
            if gradients:
                got, given = self._differentiated(arguments, with_values=not self.is_compiled)
                found = self._compare_gradients(self.graph, want.gradients or [], given)
        except UnsupportedError as error:
            gradients, note = False, str(error)
            want = self._source_result(theirs, False)
        rows: list[Comparison] = []
        if nodes:
            got, rows = self._calls.in_lockstep(self.source, theirs, ours)
        elif not gradients:
            got = self._program(*arguments)
        outputs = self._compare_outputs(self.graph, want.output, got[0])
        state = self._compare_state(self.graph, want.state, got[1])
        if not nodes and not all(c.ok for c in (*outputs, *state)):
            _, rows = self._calls.in_lockstep(self.source, theirs, ours)
        compared = _Found(outputs, state, found[0], rows, [], found[1], want, note)
        return compared if compared.agrees else self._with_rounding(compared, inputs, key, given)

    def _with_rounding(
        self, found: _Found, inputs: list[Any], key: Any, given: _Gradients
    ) -> _Found:
        """Accept differences that rounding alone explains.

        That is not asked where a call is wrong on the source's own inputs. Where a derivative is
        another one, as of two equal maxima, the gradient has to be the source's at the same values.
        """
        if any(c.is_at_fault for c in found.nodes):
            return found
        if self.tolerances.is_own_value and not found.values_agree:
            found = self._values_with_rounding(found, inputs, key)
        results = (*found.outputs, *found.state)
        if not all(c.ok for c in results) or found.gradients_agree:
            return found
        if self.tolerances.is_own_gradient:
            found = self._gradients_along(found, inputs, key, given)
        if found.gradients_agree:
            return found
        found = found._replace(call_gradients=self._calls.gradients(*self._traced(inputs, key)))
        if self.tolerances.is_own_gradient and all(c.ok for c in found.call_gradients):
            found = self._gradients_with_rounding(found, inputs, key)
        return found

    def _values_with_rounding(self, found: _Found, inputs: list[Any], key: Any) -> _Found:
        """Add the effect of rounding to rows of outputs, state and nodes over the tolerance."""
        source, (graph, inputs, key) = self._traced(inputs, key)
        runs = [
            Run(source.steps(graph, x, v, graph.s, key)) for x, v in variants((inputs, graph.v))
        ]
        wanted = {row.name for row in found.nodes if not row.ok}
        nodes: dict[str, float] = {}
        for group in zip(*runs, strict=True):
            name = group[0][0].name
            if name in wanted:
                nodes[name] = allowance([value for _, value in group])
        outputs = [dict(leaves(run.result[0])) for run in runs]
        state = [run.result[1] for run in runs]
        return found._replace(
            outputs=with_rounding(
                found.outputs, lambda name: allowance([x[name] for x in outputs])
            ),
            state=with_rounding(found.state, lambda name: allowance([x[name] for x in state])),
            nodes=with_rounding(found.nodes, lambda name: nodes.get(name, 0.0)),
        )

    def _gradients_with_rounding(self, found: _Found, inputs: list[Any], key: Any) -> _Found:
        """Add the effect of rounding to rows of gradients over the tolerance."""
        source, (graph, inputs, key) = self._traced(inputs, key)
        names = _names_of_gradients(graph)
        results = []
        for seed in SEEDS:
            x, v = moved((inputs, graph.v), seed)
            found_there = self._gradients(source, Side(graph.replace(v=v), x, key), seed=seed)
            results.append(dict(zip(names, found_there, strict=True)))
        spread = [
            with_rounding(rows, lambda name, kind=kind: allowance([x[kind, name] for x in results]))
            for kind, rows in (("v", found.gradients), ("x", found.input_gradients))
        ]
        return found._replace(gradients=spread[0], input_gradients=spread[1])

    def _gradients_along(
        self, found: _Found, inputs: list[Any], key: Any, given: _Gradients
    ) -> _Found:
        """Compare gradients over the tolerance with the source's gradients at the graph's values.

        The rows stay unchanged if a call of the source gives other values for the same inputs.
        """
        source, theirs = self._traced(inputs, key)
        graph = theirs.graph
        _, ours = self.sides(inputs, key)
        comparable = self._calls.comparable
        if self.is_compiled:
            _, given = self._differentiated(self._arguments(ours), with_values=True)
        values = {n.name: x for n, x in zip(comparable, given.values, strict=True)}
        along = Along(self.graph, on_backend(values, source.backend))
        taken_apart = {part for found in self._calls.parts.values() for part in found}
        known = given_values(*ours) | {n: values[n.name] for n in comparable}
        run = source.steps(graph, theirs.inputs, graph.v, graph.s, theirs.key, along.value)
        for node, value in run:
            twin = along.twin(node)
            if twin is None or twin in taken_apart or is_unset(twin):
                continue
            near = self._calls.near_results(twin, known, ours)
            if not self._calls.compare(twin, value, along[twin], near).ok:
                return found
        expected = self._gradients(source, theirs, along)
        there = self._compare_gradients(self.graph, expected, given)
        of_v, of_inputs = (
            [
                row if row.ok else dataclasses.replace(row, along=other.relative)
                for row, other in zip(rows, others, strict=True)
            ]
            for rows, others in zip((found.gradients, found.input_gradients), there, strict=True)
        )
        return found._replace(gradients=of_v, input_gradients=of_inputs)

    def compare_export(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], inputs: list[Any], program: Result
    ) -> tuple[list[Comparison], str]:
        """Compare the original model with the program that was exported from it.

        Args:
            args, kwargs: the arguments of the call.
            inputs: the flat inputs.
            program: the result of the program.

        Returns:
            a row for each output, state array and gradient; the reason for missing rows.
        """
        source, (graph, inputs, _) = self._traced(inputs, None)
        loss = None if program.gradients is None else projection
        note = ""
        try:
            try:
                original = source.original(graph, args, kwargs, loss)
            except UnsupportedError as error:
                note = f"the gradients of the module itself are not compared: {error}"
                original = source.original(graph, args, kwargs, None)
        except UnsupportedError as error:
            return [], f"the module itself is not compared: {error}"
        if original is None:
            return [], ""
        if graph.needs_key:  # the original draws by the framework's generator
            program = source.result(graph, inputs, None, loss)
        state = dict(graph.s.flat_items()) | program.state
        rows = self._compare_outputs(graph, original.output, program.output)
        rows += self._compare_state(graph, original.state, state)
        if original.gradients is not None and program.gradients is not None:
            count = len(graph.v.leaves())
            got = _Gradients(program.gradients[:count], program.gradients[count:], [])
            found = self._compare_gradients(graph, original.gradients, got)
            rows += [
                dataclasses.replace(row, name=f"gradient of {row.name}")
                for row in (*found[0], *found[1])
            ]
        return rows, note

    @property
    def _traced_state(self) -> Container:
        """The state of the source, in its dtypes."""
        return traced_graph(self.graph).s

    def _traced(self, inputs: list[Any], key: Any) -> tuple[Source, Side]:
        """The source of the originally traced graph, and its side."""
        source, graph = self.source, self.original
        if isinstance(source, DerivedSource):
            source, graph = source.traced()
        return source, Side.of(graph, inputs, key)

    def _source_result(self, side: Side, gradients: bool) -> Result:
        loss = projection if gradients else None
        return self.source.result(*side, loss)

    def _gradients(
        self,
        source: Source,
        side: Side,
        override: Override = identity,
        *,
        seed: int = 0,
    ) -> list[Any]:
        loss = partial(projection, seed=seed)
        return source.result(*side, loss, override).gradients or []

    def _compare_outputs(self, graph: Graph, want: Any, got: Any) -> list[Comparison]:
        """A row for each output array that `graph` computed."""
        expected = ExpectedDtypes(graph)
        rtol = dict(leaves(map_nodes(self.tolerances.of, self.graph.output)))
        ours = dict(leaves(got))  # by name: a compiled program of JAX returns sorted dicts
        return [
            compare(
                Pair(name, a, ours[name], expected.of_output(a)),
                rtol.get(name, self.tolerances.value),
            )
            for name, a in leaves(want)
            if is_array(a)
        ]

    def _compare_state(
        self, graph: Graph, want: dict[str, Any], got: Mapping[str, Any]
    ) -> list[Comparison]:
        """A row for each state array that `graph` computed."""
        expected, before = ExpectedDtypes(graph), self._traced_state
        pairs = [
            Pair(path, x, got[path], expected.of_state(path, x, before)) for path, x in want.items()
        ]
        return compare_together(pairs, self.tolerances.eps, self.tolerances.state)

    def _compare_gradients(
        self, graph: Graph, want: list[Any], got: _Gradients
    ) -> tuple[list[Comparison], list[Comparison]]:
        """A row for each floating parameter, and for each floating input.

        A gradient has the dtype of its variable.

        Args:
            graph: has computed `got`.
            want, got: the gradients.
        """
        paths, names = graph.v.paths(), [node.path for node in graph.inputs]
        of_v, of_inputs = want[: len(paths)], want[len(paths) :]
        of_leaves = [number_dtype(x) for x in graph.v.leaves()]
        of_arguments = [node.aval and node.aval.dtype for node in graph.inputs]
        rows = []
        for quadruples in (
            zip(paths, of_v, got.v, of_leaves),
            zip(names, of_inputs, got.inputs, of_arguments),
        ):
            pairs = [Pair(*each) for each in quadruples if each[1] is not None]
            rows.append(compare_together(pairs, self.tolerances.eps, self.tolerances.gradient))
        return rows[0], rows[1]

    def _arguments(self, side: Side) -> tuple[Any, ...]:
        """The arguments of the programs below; a compiler would turn closures into constants."""
        graph = side.graph
        return side.inputs, graph.v, graph.s, graph.constants, side.key

    @cached_property
    def _program(self) -> Callable[..., tuple[Any, Any]]:
        """(output, new state) of the graph's program in one call."""
        return self._run(partial(_run_graph, self.graph))

    def _differentiated(
        self, arguments: tuple[Any, ...], *, with_values: bool
    ) -> tuple[tuple[Any, Any], _Gradients]:
        """(output, new state) and the gradients in one call.

        With the values of all calls as outputs, a compiler takes twice the time and fuses less.
        """
        program = self._with_values if with_values else self._without_values
        (_, (output, state, values)), (of_v, of_inputs) = program(*arguments)
        return (output, state), _Gradients(of_v.leaves(), of_inputs, values)

    @cached_property
    def _with_values(self) -> Callable[..., tuple[Any, Any]]:
        return self._gradient_program(self._calls.comparable)

    @cached_property
    def _without_values(self) -> Callable[..., tuple[Any, Any]]:
        return self._gradient_program([])

    def _gradient_program(self, nodes: list[Node]) -> Callable[..., tuple[Any, Any]]:
        """((projection, (output, new state, values of the nodes)), gradients) in one call."""
        graph = self.graph.replace(output=[self.graph.output, nodes])

        def program(inputs: list[Any], v: Container, *others: Any) -> tuple[Any, Any]:
            def loss(variables: tuple[Container, list[Any]]) -> tuple[Any, Any]:
                v, inputs = variables
                (output, values), state = _run_graph(graph, inputs, v, *others)
                return projection(output), (output, state, values)

            return execute_with_gradients(loss, (v, inputs), has_aux=True)

        return self._run(program)

    def _run(self, program: Callable[..., Any]) -> Callable[..., Any]:
        run = jit(program) if self.is_compiled else program

        def call(*args: Any) -> Any:
            with self.graph.running():
                return run(*args)

        return call

    def sample(self, example: list[Any], key: Any, seed: int, gradients: bool) -> Sample:
        """The comparison on inputs, and with a key, that `seed` decides."""
        rng = np.random.default_rng(seed)
        inputs = [drawn_like(x, rng) for x in example]
        key = None if key is None else random.fold_in(key, seed)
        found = self.compare(inputs, key, nodes=False, gradients=gradients)
        return Sample(
            seed,
            worst([*found.outputs, *found.state]),
            worst([*found.gradients, *found.input_gradients]) if gradients else None,
            first_divergence(found.nodes),
        )


def _run_graph(
    graph: Graph, inputs: list[Any], v: Container, s: Container, constants: Container, key: Any
) -> tuple[Any, Any]:
    """(output, new state) of the graph's program."""
    found = graph.function(*inputs, v=v, s=s, constants=constants, key=key)
    return found if graph.returns_state else (found, s)


def _names_of_gradients(graph: Graph) -> list[tuple[str, str]]:
    """("v", path) for each parameter, then ("x", name) for each input."""
    inputs = [("x", node.path) for node in graph.inputs]
    return [*(("v", path) for path in graph.v.paths()), *inputs]

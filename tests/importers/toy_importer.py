"""The importer of the toy language: its frontend, vocabulary, source and translation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import nestarray as na
from nestarray.frontends import registry, rules
from nestarray.graph.builder import GraphBuilder, Place, aval_of
from nestarray.graph.node import Node
from nestarray.importers import coverage, protocol
from nestarray.importers.protocol import Imported, Request
from nestarray.proof.source import EquationSource
from tests.importers.toy_language import Equation, Program, run

add, matmul, tanh = na.add, na.matmul, na.tanh


def drop(x: Any, rate: float, *, key: Any) -> Any:
    return na.where(na.random.uniform(key, na.shape(x)) < rate, na.zeros_like(x), x)


def repeat(times: float, carry: Any, step: Any) -> Any:
    return na.fori_loop(0, int(times), lambda i, carried: step(carried), carry)


FUNCTIONS = {"add": add, "matmul": matmul, "tanh": tanh, "drop": drop, "repeat": repeat}


class ToyRule(rules.Rule):
    @property
    def function(self) -> Any:
        return FUNCTIONS[self.operation]


class ToyVocabulary:
    namespace = __name__

    def find(self, op: str, /) -> ToyRule | None:
        return ToyRule(op, f"toy.{op}") if op in FUNCTIONS else None

    def function(self, printed_name: str, /) -> Any:
        if printed_name.removeprefix("toy.") not in FUNCTIONS:
            raise ValueError(f"there is no function {printed_name!r}")
        return FUNCTIONS[printed_name.removeprefix("toy.")]


class ToySource(EquationSource):
    def operands(self, equation: str | Equation) -> Iterable[Any]:
        names = {e.name: e for e in self.equations if isinstance(e, Equation)}
        return [names.get(a, a) for a in getattr(equation, "used", ())]

    def evaluate(self, equation: Equation, values: Mapping[Any, Any]) -> Any:
        return run(equation, {getattr(e, "name", e): x for e, x in values.items()})


class ToyImporter:
    framework = "toy"

    def accepts(self, request: Request) -> bool:
        return isinstance(request.source, Program)

    def keywords(self, source: Any) -> frozenset[str]:
        return frozenset()

    def read(self, request: Request) -> Imported:
        program, vocabulary = request.source, registry.vocabulary("toy")
        lines = [e for line in program.equations for e in (line, *line.body)]

        def replacement(name: str) -> tuple[str, str, str]:
            rule = vocabulary.find(name)
            missing = "missing", "", "there is no function of that name"
            return missing if rule is None else ("function", rule.name, "")

        operations = coverage.operations_of(
            ((e.operation, *replacement(e.operation)), Place(line=e.line)) for e in lines
        )
        if any(operation.status == "missing" for operation in operations):
            return Imported(self.framework, program.name, operations, None)
        builder = GraphBuilder(program.name, "numpy", train=request.train)
        values = {"x": request.args[0], **program.parameters, **program.state}
        nodes = {"x": builder.argument("x", aval_of(values["x"]))}
        builder.sign(lambda x: x, [nodes["x"]], {})
        for kind, variables in (("v", program.parameters), ("s", program.state)):
            nodes |= {n: builder.variable(kind, n, array) for n, array in variables.items()}
        of: dict[Any, Node] = dict(nodes)
        for e in program.equations:
            of[e] = nodes[e.name] = translate(builder, e, nodes, values)
        updates = {name[:-1]: node for name, node in nodes.items() if name[-1] == "'"}
        source = ToySource("numpy", list(of), of, request.args, {})
        graph = builder.finish(nodes[program.result], updates, source)
        return Imported(self.framework, program.name, operations, graph)


def translate(
    builder: GraphBuilder, e: Equation, nodes: Mapping[str, Node], values: dict[str, Any]
) -> Node:
    values[e.name] = run(e, values)
    aval = aval_of(values[e.name])
    args: list[Any] = [nodes.get(a, a) for a in e.args]
    if e.body:
        with builder.body("step", {e.name: aval}) as body:
            inner = {**nodes, e.name: body.parameters[0]}
            for part in e.body:
                inner[part.name] = translate(builder, part, inner, dict(values))
            body.output = inner[e.name]
        args.append(body)
    rule = registry.vocabulary("toy").find(e.operation)
    assert rule is not None
    call = rule.call(dict(zip(rules.signature_of(rule.function).parameters, args, strict=False)))
    return builder.call(
        e.name.rstrip("'"), call.function, call.name, call.args, call.kwargs, aval=aval,
        place=Place(line=e.line), origin=f"toy.{e.operation}", is_random=call.is_random,
    )  # fmt: skip


registry.register("toy", ToyVocabulary())
protocol.register(ToyImporter())

"""Control flow of exported programs: sub-graphs become Bodies.

Exported functions have no closures: a branch or a step receives values of the outer program as
operands. Bodies have closures, as in Python, so such an operand is replaced by its node; the
remaining parameters are the carried values and the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nestarray.errors import ConversionError
from nestarray.frontends.torch import vocabulary
from nestarray.graph.builder import GraphBuilder, Place
from nestarray.graph.node import Aval, Body, Node
from nestarray.importers.torch.places import origin

#: Name of torch's operation → the names of its functions in the printed program.
_OPERATIONS: dict[str, tuple[str, ...]] = {
    "cond": ("if_true", "if_false"),
    "while_loop": ("go_on", "body"),
    "scan": ("step",),
    "map_impl": ("each",),
}


def is_control_flow(exported: Any) -> bool:
    """Whether an exported call takes functions."""
    module = getattr(exported.target, "__module__", "")
    return module == "torch.ops.higher_order" and exported.target.__name__ in _OPERATIONS


class ControlFlow:
    """The translation of calls that take functions.

    Args:
        nodes: exported node → node or number; results of the functions are added.
        builder: the graph that is being built.
        call: translates one other exported call.
        arguments: replaces exported nodes in arguments by nodes.
        aval: shape and dtype of an exported value.
    """

    def __init__(
        self,
        nodes: dict[Any, Any],
        builder: GraphBuilder,
        call: Callable[[Any], None],
        arguments: Callable[[Any], Any],
        aval: Callable[[Any], Aval | None],
    ) -> None:
        self._nodes, self._builder = nodes, builder
        self._translate, self._arguments, self._aval = call, arguments, aval

    def call(self, exported: Any) -> None:
        """Translate a call that takes functions, and the results that are read of it."""
        rule = vocabulary.find(exported.target)
        assert rule is not None
        args = getattr(self, f"_{exported.target.__name__}")(exported)
        made = self._builder.call(
            exported.name,
            rule.function,
            rule.name,
            args,
            place=origin(exported),
            origin=rule.operation,
        )
        self._nodes[exported] = made
        if exported.target.__name__ == "scan":
            self._unpacked(exported, made, len(exported.args[1]))

    def _unpacked(self, exported: Any, made: Node, carried: int) -> None:
        """The results of a scan, a pair here, where the exporter counts through both."""
        pair = [self._builder.item(made, i, name) for i, name in enumerate(("carry", "ys"))]
        for user in exported.users:
            i = user.args[1]
            part, at = (pair[0], i) if i < carried else (pair[1], i - carried)
            aval = self._aval(user.meta.get("val"))
            self._nodes[user] = self._builder.item(part, at, user.name, aval=aval)

    # -- one function an operation: the arguments of the frontend's function ------------------

    def _cond(self, exported: Any) -> tuple[Any, ...]:
        pred, if_true, if_false, operands = exported.args
        branches = [self._body(exported, fn, {}, operands) for fn in (if_true, if_false)]
        return self._arguments(pred), *branches

    def _while_loop(self, exported: Any) -> tuple[Any, ...]:
        go_on, body, carried, operands = exported.args
        names = [f"carry_{i}" for i in range(len(carried))]
        functions = [
            self._body(exported, fn, dict.fromkeys(names), operands) for fn in (go_on, body)
        ]
        return *functions, tuple(self._arguments(carried))

    def _scan(self, exported: Any) -> tuple[Any, ...]:
        step, init, xs, operands = exported.args
        body = self._body(exported, step, {"carry": len(init), "row": len(xs)}, operands)
        body.output = body.output[: len(init)], body.output[len(init) :]
        return body, tuple(self._arguments(init)), tuple(self._arguments(xs))

    def _map_impl(self, exported: Any) -> tuple[Any, ...]:
        each, xs, operands = exported.args
        return self._body(exported, each, {"row": len(xs)}, operands), tuple(self._arguments(xs))

    # -- functions ---------------------------------------------------------------------------

    def _body(
        self,
        exported: Any,
        function: Any,
        parameters: Mapping[str, int | None],
        operands: Sequence[Any],
    ) -> Body:
        """A sub-graph as a Body.

        Args:
            exported: the call that takes it.
            function: the node that names the sub-graph.
            parameters: name → how many values it is unpacked to; None for one value.
            operands: values of the outer program, its last arguments.
        """
        module = getattr(exported.graph.owning_module, function.target)
        names = _OPERATIONS[exported.target.__name__]
        which = [
            arg
            for arg in exported.args
            if arg.__class__ is function.__class__ and arg.op == "get_attr"
        ]
        placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        avals = iter([self._aval(n.meta.get("val")) for n in placeholders])
        described = {
            name: next(avals) if count is None else [next(avals) for _ in range(count)]
            for name, count in parameters.items()
        }
        with self._builder.body(names[which.index(function)], described) as body:
            given = [
                node
                for part in body.parameters
                for node in (part if isinstance(part, tuple) else (part,))
            ]
            given += [self._arguments(operand) for operand in operands]
            self._nodes.update(zip(placeholders, given, strict=True))
            for call in module.graph.nodes:
                if call.op == "call_function":
                    self._translate(call)
            (returned,) = next(n for n in module.graph.nodes if n.op == "output").args
            output = self._arguments(returned)
            body.output = tuple(output) if isinstance(output, list) else output
        self._refuse_random(exported, body.nodes)
        return body

    def _refuse_random(self, exported: Any, nodes: list[Node]) -> None:
        for node in nodes:
            if node.is_random:
                place = Place(node.module, node.line)
                raise ConversionError(
                    f"trace_graph: {node.target_name} ({place}) draws random numbers in a function "
                    f"that torch.{exported.target.__name__.removesuffix('_impl')} takes, where "
                    "every step would draw the same; draw them before, and pass them as operands"
                )

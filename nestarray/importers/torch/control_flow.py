"""Control flow of exported programs: sub-graphs become Bodies.

Exported functions have no closures: a branch or a step receives values of the outer program as
operands. Bodies have closures, as in Python, so such an operand is replaced by its node; the
remaining parameters are the carried values and the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from nestarray.errors import Refused
from nestarray.frontends import rules
from nestarray.frontends.torch import vocabulary
from nestarray.graph.builder import Place
from nestarray.graph.node import Body, Call, Node

if TYPE_CHECKING:
    from nestarray.importers.torch.translation import Translation


def takes_functions(exported: Any) -> bool:
    """Whether an exported call is a loop or a choice."""
    module = getattr(exported.target, "__module__", "")
    return module == "torch.ops.higher_order" and exported.target.__name__ in _RULES


def translate(to: Translation, exported: Any) -> None:
    """Translate a call that takes functions, and the results that are read of it."""
    rule = vocabulary.find(exported.target)
    assert rule is not None
    args = _RULES[exported.target.__name__](to, exported, *exported.args)
    call = rules.Call(rule.function, rule.name, args, {})
    node = to.nodes[exported] = to.call(call, exported.name, aval=None, origin=rule.operation)
    if exported.target.__name__ == "scan":
        _unpack(to, exported, node, len(exported.args[1]))


def _unpack(to: Translation, exported: Any, scan: Node, carried: int) -> None:
    """The results of a scan, a pair here, where the exporter counts through both."""
    carry, rows = to.carry_and_rows(scan)
    for user in exported.users:
        i = user.args[1]
        part, at = (carry, i) if i < carried else (rows, i - carried)
        aval = to.aval_of(user.meta.get("val"))
        to.nodes[user] = to.builder.item(part, at, user.name, aval=aval)


# -- one rule an operation: the arguments of the frontend's function ---------------------------


def _cond(to: Translation, call: Any, pred: Any, if_true: Any, if_false: Any, operands: Any) -> Any:
    branches = ("if_true", if_true), ("if_false", if_false)
    return to.arguments(pred), *[_body(to, call, *each, {}, operands) for each in branches]


def _while(to: Translation, call: Any, go_on: Any, body: Any, carried: Any, operands: Any) -> Any:
    carry: dict[str, None] = dict.fromkeys(f"carry_{i}" for i in range(len(carried)))
    functions = ("go_on", go_on), ("body", body)
    bodies = [_body(to, call, *each, carry, operands) for each in functions]
    return *bodies, tuple(to.arguments(carried))


def _scan(to: Translation, call: Any, step: Any, init: Any, xs: Any, operands: Any) -> Any:
    body = _body(to, call, "step", step, {"carry": len(init), "row": len(xs)}, operands)
    body.output = body.output[: len(init)], body.output[len(init) :]
    return body, tuple(to.arguments(init)), tuple(to.arguments(xs))


def _map(to: Translation, call: Any, each: Any, xs: Any, operands: Any) -> Any:
    body = _body(to, call, "each", each, {"row": len(xs)}, operands)
    return body, tuple(to.arguments(xs))


#: Name of torch's operation → its rule.
_RULES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "cond": _cond,
    "while_loop": _while,
    "scan": _scan,
    "map_impl": _map,
}


def _body(
    to: Translation,
    exported: Any,
    name: str,
    function: Any,
    parameters: Mapping[str, int | None],
    operands: Sequence[Any],
) -> Body:
    """A sub-graph as a Body; `parameters` has the number of values of each, or None for one value."""
    graph = getattr(exported.graph.owning_module, function.target).graph
    placeholders = [n for n in graph.nodes if n.op == "placeholder"]
    avals = iter([to.aval_of(n.meta.get("val")) for n in placeholders])
    described = {
        name: next(avals) if count is None else [next(avals) for _ in range(count)]
        for name, count in parameters.items()
    }
    with to.body(name, described) as body:
        arguments = [
            node
            for part in body.parameters
            for node in (part if isinstance(part, tuple) else (part,))
        ]
        arguments += [to.arguments(operand) for operand in operands]
        to.nodes.update(zip(placeholders, arguments, strict=True))
        to.translate([n for n in graph.nodes if n.op == "call_function"], to.nodes)
        (returned,) = next(n for n in graph.nodes if n.op == "output").args
        output = to.arguments(returned)
        body.output = tuple(output) if isinstance(output, list) else output
    _refuse_random(exported, body.nodes)
    return body


def _refuse_random(exported: Any, calls: list[Call]) -> None:
    for node in calls:
        if node.is_random:
            place = Place(node.module, node.line)
            function = f"torch.{exported.target.__name__.removesuffix('_impl')}"
            raise Refused(
                f"it draws random numbers in a function that {function} takes, where every step "
                "would draw the same",
                f"trace_graph: {node.target_name} ({place})",
                "draw them before, and pass them as operands",
            )

"""Subgraphs of traced branches and loops."""

from __future__ import annotations

from torch.fx import GraphModule, Node


def lift_constants(module: GraphModule) -> None:
    """Pass constant tensors of the branches and loop bodies of a graph as operands.

    Inductor cannot read a constant inside of one ("FunctionalTensor on its own"). The operators for
    control flow take their functions first and the operands of all of them last.
    """
    for node in list(module.graph.nodes):
        if node.op == "call_function":
            _lift(module, node)
    module.graph.lint()
    module.recompile()


def _lift(module: GraphModule, call: Node) -> None:
    names = [x.target for x in call.args if isinstance(x, Node) and x.op == "get_attr"]
    bodies = [x for name in names if isinstance(x := getattr(module, name), GraphModule)]
    operands = []
    for body in bodies:
        lift_constants(body)
        for constant in body.graph.find_nodes(op="get_attr"):
            value = getattr(body, constant.target)
            if isinstance(value, GraphModule):
                continue
            name = f"{call.name}_constant_{len(operands)}"
            module.register_buffer(name, value)
            with module.graph.inserting_before(call):
                operands.append(module.graph.get_attr(name))
            for other in bodies:
                operand = _new_placeholder(other, name)
                if other is body:
                    constant.replace_all_uses_with(operand)
                    body.graph.erase_node(constant)
    if operands:
        call.args = (*call.args[:-1], (*call.args[-1], *operands))
        for body in bodies:
            body.recompile()


def _new_placeholder(module: GraphModule, name: str) -> Node:
    last = module.graph.find_nodes(op="placeholder")[-1:]
    with module.graph.inserting_after(*last):
        return module.graph.placeholder(name)

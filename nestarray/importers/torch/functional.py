"""Functional programs: calls that write nothing, and whose derivatives are those of their values.

An exported program without writes is one already. Others become functional by
``run_decompositions``, which takes longer than the export.
"""

from __future__ import annotations

import operator
from typing import Any

import torch

from nestarray.frontends.torch import vocabulary
from nestarray.importers.torch.coverage import why_unknown

#: Operations that write running statistics, which their schemas do not declare → the position of
#: the argument that says so.
_TRAINING = {"aten::batch_norm": 5, "aten::instance_norm": 5}


def functional(program: Any) -> Any:
    """The program with values in place of writes."""
    if _is_functional(program):
        _remove_idle_dropout(program)
        return program
    return program.run_decompositions({})


def _is_functional(program: Any) -> bool:
    """Whether no call of an exported program writes, and each is an operation with a rule."""
    return all(
        node.op in ("placeholder", "output") or node.target is operator.getitem or _is_pure(node)
        for node in program.graph.nodes
    )


def _is_pure(node: Any) -> bool:
    if node.op != "call_function":
        return False
    rule = vocabulary.find(node.target)
    if rule is not None and rule.is_ignored:
        return True
    if why_unknown(node):
        return False
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return True  # arithmetic of sizes
    place = _TRAINING.get(schema.name)
    return not schema.is_mutable and not (place and node.args[place])


def _remove_idle_dropout(program: Any) -> None:
    """Remove calls of dropout outside of training."""
    for node in list(program.graph.nodes):
        if node.target is torch.ops.aten.dropout.default and node.args[2] is False:
            node.replace_all_uses_with(node.args[0])
            program.graph.erase_node(node)
    program.graph_module.recompile()

"""Nodes in the place of nodes, in arguments and in the functions among them."""

from __future__ import annotations

import dataclasses
from typing import Any

from nestarray.graph.node import Body, Node


def substituted(value: Any, stands_for: dict[Node, Any]) -> Any:
    """A nest of arguments with Nodes replaced, also those that a Body uses of outside."""
    if isinstance(value, Node):
        return stands_for.get(value, value)
    if isinstance(value, Body):
        return _substituted_body(value, stands_for)
    if isinstance(value, (list, tuple)):
        return type(value)([substituted(item, stands_for) for item in value])
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*(substituted(part, stands_for) for part in parts))
    if isinstance(value, dict):
        return {key: substituted(item, stands_for) for key, item in value.items()}
    return value


def _substituted_body(body: Body, stands_for: dict[Node, Any]) -> Body:
    if not any(node in stands_for for node in body.free):
        return body
    inner = dict(stands_for)
    nodes = []
    for old in body.nodes:
        new = dataclasses.replace(
            old, args=substituted(old.args, inner), kwargs=substituted(old.kwargs, inner)
        )
        inner[old] = new
        nodes.append(new)
    return dataclasses.replace(body, nodes=nodes, output=substituted(body.output, inner))

"""Modules and lines of exported nodes, and names of the adapter that is exported."""

from __future__ import annotations

import re
from typing import Any

from nestarray.graph.builder import Place, line_name

#: The name of the traced module inside the adapter.
INNER = "source"
#: The entry of a node's ``"custom"`` metadata with the path of a layer of Keras.
LAYER = "keras_layer"


def origin(node: Any) -> Place:
    """The module and the line of an exported node."""
    stack = node.meta.get("nn_module_stack") or {}
    path = str(next(reversed(stack.values()))[0]) if stack else ""
    path = path if path.startswith(INNER) else ""  # else a hook of the exporter itself
    path = path.removeprefix(INNER).removeprefix(".")
    path = (node.meta.get("custom") or {}).get(LAYER, path)
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    line = line_name(*frames[-1]) if frames else ""
    return Place(path, line)


def own_name(exported: str) -> str:
    """The traced module's name for a tensor or a module of the exported adapter."""
    return exported.removeprefix(f"{INNER}.")

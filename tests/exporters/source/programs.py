"""The source that is written for a graph."""

from __future__ import annotations

import re
import textwrap
from typing import Any

import nestarray as na
from tests.graph.passes.programs import parsed

#: Style → framework and style.
STYLES: dict[str, tuple[str, str | None]] = {
    "torch": ("torch", None),
    "jax": ("jax", "functional"),
    "nnx": ("jax", "nnx"),
    "equinox": ("jax", "equinox"),
    "tensorflow": ("tensorflow", None),
    "numpy": ("numpy", None),
}
#: The function or the method of the model, and the functions that load its weights.
_METHOD = re.compile(r" *def (forward|__call__|graph)\(")
_LOADING = re.compile(r"def (load|_lists|part_of)\(")


def written(graph: na.Graph, style: str) -> str:
    """The functions and classes of a graph's source, without its imports and `load`."""
    target, form = STYLES[style]
    _, *parts = graph.to_source(target, style=form, standalone=True).split("\n\n\n")
    return "\n\n\n".join(part.strip() for part in parts if not _LOADING.match(part))


def model(graph: na.Graph, style: str) -> str:
    """The last of them: the model itself."""
    return written(graph, style).split("\n\n\n")[-1]


def body(text: str, style: str) -> str:
    """The statements of the model of a graph that is written as text."""
    lines = model(parsed(text), style).splitlines()
    heads = [i for i, line in enumerate(lines) if _METHOD.match(line)]
    return textwrap.dedent("\n".join(lines[heads[-1] + 1 :]))


def traced(function: Any, style: str, *args: Any, **settings: Any) -> str:
    """The model of a function of `na`."""
    return model(na.trace_graph(function, *args, **settings), style)

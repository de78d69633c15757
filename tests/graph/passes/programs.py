"""Passes applied to graphs that are written as text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import nestarray as na
from nestarray.container import Container
from nestarray.graph.node import all_calls
from nestarray.testing import assert_close

#: The parameters that every program has.
_OWN = ", *, v, s, constants, key=None):"


def parsed(text: str, variables: Mapping[str, Container] | None = None) -> na.Graph:
    """The graph of a text, whose variables are positive random numbers unless they are given."""
    graph = na.Graph.parse(textwrap.dedent(text), **(variables or {}))
    drawn = {
        name: getattr(graph, name).map(lambda x: drawn_array(x.shape, x.dtype))
        for name in ("v", "s", "constants")
        if name not in (variables or {})
    }
    return graph.replace(**drawn)


def drawn_array(shape: Any, dtype: Any, seed: int = 0) -> Any:
    """Positive numbers; integers count from 0."""
    if np.dtype(dtype).kind in "iub":
        return (np.arange(math.prod(shape)) % 2).reshape(shape).astype(dtype)
    return (0.1 + np.random.default_rng(seed).random(shape)).astype(dtype)


def text_of(graph: na.Graph) -> str:
    """The program without comments, imports and empty lines."""
    lines = graph.to_source(comments=False).replace(_OWN, "):").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "\n".join(line for line in lines[start:] if line)


def checked(graph: na.Graph, rewritten: na.Graph) -> na.Graph:
    """The rewritten graph, which computes the same values."""
    inputs = [
        drawn_array(node.aval.shape, node.aval.dtype.name, i)
        for i, node in enumerate(graph.inputs)
        if node.aval
    ]
    key = na.random.key(0, backend="numpy") if graph.needs_key else None
    assert_close(rewritten(*inputs, key=key), graph(*inputs, key=key))
    return rewritten


def applied(function: Callable[[na.Graph], na.Graph], text: str, **variables: Any) -> na.Graph:
    """The graph that a pass makes of a text; it computes the same values."""
    graph = parsed(text, variables)
    return checked(graph, function(graph))


def called(graph: na.Graph) -> list[str]:
    """The names of the ops, also in bodies."""
    return [node.target_name.removeprefix("na.") for node in all_calls(graph.calls)]

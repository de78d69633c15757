"""Remove calls that no result depends on."""

from __future__ import annotations

from nestarray.graph.graph import Graph
from nestarray.graph.passes.rewriting import rewrite


def remove_dead_code(graph: Graph) -> Graph:
    """Without the calls, constants and keys that neither output nor new state depend on.

    Parameters and state stay, used or not: they are the source's.
    """
    return rewrite(graph, lambda writer, node: None, in_bodies=True)

"""Models as graphs: trace, move, compile, prove.

- `node`, `graph`: a step, and a model; `builder`: how importers and the recorder make one.
- `binding`: arguments and variables of a call; `codegen`: the program text; `files`: saved graphs.
- `sizes`, `value_sizes`: open sizes, and those that values decide; `census`: counts.
- `execution`: a run call by call; `derived`: the source of a graph made from another graph.
- `precision`, `mixed_precision`: other dtypes than the source's.
- `viewer`: diagrams; `record`: Python code over `na`; `lower`, `passes`: frontend functions as ops, and rewritings.

`nestarray/__init__.py` lists the methods of `Graph` that other files define.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from nestarray import lazy_imports as _lazy_imports
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Call, Input

if _TYPE_CHECKING:
    from nestarray.graph import passes as passes
    from nestarray.importers.check import check as check
    from nestarray.importers.islands import island as island
    from nestarray.importers.tracing import trace_graph as trace_graph

__all__ = ["Aval", "Call", "Graph", "Input", "check", "island", "passes", "trace_graph"]

_lazy_imports.attach(
    __name__,
    {
        "nestarray.graph": ("passes",),
        "nestarray.importers.check": ("check",),
        "nestarray.importers.islands": ("island",),
        "nestarray.importers.tracing": ("trace_graph",),
    },
)

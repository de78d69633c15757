"""Models as graphs: trace, move, compile, prove.

- `node`, `graph`: a step, and a model; `builder`: how importers and the recorder make one.
- `binding`: arguments and variables of a call; `codegen`: the program text; `files`: saved graphs.
- `sizes`, `value_sizes`: open sizes, and those that values decide; `census`: counts.
- `execution`: a run call by call; `derived`: the source of a graph made from another graph.
- `precision`, `mixed_precision`: other dtypes than the source's.
- `viewer`: diagrams; `record`: Python code over `na`; `lower`, `passes`: frontend functions as ops, and rewritings.

Files that import `graph` add methods to `Graph`; they are imported on first use.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from nestarray import lazy_imports as _lazy_imports
from nestarray.graph.graph import Graph
from nestarray.graph.node import Aval, Node

if _TYPE_CHECKING:
    from nestarray.graph import passes as passes
    from nestarray.importers.check import check as check
    from nestarray.importers.islands import island as island
    from nestarray.importers.tracing import trace_graph as trace_graph

__all__ = ["Aval", "Graph", "Node", "check", "island", "passes", "trace_graph"]

_lazy_imports.attach(
    __name__,
    {
        "nestarray.graph": ("passes",),
        "nestarray.importers.check": ("check",),
        "nestarray.importers.islands": ("island",),
        "nestarray.importers.tracing": ("trace_graph",),
    },
)

_lazy_imports.attach_methods(
    Graph,
    {
        "nestarray.exporters.export": ("export",),
        "nestarray.exporters.native": (
            "to_equinox_module",
            "to_flax_module",
            "to_haiku_module",
            "to_keras_model",
            "to_linen_module",
            "to_tf_module",
            "to_torch_module",
        ),
        "nestarray.exporters.source.eject": ("_standalone_source", "eject"),
        "nestarray.graph.census": ("report",),
        "nestarray.graph.files": ("load", "save"),
        "nestarray.graph.lower": ("lower",),
        "nestarray.graph.mixed_precision": ("cast",),
        "nestarray.graph.parsing": ("parse",),
        "nestarray.graph.passes": ("optimize", "passes"),
        "nestarray.graph.viewer.outline": ("__rich__", "_repr_html_"),
        "nestarray.graph.viewer.page": ("show",),
        "nestarray.importers.torch.state_dicts": ("to_torch_state_dict",),
        "nestarray.proof.verify": ("verify",),
    },
)
_lazy_imports.attach_methods(Node, {"nestarray.graph.files": ("__reduce__",)})

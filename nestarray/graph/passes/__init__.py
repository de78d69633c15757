"""Passes: functions from a Graph to a Graph that computes the same.

Each is a function of one file, and `Graph.optimize` runs a row of them over the lowered
graph. A pass never changes the graph that it gets. A call keeps the name of the value that
it computes, so that `Graph.verify` can compare the values in between with the source's.

=============================  ==========================================================
`fold_constants`               what constants alone decide is computed once
`merge_common_subexpressions`  one call for equal calls
`remove_dead_code`             calls, and constants, that nothing returned uses
`cancel_transposes`            transposes wander down and cancel
`channels_last`                convolutions and what lies between them, channels last
`fold_batch_norms`             into the convolution or the linear layer before (evaluation)
`fold_parameters`              what parameters alone decide is computed once (evaluation)
=============================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nestarray.graph.graph import Graph, method
from nestarray.graph.passes.batch_norms import fold_batch_norms as fold_batch_norms
from nestarray.graph.passes.channels_last import channels_last as channels_last
from nestarray.graph.passes.constants import fold_constants as fold_constants
from nestarray.graph.passes.dead_code import remove_dead_code as remove_dead_code
from nestarray.graph.passes.parameters import fold_parameters as fold_parameters
from nestarray.graph.passes.subexpressions import (
    merge_common_subexpressions as merge_common_subexpressions,
)
from nestarray.graph.passes.transposes import cancel_transposes as cancel_transposes

Pass = Callable[[Graph], Graph]

#: What is right for any graph: the same parameters, the same gradients.
TRAINING: tuple[Pass, ...] = (fold_constants, merge_common_subexpressions, remove_dead_code)


#: Whose convolutions are faster so on the host. On accelerators XLA chooses layouts of its own.
_CHANNELS_LAST = ("jax", "tensorflow")


def default_passes(graph: Graph) -> tuple[Pass, ...]:
    """The passes of `Graph.optimize`: by the traced behaviour, and by what the backend prefers."""
    layout = (channels_last,) if graph.backend in _CHANNELS_LAST else ()
    if graph.returns_state:
        return (*layout, *TRAINING)
    return (fold_batch_norms, *layout, *TRAINING, fold_parameters)


@method
def optimize(graph: Graph, passes: Iterable[Pass] | None = None) -> Graph:
    """The lowered graph after a row of passes; see `nestarray.graph.passes`.

    Args:
        passes: functions from a graph to a graph. None: those for the traced behaviour
            and the backend, ``default_passes(graph)`` of that module. On an evaluation
            graph they fold batch normalization and whatever parameters alone decide, so
            ``graph.v`` is then what the faster program reads, not the source's. On
            JAX and TensorFlow they put channels last.

    Returns:
        a graph of the same inputs and outputs.

    Raises:
        ConversionError: a pass for evaluation is asked of a graph that trains.

    Example:
        >>> import torch, nestarray as na
        >>> from nestarray.graph import passes
        >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
        >>> graph = na.trace_graph(net, torch.ones(1, 1, 8, 8))
        >>> graph.optimize().v.paths()
        ('0/weight', '0/bias')
        >>> graph.optimize(passes.TRAINING).v.paths()
        ('0/weight', '0/bias', '1/weight', '1/bias')
    """
    graph = graph.lower()
    for each in default_passes(graph) if passes is None else passes:
        graph = each(graph)
    return graph

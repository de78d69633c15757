"""Passes: functions from a Graph to an equivalent Graph.

Each pass is in one file; `Graph.optimize` runs several over the lowered graph. A pass never
changes its argument. Calls keep the names of their values, so that `Graph.verify` can compare
intermediate values with the source.

=============================  ==========================================================
`recognize_idioms`             replace groups of calls by one op; `lower` runs it
`fuse_biases`                  give convolutions the bias added after them; `lower` runs it
`fuse_products`                give products the bias added after them (PyTorch)
`hoist_from_scans`             compute what no carry decides before a loop (PyTorch)
`share_moments`                read the moments of a batch from its normalization; `lower` runs it
`fold_constants`               compute values of constants once; `lower` runs it
`merge_common_subexpressions`  merge equal calls
`pass_constants_to_pullbacks`  make constants of custom derivatives residuals
`remove_dead_code`             drop calls, constants and carries that no result uses; `lower` runs it
`cancel_transposes`            move transposes down until they cancel
`channels_last`                run convolutions and calls between them with channels last
`fold_batch_norms`             fold into the layer before (evaluation)
`fold_parameters`              compute values of parameters once (evaluation)
`roll_loops`                   make loops of repeated calls; on request only
=============================  ==========================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from nestarray.display.progress import progress
from nestarray.errors.unknown_names import suggest_names
from nestarray.graph.graph import Graph
from nestarray.graph.passes.batch_norms import fold_batch_norms
from nestarray.graph.passes.biases import fuse_biases, fuse_products
from nestarray.graph.passes.channels_last import channels_last
from nestarray.graph.passes.constants import fold_constants
from nestarray.graph.passes.dead_code import remove_dead_code
from nestarray.graph.passes.derivatives import pass_constants_to_pullbacks
from nestarray.graph.passes.hoisting import hoist_from_scans
from nestarray.graph.passes.idioms import recognize_idioms
from nestarray.graph.passes.loops import roll_loops
from nestarray.graph.passes.moments import share_moments
from nestarray.graph.passes.parameters import fold_parameters
from nestarray.graph.passes.subexpressions import (
    merge_common_subexpressions as merge_common_subexpressions,
)
from nestarray.graph.passes.transposes import cancel_transposes

__all__ = [
    "TRAINING",
    "Pass",
    "cancel_transposes",
    "channels_last",
    "default_passes",
    "fold_batch_norms",
    "fold_constants",
    "fold_parameters",
    "fuse_biases",
    "fuse_products",
    "hoist_from_scans",
    "merge_common_subexpressions",
    "pass_constants_to_pullbacks",
    "recognize_idioms",
    "remove_dead_code",
    "roll_loops",
    "share_moments",
    "training_passes",
]

#: A function from a Graph to an equivalent Graph.
Pass = Callable[[Graph], Graph]

#: The passes for any graph: they keep parameters and gradients.
TRAINING: tuple[Pass, ...] = (
    fold_constants,
    merge_common_subexpressions,
    remove_dead_code,
    pass_constants_to_pullbacks,
)


#: Backends with faster convolutions for channels last on the CPU. On accelerators XLA chooses.
_CHANNELS_LAST = ("jax", "tensorflow")


def training_passes(graph: Graph) -> tuple[Pass, ...]:
    """The passes that keep parameters and gradients, for the backend."""
    if graph.backend == "torch":
        return (fuse_products, hoist_from_scans, *TRAINING)
    return (channels_last, *TRAINING) if graph.backend in _CHANNELS_LAST else TRAINING


def default_passes(graph: Graph) -> tuple[Pass, ...]:
    """The passes of `Graph.optimize`, for the traced behaviour and the backend."""
    kept = training_passes(graph)
    return kept if graph.returns_state else (fold_batch_norms, *kept, fold_parameters)


def optimize(graph: Graph, passes: Iterable[Pass] | None = None) -> Graph:
    """The lowered graph after a row of passes; see `nestarray.graph.passes`.

    Args:
        passes: functions from a graph to a graph. None: those for the traced behaviour
            and the backend, ``default_passes(graph)`` of that module. On an evaluation
            graph they fold batch normalization and whatever parameters alone decide, so
            ``graph.v`` then differs from the source's parameters. On
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
    with progress(f"optimize {graph.name}") as step:
        step("lower")
        graph = graph.lower()
        chosen = tuple(default_passes(graph) if passes is None else passes)
        for number, each in enumerate(chosen, 1):
            step(getattr(each, "__name__", ""), number / (len(chosen) + 1))
            graph = each(graph)
    return graph


suggest_names(__name__)

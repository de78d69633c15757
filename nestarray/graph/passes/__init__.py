"""Passes: functions from a Graph to an equivalent Graph.

Each pass is in one file. `lower` runs those of `LOWERING`, `Graph.optimize` those for the traced
behaviour and the backend; `Graph.passes` names both. A pass never changes its argument. Calls keep
the names of their values, so that `Graph.verify` can compare intermediate values with the source.
A peephole pass is a list of pairs, a pattern and its replacement (`rewriting.Rule`, `idioms`).

=============================  ==========================================================
`read_parts`                   index into the operand of a concatenation
`recognize_idioms`             replace groups of calls by one op
`fuse_biases`                  give convolutions the bias added after them
`fuse_products`                give products the bias added after them (PyTorch)
`hoist_from_scans`             compute what no carry decides before a loop (PyTorch)
`share_moments`                read the moments of a batch from its normalization
`fold_constants`               compute values of constants once
`merge_common_subexpressions`  merge equal calls
`pass_constants_to_pullbacks`  make constants of custom derivatives residuals
`remove_dead_code`             drop calls, constants and carries that no result uses
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
from nestarray.graph.codegen import frontends_of
from nestarray.graph.graph import Graph
from nestarray.graph.passes.batch_norms import fold_batch_norms
from nestarray.graph.passes.biases import fuse_biases, fuse_products
from nestarray.graph.passes.channels_last import channels_last
from nestarray.graph.passes.concatenations import read_parts
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
    "LOWERING",
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
    "read_parts",
    "recognize_idioms",
    "remove_dead_code",
    "roll_loops",
    "share_moments",
    "training_passes",
]

#: A function from a Graph to an equivalent Graph.
Pass = Callable[[Graph], Graph]

#: The passes of `Graph.lower`.
LOWERING: tuple[Pass, ...] = (
    read_parts,
    fold_constants,
    recognize_idioms,
    fuse_biases,
    share_moments,
    remove_dead_code,
)

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


def names_of_passes(graph: Graph) -> tuple[str, ...]:
    """The names of the passes of `optimize`, in order; those of `lower` first, unless it has run.

    Example:
        >>> import torch, nestarray as na
        >>> graph = na.trace_graph(torch.nn.Linear(2, 3), torch.ones(4, 2)).lower()
        >>> graph.passes[:3]
        ('fold_batch_norms', 'fuse_products', 'hoist_from_scans')
        >>> graph.to_backend("jax").passes[:3]
        ('fold_batch_norms', 'channels_last', 'fold_constants')
    """
    lowering = LOWERING if frontends_of(graph) else ()
    return tuple([each.__name__ for each in (*lowering, *default_passes(graph))])


Graph.passes = property(names_of_passes)  # type: ignore[attr-defined]


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

"""Models as graphs: trace, move, compile, prove."""

from __future__ import annotations

from typing import Any

from nestarray.errors import ArgumentError
from nestarray.graph.graph import Aval as Aval
from nestarray.graph.graph import Graph as Graph
from nestarray.graph.graph import Node as Node


def trace_graph(net: Any, *args: Any, train: bool = False, **kwargs: Any) -> Graph:
    """Trace a ``torch.nn.Module`` into a `Graph` that any backend can run and train.

    Args:
        net: the module. It is not changed; the graph shares the memory of its tensors.
        *args, **kwargs: example inputs, as ``net(*args, **kwargs)`` takes them.
        train: trace the training behaviour: dropout draws from a `key`, and the graph
            returns ``(output, new_state)``. By default the evaluation behaviour is
            traced, whatever mode `net` is in.

    Returns:
        a Graph on torch; ``.to_backend("jax")`` moves it.

    Raises:
        ArgumentError: `net` is not a ``torch.nn.Module``.
        ConversionError: torch cannot export the module.
        MissingOpError: the module uses operations without a frontend function; lists all.

    Example:
        >>> import torch, nestarray as na
        >>> net, x = torch.nn.Linear(2, 3), torch.ones(4, 2)
        >>> graph = na.trace_graph(net, x).to_backend("numpy")
        >>> graph(na.to_backend(x, "numpy")).shape
        (4, 3)
    """
    from nestarray.graph.from_torch import trace_torch

    _check_torch_module(net, "trace_graph")
    return trace_torch(net, args, kwargs, train)


def _check_torch_module(net: Any, function: str) -> None:
    if not (hasattr(net, "named_parameters") and hasattr(net, "forward")):
        raise ArgumentError(
            f"{function}: net: got {type(net).__name__}, expected a torch.nn.Module"
        )

"""The cost of a computation: `na.flops`, and FLOPs and activation memory of each module of a net."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from nestarray import lazy_imports, ops, tree
from nestarray.backends import is_array
from nestarray.errors import MixedBackendError, ShapeError, UnsupportedError
from nestarray.errors.signatures import signature_errors
from nestarray.graph.flops import flops_of, steps_of
from nestarray.graph.graph import Graph
from nestarray.graph.node import Call, bodies
from nestarray.importers.tracing import trace_graph
from nestarray.nn.module import Module


@signature_errors(callables=("fn",))
def flops(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> int:
    """The floating-point operations of ``fn(*args, **kwargs)``; a multiply-add counts as two.

    The function is traced, not computed. Matrix products, convolutions, attention and recurrent layers
    count, as in ``torch.utils.flop_counter``; the rule of each op is in `nestarray.graph.flops`.
    Functions with derivatives, such as ``na.grad(loss)``, are traced by JAX, if it is installed; arrays
    of other libraries that the loss needs must be arguments.

    Args:
        fn: anything that `na.trace_graph` accepts: a function over `na`, a module of `na.nn`, PyTorch,
            JAX or Keras; or a `Graph`, without arguments.
        *args, **kwargs: example inputs; only shapes and dtypes matter.

    Raises:
        ShapeError: values decide how often a loop runs, or a size of a graph is open.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = np.ones((8, 2), "float32")
        >>> na.flops(na.nn.Linear(2, 3).init(na.random.key(0)), x)
        96
        >>> na.flops(lambda x: na.exp(x @ x.T), x)
        256
        >>> na.flops(na.grad(lambda w, x: na.sum(na.tanh(x @ w))), np.ones((2, 3), "float32"), x)
        192

    References:
        https://docs.pytorch.org/docs/stable/utils.html#torch.utils.flop_counter.FlopCounterMode
    """
    graph = fn
    if not isinstance(graph, Graph):
        try:
            graph = trace_graph(fn, *args, **kwargs)
        except UnsupportedError:  # derivatives cannot be recorded
            graph = _traced_by_jax(fn, args, kwargs)
    total = flops_of(graph.calls)
    if total is None:
        raise ShapeError(
            f"flops: {graph.name}: a size is open, or values decide how often a loop runs; trace it with "
            "fixed sizes"
        )
    return total


def _traced_by_jax(fn: Callable[..., Any], args: Any, kwargs: Any) -> Graph:
    """The graph of a function over `na` that computes derivatives."""
    jax = lazy_imports.optional("jax", "flops: derivatives need", extra="jax")
    args, kwargs = tree.map(
        lambda x: ops.to_backend(x, "jax") if is_array(x) else x, (args, kwargs)
    )
    try:
        return trace_graph(jax.jit(fn), *args, **kwargs)
    except MixedBackendError as error:
        error.add_note(
            "flops: JAX traces derivatives; pass all arrays as arguments of the function"
        )
        raise


class Cost(NamedTuple):
    """The cost of a module without its children.

    Attributes:
        output: the shape of the last array that it computes; None if it has no calls.
        flops: of its calls; None if they are not known.
        activations: bytes of the results of its calls, which a gradient may need.
    """

    output: tuple[Any, ...] | None = None
    flops: int | None = 0
    activations: int = 0


def costs_of(net: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Cost]:
    """Path of a module → its cost in a call of the net in evaluation mode."""
    graph = trace_graph(net, *args, **kwargs)
    costs: dict[str, Cost] = {}
    _add(costs, graph.calls, 1)
    return costs


def _add(costs: dict[str, Cost], calls: Iterable[Call], times: int | None) -> None:
    for node in calls:
        inner = [body.nodes for body in bodies(node.args)]
        if inner:
            steps = steps_of(node)
            for nodes in inner:
                _add(costs, nodes, None if times is None or steps is None else times * steps)
        output, flops, activations = costs.get(node.module, Cost())
        count = 0 if inner else flops_of([node])
        if flops is None or count is None or times is None:
            flops = None
        else:
            flops += times * count
        if node.aval is not None:
            output = node.aval.shape
            sizes = [size for size in output if isinstance(size, int)]
            if len(sizes) == len(output):
                activations += (times or 1) * math.prod(sizes) * node.aval.dtype.bits // 8
        costs[node.module] = Cost(output, flops, activations)

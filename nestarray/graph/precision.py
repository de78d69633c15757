"""Computation in 32 bits of what the source computes in 64: for JAX without x64.

JAX keeps 64-bit integers in 32 bits by itself. For floating numbers it is asked for, because it
changes results: `in_float32` replaces the dtypes of variables and calls.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from nestarray import backends, dtypes, ops
from nestarray.container import Container
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError
from nestarray.errors.text import counted, listed
from nestarray.graph.derived import derived_source
from nestarray.graph.execution import where_of
from nestarray.graph.node import Aval, Body, Node, bodies, map_leaves

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph

_NARROW = {dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64}


def with_float64(graph: Graph, float64: str | None) -> Graph:
    """The graph that computes float64 and complex128 in other dtypes.

    Args:
        graph: any graph.
        float64: None, or ``"float32"`` for float32 and complex64.

    Raises:
        ArgumentError: another `float64`.
    """
    if float64 not in (None, "float32"):
        raise ArgumentError(f"to_backend: float64: got {float64!r}, expected None or 'float32'")
    return graph if float64 is None else _in_float32(graph)


def wide_calls(graph: Graph) -> list[Node]:
    """The calls that compute in float64 or complex128."""
    return [node for node in graph.calls if _is_wide(node)]


def check_float64(graph: Graph, error: DtypeError) -> None:
    """Explain an error of a graph that computes in float64 on JAX without x64.

    Raises:
        DtypeError: with the calls and the arrays in float64, and the remedy.
    """
    if graph.backend != "jax" or backends.core("jax").widest_float(None) is dtypes.float64:
        return
    wide = wide_calls(graph)
    arrays = [
        f"{letter}[{path!r}]"
        for letter in ("v", "s", "constants")
        for path, x in getattr(graph, letter).flat_items()
        if dtypes.dtype_of(x) in _NARROW
    ]
    if not (wide or arrays):
        return
    count = " and ".join(
        counted(len(found), name) for found, name in ((wide, "call"), (arrays, "array")) if found
    )
    raise DtypeError(
        f"{graph.name}: {count} of this graph need float64, which JAX computes in 32 bits now: "
        f"{listed([*map(where_of, wide), *arrays])}. Compute in float32 with "
        'graph.to_backend("jax", float64="float32"), or call '
        'jax.config.update("jax_enable_x64", True) first'
    ) from error


def check_integers(where: str, x: Any, moved: Any) -> None:
    """The values of a 64-bit integer array, moved to a backend that holds them in 32 bits.

    Raises:
        DtypeError: one does not fit.
    """
    wide, narrow = dtypes.dtype_of(x), dtypes.dtype_of(moved)
    if wide is narrow or not wide.is_integer or 0 in x.shape:
        return
    least, most = int(ops.min(x)), int(ops.max(x))
    limits = dtypes.iinfo(narrow)
    if least < limits.min or most > limits.max:
        raise DtypeError(
            f"{where}: got {wide} from {least} to {most}, which JAX holds in {narrow} now; call "
            'jax.config.update("jax_enable_x64", True) first'
        )


def _is_wide(node: Node) -> bool:
    found: list[Any] = []
    map_leaves(found.append, (node.args, node.kwargs))
    inner = [n for body in bodies(node.args) for n in body.nodes]
    return (
        (node.aval is not None and node.aval.dtype in _NARROW)
        or any(isinstance(x, DType) and x in _NARROW for x in found)
        or any(map(_is_wide, inner))
    )


def _in_float32(graph: Graph) -> Graph:
    new: dict[Node, Node] = {}
    nodes = [_narrow_node(node, new) for node in graph.nodes]
    variables = {
        letter: _narrow_arrays(getattr(graph, letter)) for letter in ("v", "s", "constants")
    }
    return graph.replace(
        nodes=nodes,
        signature=_narrow(graph.signature, new),
        output=_narrow(graph.output, new),
        state_updates={path: new[node] for path, node in graph.state_updates.items()},
        reference=derived_source(graph),
        **variables,
    )


def _narrow_node(node: Node, new: dict[Node, Node]) -> Node:
    args, kwargs = _narrow((node.args, node.kwargs), new)
    aval = node.aval and Aval(node.aval.shape, _NARROW.get(node.aval.dtype, node.aval.dtype))
    new[node] = dataclasses.replace(node, args=args, kwargs=kwargs, aval=aval)
    return new[node]


def _narrow(value: Any, new: dict[Node, Node]) -> Any:
    def of_leaf(leaf: Any) -> Any:
        if isinstance(leaf, Node):
            return new[leaf]
        if isinstance(leaf, Body):
            return _narrow_body(leaf, new)
        return _NARROW.get(leaf, leaf) if isinstance(leaf, DType) else leaf

    return map_leaves(of_leaf, value)


def _narrow_body(body: Body, outer: dict[Node, Node]) -> Body:
    new = dict(outer)
    return dataclasses.replace(
        body,
        parameters=map_leaves(lambda node: _narrow_node(node, new), body.parameters),
        nodes=[_narrow_node(node, new) for node in body.nodes],
        output=_narrow(body.output, new),
    )


def _narrow_arrays(c: Container) -> Container:
    return c.map(lambda x: ops.astype(x, _NARROW.get(dtypes.dtype_of(x), x.dtype), copy=False))

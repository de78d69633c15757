"""Computation in other dtypes than the source's.

JAX without x64 keeps 64-bit integers in 32 bits by itself. For floating numbers it is asked for,
because it changes results: `in_dtypes` replaces the dtypes of variables and calls.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from nestarray import backends, dtypes, ops
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError, DtypeError
from nestarray.errors.text import counted, listed
from nestarray.graph.codegen import valid_name
from nestarray.graph.derived import derived_source
from nestarray.graph.execution import where_of
from nestarray.graph.node import (
    Argument,
    Aval,
    Body,
    Call,
    Input,
    Node,
    T,
    bodies,
    iter_nodes,
    map_leaves,
    map_nodes,
    names_of,
)
from nestarray.typing import Array

if TYPE_CHECKING:
    from nestarray.graph.graph import Graph

#: Functions that read bits as numbers, as random draws do.
_BITCASTS = ("jax.lax.bitcast_convert_type", "na.bitcast", "tf.bitcast")
#: Dtypes that JAX without x64 lacks → those in their place.
NARROW = {dtypes.float64: dtypes.float32, dtypes.complex128: dtypes.complex64}
#: Dtypes of half precision → that in which their rounding errors are measured.
HALF = {dtypes.float16: dtypes.float32, dtypes.bfloat16: dtypes.float32}


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
    return graph if float64 is None else in_dtypes(graph, NARROW)


def calls_in(graph: Graph, changed: Collection[DType]) -> list[Call]:
    """The calls that compute in some dtypes."""
    return [node for node in graph.calls if _computes_in(changed, node)]


def check_float64(graph: Graph, error: DtypeError) -> None:
    """Explain an error of a graph that computes in float64 on JAX without x64.

    Raises:
        DtypeError: with the calls and the arrays in float64, and the remedy.
    """
    if graph.backend != "jax" or backends.core("jax").widest_float(None) is dtypes.float64:
        return
    wide = calls_in(graph, NARROW)
    arrays = [
        f"{letter}[{path!r}]"
        for letter in ("v", "s", "constants")
        for path, x in getattr(graph, letter).flat_items()
        if dtypes.dtype_of(x) in NARROW
    ]
    if not (wide or arrays):
        return
    count = " and ".join(
        counted(len(values), name) for values, name in ((wide, "call"), (arrays, "array")) if values
    )
    raise DtypeError(
        f"{graph.name}: {count} of this graph need float64, which JAX computes in 32 bits now: "
        f"{listed([*map(where_of, wide), *arrays])}. Compute in float32 with "
        'graph.to_backend("jax", float64="float32"), in a shell with --float64 float32, or call '
        'jax.config.update("jax_enable_x64", True) first'
    ) from error


def check_integers(where: str, x: Array, moved: Array) -> None:
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


def _computes_in(changed: Collection[DType], node: Call) -> bool:
    leaves: list[Argument] = []
    map_leaves(leaves.append, (node.args, node.kwargs))
    inner = [n for body in bodies(node.args) for n in body.nodes]
    return (
        (node.aval is not None and node.aval.dtype in changed)
        or any(isinstance(x, DType) and x in changed for x in leaves)
        or any(_computes_in(changed, n) for n in inner)
    )


def in_dtypes(graph: Graph, changes: Mapping[DType, DType]) -> Graph:
    """The graph that computes in other dtypes: its inputs, variables, calls and numbers.

    Finite numbers stay finite: the limits of the old dtype, as in masks, become the limits of the new dtype.
    Numbers that are computed from random bits alone keep their dtype, which the bits have.

    Args:
        graph: any graph.
        changes: floating or complex dtype → its replacement.
    """
    change = _Change(changes, names_of(graph.nodes), {}, {})
    change.write(graph.nodes)
    variables = {
        letter: getattr(graph, letter).map(change.array) for letter in ("v", "s", "constants")
    }
    return graph.replace(
        signature=change.nest(graph.signature),
        output=change.nest(graph.output),
        state_updates=change.nest(graph.state_updates),
        assumptions=change.nest(graph.assumptions),
        nodes=change.written,  # with casts of the results
        reference=derived_source(graph, changes=changes),
        **variables,
    )


class _Change:
    """Replaces dtypes in the nodes and arrays of a graph.

    Args:
        dtypes: dtype → its replacement.
        taken: the names of the graph.
        new: node → its replacement, of the nodes that were replaced outside of a body.
        kept: node → its replacement in the old dtype, of the numbers from bits among these.

    Attributes:
        written: the new nodes, in order.
    """

    def __init__(
        self,
        changes: Mapping[DType, DType],
        taken: set[str],
        new: Mapping[Node, Node],
        kept: Mapping[Node, Node],
    ) -> None:
        self.dtypes, self.taken, self.new, self.kept = changes, taken, dict(new), dict(kept)
        self.written: list[Node] = []
        limits = {dtypes.finfo(old).max: dtypes.finfo(new).max for old, new in changes.items()}
        self.numbers = limits | {-old: -new for old, new in limits.items()}

    def write(self, nodes: Iterable[Node]) -> None:
        """Write the replacements of nodes."""
        for node in nodes:
            if isinstance(node, Input) or not self._is_of_bits(node):
                new = self.node(node)
                if self._has_own_dtype(node):
                    new = dataclasses.replace(new, aval=node.aval)
                    self.written.append(new)
                    self.new[node] = self._cast(new)
                else:
                    self.written.append(new)
                continue
            args, kwargs = map_nodes(
                lambda n: self.kept.get(n) or self.new[n], (node.args, node.kwargs)
            )
            self.kept[node] = dataclasses.replace(node, args=args, kwargs=kwargs)
            self.written.append(self.kept[node])

    def _is_of_bits(self, node: Call) -> bool:
        """Whether a call reads bits as numbers, or all its numbers come from such calls."""
        operands = self._given(node)
        return all(n in self.kept for n in operands) if operands else node.target_name in _BITCASTS

    def _given(self, node: Call) -> list[Node]:
        """The arguments of a call whose dtype changes, or may."""
        nodes = iter_nodes((node.args, node.kwargs))
        return [n for n in nodes if n.aval is None or n.aval.dtype in self.dtypes]

    def _has_own_dtype(self, node: Node) -> bool:
        """Whether no argument decides the dtype of a result: random numbers, quotients of integers."""
        if not isinstance(node, Call) or node.aval is None or node.aval.dtype not in self.dtypes:
            return False
        named: list[Argument] = []
        map_leaves(named.append, (node.args, node.kwargs))
        decides = (
            isinstance(x, Body) or (isinstance(x, DType) and x in self.dtypes) for x in named
        )
        is_new = "like" in node.kwargs  # `like` is the backend and the device
        return (is_new or not self._given(node)) and not any(decides)

    def _cast(self, node: Node) -> Node:
        """A number of an old dtype in the new one."""
        aval = node.aval
        if aval is None or aval.dtype not in self.dtypes:
            return node
        dtype = self.dtypes[aval.dtype]
        cast = dataclasses.replace(
            node, name=valid_name(node.name, self.taken), target=ops.astype,
            target_name="na.astype", args=(node, dtype), kwargs={}, aval=Aval(aval.shape, dtype),
        )  # fmt: skip
        self.written.append(cast)
        return cast

    def node(self, node: Node) -> Node:
        aval = node.aval and Aval(
            node.aval.shape, self.dtypes.get(node.aval.dtype, node.aval.dtype)
        )
        new = dataclasses.replace(node, aval=aval)
        if isinstance(new, Call):
            new.args, new.kwargs = self.nest((new.args, new.kwargs))
        self.new[node] = new
        return new

    def nest(self, nest: T) -> T:
        return map_leaves(self._leaf, nest)

    def _leaf(self, leaf: Argument) -> Argument:
        if isinstance(leaf, Node):
            if leaf not in self.new:
                self.new[leaf] = self._cast(self.kept[leaf])
            return self.new[leaf]
        if isinstance(leaf, Body):
            return _Change(self.dtypes, self.taken, self.new, self.kept)._body(leaf)
        if isinstance(leaf, DType):
            return self.dtypes.get(leaf, leaf)
        return self.numbers.get(leaf, leaf) if isinstance(leaf, float) else leaf

    def _body(self, body: Body) -> Body:
        parameters = map_leaves(self.node, body.parameters)
        self.write(body.nodes)
        output = self.nest(body.output)
        return dataclasses.replace(body, parameters=parameters, nodes=self.written, output=output)

    def array(self, x: Array) -> Array:
        old = dtypes.dtype_of(x)
        new = self.dtypes.get(old, old)
        if new is old:
            return x
        most = dtypes.finfo(new).max
        if most < dtypes.finfo(old).max and new.kind == "float":
            x = ops.where(ops.isinf(x), x, ops.clip(x, -most, most))
        return ops.astype(x, new)

"""`cast`: a graph in float32 computes in half precision.

The graph is lowered, and each call gets the dtype in which it computes, by the traits of its op:

- products (`Trait.PRODUCT`) in half precision;
- shapes, selections, activations, sums of two arrays (`Trait.HALF_SAFE`) in the widest dtype of
  computed arrays among their arguments; results of normalizations, parameters and constants
  follow. Of parameters alone, as a lookup in an embedding, they stay in the parameters' dtype up to
  the next product: gradients of rows that occur many times are sums;
- normalizations and modules that `keep` names in float32, with results that follow;
- everything else (exponentials, logarithms, sums over axes, softmax, losses, linear algebra) in
  float32, which its result keeps.

So the reductions of a softmax or of a loss stay in float32 up to the next product, as with
``torch.autocast``. Casts are calls of the graph with derivatives: gradients arrive in the dtypes of
the parameters. State keeps its dtype, and so do float64 and random numbers.

References:
    https://docs.pytorch.org/docs/stable/amp.html#cpu-ops-that-can-autocast-to-float32
    https://arxiv.org/abs/1710.03740
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Collection, Iterable, Sequence

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.container.selection import matches
from nestarray.dispatch import OPS
from nestarray.dtypes import DType, float32
from nestarray.errors import ArgumentError
from nestarray.errors.text import listed
from nestarray.graph.codegen import valid_name
from nestarray.graph.derived import derived_source
from nestarray.graph.graph import Graph
from nestarray.graph.lower import lower
from nestarray.graph.node import (
    Argument,
    Aval,
    Body,
    Call,
    Function,
    Input,
    Node,
    Operand,
    all_calls,
    is_input,
    iter_nodes,
    map_leaves,
    names_of,
)
from nestarray.graph.precision import HALF
from nestarray.traits import Trait
from nestarray.typing import Array, DTypeLike


def cast(
    graph: Graph,
    /,
    *,
    compute: DTypeLike,
    params: DTypeLike = None,
    outputs: DTypeLike = None,
    keep: str | Sequence[str] = (),
) -> Graph:
    """The graph that computes in half precision where that is safe: mixed precision.

    Products (`linear`, convolutions, attention) compute in `compute`; softmax, exponentials,
    logarithms, sums over axes, losses and normalizations compute in float32, as with
    ``torch.autocast``; calls of other ops follow their arguments. Inputs keep the dtypes of the
    trace. Calls in float64 are unchanged.

    Args:
        compute: ``"bfloat16"`` or ``"float16"``. Gradients of float16 need
            `nestarray.nn.DynamicLossScale`.
        params: dtype of the parameters that are float32; None: unchanged. They are cast where they
            are used, and their gradients have their dtype.
        outputs: dtype of the outputs that are float32; None: unchanged.
        keep: patterns of `Container.select` on the paths of modules that compute in float32, such as
            ``"**/norm*"``. A source without modules has those of its parameters.

    Returns:
        a graph of the same inputs, variables and state.

    Raises:
        ArgumentError: a dtype has another kind, or a pattern matches no module.

    Example:
        >>> import torch, nestarray as na
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Softmax(-1))
        >>> print(na.trace_graph(net, torch.ones(4, 2)).cast(compute="bfloat16"))
        import nestarray as na
        <BLANKLINE>
        <BLANKLINE>
        def graph(input, *, v, s, constants, key=None):  # float32[4, 2]
            input_1 = na.astype(input, na.bfloat16)  # bfloat16[4, 2]
            v_0_weight = na.astype(v['0/weight'], na.bfloat16)  # bfloat16[3, 2]
            v_0_bias = na.astype(v['0/bias'], na.bfloat16)  # bfloat16[3]
            linear = na.linear(input_1, v_0_weight, v_0_bias)  # bfloat16[4, 3] · 0
            linear_1 = na.astype(linear, na.float32)  # float32[4, 3] · 0
            softmax = na.softmax(linear_1, axis=1)  # float32[4, 3] · 1
            return softmax
        <BLANKLINE>

    References:
        https://docs.pytorch.org/docs/stable/amp.html
        https://github.com/google-deepmind/jmp
    """
    half = _checked("compute", compute, HALF)
    stored = float32 if params is None else _checked("params", params, _FLOATING)
    returned = float32 if outputs is None else _checked("outputs", outputs, _FLOATING)
    lowered = lower(graph)
    patterns = (keep,) if isinstance(keep, str) else tuple(keep)
    limits = {path for path, x in lowered.constants.flat_items() if _has_limits(x, half)}
    casts = _Casts(half, stored, _modules(lowered, patterns), limits, names_of(lowered.nodes))
    casts.write(lowered.nodes)
    output = map_leaves(lambda leaf: casts.argument(leaf, returned), lowered.output)
    updates = {path: casts.argument(node, float32) for path, node in lowered.state_updates.items()}
    assumptions = map_leaves(lambda leaf: casts.argument(leaf, float32), lowered.assumptions)
    return lowered.replace(
        nodes=casts.written,
        signature=map_leaves(casts.declared, lowered.signature),
        output=output,
        state_updates=updates,
        assumptions=assumptions,
        v=lowered.v.map(lambda x: ops.astype(x, stored) if dtypes.dtype_of(x) is float32 else x),
        reference=derived_source(lowered, changes={float32: returned}),
    )


_FLOATING = tuple(d for d in dtypes.ALL if d.is_floating)


def _has_limits(x: Array, half: DType) -> bool:
    """Whether a finite number of an array is infinite in half precision, as in masks."""
    if dtypes.dtype_of(x) is not float32 or 0 in x.shape:
        return False
    size = ops.abs(x)
    is_limit = ops.logical_and(size > dtypes.finfo(half).max, ops.isfinite(x))
    return bool(ops.any(is_limit))


def _checked(name: str, dtype: DTypeLike, expected: Collection[DType]) -> DType:
    parsed = dtypes.dtype_for(f"cast: {name}", dtype)
    if parsed not in expected:
        names = listed([repr(d.name) for d in expected], most=4)
        raise ArgumentError(f"cast: {name}: got {parsed.name!r}, expected {names}")
    return parsed


def _module_of(node: Call) -> str:
    """The path of a call's module; without modules, of its first parameter."""
    if node.module:
        return node.module.replace(".", "/")
    taken = [n.path for n in iter_nodes((node.args, node.kwargs)) if is_input(n, "v")]
    return taken[0].rpartition("/")[0] if taken else ""


def _modules(graph: Graph, patterns: tuple[str, ...]) -> frozenset[str]:
    """The paths of modules that match a pattern.

    Raises:
        ArgumentError: a pattern matches none.
    """
    paths = sorted({_module_of(node) for node in all_calls(graph.calls)} - {""})
    tree = Container()
    for path in paths:
        tree = tree.set(f"{path}/.", path)
    matching: set[str] = set()
    for pattern in patterns:
        hits = matches(tree._spec, tree._leaves, (pattern,))
        chosen = [path for path, hit in zip(tree.leaves(), hits, strict=True) if hit]
        if not chosen:
            raise ArgumentError(
                f"cast: keep: {pattern!r} matches no module of {graph.name}: {listed(paths, 8)}"
            )
        matching.update(chosen)
    return frozenset(matching)


@dataclasses.dataclass(frozen=True)
class _Value:
    """The new nodes of an old node, and its weight in the dtypes of calls that follow.

    Attributes:
        dtype: the dtype in which the value is computed.
        status: ``"computed"`` if it decides the dtype of a call that follows, ``"free"`` if not, as
            the result of a normalization, ``"parameter"`` if it comes from parameters and constants
            alone.
        nodes: dtype → node.
    """

    dtype: DType
    status: str
    nodes: dict[DType, Node]


class _Casts:
    """Writes the calls of a graph again, each in its dtype, with casts between them.

    Args:
        half: the dtype of products.
        stored: the dtype of parameters.
        in_float32: the paths of modules in float32.
        limits: the paths of constants that half precision cannot hold.
        taken: the names of the graph.
        values: of nodes outside of a body.

    Attributes:
        written: the new nodes, in order.
    """

    def __init__(
        self,
        half: DType,
        stored: DType,
        in_float32: frozenset[str],
        limits: set[str],
        taken: set[str],
        values: dict[Node, _Value] | None = None,
    ) -> None:
        self.half, self.stored, self.in_float32, self.taken = half, stored, in_float32, taken
        self.limits = limits
        self.values = {
            node: dataclasses.replace(value, nodes=dict(value.nodes))
            for node, value in (values or {}).items()
        }
        self.others: dict[Node, Node] = {}  # nodes without a dtype of interest
        self.written: list[Node] = []

    def write(self, nodes: Iterable[Node]) -> None:
        """Write nodes: inputs as they are, calls in their dtypes."""
        for node in nodes:
            if isinstance(node, Input):
                self._input(node)
            else:
                self._call(node)

    def _input(self, node: Input) -> None:
        if node.aval is None or node.aval.dtype is not float32:
            self.others[node] = node
            self.written.append(node)
            return
        dtype = self.stored if node.source == "v" else float32
        new = dataclasses.replace(node, aval=Aval(node.aval.shape, dtype))
        is_limit = node.source == "constants" and node.path in self.limits
        status = "computed" if node.source in ("x", "s") or is_limit else "parameter"
        self.values[node] = _Value(dtype, status, {dtype: new})
        self.written.append(new)

    def _call(self, node: Call) -> None:
        dtype, status = self._dtype(node)
        args, kwargs = map_leaves(lambda leaf: self.argument(leaf, dtype), (node.args, node.kwargs))
        if dtype in HALF and _chapter(node) == "attention":
            args, kwargs = self._with_finite_mask(node, args, kwargs, dtype)
        aval = node.aval
        if aval is not None and aval.dtype is float32:
            aval = Aval(aval.shape, dtype)
        new = dataclasses.replace(node, args=args, kwargs=kwargs, aval=aval)
        self.written.append(new)
        if node.aval is None or node.aval.dtype is float32:
            self.values[node] = _Value(dtype, status, {dtype: new})
        else:
            self.others[node] = new

    def _dtype(self, node: Call) -> tuple[DType, str]:
        """The dtype in which a call computes, and the status of its value."""
        if node.target is operator.getitem and node.args[0] in self.values:
            whole = self.values[node.args[0]]
            is_moment = _chapter(node.args[0]) == "normalization" and node.args[1] != 0
            return whole.dtype, "computed" if is_moment else whole.status
        op = OPS.get(_name(node))
        chapter, traits = ("", Trait(0)) if op is None else (op.chapter, op.traits)
        if _module_of(node) in self.in_float32 or chapter == "normalization":
            return float32, "free"
        if Trait.PRODUCT in traits and not self._is_declared(node):
            return self.half, "computed"
        if self._is_declared(node) or node.is_random or Trait.HALF_SAFE not in traits:
            is_new = chapter == "creation" and not self._has_limit(node)
            return float32, "parameter" if is_new else "computed"
        taken = [self.values[n] for n in iter_nodes((node.args, node.kwargs)) if n in self.values]
        computed = {value.dtype for value in taken if value.status == "computed"}
        if computed or not taken:  # numbers of integers, such as positions, are in float32
            return (self.half if computed == {self.half} else float32), "computed"
        if any(value.status == "free" for value in taken):
            return self.half, "free"
        stored = {value.dtype for value in taken}
        return (stored.pop() if len(stored) == 1 else float32), "parameter"

    def _is_declared(self, node: Call) -> bool:
        """Whether a call names float32, or calls functions that may."""
        named: list[Argument] = []
        map_leaves(named.append, (node.args, node.kwargs))
        return any(leaf is float32 or isinstance(leaf, Body) for leaf in named)

    def _has_limit(self, node: Call) -> bool:
        """Whether a call names a finite number that half precision cannot hold."""
        named: list[Argument] = []
        map_leaves(named.append, (node.args, node.kwargs))
        most = dtypes.finfo(self.half).max
        return any(isinstance(x, float) and most < abs(x) < float("inf") for x in named)

    def argument(self, leaf: Argument, dtype: DType) -> Operand:
        """An argument of a call that computes in `dtype`, from an argument of the old call."""
        if isinstance(leaf, Body):
            return self._body(leaf)
        if isinstance(leaf, float) and dtype in HALF:
            most = dtypes.finfo(dtype).max  # limits of float32, as in masks, stay finite
            is_finite = abs(leaf) <= dtypes.finfo(float32).max
            return max(-most, min(leaf, most)) if is_finite else leaf
        if not isinstance(leaf, Node):
            return leaf
        if leaf not in self.values:
            return self.others[leaf]
        value = self.values[leaf]
        if leaf.aval is None:
            return value.nodes[value.dtype]
        if dtype not in value.nodes:
            value.nodes[dtype] = self._cast(value.nodes[value.dtype], dtype)
        return value.nodes[dtype]

    def _with_finite_mask(
        self, node: Call, args: tuple[Argument, ...], kwargs: dict[str, Argument], dtype: DType
    ) -> tuple[tuple[Argument, ...], dict[str, Argument]]:
        """The arguments of attention, with a mask whose limits of float32 stay finite.

        Rows of −∞ alone, as of padding, would be NaN.
        """
        place = list(OPS[_name(node)].signature.parameters).index("mask")
        mask = node.args[place] if len(node.args) > place else node.kwargs.get("mask")
        if not isinstance(mask, Node) or mask not in self.values:
            return args, kwargs
        wide, most = self.argument(mask, float32), dtypes.finfo(dtype).max
        clipped = self._written(wide, ops.clip, (-most, most), float32)
        narrow = self._cast(clipped, dtype)
        if len(node.args) > place:
            return (*args[:place], narrow, *args[place + 1 :]), kwargs
        return args, {**kwargs, "mask": narrow}

    def _cast(self, node: Node, dtype: DType) -> Node:
        return self._written(node, ops.astype, (dtype,), dtype)

    def _written(
        self, node: Node, function: Function, settings: tuple[Argument, ...], dtype: DType
    ) -> Node:
        """A call of an op on a node, which has the shape of the node."""
        assert node.aval is not None
        module, line, name = "", "", node.name
        if isinstance(node, Call):
            module, line = node.module, node.line
        elif node.source != "x":
            name = f"{node.source}_{node.path}".replace("/", "_")
        new = Call(
            name=valid_name(name, self.taken), target=function,
            target_name=f"na.{function.__name__}", args=(node, *settings),
            aval=Aval(node.aval.shape, dtype), module=module, line=line,
        )  # fmt: skip
        self.written.append(new)
        return new

    def declared(self, leaf: Argument) -> Argument:
        """The new node of an input."""
        if not isinstance(leaf, Node):
            return leaf
        return self.others[leaf] if leaf in self.others else self.values[leaf].nodes[float32]

    def _body(self, body: Body) -> Body:
        """A function of arrays in their old dtypes, which computes in others inside."""
        inner = _Casts(
            self.half, self.stored, self.in_float32, self.limits, self.taken, self.values
        )
        inner.others.update(self.others)
        for node in iter_nodes(body.parameters):
            if node.aval is not None and node.aval.dtype is float32:
                inner.values[node] = _Value(float32, "computed", {float32: node})
            else:
                inner.others[node] = node
        inner.write(body.nodes)
        output = map_leaves(lambda leaf: inner.argument(leaf, float32), body.output)
        return dataclasses.replace(body, nodes=inner.written, output=output)


def _chapter(node: Call) -> str:
    op = OPS.get(_name(node))
    return "" if op is None else op.chapter


def _name(node: Call) -> str:
    """The name of a call's op; empty if it is a function of a frontend."""
    namespace, _, name = node.target_name.rpartition(".")
    return name if namespace == "na" else ""

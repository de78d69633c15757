"""Layers of graphs, whose edges are a list `(2, edges)` of sources and targets.

Names, arguments and paths are as in PyTorch Geometric.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.linear import Linear
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array


class MessagePassing(Module):
    """For each node i, the sum, mean or maximum over its edges (j, i) of message(xⱼ, xᵢ, edge).

    The base class of the other layers of this chapter. A subclass defines `message`; without, a
    message is the features xⱼ, times the edge's weight if there is one.

    Args:
        aggr: ``"add"``, ``"mean"`` or ``"max"``. A node without edges gets zeros.

    Raises:
        ArgumentError: `aggr` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MessagePassing("mean").init(na.random.key(0))
        >>> edges = np.asarray([[0, 1, 2], [2, 2, 0]])
        >>> net(np.asarray([[1.0], [3.0], [5.0]], np.float32), edges)
        array([[5.],
               [0.],
               [2.]], dtype=float32)

    References:
        https://arxiv.org/abs/1704.01212
        https://pytorch-geometric.readthedocs.io/en/latest/generated/torch_geometric.nn.conv.MessagePassing.html
    """

    @signature_errors()
    def __init__(self, aggr: str = "add") -> None:
        if aggr not in ("add", "mean", "max"):
            raise ArgumentError(
                f"{type(self).__name__}: aggr: got {aggr!r}, expected 'add', 'mean' or 'max'"
            )
        self.aggr = aggr

    def message(self, sources: Array, targets: Array, edges: Any) -> Array:
        """The messages of the edges.

        Args:
            sources: features of the sources, `(edges, *features)`.
            targets: features of the targets.
            edges: weights `(edges,)`, or any nest that `forward` passes.
        """
        if edges is None:
            return sources
        return ops.multiply(sources, _expanded(edges, sources))

    def forward(self, x: Array, edge_index: Array, edges: Any = None) -> Array:
        """Pass messages along the edges.

        Args:
            x: features of the nodes, `(nodes, *features)`.
            edge_index: `(2, edges)`, integers: sources and targets.
            edges: for `message`.

        Returns:
            `(nodes, *message)`.
        """
        return self.propagate(x, edge_index, edges)

    def propagate(self, x: Array, edge_index: Array, edges: Any = None) -> Array:
        """`forward` of `MessagePassing`, for subclasses."""
        source, target = self._ends(edge_index)
        messages = self.message(ops.take(x, source, axis=0), ops.take(x, target, axis=0), edges)
        count = ops.shape(x)[0]
        if self.aggr == "max":
            largest = ops.segment_max(messages, target, num_segments=count)
            return ops.where(ops.equal(largest, -float("inf")), ops.zeros_like(largest), largest)
        total = ops.segment_sum(messages, target, num_segments=count)
        if self.aggr == "add":
            return total
        ones = ops.ones_like(target, dtype=dtypes.dtype_of(total))
        degree = ops.segment_sum(ones, target, num_segments=count)
        return ops.divide(total, _expanded(ops.maximum(degree, 1.0), total))

    def _ends(self, edge_index: Array) -> tuple[Array, Array]:
        if len(edge_index.shape) != 2 or edge_index.shape[0] not in (2, None):  # None: open
            raise ShapeError(
                f"{type(self).__name__}: edge_index: got the shape {tuple(edge_index.shape)}, "
                "expected (2, edges)"
            )
        return edge_index[0], edge_index[1]


class GCNConv(MessagePassing):
    """D^(−½) (A + I) D^(−½) X Wᵀ + b, with the degrees D of A + I.

    Args:
        in_channels: size of the features.
        out_channels: size of the result.
        improved: whether loops have the weight 2.
        cached: False.
        add_self_loops: whether to add I, for nodes without a loop.
        normalize: whether to multiply by the degrees.
        bias: whether to add b.

    Variables: lin/weight `(out, in)`, bias `(out,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GCNConv(3, 4).init(na.random.key(0))
        >>> net(np.ones((5, 3), np.float32), np.asarray([[0, 1, 2], [1, 2, 4]])).shape
        (5, 4)

    References:
        https://arxiv.org/abs/1609.02907
        https://pytorch-geometric.readthedocs.io/en/latest/generated/torch_geometric.nn.conv.GCNConv.html
    """

    @signature_errors()
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        improved: bool = False,
        cached: bool = False,
        add_self_loops: bool = True,
        normalize: bool = True,
        bias: bool = True,
    ) -> None:
        super().__init__("add")
        if cached:
            raise ArgumentError(
                "GCNConv: cached: got True, expected False; a layer keeps no edges from call to call"
            )
        self.out_channels, self.improved, self.has_bias = out_channels, improved, bias
        self.add_self_loops, self.normalize = add_self_loops and normalize, normalize
        self.lin = glorot_linear(in_channels, out_channels)

    def variables(self) -> Mapping[str, Variable]:
        """bias, if there is one."""
        return {"bias": _bias(self.out_channels)} if self.has_bias else {}

    def forward(self, x: Array, edge_index: Array, edge_weight: Array | None = None) -> Array:
        """Convolve over the edges.

        Args:
            x: `(nodes, in)`.
            edge_index: `(2, edges)`, integers: sources and targets.
            edge_weight: `(edges,)`; None is 1.

        Returns:
            `(nodes, out)`.
        """
        rows, count = self.lin(x), ops.shape(x)[0]
        source, target = self._ends(edge_index)
        if edge_weight is None:
            edge_weight = ops.ones_like(source, dtype=dtypes.dtype_of(rows))
        loops = None
        if self.add_self_loops:
            is_loop = ops.equal(source, target)
            present = ops.where(is_loop, edge_weight, 0.0)
            present = ops.segment_sum(present, target, num_segments=count)
            marks = ops.astype(is_loop, dtypes.dtype_of(rows))
            marks = ops.segment_sum(marks, target, num_segments=count)
            loops = ops.where(ops.greater(marks, 0), present, 2.0 if self.improved else 1.0)
            edge_weight = ops.where(is_loop, 0.0, edge_weight)
        if self.normalize:
            degree = ops.segment_sum(edge_weight, target, num_segments=count)
            degree = degree if loops is None else ops.add(degree, loops)
            is_positive = ops.greater(degree, 0)
            factor = ops.where(is_positive, ops.rsqrt(ops.where(is_positive, degree, 1.0)), 0.0)
            edge_weight = edge_weight * ops.take(factor, source) * ops.take(factor, target)
            loops = None if loops is None else loops * factor * factor
        out = self.propagate(rows, edge_index, edge_weight)
        if loops is not None:
            out = ops.add(out, ops.multiply(rows, ops.expand_dims(loops, -1)))
        return ops.add(out, self.bias) if self.has_bias else out


class SAGEConv(MessagePassing):
    """W₁ · mean(xⱼ) + b + W₂ xᵢ over the neighbours j of node i.

    Args:
        in_channels: size of the features.
        out_channels: size of the result.
        aggr: ``"mean"``, ``"max"`` or ``"add"``.
        normalize: whether to divide results by their norm.
        root_weight: whether to add W₂ xᵢ.
        project: whether the features of neighbours pass an affine map and relu first.
        bias: whether to add b.

    Variables: lin_l/weight `(out, in)`, lin_l/bias `(out,)`, lin_r/weight `(out, in)`, and
    lin/weight, lin/bias of the projection.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.SAGEConv(3, 4).init(na.random.key(0))
        >>> net(np.ones((5, 3), np.float32), np.asarray([[0, 1, 2], [1, 2, 4]])).shape
        (5, 4)

    References:
        https://arxiv.org/abs/1706.02216
        https://pytorch-geometric.readthedocs.io/en/latest/generated/torch_geometric.nn.conv.SAGEConv.html
    """

    @signature_errors()
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        aggr: str = "mean",
        normalize: bool = False,
        root_weight: bool = True,
        project: bool = False,
        bias: bool = True,
    ) -> None:
        super().__init__(aggr)
        self.normalize = normalize
        self.lin = Linear(in_channels, in_channels) if project else None
        self.lin_l = Linear(in_channels, out_channels, bias)
        self.lin_r = Linear(in_channels, out_channels, False) if root_weight else None

    def forward(self, x: Array, edge_index: Array) -> Array:
        """x: `(nodes, in)`, edge_index: `(2, edges)`; returns `(nodes, out)`."""
        rows = x if self.lin is None else ops.relu(self.lin(x))
        out = self.lin_l(self.propagate(rows, edge_index))
        if self.lin_r is not None:
            out = ops.add(out, self.lin_r(x))
        if not self.normalize:
            return out
        length = ops.sqrt(ops.sum(ops.square(out), axis=-1, keepdims=True))
        return ops.divide(out, ops.maximum(length, 1e-12))


class GINConv(MessagePassing):
    """net((1 + eps) · xᵢ + Σⱼ xⱼ) over the neighbours j of node i.

    Args:
        nn: the network of the features of a node.
        eps: the first value of eps.
        train_eps: whether eps is a variable.

    Variables: of nn, and eps `(1,)` with `train_eps`; without, it is a state.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GINConv(na.nn.Linear(3, 4)).init(na.random.key(0))
        >>> net(np.ones((5, 3), np.float32), np.asarray([[0, 1, 2], [1, 2, 4]])).shape
        (5, 4)

    References:
        https://arxiv.org/abs/1810.00826
        https://pytorch-geometric.readthedocs.io/en/latest/generated/torch_geometric.nn.conv.GINConv.html
    """

    @signature_errors()
    def __init__(self, nn: Module, eps: float = 0.0, train_eps: bool = False) -> None:
        super().__init__("add")
        self.nn = nn
        self.initial_eps, self.train_eps = eps, train_eps

    def variables(self) -> Mapping[str, Variable]:
        """eps, if it is trained."""
        return self._eps() if self.train_eps else {}

    def states(self) -> Mapping[str, Variable]:
        """eps, if it is not trained."""
        return {} if self.train_eps else self._eps()

    def _eps(self) -> dict[str, Variable]:
        return {"eps": Variable((1,), initializers.constant(self.initial_eps))}

    def forward(self, x: Array, edge_index: Array) -> Array:
        """x: `(nodes, in)`, edge_index: `(2, edges)`; returns the network's result."""
        mine = ops.multiply(x, ops.add(self.eps, 1.0))
        return self.nn(ops.add(mine, self.propagate(x, edge_index)))


def glorot_linear(in_channels: int, out_channels: int) -> Linear:
    """A linear map without bias, initialized as in PyTorch Geometric."""
    return Linear(in_channels, out_channels, False, initializer=initializers.glorot_uniform())


def _bias(size: int) -> Variable:
    return Variable((size,), initializers.zeros)


def _expanded(weights: Array, x: Array) -> Array:
    """Weights `(edges, …)` with the number of axes of x."""
    missing = len(x.shape) - len(weights.shape)
    return ops.reshape(weights, (*ops.shape(weights), *(1,) * missing))

"""Graph attention: a softmax over the edges of each node."""

from __future__ import annotations

from collections.abc import Mapping

from nestarray import dtypes, ops
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.graphs import MessagePassing, glorot_linear
from nestarray.nn.module import Variable
from nestarray.nn.positions import position_range
from nestarray.nn.regularization import Dropout
from nestarray.typing import Array


class GATConv(MessagePassing):
    """Σⱼ αᵢⱼ W xⱼ + b, with αᵢ = softmaxⱼ(leaky_relu(aₛ · W xⱼ + aₜ · W xᵢ)) for each head.

    Args:
        in_channels: size of the features.
        out_channels: size of the result of a head.
        heads: number of heads.
        concat: whether the heads are concatenated; False averages them.
        negative_slope: of the leaky relu.
        dropout: the probability of zeroing an attention weight in training mode.
        add_self_loops: whether each node is among its neighbours.
        bias: whether to add b.

    Variables: att_src and att_dst `(1, heads, out)`, lin/weight `(heads · out, in)`, and bias
    `(heads · out,)`, or `(out,)` without `concat`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.GATConv(3, 4, heads=2).init(na.random.key(0))
        >>> net(np.ones((5, 3), np.float32), np.asarray([[0, 1, 2], [1, 2, 4]])).shape
        (5, 8)

    References:
        https://arxiv.org/abs/1710.10903
        https://pytorch-geometric.readthedocs.io/en/latest/generated/torch_geometric.nn.conv.GATConv.html
    """

    @signature_errors()
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__("add")
        self.out_channels, self.heads, self.concat = out_channels, heads, concat
        self.negative_slope, self.add_self_loops, self.has_bias = (
            negative_slope,
            add_self_loops,
            bias,
        )
        self.lin = glorot_linear(in_channels, heads * out_channels)
        self.dropout = Dropout(dropout)

    def variables(self) -> Mapping[str, Variable]:
        """The vectors of the scores, and bias if there is one."""
        vector = Variable((1, self.heads, self.out_channels), initializers.glorot_uniform())
        declared = {"att_src": vector, "att_dst": vector}
        if self.has_bias:
            declared["bias"] = Variable(
                (self.out_channels * (self.heads if self.concat else 1),), initializers.zeros
            )
        return declared

    def forward(self, x: Array, edge_index: Array) -> Array:
        """x: `(nodes, in)`, edge_index: `(2, edges)`.

        Returns:
            `(nodes, heads · out)`, or `(nodes, out)` without `concat`.
        """
        count = ops.shape(x)[0]
        rows = ops.reshape(self.lin(x), (count, self.heads, self.out_channels))
        source, target = self._ends(edge_index)
        is_loop = ops.expand_dims(ops.equal(source, target), -1)
        of_source = ops.sum(ops.multiply(rows, self.att_src), axis=-1)
        of_target = ops.sum(ops.multiply(rows, self.att_dst), axis=-1)
        scores = ops.add(ops.take(of_source, source, axis=0), ops.take(of_target, target, axis=0))
        scores = ops.leaky_relu(scores, negative_slope=self.negative_slope)
        if self.add_self_loops:
            nodes = ops.astype(position_range(count, x), dtypes.dtype_of(edge_index))
            edge_index = ops.concat([edge_index, ops.stack([nodes, nodes])], axis=1)
            target = edge_index[1]
            loops = ops.add(of_source, of_target)
            loops = ops.leaky_relu(loops, negative_slope=self.negative_slope)
            scores = ops.where(is_loop, -float("inf"), scores)
            scores = ops.concat([scores, loops], axis=0)
        weights = self.dropout(_segment_softmax(scores, target, count))
        out = self.propagate(rows, edge_index, weights)
        if self.concat:
            out = ops.reshape(out, (count, self.heads * self.out_channels))
        else:
            out = ops.mean(out, axis=1)
        return ops.add(out, self.bias) if self.has_bias else out


def _segment_softmax(scores: Array, segments: Array, count: int | Array) -> Array:
    """softmax over the rows of each segment."""
    largest = ops.stop_gradient(ops.segment_max(scores, segments, num_segments=count))
    powers = ops.exp(ops.subtract(scores, ops.take(largest, segments, axis=0)))
    total = ops.segment_sum(powers, segments, num_segments=count)
    return ops.divide(powers, ops.take(total, segments, axis=0))

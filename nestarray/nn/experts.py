"""Mixtures of experts: a router sends each token to a few of several equal layers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.linear import Linear
from nestarray.nn.module import Module, Variable
from nestarray.nn.stacking import Stacked
from nestarray.transforms.batching import vmap
from nestarray.typing import Array


class MixtureOfExperts(Stacked):
    """Σₖ pₖ · expertₖ(x) over the `top_k` experts of the largest probabilities p = softmax(W x).

    Without a capacity every expert computes every token, and no token is dropped. With one, an
    expert computes at most ``⌈capacity_factor · top_k · tokens / num_experts⌉`` tokens: first
    choices before second ones, then earlier tokens first. A choice beyond that adds nothing.

    In training mode the state has two losses, which a program adds to its loss:
    ``load_balance_loss``, E · Σₑ fₑ Pₑ with the number of choices fₑ of expert e for each token
    and its mean probability Pₑ, and ``router_z_loss``, the mean of log²(Σ exp(W x)).

    Args:
        embed_dim: size of the last axis of x.
        expert: the layer, such as `GatedMLP`; each expert has its variables.
        num_experts: how many.
        top_k: the number of experts for each token.
        capacity_factor: the capacity relative to an equal share; None is unlimited.
        normalize: whether the `top_k` probabilities are divided by their sum.

    Variables: gate/weight `(num_experts, embed)`, and of the expert under ``experts``, each
    with a first axis of `num_experts`. State: load_balance_loss and router_z_loss `()`.

    Raises:
        ArgumentError: `top_k` is not between 1 and `num_experts`, or a size is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.MixtureOfExperts(4, na.nn.GatedMLP(4, 8), 6, 2).init(na.random.key(0))
        >>> out, s = net(np.ones((2, 5, 4), np.float32), train=True)
        >>> out.shape, float(s["load_balance_loss"]) > 1
        ((2, 5, 4), True)

    References:
        https://arxiv.org/abs/2101.03961
        https://arxiv.org/abs/2202.08906
    """

    @signature_errors()
    def __init__(
        self,
        embed_dim: int,
        expert: Module,
        num_experts: int,
        top_k: int = 2,
        capacity_factor: float | None = None,
        *,
        normalize: bool = True,
    ) -> None:
        super().__init__(expert, num_experts, "experts")
        if not 1 <= top_k <= num_experts:
            raise ArgumentError(
                f"MixtureOfExperts: top_k: got {top_k}, expected 1 to num_experts={num_experts}"
            )
        if capacity_factor is not None and not capacity_factor > 0:
            raise ArgumentError(
                f"MixtureOfExperts: capacity_factor: got {capacity_factor}, expected a positive "
                "number"
            )
        self.embed_dim, self.top_k = embed_dim, top_k
        self.capacity_factor, self.normalize = capacity_factor, normalize
        self.gate = Linear(embed_dim, num_experts, False)

    def states(self) -> Mapping[str, Variable]:
        """The losses, and the states of the experts."""
        loss = Variable((), initializers.zeros)
        return {"load_balance_loss": loss, "router_z_loss": loss, **super().states()}

    def _initial_values(
        self, key: Array, prefix: str
    ) -> tuple[Mapping[str, Array], Mapping[str, Array]]:
        v, s = super()._initial_values(key, prefix)
        zero = ops.zeros((), like=key, dtype=dtypes.float32)
        return v, {"load_balance_loss": zero, "router_z_loss": zero, **s}

    def forward(self, x: Array) -> Array:
        """x: `(*batch, embed)`; returns the same shape."""
        rows = ops.reshape(x, (-1, self.embed_dim))
        dtype = dtypes.dtype_of(x)
        logits = ops.astype(self.gate(rows), dtypes.promote_types(dtype, dtypes.float32))
        probabilities = ops.softmax(logits, axis=-1)
        weights, experts = ops.top_k(probabilities, self.top_k)
        if self.normalize:
            weights = ops.divide(weights, ops.sum(weights, axis=-1, keepdims=True))
        choices = ops.one_hot(experts, self._count, dtype=dtypes.dtype_of(logits))
        if self.training:
            self._track(logits, probabilities, choices)
        weights = ops.astype(weights, dtype)
        if self.capacity_factor is None:
            out = self._dense(rows, weights, choices)
        else:
            out = self._dispatched(rows, weights, experts, choices, self.capacity_factor)
        return ops.reshape(out, ops.shape(x))

    def _dense(self, rows: Array, weights: Array, choices: Array) -> Array:
        """The weighted sum of all experts for all tokens."""
        outs = self._experts(rows, is_shared=True)
        shares = ops.sum(ops.multiply(ops.expand_dims(weights, -1), choices), axis=1)
        return ops.einsum("te,etd->td", ops.astype(shares, dtypes.dtype_of(rows)), outs)

    def _dispatched(
        self, rows: Array, weights: Array, experts: Array, choices: Array, factor: float
    ) -> Array:
        """The weighted sum of the experts with room for a token."""
        slots, count = self._slots(experts, choices, ops.shape(rows)[0], factor)
        sources = ops.concat([rows] * self.top_k, axis=0)
        full = ops.segment_sum(sources, slots, num_segments=count + 1)[:-1]
        outs = self._experts(ops.reshape(full, (self._count, -1, self.embed_dim)))
        outs = ops.reshape(outs, (-1, self.embed_dim))
        outs = ops.concat([outs, ops.zeros_like(rows[:1])], axis=0)
        parts = ops.reshape(ops.take(outs, slots, axis=0), (self.top_k, -1, self.embed_dim))
        return ops.sum(
            ops.multiply(parts, ops.expand_dims(ops.swapaxes(weights, 0, 1), -1)), axis=0
        )

    def _slots(
        self, experts: Array, choices: Array, tokens: int | Array, factor: float
    ) -> tuple[Array, int]:
        """The rows of the experts' inputs, `(top_k · tokens,)`, and their number.

        A choice without room has this number as its row.
        """
        share = factor * self.top_k / self._count
        if isinstance(tokens, int):
            capacity = max(math.ceil(share * tokens), 1)
        else:
            room = ops.ceil(ops.multiply(ops.astype(tokens, dtypes.float32), share))
            capacity = ops.maximum(ops.astype(room, dtypes.int32), 1)
        order = ops.reshape(ops.swapaxes(choices, 0, 1), (-1, self._count))
        order = ops.astype(order, dtypes.int32)
        before = ops.subtract(ops.cumulative_sum(order, axis=0), 1)
        place = ops.sum(ops.multiply(before, order), axis=1, dtype=dtypes.int32)
        expert = ops.astype(ops.reshape(ops.swapaxes(experts, 0, 1), (-1,)), dtypes.int32)
        count = self._count * capacity
        slots = ops.add(ops.multiply(expert, capacity), place)
        return ops.where(ops.less(place, capacity), slots, count), count

    def _experts(self, x: Array, *, is_shared: bool = False) -> Array:
        """The experts of their rows `(experts, n, embed)`, or of the same rows `(n, embed)`."""
        outs, s = vmap(self._applied, (0, None if is_shared else 0))(self._sets(), x)
        self._update(s)
        return outs

    def _track(self, logits: Array, probabilities: Array, choices: Array) -> None:
        frequency = ops.mean(ops.sum(choices, axis=1), axis=0)
        balance = ops.sum(ops.multiply(frequency, ops.mean(probabilities, axis=0)))
        total = ops.mean(ops.square(ops.logsumexp(logits, axis=-1)))
        self.update_state(
            load_balance_loss=ops.multiply(balance, float(self._count)), router_z_loss=total
        )

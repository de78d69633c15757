"""Muon: orthogonal steps for matrices."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.adam import AdamW, corrected_mean
from nestarray.nn.optimizers.leafwise import widened
from nestarray.nn.optimizers.optimizer import Optimizer, average
from nestarray.nn.optimizers.partition import PartitionedOptimizer
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import (
    check_counts,
    check_decays,
    check_not_negative,
    refuse_setting,
)
from nestarray.typing import Array


class Muon(PartitionedOptimizer):
    """Momentum made orthogonal: v ← v − η (s O(m) + λ v) for matrices, and AdamW for other leaves.

    O(m) ≈ U Vᵀ for m = U Σ Vᵀ, by Newton and Schulz's iteration X ← a X + (b X Xᵀ + c (X Xᵀ)²) X.
    s = √max(1, rows / columns). Embeddings and the last layer should be left to AdamW.

    Args:
        learning_rate: η; see `Optimizer`.
        matrices: pattern (see `Container.select`) of the leaves to orthogonalize, if they have two
            axes.
        beta: decay of the running mean m of g.
        nesterov: Nesterov's momentum, in AdamW too.
        ns_coeffs: (a, b, c).
        ns_steps: the number of iterations.
        eps: added to the norm of m, and ε of AdamW.
        weight_decay: λ.
        consistent_rms: a number replaces s by √max(rows, columns) times it; with 0.2, steps have the
            size of AdamW's.
        adam_learning_rate: η of the other leaves; the same by default.
        adam_b1, adam_b2, adam_weight_decay: b1, b2 and λ there.

    Raises:
        ArgumentError: a setting is outside its range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> v = na.Container(w=np.ones((2, 2)), b=np.ones(2))
        >>> na.nn.Muon(0.02).init(v).paths()
        ('matrices/count', 'matrices/mu/w', 'others/count', 'others/mu/b', 'others/nu/b')

    References:
        Jordan et al., Muon: an optimizer for hidden layers in neural networks.
        https://kellerjordan.github.io/posts/muon/
        Liu et al., Muon is scalable for LLM training. https://arxiv.org/abs/2502.16982
    """

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate,
        *,
        matrices: Any = "**",
        beta: float = 0.95,
        nesterov: bool = True,
        ns_coeffs: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
        ns_steps: int = 5,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        consistent_rms: float | None = None,
        adam_learning_rate: LearningRate | None = None,
        adam_b1: float = 0.9,
        adam_b2: float = 0.999,
        adam_weight_decay: float = 0.0,
    ) -> None:
        Optimizer.__init__(self, learning_rate)
        check_decays(self, beta=beta)
        check_counts(self, ns_steps=ns_steps)
        check_not_negative(
            self, eps=eps, weight_decay=weight_decay, consistent_rms=consistent_rms or 0.0
        )
        if len(ns_coeffs) != 3:
            refuse_setting(self, "ns_coeffs", ns_coeffs, "three numbers")
        self.matrices, self.beta, self.nesterov = matrices, beta, nesterov
        self.ns_coeffs, self.ns_steps, self.eps = tuple(ns_coeffs), ns_steps, eps
        self.weight_decay, self.consistent_rms = weight_decay, consistent_rms
        self.adam_learning_rate = adam_learning_rate
        self.adam_b1, self.adam_b2 = adam_b1, adam_b2
        self.adam_weight_decay = adam_weight_decay

    def parts(self) -> dict[str, Optimizer]:
        """``matrices`` and ``others``."""
        rate = self.adam_learning_rate
        return {
            "matrices": _Orthogonal(self),
            "others": AdamW(
                self.learning_rate if rate is None else rate,
                b1=self.adam_b1, b2=self.adam_b2, eps=self.eps, nesterov=self.nesterov,
                weight_decay=self.adam_weight_decay,
            ),
        }  # fmt: skip

    def labels(self, v: Container) -> list[str]:
        """The part of each leaf."""
        hits = v.mask(self.matrices).leaves()
        return [
            "matrices" if hit and len(x.shape) == 2 else "others"
            for hit, x in zip(hits, v.leaves(), strict=True)
        ]


class _Orthogonal(Optimizer):
    """`Muon` of matrices alone."""

    moments = ("mu",)

    def __init__(self, muon: Muon) -> None:
        super().__init__(muon.learning_rate)
        self.weight_decay, self.b1, self.nesterov = muon.weight_decay, muon.beta, muon.nesterov
        self.muon = muon

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see `Muon`."""
        mu = average(state["mu"], grads, self.b1)
        direction = corrected_mean(mu, grads, self, scale).map(self._step)
        return v - self.with_decay(direction, v) * scale.rate(v), {"mu": mu}

    def _step(self, x: Array) -> Array:
        """s O(x)."""
        rows, columns = tuple(x.shape)
        rms, muon = self.muon.consistent_rms, self.muon
        size = max(1, rows / columns) ** 0.5 if rms is None else max(rows, columns) ** 0.5 * rms
        step = _orthogonalized(widened(x), muon.ns_coeffs, muon.ns_steps, muon.eps) * size
        return ops.astype(step, dtypes.dtype_of(x))


def _orthogonalized(x: Array, coefficients: tuple[float, ...], steps: int, eps: float) -> Array:
    """U Vᵀ of a matrix U Σ Vᵀ, by Newton and Schulz's iteration."""
    is_high = x.shape[0] > x.shape[1]
    x = ops.matrix_transpose(x) if is_high else x
    a, b, c = coefficients
    x = x / (ops.sqrt(ops.sum(ops.square(x))) + eps)
    for _ in range(steps):
        gram = ops.matmul(x, ops.matrix_transpose(x))
        x = x * a + ops.matmul(gram * b + ops.matmul(gram, gram) * c, x)
    return ops.matrix_transpose(x) if is_high else x

"""Similarities and distances of corresponding vectors."""

from __future__ import annotations

from nestarray import ops
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module
from nestarray.typing import Array, check_range


class CosineSimilarity(Module):
    """The cosine of the angle between vectors, x1 · x2 / (max(‖x1‖, eps) · max(‖x2‖, eps)).

    Args:
        dim: the axis of the vectors.
        eps: the smallest norm to divide by.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.CosineSimilarity().init(na.random.key(0))
        >>> net(np.asarray([[3.0, 4.0]]), np.asarray([[1.0, 0.0]]))
        array([0.6])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.CosineSimilarity.html
    """

    @signature_errors()
    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        check_range("CosineSimilarity", "eps", eps, 0.0)
        self.dim, self.eps = dim, eps

    def forward(self, x1: Array, x2: Array) -> Array:
        """x1, x2: shapes that broadcast; returns the broadcast shape without `dim`."""
        return ops.cosine_similarity(x1, x2, axis=self.dim, eps=self.eps)


class PairwiseDistance(Module):
    """The distance of vectors, (Σₖ |x1ₖ − x2ₖ + eps|ᵖ)^(1/p).

    Args:
        p: the order of the norm, from 0 to ∞.
        eps: added to each difference, because the derivative is infinite at 0.
        keepdim: whether the axis of the vectors stays, with size 1.

    Raises:
        ArgumentError: `p` is negative.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.PairwiseDistance(eps=0.0).init(na.random.key(0))
        >>> net(np.asarray([[3.0, 4.0]]), np.zeros((1, 2)))
        array([5.])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.PairwiseDistance.html
    """

    @signature_errors()
    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        check_range("PairwiseDistance", "p", p, 0.0)
        self.p, self.eps, self.keepdim = p, eps, keepdim

    def forward(self, x1: Array, x2: Array) -> Array:
        """x1, x2: `(*batch, size)`; returns `(*batch,)`."""
        return ops.pairwise_distance(x1, x2, p=self.p, eps=self.eps, keepdims=self.keepdim)

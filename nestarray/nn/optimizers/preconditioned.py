"""Directions multiplied by matrices from both sides: Shampoo, SOAP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nestarray import dtypes, ops
from nestarray.container import Container
from nestarray.errors.signatures import signature_errors
from nestarray.nn.optimizers.leafwise import LeafwiseOptimizer
from nestarray.nn.optimizers.optimizer import average
from nestarray.nn.optimizers.scale import LearningRate, Scale
from nestarray.nn.optimizers.settings import check_counts, check_decays, check_not_negative
from nestarray.transforms import cond
from nestarray.typing import Array


class Shampoo(LeafwiseOptimizer):
    """Adagrad with a matrix for each axis: v ← v − η (m + λ v), m ← μ m + L^(−1/2k) g R^(−1/2k).

    For each of the k axes of a leaf, L is the sum of G Gᵀ, plus ε, where the rows of G belong to the
    axis. A long axis has the diagonal of L. A scalar is a vector of one element.

    Args:
        learning_rate: η; see `Optimizer`.
        momentum: μ.
        b2: decay of L; a number below 1 takes a running mean, 1 the sum.
        eps: ε.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.
        update_period: the number of steps between two computations of the roots.
        max_size: of longer axes the diagonal of L alone is computed.

    Raises:
        ArgumentError: a setting is outside its range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> state = na.nn.Shampoo(0.1).init(na.Container(w=np.ones((2, 3))))
        >>> [x.shape for x in state["leaves/w/roots"].leaves()]
        [(2, 2), (3, 3)]

    References:
        Gupta, Koren and Singer, Shampoo: preconditioned stochastic tensor optimization. ICML 2018.
    """

    moments = ("leaves", "trace")

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate,
        *,
        momentum: float = 0.9,
        b2: float = 1.0,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        decay: Any = "**",
        update_period: int = 1,
        max_size: int = 1024,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, momentum=momentum, b2=0.0 if b2 == 1 else b2)
        check_not_negative(self, eps=eps, weight_decay=weight_decay)
        check_counts(self, update_period=update_period, max_size=max_size)
        self.momentum, self.b2, self.eps = momentum, b2, eps
        self.weight_decay, self.decay = weight_decay, decay
        self.update_period, self.max_size = update_period, max_size

    def init_moments(self, v: Container) -> dict[str, Any]:
        """Zeros, and roots that are identities."""
        return {**super().init_moments(v), "trace": ops.zeros_like(v)}

    def init_leaf(self, x: Array) -> dict[str, Any]:
        """A sum and its root for each axis by number."""
        identities = _identities(x, self.max_size)
        dtype = dtypes.dtype_of(x)
        long = {
            i: ops.ones((n,), dtype=dtype, like=x)
            for i, n in enumerate(_at_least_1d(x).shape)
            if i not in identities
        }
        roots = dict(sorted((identities | long).items()))
        return {"sums": {i: ops.zeros_like(a) for i, a in roots.items()}, "roots": roots}

    def leaf_direction(
        self, x: Array, grad: Array, state: Container, scale: Scale
    ) -> tuple[Array, dict[str, Any]]:
        """L^(−1/2k) g R^(−1/2k), and the matrices."""
        old, roots = dict(state["sums"].items()), dict(state["roots"].items())
        shape, grad = tuple(grad.shape), _at_least_1d(grad)
        products = _products(grad, old)
        share = 1.0 if self.b2 == 1 else 1 - self.b2
        sums = {i: old[i] * self.b2 + products[i] * share for i in old}
        order = 2 * len(grad.shape)
        roots = cond(
            (scale.count - 1) % self.update_period == 0,
            lambda sums, roots: {i: _inverse_root(a, order, self.eps) for i, a in sums.items()},
            lambda sums, roots: roots,
            sums,
            roots,
        )
        direction = ops.reshape(_multiplied(grad, roots), shape)
        return direction, {"sums": sums, "roots": roots}

    def update(
        self, v: Container, grads: Container, state: Container, scale: Scale
    ) -> tuple[Container, dict[str, Any]]:
        """One step; see the class."""
        direction, leaves = self.directions(v, grads, state, scale)
        trace = state["trace"] * self.momentum + direction
        new = v - self.with_decay(trace, v) * scale.rate(v)
        return new, {"leaves": leaves, "trace": trace}


class SOAP(LeafwiseOptimizer):
    """Adam in the eigenbasis of Shampoo: v ← v − η (Q m̂' / (√n̂ + ε) Pᵀ + λ v), m' = Qᵀ m P.

    Running means m of g, n of the squares of Qᵀ g P, and L of G Gᵀ for each axis. Q has the
    eigenvectors of L after the first step, of the largest eigenvalue first, and follows L by one step
    of orthogonal iteration each `update_period` steps. Vectors and scalars have no basis: `AdamW`.

    Args:
        learning_rate: η; see `Optimizer`.
        b1: decay of m; m̂ = m / (1 − b1ᵗ).
        b2: decay of n and L; n̂ = n / (1 − b2ᵗ).
        eps: ε, outside the root.
        weight_decay: λ.
        decay: patterns (see `Container.select`) of the leaves that decay; all by default.
        update_period: the number of steps between two changes of the basis.
        max_size: axes that are longer have no basis.

    Raises:
        ArgumentError: a setting is outside its range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> state = na.nn.SOAP().init(na.Container(w=np.ones((2, 3))))
        >>> tuple(state["leaves/w"])
        ('mu', 'nu', 'means', 'bases')

    References:
        Vyas et al., SOAP: improving and stabilizing Shampoo using Adam. ICLR 2025.
    """

    @signature_errors()
    def __init__(
        self,
        learning_rate: LearningRate = 3e-3,
        *,
        b1: float = 0.95,
        b2: float = 0.95,
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        decay: Any = "**",
        update_period: int = 10,
        max_size: int = 10_000,
    ) -> None:
        super().__init__(learning_rate)
        check_decays(self, b1=b1, b2=b2)
        check_not_negative(self, eps=eps, weight_decay=weight_decay)
        check_counts(self, update_period=update_period, max_size=max_size)
        self.b1, self.b2, self.eps = b1, b2, eps
        self.weight_decay, self.decay = weight_decay, decay
        self.update_period, self.max_size = update_period, max_size

    def init_leaf(self, x: Array) -> dict[str, Any]:
        """m, n, and a mean and a basis for each axis by number."""
        zeros = ops.zeros_like(x)
        bases = _identities(x, self.max_size) if len(x.shape) > 1 else {}
        means = {i: ops.zeros_like(a) for i, a in bases.items()}
        return {"mu": zeros, "nu": zeros, "means": means, "bases": bases}

    def leaf_direction(
        self, x: Array, grad: Array, state: Container, scale: Scale
    ) -> tuple[Array, dict[str, Any]]:
        """The direction of Adam, computed in the basis; and the moments."""
        old, bases = dict(state["means"].items()), dict(state["bases"].items())
        products = _products(grad, old)
        means = {i: average(old[i], products[i], self.b2) for i in old}
        if bases:
            bases = cond(
                scale.count == 1,
                lambda means, bases: {
                    i: _contiguous(ops.flip(ops.eigh(a)[1], axis=1)) for i, a in means.items()
                },
                lambda means, bases: bases,
                means,
                bases,
            )
        dtype = dtypes.dtype_of(x)
        mu = average(state["mu"], grad, self.b1)
        nu = average(state["nu"], ops.square(_multiplied(grad, _transposed(bases))), self.b2)
        mean = _multiplied(mu, _transposed(bases)) / ops.astype(scale.bias(self.b1), dtype)
        root = ops.sqrt(nu / ops.astype(scale.bias(self.b2), dtype)) + self.eps
        direction = _multiplied(mean / root, bases)
        if bases:
            bases, nu = cond(
                scale.count % self.update_period == 0,
                _iterated,
                lambda means, bases, nu: (bases, nu),
                *(means, bases, nu),
            )
        return direction, {"mu": mu, "nu": nu, "means": means, "bases": bases}


def _iterated(
    means: dict[int, Array], bases: dict[int, Array], nu: Array
) -> tuple[dict[int, Array], Array]:
    """The bases after a step of orthogonal iteration; their columns, and `nu`, in its order.

    The iteration turns the first columns to the largest eigenvalues, so each column, and the squares in
    its direction, stay together only if the eigenvalues decrease.
    """
    new = {}
    for axis, mean in means.items():
        images = ops.matmul(mean, bases[axis])
        eigenvalues = ops.sum(ops.multiply(bases[axis], images), axis=0)
        order = ops.argsort(eigenvalues, descending=True)
        nu = ops.take(nu, order, axis=axis)
        new[axis] = _contiguous(ops.qr(ops.take(images, order, axis=1))[0])
    return new, nu


def _at_least_1d(x: Array) -> Array:
    return x if len(x.shape) else ops.reshape(x, (1,))


def _identities(x: Array, max_size: int) -> dict[int, Array]:
    """An identity matrix for each axis of at most `max_size` by number."""
    dtype = dtypes.dtype_of(x)
    sizes = {i: n for i, n in enumerate(_at_least_1d(x).shape) if n <= max_size}
    return {i: ops.eye(n, dtype=dtype, like=x) for i, n in sizes.items()}


def _products(grad: Array, sums: Mapping[int, Array]) -> dict[int, Array]:
    """G Gᵀ for axes, where the rows of G belong to the axis; its diagonal where `sums` has vectors."""
    products = {}
    for axis, total in sums.items():
        others = tuple(i for i in range(len(grad.shape)) if i != axis)
        if len(total.shape) == 1:
            products[axis] = ops.sum(ops.square(grad), axis=others)
        else:
            products[axis] = ops.tensordot(grad, grad, axes=(others, others))
    return products


def _multiplied(x: Array, matrices: Mapping[int, Array]) -> Array:
    """The product of `x` with a matrix along each axis; vectors are diagonals."""
    for axis, matrix in matrices.items():
        if len(matrix.shape) == 1:
            x = ops.multiply(x, ops.reshape(matrix, (-1, *[1] * (len(x.shape) - axis - 1))))
            continue
        x = ops.moveaxis(ops.tensordot(matrix, x, axes=((1,), (axis,))), 0, axis)
    return x


def _transposed(matrices: dict[int, Array]) -> dict[int, Array]:
    return {i: ops.matrix_transpose(a) for i, a in matrices.items()}


def _inverse_root(matrix: Array, order: int, eps: float) -> Array:
    """(matrix + ε)^(−1/order) of a symmetric matrix, or of a diagonal."""
    if len(matrix.shape) == 1:
        return (matrix + eps) ** (-1 / order)
    values, vectors = ops.eigh(matrix)
    powers = (ops.maximum(values, ops.zeros_like(values)) + eps) ** (-1 / order)
    return ops.matmul(vectors * powers, ops.matrix_transpose(vectors))


def _contiguous(matrix: Array) -> Array:
    """The matrix in the order of rows: products of another order round differently after storing."""
    return ops.reshape(ops.reshape(matrix, (-1,)), tuple(matrix.shape))

"""Orthogonal weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nestarray import ops, random
from nestarray.errors import ArgumentError
from nestarray.errors.signatures import signature_errors
from nestarray.nn.module import Module, Variable
from nestarray.nn.parametrization import Groups, Parametrized, parametrized
from nestarray.typing import Array


@signature_errors()
def orthogonal(
    layer: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Parametrized:
    """A layer whose weight has orthonormal columns, or rows if it is wide.

    With the lower triangle L of the original and A = L − Lᵀ, the weight is exp(A), or
    (1 − A/2)⁻¹ (1 + A/2), or the product of the reflections along the columns of L.

    Args:
        layer: the module; if it has values, the weight becomes the orthogonal factor of its QR
            decomposition.
        name: path of the weight below it, a matrix or a batch of matrices.
        orthogonal_map: ``"matrix_exp"``, ``"cayley"`` or ``"householder"``; None is the first for
            square matrices and the last for others.
        use_trivialization: whether to multiply with a fixed orthogonal matrix, the state, which
            keeps the optimization near the identity map.

    Variables: of the layer, with parametrizations/weight/original in place of the weight. State:
    parametrizations/weight/0/base, `(n, n)` for n the longer of rows and columns.

    Raises:
        ArgumentError: the layer has no variable `name`, it has less than two axes, or
            `orthogonal_map` is unknown.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.orthogonal(na.nn.Linear(3, 2, bias=False)).init(na.random.key(0))
        >>> weight = net(np.eye(3, dtype="float32"))
        >>> np.allclose(weight.T @ weight, np.eye(2), atol=1e-6)
        True

    References:
        https://arxiv.org/abs/1909.09501
        https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.orthogonal.html
    """
    if orthogonal_map not in ("matrix_exp", "cayley", "householder", None):
        raise ArgumentError(
            f"orthogonal: orthogonal_map: got {orthogonal_map!r}, expected 'matrix_exp', 'cayley' or "
            "'householder'"
        )
    return parametrized(layer, name, Orthogonal(orthogonal_map, use_trivialization))


@dataclass(frozen=True)
class Orthogonal:
    """An orthogonal matrix as a function of a triangular one."""

    function: ClassVar[str] = "orthogonal"
    kind: str | None
    has_base: bool

    def declared(self, weight: Variable) -> Groups:
        """The triangular matrix, and the fixed one."""
        if len(weight.shape) < 2:
            raise ArgumentError(
                f"orthogonal: name: got a weight of the shape {weight.shape}, expected a matrix"
            )
        if not self.has_base:
            return {"original": weight}, {}
        *batch, rows, columns = weight.shape
        size = max(rows, columns)
        base = Variable((*batch, size, size), _identity, weight.dtype)
        return {"original": weight}, {"0/base": base}

    def inverse(self, weight: Array, key: Array) -> Groups:
        """Matrices whose weight is the orthogonal factor of `weight`.

        Without a fixed matrix, the lower triangle of `weight` with the signs of its diagonal.
        """
        tall = _tall(weight)
        *batch, n, k = tall.shape
        diagonal = ops.eye(n, k, dtype=weight.dtype, like=weight)
        if not self.has_base:
            signs = ops.where(ops.less(tall, 0.0), -1.0, 1.0) * diagonal
            return {"original": _as(ops.add(ops.tril(tall, k=-1), signs), weight)}, {}
        more = random.normal(key, (*batch, n, n - k), weight.dtype)
        q, r = ops.qr(ops.concat([tall, more], axis=-1))
        signs = ops.where(ops.less(ops.diagonal(r), 0.0), -1.0, 1.0)
        base = q * ops.expand_dims(ops.astype(signs, weight.dtype), axis=-2)
        start = ops.zeros_like(tall) - diagonal
        return {"original": _as(start, weight)}, {"0/base": base}

    def weight(self, values: Mapping[str, Array], train: bool) -> tuple[Array, dict[str, Array]]:
        """The weight."""
        original = values["original"]
        tall = _tall(original)
        is_square = tall.shape[-2] == tall.shape[-1]
        kind = self.kind or ("matrix_exp" if is_square else "householder")
        q = self._reflected(tall) if kind == "householder" else self._rotated(tall, kind)
        if self.has_base:
            q = ops.matmul(values["0/base"], q)
        return _as(q, original), {}

    def _reflected(self, tall: Array) -> Array:
        """The product of reflections, with the signs of the diagonal."""
        vectors = ops.tril(tall, k=-1)
        factors = 2.0 / (1.0 + ops.sum(ops.square(vectors), axis=-2))
        signs = ops.trunc(ops.stop_gradient(ops.diagonal(tall)))
        return ops.householder_product(vectors, factors) * ops.expand_dims(signs, axis=-2)

    def _rotated(self, tall: Array, kind: str) -> Array:
        """The exponential or the Cayley transform of L − Lᵀ."""
        *batch, n, k = tall.shape
        lower = ops.tril(tall)
        if n != k:
            zeros = ops.zeros((*batch, n, n - k), dtype=tall.dtype, like=tall)
            lower = ops.concat([lower, zeros], axis=-1)
        skew = lower - ops.matrix_transpose(lower)
        if kind == "matrix_exp":
            return ops.expm(skew)[..., :k]
        one = ops.eye(n, dtype=tall.dtype, like=tall)
        return ops.solve(one - 0.5 * skew, one + 0.5 * skew)[..., :k]


def _identity(key: Array, shape: tuple[int, ...], dtype: Any = "float32") -> Array:
    return ops.broadcast_to(ops.eye(shape[-1], dtype=dtype, like=key), shape)


def _tall(matrix: Array) -> Array:
    """The matrix, transposed if it has more columns than rows."""
    rows, columns = matrix.shape[-2:]
    return ops.matrix_transpose(matrix) if rows < columns else matrix


def _as(tall: Array, original: Array) -> Array:
    """The inverse of `_tall`."""
    rows, columns = original.shape[-2:]
    return ops.matrix_transpose(tall) if rows < columns else tall

"""Products with the Jacobians of matrix functions and factorizations.

Each is the differential of the equation that defines the result, solved for the differential
of the result. Where eigenvalues or singular values coincide their vectors are not
differentiable: their derivatives are NaN.

References:
    Giles, Collected matrix derivative results for forward and reverse mode algorithmic
    differentiation. Advances in Automatic Differentiation, 2008.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from nestarray import dtypes, ops
from nestarray.errors import UnsupportedError
from nestarray.numerics.determinants import det_by_lu, differentiable_det
from nestarray.ops.factorizations import adjoint
from nestarray.transforms.autodiff.rules import (
    Call,
    Composed,
    Jacobian,
    Place,
    Pullback,
    Pushed,
    Rule,
    Tangents,
    fit,
    is_complex,
    spread,
)


def _inv(call: Call, tangents: Tangents) -> Any:
    """d(X⁻¹) = −X⁻¹ dX X⁻¹."""
    y = call.y
    return ops.negative(ops.matmul(ops.matmul(y, tangents[0]), y))


def _pinv(call: Call, tangents: Tangents) -> Any:
    """dP = −P dX P + P Pᴴ dXᴴ (I − X P) + (I − P X) dXᴴ Pᴴ P, of constant rank.

    References:
        Golub and Pereyra, The differentiation of pseudo-inverses and nonlinear least squares
        problems whose variables separate. SIAM Journal on Numerical Analysis, 1973.
    """
    x, P, t = call.args[0], call.y, tangents[0]
    products = [ops.matmul(x, P), ops.matmul(P, x)]
    outside = [ops.subtract(np.eye(p.shape[-1], dtype=p.dtype), p) for p in products]
    left = ops.matmul(ops.matmul(P, adjoint(P)), ops.matmul(adjoint(t), outside[0]))
    right = ops.matmul(ops.matmul(outside[1], adjoint(t)), ops.matmul(adjoint(P), P))
    inner = ops.matmul(ops.matmul(P, t), P)
    return ops.subtract(ops.add(left, right), inner)


def _push_solve(call: Call, tangents: Tangents) -> Any:
    """dY = X₁⁻¹ (dX₂ − dX₁ Y)."""
    x1, x2 = call.args
    is_vector = len(x2.shape) == 1
    terms = []
    if 0 in tangents:
        y = ops.expand_dims(call.y, -1) if is_vector else call.y
        terms.append(ops.negative(ops.matmul(tangents[0], y)))
    if 1 in tangents:
        terms.append(ops.expand_dims(tangents[1], -1) if is_vector else tangents[1])
    right = terms[0] if len(terms) == 1 else ops.add(*terms)
    moved = ops.solve(x1, right)
    return spread(ops.squeeze(moved, -1) if is_vector else moved, call.y)


def _pull_solve(call: Call, places: list[Place]) -> Pullback:
    x1, x2 = call.args
    is_vector = len(x2.shape) == 1

    def back(ct: Any) -> list[Any]:
        columns = ops.expand_dims(ct, -1) if is_vector else ct
        right = ops.solve(adjoint(x1), columns)
        found = {}
        if 0 in places:
            y = ops.expand_dims(call.y, -1) if is_vector else call.y
            found[0] = fit(ops.negative(ops.matmul(right, adjoint(y))), x1)
        if 1 in places:
            found[1] = fit(ops.squeeze(right, -1) if is_vector else right, x2)
        return [found[i] for i in places]  # type: ignore[index]

    return back


def _trace(x: Any) -> Any:
    return ops.sum(ops.diagonal(x), axis=-1)


def _det(x: Any, /) -> Any:
    return differentiable_det(ops, x, lambda x: det_by_lu(ops, x), _choose)


def _choose(pred: Any, true_branch: Any, false_branch: Any) -> Any:
    return true_branch() if bool(pred) else false_branch()


def _slogdet(call: Call, tangents: Tangents) -> Any:
    """d log |det X| = Re tr(X⁻¹ dX); the sign of a complex determinant turns by Im."""
    relative = _trace(ops.solve(call.args[0], tangents[0]))
    if not is_complex(relative):
        return None, relative
    turn = ops.multiply(ops.imag(relative), 1j)
    return ops.multiply(call.y[0], turn), ops.real(relative)


def _hermitian(t: Any) -> Any:
    return ops.multiply(ops.add(t, adjoint(t)), 0.5)


def _cholesky(call: Call, tangents: Tangents) -> Any:
    """dL = L Φ(L⁻¹ dX L⁻ᴴ), Φ the lower triangle with half of the diagonal."""
    upper = call.kwargs.get("upper", False)
    L = adjoint(call.y) if upper else call.y
    half = adjoint(ops.solve(L, _hermitian(tangents[0])))
    inner = adjoint(ops.solve(L, half))
    weights = np.tril(np.ones(L.shape[-2:])) - 0.5 * np.eye(L.shape[-1])
    found = ops.matmul(L, ops.multiply(inner, ops.asarray(weights, dtype=inner.dtype)))
    return adjoint(found) if upper else found


def _qr(call: Call, tangents: Tangents) -> Any:
    """dQ = (I − QQᴴ) dX R⁻¹ + Q Ω, with Ω skew and dR upper triangular."""
    x, t = call.args[0], tangents[0]
    Q, R = call.y
    m, n = x.shape[-2:]
    if Q.shape[-1] > min(m, n):
        raise UnsupportedError(
            "qr: the derivative of the complete factor of a tall matrix is not determined; "
            'use mode="reduced"'
        )
    size = min(m, n)
    first = R[..., :size]
    moved = adjoint(ops.solve(adjoint(first), adjoint(t[..., :size])))
    inner = ops.matmul(adjoint(Q), moved)
    below = ops.tril(inner, k=-1)
    skew = ops.subtract(below, adjoint(below))
    if is_complex(inner):
        diagonal = ops.multiply(ops.imag(ops.diagonal(inner)), 1j)
        skew = ops.add(skew, _on_diagonal(diagonal))
    outer = ops.subtract(inner, skew)
    dQ = ops.subtract(moved, ops.matmul(Q, outer))
    dR = ops.matmul(outer, first)
    if n > size:
        rest = ops.add(
            ops.matmul(adjoint(dQ), x[..., size:]), ops.matmul(adjoint(Q), t[..., size:])
        )
        dR = ops.concat([dR, rest], axis=-1)
    return dQ, dR


def _on_diagonal(x: Any) -> Any:
    unit = ops.eye(x.shape[-1], dtype=dtypes.dtype_of(x), like=ops.stop_gradient(x))
    return ops.multiply(ops.expand_dims(x, -1), unit)


def _gaps(values: Any, like: Any) -> Any:
    """1 / (vⱼ − vᵢ), 0 on the diagonal; NaN where other values are equal."""
    gap = ops.subtract(ops.expand_dims(values, -2), ops.expand_dims(values, -1))
    is_zero = ops.equal(gap, 0)
    inverse = ops.where(is_zero, math.nan, ops.reciprocal(ops.where(is_zero, 1.0, gap)))
    inverse = ops.where(np.eye(values.shape[-1], dtype=bool), 0.0, inverse)
    return ops.astype(inverse, dtypes.dtype_of(like), copy=False)


def _eigh(call: Call, tangents: Tangents) -> Any:
    """dλ = diag(Vᴴ dX V); dV = V (Vᴴ dX V / (λⱼ − λᵢ))."""
    values, V = call.y
    inner = ops.matmul(adjoint(V), ops.matmul(_hermitian(tangents[0]), V))
    dV = ops.matmul(V, ops.multiply(_gaps(values, inner), inner))
    return ops.real(ops.diagonal(inner)), dV


def _eigvalsh(call: Call, tangents: Tangents) -> Any:
    V = ops.eigh(call.args[0]).eigenvectors
    inner = ops.matmul(adjoint(V), ops.matmul(_hermitian(tangents[0]), V))
    return ops.real(ops.diagonal(inner))


def _eig(call: Call, tangents: Tangents) -> Any:
    """Like `_eigh` with V⁻¹ in place of Vᴴ; the vectors keep norm 1."""
    values, V = call.y
    inner = ops.solve(V, ops.matmul(ops.astype(tangents[0], V.dtype, copy=False), V))
    dV = ops.matmul(V, ops.multiply(_gaps(values, inner), inner))
    along = ops.real(ops.sum(ops.multiply(ops.conj(V), dV), axis=-2, keepdims=True))
    return ops.diagonal(inner), ops.subtract(dV, ops.multiply(V, along))


def _svd(call: Call, tangents: Tangents) -> Any:
    """From Uᴴ dX V: the diagonal is dS, the off-diagonal part rotates U and V."""
    x, t = call.args[0], tangents[0]
    U, S, Vh = call.y
    m, n = x.shape[-2:]
    if not x.size:  # the factors of an empty matrix are constant
        return ops.zeros_like(U), ops.zeros_like(S), ops.zeros_like(Vh)
    if U.shape[-1] != Vh.shape[-2]:
        raise UnsupportedError(
            "svd: the derivative of the complete factors of a matrix that is not square is not "
            "determined; use full_matrices=False"
        )
    V = adjoint(Vh)
    inner = ops.matmul(adjoint(U), ops.matmul(t, V))
    s = ops.astype(ops.expand_dims(S, -2), dtypes.dtype_of(inner), copy=False)
    sT = ops.matrix_transpose(s)
    gaps = _gaps(ops.multiply(S, S), inner)
    turned = ops.add(ops.multiply(inner, s), ops.multiply(sT, adjoint(inner)))
    right = ops.add(ops.multiply(sT, inner), ops.multiply(adjoint(inner), s))
    by_u, by_v = ops.multiply(gaps, turned), ops.multiply(gaps, right)
    inverse = ops.where(ops.equal(s, 0), 0.0, ops.reciprocal(ops.where(ops.equal(s, 0), 1.0, s)))
    if is_complex(inner):  # the common phase of a pair of vectors is free; U takes all of it
        phase = ops.multiply(ops.imag(ops.diagonal(inner)), 1j)
        by_u = ops.add(by_u, ops.multiply(_on_diagonal(phase), inverse))
    dU, dV = ops.matmul(U, by_u), ops.matmul(V, by_v)
    if m > n:
        moved = ops.multiply(ops.matmul(t, V), inverse)
        dU = ops.add(dU, ops.subtract(moved, ops.matmul(U, ops.matmul(adjoint(U), moved))))
    if n > m:
        moved = ops.multiply(ops.matmul(adjoint(t), U), inverse)
        dV = ops.add(dV, ops.subtract(moved, ops.matmul(V, ops.matmul(Vh, moved))))
    return dU, ops.real(ops.diagonal(inner)), adjoint(dV)


def _svdvals(call: Call, tangents: Tangents) -> Any:
    U, _, Vh = ops.svd(call.args[0], full_matrices=False)
    inner = ops.matmul(adjoint(U), ops.matmul(tangents[0], adjoint(Vh)))
    return ops.real(ops.diagonal(inner))


class _Unpivoted(Pushed):
    without = frozenset(("pivoting",))


RULES: dict[str, Rule] = {
    "inv": Pushed(_inv),
    "pinv": Pushed(_pinv),
    "solve": Jacobian(_push_solve, _pull_solve),
    "det": Composed(_det),
    "slogdet": Pushed(_slogdet),
    "cholesky": Pushed(_cholesky),
    "qr": _Unpivoted(_qr),
    "eigh": Pushed(_eigh),
    "eigvalsh": Pushed(_eigvalsh),
    "eig": Pushed(_eig),
    "svd": Pushed(_svd),
    "svdvals": Pushed(_svdvals),
}

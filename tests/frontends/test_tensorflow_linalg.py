"""The functions of `tf.linalg` against TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.frontends import tensorflow_expressions as expressions

ALIGNMENTS = ["LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"]
#: Factors are compared by values that do not depend on signs and order.
EXPRESSIONS = [
    "matmul(x, tall)", "matmul(x, y, transpose_b=True)", "matmul(cm, cm, adjoint_a=True)",
    "einsum('ij,kj->ik', x, y)", "tensordot(x, y, 2)", "tensordot(x, tall, [[1], [0]])",
    "matvec(x, z)", "matvec(t, z, transpose_a=True)", "matvec(cm, c[0], adjoint_a=True)",
    "matrix_transpose(t)", "matrix_transpose(cm, conjugate=True)", "adjoint(cm)", "adjoint(x)",
    "cross(x, y)", "trace(m)", "trace(t)", "trace(i)", "eye(3)", "eye(2, 4, [3])",
    "band_part(m, 0, 1)", "band_part(t, 1, 0)", "band_part(x, -1, 0)", "band_part(i, 0, -1)",
    "diag(v)", "diag(x)", "diag(v, k=1)", "diag(x, k=-2)", "diag(v, num_rows=4, num_cols=5)",
    "diag(v, k=-1, num_rows=5, padding_value=2.0)", "diag(i, k=1, num_cols=4)",
    *[f"diag(m, k=(-1, 1), align='{align}')" for align in ALIGNMENTS],
    *[f"diag(t, k=(0, 2), num_rows=5, align='{align}')" for align in ALIGNMENTS[:2]],
    "diag_part(m)", "diag_part(t)", "diag_part(t, k=2)", "diag_part(x, k=-1)",
    *[f"diag_part(t, k=(-2, 1), align='{align}', padding_value=7.0)" for align in ALIGNMENTS],
    "diag_part(i, k=(0, 1))", "set_diag(m, z)", "set_diag(t, v[:2][:, None] * z)",
    "set_diag(m, x[0, :2], k=1)",
    *[f"set_diag(t[:, :, :3], a[None] * x[:, :1, None], k=(-1, 1), align='{n}')" for n in ALIGNMENTS],
    "tensor_diag(v)", "tensor_diag(x)", "tensor_diag_part(m)",
    "tensor_diag_part(einsum('ij,kl->ijkl', x, x))",
    "cholesky(a)", "cholesky_solve(cholesky(a), tall)", "logdet(a)", "det(m)", "det(cm)",
    "inv(m)", "inv(m, adjoint=True)", "inv(cm)", "slogdet(m)", "slogdet(-a)", "slogdet(cm)",
    "solve(m, tall)", "solve(m, tall, adjoint=True)", "triangular_solve(m, tall)",
    "triangular_solve(m, tall, lower=False)", "triangular_solve(m, tall, True, True)",
    "triangular_solve(cm, cm, False, True)", "lstsq(tall, m[:, :1])", "lstsq(x, x[:, :2])",
    "lstsq(tall, m, 0.3)", "lstsq(tall, m, fast=False)",
    "expm(m * 0.3)", "expm(cm * 0.2)", "logm(cm)", "logm(matmul(cm, cm, adjoint_b=True))",
    "sqrtm(a)", "sqrtm(matmul(cm, cm, adjoint_b=True))", "pinv(x)", "pinv(t)", "pinv(tall, 0.9)",
    "matrix_rank(m)", "matrix_rank(x[:, :1] * x[:1])", "matrix_rank(t, 1.5)",
    *[f"norm(x{rest})" for rest in ("", ", 1", ", inf", ", 2.5", ", 'euclidean', 1", ", 1, 0, True")],
    *[f"norm(t, {order}, [0, -1])" for order in ("'fro'", "1", "inf", "2")], "norm(c)",
    "normalize(x)", "normalize(x, 1, 1)", "normalize(t, 'euclidean', [1, 2])",
    "global_norm([x, v, t])", "l2_normalize(x, 1)",
    "abs(qr(tall))", "abs(qr(t)[1])", "matmul(qr(x, True).q, qr(x, True).r)",
    "svd(x, compute_uv=False)", "svd(t)[0]", "abs(svd(m))", "svd(x, full_matrices=True)[0]",
    "abs(svd(cm)[2])", "eigvalsh(a)", "eigh(a)[0]", "abs(eigh(a)[1])", "eigvalsh(matmul(cm, cm, adjoint_b=True))",
    "trace(diag(eigvals(m)))", "trace(diag(eig(m)[0] ** 2))", "trace(diag(eigvals(cm)))",
    "lu(m)", "lu(t[:, :, :3])", "lu_reconstruct(*lu(m))", "lu_reconstruct(*lu(t[:, :, :3]))",
    "lu_solve(*lu(m), tall)", "lu_solve(*lu(t[:, :, :3]), tall)", "lu_matrix_inverse(*lu(m))",
    "eigh_tridiagonal(v, w[:3])", "eigh_tridiagonal(v, w[:3], select='i', select_range=[1, 2])",
    "eigh_tridiagonal(v, w[:3], select='v', select_range=[-0.5, 5.0])",
    "abs(eigh_tridiagonal(v, w[:3], False)[1])",
    "banded_triangular_solve(m[:2], tall)", "banded_triangular_solve(m[:2], tall, False)",
    "banded_triangular_solve(m[1:2], tall, True, True)",
    "tridiagonal_matmul(m, tall)", "tridiagonal_matmul([z, z * 2, z + 1], tall, 'sequence')",
    "tridiagonal_matmul(a, tall, 'matrix')", "tridiagonal_solve(m, z)", "tridiagonal_solve(m, tall)",
    "tridiagonal_solve([z[:2], z * 2, z[1:]], tall, 'sequence')",
    "tridiagonal_solve(a, x, 'matrix', transpose_rhs=True)", "tridiagonal_solve(cm, cm, conjugate_rhs=True)",
]  # fmt: skip
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    "expm(m": "the same up to the accuracy of upstream's loop",
    "logm": "upstream has none",
    "lu(": "upstream has none",
    "lu_": "upstream has none of lu",
    "lstsq(tall, m, fast=False)": "upstream has none",
    "svd(x, full_matrices=True)": "upstream has none",
    "abs(svd(cm)": "no real input",
    "matmul(qr(x, True)": "upstream has none",
    "eigh_tridiagonal": "upstream has none",
    "abs(eigh_tridiagonal": "upstream has none",
    "trace(diag(eig": "complex",
    "banded_triangular_solve(m[1:2]": "an error upstream, of a single diagonal",
}


class _Space:
    """A namespace with two names for the expressions."""

    inf = float("inf")

    def __init__(self, module: Any, absolute: Any) -> None:
        self._module, self._absolute = module, absolute

    def abs(self, x: Any) -> Any:
        if isinstance(x, (tuple, list)):
            return [self.abs(part) for part in x]
        return self._absolute(x)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


THEIRS = _Space(tf.linalg, tf.abs)
OURS = _Space(frontend.linalg, na.abs)


@pytest.mark.one_in(16)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, THEIRS, OURS, backend)


@pytest.mark.one_in(32)
@pytest.mark.parametrize(
    "expression", [row for row in EXPRESSIONS if not row.startswith(tuple(NOT_DIFFERENTIATED))]
)
def test_gradients(expression: str, backend: str) -> None:
    if expressions.is_differentiable(expression, THEIRS):
        expressions.assert_gradients(expression, THEIRS, OURS, backend)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda la, x: la.diag(x, align="LEFT"), "diag: align: got 'LEFT', expected one of"),
        (lambda la, x: la.diag_part(x, k=(1, 0)), r"diag_part: k: got \(1, 0\), expected the lower"),
        (lambda la, x: la.diag_part(x, k=3), r"diag_part: k: got \(3, 3\), expected diagonals of"),
        (lambda la, x: la.diag(x[0], num_rows=2), "diag: num_rows, num_cols: got 2 and 3"),
        (lambda la, x: la.tensor_diag_part(x[:2]), r"input: got the shape \(2, 3\), expected one"),
        (lambda la, x: la.cross(x[:, :2], x[:, :2]), r"cross: got the shapes \(3, 2\)"),
        (lambda la, x: la.norm(x, "nuc", [0, 1]), "norm: ord: got 'nuc', expected one of"),
        (lambda la, x: la.tridiagonal_solve(x, x, "rows"), "diagonals_format: got 'rows'"),
        (lambda la, x: la.eigh_tridiagonal(x[0], x[0, :2], select="x"), "select: got 'x'"),
        (lambda la, x: la.logm(x), "logm: got a tensor of float64, expected a dtype of kind"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(na.errors.NestarrayError, match=message):
        call(frontend.linalg, np.eye(3))

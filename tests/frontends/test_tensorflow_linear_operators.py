"""The linear operators of `tf.linalg` against TensorFlow: all methods of each in one expression."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from tests.arrays import on
from tests.frontends import tensorflow_expressions as expressions

ANY = (
    "o.to_dense(), o.matmul({x}), o.matvec({v}), o.adjoint().to_dense(), o.H.matmul(o.to_dense()), "
    "o.matmul(o.to_dense(), adjoint=True), (o @ o.H).to_dense(), o.add_to_tensor(o.to_dense()), "
    "o.shape_tensor(), o.batch_shape_tensor(), o.tensor_rank_tensor(), o.range_dimension_tensor(), "
    "o.domain_dimension_tensor()"
)
ZEROS = "o.to_dense(), o.matmul({x}), o.matvec({v}), o.shape_tensor(), o.trace(), o.diag_part()"
SQUARE = (
    f"{ANY}, o.diag_part(), o.trace(), o.determinant(), o.matvec({{v}}, adjoint=True), "
    "o.matmul(o.to_dense(), adjoint_arg=True)"
)
COMPLEX = (
    f"{SQUARE}, o.solve({{x}}), o.solvevec({{v}}), o.solve({{x}}, adjoint=True), "
    "o.solve(o.to_dense(), adjoint_arg=True), o.inverse().to_dense(), o.inverse().matvec({v}), "
    "o.inverse().determinant(), o.solve(o.H).to_dense(), o.H.inverse().solvevec({v})"
)
REGULAR = f"{COMPLEX}, o.log_abs_determinant(), o.cond(), o.assert_non_singular()"
HERMITIAN = f"{REGULAR}, o.eigvals(), o.inverse().eigvals()"
POSITIVE = f"{HERMITIAN}, o.cholesky().to_dense(), o.assert_positive_definite()"

PD = "is_self_adjoint=True, is_positive_definite=True"
FULL, DIAG = "LinearOperatorFullMatrix", "LinearOperatorDiag"
SIX = ("image[0, :, :2, 0]", "image[0, :, 0, 1]")
COMPLEX_SIX = ("c6", "c6[:, 0]")
#: (operator, the methods that it has, operands of as many rows)
OPERATORS = [
    (f"{FULL}(m)", REGULAR, ("tall", "z")),
    (f"{FULL}(x)", ANY, ("tall", "z")),
    (f"{FULL}(t[:, :, :3])", REGULAR, ("tall", "z")),
    (f"{FULL}(cm)", COMPLEX, ("cm", "c[0]")),
    (f"{FULL}(a, {PD})", POSITIVE, ("tall", "z")),
    (f"{FULL}(a, is_self_adjoint=True)", HERMITIAN, ("tall", "z")),
    (f"{DIAG}(z)", HERMITIAN, ("tall", "z")),
    (f"{DIAG}(x)", HERMITIAN, ("tall", "z")),
    (f"{DIAG}(c[1])", REGULAR, ("cm", "c[0]")),
    (f"{DIAG}(p, is_positive_definite=True)", POSITIVE, ("tall", "z")),
    ("LinearOperatorLowerTriangular(m)", REGULAR, ("tall", "z")),
    ("LinearOperatorLowerTriangular(cm)", COMPLEX, ("cm", "c[0]")),
    ("LinearOperatorIdentity(3)", POSITIVE, ("tall", "z")),
    ("LinearOperatorIdentity(3, [2], cm.dtype)", COMPLEX, ("cm", "c[0]")),
    ("LinearOperatorScaledIdentity(3, z[2], is_positive_definite=True)", POSITIVE, ("tall", "z")),
    ("LinearOperatorScaledIdentity(3, x[:, 1])", HERMITIAN, ("tall", "z")),
    ("LinearOperatorZeros(3)", ANY, ("tall", "z")),
    ("LinearOperatorZeros(2, 3, [2], is_square=False, is_self_adjoint=False)", ZEROS, ("tall", "z")),
    ("LinearOperatorHouseholder(z)", HERMITIAN, ("tall", "z")),
    ("LinearOperatorHouseholder(x)", HERMITIAN, ("tall", "z")),
    ("LinearOperatorLowRankUpdate(LinearOperatorDiag(z), tall)", REGULAR, ("tall", "z")),
    ("LinearOperatorLowRankUpdate(LinearOperatorFullMatrix(m), tall, tall[0], tall * 2.0)",
     REGULAR, ("tall", "z")),
    ("LinearOperatorLowRankUpdate(LinearOperatorDiag(z * z, is_positive_definite=True), tall, "
     "tall[1] ** 2, is_diag_update_positive=True)", POSITIVE, ("tall", "z")),
    ("LinearOperatorPermutation([2, 0, 1])", REGULAR, ("tall", "z")),
    ("LinearOperatorPermutation(k[:3], cm.dtype)", COMPLEX, ("cm", "c[0]")),
    ("LinearOperatorToeplitz(z, z * 2.0)", REGULAR, ("tall", "z")),
    ("LinearOperatorToeplitz(x, y)", REGULAR, ("tall", "z")),
    ("LinearOperatorTridiag(m)", REGULAR, ("tall", "z")),
    ("LinearOperatorTridiag([z, z + 3.0, z * 2.0], 'sequence')", REGULAR, ("tall", "z")),
    ("LinearOperatorTridiag(band_part(a, 1, 1), 'matrix')", REGULAR, ("tall", "z")),
    ("LinearOperatorCirculant(c[0])", COMPLEX, ("cm", "c[0]")),
    ("LinearOperatorCirculant(z * z, cm.dtype, is_positive_definite=True)", HERMITIAN, ("cm", "c[0]")),
    ("LinearOperatorCirculant(x)", HERMITIAN, ("cm", "c[0]")),
    ("LinearOperatorCirculant2D(x)", HERMITIAN, COMPLEX_SIX),
    ("LinearOperatorCirculant3D(volume[0, :1, :3, :2, 0])", HERMITIAN, COMPLEX_SIX),
    (f"LinearOperatorBlockDiag([{FULL}(m), {DIAG}(z)])", REGULAR, SIX),
    (f"LinearOperatorBlockDiag([{DIAG}(x), LinearOperatorIdentity(3)])", HERMITIAN, SIX),
    (f"LinearOperatorBlockLowerTriangular([[{FULL}(m)], [{FULL}(x), {FULL}(m[:2, :2])]])", REGULAR,
     ("signal[0, :5, :2]", "image[0, 0, :, 1]")),
    (f"LinearOperatorKronecker([{FULL}(m[:2, :2]), {DIAG}(z)])", REGULAR, SIX),
    (f"LinearOperatorKronecker([{DIAG}(z[:2]), {DIAG}(x)])", HERMITIAN, SIX),
    (f"LinearOperatorComposition([{FULL}(m), {DIAG}(z)])", REGULAR, ("tall", "z")),
    (f"LinearOperatorComposition([{FULL}(x), {FULL}(tall), {FULL}(x)])", ANY, ("tall", "z")),
    (f"LinearOperatorAdjoint({FULL}(m))", REGULAR, ("tall", "z")),
    (f"LinearOperatorAdjoint({FULL}(x))", ANY, ("tall[:2]", "z[:2]")),
    (f"LinearOperatorInversion({FULL}(a, {PD}))", POSITIVE, ("tall", "z")),
]  # fmt: skip
EXPRESSIONS = [
    f"(lambda o: [{methods.format(x=x, v=v)}])({operator})"
    for operator, methods, (x, v) in OPERATORS
]
#: Methods that only some operators have, and operands in blocks.
CIRCULANT = "o.convolution_kernel(), o.block_shape_tensor(), o.spectrum, o.block_depth"
BLOCKWISE = (
    "o.matmul([m, x]), o.matmul([x, x[:, :2]], adjoint_arg=True), o.matvec([z, v[:2]]), "
    "o.matmul([m, x], adjoint=True), o.solve([m, x]), o.solvevec([z, v[:2]], adjoint=True)"
)
EXPRESSIONS += [
    f"(lambda o: [{CIRCULANT}])"
    "(LinearOperatorCirculant(matvec([[1., 0., 0.], [0., 1., 0.], [0., 1., 0.]], z), z.dtype))",
    f"(lambda o: [{CIRCULANT}])(LinearOperatorCirculant2D(x))",
    f"(lambda o: [{BLOCKWISE}])(LinearOperatorBlockDiag([{FULL}(m), {FULL}(a[:2, :2])]))",
    f"(lambda o: [{BLOCKWISE}])"
    f"(LinearOperatorBlockLowerTriangular([[{FULL}(m)], [{FULL}(x), {FULL}(a[:2, :2])]]))",
    "(lambda o: [o.diag_operator.to_dense(), o.v, o.base_operator.diag])"
    f"(LinearOperatorLowRankUpdate({DIAG}(z), tall, v[:2], tall * 2.0))",
]
#: Names that `tf.Module` gives upstream's classes, and a list that upstream discourages.
OF_MODULES = {
    "graph_parents", "name_scope", "non_trainable_variables", "submodules", "trainable_variables",
    "variables", "with_name_scope",
}  # fmt: skip


#: Keywords here, of any place.
HINTS = {"is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square", "name"}


@pytest.mark.one_in(32)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str, backend: str) -> None:
    expressions.assert_equal(expression, tf.linalg, frontend.linalg, backend)


@pytest.mark.one_in(64)
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients(expression: str, backend: str) -> None:
    if expressions.is_differentiable(expression, tf.linalg):
        expressions.assert_gradients(expression, tf.linalg, frontend.linalg, backend)


@pytest.mark.parametrize("name", [n for n in dir(tf.linalg) if n.startswith("LinearOperator")])
def test_every_class_has_the_names_of_upstream_and_an_expression(name: str) -> None:
    theirs, ours = getattr(tf.linalg, name), getattr(frontend.linalg, name)
    wanted = {n for n in dir(theirs) if n[0] != "_"} - OF_MODULES
    found = {n for n in dir(ours) if n[0] != "_"} | {*inspect.signature(ours).parameters}
    assert wanted <= found
    if name != "LinearOperator":
        assert any(f"{name}(" in row for row in EXPRESSIONS)
        own = [n for n in inspect.signature(ours).parameters if n not in HINTS]
        assert own == [n for n in inspect.signature(theirs).parameters if n not in HINTS]


def test_an_operator_without_arrays_is_beside_its_operand(backend: str) -> None:
    x = on(backend, expressions.INPUTS["m"])
    la = frontend.linalg
    both = la.LinearOperatorBlockDiag([la.LinearOperatorIdentity(1), la.LinearOperatorZeros(2)])
    for found in (both.matmul(x), both.add_to_tensor(x), la.LinearOperatorIdentity(3).solve(x)):
        assert na.backend_of(found) == backend


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda la, x: la.LinearOperatorFullMatrix(x[:2]).inverse(),
         r"LinearOperatorFullMatrix.inverse: got a matrix \(2, 3\), expected a square one"),
        (lambda la, x: la.LinearOperatorZeros(2).solve(x[:2]), "solve: got is_non_singular=False"),
        (lambda la, x: la.LinearOperatorFullMatrix(x).cholesky(),
         "cholesky: expected is_self_adjoint=True and is_positive_definite=True, got None and None"),
        (lambda la, x: la.LinearOperatorFullMatrix(x).eigvals(), "eigvals: got is_self_adjoint=None"),
        (lambda la, x: la.LinearOperatorDiag(x, is_square=False),
         "LinearOperatorDiag: is_square: got False, expected True"),
        (lambda la, x: la.LinearOperatorDiag(x).matmul(x.astype("float32")),
         "LinearOperatorDiag.matmul: got a tensor of float32, expected float64"),
        (lambda la, x: la.LinearOperatorToeplitz(x[0], x[0].astype("float32")),
         "LinearOperatorToeplitz: got a tensor of float32, expected float64"),
        (lambda la, x: la.LinearOperatorFullMatrix(x - 1.0).assert_positive_definite(),
         "LinearOperatorFullMatrix.assert_positive_definite: x: got"),
        (lambda la, x: la.LinearOperatorDiag(x[0] + 1e-20).assert_non_singular(),
         "LinearOperatorDiag.assert_non_singular: x: got"),
        (lambda la, x: la.LinearOperatorLowerTriangular(x + 1.0).assert_self_adjoint(),
         "LinearOperatorLowerTriangular.assert_self_adjoint: x: got"),
        (lambda la, x: la.LinearOperatorCirculant(x[0] * 1j).assert_hermitian_spectrum(),
         "LinearOperatorCirculant.assert_hermitian_spectrum: x: got"),
    ],
)  # fmt: skip
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(na.errors.NestarrayError, match=message):
        call(frontend.linalg, np.eye(3))

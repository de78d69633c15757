"""Functions of matrices take every real dtype: half precision stays, integers become float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import nestarray as na
from nestarray import backends
from nestarray.testing import assert_close
from tests.arrays import on

pytestmark = pytest.mark.one_in(4)

POSITIVE = np.asarray([[[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]]])
RIGHT = np.asarray([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0]])

#: Ops of one matrix whose results hold no sign that a framework may choose.
OF_ONE: dict[str, Callable[[Any], Any]] = {
    "cholesky": na.cholesky,
    "svdvals": na.svdvals,
    "eigvalsh": na.eigvalsh,
    "lu": lambda x: na.lu(x).U,
    "lu_factor": lambda x: na.lu_factor(x).LU,
    "polar_decomposition": lambda x: na.polar_decomposition(x).P,
    "qr": lambda x: na.abs(na.qr(x).R),
    "svd": lambda x: na.svd(x).S,
    "eigh": lambda x: na.eigh(x).eigenvalues,
    "inv": na.inv,
    "pinv": na.pinv,
    "det": na.det,
    "slogdet": lambda x: na.slogdet(x).logabsdet,
    "expm": na.expm,
    "sqrtm": na.sqrtm,
    "matrix_cond": na.matrix_cond,
    "matrix_norm": na.matrix_norm,
    "tensorinv": lambda x: na.tensorinv(x[0], ind=1),
}

OF_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "solve": na.solve,
    "solve_triangular": na.solve_triangular,
    "cho_solve": na.cho_solve,
    "lstsq": lambda x1, x2: na.lstsq(x1, x2).solution,
    "lu_solve": lambda x1, x2: na.lu_solve(*na.lu_factor(x1), x2),
    "tensorsolve": lambda x1, x2: na.tensorsolve(x1[0], x2[:, 0]),
}


def as_float32(x: Any) -> np.ndarray:
    return backends.core(na.backend_of(x)).to_numpy(na.astype(x, "float32"))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("op", [*OF_ONE, *OF_TWO])
def test_half_precision_is_that_of_float32_rounded_once(op: str, dtype: str, backend: str) -> None:
    arrays = [POSITIVE] if op in OF_ONE else [POSITIVE, RIGHT]
    function = {**OF_ONE, **OF_TWO}[op]
    result = function(*(on(backend, x, dtype) for x in arrays))
    assert na.dtype_of(result) is na.as_dtype(dtype)
    wide = function(*(on(backend, x, "float32") for x in arrays))
    digits = 2**-10 if dtype == "float16" else 2**-7
    rounds = 1 if op not in ("lu_solve", "tensorsolve") else 4  # through factors in half precision
    assert_close(
        as_float32(result),
        as_float32(wide),
        rtol=rounds * digits,
        atol=digits * 1e-2 * rounds,
        reason="half precision has three digits, bfloat16 two",
    )


@pytest.mark.one_in(8)
@pytest.mark.parametrize("dtype", ["bool", "int64", "uint16"])
@pytest.mark.parametrize("op", [*OF_ONE, *OF_TWO])
def test_integers_are_computed_in_float32(op: str, dtype: str, backend: str) -> None:
    if backend == "jax" and dtype == "int64":
        dtype = "int32"  # without x64
    matrix = np.eye(3)[None] if dtype == "bool" else POSITIVE
    arrays = [matrix] if op in OF_ONE else [matrix, RIGHT]
    function = {**OF_ONE, **OF_TWO}[op]
    result = function(*(on(backend, x, dtype) for x in arrays))
    rounded = [x.astype(bool).astype("float32") if dtype == "bool" else x for x in arrays]
    wide = function(*(on(backend, x, "float32") for x in rounded))
    assert na.dtype_of(result) is na.float32
    assert_close(as_float32(result), as_float32(wide))


def test_eigenvalues_of_half_precision_are_complex64(backend: str) -> None:
    for function in (na.eigvals, lambda x: na.eig(x).eigenvalues):
        result = function(on(backend, POSITIVE, "bfloat16"))
        assert na.dtype_of(result) is na.complex64


def test_mixed_dtypes_of_a_system_promote_first(backend: str) -> None:
    half, integers = on(backend, POSITIVE, "float16"), on(backend, RIGHT, "int32")
    assert na.dtype_of(na.solve(half, integers)) is na.float16
    assert na.dtype_of(na.solve(half, on(backend, RIGHT, "bfloat16"))) is na.float32
    assert na.dtype_of(na.solve(half, on(backend, RIGHT, "float32"))) is na.float32


def test_powers_of_integers_stay_integers(backend: str) -> None:
    x = on(backend, np.asarray([[1, 1], [0, 1]]), "int32")
    cube = na.matrix_power(x, 3)
    assert na.dtype_of(cube) is na.int32
    assert_close(backends.core(backend).to_numpy(cube), np.asarray([[1, 3], [0, 1]], np.int32))
    inverse = na.matrix_power(x, -2)
    assert na.dtype_of(inverse) is na.float32
    assert_close(as_float32(inverse), np.asarray([[1.0, -2.0], [0.0, 1.0]], np.float32))


def test_singular_matrices_have_factors(backend: str) -> None:
    x = np.asarray([[0.0, 1.0, 2.0], [0.0, 2.0, 4.0], [0.0, 0.0, 1.0]], np.float32)
    P, L, U = (as_float32(part) for part in na.lu(on(backend, x, "float32")))
    assert_close(P @ L @ U, x)
    LU, _ = na.lu_factor(on(backend, x, "float32"))
    assert_close(np.triu(as_float32(LU)), U)


@pytest.mark.parametrize("op", [na.eigvalsh, lambda x: na.eigh(x).eigenvalues, na.svdvals])
def test_values_of_complex_matrices_are_real(op: Callable[[Any], Any], backend: str) -> None:
    x = (POSITIVE + 0.5j * np.triu(np.ones((3, 3)), 1)).astype("complex64")
    x = (x + np.conj(x.swapaxes(-1, -2))) / 2
    found = op(backends.core(backend).from_numpy(x))
    assert na.dtype_of(found) is na.float32

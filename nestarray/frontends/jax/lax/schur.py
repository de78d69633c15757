"""Schur forms, by SciPy on the host.

Upstream: https://docs.jax.dev/en/latest/_autosummary/jax.lax.linalg.schur.html, which calls the same
routine of LAPACK and has no derivative either. In graphs it is one call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import nestarray as na
from nestarray import backends, dtypes, lazy_imports
from nestarray.errors import ShapeError, UnsupportedError
from nestarray.transforms.arguments import native_transforms
from nestarray.typing import Array

__all__ = ["schur"]


def schur(
    x: Array,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Any = None,
) -> tuple[Array, ...]:
    """(T, Z) with x = Z T Zᴴ, or (T,): T is triangular, of real x with blocks of two rows.

    Args:
        x: `(*batch, n, n)`, of 32 or 64 bits.
        compute_schur_vectors: whether Z is returned.
        sort_eig_vals, select_callable: False and None, as upstream requires.

    Raises:
        UnsupportedError: in derivatives.
        MissingFrameworkError: SciPy is not installed.
    """
    if sort_eig_vals:
        raise UnsupportedError("schur: sort_eig_vals: got True, expected False, as upstream")
    shape = na.shape(x)
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ShapeError(f"schur: x: got the shape {tuple(shape)}, expected (*batch, n, n)")
    if hasattr(x, "_recorder"):
        settings = {} if compute_schur_vectors else {"compute_schur_vectors": False}
        return x._recorder.control_flow("lax.linalg.schur", schur, (x,), settings, "jax")
    found = _form(x)
    return found if compute_schur_vectors else found[:1]


@na.custom_vjp
def _form(x: Array) -> tuple[Array, Array]:
    name = backends.backend_of(x)
    core, described = backends.core(name), (tuple(x.shape), dtypes.dtype_of(x))
    if core.is_traced(x):
        return tuple(native_transforms(name).host_call(_on_host, [x], [described, described]))
    form, vectors = _on_host(core.to_numpy(x))
    return na.to_backend(form, name), na.to_backend(vectors, name)


def _forward(x: Array) -> tuple[tuple[Array, Array], tuple[()]]:
    return _form(x), ()


def _backward(residuals: tuple[()], cotangents: Any) -> Any:
    raise UnsupportedError("schur has no derivative, as upstream; expm and eigh have one")


_form.defvjp(_forward, _backward)


def _on_host(x: Any) -> list[np.ndarray]:
    """T and Z of a NumPy array."""
    scipy = lazy_imports.optional("scipy.linalg", "schur needs", extra="jax")
    x = np.asarray(x)
    output = "complex" if x.dtype.kind == "c" else "real"
    rows = x.reshape(-1, *x.shape[-2:])
    found = [scipy.schur(row, output=output, check_finite=False) for row in rows]
    return [np.reshape([pair[i] for pair in found], x.shape).astype(x.dtype) for i in (0, 1)]

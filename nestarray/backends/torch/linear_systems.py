"""PyTorch: `nestarray.ops.linear_systems`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends import portable
from nestarray.backends.base import supports
from nestarray.backends.precision import in_single_precision
from nestarray.backends.torch.derivatives import is_compiled
from nestarray.backends.torch.promotion import cast, promoted
from nestarray.numerics.matrices import check_factors, nan_where_failed

_single = in_single_precision(cast)
_single_pair = in_single_precision(cast, arrays=(0, 1))


@_single
def inv(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.inv.html"""
    if portable.are_wanted():
        return portable.solve(x, torch.eye(x.shape[-1], dtype=x.dtype, device=x.device))
    return (
        nan_where_failed(torch, *torch.linalg.inv_ex(x)) if is_compiled() else torch.linalg.inv(x)
    )


def _columns(x1: Any, x2: Any) -> tuple[Any, Any]:
    """The right-hand sides as columns, with as many dimensions as the matrices.

    With fewer, torch could read a matrix as a stack of vectors.
    """
    if x1.ndim == x2.ndim > 1:
        return x1, x2
    right = x2[:, None] if x2.ndim == 1 else x2
    return x1, right.reshape((1,) * (x1.ndim - right.ndim) + right.shape)


def _solve(x1: Any, x2: Any) -> Any:
    if is_compiled():
        return nan_where_failed(torch, *torch.linalg.solve_ex(x1, x2))
    return torch.linalg.solve(x1, x2)


@_single_pair
def solve(x1: Any, x2: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.solve.html"""
    x1, x2 = promoted((x1, x2))
    native = portable.solve if portable.are_wanted() else _solve
    solution = native(*_columns(x1, x2))
    return solution[..., 0] if x2.ndim == 1 else solution


@_single_pair
def solve_triangular(
    x1: Any, x2: Any, /, *, upper: bool = False, unit_diagonal: bool = False
) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.solve_triangular.html"""
    x1, x2 = promoted((x1, x2))
    solution = torch.linalg.solve_triangular(
        *_columns(x1, x2), upper=upper, unitriangular=unit_diagonal
    )
    return solution[..., 0] if x2.ndim == 1 else solution


# compiled, it is wrong for complex numbers: https://github.com/pytorch/pytorch/issues/198118
@_single
@supports(lambda x, atol=None, **_: atol is None and not x.is_complex())
def pinv(x: Any, /, *, rtol: Any = None, atol: Any = None) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.pinv.html"""
    return torch.linalg.pinv(x) if rtol is None else torch.linalg.pinv(x, rtol=rtol)


@in_single_precision(cast, arrays=(0, 2))
def lu_solve(LU: Any, pivots: Any, x2: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.lu_solve.html"""
    check_factors(LU, pivots, x2)
    LU, x2 = promoted((LU, x2))
    LU, right = _columns(LU, x2)
    batch = torch.broadcast_shapes(LU.shape[:-2], right.shape[:-2])
    LU = LU.expand(*batch, *LU.shape[-2:])
    pivots = (pivots.to(torch.int32) + 1).expand(*batch, -1)  # PyTorch counts from 1
    solution = torch.linalg.lu_solve(LU, pivots, right.expand(*batch, *right.shape[-2:]))
    return solution[..., 0] if x2.ndim == 1 else solution

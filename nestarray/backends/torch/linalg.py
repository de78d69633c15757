"""PyTorch: `nestarray.ops.linalg`."""

from __future__ import annotations

from typing import Any

import torch

from nestarray.backends import xp
from nestarray.backends.base import supports
from nestarray.backends.precision import in_single_precision
from nestarray.backends.torch.control_flow import static_value
from nestarray.backends.torch.core import INEXACT
from nestarray.backends.torch.derivatives import is_constant, order
from nestarray.backends.torch.integers import LACKING, through_int64
from nestarray.backends.torch.promotion import cast, promoted
from nestarray.backends.torch.statistical import _inexact
from nestarray.numerics.axes import many_axes, one_axis
from nestarray.numerics.determinants import det_by_lu, differentiable_det
from nestarray.numerics.results import SlogdetResult, gathered

_single = in_single_precision(cast)


@_single
def det(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.det.html"""
    if not order() and is_constant(x):
        return torch.linalg.det(x)
    return differentiable_det(xp, x, _det_of_regular, _choose)


def _det_of_regular(x: Any) -> Any:
    """The determinant; the second derivative of PyTorch's own asks for real singular vectors."""
    return det_by_lu(xp, x)


def _choose(pred: Any, true_branch: Any, false_branch: Any) -> Any:
    """A branch; the first, which serves all matrices, if the choice is traced or batched."""
    return false_branch() if static_value(pred) is False else true_branch()


@in_single_precision(cast, integers=True)
def _power(x: Any, n: int) -> Any:
    return torch.linalg.matrix_power(x, n)


def matrix_transpose(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.transpose.html"""
    return torch.transpose(x, -2, -1)


# the inverse of integers is not integral; bools and wide unsigned integers have no kernel
@supports(lambda x, n: n >= 0 and x.dtype not in LACKING and x.dtype is not torch.bool)
def matrix_power(x: Any, /, n: int) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_power.html"""
    return _power(x, n)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.diagonal.html"""
    return torch.diagonal(x, offset, -2, -1)


_cross = through_int64(torch.linalg.cross)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.cross.html"""
    dtype = x1.dtype
    if dtype is x2.dtype and dtype in INEXACT and x1.shape == x2.shape:
        return torch.linalg.cross(x1, x2, dim=axis)
    x1, x2 = promoted((x1, x2))
    if x1.shape != x2.shape:
        # torch broadcasts a number to vectors and one element to three
        for x in (x1, x2):
            one_axis(axis, x.ndim, "cross")
        if x1.shape[axis] != x2.shape[axis]:
            raise ValueError("vectors of unequal lengths")
        x1, x2 = torch.broadcast_tensors(x1, x2)
    return _cross(x1, x2, dim=axis)


def kron(x1: Any, x2: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.kron.html"""
    if getattr(x1, "dtype", x1) is getattr(x2, "dtype", None):
        x1, x2 = x1.contiguous(), x2.contiguous()  # torch takes views of some products only
        return torch.kron(x1, x2)
    return torch.kron(*[x.contiguous() for x in promoted((x1, x2))])


def _has_norm(x: Any, *, axis: Any = None, **_: Any) -> bool:
    """Not the extremes of no elements."""
    return (axis is None or isinstance(axis, int) or len(axis) > 0) and 0 not in x.shape


@supports(_has_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.vector_norm.html"""
    if axis is not None and not x.ndim:  # torch accepts axes 0 and -1 of a 0-d tensor
        many_axes(axis, 0, "vector_norm")
    if x.dtype not in INEXACT:
        x = _inexact(x)
    if order() < 2 or not x.ndim or ord <= 0:
        return torch.linalg.vector_norm(x, ord, axis, keepdims)
    # torch's second derivative is NaN at zeros
    dims = [*range(x.ndim)] if axis is None else axis
    is_zero = (x == 0).all(dims, keepdim=True)
    norm = torch.linalg.vector_norm(torch.where(is_zero, 1.0, x), ord, axis, keepdims)
    return torch.where(is_zero if keepdims else is_zero.squeeze(dims), 0.0, norm)


@_single
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_norm.html"""
    if ord == "fro" and keepdims is False:
        return torch.linalg.matrix_norm(x)
    return torch.linalg.matrix_norm(x, "fro" if ord is None else ord, keepdim=keepdims)


@_single
def slogdet(x: Any, /) -> SlogdetResult:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.slogdet.html"""
    return gathered(SlogdetResult, torch.linalg.slogdet(x))


@_single
def expm(x: Any, /) -> Any:
    """https://docs.pytorch.org/docs/stable/generated/torch.linalg.matrix_exp.html"""
    return torch.linalg.matrix_exp(x)

"""Matrices: factorizations, linear systems, Fourier transforms."""

from __future__ import annotations

from typing import Any

from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.numerics.results import (
    EighResult,
    EigResult,
    PivotedQRResult,
    QRResult,
    SlogdetResult,
    SVDResult,
)
from nestarray.transforms.abstract.elementwise import broadcast, floating, real_of
from nestarray.transforms.abstract.interpreter import (
    RULES,
    Results,
    axes_of,
    axis_of,
    dtype_of,
    rule,
    sizes_of,
)
from nestarray.transforms.abstract.values import Abstract


def _complex(x: Any) -> DType:
    wide = dtype_of(x) in (dtypes.float64, dtypes.complex128)
    return dtypes.complex128 if wide else dtypes.complex64


def _square(new: Results, x: Any) -> tuple[Any, Any]:
    """(the sizes of the batch, the order) of square matrices."""
    *batch, rows, columns = sizes_of(x)
    return batch, new.same(rows, columns)


@rule
def cholesky(new: Results, x: Any, upper: bool) -> Abstract:
    batch, n = _square(new, x)
    return new([*batch, n, n], floating(x))


@rule
def svd(new: Results, x: Any, full_matrices: bool) -> SVDResult:
    *batch, m, n = sizes_of(x)
    count, dtype = new.scope.smaller(m, n), floating(x)
    columns, rows = (m, n) if full_matrices else (count, count)
    return SVDResult(
        new([*batch, m, columns], dtype),
        new([*batch, count], real_of(dtype)),
        new([*batch, rows, n], dtype),
    )


@rule
def qr(new: Results, x: Any, mode: str, pivoting: bool) -> Any:
    *batch, m, n = sizes_of(x)
    count, dtype = new.scope.smaller(m, n), floating(x)
    columns = m if mode == "complete" else count
    results = new([*batch, m, columns], dtype), new([*batch, columns, n], dtype)
    pivots = new([*batch, n], dtypes.int64)
    return PivotedQRResult(*results, pivots) if pivoting else QRResult(*results)


@rule
def eigh(new: Results, x: Any) -> EighResult:
    batch, n = _square(new, x)
    dtype = floating(x)
    return EighResult(new([*batch, n], real_of(dtype)), new([*batch, n, n], dtype))


@rule
def eig(new: Results, x: Any) -> EigResult:
    batch, n = _square(new, x)
    return EigResult(new([*batch, n], _complex(x)), new([*batch, n, n], _complex(x)))


@rule
def det(new: Results, x: Any) -> Abstract:
    return new(_square(new, x)[0], floating(x))


@rule
def slogdet(new: Results, x: Any) -> SlogdetResult:
    batch, dtype = _square(new, x)[0], floating(x)
    return SlogdetResult(new(batch, dtype), new(batch, real_of(dtype)))


@rule
def inv(new: Results, x: Any) -> Abstract:
    batch, n = _square(new, x)
    return new([*batch, n, n], floating(x))


@rule
def solve(new: Results, x1: Any, x2: Any) -> Abstract:
    batch, n = _square(new, x1)
    b = sizes_of(x2)
    is_vector = len(b) == 1
    others, tail = (b[:-1], ()) if is_vector else (b[:-2], b[-1:])
    new.same(n, b[-1] if is_vector else b[-2])
    others = () if is_vector else others
    return new([*broadcast(new, tuple(batch), others), n, *tail], floating(x1, x2))


@rule
def diagonal(new: Results, x: Any, offset: int) -> Abstract:
    *batch, rows, columns = sizes_of(x)
    rows, columns = (rows, columns - offset) if offset >= 0 else (rows + offset, columns)
    count = new.scope.larger(new.scope.smaller(rows, columns), 0)
    return new([*batch, count], dtype_of(x))


# -- Fourier transforms --------------------------------------------------------------------


def _transform(new: Results, x: Any, s: Any, axes: Any, norm: str) -> Abstract:
    sizes = list(sizes_of(x))
    places = range(len(sizes) - len(s), len(sizes)) if axes is None and s is not None else None
    chosen = axes_of(axes, len(sizes)) if places is None else tuple(places)
    for i, n in zip(chosen, s or (), strict=False):
        sizes[i] = sizes[i] if isinstance(n, int) and n == -1 else n
    return new(sizes, _complex(x))


RULES.update(fftn=_transform, ifftn=_transform)


@rule
def rfft(new: Results, x: Any, n: Any, axis: int, norm: str) -> Abstract:
    sizes = list(sizes_of(x))
    axis = axis_of(axis, len(sizes))
    sizes[axis] = (sizes[axis] if n is None else n) // 2 + 1
    return new(sizes, _complex(x))


@rule
def irfft(new: Results, x: Any, n: Any, axis: int, norm: str) -> Abstract:
    sizes = list(sizes_of(x))
    axis = axis_of(axis, len(sizes))
    sizes[axis] = 2 * (sizes[axis] - 1) if n is None else n
    return new(sizes, real_of(_complex(x)))

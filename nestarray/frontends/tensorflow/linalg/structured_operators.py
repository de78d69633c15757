"""Linear operators of matrices with a structure, by the few numbers that determine them.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg/LinearOperatorDiag
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.frontends.tensorflow.assertions import assert_less
from nestarray.frontends.tensorflow.conversion import integers
from nestarray.frontends.tensorflow.data_type import cast
from nestarray.frontends.tensorflow.linalg.diagonals import diag
from nestarray.frontends.tensorflow.linalg.linear_operator import LinearOperator
from nestarray.frontends.tensorflow.linalg.products import adjoint, three_diagonals
from nestarray.frontends.tensorflow.math import l2_normalize
from nestarray.typing import Array, DTypeLike

__all__ = [
    "LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D",
    "LinearOperatorDiag", "LinearOperatorHouseholder", "LinearOperatorIdentity",
    "LinearOperatorLowRankUpdate", "LinearOperatorPermutation", "LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz", "LinearOperatorTridiag", "LinearOperatorZeros",
]  # fmt: skip


def _conj(x: Array) -> Array:
    return na.conj(x) if dtypes.dtype_of(x).kind == "complex" else x


def _is_real(x: Array) -> bool | None:
    """True of a real array, whose diagonal matrix is self-adjoint; None otherwise."""
    return True if dtypes.dtype_of(x).kind != "complex" else None


@dataclass(eq=False)
class LinearOperatorDiag(LinearOperator):
    """The operator of a diagonal matrix.

    Args:
        diag: `(*batch, n)`.
        hints: see `LinearOperator`.
    """

    diag: Any
    _tensors = ("diag",)

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_self_adjoint": _is_real(self.diag), "is_square": True}

    def _to_dense(self, like: Array | None) -> Array:
        return diag(self.diag)

    def _matmul(self, x: Array, adjoint: bool) -> Array:
        return na.multiply(x, na.expand_dims(_conj(self.diag) if adjoint else self.diag, -1))

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        return na.divide(rhs, na.expand_dims(_conj(self.diag) if adjoint else self.diag, -1))

    def _eigvals(self) -> Array:
        return self.diag


@dataclass(eq=False)
class LinearOperatorIdentity(LinearOperator):
    """The operator of the identity.

    Args:
        num_rows: n.
        batch_shape: the sizes of axes before rows and columns.
        dtype: float32 by default.
        hints: see `LinearOperator`.
    """

    num_rows: Any
    batch_shape: Any = ()  # type: ignore[assignment]
    dtype: Any = None  # type: ignore[assignment]
    assert_proper_shapes: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Sizes as integers."""
        self.num_rows = integers(self.num_rows)
        self.batch_shape = tuple(integers(self.batch_shape or ()))
        self.dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        super().__post_init__()

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_self_adjoint": True, "is_positive_definite": True}

    def _to_dense(self, like: Array | None) -> Array:
        dense = na.eye(self.num_rows, dtype=self.dtype, like=like)
        return na.broadcast_to(dense, (*self.batch_shape, *na.shape(dense)))

    def _matmul(self, x: Array, adjoint: bool) -> Array:
        batch = na.broadcast_shapes(self.batch_shape, na.shape(x)[:-2])
        return na.broadcast_to(x, (*batch, *na.shape(x)[-2:]))

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        return self._matmul(rhs, adjoint)

    def _eigvals(self) -> Array:
        return self.diag_part()


@dataclass(eq=False)
class LinearOperatorScaledIdentity(LinearOperator):
    """The operator of a multiple of the identity.

    Args:
        num_rows: n.
        multiplier: `(*batch)`.
        hints: see `LinearOperator`.
    """

    num_rows: Any
    multiplier: Any
    assert_proper_shapes: bool = field(default=False, kw_only=True)
    _tensors = ("multiplier",)

    def __post_init__(self) -> None:
        """The size as an integer."""
        self.num_rows = integers(self.num_rows)
        super().__post_init__()

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_self_adjoint": _is_real(self.multiplier), "is_square": True}

    def _factor(self) -> Array:
        return na.expand_dims(na.expand_dims(self.multiplier, -1), -1)

    def _to_dense(self, like: Array | None) -> Array:
        eye = na.eye(self.num_rows, dtype=self.dtype, like=like)
        return na.multiply(self._factor(), eye)

    def _matmul(self, x: Array, adjoint: bool) -> Array:
        return na.multiply(x, _conj(self._factor()) if adjoint else self._factor())

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        return na.divide(rhs, _conj(self._factor()) if adjoint else self._factor())

    def _eigvals(self) -> Array:
        return self.diag_part()


@dataclass(eq=False)
class LinearOperatorZeros(LinearOperator):
    """The operator of zeros.

    Args:
        num_rows: m.
        num_columns: n; None: m.
        batch_shape: the sizes of axes before rows and columns.
        dtype: float32 by default.
        hints: see `LinearOperator`.
    """

    num_rows: Any
    num_columns: Any = None
    batch_shape: Any = ()  # type: ignore[assignment]
    dtype: Any = None  # type: ignore[assignment]
    assert_proper_shapes: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        """Sizes as integers."""
        self.num_rows = integers(self.num_rows)
        self.num_columns = self.num_rows if self.num_columns is None else integers(self.num_columns)
        self.batch_shape = tuple(integers(self.batch_shape or ()))
        self.dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        super().__post_init__()

    def _implied_hints(self) -> dict[str, bool | None]:
        is_square = self.num_rows == self.num_columns
        return {
            "is_square": is_square,
            "is_self_adjoint": is_square,
            "is_non_singular": False,
            "is_positive_definite": False,
        }

    def _to_dense(self, like: Array | None) -> Array:
        shape = (*self.batch_shape, self.num_rows, self.num_columns)
        return na.zeros(shape, dtype=self.dtype, like=like)

    def _eigvals(self) -> Array:
        return self.diag_part()


@dataclass(eq=False)
class LinearOperatorPermutation(LinearOperator):
    """The operator that orders rows: row i of the result is row ``perm[i]`` of the operand.

    Args:
        perm: `(*batch, n)`, integers.
        dtype: of the matrix.
        hints: see `LinearOperator`.
    """

    perm: Any
    dtype: Any = dtypes.float32  # type: ignore[assignment]
    _tensors = ("perm",)

    def __post_init__(self) -> None:
        """The dtype of nestarray."""
        self.dtype = dtypes.as_dtype(self.dtype)
        super().__post_init__()

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_non_singular": True}

    def _to_dense(self, like: Array | None) -> Array:
        return na.one_hot(self.perm, num_classes=na.shape(self.perm)[-1], dtype=self.dtype)


@dataclass(eq=False)
class LinearOperatorToeplitz(LinearOperator):
    """The operator of a matrix with equal elements along each diagonal.

    Args:
        col: `(*batch, n)`, the first column.
        row: `(*batch, n)`, the first row; its first element is not read.
        hints: see `LinearOperator`.
    """

    col: Any
    row: Any
    _tensors = ("col", "row")

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_square": True}

    def _to_dense(self, like: Array | None) -> Array:
        size = na.shape(self.col)[-1]
        batch = na.broadcast_shapes(na.shape(self.col)[:-1], na.shape(self.row)[:-1])
        col, row = [na.broadcast_to(x, (*batch, size)) for x in (self.col, self.row)]
        around = na.concat([na.flip(col, axis=-1), na.getitem(row, (..., slice(1, None)))], axis=-1)
        index = size - 1 + np.arange(size) - np.arange(size)[:, None]
        return na.take(around, na.asarray(index, like=around), axis=-1)


@dataclass(eq=False)
class LinearOperatorTridiag(LinearOperator):
    """The operator of a tridiagonal matrix.

    Args:
        diagonals: the diagonal above, the main one and the one below: ``"compact"``, `(*batch, 3,
            n)`, ``"sequence"``, a list, or ``"matrix"``, `(*batch, n, n)`.
        diagonals_format: one of these names.
        hints: see `LinearOperator`.
    """

    diagonals: Any
    diagonals_format: str = "compact"

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_square": True}

    def _to_dense(self, like: Array | None) -> Array:
        rows = three_diagonals(type(self).__name__, self.diagonals, self.diagonals_format)
        shape = na.broadcast_shapes(*[na.shape(x) for x in rows])
        stacked = na.stack([na.broadcast_to(x, shape) for x in rows], axis=-2)
        return diag(stacked, k=(-1, 1), align="LEFT_RIGHT")


@dataclass(eq=False)
class LinearOperatorHouseholder(LinearOperator):
    """The reflection I − 2 v vᴴ / |v|².

    Args:
        reflection_axis: v, `(*batch, n)`.
        hints: see `LinearOperator`.
    """

    reflection_axis: Any
    _tensors = ("reflection_axis",)

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_self_adjoint": True, "is_non_singular": True, "is_positive_definite": False}

    def _to_dense(self, like: Array | None) -> Array:
        v = na.expand_dims(l2_normalize(self.reflection_axis, axis=-1), -1)
        eye = na.eye(na.shape(v)[-2], dtype=self.dtype, like=v)
        return na.subtract(eye, na.multiply(na.matmul(v, adjoint(v)), 2))

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        return self._matmul(rhs, adjoint)

    def _eigvals(self) -> Array:
        ones = na.ones_like(self.reflection_axis)
        first = na.getitem(ones, (..., slice(1)))
        return na.concat([na.negative(first), na.getitem(ones, (..., slice(1, None)))], axis=-1)


@dataclass(eq=False)
class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D Vᴴ.

    Args:
        base_operator: L.
        u: U, `(*batch, m, k)`.
        diag_update: the diagonal of D, `(*batch, k)`; None: ones.
        v: V, `(*batch, n, k)`; None: U.
        is_diag_update_positive: whether `diag_update` is positive.
        hints: see `LinearOperator`.
    """

    base_operator: LinearOperator
    u: Any
    diag_update: Any = None
    v: Any = None
    is_diag_update_positive: bool | None = None
    _tensors = ("u", "diag_update", "v")

    def _implied_hints(self) -> dict[str, bool | None]:
        base, is_hermitian = self.base_operator, self.v is None
        if self.diag_update is None:
            self.is_diag_update_positive = True
        if is_hermitian and base._has_cholesky() and self.is_diag_update_positive:
            return {"is_self_adjoint": True, "is_positive_definite": True}
        is_symmetric = is_hermitian and base.is_self_adjoint and _is_real(self.u)
        return {"is_self_adjoint": is_symmetric or None}

    @property
    def diag_operator(self) -> LinearOperator:
        """The operator of D."""
        if self.diag_update is None:
            return LinearOperatorIdentity(na.shape(self.u)[-1], dtype=self.dtype)
        return LinearOperatorDiag(
            self.diag_update, is_positive_definite=self.is_diag_update_positive
        )

    def _to_dense(self, like: Array | None) -> Array:
        v = self.u if self.v is None else self.v
        update = na.matmul(self.u, self.diag_operator._matmul(adjoint(v), False))
        return na.add(self.base_operator.dense(like), update)


@dataclass(eq=False)
class LinearOperatorCirculant(LinearOperator):
    """A circulant matrix, by its spectrum H: the operator x ↦ IDFT(H · DFT(x)).

    Args:
        spectrum: the eigenvalues, `(*batch, n)`, or `(*batch, n0, n1)` and `(*batch, n0, n1, n2)`
            in two and three dimensions.
        input_output_dtype: the dtype of operands and results; of a real one, the spectrum has to
            be that of a real matrix.
        hints: see `LinearOperator`.
    """

    spectrum: Any
    input_output_dtype: DTypeLike = dtypes.complex64
    _tensors = ("spectrum",)
    block_depth: ClassVar[int] = 1

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_self_adjoint": _is_real(self.spectrum), "is_square": True}

    @property
    def dtype(self) -> DType:
        """The dtype of operands and results."""
        return dtypes.as_dtype(self.input_output_dtype)

    @property
    def block_shape(self) -> tuple[int, ...]:
        """The sizes of the axes of the spectrum that are no batch."""
        return tuple(na.shape(self.spectrum)[-self.block_depth :])

    def block_shape_tensor(self) -> Array:
        """`block_shape` as an array, int32."""
        return self._integers(list(self.block_shape))

    def convolution_kernel(self, name: str = "convolution_kernel") -> Array:
        """The inverse Fourier transform of the spectrum: the first column of the matrix."""
        return cast(na.ifftn(self._complex(self.spectrum), axes=self._axes()), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> None:
        """Raise an ArgumentError unless the matrix is real, up to rounding."""
        kernel = na.ifftn(self._complex(self.spectrum), axes=self._axes())
        limit = 100 * dtypes.finfo(self.dtype).eps
        title = f"{type(self).__name__}.assert_hermitian_spectrum"
        assert_less(na.abs(na.imag(kernel)), limit, title)

    def _axes(self) -> tuple[int, ...]:
        return tuple(range(-self.block_depth, 0))

    def _complex(self, x: Array) -> Array:
        """Numbers in the complex dtype of the spectrum's precision."""
        is_double = dtypes.dtype_of(self.spectrum) in (dtypes.float64, dtypes.complex128)
        return cast(x, dtypes.complex128 if is_double else dtypes.complex64)

    def _filtered(self, x: Array, factors: Array) -> Array:
        """Columns whose Fourier transforms are multiplied by factors."""
        columns = na.matrix_transpose(self._complex(x))
        blocks = na.reshape(columns, (*na.shape(columns)[:-1], *self.block_shape))
        factors = na.expand_dims(factors, -self.block_depth - 1)
        found = na.ifftn(
            na.multiply(na.fftn(blocks, axes=self._axes()), factors), axes=self._axes()
        )
        rows = na.reshape(found, (*na.shape(found)[: -self.block_depth], -1))
        return cast(na.matrix_transpose(rows), self.dtype)

    def _to_dense(self, like: Array | None) -> Array:
        eye = na.eye(math.prod(self.block_shape), dtype=self.dtype, like=self.spectrum)
        return self._matmul(eye, False)

    def _factors(self, adjoint: bool) -> Array:
        factors = self._complex(self.spectrum)
        return na.conj(factors) if adjoint else factors

    def _matmul(self, x: Array, adjoint: bool) -> Array:
        return self._filtered(x, self._factors(adjoint))

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        return self._filtered(rhs, na.reciprocal(self._factors(adjoint)))

    def _eigvals(self) -> Array:
        batch = na.shape(self.spectrum)[: -self.block_depth]
        return na.reshape(self.spectrum, (*batch, -1))


@dataclass(eq=False)
class LinearOperatorCirculant2D(LinearOperatorCirculant):
    """A block-circulant matrix of circulant blocks, by a spectrum of two axes."""

    block_depth = 2


@dataclass(eq=False)
class LinearOperatorCirculant3D(LinearOperatorCirculant):
    """A nested block-circulant matrix, by a spectrum of three axes."""

    block_depth = 3

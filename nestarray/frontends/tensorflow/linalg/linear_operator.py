"""The base of linear operators, and the operators that its methods return.

An operator is a matrix, or a batch of them, by the arrays that determine it. `LinearOperator` has
all methods; each works on the dense matrix, which a subclass defines in `_to_dense`. A subclass
with a shorter way overrides `_matmul`, `_solve` or `_eigvals`. Hints like ``is_self_adjoint`` are
promises: they choose Cholesky's factorization, and allow `cholesky` and `eigvals`.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg/LinearOperator
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import nestarray as na
from nestarray import dtypes
from nestarray.dtypes import DType
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow.assertions import assert_equal, assert_greater, assert_less
from nestarray.frontends.tensorflow.contraction import matmul
from nestarray.frontends.tensorflow.conversion import is_tensor, tensor, tensors
from nestarray.frontends.tensorflow.data_type import cast
from nestarray.frontends.tensorflow.linalg import factorizations, functions, products, systems
from nestarray.typing import Array

__all__ = [
    "LinearOperator", "LinearOperatorAdjoint", "LinearOperatorComposition",
    "LinearOperatorFullMatrix", "LinearOperatorInversion", "LinearOperatorLowerTriangular",
]  # fmt: skip


def _flat(x: Any) -> Iterator[Any]:
    """The arrays and operators in nested sequences."""
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from _flat(item)
    elif isinstance(x, LinearOperator) or is_tensor(x):
        yield x


@dataclass(eq=False, kw_only=True)
class LinearOperator(ABC):
    """A matrix, or a batch of them, by its structure.

    A subclass is a dataclass of the arrays and operators that determine it, and defines
    ``_to_dense(like)``: the dense matrix, with new arrays beside the array `like`.

    Args:
        is_non_singular: whether every matrix has an inverse; None: unknown.
        is_self_adjoint: whether every matrix is its own conjugate transpose.
        is_positive_definite: whether the real part of xᴴ A x is positive for every x but 0.
        is_square: whether there are as many rows as columns; None: by the shape.
        name: without effect.

    Example:
        >>> import numpy as np
        >>> from nestarray.frontends import tensorflow as tf
        >>> scale = tf.linalg.LinearOperatorDiag(np.asarray([2.0, 4.0]))
        >>> turn = tf.linalg.LinearOperatorFullMatrix(np.asarray([[0.0, -1.0], [1.0, 0.0]]))
        >>> (scale @ turn).matvec(np.asarray([1.0, 2.0]))
        array([-4.,  4.])
        >>> scale.solvevec(np.asarray([1.0, 2.0]))
        array([0.5, 0.5])
    """

    is_non_singular: bool | None = None
    is_self_adjoint: bool | None = None
    is_positive_definite: bool | None = None
    is_square: bool | None = None
    name: str | None = None
    #: The parameters that are arrays of one dtype; None is allowed.
    _tensors: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        """Convert numbers to arrays, and set the hints that follow from others or the structure."""
        given = {n: getattr(self, n) for n in self._tensors if getattr(self, n) is not None}
        vars(self).update(zip(given, tensors(type(self).__name__, *given.values()), strict=True))
        for hint, value in self._implied_hints().items():
            self._imply(hint, value)
        if self.is_positive_definite:
            self._imply("is_non_singular", True)
        if self.is_non_singular or self.is_self_adjoint:
            self._imply("is_square", True)
        if self.is_square is None:
            rows, columns = self.shape[-2:]
            self.is_square = rows == columns

    def _imply(self, hint: str, value: bool | None) -> None:
        given = getattr(self, hint)
        if None not in (given, value) and given is not value:
            raise ArgumentError(
                f"{type(self).__name__}: {hint}: got {given}, expected {value}, as the other "
                "arguments imply"
            )
        setattr(self, hint, value if given is None else given)

    # -- what subclasses define ------------------------------------------------------------------

    def _implied_hints(self) -> dict[str, bool | None]:
        """The hints that follow from the parameters."""
        return {}

    @abstractmethod
    def _to_dense(self, like: Array | None) -> Array:
        """The matrix, as an array of the framework of `like`."""

    def _matmul(self, x: Array, adjoint: bool) -> Array:
        return matmul(self.dense(x), x, adjoint_a=adjoint)

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        if self._has_cholesky():
            return systems.cholesky_solve(factorizations.cholesky(self.dense(rhs)), rhs)
        return systems.solve(self.dense(rhs), rhs, adjoint=adjoint)

    def _eigvals(self) -> Array:
        return factorizations.eigvalsh(self.to_dense())

    # -- shape -----------------------------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def dtype(self) -> DType:
        """The dtype of the matrix."""
        first = next(_flat([*vars(self).values()]))
        return first.dtype if isinstance(first, LinearOperator) else dtypes.dtype_of(first)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dense matrix."""
        return tuple(na.shape(self.to_dense()))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The shape without rows and columns."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int:
        """The number of axes of the dense matrix."""
        return len(self.shape)

    @property
    def range_dimension(self) -> int:
        """The number of rows."""
        return self.shape[-2]

    @property
    def domain_dimension(self) -> int:
        """The number of columns."""
        return self.shape[-1]

    def _integers(self, value: Any) -> Array:
        return na.asarray(value, dtype=dtypes.int32, like=self._first_array())

    def shape_tensor(self, name: str = "shape_tensor") -> Array:
        """`shape` as an array, int32."""
        return self._integers(list(self.shape))

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Array:
        """`batch_shape` as an array, int32."""
        return self._integers(list(self.batch_shape))

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Array:
        """`tensor_rank` as an array, int32."""
        return self._integers(self.tensor_rank)

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Array:
        """`range_dimension` as an array, int32."""
        return self._integers(self.range_dimension)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Array:
        """`domain_dimension` as an array, int32."""
        return self._integers(self.domain_dimension)

    # -- dense matrix ----------------------------------------------------------------------------

    def _first_array(self) -> Array | None:
        """The first array that determines the operator; an identity has none."""
        found = [
            x._first_array() if isinstance(x, LinearOperator) else x
            for x in _flat([*vars(self).values()])
        ]
        return next((x for x in found if x is not None), None)

    def dense(self, like: Array | None = None) -> Array:
        """The dense matrix; of an operator without arrays beside `like`."""
        own = self._first_array()
        return self._to_dense(like if own is None else own)

    def to_dense(self, name: str = "to_dense") -> Array:
        """The dense matrix; of an operator without arrays on the default backend."""
        return self.dense()

    def diag_part(self, name: str = "diag_part") -> Array:
        """The diagonal."""
        return na.diagonal(self.to_dense())

    def trace(self, name: str = "trace") -> Array:
        """The sum of the diagonal."""
        return products.trace(self.to_dense())

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Array:
        """The dense matrix plus `x`."""
        x = self._operand("add_to_tensor", x)
        return na.add(self.dense(x), x)

    def _operand(self, method: str, x: Any) -> Array:
        return tensor(x, self.dtype, self._first_array(), f"{type(self).__name__}.{method}")

    # -- products and systems --------------------------------------------------------------------

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product with matrices, or with an operator: then an operator."""
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            return LinearOperatorComposition([left, x.adjoint() if adjoint_arg else x])
        x = self._operand("matmul", x)
        return self._matmul(products.adjoint(x) if adjoint_arg else x, adjoint)

    def __matmul__(self, other: Any) -> Any:
        """`matmul`."""
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product with vectors."""
        x = na.expand_dims(self._operand("matvec", x), -1)
        return na.squeeze(self._matmul(x, adjoint), axis=-1)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The solution y of A · y = rhs, of matrices, or of an operator: then an operator."""
        self._require_square("solve")
        if isinstance(rhs, LinearOperator):
            left = LinearOperatorInversion(self.adjoint() if adjoint else self)
            return LinearOperatorComposition([left, rhs.adjoint() if adjoint_arg else rhs])
        rhs = self._operand("solve", rhs)
        return self._solve(products.adjoint(rhs) if adjoint_arg else rhs, adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The solution y of A · y = rhs, of vectors."""
        self._require_square("solvevec")
        rhs = na.expand_dims(self._operand("solvevec", rhs), -1)
        return na.squeeze(self._solve(rhs, adjoint), axis=-1)

    def _require_square(self, method: str, is_inverted: bool = True) -> None:
        title = f"{type(self).__name__}.{method}"
        if not self.is_square:
            raise ArgumentError(f"{title}: got a matrix {self.shape}, expected a square one")
        if is_inverted and self.is_non_singular is False:
            raise ArgumentError(f"{title}: got is_non_singular=False, expected a regular matrix")

    # -- operators -------------------------------------------------------------------------------

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The conjugate transpose."""
        return self if self.is_self_adjoint else LinearOperatorAdjoint(self)

    @property
    def H(self) -> LinearOperator:
        """The conjugate transpose."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The inverse."""
        self._require_square("inverse")
        return LinearOperatorInversion(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular factor; needs the hints that the matrix has one."""
        if not self._has_cholesky():
            raise ArgumentError(
                f"{type(self).__name__}.cholesky: expected is_self_adjoint=True and "
                f"is_positive_definite=True, got {self.is_self_adjoint} and "
                f"{self.is_positive_definite}"
            )
        factor = factorizations.cholesky(self.to_dense())
        return LinearOperatorLowerTriangular(factor, is_non_singular=True)

    def _has_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    # -- determinants and eigenvalues ------------------------------------------------------------

    def determinant(self, name: str = "det") -> Array:
        """The determinant."""
        self._require_square("determinant", is_inverted=False)
        if self._has_cholesky():
            return na.exp(self.log_abs_determinant())
        return functions.det(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Array:
        """The logarithm of the size of the determinant."""
        self._require_square("log_abs_determinant", is_inverted=False)
        if self._has_cholesky():
            return cast(functions.logdet(self.to_dense()), self.dtype)
        return functions.slogdet(self.to_dense()).log_abs_determinant

    def eigvals(self, name: str = "eigvals") -> Array:
        """The eigenvalues; needs the hint that the matrix is self-adjoint."""
        if not self.is_self_adjoint:
            raise ArgumentError(
                f"{type(self).__name__}.eigvals: got is_self_adjoint={self.is_self_adjoint}, "
                "expected True; use tf.linalg.eigvals(operator.to_dense())"
            )
        return self._eigvals()

    def cond(self, name: str = "cond") -> Array:
        """The largest singular value divided by the smallest."""
        sizes = na.abs(self._eigvals()) if self.is_self_adjoint else na.svdvals(self.to_dense())
        return na.divide(na.max(sizes, axis=-1), na.min(sizes, axis=-1))

    # -- checks of values ------------------------------------------------------------------------

    def assert_non_singular(self, name: str = "assert_non_singular") -> None:
        """Raise an ArgumentError if a matrix has no inverse, up to rounding."""
        limit = 1 / (dtypes.finfo(self.dtype).eps * max(100, *self.shape[-2:]))
        assert_less(self.cond(), limit, f"{type(self).__name__}.assert_non_singular")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> None:
        """Raise an ArgumentError unless the real part of xᴴ A x is positive for every x but 0."""
        dense = self.to_dense()
        values = na.eigvalsh(na.add(dense, products.adjoint(dense)))
        assert_greater(values, 0.0, f"{type(self).__name__}.assert_positive_definite")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> None:
        """Raise an ArgumentError unless every matrix is its conjugate transpose."""
        dense, title = self.to_dense(), f"{type(self).__name__}.assert_self_adjoint"
        assert_equal(dense, products.adjoint(dense), title)


@dataclass(eq=False)
class LinearOperatorFullMatrix(LinearOperator):
    """The operator of a dense matrix, `(*batch, m, n)`."""

    matrix: Any
    _tensors = ("matrix",)

    def _to_dense(self, like: Array | None) -> Array:
        return self.matrix


@dataclass(eq=False)
class LinearOperatorLowerTriangular(LinearOperator):
    """The operator of the lower triangle of a matrix, `(*batch, n, n)`."""

    tril: Any
    _tensors = ("tril",)

    def _implied_hints(self) -> dict[str, bool | None]:
        return {"is_square": True}

    def _to_dense(self, like: Array | None) -> Array:
        return na.tril(self.tril)

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        return systems.triangular_solve(self.tril, rhs, adjoint=adjoint)

    def _eigvals(self) -> Array:
        return na.diagonal(self.tril)


@dataclass(eq=False)
class LinearOperatorAdjoint(LinearOperator):
    """The conjugate transpose of an operator."""

    operator: LinearOperator

    def _implied_hints(self) -> dict[str, bool | None]:
        return shared_hints([self.operator])

    def _to_dense(self, like: Array | None) -> Array:
        return products.adjoint(self.operator.dense(like))

    def _matmul(self, x: Array, adjoint: bool) -> Array:
        return self.operator._matmul(x, not adjoint)

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        return self.operator._solve(rhs, not adjoint)

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator."""
        return self.operator


@dataclass(eq=False)
class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator."""

    operator: LinearOperator

    def __post_init__(self) -> None:
        """An operator that may have an inverse."""
        self.operator._require_square("inverse")
        super().__post_init__()

    def _implied_hints(self) -> dict[str, bool | None]:
        return shared_hints([self.operator])

    def _to_dense(self, like: Array | None) -> Array:
        dense = self.operator.dense(like)
        eye = na.eye(na.shape(dense)[-1], dtype=self.dtype, like=dense)
        return self.operator._solve(na.broadcast_to(eye, na.shape(dense)), False)

    def _matmul(self, x: Array, adjoint: bool) -> Array:
        return self.operator._solve(x, adjoint)

    def _solve(self, rhs: Array, adjoint: bool) -> Array:
        return self.operator._matmul(rhs, adjoint)

    def _eigvals(self) -> Array:
        return na.reciprocal(self.operator._eigvals())

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator."""
        return self.operator

    def determinant(self, name: str = "det") -> Array:
        """The reciprocal of the operator's."""
        return na.reciprocal(self.operator.determinant())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Array:
        """The negative of the operator's."""
        return na.negative(self.operator.log_abs_determinant())

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> None:
        """The check of the operator, whose inverse has rounding."""
        self.operator.assert_self_adjoint()


@dataclass(eq=False)
class LinearOperatorComposition(LinearOperator):
    """The product of operators, the first one leftmost."""

    operators: Sequence[LinearOperator]

    def _implied_hints(self) -> dict[str, bool | None]:
        hints = shared_hints(self.operators, "is_non_singular", "is_square")
        first, last = self.operators[0], self.operators[-1]
        if len(self.operators) == 2 and is_adjoint_pair(first, last):
            hints |= {"is_self_adjoint": True, "is_square": True}
            hints["is_positive_definite"] = hints["is_non_singular"] or self.is_non_singular
        return hints

    def _to_dense(self, like: Array | None) -> Array:
        return functools.reduce(na.matmul, [x.dense(like) for x in self.operators])

    def _matmul(self, x: Array, adjoint: bool) -> Array:
        order = self.operators if adjoint else reversed(self.operators)
        return functools.reduce(lambda y, operator: operator._matmul(y, adjoint), order, x)


def is_adjoint_pair(x: LinearOperator, y: LinearOperator) -> bool:
    """Whether one operator is known to be the conjugate transpose of the other."""
    if x is y:
        return bool(x.is_self_adjoint)
    pairs = ((x, y), (y, x))
    return any(isinstance(p, LinearOperatorAdjoint) and p.operator is q for p, q in pairs)


def shared_hints(operators: Sequence[LinearOperator], *hints: str) -> dict[str, bool | None]:
    """The hints that hold for all of several operators, and so for a product or a block matrix."""
    names = hints or ("is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square")
    return {n: all(getattr(x, n) for x in operators) or None for n in names}

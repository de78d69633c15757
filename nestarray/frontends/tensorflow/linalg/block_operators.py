"""Linear operators of matrices that consist of the matrices of other operators.

Upstream: https://www.tensorflow.org/api_docs/python/tf/linalg/LinearOperatorBlockDiag
"""

from __future__ import annotations

import functools
import itertools
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import nestarray as na
from nestarray.frontends.tensorflow.conversion import is_tensor
from nestarray.frontends.tensorflow.linalg.linear_operator import LinearOperator, shared_hints
from nestarray.typing import Array

__all__ = [
    "LinearOperatorBlockDiag", "LinearOperatorBlockLowerTriangular", "LinearOperatorKronecker",
]  # fmt: skip


class _Blocks(LinearOperator):
    """A matrix of blocks; operands may be lists of arrays, one for each block, and results are then."""

    @abstractmethod
    def _grid(self) -> list[tuple[int, int, LinearOperator]]:
        """The blocks that are not zero, with their row and column."""

    def _sizes(self) -> tuple[list[int], list[int]]:
        """The rows and the columns of the blocks on the diagonal."""
        shapes = [x.shape for i, j, x in self._grid() if i == j]
        return [s[-2] for s in shapes], [s[-1] for s in shapes]

    def _to_dense(self, like: Array | None) -> Array:
        rows, columns = [[0, *itertools.accumulate(sizes)] for sizes in self._sizes()]
        parts = []
        for i, j, operator in self._grid():
            x = operator.dense(like)
            lead = [(0, 0)] * (len(na.shape(x)) - 2)
            below, right = rows[-1] - rows[i + 1], columns[-1] - columns[j + 1]
            parts.append(na.pad(x, [*lead, (rows[i], below), (columns[j], right)]))
        return functools.reduce(na.add, parts)

    def _eigvals(self) -> Array:
        values = [x.eigvals() for i, j, x in self._grid() if i == j]
        batch = na.broadcast_shapes(*[na.shape(x)[:-1] for x in values])
        return na.concat([na.broadcast_to(x, (*batch, na.shape(x)[-1])) for x in values], axis=-1)

    def _by_blocks(
        self, method: Callable[[Any], Any], x: Any, axes: tuple[int, int], of_columns: bool
    ) -> Any:
        """The result of a method; in blocks if the operand is.

        Args:
            method: takes an operand in one piece.
            x: an operand, or a sequence of its blocks.
            axes: the axes of the blocks of the operand, and of the result.
            of_columns: whether the blocks of the result are those of the columns.
        """
        if not isinstance(x, (list, tuple)) or not all(map(is_tensor, x)):
            return method(x)
        found = method(na.concat(list(x), axis=axes[0]))
        return list(na.split(found, self._sizes()[of_columns], axis=axes[1]))

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product with matrices, with lists of blocks of rows, or with an operator."""
        method = functools.partial(super().matmul, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return self._by_blocks(method, x, (-1 if adjoint_arg else -2, -2), adjoint)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product with vectors, or with lists of their blocks."""
        method = functools.partial(super().matvec, adjoint=adjoint)
        return self._by_blocks(method, x, (-1, -1), adjoint)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The solution y of A · y = rhs, of matrices, of lists of blocks of rows, or of an operator."""
        method = functools.partial(super().solve, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return self._by_blocks(method, rhs, (-1 if adjoint_arg else -2, -2), not adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The solution y of A · y = rhs, of vectors, or of lists of their blocks."""
        method = functools.partial(super().solvevec, adjoint=adjoint)
        return self._by_blocks(method, rhs, (-1, -1), not adjoint)


@dataclass(eq=False)
class LinearOperatorBlockDiag(_Blocks):
    """The operator of a matrix with the matrices of others along its diagonal.

    Args:
        operators: the blocks.
        hints: see `LinearOperator`.
    """

    operators: Sequence[LinearOperator]

    def _implied_hints(self) -> dict[str, bool | None]:
        return shared_hints(self.operators)

    def _grid(self) -> list[tuple[int, int, LinearOperator]]:
        return [(i, i, x) for i, x in enumerate(self.operators)]


@dataclass(eq=False)
class LinearOperatorBlockLowerTriangular(_Blocks):
    """The operator of a block matrix with zeros above its diagonal.

    Args:
        operators: the blocks of each row, up to the diagonal, which has square ones.
        hints: see `LinearOperator`.
    """

    operators: Sequence[Sequence[LinearOperator]]

    def _implied_hints(self) -> dict[str, bool | None]:
        diagonal = [row[-1] for row in self.operators]
        return shared_hints(diagonal, "is_non_singular", "is_square")

    def _grid(self) -> list[tuple[int, int, LinearOperator]]:
        return [(i, j, x) for i, row in enumerate(self.operators) for j, x in enumerate(row)]


@dataclass(eq=False)
class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators.

    Args:
        operators: the factors.
        hints: see `LinearOperator`.
    """

    operators: Sequence[LinearOperator]

    def _implied_hints(self) -> dict[str, bool | None]:
        return shared_hints(self.operators)

    def _to_dense(self, like: Array | None) -> Array:
        return functools.reduce(_kronecker, [x.dense(like) for x in self.operators])

    def _eigvals(self) -> Array:
        columns = [na.expand_dims(x.eigvals(), -1) for x in self.operators]
        return na.squeeze(functools.reduce(_kronecker, columns), axis=-1)


def _kronecker(x: Array, y: Array) -> Array:
    """The Kronecker products of matrices."""
    (m, n), (p, q) = na.shape(x)[-2:], na.shape(y)[-2:]
    left = na.getitem(x, (..., slice(None), None, slice(None), None))
    found = na.multiply(left, na.getitem(y, (..., None, slice(None), None, slice(None))))
    return na.reshape(found, (*na.shape(found)[:-4], m * p, n * q))

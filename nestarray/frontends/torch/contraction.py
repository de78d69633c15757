"""Products of vectors and matrices.

Upstream: https://docs.pytorch.org/docs/stable/torch.html#blas-and-lapack-operations, one page
a function: https://docs.pytorch.org/docs/stable/generated/torch.matmul.html
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ShapeError
from nestarray.frontends.torch.dims import broadcast_shape, ndim_of, shape_of, wrap
from nestarray.frontends.torch.pointwise import add, conj, mul
from nestarray.frontends.torch.promotion import cast, promote
from nestarray.frontends.torch.shaping import atleast_2d, cat
from nestarray.typing import Array

__all__ = [
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "block_diag", "bmm", "cdist", "chain_matmul",
    "cross", "dot", "einsum", "ger", "inner", "kron", "matmul", "mm", "mv", "outer", "tensordot",
    "vdot",
]  # fmt: skip


def matmul(input: Array, other: Array) -> Array:
    """The matrix product over the last two dimensions; the others broadcast."""
    return na.matmul(input, other)


def mm(input: Array, mat2: Array) -> Array:
    """The product of two matrices."""
    _expect("mm", input, 2)
    return na.matmul(input, mat2)


def bmm(input: Array, mat2: Array) -> Array:
    """The products of two batches of matrices."""
    _expect("bmm", input, 3)
    return na.matmul(input, mat2)


def mv(input: Array, vec: Array) -> Array:
    """The product of a matrix and a vector."""
    _expect("mv", input, 2)
    return na.matmul(input, vec)


def dot(input: Array, tensor: Array) -> Array:
    """Σ xᵢ yᵢ of two vectors."""
    _expect("dot", input, 1)
    return na.matmul(input, tensor)


def vdot(input: Array, other: Array) -> Array:
    """`dot`, the first vector conjugated."""
    return na.matmul(conj(input), other)


def inner(input: Array, other: Array) -> Array:
    """The sums over the last dimension of both."""
    if ndim_of(input) == 0 or ndim_of(other) == 0:
        return mul(input, other)
    return na.tensordot(input, other, axes=((-1,), (-1,)))


def outer(input: Array, vec2: Array) -> Array:
    """xᵢ yⱼ of two vectors."""
    return mul(na.expand_dims(input, axis=1), na.expand_dims(vec2, axis=0))


def addmm(input: Array, mat1: Array, mat2: Array, *, beta: float = 1, alpha: float = 1) -> Array:
    """β · input + α · mat1 @ mat2."""
    return _added(input, na.matmul(mat1, mat2), beta, alpha)


def addmv(input: Array, mat: Array, vec: Array, *, beta: float = 1, alpha: float = 1) -> Array:
    """β · input + α · mat @ vec."""
    return _added(input, na.matmul(mat, vec), beta, alpha)


def addr(input: Array, vec1: Array, vec2: Array, *, beta: float = 1, alpha: float = 1) -> Array:
    """β · input + α · vec1 ⊗ vec2."""
    return _added(input, outer(vec1, vec2), beta, alpha)


def baddbmm(
    input: Array, batch1: Array, batch2: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """β · input + α · batch1 @ batch2."""
    return _added(input, na.matmul(batch1, batch2), beta, alpha)


def addbmm(
    input: Array, batch1: Array, batch2: Array, *, beta: float = 1, alpha: float = 1
) -> Array:
    """β · input + α · Σ over the batch of batch1 @ batch2."""
    total = na.sum(na.matmul(batch1, batch2), axis=0, dtype=dtypes.dtype_of(batch1))
    return _added(input, total, beta, alpha)


def _added(input: Array, product: Array, beta: float, alpha: float) -> Array:
    """β · input + α · product; ``beta=0`` ignores the input, even NaN."""
    dtype = dtypes.dtype_of(product)
    if not dtype.is_inexact:  # upstream casts the factors
        kind = bool if dtype is dtypes.bool else int
        beta, alpha = kind(beta), kind(alpha)
    product = product if alpha == 1 else mul(product, alpha)
    if beta == 0:
        shape = broadcast_shape(shape_of(product), shape_of(input))
        return na.broadcast_to(product, shape)
    return add(product, input if beta == 1 else mul(input, beta))


def tensordot(a: Array, b: Array, dims: Any = 2) -> Array:
    """Sums over pairs of dimensions: the last and first `dims`, or lists of them."""
    if isinstance(dims, int):
        return na.tensordot(a, b, axes=dims)
    first, second = dims
    axes = (
        tuple(wrap("tensordot", d, ndim_of(a)) for d in first),
        tuple(wrap("tensordot", d, ndim_of(b)) for d in second),
    )
    for i, j in zip(*axes):  # size 1 broadcasts
        if shape_of(a)[i] == 1 != shape_of(b)[j]:
            b = na.sum(b, axis=j, keepdims=True, dtype=dtypes.dtype_of(b))
        elif shape_of(b)[j] == 1 != shape_of(a)[i]:
            a = na.sum(a, axis=i, keepdims=True, dtype=dtypes.dtype_of(a))
    return na.tensordot(a, b, axes=axes)


def einsum(equation: str, *operands: Any) -> Array:
    """The Einstein sum of `equation`."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    equation = _without_lost_ellipsis(equation.replace(" ", ""), operands)
    if not any(dtypes.dtype_of(x).is_inexact for x in operands):
        equation, operands = _summed_alone(equation, operands)
    return na.einsum(equation, *operands)


def _summed_alone(equation: str, operands: Sequence[Array]) -> tuple[str, tuple[Array, ...]]:
    """Sum integer operands over subscripts that occur in one operand only: sums are int64, products are not."""
    inputs, arrow, output = equation.partition("->")
    terms, summed = inputs.split(","), []
    letters = inputs.replace(".", "").replace(",", "")
    if not arrow:
        output = "".join(x for x in letters if letters.count(x) == 1)
    for i, (term, x) in enumerate(zip(terms, operands)):
        elsewhere = output + "".join(terms[:i] + terms[i + 1 :])
        kept = "".join(dict.fromkeys(c for c in term if c in elsewhere or c == "."))
        kept = kept.replace(".", "...")
        if any(c not in elsewhere for c in term if c != "."):
            x = na.einsum(f"{term}->{kept}", na.astype(x, dtypes.int64))
            terms[i] = kept
        summed.append(x)
    if not arrow and "..." in inputs:
        output = f"...{output}"
    common = dtypes.result_dtype(*summed)
    return f"{','.join(terms)}->{output}", tuple(cast(x, common) for x in summed)


def _without_lost_ellipsis(equation: str, operands: Sequence[Array]) -> str:
    """`equation` with letters for dots that the output lacks: torch sums over these."""
    inputs, arrow, output = equation.partition("->")
    if not arrow or "..." not in inputs or "..." in output:
        return equation
    free = [letter for letter in string.ascii_letters if letter not in equation]
    terms = []
    for term, operand in zip(inputs.split(","), operands):
        count = ndim_of(operand) - len(term.replace("...", ""))
        # Dots broadcast from the right.
        terms.append(term.replace("...", "".join(reversed(free[:count]))))
    return f"{','.join(terms)}->{output}"


def kron(input: Array, other: Array) -> Array:
    """The Kronecker product."""
    ndim = max(ndim_of(input), ndim_of(other))
    first = (1,) * (ndim - ndim_of(input)) + shape_of(input)
    second = (1,) * (ndim - ndim_of(other)) + shape_of(other)
    x = na.reshape(input, tuple(n for size in first for n in (size, 1)))
    y = na.reshape(other, tuple(n for size in second for n in (1, size)))
    return na.reshape(mul(x, y), tuple(m * n for m, n in zip(first, second)))


def chain_matmul(*matrices: Array) -> Array:
    """The product of several matrices."""
    product = matrices[0]
    for matrix in matrices[1:]:
        product = mm(product, matrix)
    return product


def cross(input: Array, other: Array, dim: int | None = None) -> Array:
    """The vector product along a dimension of size 3, the first one if `dim` is None."""
    x, y = promote(input, other)
    if dim is None:
        dim = next((i for i, n in enumerate(shape_of(x)) if n == 3), -1)
    return vector_product(x, y, dim)


def vector_product(input: Array, other: Array, dim: int) -> Array:
    """Return the vector product along a dimension of size 3."""
    if ndim_of(input) != ndim_of(other):
        raise ShapeError(
            f"cross: got {ndim_of(input)} and {ndim_of(other)} dimensions, expected equally many"
        )
    for x in (input, other):
        if shape_of(x)[wrap("cross", dim, ndim_of(x))] != 3:
            raise ShapeError(f"cross: got the shape {shape_of(x)}, expected 3 along dim {dim}")
    x, y = promote(input, other)
    x, y = na.broadcast_arrays(x, y)
    axis = wrap("cross", dim, ndim_of(x))
    a, b = na.unstack(x, axis=axis), na.unstack(y, axis=axis)

    def component(i: int, j: int) -> Array:
        return na.subtract(na.multiply(a[i], b[j]), na.multiply(a[j], b[i]))

    return na.stack([component(1, 2), component(2, 0), component(0, 1)], axis=axis)


def cdist(x1: Array, x2: Array, p: float = 2.0, compute_mode: str | None = None) -> Array:
    """The p-norm distance between all pairs of rows."""
    return na.cdist(x1, x2, p=float(p))


def _expect(name: str, x: Array, ndim: int) -> None:
    if ndim_of(x) != ndim:
        raise ShapeError(f"{name}: input: got {ndim_of(x)} dimensions, expected {ndim}")


def block_diag(*tensors: Array) -> Array:
    """The matrices along a diagonal, zeros elsewhere."""
    blocks: Sequence[Array] = [atleast_2d(x) for x in tensors]
    width = sum(shape_of(b)[1] for b in blocks)
    rows, left = [], 0
    for block in blocks:
        columns = shape_of(block)[1]
        rows.append(na.pad(block, [(0, 0), (left, width - left - columns)]))
        left += columns
    return cat(rows, 0)


ger = outer

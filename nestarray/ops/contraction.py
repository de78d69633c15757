"""Tensor contractions: matrix products and Einstein sums."""

from __future__ import annotations

from collections.abc import Sequence

from nestarray import ops
from nestarray.backends.checks.shapes import check_linear
from nestarray.backends.truth import through_numbers
from nestarray.dispatch import Trait, op, primitive
from nestarray.dtypes import dtype_of
from nestarray.errors import ShapeError
from nestarray.typing import Array

__all__ = ["einsum", "linear", "matmul", "tensordot", "vecdot"]
TRAITS = Trait.PRODUCT


@primitive(traits=Trait.PRODUCT | Trait.MULTILINEAR)
@through_numbers
def matmul(x1: Array, x2: Array, /) -> Array:
    """The matrix product over the last two axes; other axes broadcast, 1-d operands are vectors.

    Args:
        x1: `(*batch, m, k)` or `(k,)`, any number.
        x2: `(*batch, k, n)` or `(k,)`; the dtypes promote.

    Returns:
        `(*batch, m, n)`, without the axis of a 1-d operand.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.matmul(np.asarray([[1.0, 2.0]]), np.asarray([[3.0], [4.0]]))
        array([[11.]])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.matmul.html
    """


@op(traits=Trait.PRODUCT | Trait.ROWWISE)
@through_numbers
def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    """The affine map x Wᵀ + b.

    Args:
        x: `(*batch, in)`, floating; the dtypes promote.
        weight: `(out, in)`, or `(in,)` for one output without an axis.
        bias: `(out,)`, or None.

    Returns:
        `(*batch, out)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.linear(np.ones((1, 2)), np.asarray([[1.0, 2.0]]), np.asarray([0.5]))
        array([[3.5]])
    """
    given, rank = weight, len(weight.shape)
    if rank not in (1, 2):
        check_linear("linear", {"x": x, "weight": weight})
    if rank == 2:
        weight = ops.permute_dims(weight, (1, 0))
    product = matmul(x, weight)
    if bias is None:
        return product
    result = ops.add(product, bias)
    # the bias is not one number per output
    if tuple(result.shape) != tuple(product.shape) or len(bias.shape) != rank - 1:
        check_linear("linear", {"x": x, "weight": given, "bias": bias})
    return result


@primitive(traits=Trait.PRODUCT | Trait.MULTILINEAR)
@through_numbers
def tensordot(
    x1: Array, x2: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Array:
    """The contraction over pairs of axes, one of each array.

    Args:
        x1: any number.
        x2: any number; the dtypes promote.
        axes: the number of axes to pair, the last of `x1` with the first of `x2` in order;
            or the axes of `x1` and the axes of `x2`, as two sequences.

    Returns:
        array with the other axes of `x1`, then the other axes of `x2`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.tensordot(np.ones((2, 3)), np.ones((3, 4)), axes=1).shape
        (2, 4)

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.tensordot.html
    """


@op
@through_numbers
def vecdot(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The dot product along an axis, Σᵢ conj(x1ᵢ) x2ᵢ; other axes broadcast.

    Args:
        x1: any number; of complex numbers the conjugate is taken.
        x2: any number, of equal length along the axis; the dtypes promote.
        axis: the axis of the vectors in both arrays; negative, so that broadcasting does not
            change its meaning.

    Returns:
        array of the broadcast shape without `axis`.

    Raises:
        ShapeError: the vectors are not equally long.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.vecdot(np.asarray([[1.0, 2.0], [3.0, 4.0]]), np.asarray([1.0, 1.0]))
        array([3., 7.])

    References:
        https://data-apis.org/array-api/2025.12/API_specification/generated/array_api.vecdot.html
    """
    if x1.shape[axis] != x2.shape[axis]:
        raise ShapeError(
            f"vecdot: got vectors of {x1.shape[axis]} and of {x2.shape[axis]} elements along "
            f"axis {axis}, expected equal lengths"
        )
    if dtype_of(x1).kind == "complex":
        x1 = ops.conj(x1)
    x1, x2 = ops.moveaxis(x1, axis, -1), ops.moveaxis(x2, axis, -1)
    # A vector product accumulates in the dtype of the factors, like `matmul`.
    return ops.squeeze(ops.matmul(ops.expand_dims(x1, -2), ops.expand_dims(x2, -1)), (-2, -1))


@primitive(traits=Trait.PRODUCT | Trait.MULTILINEAR)
@through_numbers
def einsum(subscripts: str, /, *operands: Array) -> Array:
    """The Einstein sum described by `subscripts`.

    Three or more operands are multiplied two at a time, in an order with few multiplications:
    NumPy has its own search, the other frameworks use opt_einsum, PyTorch where it is installed.

    Args:
        subscripts: a letter for each axis of each operand, operands parted by commas;
            after ``->`` the letters of the result. Letters that are not in the result are
            summed over; ``...`` matches axes that broadcast.
        operands: one array for each operand in `subscripts`; the dtypes promote.

    Returns:
        array with an axis for each letter of the result, of the promoted dtype.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.einsum("bij,bjk->bik", np.ones((2, 3, 4)), np.ones((2, 4, 5))).shape
        (2, 3, 5)
        >>> float(na.einsum("ii", np.eye(3)))
        3.0
    """

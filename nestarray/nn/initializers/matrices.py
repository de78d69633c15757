"""Initial weights with a structure: orthogonal, identity, sparse.

A weight `(out, in, *window)` is the matrix `(out, in · window)`.
"""

from __future__ import annotations

import math
from functools import partial

from nestarray import ops, random
from nestarray.errors import ArgumentError, ShapeError
from nestarray.nn.initializers.distributions import Initializer
from nestarray.typing import Array, DTypeLike, Shape


def orthogonal(gain: float = 1.0) -> Initializer:
    """The initializer of matrices with orthonormal rows, or columns if there are more rows, times `gain`.

    Square matrices are uniform among the orthogonal ones (Haar).

    Raises:
        ShapeError: when called, if the weight has fewer than two axes.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x = na.nn.initializers.orthogonal()(na.random.key(0), (2, 3))
        >>> np.allclose(x @ x.T, np.eye(2), atol=1e-6)
        True

    References:
        Saxe, McClelland and Ganguli, Exact solutions to the nonlinear dynamics of learning in deep
        linear neural networks. https://arxiv.org/abs/1312.6120
    """
    return partial(_orthogonal, gain)


def _orthogonal(gain: float, key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    _check_axes("orthogonal", shape, least=2)
    rows, columns = shape[0], math.prod(shape[1:])
    matrix = random.orthogonal(key, rows, m=columns)
    return ops.astype(ops.reshape(gain * matrix, tuple(shape)), dtype)


def delta_orthogonal(gain: float = 1.0) -> Initializer:
    """The initializer of convolutions that are an orthogonal map of the channels: 0 but in the centre.

    Raises:
        ShapeError: when called, if the weight is not `(out, in, *window)` with out ≥ in.

    Example:
        >>> import nestarray as na
        >>> x = na.nn.initializers.delta_orthogonal()(na.random.key(0), (1, 1, 3))
        >>> abs(x).round(4)
        array([[[0., 1., 0.]]], dtype=float32)

    References:
        Xiao et al., Dynamical isometry and a mean field theory of CNNs.
        https://arxiv.org/abs/1806.05393
    """
    return partial(_delta_orthogonal, gain)


def _delta_orthogonal(gain: float, key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    _check_axes("delta_orthogonal", shape, least=3)
    if shape[0] < shape[1]:
        raise ShapeError(
            f"delta_orthogonal: got the shape {tuple(shape)}, expected at least as many output "
            "channels as input channels"
        )
    return _at_centre(_orthogonal(gain, key, shape[:2], dtype), shape)


def identity(gain: float = 1.0) -> Initializer:
    """The initializer of the identity matrix times `gain`.

    Raises:
        ShapeError: when called, if the weight has not two axes.

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.identity()(na.random.key(0), (2, 3))
        array([[1., 0., 0.],
               [0., 1., 0.]], dtype=float32)

    References:
        https://docs.pytorch.org/docs/stable/nn.init.html#torch.nn.init.eye_
    """
    return partial(_identity, gain)


def _identity(gain: float, key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    _check_axes("identity", shape, least=2, most=2)
    return ops.eye(*shape, dtype=dtype, like=key) * gain


def dirac(groups: int = 1) -> Initializer:
    """The initializer of convolutions that keep as many channels as possible, in each group.

    Raises:
        ShapeError: when called, if the weight is not `(out, in, *window)`, or `groups` does not divide
            out.

    Example:
        >>> import nestarray as na
        >>> na.nn.initializers.dirac()(na.random.key(0), (2, 1, 3))
        array([[[0., 1., 0.]],
        <BLANKLINE>
               [[0., 0., 0.]]], dtype=float32)

    References:
        https://docs.pytorch.org/docs/stable/nn.init.html#torch.nn.init.dirac_
    """
    return partial(_dirac, groups)


def _dirac(groups: int, key: Array, shape: Shape, dtype: DTypeLike = "float32") -> Array:
    _check_axes("dirac", shape, least=3)
    if groups < 1 or shape[0] % groups:
        raise ShapeError(
            f"dirac: got the shape {tuple(shape)}, expected a number of output channels that "
            f"groups={groups} divides"
        )
    group = ops.eye(shape[0] // groups, shape[1], dtype=dtype, like=key)
    return _at_centre(ops.tile(group, (groups, 1)), shape)


def sparse(sparsity: float, std: float = 0.01) -> Initializer:
    """The initializer of normal numbers with the same number of zeros in each column.

    Args:
        sparsity: the share of zeros in a column, rounded up to a whole number of them.
        std: the standard deviation of the others.

    Raises:
        ArgumentError: `sparsity` is not between 0 and 1.
        ShapeError: when called, if the weight has not two axes.

    Example:
        >>> import nestarray as na
        >>> x = na.nn.initializers.sparse(0.5)(na.random.key(0), (4, 3))
        >>> (x == 0).sum(axis=0)
        array([2, 2, 2])

    References:
        Martens, Deep learning via Hessian-free optimization. ICML 2010.
        https://docs.pytorch.org/docs/stable/nn.init.html#torch.nn.init.sparse_
    """
    if not 0 <= sparsity <= 1:
        raise ArgumentError(f"sparse: sparsity: got {sparsity!r}, expected a share from 0 to 1")
    return partial(_sparse, sparsity, std)


def _sparse(
    sparsity: float, std: float, key: Array, shape: Shape, dtype: DTypeLike = "float32"
) -> Array:
    _check_axes("sparse", shape, least=2, most=2)
    values = random.normal(random.fold_in(key, "values"), tuple(shape), dtype) * std
    order = ops.argsort(random.uniform(random.fold_in(key, "zeros"), tuple(shape)), axis=0)
    rank = ops.argsort(order, axis=0)
    return ops.where(ops.less(rank, math.ceil(sparsity * shape[0])), 0.0, values)


def _at_centre(matrix: Array, shape: Shape) -> Array:
    """A weight that is `matrix` at the centre of the window, and 0 elsewhere."""
    widths = [(size // 2, size - size // 2 - 1) for size in shape[2:]]
    centre = ops.reshape(matrix, (*shape[:2], *(1 for _ in widths)))
    return ops.pad(centre, [(0, 0), (0, 0), *widths])


def _check_axes(name: str, shape: Shape, least: int, most: int | None = None) -> None:
    if len(shape) < least or (most is not None and len(shape) > most):
        expected = "(out, in)" if most == 2 else "(out, in, *window)"
        raise ShapeError(f"{name}: got the shape {tuple(shape)}, expected {expected}")

"""Embeddings, https://docs.pytorch.org/docs/stable/nn.functional.html#sparse-functions."""

from __future__ import annotations

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.torch.dims import shape_of
from nestarray.frontends.torch.linalg import vector_norm
from nestarray.frontends.torch.promotion import cast
from nestarray.typing import Array


def embedding(
    input: Array,
    weight: Array,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Array:
    """The rows of `weight` at the indices `input`; no gradient reaches the row `padding_idx`.

    Rows longer than `max_norm` are shortened; `weight` itself, which upstream overwrites, stays.
    """
    if padding_idx is not None and padding_idx >= 0:
        padding = na.equal(na.arange(shape_of(weight)[0], like=weight), padding_idx)
        weight = na.where(na.expand_dims(padding, axis=-1), na.stop_gradient(weight), weight)
    rows = na.embedding(input, weight)
    if max_norm is None:
        return rows
    length = na.stop_gradient(vector_norm(rows, norm_type, -1, keepdim=True))
    shorter = na.divide(max_norm, na.add(length, 1e-7))
    return na.multiply(rows, na.where(na.greater(length, max_norm), shorter, na.ones_like(shorter)))


def one_hot(tensor: Array, num_classes: int = -1) -> Array:
    """1 at the index, 0 elsewhere, in a new last dimension; −1 reads the largest index."""
    if num_classes == -1:
        num_classes = int(na.max(tensor)) + 1
    classes = na.arange(num_classes, dtype=dtypes.dtype_of(tensor), like=tensor)
    return cast(na.equal(na.expand_dims(tensor, axis=-1), classes), dtypes.int64)

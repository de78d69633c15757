"""Tables of vectors, and images as sequences of patches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from nestarray import dtypes, ops
from nestarray.errors import ArgumentError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.nn import initializers
from nestarray.nn.convolution import Conv2d
from nestarray.nn.initializers import Initializer
from nestarray.nn.module import Module, Variable
from nestarray.typing import Array, DTypeLike, Shape, check_range


class Embedding(Module):
    """Rows of a table: weight[indices].

    Args:
        num_embeddings: number of rows.
        embedding_dim: size of a row.
        padding_idx: a row that is initially zero and gets no gradient; a negative one counts from
            the end.
        max_norm: the largest norm of the rows of a result; longer ones are scaled to it. The weight
            does not change, as it does in PyTorch. Derivatives of all orders are, as there, the ones
            at the scaled rows, without the derivative of the scaling.
        norm_type: the order of that norm.
        scale_grad_by_freq: False.
        sparse: False.
        initializer: of the weight; None is standard normal.

    Variables: weight `(num_embeddings, embedding_dim)`.

    Raises:
        ArgumentError: `padding_idx` is out of range, or an option is not supported.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.Embedding(10, 4).init(na.random.key(0))
        >>> net(np.asarray([[1, 2, 3]])).shape
        (1, 3, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.Embedding.html
    """

    @signature_errors()
    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        *,
        initializer: Initializer | None = None,
    ) -> None:
        _refuse("Embedding", scale_grad_by_freq, sparse)
        check_range("Embedding", "max_norm", max_norm, 0.0)
        self.max_norm, self.norm_type = max_norm, norm_type
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = _row("Embedding", padding_idx, num_embeddings)
        self._initializer = initializer or initializers.normal(1.0)

    def variables(self) -> Mapping[str, Variable]:
        """weight."""
        return {"weight": _table(self)}

    def forward(self, indices: Array) -> Array:
        """indices: `(*batch,)`, integers; returns `(*batch, embedding_dim)`."""
        rows = _rows(self, indices)
        if self.padding_idx is None:
            return rows
        is_padding = ops.expand_dims(ops.equal(indices, self.padding_idx), -1)
        return ops.where(is_padding, ops.stop_gradient(rows), rows)


class EmbeddingBag(Module):
    """The mean, sum or maximum of the rows weight[indices] of each bag of indices.

    An empty bag gives zeros.

    Args:
        num_embeddings: number of rows.
        embedding_dim: size of a row.
        max_norm: the largest norm of the rows of a result; longer ones are scaled to it. The weight
            does not change, as it does in PyTorch. Derivatives of all orders are, as there, the ones
            at the scaled rows, without the derivative of the scaling.
        norm_type: the order of that norm.
        scale_grad_by_freq: False.
        mode: ``"mean"``, ``"sum"`` or ``"max"``.
        sparse: False.
        include_last_offset: whether the last offset is the number of indices.
        padding_idx: an index that does not count, and whose row gets no gradient.
        initializer: of the weight; None is standard normal.

    Variables: weight `(num_embeddings, embedding_dim)`.

    Raises:
        ArgumentError: `mode` is unknown, `padding_idx` is out of range, or an option is not
            supported.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.EmbeddingBag(10, 4).init(na.random.key(0))
        >>> net(np.asarray([1, 2, 3, 4]), np.asarray([0, 3])).shape
        (2, 4)

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.EmbeddingBag.html
    """

    @signature_errors()
    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        mode: str = "mean",
        sparse: bool = False,
        include_last_offset: bool = False,
        padding_idx: int | None = None,
        *,
        initializer: Initializer | None = None,
    ) -> None:
        _refuse("EmbeddingBag", scale_grad_by_freq, sparse)
        check_range("EmbeddingBag", "max_norm", max_norm, 0.0)
        self.max_norm, self.norm_type = max_norm, norm_type
        if mode not in ("mean", "sum", "max"):
            raise ArgumentError(
                f"EmbeddingBag: mode: got {mode!r}, expected 'mean', 'sum' or 'max'"
            )
        self.num_embeddings, self.embedding_dim, self.mode = num_embeddings, embedding_dim, mode
        self.include_last_offset = include_last_offset
        self.padding_idx = _row("EmbeddingBag", padding_idx, num_embeddings)
        self._initializer = initializer or initializers.normal(1.0)

    def variables(self) -> Mapping[str, Variable]:
        """weight."""
        return {"weight": _table(self)}

    def forward(
        self, indices: Array, offsets: Array | None = None, per_sample_weights: Array | None = None
    ) -> Array:
        """Reduce the rows of each bag.

        Args:
            indices: `(bags, size)`, or `(n,)` with `offsets`; integers.
            offsets: `(bags,)`, the increasing positions of the first index of each bag.
            per_sample_weights: of the shape of `indices`, factors of the rows for ``mode="sum"``.

        Returns:
            `(bags, embedding_dim)`.

        Raises:
            ArgumentError: `per_sample_weights` with another mode than ``"sum"``.
            ShapeError: `indices` of one axis without `offsets`, or of two axes with them.
        """
        if per_sample_weights is not None and self.mode != "sum":
            raise ArgumentError(
                f"EmbeddingBag: per_sample_weights: got weights with mode={self.mode!r}, expected "
                "None, or mode='sum'"
            )
        if len(indices.shape) != (2 if offsets is None else 1):
            raise ShapeError(
                f"EmbeddingBag: indices: got the shape {tuple(indices.shape)}, expected "
                f"{'(bags, size)' if offsets is None else '(n,) with offsets'}"
            )
        rows = _rows(self, indices)
        if per_sample_weights is not None:
            rows = ops.multiply(rows, ops.expand_dims(per_sample_weights, -1))
        counts = ops.ones_like(indices, dtype=dtypes.bool)
        if self.padding_idx is not None:
            counts = ops.not_equal(indices, self.padding_idx)
        neutral = -float("inf") if self.mode == "max" else 0.0
        rows = ops.where(ops.expand_dims(counts, -1), rows, neutral)
        numbers = ops.astype(counts, dtypes.dtype_of(rows))
        if offsets is None:
            total = ops.max(rows, axis=1) if self.mode == "max" else ops.sum(rows, axis=1)
            numbers = ops.sum(numbers, axis=1)
        else:
            starts = offsets[:-1] if self.include_last_offset else offsets
            count, size = ops.shape(indices)[0], ops.shape(starts)[0]
            marks = ops.segment_sum(ops.ones_like(starts), starts, num_segments=count + 1)
            bags = ops.subtract(ops.cumulative_sum(marks)[:-1], 1)
            reduce = ops.segment_max if self.mode == "max" else ops.segment_sum
            total = reduce(rows, bags, num_segments=size)
            numbers = ops.segment_sum(numbers, bags, num_segments=size)
        numbers = ops.expand_dims(numbers, -1)
        if self.mode == "max":
            return ops.where(ops.greater(numbers, 0), total, 0.0)
        return ops.divide(total, ops.maximum(numbers, 1.0)) if self.mode == "mean" else total


class PatchEmbedding(Module):
    """Images as sequences: an affine map of each patch, in row-major order, as in ViT.

    Args:
        in_channels: number of channels of the images.
        embed_dim: size of the vector of a patch.
        patch_size: height and width of a patch, or one number for both.
        bias: whether the map has a bias.

    Variables: projection/weight `(embed, channels, height, width)`, projection/bias `(embed,)`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> net = na.nn.PatchEmbedding(3, 8, 4).init(na.random.key(0))
        >>> net(np.ones((2, 3, 8, 12), np.float32)).shape
        (2, 6, 8)

    References:
        https://arxiv.org/abs/2010.11929
    """

    @signature_errors()
    def __init__(
        self, in_channels: int, embed_dim: int, patch_size: int | Sequence[int], bias: bool = True
    ) -> None:
        size = (patch_size,) * 2 if isinstance(patch_size, int) else tuple(patch_size)
        if len(size) != 2 or min(size) < 1:
            raise ArgumentError(
                f"PatchEmbedding: patch_size: got {patch_size!r}, expected a height and a width"
            )
        self.patch_size = size
        self.projection = Conv2d(in_channels, embed_dim, size, stride=size, bias=bias)

    def forward(self, x: Array) -> Array:
        """x: `(batch, channels, height, width)`; returns `(batch, patches, embed)`.

        Raises:
            ShapeError: a patch does not divide the image.
        """
        for size, patch in zip(ops.shape(x)[-2:], self.patch_size):
            if isinstance(size, int) and size % patch:
                raise ShapeError(
                    f"PatchEmbedding: x: got the shape {tuple(x.shape)}, expected a height and a "
                    f"width that are multiples of {self.patch_size}"
                )
        return ops.swapaxes(ops.flatten(self.projection(x), start_axis=-2), -1, -2)


def _table(layer: Any) -> Variable:
    """The weight of an embedding, with zeros at its padding."""
    initializer = layer._initializer
    if layer.padding_idx is not None:
        initializer = partial(_padded, initializer, layer.padding_idx)
    return Variable((layer.num_embeddings, layer.embedding_dim), initializer)


def _rows(layer: Any, indices: Array) -> Array:
    """The rows of an embedding at these indices, of a norm of `max_norm` at most."""
    rows = ops.embedding(indices, layer.weight)
    if layer.max_norm is None:
        return rows
    fixed = ops.stop_gradient(rows)
    norms = ops.vector_norm(fixed, ord=layer.norm_type, axis=-1, keepdims=True)
    scaled = ops.multiply(fixed, ops.divide(layer.max_norm, ops.add(norms, 1e-7)))  # as torch
    is_long = ops.greater(norms, layer.max_norm)
    return ops.add(rows, ops.where(is_long, ops.subtract(scaled, fixed), 0.0))


def _padded(
    initializer: Initializer, row: int, key: Array, shape: Shape, dtype: DTypeLike = "float32"
) -> Array:
    weight = initializer(key, shape, dtype)
    is_padding = ops.equal(ops.arange(shape[0], like=weight), row)
    return ops.where(ops.expand_dims(is_padding, -1), ops.zeros_like(weight), weight)


def _row(layer: str, padding_idx: int | None, count: int) -> int | None:
    """`padding_idx` from the start of the table."""
    if padding_idx is None:
        return None
    if not -count <= padding_idx < count:
        raise ArgumentError(
            f"{layer}: padding_idx: got {padding_idx}, expected one of {count} rows"
        )
    return padding_idx % count


def _refuse(layer: str, scale_grad_by_freq: bool, sparse: bool) -> None:
    for name, value in {"scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}.items():
        if value:
            raise ArgumentError(
                f"{layer}: {name}: got {value!r}, expected False; it changes the gradient in place"
            )

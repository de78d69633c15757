"""Margin and ranking losses.

As in `nestarray.ops.losses`, all take ``reduction``, and classes are on the last axis.
"""

from __future__ import annotations

from nestarray import dtypes, ops
from nestarray.dispatch import floating_op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.ops.losses import check_class_weights, reduced
from nestarray.typing import Array, check_range

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "hinge_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]


@floating_op
def hinge_loss(x: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """The hinge loss, max(0, 1 − target · x).

    Args:
        x: scores, any shape, floating.
        target: 1 or −1, floating, of the shape of x.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.hinge_loss(np.asarray([0.25, 0.25]), np.asarray([1.0, -1.0]), reduction="none")
        array([0.75, 1.25])

    References:
        https://keras.io/api/losses/hinge_losses/#hinge-class
    """
    return reduced("hinge_loss", ops.relu(1.0 - target * x), reduction)


@floating_op
def hinge_embedding_loss(
    x: Array, target: Array, /, *, margin: float = 1.0, reduction: str = "mean"
) -> Array:
    """Embedding loss of distances: x where the target is 1, max(0, margin − x) where it is −1.

    Args:
        x: distances, any shape, floating.
        target: 1 or −1, of the shape of x.
        margin: the distance above which dissimilar pairs have zero loss.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x, target = np.asarray([0.25, 0.25]), np.asarray([1.0, -1.0])
        >>> na.hinge_embedding_loss(x, target, reduction="none")
        array([0.25, 0.75])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.hinge_embedding_loss.html
    """
    loss = ops.where(ops.equal(target, 1), x, ops.relu(ops.subtract(margin, x)))
    return reduced("hinge_embedding_loss", loss, reduction)


@floating_op
def margin_ranking_loss(
    x1: Array, x2: Array, target: Array, /, *, margin: float = 0.0, reduction: str = "mean"
) -> Array:
    """Ranking loss, max(0, −target · (x1 − x2) + margin): x1 should rank higher for target 1.

    Args:
        x1: scores, any shape, floating.
        x2: scores, of the shape of x1.
        target: 1 or −1, floating, of the shape of x1.
        margin: the required difference of the scores.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x1.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.margin_ranking_loss(np.zeros(2), np.ones(2), np.asarray([1.0, -1.0])))
        0.5

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.margin_ranking_loss.html
    """
    loss = ops.relu(target * (x2 - x1) + margin)
    return reduced("margin_ranking_loss", loss, reduction)


@floating_op
def soft_margin_loss(x: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """The logistic loss of scores, log(1 + exp(−target · x)).

    Args:
        x: scores, any shape, floating.
        target: 1 or −1, floating, of the shape of x.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.soft_margin_loss(np.zeros(2), np.ones(2)).round(4))
        0.6931

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.soft_margin_loss.html
    """
    return reduced("soft_margin_loss", ops.softplus(-target * x), reduction)


@floating_op
def triplet_margin_loss(
    anchor: Array,
    positive: Array,
    negative: Array,
    /,
    *,
    margin: float = 1.0,
    p: float = 2.0,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Array:
    """Triplet loss, max(0, d(anchor, positive) − d(anchor, negative) + margin), d the p-distance.

    Args:
        anchor: `(*batch, dim)`, floating.
        positive: similar examples, `(*batch, dim)`.
        negative: dissimilar examples, `(*batch, dim)`.
        margin: the required difference of the distances.
        p: the order of the norm; positive.
        eps: added to each difference, so that the norm is differentiable at equal points.
        swap: use d(positive, negative) instead of d(anchor, negative) where it is smaller.
        reduction: ``"mean"`` over the batch, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` `(*batch,)`.

    Raises:
        ArgumentError: `p` is not positive.

    Example:
        >>> import numpy as np, nestarray as na
        >>> anchor, far = np.zeros((1, 2)), np.asarray([[3.0, 4.0]])
        >>> float(na.triplet_margin_loss(anchor, far, far, eps=0.0))
        1.0

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.triplet_margin_loss.html
    """
    check_range("triplet_margin_loss", "p", p, 0, above=True)
    near = _distance(anchor, positive, p, eps)
    far = _distance(anchor, negative, p, eps)
    if swap:
        far = ops.minimum(far, _distance(positive, negative, p, eps))
    return reduced("triplet_margin_loss", ops.relu(near - far + margin), reduction)


@floating_op(not_promoted=("target",))
def multi_margin_loss(
    x: Array,
    target: Array,
    weight: Array | None = None,
    /,
    *,
    p: int = 1,
    margin: float = 1.0,
    reduction: str = "mean",
) -> Array:
    """Multi-class margin loss, Σ_{i≠y} max(0, margin − x_y + x_i)ᵖ / classes, for the true class y.

    Args:
        x: scores, `(*batch, classes)`, floating.
        target: the true classes y, `(*batch,)`, integer; for those out of range see `cross_entropy`.
        weight: the weight of each true class, `(classes,)`; None: 1.
        p: the exponent; 1 or 2.
        margin: the required lead of the true score.
        reduction: ``"mean"`` over the batch, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` `(*batch,)`.

    Raises:
        ArgumentError: `p` is neither 1 nor 2.
        ShapeError: `target` or `weight` has the wrong shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.multi_margin_loss(np.asarray([[0.5, 1.0]]), np.asarray([0])))
        0.75

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.multi_margin_loss.html
    """
    if p not in (1, 2):
        raise ArgumentError(f"multi_margin_loss: p: got {p!r}, expected 1 or 2")
    _check_target("multi_margin_loss", target, tuple(x.shape[:-1]))
    if weight is not None:
        check_class_weights("multi_margin_loss", weight, x.shape[-1])
    index = ops.expand_dims(target, axis=-1)
    lack = ops.relu(x - ops.take_along_axis(x, index, axis=-1) + margin)
    loss = lack if p == 1 else lack * lack
    if weight is not None:
        loss = loss * ops.take(weight, index, axis=0)
    is_right = ops.greater(ops.one_hot(target, x.shape[-1]), 0)
    total = ops.sum(ops.where(is_right, 0.0, loss), axis=-1) / float(x.shape[-1])
    return reduced("multi_margin_loss", total, reduction)


@floating_op(not_promoted=("target",))
def multilabel_margin_loss(x: Array, target: Array, /, *, reduction: str = "mean") -> Array:
    """Multi-label margin loss, Σ_{y true} Σ_{i false} max(0, 1 − x_y + x_i) / classes.

    Args:
        x: scores, `(*batch, classes)`, floating.
        target: the true classes, `(*batch, classes)`, integer; the list ends at the first −1.
        reduction: ``"mean"`` over the batch, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` `(*batch,)`.

    Raises:
        ShapeError: `target` has the wrong shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x, target = np.asarray([[0.5, 1.0, 0.0]]), np.asarray([[1, -1, 0]])
        >>> float(na.multilabel_margin_loss(x, target).round(4))
        0.1667

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.multilabel_margin_loss.html
    """
    _check_target("multilabel_margin_loss", target, tuple(x.shape))
    dtype, classes = dtypes.dtype_of(x), x.shape[-1]
    is_class = ops.astype(ops.greater_equal(target, 0), dtype)
    counts = ops.cumulative_prod(is_class, axis=-1)  # 0 from the first −1 onwards
    index = ops.maximum(target, 0)
    rights = ops.one_hot(index, classes, dtype=dtype) * ops.expand_dims(counts, axis=-1)
    is_wrong = 1.0 - ops.max(rights, axis=-2)
    scores = ops.expand_dims(ops.take_along_axis(x, index, axis=-1), axis=-1)
    lack = ops.relu(1.0 - scores + ops.expand_dims(x, axis=-2))
    lack = lack * ops.expand_dims(counts, axis=-1) * ops.expand_dims(is_wrong, axis=-2)
    loss = ops.sum(lack, axis=(-2, -1)) / float(classes)
    return reduced("multilabel_margin_loss", loss, reduction)


@floating_op
def multilabel_soft_margin_loss(
    x: Array, target: Array, weight: Array | None = None, /, *, reduction: str = "mean"
) -> Array:
    """Multi-label logistic loss, the mean over classes of −t · log σ(x) − (1 − t) · log σ(−x).

    Args:
        x: logits, `(*batch, classes)`, floating.
        target: 0, 1 or between, floating, of the shape of x.
        weight: the weight of each class, `(classes,)`; None: 1.
        reduction: ``"mean"`` over the batch, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` `(*batch,)`.

    Raises:
        ShapeError: `target` has the wrong shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.multilabel_soft_margin_loss(np.zeros((1, 2)), np.ones((1, 2))).round(4))
        0.6931

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.multilabel_soft_margin_loss.html
    """
    _check_target("multilabel_soft_margin_loss", target, tuple(x.shape))
    loss = ops.binary_cross_entropy_with_logits(x, target, weight, reduction="none")
    return reduced("multilabel_soft_margin_loss", ops.mean(loss, axis=-1), reduction)


@floating_op
def cosine_embedding_loss(
    x1: Array, x2: Array, target: Array, /, *, margin: float = 0.0, reduction: str = "mean"
) -> Array:
    """Cosine loss: 1 − cos(x1, x2) where the target is 1, max(0, cos(x1, x2) − margin) where it is −1.

    Args:
        x1: vectors, `(*batch, dim)`, floating.
        x2: vectors, of the shape of x1.
        target: 1 or −1, `(*batch,)`.
        margin: the cosine below which dissimilar vectors have zero loss; −1 to 1.
        reduction: ``"mean"`` over the batch, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` `(*batch,)`.

    Raises:
        ShapeError: `target` has the wrong shape.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x1, x2 = np.asarray([[1.0, 0.0]] * 2), np.asarray([[3.0, 4.0]] * 2)
        >>> na.cosine_embedding_loss(x1, x2, np.asarray([1.0, -1.0]), reduction="none")
        array([0.4, 0.6])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cosine_embedding_loss.html
    """
    _check_target("cosine_embedding_loss", target, tuple(x1.shape[:-1]))
    cosine = ops.cosine_similarity(x1, x2)
    loss = ops.where(ops.equal(target, 1), 1.0 - cosine, ops.relu(ops.subtract(cosine, margin)))
    return reduced("cosine_embedding_loss", loss, reduction)


def _check_target(name: str, target: Array, expected: tuple[int | None, ...]) -> None:
    found = tuple(target.shape)
    known = all(a is None or b is None or a == b for a, b in zip(found, expected))
    if len(found) != len(expected) or not known:
        raise ShapeError(f"{name}: target has shape {found}, expected {expected}")


def _distance(x1: Array, x2: Array, p: float, eps: float) -> Array:
    difference = x1 - x2 + eps
    if p == 2:
        return ops.sqrt(ops.sum(difference * difference, axis=-1))
    return ops.pow(ops.sum(ops.pow(ops.abs(difference), p), axis=-1), 1.0 / p)

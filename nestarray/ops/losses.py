"""Losses of probabilities and classes, and similarities; `reduced` serves all chapters of losses.

All take ``reduction``: ``"mean"``, ``"sum"`` or ``"none"``. Classes are on the last axis
unless `axis` says otherwise, as in every other function; torch has them on axis 1.
"""

from __future__ import annotations

from nestarray import dtypes, ops
from nestarray.backends.base import refuse_complex
from nestarray.dispatch import floating_op
from nestarray.errors import ArgumentError, ShapeError
from nestarray.numerics.axes import one_axis
from nestarray.typing import Array, Axis, check_range

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_similarity",
    "cross_entropy",
    "dice_loss",
    "focal_loss",
    "kl_div",
    "nll_loss",
]

# The lower bound of logarithms in torch, which keeps the loss of a confident wrong answer finite.
_LEAST_LOG = -100.0


@floating_op(not_promoted=("target",))
def cross_entropy(
    logits: Array,
    target: Array,
    weight: Array | None = None,
    *,
    axis: int = -1,
    label_smoothing: float = 0.0,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Array:
    """The cross entropy of the target under the logits, −Σ_c t_c · log softmax(logits)_c.

    Args:
        logits: any shape with the classes on `axis`, floating, not normalized.
        target: class indices, integer, in the shape of `logits` without `axis`; or
            probabilities, floating, in the shape of `logits`.
        weight: the weight of each class, `(classes,)`; None: 1.
        axis: the axis of the classes.
        label_smoothing: the fraction of the target that is distributed evenly over all classes.
        ignore_index: class indices equal to this number are ignored. Others out of range are refused;
            in JAX, which raises no errors, their loss is NaN. Negative ones count from the end, as in
            NumPy, but on PyTorch, which refuses them.
        reduction: ``"mean"``: the weighted mean for class indices, the mean over all
            distributions for probabilities; ``"sum"``; or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of `logits` without `axis`.

    Raises:
        ShapeError: `target` has the wrong shape.
        IndexingError: a class index is out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> logits = np.log(np.asarray([[0.25, 0.75], [0.5, 0.5]]))
        >>> na.cross_entropy(logits, np.asarray([1, 0]), reduction="none").round(4)
        array([0.2877, 0.6931])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cross_entropy.html
    """
    at = one_axis(axis, len(logits.shape), "cross_entropy")
    check_range("cross_entropy", "label_smoothing", label_smoothing, 0, 1)
    log_probs = ops.log_softmax(logits, axis=at)
    classes = logits.shape[at]
    if not dtypes.dtype_of(target).is_inexact:
        return _class_loss(
            "cross_entropy", log_probs, target, weight, at, label_smoothing, ignore_index, reduction
        )
    _check_target("cross_entropy", tuple(target.shape), tuple(logits.shape), "probabilities")
    if label_smoothing:
        target = target * (1.0 - label_smoothing) + label_smoothing / classes
    weighted = log_probs * target
    if weight is not None:
        weighted = weighted * _on_axis(weight, at, len(logits.shape))
    return reduced("cross_entropy", -ops.sum(weighted, axis=at), reduction)


@floating_op(not_promoted=("target",))
def nll_loss(
    log_probs: Array,
    target: Array,
    weight: Array | None = None,
    *,
    axis: int = -1,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Array:
    """The negative logarithm of the probability of the right class, −log_probs[target].

    Args:
        log_probs: any shape with the classes on `axis`, floating; see `log_softmax`.
        target: class indices, integer, in the shape of `log_probs` without `axis`.
        weight: the weight of each class, `(classes,)`; None: 1.
        axis: the axis of the classes.
        ignore_index: class indices that are equal to this count for nothing; for those out of range
            see `cross_entropy`.
        reduction: ``"mean"``: the weighted mean; ``"sum"``; or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of `target`.

    Raises:
        ShapeError: `target` has the wrong shape.
        IndexingError: a class index is out of range.

    Example:
        >>> import numpy as np, nestarray as na
        >>> log_probs = np.asarray([[-1.0, -2.0], [-3.0, -4.0]])
        >>> float(na.nll_loss(log_probs, np.asarray([1, 0])))
        2.5

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.nll_loss.html
    """
    at = one_axis(axis, len(log_probs.shape), "nll_loss")
    return _class_loss("nll_loss", log_probs, target, weight, at, 0.0, ignore_index, reduction)


@floating_op
def binary_cross_entropy(
    x: Array, target: Array, weight: Array | None = None, /, *, reduction: str = "mean"
) -> Array:
    """The binary cross entropy of the target t under the probability x, −t log x − (1 − t) log(1 − x).

    The logarithms are clipped at −100, so that the loss is finite.

    Args:
        x: probabilities from 0 to 1, any shape, floating.
        target: probabilities, of the shape of x.
        weight: factors of the elements, broadcast with x; None: 1.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x, target = np.asarray([0.5, 0.75]), np.asarray([0.0, 1.0])
        >>> na.binary_cross_entropy(x, target, reduction="none").round(4)
        array([0.6931, 0.2877])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.binary_cross_entropy.html
    """
    loss = -(target * _cut_log(x) + (1.0 - target) * _cut_log(1.0 - x))
    loss = loss if weight is None else loss * weight
    return reduced("binary_cross_entropy", loss, reduction)


@floating_op
def binary_cross_entropy_with_logits(
    x: Array,
    target: Array,
    weight: Array | None = None,
    pos_weight: Array | None = None,
    /,
    *,
    reduction: str = "mean",
) -> Array:
    """`binary_cross_entropy` of sigmoid(x), without overflow.

    Args:
        x: logits, any shape, floating.
        target: probabilities, of the shape of x.
        weight: factors of the elements, broadcast with x; None: 1.
        pos_weight: weights of the positive class, broadcast with x; None: 1.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> float(na.binary_cross_entropy_with_logits(np.zeros(2), np.ones(2)).round(4))
        0.6931

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.binary_cross_entropy_with_logits.html
    """
    surprise = ops.softplus(-x)
    if pos_weight is not None:
        surprise = surprise * ((pos_weight - 1.0) * target + 1.0)
    loss = (1.0 - target) * x + surprise
    loss = loss if weight is None else loss * weight
    return reduced("binary_cross_entropy_with_logits", loss, reduction)


@floating_op
def kl_div(
    x: Array, target: Array, /, *, log_target: bool = False, reduction: str = "mean"
) -> Array:
    """The elementwise Kullback–Leibler divergence of x from the target, t · (log t − x).

    Args:
        x: logarithms of probabilities, any shape, floating.
        target: probabilities, of the shape of x; 0 contributes 0.
        log_target: whether `target` contains logarithms.
        reduction: ``"mean"`` over all elements, ``"batchmean"``: the sum divided by the size
            of axis 0, which is the divergence; ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x.

    Example:
        >>> import numpy as np, nestarray as na
        >>> p = np.asarray([[0.5, 0.5]])
        >>> float(na.kl_div(np.log(p), p, reduction="batchmean"))
        0.0

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.kl_div.html
    """
    if log_target:
        loss = ops.exp(target) * (target - x)
    else:
        is_positive = ops.greater(target, 0)
        log = ops.log(ops.where(is_positive, target, 1.0))
        loss = ops.where(is_positive, target * log, 0.0) - target * x
    if reduction == "batchmean":
        loss, reduction = ops.sum(loss) / float(x.shape[0]), "none"
    return reduced("kl_div", loss, reduction, '"mean", "batchmean", "sum" or "none"')


@floating_op
def focal_loss(
    logits: Array,
    target: Array,
    /,
    *,
    alpha: float | None = 0.25,
    gamma: float = 2.0,
    reduction: str = "mean",
) -> Array:
    """Focal loss: down-weights well-classified examples, α_t (1 − p_t)^γ · BCE.

    p_t is the probability of the target under σ(logits); α_t is `alpha` where the target is 1 and
    1 − `alpha` where it is 0.

    Args:
        logits: any shape, floating.
        target: 0, 1 or probabilities between, floating, of the shape of `logits`.
        alpha: the weight of positive targets; None: all weigh 1.
        gamma: the focusing exponent; 0 gives the binary cross entropy.
        reduction: ``"mean"`` over all elements, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of `logits`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> na.focal_loss(np.zeros(2), np.asarray([1.0, 0.0]), reduction="none").round(4)
        array([0.0433, 0.13  ])

    References:
        https://arxiv.org/abs/1708.02002
    """
    loss = ops.binary_cross_entropy_with_logits(logits, target, reduction="none")
    wrong = ops.sigmoid(logits) * (1.0 - target) + ops.sigmoid(-logits) * target
    loss = loss * ops.pow(wrong, gamma)
    if alpha is not None:
        loss = loss * (target * alpha + (1.0 - target) * (1.0 - alpha))
    return reduced("focal_loss", loss, reduction)


@floating_op
def dice_loss(
    x: Array, target: Array, /, *, axis: Axis = None, eps: float = 1e-7, reduction: str = "mean"
) -> Array:
    """One minus the Dice coefficient, 1 − 2 Σ x·target / (Σ x + Σ target + eps).

    Args:
        x: probabilities, any shape, floating.
        target: of the shape of x.
        axis: the axes to sum over; None: all.
        eps: added to the denominator; the loss of two empty sets is 1.
        reduction: ``"mean"`` over the sets, ``"sum"`` or ``"none"``.

    Returns:
        A scalar; with ``"none"`` the shape of x without `axis`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x, target = np.asarray([1.0, 1.0, 0.0, 0.0]), np.asarray([1.0, 0.0, 1.0, 0.0])
        >>> float(na.dice_loss(x, target).round(4))
        0.5

    References:
        https://arxiv.org/abs/1606.04797
    """
    both = ops.sum(x * target, axis=axis)
    total = ops.sum(x + target, axis=axis)
    return reduced("dice_loss", 1.0 - both * 2.0 / (total + eps), reduction)


@floating_op
def cosine_similarity(x1: Array, x2: Array, /, *, axis: int = -1, eps: float = 1e-8) -> Array:
    """The cosine of the angle between vectors, x1 · x2 / (max(‖x1‖, eps) · max(‖x2‖, eps)).

    Args:
        x1: any shape, floating.
        x2: broadcasts with x1.
        axis: the axis of the vectors.
        eps: the smallest norm to divide by.

    Returns:
        The broadcast shape without `axis`.

    Example:
        >>> import numpy as np, nestarray as na
        >>> x1, x2 = np.asarray([[3.0, 4.0], [0.0, 1.0]]), np.asarray([1.0, 0.0])
        >>> na.cosine_similarity(x1, x2)
        array([0.6, 0. ])

    References:
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.cosine_similarity.html
    """
    # The lower bound applies before the root, whose derivative at zero is infinite.
    floor = eps * eps
    square1 = ops.maximum(ops.sum(x1 * x1, axis=axis, keepdims=True), floor)
    square2 = ops.maximum(ops.sum(x2 * x2, axis=axis, keepdims=True), floor)
    return ops.sum((x1 / ops.sqrt(square1)) * (x2 / ops.sqrt(square2)), axis=axis)


def reduced(
    name: str, loss: Array, reduction: str, expected: str = '"mean", "sum" or "none"'
) -> Array:
    """The mean, the sum or all elements of a loss; for every chapter of losses.

    Raises:
        ArgumentError: `reduction` is unknown.
        NotImplementedError: the loss is complex; the op makes a `DtypeError` of it.
    """
    refuse_complex(loss)
    if reduction == "mean":
        return ops.mean(loss)
    if reduction == "sum":
        return ops.sum(loss)
    if reduction == "none":
        return loss
    raise ArgumentError(f"{name}: reduction: got {reduction!r}, expected {expected}")


def _class_loss(
    name: str,
    log_probs: Array,
    target: Array,
    weight: Array | None,
    axis: int,
    label_smoothing: float,
    ignore_index: int,
    reduction: str,
) -> Array:
    """The loss of class indices, with the weights of the classes in the mean."""
    refuse_complex(log_probs)
    shape = tuple(log_probs.shape)
    expected = shape[:axis] + shape[axis + 1 :]
    _check_target(name, tuple(target.shape), expected, "class indices")
    if weight is not None:
        check_class_weights(name, weight, shape[axis])
    counts = ops.not_equal(target, ignore_index)
    index = ops.where(counts, target, 0)
    share = ops.astype(counts, dtypes.dtype_of(log_probs))
    if weight is not None:
        share = share * ops.take(weight, index, axis=0)
    picked = ops.take_along_axis(log_probs, ops.expand_dims(index, axis), axis=axis)
    loss = -ops.squeeze(picked, axis) * share
    if label_smoothing:
        spread = log_probs
        if weight is not None:
            spread = spread * _on_axis(weight, axis, len(shape))
        even = -ops.sum(spread, axis=axis) * ops.astype(counts, dtypes.dtype_of(log_probs))
        loss = loss * (1.0 - label_smoothing) + even * (label_smoothing / shape[axis])
    if reduction == "mean":
        return ops.sum(loss) / ops.sum(share)
    return reduced(name, loss, reduction)


def check_class_weights(name: str, weight: Array, count: int | None) -> None:
    """Raise where there is not one weight for each of `count` classes; None: not known yet.

    Raises:
        ShapeError: there is not.
    """
    if None not in (count, *weight.shape) and tuple(weight.shape) != (count,):
        raise ShapeError(
            f"{name}: weight: got shape {tuple(weight.shape)}, expected {(count,)}, one for each class"
        )


def _check_target(name: str, found: tuple[int, ...], expected: tuple[int, ...], kind: str) -> None:
    known = all(a is None or b is None or a == b for a, b in zip(found, expected))
    if len(found) != len(expected) or not known:
        raise ShapeError(
            f"{name}: target has shape {found}, expected {expected} for {kind}; "
            "`axis` says where the classes are"
        )


def _on_axis(vector: Array, axis: int, count: int) -> Array:
    return ops.reshape(vector, (-1,) + (1,) * (count - 1 - axis))


def _cut_log(x: Array) -> Array:
    """max(log x, −100), without a warning or an infinite derivative at 0."""
    is_positive = ops.greater(x, 0)
    log = ops.log(ops.where(is_positive, x, 1.0))
    return ops.where(is_positive, ops.maximum(log, _LEAST_LOG), _LEAST_LOG)

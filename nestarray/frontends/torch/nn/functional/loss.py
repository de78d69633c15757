"""Losses, https://docs.pytorch.org/docs/stable/nn.functional.html#loss-functions.

``reduction`` is "none", "mean" or "sum"; the vocabulary translates ATen's numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.frontends.derivatives import with_derivative_of
from nestarray.frontends.torch.dims import ndim_of, shape_of
from nestarray.frontends.torch.nn.functional.activation import log_softmax
from nestarray.frontends.torch.nn.functional.distance import cosine_similarity, pairwise_distance
from nestarray.frontends.torch.promotion import (
    HALF,
    cast,
    expect_one_dtype,
    promote_arrays,
)
from nestarray.frontends.torch.special import xlogy
from nestarray.typing import Array

__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "cross_entropy", "ctc_loss", "gaussian_nll_loss", "hinge_embedding_loss", "huber_loss",
    "kl_div", "l1_loss", "linear_cross_entropy", "margin_ranking_loss", "mse_loss",
    "multi_margin_loss", "multilabel_margin_loss", "multilabel_soft_margin_loss", "nll_loss",
    "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss", "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]  # fmt: skip


def _reduced(name: str, loss: Array, reduction: str) -> Array:
    if reduction == "mean":
        return na.mean(loss)
    if reduction == "sum":
        return na.sum(loss)
    if reduction == "none":
        return loss
    raise ArgumentError(f"{name}: reduction: got {reduction!r}, expected 'none', 'mean' or 'sum'")


# -- numbers -------------------------------------------------------------------------------


def l1_loss(
    input: Array, target: Array, *, reduction: str = "mean", weight: Array | None = None
) -> Array:
    """|x − y|; with weights, their sum divides the mean."""
    return _weighted("l1_loss", na.abs(_difference(input, target)), reduction, weight)


def mse_loss(
    input: Array, target: Array, *, reduction: str = "mean", weight: Array | None = None
) -> Array:
    """(x − y)²; with weights, their sum divides the mean."""
    return _weighted("mse_loss", na.square(_difference(input, target)), reduction, weight)


def _weighted(name: str, loss: Array, reduction: str, weight: Array | None) -> Array:
    if weight is None:
        return _reduced(name, loss, reduction)
    loss = na.multiply(loss, weight)
    if reduction != "mean":
        return _reduced(name, loss, reduction)
    return na.divide(na.sum(loss), na.sum(weight))


def smooth_l1_loss(
    input: Array, target: Array, *, reduction: str = "mean", beta: float = 1.0
) -> Array:
    """½ d² / β where d = |x − y| < β, d − ½ β beyond."""
    distance = na.abs(_difference(input, target))
    if beta == 0:
        return _reduced("smooth_l1_loss", distance, reduction)
    near = na.divide(na.multiply(na.square(distance), 0.5), beta)
    loss = na.where(na.less(distance, beta), near, na.subtract(distance, 0.5 * beta))
    return _reduced("smooth_l1_loss", loss, reduction)


def huber_loss(
    input: Array,
    target: Array,
    *,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Array | None = None,
) -> Array:
    """½ d² where d = |x − y| ≤ δ, δ (d − ½ δ) beyond; weights do not divide the mean.

    The result has input's dtype, as upstream.
    """
    if delta <= 0:
        raise ArgumentError(f"huber_loss: delta: got {delta}, expected a positive number")
    distance = na.abs(_difference(input, target))
    near = na.multiply(na.square(distance), 0.5)
    far = na.multiply(na.subtract(distance, 0.5 * delta), delta)
    loss = na.where(na.less_equal(distance, delta), near, far)
    loss = loss if weight is None else na.multiply(loss, weight)
    return _reduced("huber_loss", cast(loss, dtypes.dtype_of(input)), reduction)


def _difference(x: Array, y: Array) -> Array:
    return na.subtract(*promote_arrays(x, y))


def poisson_nll_loss(
    input: Array,
    target: Array,
    log_input: bool = True,
    full: bool = False,
    *,
    eps: float = 1e-8,
    reduction: str = "mean",
) -> Array:
    """eˣ − y x; `full` adds Stirling's approximation of ln y!."""
    if log_input:
        loss = na.subtract(na.exp(input), na.multiply(target, input))
    else:
        loss = na.subtract(input, na.multiply(target, na.log(na.add(input, eps))))
    if full:
        large = na.greater(target, 1)
        safe = na.where(large, target, na.ones_like(target))
        stirling = na.add(
            na.subtract(na.multiply(safe, na.log(safe)), safe),
            na.multiply(na.log(na.multiply(safe, 2 * math.pi)), 0.5),
        )
        loss = na.add(loss, na.where(large, stirling, na.zeros_like(stirling)))
    return _reduced("poisson_nll_loss", loss, reduction)


def gaussian_nll_loss(
    input: Array,
    target: Array,
    var: Array,
    *,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Array:
    """½ (ln v + (x − y)² / v), the variance at least eps."""
    if shape_of(var) != shape_of(input) and shape_of(var) == shape_of(input)[:-1]:
        var = na.expand_dims(var, axis=-1)
    # The limit takes no part in the gradient, as upstream.
    raised = na.add(var, na.stop_gradient(na.subtract(na.full_like(var, eps), var)))
    var = na.where(na.less(var, eps), raised, var)
    loss = na.multiply(
        na.add(na.log(var), na.divide(na.square(na.subtract(input, target)), var)), 0.5
    )
    if full:
        loss = na.add(loss, 0.5 * math.log(2 * math.pi))
    return _reduced("gaussian_nll_loss", loss, reduction)


# -- probabilities -------------------------------------------------------------------------


def binary_cross_entropy(
    input: Array, target: Array, weight: Array | None = None, *, reduction: str = "mean"
) -> Array:
    """−(y ln p + (1 − y) ln(1 − p)), the logarithms at least −100.

    The derivative by p is (p − y) / max(p (1 − p), 1e-12), finite at 0 and 1.
    """
    expect_one_dtype("binary_cross_entropy", input, target=target, weight=weight)
    is_edge = na.less(na.multiply(input, na.subtract(1.0, input)), _LEAST_VARIANCE)
    inside = _cross_entropy(na.where(is_edge, 0.5, input), target)
    distance = na.subtract(input, na.stop_gradient(target))
    slope = na.multiply(na.square(distance), 0.5 / _LEAST_VARIANCE)
    edge = _cross_entropy(na.stop_gradient(na.where(is_edge, input, 0.5)), target)
    edge = na.add(edge, na.subtract(slope, na.stop_gradient(slope)))
    loss = na.where(is_edge, edge, inside)
    loss = loss if weight is None else na.multiply(loss, weight)
    return _reduced("binary_cross_entropy", loss, reduction)


#: 1e-12 in float32: https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/Loss.cpp
_LEAST_VARIANCE = 9.999999960041972e-13


def _cross_entropy(p: Array, target: Array) -> Array:
    yes = na.clip(na.log(p), -100.0, None)
    no = na.clip(na.log1p(na.negative(p)), -100.0, None)
    return na.subtract(na.multiply(na.subtract(target, 1.0), no), na.multiply(target, yes))


def binary_cross_entropy_with_logits(
    input: Array,
    target: Array,
    weight: Array | None = None,
    *,
    reduction: str = "mean",
    pos_weight: Array | None = None,
) -> Array:
    """`binary_cross_entropy` of σ(x), computed without overflow; in target's dtype, as upstream."""
    no = na.multiply(na.subtract(1.0, target), input)
    log_sigmoid = na.log_sigmoid(input)
    if pos_weight is not None:
        factor = na.add(na.multiply(na.subtract(pos_weight, 1.0), target), 1.0)
        log_sigmoid = na.multiply(factor, log_sigmoid)
    loss = na.subtract(no, log_sigmoid)
    loss = loss if weight is None else na.multiply(loss, weight)
    loss = cast(loss, dtypes.dtype_of(target))
    return _reduced("binary_cross_entropy_with_logits", loss, reduction)


def kl_div(
    input: Array, target: Array, *, reduction: str = "mean", log_target: bool = False
) -> Array:
    """y (ln y − x), with x a logarithm; "batchmean" divides the sum by the first size."""
    if log_target:
        loss = na.multiply(na.exp(target), na.subtract(target, input))
    else:
        loss = na.subtract(xlogy(target, target), na.multiply(target, input))
    if reduction == "batchmean":
        return na.divide(na.sum(loss), float(shape_of(input)[0]))
    return _reduced("kl_div", loss, reduction)


# -- classes -------------------------------------------------------------------------------


def cross_entropy(
    input: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Array:
    """−ln softmax(x) at the class `target`, or against probabilities of the classes."""
    axis = 0 if ndim_of(input) == 1 else 1
    logs = log_softmax(input, axis)
    if shape_of(target) == shape_of(input) and dtypes.dtype_of(target).is_floating:
        return _against_probabilities(logs, target, weight, axis, reduction, label_smoothing)
    loss = nll_loss(logs, target, weight, ignore_index=ignore_index, reduction=reduction)
    if label_smoothing == 0:
        return loss
    classes = shape_of(input)[axis]
    chosen = na.not_equal(target, ignore_index)
    weighted = logs if weight is None else na.multiply(logs, _on_axis(weight, logs, axis))
    smooth = na.negative(na.sum(weighted, axis=axis))
    smooth = na.where(chosen, smooth, na.zeros_like(smooth))
    if reduction == "sum":
        smooth = na.sum(smooth)
    elif reduction == "mean":
        smooth = na.divide(na.sum(smooth), _total_weight(target, chosen, weight, logs))
    share = label_smoothing / classes
    return na.add(na.multiply(loss, 1 - label_smoothing), na.multiply(smooth, share))


def _against_probabilities(
    logs: Array,
    target: Array,
    weight: Array | None,
    axis: int,
    reduction: str,
    label_smoothing: float,
) -> Array:
    if label_smoothing > 0:
        share = label_smoothing / shape_of(logs)[axis]
        target = na.add(na.multiply(target, 1 - label_smoothing), share)
    terms = na.multiply(logs, target)
    if weight is not None:
        terms = na.multiply(terms, _on_axis(weight, logs, axis))
    loss = na.negative(na.sum(terms, axis=axis))
    return _reduced("cross_entropy", loss, reduction)


def nll_loss(
    input: Array,
    target: Array,
    weight: Array | None = None,
    *,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Array:
    """−x at the class `target`; the mean counts each element by its weight."""
    expect_one_dtype("nll_loss", input, weight=weight)
    axis = 0 if ndim_of(input) == 1 else 1
    chosen = na.not_equal(target, ignore_index)
    safe = na.where(chosen, target, na.zeros_like(target))
    picked = na.squeeze(
        na.take_along_axis(input, na.expand_dims(safe, axis=axis), axis=axis), axis=axis
    )
    loss = na.negative(picked)
    if weight is not None:
        loss = na.multiply(loss, _weights(weight, safe))
    loss = na.where(chosen, loss, na.zeros_like(loss))
    if reduction != "mean":
        return _reduced("nll_loss", loss, reduction)
    return na.divide(na.sum(loss), _total_weight(target, chosen, weight, input))


def _weights(weight: Array, classes: Array) -> Array:
    flat = na.take(weight, na.reshape(classes, (-1,)), axis=0)
    return na.reshape(flat, shape_of(classes))


def _total_weight(target: Array, chosen: Array, weight: Array | None, like: Array) -> Array:
    counted = na.astype(chosen, dtypes.dtype_of(like))
    if weight is not None:
        safe = na.where(chosen, target, na.zeros_like(target))
        counted = na.multiply(counted, _weights(weight, safe))
    return na.sum(counted)


def _on_axis(vector: Array, x: Array, axis: int) -> Array:
    return na.reshape(vector, tuple(-1 if a == axis else 1 for a in range(ndim_of(x))))


def multilabel_soft_margin_loss(
    input: Array, target: Array, weight: Array | None = None, *, reduction: str = "mean"
) -> Array:
    """The mean over classes of the binary cross entropy of σ(x)."""
    yes = na.multiply(target, na.log_sigmoid(input))
    no = na.multiply(na.subtract(1.0, target), na.log_sigmoid(na.negative(input)))
    loss = na.negative(na.add(yes, no))
    loss = loss if weight is None else na.multiply(loss, weight)
    return _reduced("multilabel_soft_margin_loss", na.mean(loss, axis=-1), reduction)


def multi_margin_loss(
    input: Array,
    target: Array,
    p: int = 1,
    margin: float = 1.0,
    weight: Array | None = None,
    *,
    reduction: str = "mean",
) -> Array:
    """Σ over other classes of max(0, margin − x at the class + x)ᵖ / classes."""
    if dtypes.dtype_of(target).is_inexact:
        raise DtypeError(
            f"multi_margin_loss: target: got {dtypes.dtype_of(target)}, expected integers"
        )
    if p not in (1, 2):
        raise ArgumentError(f"multi_margin_loss: p: got {p}, expected 1 or 2")
    x = input if ndim_of(input) == 2 else na.reshape(input, (1, -1))
    classes = na.reshape(target, (-1, 1))
    count = shape_of(x)[1]
    picked = na.take_along_axis(x, classes, axis=1)
    excess = na.relu(na.add(na.subtract(x, picked), margin))
    excess = excess if p == 1 else na.pow(excess, p)
    excess = excess if weight is None else na.multiply(excess, _weights(weight, classes))
    others = na.not_equal(na.arange(count, dtype=dtypes.dtype_of(target), like=x), classes)
    terms = na.where(others, excess, na.zeros_like(excess))
    loss = na.divide(na.sum(terms, axis=1), float(count))
    loss = loss if ndim_of(input) == 2 else na.reshape(loss, ())
    return _reduced("multi_margin_loss", loss, reduction)


# -- margins -------------------------------------------------------------------------------


def hinge_embedding_loss(
    input: Array, target: Array, margin: float = 1.0, *, reduction: str = "mean"
) -> Array:
    """x where y = 1, max(0, margin − x) where y = −1."""
    zero = na.zeros_like(input)
    near = na.where(na.not_equal(target, -1), input, zero)
    far = na.where(na.not_equal(target, 1), _positive(na.subtract(margin, input)), zero)
    return _reduced("hinge_embedding_loss", na.add(near, far), reduction)


def soft_margin_loss(input: Array, target: Array, *, reduction: str = "mean") -> Array:
    """ln(1 + e^(−y x)), in input's dtype."""
    loss = na.log1p(na.exp(na.negative(na.multiply(target, input))))
    return _reduced("soft_margin_loss", cast(loss, dtypes.dtype_of(input)), reduction)


def _positive(x: Array) -> Array:
    """max(x, 0) with derivative 1 at 0, unlike `relu`."""
    return na.clip(x, 0.0, None)


def margin_ranking_loss(
    input1: Array, input2: Array, target: Array, margin: float = 0, *, reduction: str = "mean"
) -> Array:
    """max(0, −y (x₁ − x₂) + margin)."""
    gap = na.multiply(na.negative(target), na.subtract(input1, input2))
    return _reduced("margin_ranking_loss", _positive(na.add(gap, float(margin))), reduction)


def cosine_embedding_loss(
    input1: Array, input2: Array, target: Array, margin: float = 0, *, reduction: str = "mean"
) -> Array:
    """1 − cos where y = 1, max(0, cos − margin) where y = −1."""
    cosine = cosine_similarity(input1, input2, dim=-1)
    zero = na.zeros_like(cosine)
    near = na.where(na.equal(target, 1), na.subtract(1.0, cosine), zero)
    far = na.where(na.equal(target, -1), _positive(na.subtract(cosine, float(margin))), zero)
    return _reduced("cosine_embedding_loss", na.add(near, far), reduction)


def triplet_margin_loss(
    anchor: Array,
    positive: Array,
    negative: Array,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-6,
    swap: bool = False,
    *,
    reduction: str = "mean",
) -> Array:
    """max(0, ‖a − p‖ − ‖a − n‖ + margin)."""
    if margin <= 0:
        raise ArgumentError(
            f"triplet_margin_loss: margin: got {margin}, expected a positive number"
        )
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = na.minimum(far, pairwise_distance(positive, negative, p, eps))
    loss = _positive(na.add(na.subtract(near, far), margin))
    return _reduced("triplet_margin_loss", loss, reduction)


def multilabel_margin_loss(input: Array, target: Array, *, reduction: str = "mean") -> Array:
    """Σ of max(0, 1 − x at a class of the target + x at another) / classes."""
    if ndim_of(input) < 2:
        loss = na.multilabel_margin_loss(
            na.reshape(input, (1, -1)), na.reshape(target, (1, -1)), reduction="none"
        )
        return _reduced("multilabel_margin_loss", na.reshape(loss, ()), reduction)
    loss = na.multilabel_margin_loss(input, target, reduction="none")
    return _reduced("multilabel_margin_loss", loss, reduction)


def ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Array:
    """−ln Σ of the probabilities of all alignments that give the targets.

    The gradient follows upstream: it assumes that a `log_softmax` computed `log_probs`, and is
    the gradient with respect to its input.
    """
    lengths = [
        na.asarray(n, dtype=dtypes.int64, like=log_probs) for n in (input_lengths, target_lengths)
    ]
    if ndim_of(targets) == 1 and ndim_of(log_probs) == 3:
        targets = _padded_targets(targets, lengths[1])
    losses = na.ctc_loss(log_probs, targets, *lengths, blank=blank, reduction="none")
    with_mass = na.add(losses, _mass(log_probs, lengths[0]))
    if zero_infinity:
        losses = na.where(na.isinf(losses), na.zeros_like(losses), losses)
    losses = with_derivative_of(with_mass, na.stop_gradient(losses))
    if reduction == "mean":
        count = na.maximum(lengths[1], na.ones_like(lengths[1]))
        losses = na.divide(losses, cast(count, dtypes.dtype_of(losses)))
    return _reduced("ctc_loss", losses, reduction)


def _mass(log_probs: Array, lengths: Array) -> Array:
    """Σ p over classes and times before each length; the gradient cancels in a `log_softmax`."""
    times = na.arange(shape_of(log_probs)[0], dtype=dtypes.int64, like=lengths)
    is_before = na.less(na.reshape(times, (-1,) + (1,) * ndim_of(lengths)), lengths)
    by_time = na.sum(na.exp(log_probs), axis=-1)
    return na.sum(na.where(is_before, by_time, na.zeros_like(by_time)), axis=0)


def _padded_targets(targets: Array, lengths: Array) -> Array:
    """Concatenated targets as one row for each example."""
    ends = na.cumulative_sum(lengths, axis=0)
    starts = na.expand_dims(na.subtract(ends, lengths), axis=1)
    longest = shape_of(targets)[0]
    places = na.add(starts, na.arange(longest, dtype=dtypes.int64, like=targets))
    places = na.clip(places, 0, longest - 1)
    return na.reshape(na.take(targets, na.reshape(places, (-1,)), axis=0), shape_of(places))


def linear_cross_entropy(
    input: Array,
    linear_weight: Array,
    target: Array,
    *,
    linear_bias: Array | None = None,
    weight: Array | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options: Any = None,
) -> Array:
    """`cross_entropy` of a linear map of input; `options` say how upstream saves memory.

    With options, half precision is computed in float32, as upstream does.
    """
    own = dtypes.dtype_of(input)
    if options is not None and own in HALF:
        input, linear_weight, linear_bias, weight, target = (
            cast(x, dtypes.float32) if x is not None and dtypes.dtype_of(x) is own else x
            for x in (input, linear_weight, linear_bias, weight, target)
        )
    if len(shape_of(linear_weight)) > 2 and ndim_of(input) < 2:
        raise ShapeError(
            f"linear_cross_entropy: input: got the shape {shape_of(input)} beside a weight of "
            f"{ndim_of(linear_weight)} dimensions, expected (batch, features)"
        )
    *rest, features = shape_of(linear_weight)
    matrix = na.reshape(linear_weight, (-1, features))
    bias = None if linear_bias is None else na.reshape(linear_bias, (-1,))
    logits = na.reshape(na.linear(input, matrix, bias), (*shape_of(input)[:-1], *rest))
    if shape_of(target) == shape_of(logits) and ignore_index is not None:
        raise ArgumentError(
            f"linear_cross_entropy: ignore_index: got {ignore_index}, expected None beside "
            "probabilities"
        )
    found = cross_entropy(
        logits,
        target,
        weight,
        ignore_index=-100 if ignore_index is None else ignore_index,
        reduction=reduction,
        label_smoothing=label_smoothing,
    )
    return cast(found, own)


def triplet_margin_with_distance_loss(
    anchor: Array,
    positive: Array,
    negative: Array,
    *,
    distance_function: Callable[[Array, Array], Array] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Array:
    """max(0, d(anchor, positive) − d(anchor, negative) + margin), of any distance."""
    if margin <= 0:
        raise ArgumentError(
            f"triplet_margin_with_distance_loss: margin: got {margin}, expected a positive number"
        )
    distance = pairwise_distance if distance_function is None else distance_function
    near, far = distance(anchor, positive), distance(anchor, negative)
    far = na.minimum(far, distance(positive, negative)) if swap else far
    loss = na.clip(na.add(na.subtract(near, far), margin), 0.0)
    return _reduced("triplet_margin_with_distance_loss", loss, reduction)

"""Losses of sequences with unknown alignment to their targets."""

from __future__ import annotations

import math
from functools import reduce

from nestarray import dtypes, ops
from nestarray.backends.control_flow import Arrays, find_for
from nestarray.dispatch import floating_op
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.ops.losses import reduced
from nestarray.typing import Array

__all__ = ["ctc_loss"]


@floating_op(not_promoted=("targets", "input_lengths", "target_lengths"))
def ctc_loss(
    log_probs: Array,
    targets: Array,
    input_lengths: Array,
    target_lengths: Array,
    /,
    *,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Array:
    """The CTC loss, −log Σ_π Π_t p_t(π_t), over all alignments π of the targets.

    An alignment has one class per time step; merging repeated classes and removing blanks gives the
    targets. The sum is computed by one forward pass through time, in the log domain. If no alignment
    exists, for example for too long targets, the loss is infinite.

    Args:
        log_probs: `(length, batch, classes)`, or `(length, classes)`, floating: logarithms of
            probabilities, see `log_softmax`.
        targets: `(batch, targets)`, or `(targets,)`, integer classes other than `blank`.
        input_lengths: `(batch,)`, or `()`: the length of each sequence.
        target_lengths: `(batch,)`, or `()`: the number of its targets.
        blank: the index of the blank label.
        reduction: ``"mean"`` of the losses, each divided by the number of its targets; ``"sum"`` or
            ``"none"``.
        zero_infinity: replace infinite losses and their gradients by 0.

    Returns:
        A scalar; with ``"none"`` `(batch,)`, or `()` without a batch.

    Raises:
        DtypeError: targets or lengths are not integers.
        ShapeError: the shapes do not match.
        ArgumentError: `blank` is not a class index.

    Example:
        >>> import numpy as np, nestarray as na
        >>> even = np.full((2, 1, 2), np.log(0.5))  # 3 of 4 alignments give the target 1
        >>> one = np.asarray([1])
        >>> float(na.ctc_loss(even, one[None], one + 1, one, reduction="sum").round(4))
        0.2877

    References:
        https://www.cs.toronto.edu/~graves/icml_2006.pdf
        https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.ctc_loss.html
    """
    lengths = (input_lengths, target_lengths)
    for name, x in zip(("targets", "input_lengths", "target_lengths"), (targets, *lengths)):
        if not dtypes.dtype_of(x).is_integer:
            found = dtypes.dtype_of(x)
            raise DtypeError(
                f"ctc_loss: {name}: got {found}, expected integers; cast with na.astype"
            )
    _check(tuple(log_probs.shape), tuple(targets.shape), [tuple(n.shape) for n in lengths], blank)
    is_batched = len(log_probs.shape) == 3
    if not is_batched:
        log_probs, targets = ops.expand_dims(log_probs, axis=1), ops.expand_dims(targets, axis=0)
        input_lengths, target_lengths = (ops.expand_dims(n, axis=0) for n in lengths)
    # the states of an alignment: the targets with blanks around each
    blanks = ops.full_like(targets, blank)
    # the padding of short targets may be an invalid class, but is never reached
    targets = ops.clip(targets, 0, log_probs.shape[2] - 1)
    states = ops.reshape(ops.stack((blanks, targets), axis=2), (-1, 2 * targets.shape[1]))
    states = ops.concat((states, blanks[:, :1]), axis=1)
    history = _forward(log_probs, states, blank)
    shape = ops.shape(history)[1:]
    last = ops.astype(ops.reshape(input_lengths, (1, -1, 1)), dtypes.int64)
    alpha = ops.take_along_axis(history, ops.broadcast_to(last, (1, *shape)), axis=0)[0]
    ends = 2 * ops.astype(ops.expand_dims(target_lengths, axis=1), dtypes.int64)
    after = ops.take_along_axis(alpha, ends, axis=1)
    on = ops.take_along_axis(alpha, ops.maximum(ends - 1, 0), axis=1)
    on = ops.where(ops.equal(ends, 0), -math.inf, on)
    loss = -ops.squeeze(_logsumexp(after, on), axis=1)
    if zero_infinity:
        loss = ops.where(ops.isinf(loss), 0.0, loss)
    if reduction == "mean":
        loss = loss / ops.astype(ops.maximum(target_lengths, 1), dtypes.dtype_of(loss))
    return reduced("ctc_loss", loss if is_batched else loss[0], reduction)


def _forward(log_probs: Array, states: Array, blank: int) -> Array:
    """`(length + 1, batch, states)`: log probabilities to have come to each state, by time."""
    index = ops.broadcast_to(
        ops.expand_dims(states, axis=0), (log_probs.shape[0], *ops.shape(states))
    )
    emissions = ops.take_along_axis(log_probs, index, axis=2)
    # the blank between two different targets is optional
    skips = ops.logical_and(
        ops.not_equal(states[:, 2:], blank), ops.not_equal(states[:, 2:], states[:, :-2])
    )
    before = ops.full_like(emissions[0], -math.inf)
    start = ops.concat((ops.zeros_like(before[:, :1]), before[:, 1:]), axis=1)

    def step(alphas: Arrays, time: Arrays) -> tuple[Arrays, Arrays]:
        (alpha,) = alphas
        one = ops.concat((before[:, :1], alpha[:, :-1]), axis=1)
        two = ops.concat((before[:, :2], ops.where(skips, alpha[:, :-2], -math.inf)), axis=1)
        new = (_logsumexp(alpha, one, two) + time[0],)
        return new, new

    scan = find_for((emissions,), "scan")
    _, (history,) = scan(step, (start,), (emissions,))
    return ops.concat((ops.expand_dims(start, axis=0), history), axis=0)


def _logsumexp(*terms: Array) -> Array:
    """log Σ exp of equal shapes; of nothing but −∞ that, with the gradient 0."""
    largest = ops.stop_gradient(reduce(ops.maximum, terms))
    is_empty = ops.equal(largest, -math.inf)
    shift = ops.where(is_empty, 0.0, largest)
    total = reduce(ops.add, (ops.exp(term - shift) for term in terms))
    return ops.where(is_empty, -math.inf, ops.log(ops.where(is_empty, 1.0, total)) + shift)


def _check(
    log_probs: tuple[int, ...],
    targets: tuple[int, ...],
    lengths: list[tuple[int, ...]],
    blank: int,
) -> None:
    ranks = len(log_probs), len(targets), *map(len, lengths)
    batches = (
        {log_probs[1], targets[0], *(n[0] for n in lengths)} if ranks == (3, 2, 1, 1) else set()
    )
    is_known = ranks in ((3, 2, 1, 1), (2, 1, 0, 0)) and len(batches - {None}) <= 1
    if not is_known or log_probs[0] == 0 or targets[-1] == 0:
        raise ShapeError(
            f"ctc_loss: got log_probs {log_probs}, targets {targets}, input_lengths {lengths[0]} and "
            f"target_lengths {lengths[1]}, expected (length, batch, classes), (batch, targets), "
            "(batch,) and (batch,), or all without the batch, and place for one target at least"
        )
    if not 0 <= blank < log_probs[-1]:
        raise ArgumentError(
            f"ctc_loss: blank: got {blank}, expected one of the {log_probs[-1]} classes"
        )

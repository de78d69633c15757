"""Search for the most probable targets of connectionist temporal classification.

Both searches run on all sequences of a batch at once, one step of time after another.

Source: Graves, Supervised Sequence Labelling with Recurrent Neural Networks, chapter 7
"""

from __future__ import annotations

import math
from typing import Any

import nestarray as na
from nestarray import dtypes
from nestarray.frontends.tensorflow.sparse.tensors import SparseTensor
from nestarray.typing import Array


def greedy_search(
    inputs: Array, lengths: Array, blank: int, merge_repeated: bool
) -> tuple[Array, Array]:
    """The classes of the largest logits, without blanks and repetitions; minus their sum."""
    _, steps, _ = na.shape(inputs)
    best = na.astype(na.argmax(inputs, axis=-1), dtypes.int32)
    is_inside = na.less(na.arange(steps, dtype=dtypes.int32, like=inputs), lengths[:, None])
    is_kept = na.logical_and(is_inside, na.not_equal(best, blank))
    if merge_repeated:
        before = na.pad(best[:, :-1], [(0, 0), (1, 0)], constant_values=-1)
        is_kept = na.logical_and(is_kept, na.not_equal(best, before))
    decoded = _kept_first(best, is_kept)
    scores = na.where(is_inside, na.max(inputs, axis=-1), 0)
    return decoded[None], na.negative(na.sum(scores, axis=-1, keepdims=True))


def _kept_first(classes: Array, is_kept: Array) -> Array:
    """The kept classes at the start of the last axis, padded by −1."""
    order = na.argsort(na.astype(na.logical_not(is_kept), dtypes.int32), axis=-1)
    return na.take_along_axis(na.where(is_kept, classes, -1), order, axis=-1)


def without_repetitions(decoded: Array) -> Array:
    """Classes padded by −1 without those that are equal to the class before."""
    before = na.pad(decoded[..., :-1], [(0, 0), (1, 0)], constant_values=-1)
    return _kept_first(decoded, na.not_equal(decoded, before))


def to_sparse(decoded: Array) -> SparseTensor:
    """Classes `(batch, length)` padded by −1 as a sparse tensor of int64."""
    places = na.argwhere(na.greater_equal(decoded, 0))
    values = na.astype(na.gather_nd(decoded, places), dtypes.int64)
    longest = int(na.max(places[:, 1])) + 1 if na.shape(places)[0] else 0
    shape = (na.shape(decoded)[0], longest)
    return SparseTensor(na.astype(places, dtypes.int64), values, shape)


def beam_search(
    inputs: Array, lengths: Array, blank: int, beam_width: int, top_paths: int
) -> tuple[Array, Array]:
    """The prefixes of the largest probabilities, and the logarithms of these.

    A beam is a tuple: the prefixes `(batch, beam, length)`, their lengths, and the logarithms of the
    probabilities of the paths that end in a blank, and of those that do not, `(batch, beam)`.
    """
    batch, steps, _ = na.shape(inputs)
    logarithms = na.log_softmax(inputs, axis=-1)
    dtype = dtypes.dtype_of(logarithms)
    none = na.full((batch, beam_width), -math.inf, dtype=dtype, like=inputs)
    first = na.equal(na.arange(beam_width, dtype=dtypes.int32, like=inputs), 0)
    beam = (
        na.full((batch, beam_width, steps), -1, dtype=dtypes.int32, like=inputs),
        na.zeros((batch, beam_width), dtype=dtypes.int32, like=inputs),
        na.where(first, na.zeros_like(none), none),
        none,
    )

    def step(carry: Any, x: Any) -> tuple[Any, None]:
        time, row = x
        found = _extended(carry, row, blank)
        is_inside = na.less(time, lengths)
        kept = [
            na.where(na.reshape(is_inside, (-1, *[1] * (len(na.shape(new)) - 1))), new, old)
            for new, old in zip(found, carry, strict=True)
        ]
        return tuple(kept), None

    times = na.arange(steps, dtype=dtypes.int32, like=inputs)
    beam, _ = na.scan(step, beam, (times, na.moveaxis(logarithms, 1, 0)))
    prefixes, _, with_blank, without = beam
    scores, chosen = na.top_k(na.logaddexp(with_blank, without), top_paths)
    found = na.take_along_axis(prefixes, chosen[:, :, None], axis=1)
    return na.moveaxis(found, 1, 0), scores


def _extended(beam: Any, row: Array, blank: int) -> tuple[Array, ...]:
    """The beam after one step, with logarithms `row`, `(batch, classes)`, of the classes."""
    prefixes, sizes, with_blank, without = beam
    batch, width, steps = na.shape(prefixes)
    classes = na.shape(row)[-1]
    total = na.logaddexp(with_blank, without)
    numbers = na.arange(classes, dtype=dtypes.int32, like=row)
    ends = na.take_along_axis(prefixes, na.clip(sizes - 1, 0, None)[:, :, None], axis=2)[..., 0]
    ends = na.where(na.greater(sizes, 0), ends, -1)

    # A prefix and a class; a class that repeats the end needs a blank in between.
    repeats = na.equal(ends[:, :, None], numbers)
    longer = na.where(repeats, with_blank[:, :, None], total[:, :, None]) + row[:, None, :]
    longer = na.where(na.equal(numbers, blank), -math.inf, longer)

    # The same prefix: a blank, or its last class again.
    last = na.take_along_axis(row, na.clip(ends, 0, None), axis=1)
    same_with_blank = total + row[:, blank][:, None]
    same_without = na.where(na.greater(sizes, 0), without + last, -math.inf)

    # An extension that is another prefix of the beam belongs to it.
    positions = na.arange(steps, dtype=dtypes.int32, like=row)
    is_end = na.equal(positions, sizes[:, :, None] - 1)
    parents = na.where(is_end, -1, prefixes)
    is_parent = na.all(na.equal(parents[:, :, None], prefixes[:, None]), axis=-1)
    is_parent = na.logical_and(is_parent, na.equal(sizes[:, :, None] - 1, sizes[:, None]))
    is_child = na.logical_and(is_parent[..., None], na.equal(ends[:, :, None, None], numbers))
    joined = na.where(is_child, longer[:, None], -math.inf)
    same_without = na.logaddexp(same_without, na.logsumexp(joined, axis=(2, 3)))
    longer = na.where(na.any(is_child, axis=1), -math.inf, longer)

    same = na.logaddexp(same_with_blank, same_without)
    candidates = na.concat([same, na.reshape(longer, (batch, width * classes))], axis=1)
    scores, chosen = na.top_k(candidates, width)
    chosen = na.astype(chosen, dtypes.int32)
    is_longer = na.greater_equal(chosen, width)
    parent = na.where(is_longer, na.floor_divide(chosen - width, classes), chosen)
    added = na.remainder(chosen - width, classes)

    new_sizes = na.take_along_axis(sizes, parent, axis=1)
    kept = na.take_along_axis(prefixes, parent[:, :, None], axis=1)
    is_place = na.logical_and(is_longer[:, :, None], na.equal(positions, new_sizes[:, :, None]))
    kept = na.where(is_place, added[:, :, None], kept)
    blanks = na.take_along_axis(same_with_blank, parent, axis=1)
    others = na.take_along_axis(same_without, parent, axis=1)
    return (
        kept,
        new_sizes + na.astype(is_longer, dtypes.int32),
        na.where(is_longer, -math.inf, blanks),
        na.where(is_longer, scores, others),
    )

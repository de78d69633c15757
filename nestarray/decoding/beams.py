"""Beam search over all rows at once, with the rules of `transformers`.

Each row has running beams and finished ones, both ordered by score. A step takes the best
continuations of all running beams: those that end compete with the finished beams by their score per
length, the others go on. A row is closed when its best running beam, at its present length, is worse
than its worst finished one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from nestarray import dtypes, ops, tree
from nestarray.errors import ShapeError
from nestarray.transforms.control_flow import while_loop

#: The score of a beam that is none.
_NONE = -1e9


class _Beams(NamedTuple):
    """Sequences `(batch, beams, steps)` and scores `(batch, beams)`."""

    sequences: Any
    scores: Any


class _State(NamedTuple):
    """A step of the search.

    Attributes:
        i: the number of tokens of the running beams.
        running: beams that go on, with log probabilities.
        finished: beams that have ended, with log probabilities per length.
        is_open: `(batch,)`, whether a row may still improve.
        token: `(batch * beams,)`, the last tokens of the running beams.
        cache: of the running beams.
    """

    i: Any
    running: _Beams
    finished: _Beams
    is_open: Any
    token: Any
    cache: Any


def beam_search(
    advance: Callable[..., Any],
    logits: Any,
    cache: Any,
    empty: Any,
    beams: int,
    length_penalty: float,
    stops: Sequence[int],
) -> Any:
    """The best sequence of each row.

    Args:
        advance: (token, cache, i) → (logits, cache), of `(batch * beams)` rows.
        logits: of the first token, `(batch * beams, vocabulary)`.
        cache: after the prompt.
        empty: the result without tokens, `(batch, steps)`.
        beams: the number of beams of each row.
        length_penalty: the exponent of the length.
        stops: tokens that end a sequence.
    """
    batch, steps = empty.shape
    sequences = ops.repeat(empty[:, None], beams, axis=1)
    none = ops.full((batch, beams), _NONE, dtype=dtypes.dtype_of(logits), like=logits)
    is_first = ops.equal(ops.arange(beams, like=empty), 0)  # all beams are the prompt: one counts
    state = _State(
        ops.zeros((), dtype=dtypes.int32, like=empty),
        _Beams(sequences, ops.where(is_first, ops.zeros_like(none), none)),
        _Beams(sequences, none),
        ops.ones_like(none[:, 0], dtype=dtypes.bool),
        ops.repeat(empty[:, 0], beams, axis=0),
        cache,
    )

    def select(state: _State, logits: Any, cache: Any) -> _State:
        return _selected(state, logits, cache, length_penalty, stops)

    def goes_on(state: _State) -> Any:
        return ops.logical_and(ops.less(state.i, steps), ops.any(state.is_open))

    def add(state: _State) -> _State:
        return select(state, *advance(state.token, state.cache, state.i))

    state = while_loop(goes_on, add, select(state, logits, cache))
    return state.finished.sequences[:, 0]


def _selected(
    state: _State, logits: Any, cache: Any, length_penalty: float, stops: Sequence[int]
) -> _State:
    """The state after one more token."""
    batch, beams, steps = state.running.sequences.shape
    number = logits.shape[-1]
    log_probabilities = ops.reshape(ops.log_softmax(logits), (batch, beams, number))
    totals = ops.reshape(log_probabilities + state.running.scores[:, :, None], (batch, -1))
    count = min(max(2, 1 + len(stops)) * beams, beams * number)
    scores, places = ops.top_k(totals, count)
    origins, tokens = places // number, places % number
    tokens = ops.astype(tokens, dtypes.dtype_of(state.token))
    is_column = ops.equal(ops.arange(steps, like=tokens), state.i)
    sequences = ops.where(is_column, tokens[:, :, None], _rows(state.running.sequences, origins))
    length = ops.add(state.i, 1)
    has_ended = ops.greater_equal(length, steps)
    ends = ops.logical_or(ops.zeros_like(tokens, dtype=dtypes.bool), has_ended)
    for stop in stops:
        ends = ops.logical_or(ends, ops.equal(tokens, stop))

    best, order = ops.top_k(ops.where(ends, scores + _NONE, scores), beams)
    running = _Beams(_rows(sequences, order), best)
    power = ops.astype(length, dtypes.dtype_of(scores)) ** length_penalty
    is_best = ops.less(ops.arange(count, like=tokens), beams)
    enters = ops.logical_and(ops.logical_and(ends, is_best), state.is_open[:, None])
    ended = _Beams(sequences, ops.where(enters, scores / power, _NONE))
    finished = _best(state.finished, ended, beams)
    worst = finished.scores[:, -1]
    is_open = ops.logical_and(state.is_open, ops.greater(running.scores[:, 0] / power, worst))

    origins = ops.take_along_axis(origins, order, axis=1)
    first = ops.arange(batch, like=origins)[:, None] * beams
    token = ops.reshape(ops.take_along_axis(tokens, order, axis=1), (-1,))
    cache = _reordered(cache, ops.reshape(origins + first, (-1,)))
    return _State(length, running, finished, is_open, token, cache)


def _rows(sequences: Any, places: Any) -> Any:
    """The sequences `(batch, n, steps)` at places `(batch, m)`."""
    shape = (*places.shape, sequences.shape[-1])
    return ops.take_along_axis(sequences, ops.broadcast_to(places[:, :, None], shape), axis=1)


def _best(first: _Beams, second: _Beams, count: int) -> _Beams:
    scores = ops.concat([first.scores, second.scores], axis=1)
    sequences = ops.concat([first.sequences, second.sequences], axis=1)
    best, order = ops.top_k(scores, count)
    return _Beams(_rows(sequences, order), best)


def _reordered(cache: Any, rows: Any) -> Any:
    """The cache with other rows; scalars count tokens, and stay."""

    def taken(x: Any) -> Any:
        shape = tuple(getattr(x, "shape", ()))
        if not shape:
            return x
        if shape[0] != rows.shape[0]:
            raise ShapeError(
                f"generate: cache: got an array of shape {shape}, expected batch * beams = "
                f"{rows.shape[0]} rows along the first axis"
            )
        return ops.take(x, rows, axis=0)

    return tree.map(taken, cache)

"""The loop over tokens: the likeliest token, a drawn one, or beams of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from nestarray import dtypes, ops, random
from nestarray.decoding.beams import beam_search
from nestarray.decoding.filters import top_k as largest
from nestarray.decoding.filters import top_p as nucleus
from nestarray.errors import ArgumentError, DtypeError, ShapeError
from nestarray.errors.signatures import signature_errors
from nestarray.transforms.control_flow import scan, while_loop
from nestarray.typing import Array, Nest

#: (tokens, cache, positions, mask) → (logits, cache)
Step = Callable[[Array, Nest, Array, Array | None], tuple[Array, Nest]]


@signature_errors(callables=("step",))
def generate(
    step: Step,
    cache: Nest,
    prompt: Array,
    steps: int,
    *,
    key: Array | None = None,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    beams: int = 1,
    length_penalty: float = 1.0,
    stop: int | Sequence[int] = (),
    pad: int = 0,
    mask: Array | None = None,
    prefill: Step | None = None,
) -> Array:
    """Generate tokens after a prompt: the likeliest, drawn ones (`key`), or by beam search (`beams`).

    ``step(tokens, cache, positions, mask)`` returns ``(logits, cache)``. It reads the prompt,
    ``tokens`` of shape `(batch, length)`, and then one token of each row, `(batch, 1)`. The logits
    are `(batch, tokens read, vocabulary)`, of which the last are used, or `(batch, vocabulary)`. The
    cache keeps its structure and shapes from step to step. ``positions`` are those of the tokens,
    less the padding before them; ``mask`` is the argument `mask` for the prompt and the new tokens,
    or None. Inside of `na.jit`, the loop is compiled once and ends at the last stop token.

    Args:
        step: the decoder.
        cache: its cache before the prompt, any nest.
        prompt: `(batch, length)`, integers. Shorter prompts are padded on the left.
        steps: the number of tokens to generate.
        key: a key of `na.random`, to draw the tokens; the i-th from ``fold_in(key, i)``. The same
            key gives the same tokens on every backend, up to rounding of the logits.
        temperature: divides the logits of drawn tokens.
        top_k: draw from the k likeliest tokens alone, see `na.decoding.top_k`.
        top_p: then from the likeliest tokens of this probability, see `na.decoding.top_p`.
        beams: the number of sequences that beam search keeps for each row of the prompt. `step`
            and the arrays of the cache have ``batch * beams`` rows, along the first axis.
        length_penalty: beams are compared by ``log probability / length**length_penalty``.
        stop: a token or tokens after which a row ends.
        pad: the token after the end of a row.
        mask: `(batch, length)`, False or 0 at the padding of the prompt. It is continued with ones
            for the new tokens, up to ``length + steps``; a longer mask is passed unchanged.
        prefill: reads the prompt in place of `step`.

    Returns:
        the new tokens, `(batch, steps)`, in the dtype of `prompt`; a stop token is among them.

    Raises:
        ArgumentError: a setting is out of range, or is not for this kind of generation.
        DtypeError: `prompt` has no integers.
        ShapeError: `prompt`, `mask`, the logits or the cache have another shape than expected.

    Example:
        >>> import numpy as np, nestarray as na
        >>> def count(tokens, cache, positions, mask):  # the likeliest token is the next number
        ...     return na.one_hot((tokens + 1) % 10, 10), cache + tokens.shape[1]
        >>> na.decoding.generate(count, np.asarray(0), np.asarray([[1, 2], [6, 7]]), 3, stop=9)
        array([[3, 4, 5],
               [8, 9, 0]])
        >>> na.decoding.generate(count, np.asarray(0), np.asarray([[2]]), 4, key=na.random.key(1))
        array([[5, 4, 5, 6]])

    References:
        https://huggingface.co/docs/transformers/main_classes/text_generation
    """
    _check(key, temperature, top_k, top_p, beams, length_penalty, steps)
    batch, length = _size_of_prompt(prompt)
    stops = _stops(stop)
    mask = _whole_mask(mask, batch, length, steps)
    positions, used = _positions(prompt, mask, length)
    if beams > 1:
        prompt, positions, used = (ops.repeat(x, beams, axis=0) for x in (prompt, positions, used))
        mask = None if mask is None else ops.repeat(mask, beams, axis=0)

    def logits_of(read: Step, tokens: Any, cache: Any, places: Any) -> tuple[Any, Any]:
        return _last(read(tokens, cache, places, mask), tokens.shape[0])

    def advance(token: Any, cache: Any, i: Any) -> tuple[Any, Any]:
        places = ops.astype(ops.add(used, ops.subtract(i, 1)), dtypes.dtype_of(prompt))
        return logits_of(step, token[:, None], cache, places[:, None])

    logits, cache = logits_of(prefill or step, prompt, cache, positions)
    empty = ops.full((batch, steps), pad, dtype=dtypes.dtype_of(prompt), like=prompt)
    if beams > 1:
        return beam_search(advance, logits, cache, empty, beams, length_penalty, stops)

    def choose(logits: Any, i: Any) -> Any:
        if key is None:
            return ops.astype(ops.argmax(logits, axis=-1), dtypes.dtype_of(prompt))
        logits = ops.divide(logits, temperature)
        logits = logits if top_k is None else largest(logits, top_k)
        logits = logits if top_p is None else nucleus(logits, top_p)
        drawn = random.categorical(random.fold_in(key, i), logits)
        return ops.astype(drawn, dtypes.dtype_of(prompt))

    return _by_row(advance, choose, logits, cache, empty, pad, stops)


@signature_errors(callables=("step",))
def token_by_token(step: Step) -> Step:
    """A step that reads several tokens by a loop over `step`, which reads one.

    For decoders of single tokens: ``generate(step, …, prefill=na.decoding.token_by_token(step))``.

    Args:
        step: see `generate`.

    Returns:
        a step that returns the logits of the last token.

    Example:
        >>> import numpy as np, nestarray as na
        >>> def count(token, cache, positions, mask):
        ...     return na.one_hot(token[:, 0] + 1, 10), cache + 1
        >>> read = na.decoding.token_by_token(count)
        >>> tokens = np.asarray([[3, 4, 5]])
        >>> logits, cache = read(tokens, np.asarray(0), np.arange(3)[None], None)
        >>> int(na.argmax(logits)), int(cache)
        (6, 3)
    """

    def read(tokens: Any, cache: Any, positions: Any, mask: Any) -> tuple[Any, Any]:
        def one(cache: Any, row: tuple[Any, Any]) -> tuple[Any, Any]:
            token, place = row
            logits, cache = _last(step(token[:, None], cache, place[:, None], mask), token.shape[0])
            return cache, logits

        rows = (ops.matrix_transpose(tokens), ops.matrix_transpose(positions))
        cache, logits = scan(one, cache, rows)
        return logits[-1], cache

    return read


def _by_row(
    advance: Callable[..., Any],
    choose: Callable[..., Any],
    logits: Any,
    cache: Any,
    tokens: Any,
    pad: int,
    stops: Sequence[int],
) -> Any:
    """Fill `tokens` row by row, each until a stop token."""
    steps = tokens.shape[1]
    columns = ops.arange(steps, like=tokens)

    def put(tokens: Any, token: Any, i: Any) -> Any:
        return ops.where(ops.equal(columns, i), token[:, None], tokens)

    def goes_on(state: Any) -> Any:
        i, _, has_ended, *_ = state
        is_left = ops.less(i, steps)
        return ops.logical_and(is_left, ops.logical_not(ops.all(has_ended))) if stops else is_left

    def add(state: Any) -> Any:
        i, token, has_ended, tokens, cache = state
        logits, cache = advance(token, cache, i)
        token = choose(logits, i)
        tokens = put(tokens, ops.where(has_ended, ops.full_like(token, pad), token), i)
        has_ended = ops.logical_or(has_ended, _is_stop(token, stops))
        return ops.add(i, 1), token, has_ended, tokens, cache

    token = choose(logits, 0)
    first = (1, token, _is_stop(token, stops), put(tokens, token, 0), cache)
    return while_loop(goes_on, add, first)[3]


def _is_stop(tokens: Any, stops: Sequence[int]) -> Any:
    """Whether tokens are among the stop tokens."""
    hits = ops.zeros_like(tokens, dtype=dtypes.bool)
    for stop in stops:
        hits = ops.logical_or(hits, ops.equal(tokens, stop))
    return hits


# -- arguments -------------------------------------------------------------------------------


def _check(
    key: Any,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    beams: int,
    length_penalty: float,
    steps: int,
) -> None:
    for name, count in (("steps", steps), ("beams", beams)):
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ArgumentError(f"generate: {name}: got {count!r}, expected a positive integer")
    if not isinstance(temperature, (int, float)) or not temperature > 0:
        raise ArgumentError(
            f"generate: temperature: got {temperature!r}, expected a positive number; without key= "
            "the likeliest token is taken"
        )
    settings = {"temperature": (temperature, 1.0), "top_k": (top_k, None), "top_p": (top_p, None)}
    drawing = [name for name, (setting, default) in settings.items() if setting != default]
    if key is None and drawing:
        raise ArgumentError(
            f"generate: {drawing[0]} is for drawn tokens; pass key=na.random.key(0)"
        )
    if key is not None and beams > 1:
        raise ArgumentError(
            "generate: beams: beam search draws no tokens; leave out key= or beams="
        )
    if beams == 1 and length_penalty != 1.0:
        raise ArgumentError("generate: length_penalty compares beams; pass beams=4")


def _size_of_prompt(prompt: Any) -> tuple[int, int]:
    shape = tuple(prompt.shape)
    if not dtypes.dtype_of(prompt).is_integer:
        raise DtypeError(f"generate: prompt: got {dtypes.dtype_of(prompt)}, expected integers")
    if len(shape) != 2 or not all(isinstance(n, int) and n > 0 for n in shape):
        raise ShapeError(f"generate: prompt: got shape {shape}, expected (batch, length)")
    return shape


def _stops(stop: int | Sequence[int]) -> tuple[int, ...]:
    stops = (stop,) if isinstance(stop, int) else tuple(stop)
    if any(not isinstance(token, int) or isinstance(token, bool) for token in stops):
        raise ArgumentError(f"generate: stop: got {stop!r}, expected a token or tokens")
    return stops


def _whole_mask(mask: Any, batch: int, length: int, steps: int) -> Any:
    """`mask` for the prompt and the new tokens."""
    if mask is None:
        return None
    shape = tuple(mask.shape)
    if len(shape) != 2 or shape[0] != batch or shape[1] < length:
        raise ShapeError(f"generate: mask: got shape {shape}, expected {(batch, length)} or more")
    missing = length + steps - shape[1]
    if missing <= 0:
        return mask
    new = ops.ones((batch, missing), dtype=dtypes.dtype_of(mask), like=mask)
    return ops.concat([mask, new], axis=1)


def _positions(prompt: Any, mask: Any, length: int) -> tuple[Any, Any]:
    """The positions of the tokens of the prompt, and their number in each row."""
    dtype = dtypes.dtype_of(prompt)
    is_token = ops.ones_like(prompt) if mask is None else ops.astype(mask[:, :length], dtype)
    count = ops.cumulative_sum(is_token, axis=1)
    positions = ops.maximum(ops.subtract(count, 1), 0)
    return ops.astype(positions, dtype), ops.astype(count[:, -1], dtype)


def _last(result: Any, rows: int) -> tuple[Any, Any]:
    """The logits of the last token, in float32 at least, and the cache."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise ArgumentError(
            f"generate: step: returned {type(result).__name__}, expected a pair (logits, cache)"
        )
    logits, cache = result
    shape: tuple[Any, ...] = tuple(getattr(logits, "shape", ()))
    if len(shape) not in (2, 3) or shape[0] != rows:
        raise ShapeError(
            f"generate: step: returned logits of shape {shape}, expected ({rows}, tokens, vocabulary) "
            f"or ({rows}, vocabulary)"
        )
    logits = logits if len(shape) == 2 else logits[:, -1]
    return ops.astype(logits, dtypes.promote_types(dtypes.dtype_of(logits), dtypes.float32)), cache

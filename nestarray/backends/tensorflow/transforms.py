"""TensorFlow: `nestarray.transforms`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.core import native_dtype

#: The accumulators of the pushes forward around the running code, outermost first.
_accumulators: ContextVar[tuple[Any, ...]] = ContextVar("nestarray_accumulators", default=())

#: The tapes around the running code, outermost first.
_tapes: ContextVar[tuple[Any, ...]] = ContextVar("nestarray_tapes", default=())


def derivatives_around() -> tuple[int, int]:
    """How many tapes and accumulators follow the running code."""
    return len(_tapes.get()), len(_accumulators.get())


@contextmanager
def _recording(persistent: bool = False) -> Iterator[Any]:
    with tf.GradientTape(persistent=persistent, watch_accessed_variables=False) as tape:
        token = _tapes.set((*_tapes.get(), tape))
        try:
            yield tape
        finally:
            _tapes.reset(token)


def value_and_grad(
    fn: Callable[..., Any], leaves: list[Any], has_aux: bool, name: str
) -> tuple[Any, Any, list[Any]]:
    """https://www.tensorflow.org/api_docs/python/tf/GradientTape

    The gradient is taken outside of its own tape and inside of those around it, so that
    outer tapes record it. An embedding's IndexedSlices become dense.
    """
    with _recording() as tape:
        values = _watched(tape, leaves)
        value, aux = fn(*values)
    return value, aux, _gradients(tape, value, values)


def _watched(tape: Any, arrays: list[Any]) -> list[Any]:
    """A tensor of its own for each place: tied arrays get one gradient each, as in JAX.

    The tape, which is recording, follows all results of an operation one operand of which it
    watches. Told of each result, it would look at each for 5 µs. Integers it does not watch.
    """
    if not arrays:
        return []
    values = list(arrays)
    for i, x in enumerate(values):
        if _is_inexact(x):
            values[i] = tf.identity(x)
            tape.watch(values[i])
            break
    return tf.identity_n(values)


def _gradients(tape: Any, target: Any, sources: list[Any], cotangents: Any = None) -> list[Any]:
    """Of all sources; of what the target does not depend on they are zeros."""
    found = tape.gradient(target, sources, output_gradients=cotangents)
    pairs = zip(found, sources, strict=True)
    return _dense([tf.zeros_like(x) if g is None else g for g, x in pairs])


def _dense(gradients: list[Any]) -> list[Any]:
    return [g if isinstance(g, tf.Tensor) else tf.convert_to_tensor(g) for g in gradients]


def vjp(
    fn: Callable[..., Any], arrays: list[Any], name: str, *, closed: Sequence[Any] = ()
) -> tuple[Any, Any, Any]:
    """https://www.tensorflow.org/api_docs/python/tf/GradientTape

    After the gradients of `arrays` come those of `closed`, tensors that `fn` closes over.
    """
    with _recording(persistent=True) as tape:
        values = _watched(tape, arrays)
        tape.watch(closed)
        found, others = fn(*values)

    def pullback(cotangents: list[Any]) -> list[Any]:
        return _gradients(tape, list(found), [*values, *closed], list(cotangents))

    return found, others, pullback


def jvp(
    fn: Callable[..., Any], arrays: list[Any], tangents: list[Any], name: str
) -> tuple[Any, Any, Any]:
    """https://www.tensorflow.org/api_docs/python/tf/autodiff/ForwardAccumulator

    A tape around two accumulators gives wrong numbers; the inner one is left to two tapes. So is
    what stacks results in a loop of a graph, which an accumulator cannot read.
    """
    if _accumulators.get():
        return _by_pulls(fn, arrays, tangents)
    try:
        return _accumulated(fn, arrays, tangents)
    except (TypeError, SystemError) as error:  # the second where its C code runs on after the first
        if "variant" not in f"{error} {error.__cause__}":
            raise
        return _by_pulls(fn, arrays, tangents)


def _accumulated(
    fn: Callable[..., Any], arrays: list[Any], tangents: list[Any]
) -> tuple[Any, Any, list[Any]]:
    values = tf.identity_n(arrays) if arrays else []
    with tf.autodiff.ForwardAccumulator(values, tangents) as accumulator:
        token = _accumulators.set((*_accumulators.get(), accumulator))
        try:
            found, others = fn(*values)
        finally:
            _accumulators.reset(token)
    zero = tf.UnconnectedGradients.ZERO
    return found, others, [accumulator.jvp(y, unconnected_gradients=zero) for y in found]


def _by_pulls(
    fn: Callable[..., Any], arrays: list[Any], tangents: list[Any], closed: Sequence[Any] = ()
) -> tuple[Any, Any, list[Any]]:
    """J t as the derivative of u ↦ Jᴴ u, which is linear, so that any u will do.

    https://j-towns.github.io/2017/06/12/A-new-trick.html
    """
    found, others, pull = vjp(fn, arrays, "jvp", closed=closed)
    return found, others, _transposed(pull, [tf.zeros_like(y) for y in found], tangents)


def _transposed(
    pull: Callable[[list[Any]], list[Any]], cotangents: list[Any], tangents: list[Any]
) -> list[Any]:
    with _recording() as tape:
        tape.watch(cotangents)
        gradients = pull(cotangents)
    return _gradients(tape, gradients, cotangents, tangents)


def custom_vjp(
    value: Callable[..., Any],
    with_residuals: Callable[..., Any],
    pull: Callable[..., Any],
    arrays: list[Any],
    push: Callable[..., Any] | None,
) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/custom_gradient

    A ForwardAccumulator would follow the operations inside, and in a graph it does not see the
    rule; so it is paused, and the tangents are handed to it: those of the rule for forward mode, or
    of the transposed pullback.
    """

    def transposed(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, list[Any]]:
        found, residuals = with_residuals(*primals)
        cotangents = [tf.zeros_like(y) for y in found if _is_inexact(y)]
        return found, _transposed(
            lambda cts: _dense(pull(residuals, cts)), cotangents, list(tangents)
        )

    lose("custom_vjp")
    pushed = _pushed(push or transposed, arrays)

    @tf.custom_gradient
    def function(*inputs: Any) -> Any:
        found, residuals = with_residuals(*inputs)
        cut = tuple(map(tf.stop_gradient, found))
        return cut, lambda *cotangents: pull(residuals, cotangents)

    with _paused(_accumulators.get(), 0) if pushed else nullcontext():
        found = function(*arrays)
    for accumulator, moved in pushed:
        accumulator._watch(list(found[: len(moved)]), moved)
    return found


def _pushed(push: Callable[..., Any], arrays: list[Any]) -> list[tuple[Any, Any]]:
    """Each accumulator with the tangents of the results; the rule itself is for the outer ones."""
    active = _accumulators.get()
    zero = tf.UnconnectedGradients.ZERO
    found = []
    for depth, accumulator in enumerate(active):
        tangents = [accumulator.jvp(x, unconnected_gradients=zero) for x in arrays]
        with _paused(active, depth):
            found.append((accumulator, push(arrays, tangents)[1]))
    return found


@contextmanager
def _paused(active: tuple[Any, ...], depth: int) -> Iterator[None]:
    """Let the accumulators from `depth` on not see what runs: they would push it forward again."""
    token = _accumulators.set(active[:depth])
    for accumulator in reversed(active[depth:]):
        accumulator._pop_accumulator()
    try:
        yield
    finally:
        for accumulator in active[depth:]:
            accumulator._push_accumulator()
        _accumulators.reset(token)


def checkpoint(fn: Callable[..., Any], arrays: list[Any], policy: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/custom_gradient

    ``tf.recompute_grad`` stops all tapes, those of derivatives inside of `fn` too, which come
    out as zeros: https://www.tensorflow.org/api_docs/python/tf/recompute_grad
    Forward mode keeps nothing that could be computed again.
    """
    if _accumulators.get():
        return fn(*arrays)

    @tf.custom_gradient
    def function(*inputs: Any) -> Any:
        def pullback(*cotangents: Any) -> list[Any]:
            with tf.control_dependencies(cotangents):  # a graph would share the first pass
                again = tf.identity_n(list(inputs))
            return vjp(lambda *xs: (fn(*xs), ()), again, "checkpoint")[2](list(cotangents))

        count = len(_tapes.get())
        with tapes_stopped(count):
            token = _tapes.set(())  # a checkpoint inside has none to stop
            try:
                return fn(*inputs), pullback
            finally:
                _tapes.reset(token)

    return function(*arrays)


@contextmanager
def tapes_stopped(count: int) -> Iterator[None]:
    """Let the outermost tapes, so many, not see what runs."""
    with ExitStack() as stack:
        for tape in reversed(_tapes.get()[:count]):
            stack.enter_context(tape.stop_recording())
        yield


#: What the code that is mapped has used that `tf.vectorized_map` loses: rules of derivatives,
#: or choices, of which its own code has none. None outside of `vmap`.
_lost: ContextVar[list[str] | None] = ContextVar("nestarray_lost", default=None)


#: How many mapped functions, inside of each other, the running code is in.
_depth: ContextVar[int] = ContextVar("nestarray_depth", default=0)


def traced_in() -> tuple[Any, int]:
    """The graph that is made of the running code, and how many mapped functions it is in."""
    return tf.compat.v1.get_default_graph(), _depth.get()


def _is_for_the_user(record: logging.LogRecord) -> bool:
    """Whether a record is no note of `tf.vectorized_map` on how it maps what is mapped here.

    What it cannot map is an error to it, and is called row by row here; each of its calls makes a
    graph anew, and it warns of that.
    """
    return not _depth.get() or "pfor" not in f"{record.filename} {record.getMessage()}"


tf.get_logger().addFilter(_is_for_the_user)


def lose(name: str) -> None:
    """Say that the derivatives of what runs now are lost where a function is mapped."""
    names = _lost.get()
    if names is not None:
        names.append(name)


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    """https://www.tensorflow.org/api_docs/python/tf/vectorized_map

    Its trace cannot hand out a tensor of outside, so each result is an operation of its own.
    Of no rows it runs no trace; the results are known by a row of zeros. What it cannot map, some
    gradients of loops and choices, is called row by row.
    """
    if arrays[0].shape[0] == 0:
        one = fn(*(tf.zeros(x.shape[1:], x.dtype) for x in arrays))
        return tuple(tf.zeros((0, *y.shape), y.dtype) for y in one)
    try:
        found, is_lost = _mapped(fn, arrays)
    except Exception:  # if it is the function that is wrong, its rows say so
        if arrays[0].shape[0] is None:
            raise
        return _row_by_row(fn, arrays)
    if is_lost or _accumulators.get():
        return _with_mapped_derivatives(fn, arrays, found)
    return found


def vmap_with_common(
    fn: Callable[..., tuple[Any, Any]], arrays: list[Any]
) -> tuple[Any, Any, list[int]]:
    """The rows and what all have in common, and which of that is not: a row's graph says it."""
    specs = [tf.TensorSpec(x.shape[1:], x.dtype) for x in arrays]
    counts: list[int] = []

    def results_of(*rows: Any) -> tuple[Any, ...]:
        stacked, common = fn(*rows)
        counts[:] = [len(stacked)]
        return (*stacked, *map(tf.identity, common))

    traced: Any = tf.function(results_of, autograph=False).get_concrete_function(*specs)
    (start,) = counts
    rows = {x.name for x in traced.graph.inputs[: len(arrays)]}
    common = traced.graph.outputs[start:]
    differing = [i for i, x in enumerate(common) if _depends_on(x, rows)]
    if differing:
        return (), (), differing
    found = vmap(results_of, arrays)
    if arrays[0].shape[0] == 0:
        return found[:start], results_of(*[tf.zeros(s.shape, s.dtype) for s in specs])[start:], []
    return found[:start], tuple([x[0] for x in found[start:]]), []


def _depends_on(x: Any, names: set[str]) -> bool:
    """Whether a tensor of a graph is computed from one of these names."""
    seen, ahead = set(), [x]
    while ahead:
        y = ahead.pop()
        if y.name in names:
            return True
        if y.name not in seen:
            seen.add(y.name)
            ahead.extend(y.op.inputs)
    return False


def _mapped(
    fn: Callable[..., tuple[Any, ...]], arrays: list[Any]
) -> tuple[tuple[Any, ...], list[str]]:
    """The results, and what of their derivatives is lost."""
    around, names = _lost.get(), []
    tokens = _lost.set(names), _depth.set(_depth.get() + 1)
    try:
        found = tf.vectorized_map(lambda rows: tuple(map(tf.identity, fn(*rows))), tuple(arrays))
    finally:
        _lost.reset(tokens[0])
        _depth.reset(tokens[1])
    if around is not None:
        around.extend(names)
    return found, names


def _row_by_row(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    count = arrays[0].shape[0]
    rows = [fn(*[x[i] for x in arrays]) for i in range(count)]
    return tuple([tf.stack(column) for column in zip(*rows, strict=True)])


def _with_mapped_derivatives(
    fn: Callable[..., tuple[Any, ...]], arrays: list[Any], found: tuple[Any, ...]
) -> tuple[Any, ...]:
    """What was found, with the mapped derivative as its derivative.

    `tf.vectorized_map` copies operations without the rules of `tf.custom_gradient` that they
    stand for, and a ForwardAccumulator fails over gradients of what it makes. Inside of what is
    mapped both hold, so the pullback of all rows is the pullback of a row, mapped; tensors that
    the function closes over are in all rows.
    """
    specs = [tf.TensorSpec(x.shape[1:], x.dtype) for x in arrays]
    traced = tf.function(fn, autograph=False).get_concrete_function(*specs)
    closed = [x for x in traced.captured_inputs if _is_inexact(x)]
    count = len(arrays)

    def of_a_row(*row: Any) -> tuple[Any, Any]:
        return tuple(filter(_is_inexact, fn(*row))), ()

    def push(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
        whole = tangents[count:]

        def row(*xs: Any) -> tuple[Any, ...]:
            moved = _by_pulls(of_a_row, list(xs[:count]), [*xs[count:], *whole], closed)[2]
            return tuple(moved)

        return found, tuple(vmap(row, [*primals[:count], *tangents[:count]]))

    @tf.custom_gradient
    def function(*inputs: Any) -> Any:
        def pullback(*cotangents: Any) -> list[Any]:
            def row(*xs: Any) -> tuple[Any, ...]:
                pull = vjp(of_a_row, list(xs[:count]), "vmap", closed=closed)[2]
                return tuple(pull(list(xs[count:])))

            given = [ct for ct, y in zip(cotangents, found, strict=True) if _is_inexact(y)]
            gradients = vmap(row, [*inputs[:count], *given])
            return [*gradients[:count], *[tf.reduce_sum(g, axis=0) for g in gradients[count:]]]

        return tuple(map(tf.stop_gradient, found)), pullback

    pushed = _pushed(push, [*arrays, *closed])
    with _paused(_accumulators.get(), 0):
        result = tuple(function(*arrays, *closed))
    for accumulator, moved in pushed:
        accumulator._watch(list(filter(_is_inexact, result)), list(moved))
    return result


def _is_inexact(x: Any) -> bool:
    return x.dtype.is_floating or x.dtype.is_complex


def runs_inline(arrays: list[Any]) -> bool:
    """Whether a jitted function is run as it is: functions of other functions are graphs too.

    An accumulator fails over graphs with mapped gradients in them; of its operations it is right.
    """
    return not arrays or bool(_accumulators.get())


def trace_guard(arrays: list[Any]) -> Callable[[list[Any]], bool]:
    """A test whether a trace made with `arrays` serves others: of their shapes and dtypes."""
    key = _trace_key(arrays)
    return lambda others: _trace_key(others) == key


def _trace_key(arrays: list[Any]) -> list[Any]:
    return [(_shape(x), x.dtype) for x in arrays]


def _shape(x: Any) -> tuple[int | None, ...] | None:
    return None if x.shape.rank is None else tuple(x.shape)


def compile_leaves(
    fn: Callable[..., tuple[Any, ...]],
    arrays: list[Any],
    options: dict[str, Any],
    donated: Sequence[int],
) -> Callable[..., tuple[Any, ...]]:
    """https://www.tensorflow.org/api_docs/python/tf/function

    Its tensors cannot be written to, so nothing is made of `donated`.
    AutoGraph is off unless asked for: it would rewrite the code of nestarray as well. The
    concrete function is taken at once, and its part that takes a flat list: the guard of the
    trace has looked at the arrays already, and a call that does so again takes twice as long.
    """
    concrete = tf.function(fn, **{"autograph": False} | options).get_concrete_function(*arrays)
    call_flat = getattr(concrete, "_call_flat", None)  # it has no public name
    if call_flat is None or not _are_eager(arrays):
        return concrete

    def call(*values: Any) -> tuple[Any, ...]:
        if _are_eager(values):
            return call_flat(list(values), concrete.captured_inputs)
        return concrete(*values)

    return call


_EAGER = {tf.__internal__.EagerTensor}  # type(tf.zeros(())) is another while a graph is made


def _are_eager(arrays: Sequence[Any]) -> bool:
    """Whether all are tensors with numbers, of no graph, and no variables."""
    return set(map(type, arrays)) == _EAGER


def host_call(
    fn: Callable[..., Any], arrays: Sequence[Any], results: Sequence[tuple[Any, Any]]
) -> tuple[Any, ...]:
    """https://www.tensorflow.org/api_docs/python/tf/numpy_function"""
    found = tf.numpy_function(fn, arrays, [native_dtype(d) for _, d in results], stateful=False)
    for y, (shape, _) in zip(found, results, strict=True):
        y.set_shape(shape)
    return tuple(found)


def call_without_numbers(fn: Callable[..., Any], arrays: Sequence[tuple[Any, Any]]) -> None:
    """https://www.tensorflow.org/api_docs/python/tf/Graph"""
    with tf.Graph().as_default():
        fn(*[tf.compat.v1.placeholder(native_dtype(d), shape) for shape, d in arrays])

"""Derivatives by `tf.GradientTape`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.derivatives import custom_gradient
from nestarray.errors import UnsupportedError

#: The tapes around the running code, outermost first.
_tapes: ContextVar[tuple[Any, ...]] = ContextVar("nestarray_tapes", default=())


def derivatives_around() -> int:
    """The number of tapes around the running code."""
    return len(_tapes.get())


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

    The gradient is computed outside the tape that it uses; outer tapes record it.
    An embedding's IndexedSlices become dense.
    """
    with _recording() as tape:
        values = _watched(tape, leaves)
        value, aux = fn(*values)
    return value, aux, _gradients(tape, value, values)


def _watched(tape: Any, arrays: list[Any]) -> list[Any]:
    """A separate tensor for each argument: tied arrays get one gradient each, as in JAX.

    An active tape watches all results of an operation with a watched operand, so one watched
    tensor suffices; an explicit watch of each takes 5 µs. Integers are not watched.
    """
    if not arrays:
        return []
    values = list(arrays)
    for i, x in enumerate(values):
        if is_inexact(x):
            values[i] = tf.identity(x)
            tape.watch(values[i])
            break
    return tf.identity_n(values)


def _gradients(tape: Any, target: Any, sources: list[Any], cotangents: Any = None) -> list[Any]:
    """The gradients by all sources; zeros for independent ones.

    Raises:
        UnsupportedError: no tape records here.
    """
    gradients = tape.gradient(target, sources, output_gradients=cotangents)
    if all(g is None for g in gradients) and any(map(is_inexact, sources)) and not _records():
        raise UnsupportedError(
            "TensorFlow records no derivatives here, as inside of tf.init_scope(); differentiate "
            "outside of it"
        )
    pairs = zip(gradients, sources, strict=True)
    return _dense([tf.zeros_like(x) if g is None else g for g, x in pairs])


def _records() -> bool:
    """Whether a new tape records: ``tf.init_scope`` stops all tapes of the thread."""
    x = tf.zeros(())
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.negative(x)
    return tape.gradient(y, x) is not None


def _dense(gradients: list[Any]) -> list[Any]:
    return [g if isinstance(g, tf.Tensor) else tf.convert_to_tensor(g) for g in gradients]


def vjp(
    fn: Callable[..., Any], arrays: list[Any], name: str, *, closed: Sequence[Any] = ()
) -> tuple[Any, Any, Any]:
    """https://www.tensorflow.org/api_docs/python/tf/GradientTape

    The gradients of `arrays` come first, then the gradients of `closed`, the captured tensors.
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
) -> tuple[Any, Any, list[Any]]:
    """J t as the derivative of the linear map u ↦ Jᴴ u, at u = 1.

    Tapes alone differentiate, since ``tf.autodiff.ForwardAccumulator`` ignores the rules of
    ``tf.custom_gradient`` in graphs, and fails on loops that stack results and on mapped gradients.

    https://j-towns.github.io/2017/06/12/A-new-trick.html
    """
    found, others, pull = vjp(fn, arrays, name)
    ones = [tf.ones_like(y) for y in found]  # at 0, formulas with log(u) lose the derivative
    return found, others, _transposed(pull, ones, tangents)


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

    Forward mode transposes the pullback.
    """

    @custom_gradient
    def function(*inputs: Any) -> Any:
        found, residuals = with_residuals(*inputs)
        if not tf.executing_eagerly():  # tf.cond cannot capture tensors of an outer graph again
            residuals = tuple(map(tf.identity, residuals))
        cut = tuple(map(tf.stop_gradient, found))
        return cut, lambda *cotangents: pull(residuals, cotangents)

    return function(*arrays)


def without_gradient(x: Any) -> Any:
    """Gradients that are None end here."""
    return x


def checkpoint(fn: Callable[..., Any], arrays: list[Any], policy: Any) -> Any:
    """https://www.tensorflow.org/api_docs/python/tf/custom_gradient

    ``tf.recompute_grad`` also stops the tapes of derivatives inside of `fn`, which become zero:
    https://www.tensorflow.org/api_docs/python/tf/recompute_grad
    """

    @tf.custom_gradient
    def function(*inputs: Any) -> Any:
        def pullback(*cotangents: Any) -> list[Any]:
            with tf.control_dependencies(cotangents):  # else a graph would reuse the first pass
                again = tf.identity_n(list(inputs))
            return vjp(lambda *xs: (fn(*xs), ()), again, "checkpoint")[2](list(cotangents))

        count = len(_tapes.get())
        with tapes_stopped(count):
            token = _tapes.set(())  # an inner checkpoint stops no tape
            try:
                return fn(*inputs), pullback
            finally:
                _tapes.reset(token)

    return function(*arrays)


@contextmanager
def tapes_stopped(count: int) -> Iterator[None]:
    """Pause the `count` outermost tapes."""
    with ExitStack() as stack:
        for tape in reversed(_tapes.get()[:count]):
            stack.enter_context(tape.stop_recording())
        yield


def is_inexact(x: Any) -> bool:
    """Whether a tensor or a specification is floating or complex."""
    return x.dtype.is_floating or x.dtype.is_complex

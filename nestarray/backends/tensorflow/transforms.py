"""TensorFlow: `nestarray.transforms`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from nestarray.backends.tensorflow.control_flow import scan
from nestarray.backends.tensorflow.core import native_dtype
from nestarray.backends.tensorflow.derivatives import depth, losing
from nestarray.backends.tensorflow.tapes import checkpoint as checkpoint
from nestarray.backends.tensorflow.tapes import custom_vjp as custom_vjp
from nestarray.backends.tensorflow.tapes import is_inexact, vjp
from nestarray.backends.tensorflow.tapes import jvp as jvp
from nestarray.backends.tensorflow.tapes import value_and_grad as value_and_grad
from nestarray.backends.tensorflow.tapes import without_gradient as without_gradient


def traced_in() -> tuple[Any, int]:
    """The graph of the running code, and the number of mapped functions around it."""
    return tf.compat.v1.get_default_graph(), depth.get()


def _is_for_the_user(record: logging.LogRecord) -> bool:
    """Whether a log record is not a warning of `tf.vectorized_map` about its fallback.

    An operation that it cannot map raises, and nestarray calls the function for each row; each
    call builds a new graph, of which it warns.
    """
    return not depth.get() or "pfor" not in f"{record.filename} {record.getMessage()}"


tf.get_logger().addFilter(_is_for_the_user)


def vmap(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    """https://www.tensorflow.org/api_docs/python/tf/vectorized_map

    Its trace cannot return a captured tensor, so each result is copied. Without rows, a row of
    zeros gives the results' shapes and dtypes. Functions that it cannot map, as derivatives of
    ``while_loop``, are called row by row.
    """
    if arrays[0].shape[0] == 0:
        one = fn(*(tf.zeros(x.shape[1:], x.dtype) for x in arrays))
        return tuple(tf.zeros((0, *y.shape), y.dtype) for y in one)
    try:
        found, is_lost = _mapped(fn, arrays)
    except Exception:  # an error of the function itself is raised by its rows
        return _row_by_row(fn, arrays)
    if is_lost:
        return _with_mapped_derivatives(fn, arrays, found)
    return found


def vmap_with_common(
    fn: Callable[..., tuple[Any, Any]], arrays: list[Any]
) -> tuple[Any, Any, list[int]]:
    """Return batched outputs, unbatched outputs, and the indices that should have been batched."""
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
    """Whether a tensor of a graph depends on one of the tensors `names`."""
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
    """The results, and the names of functions whose derivatives are lost."""
    token = depth.set(depth.get() + 1)
    try:
        with losing() as names:
            rows = tf.vectorized_map(lambda x: tuple(map(tf.identity, fn(*x))), tuple(arrays))
    finally:
        depth.reset(token)
    return rows, names


def _row_by_row(fn: Callable[..., tuple[Any, ...]], arrays: list[Any]) -> tuple[Any, ...]:
    if not tf.executing_eagerly():
        return scan(lambda carry, row: (carry, fn(*row)), (), tuple(arrays))[1]
    rows = [fn(*[x[i] for x in arrays]) for i in range(arrays[0].shape[0])]
    return tuple([tf.stack(column) for column in zip(*rows, strict=True)])


def _with_mapped_derivatives(
    fn: Callable[..., tuple[Any, ...]], arrays: list[Any], results: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The results, with the mapped pullback as their derivative.

    `tf.vectorized_map` drops the rules of `tf.custom_gradient`. Inside the mapped function they
    work, so the pullback of all rows is the mapped pullback of a row; captured tensors occur in
    all rows.
    """
    specs = [tf.TensorSpec(x.shape[1:], x.dtype) for x in arrays]
    traced = tf.function(fn, autograph=False).get_concrete_function(*specs)
    closed = [x for x in traced.captured_inputs if is_inexact(x)]
    count = len(arrays)

    def of_a_row(*row: Any) -> tuple[Any, Any]:
        return tuple(filter(is_inexact, fn(*row))), ()

    @tf.custom_gradient
    def function(*inputs: Any) -> Any:
        def pullback(*cotangents: Any) -> list[Any]:
            def row(*xs: Any) -> tuple[Any, ...]:
                pull = vjp(of_a_row, list(xs[:count]), "vmap", closed=closed)[2]
                return tuple(pull(list(xs[count:])))

            inexact = [ct for ct, y in zip(cotangents, results, strict=True) if is_inexact(y)]
            gradients = vmap(row, [*inputs[:count], *inexact])
            return [*gradients[:count], *[tf.reduce_sum(g, axis=0) for g in gradients[count:]]]

        return tuple(map(tf.stop_gradient, results)), pullback

    return tuple(function(*arrays, *closed))


def runs_inline(arrays: list[Any]) -> bool:
    """Whether a jitted function runs uncompiled: it has no arrays to trace."""
    return not arrays


def trace_guard(arrays: list[Any]) -> Callable[[list[Any]], bool]:
    """A test whether a trace made with `arrays` is valid for other arrays, by shapes and dtypes."""
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

    Tensors are immutable, so `donated` is ignored.
    AutoGraph is off by default: it would also rewrite nestarray. The call goes directly to the
    flat concrete function: the guard of the trace has already checked the arrays, and a second
    check would double the time.
    """
    concrete = tf.function(fn, **{"autograph": False} | options).get_concrete_function(*arrays)
    call_flat = getattr(concrete, "_call_flat", None)  # private
    if call_flat is None or not _are_eager(arrays):
        return concrete

    def call(*values: Any) -> tuple[Any, ...]:
        if _are_eager(values):
            return call_flat(list(values), concrete.captured_inputs)
        return concrete(*values)

    return call


_EAGER = {tf.__internal__.EagerTensor}  # type(tf.zeros(())) is another while a graph is made


def _are_eager(arrays: Sequence[Any]) -> bool:
    """Whether all are eager tensors and not variables."""
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
